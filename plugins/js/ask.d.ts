import type { Counts, CubeOwner, Table } from "./bgfmt.js";
import type { Question, Solved } from "./calculate.js";
import type { Estimated, OneSide, SideRolls, ToEstimate } from "./estimate.js";

export type Tables = Table<any> | readonly Table<any>[];
/** Text, both sides, or one side's counts. */
export type AskedPosition = string | ArrayLike<number> | { us: ArrayLike<number>; them?: ArrayLike<number> | null };
/** "61", "6-1" or [6, 1]. */
export type Roll = string | readonly [number, number];
type Die = 1 | 2 | 3 | 4 | 5 | 6;
/** A roll that the compiler knows to be one, not "all". */
export type OneRoll = `${Die}${Die}` | `${Die}-${Die}` | readonly [number, number];
export type Measure = "money" | "match" | "cubeless" | "mean" | `off:${number}`;

// shapes:begin typescript, by `python docs/make_shapes.py`
/** The source and the errors of an answer. */
export interface Origin {
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** The maximum error of each number, by name; for estimates and rollouts the error that 99.9 % of them do not exceed; null if unknown. */
  max_error: Record<string, number>;
  /** For estimates and rollouts the errors that 95 % of them do not exceed; null for other answers. */
  usual_error?: Record<string, number>;
}

/** One side's race. What the table does not hold is None, and missing in JSON. */
export interface SideRace {
  /** The counts of the side. */
  side: string;
  /** The position number, in that table. */
  position_number: number;
  /** The pip count. */
  pips: number;
  /** The mean of the rolls to bear off the last chequer. */
  mean_rolls: number;
  /** The standard deviation of those rolls. */
  std_rolls: number;
  /** The effective pip count: mean rolls times 49/6. */
  epc: number;
  /** The effective pip count less the pip count. */
  wastage: number;
  /** The mean of the rolls to bear off the first chequer. */
  gammon_mean_rolls?: number;
  /** The standard deviation of those rolls. */
  gammon_std_rolls?: number;
  /** The probabilities of bearing off the last chequer in exactly 0, 1, 2, ... rolls. */
  bearoff?: number[];
  /** The probabilities of being off within 0, 1, 2, ... rolls. */
  off_within?: number[];
  /** The probabilities of bearing off the first chequer in exactly 0, 1, 2, ... rolls. */
  gammon?: number[];
  /** The probabilities of bearing off the first chequer within 0, 1, 2, ... rolls. */
  gammon_saved_within?: number[];
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** The maximum error of each number, by name; for estimates and rollouts the error that 99.9 % of them do not exceed; null if unknown. */
  max_error: Record<string, number>;
}

/** Approximate win and gammon probabilities of the side on roll, by gnubg's formula, each side playing alone. */
export interface Estimate {
  /** Both sides, the side on roll first. */
  position: string;
  /** Always true. */
  approximate: true;
  /** The win probability. */
  win: number;
  /** The probability of winning a gammon; null without gammon data. */
  win_gammon: number | null;
  /** The probability of losing a gammon; null without gammon data. */
  lose_gammon: number | null;
  /** The equity without a cube, gammons counted where they are known. */
  cubeless: number;
  /** The greatest error of `win`, measured over all pairs of six chequers or fewer on six points. */
  worst_error: number;
  /** The mean error of `win` over the same pairs. */
  mean_error: number;
}

/** The races of both sides. */
export interface TwoRaces {
  /** Both sides, the side on roll first. */
  position: string;
  /** The race of the side on roll. */
  on_roll: SideRace;
  /** The race of the other side. */
  other_side: SideRace;
  /** The probabilities of winning; null where only means are known. */
  two_sided: Estimate | null;
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** The maximum error of each number, by name; for estimates and rollouts the error that 99.9 % of them do not exceed; null if unknown. */
  max_error: Record<string, number>;
}

/** A cube decision of the side on roll; equities are its own, for a cube now at 1. */
export interface CubeAction {
  /** The cube's position for the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** What to do in words, such as `Double, take`. */
  action: string;
  /** The equity of rolling on. */
  no_double: number;
  /** The equity of a double that is taken. */
  double_take: number;
  /** The equity of a double that is passed. */
  double_pass: number;
  /** The equity of a double that is beavered; null where beavers are not played. */
  double_beaver: number | null;
  /** The equity if both sides make the right cube decisions. */
  best: number;
  /** Whether to double; a double that costs nothing counts as one. */
  doubles: boolean;
  /** Whether a double should be taken; an exact tie counts as a take. */
  takes: boolean;
  /** Whether a double would be beavered. */
  beavers: boolean;
  /** The equity that doubling gains over rolling on; negative if it loses. */
  double_margin: number;
  /** The equity that taking gains the other side over passing; negative if it loses. */
  take_margin: number;
  /** Whether doubling and rolling on are proved to be worth the same. */
  tie_double: boolean;
  /** Whether taking and passing are proved to cost the same. */
  tie_take: boolean;
  /** Whether the decision to double is certain, in spite of the error of the equities. */
  sure_double: boolean;
  /** Whether the answer to a double (take, pass or beaver) is certain, in spite of the error of the equities. */
  sure_take: boolean;
  /** Whether the action is certain, in spite of the error of the equities. */
  sure: boolean;
  /** The maximum error of the equities; for estimates and rollouts the error that 99.9 % do not exceed; null where none is known. */
  error: number;
  /** For estimates and rollouts the error that 95 % of them do not exceed; null for other answers. */
  usual_error?: number;
  /** Whether it was calculated because the table's error left the decision open. */
  settled: boolean;
  /** How certain the action is, in words. */
  certainty: string;
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether the equities are estimated. */
  approximate: boolean;
}

/** The reasons of a cube decision: take points, market losers, and the best and worst rolls. */
export interface Insight {
  /** The cubeless win probability of the side that answers, gammons not counted. */
  win: number;
  /** The win probability from which it takes, if the cube is dead after that. */
  take_point: number;
  /** The same if its redouble is fully effective (a live cube). */
  live_take_point: number;
  /** The probability that after both sides' next rolls a double is passed, or that the game is won. */
  market_losers: number;
  /** The rolls of these market losers, each with its probability of being one. */
  losing_rolls: Record<string, number>;
  /** The three best rolls, with their equities without a double. */
  best_rolls: Record<string, number>;
  /** The three worst rolls, with their equities without a double. */
  worst_rolls: Record<string, number>;
}

/** The cube for money. */
export interface CubeAnswer {
  /** Both sides, the side on roll first. */
  position: string;
  /** The cube's position for the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** The cube's value. */
  cube_value: number;
  /** The probability of winning without a cube; null where it is not known. */
  win: number | null;
  /** The probability of winning a gammon; null where it is not known. */
  win_gammon: number | null;
  /** The probability of losing a gammon; null where it is not known. */
  lose_gammon: number | null;
  /** The equity without a cube. */
  cubeless: number;
  /** The equity of rolling on with the cube on the own side. */
  owned: number;
  /** The equity of rolling on with the cube in the middle. */
  centered: number;
  /** The equity with the cube on the other side. */
  opponent: number;
  /** `none` (impossible), `counted`, or `ignored` though they are possible. */
  gammons: "none" | "counted" | "ignored";
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** The maximum error of each number, by name; for estimates and rollouts the error that 99.9 % of them do not exceed; null if unknown. */
  max_error: Record<string, number>;
  /** For estimates and rollouts the errors that 95 % of them do not exceed; null for other answers. */
  usual_error?: Record<string, number>;
  /** What to do in words, such as `Double, take`. */
  action: string;
  /** Whether to double; a double that costs nothing counts as one. */
  doubles: boolean;
  /** Whether a double should be taken; an exact tie counts as a take. */
  takes: boolean;
  /** Whether a double would be beavered. */
  beavers: boolean;
  /** Whether the action is certain, in spite of the error of the equities. */
  sure: boolean;
  /** Whether it was calculated because the table's error left the decision open. */
  settled: boolean;
  /** How certain the action is, in words. */
  certainty: string;
  /** The action with a centered cube. */
  centered_cube: CubeAction;
  /** The action with the side on roll owning the cube. */
  owned_cube: CubeAction;
  /** Koca's label, from 1 to 5. */
  label: 1 | 2 | 3 | 4 | 5;
  /** What the label means. */
  label_text: string;
  /** With `insight`, the reasons of the action; missing where its numbers are not exact. */
  insight?: Insight;
}

/** Match winning chances, or equities of a game at this score (EMG), of the side on roll. */
export interface Choices {
  /** The value of rolling on. */
  no_double: number;
  /** The value of a double that is taken; null where doubling is not allowed. */
  double_take: number | null;
  /** The value of a double that is passed; null where doubling is not allowed. */
  double_pass: number | null;
  /** The value of the best choice. */
  best: number;
}

/** What each choice costs, never negative. */
export interface Losses {
  /** What not doubling costs the side on roll. */
  no_double: number;
  /** What doubling costs the side on roll. */
  double: number;
  /** What taking costs the other side. */
  take: number;
  /** What passing costs the other side. */
  pass: number;
}

/** A match equity table, by its name and values. */
export interface Met {
  /** The name of the match equity table. */
  name: string;
  /** The SHA-256 of its values. */
  digest: string;
}

/** The cube at a score. */
export interface MatchCubeAnswer {
  /** Both sides, the side on roll first. */
  position: string;
  /** The cube's position for the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** The cube's value. */
  cube_value: number;
  /** The points that the side on roll and the other need. */
  away: number[] | null;
  /** Whether this is the Crawford game. */
  crawford: boolean | null;
  /** The match winning chances. */
  mwc: Choices;
  /** Values of no double, double/take, double/pass and the best, as equities of a single game at this score. */
  emg: Choices;
  /** What to do in words, such as `Double, take`. */
  action: string;
  /** Whether to double: `yes`, `no`, `optional` or `unavailable`. */
  double: "yes" | "no" | "optional" | "unavailable";
  /** The other side's answer to a double: `take`, `pass` or `either`; null where there can be no double. */
  response: "take" | "pass" | "either" | null;
  /** What each choice costs in match winning chance; null where doubling is not allowed. */
  loss_mwc: Losses | null;
  /** What each choice costs as an equity of a game at this score. */
  loss_emg: Losses | null;
  /** `none` where no gammon can be lost, `counted` where one can. */
  gammons: "none" | "counted";
  /** Whether a decision is closer than the error of its match winning chances. */
  close: boolean;
  /** The probability of winning the game without a cube; null where it is not known. */
  cubeless_win: number | null;
  /** What else a player should know, a sentence each. */
  notes: string[];
  /** The match equity table. */
  met: Met;
  /** For estimates and rollouts the error of a match winning chance that 95 % of them do not exceed; null for other answers. */
  usual_error?: number;
  /** Whether to double; a double that costs nothing counts as one. */
  doubles: boolean;
  /** Whether a double should be taken; an exact tie counts as a take. */
  takes: boolean;
  /** Whether the action is certain, in spite of the error of the equities. */
  sure: boolean;
  /** How certain the action is, in words. */
  certainty: string;
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether the equities are estimated. */
  approximate: boolean;
  /** The greatest error of each number, by name; null where none is known. */
  max_error: Record<string, number>;
  /** With `insight`, the reasons of the action; missing where its numbers are not exact. */
  insight?: Insight;
}

/** The decision at one score of a grid. */
export interface Cell {
  /** The points that the side on roll and the other need. */
  away: number[];
  /** Whether this is the Crawford game. */
  crawford: boolean;
  /** The match winning chances. */
  mwc: Choices;
  /** Values of no double, double/take, double/pass and the best, as equities of a single game at this score. */
  emg: Choices;
  /** What to do in words, such as `Double, take`. */
  action: string;
  /** Whether to double: `yes`, `no`, `optional` or `unavailable`. */
  double: "yes" | "no" | "optional" | "unavailable";
  /** The other side's answer to a double: `take`, `pass` or `either`; null where there can be no double. */
  response: "take" | "pass" | "either" | null;
  /** What each choice costs in match winning chance; null where doubling is not allowed. */
  loss_mwc: Losses | null;
  /** What each choice costs as an equity of a game at this score. */
  loss_emg: Losses | null;
  /** `none` where no gammon can be lost, `counted` where one can. */
  gammons: "none" | "counted";
  /** The maximum error of the match winning chances. */
  error: number;
  /** Whether a decision is closer than the error of its match winning chances. */
  close: boolean;
  /** The probability of winning the game without a cube; null where it is not known. */
  cubeless_win: number | null;
  /** What else a player should know, a sentence each. */
  notes: string[];
  /** The match equity table. */
  met: Met;
}

/** The cube at all scores. */
export interface ScoresAnswer {
  /** Both sides, the side on roll first. */
  position: string;
  /** The cube's position for the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** The cube's value. */
  cube_value: number;
  /** The points that the side on roll and the other need. */
  away?: number[];
  /** Whether this is the Crawford game. */
  crawford?: boolean;
  /** How many points away the scores go. */
  scores: number;
  /** The decisions, one for each score. */
  cells: Cell[];
  /** The match equity table. */
  met: Met;
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** The maximum error of each number, by name; for estimates and rollouts the error that 99.9 % of them do not exceed; null if unknown. */
  max_error: Record<string, number>;
  /** For estimates and rollouts the errors that 95 % of them do not exceed; null for other answers. */
  usual_error?: Record<string, number>;
}

/** One play of a roll. */
export interface RankedPlay {
  /** The play, such as `6/5 6/off`. */
  play: string;
  /** The position after it, seen by the side that played. */
  result: string;
  /** The value by the measure: an equity (`money`, `match`, `cubeless`), rolls (`mean`) or a probability (`off:N`); null for the only legal play. */
  value: number;
  /** What it loses against the best play, never negative. */
  loss: number;
  /** Whether the loss is within the error, so that both plays may be equal. */
  close: boolean;
  /** At a score, the match winning chance after it. */
  mwc?: number;
  /** At a score, the loss of match winning chance. */
  loss_mwc?: number;
  /** At a score, the loss as an equity of a game at this score (EMG). */
  loss_emg?: number;
}

/** The plays of one roll. */
export interface RankedRoll {
  /** The dice, the larger first. */
  roll: string;
  /** With `top`: how many plays there are in all. */
  count?: number;
  /** The plays, best first. */
  plays: RankedPlay[];
}

/** The plays of one roll, or of all rolls. */
export interface PlayAnswer {
  /** A side or both, the side on roll first. */
  position: string;
  /** What the plays are ranked by: `money`, `match`, `cubeless`, `mean` or `off:N`. */
  measure: string;
  /** The dice, the larger first. */
  roll?: string;
  /** With `top`: how many plays there are in all. */
  count?: number;
  /** The plays, best first. */
  plays?: RankedPlay[];
  /** With `all` for the roll, in place of `roll` and `plays`: the 21 rolls. */
  rolls?: RankedRoll[];
  /** The cube's position for the side on roll, if the measure depends on it. */
  cube?: "centered" | "owned" | "opponent";
  /** The cube's value. */
  cube_value?: number;
  /** The points that the side on roll and the other need. */
  away?: number[];
  /** Whether this is the Crawford game. */
  crawford?: boolean;
  /** At a score, the match equity table. */
  met?: Met;
  /** The source: a kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** The name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** The maximum error of each number, by name; for estimates and rollouts the error that 99.9 % of them do not exceed; null if unknown. */
  max_error: Record<string, number>;
  /** For estimates and rollouts the errors that 95 % of them do not exceed; null for other answers. */
  usual_error?: Record<string, number>;
}

/** A position as programs need it. */
export interface Described {
  /** The counts of the side on roll from the ace point up; a 25th count is the bar. */
  us: number[];
  /** The counts of the other side; null where one side is asked about. */
  them: number[] | null;
  /** The counts as text. */
  counts: string;
  /** gnubg's Position ID. */
  position_id: string;
  /** eXtreme Gammon's identifier. */
  xgid: string;
  /** The pip counts of the side on roll and of the other. */
  pips: number[];
  /** How many chequers the side on roll and the other have. */
  chequers: number[];
  /** Whether the sides have not passed each other. */
  contact: boolean;
}

/** The query, with what the identifier adds to it. */
export interface ProbeQuestion {
  /** As sent. */
  position: string;
  /** The dice, the larger first, or `all`; null without dice. */
  roll: string | null;
  /** The cube's position for the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** What the plays are ranked by: `money`, `match`, `cubeless`, `mean` or `off:N`. */
  measure: string;
  /** The table that was named. */
  table: null;
}

/** Cube, race and plays of one position; a section that has no answer is null. */
export interface ProbeAnswer {
  /** The query. */
  question: ProbeQuestion;
  /** The position. */
  position: Described;
  /** The cube. */
  cube: CubeAnswer | null;
  /** The race of each side. */
  race: SideRace | TwoRaces | null;
  /** The plays of the roll. */
  play: PlayAnswer | null;
  /** Why a section has no answer, by its name. */
  not_covered: Partial<Record<"cube" | "race" | "play", string>>;
}
// shapes:end

export interface CubeOptions {
  /** The cube's position; by default the identifier's, else centered. */
  cube?: CubeOwner;
  /** The cube's value. */
  cube_value?: number;
  /** Whether a double may be beavered; by default as the identifier says, else it may. */
  beavers?: boolean;
  /** Whether gammons count only once the cube is turned; tables that hold no gammons answer alike. */
  jacoby?: boolean;
  /** Match score: what the side on roll and the other need, as "3-5"; by default the identifier's. */
  away?: string | readonly [number, number];
  crawford?: boolean;
  /** Calculate or estimate what no table covers: true on this thread, or by a function that asks `answer` of estimate.js. */
  calculate?: boolean | Calculate | null;
  /** Most pairs of boards times states of the cube for one question, or by what is asked. */
  limit?: number | Partial<Limits>;
  /** Told how far a calculation is, in pairs of boards. */
  progress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

export type Calculate = (
  question: Question | ToEstimate | OneSide,
  options: { signal?: AbortSignal; progress?: (done: number, total: number) => void },
) => Promise<Solved | Solved[] | Estimated | SideRolls>;

/** Of what a table leaves too close, of what no table covers, the same beside a one-sided table, at a match score; of the rolls of one side. */
export interface Limits {
  close: number;
  alone: number;
  beside: number;
  match: number;
  rolls: number;
}

/** A match equity table, as `bgfmt met NAME --json` writes it. */
export interface MetValues {
  name: string;
  digest: string;
  even: boolean;
  pre: readonly (readonly number[])[];
  post: readonly (readonly number[])[];
}

/** What a question at a match score takes beside the others. */
export interface MatchOptions {
  met: MetValues;
  /** Which player of an uneven table is on roll. */
  met_player?: 0 | 1;
  /** Answer scores beyond the table, up to 64-away. */
  extend_met?: boolean;
}

interface ForMoney {
  met?: undefined;
}

export type RaceOptions = Pick<CubeOptions, "calculate" | "limit" | "progress" | "signal">;

export interface PlayOptions extends CubeOptions, Partial<MatchOptions> {
  measure?: Measure;
  top?: number;
}

/** The plays of one roll. */
export type RollPlays = PlayAnswer & Required<Pick<PlayAnswer, "roll" | "plays">>;
/** A probe that may be of a match. */
export type MatchProbe = Omit<ProbeAnswer, "cube"> & { cube: CubeAnswer | MatchCubeAnswer | null };
/** The plays of all rolls. */
export type AllPlays = PlayAnswer & Required<Pick<PlayAnswer, "rolls">>;

export const ROLLS: string[];
export function parseRoll(roll: Roll): number[];
export function plays(counts: ArrayLike<number>, roll: Roll): { notation: string; result: Counts; moves: { from: number; to: number }[] }[];
/** With `calculate` also races that no one-sided table covers. */
export function race(tables: Tables, asked: ArrayLike<number> & object, options?: RaceOptions): Promise<SideRace>;
export function race(tables: Tables, asked: AskedPosition, options?: RaceOptions): Promise<SideRace | TwoRaces>;
export function cube(tables: Tables, asked: AskedPosition, options: CubeOptions & MatchOptions & { scores: number }): Promise<ScoresAnswer>;
/** With `insight` what lies behind the action, where no number of it is estimated; the scores of `met` where gammons count. */
export function cube(tables: Tables, asked: AskedPosition, options: CubeOptions & MatchOptions & { insight: true }): Promise<CubeAnswer | MatchCubeAnswer>;
export function cube(tables: Tables, asked: AskedPosition, options: CubeOptions & ForMoney & { insight: true }): Promise<CubeAnswer>;
export function cube(tables: Tables, asked: AskedPosition, options: CubeOptions & MatchOptions): Promise<CubeAnswer | MatchCubeAnswer>;
export function cube(tables: Tables, asked: AskedPosition, options?: CubeOptions & ForMoney): Promise<CubeAnswer>;
export function play(tables: Tables, asked: AskedPosition, roll: "all", options?: PlayOptions): Promise<AllPlays>;
export function play(tables: Tables, asked: AskedPosition, roll: OneRoll, options?: PlayOptions): Promise<RollPlays>;
export function play(tables: Tables, asked: AskedPosition, roll: Roll | "all", options?: PlayOptions): Promise<PlayAnswer>;
export function probe(tables: Tables, asked: AskedPosition, options: PlayOptions & MatchOptions & { roll?: Roll | "all" }): Promise<MatchProbe>;
export function probe(tables: Tables, asked: AskedPosition, options: PlayOptions & { roll: "all" }): Promise<ProbeAnswer & { play: AllPlays | null }>;
export function probe(tables: Tables, asked: AskedPosition, options: PlayOptions & { roll: OneRoll }): Promise<ProbeAnswer & { play: RollPlays | null }>;
export function probe(tables: Tables, asked: AskedPosition, options?: PlayOptions & { roll?: Roll | "all" }): Promise<ProbeAnswer>;
/** `more`: what the XGID says beside the position. */
export function describe(asked: AskedPosition, more?: Parameters<typeof import("./bgfmt.js").xgid>[1]): Described;
/** Greatest error of the four equities of a two-sided table of that size. */
export function storedErrors(points: number, chequers: number): number[];
/** Greatest error of the mean rolls of a one-sided table. */
export function meanError(points: number, normal?: boolean): number;
/** A bound of an error, rounded up to three decimals, or to one digit if that is finer: 0.0055 is "0.006". */
export function errorText(error: number): string;
