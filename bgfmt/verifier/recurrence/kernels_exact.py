"""Compiled: mean rolls and float64 distributions held against their own rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_one_sided import workspace
from bgfmt.verifier.recurrence.kernels_plays import best_plays

Array = Any


@njit()
def sum36(v: Array) -> float:
    """36 doubles added as J 9.7 adds them: eight running sums of four lanes, folded."""
    lane = np.zeros(4)
    for r in range(4):
        lane[r] = (((v[r] + v[r + 32]) + v[r + 16]) + (v[r + 4] + v[r + 20])) + (
            (v[r + 8] + v[r + 24]) + (v[r + 12] + v[r + 28])
        )
    return (lane[0] + lane[2]) + (lane[1] + lane[3])  # type: ignore[no-any-return]


@njit()
def check_means(
    points: int,
    which: Array,
    terms: Array,
    steps: Array,
    keys: Array,
    room: int,
    off: Array,
    put_right: bool,
) -> None:
    """off[x] = |stored mean - what follows from the smaller stored means|; keys : (n, 1) the means, float64."""
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    v = np.zeros(36)
    for x in which:
        if x == 0:
            continue
        best_plays(
            points, x, terms, steps, keys, False, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        at = 6
        for a in range(6):
            v[a] = keys[best[a * (a + 3) // 2, 0], 0]
            for b in range(a + 1, 6):
                v[at] = keys[best[b * (b + 1) // 2 + a, 0], 0]
                v[at + 1] = v[at]
                at += 2
        mean = 1 + sum36(v) / 36
        gap = abs(keys[x, 0] - mean)
        off[x] = gap if gap >= 0 else np.inf  # a stored NaN makes no number
        if put_right:
            keys[x, 0] = mean


@njit()
def exact_rows(
    points: int,
    which: Array,
    terms: Array,
    steps: Array,
    keys: Array,
    rows: Array,
    gammon: Array,
    first_full: int,
    room: int,
    out: Array,
    out_gammon: Array,
) -> None:
    """What follows for the positions `which`, x > 0, from float64 distributions `rows` (n, columns).

    keys : (n, 2) mean rolls to the last and to the first chequer off, the play of each roll having the least.
    gammon : rows of the positions from first_full on, (m, columns), or an empty array. out, out_gammon : (len(which),
    columns), the latter left alone for positions below first_full.
    """
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    columns = rows.shape[1]
    sums = np.zeros(columns + 1)
    for q in range(len(which)):
        x = which[q]
        if x == 0:
            continue
        full = len(gammon) > 0 and x >= first_full
        best_plays(
            points, x, terms, steps, keys, full, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        for part in range(2 if full else 1):
            sums[:] = 0
            for a in range(6):
                for b in range(a + 1):
                    weight = 1.0 if a == b else 2.0
                    y = best[a * (a + 1) // 2 + b, part]
                    if part == 0:
                        for i in range(columns - 1):
                            sums[i + 1] += weight * rows[y, i]
                    elif y >= first_full:
                        for i in range(columns - 1):
                            sums[i + 1] += weight * gammon[y - first_full, i]
                    else:  # a chequer is off: the gammon is saved
                        sums[1] += weight
            for i in range(columns):
                if part == 0:
                    out[q, i] = sums[i] / 36
                else:
                    out_gammon[q, i] = sums[i] / 36
