import type { Counts, CubeOwner, Position, Table } from "./bgfmt.js";

export type Tables = Table | readonly Table[];
/** Text, both sides, or one side's counts. */
export type AskedPosition = string | ArrayLike<number> | { us: ArrayLike<number>; them?: ArrayLike<number> | null };
/** "61", "6-1" or [6, 1]. */
export type Roll = string | readonly [number, number];
export type Measure = "money" | "cubeless" | "mean" | `off:${number}`;

/** Where an answer comes from. */
export interface Origin {
  source: "two-sided" | "one-sided";
  /** Name of the table that answered. */
  table: string;
  approximate: boolean;
  /** The greatest error of its numbers by name, null where no bound is known. */
  max_error: Record<string, number> | null;
}

export interface SideRace extends Origin {
  side: string;
  position_number: number;
  pips: number;
  mean_rolls: number;
  std_rolls: number;
  epc: number;
  wastage: number;
  bearoff?: number[];
  off_within?: number[];
  gammon?: number[];
  gammon_mean_rolls?: number;
  gammon_std_rolls?: number;
  gammon_saved_within?: number[];
}

export interface Estimate {
  position: string;
  approximate: true;
  win: number;
  win_gammon: number | null;
  lose_gammon: number | null;
  cubeless: number;
  worst_error: number;
  mean_error: number;
}

export interface TwoRaces extends Origin {
  position: string;
  on_roll: SideRace;
  other_side: SideRace;
  two_sided: Estimate | null;
}

export interface CubeAction {
  cube: CubeOwner;
  action: string;
  no_double: number;
  double_take: number;
  double_pass: number;
  best: number;
  doubles: boolean;
  takes: boolean;
  beavers: boolean;
  double_margin: number;
  take_margin: number;
  tie_double: boolean;
  tie_take: boolean;
  sure_double: boolean;
  sure_take: boolean;
  sure: boolean;
  error: number | null;
  settled: boolean;
  certainty: string;
  source: Origin["source"];
  table: string;
  approximate: boolean;
}

export interface CubeAnswer extends Origin {
  position: string;
  cube: CubeOwner;
  cube_value: number;
  win: number;
  win_gammon: number | null;
  lose_gammon: number | null;
  cubeless: number;
  owned: number;
  centered: number;
  opponent: number;
  gammons: "none" | "counted" | "ignored";
  action: string;
  doubles: boolean;
  takes: boolean;
  beavers: boolean;
  sure: boolean;
  settled: boolean;
  certainty: string;
  centered_cube: CubeAction;
  owned_cube: CubeAction;
  label: 1 | 2 | 3 | 4 | 5;
  label_text: string;
  /** The identifier carried a match score, and the answer is for money. */
  score_ignored?: true;
}

export interface RankedPlay {
  play: string;
  result: string;
  value: number;
  loss: number;
  close: boolean;
}

export interface RankedRoll {
  roll: string;
  plays: RankedPlay[];
  /** With `top`: how many plays there are in all. */
  count?: number;
}

export interface PlayAnswer extends Origin, Partial<RankedRoll> {
  position: string;
  measure: string;
  cube?: CubeOwner;
  cube_value?: number;
  /** With "all" for a roll, in the order 11, 21, 22, ... 66. */
  rolls?: RankedRoll[];
  score_ignored?: true;
}

export interface ProbeAnswer {
  question: { position: string; roll: string | null; cube: CubeOwner; measure: string; table: null };
  position: Position & {
    counts: string;
    position_id: string;
    xgid: string;
    pips: number[];
    chequers: number[];
    contact: boolean;
  };
  cube: CubeAnswer | null;
  race: SideRace | TwoRaces | null;
  play: PlayAnswer | null;
  not_covered: Partial<Record<"cube" | "race" | "play", string>>;
}

export interface CubeOptions {
  /** Where the cube lies; by default the identifier's, else centered. */
  cube?: CubeOwner;
  signal?: AbortSignal;
}

export interface PlayOptions extends CubeOptions {
  measure?: Measure;
  top?: number;
}

export const ROLLS: string[];
export function parseRoll(roll: Roll): number[];
export function plays(counts: ArrayLike<number>, roll: Roll): { notation: string; result: Counts; moves: { from: number; to: number }[] }[];
export function race(tables: Tables, asked: AskedPosition, options?: { signal?: AbortSignal }): Promise<SideRace | TwoRaces>;
export function cube(tables: Tables, asked: AskedPosition, options?: CubeOptions): Promise<CubeAnswer>;
export function play(tables: Tables, asked: AskedPosition, roll: Roll | "all", options?: PlayOptions): Promise<PlayAnswer>;
export function probe(tables: Tables, asked: AskedPosition, options?: PlayOptions & { roll?: Roll | "all" }): Promise<ProbeAnswer>;
export function describe(asked: AskedPosition): ProbeAnswer["position"];
/** Greatest error of the four equities of a two-sided table of that size. */
export function storedErrors(points: number, chequers: number): number[];
/** Greatest error of the mean rolls of a one-sided table. */
export function meanError(points: number, normal?: boolean): number;
