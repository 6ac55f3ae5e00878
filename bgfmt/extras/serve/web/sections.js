// The answer in words and numbers: cube action, plays, all rolls, actions by score, what lies behind, race, tables.

import { errorText, tooClose } from "./ask.js";
import { el, one, redraw, table } from "./dom.js";
import { chart } from "./chart.js";
import { after, pips, points, rollOf, toAddress, total } from "./state.js";

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const fixed = (value, decimals) => value.toFixed(decimals);
const percent = (chance) => (typeof chance === "number" ? `${fixed(100 * chance, 2)} %` : "");
/** An equity, with its sign. */
export const equity = (value) => (value < 0 ? "" : "+") + fixed(value, 4);
const known = (value, decimals) => (value === null || value === undefined ? "not known" : fixed(value, decimals));
const dashed = (roll) => `${roll[0]}-${roll[1]}`;

const body = (id) => one(`#${id} .body`);
/** Why a section is empty; a reason that stands elsewhere already is null. */
export const none = (reason) => el("p", { class: "none" }, reason === null ? "Not covered." : `Not covered: ${reason}`);
/** How near an estimate is, in a line of its own; null for every other answer. */
const roughly = (answer) => (answer.usual_error ? el("p", { class: "rough" }, estimated(answer)) : null);
const from = (answer) => (answer.table ? el("p", { class: "soft" }, `From ${answer.table}${within(answer)}.`) : null);

/** The greatest of errors by name, or the only one; null without any. */
const greatest = (errors_of) => {
  const errors = (typeof errors_of === "number" ? [errors_of] : Object.values(errors_of ?? {})).filter((e) => typeof e === "number");
  return errors.length ? Math.max(...errors) : null;
};
const worst = (answer) => greatest(answer.max_error);
/** An error rounded up to two digits, since it is a bound. */
const bound = (value) => {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return (Math.ceil(value / unit - 1e-9) * unit).toFixed(Math.max(0, -Math.round(Math.log10(unit))));
};
/** "Estimate, ±0.006 (95 %)", with what `tooClose` adds: the error that 95 % of estimates keep, and whether the answer is open. */
const estimated = ({ certainty, mwc, plays, usual_error, max_error }) => {
  if (certainty?.startsWith("estimate")) return capital(certainty);
  const what = mwc ? "Estimate of the match winning probability" : "Estimate";
  const open = plays?.slice(1).some(({ close }) => close) ? tooClose(2 * greatest(max_error)) : "";
  return `${what}, ±${errorText(greatest(usual_error))} (95 %)${open}`;
};
const significant = (value) => (value < 1e-9 ? "exact" : `within ${bound(value)}`);
const within = (answer) => {
  if (answer.usual_error) return ", estimated";
  const error = worst(answer);
  return error === null ? "" : `, numbers ${significant(error)}`;
};

/** Where the numbers of the cube come from, as a sentence. */
const origin = (cube) => (cube.usual_error && !cube.table ? "From an estimate." : `From ${cube.table ?? "calculation"}${within(cube)}.`);

/** Which table answered, or how near an estimate is, for the status line. */
export function answered({ cube, play, race: both }) {
  const race = both?.on_roll ?? both;
  const main = cube ?? play ?? race;
  const other = race?.table && main !== race && race.table !== main.table ? ` The race is from ${race.table}.` : "";
  if (main.usual_error) return `${estimated(main)}.${other}`;
  if (main.source === "estimate") return `Estimated: mean rolls within ${bound(worst(main))}.`;
  return `Answered by ${main.table ?? "calculation"}${within(main)}.${other}`;
}

/** What table would answer, where one could; `estimates`: whether a one-sided table is enough for the cube and plays. */
export function remedy(state, estimates) {
  const most = Math.max(total(state.us), total(state.them));
  const wide = Math.max(6, points(state.us), points(state.them));
  if (!total(state.us) || points(state.us) + points(state.them) > 24) return "";
  if (most <= 11 && wide <= 12 && total(state.them)) {
    const size = `${wide}x${most}`;
    return `${most} chequers: needs a two-sided table of ${wide} points and ${most} chequers; "bgfmt solve two-sided ${size}" makes it`;
  }
  if (!estimates && total(state.them)) return "";
  return `${most} chequers: needs a one-sided table of ${wide} points; "bgfmt solve one-sided ${wide}" makes it`;
}

// -- cube ---------------------------------------------------------------------------------------------------------

/** An action in words: at a score where no double is possible, the sentence that says why. */
export const headline = (action) => (action?.double === "unavailable" ? action.notes[0] : action?.action);

/** The action of the cube chosen, null where there is none. */
export function actionOf(cube, owner) {
  if (!cube) return null;
  if (cube.emg) return { ...cube, ...cube.emg, mwc: cube.mwc }; // at a match score
  if (owner !== "opponent") return cube[`${owner}_cube`] ?? null;
  if (cube.opponent_cube) return cube.opponent_cube;
  if (cube.opponent === undefined || cube.opponent === null) return null;
  const value = cube.opponent;
  return { action: "The other side owns the cube", no_double: value, best: value, certainty: "no decision to make", may: false };
}

export function drawCube(state, probe, reason) {
  const cube = probe?.cube;
  if (!cube) return redraw(body("action"), none(reason("cube")));
  const action = actionOf(cube, state.cube);
  if (!action) return redraw(body("action"), none("the table holds cubeless equities only"), el("p", {}, `Cubeless ${equity(cube.cubeless)}`), from(cube));
  const word = state.cube === "owned" ? "redouble" : "double";
  const own = word === "double" ? "Double" : "Redouble";
  const choices = [[`No ${word}`, "no_double"]];
  if (state.cube !== "opponent") {
    choices.push([`${own}, take`, "double_take"]);
    if (action.beavers) choices.push([`${own}, beaver`, "double_beaver"]);
    choices.push([`${own}, pass`, "double_pass"]);
  }
  const there = choices.filter(([, key]) => typeof action[key] === "number");
  const line = ([name, key]) => {
    const value = action[key];
    const best = Math.abs(value - action.best) < 1e-12;
    const chance = action.mwc ? [percent(action.mwc[key])] : [];
    return { best, cells: [name, ...chance, equity(value), best ? "best" : equity(value - action.best)] };
  };
  const heads = action.mwc ? ["", "MWC", "EMG", "difference"] : null;
  const sure = `${capital(action.certainty)}${action.settled ? " (calculated exactly)" : ""}`;
  const chances = cube.win === null || cube.win === undefined ? "" : ` Wins ${percent(cube.win)}.`;
  return redraw(
    body("action"),
    el("p", { class: "verdict" }, headline(action)),
    table("Equities", heads, there.map(line), "numbers"),
    el("p", { class: cube.usual_error ? "rough" : "soft" }, sure),
    el("p", { class: "soft" }, `${origin(cube)}${chances}`, (action.notes ?? []).slice(action.double === "unavailable" ? 1 : 0).map((note) => ` ${note}`)),
  );
}

// -- plays --------------------------------------------------------------------------------------------------------

const worth = (value, measure) => (["money", "cubeless", "match"].includes(measure) ? equity(value) : fixed(value, 4));
const EQUAL = 5e-7; // equity or rolls; a smaller loss is none, as in `bgfmt play`
const AS_GOOD = "as good";
const CLOSE = "close";
const measures = { money: "equity", cubeless: "cubeless equity", match: "equity at the score", mean: "rolls to go" };

export function drawPlays(state, probe, reason) {
  const roll = rollOf(state);
  one("#plays").hidden = !roll;
  if (!roll) return;
  one("#plays h2").textContent = `Plays of ${dashed(roll)}`;
  const play = probe?.play;
  if (!play) return redraw(body("plays"), none(reason("play")));
  const match = play.measure === "match";
  const remarks = play.plays.map((p, k) => (k ? remarkOn(p, play) : ""));
  const remarked = remarks.some(Boolean);
  const rows = play.plays.map((p, k) => {
    const where = toAddress(after(state, p.result), location.search);
    const link = el("a", { href: where, "data-key": p.result }, p.play);
    const equal = remarks[k] === AS_GOOD;
    const lost = (value, text) => (k && !equal ? `-${text(Math.abs(value))}` : "");
    const chances = match ? [percent(p.mwc), lost(p.loss_mwc, percent)] : [];
    const remark = remarked ? [remarks[k] && el("span", { class: "soft" }, remarks[k])] : [];
    return { best: !k, cells: [link, ...chances, worth(p.value, play.measure), lost(p.loss, (loss) => fixed(loss, 4)), ...remark] };
  });
  const heads = match ? ["Play", "MWC", "lost", "EMG", "lost"] : ["Play", measures[play.measure] ?? play.measure, "loss"];
  if (remarked) heads.push("");
  const list = rows.length ? table("Plays", heads, rows, "numbers") : el("p", {}, "no play");
  const legend = remarks.includes(CLOSE) ? el("p", { class: "soft" }, "Close: the error could change the order.") : null;
  redraw(body("plays"), roughly(play), el("div", { class: "scroll" }, list), legend, from(play));
}

/** Return what the list says of a play that is not the best: equal to it, or closer than the error. */
function remarkOn({ loss, close }, { usual_error }) {
  if (Math.abs(loss) <= EQUAL && !usual_error) return AS_GOOD;
  return close ? CLOSE : "";
}

/** The best play of each roll, the first die down and the second across; the better a roll, the stronger its colour. */
export function drawRolls(state, rolls, reason, choose) {
  if (!rolls) return redraw(body("rolls"), none(reason("play")));
  const now = rollOf(state);
  const found = Object.fromEntries(rolls.rolls.map(({ roll, plays: [best] }) => [roll, best]));
  const values = rolls.rolls.map(({ plays: [best] }) => best?.value).filter((value) => typeof value === "number");
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const cell = (first, second) => {
    const roll = rollOf({ dice: [first, second] });
    const best = found[roll];
    const name = `${first}${second}`;
    const [play, value] = [best?.play ?? "no play", typeof best?.value === "number" ? worth(best.value, rolls.measure) : ""];
    const about = { "data-key": name, "aria-label": `${name}: ${play} ${value}`, "aria-pressed": String(roll === now), tabindex: first < second ? -1 : null };
    const button = el("button", { type: "button", class: "roll", ...about }, el("span", {}, `${play} `), el("span", { class: "value" }, value));
    const part = high > low && value ? (best.value - low) / (high - low) : 0;
    button.style.setProperty("--part", rolls.measure === "mean" ? 1 - part : part);
    button.addEventListener("click", () => choose(roll));
    return button;
  };
  const dice = [1, 2, 3, 4, 5, 6];
  const rows = dice.map((first) => ({ cells: [String(first), ...dice.map((second) => cell(first, second))] }));
  redraw(body("rolls"), roughly(rolls), table("All rolls", ["", ...dice.map(String)], rows, "grid36"), extremes(rolls), from(rolls));
}

/** The three best and the three worst rolls. */
function extremes({ rolls, measure }) {
  const sign = measure === "mean" ? -1 : 1;
  const ranked = rolls.filter(({ plays: [best] }) => typeof best?.value === "number").sort((a, b) => sign * (b.plays[0].value - a.plays[0].value));
  if (ranked.length < 6) return null;
  const values = ranked.map(({ plays: [best] }) => best.value);
  if (Math.max(...values) - Math.min(...values) <= EQUAL) return el("p", { class: "soft" }, "All rolls are equal.");
  const said = (some) => some.map(({ roll, plays: [best] }) => `${dashed(roll)} ${worth(best.value, measure)}`).join(", ");
  return el("p", { class: "soft" }, `Best rolls: ${said(ranked.slice(0, 3))}. Worst rolls: ${said(ranked.slice(-3).reverse())}.`);
}

// -- actions by score, and what lies behind one -------------------------------------------------------------------------

/** An action in three letters, as `bgfmt cube --scores` has it. */
function letters({ double, response }) {
  if (double === "unavailable") return "--";
  return `${{ yes: "D", no: "N", optional: "O" }[double]}/${{ take: "T", pass: "P", either: "=" }[response]}`;
}

/** A grid: the points that the side on roll needs down, those of the other across; each cell leads to its score. */
export function drawScores(state, { cells, scores, met, ...answer }) {
  const keys = Array.from({ length: scores }, (_, k) => k + 1);
  const found = new Map(cells.filter((cell) => !cell.crawford).map((cell) => [String(cell.away), cell])); // in the Crawford game nobody doubles
  const score = (cell) => {
    if (!cell) return "";
    const at = { ...state, away: cell.away, crawford: false, jacoby: null, beavers: null };
    const short = letters(cell);
    const words = `${short}, ${cell.away.join("-")} away: ${cell.action}`;
    return el("a", { class: `score ${short.toLowerCase().replace(/[^a-z]/g, "") || "none"}`, href: toAddress(at, location.search), "aria-label": words, title: words }, short);
  };
  const rows = keys.map((us) => ({ cells: [String(us), ...keys.map((them) => score(found.get(`${us},${them}`)))] }));
  redraw(
    body("scores"),
    roughly({ ...answer, mwc: true }),
    el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Grid of scores" }, table("Actions by score", ["away", ...keys.map(String)], rows, "by-score")),
    el("p", { class: "soft" }, `You down, they across; at 1-away after the Crawford game. D double, N no double, O optional, T take, P pass, N/P too good. Match equity table ${met.name}.`),
  );
}

/** Market losers and take points; the best and the worst rolls stand beside all rolls. */
export function drawBehind({ insight, approximate }) {
  if (!insight) {
    const why = approximate
      ? "this position is estimated; market losers and take points need exact numbers"
      : "market losers and take points need the numbers of positions that no table covers and that are not calculated";
    return redraw(body("behind"), none(why));
  }
  const rows = [
    ["Market losers", insight.market_losers], ["They win, without a cube", insight.win],
    ["Their take point, dead cube", insight.take_point], ["Their take point, live cube", insight.live_take_point],
  ];
  const about = "Market losers: how often both sides' next rolls lead to where a double is passed, or win at once.";
  return redraw(body("behind"), table("Behind the cube action", null, rows.map(([name, chance]) => ({ cells: [name, percent(chance)] })), "numbers"), el("p", { class: "soft" }, about));
}

// -- race ---------------------------------------------------------------------------------------------------------

const FACTS = [["Pips", "pips", 0], ["Mean rolls", "mean_rolls", 4], ["Standard deviation", "std_rolls", 4], ["EPC", "epc", 3], ["Wastage", "wastage", 3]];

export function drawRace(state, probe, reason) {
  const race = probe?.race;
  if (!race) {
    const counted = [state.us, state.them].map((side) => (total(side) ? String(pips(side)) : "not known"));
    const count = total(state.us) ? table("Race", ["", "You", "They"], [{ cells: ["Pips", ...counted] }], "numbers") : null;
    return redraw(body("race"), count, none(reason("race")));
  }
  const sides = [race.on_roll ?? race, race.other_side ?? null];
  const rows = FACTS.map(([name, key, decimals]) => ({ cells: [name, ...sides.map((side) => known(side?.[key], decimals))] }));
  const distributions = sides.map((side) => side?.bearoff ?? null);
  const drawn = distributions.some(Boolean);
  redraw(
    body("race"),
    table("Race", ["", "You", "They"], rows, "numbers"),
    drawn ? chart(distributions) : null,
    drawn ? asNumbers(distributions) : null,
    raceOrigin(sides.filter(Boolean)),
  );
}

/** Say where the numbers of a race come from, once for both sides where that is the same. */
function raceOrigin(sides) {
  const words = sides.map((side) => {
    const { source, table: name, max_error } = side;
    if (name) return `From ${name}${within(side)}.`;
    return source === "estimate" ? `Estimated: mean rolls within ${bound(max_error.mean_rolls)}.` : "Calculated, numbers exact.";
  });
  const [ours, theirs] = words;
  const lines = theirs === undefined || theirs === ours ? [ours] : [`You: ${ours}`, `They: ${theirs}`];
  return lines.map((line) => el("p", { class: "soft" }, line));
}

function asNumbers(distributions) {
  const used = (roll) => distributions.some((d) => (d?.[roll] ?? 0) > 0);
  const rolls = Array.from({ length: Math.max(...distributions.map((d) => d?.length ?? 0)) }, (_, k) => k);
  const last = Math.max(...rolls.filter(used));
  const first = Math.min(...rolls.filter(used));
  const rows = rolls.slice(first, last + 1).map((roll) => ({ cells: [String(roll), ...distributions.map((d) => known(d?.[roll], 4))] }));
  return el("details", {}, el("summary", {}, "As numbers"), table("Distribution", ["Rolls", "You", "They"], rows, "numbers dense"));
}

// -- tables -------------------------------------------------------------------------------------------------------

function bytes(n) {
  const units = ["bytes", "KB", "MB", "GB"];
  let k = 0;
  let value = n;
  for (; value >= 1000 && k < 3; k++) value /= 1000;
  return `${k ? value.toPrecision(3) : value} ${units[k]}`;
}

/** A button that has the browser keep the whole of a table, for times without a network; it asks first. */
function keeper(t, size) {
  const button = el("button", { type: "button", "aria-label": `Keep ${t.name} on this device` }, t.kept ?? "Keep");
  const tell = (text) => { button.textContent = t.kept = text; };
  button.disabled = Boolean(t.kept);
  button.addEventListener("click", async () => {
    if (!globalThis.confirm(`Keep the whole of ${t.name} on this device? That fetches ${size}.`)) return;
    button.disabled = true;
    try {
      await t.keep((done) => tell(`${Math.floor((100 * done) / t.size)} %`));
      tell("Kept");
    } catch {
      t.kept = null;
      button.disabled = false;
      button.textContent = "Not kept: try again";
    }
  });
  return button;
}

export function drawTables(tables) {
  const rows = tables.map((t) => {
    const link = t.url ? el("a", { href: t.url.replace(/^\//, ""), "aria-label": `Download ${t.name}` }, "Download") : "";
    const error = worst(t);
    const said = error === null ? "not known" : error < 1e-9 ? "exact" : bound(error);
    const size = typeof t.size === "number" ? bytes(t.size) : "not known";
    const file = t.keep && typeof t.size === "number" ? el("span", { class: "row" }, link, keeper(t, size)) : link;
    if (t.failed) return { cells: [t.name, el("span", { class: "wrong" }, `Not read: ${t.failed}`), "", "", size, "", link] };
    return { cells: [t.name, t.kind ?? "not known", String(t.points ?? ""), String(t.chequers ?? ""), size, said, file] };
  });
  const heads = ["Name", "Kind", "Points", "Chequers", "Size", "Greatest error", "File"];
  redraw(body("tables"), table("Tables", heads, rows, "wide"));
}
