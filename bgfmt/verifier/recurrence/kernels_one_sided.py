"""Compiled loops that hold one-sided tables against their own rules: distributions, normal moments, mean rolls."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_plays import best_plays

Array = Any
ROLLS = 32


@njit()
def workspace(points: int, room: int) -> Any:
    """Working space of `best_plays`, in its order."""
    return (
        np.zeros((21, 2), np.int64),
        np.zeros(room, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points, np.int64),
        np.zeros((6, points), np.int64),
        np.zeros((6, points, points + 1), np.int64),
        np.zeros((6, points, points + 1), np.int64),
        np.zeros((6, points, points), np.int64),
        np.zeros((6, points), np.int64),
    )


@njit()
def finish(sums: Array, by_sums: bool, out: Array) -> None:
    """out = sums / 36 rounded half up, what is left of 65535 given to the first most likely roll.

    Most likely among the rounded numbers or, by_sums, among the sums.
    """
    total = 0
    mode = 0
    for i in range(ROLLS):
        out[i] = (sums[i] + 18) // 36
        total += out[i]
        if (sums[i] > sums[mode]) if by_sums else (out[i] > out[mode]):
            mode = i
    out[mode] -= total - 65535


@njit()
def expected_rows(
    x: int,
    best: Array,
    rows: Array,
    gammon: Array,
    first_full: int,
    by_sums: bool,
    race: bool,
    sums: Array,
    out: Array,
) -> None:
    """out[0], out[1] (32 int64): what the rule gives for position x > 0 from `rows` and `gammon`.

    rows : (n, 32). gammon : rows of the positions from first_full on, those with every chequer on the board:
    distributions, or where `race` chances that no chequer is off after k rolls; an empty array for none.
    """
    sums[:] = 0
    for a in range(6):
        for b in range(a + 1):
            roll = a * (a + 1) // 2 + b
            weight = 1 if a == b else 2
            y = best[roll, 0]
            for i in range(ROLLS - 1):
                sums[i + 1] += weight * np.int64(rows[y, i])
    finish(sums, by_sums, out[0])
    if len(gammon) == 0 or x < first_full:
        return
    sums[:] = 0
    for a in range(6):
        for b in range(a + 1):
            roll = a * (a + 1) // 2 + b
            weight = 1 if a == b else 2
            y = best[roll, 0 if race else 1]
            if y >= first_full:
                for i in range(ROLLS - 1):
                    sums[i + 1] += weight * np.int64(gammon[y - first_full, i])
            elif not race:
                sums[1] += weight * 65535
    if race:
        out[1, 0] = 65535
        for i in range(1, ROLLS):
            out[1, i] = (sums[i] + 18) // 36
    else:
        finish(sums, by_sums, out[1])


@njit()
def check_rows(
    points: int,
    first: int,
    last: int,
    terms: Array,
    steps: Array,
    keys: Array,
    rows: Array,
    gammon: Array,
    first_full: int,
    by_sums: bool,
    race: bool,
    room: int,
    fails: Array,
    largest: Array,
) -> None:
    """Set bits of fails[x] (1 bearoff, 2 gammon) where a stored row is not what the rule gives, x = first..last-1.

    keys : (n, 2) ranks of the stored rows, bearoff and gammon. largest[x] : greatest difference of one number.
    """
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    sums = np.zeros(ROLLS, np.int64)
    out = np.zeros((2, ROLLS), np.int64)
    for x in range(max(1, first), last):
        both = len(gammon) > 0 and x >= first_full and not race
        best_plays(
            points, x, terms, steps, keys, both, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        expected_rows(x, best, rows, gammon, first_full, by_sums, race, sums, out)
        most = 0
        for i in range(ROLLS):
            off = abs(np.int64(rows[x, i]) - out[0, i])
            if off:
                fails[x] |= 1
                most = max(most, off)
        if len(gammon) and x >= first_full:
            for i in range(ROLLS):
                off = abs(np.int64(gammon[x - first_full, i]) - out[1, i])
                if off:
                    fails[x] |= 2
                    most = max(most, off)
        largest[x] = min(most, 65535)


@njit()
def settle_rows(
    points: int,
    first: int,
    terms: Array,
    steps: Array,
    keys: Array,
    labels: Array,
    label_bits: int,
    rows: Array,
    gammon: Array,
    first_full: int,
    by_sums: bool,
    race: bool,
    room: int,
    wrong: Array,
) -> None:
    """Put right every row from `first` on, in order; bits of wrong[x] (1 bearoff, 2 gammon) say which were wrong."""
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    sums = np.zeros(ROLLS, np.int64)
    out = np.zeros((2, ROLLS), np.int64)
    for x in range(max(1, first), len(rows)):
        both = len(gammon) > 0 and x >= first_full and not race
        best_plays(
            points, x, terms, steps, keys, both, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        expected_rows(x, best, rows, gammon, first_full, by_sums, race, sums, out)
        rank = 0
        for i in range(ROLLS):
            if np.int64(rows[x, i]) != out[0, i]:
                wrong[x] |= 1
                rows[x, i] = out[0, i]
            rank += i * out[0, i]
        keys[x, 0] = rank if len(labels) == 0 else (rank << label_bits) | labels[x]
        if len(gammon) and x >= first_full:
            rank = 0
            for i in range(ROLLS):
                if np.int64(gammon[x - first_full, i]) != out[1, i]:
                    wrong[x] |= 2
                    gammon[x - first_full, i] = out[1, i]
                rank += i * out[1, i]
            keys[x, 1] = rank


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
    first: int,
    last: int,
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
    for x in range(max(1, first), last):
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
    first: int,
    last: int,
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
    for x in range(max(1, first), last):
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
