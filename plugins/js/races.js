// Races: the rolls that a side needs, and the chances of both where each plays alone. `ask.js` asks; the twin in Python:
// bgfmt/analysis/races.py.

import { PIPS_PER_ROLL, chequers, countsText, highest, pips, rank } from "./bgfmt.js";

const FULL = 15; // only a side with all its chequers on the board can lose a gammon
const WHOLE = 65535; // a stored chance of 1
const HOME = 6;

/** Return stored chances, exact: what the reader gives in float32 is turned back into the stored integers. */
export const exact = (chances) => chances.map((c) => Math.round(c * WHOLE) / WHOLE);

/** Return mean and standard deviation of stored chances. */
export function moments(chances) {
  let mean = 0;
  let square = 0;
  chances.forEach((c, roll) => {
    const stored = Math.round(c * WHOLE);
    mean += roll * stored;
    square += roll * roll * stored;
  });
  mean /= WHOLE;
  return [mean, Math.sqrt(Math.max(square / WHOLE - mean * mean, 0))];
}

/** Return mean and standard deviation of calculated chances. */
function calculatedMoments(chances) {
  let mean = 0;
  let square = 0;
  chances.forEach((c, roll) => {
    mean += roll * c;
    square += roll * (roll * c);
  });
  return [mean, Math.sqrt(Math.max(square - mean * mean, 0))];
}

function within(chances) {
  let total = 0;
  return chances.map((c) => {
    total += c;
    return Math.min(total, 1);
  });
}

/** Return a side's race in the shape of the API, from means and deviations and, where known, chances. */
function race({ side, position_number, pips: count, last, first, bearoff, gammon }, origin) {
  const [mean_rolls, std_rolls] = last;
  const epc = mean_rolls * PIPS_PER_ROLL;
  const out = { side, position_number, pips: count, mean_rolls, std_rolls, epc, wastage: epc - count };
  if (first) [out.gammon_mean_rolls, out.gammon_std_rolls] = first;
  if (bearoff) Object.assign(out, { bearoff, off_within: within(bearoff) });
  if (gammon) Object.assign(out, { gammon, gammon_saved_within: within(gammon) });
  return { ...out, ...origin };
}

/** Return the race that a table's answer tells; `origin`: where it comes from. */
export function storedRace(found, origin) {
  const { side, position_number, pips: count } = found;
  const about = { side, position_number, pips: count };
  if (!found.bearoff) {
    const last = [found.mean_rolls, found.std_rolls];
    return race({ ...about, last, first: [found.gammon_mean_rolls, found.gammon_std_rolls] }, origin);
  }
  const of = (chances) => (chances ? { chances: exact(chances), moments: moments(chances) } : {});
  const [last, first] = [of(found.bearoff), of(found.gammon)];
  return race({ ...about, last: last.moments, first: first.moments, bearoff: last.chances, gammon: first.chances }, origin);
}

/** Return the race of a side from the chances that were calculated, or are those of a table on `points` points. */
export function calculatedRace(side, { bearoff, gammon, points, ...origin }) {
  const about = { side: countsText({ us: side }), position_number: rank(side, points ?? Math.max(HOME, highest(side))), pips: pips(side) };
  if (origin.source === "one-sided") return storedRace({ ...about, bearoff, gammon }, origin);
  return race({ ...about, last: calculatedMoments(bearoff), first: gammon && calculatedMoments(gammon), bearoff, gammon }, origin);
}

/** Sum in the order in which Python's library adds, so that equal plays stay equal and in one order. */
export function sum(values) {
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
export function chancesOf(us, them, ours, theirs) {
  const needs = (side, answer) => (chequers(side) < FULL ? 0 : answer.gammon ? 1 : null);
  const won = needs(them, theirs);
  const lost = needs(us, ours);
  const [a, b] = [exact(ours.bearoff), exact(theirs.bearoff)];
  return {
    win: Math.min(times(a, atLeast(b)), 1),
    win_gammon: won ? times(a, atLeast(exact(theirs.gammon))) : won,
    lose_gammon: lost ? times(b, [...atLeast(exact(ours.gammon)).slice(1), 0]) : lost,
  };
}

/** Return the same from calculated chances of both; those of the first chequer are null where no gammon can be lost. */
export function chancesAlone(ours, theirs) {
  const rolls = Math.max(ours.bearoff.length, theirs.bearoff.length, ours.gammon?.length ?? 0, theirs.gammon?.length ?? 0);
  const wide = (chances) => [...chances, ...new Array(rolls - chances.length).fill(0)];
  const [a, b] = [wide(ours.bearoff), wide(theirs.bearoff)];
  return {
    win: times(a, atLeast(b)),
    win_gammon: theirs.gammon ? times(a, atLeast(wide(theirs.gammon))) : 0,
    lose_gammon: ours.gammon ? times(b, [...atLeast(wide(ours.gammon)).slice(1), 0]) : 0,
  };
}
