// Estimates races that are too large to calculate, with no chequer beyond the eighth point, as `bgfmt` does: the same numbers,
// operation by operation. A side that plays alone, for few rolls, is a chain of boards; after each roll those are played
// on whose distributions of rolls differ most, every other goes with the nearest of them, and the game of the two
// chains is solved backwards. The twin in Python: bgfmt/analysis/chains.py and kernels_chains.py; what it errs by:
// docs/races.md.

import { NotCoveredError, chequers, count, countsText, highest, pips, rank, unrank } from "./bgfmt.js";
import { bestRolls, calculate } from "./calculate.js";

const HOME = 6;
const FARTHEST = 8; // points: the one-sided table of eight takes seconds and 70 MB
const ROLLS = 32; // told apart, the chances of each board in the table
const [BOARDS, FIRST, SLACK, FIRST_SLACK] = [32, 64, 0.1, 1000]; // played on after a roll, the first; mean rolls a play may lose
const [USUAL, MOST] = [0.0055, 0.012]; // errors that 95 % and 99.9 % of estimates keep, in equities
const MOST_LAYERS = 256;
const [MOST_FIRST, MOST_OTHER] = [1024, 64]; // results of a roll that are looked at
const SAME = 1e-10; // squared distance of distributions that are not told apart
const STEEPEST = 3; // most that a chance to win the game may count, in worths of a game
const KEPT = 1 << 12; // boards whose results are kept
const DOUBLES = [0, 2, 5, 9, 14, 20];
const DICE = Array.from({ length: 6 }, (_, high) => Array.from({ length: high + 1 }, (__, low) => [high + 1, low + 1])).flat();

/** What a question asks for: a calculation where it has a limit, else an estimate. */
export function answer(question, progress) {
  return question.limit === undefined ? estimate(question, progress) : calculate(question, progress);
}

/**
 * A race estimated, in the shape of `calculate`: `usual` and `error` are errors that 95 % and 99.9 % keep; unit: what a point
 * is worth.
 */
export function estimate({ us, them, columns, unit = 1 }, progress = () => {}) {
  if (Math.max(highest(us), highest(them)) > FARTHEST) throw new NotCoveredError(`${countsText({ us, them })} has a chequer beyond point ${FARTHEST}`);
  const [ours, theirs, depth] = chains(us, them, progress);
  const k = columns.states.length;
  const found = ours.layers[2];
  const after = new Float64Array(found * k);
  const onRoll = game(ours, theirs, depth, columns, after);
  const boards = ours.boards.slice(0, found).map((board) => Array.from(board));
  const plays = DICE.map((_, roll) => ours.results.slice(ours.ends[roll], ours.ends[roll + 1]));
  return { source: "estimate", error: unit * MOST, usual: unit * USUAL, onRoll, boards, plays, after };
}

let last = { key: null }; // the same race is asked for with other columns

/** The chains of both sides, and how many layers they have. */
function chains(us, them, progress) {
  const key = `${us}/${them}`;
  if (last.key === key) return last.made;
  const table = oneSided(Math.max(HOME, highest(us), highest(them)), progress);
  const [both, made] = [[us, them], [null, null, MOST_LAYERS - 2]];
  for (const side of pips(them) < pips(us) ? [1, 0] : [0, 1]) { // the game ends with the shorter chain
    made[side] = chain(both[side], made[2], table);
    made[2] = made[side].depth + 1;
  }
  last = { key, made };
  return made;
}

const tables = new Map();

/**
 * The one-sided table of boards on some points, by the rules of docs/theory/one-sided.md: {points, terms, rows, means, kept}; rows:
 * chances to be off in 0, 1, 2, ... rolls, 32 in 65535ths a board; means: mean rolls; kept: what `expand` has found.
 */
function oneSided(points, progress) {
  if (tables.has(points)) return tables.get(points);
  const boards = count(points, 15);
  const terms = Float64Array.from({ length: 16 * points }, (_, at) => (at % 16 ? count(Math.floor(at / 16) + 1, (at % 16) - 1) : 0));
  const [rows, totals, sums] = [new Uint16Array(ROLLS * boards), new Uint32Array(boards), new Uint32Array(ROLLS)];
  const each = (make) => Array.from({ length: 6 }, make);
  const itself = Int32Array.from(totals, (_, board) => board);
  const [one, two, three] = Array.from({ length: 3 }, () => each(() => new Int32Array(boards))); // best after more of a die
  const least = (first, after, best = -1) => {
    for (const board of first) if (best < 0 || totals[after[board]] < totals[best]) best = after[board];
    return best;
  };
  rows[0] = 65535;
  for (let board = 1; board < boards; board++) {
    if (board % 4096 === 0) progress(board, boards);
    const counts = unrank(board, points);
    const first = each((_, k) => moved(counts, k + 1, terms));
    sums.fill(0);
    DICE.forEach(([high, low], roll) => {
      const double = high === low;
      const [a, b] = [high - 1, low - 1];
      const best = double ? least(first[a], three[a]) : least(first[b], one[a], least(first[a], one[b]));
      for (let k = 1; k < ROLLS; k++) sums[k] += (double ? 1 : 2) * rows[ROLLS * best + k - 1];
    });
    for (let die = 0; die < 6; die++) {
      one[die][board] = least(first[die], itself);
      two[die][board] = least(first[die], one[die]);
      three[die][board] = least(first[die], two[die]);
    }
    const row = rows.subarray(ROLLS * board, ROLLS * (board + 1));
    let [most, over] = [0, -65535];
    for (let k = 1; k < ROLLS; k++) {
      over += row[k] = Math.floor((sums[k] + 18) / 36);
      if (row[k] > row[most]) most = k;
    }
    row[most] -= over; // the likeliest takes what rounding has left
    for (let k = 1; k < ROLLS; k++) totals[board] += k * row[k];
  }
  const made = { points, terms, rows, means: Float64Array.from(totals, (total) => total / 65535), kept: new Map() };
  tables.set(points, made);
  return made;
}

/** Numbers of what a board becomes by one die, the highest chequer first. */
function moved(counts, die, terms) {
  const found = [];
  for (let i = counts.length - 1; i >= 0; i--) {
    if (!mayMove(counts, i, die)) continue;
    shift(counts, i, die, 1);
    found.push(numberOf(counts, terms));
    shift(counts, i, die, -1);
  }
  return found;
}

/** The chances that a board is off within 0, 1, 2, ... rolls. */
function distribution(rows, board) {
  const out = new Float64Array(ROLLS);
  let total = 0;
  for (let roll = 0; roll < ROLLS; roll++) out[roll] = total += rows[ROLLS * board + roll] / 65535;
  for (let roll = 0; roll < ROLLS; roll++) out[roll] /= total;
  return out;
}

// -- plays ------------------------------------------------------------------------------------------------------

function numberOf(counts, terms) {
  let number = 0;
  for (let k = 0, above = 0; k < counts.length; k++) {
    above += counts[counts.length - 1 - k];
    number += terms[16 * k + above];
  }
  return number;
}

function mayMove(counts, i, die) {
  if (!counts[i]) return false;
  if (i >= die) return true;
  for (let k = i === die - 1 ? HOME : i + 1; k < counts.length; k++) if (counts[k]) return false;
  return true;
}

function shift(counts, i, die, by) {
  counts[i] -= by;
  if (i >= die) counts[i - die] += by;
}

/** Numbers of the results of a roll, each where it comes up first: the larger die first, then the smaller. */
function results(counts, [high, low], terms) {
  const double = high === low;
  const found = [];
  const known = new Set();
  const path = [0, 0, 0, 0];
  for (const dice of double ? [[low, low]] : [[high, low], [low, high]]) {
    let depth = 0;
    path[0] = counts.length; // the source tried last; the next one is below it
    while (depth >= 0) {
      const die = dice[depth && 1];
      let i = path[depth] - 1;
      while (i >= 0 && !mayMove(counts, i, die)) i--;
      path[depth] = i;
      if (i < 0) {
        if (--depth >= 0) shift(counts, path[depth], dice[depth && 1], -1);
        continue;
      }
      shift(counts, i, die, 1);
      const number = numberOf(counts, terms);
      if (number && depth < (double ? 3 : 1)) {
        path[++depth] = double ? i + 1 : counts.length; // of doubles the sources never rise
        continue;
      }
      if (!known.has(number)) {
        known.add(number);
        found.push(number);
      }
      shift(counts, i, die, -1);
    }
  }
  return found;
}

/** Of each roll the results of a board that may be played: that of the least mean first, then those within `slack`. */
function expand(number, { points, terms, means, kept }, root) {
  if (!root && kept.has(number)) return kept.get(number);
  const counts = Int32Array.from(unrank(number, points));
  const [most, slack] = root ? [MOST_FIRST, FIRST_SLACK] : [MOST_OTHER, SLACK];
  const out = DICE.map((dice) => {
    const found = results(counts, dice, terms);
    let best = 0;
    for (let x = 1; x < found.length; x++) if (means[found[x]] < means[found[best]]) best = x;
    let limit = means[found[best]] + slack;
    if (found.length > most) limit = Math.min(limit, found.map((one) => means[one]).sort((a, b) => a - b)[most - 1]);
    const order = found.map((_, y) => (y === 0 ? best : y === best ? 0 : y));
    return order.map((x) => found[x]).filter((one) => means[one] <= limit).slice(0, most);
  });
  if (root) return out;
  if (kept.size === KEPT) kept.clear();
  kept.set(number, out);
  return out;
}

// -- the chain of one side --------------------------------------------------------------------------------------

const gainOf = (counts) => (chequers(Array.from(counts)) === 15 ? 2 : 1);

/**
 * What rolls make of a side when it plays for few rolls: boards found after each roll from layers[t] to layers[t + 1], the
 * side itself the first; near: of each the place in `chosen` of the board that is played on for it, -1 all off; chosen:
 * boards played on, by rising means, those of layer t from nexts[t] to nexts[t + 1]; ends, results: the results of roll r of
 * the board at place c of `chosen` are boards results[ends[21 c + r]] to results[ends[21 c + r + 1] - 1].
 */
function chain(side, most, table) {
  const { points, rows, means } = table;
  const start = rank(side, points);
  const c = {
    layers: [0, 1], chosen: [0], nexts: [0, 1], within: [distribution(rows, start)], near: [0], ends: [0], results: [],
    boards: [Int8Array.from(unrank(start, points))], numbers: [start], shares: [[1, 1]],
  };
  c.gains = [gainOf(c.boards[0])];
  let t = 0;
  for (; t < most && c.nexts[t + 1] > c.nexts[t]; t++) {
    const places = new Map();
    for (let at = c.nexts[t]; at < c.nexts[t + 1]; at++) {
      const share = c.shares[c.chosen[at]][1];
      expand(c.numbers[c.chosen[at]], table, t === 0).forEach((list, roll) => {
        list.forEach((number, x) => {
          let place = places.get(number);
          if (place === undefined) {
            places.set(number, (place = c.numbers.length));
            c.numbers.push(number);
            c.boards.push(Int8Array.from(unrank(number, points)));
            c.near.push(-1);
            c.shares.push([0, 0]);
            c.within.push(distribution(rows, number));
            c.gains.push(gainOf(c.boards[place]));
          }
          if (x === 0) c.shares[place][0] += (share * (DOUBLES.includes(roll) ? 1 : 2)) / 36;
          c.results.push(place);
        });
        c.ends.push(c.results.length);
      });
    }
    c.layers[t + 2] = c.numbers.length;
    choose(c, c.layers[t + 1], c.layers[t + 2], t ? BOARDS : FIRST, means);
    c.nexts[t + 2] = c.chosen.length;
  }
  for (let u = t + 2; u <= MOST_LAYERS; u++) {
    c.layers[u] = c.layers[t + 1];
    c.nexts[u] = c.nexts[t + 1];
  }
  return { ...c, depth: t };
}

/** Choose at most `most` boards of a layer to play on. */
function choose({ chosen, near, numbers, within, gains, shares }, begin, end, most, means) {
  let [low, high, best] = [ROLLS, 0, -1]; // between which rolls distributions of this layer may differ
  for (let x = begin; x < end; x++) {
    while (numbers[x] && low > 0 && within[x][low - 1] > 0) low--;
    while (high < ROLLS && within[x][high] < 1) high++;
    if (numbers[x] && (best < 0 || shares[x][0] > shares[best][0])) best = x;
  }
  const first = chosen.length;
  const distance = new Float64Array(end - begin);
  while (best >= 0 && chosen.length < first + most) {
    const mine = within[best];
    let [other, farthest] = [-1, 0];
    for (let x = begin; x < end; x++) {
      if (!numbers[x]) continue;
      let total = 4 * Math.abs(gains[x] - gains[best]);
      for (let k = low; k < high; k++) total += (within[x][k] - mine[k]) ** 2;
      if (near[x] < 0 || total < distance[x - begin]) {
        distance[x - begin] = total;
        near[x] = chosen.length;
      }
      const weighted = distance[x - begin] * (shares[x][0] + 1e-6);
      if (distance[x - begin] > SAME && weighted > farthest) [farthest, other] = [weighted, x];
    }
    chosen.push(best);
    best = other;
  }
  const order = sorted(chosen.slice(first).map((x) => means[numbers[x]])); // by rising means
  const place = [];
  const before = chosen.splice(first);
  order.forEach((x, k) => {
    place[x] = first + k;
    chosen.push(before[x]);
  });
  for (let x = begin; x < end; x++) {
    if (!numbers[x]) continue;
    near[x] = place[near[x] - first];
    shares[chosen[near[x]]][1] += shares[x][0];
  }
}

/** The order of rising values; equal ones stand as numba's quicksort leaves them, so that the numbers are the same. */
function sorted(values) {
  const order = values.map((_, k) => k);
  const swap = (a, b) => { [order[a], order[b]] = [order[b], order[a]]; };
  const less = (a, b) => values[order[a]] < values[order[b]];
  const sort = (low, high) => {
    if (high - low < 15) {
      for (let i = low + 1; i <= high; i++) for (let j = i; j > low && less(j, j - 1); j--) swap(j, j - 1);
      return;
    }
    const middle = (low + high) >> 1;
    if (less(middle, low)) swap(low, middle);
    if (less(high, middle)) swap(high, middle);
    if (less(middle, low)) swap(low, middle);
    swap(high, middle);
    let [i, j] = [low, high - 1];
    for (;; i++, j--) {
      while (i < high && less(i, high)) i++;
      while (j >= low && less(high, j)) j--;
      if (i >= j) break;
      swap(i, j);
    }
    swap(i, high);
    sort(low, i - 1);
    sort(i + 1, high);
  };
  sort(0, order.length - 1);
  return order;
}

// -- the game of two chains -------------------------------------------------------------------------------------

/** The chance that a side, having played, is off before each of the other's boards, which roll; still: a row a roll. */
function winsOf(within, still, many) {
  const out = new Float64Array(many);
  let before = 0;
  for (let roll = 0; roll < ROLLS; roll++) {
    const here = within[roll] - before;
    if (here === 0) continue;
    before += here;
    for (let b = 0; b < many; b++) out[b] += here * still[roll * many + b];
  }
  return out;
}

/**
 * What the boards of a side after roll t are worth to it on roll, (its chosen, K, the other's chosen). The other side, with
 * its boards after roll u, is on roll next; values (the other's chosen, K, ours after roll t + 1) are its own. `side`: which
 * of both this one is; rows (boards, K times the other's chosen): filled with what each board after roll t is worth.
 */
function half(values, mine, t, other, u, columns, side) {
  const { layers, nexts, chosen, near, within, gains } = mine;
  const k = columns.states.length;
  const [may, passed, source, add, times] = ["may", "passed", "source", "add", "times"].map((name) => columns[name][1 - side]);
  const [won, lost] = [columns.won[side], columns.won[1 - side]];
  const cubeless = columns.states.indexOf(null);
  const others = other.chosen.slice(other.nexts[u], other.nexts[u + 1]);
  const [first, n, many] = [nexts[t + 1], nexts[t + 2] - nexts[t + 1], others.length];
  const width = k * many;
  const still = new Float64Array(ROLLS * many);
  for (let roll = 0; roll < ROLLS; roll++) for (let b = 0; b < many; b++) still[roll * many + b] = 1 - other.within[others[b]][roll];
  const wins = Array.from({ length: n }, (_, a) => winsOf(within[chosen[first + a]], still, many));
  const [nearValues, steep] = [new Float64Array(n * width), new Float64Array(n * width)];
  for (let a = 0; a < n; a++) {
    for (let c = 0; c < k; c++) for (let b = 0; b < many; b++) nearValues[a * width + c * many + b] = values[(b * k + c) * n + a];
  }
  for (let a = 0; a < n; a++) {
    const [low, high] = [Math.max(a - 1, 0), Math.min(a + 1, n - 1)];
    for (let c = 0; c < k; c++) {
      const worth = won[4 * c + 1] + lost[4 * c + 1];
      for (let b = 0; b < many; b++) {
        const at = c * many + b;
        const apart = wins[high][b] - wins[low][b];
        let slope = worth;
        if (c !== cubeless && Math.abs(apart) > 1e-7) {
          slope = Math.min(STEEPEST * worth, Math.max(0, (nearValues[low * width + at] - nearValues[high * width + at]) / apart));
        }
        steep[a * width + at] = slope;
      }
    }
  }
  const rows = new Float64Array(layers[t + 2] * width);
  const rolled = new Float64Array(width);
  for (let x = layers[t + 1]; x < layers[t + 2]; x++) {
    if (near[x] < 0) {
      for (let c = 0; c < k; c++) for (let b = 0; b < many; b++) rows[x * width + c * many + b] = won[4 * c + other.gains[others[b]]];
      continue;
    }
    const a = near[x] - first;
    const here = winsOf(within[x], still, many);
    for (let b = 0; b < many; b++) here[b] -= wins[a][b];
    for (let c = 0; c < k; c++) {
      const most = lost[4 * c + gains[x]];
      for (let b = 0; b < many; b++) {
        const at = a * width + c * many + b;
        const value = nearValues[at] - steep[at] * here[b];
        rolled[c * many + b] = Math.max(-won[4 * c + other.gains[others[b]]], Math.min(most, value));
      }
    }
    for (let c = 0; c < k; c++) {
      for (let b = 0; b < many; b++) {
        let value = rolled[c * many + b];
        if (may[c]) value = Math.max(value, Math.min(add[c] + times[c] * rolled[source[c] * many + b], passed[c]));
        rows[x * width + c * many + b] = -value;
      }
    }
  }
  const out = new Float64Array((nexts[t + 1] - nexts[t]) * width);
  const [total, best] = [new Float64Array(width), new Float64Array(width)];
  for (let r = nexts[t]; r < nexts[t + 1]; r++) {
    bestRolls(total, best, rows, width, mine, r, 0, width);
    out.set(total, (r - nexts[t]) * width);
  }
  return { out, rows };
}

/** The value of the start to the side on roll, by column; after: what each board after the first roll is worth to it. */
function game(ours, theirs, depth, columns, after) {
  const k = columns.states.length;
  const chosen = (side, t) => side.nexts[t + 1] - side.nexts[t];
  let values = new Float64Array();
  for (let t = depth - 1; t >= 0; t--) {
    const [first, second, next] = [chosen(ours, t), chosen(theirs, t), chosen(ours, t + 1)];
    let out = new Float64Array(second * k * next);
    if (second && next) ({ out } = half(values, theirs, t, ours, t + 1, columns, 1));
    values = new Float64Array(first * k * second);
    if (!first || !second) continue;
    const done = half(out, ours, t, theirs, t, columns, 0);
    values = done.out;
    if (t === 0) after.set(done.rows.subarray(k), k);
  }
  return values.slice(0, k);
}
