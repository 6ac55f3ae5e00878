"""Compiled: how many rolls one side needs, from all boards that play can make of it."""

from __future__ import annotations

from typing import Any

from bgfmt.jit import njit


@njit()
def roll_chances(ends: Any, results: Any, done: Any, means: Any, chances: Any) -> None:
    """The chance of each board to be done in exactly 0, 1, 2, ... rolls, when play makes the mean least.

    ends, results : as `kernels.roll_results` gives them, boards by falling pips; done (n,) bool: boards that need no
    more rolls. Filled are means (n,) and chances (n, rolls), whose last entry is of so many rolls or more.
    """
    many, rolls = chances.shape
    for x in range(many - 1, -1, -1):
        if done[x]:
            chances[x, 0] = 1.0
            continue
        total = 36.0
        double, step = 0, 2
        for r in range(21):
            weight = 2.0
            if r == double:
                weight = 1.0
                double, step = double + step, step + 1
            first = ends[21 * x + r]
            best = results[first]
            for i in range(first + 1, ends[21 * x + r + 1]):
                if means[results[i]] < means[best]:
                    best = results[i]
            total += weight * means[best]
            for i in range(1, rolls):
                chances[x, i] += weight * chances[best, i - 1]
            chances[x, rolls - 1] += weight * chances[best, rolls - 1]
        means[x] = total / 36.0
        for i in range(1, rolls):
            chances[x, i] /= 36.0
