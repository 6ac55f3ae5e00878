"""`python -m benchmarks.bkg_bearoff`: BKG's play in the bear-off, every pair of up to six men and every roll.

The plays are compared with exact two-sided ones.

Four rules choose a play: least expected rolls (``enr``), least W of the opponent (``w``), and the probability of
being off in as many rolls as the opponent expects to need, rounded down (``floor``) or to the nearest (``round``).
Ties go to the play with fewer expected rolls (except for ``w``), then to the smaller position number.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np

from bgfmt import solver
from bgfmt.extras.lab.engine.bkg import C1
from bgfmt.extras.lab.thumb import racing
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.results import Array, build_roll_results, build_single_moves
from bgfmt.jit import njit
from bgfmt.solver.machine import thread_count

Rule = Literal["enr", "w", "floor", "round"]
RULES: tuple[Rule, ...] = get_args(Rule)
POINTS = 6
MEN = 6
BIN = 0.05


@dataclass(frozen=True)
class Quality:
    """What a rule costs against exact play.

    differs : share of rolls in which the rule misses a better play. cost : mean loss in points a roll. worst,
    worst_at : the greatest loss and its position. by_chance : (20, 2) number of positions and mean cost by exact
    winning chance before the roll, in steps of 0.05.
    """

    rule: Rule
    differs: float
    cost: float
    worst: float
    worst_at: Position
    by_chance: Array


def measure_rules(rules: tuple[Rule, ...] = RULES, *, threads: int | None = None) -> list[Quality]:
    """Return the quality of each rule, measured over 851,929 positions and 36 rolls."""
    n = board.count(POINTS, MEN)
    table = solver.two_sided(POINTS, MEN, cubeful=False, recipe="exact")
    values = np.ascontiguousarray(np.asarray(table.equities)[:, :, 0])
    starts, results = build_roll_results(build_single_moves(POINTS, np.arange(n), np.arange(n)))
    kernel = C1.kernel
    rows = np.column_stack([kernel.enr[:n], kernel.chances[:n]])  # the table has all of them
    chance = values[1:, 1:] / 2 + 0.5
    place = np.minimum((chance / BIN).astype(np.int64), 19)
    many = np.bincount(place.reshape(-1), minlength=20)
    qualities = []
    for rule in rules:
        second = np.zeros(n) if rule == "w" else -rows[:, 0]
        out = np.zeros((n, n, 3))
        part = partial(costs, values, _ranking(rule, rows), second, starts, results.astype(np.int64), out)
        with ThreadPoolExecutor(thread_count(threads)) as pool:
            list(pool.map(part, range(1, n), range(2, n + 1)))
        cost, wrong, worst = (out[1:, 1:, k] for k in range(3))
        sums = np.bincount(place.reshape(-1), cost.reshape(-1), minlength=20)
        us, them = divmod(int(worst.argmax()), n - 1)
        at = Position(Side.from_number(us + 1, POINTS), Side.from_number(them + 1, POINTS))
        by_chance = np.stack([many, sums / np.maximum(many, 1)], axis=1)
        differs = float(wrong.mean() / 36)
        average = float(cost.mean())
        most = float(worst.max())
        qualities.append(Quality(rule, differs, average, most, at, by_chance))
    return qualities


def _ranking(rule: Rule, rows: Array) -> Array:
    """Return (n, n) float64 ranks [them, result]: the rule plays the result with the greatest one."""
    enr = rows[:, 0]
    chances = rows[:, 1:]
    if rule == "enr":
        return np.broadcast_to(-enr, (len(enr), len(enr))).copy()
    if rule == "w":
        with np.errstate(invalid="ignore", divide="ignore"):
            win = racing.win_chance(chances[:, None], chances[None, :])
        win[:, 0] = -1  # all off: the game is won
        return np.nan_to_num(-win)
    rolls = np.floor(enr + (1e-9 if rule == "floor" else 0.5)).astype(np.int64).clip(0, chances.shape[1])
    within = np.concatenate([np.zeros((len(enr), 1)), np.cumsum(chances, axis=1)], axis=1)
    within[0] = 1
    return np.ascontiguousarray(within[:, rolls].T)


EQUAL = 1e-12
DIFFERS = 1e-9  # points; plays with a smaller loss count as best


@njit("f8.2C, f8.2C, f8.1C, i8.1C, i8.1C, f8.3C, i8, i8")
def costs(
    values: Array, first: Array, second: Array, starts: Array, results: Array, out: Array, low: int, high: int
) -> None:
    """Compare the plays of a rule with exact play for sides on roll low..high-1, over all opponents and rolls.

    Parameters
    ----------
    values : (n, n) exact points of the side on roll, [us, them].
    first : (n, n) ranks [them, result]; the greatest is played.
    second : (n,) ranks of results that break ties; remaining ties go to the lesser number.
    starts, results : results of side us and roll r are results[starts[21 * us + r]:starts[21 * us + r + 1]].
    out : (n, n, 3) float64, filled with the mean cost in points, the rolls of 36 that cost anything, the greatest
        cost.
    """
    n = len(values)
    for us in range(low, high):
        for them in range(1, n):
            total = 0.0
            wrong = 0
            worst = 0.0
            roll = 21 * us
            for a in range(1, 7):
                for b in range(1, a + 1):
                    best = -2.0
                    chosen = -1
                    value = 0.0
                    for k in range(starts[roll], starts[roll + 1]):
                        s = results[k]
                        worth = 1.0 if s == 0 else -values[them, s]
                        best = max(best, worth)
                        if chosen >= 0:
                            gap = first[them, s] - first[them, chosen]
                            if abs(gap) <= EQUAL:
                                gap = second[s] - second[chosen]
                            if gap < -EQUAL or (abs(gap) <= EQUAL and s > chosen):
                                continue
                        chosen = s
                        value = worth
                    weight = 1 if a == b else 2
                    cost = best - value
                    total += weight * cost
                    worst = max(worst, cost)
                    wrong += weight * (cost > DIFFERS)
                    roll += 1
            out[us, them, 0] = total / 36
            out[us, them, 1] = wrong
            out[us, them, 2] = worst


def main() -> None:
    """Measure all rules and print what they cost."""
    qualities = measure_rules()
    print("851,929 positions of up to six men, 36 rolls, against exact two-sided play")
    print("rule    differs   average cost   worst")
    for one in qualities:
        line = f"{one.rule:<7} {100 * one.differs:6.3f} %   {one.cost:.7f}    {one.worst:.5f}"
        print(f"{line}  ({one.worst_at})")
    print("\nwinning chance  positions  " + "  ".join(f"{one.rule:>9}" for one in qualities))
    for k, (many, _) in enumerate(qualities[0].by_chance.tolist()):
        costs_by_rule = "  ".join(f"{one.by_chance[k, 1]:.7f}" for one in qualities)
        print(f"{k / 20:.2f}-{(k + 1) / 20:.2f}       {int(many):>9,}  {costs_by_rule}")


if __name__ == "__main__":
    main()
