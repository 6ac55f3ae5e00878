// The board: 24 points, bar and tray, the side on roll below and its home on the right. Each side's points and bar are
// spin buttons; mouse, finger and keyboard set them. A point belongs to both sides, each by its own number; a click
// goes to the side that stands there, on an empty point to the one whose half it lies in, or to the one chosen.

import { one, svg } from "./dom.js";
import { MOST_CHEQUERS, PLACES, room, total } from "./state.js";

const WIDE = 40; // of a point
const TALL = 162;
const GAP = 34; // between the halves
const EDGE = 19; // room for the numbers
const R = 18;
const STEP = 29;
const SHOWN = 5;
const RIM = 4;
const BAR = RIM + 6 * WIDE;
const RIGHT = BAR + 36;
const TRAY = RIGHT + 6 * WIDE + RIM;
const WIDTH = TRAY + 36 + RIM;
const HEIGHT = 2 * (EDGE + TALL) + GAP;
const MIDDLE = HEIGHT / 2;
const CUBES = { centered: MIDDLE, owned: HEIGHT - EDGE - 19, opponent: EDGE + 19 };

const names = { us: "Your", them: "Their" };
const place = (who, point) => `${names[who]} ${point === PLACES ? "bar" : `${point} point`}`;
const plural = (n) => `${n} chequer${n === 1 ? "" : "s"}`;
/** The number of a point as the side on roll has it. */
const ours = (who, point) => (who === "us" ? point : 25 - point);
/** The left edge of a point of the side on roll. */
function left(point) {
  const at = point <= 12 ? 12 - point : point - 13;
  return (at < 6 ? RIM : RIGHT) + (at % 6) * WIDE;
}

/**
 * The board in `#points`. `change(who, point, count, typing)`, `typing` being one object for all digits of a number,
 * and `move(who, from, to)` (0: off the board, in the tray) say what a person did. `draw(state)` shows a state,
 * `choose("us" | "them" | null)` says whose chequers clicks add.
 */
export function board({ change, move }) {
  const root = one("#points");
  const points = { us: [], them: [] };
  const at = { us: 1, them: 1 }; // the point of each side that Tab reaches
  let touched = ["us", 1];
  let state = null;
  let chosen = null;
  let drag = null;
  let typed = { place: "", until: 0 };
  const loose = svg("g", { "aria-hidden": "true", class: "loose" }); // what has no points: cube, dice, trays
  root.append(picture());

  function draw(next) {
    state = next;
    for (const who of ["us", "them"]) {
      points[who].forEach((point, k) => {
        const n = state[who][k];
        point.setAttribute("aria-valuenow", n);
        point.setAttribute("aria-valuemax", room(state[who], k + 1));
        point.setAttribute("aria-valuetext", plural(n));
        point.setAttribute("tabindex", k + 1 === at[who] ? 0 : -1);
        point.classList.toggle("other", owner(ours(who, k + 1), k + 1 === PLACES ? who : null) !== who);
        stack(point, who, k + 1, n);
      });
    }
    loose.replaceChildren(...dice(), ...cube(), ...["us", "them"].flatMap(tray));
    tell();
  }

  /** The side that a click on a point goes to. */
  function owner(point, known) {
    if (known) return known;
    if (chosen) return chosen;
    if (state.us[point - 1]) return "us";
    return state.them[24 - point] || point > 12 ? "them" : "us";
  }

  const standing = (who, point) => point < PLACES && state[who === "us" ? "them" : "us"][24 - point] > 0;
  const tell = () => { one("#touched").textContent = place(...touched); };

  // -- what is drawn

  function picture() {
    const box = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Points and bar", class: "picture" });
    const felt = (x, wide, name = "felt") => svg("rect", { class: name, x, y: EDGE, width: wide, height: HEIGHT - 2 * EDGE, rx: 3 });
    box.append(svg("rect", { class: "rim", width: WIDTH, height: HEIGHT, rx: 10 }), felt(RIM, 6 * WIDE), felt(RIGHT, 6 * WIDE), felt(TRAY, 36, "felt tray"));
    for (let point = 1; point <= 24; point++) box.append(...triangle(point));
    for (const who of ["them", "us"]) for (let point = 1; point <= PLACES; point++) box.append(spinner(who, point));
    box.append(loose);
    return box;
  }

  function triangle(point) {
    const x = left(point);
    const [base, tip] = point > 12 ? [EDGE, EDGE + TALL - 18] : [HEIGHT - EDGE, HEIGHT - EDGE - TALL + 18];
    const number = svg("text", { class: "number", x: x + WIDE / 2, y: point > 12 ? EDGE - 5.5 : HEIGHT - 5, "aria-hidden": "true" }, String(point));
    return [svg("polygon", { class: point % 2 ? "odd" : "even", points: `${x + 2},${base} ${x + WIDE - 2},${base} ${x + WIDE / 2},${tip}` }), number];
  }

  function spinner(who, point) {
    const bar = point === PLACES;
    const up = bar ? who === "us" : ours(who, point) > 12;
    const [x, y, high] = bar ? [BAR, up ? MIDDLE + 18 : EDGE + 38, MIDDLE - EDGE - 56] : [left(ours(who, point)), up ? EDGE : MIDDLE + GAP / 2, TALL];
    const label = { role: "spinbutton", "aria-label": place(who, point), "aria-valuemin": 0, "data-who": who, "data-point": point };
    const area = svg("rect", { class: "area", x: x + 1, y: y + 1, width: (bar ? 36 : WIDE) - 2, height: high - 2, rx: 4 });
    const group = svg("g", { class: "point", ...label }, area, svg("g", { class: `chequers ${who}` }));
    points[who].push(group);
    return group;
  }

  function stack(element, who, point, n) {
    const chequers = element.querySelector(".chequers");
    const shared = n > 0 && standing(who, point); // both sides on one point: side by side
    const wanted = `${n}${shared}`;
    if (chequers.dataset.drawn === wanted) return;
    chequers.dataset.drawn = wanted;
    const bar = point === PLACES;
    const down = bar ? who === "us" : ours(who, point) > 12;
    const x = bar ? BAR + 18 : left(ours(who, point)) + WIDE / 2 + (shared ? (who === "us" ? -9 : 9) : 0);
    const base = bar ? MIDDLE + (down ? 38 : -38) : down ? EDGE + R + 2 : HEIGHT - EDGE - R - 2;
    const most = bar ? 3 : SHOWN;
    const y = (k) => base + (down ? 1 : -1) * k * STEP;
    chequers.replaceChildren(...Array.from({ length: Math.min(n, most) }, (_, k) => disc(who, x, y(k), bar ? 16 : R)));
    if (n > most) chequers.append(svg("text", { class: "count", x, y: y(most - 1) + 5.5 }, String(n)));
  }

  function disc(who, x, y, r = R) {
    const inner = who === "us" ? { class: "ring", r: r - 6 } : { class: "dot", r: r / 3 };
    return svg("g", {}, svg("circle", { class: "disc", cx: x, cy: y, r }), svg("circle", { cx: x, cy: y, ...inner }));
  }

  /** What a side has borne off, chequers on their edges. */
  function tray(who) {
    const off = MOST_CHEQUERS - total(state[who]);
    const y = (k) => (who === "us" ? HEIGHT - EDGE - 11 - k * 10 : EDGE + 2 + k * 10);
    const edges = Array.from({ length: off }, (_, k) => svg("rect", { class: "edge", x: TRAY + 3, y: y(k), width: 30, height: 9, rx: 2 }));
    const area = svg("rect", { class: "area", x: TRAY, y: who === "us" ? MIDDLE : EDGE, width: 36, height: MIDDLE - EDGE });
    const number = svg("text", { class: "number", x: TRAY + 18, y: who === "us" ? HEIGHT - 5 : EDGE - 5.5 }, off ? `${off} off` : "");
    return svg("g", { class: `off chequers ${who}`, "data-who": who, "data-point": 0 }, area, edges, number);
  }

  function dice() {
    const spots = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];
    const die = (n, x) => {
      const pips = spots[n].map((s) => svg("circle", { class: "pip", cx: x - 8 + 8 * (s % 3), cy: MIDDLE - 8 + 8 * Math.floor(s / 3), r: 2.6 }));
      return svg("g", {}, svg("rect", { class: "die-face", x: x - 14, y: MIDDLE - 14, width: 28, height: 28, rx: 6 }), pips);
    };
    const middle = RIGHT + 3 * WIDE;
    return state.dice.every(Boolean) ? [die(state.dice[0], middle - 18), die(state.dice[1], middle + 18)] : [];
  }

  function cube() {
    if (state.crawford) return [];
    const y = CUBES[state.cube];
    return [svg("rect", { class: "cube", x: BAR + 3, y: y - 15, width: 30, height: 30, rx: 6 }), svg("text", { class: "cube-value", x: BAR + 18, y: y + 5.5 }, String(state.cube_value))];
  }

  // -- what a person does

  const which = (target) => {
    const found = target?.closest?.(".point, .off");
    return found && root.contains(found) ? [found.dataset.who, Number(found.dataset.point), found] : null;
  };

  function set(who, point, n, typing = null) {
    touch(who, point);
    change(who, point, n, typing);
  }

  function touch(who, point) {
    at[who] = point;
    touched = [who, point];
  }

  const add = (who, point, n) => set(who, point, state[who][point - 1] + n);

  // -- mouse and finger: a click adds, Shift or the right button takes away, a drag moves, also from and to the tray

  root.addEventListener("pointerdown", (event) => {
    const found = which(event.target);
    if (!found || event.button !== 0) return;
    const [who, point] = found;
    const able = point ? state[who][point - 1] > 0 : total(state[who]) < MOST_CHEQUERS;
    drag = { who, point, x: event.clientX, y: event.clientY, id: event.pointerId, ghost: null, able };
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag?.able || event.pointerId !== drag.id) return;
    if (!drag.ghost && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 8) return;
    if (!drag.ghost) {
      drag.ghost = svg("svg", { class: "ghost", viewBox: "0 0 40 40", "aria-hidden": "true" }, svg("g", { class: `chequers ${drag.who}` }, disc(drag.who, 20, 20)));
      document.body.append(drag.ghost);
      root.classList.add("dragging");
    }
    drag.ghost.style.left = `${event.clientX - 20}px`;
    drag.ghost.style.top = `${event.clientY - 20}px`;
  });
  // a finger that began on a chequer moves the chequer, not the page
  root.addEventListener("touchmove", (event) => drag?.able && event.cancelable && event.preventDefault(), { passive: false });
  document.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { who, point, ghost } = drag;
    drop();
    if (!ghost) return;
    root.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => root.removeEventListener("click", swallow, { capture: true }), 0);
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const to = landing(who, under);
    if (to === null || to === point) return;
    touch(who, to || point || 1);
    move(who, point, to);
  });
  document.addEventListener("pointercancel", drop);

  /** Where a chequer of a side is let go: a point by its own number, 0 for the tray and beside the board, else null. */
  function landing(who, under) {
    const found = which(under);
    if (!found) return under?.closest?.(".picture") ? null : 0;
    const [whose, point] = found;
    return whose === who || point === 0 || point === PLACES ? point : 25 - point;
  }

  function drop() {
    drag?.ghost?.remove();
    root.classList.remove("dragging");
    drag = null;
  }

  function swallow(event) {
    event.stopPropagation();
    event.preventDefault();
  }

  root.addEventListener("click", (event) => {
    const found = which(event.target);
    if (!found?.[1]) return;
    add(found[0], found[1], event.shiftKey ? -1 : 1);
    found[2].focus();
  });
  root.addEventListener("contextmenu", (event) => {
    const found = which(event.target);
    if (!found?.[1]) return;
    event.preventDefault();
    if (event.pointerType === "touch") return; // a long press is a slow drag
    add(found[0], found[1], -1);
    found[2].focus();
  });
  one("#more").addEventListener("click", () => add(...touched, 1));
  one("#fewer").addEventListener("click", () => add(...touched, -1));

  // -- keyboard

  root.addEventListener("focusin", (event) => {
    const found = which(event.target);
    if (!found) return;
    points[found[0]][at[found[0]] - 1].setAttribute("tabindex", -1);
    touch(found[0], found[1]);
    found[2].setAttribute("tabindex", 0);
    tell();
  });
  root.addEventListener("keydown", (event) => {
    const found = which(event.target);
    if (!found || event.ctrlKey || event.metaKey || event.altKey) return;
    const [who, point] = found;
    const now = state[who][point - 1];
    const walk = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const counts = { ArrowUp: now + 1, ArrowDown: now - 1, Home: 0, Delete: 0, Backspace: 0, End: Infinity };
    if (walk) points[who][point - 1 + walk]?.focus();
    else if (event.key in counts) set(who, point, counts[event.key]);
    else if (/^[0-9]$/.test(event.key)) digit(who, point, event.key);
    else return;
    event.preventDefault();
  });

  /** A digit sets the count; a second one within a second is its second digit: 1, then 2, is 12. */
  function digit(who, point, key) {
    const now = performance.now();
    const going = typed.place === place(who, point) && now < typed.until && typed.text.length === 1 && typed.text !== "0";
    const text = going ? typed.text + key : key;
    typed = { place: place(who, point), text, until: now + 1000, entry: going ? typed.entry : {} };
    set(who, point, Number(text), typed.entry);
  }

  function choose(who) {
    chosen = who;
    draw(state);
  }

  return { draw, choose };
}
