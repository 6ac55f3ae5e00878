import type { Columns, Question, Solved } from "./calculate.js";

/** A race with no chequer beyond the eighth point. */
export interface ToEstimate {
  us: readonly number[];
  them: readonly number[];
  columns: Columns;
  /** What a point is worth in the unit of the errors; by default 1. */
  unit?: number;
}

/** As `Solved`; 95 % and 99.9 % of values are no farther than `usual` and `error` from the truth. */
export type Estimated = Omit<Solved, "source" | "usual"> & { source: "estimate"; usual: number };

/** NotCoveredError with a chequer farther back. `progress` counts boards of the one-sided table, which is made once. */
export function estimate(question: ToEstimate, progress?: (done: number, total: number) => void): Estimated;
/** What a question of ask.js asks for: a calculation where it has a limit, else an estimate. */
export function answer(question: Question | ToEstimate, progress?: (done: number, total: number) => void): Solved | Solved[] | Estimated;
