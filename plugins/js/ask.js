// What a player asks of opened tables: the race, the cube, the plays of a roll, and all of it at once.
//
//     import { open } from "./bgfmt.js";
//     import { probe } from "./ask.js";
//     await probe([await open("ts_06x06.bd")], "0,1,0,0,1/0,1,1", { roll: "61" });
//
// The answers are the objects of the routes of the same names of `bgfmt serve`, without `asked`. Nothing is settled
// by exact calculation: `error` and `sure` say how far a number can be off. Which table answers is decided as bgfmt
// decides it: two-sided before one-sided, in the order given.

import * as bgfmt from "./bgfmt.js";

const { NotCoveredError, PositionError, chequers, contact, countsText, highest, parse, rank, sideOf } = bgfmt;

export const ROLLS = Array.from({ length: 6 }, (_, i) => Array.from({ length: i + 1 }, (_, j) => `${i + 1}${j + 1}`)).flat();
const FULL = 15; // only a side with all its chequers on the board can lose a gammon
const EXACT = 1e-9; // equities this near are equal
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

/** Every different result of a roll for a side past all contact: [{notation, result, moves}], in gnubg's order. */
export function plays(counts, roll) {
  const side = sideOf(counts);
  const [high, low] = parseRoll(roll);
  if (side.length > 24) throw new PositionError(`${countsText({ us: side })} has a chequer on the bar`);
  const points = [...side, ...new Array(24 - side.length).fill(0)];
  const found = new Map();
  const walk = (board, dice, limit, moves) => {
    const top = highest(board);
    if (!dice.length || !top) {
      const key = board.join();
      if (!found.has(key)) found.set(key, { notation: notation(moves), result: sideOf(board), moves });
      return;
    }
    const die = dice[0];
    for (let point = Math.min(limit ?? 24, top); point > 0; point--) {
      const inside = point > die;
      const off = top <= 6 && (point === die || (point < die && point === top));
      if (!board[point - 1] || !(inside || off)) continue;
      const after = board.slice();
      after[point - 1]--;
      if (inside) after[point - die - 1]++;
      walk(after, dice.slice(1), limit === null ? null : point, [...moves, { from: point, to: inside ? point - die : 0 }]);
    }
  };
  if (high === low) walk(points, [high, high, high, high], 24, []);
  else for (const dice of [[high, low], [low, high]]) walk(points, dice, null, []);
  return [...found.values()];
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

// -- which table answers, and how far it can be off --------------------------------------------------------------

const KNOWN_ERRORS = [[6, [0.000113, 0.000106, 0.000128, 0.000125]], [8, [0.000143, 0.000132, 0.000182, 0.000177]]];
const COLUMNS = ["cubeless", "owned", "centered", "opponent"];

/** Greatest error of the four equities of a two-sided table. */
function errorsOf({ points, chequers: most }) {
  for (const [size, errors] of KNOWN_ERRORS) if (points <= 6 && most <= size) return errors;
  const scale = Math.max(1, most / 8, (points * most) / 48);
  return COLUMNS.map(() => Math.max(...KNOWN_ERRORS[1][1]) * scale);
}

const errorOfRolls = (table) => 0.000197 * Math.max(1, table.points / 6);

const uncovered = (table, side) => {
  const has = chequers(side);
  const text = countsText({ us: side });
  if (has > table.chequers) return `${text} has ${has} chequers, the table covers ${table.chequers}`;
  const top = highest(side);
  if (top <= table.points) return null;
  return `${text} has a chequer on ${top === 25 ? "the bar" : `point ${top}`}, the table covers points 1 to ${table.points}`;
};

const first = (tables, kinds, sides, ...better) => {
  const fitting = tables.filter((t) => kinds.includes(t.kind) && !sides.some((side) => uncovered(t, side)));
  const keys = (t) => [kinds.indexOf(t.kind), ...better.map((key) => Number(!t[key]))];
  const before = (a, b) => keys(a).map((k, i) => k - keys(b)[i]).find(Boolean) ?? 0;
  return fitting.sort(before)[0] ?? null;
};

const twoSided = (tables, { us, them }) => first(tables, ["two-sided"], [us, them], "cubeful");
const oneSided = (tables, sides, kinds = ["one-sided", "normal-distribution"]) => first(tables, kinds, sides, "gammon");
const withDistributions = (tables, sides) => oneSided(tables, sides, ["one-sided"]);

function notCovered(tables, sides, wanted) {
  const why = tables.map((t) => sides.map((s) => uncovered(t, s)).find(Boolean) ?? `a ${t.kind} table does not say ${wanted}`);
  return new NotCoveredError([...new Set(why)].join("; ") || "no table was given");
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

function checkRace(position) {
  if (!position.them || !chequers(position.us)) {
    throw new PositionError(`${countsText(position)}: the game is over, one side has no chequers left`);
  }
  if (contact(position)) throw new NotCoveredError(`${countsText(position)}: the sides have not passed each other`);
}

function needBoth(position) {
  if (!position.them) throw new PositionError(`${countsText(position)} is one side; give both, the side on roll first: side / side`);
  checkRace(position);
}

const sourced = (table, errors, position) => ({
  table: table.name,
  max_error: errors,
  ...(position.score ? { score_ignored: true } : {}),
});

const twoErrors = (table) => Object.fromEntries(errorsOf(table).slice(0, table.cubeful ? 4 : 1).map((e, k) => [COLUMNS[k], e]));

// -- races ------------------------------------------------------------------------------------------------------

const within = (chances) => {
  let sum = 0;
  return chances.map((c) => Math.min((sum += c), 1));
};

function raceOf(answer) {
  const out = { ...answer };
  if (out.bearoff) out.off_within = within(out.bearoff);
  if (out.gammon) out.gammon_saved_within = within(out.gammon);
  return out;
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
  return {
    win: times(ours.bearoff, atLeast(theirs.bearoff)),
    win_gammon: won ? times(ours.bearoff, atLeast(theirs.gammon)) : won,
    lose_gammon: lost ? times(theirs.bearoff, [...atLeast(ours.gammon).slice(1), 0]) : lost,
  };
}

const WORST_ERROR = 0.0139; // of the win chance, over all pairs of six chequers or fewer on six points
const MEAN_ERROR = 0.00088;

const cubelessOf = ({ win, win_gammon, lose_gammon }) => 2 * win - 1 + (win_gammon ?? 0) - (lose_gammon ?? 0);

async function estimated(tables, position, more) {
  checkRace(position);
  const { us, them } = position;
  const table = withDistributions(tables, [us, them]);
  if (!table) throw notCovered(tables, [us, them], "the distributions of rolls");
  const [ours, theirs] = await table.lookupMany([us, them], more);
  const chances = chancesOf(us, them, ours, theirs);
  const answer = {
    position: countsText(position), approximate: true, ...chances, cubeless: cubelessOf(chances),
    worst_error: WORST_ERROR, mean_error: MEAN_ERROR,
  };
  return { table, answer, chances };
}

/** What one side, or each of both, needs to bear off. */
export async function race(tables, asked, { signal } = {}) {
  const all = listOf(tables);
  const position = asPosition(asked);
  const sides = position.them ? [position.us, position.them] : [position.us];
  const answers = [];
  let used = null;
  for (const side of sides) {
    const table = oneSided(all, [side]);
    if (!table) throw notCovered(all, [side], "the rolls of one side");
    used ??= table;
    answers.push(raceOf(await table.lookup(side, { signal })));
  }
  const source = sourced(used, { mean_rolls: errorOfRolls(used) }, position);
  if (sides.length === 1) return { ...answers[0], ...source };
  let two = null;
  try {
    two = (await estimated(all, position, { signal })).answer;
  } catch (error) {
    if (!(error instanceof NotCoveredError || error instanceof PositionError)) throw error;
  }
  return { on_roll: answers[0], other_side: answers[1], two_sided: two, ...source };
}

// -- cubes ------------------------------------------------------------------------------------------------------

const LABELS = {
  1: "no double, beaver", 2: "no double, take", 3: "double, no redouble, take", 4: "redouble, take", 5: "redouble, pass",
};
const EFFICIENCY = 0.6; // how live the cube is, between dead (0) and fully live (1): gnubg's for one-sided bearoffs

/** Approximate money equities {owned, centered, opponent} from the chances of the game (Janowski 1993). */
function cubeful(win, winGammon, loseGammon) {
  const won = 1 + (win > 0 ? winGammon / win : 0);
  const lost = 1 + (win < 1 ? loseGammon / (1 - win) : 0);
  const take = (lost - 0.5) / (won + lost + 0.5);
  const cash = (lost + 1) / (won + lost + 0.5);
  const dead = win * (won + lost) - lost;
  const bad = -lost + ((lost - 1) * win) / take;
  const good = 1 + ((won - 1) * (win - cash)) / (1 - cash);
  const live = {
    owned: win < cash ? -lost + ((lost + 1) * win) / cash : good,
    centered: win < take ? bad : win < cash ? -1 + (2 * (win - take)) / (cash - take) : good,
    opponent: win < take ? bad : -1 + ((won + 1) * (win - take)) / (1 - take),
  };
  const mix = (value) => (1 - EFFICIENCY) * dead + EFFICIENCY * value;
  return { owned: mix(live.owned), centered: mix(live.centered), opponent: mix(live.opponent) };
}

/** A cube decision of the side on roll; `error` is the greatest error of its equities, null where unknown. */
function judge(owner, rolling, opponent, error) {
  const approximate = error === null;
  const may = owner !== "opponent";
  const [noDouble, taken, passed] = [rolling, 2 * opponent, 1];
  const double = Math.min(taken, passed);
  const margin = double - noDouble;
  const takeMargin = passed - taken;
  const tieDouble = Math.abs(margin) <= EXACT;
  const tieTake = Math.abs(takeMargin) <= EXACT;
  const doubles = may && margin >= -EXACT;
  const takes = takeMargin >= -EXACT;
  const beavers = taken < -EXACT;
  const sureDouble = !may || (!approximate && (taken > 1 + 2 * error || Math.abs(margin) > 3 * error));
  const sureTake = !may || (!approximate && Math.abs(takeMargin) > 2 * error);
  return {
    cube: owner,
    action: actionText(owner, { may, doubles, takes, beavers, tieDouble, tieTake, noDouble }),
    no_double: noDouble, double_take: taken, double_pass: passed, double,
    best: may ? Math.max(double, noDouble) : noDouble,
    doubles, takes, beavers, double_margin: margin, take_margin: takeMargin, tie_double: tieDouble, tie_take: tieTake,
    sure_double: sureDouble, sure_take: sureTake, sure: sureDouble && sureTake,
    error, settled: false, approximate,
    certainty: certaintyText({ may, approximate, tieDouble, tieTake, sureDouble, sureTake }),
  };
}

function actionText(owner, { may, doubles, takes, beavers, tieDouble, tieTake, noDouble }) {
  if (!may) return "The other side owns the cube";
  const word = owner === "owned" ? "redouble" : "double";
  let text = doubles ? word[0].toUpperCase() + word.slice(1) : `No ${word}`;
  if (!doubles && !takes) text = `Too good to ${word}`; // with gammons only
  if (tieDouble && noDouble < 1) text = `Optional ${word}`;
  return `${text}, ${tieTake ? "take or pass" : beavers ? "beaver" : takes ? "take" : "pass"}`;
}

function certaintyText({ may, approximate, tieDouble, tieTake, sureDouble, sureTake }) {
  if (!may) return "no decision to make";
  const said = [];
  if (tieTake) said.push("taking equals passing");
  if (tieDouble) said.push("doubling and rolling on are worth the same");
  if (approximate) said.push("approximate: from one-sided distributions");
  else if (!said.length) {
    const near = `too close: ${sureDouble ? "the take" : "the double"} lies within the table's known error`;
    said.push(sureDouble && sureTake ? "sure: further from flipping than the table can err" : near);
  }
  return said.join("; ");
}

function labelOf(centered, owned) {
  if (!centered.doubles) return centered.beavers ? 1 : 2;
  if (centered.take_margin <= EXACT) return 5;
  return owned.doubles ? 4 : 3;
}

/** Whether to double and to take, with the cube in the middle and owned by the side on roll. */
export async function cube(tables, asked, { signal } = {}) {
  const all = listOf(tables);
  const position = asPosition(asked);
  needBoth(position);
  const table = twoSided(all, position);
  const actions = (values, error) => {
    const [centered, owned] = ["centered", "owned"].map((o) => judge(o, values[o], values.opponent, error));
    const label = labelOf(centered, owned);
    return { centered_cube: centered, owned_cube: owned, label, label_text: LABELS[label] };
  };
  if (!table) {
    const { table: one, answer, chances } = await estimated(all, position, { signal });
    const values = cubeful(chances.win, chances.win_gammon ?? 0, chances.lose_gammon ?? 0);
    return { ...answer, ...actions(values, null), ...sourced(one, { win: WORST_ERROR }, position) };
  }
  const answer = { ...(await table.lookup(position, { signal })), approximate: false };
  const source = sourced(table, twoErrors(table), position);
  return table.cubeful ? { ...answer, ...actions(answer, Math.max(...errorsOf(table))), ...source } : { ...answer, ...source };
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
function turned(equities, owner) {
  if (owner === "cubeless") return -equities.cubeless;
  if (owner === "owned") return -equities.opponent;
  return -Math.max(owner === "centered" ? equities.centered : equities.owned, Math.min(1, 2 * equities.opponent));
}

/** What values results of plays: {table, error, values(results) -> [[value, tie-breaker], ...]}, less being better. */
function valuer(all, position, measure, owner, more) {
  const { one, rolls } = parseMeasure(measure);
  const { us, them } = position;
  if (one) {
    const table = rolls === null ? oneSided(all, [us]) : withDistributions(all, [us]);
    if (!table) throw notCovered(all, [us], "what one side needs");
    const worth = (a) => (rolls === null ? a.mean_rolls : a.bearoff.slice(0, rolls + 1).reduce((x, y) => x + y, 0));
    const values = async (results) => (await table.lookupMany(results, more)).map((a) => [worth(a), 0]);
    return { table, error: errorOfRolls(table), errors: { mean_rolls: errorOfRolls(table) }, sign: rolls === null ? 1 : -1, values };
  }
  const wanted = measure === "money" ? owner : "cubeless";
  const table = first(all, ["two-sided"], [us, them], "cubeful");
  if (table && (table.cubeful || wanted === "cubeless")) {
    const [e0, e1, e2, e3] = errorsOf(table);
    const error = { cubeless: e0, owned: e3, centered: Math.max(e2, 2 * e3), opponent: Math.max(e1, 2 * e3) }[wanted];
    const row = rank(them, table.points) * table.positions;
    const values = async (results) => {
      const answers = await table.lookupMany(results.map((r) => row + rank(r, table.points)), { ...EVERYWHERE, ...more });
      // where the other side cashes whatever is played, the better chance to win comes first
      return answers.map((a) => [turned(a, wanted), -a.cubeless]);
    };
    return { table, error, errors: twoErrors(table), sign: -1, values };
  }
  const single = withDistributions(all, [us, them]);
  if (!single) throw notCovered(all, [us, them], table ? "cubeful equities" : "both sides' equities");
  const over = single.gammon && chequers(them) === FULL ? 2 : 1;
  const values = async (results) => {
    const [theirs, ...ours] = await single.lookupMany([them, ...results], more);
    return results.map((result, k) => {
      if (!chequers(result)) return [over, over];
      const { win, win_gammon, lose_gammon } = chancesOf(them, result, theirs, ours[k]);
      const money = 2 * win - 1 + (win_gammon ?? 0) - (lose_gammon ?? 0);
      return [turned({ cubeless: money, ...cubeful(win, win_gammon ?? 0, lose_gammon ?? 0) }, wanted), -money];
    });
  };
  return { table: single, error: null, errors: { win: WORST_ERROR }, sign: -1, values };
}

/** All plays of a roll ("all": of each of the 21 rolls), best first. */
export async function play(tables, asked, roll, { cube: where, measure, top, signal } = {}) {
  const all = listOf(tables);
  const position = asPosition(asked);
  const owner = where ?? position.cube ?? "centered";
  if (!["centered", "owned", "opponent"].includes(owner)) throw new PositionError(`the cube is centered, owned or opponent, not '${owner}'`);
  if (top !== undefined && top !== null && !(Number.isInteger(top) && top >= 1)) throw new PositionError(`top is a whole number from 1, not ${top}`);
  const by = measure ?? (position.them ? "money" : "mean");
  if (position.them) checkRace(position);
  else if (!parseMeasure(by).one) throw new PositionError(`'${by}' needs both sides, the one on roll first (side / side)`);
  if (!chequers(position.us)) throw new PositionError("there is nothing to play, all chequers are off");
  if (highest(position.us) === 25) throw new NotCoveredError(`${countsText({ us: position.us })} has a chequer on the bar`);
  const rolls = roll === "all" ? ROLLS : [parseRoll(roll ?? position.roll).join("")];
  const { table, error, errors, sign, values } = valuer(all, position, by, owner, signal ? { signal } : {});
  const made = rolls.map((one) => plays(position.us, one));
  const results = new Map(made.flat().map((p) => [p.result.join(), p.result]));
  const found = await values([...results.values()]);
  const worth = new Map([...results.keys()].map((key, k) => [key, found[k]]));
  const ranked = made.map((list) => {
    const valued = list.map((p) => ({ ...p, keys: worth.get(p.result.join()) }));
    valued.sort((a, b) => sign * (a.keys[0] - b.keys[0]) || sign * (a.keys[1] - b.keys[1]));
    const best = valued[0].keys[0];
    const out = valued.map(({ notation: name, result, keys: [value] }) => {
      const loss = Math.abs(value - best);
      const text = countsText({ us: result, them: position.them });
      return { play: name, result: text, value, loss, close: error !== null && loss <= 2 * error };
    });
    return top ? { count: out.length, plays: out.slice(0, top) } : { plays: out };
  });
  const answer = { position: countsText(position), measure: by, approximate: error === null };
  if (position.them && by === "money") answer.cube = owner;
  if (roll === "all") answer.rolls = ranked.map((one, k) => ({ roll: rolls[k], ...one }));
  else Object.assign(answer, { roll: rolls[0], ...ranked[0] });
  return { ...answer, ...sourced(table, errors, position) };
}

// -- all of it --------------------------------------------------------------------------------------------------

/** A position as programs need it: counts, identifiers, pips, chequers, contact. */
export function describe(asked) {
  const { us, them } = asPosition(asked);
  const both = { us, them: them ?? [0, 0, 0, 0, 0, 0] };
  return {
    us, them, counts: countsText({ us, them }),
    position_id: bgfmt.positionId(both), xgid: bgfmt.xgid(both),
    pips: [us, both.them].map(bgfmt.pips), chequers: [us, both.them].map(chequers), contact: contact(both),
  };
}

/** Everything the tables know of a position: cube, race and, with a roll ("all" for each of the 21), plays. */
export async function probe(tables, asked, { roll, cube: where, measure, top, signal } = {}) {
  const all = listOf(tables);
  const position = asPosition(asked);
  const dice = roll ?? position.roll ?? null;
  const sections = {
    cube: position.them ? cube(all, position, { signal }) : Promise.reject(new NotCoveredError("the cube needs both sides")),
    race: race(all, position, { signal }),
    play: dice === null ? null : play(all, position, dice, { cube: where, measure, top, signal }),
  };
  const question = {
    position: typeof asked === "string" ? asked : countsText(position),
    roll: dice === null ? null : dice === "all" ? "all" : parseRoll(dice).join(""),
    cube: where ?? position.cube ?? "centered",
    measure: measure ?? (position.them ? "money" : "mean"),
    table: null,
  };
  const out = { question, position: describe(position) };
  const missing = {};
  const settled = await Promise.allSettled(Object.values(sections));
  Object.keys(sections).forEach((name, k) => {
    const { status, value, reason } = settled[k];
    if (status === "rejected" && !(reason instanceof NotCoveredError)) throw reason;
    if (status === "rejected") missing[name] = reason.message;
    out[name] = status === "fulfilled" ? value : null;
  });
  if (!Object.keys(sections).some((name) => out[name])) throw new NotCoveredError(missing.cube);
  return { ...out, not_covered: missing };
}
