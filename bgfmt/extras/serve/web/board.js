// The board: 24 points, bar and tray, the side on roll below and its home on the right. Each side's points and bar are
// spin buttons; mouse, finger and keyboard set them. A point belongs to both sides, each by its own number: the triangle is
// the spin button of the side that stands there, on an empty point of the one whose half it lies in or that was chosen; the
// number at its end is that of the other side. So no two targets overlap.

import { one, svg } from "./dom.js";
import { MOST_CHEQUERS, PLACES, room, total } from "./state.js";

const WIDE = 40; // units of a point
const GAP = 34; // units between the halves
const SHOWN = 5; // chequers drawn on a point; more are a number
const R = 18;

/** Return lengths of the picture in its own units. On a phone the tray is left out, so that a point is 24 pixels wide. */
function measure(narrow) {
  const edge = narrow ? 40 : 27; // room for the numbers
  const tall = narrow ? 142 : 162; // of a point
  const rim = narrow ? 4 : 6;
  const wideBar = narrow ? 40 : 36;
  const right = rim + 6 * WIDE + wideBar;
  const tray = right + 6 * WIDE + rim;
  const height = 2 * (edge + tall) + GAP;
  const cubes = { centered: height / 2, owned: height - edge - 19, opponent: edge + 19 };
  const step = (tall - 10 - 2 * R) / (SHOWN - 1);
  return {
    narrow, edge, tall, rim, step, right, tray, height, cubes, bar: rim + 6 * WIDE, wideBar,
    middle: height / 2, width: narrow ? right + 6 * WIDE + rim : tray + 36 + rim,
  };
}

const names = { us: "Your", them: "Their" };
const nameOf = (who, point) => `${names[who]} ${point === PLACES ? "bar" : `${point} point`}`;
const plural = (n) => `${n} chequer${n === 1 ? "" : "s"}`;
/** The number of a point as the side on roll has it. */
const ours = (who, point) => (who === "us" ? point : 25 - point);
/** The point as the side on roll numbers it, null for a bar. */
const physical = (who, point) => (point === PLACES ? null : ours(who, point));

/**
 * Draw the board in `#points`, and say what a person does there.
 *
 * `change(who, point, count, typing)`, `typing` being one object for all digits of a number, and `move(who, from, to)` (0: off
 * the board, in the tray) are called. Returned are `draw(state, {full, unknown})`, which shows a state: `full` chequers a side
 * begins with, `unknown` where there is no position to show; and `choose("us" | "them" | null)`, whose chequers clicks add.
 */
export function board({ change, move }) {
  const root = one("#points");
  const phone = window.matchMedia("(max-width: 37.49rem)");
  const at = { us: 1, them: 1 }; // the point of each side that Tab reaches
  let points = null; // by side, the spin buttons
  let stacks = null; // by side, the chequers on each
  let loose = null; // what has no points: cube, dice, trays
  let lengths = null;
  let touched = ["us", 1];
  let state = null;
  let shown = { full: MOST_CHEQUERS, unknown: false };
  let chosen = null;
  let drag = null;
  let typed = { place: "", until: 0 };
  build();
  phone.addEventListener("change", build);

  /** Make the picture for the width of the window. */
  function build() {
    lengths = measure(phone.matches);
    points = { us: [], them: [] };
    stacks = { us: [], them: [] };
    loose = svg("g", { class: "loose" });
    root.querySelector(".picture")?.remove();
    root.append(picture());
    for (const [side, y] of Object.entries(lengths.cubes)) {
      const { style } = root.querySelector(`#cube [value="${side}"]`);
      style.top = `${(100 * y) / lengths.height}%`;
      style.left = `${(100 * (lengths.bar + lengths.wideBar / 2)) / lengths.width}%`;
    }
    if (state) draw(state, shown);
  }

  function draw(next, how = {}) {
    state = next;
    shown = { full: MOST_CHEQUERS, unknown: false, ...how };
    root.classList.toggle("unknown", shown.unknown);
    for (const who of ["us", "them"]) {
      points[who].forEach((point, k) => {
        const n = state[who][k];
        point.setAttribute("aria-valuenow", n);
        point.setAttribute("aria-valuemax", room(state[who], k + 1));
        point.setAttribute("aria-valuetext", plural(n));
        point.setAttribute("tabindex", k + 1 === at[who] ? 0 : -1);
        place(point, who, k + 1);
        stack(stacks[who][k], who, k + 1, n);
      });
    }
    loose.replaceChildren(...dice(), ...cube(), ...(lengths.narrow || shown.unknown ? [] : ["us", "them"].flatMap(tray)));
    tell();
  }

  /** The side that a click on a point goes to. */
  function owner(point) {
    if (chosen) return chosen;
    if (state.us[point - 1]) return "us";
    return state.them[24 - point] || point > 12 ? "them" : "us";
  }

  const standing = (who, point) => point < PLACES && state[who === "us" ? "them" : "us"][24 - point] > 0;
  const tell = () => { one("#touched").textContent = nameOf(...touched); };

  // -- what is drawn

  /** The left edge of a point of the side on roll. */
  function left(point) {
    const column = point <= 12 ? 12 - point : point - 13;
    return (column < 6 ? lengths.rim : lengths.right) + (column % 6) * WIDE;
  }

  function picture() {
    const { width, height, edge, rim, right, tray: trayLeft, narrow } = lengths;
    const box = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Points and bar", class: narrow ? "picture narrow" : "picture" });
    const felt = (x, wide, name = "felt") => svg("rect", { class: name, x, y: edge, width: wide, height: height - 2 * edge, rx: 3 });
    box.append(svg("rect", { class: "rim", width, height, rx: narrow ? 0 : 10 }), felt(rim, 6 * WIDE), felt(right, 6 * WIDE));
    if (!narrow) box.append(felt(trayLeft, 36, "felt tray"));
    for (let point = 1; point <= 24; point++) box.append(...triangle(point));
    const spinners = [];
    for (const who of ["them", "us"]) {
      for (let point = 1; point <= PLACES; point++) {
        stacks[who].push(svg("g", { class: `chequers ${who}` }));
        points[who].push(spinner(who, point));
        spinners.push(points[who].at(-1));
      }
    }
    box.append(svg("g", { class: "stacks", "aria-hidden": "true" }, ...stacks.them, ...stacks.us), ...spinners);
    loose.setAttribute("aria-hidden", "true");
    box.append(loose);
    return box;
  }

  function triangle(point) {
    const { edge, height, tall, narrow } = lengths;
    const x = left(point);
    const up = point > 12;
    const base = up ? edge : height - edge;
    const tip = up ? edge + tall - 18 : height - edge - tall + 18;
    const lift = narrow ? 13 : 8.5; // of the number from the end of the board
    const y = up ? edge - lift : height - lift;
    const number = svg("text", { class: "number", x: x + WIDE / 2, y, "aria-hidden": "true" }, String(point));
    return [svg("polygon", { class: point % 2 ? "odd" : "even", points: `${x + 2},${base} ${x + WIDE - 2},${base} ${x + WIDE / 2},${tip}` }), number];
  }

  function spinner(who, point) {
    const label = { role: "spinbutton", "aria-label": nameOf(who, point), "aria-valuemin": 0, "data-who": who, "data-point": point };
    return svg("g", { class: "point", ...label }, svg("rect", { class: "area", rx: 4 }));
  }

  /** Give a spin button its part of the board: the point or, where that is the other side's, the number at its end. */
  function place(spin, who, point) {
    const { edge, tall, height, middle, bar, wideBar } = lengths;
    const area = spin.querySelector(".area");
    const put = (x, y, width, high) => Object.entries({ x, y, width, height: high }).forEach((pair) => area.setAttribute(...pair));
    const number = physical(who, point);
    if (number === null) return put(bar, who === "us" ? middle + 20 : edge + 40, wideBar, middle - edge - 60);
    const up = number > 12;
    const mine = owner(number) === who;
    spin.classList.toggle("other", !mine);
    if (mine) return put(left(number), up ? edge : middle + GAP / 2, WIDE, tall);
    return put(left(number), up ? 0 : height - edge, WIDE, edge);
  }

  function stack(group, who, point, n) {
    const { bar, wideBar, middle, edge, height, step } = lengths;
    const shared = n > 0 && standing(who, point); // both sides on one point: side by side
    const wanted = `${n}${shared}`;
    if (group.dataset.drawn === wanted) return;
    group.dataset.drawn = wanted;
    const number = physical(who, point);
    const onBar = number === null;
    const down = onBar ? who === "us" : number > 12;
    const aside = shared ? (who === "us" ? -9 : 9) : 0;
    const x = onBar ? bar + wideBar / 2 : left(number) + WIDE / 2 + aside;
    const end = down ? edge + R + 2 : height - edge - R - 2;
    const base = onBar ? middle + (down ? 38 : -38) : end;
    const most = onBar ? 3 : SHOWN;
    const y = (k) => base + (down ? 1 : -1) * k * step;
    group.replaceChildren(...Array.from({ length: Math.min(n, most) }, (_, k) => disc(who, x, y(k), onBar ? 16 : R)));
    if (n > most) group.append(svg("text", { class: "count", x, y: y(most - 1) + 5.5 }, String(n)));
  }

  function disc(who, x, y, r = R) {
    const inner = who === "us" ? { class: "ring", r: r - 6 } : { class: "dot", r: r / 3 };
    return svg("g", {}, svg("circle", { class: "disc", cx: x, cy: y, r }), svg("circle", { cx: x, cy: y, ...inner }));
  }

  /** What a side has borne off, chequers on their edges. */
  function tray(who) {
    const { edge, height, middle, tray: x } = lengths;
    const off = Math.max(0, shown.full - total(state[who]));
    const y = (k) => (who === "us" ? height - edge - 11 - k * 10 : edge + 2 + k * 10);
    const edges = Array.from({ length: off }, (_, k) => svg("rect", { class: "edge", x: x + 3, y: y(k), width: 30, height: 9, rx: 2 }));
    const area = svg("rect", { class: "area", x, y: who === "us" ? middle : edge, width: 36, height: middle - edge });
    const number = svg("text", { class: "number", x: x + 18, y: who === "us" ? height - 8.5 : edge - 8.5 }, off ? `${off} off` : "");
    return svg("g", { class: `off chequers ${who}`, "data-who": who, "data-point": 0 }, area, edges, number);
  }

  function dice() {
    const { middle: y, right } = lengths;
    const spots = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];
    const die = (n, x) => {
      const pips = spots[n].map((s) => svg("circle", { class: "pip", cx: x - 8 + 8 * (s % 3), cy: y - 8 + 8 * Math.floor(s / 3), r: 2.6 }));
      return svg("g", {}, svg("rect", { class: "die-face", x: x - 14, y: y - 14, width: 28, height: 28, rx: 6 }), pips);
    };
    const center = right + 3 * WIDE;
    return state.dice.every(Boolean) ? [die(state.dice[0], center - 18), die(state.dice[1], center + 18)] : [];
  }

  function cube() {
    if (state.crawford || shown.unknown) return [];
    const x = lengths.bar + lengths.wideBar / 2;
    const y = lengths.cubes[state.cube];
    return [svg("rect", { class: "cube", x: x - 15, y: y - 15, width: 30, height: 30, rx: 6 }), svg("text", { class: "cube-value", x, y: y + 5.5 }, String(state.cube_value))];
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
    const able = point ? state[who][point - 1] > 0 : total(state[who]) < MOST_CHEQUERS; // from the tray
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
    const going = typed.place === nameOf(who, point) && now < typed.until && typed.text.length === 1 && typed.text !== "0";
    const text = going ? typed.text + key : key;
    typed = { place: nameOf(who, point), text, until: now + 1000, entry: going ? typed.entry : {} };
    set(who, point, Number(text), typed.entry);
  }

  function choose(who) {
    chosen = who;
    draw(state);
  }

  return { draw, choose };
}
