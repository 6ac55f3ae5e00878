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
    """Return the position number of one side's counts (points,), the ace point first.

    terms : what `board.number_terms` returns for these points.
    """
    above = 0
    number = 0
    for k in range(counts.size):
        above += counts[counts.size - 1 - k]
        number += terms[k, above]
    return number


@njit()
def may_move(counts: Any, i: int, die: int) -> bool:
    """Return whether the rules of bearing off let a chequer on point i + 1 (index i of `counts`) move by a die.

    A chequer is borne off only if none is outside the home board, and with a larger die than needed only if none is
    on a higher point. There is no contact. False if the point is empty.
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
    """Move a chequer by a die from index i of `counts` in place (by = 1), or take the move back (by = -1).

    With a die larger than i the chequer is borne off.
    """
    counts[i] -= by
    if i >= die:
        counts[i - die] += by


@njit("i1.2C, i8.2C, i8.1C, i8.2C, i4.2C")
def single_moves(counts: Any, terms: Any, place: Any, starts: Any, results: Any) -> None:
    """Find the results of moving one chequer with each die, for every position of one side.

    Positions are listed in some order, such as by pips, and identified by their index in it.

    Parameters
    ----------
    counts
        (n, points) int8, the chequers of each position in that order.
    terms
        What `board.number_terms` returns for these points.
    place
        (n,) index in that order of each position number.
    starts, results
        (6, n + 1) int64 and (6, n * points) int32, filled: with die d, position x can become the positions
        results[d - 1, starts[d - 1, x] : starts[d - 1, x + 1]], moves from the highest point first.
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
    """Write which positions each of the 21 rolls can lead to, for some positions of one side; return how many in all.

    Parameters
    ----------
    starts, results
        The moves of one chequer, as `single_moves` fills them. Positions are indices in its order.
    places
        (m,) int64, the positions that roll.
    ends
        (21 m,) int64, filled with the end in `out` of the results of each roll; rolls 11, 21, 22, 31, ... 66.
    out
        int32, filled with the results, roll after roll. If it is too short, -1 is returned.
    marks
        Scratch: int64 of length n + 1, zeroed before the first call.
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
