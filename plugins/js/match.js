// Match play: match equity tables, scores, what a cube is worth at a score, and decisions from chances to win the match.
// `ask.js` loads it when a question is about a match. The twins in Python: bgfmt/met and bgfmt/analysis/cube.py.

import { ROLLS, plays, shared } from "./ask.js";
import { NotCoveredError, PositionError, countsText, sideOf } from "./bgfmt.js";
import { singleGames } from "./calculate.js";

const { EQUAL, EVERYWHERE, MATCH, certaintyText, checkRace, compare, errorsOf, estimate, facts, hasGammons, isClose, near, solve, toEstimate, twoSided, untidiness } = shared;

const MAX_AWAY = 64; // the farthest score that an extended table answers
const DEVIATIONS = [1.24, 1.27, 1.47, 1.5, 1.6, 1.61, 1.66, 1.68, 1.7, 1.72];
const LAST_DEVIATION = 1.77;
const GAMMONS = 0.25; // of the games a post-Crawford trailer wins, where a table does not say
const MOST_CUBE = 2 ** 12;
const TIE = 1e-12; // two exact chances this near are equal
const OWNERS = ["owned", "opponent", "centered"];
const TOGETHER = 48; // columns calculated at once

// -- match equity tables ----------------------------------------------------------------------------------------

/** The complementary error function, to double precision. */
export function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2) {
    let [sum, term] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-18 * sum; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = x;
  for (let n = 120; n > 0; n--) fraction = x + n / 2 / fraction;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
}

const deviation = (away) => DEVIATIONS[away - 1] ?? LAST_DEVIATION;

/** A match equity table as `bgfmt met NAME --json` writes it; `extend`: with scores beyond it, up to 64-away. */
export class Met {
  constructor({ name, digest, even, pre, post }, { extend = false } = {}) {
    Object.assign(this, { name, digest, even, pre, post, extended: Boolean(extend), length: pre.length });
  }

  /** Refuses what is no score, and scores beyond the table. */
  check(away) {
    const longest = this.extended ? MAX_AWAY : this.length;
    for (const points of away) {
      if (points < 1) throw new PositionError(`a player must need at least 1 point, not ${points}`);
      if (points <= longest) continue;
      throw new NotCoveredError(`match equity table ${this.name} goes to ${longest}-away, not ${points}-away`);
    }
  }

  /** The chance to win the match of the player who needs away[0], after he wins these points, or loses them. */
  after(away, points, player) {
    const [mine, other] = [away[0] - Math.max(points, 0), away[1] - Math.max(-points, 0)];
    if (mine <= 0 || other <= 0) return mine <= 0 ? 1 : 0;
    if (!away.includes(1)) return player ? 1 - this.#before(other, mine) : this.#before(mine, other);
    return away[1] === 1 ? this.#last(player, mine) : 1 - this.#last(1 - player, other);
  }

  /** Player 0's chance before the Crawford game is over. */
  #before(first, second) {
    if (Math.max(first, second) <= this.length) return this.pre[first - 1][second - 1];
    const spread = ((deviation(first) ** 2 + deviation(second) ** 2) / 2) * (first + second);
    return erfc(-(second - first) / Math.sqrt(2 * spread)) / 2;
  }

  /** The chance of a player who trails after it; entries that are lacking: he doubles at once and wins a quarter as gammons. */
  #last(player, away) {
    const row = this.post[player].slice();
    while (row.length < away) row.push((GAMMONS * (row.at(-4) ?? 1) + (1 - GAMMONS) * (row.at(-2) ?? 1)) / 2);
    return row[away - 1];
  }
}

// -- scores -----------------------------------------------------------------------------------------------------

/** A score with its cube as the side on roll sees it: {away, met, crawford, value, owner, player}; sides 0 and 1. */
export class Score {
  constructor({ away, met, crawford = false, value = 1, owner = "centered", player = 0 }) {
    met.check(away);
    if (value > MOST_CUBE) throw new PositionError(`the cube's value must be 1, 2, 4, ... ${MOST_CUBE}, not ${value}`);
    Object.assign(this, { away, met, crawford, value, owner, player });
    this.state = { value, owner: OWNERS.indexOf(owner) };
  }

  get beyond() { return Math.max(...this.away) > this.met.length; }

  mayDouble(side, { value, owner } = this.state) {
    return !this.crawford && (owner === side || owner === 2) && this.away[side] > value;
  }

  live(state = this.state) { return this.mayDouble(0, state) || this.mayDouble(1, state); }

  /** The cube as it is now and all that it can become. */
  cubes() {
    const cubes = [this.state];
    for (const cube of cubes) { // grows while it is walked
      for (const side of [0, 1]) {
        const doubled = { value: 2 * cube.value, owner: 1 - side };
        if (this.mayDouble(side, cube) && placeOf(cubes, doubled) < 0) cubes.push(doubled);
      }
    }
    return cubes;
  }

  /** Chance to win the match of a side after it wins these points, or loses them if negative. */
  after(side, points) {
    return this.met.after(side ? [this.away[1], this.away[0]] : this.away, points, this.player ^ side);
  }

  /** The same as a value, 2 * chance - 1; what one side wins the other loses. */
  worth(side, points) { return side ? 1 - 2 * this.after(0, -points) : 2 * this.after(0, points) - 1; }

  ends() { return [this.after(0, -this.value), this.after(0, this.value)]; }

  /** The equity that puts losing a single game at the present cube at -1 and winning it at +1. */
  emg(mwc) {
    const [lose, win] = this.ends();
    return win === lose ? 0 : (2 * (mwc - lose)) / (win - lose) - 1;
  }

  emgLoss(loss) {
    const [lose, win] = this.ends();
    return win === lose ? 0 : (2 * loss) / (win - lose);
  }
}

const placeOf = (states, { value, owner }) => states.findIndex((s) => s && s.value === value && s.owner === owner);
const between = (lose, win) => [(win + lose) / 2, (win - lose) / 2];

/** What makes a cubeless value of the side on roll that of a cube that nobody may turn any more. */
function dead(score) {
  return between(score.worth(0, -score.value), score.worth(0, score.value));
}

/** The columns that a score needs, as `calculate` takes them; without gammons a dead cube has the cubeless one. */
export function matchColumns(score, gammons) {
  const states = score.cubes().filter((state) => gammons || score.live(state));
  if (!gammons) states.unshift(null);
  const columns = singleGames(states);
  states.forEach((state, k) => {
    if (!state) return;
    for (const side of [0, 1]) {
      for (const gain of gammons ? [1, 2, 3] : [1]) columns.won[side][4 * k + gain] = score.worth(side, gain * state.value);
      if (!score.mayDouble(side, state)) continue;
      columns.may[side][k] = true;
      columns.passed[side][k] = columns.won[side][4 * k + 1];
      const doubled = { value: 2 * state.value, owner: 1 - side };
      const place = placeOf(states, doubled);
      columns.source[side][k] = Math.max(0, place);
      if (place < 0) [columns.add[side][k], columns.times[side][k]] = between(score.worth(side, -doubled.value), score.worth(side, doubled.value));
    }
  });
  return columns;
}

// -- decisions --------------------------------------------------------------------------------------------------

/** {decision, plays}: the answer at a score from a race solved; plays(roll number): [counts, chance to win the match] each. */
export function matchAnswer(position, solved, columns, score, places = null) {
  const own = Math.max(0, placeOf(columns.states, score.state));
  const place = places ? places[own] : own; // among the columns of all scores of a grid
  const [add, times] = columns.states[own] ? [0, 1] : dead(score);
  const chance = (value) => (1 + add + times * value) / 2;
  let taken = null;
  if (score.mayDouble(0)) {
    const source = columns.source[0][own];
    taken = (1 + columns.add[0][own] + columns.times[0][own] * solved.onRoll[places ? places[source] : source]) / 2;
  }
  const win = columns.states[0] ? null : (1 + solved.onRoll[0]) / 2;
  const { source, error, usual } = solved;
  const decision = decide(position, score, chance(solved.onRoll[place]), taken, { source, error, usual, win });
  const k = columns.states.length;
  const plays = (roll) => solved.plays[roll].map((n) => [solved.boards[n], chance(solved.after[n * k + place])]);
  return { decision, plays };
}

/** How few digits Python's `:.1g` writes. */
function shortest(value) {
  const [digits, power] = value.toExponential(0).split("e");
  return Number(power) < -4 ? `${digits}e-${power.slice(1).padStart(2, "0")}` : String(Number(value.toPrecision(1)));
}

function barredBy(score) {
  return score.crawford ? "Crawford" : score.owner === "opponent" ? "Opponent owns" : "Dead";
}

/** The cube decision of the side on roll, with the fields of the answers; `error` is that of a chance. */
export function decide(position, score, noDouble, doubleTake, { source, table = null, error, usual = null, win = null }) {
  const may = doubleTake !== null;
  const passed = may ? score.after(0, score.value) : null;
  const best = may ? Math.max(noDouble, Math.min(doubleTake, passed)) : noDouble;
  const mwc = { no_double: noDouble, double_take: doubleTake, double_pass: passed, best };
  const emg = Object.fromEntries(Object.entries(mwc).map(([name, one]) => [name, one === null ? null : score.emg(one)]));
  const [gain, take] = may ? [Math.min(doubleTake, passed) - noDouble, passed - doubleTake] : [0, 0];
  const double = !may ? "unavailable" : Math.abs(gain) <= TIE ? "optional" : gain > 0 ? "yes" : "no";
  const response = !may ? null : Math.abs(take) <= TIE ? "either" : take > 0 ? "take" : "pass";
  const losses = may ? { no_double: Math.max(gain, 0), double: Math.max(-gain, 0), take: Math.max(-take, 0), pass: Math.max(take, 0) } : null;
  const lossEmg = losses && Object.fromEntries(Object.entries(losses).map(([name, one]) => [name, score.emgLoss(one)]));
  const exact = error <= TIE; // exact chances within `TIE` are equal
  const close = may && !exact && Math.min(Math.abs(gain), Math.abs(take)) <= 2 * error;
  const ties = { tieDouble: exact && double === "optional", tieTake: exact && response === "either" };
  const word = score.owner === "owned" ? "redouble" : "double";
  const tooGood = double === "no" && noDouble - passed > TIE;
  const first = { yes: `${word[0].toUpperCase()}${word.slice(1)}`, no: tooGood ? "Too good" : `No ${word}`, optional: `Optional ${word}` };
  const action = may ? `${first[double]}, ${response === "either" ? "take or pass" : response}` : barredBy(score);
  const gammons = hasGammons(position);
  return {
    decision: {
      mwc, emg, action, double, response, loss_mwc: losses, loss_emg: lossEmg, gammons: gammons ? "counted" : "none",
      error, close, cubeless_win: win, notes: notesOf({ score, may, word, gammons, close: close && usual === null, error }),
      met: { name: score.met.name, digest: score.met.digest }, ...(usual === null ? {} : { usual_error: usual }),
    },
    origin: { cube: score.owner, ...certaintyOf({ score, may, emg, error, usual, gammons, ...ties }), source, table, approximate: usual !== null },
  };
}

function notesOf({ score, may, word, gammons, close, error }) {
  const { away, value, met } = score;
  const notes = [];
  const barred = {
    Crawford: "There is no doubling in the Crawford game.",
    "Opponent owns": "The other side owns the cube.",
    Dead: `The cube is dead: ${value} ${value === 1 ? "point wins" : "points win"} the match already.`,
  };
  if (!may) notes.push(barred[barredBy(score)]);
  if (may && away[1] <= value) notes.push(`Automatic ${word}: losing this game loses the match anyway, so it risks nothing.`);
  if (may && away[0] <= 2 * value && 2 * value < away[1]) notes.push("After a take the other side has an automatic redouble.");
  if (gammons) notes.push("Gammons are possible and counted.");
  if (close && error > TIE) notes.push(`Closer than the error of ${shortest(2 * error)}.`);
  if (score.beyond) notes.push(`The score lies beyond ${met.name}, which was extended by a normal approximation.`);
  return notes;
}

/** What follows from the equities, where passing is worth 1 as for money. */
function certaintyOf({ score, may, emg, error: chance, usual, gammons, tieDouble, tieTake }) {
  const error = score.emgLoss(chance);
  const [noDouble, taken] = [emg.no_double, may ? emg.double_take : emg.no_double];
  const [gain, spare] = [Math.min(taken, 1) - noDouble, 1 - taken];
  const doubles = may && gain >= -TIE;
  const passed = taken > 1 + 2 * error && noDouble <= 1 + error && !(usual !== null && gammons);
  const sureDouble = !may || passed || Math.abs(gain) > 3 * error || tieDouble;
  const sure = sureDouble && (!may || Math.abs(spare) > 2 * error || tieTake);
  const certainty = { may, sureDouble, sure, error, reach: 3 * error, usual: usual === null ? null : score.emgLoss(usual), tieDouble, tieTake };
  return { doubles, takes: spare >= -TIE, sure, certainty };
}

// -- every score ------------------------------------------------------------------------------------------------

/** All cells of a grid, row by row: [{away, crawford}, ...]; at 1-away the Crawford game and the one after it. */
export function scoresUpTo(upto) {
  const cells = [];
  for (let mine = 1; mine <= upto; mine++) {
    for (let other = 1; other <= upto; other++) {
      if ((mine === 1) !== (other === 1)) cells.push({ away: [mine, other], crawford: true });
      cells.push({ away: [mine, other], crawford: false });
    }
  }
  return cells;
}

/** Columns of several questions side by side, the cubeless one shared: {columns, places}. */
function joined(parts) {
  const shared = parts[0].states[0] ? 0 : 1;
  const columns = { states: [], may: [[], []], passed: [[], []], source: [[], []], add: [[], []], times: [[], []], won: [[], []] };
  const places = parts.map((part) => {
    const begin = columns.states.length;
    const from = begin ? shared : 0;
    const own = part.states.map((_, k) => (k < shared ? k : begin + k - from));
    columns.states.push(...part.states.slice(from));
    for (const side of [0, 1]) {
      for (const name of ["may", "passed", "add", "times"]) columns[name][side].push(...part[name][side].slice(from));
      columns.source[side].push(...part.source[side].slice(from).map((k) => own[k]));
      columns.won[side].push(...part.won[side].slice(4 * from));
    }
    return own;
  });
  return { columns, places };
}

/** The questions of a grid, each of columns solved together: {total, batches: [{columns, cells: [{score, columns, places}]}]}. */
export function gridOf(scores, gammons) {
  const shared = gammons ? 0 : 1;
  const parts = scores.map((score) => ({ score, columns: matchColumns(score, gammons) }));
  const width = ({ columns }) => columns.states.length - shared;
  const batches = [];
  for (let used = Infinity; parts.length;) {
    const part = parts.shift();
    if (used + width(part) > TOGETHER) {
      batches.push([]);
      used = shared;
    }
    batches.at(-1).push(part);
    used += width(part);
  }
  const total = batches.flat().reduce((sum, part) => sum + width(part), shared);
  return { total, batches: batches.map((cells) => {
    const { columns, places } = joined(cells.map((cell) => cell.columns));
    return { columns, cells: cells.map((cell, k) => ({ ...cell, places: places[k] })) };
  }) };
}

/** The take points of a side that is doubled with the cube at `value`, with one that is dead after that and with a live one. */
function takePointsAt(score, value, side) {
  const [passed, lost, won] = [-value, -2 * value, 2 * value].map((points) => score.after(side, points));
  const dead = won > lost ? (passed - lost) / (won - lost) : 0;
  return [dead, score.away[side] <= 2 * value ? dead : dead * (1 - takePointsAt(score, 2 * value, 1 - side)[1])];
}

/** The same of the side that waits in a state at a score. */
export const takePoints = (state) => takePointsAt(scoreOf(state, state.cube), state.cube_value ?? 1, 1);

// -- answers ----------------------------------------------------------------------------------------------------

/** A score as js has it, from one of the page's or an identifier's. */
function scoreOf({ score, cube_value }, owner) {
  const { away, crawford, met, met_player, extend_met } = score;
  const table = new Met(met, { extend: extend_met });
  const cube = crawford ? {} : { value: cube_value ?? 1, owner };
  return new Score({ away, met: table, crawford, player: met_player ?? 0, ...cube });
}

/** {answer, score, from, plays}: the cube at a score, calculated, or with a dead cube from a table without one. */
export async function atScore(all, position, owner, calculation, more) {
  if (!position.them) throw new PositionError(`${countsText(position)} is one side; give both, the side on roll first: side / side`);
  const score = scoreOf(position, owner);
  checkRace(position);
  const columns = matchColumns(score, hasGammons(position));
  const solved = calculation && (await solve(calculation, position, columns, calculation.limits.match));
  const found = solved ? matchAnswer(position, solved, columns, score)
    : ((await withDeadCube(all, position, score, more)) ?? (await estimatedAt(calculation, position, score, columns)));
  if (!found) throw toEstimate(all, [position.us, position.them]);
  const { decision: { error, ...decision }, origin: { certainty, ...from } } = found.decision;
  const answer = { ...facts(position, owner), ...decision, ...from, certainty: certaintyText(certainty), max_error: { mwc: error } };
  return { answer, score, error, plays: found.plays };
}

/** The same as `matchAnswer` by an estimate; null where there is none. */
async function estimatedAt(calculation, position, score, columns) {
  const [lose, win] = score.ends();
  const solved = await estimate(calculation, position, columns, (win - lose) / 2);
  return solved && matchAnswer(position, solved, columns, score);
}

/** By the cubeless equities of a table, exact but for their rounding; null with a live cube or gammons. */
async function withDeadCube(all, position, score, more) {
  const { us, them } = position;
  const table = score.live() || hasGammons(position) ? null : twoSided(all, [them, us]);
  if (!table) return null;
  const [low, high] = score.ends();
  const win = (await table.lookup({ us, them }, more)).cubeless / 2 + 0.5;
  const error = ((high - low) / 2) * errorsOf(table)[0];
  const decision = decide(position, score, low + (high - low) * win, null, { source: table.kind, table: table.name, error, win });
  const each = async (roll) => {
    const results = plays(us, ROLLS[roll]).map((play) => play.result);
    const found = await table.lookupMany(results.map((side) => ({ us: them, them: side })), { ...EVERYWHERE, ...more });
    return results.map((side, k) => [side, low + (high - low) * (1 - (found[k].cubeless / 2 + 0.5))]);
  };
  return { decision, plays: each };
}

/** As `estimatedAt`, the progress being how many of the cells of a grid are done. */
function countingCells(calculation, all) {
  const { progress = () => {}, ...more } = calculation.more;
  let done = 0;
  return async (...asked) => {
    const found = await estimatedAt({ ...calculation, more }, ...asked);
    done += 1;
    progress(done, all);
    return found;
  };
}

/** The cube at all scores up to `upto` points away. */
export async function everyScore(all, position, owner, upto, calculation, { met, met_player, extend_met }) {
  if (!(Number.isInteger(upto) && upto >= 1 && upto <= 64)) throw new PositionError(`scores must be a whole number from 1 to 64, not ${upto}`);
  if (!position.them) throw new PositionError(`${countsText(position)} is one side; give both, the side on roll first: side / side`);
  if (!met) throw new NotCoveredError(MATCH);
  if (!calculation) throw new NotCoveredError("the cube at all scores must be calculated, but calculation is turned off");
  checkRace(position);
  const cells = scoresUpTo(upto);
  const scores = cells.map(({ away, crawford }) =>
    scoreOf({ score: { away, crawford, met, met_player, extend_met }, cube_value: position.cube_value }, owner));
  const { total, batches } = gridOf(scores, hasGammons(position));
  const solved = await solve(calculation, position, batches.map(({ columns }) => columns), calculation.limits.match, total);
  const estimates = solved ? null : countingCells(calculation, cells.length);
  const found = batches.flatMap((batch, k) => batch.cells.map(({ score, columns, places }) =>
    (solved ? matchAnswer(position, solved[k], columns, score, places) : estimates(position, score, columns))));
  const decided = (await Promise.all(found)).map((one) => one.decision.decision);
  const most = (name) => ({ mwc: Math.max(...decided.map((one) => one[name])) });
  const errors = { max_error: most("error"), ...(solved ? {} : { usual_error: most("usual_error") }) };
  return {
    ...facts(position, owner), scores: upto,
    cells: decided.map(({ usual_error, ...decision }, k) => ({ ...cells[k], ...decision })),
    met: { name: met.name, digest: met.digest },
    source: solved ? "calculation" : "estimate", table: null, approximate: !solved, ...errors,
  };
}

/** The plays of rolls at a score, with the chances to win the match that they leave. */
export async function matchPlays(all, position, owner, made, rolls, calculation, more) {
  const { answer, score, error, plays: worths } = await atScore(all, position, owner, calculation, more);
  const ranked = [];
  for (const [place, list] of made.entries()) {
    const chances = new Map((await worths(ROLLS.indexOf(rolls[place]))).map(([side, mwc]) => [sideOf(side).join(), mwc]));
    const most = Math.max(...chances.values());
    const valued = list.map(({ notation: play, result }) => {
      const mwc = chances.get(result.join());
      const lost = most - mwc > EQUAL ? most - mwc : 0;
      const loss = score.emgLoss(lost);
      const close = isClose(lost, error);
      const worth = { value: score.emg(mwc), loss, close, mwc, loss_mwc: lost, loss_emg: loss };
      return { key: [-near(mwc), ...untidiness(result)], play, result: countsText({ us: result, them: position.them }), ...worth };
    });
    valued.sort((a, b) => compare(a.key, b.key));
    ranked.push(valued.map(({ key, ...one }) => one));
  }
  const { source, table, approximate, met, usual_error: usual } = answer;
  const both = (mwc) => ({ mwc, value: score.emgLoss(mwc) });
  return { ranked, from: { met, source, table, approximate, max_error: both(error), ...(usual === undefined ? {} : { usual_error: both(usual) }) } };
}
