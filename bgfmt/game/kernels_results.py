"""Compiled: the results of every roll for every position of a race, as sets of places in any order of positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

__all__ = [
    "HOME",
    "MAX_ORDER_RESULTS",
    "may_move",
    "rank_counts",
    "roll_results",
    "shift_chequers",
    "single_moves",
]


HOME = 6
MAX_ORDER_RESULTS = 1024  # upper bound for one order of two dice: points squared


@njit("i1.1C, i8.2C", "i8.1C, i8.2C")
def rank_counts(counts: Any, terms: Any) -> int:
    """Return the position number of counts (points,); terms as `board.number_terms`."""
    above = 0
    number = 0
    for k in range(counts.size):
        above += counts[counts.size - 1 - k]
        number += terms[k, above]
    return number


@njit()
def may_move(counts: Any, i: int, die: int) -> bool:
    """Return whether the chequer on index i may move by a die.

    It is borne off only if none is outside the home board, and with a larger die only if none is on a higher
    point.
    """
    if counts[i] == 0:
        return False
    if i >= die:
        return True
    higher = 0
    for k in range(HOME if i == die - 1 else i + 1, counts.size):
        higher += counts[k]
    return higher == 0  # type: ignore[no-any-return]


@njit()
def shift_chequers(counts: Any, i: int, die: int, by: int) -> None:
    """Move a chequer by a die from index i (by = 1), or take the move back (by = -1)."""
    counts[i] -= by
    if i >= die:
        counts[i - die] += by


@njit("i1.2C, i8.2C, i8.1C, i8.2C, i4.2C")
def single_moves(counts: Any, terms: Any, place: Any, starts: Any, results: Any) -> None:
    """Fill in the results of moving one chequer with each die, for all positions in their order.

    counts (n, points) int8 in that order, such as by pips; terms as `board.number_terms`; place maps position
    numbers to it; starts (6, n + 1) int64 and results (6, n * points) int32 are filled, a CSR for each die, the
    moves of a position from the highest point down.
    """
    n, points = counts.shape
    after = np.zeros(points, np.int64)
    # named, since a kernel is compiled anew for every constant it is called with
    there: Any = np.int64(1)
    back: Any = np.int64(-1)
    for die in range(1, 7):
        filled = 0
        for x in range(n):
            starts[die - 1, x] = filled
            after[:] = counts[x]
            for p in range(points - 1, -1, -1):
                if may_move(after, p, die):
                    shift_chequers(after, p, die, there)
                    results[die - 1, filled] = place[rank_counts(after, terms)]
                    shift_chequers(after, p, die, back)
                    filled += 1
        starts[die - 1, n] = filled


@njit()
def _apply_die(starts: Any, results: Any, die: int, have: Any, out: Any, marks: Any, mark: int) -> int:
    """Write the results of one more move with a die from each of `have`, without repeats; return how many.

    A side without moves is off and stays. marks[x] == mark marks what is in `out` already.
    """
    size = 0
    for x in have:
        first = starts[die, x]
        last = starts[die, x + 1]
        if first == last and marks[x] != mark:
            marks[x] = mark
            out[size] = x
            size += 1
        for s in range(first, last):
            y = results[die, s]
            if marks[y] != mark:
                marks[y] = mark
                out[size] = y
                size += 1
    return size


@njit()
def _four(starts: Any, results: Any, die: int, x: Any, a: Any, b: Any) -> int:
    """Write the results of four moves with a die from x into a (n, 2), and return how many; b is working space.

    Beside each result stands the place of its last move among those of the board before. The points never rise,
    so that no result repeats: what is higher has not changed, and its moves are as many as before.
    """
    a[0, 0] = x
    a[0, 1] = 0
    size = 1
    for _ in range(4):
        more = 0
        for i in range(size):
            first = starts[die, a[i, 0]]
            last = starts[die, a[i, 0] + 1]
            if first == last:
                b[more] = a[i]
                more += 1
            for s in range(first + a[i, 1], last):
                b[more, 0] = results[die, s]
                b[more, 1] = s - first
                more += 1
        a, b = b, a
        size = more
    return size


@njit("i8.2C, i4.2C, i8.1C, i8.1C, i4.1C, i8.1C")
def roll_results(starts: Any, results: Any, places: Any, ends: Any, out: Any, marks: Any) -> int:
    """Write the results of the 21 rolls for positions at some places, (m,) int64.

    Rolls are in the order of dice 1..6, the second up to the first. starts, results : moves as `single_moves`
    gives them, of each position from the highest point down. ends (21 m,) int64 receives the end of each set in
    `out`, int32; returns how many were written, or -1 if `out` is too short. `marks` is int64 of size n + 1,
    zeroed before the first call.
    """
    a = np.empty((marks.shape[0], 2), np.int32)
    b = np.empty((marks.shape[0], 2), np.int32)
    alone = np.empty(1, np.int32)
    mark = marks[-1]
    written = k = 0
    for x in places:
        for d0 in range(6):
            for d1 in range(d0 + 1):
                if written + 2 * MAX_ORDER_RESULTS > out.shape[0]:
                    return -1
                if d0 == d1:
                    size = _four(starts, results, d0, x, a, b)
                    if written + size > out.shape[0]:
                        return -1
                    out[written : written + size] = a[:size, 0]
                else:
                    mark += 1
                    larger = results[d0, starts[d0, x] : starts[d0, x + 1]]
                    smaller = results[d1, starts[d1, x] : starts[d1, x + 1]]
                    if larger.size == 0:
                        alone[0] = x
                        larger = alone
                    size = _apply_die(starts, results, d1, larger, out[written:], marks, mark)
                    size += _apply_die(starts, results, d0, smaller, out[written + size :], marks, mark)
                written += size
                ends[k] = written
                k += 1
    marks[-1] = mark
    return written
