// Reads bearoff tables where they lie: in memory, in a file, or on a web server, by byte range. Compressed tables need
// `packed.js` beside this file. No dependencies, no build step; browsers and Node >= 18. Python's `bgfmt` gives the same numbers to the last bit.
//
//     import { open } from "./bgfmt.js";
//     const table = await open("https://example.org/ts_06x15.bd");
//     (await table.lookup("0,1,0,0,1/0,1,1")).centered;
//
// Counts of chequers run from the ace point up, at most 25 of them, the 25th being the bar; of two sides the one on
// roll comes first. Numbers and offsets go far beyond 32 bits, so there is no `|`, `>>` or `&` on them.

// -- errors -----------------------------------------------------------------------------------------------------

/** Root of every error thrown on purpose; `code` names the kind for programs. */
export class BgfmtError extends Error {
  constructor(message, code = "error", options = undefined) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }
}
/** The bytes are no table that this reader knows. */
export class FormatError extends BgfmtError {
  constructor(message) { super(message, "format"); }
}
/** The file is shorter than its header promises. */
export class TruncatedError extends BgfmtError {
  constructor(message) { super(message, "truncated"); }
}
/** An entry breaks the rules of its format. */
export class CorruptError extends BgfmtError {
  constructor(message) { super(message, "corrupt"); }
}
/** Not a legal side, position, identifier, roll or measure. */
export class PositionError extends BgfmtError {
  constructor(message) { super(message, "bad_position"); }
}
/** A legal position that lies outside the table. */
export class NotCoveredError extends BgfmtError {
  constructor(message) { super(message, "not_covered"); }
}
/** The network or the server failed; `status` where there was an answer. */
export class NetworkError extends BgfmtError {
  constructor(message, status = undefined, cause = undefined) {
    super(message, "network", cause === undefined ? undefined : { cause });
    this.status = status;
  }
}
/** The server sends whole files only, and this one is too large to read whole; `size` where it is known. */
export class RangeNotSupportedError extends BgfmtError {
  constructor(message, size = undefined) {
    super(message, "no_ranges");
    this.size = size;
  }
}
/** The file was replaced, and again while it was opened anew. */
export class SourceChangedError extends BgfmtError {
  constructor(message) { super(message, "changed"); }
}
/** The table has been closed. */
export class ClosedError extends BgfmtError {
  constructor(message) { super(message, "closed"); }
}
/** Asked for an answer at once of a table that does not lie in memory. */
export class NotInMemoryError extends BgfmtError {
  constructor(message) { super(message, "not_in_memory"); }
}

// -- position numbers -------------------------------------------------------------------------------------------

const MOST_CHEQUERS = 15;
const PLACES = 25; // points 1 to 24, and the bar
const BINOMIALS = pascal(PLACES + MOST_CHEQUERS);

function pascal(size) {
  const rows = [];
  for (let n = 0; n <= size; n++) {
    const row = [1];
    for (let k = 1; k <= n; k++) row.push(rows[n - 1][k - 1] + (rows[n - 1][k] ?? 0));
    rows.push(row);
  }
  return rows;
}

const choose = (n, k) => (k > n ? 0 : BINOMIALS[n][k]);

/** Number of one-sided positions of up to `chequers` chequers. */
export function count(points, chequers) {
  return choose(points + chequers, points);
}

/** Position number of counts on `points` points; PositionError when a chequer stands beyond. */
export function rank(counts, points) {
  const side = sideOf(counts);
  pointsOf(points);
  if (highest(side) > points) throw new PositionError(`${text1(side)} ${beyond(side)}, beyond ${points} points`);
  return number1(side, points);
}

function number1(side, points) {
  let number = 0;
  let above = 0;
  for (let k = 1; k <= points; k++) {
    above += side[points - k] ?? 0;
    number += choose(above + k - 1, k);
  }
  return number;
}

/** Counts on points 1 to `points` of a position number: the inverse of `rank`. */
export function unrank(number, points) {
  pointsOf(points);
  let left = Number(number);
  if (!Number.isInteger(left) || left < 0 || left >= count(points, MOST_CHEQUERS)) {
    throw new PositionError(`no position of up to 15 chequers has number ${number} on ${points} points`);
  }
  const counts = new Array(points).fill(0);
  let before = 0;
  for (let k = points; k > 0; k--) {
    let above = 0;
    while (choose(above + k, k) <= left) above++;
    left -= choose(above + k - 1, k);
    if (k < points) counts[points - 1 - k] = before - above;
    before = above;
  }
  counts[points - 1] = before;
  return counts;
}

function pointsOf(points) {
  if (!Number.isInteger(points) || points < 1 || points > PLACES) {
    throw new PositionError(`a side must have 1 to 24 points and the bar, not ${points}`);
  }
}

// -- sides and positions ----------------------------------------------------------------------------------------

/** Counts as an array of at least six plain numbers without further trailing zeros; PositionError for nonsense. */
export function sideOf(counts) {
  if (!Array.isArray(counts) && !ArrayBuffer.isView(counts)) throw new PositionError("a side is an array of counts");
  const side = Array.from(counts, Number);
  if (side.length > PLACES) throw new PositionError(`${side.length} counts: a side has at most 25, 24 points and the bar`);
  const wrong = side.find((c) => !Number.isInteger(c) || c < 0);
  if (wrong !== undefined) throw new PositionError(`a point cannot hold ${wrong} chequers`);
  const all = chequers(side);
  if (all > MOST_CHEQUERS) throw new PositionError(`a side has at most 15 chequers, not ${all}`);
  while (side.length > 6 && side[side.length - 1] === 0) side.pop();
  while (side.length < 6) side.push(0);
  return side;
}

/** Chequers of a side on the board and the bar. */
export const chequers = (side) => side.reduce((sum, c) => sum + c, 0);

/** Pip count of a side. */
export const pips = (side) => side.reduce((sum, c, i) => sum + c * (i + 1), 0);

/** The highest occupied point, 25 for the bar, 0 when all are off. */
export function highest(side) {
  let at = side.length;
  while (at > 0 && !side[at - 1]) at--;
  return at;
}

/** Whether the sides have not passed each other yet. */
export const contact = ({ us, them }) => highest(us) + highest(them) > 24;

function text1(side) {
  const bar = side[PLACES - 1] ?? 0;
  const points = side.slice(0, bar ? Math.max(6, highest(side.slice(0, PLACES - 1))) : Math.max(6, highest(side)));
  return points.join(" ") + (bar ? ` bar ${bar}` : "");
}

/** Counts as bgfmt prints them: "0 1 0 0 1 0 / 0 1 1 0 0 0", or one side alone. */
export function countsText({ us, them = null }) {
  return them === null ? text1(sideOf(us)) : `${text1(sideOf(us))} / ${text1(sideOf(them))}`;
}

const beyond = (side) => (highest(side) === PLACES ? "has a chequer on the bar" : `has a chequer on point ${highest(side)}`);

function positionOf(us, them) {
  const position = { us: sideOf(us), them: them === null || them === undefined ? null : sideOf(them) };
  if (position.them !== null) {
    for (let point = 1; point <= 24; point++) {
      if (position.us[point - 1] && position.them[24 - point]) {
        throw new PositionError(`${countsText(position)}: both sides stand on point ${point} of the player on roll`);
      }
    }
  }
  return position;
}

// -- identifiers ------------------------------------------------------------------------------------------------

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BLANKS = /^[\0\s]+|[\0\s]+$/g;
const ONE_SIDE = /^\d+(?:[\s,]+\d+)*[\s,]*(?:bar\s+\d+\s*)?$/;
const TWO_SIDES = /^[\d\s,]*(?:bar\s+\d+\s*)?\/[\d\s,]*(?:bar\s+\d+\s*)?$/;

/**
 * What counts ("0 2 2 2 0 4", "4,3,1/3 3 2"), a gnubg Position ID, a GNUbg ID or an XGID stand for: `us` and `them`
 * (null for one side), and where the text says so `cube` ("centered", "owned", "opponent", seen by the side on roll),
 * `cube_value`, `roll` ("61"), `beavers`, `jacoby` and, in a match, `score` ({away: [us, them], crawford}).
 */
export function parse(text) {
  if (typeof text !== "string") throw new PositionError("a position is a text");
  const said = text.replace(BLANKS, "");
  if (ONE_SIDE.test(said)) return positionOf(countsOf(said), null);
  if (TWO_SIDES.test(said)) {
    const [us, them] = said.split("/");
    return positionOf(countsOf(us), countsOf(them));
  }
  if (said.startsWith("XGID=") || /^[-A-Oa-o]{26}:/.test(said)) return fromXgid(said);
  if (/^[A-Za-z0-9+/]{14}(:[A-Za-z0-9+/]*)?$/.test(said)) return fromGnubgId(said);
  throw new PositionError(
    `'${said.slice(0, 80).replace(/\s+/g, " ")}': neither counts (such as '4 3 1 / 3 3 2', on roll first) nor a Position ID, GNUbg ID or XGID`,
  );
}

function countsOf(text) {
  const [points, bar] = text.split("bar");
  const counts = (points.match(/\d+/g) ?? []).map(Number);
  if (counts.some((c) => c > MOST_CHEQUERS)) {
    throw new PositionError(`'${text.replace(BLANKS, "")}': a point holds at most 15 chequers`);
  }
  if (bar === undefined) return counts;
  if (counts.length >= PLACES) throw new PositionError(`${counts.length} counts before the bar: a side has 24 points`);
  while (counts.length < PLACES - 1) counts.push(0);
  return [...counts, Number(bar)];
}

/** Bits of base64 text, the least significant of each byte first; PositionError where bits are left over. */
function bitsOf(text, bytes, what) {
  const bits = [];
  let value = 0;
  let held = 0;
  for (const letter of text) {
    value = value * 64 + LETTERS.indexOf(letter);
    held += 6;
    if (held >= 8) {
      held -= 8;
      const byte = Math.floor(value / 2 ** held);
      value %= 2 ** held;
      for (let k = 0; k < 8; k++) bits.push(Math.floor(byte / 2 ** k) % 2);
    }
  }
  if (value || bits.length !== bytes * 8) throw new PositionError(`'${text}': not a ${what}`);
  return bits;
}

function textOf(bits) {
  let text = "";
  const bytes = [];
  for (let at = 0; at < bits.length; at += 8) bytes.push(bits.slice(at, at + 8).reduce((n, b, k) => n + b * 2 ** k, 0));
  for (let at = 0; at < bytes.length * 8; at += 6) {
    const pair = bytes[Math.floor(at / 8)] * 256 + (bytes[Math.floor(at / 8) + 1] ?? 0);
    text += LETTERS[Math.floor(pair / 2 ** (10 - (at % 8))) % 64];
  }
  return text;
}

function fromPositionId(text) {
  const bits = bitsOf(text, 10, "Position ID");
  const sides = [];
  let at = 0;
  for (let k = 0; k < 2; k++) {
    const side = [];
    for (let place = 0; place < PLACES; place++, at++) {
      const start = at;
      while (bits[at] === 1) at++;
      side.push(at - start);
    }
    sides.push(side);
  }
  if (at > 80 || bits.slice(at).includes(1)) throw new PositionError(`'${text}': not a Position ID`);
  return positionOf(sides[1], sides[0]);
}

function fromGnubgId(text) {
  const [first, second] = text.split(":");
  const position = fromPositionId(first);
  if (second === undefined) return position;
  if (second.length !== 12) throw new PositionError(`'${second}': a Match ID has 12 characters, not ${second.length}`);
  const bits = bitsOf(second, 9, "Match ID");
  const field = (at, size) => bits.slice(at, at + size).reduce((n, b, k) => n + b * 2 ** k, 0);
  const [owner, turn, high, low, length] = [field(4, 2), field(6, 1), field(15, 3), field(18, 3), field(21, 15)];
  if (owner === 2 || Math.max(high, low) > 6 || !high !== !low || field(67, 5)) {
    throw new PositionError(`'${second}': not a Match ID (cube owner ${owner}, dice ${high} and ${low})`);
  }
  return state(position, {
    cube: owner === 3 ? "centered" : owner === turn ? "owned" : "opponent",
    cube_value: 2 ** field(0, 4),
    roll: high && !field(12, 1) ? [high, low] : null,
    length,
    scores: turn === 1 ? [field(51, 15), field(36, 15)] : [field(36, 15), field(51, 15)],
    crawford: Boolean(field(7, 1)),
  });
}

function fromXgid(text) {
  const fields = text.replace(/^XGID=/, "").split(":");
  const wrong = (why) => new PositionError(`'${text}': ${why}`);
  if (fields[0].length !== 26) throw wrong(`the board has ${fields[0].length} of 26 characters`);
  if (fields.length < 8 || fields.length > 10) throw wrong(`it has ${fields.length} of 10 fields`);
  if (fields.length === 8 && (fields[5] !== "0" || fields[6] !== "0")) throw wrong("it has a score without the length of the match");
  fields.push(...["0", "10"].slice(fields.length - 8));
  const counts = Array.from(fields[0], (letter) => {
    if (letter === "-") return 0;
    if (letter >= "A" && letter <= "O") return letter.charCodeAt(0) - 64;
    if (letter >= "a" && letter <= "o") return 96 - letter.charCodeAt(0);
    throw wrong(`'${letter}' is not a number of chequers in an XGID`);
  });
  if (counts[0] > 0 || counts[25] < 0) throw wrong("a chequer is on the other player's bar");
  const zero = [...Array.from({ length: 24 }, (_, p) => Math.max(0, -counts[24 - p])), -counts[0]];
  const one = [...Array.from({ length: 24 }, (_, p) => Math.max(0, counts[p + 1])), counts[25]];
  const numbers = [1, 2, 3, 5, 6, 7, 8, 9].map((k) => fields[k]);
  if (numbers.some((n) => !/^\s*[-+]?\d{1,9}\s*$/.test(n))) throw wrong("a field is not a number");
  const [cube, owner, turn, scoreOne, scoreZero, rules, length, limit] = numbers.map(Number);
  if (Math.abs(owner) > 1 || Math.abs(turn) !== 1 || Math.min(cube, scoreOne, scoreZero, rules, length, limit) < 0 || cube > 15) {
    throw wrong(`cube owner ${owner}, turn ${turn} or a number out of range`);
  }
  if (cube >= limit) throw wrong(`a cube at ${2 ** cube} that can no longer be turned is not supported`);
  let roll = null;
  if (/^[1-6]{2}$/.test(fields[4])) roll = [Number(fields[4][0]), Number(fields[4][1])];
  else if (!["00", "0", "", "D", "B", "R"].includes(fields[4])) throw wrong(`'${fields[4]}' are not dice`);
  const position = turn === 1 ? positionOf(one, zero) : positionOf(zero, one);
  return state(position, {
    cube: owner === 0 ? "centered" : owner === turn ? "owned" : "opponent",
    cube_value: 2 ** cube,
    roll,
    length,
    scores: turn === 1 ? [scoreOne, scoreZero] : [scoreZero, scoreOne],
    crawford: rules === 1,
    beavers: length ? undefined : rules >= 2 && Math.floor(rules / 2) % 2 === 1,
    jacoby: length ? undefined : rules % 2 === 1,
  });
}

function state(position, { cube, cube_value, roll, length, scores, crawford, beavers, jacoby }) {
  const out = { ...position, cube, cube_value };
  if (beavers !== undefined) out.beavers = beavers;
  if (jacoby) out.jacoby = jacoby;
  if (roll) out.roll = `${Math.max(...roll)}${Math.min(...roll)}`;
  if (length) out.score = { away: scores.map((s) => length - s), crawford };
  return out;
}

const full = (side) => [...side, ...new Array(PLACES - side.length).fill(0)];

/** gnubg's Position ID of both sides. */
export function positionId({ us, them }) {
  const bits = [];
  for (const side of [sideOf(them ?? []), sideOf(us)]) {
    for (const c of full(side)) bits.push(...new Array(c).fill(1), 0);
  }
  while (bits.length < 80) bits.push(0);
  return textOf(bits);
}

/** XGID of a position, the side on roll as player 1; `more` may say cube, cube_value, roll, away, crawford, jacoby, beavers. */
export function xgid({ us, them }, more = {}) {
  const { cube = "centered", cube_value = 1, roll = null, away = null, crawford = false, jacoby = false, beavers = false } = more;
  const one = full(sideOf(us));
  const zero = full(sideOf(them ?? []));
  const points = [-zero[24], ...Array.from({ length: 24 }, (_, p) => one[p] - zero[23 - p]), one[24]];
  const letters = points.map((c) => (c === 0 ? "-" : String.fromCharCode(c > 0 ? 64 + c : 96 - c))).join("");
  const owner = { centered: 0, owned: 1, opponent: -1 }[cube];
  const length = away ? Math.max(...away) : 0;
  const scores = away ? away.map((a) => length - a) : [0, 0];
  const rules = away ? Number(crawford) : Number(jacoby) + 2 * Number(beavers);
  return `XGID=${letters}:${Math.log2(cube_value)}:${owner}:1:${roll ?? "00"}:${scores.join(":")}:${rules}:${length}:10`;
}

// -- what a file holds ------------------------------------------------------------------------------------------

const HEADER = 40;
const ROLLS = 32;
const big = (n) => n.toLocaleString("en-US");

function atoi(text, at) {
  const found = /^[ \t\n\v\f\r]*([+-]?\d+)/.exec(text.slice(at));
  return found ? Number(found[1]) : 0;
}

/** What the first bytes of a file say: form, kind, sizes; gnubg's headers as leniently as gnubg reads them. */
function readHeader(head, name) {
  const text = String.fromCharCode(...head.subarray(0, HEADER));
  if (text.startsWith("bgfmt-ts")) return { form: "bgfmt-ts" };
  if (text.startsWith("RAEB")) return bgsageHeader(head, name);
  if (text.startsWith("BGMATCH\x1a")) return matchHeader(head, name);
  const kind = text.startsWith("gnubg") ? text.slice(6, 8) : "";
  if (kind !== "OS" && kind !== "TS" && kind[0] !== "H") {
    const start = head.length ? `it begins with '${text.slice(0, 8).replace(/[^ -~]/g, "?")}'` : "the file is empty";
    throw new FormatError(`${name}: no table that this reader knows; ${start}`);
  }
  cutShort(head, HEADER, name);
  if (kind[0] === "H") {
    const chequers = Number(kind[1]);
    if (![1, 2, 3].includes(chequers)) throw new FormatError(`${name}: hypergammon must have 1 to 3 chequers, not '${kind[1]}'`);
    return { ...NONE, kind: "hypergammon", points: PLACES, chequers };
  }
  const [points, chequers, ...flags] = [9, 12, 15, 17, 19].map((at) => atoi(text, at));
  if (points < 1 || points > 23) throw new FormatError(`${name}: points at byte 9: expected 1 to 23, found ${points}`);
  if (chequers < 1 || chequers > 15) {
    throw new FormatError(`${name}: chequers at byte 12: expected 1 to 15, found ${chequers}`);
  }
  const [a, b, c] = flags.map(Boolean);
  if (kind === "TS") return { ...NONE, kind: "two-sided", points, chequers, cubeful: a };
  if (c) return { ...NONE, kind: "normal-distribution", points, chequers, gammon: true };
  return { ...NONE, kind: "one-sided", points, chequers, gammon: a, compressed: b };
}

const NONE = { form: "gnubg", cubeful: false, gammon: false, compressed: false };

function cutShort(head, size, name) {
  if (head.length < size) throw new TruncatedError(`${name}: cut short at byte ${head.length}: the header needs ${size} bytes`);
}

function bgsageHeader(head, name) {
  cutShort(head, 28, name);
  const [version, points, chequers, columns, positions, rows] = [4, 8, 12, 16, 20, 24].map((at) => u32(head, at));
  if ([version, points, chequers, columns].join() !== "1,6,15,32" || positions !== count(6, 15) || rows > positions) {
    throw new FormatError(`${name}: a bgsage header of another version or size`);
  }
  return { ...NONE, form: "bgsage", kind: "one-sided", points, chequers, gammon: rows > 0, rows };
}

function matchHeader(head, name) {
  cutShort(head, 24, name);
  const [version, columns, results, block] = [u16(head, 8), u16(head, 16), u16(head, 18), u32(head, 20)];
  const [points, chequers] = [head[10], head[11]];
  const within = (n, most) => n >= 1 && n <= most;
  if (version !== 1 || !within(columns, 64) || !within(results, 64) || !within(points, 24) || !within(chequers, 15)
    || !within(block, count(points, chequers))) {
    throw new FormatError(`${name}: a bgfmt-match header of another version or sizes that cannot be`);
  }
  const header = 120 + 4 * columns + 20 * results + 4;
  return { ...NONE, form: "bgfmt-match", kind: "match-score", points, chequers, columns, header, block };
}

/** The names of a match table's columns: who is on roll where that matters, who owns the cube, its value. */
function matchColumns(bytes, columns) {
  const alike = bytes[15] % 2 === 1;
  return Array.from({ length: columns }, (_, k) => {
    const [roller, owner] = bytes.subarray(120 + 4 * k, 122 + 4 * k);
    if (owner === 255) return "cubeless";
    const whose = owner === 2 ? "centered" : owner === roller ? "owned" : "opponent";
    return `${alike ? "" : `${"ab"[roller]}.`}${whose}.${u16(bytes, 122 + 4 * k)}`;
  });
}

function described(layout) {
  const { kind, points, chequers = 15, cubeful = true, gammon = true, compressed = true } = layout;
  if (!["one-sided", "normal-distribution", "two-sided"].includes(kind)) throw new FormatError(`no kind of table is called '${kind}'`);
  const whole = (n, most) => Number.isInteger(n) && n >= 1 && n <= most;
  if (!whole(points, 23) || !whole(chequers, 15)) throw new FormatError("a layout needs 1 to 23 points and 1 to 15 chequers");
  const one = kind === "one-sided";
  return {
    form: "gnubg", kind, points, chequers,
    cubeful: kind === "two-sided" && Boolean(cubeful),
    gammon: kind === "normal-distribution" || (one && Boolean(gammon)),
    compressed: one && Boolean(compressed),
  };
}

const u16 = (bytes, at) => bytes[at] + bytes[at + 1] * 256;
const u32 = (bytes, at) => u16(bytes, at) + u16(bytes, at + 2) * 65536;

const HYPERGAMMON = 28;

/** Bytes of one entry, of tables that are not compressed. */
function recordBytes({ form, kind, cubeful, gammon, columns }) {
  if (form === "bgfmt-match") return 4 * columns;
  if (kind === "hypergammon") return HYPERGAMMON;
  if (kind === "two-sided") return cubeful ? 8 : 2;
  if (kind === "normal-distribution") return 16;
  return form === "gnubg" && gammon ? 128 : 64;
}

/** Bytes behind the header, of tables that are not compressed. */
function sizeOf(facts) {
  const n = count(facts.points, facts.chequers);
  if (facts.form === "bgsage") return 72 * n + 64 * facts.rows;
  const entries = facts.kind === "one-sided" || facts.kind === "normal-distribution" ? n : n * n;
  return entries * recordBytes(facts) + (facts.form === "bgfmt-match" ? 4 * Math.ceil(n / facts.block) : 0);
}

/** Run a generator that yields ranges and is sent what holds their bytes. */
async function run(steps, fetch) {
  let step = steps.next();
  while (!step.done) step = steps.next(await fetch(step.value));
  return step.value;
}

/** Where everything lies: the header's facts, first byte of the records, bytes of one, end of the table. */
async function readLayout(fetch, size, name, options) {
  const at = options.offset;
  const short = (end, what) => {
    if (size !== null && end > size) {
      throw new TruncatedError(`${name}: cut short at byte ${size}: the ${what} needs ${big(end)} bytes, found ${big(size)}`);
    }
    if (!Number.isSafeInteger(end)) throw new FormatError(`${name}: a ${what} larger than any disk`);
  };
  const within = async (offset, length) => {
    const there = size === null ? length : Math.max(0, Math.min(length, size - offset));
    return (await fetch([[offset, there]])).bytes(offset, there);
  };
  const head = options.layout ? null : await within(at, 64);
  const facts = options.layout ? described(options.layout) : readHeader(head, name);
  if (facts.form === "bgfmt-ts") {
    const { openPacked } = await import("./packed.js"); // only those who open such a table load it
    const opened = await run(openPacked(head, at, name, (end) => short(end, "table")), fetch);
    return { ...NONE, ...facts, ...opened, compressed: true, start: at, record: 0 };
  }
  const start = at + (options.layout ? 0 : { bgsage: 28, "bgfmt-match": Math.ceil(facts.header / 64) * 64 }[facts.form] ?? HEADER);
  const positions = count(facts.points, facts.chequers);
  const what = `${facts.points}x${facts.chequers} ${facts.kind} table`;
  const layout = { ...facts, positions, start };
  if (facts.form === "bgfmt-match") {
    const bytes = await within(at, facts.header);
    cutShort(bytes, facts.header, name);
    layout.names = matchColumns(bytes, facts.columns);
  }
  if (!facts.compressed) {
    layout.record = recordBytes(facts);
    layout.end = start + sizeOf(facts);
  } else {
    const first = await within(start, 12);
    // gammonless files made before March 2009 have entries of 8 bytes, too; position 1's values begin at 1
    const old = first.length === 12 && positions > 1 && u32(first, 6) !== 1 && u32(first, 8) === 1;
    layout.record = facts.gammon || old ? 8 : 6;
    layout.data = start + positions * layout.record;
    short(layout.data, "index");
    const last = await within(layout.data - layout.record, layout.record);
    layout.stored = u32(last, 0) + last[4] + (facts.gammon ? last[6] : 0);
    layout.end = layout.data + 2 * layout.stored;
  }
  short(layout.end, what);
  return layout;
}

// -- numbers as gnubg reads them, in float32 --------------------------------------------------------------------

const f = Math.fround;
const EQUITY_SCALE = new Float32Array(new Uint32Array([0x38000080]).buffer)[0];
const EQUITIES = ["cubeless", "owned", "centered", "opponent"];
/** Pips of an average roll. */
export const PIPS_PER_ROLL = 49 / 6;

function moments(chances) {
  let mean = 0;
  let square = 0;
  for (let roll = 1; roll < chances.length; roll++) {
    const part = f(roll * chances[roll]);
    mean = f(mean + part);
    square = f(square + f(roll * part));
  }
  return [mean, f(Math.sqrt(Math.max(f(square - f(mean * mean)), 0)))];
}

/** `values`: the stored integers of a two-sided table's columns; one that counts gammons does not tell the chance to win. */
function answer2(layout, entry, values) {
  const counted = layout.kind !== "two-sided";
  const equity = counted ? (v) => f((v - 32768) / 16383) : (v) => f(f(v * EQUITY_SCALE) - 1);
  const out = { position: countsText(entry), position_number: entry.number, ...(counted ? {} : { win: 0 }) };
  for (let k = 0; k < (layout.cubeful ? 4 : 1); k++) out[EQUITIES[k]] = equity(values[k]);
  if (!counted) out.win = out.cubeless / 2 + 0.5;
  return out;
}

const OUTCOMES = ["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon"];
const HYPER_EQUITIES = ["owned", "centered", "centered_jacoby", "opponent"];
const PART = new Float32Array(new Uint32Array([0x33800001]).buffer)[0]; // of 16777215

function hyperAnswer(entry, bytes) {
  const parts = Array.from({ length: 9 }, (_, k) => f((u16(bytes, 3 * k) + bytes[3 * k + 2] * 65536) * PART));
  const outcomes = Object.fromEntries(OUTCOMES.map((name, k) => [name, parts[k]]));
  const equities = Object.fromEntries(HYPER_EQUITIES.map((name, k) => [name, f(f(parts[5 + k] - 0.5) * 6)]));
  return { position: countsText(entry), position_number: entry.number, outcomes, equities };
}

function matchAnswer(layout, entry, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const chances = layout.names.map((name, k) => [name, (1 + view.getFloat32(4 * k, true)) / 2]);
  return { position: countsText(entry), position_number: entry.number, ...Object.fromEntries(chances) };
}

/** bgsage's gammon part: from chances that no chequer is off after k rolls to those of the first at exactly k. */
function firstOff(bytes) {
  const out = new Array(ROLLS).fill(0);
  out[0] = 1;
  if (!bytes) return out;
  for (let k = 0; k < ROLLS; k++) {
    const before = k ? u16(bytes, 2 * k - 2) : 65535;
    out[k] = f(((before - u16(bytes, 2 * k) + 65536) % 65536) / 65535);
  }
  return out;
}

function answer1(layout, entry, numbers) {
  const out = { side: text1(entry.us), position_number: entry.number, pips: pips(entry.us) };
  if (layout.kind === "normal-distribution") {
    const [mean, std, gammonMean, gammonStd] = numbers;
    const epc = mean * PIPS_PER_ROLL;
    return { ...out, mean_rolls: mean, epc, wastage: epc - out.pips, std_rolls: std, gammon_mean_rolls: gammonMean, gammon_std_rolls: gammonStd };
  }
  const [bearoff, gammon] = numbers;
  const [mean, std] = moments(bearoff);
  const epc = mean * PIPS_PER_ROLL;
  Object.assign(out, { mean_rolls: mean, epc, wastage: epc - out.pips, std_rolls: std, bearoff });
  if (gammon) {
    [out.gammon_mean_rolls, out.gammon_std_rolls] = moments(gammon);
    out.gammon = gammon;
  }
  return out;
}

function chancesAt(bytes, at, first = 0, stored = ROLLS) {
  const out = new Array(ROLLS).fill(0);
  for (let k = 0; k < stored; k++) out[first + k] = f(u16(bytes, at + 2 * k) / 65535);
  return out;
}

/** The pieces of a compressed table's index entry, checked. */
function indexEntry(layout, bytes, number, name) {
  const [start, many, first] = [u32(bytes, 0), bytes[4], bytes[5]];
  const [gammonMany, gammonFirst] = layout.gammon ? [bytes[6], bytes[7]] : [0, 0];
  const where = `${name}: byte ${layout.start + number * layout.record} (position ${number})`;
  if (many + first > ROLLS || gammonMany + gammonFirst > ROLLS) {
    throw new CorruptError(`${where}: expected values within rolls 0..31, found ${many} from roll ${first}, ${gammonMany} from ${gammonFirst}`);
  }
  if (start + many + gammonMany > layout.stored) {
    throw new CorruptError(`${where}: expected values within the ${big(layout.stored)} stored, found start ${big(start)}`);
  }
  return { offset: layout.data + 2 * start, many, first, gammonMany, gammonFirst };
}

/** The answers for entries: yields the ranges that they need, is sent what holds their bytes. */
function* answersOf(layout, entries, name) {
  if (layout.packed) {
    const records = yield* layout.packed.records(entries.map((e) => e.number));
    return entries.map((entry, k) => answer2(layout, entry, records[k]));
  }
  const { kind, record } = layout;
  const places = entries.map((e) => [layout.start + e.number * record, record]);
  if (layout.form === "bgsage" && layout.gammon) return yield* bgsageAnswers(layout, entries, places, name);
  const held = yield places;
  const bytes = (k) => held.bytes(...places[k]);
  if (layout.compressed) {
    const spans = entries.map(({ number }, k) => indexEntry(layout, bytes(k), number, name));
    const values = yield spans.map((s) => [s.offset, 2 * (s.many + s.gammonMany)]);
    return entries.map((entry, k) => {
      const { offset, first, many, gammonFirst, gammonMany } = spans[k];
      const at = values.bytes(offset, 2 * (many + gammonMany));
      const gammon = layout.gammon ? chancesAt(at, 2 * many, gammonFirst, gammonMany) : null;
      return answer1(layout, entry, [chancesAt(at, 0, first, many), gammon]);
    });
  }
  const decode = {
    "two-sided": (entry, at) => answer2(layout, entry, Array.from({ length: record / 2 }, (_, k) => u16(at, 2 * k))),
    "one-sided": (entry, at) => answer1(layout, entry, [chancesAt(at, 0), layout.gammon ? chancesAt(at, 64) : null]),
    hypergammon: hyperAnswer,
    "match-score": (entry, at) => matchAnswer(layout, entry, at),
    "normal-distribution": (entry, at) => {
      const view = new DataView(at.buffer, at.byteOffset, 16);
      return answer1(layout, entry, [0, 4, 8, 12].map((k) => view.getFloat32(k, true)));
    },
  }[kind];
  return entries.map((entry, k) => decode(entry, bytes(k)));
}

function* bgsageAnswers(layout, entries, places, name) {
  const { start, positions, rows } = layout;
  const index = entries.map((e) => [start + 68 * positions + 4 * e.number, 4]);
  const held = yield [...places, ...index];
  const ranges = index.map(([offset, length], k) => {
    const row = u32(held.bytes(offset, length), 0);
    if (row === 0xffffffff) return null;
    if (row >= rows) throw new CorruptError(`${name}: byte ${offset} (position ${entries[k].number}): expected -1 or a row below ${rows}, found ${row}`);
    return [start + 72 * positions + 64 * row, 64];
  });
  const gammons = yield ranges.filter(Boolean);
  return entries.map((entry, k) =>
    answer1(layout, entry, [chancesAt(held.bytes(...places[k]), 0), firstOff(ranges[k] && gammons.bytes(...ranges[k]))]));
}

// -- where bytes come from --------------------------------------------------------------------------------------

class Memory {
  constructor(data) { this.data = data; this.size = data.length; }
  bytes(offset, length) { return this.data.subarray(offset, offset + length); }
}

/** Pages in hand while one question is answered, whatever the cache lets go meanwhile. */
class Held {
  constructor(pageBytes) { this.pageBytes = pageBytes; this.pages = new Map(); }
  bytes(offset, length) {
    const page = Math.floor(offset / this.pageBytes);
    const at = offset - page * this.pageBytes;
    const first = this.pages.get(page) ?? new Uint8Array();
    if (at + length <= this.pageBytes) return first.subarray(at, at + length);
    const out = new Uint8Array(length);
    let done = 0;
    for (let p = page; done < length; p++) {
      const bytes = this.pages.get(p);
      const from = p === page ? at : 0;
      const piece = bytes.subarray(from, from + length - done);
      out.set(piece, done);
      done += piece.length;
    }
    return out;
  }
}

const LONGEST = 4 * 1024 * 1024; // bytes of one request

/** Pages of a source, each fetched once at a time, neighbours together, the least recently used let go first. */
class Pages {
  constructor(source, options, stats) {
    Object.assign(this, { source, stats, size: null, cache: new Map(), flying: new Map(), closed: null });
    Object.assign(this, { pageBytes: options.pageBytes, most: options.cachePages, gap: options.gapPages });
    this.free = options.concurrency;
    this.queue = [];
  }

  /** Smaller pages, as many bytes of them; what is there stays. */
  refine(pageBytes) {
    const parts = this.pageBytes / pageBytes;
    const before = [...this.cache];
    this.cache.clear();
    Object.assign(this, { pageBytes, most: this.most * parts });
    for (const [page, bytes] of before) {
      for (let k = 0; k * pageBytes < bytes.length; k++) this.keep(page * parts + k, bytes.slice(k * pageBytes, (k + 1) * pageBytes));
    }
  }

  keep(page, bytes) {
    this.cache.delete(page);
    this.cache.set(page, bytes);
    while (this.cache.size > this.most) this.cache.delete(this.cache.keys().next().value);
    this.stats.pages = this.cache.size;
  }

  pagesOf(ranges) {
    const wanted = new Set();
    for (const [offset, length] of ranges) {
      if (length <= 0) continue;
      const last = Math.floor((offset + length - 1) / this.pageBytes);
      for (let p = Math.floor(offset / this.pageBytes); p <= last; p++) wanted.add(p);
    }
    return wanted;
  }

  /** The pages that these ranges lie in. */
  async need(ranges, { signal, gap = this.gap } = {}) {
    signal?.throwIfAborted();
    const held = new Held(this.pageBytes);
    const missing = [];
    const stretches = new Set();
    for (const page of this.pagesOf(ranges)) {
      const bytes = this.cache.get(page);
      if (bytes !== undefined) {
        this.stats.hits++;
        this.keep(page, bytes);
        held.pages.set(page, bytes);
        continue;
      }
      this.stats.misses++;
      const flying = this.flying.get(page);
      if (flying) stretches.add(flying);
      else missing.push(page);
    }
    for (const stretch of this.plan(missing, gap)) stretches.add(this.start(...stretch));
    for (const pages of await Promise.all([...stretches].map((s) => this.wait(s, signal)))) {
      for (const [page, bytes] of pages) held.pages.set(page, bytes);
    }
    return held;
  }

  plan(missing, gap) {
    missing.sort((a, b) => a - b);
    const longest = Math.max(1, Math.floor(LONGEST / this.pageBytes));
    const out = [];
    for (const page of missing) {
      const last = out[out.length - 1];
      let near = last && page - last[1] - 1 <= gap && page - last[0] < longest;
      for (let p = last?.[1] + 1; near && p < page; p++) near = !this.flying.has(p);
      if (near) last[1] = page;
      else out.push([page, page]);
    }
    return out;
  }

  start(first, last) {
    const stretch = { first, last, waiting: 0, control: new AbortController(), done: null };
    for (let p = first; p <= last; p++) this.flying.set(p, stretch);
    stretch.done = this.fetch(stretch).finally(() => this.land(stretch));
    stretch.done.catch(() => {});
    return stretch;
  }

  land(stretch) {
    for (let p = stretch.first; p <= stretch.last; p++) {
      if (this.flying.get(p) === stretch) this.flying.delete(p);
    }
  }

  async fetch({ first, last, control }) {
    if (this.free === 0) await new Promise((go) => this.queue.push(go));
    else this.free--;
    try {
      control.signal.throwIfAborted();
      const offset = first * this.pageBytes;
      const end = (last + 1) * this.pageBytes;
      const length = (this.size === null ? end : Math.min(end, this.size)) - offset;
      const bytes = await this.source.read(offset, length, { signal: control.signal });
      control.signal.throwIfAborted();
      const pages = new Map();
      for (let p = first; p <= last; p++) {
        const from = (p - first) * this.pageBytes;
        const page = first === last ? bytes : bytes.slice(from, from + this.pageBytes);
        pages.set(p, page);
        this.keep(p, page);
      }
      return pages;
    } finally {
      const next = this.queue.shift();
      if (next) next();
      else this.free++;
    }
  }

  /** A stretch's pages; a caller that gives up leaves it to the others, and the last one aborts it. */
  wait(stretch, signal) {
    stretch.waiting++;
    if (!signal) return stretch.done;
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (--stretch.waiting === 0) {
          this.land(stretch);
          stretch.control.abort(signal.reason);
        }
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      stretch.done.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    });
  }

  close(reason) {
    for (const stretch of new Set(this.flying.values())) stretch.control.abort(reason);
    this.cache.clear();
    this.stats.pages = 0;
  }
}

/** Anything with a size and a `read`: a Blob, a file of Node, a guest's own. */
class Reader {
  constructor(source, name, stats) { Object.assign(this, { source, name, stats, size: source.size }); }

  async read(offset, length, { signal }) {
    let bytes;
    this.stats.requests++;
    try {
      bytes = await this.source.read(offset, length, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BgfmtError) throw error;
      throw new NetworkError(`${this.name}: ${error?.message ?? error}`, undefined, error);
    }
    if (!(bytes instanceof Uint8Array)) throw new NetworkError(`${this.name}: read() gave no Uint8Array`);
    this.stats.bytes += bytes.length;
    if (bytes.length < length) {
      throw new TruncatedError(`${this.name}: cut short at byte ${offset + bytes.length}, found while reading ${length} bytes at ${offset}`);
    }
    return bytes.length === length ? bytes : bytes.subarray(0, length);
  }
}

/** Files of a web server that are one table: [{url, at, size}, ...]. Where they overlap, what lies over an end is one request. */
class Parts {
  constructor(parts, name, web) {
    this.name = name;
    this.size = 0;
    this.parts = parts.map(({ url, at: first = this.size, size }) => {
      const part = { first, end: first + size, web: web(url) };
      part.web.size = size;
      this.size = part.end;
      return part;
    });
  }

  async read(offset, length, { signal }) {
    const end = Math.min(offset + length, this.size);
    const pieces = [];
    for (let at = offset, upto; at < end; at = upto) {
      const { web, first, end: past } = this.parts.findLast((part) => part.first <= at);
      upto = Math.min(end, past);
      pieces.push(web.read(at - first, upto - at, { signal }));
    }
    return joined(await Promise.all(pieces), end - offset);
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Milliseconds that a server asks to wait, 0 where it does not say. */
function retryAfter(response) {
  const said = response.headers.get("Retry-After");
  if (!said) return 0;
  const seconds = /^\d+$/.test(said.trim()) ? Number(said) : (Date.parse(said) - Date.now()) / 1000;
  return seconds > 0 ? seconds * 1000 : 0;
}

/** A failure worth another try, after as many milliseconds as the server asks for. */
class Again {
  constructor(error, delay = 0) { Object.assign(this, { error, delay }); }
}

/** Byte ranges of a URL. */
class Web {
  constructor(url, options, stats, reload) {
    Object.assign(this, { url, options, stats, name: url, size: null, seen: null });
    this.cache = reload ? "reload" : options.cache;
  }

  /** The first bytes of the file, and the whole of it where the server knows no ranges. */
  async first(length, signal) {
    return this.ask(0, length, signal, async (response, limited) => {
      if (response.status === 200) return { whole: await this.whole(response, limited) };
      if (response.status === 416) {
        discard(response);
        if (!/\/0$/.test(response.headers.get("Content-Range") ?? "")) throw new NetworkError(`${this.name}: the server answered 416`, 416);
        this.size = 0;
        return { bytes: new Uint8Array() };
      }
      const bytes = await this.body(response, 0, length, limited);
      this.seen = this.mark(response);
      return { bytes };
    });
  }

  async read(offset, length, { signal }) {
    return this.ask(offset, length, signal, async (response, limited) => {
      if (this.seen === null && response.status === 200) {
        discard(response);
        throw new RangeNotSupportedError(`${this.name}: the server does not support byte ranges, and a part of a table is not read whole`);
      }
      if (response.status === 206) this.seen ??= this.mark(response); // of a part, which nothing was read of before
      const changed = () => {
        discard(response);
        return new SourceChangedError(`${this.name}: the file was replaced while it was read`);
      };
      // a browser may add If-Range from its own cache, and gets 200 for a file that was replaced
      if (response.status === 200 || response.status === 416) throw changed();
      if (this.seen !== this.mark(response)) throw changed();
      const total = this.range(response)?.size;
      if (this.size !== null && total && total !== this.size) throw changed();
      return this.body(response, offset, length, limited);
    });
  }

  /** One request with its retries; `take(response, limited)` reads the answer. */
  async ask(offset, length, signal, take) {
    const signals = [signal, this.options.signal].filter(Boolean);
    for (let tries = 0; ; tries++) {
      const control = new AbortController();
      const stop = (event) => control.abort(event.target.reason);
      for (const one of signals) {
        one.throwIfAborted();
        one.addEventListener("abort", stop, { once: true });
      }
      const late = new Again(new NetworkError(`${this.name}: no answer within ${this.options.timeout} ms`));
      const timer = setTimeout(() => control.abort(late), this.options.timeout);
      let again;
      try {
        return await take(await this.request(offset, length, control.signal), control.signal);
      } catch (error) {
        for (const one of signals) one.throwIfAborted();
        if (error instanceof BgfmtError) throw error;
        again = error instanceof Again ? error : new Again(new NetworkError(`${this.name}: ${error?.message ?? error}`, undefined, error));
      } finally {
        clearTimeout(timer);
        for (const one of signals) one.removeEventListener("abort", stop);
      }
      if (tries >= this.options.retries || again.delay > this.options.timeout) throw again.error;
      await pause(Math.max(250 * 2 ** tries, again.delay), signal);
    }
  }

  /** The answer to one request, which is 200, 206 or 416. */
  async request(offset, length, signal) {
    const headers = new Headers(this.options.headers);
    headers.set("Range", `bytes=${offset}-${offset + length - 1}`);
    const settings = { headers, signal };
    if (this.cache) settings.cache = this.cache;
    this.stats.requests++;
    const response = await this.options.fetch(this.url, settings);
    const { status } = response;
    if ([200, 206, 416].includes(status)) return response;
    discard(response);
    const error = new NetworkError(`${this.name}: the server answered ${status}`, status);
    throw status === 429 || status >= 500 ? new Again(error, retryAfter(response)) : error;
  }

  /** What tells a replaced file: ETag, else Last-Modified, else the size. */
  mark(response) {
    const tag = response.headers.get("ETag") ?? response.headers.get("Last-Modified");
    return tag?.replace(/^W\//, "") ?? String(this.range(response)?.size ?? "");
  }

  /** First and last byte and size of a 206, or null where another origin's browser hides the header. */
  range(response) {
    const said = response.headers.get("Content-Range");
    if (said === null) return null;
    const found = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(said.trim());
    if (!found) throw new NetworkError(`${this.name}: the server sent the range '${said.slice(0, 80)}'`, response.status);
    return { first: Number(found[1]), last: Number(found[2]), size: found[3] === "*" ? 0 : Number(found[3]) };
  }

  async body(response, offset, length, limited) {
    const wrong = (what) => {
      discard(response);
      return new NetworkError(`${this.name}: asked for ${length} bytes at ${offset}, the server sent ${what}`, response.status);
    };
    const range = this.range(response);
    let wanted = length;
    if (range) {
      this.size ??= range.size || null;
      if (range.size) wanted = Math.min(length, range.size - offset);
      if (range.first !== offset || range.last - offset + 1 !== wanted) throw wrong(`bytes ${range.first} to ${range.last}`);
    } else if (/^multipart\//i.test(response.headers.get("Content-Type") ?? "")) {
      throw wrong("several ranges");
    }
    const bytes = await drain(response, wanted, limited, this.stats);
    if (bytes === null) throw wrong("more than that");
    if (bytes.length < wanted) {
      if (range || this.size !== null) throw new Again(wrong(`${bytes.length} bytes`));
      this.size = offset + bytes.length; // where Content-Range is hidden, a short answer is the end of the file
    }
    return bytes;
  }

  /** The whole file from a server without ranges, unless it is too large for that. */
  async whole(response, limited) {
    const most = this.options.wholeBytes;
    const said = Number(response.headers.get("Content-Length") ?? 0);
    const refused = (size) => {
      discard(response);
      const text = size ? big(size) : `more than ${big(most)}`;
      return new RangeNotSupportedError(
        `${this.name}: the server does not support byte ranges, and its ${text} bytes are more than the ${big(most)} that are read whole`, size,
      );
    };
    if (said > most) throw refused(said);
    const bytes = await drain(response, most, limited, this.stats, (head) => {
      const size = promised(head, this.name, this.options);
      if (size > most) throw refused(size);
    });
    if (bytes === null) throw refused();
    return bytes;
  }
}

/** Size that the header of a file promises, as far as it can be told from the header alone; 0 otherwise. */
function promised(head, name, options) {
  if (options.layout || options.offset) return 0;
  const facts = readHeader(head, name);
  if (facts.form === "bgfmt-ts") return u32(head, 24) + u32(head, 28) * 2 ** 32;
  return HEADER + (facts.compressed ? 6 * count(facts.points, facts.chequers) : sizeOf(facts));
}

const discard = (response) => response.body?.cancel?.().catch(() => {});

/** The bytes of an answer, null where there are more than `most`; `early` sees the first 40 before the rest. */
async function drain(response, most, limited, stats, early = null) {
  if (!response.body?.getReader) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    stats.bytes += bytes.length;
    if (bytes.length >= HEADER) early?.(bytes.subarray(0, HEADER));
    return bytes.length > most ? null : bytes;
  }
  const reader = response.body.getReader();
  const stop = () => reader.cancel(limited.reason).catch(() => {});
  limited.addEventListener("abort", stop, { once: true });
  const pieces = [];
  let length = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      pieces.push(next.value);
      length += next.value.length;
      stats.bytes += next.value.length;
      if (early && length >= HEADER) {
        early(joined(pieces, length).subarray(0, HEADER));
        early = null;
      }
      if (length > most) {
        stop();
        return null;
      }
    }
    limited.throwIfAborted();
  } catch (error) {
    stop();
    throw limited.aborted ? limited.reason : error;
  } finally {
    limited.removeEventListener("abort", stop);
  }
  return joined(pieces, length);
}

function joined(pieces, length) {
  if (pieces.length === 1) return pieces[0];
  const out = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}

// -- tables -----------------------------------------------------------------------------------------------------

const DEFAULTS = {
  pageBytes: undefined, cachePages: 256, gapPages: 1, concurrency: 4, wholeBytes: 64 * 1024 * 1024,
  retries: 2, timeout: 30000, headers: undefined, fetch: undefined, cache: undefined, signal: undefined,
  layout: undefined, offset: 0, name: undefined, kind: undefined,
};

function settings(options) {
  const out = { ...DEFAULTS };
  for (const [key, value] of Object.entries(options)) {
    if (!(key in DEFAULTS)) throw new TypeError(`open() has no option '${key}'`);
    if (value !== undefined) out[key] = value;
  }
  out.finer = out.pageBytes === undefined; // of compressed tables
  const pageBytes = (out.pageBytes ??= 65536);
  if (!Number.isSafeInteger(pageBytes) || pageBytes < 4096 || 2 ** Math.round(Math.log2(pageBytes)) !== pageBytes) {
    throw new TypeError("pageBytes must be a power of two from 4096");
  }
  for (const [key, least] of [["cachePages", 1], ["gapPages", 0], ["concurrency", 1], ["wholeBytes", 0], ["retries", 0], ["offset", 0]]) {
    if (!Number.isSafeInteger(out[key]) || out[key] < least) throw new TypeError(`${key} must be a whole number from ${least}`);
  }
  out.fetch ??= (...asked) => globalThis.fetch(...asked);
  return out;
}

function memoryOf(source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (typeof SharedArrayBuffer !== "undefined" && source instanceof SharedArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return null;
}

/** What gives a source's bytes anew: `start(reload, signal)` resolves to {memory} or {pages}. */
function opener(source, options, stats) {
  const data = memoryOf(source);
  if (data) return { name: options.name ?? "<bytes>", start: async () => ({ memory: new Memory(data) }) };
  const pagesOf = (reader) => new Pages(reader, options, stats);
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  if (Array.isArray(source?.parts)) {
    let end = 0;
    const sound = source.parts.length && source.parts.every(({ url, at = end, size }) => {
      const before = end;
      end = at + size;
      return url && Number.isSafeInteger(at) && Number.isSafeInteger(size) && size > 0 && at >= 0 && at <= before && before <= end;
    });
    if (!sound) throw new TypeError("parts are [{url, size}, ...], in order and without gaps");
    const name = options.name ?? source.name ?? new URL(source.parts[0].url, base).href;
    const start = async (reload) => {
      const parts = new Parts(source.parts, name, (url) => new Web(new URL(url, base).href, options, stats, reload));
      const pages = pagesOf(parts);
      pages.size = parts.size;
      return { pages };
    };
    return { name, start };
  }
  if (typeof source === "string" || source instanceof URL) {
    const url = new URL(source, base);
    if (url.username || url.password) { // fetch refuses them in a URL
      options.headers = new Headers(options.headers);
      options.headers.set("Authorization", `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`);
      url.username = url.password = "";
    }
    const start = async (reload, signal) => {
      const web = new Web(url.href, options, stats, reload);
      const { bytes, whole } = await web.first(options.pageBytes, signal);
      if (whole) return { memory: new Memory(whole) };
      const pages = pagesOf(web);
      pages.size = web.size;
      pages.keep(0, bytes);
      return { pages };
    };
    return { name: options.name ?? url.href, start };
  }
  const isBlob = typeof Blob !== "undefined" && source instanceof Blob;
  if (!isBlob && (typeof source?.read !== "function" || !Number.isSafeInteger(source.size) || source.size < 0)) {
    throw new TypeError("open() takes a URL, bytes, a Blob, {parts} or an object with size and read()");
  }
  const read = isBlob
    ? async (offset, length) => new Uint8Array(await source.slice(offset, offset + length).arrayBuffer())
    : (...asked) => source.read(...asked);
  const name = options.name ?? source.name ?? "<source>";
  const start = async () => {
    const pages = pagesOf(new Reader({ size: source.size, read }, name, stats));
    pages.size = source.size;
    return { pages };
  };
  return { name, start, close: () => (isBlob ? undefined : source.close?.()) };
}

const FINER = 16384; // a record of a compressed table is three short pieces of the file
const SCATTERED = 3; // pages between two that are fetched together of such a table at most, whatever is asked
const UNMADE = Symbol("made by open()");

/** One table; made by `open`. */
export class Table {
  #opener; #options; #stats; #state = null; #renewing = null; #closed = null;

  constructor(key, source, options) {
    if (key !== UNMADE) throw new TypeError("tables are made by open()");
    this.#options = options;
    this.#stats = { requests: 0, bytes: 0, hits: 0, misses: 0, pages: 0 };
    this.#opener = opener(source, options, this.#stats);
  }

  static async [UNMADE](source, options) {
    const table = new Table(UNMADE, source, options);
    try {
      table.#state = await table.#start(false);
    } catch (error) {
      table.close();
      throw error;
    }
    return table;
  }

  async #start(reload) {
    const life = this.#options.signal;
    life?.throwIfAborted();
    const { memory, pages } = await this.#opener.start(reload, life ?? new AbortController().signal);
    const size = memory ? memory.size : pages.size;
    const fetch = async (ranges) => memory ?? pages.need(ranges, { signal: life });
    if (pages && this.#options.finer && !this.#options.layout) {
      const [at, magic] = [this.#options.offset, "bgfmt-ts"];
      const there = Math.max(0, Math.min(magic.length, (pages.size ?? Infinity) - at));
      if (String.fromCharCode(...(await fetch([[at, there]])).bytes(at, there)) === magic) pages.refine(FINER);
    }
    const layout = await readLayout(fetch, size, this.#opener.name, this.#options);
    const wanted = this.#options.kind ?? layout.kind;
    if (layout.kind !== wanted) throw new FormatError(`${this.name}: a ${layout.kind} table, where a ${wanted} one is wanted`);
    if (pages) pages.size ??= pages.source.size ?? layout.end;
    return { memory, pages, layout, size: memory ? memory.size : pages.size };
  }

  get name() { return this.#opener.name; }
  get size() { return this.#state.size; }
  get kind() { return this.#state.layout.kind; }
  get points() { return this.#state.layout.points; }
  get chequers() { return this.#state.layout.chequers; }
  get positions() { return this.#state.layout.positions; }
  get cubeful() { return this.#state.layout.cubeful; }
  get gammon() { return this.#state.layout.gammon; }
  get compressed() { return this.#state.layout.compressed; }

  /** Why the table has no entry for a side, or null. */
  #outside(side) {
    const { points, chequers: most } = this.#state.layout;
    const has = chequers(side);
    if (has > most) return `${text1(side)} has ${has} chequers, the table covers ${most}`;
    if (highest(side) > points) return `${text1(side)} ${beyond(side)}, the table covers points 1 to ${points}`;
    return null;
  }

  /** The entry asked for: its sides and number; PositionError or NotCoveredError. */
  #entry(asked) {
    const { kind, points, positions } = this.#state.layout;
    const two = kind !== "one-sided" && kind !== "normal-distribution";
    if (typeof asked === "number" || typeof asked === "bigint") {
      const number = Number(asked);
      if (!Number.isInteger(number)) throw new PositionError(`${asked} is not a position number`);
      const last = (two ? positions * positions : positions) - 1;
      if (number < 0 || number > last) throw new NotCoveredError(`position number ${asked} lies outside 0 to ${last}`);
      if (!two) return { us: sideOf(unrank(number, points)), them: null, number };
      const us = Math.floor(number / positions);
      return { us: sideOf(unrank(us, points)), them: sideOf(unrank(number - us * positions, points)), number };
    }
    let position = asked;
    if (typeof asked === "string") position = parse(asked);
    else if (Array.isArray(asked) || ArrayBuffer.isView(asked)) position = { us: asked, them: null };
    else if (asked === null || typeof asked !== "object") throw new PositionError("asked for neither text, counts nor a number");
    const us = sideOf(position.us);
    const them = position.them === null || position.them === undefined ? null : sideOf(position.them);
    if (!two) {
      if (them) throw new PositionError(`a ${kind} table answers for one side at a time`);
      const why = this.#outside(us);
      if (why) throw new NotCoveredError(why);
      return { us, them, number: number1(us, points) };
    }
    if (!them) throw new PositionError(`a ${kind} table needs both sides, the one on roll first (side / side)`);
    const why = this.#outside(us) ?? this.#outside(them);
    if (why) throw new NotCoveredError(why);
    if (kind !== "hypergammon" && contact({ us, them })) throw new NotCoveredError(`${countsText({ us, them })}: the sides have not passed each other`);
    return { us, them, number: number1(us, points) * positions + number1(them, points) };
  }

  /** Whether `lookup` would answer: counts decide, nothing is fetched. */
  covers(asked) {
    this.#check();
    try {
      this.#entry(asked);
      return true;
    } catch (error) {
      if (error instanceof NotCoveredError) return false;
      throw error;
    }
  }

  /** What the table says; NotCoveredError outside it. */
  async lookup(asked, { signal } = {}) {
    return this.#ask(signal, async (state) => (await this.#answers(state, [this.#entry(asked)], { signal }))[0]);
  }

  /** The same, null outside the table. */
  async get(asked, more = {}) {
    return (await this.lookupMany([asked], more))[0];
  }

  /**
   * Many answers in the order asked, null outside the table. The pages they need are fetched together;
   * `gapPages` for this question alone.
   */
  async lookupMany(asked, { signal, gapPages } = {}) {
    return this.#ask(signal, async (state) => {
      const out = new Array(asked.length).fill(null);
      const entries = [];
      asked.forEach((one, place) => {
        try {
          entries.push({ ...this.#entry(one), place });
        } catch (error) {
          if (!(error instanceof NotCoveredError)) throw error;
        }
      });
      entries.sort((a, b) => a.number - b.number);
      const answers = await this.#answers(state, entries, { signal, gap: gapPages });
      answers.forEach((one, k) => { out[entries[k].place] = one; });
      return out;
    });
  }

  /** The answer at once, of a table in memory. */
  lookupSync(asked) {
    this.#check();
    const { memory, layout } = this.#state;
    if (!memory) throw new NotInMemoryError(`${this.name} does not lie in memory; await lookup()`);
    const steps = answersOf(layout, [this.#entry(asked)], this.name);
    let step = steps.next();
    while (!step.done) step = steps.next(memory);
    return step.value[0];
  }

  /** Requests, bytes fetched, pages found and not found in the cache, pages in it, since the table was opened. */
  stats() {
    return { ...this.#stats };
  }

  /** Let go of everything; requests under way are aborted. */
  close() {
    if (this.#closed) return;
    this.#closed = new ClosedError(`${this.name} is closed`);
    this.#state?.pages?.close(this.#closed);
    this.#opener.close?.();
  }

  #check() {
    if (this.#closed) throw new ClosedError(this.#closed.message);
  }

  /** Run a question; where the file was replaced meanwhile, open it anew and ask once more. */
  async #ask(signal, question) {
    for (let again = false; ; again = true) {
      this.#check();
      signal?.throwIfAborted();
      this.#options.signal?.throwIfAborted();
      const state = this.#state;
      try {
        const answer = await question(state);
        this.#check();
        return answer;
      } catch (error) {
        if (!(error instanceof SourceChangedError) || again) throw error;
      }
      if (this.#state === state) {
        this.#renewing ??= this.#start(true).finally(() => { this.#renewing = null; });
        const fresh = await this.#renewing;
        if (this.#state === state) {
          state.pages?.close(new SourceChangedError(`${this.name}: the file was replaced`));
          this.#state = fresh;
          this.#stats.pages = fresh.pages?.cache.size ?? 0;
        }
      }
    }
  }

  async #answers(state, entries, more) {
    const { memory, pages, layout } = state;
    if (memory) return run(answersOf(layout, entries, this.name), () => memory);
    const fetch = (ranges) => pages.need(ranges, more);
    if (layout.packed) {
      more = { ...more, gap: Math.min(more.gap ?? pages.gap, SCATTERED) };
      const many = Math.max(1, Math.floor(pages.most / 4));
      const out = [];
      for (let at = 0; at < entries.length; at += many) {
        out.push(...(await run(answersOf(layout, entries.slice(at, at + many), this.name), fetch)));
      }
      return out;
    }
    const out = [];
    const room = Math.max(1, pages.most);
    for (let start = 0; start < entries.length;) {
      const batch = [];
      const touched = new Set();
      for (; start < entries.length && touched.size < room; start++) {
        const range = [layout.start + entries[start].number * layout.record, layout.record];
        for (const page of pages.pagesOf([range])) touched.add(page);
        batch.push(entries[start]);
      }
      out.push(...(await run(answersOf(layout, batch, this.name), fetch)));
    }
    return out;
  }
}

/**
 * Open a table: a URL, bytes (ArrayBuffer, typed array, DataView, Buffer), a Blob or File, several files {parts:
 * [{url, size}, ...]}, or an object {size, read(offset, length, {signal})}. docs/hosts/js.md has the options.
 */
export async function open(source, options = {}) {
  return Table[UNMADE](source, settings(options));
}
