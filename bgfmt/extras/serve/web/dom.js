// Elements made from plain values; text of unknown origin goes in as text alone.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
export const one = (selector) => document.querySelector(selector);

/** Replace what an element holds, and leave the focus where it was if the same link or button is there again. */
export function redraw(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  if (focused !== undefined) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

/** A table: its name, heads of the columns, and rows, the first cell of each its head. Cells are texts or elements. */
export function table(name, heads, rows, classes = "") {
  const part = (tag, role, ...more) => el(tag, { role, ...more[0] }, ...more.slice(1)); // roles outlive any `display`
  const cell = (value, k) => (k ? part("td", "cell", { "data-head": heads?.[k] }, value ?? "") : part("th", "rowheader", { scope: "row" }, value ?? ""));
  const line = (row) => part("tr", "row", { class: row.best ? "best" : null }, row.cells.map(cell));
  const titles = heads?.map((text) => (text ? part("th", "columnheader", { scope: "col" }, text) : part("td", "cell", {})));
  const head = heads && part("thead", "rowgroup", {}, part("tr", "row", {}, titles));
  const caption = el("caption", { class: "unseen" }, name);
  return part("table", "table", { class: classes || null, "aria-label": name }, caption, head, part("tbody", "rowgroup", {}, rows.map(line)));
}
