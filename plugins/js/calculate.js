// Calculates a race from the rules alone, in double precision, as `bgfmt` does on demand: the same numbers, operation by
// operation. `calculate` blocks its thread; the page runs it in a Worker (worker.js).
//
// Side A is on roll. The boards that play can make of each side are found first, with the numbers of rolls after which
// each can come up, so that a pair of boards is met only where those agree. Kept is, for each pair, what it is worth to
// A when B is on roll, in one column for each state of the cube. The twin in Python: bgfmt/analysis/solving.py.

import { NotCoveredError, chequers, count, countsText, highest, pips } from "./bgfmt.js";

const HOME = 6;
const FULL = 15;
const EVER = [-1, 0x7fffffff]; // bits 0 to 62 of numbers of rolls, in two words
const BOARD_COST = 400; // finding a board of a side counts as this many pairs
const RESULT_COST = 8; // and finding what a roll can make of it as this many
const UNREACHED = 8; // play makes more than one in this many of the boards with no chequer farther back
const SPARE = 10; // a calculation this many times the limit by that reckoning is not begun
const LAST_TOLD = 61; // more rolls of a side than this are not told apart
const LANES = 128; // boards side by side times columns
const TILE = 1024; // lanes of a row taken together
const MOST_BYTES = 2 ** 30;

/** A race that takes more than the limit; `work` is null where it was not counted to the end. */
export class TooMuchWorkError extends NotCoveredError {
  constructor(position, work, limit) {
    const [what, many] = ["pairs of boards times cube states", (n) => n.toLocaleString("en-US")];
    const needs = work === null ? `more than the limit of ${many(limit)} ${what}` : `${many(work)} ${what}, more than the limit of ${many(limit)}`;
    super(`${countsText(position)}: exact play needs ${needs}`);
    Object.assign(this, { work, limit });
  }
}

// -- columns ----------------------------------------------------------------------------------------------------

/**
 * Columns in which nobody doubles and every game is worth 1: {states, may, passed, source, add, times, won}. A state is
 * {value, owner}, null for no cube; owner 0 is the side on roll, 1 the other, 2 nobody. The others are pairs of arrays,
 * the side on roll first: the value when a double is passed, and when it is taken `add` + `times` * column `source`;
 * `won`: value of winning a single game, a gammon, a backgammon, four numbers a column of which the first is not used.
 */
export function singleGames(states) {
  const pair = (make) => [0, 1].map(() => Array.from(states, make));
  return {
    states, may: pair(() => false), passed: pair(() => 1), source: pair((_, k) => k), add: pair(() => 0), times: pair(() => 1),
    won: [0, 1].map(() => states.flatMap(() => [1, 1, 1, 1])),
  };
}

/** Of money: without a cube, centered, owned by the side on roll, by the other. */
export function moneyColumns(jacoby) {
  const columns = singleGames([null, { value: 1, owner: 2 }, { value: 1, owner: 0 }, { value: 1, owner: 1 }]);
  for (const side of [0, 1]) {
    for (const k of [1, 2 + side]) {
      columns.may[side][k] = true;
      columns.source[side][k] = 3 - side;
      columns.times[side][k] = 2;
    }
    columns.won[side] = columns.states.flatMap((_, k) => (jacoby && k === 1 ? [1, 1, 1, 1] : [0, 1, 2, 3]));
  }
  return columns;
}

// -- boards -----------------------------------------------------------------------------------------------------

/** How many boards have every chequer where it stands or nearer to home: no fewer than play can make. */
export function noFarther(side) {
  let ways = [1];
  for (let k = highest(side) - 1, may = 0; k >= 0; k--) {
    may += side[k];
    let sum = 0;
    ways = Array.from({ length: may + 1 }, (_, n) => (sum += ways[n] ?? 0));
  }
  return ways.reduce((a, b) => a + b, 0);
}

/** Places of boards by their numbers: an open hash table. */
class Places {
  constructor(room) {
    this.size = 2 ** Math.ceil(Math.log2(2 * room + 1));
    this.keys = new Float64Array(this.size).fill(-1);
    this.places = new Int32Array(this.size);
  }

  slot(number) {
    const mask = this.size - 1;
    let at = (Math.imul((number | 0) ^ Math.imul((number / 4294967296) | 0, 0x85ebca6b), 0x9e3779b1) >>> 7) & mask;
    while (this.keys[at] !== -1 && this.keys[at] !== number) at = (at + 1) & mask;
    return at;
  }
}

/** All boards that play can make of a side, those between two dice of a roll included; null for no room. */
function closure(side, points, alive, room) {
  const [boards, pips0] = [new Int8Array(room * points), pips(side)];
  const [low, high, pendingLow, pendingHigh] = [room, room, 18 * room, 18 * room].map((n) => new Int32Array(n));
  const [order, follow, heads] = [new Int32Array(room), new Int32Array(room).fill(-1), new Int32Array(pips0 + 1).fill(-1)];
  const starts = new Int32Array(6 * room + 1);
  const moves = 6 * Math.min(points, chequers(side));
  const [targets, sources] = [new Int32Array(moves * room), new Int8Array(moves * room + 1)];
  const known = new Places(room);
  const terms = Float64Array.from({ length: 16 * points }, (_, at) => (at % 16 ? count(Math.floor(at / 16) + 1, (at % 16) - 1) : 0));
  const counts = new Int32Array(points);
  let n = 0;
  const insert = (left) => {
    let number = 0;
    for (let k = 0, above = 0; k < points; k++) {
      above += counts[points - 1 - k];
      number += terms[16 * k + above];
    }
    const at = known.slot(number);
    if (known.keys[at] === -1) {
      known.keys[at] = number;
      known.places[at] = n;
      boards.set(counts, n * points);
      follow[n] = heads[left];
      heads[left] = n++;
    }
    return known.places[at];
  };
  counts.set(side.slice(0, points));
  insert(pips0);
  counts.fill(0);
  insert(0);
  low[0] = 1;
  let [used, out] = [0, 0];
  for (let p = pips0; p >= 0; p--) {
    for (let board = heads[p]; board >= 0; board = follow[board], out++) {
      if (n + 6 * points > room) return null;
      order[out] = board;
      let [laterLow, laterHigh] = [0, 0];
      if ((low[board] & alive[0]) | (high[board] & alive[1])) {
        laterLow = low[board] << 1;
        laterHigh = (high[board] << 1) | (low[board] >>> 31);
        if (laterHigh < 0) laterHigh = (laterHigh & 0x7fffffff) | 0x40000000; // more rolls count as this many
      }
      let top = -1;
      for (let k = 0; k < points; k++) if ((counts[k] = boards[board * points + k])) top = k;
      for (let die = 1; die <= 6; die++) {
        starts[6 * out + die - 1] = used;
        const at = 18 * board + 3 * (die - 1);
        const anyLow = laterLow | pendingLow[at] | pendingLow[at + 1] | pendingLow[at + 2];
        const anyHigh = laterHigh | pendingHigh[at] | pendingHigh[at + 1] | pendingHigh[at + 2];
        if (p === 0 || !(anyLow | anyHigh)) continue;
        for (let i = top; i >= 0; i--) {
          if (!counts[i] || (i < die && (i === die - 1 ? top >= HOME : top !== i))) continue;
          counts[i]--;
          if (i >= die) counts[i - die]++;
          const left = p - Math.min(die, i + 1);
          const found = insert(left);
          counts[i]++;
          if (i >= die) counts[i - die]--;
          targets[used] = found;
          sources[used++] = i;
          if (left === 0) { // the rest of the roll is void
            low[found] |= anyLow;
            high[found] |= anyHigh;
            continue;
          }
          low[found] |= pendingLow[at];
          high[found] |= pendingHigh[at];
          const to = 18 * found + 3 * (die - 1);
          for (const step of [0, 1]) {
            pendingLow[to + step] |= pendingLow[at + 1 + step];
            pendingHigh[to + step] |= pendingHigh[at + 1 + step];
          }
          for (let other = 0; other < 6; other++) {
            const later = 18 * found + 3 * other + (other === die - 1 ? 2 : 0);
            pendingLow[later] |= laterLow;
            pendingHigh[later] |= laterHigh;
          }
        }
      }
    }
  }
  starts[6 * n] = used;
  return { n, boards, low, high, order, starts, targets, sources };
}

/** What can be made of each roll, doubles once, the other ones in both orders of their dice. */
function rollResults({ n, starts, targets, sources }, played, member, whole, most) {
  const ends = new Int32Array(21 * whole + 1);
  const [seen, node, at] = [new Int32Array(n).fill(-1), new Int32Array(4), new Int32Array(4)];
  let results = new Int32Array(1 << 16);
  let [used, row] = [0, 0];
  for (let x = 0; x < n; x++) {
    if (member[x] < 0) continue;
    let [high, low] = [1, 0];
    for (let roll = 0; roll < 21; roll++) {
      if (++low > high) [high, low] = [high + 1, 1];
      const mark = 21 * x + roll;
      const last = high === low ? 3 : 1;
      for (let turn = 0; played[x] && turn < (high === low ? 1 : 2); turn++) {
        const first = turn ? low : high;
        let depth = 0;
        node[0] = x;
        at[0] = starts[6 * x + first - 1];
        while (depth >= 0) {
          const die = depth === 0 ? first : high + low - first;
          const i = at[depth];
          if (i === starts[6 * node[depth] + die]) {
            depth--;
            continue;
          }
          at[depth] = i + 1;
          const y = targets[i];
          if (depth < last && y !== n - 1) {
            node[++depth] = y;
            let j = starts[6 * y + high + low - first - 1];
            if (high === low) while (j < starts[6 * y + high] && sources[j] > sources[i]) j++; // sources never rise
            at[depth] = j;
          } else if (seen[y] !== mark) {
            if (used === most) return null;
            if (used === results.length) {
              const more = new Int32Array(2 * used);
              more.set(results);
              results = more;
            }
            seen[y] = mark;
            results[used++] = member[y];
          }
        }
      }
      ends[21 * row + roll + 1] = used;
    }
    row++;
  }
  return { ends, results: results.slice(0, used) };
}

/**
 * The boards of a side by falling pips, itself first and all off last: {n, points, counts, low, high, ends, results}; low
 * and high are bits of the numbers of rolls after which each can come up. Null where they are too many.
 */
export function family(side, { alive = EVER, limit, most = Infinity }) {
  most = Math.max(1000, Math.min(most, Math.floor(limit / BOARD_COST)));
  const [points, bound] = [Math.max(HOME, highest(side)), noFarther(side)];
  if (alive === EVER && bound > 4 * most) return null; // play to the end makes most of them
  let room = Math.min(bound, most, 1 << 16) + 6 * points + 2;
  let found = closure(side, points, alive, room);
  for (; !found; found = closure(side, points, alive, room)) {
    if (room >= most) return null;
    room = Math.min(4 * room, Math.max(most, 2 * room));
  }
  const { n, order } = found;
  const place = new Int32Array(n);
  for (let x = 0; x < n; x++) place[order[x]] = x;
  for (let i = 0; i < found.starts[6 * n]; i++) found.targets[i] = place[found.targets[i]];
  const [played, member, kept] = [new Uint8Array(n), new Int32Array(n).fill(-1), []];
  for (let x = 0; x < n; x++) {
    const board = order[x];
    played[x] = Number(Boolean((found.low[board] & alive[0]) | (found.high[board] & alive[1])));
    if (found.low[board] | found.high[board] || x === n - 1) member[x] = kept.push(board) - 1;
  }
  const results = rollResults(found, played, member, kept.length, Math.max(1_000_000, Math.floor(limit / RESULT_COST)));
  if (!results) return null;
  const counts = new Int8Array(kept.length * points);
  kept.forEach((board, k) => counts.set(found.boards.subarray(board * points, (board + 1) * points), k * points));
  const words = (array) => Int32Array.from(kept, (board) => array[board]);
  return { n: kept.length, points, counts, low: words(found.low), high: words(found.high), ...results };
}

/** Bits of the numbers of rolls after which a side can still have chequers. */
function aliveOf({ n, low, high }) {
  const out = [0, 0];
  for (let k = 0; k < n - 1; k++) {
    out[0] |= low[k];
    out[1] |= high[k];
  }
  return out;
}

const countsOf = ({ counts, points }, place) => Array.from(counts.subarray(place * points, (place + 1) * points));
/** What the other side wins against a board: 1, a gammon 2, a backgammon 3. */
export const gainOf = (counts) => (chequers(counts) < FULL ? 1 : highest(counts) > 18 ? 3 : 2);
const gainsOf = (boards) => Uint8Array.from({ length: boards.n }, (_, k) => gainOf(countsOf(boards, k)));
const length = (low, high) => (high ? 64 - Math.clz32(high) : 32 - Math.clz32(low));

/** From which to past which board of theirs each of ours can be met, two numbers each; `after` a roll of ours. */
function metBy(ours, theirs, after) {
  const spans = new Int32Array(2 * ours.n);
  const known = new Map();
  for (let u = 0; u < ours.n - 1; u++) {
    let [low, high] = [ours.low[u], ours.high[u]];
    if (after) [low, high] = [(low >>> 1) | (high << 31), high >> 1];
    const key = `${low},${high}`;
    if (!known.has(key)) {
      let [first, last] = [0, 0];
      for (let t = theirs.n - 2; t >= 0; t--) {
        if (!((theirs.low[t] & low) | (theirs.high[t] & high))) continue;
        first = t;
        last ||= t + 1;
      }
      known.set(key, [first, last]);
    }
    spans.set(known.get(key), 2 * u);
  }
  return spans;
}

/** What calculating a race with this number of columns takes; TooMuchWorkError for more than `limit`. */
export function plan({ us, them }, columns, limit, together = columns) {
  const tooMuch = (work) => new TooMuchWorkError({ us, them }, work, limit);
  const swapped = pips(us) > pips(them);
  const [first, second] = swapped ? [them, us] : [us, them];
  const pairs = Math.floor((noFarther(first) * noFarther(second)) / UNREACHED ** 2);
  if (pips(second) < 2 * pips(first) && pairs * columns > SPARE * limit) throw tooMuch(null);
  const quick = family(first, { limit });
  if (!quick) throw tooMuch(null);
  const seen = aliveOf(quick);
  const alive = length(...seen) <= LAST_TOLD ? seen : EVER;
  const slow = family(second, { alive, limit, most: Math.floor((SPARE * limit) / (quick.n * columns)) });
  if (!slow) throw tooMuch(null);
  const [ours, theirs] = swapped ? [slow, quick] : [quick, slow];
  const [rolling, waiting] = [metBy(ours, theirs, false), metBy(ours, theirs, true)];
  let met = 0;
  for (let u = 0; u < ours.n; u++) met += Math.max(0, waiting[2 * u + 1] - waiting[2 * u]);
  const work = met * columns;
  if (work > limit || ours.n * theirs.n * together * 8 > MOST_BYTES) throw tooMuch(work);
  return { ours, theirs, rolling, waiting, pairs: met };
}

// -- the rolls of one side --------------------------------------------------------------------------------------

/**
 * Return the rolls of one side, played for the least mean: {bearoff, gammon}, the chances to bear off the last and the first
 * chequer in exactly 0, 1, 2, ... rolls, `gammon` null where some are off already; null beyond the limit.
 */
export function solveSide(side, limit) {
  const boards = family(side, { limit });
  if (!boards) return null;
  const last = boards.n - 1;
  const rolls = length(boards.low[last], boards.high[last]);
  const left = Uint8Array.from({ length: boards.n }, (_, k) => chequers(countsOf(boards, k)));
  const bearoff = rollChances(boards, left.map((n) => n === 0), rolls);
  return { bearoff, gammon: left[0] === FULL ? rollChances(boards, left.map((n) => n < FULL), rolls) : null };
}

/** The chances of the first board to be done in exactly 0, 1, 2, ... rolls, when play makes the mean least. */
function rollChances({ n, ends, results }, done, rolls) {
  const means = new Float64Array(n);
  const chances = new Float64Array(n * rolls);
  for (let x = n - 1; x >= 0; x--) {
    const at = rolls * x;
    if (done[x]) {
      chances[at] = 1;
      continue;
    }
    let total = 36;
    for (let roll = 0, double = 0, step = 2; roll < 21; roll++) {
      let weight = 2;
      if (roll === double) {
        weight = 1;
        double += step++;
      }
      const first = ends[21 * x + roll];
      let best = results[first];
      for (let i = first + 1; i < ends[21 * x + roll + 1]; i++) if (means[results[i]] < means[best]) best = results[i];
      total += weight * means[best];
      for (let i = 1; i < rolls; i++) chances[at + i] += weight * chances[rolls * best + i - 1];
      chances[at + rolls - 1] += weight * chances[rolls * best + rolls - 1];
    }
    means[x] = total / 36;
    for (let i = 1; i < rolls; i++) chances[at + i] /= 36;
  }
  const used = chances.subarray(0, rolls).findLastIndex((c) => c > 0) + 1;
  return Array.from(chances.subarray(0, used));
}

// -- the values -------------------------------------------------------------------------------------------------

/** total = sum over the rolls of their share of 36 times the greatest of the results' rows, lanes `low` to `high`. */
export function bestRolls(total, best, rows, stride, { ends, results }, row, low, high) {
  const n = high - low;
  for (let k = 0; k < n; k++) total[k] = 0;
  let i = ends[21 * row];
  for (let roll = 0, double = 0, step = 2; roll < 21; roll++) {
    const last = ends[21 * row + roll + 1];
    let a = results[i++] * stride + low;
    for (let k = 0; k < n; k++) best[k] = rows[a + k];
    for (; i + 4 <= last; i += 4) {
      a = results[i] * stride + low;
      const b = results[i + 1] * stride + low;
      const c = results[i + 2] * stride + low;
      const d = results[i + 3] * stride + low;
      for (let k = 0; k < n; k++) {
        let most = best[k];
        let one = rows[a + k];
        if (one > most) most = one;
        one = rows[b + k];
        if (one > most) most = one;
        one = rows[c + k];
        if (one > most) most = one;
        one = rows[d + k];
        if (one > most) most = one;
        best[k] = most;
      }
    }
    for (; i < last; i++) {
      a = results[i] * stride + low;
      for (let k = 0; k < n; k++) if (rows[a + k] > best[k]) best[k] = rows[a + k];
    }
    if (roll === double) {
      for (let k = 0; k < n; k++) total[k] += best[k];
      double += step++;
    } else for (let k = 0; k < n; k++) total[k] += 2 * best[k];
  }
  for (let k = 0; k < n; k++) total[k] /= 36;
}

/** What values of a side on roll are worth to the other, its cube taken in: rows of K at `at`, `apart` from each other. */
function turned(out, at, apart, values, rows, { k, may, passed, source, add, times }) {
  for (let x = 0, from = 0; x < rows; x++, from += k, at += apart) {
    for (let c = 0; c < k; c++) {
      let value = values[from + c];
      if (may[c]) value = Math.max(value, Math.min(add[c] + times[c] * values[from + source[c]], passed[c]));
      out[at + c] = -value;
    }
  }
}

/** Columns of one side as typed arrays. */
function doublingOf(columns, side) {
  const floats = (name) => Float64Array.from(columns[name][side]);
  const [may, source] = [Uint8Array.from(columns.may[side], Number), Int32Array.from(columns.source[side])];
  return { k: columns.states.length, may, source, passed: floats("passed"), add: floats("add"), times: floats("times") };
}

/** What every pair is worth to A when B is on roll: (boards of A, boards of B, K). */
function values(work, columns, progress) {
  const { ours, theirs, rolling, waiting } = work;
  const [many, k] = [theirs.n, columns.states.length];
  const [a, b] = [doublingOf(columns, 0), doublingOf(columns, 1)];
  const after = new Float64Array(ours.n * many * k);
  gainsOf(theirs).forEach((gain, t) => {
    for (let c = 0; c < k; c++) after[((ours.n - 1) * many + t) * k + c] = columns.won[0][4 * c + gain];
  });
  const gains = gainsOf(ours);
  const each = Math.max(1, Math.floor(LANES / k));
  const near = new Float64Array(many * each * k); // what a pair is worth to B when A is on roll
  const [total, best] = [0, 1].map(() => new Float64Array(Math.max(many, each) * k));
  const step = Math.max(1, Math.floor(TILE / k));
  const block = (first, last) => {
    const width = last - first;
    let [begin, end] = [many, 0];
    for (let u = first; u < last; u++) {
      begin = Math.min(begin, waiting[2 * u]);
      end = Math.max(end, waiting[2 * u + 1]);
      for (let c = 0; c < k; c++) near[((many - 1) * width + u - first) * k + c] = columns.won[1][4 * c + gains[u]];
    }
    for (let tile = 0; tile < many; tile += step) { // so that rows which several boards lead to stay in the cache
      for (let u = first; u < last; u++) {
        const [low, high] = [Math.max(tile, rolling[2 * u]), Math.min(tile + step, rolling[2 * u + 1])];
        if (high <= low) continue;
        bestRolls(total, best, after, many * k, ours, u, low * k, high * k);
        turned(near, (low * width + u - first) * k, width * k, total, high - low, a);
      }
    }
    for (let t = begin; t < end; t++) {
      if (theirs.ends[21 * t] === theirs.ends[21 * t + 1]) continue; // a board of B that no more is played on
      bestRolls(total, best, near, width * k, theirs, t, 0, width * k);
      turned(after, (first * many + t) * k, many * k, total, width, b);
    }
  };
  let done = 0;
  const of = (u) => pips(countsOf(ours, u));
  for (let stop = ours.n - 1; stop > 0;) { // layers of equal pips from the fewest on
    let start = stop - 1;
    while (start > 0 && of(start - 1) === of(stop - 1)) start--;
    if (start === 0) break; // the position itself
    for (let low = start; low < stop; low += each) block(low, Math.min(low + each, stop));
    for (let u = start; u < stop; u++) done += Math.max(0, waiting[2 * u + 1] - waiting[2 * u]);
    progress(done);
    stop = start;
  }
  return after;
}

/**
 * A race solved, seen by the side on roll: {source, error, usual, onRoll, boards, plays, after}. No value is farther than
 * `error` from the truth; onRoll: by column, its values before it doubles or rolls, not doubling; plays: of each of the
 * 21 rolls places in `boards`, sides that it can be played to; after: by board and column, what that is worth to it
 * when the other side is on roll. `columns` may be an array of several, the answer then is one, too; `total`: how many
 * columns they are together, shared ones once.
 */
export function calculate({ us, them, columns, limit, total }, progress = () => {}) {
  const several = Array.isArray(columns) ? columns : [columns];
  const widths = several.map((one) => one.states.length);
  const work = plan({ us, them }, total ?? widths[0], limit, Math.max(...widths));
  const all = Math.max(1, work.pairs) * several.length;
  const found = several.map((one, k) => solved(work, one, (done) => progress(k * work.pairs + done, all)));
  return Array.isArray(columns) ? found : found[0];
}

function solved(work, columns, progress) {
  const { ours, theirs } = work;
  const k = columns.states.length;
  const found = values(work, columns, progress);
  const places = new Map();
  const plays = Array.from({ length: 21 }, (_, roll) =>
    Array.from(ours.results.subarray(ours.ends[roll], ours.ends[roll + 1]), (place) => {
      if (!places.has(place)) places.set(place, places.size);
      return places.get(place);
    }));
  const after = new Float64Array(places.size * k);
  for (const [place, n] of places) after.set(found.subarray(place * theirs.n * k, place * theirs.n * k + k), n * k);
  const [onRoll, best] = [new Float64Array(k), new Float64Array(k)];
  bestRolls(onRoll, best, found, theirs.n * k, ours, 0, 0, k);
  const rolls = [ours, theirs].reduce((sum, one) => sum + one.low.reduce((most, low, n) => Math.max(most, length(low, one.high[n])), 0), 0);
  const most = Math.max(...columns.won.flatMap((won) => won.filter((_, n) => n % 4)).map(Math.abs));
  const boards = Array.from(places.keys(), (place) => countsOf(ours, place));
  return { source: "calculation", error: 23 * 2 ** -52 * rolls * most, usual: null, onRoll, boards, plays, after };
}
