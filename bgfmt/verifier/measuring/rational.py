"""Small tables in exact rational arithmetic: whole numbers over one power of 36, nothing rounded at all.

Every roll divides by 36 once, so after M rolls at most every value is a multiple of 36 ** -M.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bgfmt.game import board
from bgfmt.verifier.recurrence import rules

MOST_POSITIONS = board.count(6, 4)
WEIGHTS = tuple(1 if a == b else 2 for a in range(6) for b in range(a + 1))


def plays_of(points: int, chequers: int) -> list[list[list[int]]]:
    """[position][roll] -> distinct positions after it."""
    starts, results = rules.plays(points, chequers)
    n = board.count(points, chequers)
    flat, at = results.tolist(), starts.tolist()
    return [[flat[at[21 * x + r] : at[21 * x + r + 1]] for r in range(21)] for x in range(n)]


def longest(plays: list[list[list[int]]]) -> list[int]:
    """Most rolls a side can need, position by position."""
    out = [0] * len(plays)
    for x in range(1, len(plays)):
        out[x] = 1 + max(out[j] for results in plays[x] for j in results)
    return out


def two_sided(points: int, chequers: int) -> tuple[list[list[tuple[int, int, int, int]]], int]:
    """(values, scale): values[us][them] / scale = equities cubeless, owned, centered, opponent, exactly."""
    plays = plays_of(points, chequers)
    n = len(plays)
    scale = 36 ** (2 * max(longest(plays)))
    pips = rules.pips(points, chequers)
    values = [[(scale,) * 4 if us == 0 else (-scale,) * 4 for _ in range(n)] for us in range(n)]
    turned = [[(-scale,) * 4 if us == 0 else (scale,) * 4 for _ in range(n)] for us in range(n)]
    us, them = np.divmod(np.arange(n * n), n)
    order = np.argsort(pips[us] + pips[them], kind="stable")
    for number in order.tolist():
        u, t = divmod(number, n)
        if u == 0 or t == 0:
            continue
        row = turned[t]
        total = [0, 0, 0, 0]
        for weight, results in zip(WEIGHTS, plays[u], strict=True):
            options = [row[j] for j in results]
            for c in range(4):
                total[c] += weight * max(option[c] for option in options)
        e0, e1, e2, e3 = (value // 36 for value in total)
        values[u][t] = (e0, e1, e2, e3)
        double = min(scale, 2 * e3)
        turned[u][t] = (-e0, -e3, -max(e2, double), -max(e1, double))
    return values, scale


def mean_rolls(points: int, chequers: int) -> list[Fraction]:
    """Least expected rolls of every position, exactly."""
    plays = plays_of(points, chequers)
    scale = 36 ** (1 + max(longest(plays)))
    means = [0] * len(plays)
    for x in range(1, len(plays)):
        total = sum(
            weight * min(means[j] for j in results) for weight, results in zip(WEIGHTS, plays[x], strict=True)
        )
        means[x] = scale + total // 36
    return [Fraction(mean, scale) for mean in means]
