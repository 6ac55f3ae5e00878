// What a player asks of opened tables: the race, the cube, the plays of a roll, and all of it at once.
//
//     import { open } from "./bgfmt.js";
//     import { probe } from "./ask.js";
//     await probe([await open("ts_06x06.bd")], "0,1,0,0,1/0,1,1", { roll: "61" });
//
// The answers are the objects of the routes of the same names of `bgfmt serve`, without `asked` and without the
// notes of what was not looked at. With `calculate`, what no table covers or a table leaves too close is calculated from
// the rules, or estimated where that takes more than the limit; without it, tables alone answer. Which table answers is
// decided as bgfmt decides it, among several alike in the order given.

import * as bgfmt from "./bgfmt.js";
import { calculatedRace, chancesAlone, chancesOf, exact, moments, storedRace, sum } from "./races.js";

const { NotCoveredError, PositionError, chequers, contact, countsText, highest, parse, pips, rank, sideOf } = bgfmt;

export const ROLLS = Array.from({ length: 6 }, (_, i) => Array.from({ length: i + 1 }, (_, j) => `${i + 1}${j + 1}`)).flat();
const FULL = 15; // only a side with all its chequers on the board can lose a gammon
const EXACT = 1e-12; // equities this near are not told apart
const EVERYWHERE = { gapPages: 1 << 20 }; // successors lie in one row of the table: one stretch, whatever lies between

// -- plays ------------------------------------------------------------------------------------------------------

/** The dice, the larger first, of "61", "6-1" or [6, 1]; PositionError for anything else. */
export function parseRoll(roll) {
  const dice = typeof roll === "string" ? Array.from(roll.replace(/[-, /]/g, "")) : Array.from(roll ?? [], String);
  if (dice.length !== 2 || dice.some((d) => !/^[1-6]$/.test(d))) {
    throw new PositionError(`a roll must be two dice, such as 61 or 6-1, not '${roll}'`);
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

/** Whether the loss of a play lies within the error of two equal plays; equal values of exact numbers are a tie. */
const isClose = (loss, error) => error > EXACT && loss <= 2 * error;
const near = (value) => Number(value.toFixed(11));
const compare = (a, b) => a.map((x, k) => x - b[k]).find(Boolean) ?? 0;

// -- which table answers, and how far it can be off --------------------------------------------------------------

const COLUMNS = ["cubeless", "owned", "centered", "opponent"];
// What bgfmt has proved, `bgfmt/data/bounds.json`: points, chequers, bound of the error of each of the four equities; a
// table inside such a one errs no more. Then, for 1, 2, ... points, of mean rolls from distributions and normal ones.
const PROVED = [
  [1, 15, 9.99e-05, 0.000119, 0.0001539, 0.0001158], [2, 15, 0.0001647, 0.0002001, 0.0002525, 0.0002339],
  [3, 10, 0.0001244, 0.0001896, 0.0002008, 0.0002002], [3, 15, 0.0001904, 0.0002299, 0.0002654, 0.0002765],
  [4, 4, 6.85e-05, 7.02e-05, 8.63e-05, 9.46e-05], [4, 9, 0.0001333, 0.0001896, 0.0002044, 0.0002002],
  [4, 12, 0.0001776, 0.0001975, 0.0002496, 0.0002313], [4, 15, 0.0002188, 0.0002357, 0.0002937, 0.0002891],
  [5, 5, 8.85e-05, 8.8e-05, 0.0001232, 0.0001226], [5, 7, 0.0001252, 0.0001181, 0.0001643, 0.0001603],
  [5, 9, 0.0001481, 0.0001896, 0.0002154, 0.0002002], [5, 12, 0.0001979, 0.0002041, 0.0002918, 0.0002415],
  [5, 13, 0.0002163, 0.0002222, 0.0003092, 0.0002586], [5, 15, 0.0002493, 0.0002477, 0.0003528, 0.0002993],
  [6, 3, 7.02e-05, 6.27e-05, 8.84e-05, 8.63e-05], [6, 4, 9.04e-05, 7.85e-05, 9.68e-05, 9.74e-05],
  [6, 5, 0.000105, 0.0001007, 0.0001232, 0.0001226], [6, 6, 0.0001234, 0.0001154, 0.000147, 0.0001426],
  [6, 7, 0.0001404, 0.0001304, 0.0001739, 0.0001751], [6, 8, 0.0001596, 0.000147, 0.0002079, 0.0002007],
  [6, 9, 0.0001763, 0.0001896, 0.0002353, 0.0002293], [6, 10, 0.0001941, 0.0001925, 0.0002626, 0.0002546],
  [6, 11, 0.0002122, 0.0002049, 0.0002864, 0.0002916],
  [6, 12, 0.000231, 0.0002246, 0.0003197, 0.0003056],
  [6, 13, 0.0002492, 0.0002427, 0.0003457, 0.0003357],
  [6, 14, 0.0002716, 0.0002633, 0.0003654, 0.0003595],
  [6, 15, 0.0002897, 0.0002833, 0.0003949, 0.0003827],
  [7, 5, 0.0001162, 0.000109, 0.000151, 0.0001443],
  [7, 6, 0.0001419, 0.0001348, 0.0001797, 0.000171], [7, 7, 0.0001664, 0.0001586, 0.0002077, 0.000193],
  [7, 8, 0.0001882, 0.0001759, 0.0002364, 0.0002252], [8, 4, 0.0001037, 9.88e-05, 0.0001237, 0.0001171],
  [8, 5, 0.0001299, 0.0001229, 0.0001552, 0.0001458], [8, 6, 0.0001533, 0.0001436, 0.0001855, 0.0001746],
  [8, 7, 0.0001817, 0.0001657, 0.0002177, 0.0001996], [9, 3, 9.06e-05, 8.08e-05, 0.0001017, 0.0001017],
  [9, 4, 0.0001133, 0.000107, 0.0001304, 0.000122], [9, 5, 0.0001415, 0.0001284, 0.0001678, 0.000155],
  [9, 6, 0.000172, 0.0001539, 0.0002077, 0.0001888], [10, 3, 9.52e-05, 8.85e-05, 0.0001053, 0.0001017],
  [10, 4, 0.0001271, 0.0001145, 0.0001492, 0.0001362], [10, 5, 0.0001542, 0.0001426, 0.0001888, 0.0001682],
  [12, 2, 8.03e-05, 7.71e-05, 8.38e-05, 8.5e-05], [12, 3, 0.0001141, 0.0001015, 0.0001312, 0.0001331],
  [12, 4, 0.0001461, 0.0001375, 0.0001819, 0.0001652],
];
const MEANS = [8.47e-05, 8.53e-05, 8.99e-05, 0.0001245, 0.000167, 0.0002048, 0.0002482, 0.0002675];
const NORMAL_MEANS = [1.99e-06, 2.15e-06, 2.26e-06, 2.56e-06, 2.86e-06, 3.17e-06, 3.94e-06, 4.71e-06];

const provedFor = (points, most) => PROVED.filter(([p, c]) => points <= p && most <= c);

/** Greatest error of the four equities of a two-sided table, extrapolated for sizes of which none is proved. */
export function storedErrors(points, most) {
  const inside = provedFor(points, most);
  if (!inside.length) return COLUMNS.map(() => 2.6e-5 * most + 7.5e-6 * points);
  return COLUMNS.map((_, k) => Math.min(...inside.map((m) => m[k + 2])));
}

/** Greatest error of the mean rolls of a one-sided table. */
export function meanError(points, normal = false) {
  const known = (normal ? NORMAL_MEANS : MEANS).slice(points - 1);
  return known.length ? Math.min(...known) : normal ? 2e-6 + 5e-7 * points : 6.5e-5 + 3.4e-5 * points;
}

const PAIRS = ["two-sided", "two-sided-gammons", "two-sided-jacoby"];
const counts = (table) => table.kind !== "two-sided"; // whether it counts gammons
const errorsOf = (table) => (counts(table) ? COLUMNS.map(() => 2e-4) : storedErrors(table.points, table.chequers));
const UNPROVED = Symbol("the errors of an answer are not proved for a table of this size");
const isProved = (table) => !counts(table) && provedFor(table.points, table.chequers).length > 0;
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

/** The same, of a table that counts gammons by the rule that is played; where none can be lost the rule is nothing. */
function counting(tables, sides, { gammons, jacoby }) {
  const kinds = gammons ? [jacoby ? "two-sided-jacoby" : "two-sided-gammons"] : PAIRS.slice(1);
  return tables.find((t) => kinds.includes(t.kind) && t.cubeful && !sides.some((side) => uncovered(t, side))) ?? null;
}

/** The table that answers for both sides: where gammons can be lost first one that counts them. */
function pairs(tables, position, sides, cubeful = true) {
  const rule = { gammons: hasGammons(position), jacoby: Boolean(position.jacoby) };
  const first = counting(tables, sides, rule);
  return rule.gammons && first ? first : (twoSided(tables, sides, cubeful) ?? first);
}

const hasGammons = ({ us, them }) => [us, them].some((side) => chequers(side) === FULL);

function oneSided(tables, sides, kinds = ["one-sided", "normal-distribution"]) {
  return best(tables.filter((t) => kinds.includes(t.kind)), sides, (t) => [kinds.indexOf(t.kind), t.gammon ? 0 : 1]);
}

const withDistributions = (tables, sides) => oneSided(tables, sides, ["one-sided"]);

function notCovered(tables, sides, wanted) {
  const why = tables.map((t) => sides.map((s) => uncovered(t, s)).find(Boolean) ?? `a ${t.kind} table does not have ${wanted}`);
  return new NotCoveredError([...new Set(why)].join("; ") || "no table was given");
}

/** The refusal of a race whose cube and plays no two-sided table has, where nothing is calculated. */
function toEstimate(tables, sides) {
  const cubeless = tables.find((t) => t.kind === "two-sided" && !sides.some((side) => uncovered(t, side)));
  const why = cubeless ? `${cubeless.name} holds cubeless equities only` : notCovered(tables, sides, "both sides' equities").message;
  return new NotCoveredError(`${why}; where calculation is allowed such a race is estimated`);
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
  if (name) throw new NotCoveredError(`'${name}' is not an option of this query`);
}

const MATCH = "a match score is not covered without a match equity table: give `met`, what `bgfmt met NAME --json` writes";

const scoreText = /^(\d{1,2})-(\d{1,2})$/;

/**
 * A position with the rules that options say beside it: those of money play, or its score. NotCoveredError for a match
 * without `met`.
 */
function ruled(position, { beavers, jacoby, cube_value, away, crawford, met, met_player, extend_met, ...more }) {
  refuse(more);
  const said = { beavers, jacoby, cube_value };
  const out = { ...position, ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined && value !== null)) };
  if (away) {
    const points = typeof away === "string" ? (scoreText.exec(away)?.slice(1) ?? []) : Array.from(away);
    if (points.length !== 2) throw new PositionError(`a score must be the points that both sides need, the side on roll first, such as 5-9, not ${away}`);
    out.score = { away: points.map(Number), crawford: false };
  }
  if (crawford && !out.score) throw new PositionError("the Crawford game needs a match score");
  if (crawford && !out.score.away.includes(1)) throw new PositionError(`the Crawford game needs a side that is 1-away, not ${out.score.away.join("-")}`);
  if (!out.score) return out;
  const rule = Object.keys(said).slice(0, 2).find((name) => said[name]);
  if (rule) throw new PositionError(`${rule} is a rule of money play, and this is a match`);
  out.score = { ...out.score, crawford: crawford ?? out.score.crawford, met, met_player, extend_met };
  if (Math.min(...out.score.away) < 1) throw new PositionError(`both sides must need at least one point to win the match, not ${out.score.away.join("-")}`);
  if (!met) throw new NotCoveredError(MATCH);
  return out;
}

// -- calculation ------------------------------------------------------------------------------------------------

// Most pairs of boards times states of the cube calculated for one question: what a table leaves too close, what no
// table covers, the same beside a one-sided table, at a match score, for the rolls of one side.
const LIMITS = { close: 12_000_000, alone: 4_000_000, beside: 400_000, match: 24_000_000, rolls: 40_000_000 };
const KEPT = 6; // answers of a function that calculates, as the cube and the plays of one turn ask the same
const kept = new WeakMap();

/** What calculates for one question, null where nothing does. */
function calculating({ calculate, limit, progress, signal }) {
  if (!calculate) return null;
  const own = calculate === true ? direct : calculate;
  const limits = typeof limit === "number" ? Object.fromEntries(Object.keys(LIMITS).map((name) => [name, limit])) : { ...LIMITS, ...limit };
  if (!kept.has(own)) kept.set(own, new Map());
  return { own, limits, more: { progress, signal }, answers: kept.get(own) };
}

const direct = async (question, { progress }) => (await import("./estimate.js")).answer(question, progress);

/** What answers a question, or did so before. */
async function once({ answers }, key, make) {
  const found = answers.get(key) ?? make();
  answers.delete(key);
  answers.set(key, found);
  if (answers.size > KEPT) answers.delete(answers.keys().next().value);
  found.catch(() => answers.get(key) === found && answers.delete(key));
  return found;
}

/** A race solved, one answer or several as `columns` is; null beyond the limit. */
async function solve(calculation, { us, them }, columns, limit, total = columns.states.length) {
  const { TooMuchWorkError, noFarther } = await import("./calculate.js");
  try {
    // no fewer pairs of boards can be met
    if (!Array.isArray(columns) && Math.floor((noFarther(us) * noFarther(them)) / 2) * total > limit) throw new TooMuchWorkError({ us, them }, null, limit);
    const ask = async () => calculation.own({ us, them, columns, limit, total }, calculation.more);
    return await once(calculation, JSON.stringify([us, them, columns, limit]), ask);
  } catch (error) {
    if (!(error instanceof NotCoveredError)) throw error;
    return null;
  }
}

/** A race estimated; null where nothing calculates. */
async function estimate(calculation, { us, them }, columns, unit = 1) {
  if (!calculation) return null;
  return once(calculation, JSON.stringify([us, them, columns, unit]), async () => calculation.own({ us, them, columns, unit }, calculation.more));
}

const MONEY = ["cubeless", "centered", "owned", "opponent"]; // columns of a race solved for money

/** The money equities of a race, calculated; null where it may not be, or is too much. */
async function solvedMoney(calculation, position, limit) {
  if (!calculation || contact(position)) return null;
  const { moneyColumns } = await import("./calculate.js");
  return solve(calculation, position, moneyColumns(Boolean(position.jacoby)), limit);
}

/** The same of a race that no two-sided table covers, estimated where it is too much. */
async function solvedAnew(calculation, all, position) {
  if (!calculation || contact(position)) return null;
  const beside = withDistributions(all, [position.us, position.them]);
  const solved = await solvedMoney(calculation, position, beside ? calculation.limits.beside : calculation.limits.alone);
  const { moneyColumns } = await import("./calculate.js");
  return solved ?? estimate(calculation, position, moneyColumns(Boolean(position.jacoby)));
}

/** Equities as answers have them, of a race solved. */
function ofCalculation(position, { onRoll, error, usual, source }) {
  const found = Object.fromEntries(MONEY.map((name, k) => [name, onRoll[k]]));
  const gammons = hasGammons(position);
  const none = gammons ? null : 0;
  const names = gammons ? COLUMNS : ["win", ...COLUMNS];
  const each = (value) => Object.fromEntries(names.map((name) => [name, value]));
  const errors = { max_error: each(error), ...(usual === null ? {} : { usual_error: each(usual) }) };
  const win = gammons ? null : (found.cubeless + 1) / 2;
  return { win, win_gammon: none, lose_gammon: none, ...found, gammons: gammons ? "counted" : "none", source, table: null, approximate: usual !== null, ...errors };
}

/** What each side that a play leads to is worth in a column, by its counts. */
function solvedWorths(solved, column) {
  const k = solved.onRoll.length;
  return new Map(solved.boards.map((board, n) => [sideOf(board).join(), solved.after[n * k + column]]));
}

function checkRace(position) {
  if (!position.them || !chequers(position.us)) {
    throw new PositionError(`${countsText(position)}: the game is over, one side has no chequers left`);
  }
  if (contact(position)) throw new NotCoveredError(`${countsText(position)}: the sides have not passed each other`);
}

/** Where an answer comes from, and the greatest error of its numbers. */
const origin = (table, errors) => ({ source: PAIRS.includes(table.kind) ? table.kind : "one-sided", table: table.name, approximate: false, max_error: errors });

/** How the cube lies and what it shows, beside the position. */
function facts(position, owner) {
  const out = { position: countsText(position), cube: owner, cube_value: position.cube_value ?? 1 };
  return position.score ? { ...out, away: position.score.away, crawford: position.score.crawford } : out;
}

function ownerOf(position, asked) {
  const owner = asked ?? position.cube ?? "centered";
  if (!["centered", "owned", "opponent"].includes(owner)) {
    throw new PositionError(`the cube must be centered, owned or opponent, not '${owner}'`);
  }
  return owner;
}

// -- races --------------------------------------------------------------------------------------------------------

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

/** The chances of a side to be off, calculated; NotCoveredError where nothing is calculated. */
async function alone(calculation, all, side) {
  if (!calculation || highest(side) > 24) throw notCovered(all, [side], "the rolls of one side");
  const limit = calculation.limits.rolls;
  return once(calculation, JSON.stringify(["rolls", side, limit]), async () => calculation.own({ side, limit }, calculation.more));
}

/** The race of one side, from a table or else calculated. */
async function sideRace(all, side, calculation, more) {
  const table = oneSided(all, [side]);
  if (table) return storedRace(await table.lookup(side, more), origin(table, { mean_rolls: errorOfRolls(table) }));
  const found = await alone(calculation, all, side);
  return calculatedRace(side, found.points ? { ...found, max_error: { mean_rolls: meanError(found.points) } } : found);
}

/** The chances of both sides, each playing alone; null where only means are known. */
async function bothAlone(all, position, answers, calculation, more) {
  try {
    return (await estimated(all, position, more)).chances;
  } catch (error) {
    if (!(error instanceof NotCoveredError)) throw error;
  }
  if (contact(position) || !calculation) return null;
  const solved = await Promise.all([position.us, position.them].map((side) => alone(calculation, all, side)));
  if (solved.every(({ source }) => source === "calculation")) return chancesAlone(...solved);
  const known = answers.map(({ bearoff }) => bearoff && { bearoff });
  if (!known.every(Boolean)) return null;
  const gammons = hasGammons(position) ? { win_gammon: null, lose_gammon: null } : {};
  return { ...chancesAlone(...known), ...gammons };
}

/** What one side, or each of both, needs to bear off; with `calculate` also where no table covers it. */
export async function race(tables, asked, { signal, calculate, limit, progress, ...more } = {}) {
  refuse(more);
  const all = listOf(tables);
  const calculation = calculating({ calculate, limit, progress, signal });
  const position = asPosition(asked);
  if (!position.them) return sideRace(all, position.us, calculation, { signal });
  const answers = [];
  for (const side of [position.us, position.them]) answers.push(await sideRace(all, side, calculation, { signal }));
  const { source, table, approximate, max_error } = answers[0];
  const chances = await bothAlone(all, position, answers, calculation, { signal });
  const two = chances && { position: countsText(position), approximate: true, ...chances, cubeless: cubelessOf(chances), worst_error: WORST_ERROR, mean_error: MEAN_ERROR };
  return { position: countsText(position), on_roll: answers[0], other_side: answers[1], two_sided: two, source, table, approximate, max_error };
}

// -- cubes ------------------------------------------------------------------------------------------------------

const LABELS = {
  1: "no double, beaver", 2: "no double, take", 3: "double, no redouble, take", 4: "redouble, take", 5: "redouble, pass",
};

/** Chances and money equities before the roll, from the best two-sided table with cubeful equities, or calculated. */
async function equities(all, position, calculation, more) {
  if (!position.them) throw new PositionError(`${countsText(position)} is one side; give both, the side on roll first: side / side`);
  checkRace(position);
  const { us, them } = position;
  const table = pairs(all, position, [them, us]);
  if (!table) {
    const solved = await solvedAnew(calculation, all, position);
    if (!solved) throw toEstimate(all, [us, them]);
    const found = ofCalculation(position, solved);
    const bare = found.approximate && found.gammons === "none" ? twoSided(all, [them, us]) : null;
    if (!bare) return found;
    const { cubeless } = await bare.lookup({ us, them }, more);
    return { ...found, win: cubeless / 2 + 0.5, cubeless, table: bare.name };
  }
  const full = hasGammons(position);
  const counted = full && counts(table);
  const { cubeless, owned, centered, opponent } = await table.lookup(position, more);
  const known = errorsOf(table);
  const errors = { ...(counted ? {} : { win: known[0] / 2 }), ...Object.fromEntries(COLUMNS.map((c, k) => [c, known[k]])) };
  const chances = { win: counted ? null : cubeless / 2 + 0.5, win_gammon: counted ? null : 0, lose_gammon: counted ? null : 0 };
  return { ...chances, cubeless, owned, centered, opponent, gammons: counted ? "counted" : full ? "ignored" : "none", ...origin(table, errors), ...(isProved(table) ? {} : { [UNPROVED]: true }) };
}

/** A cube decision of the side on roll; `settled`: calculated because the error of a table could have turned it. */
function judge(owner, found, position, settled = false) {
  const { source, table, approximate, max_error: errors, usual_error: usualErrors } = found;
  const usual = usualErrors ? Math.max(...Object.values(usualErrors)) : null;
  const beaver = position.beavers !== false;
  const error = Math.max(errors.owned, errors.centered, errors.opponent);
  const may = owner !== "opponent";
  const [noDouble, taken, passed] = [found[owner], 2 * found.opponent, 1];
  const beavers = beaver && taken < -EXACT;
  const beavered = beaver ? 2 * taken : null;
  const replied = Math.min(taken, passed);
  const double = beaver ? Math.min(replied, beavered) : replied; // against the best reply
  const margin = double - noDouble;
  const takeMargin = passed - taken;
  const doubles = may && margin >= -EXACT;
  const takes = takeMargin >= -EXACT;
  // equal numbers prove a tie where they are exact and the game is short
  const proved = (value) => Math.abs(value) <= EXACT && error <= EXACT && fewRolls(position);
  const [tieDouble, tieTake] = [proved(margin), proved(takeMargin)];
  const gammons = approximate && found.gammons === "counted";
  const cashed = taken > 1 + 2 * error && noDouble <= 1 + error && !gammons; // a double surely passed can cost nothing
  // a double that a take makes wrong is made no better by a beaver; a beaver errs by four errors, a take by two
  const wrong = replied - noDouble < -3 * error;
  const reach = (beaver && taken < 2 * error ? 5 : 3) * error;
  const doubleDecided = !may || cashed || wrong || Math.abs(margin) > reach || tieDouble;
  const nearest = beaver ? Math.min(Math.abs(takeMargin), Math.abs(taken)) : Math.abs(takeMargin);
  const takeDecided = !may || nearest > 2 * error || tieTake || proved(taken);
  const unproved = may && found[UNPROVED] === true; // then nothing is sure
  const [sureDouble, sureTake] = [doubleDecided && !unproved, takeDecided && !unproved];
  const decided = doubleDecided && takeDecided;
  const sure = sureDouble && sureTake;
  return {
    cube: owner,
    action: actionText(owner, { may, doubles, takes, beavers, tieTake, optional: tieDouble && noDouble < 1 }),
    no_double: noDouble, double_take: taken, double_pass: passed, double_beaver: beavered,
    best: may ? Math.max(double, noDouble) : noDouble,
    doubles, takes, beavers, double_margin: margin, take_margin: takeMargin, tie_double: tieDouble, tie_take: tieTake,
    sure_double: sureDouble, sure_take: sureTake, sure, error, ...(usual === null ? {} : { usual_error: usual }), settled,
    certainty: certaintyText({ may, sureDouble: doubleDecided, sure: decided, error, reach, usual, tieDouble, tieTake, unproved }),
    source, table, approximate,
  };
}

function actionText(owner, { may, doubles, takes, beavers, tieTake, optional }) {
  if (!may) return "The other side owns the cube";
  const word = owner === "owned" ? "redouble" : "double";
  let text = doubles ? word[0].toUpperCase() + word.slice(1) : `No ${word}`;
  if (!doubles && !takes) text = `Too good to ${word}`; // with gammons only
  if (optional) text = `Optional ${word}`;
  return `${text}, ${tieTake ? "take or pass" : beavers ? "beaver" : takes ? "take" : "pass"}`;
}

/** What is added to an estimate whose options differ by no more than `bound`. */
export const tooClose = (bound) => `: too close to call, within ${errorText(bound)} (99.9 %)`;

/** A number with two digits, as Python's `:.2g` writes it. */
function short(value) {
  const [digits, power] = value.toExponential(1).split("e");
  return Number(power) < -4 ? `${Number(digits)}e-${power.slice(1).padStart(2, "0")}` : String(Number(value.toPrecision(2)));
}

const NOT_PROVED = "not proved for a table of this size";

/** A bound of an error, rounded up to three decimals, or to one digit if that is finer: 0.0055 is "0.006". */
export function errorText(error) {
  if (error <= 0) return "0";
  const digits = Math.max(3, -Math.floor(Math.log10(error)));
  const text = (Math.ceil(error * 10 ** digits - 1e-9) / 10 ** digits).toFixed(digits);
  return text.replace(/\.?0+$/, "");
}

/**
 * How certain an action is; `sureDouble`, `sure`: whether the error cannot turn it, be that proved or `unproved`; `reach`: the
 * error of a double's gain.
 */
function certaintyText({ may, sureDouble, sure, error, reach, usual, tieDouble, tieTake, unproved = false }) {
  if (!may) return "no decision to make";
  const within = sureDouble ? 2 * error : reach;
  if (usual !== null) return `estimate, ±${errorText(usual)} (95 %)${sure ? "" : tooClose(within)}`;
  const said = [];
  if (tieTake) said.push("taking and passing cost exactly the same");
  if (tieDouble) said.push("doubling and rolling on are worth exactly the same");
  if (!sure) said.push(`too close to call: ${sureDouble ? "the answer to it" : "the double"} lies within the error of ${short(within)}`);
  else if (unproved) said.push(`${NOT_PROVED}: the margin exceeds the error measured on other tables, ${short(error)}`);
  else if (!said.length) said.push(error <= EXACT ? "exact" : "certain: the margin exceeds the table's maximum error");
  return said.join("; ");
}

const FEW = 7; // rolls after which a game must be over for a tie to be proved

/** Whether the game is over after a few rolls, whatever is rolled and played: then numbers within 1e-12 are equal. */
function fewRolls({ us, them }) {
  const [ours, theirs] = [us, them].map(mostRolls);
  return Math.min(2 * ours - 1, 2 * theirs) <= FEW;
}

const mostRolls = (side) => (highest(side) > 24 ? FEW + 1 : ([0, 1, 2, 3, 4].find((n) => offWithin(side, n)) ?? FEW));

function offWithin(side, rolls) {
  const all = chequers(side);
  if (!all || pips(side) > 3 * rolls || all > 2 * rolls) return !all;
  return ROLLS.every((roll) => plays(side, roll).every(({ result }) => offWithin(result, rolls - 1)));
}

function labelOf(centered, owned) {
  if (!centered.doubles) return centered.double_take < -EXACT ? 1 : 2;
  if (centered.take_margin <= EXACT) return 5;
  return owned.doubles ? 4 : 3;
}

/**
 * Whether to double and to take: for money with the cube as it lies, in the middle, and owned by the side on roll; at a
 * score with the chances to win the match; with `scores` at all scores up to that many points away; with `insight` what lies
 * behind it, where it is not estimated.
 */
export async function cube(tables, asked, { cube: where, signal, calculate, limit, progress, scores, insight, ...more } = {}) {
  const calculation = calculating({ calculate, limit, progress, signal });
  const all = listOf(tables);
  const position = ruled(asPosition(asked), more);
  const owner = ownerOf(position, where);
  if (insight && !scores) {
    const options = { signal, calculate, limit, progress };
    const answer = await cube(all, position, { cube: owner, ...options, ...more });
    const { met, extend_met, met_player: player = 0 } = more;
    const state = { cube_value: 1, ...position, cube: owner, player };
    const behind = answer.approximate ? null : await (await import("./insight.js")).insight(all, state, { ...options, met, extend_met });
    return behind ? { ...answer, insight: behind } : answer;
  }
  const match = scores || position.score ? await import("./match.js") : null;
  if (scores) return match.everyScore(all, position, owner, Number(scores), calculation, more);
  if (position.score) return (await match.atScore(all, position, owner, calculation, { signal })).answer;
  const found = await equities(all, position, calculation, { signal });
  const decided = async (one) => {
    const action = judge(one, found, position);
    const decided = action.sure || action.certainty.startsWith(NOT_PROVED);
    if (!calculation || decided || action.error <= EXACT || action.approximate) return action;
    const better = await solvedMoney(calculation, position, calculation.limits.close);
    return better ? judge(one, ofCalculation(position, better), position, true) : action;
  };
  const [centered, owned, now] = [await decided("centered"), await decided("owned"), await decided(owner)];
  const label = labelOf(centered, owned);
  const { action, doubles, takes, beavers, sure, settled, certainty } = now;
  return {
    ...facts(position, owner), ...found, action, doubles, takes, beavers, sure, settled, certainty,
    centered_cube: centered, owned_cube: owned, label, label_text: LABELS[label],
  };
}

// -- plays, ranked ----------------------------------------------------------------------------------------------

function parseMeasure(measure) {
  if (["money", "cubeless", "match"].includes(measure)) return { one: false, rolls: null };
  if (measure === "mean") return { one: true, rolls: null };
  const found = /^off:(\d{1,3})$/.exec(measure);
  if (!found) throw new PositionError(`a measure must be money, match, cubeless, mean or off:n (n rolls), not '${measure}'`);
  return { one: true, rolls: Number(found[1]) };
}

/** Worth to the side that has just played of the other side's equities; `owner` is where the cube lies for it. */
function turned(found, owner) {
  if (owner === "cubeless") return -found.cubeless;
  if (owner === "owned") return -found.opponent;
  return -Math.max(owner === "centered" ? found.centered : found.owned, Math.min(1, 2 * found.opponent));
}

/**
 * What values the results of plays: {key, from, error, sign, values}, `values(results)` giving [value, cubeless value] of
 * each; `key` is what is asked, `from` what the answer says of it; `error` is the greatest of a value; `sign` is -1 where
 * greater is better.
 */
async function valuer(all, position, results, measure, owner, calculation, more) {
  const { one, rolls } = parseMeasure(measure);
  if (one) {
    const table = rolls === null ? oneSided(all, results) : withDistributions(all, results);
    if (!table) throw notCovered(all, results, "what one side needs");
    const worth = (a) => (rolls === null ? (a.bearoff ? moments(a.bearoff)[0] : a.mean_rolls) : sum(exact(a.bearoff).slice(0, rolls + 1)));
    const values = async (list) => (await table.lookupMany(list, more)).map((a) => [worth(a), 0]);
    const error = errorOfRolls(table);
    return { key: table, from: origin(table, { value: error }), error, sign: rolls === null ? 1 : -1, values };
  }
  checkRace(position);
  const { them } = position;
  const wanted = measure === "money" ? owner : "cubeless";
  const table = pairs(all, position, [them, ...results], wanted !== "cubeless");
  if (!table) {
    const solved = await solvedAnew(calculation, all, position);
    if (!solved) throw toEstimate(all, [position.us, them]);
    const [worth, bare] = [wanted, "cubeless"].map((name) => solvedWorths(solved, MONEY.indexOf(name)));
    const { source, error, usual } = solved;
    const about = usual === null ? {} : { usual_error: { value: usual } };
    const values = async (list) => list.map((side) => [worth.get(side.join()), bare.get(side.join())]);
    return { key: solved, from: { source, table: null, approximate: usual !== null, max_error: { value: error }, ...about }, error, sign: -1, values };
  }
  const [e0, e1, e2, e3] = errorsOf(table);
  const errors = { cubeless: e0, owned: e3, centered: Math.max(e2, 2 * e3), opponent: Math.max(e1, 2 * e3) };
  const row = rank(them, table.points) * table.positions;
  const values = async (list) => {
    const found = await table.lookupMany(list.map((r) => row + rank(r, table.points)), { ...EVERYWHERE, ...more });
    return found.map((a) => [turned(a, wanted), -a.cubeless]);
  };
  return { key: table, from: origin(table, { value: errors[wanted] }), error: errors[wanted], sign: -1, values };
}

/** All plays of a roll ("all": of each of the 21 rolls), best first. */
export async function play(tables, asked, roll, { cube: where, measure, top, signal, calculate, limit, progress, ...rules } = {}) {
  const calculation = calculating({ calculate, limit, progress, signal });
  const all = listOf(tables);
  const position = ruled(asPosition(asked), rules);
  const owner = ownerOf(position, where);
  if (top !== undefined && top !== null && !(Number.isInteger(top) && top >= 1)) throw new PositionError(`top must be a whole number from 1, not ${top}`);
  const by = measure ?? (!position.them ? "mean" : position.score ? "match" : "money");
  const { one } = parseMeasure(by);
  if (!chequers(position.us)) throw new PositionError("all chequers are off, there is nothing to play");
  if (!position.them && !one) throw new PositionError(`'${by}' needs both sides, the one on roll first (side / side)`);
  if (by === "match" && !position.score) throw new PositionError("a money game has no score; give one, such as 3-5");
  if (position.them && contact(position)) checkRace(position);
  if (highest(position.us) === 25) throw new NotCoveredError(`${countsText({ us: position.us })} has a chequer on the bar`);
  const rolls = roll === "all" ? ROLLS : [parseRoll(roll ?? position.roll).join("")];
  const made = rolls.map((two) => plays(position.us, two));
  const more = signal ? { signal } : {};
  const { ranked, from } = by === "match"
    ? await (await import("./match.js")).matchPlays(all, position, owner, made, rolls, calculation, more)
    : await rankedPlays(all, position, owner, made, by, calculation, more);
  const lists = ranked.map((list) => (top ? { count: list.length, plays: list.slice(0, top) } : { plays: list }));
  const answer = position.them ? { ...facts(position, owner), measure: by } : { position: countsText(position), measure: by };
  if (by !== "money" && by !== "match") delete answer.cube;
  if (roll === "all") answer.rolls = lists.map((list, k) => ({ roll: rolls[k], ...list }));
  else Object.assign(answer, { roll: rolls[0], ...lists[0] });
  return { ...answer, ...from };
}

/** The plays of each roll by equities, rolls or chances; each roll has the best table that covers all its results. */
async function rankedPlays(all, position, owner, made, by, calculation, more) {
  const valuers = [];
  for (const list of made) valuers.push(await valuer(all, position, list.map((p) => p.result), by, owner, calculation, more));
  const worth = new Map();
  for (const { key, values } of new Map(valuers.map((v) => [v.key, v])).values()) { // what one is asked for, it is asked at once
    const lists = made.filter((_, k) => valuers[k].key === key).flat();
    const results = new Map(lists.map((p) => [p.result.join(), p.result]));
    const found = await values([...results.values()]);
    worth.set(key, new Map([...results.keys()].map((result, k) => [result, found[k]])));
  }
  const { one } = parseMeasure(by);
  const ranked = made.map((list, place) => {
    const { key, error, sign } = valuers[place];
    const valued = list.map((p) => {
      const [value, bare] = worth.get(key).get(p.result.join());
      // of equal plays the better without cube, as when the other side cashes whatever is played; then the tidier
      return { ...p, value, key: one ? [sign * value] : [sign * near(value), sign * near(bare), ...untidiness(p.result)] };
    });
    valued.sort((a, b) => compare(a.key, b.key));
    return valued.map(({ notation: name, result, value }) => {
      const apart = Math.abs(value - valued[0].value);
      const loss = apart > EQUAL ? apart : 0;
      return { play: name, result: countsText({ us: result, them: position.them }), value, loss, close: isClose(loss, error) };
    });
  });
  return { ranked, from: valuers[0].from };
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
    race: race(all, position, { signal, calculate: rules.calculate, limit: rules.limit, progress: rules.progress }),
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

/** What match.js shares with this module, no part of its interface. */
export const shared = { EVERYWHERE, MATCH, certaintyText, checkRace, EQUAL, compare, errorsOf, estimate, facts, hasGammons, isClose, near, solve, toEstimate, twoSided, untidiness };
