import type { Columns, Question, Solved } from "./calculate.js";

/** A race without contact. */
export interface ToEstimate {
  us: readonly number[];
  them: readonly number[];
  columns: Columns;
  /** What a point is worth in the unit of the errors; by default 1. */
  unit?: number;
}

/** As `Solved`; 95 % and 99.9 % of values are no farther than `usual` and `error` from the truth. */
export type Estimated = Omit<Solved, "source" | "usual"> & { source: "estimate"; usual: number };

/** `progress` counts boards of the one-sided table that this race needs, made the first time. */
export function estimate(question: ToEstimate, progress?: (done: number, total: number) => void): Estimated;
/** The rolls of one side are wanted: within the limit calculated, beyond it by a table of ten points or estimated. */
export interface OneSide {
  side: readonly number[];
  limit: number;
}

/** Chances to bear off the last and the first chequer in exactly 0, 1, 2, ... rolls, and where they come from. */
export interface SideRolls {
  bearoff: number[];
  gammon?: number[] | null;
  /** Of the table, where one answers. */
  points?: number;
  source: "calculation" | "one-sided" | "estimate";
  table: string | null;
  approximate: boolean;
  max_error?: { mean_rolls: number };
}

/** What a question of ask.js asks for: the rolls of a side, a calculation where it has a limit, else an estimate. */
export function answer(question: OneSide, progress?: (done: number, total: number) => void): SideRolls;
export function answer(question: Question | ToEstimate, progress?: (done: number, total: number) => void): Solved | Solved[] | Estimated;
