import type { Counts, CubeOwner, OneSidedAnswer, Position, Table } from "./bgfmt.js";

export type Tables = Table | readonly Table[];
/** Text, both sides, or one side's counts. */
export type AskedPosition = string | ArrayLike<number> | { us: ArrayLike<number>; them?: ArrayLike<number> | null };
/** "61", "6-1" or [6, 1]. */
export type Roll = string | readonly [number, number];
export type Measure = "money" | "cubeless" | "mean" | `off:${number}`;

export interface Sourced {
  /** Name of the table that answered. */
  table: string;
  /** The greatest error of its numbers by name. */
  max_error: Record<string, number | null>;
  /** The identifier carried a match score, and the answer is for money. */
  score_ignored?: true;
}

export interface SideRace extends OneSidedAnswer {
  off_within?: number[];
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

export interface TwoRaces {
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
  double: number;
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
  approximate: boolean;
  certainty: string;
}

export interface CubeAnswer extends Sourced {
  position: string;
  position_number?: number;
  win: number;
  cubeless: number;
  owned?: number;
  centered?: number;
  opponent?: number;
  approximate: boolean;
  label?: 1 | 2 | 3 | 4 | 5;
  label_text?: string;
  centered_cube?: CubeAction;
  owned_cube?: CubeAction;
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

export interface PlayAnswer extends Sourced, Partial<RankedRoll> {
  position: string;
  measure: string;
  approximate: boolean;
  cube?: CubeOwner;
  /** With "all" for a roll, in the order 11, 21, 22, ... 66. */
  rolls?: RankedRoll[];
}

export interface ProbeAnswer {
  question: { position: string; roll: string | null; cube: CubeOwner; measure: string; table: string | null };
  position: Position & {
    counts: string;
    position_id: string;
    xgid: string;
    pips: number[];
    chequers: number[];
    contact: boolean;
  };
  cube: CubeAnswer | null;
  race: ((SideRace | TwoRaces) & Sourced) | null;
  play: PlayAnswer | null;
  not_covered: Partial<Record<"cube" | "race" | "play", string>>;
}

export interface PlayOptions {
  cube?: CubeOwner;
  measure?: Measure;
  top?: number;
  signal?: AbortSignal;
}

export const ROLLS: string[];
export function parseRoll(roll: Roll): number[];
export function plays(counts: ArrayLike<number>, roll: Roll): { notation: string; result: Counts; moves: { from: number; to: number }[] }[];
export function race(tables: Tables, asked: AskedPosition, options?: { signal?: AbortSignal }): Promise<(SideRace | TwoRaces) & Sourced>;
export function cube(tables: Tables, asked: AskedPosition, options?: { signal?: AbortSignal }): Promise<CubeAnswer>;
export function play(tables: Tables, asked: AskedPosition, roll: Roll | "all", options?: PlayOptions): Promise<PlayAnswer>;
export function probe(tables: Tables, asked: AskedPosition, options?: PlayOptions & { roll?: Roll | "all" }): Promise<ProbeAnswer>;
export function describe(asked: AskedPosition): ProbeAnswer["position"];
