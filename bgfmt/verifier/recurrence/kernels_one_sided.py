"""Compiled loops that hold the distributions of a one-sided table against its own rules."""

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
def halves_apart(stored: Array, sums: Array, right: Array, remainder: bool) -> bool:
    """Whether a stored row differs from the right one by exact halves rounded down alone.

    sums / 36 is what was rounded. A program that divides floats rounds 36 k + 18 either way. What is left over goes,
    with `remainder`, to the most likely roll all the same, among equally likely ones to any.
    """
    most_rounded = 0
    most_sum = 0
    for i in range(ROLLS):
        most_rounded = max(most_rounded, (sums[i] + 18) // 36)
        most_sum = max(most_sum, sums[i])
    left = 0
    taken = 0
    for i in range(ROLLS):
        value = np.int64(stored[i])
        left += right[i] - value
        if sums[i] % 36 == 18 and value == (sums[i] - 18) // 36:
            continue
        if value != (right[i] if not remainder else (sums[i] + 18) // 36):
            if not remainder or ((sums[i] + 18) // 36 + 1 < most_rounded and sums[i] < most_sum):
                return False
            taken += 1
    return not remainder or (left == 0 and taken <= 1)


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
    """out[0], out[1] (32 int64): what the rule gives for position x > 0 from `rows` and `gammon`; sums likewise.

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
                sums[0, i + 1] += weight * np.int64(rows[y, i])
    finish(sums[0], by_sums, out[0])
    if len(gammon) == 0 or x < first_full:
        return
    for a in range(6):
        for b in range(a + 1):
            roll = a * (a + 1) // 2 + b
            weight = 1 if a == b else 2
            y = best[roll, 0 if race else 1]
            if y >= first_full:
                for i in range(ROLLS - 1):
                    sums[1, i + 1] += weight * np.int64(gammon[y - first_full, i])
            elif not race:
                sums[1, 1] += weight * 65535
    if race:
        out[1, 0] = 65535
        for i in range(1, ROLLS):
            out[1, i] = (sums[1, i] + 18) // 36
    else:
        finish(sums[1], by_sums, out[1])


@njit()
def check_rows(
    points: int,
    which: Array,
    terms: Array,
    steps: Array,
    keys: Array,
    rows: Array,
    gammon: Array,
    first_full: int,
    by_sums: bool,
    race: bool,
    halves: bool,
    room: int,
    fails: Array,
    largest: Array,
) -> None:
    """Set bits of fails[x] (1 bearoff, 2 gammon) where a stored row is not what the rule gives, x > 0 in `which`.

    keys : (n, 2) ranks of the stored rows, bearoff and gammon. largest[x] : greatest difference of one number.
    halves : rows that differ by exact halves alone are let pass; see `halves_apart`.
    """
    best, plays, above, falls, sources, numbers, boards, board_falls, board_sources, board_found = workspace(
        points, room
    )
    sums = np.zeros((2, ROLLS), np.int64)
    out = np.zeros((2, ROLLS), np.int64)
    for x in which:
        if x == 0:
            continue
        both = len(gammon) > 0 and x >= first_full and not race
        best_plays(
            points, x, terms, steps, keys, both, best, plays, above, falls, sources, numbers, boards, board_falls,
            board_sources, board_found,
        )  # fmt: skip
        expected_rows(x, best, rows, gammon, first_full, by_sums, race, sums, out)
        parts = 2 if len(gammon) and x >= first_full else 1
        for part in range(parts):
            stored = rows[x] if part == 0 else gammon[x - first_full]
            most = 0
            for i in range(ROLLS):
                most = max(most, abs(np.int64(stored[i]) - out[part, i]))
            if most and not (halves and halves_apart(stored, sums[part], out[part], part == 0 or not race)):
                fails[x] |= 1 << part
                largest[x] = max(largest[x], min(most, 65535))


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
    sums = np.zeros((2, ROLLS), np.int64)
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
