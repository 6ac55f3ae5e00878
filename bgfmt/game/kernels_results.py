"""Compiled: every position's results of every roll, in a race, as sets of positions in any order of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

MOST = 1024  # more results than one order of two dice can have: points squared


@njit()
def single_moves(
    counts: Any, terms: Any, place: Any, points: int, home: int, starts: Any, results: Any
) -> None:
    """Results of moving one chequer with each die, for all positions in their order.

    counts (n, points) int8 in that order, such as by pips; terms as `board.number_terms`; place maps position
    numbers to it; starts (6, n + 1) int64 and results (6, n * points) int32 are filled, a CSR for each die.
    """
    n = counts.shape[0]
    after = np.zeros(points, np.int64)
    for die in range(1, 7):
        filled = 0
        for x in range(n):
            starts[die - 1, x] = filled
            highest = -1
            for p in range(points):
                if counts[x, p] > 0:
                    highest = p
            for p in range(points):
                if counts[x, p] == 0:
                    continue
                to = p - die
                if to < 0 and (highest >= home or (to < -1 and p != highest)):
                    continue
                for q in range(points):
                    after[q] = counts[x, q]
                after[p] -= 1
                if to >= 0:
                    after[to] += 1
                above = 0
                number = 0
                for k in range(points):
                    above += after[points - 1 - k]
                    number += terms[k, above]
                results[die - 1, filled] = place[number]
                filled += 1
        starts[die - 1, n] = filled


@njit()
def _spread(
    starts: Any, results: Any, die: int, have: Any, size: int, out: Any, marks: Any, mark: int
) -> int:
    """One more move with a die from each of `have`, without repeats; a side that is off stays off."""
    size_after = 0
    for i in range(size):
        x = have[i]
        if x == 0:
            if marks[0] != mark:
                marks[0] = mark
                out[size_after] = 0
                size_after += 1
            continue
        for s in range(starts[die, x], starts[die, x + 1]):
            y = results[die, s]
            if marks[y] != mark:
                marks[y] = mark
                out[size_after] = y
                size_after += 1
    return size_after


@njit()
def results_of(
    x: Any,
    starts: Any,
    results: Any,
    ends: Any,
    first: int,
    out: Any,
    written: int,
    marks: Any,
    a: Any,
    b: Any,
) -> int:
    """Results of the 21 rolls (dice 1..6, second up to the first) of position x; see `roll_results`.

    ends[first : first + 21] takes where each set ends in `out`, which is written from `written` on. Returns where
    the last one ends, or -1 when `out` is too short. a, b : int32, room for the results of one roll. marks :
    (n + 1,) int64; the last is the largest mark in use.
    """
    one: Any = np.int64(1)
    mark, k = marks[-1] + 1, first
    for d0 in range(6):
        for d1 in range(d0 + 1):
            a[0] = x
            if d0 == d1:
                size = one
                for _ in range(2):
                    size = _spread(starts, results, d0, a, size, b, marks, mark)
                    size = _spread(starts, results, d0, b, size, a, marks, mark + 1)
                    mark += 2
                if written + size > out.shape[0]:
                    return -1
                for i in range(size):
                    out[written + i] = a[i]
                written += size
            else:
                if written + 2 * MOST > out.shape[0]:
                    return -1
                size = _spread(starts, results, d0, a, one, b, marks, mark)
                mark += 1
                more = _spread(starts, results, d1, b, size, out[written:], marks, mark)
                size = _spread(starts, results, d1, a, one, b, marks, mark + 1)
                more += _spread(starts, results, d0, b, size, out[written + more :], marks, mark)
                mark += 2
                written += more
            ends[k] = written
            k += 1
    marks[-1] = mark
    return written


@njit()
def roll_results(starts: Any, results: Any, first: int, last: int, ends: Any, out: Any, marks: Any) -> int:
    """Results of the 21 rolls (dice 1..6, second up to the first) for positions first..last-1.

    ends (21 * (last - first)) int64 takes where each set ends in `out`, int32; returns how many were written,
    or -1 when `out` is too short. `marks` is int64 of size n + 1, zeroed before the first call.
    """
    a = np.empty(marks.shape[0], np.int32)
    b = np.empty(marks.shape[0], np.int32)
    written: Any = np.int64(0)  # no literal, for which numba would compile `results_of` once more
    for x in range(first, last):
        written = results_of(x, starts, results, ends, 21 * (x - first), out, written, marks, a, b)
        if written < 0:
            return -1
    return written  # type: ignore[no-any-return]
