"""Compiled: normal-distribution tables held against their own rule, in float32 as makebearoff takes each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_one_sided import workspace
from bgfmt.verifier.recurrence.kernels_plays import best_plays

Array = Any


@njit()
def expected_moments(best: Array, moments: Array, column: int, choice: int, divide: bool, out: Array) -> None:
    """out[0:2], float32: mean and deviation that follow from the plays best[:, choice]; gnubg's float32 steps.

    Times the reciprocal of 36, as the common build does it, or, `divide`, divided by 36.
    """
    one = np.float32(1)
    reciprocal = np.float32(1 / 36)
    whole = np.float32(36)
    mean = np.float32(0)
    square = np.float32(0)
    for a in range(6):
        for b in range(a + 1):
            y = best[a * (a + 1) // 2 + b, choice]
            rolls = one + moments[y, column]
            deviation = moments[y, column + 1]
            first = deviation * deviation
            second = rolls * rolls
            spread = first + second
            if a == b:
                mean = mean + rolls
                square = square + spread
            else:
                mean = mean + (rolls + rolls)
                square = square + (spread + spread)
    mean = mean / whole if divide else mean * reciprocal
    square = square / whole if divide else square * reciprocal
    product = mean * mean
    rest = square - product
    out[0] = mean
    out[1] = np.sqrt(rest)


@njit()
def check_moments(
    points: int,
    which: Array,
    terms: Array,
    steps: Array,
    keys: Array,
    moments: Array,
    first_full: int,
    divide: bool,
    room: int,
    fails: Array,
    off: Array,
    put_right: bool,
) -> None:
    """fails[x] bits 1 (bear off) and 2 (gammon) where stored moments differ in any bit from what follows.

    off : (n, 2) float64, greatest difference of the means and of the squares of the deviations. With put_right the
    moments and keys are corrected as it goes, in order.
    """
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    out = np.zeros(2, np.float32)
    for x in which:
        if x == 0:
            continue
        full = x >= first_full
        best_plays(
            points, x, terms, steps, keys, full, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        for part in range(2):
            if part == 1 and not full:
                out[0] = 0
                out[1] = 0
            else:
                expected_moments(best, moments, 2 * part, part, divide, out)
            a = moments[x, 2 * part]
            d = moments[x, 2 * part + 1]
            if a != out[0] or d != out[1]:
                fails[x] |= 1 << part
                off[x, 0] = max(off[x, 0], abs(np.float64(a) - np.float64(out[0])))
                off[x, 1] = max(off[x, 1], abs(np.float64(d) ** 2 - np.float64(out[1]) ** 2))
                if not (off[x, 0] < np.inf and off[x, 1] < np.inf):
                    off[x, 0] = np.inf
            if put_right:  # also where they are equal: minus zero equals zero
                moments[x, 2 * part] = out[0]
                moments[x, 2 * part + 1] = out[1]
                keys[x, part] = out[0]
