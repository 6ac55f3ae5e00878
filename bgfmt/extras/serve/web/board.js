// The board: panels of six points, each point a spin button; mouse, finger and keyboard.

import { one, svg } from "./dom.js";
import { room, width } from "./state.js";

const WIDE = 50; // of a point
const TALL = 158;
const GAP = 26;
const EDGE = 22; // room for the numbers
const R = 20;
const STEP = 29;
const SHOWN = 5;
const HEIGHT = 2 * (TALL + EDGE) + GAP;

const names = { us: "Your", them: "Their" };
const plural = (n) => `${n} chequer${n === 1 ? "" : "s"}`;

/**
 * The board in `#panels`. `change(who, point, count, typing)`, `typing` being one object for all digits of a number, and `move(who, from, to)` (to 0: off) say what a
 * person did. `draw(state, tables)` shows a state.
 */
export function board({ change, move }) {
  const root = one("#panels");
  const points = { us: [], them: [] };
  const at = { us: 1, them: 1 }; // the point of each side that Tab reaches
  let touched = ["us", 1];
  let state = null;
  let drag = null;
  let typed = { key: "", until: 0 };

  function draw(next, tables) {
    state = next;
    const wanted = width(state, tables);
    if (points.us.length !== wanted) build(wanted);
    for (const who of ["us", "them"]) {
      points[who].forEach((point, k) => {
        const n = state[who][k];
        point.setAttribute("aria-valuenow", n);
        point.setAttribute("aria-valuemax", room(state[who], k + 1));
        point.setAttribute("aria-valuetext", plural(n));
        point.setAttribute("tabindex", k + 1 === at[who] ? 0 : -1);
        stack(point, who, n);
      });
    }
    one("#touched").textContent = `${names[touched[0]]} ${touched[1]} point`;
  }

  function build(wanted) {
    points.us = [];
    points.them = [];
    for (const who of ["us", "them"]) if (at[who] > wanted) at[who] = 1;
    if (touched[1] > wanted) touched = ["us", 1];
    root.className = `panels of${wanted / 6}`;
    root.replaceChildren();
    for (let first = 1; first <= wanted; first += 6) root.append(panel(first));
  }

  function panel(first) {
    const box = svg("svg", { viewBox: `0 0 ${6 * WIDE + 12} ${HEIGHT}`, role: "group", "aria-label": `Points ${first} to ${first + 5}`, class: "panel" });
    box.append(svg("rect", { class: "felt", x: 1, y: EDGE - 4, width: 6 * WIDE + 10, height: HEIGHT - 2 * EDGE + 8, rx: 8 }));
    box.append(svg("line", { class: "middle", x1: 10, x2: 6 * WIDE + 2, y1: HEIGHT / 2, y2: HEIGHT / 2 }));
    for (const who of ["them", "us"]) {
      for (let k = 0; k < 6; k++) box.append(spinner(who, first + k, 6 + k * WIDE));
    }
    return box;
  }

  function spinner(who, point, x) {
    const base = who === "us" ? HEIGHT - EDGE : EDGE;
    const tip = who === "us" ? base - TALL + 14 : base + TALL - 14;
    const top = who === "us" ? base - TALL : base;
    const label = { role: "spinbutton", "aria-label": `${names[who]} ${point} point`, "aria-valuemin": 0, "data-who": who, "data-point": point };
    const number = svg("text", { class: "number", x: x + WIDE / 2, y: who === "us" ? HEIGHT - 5 : 14, "aria-hidden": "true" }, String(point));
    const shape = svg("polygon", { class: `triangle ${point % 2 ? "odd" : "even"}`, points: `${x + 4},${base} ${x + WIDE - 4},${base} ${x + WIDE / 2},${tip}` });
    const area = svg("rect", { class: "area", x: x + 1, y: top, width: WIDE - 2, height: TALL, rx: 5 });
    const chequers = svg("g", { class: `chequers ${who}` });
    const group = svg("g", { class: "point", ...label }, area, shape, chequers, number);
    points[who].push(group);
    return group;
  }

  function stack(point, who, n) {
    const chequers = point.querySelector(".chequers");
    if (Number(chequers.dataset.n ?? 0) === n) return;
    chequers.dataset.n = n;
    const x = Number(point.querySelector(".area").getAttribute("x")) + WIDE / 2 - 1;
    const base = who === "us" ? HEIGHT - EDGE - R - 1 : EDGE + R + 1;
    const step = who === "us" ? -STEP : STEP;
    chequers.replaceChildren();
    for (let k = 0; k < Math.min(n, SHOWN); k++) chequers.append(disc(who, x, base + k * step));
    if (n > SHOWN) {
      const y = base + (SHOWN - 1) * step;
      chequers.append(svg("text", { class: "count", x, y: y + 6 }, String(n)));
    }
  }

  function disc(who, x, y) {
    const inner = who === "us" ? svg("circle", { class: "ring", cx: x, cy: y, r: R - 6 }) : svg("path", { class: "cross", d: `M${x - 7} ${y - 7}l14 14m0-14l-14 14` });
    return svg("g", {}, svg("circle", { class: "disc", cx: x, cy: y, r: R }), inner);
  }

  const which = (target) => {
    const point = target?.closest?.(".point");
    return point && root.contains(point) ? [point.dataset.who, Number(point.dataset.point), point] : null;
  };

  function touch(who, point) {
    at[who] = point;
    touched = [who, point];
  }

  function set(who, point, n, typing = null) {
    touch(who, point);
    change(who, point, n, typing);
  }

  function add(who, point, n) {
    set(who, point, state[who][point - 1] + n);
  }

  // -- mouse and finger

  root.addEventListener("pointerdown", (event) => {
    const found = which(event.target);
    if (!found || event.button !== 0) return;
    const [who, point] = found;
    drag = { who, point, x: event.clientX, y: event.clientY, id: event.pointerId, ghost: null, able: state[who][point - 1] > 0 };
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag?.able || event.pointerId !== drag.id) return;
    if (!drag.ghost && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 8) return;
    if (!drag.ghost) {
      drag.ghost = svg("svg", { class: "ghost", viewBox: "0 0 44 44", "aria-hidden": "true" }, svg("g", { class: `chequers ${drag.who}` }, disc(drag.who, 22, 22)));
      document.body.append(drag.ghost);
      root.classList.add("dragging");
    }
    drag.ghost.style.left = `${event.clientX - 22}px`;
    drag.ghost.style.top = `${event.clientY - 22}px`;
  });
  // a finger that began on a chequer moves the chequer, not the page
  root.addEventListener("touchmove", (event) => drag?.able && event.cancelable && event.preventDefault(), { passive: false });
  document.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { who, point, ghost } = drag;
    if (!ghost) {
      drag = null;
      return;
    }
    drop();
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const found = which(under);
    root.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => root.removeEventListener("click", swallow, { capture: true }), 0);
    if (found && found[0] === who) {
      touch(who, found[1]);
      if (found[1] !== point) move(who, point, found[1]);
    } else if (!found && !under?.closest?.(".panel")) {
      touch(who, point);
      move(who, point, 0);
    }
  });
  document.addEventListener("pointercancel", drop);

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
    if (!found) return;
    const [who, point, element] = found;
    add(who, point, event.shiftKey ? -1 : 1);
    element.focus();
  });
  root.addEventListener("contextmenu", (event) => {
    const found = which(event.target);
    if (!found) return;
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
    one("#touched").textContent = `${names[found[0]]} ${found[1]} point`;
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
    const place = `${who} ${point}`;
    const now = performance.now();
    const going = typed.place === place && now < typed.until && typed.text.length === 1 && typed.text !== "0";
    const text = going ? typed.text + key : key;
    typed = { place, text, until: now + 1000, entry: going ? typed.entry : {} };
    set(who, point, Number(text), typed.entry);
  }

  return { draw };
}
