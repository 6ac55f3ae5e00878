"""The table that GNU Backgammon makes in memory where it finds no `gnubg_os0.bd`: every roll played by a fixed rule.

docs/theory/one-sided.md has the rule, which was found by evaluations of the program; tests repeat these. Rows are
rounded, not corrected: they add up to 65532 to 65540.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.solver.recipe import Recipe

POINTS, ROLLS, WHOLE = 6, 32, 65535


def heuristic(chequers: int, recipe: Recipe) -> Any:
    """Rows (n, 32) uint16 of up to `chequers` chequers on 6 points, by such a recipe."""
    n = board.count(POINTS, chequers)
    counts = np.ascontiguousarray(board.unrank_array(np.arange(n), POINTS), np.int64)
    rows = np.zeros((n, ROLLS), np.uint16)
    fill(counts, np.asarray(board.number_terms(POINTS), np.int64), recipe.play == "look-ahead", rows)
    return rows


@njit()
def fill(counts: Any, terms: Any, look_ahead: bool, rows: Any) -> None:
    """All rows; a play leads to a lower position number, so their order will do."""
    sums = np.zeros(ROLLS, np.int64)
    dice = np.zeros(4, np.int64)
    rows[0, 0] = WHOLE
    for x in range(1, len(counts)):
        sums[:] = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                many = 4 if high == low else 2
                dice[0] = high
                dice[1:] = low
                side = counts[x].copy()
                for k in range(many):
                    if not _play(side, dice, k, many, look_ahead):
                        break
                above = 0
                number = 0
                for k in range(POINTS):
                    above += side[POINTS - 1 - k]
                    number += terms[k, above]
                weight = 1 if high == low else 2
                for i in range(ROLLS - 1):
                    sums[i + 1] += weight * rows[number, i]
        for i in range(ROLLS):
            rows[x, i] = (sums[i] + 18) // 36


@njit()
def _play(side: Any, dice: Any, turn: int, many: int, look_ahead: bool) -> bool:
    """Play one die; False where nothing is left."""
    highest = POINTS - 1
    while highest >= 0 and side[highest] == 0:
        highest -= 1
    if highest < 0:
        return False
    die = dice[turn]
    source = -1
    if side[die - 1] > 0:
        source = die - 1
    elif die - 1 > highest:
        source = highest
    elif look_ahead:
        at = die - 1
        for k in range(turn + 1, many):
            at += dice[k]
            if source < 0 and at < POINTS and side[at] > 0:
                source = at
    if source < 0:
        for i in range(die, highest + 1):
            if side[i] >= 2 and side[i - die] == 0 and (source < 0 or side[i] > side[source]):
                source = i
    if source < 0:
        for i in range(die, highest + 1):
            if side[i] == 0:
                continue
            if (
                source < 0
                or side[i] > side[source]
                or (side[i] == side[source] and side[i - die] < side[source - die])
            ):
                source = i
    side[source] -= 1
    if source >= die:
        side[source - die] += 1
    return True
