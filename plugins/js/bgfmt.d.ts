/** Counts of chequers from the ace point up; at most 25, the 25th being the bar. */
export type Counts = number[];

export interface Position {
  us: Counts;
  /** `null` for one side alone. */
  them: Counts | null;
}

export type CubeOwner = "centered" | "owned" | "opponent";

/** What an identifier stands for; what it does not say is missing. */
export interface Parsed extends Position {
  cube?: CubeOwner;
  cube_value?: number;
  roll?: string;
  /** Whether beavers are played, where a money position of an XGID says so. */
  beavers?: boolean;
  /** That the Jacoby rule is played, where a money position of an XGID says so. */
  jacoby?: boolean;
  score?: { away: [number, number]; crawford: boolean };
}

/** Text (an identifier or counts), both sides, one side's counts, or a position number. */
export type Asked = string | { us: ArrayLike<number>; them?: ArrayLike<number> | null } | ArrayLike<number> | number | bigint;

export type Kind = keyof Answers;

export interface TwoSidedAnswer {
  position: string;
  position_number: number;
  win: number;
  cubeless: number;
  /** Missing at run time, as the two below, where the table is not `cubeful`. */
  owned: number;
  centered: number;
  opponent: number;
}

/** Of tables that count gammons, which do not tell the chance to win. */
export type GammonsAnswer = Omit<TwoSidedAnswer, "win">;

export interface NormalAnswer {
  side: string;
  position_number: number;
  pips: number;
  mean_rolls: number;
  std_rolls: number;
  epc: number;
  wastage: number;
  gammon_mean_rolls: number;
  gammon_std_rolls: number;
}

export interface OneSidedAnswer {
  side: string;
  position_number: number;
  pips: number;
  mean_rolls: number;
  std_rolls: number;
  epc: number;
  wastage: number;
  /** Chances to bear off the last chequer in exactly 0 to 31 rolls. */
  bearoff: number[];
  /** This and the next two: where the table is of `gammon` data. */
  gammon_mean_rolls?: number;
  gammon_std_rolls?: number;
  gammon?: number[];
}

export interface HypergammonAnswer {
  position: string;
  position_number: number;
  outcomes: { win: number; win_gammon: number; win_backgammon: number; lose_gammon: number; lose_backgammon: number };
  equities: { owned: number; centered: number; centered_jacoby: number; opponent: number };
}

/** Beside these two a number for each column of the table, such as "a.centered.1": match winning chances. */
export type MatchAnswer = { position: string; position_number: number } & Record<string, number | string>;

/** What a table of each kind answers: the keys and numbers of `bgfmt lookup --json`. */
export interface Answers {
  "two-sided": TwoSidedAnswer;
  "two-sided-gammons": GammonsAnswer;
  "two-sided-jacoby": GammonsAnswer;
  "one-sided": OneSidedAnswer;
  "normal-distribution": NormalAnswer;
  hypergammon: HypergammonAnswer;
  "match-score": MatchAnswer;
}

/**
 * The answer of a table whose kind is not known to the compiler, two-sided or one-sided: keys of the other kind are
 * missing at run time. `open(source, {kind})` gives a table whose answers have the keys of that kind alone.
 */
export type Answer = TwoSidedAnswer & OneSidedAnswer;

/** The answers of tables of these kinds. */
export type AnswerOf<K extends Kind> = Kind extends K ? Answer : Answers[K];

export interface ReadOptions {
  signal?: AbortSignal;
}

/** Anything else that can be read by range. */
export interface ByteSource {
  size: number;
  name?: string;
  read(offset: number, length: number, options: { signal: AbortSignal }): Uint8Array | Promise<Uint8Array>;
  close?(): void;
}

/** Files that are one table, in order, as `bgfmt site --part` lays them out; `at`: where one begins, by default behind the one before. */
export interface Parts {
  parts: readonly { url: string | URL; at?: number; size: number }[];
  name?: string;
}

export type Source = string | URL | ArrayBuffer | ArrayBufferView | Blob | Parts | ByteSource;

export interface Layout {
  kind: "one-sided" | "normal-distribution" | "two-sided";
  points: number;
  chequers?: number;
  cubeful?: boolean;
  gammon?: boolean;
  compressed?: boolean;
}

export interface OpenOptions {
  /** Size of a page, a power of two from 4096. Default 65536, and 16384 of a compressed table (.bgts). */
  pageBytes?: number;
  /** Pages kept, the least recently used go first. Default 256. */
  cachePages?: number;
  /** Missing pages with no more than this many others between them are asked for together. Default 1. */
  gapPages?: number;
  /** Requests under way at once. Default 4. */
  concurrency?: number;
  /** Without ranges: read the whole file if it is no larger. Default 64 MiB. */
  wholeBytes?: number;
  /** Further tries after a network failure, 429 or 5xx. Default 2. */
  retries?: number;
  /** Milliseconds for one request. Default 30000. */
  timeout?: number;
  headers?: HeadersInit;
  fetch?: typeof fetch;
  cache?: RequestCache;
  signal?: AbortSignal;
  /** A file without header. */
  layout?: Layout;
  /** Where in the file the table begins. Default 0. */
  offset?: number;
  /** What messages and answers call the table. Default: the URL or the file's name. */
  name?: string;
  /** The kind of table that is wanted; FormatError for another. */
  kind?: Kind;
}

export interface Stats {
  requests: number;
  bytes: number;
  hits: number;
  misses: number;
  pages: number;
}

export class Table<K extends Kind = Kind> {
  private constructor();
  readonly name: string;
  readonly size: number;
  readonly kind: K;
  readonly points: number;
  readonly chequers: number;
  readonly positions: number;
  readonly cubeful: boolean;
  readonly gammon: boolean;
  readonly compressed: boolean;
  /** Counts decide; nothing is fetched. */
  covers(asked: Asked): boolean;
  /** NotCoveredError outside the table. */
  lookup(asked: Asked, options?: ReadOptions): Promise<AnswerOf<K>>;
  /** `null` outside the table. */
  get(asked: Asked, options?: ReadOptions): Promise<AnswerOf<K> | null>;
  /** The same order; all pages they need are fetched together, `gapPages` for this question alone. */
  lookupMany(asked: ArrayLike<Asked>, options?: ReadOptions & { gapPages?: number }): Promise<(AnswerOf<K> | null)[]>;
  /** Tables in memory alone. */
  lookupSync(asked: Asked): AnswerOf<K>;
  stats(): Stats;
  close(): void;
}

export function open<K extends Kind>(source: Source, options: OpenOptions & { kind: K }): Promise<Table<K>>;
export function open(source: Source, options?: OpenOptions): Promise<Table>;

export function parse(text: string): Parsed;
export function positionId(position: { us: ArrayLike<number>; them?: ArrayLike<number> | null }): string;
export function xgid(
  position: { us: ArrayLike<number>; them?: ArrayLike<number> | null },
  more?: { cube?: CubeOwner; cube_value?: number; roll?: string | null; away?: [number, number] | null; crawford?: boolean; jacoby?: boolean; beavers?: boolean },
): string;
export function countsText(position: { us: ArrayLike<number>; them?: ArrayLike<number> | null }): string;
export function rank(counts: ArrayLike<number>, points: number): number;
export function unrank(number: number | bigint, points: number): Counts;
export function count(points: number, chequers: number): number;
export function sideOf(counts: ArrayLike<number>): Counts;
export function chequers(side: Counts): number;
export function pips(side: Counts): number;
export function highest(side: Counts): number;
export function contact(position: { us: Counts; them: Counts }): boolean;
export const PIPS_PER_ROLL: number;

export type ErrorCode =
  | "format" | "truncated" | "corrupt" | "bad_position" | "not_covered" | "network" | "no_ranges" | "changed" | "closed" | "not_in_memory";

export class BgfmtError extends Error {
  constructor(message: string, code?: string, options?: { cause?: unknown });
  readonly code: ErrorCode | string;
}
export class FormatError extends BgfmtError { constructor(message: string); }
export class TruncatedError extends BgfmtError { constructor(message: string); }
export class CorruptError extends BgfmtError { constructor(message: string); }
export class PositionError extends BgfmtError { constructor(message: string); }
export class NotCoveredError extends BgfmtError { constructor(message: string); }
export class NetworkError extends BgfmtError {
  constructor(message: string, status?: number, cause?: unknown);
  /** Where there was an answer. */
  readonly status?: number;
}
export class RangeNotSupportedError extends BgfmtError {
  constructor(message: string, size?: number);
  /** Bytes of the file, where they are known. */
  readonly size?: number;
}
export class SourceChangedError extends BgfmtError { constructor(message: string); }
export class ClosedError extends BgfmtError { constructor(message: string); }
export class NotInMemoryError extends BgfmtError { constructor(message: string); }
