// The page: one state, one address, one answer at a time.

import { board } from "./board.js";
import { el, one } from "./dom.js";
import { AskError, connect } from "./source.js";
import { actionOf, answered, drawCube, drawPlays, drawRace, drawRolls, drawTables, headline, remedy } from "./sections.js";
import { blank, diceOf, fromAddress, pips, points, put, questionOf, read, rollOf, swapped, textOf, toAddress, total } from "./state.js";

const WAIT = 150; // milliseconds after the last change
const HEADING = "Bearoff tablebase";

const main = one("main");
const box = one("#position");
let source = null;
let state = blank();
let empty = false; // an address that cannot be read: no board is invented
let asking = null; // aborts the question under way
let timer = null;
let failures = 0; // of the network, one after another
let entry = null; // what is being typed, if the newest entry of the history is due to it

const theBoard = board({
  change: (who, point, n, typing) => update(put(state, who, point, n), { typing }),
  move: (who, from, to) => {
    const taken = put(state, who, from, state[who][from - 1] - 1);
    update(to ? put(taken, who, to, taken[who][to - 1] + 1) : taken);
  },
});

// -- changes ------------------------------------------------------------------------------------------------------

/** A finished change: state, address, everything drawn; the answer follows. What has one `typing` is one change. */
function update(next, { typing = null, now = false } = {}) {
  const address = toAddress(next, location.search);
  if (address !== location.search || empty) {
    if (typing && typing === entry) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
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
  const found = fromAddress(location.search);
  state = found.state;
  empty = Boolean(found.wrong);
  one("#example").hidden = !found.example;
  wrong(null);
  drawControls();
  if (!found.wrong) return question(0);
  box.value = found.wrong.text;
  main.setAttribute("aria-busy", "true");
  if (source?.read) return settle(found.wrong.text, () => refuse(found.wrong.reason));
  return refuse(found.wrong.reason);
}

/** A text that the page itself cannot read: perhaps the server can. */
async function settle(text, otherwise) {
  try {
    update(read((await source.read(text)).xgid, state), { now: true });
  } catch {
    otherwise();
  }
}

function refuse(reason) {
  asking?.abort();
  clearTimeout(timer);
  wrong(reason);
  say(`Cannot read that: ${reason}`);
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

function question(delay) {
  clearTimeout(timer);
  asking?.abort();
  main.setAttribute("aria-busy", "true");
  timer = setTimeout(answer, delay);
}

async function answer() {
  if (!source) return; // connecting: the answer is asked for then
  const control = new AbortController();
  asking = control;
  const asked = state;
  try {
    const never = hopeless(asked);
    if (never) throw new AskError("bad_position", never);
    const found = await source.answer(questionOf(asked), control.signal);
    if (control.signal.aborted) return;
    failures = 0;
    const reasons = found.probe.not_covered ?? {};
    const score = asked.away && reasons.cube ? ` The cube and the plays: ${reasons.cube}.` : "";
    const failed = source.tables.filter((t) => t.failed).map((t) => ` Not read: ${t.failed}.`);
    if (failed.length || source.tables.some((t) => t.fingerprint === null)) drawTables(source.tables); // now known, having been opened
    say(answered(found.probe) + score + failed.join(""));
    show(found.probe, found.rolls, (name) => reasons[name] ?? found.why?.message ?? "no table answers");
  } catch (error) {
    if (control.signal.aborted) return;
    failed(asked, error);
    if (error.retry || error.code === "network") return; // still busy
  }
  main.setAttribute("aria-busy", "false");
}

/** Say why there is no answer, and ask again where that can help: after a network failure later each time. */
function failed(asked, error) {
  const help = error.code === "not_covered" && total(asked.us) ? remedy(asked, Boolean(source.read)) : "";
  const reason = help ? `${error.message}. ${help}` : error.message;
  const unanswered = !(error instanceof AskError) || error.code === "network";
  if (error.retry) say(`Working: ${error.message}`);
  else say(unanswered ? `No answer: ${reason}${error.code === "network" ? "; asking again" : ""}` : `Not covered: ${reason}`);
  if (error.retry || unanswered) {
    const wait = error.retry ?? Math.min(30, 2 ** failures++);
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
  const clash = us.findIndex((n, k) => n && them[us.length - 1 - k]);
  if (clash >= 0) return `both sides stand on your ${clash + 1} point`;
  const contact = points(us) + points(them) > us.length && !source.tables.some(({ kind }) => kind === "hypergammon");
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
  drawRolls(state, rolls, reason, (roll) => update({ ...state, dice: diceOf(roll) }, { now: true }));
  drawRace(state, probe, reason);
  const action = actionOf(probe?.cube, state.cube);
  document.title = titled([headline(action), probe?.position.counts ?? (total(state.us) ? textOf(state) : null)]);
}

const titled = (parts) => [...parts, source?.title, HEADING].filter(Boolean).join(" · ");

function say(text) {
  const status = one("#status");
  if (status.textContent !== text) status.textContent = text;
}

// -- controls -----------------------------------------------------------------------------------------------------

function drawControls() {
  theBoard.draw(state, source?.tables ?? []);
  if (!empty) box.value = textOf(state);
  const line = (who, side) => `${who}: ${total(side)} chequer${total(side) === 1 ? "" : "s"}, ${pips(side)} pip${pips(side) === 1 ? "" : "s"}`;
  one("#you-line").textContent = line("You, on roll", state.us);
  one("#they-line").textContent = line("They", state.them);
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
    if (event.target !== box && event.target.closest?.("input, select, textarea")) return;
    event.preventDefault(); // a box of one line would lose the ends of the others
    box.value = text;
    take(text);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    wrong(null);
    drawControls();
    box.blur();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.('input:not([type="radio"]):not([type="checkbox"]), select, textarea');
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
  one("#swap").addEventListener("click", () => update(swapped(state), { now: true }));
  one("#clear").addEventListener("click", () => update({ ...state, us: blank().us, them: blank().them }, { now: true }));
  one("#no-dice").addEventListener("click", () => update({ ...state, dice: [null, null] }, { now: true }));
  one("#copy").addEventListener("click", copy);
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
    const link = event.target.closest?.("#plays a");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.pushState(null, "", link.getAttribute("href"));
    load();
    one("#board .point[tabindex='0']")?.scrollIntoView?.({ block: "nearest" });
  });
  window.addEventListener("popstate", load);
}

async function copy() {
  const link = new URL(toAddress(state, location.search), location.href).href;
  try {
    await navigator.clipboard.writeText(link);
  } catch { // not allowed, or no secure page
    const area = el("textarea", { readonly: true, class: "unseen" });
    area.value = link;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    one("#copy").focus();
  }
  one("#copied").textContent = "copied";
  setTimeout(() => { one("#copied").textContent = ""; }, 2000);
}

build();
listen();
load();
async function begin() {
  try {
    source = await connect();
  } catch (error) {
    say(`No answer: ${error.message}; asking again`);
    setTimeout(begin, 1000 * Math.min(30, 2 ** failures++));
    return;
  }
  drawTables(source.tables);
  source.mets.forEach(offer);
  load();
}
begin();
