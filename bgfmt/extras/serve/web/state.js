// The state of the page, and its address. Board, box, controls and answer are all drawn from the state.
//
// A state is one plain object: us, them (25 counts each, the last one the bar), roll ("61" or null), dice (the two radios, perhaps one of
// them null), cube, for money the rules jacoby and beavers (true, false or null: not said), and for match play away
// ([us, them] or null), crawford, cube_value, met, met_player, extend_met.

import { PositionError, parse, positionId, xgid } from "./bgfmt.js";

export const PLACES = 25; // points 1 to 24 and the bar
export const MOST_CHEQUERS = 15;
export const EXAMPLE = "0,1,0,0,1/0,1,1";
const RULES = ["jacoby", "beavers"];
const OURS = ["p", "roll", "cube", ...RULES, "away", "crawford", "cube_value", "met", "met_player", "extend_met"];
const OWNERS = ["centered", "owned", "opponent"];

const wide = (side) => [...side, ...new Array(PLACES - side.length).fill(0)];
export const total = (side) => side.reduce((sum, c) => sum + c, 0);
export const pips = (side) => side.reduce((sum, c, i) => sum + c * (i + 1), 0);
/** The highest occupied point, 25 for the bar, 0 for an empty side. */
export const points = (side) => side.findLastIndex((c) => c > 0) + 1;

export function blank() {
  const none = () => new Array(PLACES).fill(0);
  return { us: none(), them: none(), dice: [null, null], cube: "centered", jacoby: null, beavers: null, away: null, crawford: false, cube_value: 1, met: null, met_player: null, extend_met: null };
}

/** The two dice as the address has them, the larger first; null without both. */
export function rollOf({ dice: [a, b] }) {
  return a && b ? `${Math.max(a, b)}${Math.min(a, b)}` : null;
}

export function diceOf(roll) {
  const found = /^([1-6])[- ]?([1-6])$/.exec(roll ?? "");
  return found ? [Number(found[1]), Number(found[2])] : [null, null];
}

/** Counts with trailing zeros left out. */
const short = (side) => side.slice(0, Math.max(1, points(side))).join(",");

/** A position as the page writes it: "0,1,0,0,1/0,1,1", or one side alone. */
export function textOf({ us, them }) {
  return total(them) ? `${short(us)}/${short(them)}` : short(us);
}

/** What an ID looks like after its way through an address: "+" as a blank, "-" and "_" for "+" and "/". */
function mended(text) {
  const found = /^([A-Za-z0-9+/ _-]{14})(?::([A-Za-z0-9+/ _-]{12}))?$/.exec(text);
  if (!found || /^[\d\s]+$/.test(text)) return text;
  return text.replace(/[ -]/g, "+").replace(/_/g, "/");
}

/** How programs and forums write identifiers, perhaps with other text around them. */
const WRITTEN = [
  /()\bxgid[\s"'=:\]]*([-A-Z]+(?::(?:-?\d+|[DBR])?)+)/gi,
  /(^|[^-\w:])([-A-O]{26}(?::(?:-?\d+|[DBR])){7,9})/gi,
  /(^|[^\w+/])([A-Za-z0-9+/]{14})=*[^\w+/]+(?:[^:\n]{1,30}[\s:=]\W*)?([A-Za-z0-9+/]{12})(?![\w+/])/g,
  /()(?:position[- _]?id|set board|gnu ?bg[- _]?id)[\s"'=:\]]*([A-Za-z0-9+/]{14})(?![\w+/])/gi,
];

/** Under any name or none: what has the form of a Position ID and, where `parse` reads it, is one. */
const UNNAMED = /(?:^|[^\w+/-])(?=[A-Z+/]*[a-z\d])(?=[a-z]*[A-Z\d+/])([A-Za-z0-9+/]{14})(?![\w+/-]|:\w)/g;

/** A text without its line breaks, and those of mail. */
const joined = (text) => text.replace(/[\r\n]+[>\s=]*/g, "");

/** The identifier that a text has in it, as `parse` reads it; null where it has none, PositionError where several. */
function within(text) {
  const signs = text.replace(/%(?:25)*(3[ad]|2[bf])/gi, (_, code) => decodeURIComponent(`%${code}`)).replace(/[\u2010-\u2014\u2212]/g, "-");
  const plain = signs.replace(/<[^<>]*>/g, " ");
  const tags = (signs.match(/<[^<>]*>/g) ?? []).join("\n"); // as in the address of a link
  return named(plain) ?? named(tags) ?? unnamed(plain) ?? unnamed(tags);
}

/** The identifier in a text by its name or its form alone, as `within`. */
function named(plain) {
  for (const said of [plain, joined(plain)]) {
    for (const form of WRITTEN) {
      const found = [...said.matchAll(form)].map(([, , first, second]) => (second ? `${first}:${second}` : first.replace(/:+$/, "")));
      const ids = found.map((id) => (form.source.includes("{14}") ? id : whole(`XGID=${id}`, plain)));
      const different = new Set(ids.map((id) => id.split(":")[0])).size;
      if (different > 1) throw new PositionError(`the text holds ${different} different positions; paste one`);
      if (different) return ids[0];
    }
  }
  return null;
}

/** The Position ID in a text that calls it something else, or nothing, as `within`. */
function unnamed(text) {
  const ids = new Set([...text.matchAll(UNNAMED)].map((found) => found[1]).filter((id) => {
    try {
      return parse(id);
    } catch {
      return false;
    }
  }));
  if (ids.size > 1) throw new PositionError(`the text holds ${ids.size} different positions; paste one`);
  return [...ids][0] ?? null;
}

/** An XGID of which a line has left a part, whole; any other identifier as it is. */
function whole(id, text) {
  if (!id.startsWith("XGID=") || id.split(":").length > 9) return id;
  const fields = /[-A-Oa-o]{26}(?::-?\d+){9}/.exec(joined(text));
  return fields && `XGID=${fields[0]}`.startsWith(id) ? `XGID=${fields[0]}` : id;
}

/**
 * The state that a text stands for, on top of another state: sides, and what an identifier says of dice, cube and
 * score. Counts of two sides may collide or be unpassed; everything else that is no position is a PositionError.
 */
export function read(text, before = blank()) {
  const said = text.trim();
  const counts = /^[\d\s,]*\/[\d\s,]*$/.test(said) ? said.split("/").map(side) : null;
  if (counts) return { ...before, us: counts[0], them: counts[1] };
  const found = parse(within(said) ?? mended(said));
  if (!found.cube && /[A-Za-z]{2}/.test(said.replaceAll("bar", ""))) before = blank(); // a bare Position ID is all there is
  const state = { ...before, us: wide(found.us), them: wide(found.them ?? []) };
  if (found.cube) Object.assign(state, { cube: found.cube, dice: diceOf(found.roll), cube_value: found.cube_value });
  if (found.cube) Object.assign(state, { away: found.score?.away ?? null, crawford: found.score?.crawford ?? false });
  if (found.cube) for (const rule of RULES) state[rule] = found[rule] ?? null;
  return state;
}

function side(text) {
  const [points, bar] = text.split("bar");
  const counts = (points.match(/\d+/g) ?? []).map(Number);
  if (bar) counts.push(...new Array(Math.max(0, PLACES - 1 - counts.length)).fill(0), Number(bar));
  if (counts.length > PLACES) throw new PositionError(`${counts.length} counts: a side has 24 points and the bar`);
  if (total(counts) > MOST_CHEQUERS) throw new PositionError(`a side has at most 15 chequers, not ${total(counts)}`);
  return wide(counts);
}

/** What an address says: {state, example, wrong}; `wrong` is {text, reason} where it cannot be read. */
export function fromAddress(search) {
  const said = Object.fromEntries(new URLSearchParams(search));
  const example = said.p === undefined;
  let state;
  try {
    state = read(example ? EXAMPLE : said.p);
  } catch (error) {
    return { state: blank(), example: false, wrong: { text: said.p, reason: error.message } };
  }
  if (diceOf(said.roll)[0]) state.dice = diceOf(said.roll);
  if (OWNERS.includes(said.cube)) state.cube = said.cube;
  const away = /^(\d{1,2})-(\d{1,2})$/.exec(said.away ?? "");
  if (away) state.away = [Number(away[1]), Number(away[2])];
  for (const rule of RULES) if (/^(true|false)$/.test(said[rule] ?? "")) state[rule] = said[rule] === "true";
  if (/^[01]$/.test(said.met_player ?? "")) state.met_player = said.met_player;
  if (said.extend_met === "true") state.extend_met = true;
  if (said.crawford !== undefined) state.crawford = said.crawford === "true";
  if (/^\d{1,4}$/.test(said.cube_value ?? "")) state.cube_value = Number(said.cube_value);
  if (said.met) state.met = said.met;
  return { state, example, wrong: null };
}

/** The query of a state's address; parameters that are not ours stay as they are. */
export function toAddress(state, search = "") {
  const ours = (raw) => OURS.includes([...new URLSearchParams(raw).keys()][0]);
  const others = search.replace(/^\?/, "").split("&").filter((raw) => raw && !ours(raw));
  const own = [`p=${textOf(state)}`];
  if (rollOf(state)) own.push(`roll=${rollOf(state)}`);
  if (state.cube !== "centered") own.push(`cube=${state.cube}`);
  own.push(...matchParameters(state));
  return `?${[...own, ...others].join("&")}`;
}

/** For money the rules that are said, in a match the score. */
function matchParameters({ away, crawford, cube_value, met, met_player, extend_met, ...rules }) {
  if (!away) return [...(rules.jacoby ? ["jacoby=true"] : []), ...(rules.beavers === false ? ["beavers=false"] : [])];
  const out = [`away=${away.join("-")}`];
  if (crawford) out.push("crawford=true");
  if (cube_value !== 1) out.push(`cube_value=${cube_value}`);
  if (met) out.push(`met=${encodeURIComponent(met)}`);
  if (met_player) out.push(`met_player=${met_player}`);
  if (extend_met) out.push("extend_met=true");
  return out;
}

/** What is asked of the tables: the position and the parameters of the API's routes, as texts. */
export function questionOf(state) {
  const match = Object.fromEntries(matchParameters(state).map((pair) => pair.split("=").map(decodeURIComponent)));
  return { position: textOf(state), roll: rollOf(state), cube: total(state.them) ? state.cube : "centered", match };
}

const ACROSS = { centered: "centered", owned: "opponent", opponent: "owned" };

/** The other side on roll, without dice. */
export function swapped(state) {
  const away = state.away && [state.away[1], state.away[0]];
  return { ...state, us: state.them, them: state.us, dice: [null, null], cube: ACROSS[state.cube], away };
}

/** The state after a play, `result` being the counts that the API gives: the other side is on roll. */
export function after(state, result) {
  const [us, them] = result.split("/").map((text) => side(text));
  return them === undefined ? { ...state, us, dice: [null, null] } : swapped({ ...state, us, them });
}

/** As many chequers as fit on a point of a side: 15 less those on other points. */
export const room = (counts, point) => MOST_CHEQUERS - total(counts) + counts[point - 1];

/** A state with `n` chequers, or as many as fit, on a point of "us" or "them". */
export function put(state, who, point, n) {
  const counts = state[who].slice();
  counts[point - 1] = Math.max(0, Math.min(n, room(counts, point)));
  return { ...state, [who]: counts };
}

/** The identifiers of a state for other programs: {xgid, gnubg}, the side on roll being player 1. */
export function identifiers(state) {
  const { cube, cube_value, away, crawford } = state;
  const roll = rollOf(state);
  const rules = { jacoby: state.jacoby === true, beavers: state.beavers !== false };
  return { xgid: xgid(state, { cube, cube_value, roll, away, crawford, ...rules }), gnubg: `${positionId(state)}:${matchId(state)}` };
}

/** gnubg's Match ID. */
function matchId(state) {
  const [high, low] = rollOf(state) ?? "00";
  const length = state.away ? Math.max(...state.away) : 0;
  const [us, them] = (state.away ?? [0, 0]).map((away) => length - away);
  const owner = { centered: 3, owned: 1, opponent: 0 }[state.cube];
  const fields = [
    [Math.log2(state.cube_value), 4], [owner, 2], [1, 1], [state.crawford, 1], [1, 3], [1, 1], [0, 3],
    [high, 3], [low, 3], [length, 15], [them, 15], [us, 15], [state.jacoby !== true, 1],
  ];
  let bits = 0n;
  let at = 0n;
  for (const [value, size] of fields) {
    bits |= BigInt(Number(value)) << at;
    at += BigInt(size);
  }
  return btoa(String.fromCharCode(...Array.from({ length: 9 }, (_, k) => Number((bits >> BigInt(8 * k)) & 255n))));
}
