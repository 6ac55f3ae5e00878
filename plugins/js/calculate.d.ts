import { NotCoveredError } from "./bgfmt.js";

/** The cube: its value, and who owns it: 0 the side on roll, 1 the other, 2 nobody. */
export interface CubeState {
  value: number;
  owner: 0 | 1 | 2;
}

/** What is kept of a pair of boards, a column for each state of the cube (null: none); pairs, the side on roll first. */
export interface Columns {
  states: (CubeState | null)[];
  may: boolean[][];
  /** The value when a double is passed. */
  passed: number[][];
  /** When it is taken: add + times * the value in column `source`. */
  source: number[][];
  add: number[][];
  times: number[][];
  /** Value of winning nothing, a single game, a gammon, a backgammon, four numbers a column. */
  won: number[][];
}

export interface Question<C extends Columns | Columns[] = Columns | Columns[]> {
  us: readonly number[];
  them: readonly number[];
  columns: C;
  /** Most pairs of boards times columns. */
  limit: number;
  /** Columns in all, where there are several that share one. */
  total?: number;
}

/** A race solved, seen by the side on roll. */
export interface Solved {
  source: "calculation";
  /** No value is farther than this from the truth. */
  error: number;
  usual: null;
  /** By column: before it doubles or rolls, not doubling. */
  onRoll: Float64Array;
  /** Sides that it can be played to. */
  boards: number[][];
  /** Of each of the 21 rolls, places in `boards`. */
  plays: number[][];
  /** By board and column: what that is worth to it when the other side is on roll. */
  after: Float64Array;
}

/** More than the limit; `work` is null where it was not counted to the end. */
export class TooMuchWorkError extends NotCoveredError {
  readonly work: number | null;
  readonly limit: number;
}

export function moneyColumns(jacoby: boolean): Columns;
export function noFarther(side: readonly number[]): number;
/** Solve a race without contact; TooMuchWorkError beyond the limit. It blocks its thread: a page runs it in a Worker. */
export function calculate(question: Question<Columns>, progress?: (done: number, total: number) => void): Solved;
export function calculate(question: Question<Columns[]>, progress?: (done: number, total: number) => void): Solved[];
