// What a player asks of opened tables: the race, the cube, the plays of a roll, and all of it at once.
//
//     import { open } from "./bgfmt.js";
//     import { probe } from "./ask.js";
//     await probe([await open("ts_06x06.bd")], "0,1,0,0,1/0,1,1", { roll: "61" });
//
// The answers are the objects of the routes of the same names of `bgfmt serve`, without `asked`. Nothing is settled
// by exact calculation: `error` and `sure` say how far a number can be off. Nothing is estimated either: cube and plays
// are those of a two-sided table, and NotCoveredError says so of a race that only bgfmt itself answers. Which table
// answers is decided as bgfmt decides it, among several alike in the order given.

import * as bgfmt from "./bgfmt.js";

const { NotCoveredError, PositionError, chequers, contact, countsText, highest, parse, rank, sideOf } = bgfmt;

export const ROLLS = Array.from({ length: 6 }, (_, i) => Array.from({ length: i + 1 }, (_, j) => `${i + 1}${j + 1}`)).flat();
const FULL = 15; // only a side with all its chequers on the board can lose a gammon
const EXACT = 1e-12; // equities this near are not told apart
const EVERYWHERE = { gapPages: 1 << 20 }; // successors lie in one row of the table: one stretch, whatever lies between

// -- plays ------------------------------------------------------------------------------------------------------

/** The dice, the larger first, of "61", "6-1" or [6, 1]; PositionError for anything else. */
export function parseRoll(roll) {
  const dice = typeof roll === "string" ? Array.from(roll.replace(/[-, /]/g, "")) : Array.from(roll ?? [], String);
  if (dice.length !== 2 || dice.some((d) => !/^[1-6]$/.test(d))) {
    throw new PositionError(`a roll is two dice such as 61 or 6-1, not '${roll}'`);
  }
  return dice.map(Number).sort((a, b) => b - a);
}

/** Every different result of a roll for a side past all contact: [{notation, result, moves}], in bgfmt's order. */
export function plays(counts, roll) {
  const side = sideOf(counts);
  const [high, low] = parseRoll(roll);
  if (side.length > 24) throw new PositionError(`${countsText({ us: side })} has a chequer on the bar`);
  const start = [...side, ...new Array(24 - side.length).fill(0)];
  const orders = high === low ? [[high, high, high, high]] : [[high, low], [low, high]];
  let most = 0;
  let found = new Map();
  for (const dice of orders) {
    const [played, reached] = reach(start, dice);
    // as many dice as possible; where only one can be played, the larger, which is tried first
    if (played < most || played === 0 || (played === most && played === 1 && dice.length === 2)) continue;
    if (played > most) {
      most = played;
      found = new Map();
    }
    for (const [key, one] of reached) if (!found.has(key)) found.set(key, one);
  }
  return [...found.values()].map(({ board, moves }) => ({ notation: notation(moves), result: sideOf(board), moves }));
}

/** How many of the dice can be played, and the boards then, each with the first way to it. */
function reach(start, dice) {
  let reached = new Map([[start.join(), { board: start, moves: [] }]]);
  for (const [played, die] of dice.entries()) {
    const further = new Map();
    for (const { board, moves } of reached.values()) {
      const top = highest(board);
      for (let from = top; from > 0; from--) {
        const to = Math.max(0, from - die);
        if (!board[from - 1] || (!to && (top > 6 || (from < die && from !== top)))) continue;
        const after = board.slice();
        after[from - 1]--;
        if (to) after[to - 1]++;
        const key = after.join();
        if (!further.has(key)) further.set(key, { board: after, moves: [...moves, { from, to }] });
      }
    }
    if (!further.size) return [played, reached];
    reached = further;
  }
  return [dice.length, reached];
}

/** Moves as players write them: one chequer's moves are joined, the highest start first. */
function notation(moves) {
  const chains = [];
  for (const move of moves.slice().sort((a, b) => b.from - a.from)) {
    const chain = chains.find((c) => c[1] === move.from);
    if (chain) chain[1] = move.to;
    else chains.push([move.from, move.to]);
  }
  chains.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
  const counted = new Map();
  for (const [from, to] of chains) {
    const text = `${from}/${to || "off"}`;
    counted.set(text, (counted.get(text) ?? 0) + 1);
  }
  return [...counted].map(([text, n]) => (n > 1 ? `${text}(${n})` : text)).join(" ") || "no play";
}

/** Less is tidier: chequers left, pips outside the home board, gaps. */
function untidiness(side) {
  const outside = side.reduce((sum, c, i) => sum + Math.max(0, i - 5) * c, 0);
  return [chequers(side), outside, side.slice(0, 6).filter((c) => !c).length];
}

const EQUAL = 1e-11; // values nearer than this are not told apart
const near = (value) => Number(value.toFixed(11));
const compare = (a, b) => a.map((x, k) => x - b[k]).find(Boolean) ?? 0;

// -- which table answers, and how far it can be off --------------------------------------------------------------

const COLUMNS = ["cubeless", "owned", "centered", "opponent"];
// What bgfmt has measured, `bgfmt.bounds`: points, chequers, greatest error of each of the four equities; a table inside
// such a one errs no more. Then, for 1, 2, ... points, of mean rolls from distributions and from normal ones.
const MEASURED = [
  [1, 15, 8.53e-05, 0.0001039, 0.0001212, 0.0001003], [2, 15, 0.0001481, 0.0001723, 0.0002186, 0.0002051],
  [3, 10, 0.0001128, 0.0001749, 0.0001833, 0.0001843], [3, 15, 0.0001705, 0.0002018, 0.0002279, 0.0002427],
  [4, 4, 6.43e-05, 6.77e-05, 8.41e-05, 8.82e-05], [4, 9, 0.0001196, 0.0001749, 0.0001897, 0.0001843],
  [4, 12, 0.0001608, 0.0001799, 0.0002237, 0.00021], [5, 5, 8.05e-05, 8.01e-05, 0.0001162, 0.0001155],
  [5, 7, 0.0001125, 0.0001074, 0.0001524, 0.0001475], [5, 9, 0.0001355, 0.0001749, 0.0001898, 0.0001843],
  [6, 3, 6.52e-05, 6e-05, 8.41e-05, 8.41e-05], [6, 4, 8.29e-05, 7.12e-05, 8.95e-05, 9.01e-05],
  [6, 6, 0.000113, 0.0001061, 0.0001282, 0.0001249], [6, 7, 0.0001263, 0.0001182, 0.0001524, 0.0001538],
  [6, 8, 0.0001434, 0.0001322, 0.0001818, 0.0001769], [6, 9, 0.0001576, 0.0001749, 0.0002043, 0.0001996],
  [6, 10, 0.0001735, 0.0001749, 0.0002286, 0.0002213], [6, 11, 0.0001911, 0.0001799, 0.0002485, 0.0002534],
  [7, 5, 0.0001065, 9.72e-05, 0.0001325, 0.0001287],
  [7, 6, 0.000127, 0.0001194, 0.0001585, 0.0001535], [8, 4, 9.55e-05, 8.73e-05, 0.0001153, 0.0001042],
  [8, 5, 0.0001165, 0.0001088, 0.0001386, 0.0001313], [9, 3, 8.21e-05, 7.48e-05, 9.34e-05, 9.34e-05],
  [9, 4, 0.0001029, 9.47e-05, 0.0001153, 0.0001081], [10, 3, 8.69e-05, 7.9e-05, 9.34e-05, 9.34e-05],
  [12, 2, 7.41e-05, 6.95e-05, 7.98e-05, 8.08e-05], [12, 3, 0.0001034, 9.27e-05, 0.0001151, 0.0001179],
];
const MEANS = [8.47e-05, 8.53e-05, 8.99e-05, 0.0001245, 0.000167, 0.0002048, 0.0002482, 0.0002675];
const NORMAL_MEANS = [1.99e-06, 2.15e-06, 2.26e-06, 2.56e-06, 2.86e-06, 3.17e-06, 3.94e-06, 4.71e-06];

/** Greatest error of the four equities of a two-sided table. */
export function storedErrors(points, most) {
  const inside = MEASURED.filter(([p, c]) => points <= p && most <= c);
  if (!inside.length) return COLUMNS.map(() => 2.5e-5 * most + 4.5e-6 * points);
  return COLUMNS.map((_, k) => Math.min(...inside.map((m) => m[k + 2])));
}

/** Greatest error of the mean rolls of a one-sided table. */
export function meanError(points, normal = false) {
  const known = (normal ? NORMAL_MEANS : MEANS).slice(points - 1);
  return known.length ? Math.min(...known) : normal ? 2e-6 + 5e-7 * points : 6.5e-5 + 3.4e-5 * points;
}

const errorsOf = (table) => storedErrors(table.points, table.chequers);
const errorOfRolls = (table) => meanError(table.points, table.kind === "normal-distribution");

const uncovered = (table, side) => {
  const has = chequers(side);
  const text = countsText({ us: side });
  if (has > table.chequers) return `${text} has ${has} chequers, the table covers ${table.chequers}`;
  const top = highest(side);
  if (top <= table.points) return null;
  return `${text} has a chequer on ${top === 25 ? "the bar" : `point ${top}`}, the table covers points 1 to ${table.points}`;
};

/** The first of the tables that cover all sides, in the order of their keys. */
function best(tables, sides, key) {
  const fitting = tables.filter((t) => !sides.some((side) => uncovered(t, side)));
  return fitting.map((t) => [key(t), t]).sort((a, b) => compare(a[0], b[0]))[0]?.[1] ?? null;
}

function twoSided(tables, sides, cubeful = false) {
  const fitting = tables.filter((t) => t.kind === "two-sided" && (t.cubeful || !cubeful));
  return best(fitting, sides, (t) => [t.cubeful ? 0 : 1, Math.max(...errorsOf(t))]);
}

function oneSided(tables, sides, kinds = ["one-sided", "normal-distribution"]) {
  return best(tables.filter((t) => kinds.includes(t.kind)), sides, (t) => [kinds.indexOf(t.kind), t.gammon ? 0 : 1]);
}

const withDistributions = (tables, sides) => oneSided(tables, sides, ["one-sided"]);

function notCovered(tables, sides, wanted) {
  const why = tables.map((t) => sides.map((s) => uncovered(t, s)).find(Boolean) ?? `a ${t.kind} table does not say ${wanted}`);
  return new NotCoveredError([...new Set(why)].join("; ") || "no table was given");
}

/** The refusal of a race whose cube and plays no two-sided table has. */
function toEstimate(tables, sides) {
  const cubeless = tables.find((t) => t.kind === "two-sided" && !sides.some((side) => uncovered(t, side)));
  const why = cubeless ? `${cubeless.name} holds cubeless equities only` : notCovered(tables, sides, "both sides' equities").message;
  return new NotCoveredError(`${why}; the command bgfmt and the page of "bgfmt serve" estimate such a race`);
}

const listOf = (tables) => (Array.isArray(tables) ? tables : [tables]);

/** A position from text, {us, them} or counts; one whose other side is empty counts as one side. */
function asPosition(asked) {
  const said = typeof asked === "string" ? parse(asked) : Array.isArray(asked) || ArrayBuffer.isView(asked) ? { us: asked, them: null } : asked;
  if (!said || typeof said !== "object") throw new PositionError("a position is text, {us, them} or an array of counts");
  const us = sideOf(said.us);
  const them = said.them ? sideOf(said.them) : null;
  return { ...said, us, them: them && chequers(them) ? them : null };
}

/** A refusal of every option that a question does not have. */
function refuse(more) {
  const name = Object.keys(more).find((one) => more[one] !== undefined && more[one] !== null);
  if (name) throw new NotCoveredError(`'${name}' is not looked at here: tables alone answer for money`);
}

const MATCH = "a match score is not covered: these tables hold answers for money alone; bgfmt serve answers at a score";

/**
 * A position with the rules of money play that options say; stored tables hold no gammons, so Jacoby's changes nothing.
 * NotCoveredError at a match score, whether the identifier or an option says it.
 */
function ruled(position, { beavers, jacoby, cube_value, away, ...more }) {
  if (position.score || away) throw new NotCoveredError(MATCH);
  refuse(more);
  const rules = Object.entries({ beavers, jacoby, cube_value }).filter(([, value]) => value !== undefined && value !== null);
  return { ...position, ...Object.fromEntries(rules) };
}

function checkRace(position) {
  if (!position.them || !chequers(position.us)) {
    throw new PositionError(`${countsText(position)}: the game is over, one side has no chequers left`);
  }
  if (contact(position)) throw new NotCoveredError(`${countsText(position)}: the sides have not passed each other`);
}

/** Where an answer comes from, and the greatest error of its numbers. */
const origin = (table, errors) => ({ source: table.kind === "two-sided" ? "two-sided" : "one-sided", table: table.name, approximate: false, max_error: errors });

/** How the cube lies and what it shows, beside the position. */
const facts = (position, owner) => ({ position: countsText(position), cube: owner, cube_value: position.cube_value ?? 1 });

function ownerOf(position, asked) {
  const owner = asked ?? position.cube ?? "centered";
  if (!["centered", "owned", "opponent"].includes(owner)) {
    throw new PositionError(`the cube is centered, owned or opponent, not '${owner}'`);
  }
  return owner;
}

// -- races, in double precision ---------------------------------------------------------------------------------

/** Stored chances, exact: what the reader gives in float32 is turned back into the stored integers. */
const exact = (chances) => chances.map((c) => Math.round(c * 65535) / 65535);

function moments(chances) {
  let mean = 0;
  let square = 0;
  chances.forEach((c, roll) => {
    const stored = Math.round(c * 65535);
    mean += roll * stored;
    square += roll * roll * stored;
  });
  mean /= 65535;
  return [mean, Math.sqrt(Math.max(square / 65535 - mean * mean, 0))];
}

const within = (chances) => {
  let sum = 0;
  return chances.map((c) => Math.min((sum += c), 1));
};

function raceOf(table, found) {
  const { side, position_number, pips } = found;
  const known = { mean_rolls: errorOfRolls(table) };
  const [mean, std] = found.bearoff ? moments(found.bearoff) : [found.mean_rolls, found.std_rolls];
  const epc = mean * bgfmt.PIPS_PER_ROLL;
  const out = { side, position_number, pips, mean_rolls: mean, std_rolls: std, epc, wastage: epc - pips };
  if (!found.bearoff) return { ...out, gammon_mean_rolls: found.gammon_mean_rolls, gammon_std_rolls: found.gammon_std_rolls, ...origin(table, known) };
  if (found.gammon) [out.gammon_mean_rolls, out.gammon_std_rolls] = moments(found.gammon);
  out.bearoff = exact(found.bearoff);
  out.off_within = within(out.bearoff);
  if (found.gammon) {
    out.gammon = exact(found.gammon);
    out.gammon_saved_within = within(out.gammon);
  }
  return { ...out, ...origin(table, known) };
}

/** Sum in the order in which Python's library adds, so that equal plays stay equal and in one order. */
function sum(values) {
  if (values.length < 8) return values.reduce((a, b) => a + b, 0);
  const parts = values.slice(0, 8);
  let at = 8;
  for (; at + 8 <= values.length; at += 8) for (let k = 0; k < 8; k++) parts[k] += values[at + k];
  let out = parts[0] + parts[1] + (parts[2] + parts[3]) + (parts[4] + parts[5] + (parts[6] + parts[7]));
  for (; at < values.length; at++) out += values[at];
  return out;
}

/** Entry i becomes the chance of i rolls or more. */
function atLeast(chances) {
  const out = chances.slice();
  for (let k = out.length - 2; k >= 0; k--) out[k] += out[k + 1];
  return out;
}

const times = (a, b) => sum(a.map((x, k) => x * b[k]));

/** Chances of the side on roll from both sides' distributions: gnubg's formula, each side playing alone. */
function chancesOf(us, them, ours, theirs) {
  const needs = (side, answer) => (chequers(side) < FULL ? 0 : answer.gammon ? 1 : null);
  const won = needs(them, theirs);
  const lost = needs(us, ours);
  const [a, b] = [exact(ours.bearoff), exact(theirs.bearoff)];
  return {
    win: Math.min(times(a, atLeast(b)), 1),
    win_gammon: won ? times(a, atLeast(exact(theirs.gammon))) : won,
    lose_gammon: lost ? times(b, [...atLeast(exact(ours.gammon)).slice(1), 0]) : lost,
  };
}

const WORST_ERROR = 0.0139; // of the win chance, over all pairs of six chequers or fewer on six points
const MEAN_ERROR = 0.00088;

const cubelessOf = ({ win, win_gammon, lose_gammon }) => 2 * win - 1 + (win_gammon ?? 0) - (lose_gammon ?? 0);

async function estimated(tables, position, more) {
  checkRace(position);
  const { us, them } = position;
  const table = withDistributions(tables, [us, them]);
  if (!table) throw notCovered(tables, [us, them], "both sides' equities");
  const [ours, theirs] = await table.lookupMany([us, them], more);
  return { table, chances: chancesOf(us, them, ours, theirs) };
}

/** What one side, or each of both, needs to bear off. */
export async function race(tables, asked, { signal, ...more } = {}) {
  refuse(more);
  const all = listOf(tables);
  const position = asPosition(asked);
  const sides = position.them ? [position.us, position.them] : [position.us];
  const answers = [];
  for (const side of sides) {
    const table = oneSided(all, [side]);
    if (!table) throw notCovered(all, [side], "the rolls of one side");
    answers.push(raceOf(table, await table.lookup(side, { signal })));
  }
  if (sides.length === 1) return answers[0];
  const { source, table, approximate, max_error } = answers[0];
  let two = null;
  try {
    const { chances } = await estimated(all, position, { signal });
    two = { position: countsText(position), approximate: true, ...chances, cubeless: cubelessOf(chances), worst_error: WORST_ERROR, mean_error: MEAN_ERROR };
  } catch (error) {
    if (!(error instanceof NotCoveredError)) throw error;
  }
  return { position: countsText(position), on_roll: answers[0], other_side: answers[1], two_sided: two, source, table, approximate, max_error };
}

// -- cubes ------------------------------------------------------------------------------------------------------

const LABELS = {
  1: "no double, beaver", 2: "no double, take", 3: "double, no redouble, take", 4: "redouble, take", 5: "redouble, pass",
};

/** Chances and money equities before the roll, from the best two-sided table with cubeful equities. */
async function equities(all, position, more) {
  if (!position.them) throw new PositionError(`${countsText(position)} is one side; give both, the side on roll first: side / side`);
  checkRace(position);
  const { us, them } = position;
  const full = [us, them].some((side) => chequers(side) === FULL);
  const table = twoSided(all, [them, us], true);
  if (!table) throw toEstimate(all, [us, them]);
  const { win, cubeless, owned, centered, opponent } = await table.lookup(position, more);
  const known = errorsOf(table);
  const errors = { win: known[0] / 2, ...Object.fromEntries(COLUMNS.map((c, k) => [c, known[k]])) };
  return { win, win_gammon: 0, lose_gammon: 0, cubeless, owned, centered, opponent, gammons: full ? "ignored" : "none", ...origin(table, errors) };
}

/** A cube decision of the side on roll. */
function judge(owner, found, beaver) {
  const { source, table, approximate, max_error: errors } = found;
  const error = Math.max(errors.owned, errors.centered, errors.opponent);
  const may = owner !== "opponent";
  const [noDouble, taken, passed] = [found[owner], 2 * found.opponent, 1];
  const double = Math.min(taken, passed);
  const margin = double - noDouble;
  const takeMargin = passed - taken;
  const doubles = may && margin >= -EXACT;
  const takes = takeMargin >= -EXACT;
  const beavers = beaver && taken < -EXACT;
  const cashed = taken > 1 + 2 * error && noDouble <= 1 + error; // a double surely passed can cost nothing
  const sureDouble = !may || cashed || Math.abs(margin) > 3 * error;
  const nearest = beaver ? Math.min(Math.abs(takeMargin), Math.abs(taken)) : Math.abs(takeMargin);
  const sureTake = !may || nearest > 2 * error;
  const sure = sureDouble && sureTake;
  return {
    cube: owner,
    action: actionText(owner, { may, doubles, takes, beavers }),
    no_double: noDouble, double_take: taken, double_pass: passed,
    best: may ? Math.max(double, noDouble) : noDouble,
    doubles, takes, beavers, double_margin: margin, take_margin: takeMargin, tie_double: false, tie_take: false,
    sure_double: sureDouble, sure_take: sureTake, sure, error, settled: false,
    certainty: certaintyText({ may, sureDouble, sure, error }),
    source, table, approximate,
  };
}

function actionText(owner, { may, doubles, takes, beavers }) {
  if (!may) return "The other side owns the cube";
  const word = owner === "owned" ? "redouble" : "double";
  let text = doubles ? word[0].toUpperCase() + word.slice(1) : `No ${word}`;
  if (!doubles && !takes) text = `Too good to ${word}`; // with gammons only
  return `${text}, ${beavers ? "beaver" : takes ? "take" : "pass"}`;
}

/** A number with two digits, as Python's `:.2g` writes it. */
function short(value) {
  const [digits, power] = value.toExponential(1).split("e");
  return Number(power) < -4 ? `${Number(digits)}e-${power.slice(1).padStart(2, "0")}` : String(Number(value.toPrecision(2)));
}

function certaintyText({ may, sureDouble, sure, error }) {
  if (!may) return "no decision to make";
  if (sure) return "sure: further from flipping than the table can err";
  const what = sureDouble ? "the answer to it" : "the double";
  return `too close: ${what} lies within the error of ${short(error)}`;
}

function labelOf(centered, owned) {
  if (!centered.doubles) return centered.double_take < -EXACT ? 1 : 2;
  if (centered.take_margin <= EXACT) return 5;
  return owned.doubles ? 4 : 3;
}

/** Whether to double and to take: with the cube as it lies, in the middle, and owned by the side on roll. */
export async function cube(tables, asked, { cube: where, signal, ...more } = {}) {
  const position = ruled(asPosition(asked), more);
  const owner = ownerOf(position, where);
  const found = await equities(listOf(tables), position, { signal });
  const beaver = position.beavers !== false;
  const [centered, owned, now] = ["centered", "owned", owner].map((one) => judge(one, found, beaver));
  const label = labelOf(centered, owned);
  const { action, doubles, takes, beavers, sure, settled, certainty } = now;
  return {
    ...facts(position, owner), ...found, action, doubles, takes, beavers, sure, settled, certainty,
    centered_cube: centered, owned_cube: owned, label, label_text: LABELS[label],
  };
}

// -- plays, ranked ----------------------------------------------------------------------------------------------

function parseMeasure(measure) {
  if (measure === "money" || measure === "cubeless") return { one: false, rolls: null };
  if (measure === "mean") return { one: true, rolls: null };
  const found = /^off:(\d{1,3})$/.exec(measure);
  if (!found) throw new PositionError(`plays are ranked by money, cubeless, mean or off:n (n rolls), not '${measure}'`);
  return { one: true, rolls: Number(found[1]) };
}

/** Worth to the side that has just played of the other side's equities; `owner` is where the cube lies for it. */
function turned(found, owner) {
  if (owner === "cubeless") return -found.cubeless;
  if (owner === "owned") return -found.opponent;
  return -Math.max(owner === "centered" ? found.centered : found.owned, Math.min(1, 2 * found.opponent));
}

/**
 * What values the results of plays: {table, error, sign, values}, `values(results)` giving [value, cubeless value] of
 * each; `error` is the greatest of a value; `sign` is -1 where greater is better.
 */
function valuer(all, position, results, measure, owner, more) {
  const { one, rolls } = parseMeasure(measure);
  if (one) {
    const table = rolls === null ? oneSided(all, results) : withDistributions(all, results);
    if (!table) throw notCovered(all, results, "what one side needs");
    const worth = (a) => (rolls === null ? (a.bearoff ? moments(a.bearoff)[0] : a.mean_rolls) : sum(exact(a.bearoff).slice(0, rolls + 1)));
    const values = async (list) => (await table.lookupMany(list, more)).map((a) => [worth(a), 0]);
    return { table, error: errorOfRolls(table), sign: rolls === null ? 1 : -1, values };
  }
  checkRace(position);
  const { them } = position;
  const wanted = measure === "money" ? owner : "cubeless";
  const table = twoSided(all, [them, ...results], wanted !== "cubeless");
  if (!table) throw toEstimate(all, [position.us, them]);
  const [e0, e1, e2, e3] = errorsOf(table);
  const errors = { cubeless: e0, owned: e3, centered: Math.max(e2, 2 * e3), opponent: Math.max(e1, 2 * e3) };
  const row = rank(them, table.points) * table.positions;
  const values = async (list) => {
    const found = await table.lookupMany(list.map((r) => row + rank(r, table.points)), { ...EVERYWHERE, ...more });
    return found.map((a) => [turned(a, wanted), -a.cubeless]);
  };
  return { table, error: errors[wanted], sign: -1, values };
}

/** All plays of a roll ("all": of each of the 21 rolls), best first. */
export async function play(tables, asked, roll, { cube: where, measure, top, signal, ...rules } = {}) {
  const all = listOf(tables);
  const position = ruled(asPosition(asked), rules);
  const owner = ownerOf(position, where);
  if (top !== undefined && top !== null && !(Number.isInteger(top) && top >= 1)) throw new PositionError(`top is a whole number from 1, not ${top}`);
  const by = measure ?? (position.them ? "money" : "mean");
  const { one } = parseMeasure(by);
  if (!chequers(position.us)) throw new PositionError("there is nothing to play, all chequers are off");
  if (!position.them && !one) throw new PositionError(`'${by}' needs both sides, the one on roll first (side / side)`);
  if (position.them && contact(position)) checkRace(position);
  if (highest(position.us) === 25) throw new NotCoveredError(`${countsText({ us: position.us })} has a chequer on the bar`);
  const rolls = roll === "all" ? ROLLS : [parseRoll(roll ?? position.roll).join("")];
  const made = rolls.map((two) => plays(position.us, two));
  // each roll has the best table that covers all its results; what one table is asked for, it is asked at once
  const more = signal ? { signal } : {};
  const valuers = made.map((list) => valuer(all, position, list.map((p) => p.result), by, owner, more));
  const worth = new Map();
  for (const { table, values } of new Map(valuers.map((v) => [v.table, v])).values()) {
    const lists = made.filter((_, k) => valuers[k].table === table).flat();
    const results = new Map(lists.map((p) => [p.result.join(), p.result]));
    const found = await values([...results.values()]);
    worth.set(table, new Map([...results.keys()].map((key, k) => [key, found[k]])));
  }
  const ranked = made.map((list, place) => {
    const { table, error, sign } = valuers[place];
    const valued = list.map((p) => {
      const [value, bare] = worth.get(table).get(p.result.join());
      // of equal plays the better without cube, as when the other side cashes whatever is played; then the tidier
      return { ...p, value, key: one ? [sign * value] : [sign * near(value), sign * near(bare), ...untidiness(p.result)] };
    });
    valued.sort((a, b) => compare(a.key, b.key));
    const out = valued.map(({ notation: name, result, value }) => {
      const apart = Math.abs(value - valued[0].value);
      const loss = apart > EQUAL ? apart : 0;
      return { play: name, result: countsText({ us: result, them: position.them }), value, loss, close: loss <= 2 * error };
    });
    return top ? { count: out.length, plays: out.slice(0, top) } : { plays: out };
  });
  const answer = position.them ? { ...facts(position, owner), measure: by } : { position: countsText(position), measure: by };
  if (by !== "money") delete answer.cube;
  if (roll === "all") answer.rolls = ranked.map((list, k) => ({ roll: rolls[k], ...list }));
  else Object.assign(answer, { roll: rolls[0], ...ranked[0] });
  const { table, error } = valuers[0];
  return { ...answer, ...origin(table, { value: error }) };
}

// -- all of it --------------------------------------------------------------------------------------------------

/** A position as programs need it: counts, identifiers, pips, chequers, contact; `more` is what its XGID says beside it. */
export function describe(asked, more = {}) {
  const { us, them } = asPosition(asked);
  const both = { us, them: them ?? [0, 0, 0, 0, 0, 0] };
  return {
    us, them, counts: countsText({ us, them }),
    position_id: bgfmt.positionId(both), xgid: bgfmt.xgid(both, more),
    pips: [us, both.them].map(bgfmt.pips), chequers: [us, both.them].map(chequers), contact: contact(both),
  };
}

/** Everything the tables know of a position: cube, race and, with a roll ("all" for each of the 21), plays. */
export async function probe(tables, asked, { roll, cube: where, measure, top, signal, ...rules } = {}) {
  const all = listOf(tables);
  const position = asPosition(asked);
  if (!chequers(position.us)) throw new PositionError(`${countsText(position)}: the game is over, one side has no chequers left`);
  const dice = roll ?? position.roll ?? null;
  const sections = {
    cube: position.them ? cube(all, position, { cube: where, signal, ...rules }) : Promise.reject(new NotCoveredError("the cube needs both sides")),
    race: race(all, position, { signal }),
    play: dice === null ? null : play(all, position, dice, { cube: where, measure, top, signal, ...rules }),
  };
  const question = {
    position: typeof asked === "string" ? asked : countsText(position),
    roll: dice === null ? null : dice === "all" ? "all" : parseRoll(dice).join(""),
    cube: ownerOf(position, where),
    measure: measure ?? (!position.them ? "mean" : position.score || rules.away ? "match" : "money"),
    table: null,
  };
  const { crawford, ...rest } = { ...position.score, ...position, ...rules };
  const away = typeof rules.away === "string" ? rules.away.split("-").map(Number) : (rest.away ?? null);
  const told = { cube: question.cube, cube_value: rest.cube_value ?? 1, roll: question.roll === "all" ? null : question.roll };
  const played = { away, crawford: Boolean(crawford && crawford !== "false"), jacoby: rest.jacoby ?? false, beavers: rest.beavers ?? true };
  const out = { question, position: describe(position, { ...told, ...played }) };
  const missing = {};
  const settled = await Promise.allSettled(Object.values(sections));
  Object.keys(sections).forEach((name, k) => {
    const { status, value, reason } = settled[k];
    if (status === "rejected" && !(reason instanceof NotCoveredError)) throw reason;
    if (status === "rejected") missing[name] = reason.message;
    out[name] = status === "fulfilled" ? value : null;
  });
  if (!Object.keys(sections).some((name) => out[name])) throw new NotCoveredError(position.them ? missing.cube : missing.race);
  return { ...out, not_covered: missing };
}
