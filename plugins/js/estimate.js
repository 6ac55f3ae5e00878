// Estimates races that are too large to calculate, as `bgfmt` does: the same numbers, operation by operation, in single
// precision. A side that plays alone, for few rolls, is a chain of boards. After each roll those are played on whose
// distributions of rolls and gammon risks differ most. Every other board is interpolated from the nearest of them, and the
// game of the two chains is solved backwards. The same in Python: bgfmt/extras/races/chains.py, kernels_chains.py,
// kernels_choice.py and kernels_game.py; its errors: docs/races.md.

import { chequers, count, highest, pips, rank, unrank } from "./bgfmt.js";
import { bestRolls, calculate, gainOf, noFarther, solveSide } from "./calculate.js";

const [HOME, FAR_HOME] = [6, 18]; // points of the own home board, and those before the other side's
const PIPS = 49 / 6; // mean pips of a roll
const FAR = 10; // points of the one-sided table; a chequer beyond counts as one on the last, and the pips up to there
const [ROLLS, FAR_ROLLS] = [32, 64]; // told apart, the chances of each board in the table, and of boards beyond it
const [BOARDS, FIRST, SLACK, FIRST_SLACK] = [32, 64, 0.1, 1000]; // played on after a roll, the first; mean rolls a play may lose
const [WITHIN, BEYOND] = [[0.0055, 0.016], [0.012, 0.04]]; // errors that 95 % and 99.9 % keep, in equities, and with a chequer beyond
const [GAMMONS, MANY_GAMMONS] = [[0.03, 0.08], 0.01]; // the same errors with at least so many gammons a game
const [BACKGAMMONS, OTHER_HOME] = [[0.12, 0.6], 19]; // the same if besides a side has a chequer in the other's home board
const [MOST_FIRST, MOST_OTHER, MOST_BEYOND] = [1024, 64, 16]; // results of a roll that are looked at
const NEAR = 4; // boards that a board lies between
const f = Math.fround;
const [SAME, APART] = [f(1e-10), 4]; // squared distances: not told apart; so much farther than the nearest is not used
const GAMMON = 25; // distance of two boards for each gammon per game that one of them loses more
const RARE = f(1e-5); // a smaller probability of being off counts as 0
const STIFF = f(0.1); // how evenly the boards beside share a board
const LEAST_SHARE = f(1e-6); // that every board has at least when boards are chosen
const STEEPEST = 3; // most that a chance to win the game may count, in worths of a game
const [BESIDE, LEAN] = [2, f(1e-4)]; // boards on either side that a slope is taken from; what the slope without a cube weighs
const ENDING = 4; // most chequers of a side where exact values of home boards are taken
const KEPT = 1 << 12; // boards whose results are kept
const [LONGEST, FAR_ERROR] = [128, 0.1]; // rolls that a side can need; the error of its mean with a chequer beyond the table
const FAR_NAME = "bgfmt_os10.bd"; // as bgfmt calls the table
const DICE = Array.from({ length: 6 }, (_, high) => Array.from({ length: high + 1 }, (__, low) => [high + 1, low + 1])).flat();
const WAYS = DICE.map(([high, low]) => (high === low ? 1 : 2)); // to throw them, of 36

/** What a question asks for: the rolls of a side, a calculation where it has a limit, else an estimate. */
export function answer(question, progress) {
  if (question.side) return rollsOf(question, progress);
  return question.limit === undefined ? estimate(question, progress) : calculate(question, progress);
}

/**
 * A race estimated, in the shape of `calculate`: `usual` and `error` are errors that 95 % and 99.9 % keep; unit: what a point
 * is worth.
 */
export function estimate({ us, them, columns, unit = 1 }, progress = () => {}) {
  const [ours, theirs, depth] = chains(us, them, progress);
  const found = ours.layers[2];
  const after = new Float64Array(found * columns.states.length);
  const onRoll = game(ours, theirs, depth, columns, after);
  if (Math.max(chequers(us), chequers(them)) < 15) { // no gammon: doubles can be passed, so that no more than a single game is lost
    const [won, lost] = columns.won.map((side) => columns.states.map((_, c) => side[4 * c + 1]));
    for (const values of [onRoll, after]) values.forEach((value, at) => (values[at] = Math.min(Math.max(value, -lost[at % won.length]), won[at % won.length])));
  }
  const boards = ours.boards.slice(0, found).map((board) => Array.from(board));
  const plays = DICE.map((_, roll) => ours.results.slice(ours.ends[roll], ours.ends[roll + 1]).map((place) => 1 + place));
  const [usual, most] = errorsOf(us, them, Math.max(gammonsOf(ours), gammonsOf(theirs)));
  return { source: "estimate", error: unit * most, usual: unit * usual, onRoll, boards, plays, after };
}

/** Return the errors that 95 % and 99.9 % of estimates of such a race keep; gammons: about how many a game has. */
function errorsOf(us, them, gammons) {
  const farthest = Math.max(highest(us), highest(them));
  if (gammons >= MANY_GAMMONS) return farthest >= OTHER_HOME ? BACKGAMMONS : GAMMONS;
  return farthest > FAR ? BEYOND : WITHIN;
}

/** Return about how many gammons and backgammons a game a side loses, from its boards after one roll. */
function gammonsOf({ layers, shares, risks }) {
  let total = 0;
  for (let x = layers[1]; x < layers[2]; x++) total += shares[x][0] * risks[x];
  return total;
}

let last = { key: null }; // the same race is asked for with other columns

/** Return the chains of both sides, and the number of their rolls. */
function chains(us, them, progress) {
  const key = `${us}/${them}`;
  if (last.key === key) return last.made;
  const points = Math.max(FAR, highest(us), highest(them));
  for (const side of [us, them]) make(side, progress);
  const [ours, theirs] = [us, them].map((side) => startChain(side, points));
  const made = [ours, theirs, build(ours, theirs)];
  last = { key, made };
  return made;
}

// -- the one-sided table ----------------------------------------------------------------------------------------

const termsOf = (points) => Float64Array.from({ length: 16 * points }, (_, at) => (at % 16 ? count(Math.floor(at / 16) + 1, (at % 16) - 1) : 0));
const TERMS = termsOf(FAR);
const MOVES = 18; // what is kept of a board: the best after one, two and three moves of each die

/**
 * The one-sided table on ten points, of the boards that were needed so far, by the rules of docs/theory/one-sided.md: places by
 * numbers, that of all off 0, as of boards not made; by places the rows, chances to be off in 0, 1, 2, ... rolls, 32 in 65535ths a
 * board; totals: sums of rolls times chances; best: places of the boards of the least total after further moves.
 */
const table = { made: 0, places: null, rows: new Uint16Array(), totals: new Int32Array(), best: new Int32Array() };

/** The number of a board on ten points, and the pips beyond them. */
function near10(counts) {
  let [number, above, beyond] = [0, 0, 0];
  for (let p = counts.length - 1; p >= 0; p--) {
    above += counts[p];
    if (p < FAR) number += TERMS[16 * (FAR - 1 - p) + above];
    else beyond += above;
  }
  return [number, beyond];
}

/** Mean rolls of a board that is made. */
function meanOf(counts) {
  const [number, beyond] = near10(counts);
  return table.totals[table.places[number]] / 65535 + (beyond * 6) / 49;
}

/** The chances that a board is off within 0, 1, 2, ... rolls; each pip beyond the table is 6/49 of a roll. */
function distribution(counts) {
  const [number, beyond] = near10(counts);
  const out = new Float32Array(counts.length > FAR ? FAR_ROLLS : ROLLS);
  out.set(storedRow(number));
  for (let left = (beyond * 6) / 49; left > 0; ) {
    const more = Math.min(left, 0.72);
    left -= more;
    for (let k = out.length - 1; k > 0; k--) out[k] = Math.max(0, out[k] + f(f(more) * f(out[k - 1] - out[k])));
    out[0] -= f(f(more) * out[0]);
  }
  let total = 0;
  for (let roll = 0; roll < out.length; roll++) out[roll] = total = f(total + out[roll]);
  for (let roll = 0; roll < out.length; roll++) out[roll] /= total;
  return out;
}

/** Make all boards that play can make of a side, by rising numbers: all that have each chequer where it stands or nearer to home. */
function make(counts, progress) {
  table.places ??= new Int32Array(count(FAR, 15));
  const { places } = table;
  const side = Array.from({ length: FAR }, (_, p) => (p < FAR - 1 ? (counts[p] ?? 0) : chequers(counts.slice(p))));
  if (places[near10(side)[0]]) return;
  const room = Math.min(places.length, Math.max(table.made, 1) + noFarther(side));
  const grown = (name, width) => {
    const out = new table[name].constructor(width * room);
    out.set(table[name].subarray(0, width * table.made));
    return (table[name] = out);
  };
  const [rows, totals, best] = [grown("rows", ROLLS), grown("totals", 1), grown("best", MOVES)];
  rows[0] = 65535;
  table.made ||= 1;
  const above = new Int32Array(FAR + 1); // chequers on each point and beyond
  const falls = new Int32Array(FAR + 1); // what the number loses when a chequer goes past the points below
  const [first, many, sums] = [new Int32Array(6 * FAR), new Int32Array(6), new Uint32Array(ROLLS)]; // places after one move of each die
  /** The first board of the least total among those after a move of a die, and after what `best` says at `then`. */
  const least = (die, then, found = -1) => {
    for (let m = FAR * die; m < FAR * die + many[die]; m++) {
      const board = then < 0 ? first[m] : best[MOVES * first[m] + then];
      if (found < 0 || totals[board] < totals[found]) found = board;
    }
    return found;
  };
  const solveBoard = (number) => {
    const board = (places[number] = table.made++);
    for (let p = 0; p < FAR; p++) {
      const at = 16 * (FAR - 1 - p) + above[p];
      falls[p + 1] = falls[p] + (above[p] ? TERMS[at] - TERMS[at - 1] : 0);
    }
    for (let die = 0; die < 6; die++) {
      let end = FAR * die;
      for (let i = FAR - 1; i >= 0; i--) {
        if (above[i] === above[i + 1] || (i <= die && above[i === die ? HOME : i + 1])) continue;
        first[end++] = places[number - falls[i + 1] + falls[Math.max(0, i - die)]];
      }
      many[die] = end - FAR * die;
    }
    sums.fill(0);
    for (const [high, low] of DICE) {
      const [a, b] = [high - 1, low - 1];
      const after = a === b ? least(a, 12 + a) : least(b, a, least(a, b));
      const weight = a === b ? 1 : 2;
      for (let k = 1, from = ROLLS * after; k < ROLLS; k++) sums[k] += weight * rows[from++];
    }
    for (let die = 0; die < 6; die++) for (let then = -1; then < 2; then++) best[MOVES * board + 6 * then + 6 + die] = least(die, then < 0 ? -1 : 6 * then + die);
    const at = ROLLS * board;
    let [most, over] = [0, -65535];
    for (let k = 1; k < ROLLS; k++) {
      over += rows[at + k] = Math.floor((sums[k] + 18) / 36);
      if (rows[at + k] > rows[at + most]) most = k;
    }
    rows[at + most] -= over; // the likeliest takes what rounding has left
    for (let k = 1; k < ROLLS; k++) totals[board] += k * rows[at + k];
  };
  const most = side.map((_, p) => chequers(side.slice(p)));
  const walk = (p, number) => {
    if (p < FAR) {
      for (above[p] = 0; above[p] <= most[p] && (!p || above[p] <= above[p - 1]); above[p]++) walk(p + 1, number + TERMS[16 * (FAR - 1 - p) + above[p]]);
    } else if (number && !places[number]) {
      if (table.made % 4096 === 0) progress(table.made, room);
      solveBoard(number);
    }
  };
  walk(0, 0);
}

// -- the rolls of one side --------------------------------------------------------------------------------------

/**
 * Return the chances of a side to bear off in exactly 0, 1, 2, ... rolls, with where they come from: calculated within the
 * limit, outside the home board else by the table above, and with a chequer beyond its points estimated.
 */
function rollsOf({ side, limit }, progress = () => {}) {
  const solved = solveSide(side, limit);
  const about = { table: null, approximate: false };
  if (solved) return { ...solved, source: "calculation", ...about, max_error: { mean_rolls: 1e-12 } };
  make(side, progress);
  const [number, beyond] = near10(side);
  if (!beyond) {
    const bearoff = Array.from(storedRow(number), (stored) => stored / 65535);
    return { bearoff, points: FAR, source: "one-sided", ...about, table: FAR_NAME };
  }
  return { bearoff: farRolls(side), source: "estimate", table: null, approximate: true, max_error: { mean_rolls: FAR_ERROR } };
}

const storedRow = (number) => table.rows.subarray(ROLLS * table.places[number], ROLLS * table.places[number] + ROLLS);

/** Return the mean of the 21 rolls, each played to where the fewest rolls are left. */
function farRolls(side) {
  const terms = termsOf(side.length);
  const chances = new Float64Array(LONGEST);
  for (const dice of DICE) {
    let best = null;
    for (const number of results(Int32Array.from(side), dice, terms)) {
      const row = standIn(unrank(number, side.length));
      if (!best || row.mean < best.mean) best = row;
    }
    const weight = (dice[0] === dice[1] ? 1 : 2) / 36;
    for (let k = 1; k < LONGEST; k++) chances[k] += weight * best.chances[k - 1];
  }
  return Array.from(chances.subarray(0, chances.findLastIndex((c) => c > 0) + 1));
}

/** A chequer beyond the table counts as one on its last point and 6/49 of a roll for each pip up to there. */
function standIn(counts) {
  const [number, beyond] = near10(counts);
  const more = (beyond * 6) / 49;
  const whole = Math.floor(more);
  const part = more - whole;
  const chances = new Float64Array(LONGEST);
  storedRow(number).forEach((stored, k) => {
    const chance = stored / 65535;
    chances[whole + k] += (1 - part) * chance;
    chances[whole + k + 1] += part * chance;
  });
  return { chances, mean: chances.reduce((sum, c, k) => sum + c * k, 0) };
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

/** Numbers of the results of a roll, each where it comes up first: the larger die first, then the smaller; and their mean rolls. */
function results(counts, [high, low], terms, means = null) {
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
        means?.push(meanOf(counts));
      }
      shift(counts, i, die, -1);
    }
  }
  return found;
}

const kept = new Map(); // what boards become

/** Of each roll the results of a board that may be played: that of the least mean first, then those within `slack`. */
function expand(board, terms, root) {
  const key = String(board);
  if (!root && kept.has(key)) return kept.get(key);
  const [most, slack] = root ? [MOST_FIRST, FIRST_SLACK] : [board.length > FAR ? MOST_BEYOND : MOST_OTHER, SLACK];
  const counts = Int32Array.from(board);
  const out = DICE.map((dice) => {
    const means = [];
    const found = results(counts, dice, terms, means).slice(0, MOST_FIRST);
    let best = 0;
    for (let x = 1; x < found.length; x++) if (means[x] < means[best]) best = x;
    let limit = means[best] + slack;
    if (found.length > most) limit = Math.min(limit, means.slice(0, MOST_FIRST).sort((a, b) => a - b)[most - 1]);
    const order = found.map((_, y) => (y === 0 ? best : y === best ? 0 : y));
    return order.filter((x) => means[x] <= limit).slice(0, most).map((x) => found[x]);
  });
  if (root) return out;
  if (kept.size === KEPT) kept.clear();
  kept.set(key, out);
  return out;
}

// -- the chains of both sides -----------------------------------------------------------------------------------

/** The number of a board among those with exact values, -1 where it is not among them. */
function smallOf(counts) {
  const side = Array.from(counts);
  return highest(side) <= HOME && chequers(side) <= ENDING ? rank(side, HOME) : -1;
}

/**
 * Return the chain of a side that has not rolled, only its board: what rolls make of it when it plays for few rolls. Boards
 * found after roll t are those from layers[t] to layers[t + 1]; chosen: boards played on, by rising means, those of layer t
 * from nexts[t] to nexts[t + 1]; near, weights: four boards chosen after as many rolls for each, counted from the first of
 * them, and the shares in which they make it up; shares: how often a board comes up, and how often it or one that it stands
 * for does; risks: about how many gammons and backgammons it loses; ends, results: the results of roll r of the board at place
 * c of `chosen` are boards results[ends[21 c + r]] to results[ends[21 c + r + 1] - 1], counted from the first of their layer.
 */
function startChain(side, points) {
  const chain = {
    terms: termsOf(points),
    points,
    layers: [0],
    nexts: [0, 1],
    chosen: [0],
    ends: [0],
    results: [],
    boards: [],
    numbers: [],
    means: [],
    within: [],
    gains: [],
    small: [],
    shares: [],
    risks: [0],
    near: [],
    weights: [],
  };
  addBoard(chain, rank(side, points));
  chain.shares[0].fill(1);
  chain.layers.push(1);
  return chain;
}

/** Add a board to a chain by its number; return its place. */
function addBoard(chain, number) {
  const board = Int8Array.from(unrank(number, chain.points));
  chain.boards.push(board);
  chain.means.push(meanOf(board));
  chain.within.push(distribution(board));
  chain.gains.push(gainOf(board));
  chain.small.push(smallOf(board));
  chain.shares.push(new Float32Array(2));
  chain.near.push(new Int32Array(NEAR));
  chain.weights.push(Float32Array.of(1, 0, 0, 0));
  return chain.numbers.push(number) - 1;
}

/** Build the chains of both sides until one is off or all boards have exact values; return the number of rolls. */
function build(ours, theirs) {
  const both = [ours, theirs];
  const hasPlays = ({ nexts }, t) => nexts[t + 1] > nexts[t];
  const isExact = ({ layers, small }, t) => small.slice(layers[t], layers[t + 1]).every((number) => number >= 0);
  let t = 0;
  while (both.every((chain) => hasPlays(chain, t))) {
    for (const chain of both) grow(chain, t);
    if (t === 0) lookAhead(ours);
    t++;
    setRisks(ours, t, finishes(theirs, t));
    setRisks(theirs, t, finishes(ours, t));
    for (const chain of both) choose(chain, t, t > 1 ? BOARDS : FIRST);
    if (both.every((chain) => isExact(chain, t))) break;
  }
  return t;
}

/** Find the boards after roll t + 1: the results of the boards of layer t that are played on. */
function grow(chain, t) {
  const { boards, chosen, ends, layers, nexts, results, shares, terms } = chain;
  const places = new Map();
  const first = layers[t + 1];
  for (const board of chosen.slice(nexts[t])) {
    const share = f(shares[board][1] / 36);
    expand(boards[board], terms, t === 0).forEach((list, roll) => {
      list.forEach((number, x) => {
        let place = places.get(number);
        if (place === undefined) places.set(number, (place = addBoard(chain, number)));
        if (x === 0) shares[place][0] += WAYS[roll] * share;
        results.push(place - first);
      });
      ends.push(results.length);
    });
  }
  layers.push(boards.length);
}

/**
 * Correct the distributions of boards after the first roll that have chequers beyond the table's points. Those of
 * `distribution` are estimated from pips and are wrong by up to a tenth of a roll. Here each is computed from the best results
 * of the 21 rolls, which have fewer chequers there.
 */
function lookAhead({ boards, layers, points, terms, within }) {
  const known = new Map();
  const rowOf = (number) => {
    if (!known.has(number)) known.set(number, distribution(unrank(number, points)));
    return known.get(number);
  };
  for (let x = layers[1]; x < layers[2]; x++) {
    if (highest(boards[x]) <= FAR) continue;
    const row = new Float32Array(within[x].length);
    expand(boards[x], terms, false).forEach(([best], roll) => {
      const part = f(WAYS[roll] / 36);
      const after = rowOf(best);
      for (let k = 1; k < row.length; k++) row[k] += f(part * after[k - 1]);
    });
    within[x] = row.map((chance) => (chance > f(1 - RARE) ? 1 : chance));
  }
}

/** Return the probabilities that a side, after t rolls, is off within 0, 1, 2, ... rolls. */
function finishes({ layers, numbers, shares, within }, t) {
  const row = new Float32Array(within[0].length).fill(1);
  for (let x = layers[t]; x < layers[t + 1]; x++) {
    const share = shares[x][0];
    if (share === 0 || !numbers[x]) continue;
    for (let k = 0; k < row.length; k++) row[k] -= f(share * f(1 - within[x][k]));
  }
  return row.map((chance) => (chance < RARE ? 0 : chance));
}

/** Set the risks of the boards after t rolls; finished: the probabilities that the other side is off, of `finishes`. */
function setRisks({ boards, gains, layers, risks }, t, finished) {
  for (let x = layers[t]; x < layers[t + 1]; x++) risks[x] = riskOf(boards[x], gains[x], finished);
}

/**
 * Return about how many gammons and backgammons a board loses. A side loses a gammon if the other is off before it has borne
 * off a chequer, which takes about one roll for each 49/6 pips to its home board, and one more. A backgammon likewise.
 */
function riskOf(board, gain, finished) {
  if (gain === 1) return 0;
  let [home, out] = [0, 0];
  for (let k = HOME; k < board.length; k++) {
    home += board[k] * (k + 1 - HOME);
    out += board[k] * Math.max(k + 1 - FAR_HOME, 0);
  }
  const gammon = interpolate(finished, 1 + home / PIPS);
  return gain === 2 ? gammon : f(gammon + interpolate(finished, out / PIPS));
}

/** Return a row, linear between whole numbers of rolls, at any number. */
function interpolate(row, rolls) {
  const low = Math.min(Math.floor(rolls), row.length - 2);
  const part = f(Math.min(rolls - low, 1));
  return f(row[low] + f(part * f(row[low + 1] - row[low])));
}

/** Choose at most `most` boards of the last layer, that after t rolls, to play on; every other lies between some of them. */
function choose({ chosen, layers, near, nexts, weights, numbers, means, within, risks, shares }, t, most) {
  const begin = layers[t];
  const n = numbers.length - begin;
  const rolls = within[0].length;
  let [low, high, best] = [rolls, 0, -1]; // between which rolls distributions of this layer may differ
  for (let x = begin; x < begin + n; x++) {
    if (!numbers[x]) continue;
    while (low > 0 && within[x][low - 1] > 0) low--;
    while (high < rolls && within[x][high] < 1) high++;
    if (best < 0 || shares[x][0] > shares[best][0]) best = x;
  }
  const [least, beside] = [new Float32Array(NEAR * n).fill(Infinity), new Int32Array(NEAR * n).fill(-1)];
  const distances = []; // of each board chosen to all
  const picked = [];
  while (best >= 0 && picked.length < most) {
    const mine = within[best];
    const distance = new Float32Array(n);
    for (let x = 0; x < n; x++) {
      const other = within[begin + x];
      let total = 0;
      for (let k = low; k < high; k++) {
        const apart = f(other[k] - mine[k]);
        total = f(total + f(apart * apart));
      }
      const risk = f(risks[begin + x] - risks[best]);
      let [d, i] = [f(total + f(f(GAMMON * GAMMON * risk) * risk)), picked.length];
      distance[x] = d;
      for (let y = NEAR * x; y < NEAR * x + NEAR; y++) {
        if (d < least[y]) {
          [d, least[y]] = [least[y], d];
          [i, beside[y]] = [beside[y], i];
        }
      }
    }
    picked.push(best);
    distances.push(distance);
    best = -1;
    let farthest = 0;
    for (let x = 0; x < n; x++) {
      const weighted = f(least[NEAR * x] * f(shares[begin + x][0] + LEAST_SHARE));
      if (weighted > farthest && least[NEAR * x] > SAME && numbers[begin + x]) [farthest, best] = [weighted, begin + x];
    }
  }
  const order = sorted(picked.map((x) => means[x])); // by rising means
  const place = [];
  order.forEach((x, k) => (place[x] = k));
  const first = chosen.length;
  for (const x of order) chosen.push(picked[x]);
  for (let x = 0; x < n; x++) {
    if (!numbers[begin + x]) continue;
    const [own, far] = [beside.subarray(NEAR * x, NEAR * x + NEAR), least.subarray(NEAR * x, NEAR * x + NEAR)];
    share(weights[begin + x], own, far, (i, j) => distances[own[j]][picked[own[i]] - begin]);
    for (let i = 0; i < NEAR; i++) near[begin + x][i] = place[Math.max(own[i], 0)];
    shares[chosen[first + near[begin + x][0]]][1] += shares[begin + x][0];
  }
  nexts.push(chosen.length);
}

/** out: the shares in which boards make one up that is `least` away, those that come nearest; apart(i, j): of boards. */
function share(out, near, least, apart) {
  let many = 1;
  while (many < NEAR && near[many] >= 0 && least[many] < f(least[0] + APART)) many++;
  if (least[0] < SAME || many === 1) return;
  const [gram, own] = [new Float32Array(NEAR * NEAR), new Float32Array(NEAR)];
  let trace = 0;
  for (let i = 0; i < many; i++) trace = f(trace + least[i]);
  trace = f(trace * f(STIFF / many));
  for (let i = 0; i < many; i++) {
    for (let j = 0; j < i; j++) gram[NEAR * i + j] = gram[NEAR * j + i] = f(f(least[i] + least[j]) - apart(i, j)) / 2;
    gram[NEAR * i + i] = least[i] + trace;
    own[i] = 1;
  }
  for (let i = 0; i < many; i++) {
    for (let j = i + 1; j < many; j++) {
      const factor = f(gram[NEAR * j + i] / gram[NEAR * i + i]);
      for (let k = i; k < many; k++) gram[NEAR * j + k] -= f(factor * gram[NEAR * i + k]);
      own[j] -= f(factor * own[i]);
    }
  }
  let total = 0;
  for (let i = many - 1; i >= 0; i--) {
    for (let j = i + 1; j < many; j++) own[i] -= f(gram[NEAR * i + j] * own[j]);
    own[i] /= gram[NEAR * i + i];
    total = f(total + own[i]);
  }
  for (let i = 0; i < many; i++) out[i] = own[i] / total;
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

const chosenOf = ({ nexts, chosen }, t) => chosen.slice(nexts[t], nexts[t + 1]);

/** Columns in single precision: those of doubling, values of winning, what winning instead of losing counts. */
function single(columns) {
  const of = (name, Type) => [0, 1].map((side) => Type.from(columns[name][side], Number));
  const [passed, add, times, won] = ["passed", "add", "times", "won"].map((name) => of(name, Float32Array));
  const wholes = Float32Array.from(columns.states, (_, c) => won[0][4 * c + 1] + won[1][4 * c + 1]);
  const cubeless = columns.states.indexOf(null);
  return { k: wholes.length, may: of("may", Uint8Array), source: of("source", Int32Array), passed, add, times, won, wholes, cubeless, ending: ending(columns) };
}

let exact = { key: null };

/** Exact values of all pairs of home boards of few chequers: by the numbers of both, the side on roll, and the column. */
function ending(columns) {
  const key = JSON.stringify(columns);
  if (exact.key === key) return exact.values;
  const [n, k] = [count(HOME, ENDING), columns.states.length];
  const sides = Array.from({ length: n }, (_, number) => unrank(number, HOME));
  const terms = termsOf(HOME);
  const both = { ends: [0], results: [] };
  for (const side of sides) {
    for (const dice of DICE) {
      if (pips(side)) both.results.push(...results(Int32Array.from(side), dice, terms));
      both.ends.push(both.results.length);
    }
  }
  const order = sides.map((_, number) => number).sort((a, b) => pips(sides[a]) - pips(sides[b])).slice(1);
  const values = new Float32Array(n * n * 2 * k);
  // what a pair is worth to the side that waits: (boards of the side that starts, of the other, K), and the other way round
  const [waiting, rolling] = [new Float64Array(n * n * k), new Float64Array(n * n * k)];
  for (let other = 1; other < n; other++) {
    for (let c = 0; c < k; c++) {
      waiting[other * k + c] = f(columns.won[0][4 * c + 1]);
      rolling[other * k + c] = f(columns.won[1][4 * c + 1]);
    }
  }
  const [total, best, value] = [new Float64Array(n * k), new Float64Array(n * k), new Float32Array(n * k)];
  const settle = (side, from, row, low, high, to, place) => {
    bestRolls(total, best, from, n * k, both, row, low * k, high * k);
    value.set(total);
    for (let x = low; x < high; x++) {
      for (let c = 0; c < k; c++) {
        let worth = value[(x - low) * k + c];
        values[((row * n + x) * 2 + side) * k + c] = worth;
        if (columns.may[side][c]) {
          const taken = columns.add[side][c] + columns.times[side][c] * value[(x - low) * k + columns.source[side][c]];
          worth = Math.max(worth, Math.min(taken, columns.passed[side][c]));
        }
        to[place(x) + c] = f(-worth);
      }
    }
  };
  for (const u of order) {
    settle(0, waiting, u, 1, n, rolling, (t) => (t * n + u) * k);
    for (const t of order) settle(1, rolling, t, u, u + 1, waiting, () => (u * n + t) * k);
  }
  exact = { key, values };
  return values;
}

/** The chances of a board on roll to be off before others, of `before` (rolls, n): theirs to be off a roll earlier. */
function chances(out, row, before) {
  const n = out.length;
  out.fill(1);
  for (let roll = 1; roll < row.length; roll++) {
    const here = f(row[roll] - row[roll - 1]);
    if (here === 0) continue;
    for (let i = 0; i < n; i++) out[i] -= f(here * before[roll * n + i]);
  }
}

/**
 * Make a line of values (K, n) and chances to win (n,) of a board on roll against n, by rising means: the values less half of
 * what the slope makes of the chance, the slopes, and the chances.
 */
function line(values, steep, wins, wholes, cubeless) {
  const n = wins.length;
  for (let c = 0; c < wholes.length; c++) {
    const whole = wholes[c];
    for (let i = 0; i < n; i++) {
      let [up, along] = [f(LEAN * whole), LEAN];
      const at = c * n + i;
      for (let by = 1; by <= BESIDE; by++) {
        for (const other of [i + by, i - by]) {
          if (other < 0 || other >= n) continue;
          const apart = f(wins[other] - wins[i]);
          up = f(up + f(apart * f(values[c * n + other] - values[at])));
          along = f(along + f(apart * apart));
        }
      }
      steep[at] = c === cubeless ? whole : Math.min(f(STEEPEST * whole), Math.max(0, f(up / along)));
    }
  }
  for (let c = 0; c < wholes.length; c++) for (let i = 0; i < n; i++) values[c * n + i] -= f(f(0.5 * steep[c * n + i]) * wins[i]);
}

/** out: the sum of four rows, each with its weight. */
function mix(out, rows, near, weights, width) {
  const [p, q, r, s] = [near[0] * width, near[1] * width, near[2] * width, near[3] * width];
  const [v, w, y, z] = [weights[0], weights[1], weights[2], weights[3]];
  for (let i = 0; i < width; i++) out[i] = f(f(f(v * rows[p + i]) + f(w * rows[q + i])) + f(y * rows[r + i])) + f(z * rows[s + i]);
}

/**
 * What the boards of a side after roll t are worth to it on roll, (its chosen, K, the other's chosen), and rows (boards, K, the
 * other's chosen) what each board after the roll is. The other side, with its boards after roll u, is on roll next, with
 * `lines` (its chosen, 2 K + 1, ours after roll t + 1), null where there are none; `side`: which of both this one is.
 */
function half(lines, mine, t, other, u, rules, side) {
  const { layers, nexts, numbers, near, weights, within, gains, small } = mine;
  const { k, wholes, ending } = rules;
  const [may, passed, source, add, times] = ["may", "passed", "source", "add", "times"].map((name) => rules[name][1 - side]);
  const [won, lost] = [rules.won[side], rules.won[1 - side]];
  const others = chosenOf(other, u);
  const [first, many, n] = [layers[t + 1], others.length, nexts[t + 2] - nexts[t + 1]];
  const [lanes, width, few] = [k * many, (2 * k + 1) * many, count(HOME, ENDING)];
  const faces = new Float32Array(lines ? n * width : 0); // the lines turned round: (ours, 2 K + 1, the other's chosen)
  for (let a = 0; a < n && lines; a++) {
    for (let q = 0; q < 2 * k + 1; q++) for (let b = 0; b < many; b++) faces[a * width + q * many + b] = lines[(b * (2 * k + 1) + q) * n + a];
  }
  const rolls = within[0].length;
  const still = new Float32Array(rolls * many);
  for (let roll = 0; roll < rolls; roll++) for (let b = 0; b < many; b++) still[roll * many + b] = 1 - other.within[others[b]][roll];
  const smalls = others.map((y) => other.small[y]);
  const rows = new Float64Array((layers[t + 2] - first) * lanes);
  const [values, wins, middle, mixed] = [lanes, many, many, width].map((size) => new Float32Array(size));
  const low = Float32Array.from({ length: lanes }, (_, i) => -won[4 * Math.floor(i / many) + other.gains[others[i % many]]]);
  for (let x = first; x < layers[t + 2]; x++) {
    const at = (x - first) * lanes;
    if (!numbers[x]) {
      for (let i = 0; i < lanes; i++) rows[at + i] = -low[i];
      continue;
    }
    chances(wins, within[x], still);
    if (lines) mix(mixed, faces, near[x], weights[x], width);
    for (let b = 0; b < many; b++) middle[b] = wins[b] - 0.5 * mixed[2 * lanes + b];
    for (let c = 0; c < k; c++) {
      const most = lost[4 * c + gains[x]];
      for (let b = 0; b < many; b++) {
        const i = c * many + b;
        const value = lines ? f(mixed[i] + f(mixed[lanes + i] * middle[b])) : f(f(wins[b] * wholes[c]) - won[4 * c + 1]);
        values[i] = Math.max(low[i], Math.min(most, value));
        if (small[x] >= 0 && smalls[b] >= 0) values[i] = ending[((smalls[b] * few + small[x]) * 2 + 1 - side) * k + c];
      }
    }
    for (let c = 0; c < k; c++) {
      for (let b = 0; b < many; b++) {
        let value = values[c * many + b];
        if (may[c]) value = Math.max(value, Math.min(f(add[c] + f(times[c] * values[source[c] * many + b])), passed[c]));
        rows[at + c * many + b] = -value;
      }
    }
  }
  const out = new Float32Array((nexts[t + 1] - nexts[t]) * lanes);
  const [total, best] = [new Float64Array(lanes), new Float64Array(lanes)];
  for (let r = nexts[t]; r < nexts[t + 1]; r++) {
    bestRolls(total, best, rows, lanes, mine, r, 0, lanes);
    out.set(total, (r - nexts[t]) * lanes);
  }
  return { out, rows };
}

/** The value of the start to the side on roll, by column; after: what each board after the first roll is worth to it. */
function game(ours, theirs, depth, columns, after) {
  const [rules, sides] = [single(columns), [ours, theirs]];
  const { k, wholes, cubeless } = rules;
  let [lines, onRoll] = [null, null];
  for (let h = 2 * depth - 1; h >= 0; h--) { // half rolls; the side has rolled t times, the other u
    const [side, t, u] = [h % 2, h >> 1, (h + 1) >> 1];
    const [mine, other] = [sides[side], sides[1 - side]];
    const [own, others] = [chosenOf(mine, t), chosenOf(other, u)];
    const n = others.length;
    if (!own.length || !n) {
      lines = null;
      continue;
    }
    const { out, rows } = half(lines, mine, t, other, u, rules, side);
    onRoll = out;
    if (h === 0) after.set(rows, k);
    const rolls = other.within[0].length;
    const before = new Float32Array(rolls * n);
    for (let roll = 1; roll < rolls; roll++) for (let b = 0; b < n; b++) before[roll * n + b] = other.within[others[b]][roll - 1];
    const width = (2 * k + 1) * n;
    lines = new Float32Array(own.length * width);
    own.forEach((board, a) => {
      const [values, steep, wins] = [0, 1, 2].map((q) => lines.subarray(a * width + q * k * n, a * width + Math.min((q + 1) * k, 2 * k + 1) * n));
      values.set(out.subarray(a * k * n, (a + 1) * k * n));
      chances(wins, mine.within[board], before);
      line(values, steep, wins, wholes, cubeless);
    });
  }
  return Float64Array.from(onRoll);
}
