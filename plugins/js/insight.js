// What lies behind a double: market losers, take points, the best and the worst rolls. The twin in Python:
// bgfmt/analysis/insight.py. `ask.js` loads it when a question needs it.

import { NotCoveredError, chequers, parse } from "./bgfmt.js";
import { cube, play } from "./ask.js";
import { takePoints } from "./match.js";

const MONEY = [0.25, 0.2]; // take points for money, of a dead cube and of a live one
const OTHER = { centered: "centered", owned: "opponent", opponent: "owned" };
const chanceOf = ([high, low]) => (high === low ? 1 : 2) / 36;

/** The 21 rolls as they are played best: [{roll, value, next}], `next` with the other side on roll. */
async function rolled(tables, state, options) {
  const { rolls } = await play(tables, state, "all", { ...options, met_player: state.player, top: 1 });
  return rolls.map(({ roll, plays: [{ value, result }] }) => {
    const score = state.score && { ...state.score, away: [...state.score.away].reverse() };
    const next = { us: state.them, them: parse(result).us, cube: OTHER[state.cube], player: 1 - state.player, score };
    return { roll, value, next: { ...state, ...next } };
  });
}

/** The chance that the next double of the side that has just played is passed, or that it has won already. */
async function losing(tables, state, options) {
  if (!chequers(state.them)) return 1;
  let chance = 0;
  for (const { roll, next } of await rolled(tables, state, options)) {
    if (!chequers(next.them)) continue;
    const { takes } = await cube(tables, next, { ...options, met_player: next.player });
    if (!takes) chance += chanceOf(roll);
  }
  return chance;
}

/** What is told of a state {us, them, cube, cube_value, score, player}; null where something of it is not covered. */
export async function insight(tables, state, options) {
  try {
    const rolls = await rolled(tables, state, options);
    const [passed, losers] = [new Map(), {}];
    let all = 0;
    for (const { roll, next } of rolls) {
      const board = String(next.them);
      if (!passed.has(board)) passed.set(board, await losing(tables, next, options));
      if (passed.get(board)) losers[roll] = passed.get(board);
      all += chanceOf(roll) * passed.get(board);
    }
    const { us, them, jacoby } = state;
    let { win } = await cube(tables, { us, them, jacoby }, options);
    // where gammons are counted: the chance to win a match of one point
    win ??= (await cube(tables, { us, them, score: { away: [1, 1], crawford: false } }, { ...options, met_player: state.player })).mwc.no_double;
    const [dead, live] = state.score ? takePoints(state) : MONEY;
    const ranked = rolls.sort((a, b) => b.value - a.value).map(({ roll, value }) => [roll, value]);
    const [best, worst] = [ranked.slice(0, 3), ranked.slice(-3)].map((some) => Object.fromEntries(some));
    return { win: 1 - win, take_point: dead, live_take_point: live, market_losers: all, losing_rolls: losers, best_rolls: best, worst_rolls: worst };
  } catch (error) {
    if (error instanceof NotCoveredError) return null;
    throw error;
  }
}
