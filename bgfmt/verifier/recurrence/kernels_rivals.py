"""Compiled: whole one-sided tables by other programs' rules, for files that do not follow entry by entry.

A rule that ranks plays by numbers that the file does not hold (sums before rounding, floats) leaves nothing to check
an entry by but the table made again from the rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_one_sided import ROLLS, finish, workspace
from bgfmt.verifier.recurrence.kernels_plays import best_plays

Array = Any


@njit()
def rows_ranked_by_sums(
    points: int, terms: Array, steps: Array, keys: Array, room: int, divisor: int, rows: Array
) -> None:
    """Distributions (n, 32) uint16, the play being the first of least sum(i * sums[i]) // divisor.

    keys : (n, 1) uint32, zeroed; sums are 36 times the distribution, not yet rounded.
    """
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    sums = np.zeros(ROLLS, np.int64)
    out = np.zeros(ROLLS, np.int64)
    for x in range(1, len(rows)):
        best_plays(
            points, x, terms, steps, keys, False, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        sums[:] = 0
        for a in range(6):
            for b in range(a + 1):
                y = best[a * (a + 1) // 2 + b, 0]
                weight = 1 if a == b else 2
                for i in range(ROLLS - 1):
                    sums[i + 1] += weight * np.int64(rows[y, i])
        finish(sums, False, out)
        rank = 0
        for i in range(ROLLS):
            rows[x, i] = out[i]
            rank += i * sums[i]
        keys[x, 0] = rank // divisor


@njit()
def float_rows(
    points: int, terms: Array, steps: Array, keys: Array, room: int, which: Array, divide: bool, rows: Array
) -> None:
    """Distributions (m, 32) of the positions `which`, in the float type of `rows`, nothing rounded in between.

    keys : (n, 1) of the same float type, the means that choose the play; those of `which` are filled too. Sums are
    divided by 36, or multiplied by the reciprocal. `which` runs upwards; row k of `rows` is that of which[k], and
    positions before which[0] count as "first chequer off".
    """
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    whole = rows.dtype.type(36)
    part = rows.dtype.type(1) / whole
    sums = np.zeros(ROLLS, rows.dtype)
    first = which[0]
    for x in which:
        if x == 0:
            rows[0, 0] = 1
            continue
        best_plays(
            points, x, terms, steps, keys, False, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        sums[:] = 0
        for a in range(6):
            for b in range(a + 1):
                y = best[a * (a + 1) // 2 + b, 0]
                weight = rows.dtype.type(1 if a == b else 2)
                if y < first:
                    sums[1] += weight
                    continue
                for i in range(ROLLS - 1):
                    sums[i + 1] += weight * rows[y - first, i]
        mean = rows.dtype.type(0)
        for i in range(ROLLS):
            value = sums[i] / whole if divide else sums[i] * part
            rows[x - first, i] = value
            mean += rows.dtype.type(i) * value
        keys[x, 0] = mean
