// Both sides' chances to be off, by rolls: bars side by side, yours solid, theirs striped.

import { svg } from "./dom.js";

const WIDTH = 400;
const HEIGHT = 204;
const LEFT = 38;
const BASE = HEIGHT - 40;
const TOP = 12;

export function chart(distributions) {
  const rolls = Math.max(...distributions.map((d) => d?.length ?? 0));
  const used = Array.from({ length: rolls }, (_, k) => k).filter((k) => distributions.some((d) => (d?.[k] ?? 0) >= 0.0005));
  const [first, last] = [Math.min(...used), Math.max(...used)];
  const most = Math.max(...distributions.flatMap((d) => d ?? []));
  const step = [0.05, 0.1, 0.2, 0.25].find((s) => most / s <= 5) ?? 0.25;
  const high = Math.ceil(most / step - 1e-9) * step;
  const y = (chance) => BASE - ((BASE - TOP) * chance) / high;
  const slot = (WIDTH - LEFT - 4) / (last - first + 1);
  const wide = Math.min(26, slot * 0.42);
  const out = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Chances to be off, by rolls", class: "chart" });
  const stripes = svg("pattern", { id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  stripes.append(svg("rect", { class: "stripe-back", width: 6, height: 6 }), svg("line", { class: "stripe", x1: 0, x2: 0, y1: 0, y2: 6 }));
  out.append(svg("defs", {}, stripes));
  for (let chance = 0; chance <= high + 1e-9; chance += step) {
    out.append(svg("line", { class: chance ? "grid" : "axis", x1: LEFT, x2: WIDTH - 4, y1: y(chance), y2: y(chance) }));
    out.append(svg("text", { class: "tick end", x: LEFT - 5, y: y(chance) + 4 }, `${Math.round(100 * chance)} %`));
  }
  const every = Math.ceil((last - first + 1) / 16);
  for (let roll = first; roll <= last; roll++) {
    const middle = LEFT + (roll - first + 0.5) * slot;
    if ((roll - first) % every === 0) out.append(svg("text", { class: "tick", x: middle, y: BASE + 15 }, String(roll)));
    distributions.forEach((chances, side) => {
      const chance = chances?.[roll] ?? 0;
      if (chance < 0.0005) return;
      const x = distributions[1] ? middle + (side ? 0.5 : -wide - 0.5) : middle - wide / 2;
      out.append(svg("rect", { class: side ? "bar they" : "bar you", x, width: wide, y: y(chance), height: BASE - y(chance) }));
    });
  }
  out.append(svg("text", { class: "tick", x: (LEFT + WIDTH) / 2, y: HEIGHT - 7 }, "rolls to bear off the last chequer: you solid, they striped"));
  return out;
}
