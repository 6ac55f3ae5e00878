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
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** Maximum error of each number (99.9 % bound for estimates and rollouts). */
  max_error: Record<string, number>;
  /** For estimates and rollouts: 95 % bound of each error. */
  usual_error?: Record<string, number>;
}

/** One side's race. What the table does not hold is None, and missing in JSON. */
export interface SideRace {
  /** Counts of the side. */
  side: string;
  /** Position number in that table. */
  position_number: number;
  /** Pip count. */
  pips: number;
  /** Mean rolls to bear off the last chequer. */
  mean_rolls: number;
  /** Standard deviation of those rolls. */
  std_rolls: number;
  /** Effective pip count (EPC): mean rolls times 49/6. */
  epc: number;
  /** EPC minus pip count. */
  wastage: number;
  /** Mean rolls to bear off the first chequer. */
  gammon_mean_rolls?: number;
  /** Standard deviation of those rolls. */
  gammon_std_rolls?: number;
  /** Probabilities of being off in exactly 0, 1, 2, ... rolls. */
  bearoff?: number[];
  /** Probabilities of being off within 0, 1, 2, ... rolls. */
  off_within?: number[];
  /** Probabilities of bearing off the first chequer in exactly 0, 1, 2, ... rolls. */
  gammon?: number[];
  /** Probabilities of bearing off the first chequer within 0, 1, 2, ... rolls. */
  gammon_saved_within?: number[];
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** Maximum error of each number (99.9 % bound for estimates and rollouts). */
  max_error: Record<string, number>;
}

/** Approximate win and gammon probabilities of the side on roll, by gnubg's formula, each side playing alone. */
export interface Estimate {
  /** Both sides, the side on roll first. */
  position: string;
  /** Always true. */
  approximate: true;
  /** Win probability. */
  win: number;
  /** Probability of winning a gammon; null without gammon data. */
  win_gammon: number | null;
  /** Probability of losing a gammon; null without gammon data. */
  lose_gammon: number | null;
  /** Equity without a cube, gammons counted if known. */
  cubeless: number;
  /** Maximum error of `win`, measured up to six chequers on six points. */
  worst_error: number;
  /** Mean error of `win`, measured in the same way. */
  mean_error: number;
}

/** The races of both sides. */
export interface TwoRaces {
  /** Both sides, the side on roll first. */
  position: string;
  /** Race of the side on roll. */
  on_roll: SideRace;
  /** Race of the opponent. */
  other_side: SideRace;
  /** Win probabilities; null if only means are known. */
  two_sided: Estimate | null;
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** Maximum error of each number (99.9 % bound for estimates and rollouts). */
  max_error: Record<string, number>;
}

/** A cube decision of the side on roll; equities are its own, for a cube now at 1. */
export interface CubeAction {
  /** Cube as seen by the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** Cube action in words, such as `Double, take`. */
  action: string;
  /** Equity of not doubling. */
  no_double: number;
  /** Equity of double, take. */
  double_take: number;
  /** Equity of double, pass. */
  double_pass: number;
  /** Equity of double, beaver; null if beavers are not played. */
  double_beaver: number | null;
  /** Equity with correct cube decisions. */
  best: number;
  /** Whether to double; true if it costs nothing. */
  doubles: boolean;
  /** Whether to take; true for an exact tie. */
  takes: boolean;
  /** Whether to beaver. */
  beavers: boolean;
  /** Gain of doubling over not doubling; negative for a loss. */
  double_margin: number;
  /** Gain of taking over passing for the opponent; negative for a loss. */
  take_margin: number;
  /** Whether doubling and not doubling are proved equal. */
  tie_double: boolean;
  /** Whether taking and passing are proved equal. */
  tie_take: boolean;
  /** Whether the decision to double is certain. */
  sure_double: boolean;
  /** Whether the response (take, pass or beaver) is certain. */
  sure_take: boolean;
  /** Whether the action is certain in spite of the error. */
  sure: boolean;
  /** Maximum error of the equities (99.9 % bound for estimates and rollouts). */
  error: number;
  /** For estimates and rollouts: 95 % bound of the error. */
  usual_error?: number;
  /** Whether a calculation replaced a table whose error left it open. */
  settled: boolean;
  /** Certainty of the action, in words. */
  certainty: string;
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
}

/** The reasons of a cube decision: take points, market losers, and the best and worst rolls. */
export interface Insight {
  /** Cubeless win probability of the side that responds, gammons not counted. */
  win: number;
  /** Its take point with a dead cube. */
  take_point: number;
  /** Its take point with a fully live cube. */
  live_take_point: number;
  /** Probability that after both sides' next rolls a double is passed or the game is won. */
  market_losers: number;
  /** Rolls that can lose the market, with the probability that each does. */
  losing_rolls: Record<string, number>;
  /** Three best rolls, with equities of no double. */
  best_rolls: Record<string, number>;
  /** Three worst rolls, with equities of no double. */
  worst_rolls: Record<string, number>;
}

/** The cube for money. */
export interface CubeAnswer {
  /** Both sides, the side on roll first. */
  position: string;
  /** Cube as seen by the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** Value of the cube. */
  cube_value: number;
  /** Win probability without a cube. */
  win: number | null;
  /** Probability of winning a gammon. */
  win_gammon: number | null;
  /** Probability of losing a gammon. */
  lose_gammon: number | null;
  /** Equity without a cube. */
  cubeless: number;
  /** Equity of not doubling, owning the cube. */
  owned: number;
  /** Equity of not doubling, cube centered. */
  centered: number;
  /** Equity with the opponent owning the cube. */
  opponent: number;
  /** `none` (impossible), `counted`, or `ignored` though possible. */
  gammons: "none" | "counted" | "ignored";
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** Maximum error of each number (99.9 % bound for estimates and rollouts). */
  max_error: Record<string, number>;
  /** For estimates and rollouts: 95 % bound of each error. */
  usual_error?: Record<string, number>;
  /** Cube action in words, such as `Double, take`. */
  action: string;
  /** Whether to double; true if it costs nothing. */
  doubles: boolean;
  /** Whether to take; true for an exact tie. */
  takes: boolean;
  /** Whether to beaver. */
  beavers: boolean;
  /** Whether the action is certain in spite of the error. */
  sure: boolean;
  /** Whether a calculation replaced a table whose error left it open. */
  settled: boolean;
  /** Certainty of the action, in words. */
  certainty: string;
  /** Action with a centered cube. */
  centered_cube: CubeAction;
  /** Action with the side on roll owning the cube. */
  owned_cube: CubeAction;
  /** Koca's label, from 1 to 5. */
  label: 1 | 2 | 3 | 4 | 5;
  /** Meaning of the label. */
  label_text: string;
  /** Reasons, if asked for and the numbers are exact. */
  insight?: Insight;
}

/** Match winning chances, or equities of a game at this score (EMG), of the side on roll. */
export interface Choices {
  /** No double. */
  no_double: number;
  /** Double, take. */
  double_take: number | null;
  /** Double, pass. */
  double_pass: number | null;
  /** Best choice. */
  best: number;
}

/** What each choice costs, never negative. */
export interface Losses {
  /** Cost of not doubling to the side on roll. */
  no_double: number;
  /** Cost of doubling to the side on roll. */
  double: number;
  /** Cost of taking to the opponent. */
  take: number;
  /** Cost of passing to the opponent. */
  pass: number;
}

/** A match equity table, by its name and values. */
export interface Met {
  /** Name. */
  name: string;
  /** SHA-256 of its values. */
  digest: string;
}

/** The cube at a score. */
export interface MatchCubeAnswer {
  /** Both sides, the side on roll first. */
  position: string;
  /** Cube as seen by the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** Value of the cube. */
  cube_value: number;
  /** Points that the side on roll and the opponent need. */
  away: number[] | null;
  /** Whether this is the Crawford game. */
  crawford: boolean | null;
  /** Match winning chances (MWC). */
  mwc: Choices;
  /** The choices as equities of a single game at this score (EMG). */
  emg: Choices;
  /** Cube action in words, such as `Double, take`. */
  action: string;
  /** Whether to double: `yes`, `no`, `optional` or `unavailable`. */
  double: "yes" | "no" | "optional" | "unavailable";
  /** `take`, `pass` or `either`; null if doubling is not allowed. */
  response: "take" | "pass" | "either" | null;
  /** Cost of each choice in MWC. */
  loss_mwc: Losses | null;
  /** Cost of each choice in EMG. */
  loss_emg: Losses | null;
  /** `counted` if either side can still lose a gammon, which the equities include, else `none`. */
  gammons: "none" | "counted";
  /** Whether a decision is within the error of the MWC. */
  close: boolean;
  /** Game win probability without a cube. */
  cubeless_win: number | null;
  /** Notes to the player, a sentence each. */
  notes: string[];
  /** Match equity table. */
  met: Met;
  /** For estimates and rollouts: 95 % bound of the error of the MWC. */
  usual_error?: number;
  /** Whether to double; true if it costs nothing. */
  doubles: boolean;
  /** Whether to take; true for an exact tie. */
  takes: boolean;
  /** Whether the action is certain in spite of the error. */
  sure: boolean;
  /** Certainty of the action, in words. */
  certainty: string;
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** Maximum error of each number (99.9 % bound for estimates and rollouts). */
  max_error: Record<string, number>;
  /** Reasons, if asked for and the numbers are exact. */
  insight?: Insight;
}

/** The decision at one score of a grid. */
export interface Cell {
  /** Points that the side on roll and the opponent need. */
  away: number[];
  /** Whether this is the Crawford game. */
  crawford: boolean;
  /** Match winning chances (MWC). */
  mwc: Choices;
  /** The choices as equities of a single game at this score (EMG). */
  emg: Choices;
  /** Cube action in words, such as `Double, take`. */
  action: string;
  /** Whether to double: `yes`, `no`, `optional` or `unavailable`. */
  double: "yes" | "no" | "optional" | "unavailable";
  /** `take`, `pass` or `either`; null if doubling is not allowed. */
  response: "take" | "pass" | "either" | null;
  /** Cost of each choice in MWC. */
  loss_mwc: Losses | null;
  /** Cost of each choice in EMG. */
  loss_emg: Losses | null;
  /** `counted` if either side can still lose a gammon, which the equities include, else `none`. */
  gammons: "none" | "counted";
  /** Maximum error of the MWC. */
  error: number;
  /** Whether a decision is within the error of the MWC. */
  close: boolean;
  /** Game win probability without a cube. */
  cubeless_win: number | null;
  /** Notes to the player, a sentence each. */
  notes: string[];
  /** Match equity table. */
  met: Met;
}

/** The cube at all scores. */
export interface ScoresAnswer {
  /** Both sides, the side on roll first. */
  position: string;
  /** Cube as seen by the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** Value of the cube. */
  cube_value: number;
  /** Points that the side on roll and the opponent need. */
  away?: number[];
  /** Whether this is the Crawford game. */
  crawford?: boolean;
  /** Largest number of points away. */
  scores: number;
  /** Decisions, one a score. */
  cells: Cell[];
  /** Match equity table. */
  met: Met;
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** Maximum error of each number (99.9 % bound for estimates and rollouts). */
  max_error: Record<string, number>;
  /** For estimates and rollouts: 95 % bound of each error. */
  usual_error?: Record<string, number>;
}

/** One play of a roll. */
export interface RankedPlay {
  /** Play, such as `6/5 6/off`. */
  play: string;
  /** Position after it, the side that played first. */
  result: string;
  /** Value by the measure: equity (`money`, `match`, `cubeless`), rolls (`mean`) or probability (`off:N`); null for the only legal play. */
  value: number;
  /** Loss against the best play, never negative. */
  loss: number;
  /** Whether the loss is within the error. */
  close: boolean;
  /** At a score: match winning chance (MWC) after it. */
  mwc?: number;
  /** At a score: loss of MWC. */
  loss_mwc?: number;
  /** At a score: loss in EMG. */
  loss_emg?: number;
}

/** The plays of one roll. */
export interface RankedRoll {
  /** Dice, the larger first. */
  roll: string;
  /** With `top`: number of all plays. */
  count?: number;
  /** Plays, best first. */
  plays: RankedPlay[];
}

/** The plays of one roll, or of all rolls. */
export interface PlayAnswer {
  /** A side or both, the side on roll first. */
  position: string;
  /** Ranking: `money`, `match`, `cubeless`, `mean` or `off:N`. */
  measure: string;
  /** Dice, the larger first. */
  roll?: string;
  /** With `top`: number of all plays. */
  count?: number;
  /** Plays, best first. */
  plays?: RankedPlay[];
  /** With `all` as the roll: the 21 rolls, in place of `roll` and `plays`. */
  rolls?: RankedRoll[];
  /** Cube as seen by the side on roll: `centered`, `owned` or `opponent`. */
  cube?: "centered" | "owned" | "opponent";
  /** Value of the cube. */
  cube_value?: number;
  /** Points that the side on roll and the opponent need. */
  away?: number[];
  /** Whether this is the Crawford game. */
  crawford?: boolean;
  /** Match equity table. */
  met?: Met;
  /** A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`. */
  source: "two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate";
  /** Name of the table; null for a calculation. */
  table: string | null;
  /** Whether no proved error bound is known, as for estimates. */
  approximate: boolean;
  /** Maximum error of each number (99.9 % bound for estimates and rollouts). */
  max_error: Record<string, number>;
  /** For estimates and rollouts: 95 % bound of each error. */
  usual_error?: Record<string, number>;
}

/** A position as programs need it. */
export interface Described {
  /** Counts of the side on roll from the ace point up; a 25th count is the bar. */
  us: number[];
  /** Counts of the opponent; null for a query of one side. */
  them: number[] | null;
  /** Counts as text. */
  counts: string;
  /** gnubg's Position ID. */
  position_id: string;
  /** eXtreme Gammon's identifier. */
  xgid: string;
  /** Pip counts of the side on roll and of the opponent. */
  pips: number[];
  /** Chequers of the side on roll and of the opponent. */
  chequers: number[];
  /** Whether the sides have not yet passed each other. */
  contact: boolean;
}

/** The query, with what the identifier adds to it. */
export interface ProbeQuestion {
  /** As sent. */
  position: string;
  /** Dice, the larger first, or `all`; null without dice. */
  roll: string | null;
  /** Cube as seen by the side on roll: `centered`, `owned` or `opponent`. */
  cube: "centered" | "owned" | "opponent";
  /** Ranking: `money`, `match`, `cubeless`, `mean` or `off:N`. */
  measure: string;
  /** Table named in the query. */
  table: null;
}

/** Cube, race and plays of one position; a section that has no answer is null. */
export interface ProbeAnswer {
  /** Query. */
  question: ProbeQuestion;
  /** Position. */
  position: Described;
  /** Cube. */
  cube: CubeAnswer | null;
  /** Race of each side. */
  race: SideRace | TwoRaces | null;
  /** Plays of the roll. */
  play: PlayAnswer | null;
  /** Reason for a section without an answer, by its name. */
  not_covered: Partial<Record<"cube" | "race" | "play", string>>;
}
// shapes:end

export interface CubeOptions {
  /** Where the cube lies; by default the identifier's, else centered. */
  cube?: CubeOwner;
  /** What the cube shows. */
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
/** What is added to an estimate whose options differ by no more than `bound`. */
export function tooClose(bound: number): string;
