// The page: one state, one address, one answer at a time.

import { board } from "./board.js";
import { el, one } from "./dom.js";
import { AskError, connect } from "./source.js";
import { actionOf, answered, drawBehind, drawCube, drawPlays, drawRace, drawRolls, drawScores, drawTables, headline, none, remedy } from "./sections.js";
import { MOST_CHEQUERS, blank, diceOf, fromAddress, identifiers, pips, points, put, questionOf, read, rollOf, swapped, textOf, toAddress, total } from "./state.js";

const WAIT = 150; // milliseconds after the last change
const PATIENCE = 400; // milliseconds after which the page says that it is calculating
const HEADING = "Bearoff tablebase";

const main = one("main");
const box = one("#position");
let source = null;
let state = blank();
let empty = false; // an address that cannot be read: no board is invented
let asking = null; // aborts the question under way
let timer = null;
let reading = null; // such of a text that the server reads
let failures = 0; // of the network, one after another
let entry = null; // what is being typed, if the newest entry of the history is due to it
let quick = false; // whether the calculation was cancelled: the tables alone are asked
let last = 0; // the newest entry of the history

const theBoard = board({
  change: (who, point, n, typing) => update(put(state, who, point, n), { typing }),
  move: (who, from, to) => {
    const taken = from ? put(state, who, from, state[who][from - 1] - 1) : state;
    update(to ? put(taken, who, to, taken[who][to - 1] + 1) : taken);
  },
});
/** What is asked once its section is open: how to ask, how to draw. */
const extras = {
  scores: { text: "Calculating the action at each score", more: () => ({ scores: one("#upto").value }), draw: (found) => drawScores(state, found), control: null },
  behind: { text: "Calculating market losers and take points", more: () => ({ insight: "true" }), draw: (found) => drawBehind(found), control: null },
};

// -- the history: each entry knows its place and the plays that led to it ---------------------------------------------

const here = () => history.state ?? { at: 0, walked: [] };

function push(address, walked) {
  last = here().at + 1;
  history.pushState({ at: last, walked }, "", address);
}

function drawHistory() {
  const { at, walked } = here();
  one("#undo").disabled = at === 0;
  one("#redo").disabled = at >= last;
  one("#walked").textContent = walked.length ? `${walked.length} play${walked.length === 1 ? "" : "s"}: ${walked.slice(-2).join(", ")}` : "";
}

// -- changes ------------------------------------------------------------------------------------------------------

/** A finished change: state, address, everything drawn; the answer follows. What has one `typing` is one change. */
function update(next, { typing = null, now = false } = {}) {
  const address = toAddress(next, location.search);
  if (address !== location.search || empty) {
    if (typing && typing === entry) history.replaceState(here(), "", address);
    else push(address, textOf(next) === textOf(state) ? here().walked : []);
    entry = typing;
  }
  state = next;
  empty = false;
  wrong(null);
  one("#example").hidden = true;
  drawControls();
  question(now ? 0 : WAIT);
}

function load() {
  last = Math.max(last, here().at);
  const found = fromAddress(location.search);
  state = found.state;
  empty = Boolean(found.wrong);
  one("#example").hidden = !found.example;
  wrong(null);
  drawControls();
  if (!found.wrong) return question(0);
  box.value = found.wrong.text;
  if (source?.read) return settle(found.wrong.text, () => refuse(found.wrong.reason));
  return refuse(found.wrong.reason);
}

/** A text that the page itself cannot read: perhaps the server can. */
async function settle(text, otherwise) {
  reading = superseding();
  const { signal } = reading;
  const late = setTimeout(() => say("Reading", "busy"), PATIENCE);
  signal.addEventListener("abort", () => clearTimeout(late));
  try {
    const { xgid } = await source.read(text, signal);
    if (!signal.aborted) update(read(xgid, state), { now: true });
  } catch {
    if (!signal.aborted) otherwise();
  } finally {
    clearTimeout(late);
  }
}

function refuse(reason) {
  asking?.abort();
  clearTimeout(timer);
  wrong(reason);
  say(`Cannot read that: ${reason}`, "failed");
  if (empty) {
    show(null, null, () => "no position");
    document.title = titled([]);
  }
  main.setAttribute("aria-busy", "false");
}

function wrong(reason) {
  const place = one("#wrong");
  place.hidden = reason === null;
  place.textContent = reason ?? "";
  if (reason === null) box.removeAttribute("aria-invalid");
  else box.setAttribute("aria-invalid", "true");
}

// -- the answer ---------------------------------------------------------------------------------------------------

/** A new request of the page, busy from now on; the one before is dropped. */
function superseding() {
  clearTimeout(timer);
  asking?.abort();
  main.setAttribute("aria-busy", "true");
  main.classList.remove("told");
  asking = new AbortController();
  return asking;
}

function question(delay) {
  superseding();
  quick = false;
  timer = setTimeout(answer, delay);
}

/** The question of a state; without calculation where that was cancelled. */
function asked() {
  const question = questionOf(state);
  return quick ? { ...question, match: { ...question.match, settle: "false" } } : question;
}

/** End the calculation of all rolls; what else was found stays. */
function cancelRolls() {
  asking?.abort();
  main.setAttribute("aria-busy", "false");
  main.classList.remove("told");
  one("#again").hidden = false;
  one("#again").focus();
  drawRolls(state, null, () => "cancelled");
}

/**
 * Say in a section what it waits for, once that takes long, with a button that calls `cancel`.
 *
 * Returned are `advance(done, total)` and `end()`.
 */
function waitIn(id, text, cancel) {
  const place = one(`#${id} .waiting`);
  const bar = el("progress", { max: 1, "aria-label": text, hidden: true });
  const button = el("button", { type: "button" }, "Cancel");
  button.addEventListener("click", cancel);
  const late = setTimeout(() => {
    place.replaceChildren(el("span", {}, text), bar, button);
    place.hidden = false;
  }, PATIENCE);
  return {
    advance: (done, all) => {
      bar.hidden = false;
      bar.value = done / all;
    },
    end: () => {
      clearTimeout(late);
      if (!place.contains(button) && place.childElementCount) return; // it is of a later question
      place.hidden = true;
      place.replaceChildren();
    },
  };
}

/** How far a calculation is, beside the button that cancels it. */
function advance(done, total) {
  one("#progress").value = done / total;
  one("#progress").hidden = one("#cancel").hidden;
}

function idle() {
  one("#cancel").hidden = one("#progress").hidden = true;
}

/** What takes long can be cancelled: then the tables alone are asked, where the server would calculate. */
function cancel() {
  asking?.abort();
  clearTimeout(timer);
  one("#again").hidden = false;
  one("#again").focus();
  idle();
  if (source?.features.includes("settle") && !quick) {
    quick = true;
    answer();
    return;
  }
  say("Cancelled", "failed");
  main.setAttribute("aria-busy", "false");
}

function again() {
  if (!source) return begin();
  failures = 0;
  return question(0);
}

async function answer() {
  if (!source) return; // connecting: the answer is asked for then
  const control = superseding();
  const late = setTimeout(() => {
    say(failures ? one("#status").textContent : "Calculating", failures ? "failed" : "busy");
    one("#cancel").hidden = false;
  }, PATIENCE);
  control.signal.addEventListener("abort", () => clearTimeout(late));
  let grid = null; // what waits for the rolls
  one("#again").hidden = !quick;
  try {
    const never = hopeless(state);
    if (never) throw new AskError("bad_position", never);
    const draw = (found) => {
      clearTimeout(late);
      idle();
      failures = 0;
      const reasons = found.probe.not_covered ?? {};
      const score = state.away && reasons.cube ? ` The cube and the plays: ${reasons.cube}.` : "";
      const failed = source.tables.filter((t) => t.failed).map((t) => ` Not read: ${t.failed}.`);
      if (failed.length || source.tables.some((t) => t.fingerprint === null)) drawTables(source.tables); // now known, having been opened
      say(answered(found.probe) + score + failed.join(""));
      show(found.probe, found.rolls, (name) => reasons[name] ?? found.why?.message ?? "no table answers");
    };
    const found = await source.answer(asked(), control.signal, advance, (probe) => {
      main.classList.add("told"); // the grid of rolls follows
      draw({ probe });
      grid = waitIn("rolls", "Calculating the rolls of this position", cancelRolls);
      control.signal.addEventListener("abort", grid.end);
    });
    if (!control.signal.aborted) draw(found);
  } catch (error) {
    if (control.signal.aborted) return;
    clearTimeout(late);
    failed(error);
    if (error.retry || (error.code === "network" && navigator.onLine)) return; // still busy
    idle();
  } finally {
    grid?.end();
  }
  if (!control.signal.aborted) main.setAttribute("aria-busy", "false");
}

/** Say why there is no answer, and ask again where that can help: after a network failure later each time. */
function failed(error) {
  const help = error.code === "not_covered" && total(state.us) ? remedy(state, Boolean(source.read)) : "";
  const reason = help ? `${error.message}. ${help}` : error.message;
  const unanswered = !(error instanceof AskError) || error.code === "network";
  const offline = error.code === "network" && !navigator.onLine; // the event "online" asks again
  if (error.retry) say(`Working: ${error.message}`, "busy");
  else if (offline) say(`No answer: ${reason}. There is no network; the query is repeated when it is back.`, "failed");
  else if (error.code === "network") say(`No answer: ${reason}; trying again`, "failed");
  else say(unanswered ? `No answer: ${reason}` : `Not covered: ${reason}`, "failed");
  if (error.retry || unanswered) {
    const wait = error.retry ?? Math.min(30, 2 ** failures++);
    one("#cancel").hidden = offline;
    one("#again").hidden = false;
    if (offline) return;
    if (error.retry || error.code === "network") timer = setTimeout(answer, 1000 * wait);
    else console.error(error);
    return; // what is shown stays, and is no answer to what is asked now: the page is busy
  }
  show(null, null, () => error.message);
}

/** Why no table here can have a position; in contact those of hypergammon alone do. */
function hopeless({ us, them }) {
  if (!total(us) && !total(them)) return "set some chequers";
  if (!total(us)) return "the game is over, the side on roll has no chequers left";
  const clash = us.findIndex((n, k) => n && k < 24 && them[23 - k]);
  if (clash >= 0) return `both sides stand on your ${clash + 1} point`;
  const contact = points(us) + points(them) > 24 && !source.tables.some(({ kind }) => kind === "hypergammon");
  return contact ? "the sides have not passed each other" : "";
}

function show(probe, rolls, why) {
  const told = new Set([one("#status").textContent]);
  const reason = (name) => { // each reason once
    const text = why(name);
    const known = [...told].some((other) => other.includes(text));
    told.add(text);
    return known ? null : text;
  };
  drawCube(state, probe, reason);
  drawPlays(state, probe, reason);
  if (rolls !== undefined) drawRolls(state, rolls, reason, (roll) => update({ ...state, dice: diceOf(roll) }, { now: true }));
  drawRace(state, probe, reason);
  if (rolls !== undefined) for (const name of Object.keys(extras)) askMore(name, Boolean(probe));
  const action = actionOf(probe?.cube, state.cube);
  document.title = titled([headline(action), probe?.position.counts ?? (total(state.us) ? textOf(state) : null)]);
}

/** Ask what a section shows once it is open; it needs both sides. */
async function askMore(name, answerable = true) {
  const extra = extras[name];
  const section = one(`#${name}`);
  extra.control?.abort();
  section.hidden = !source?.more[name] || !answerable || !total(state.them);
  if (section.hidden || !section.querySelector("details").open) return;
  const control = new AbortController();
  extra.control = control;
  const body = section.querySelector(".body");
  body.setAttribute("aria-busy", "true");
  const cancelled = () => {
    control.abort();
    const again = el("button", { type: "button" }, "Calculate");
    again.addEventListener("click", () => askMore(name));
    body.replaceChildren(again);
    body.setAttribute("aria-busy", "false");
    again.focus();
  };
  const waiting = waitIn(name, extra.text, cancelled);
  control.signal.addEventListener("abort", waiting.end);
  try {
    const found = await source.more[name](asked(), extra.more(), control.signal, waiting.advance);
    if (control.signal.aborted) return;
    extra.draw(found);
  } catch (error) {
    if (control.signal.aborted) return;
    body.replaceChildren(none(error.message));
  } finally {
    waiting.end();
  }
  body.setAttribute("aria-busy", "false");
}

const titled = (parts) => [...parts, source?.title, HEADING].filter(Boolean).join(" · ");

/** Write the status line; `mood`: "busy", "failed", or nothing for an answer. */
function say(text, mood = "") {
  const status = one("#status");
  if (status.textContent !== text) status.textContent = text;
  one("#answer").dataset.state = mood;
}

// -- controls -----------------------------------------------------------------------------------------------------

function drawControls() {
  const full = fullSide();
  theBoard.draw(state, { full, unknown: empty });
  drawHistory();
  if (!empty) box.value = textOf(state);
  one("#you-line").textContent = empty ? "No position" : `You, on roll: ${sideLine(state.us, full, state.away?.[0])}`;
  one("#they-line").textContent = empty ? "No position" : `They: ${sideLine(state.them, full, state.away?.[1])}`;
  for (const radio of document.querySelectorAll(".die")) {
    radio.checked = state.dice[Number(radio.name.at(-1)) - 1] === Number(radio.value);
  }
  for (const radio of document.querySelectorAll('input[name="cube"]')) radio.checked = radio.value === state.cube;
  for (const id of ["jacoby", "beavers"]) one(`#${id}`).disabled = Boolean(state.away);
  one("#jacoby").checked = state.jacoby === true;
  one("#beavers").checked = state.beavers !== false;
  one("#match").hidden = !source?.features.includes("match") && !state.away;
  one("#match-play").checked = Boolean(state.away);
  for (const [id, value] of [["away-us", state.away?.[0]], ["away-them", state.away?.[1]]]) one(`#${id}`).value = value ?? "";
  for (const id of ["away-us", "away-them", "crawford", "cube-value", "met"]) one(`#${id}`).disabled = !state.away;
  one("#crawford").checked = state.crawford;
  one("#cube-value").value = String(state.cube_value);
  offer(state.met);
  one("#met").value = state.met ?? source?.mets[0] ?? "";
}

/** Return how many chequers a side begins with: those of hypergammon where no other table is here. */
function fullSide() {
  const tables = source?.tables ?? [];
  const small = tables.length > 0 && tables.every(({ kind }) => kind === "hypergammon");
  return small ? Math.max(...tables.map(({ chequers }) => chequers)) : MOST_CHEQUERS;
}

/** Describe a side: "4 chequers, 11 off, 13 pips". */
function sideLine(side, full, away) {
  const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const off = Math.max(0, full - total(side));
  const parts = [count(total(side), "chequer"), off ? `${off} off` : "", count(pips(side), "pip"), away ? `need ${away}` : ""];
  return parts.filter(Boolean).join(", ");
}

/** A match equity table among those to choose from. */
function offer(met) {
  const select = one("#met");
  if (met && ![...select.options].some((option) => option.value === met)) select.append(el("option", { value: met }, met));
}

function build() {
  for (const [id, name] of [["die1", "First die"], ["die2", "Second die"]]) {
    for (let n = 1; n <= 6; n++) {
      const die = el("input", { type: "radio", class: `die d${n}`, name: id, value: n, "aria-label": `${name} ${n}` });
      die.addEventListener("change", () => {
        const dice = state.dice.slice();
        dice[id === "die1" ? 0 : 1] = n;
        if (rollOf({ dice })) update({ ...state, dice }, { now: true });
        else {
          state = { ...state, dice };
          drawControls();
        }
      });
      one(`#${id}`).append(die);
    }
  }
  for (let n = 1; n <= 64; n *= 2) one("#cube-value").append(el("option", { value: n }, String(n)));
}

/** What was typed or pasted: the page's own reader first, then the server's. */
function take(text) {
  try {
    update(read(text, state), { now: true });
  } catch (error) {
    if (source?.read && text.trim()) settle(text, () => refuse(error.message));
    else refuse(error.message);
  }
}

function listen() {
  one("#ask").addEventListener("submit", (event) => {
    event.preventDefault();
    take(box.value);
  });
  document.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text").trim();
    if (event.target === box && !text.includes("\n")) return setTimeout(() => take(box.value)); // once it is in the box
    if (event.target !== box && event.target.closest?.('input[type="number"], textarea')) return;
    event.preventDefault(); // a box of one line would lose the ends of the others
    box.value = text;
    take(text);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (reading && reading === asking && !reading.signal.aborted) { // what the server reads is not wanted any more
      asking.abort();
      if (empty) main.setAttribute("aria-busy", "false");
      else question(0);
    }
    wrong(null);
    drawControls();
    box.blur();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.('input:not([type="radio"]):not([type="checkbox"]), select, textarea');
    if (typing || event.altKey) return;
    const key = event.key.toLowerCase();
    const walk = { z: event.shiftKey ? "#redo" : "#undo", y: "#redo" }[key];
    if (event.ctrlKey || event.metaKey) {
      if (!walk) return;
      one(walk).click();
    } else if (key === "/") {
      box.focus();
      box.select();
    } else return;
    event.preventDefault();
  });
  one("#undo").addEventListener("click", () => history.back());
  one("#redo").addEventListener("click", () => history.forward());
  one("#cancel").addEventListener("click", cancel);
  one("#again").addEventListener("click", again);
  window.addEventListener("online", () => (failures || source?.tables.some((t) => t.failed)) && again());
  for (const name of Object.keys(extras)) one(`#${name} details`).addEventListener("toggle", () => askMore(name));
  one("#upto").addEventListener("change", () => askMore("scores"));
  for (const radio of document.querySelectorAll('input[name="adds"]')) radio.addEventListener("change", () => theBoard.choose(radio.value || null));
  one("#swap").addEventListener("click", () => update(swapped(state), { now: true }));
  one("#clear").addEventListener("click", () => update({ ...state, us: blank().us, them: blank().them }, { now: true }));
  one("#no-dice").addEventListener("click", () => update({ ...state, dice: [null, null] }, { now: true }));
  one("#copy-link").addEventListener("click", (event) => copy(event, new URL(toAddress(state, location.search), location.href).href));
  one("#copy-xgid").addEventListener("click", (event) => copy(event, identifiers(state).xgid));
  one("#copy-gnubg").addEventListener("click", (event) => copy(event, identifiers(state).gnubg));
  one("#cube").addEventListener("change", (event) => update({ ...state, cube: event.target.value }, { now: true }));
  one("#jacoby").addEventListener("change", (event) => update({ ...state, jacoby: event.target.checked || null }, { now: true }));
  one("#beavers").addEventListener("change", (event) => update({ ...state, beavers: event.target.checked && null }, { now: true }));
  one("#match").addEventListener("change", () => {
    const need = (id) => Math.min(64, Math.max(1, Math.round(Number(one(id).value)) || 5));
    const away = one("#match-play").checked ? [need("#away-us"), need("#away-them")] : null;
    const crawford = Boolean(away) && one("#crawford").checked && away.includes(1);
    const met = one("#met").value === source.mets[0] ? null : one("#met").value || null;
    update({ ...state, away, crawford, cube_value: away ? Number(one("#cube-value").value) : 1, met: away ? met : null });
  });
  main.addEventListener("click", (event) => {
    const link = event.target.closest?.("#plays a, #scores a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const play = link.closest("#plays") && `${rollOf(state).split("").join("-")} ${link.textContent}`;
    push(link.getAttribute("href"), play ? [...here().walked, play] : here().walked);
    load();
    if (play) one("#board").scrollIntoView({ block: "nearest" });
  });
  window.addEventListener("popstate", load);
}

async function copy({ currentTarget: button }, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed, or no secure page
    const area = el("textarea", { readonly: true, class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  one("#copied").textContent = "copied";
  setTimeout(() => { one("#copied").textContent = ""; }, 2000);
}

build();
listen();
load();
async function begin() {
  if (source) return;
  try {
    source = await connect();
  } catch (error) {
    say(`No answer: ${error.message}; trying again`, "failed");
    one("#again").hidden = false;
    setTimeout(begin, 1000 * Math.min(30, 2 ** failures++));
    return;
  }
  drawTables(source.tables);
  source.mets.forEach(offer);
  load();
}
begin();
