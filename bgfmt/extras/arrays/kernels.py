"""Compiled: the results of rolls on many boards."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game.kernels_results import may_move, rank_counts, shift_chequers
from bgfmt.jit import njit


@njit()
def unrank_counts(number: int, terms: Any, counts: Any) -> None:
    """Fill counts (points,) int64, the chequers on each point, from a position number.

    terms : the table of binomials that `board.number_terms` returns for this number of points.
    """
    last = counts.size - 1
    above = terms.shape[1] - 1
    for k in range(last, -1, -1):
        before = above
        while terms[k, above] > number:
            above -= 1
        number -= terms[k, above]
        if k < last:
            counts[last - k - 1] = before - above
    counts[last] = above


@njit("i1.2C, i8.2C, i8.2C, i8.1C, i8.1C, i8.1C, i8.1C")
def successors(sides: Any, dice: Any, terms: Any, counts: Any, path: Any, out: Any, lengths: Any) -> int:
    """Write the position numbers after every play of N rolls, each by a side of its own, in gnubg's order.

    Parameters
    ----------
    sides
        (N, points) int8, the chequers on each point.
    dice
        (N, 2) int64, the larger die first.
    terms
        The table of binomials that `board.number_terms` returns.
    counts, path
        Scratch: (points,) and (4,) int64.
    out
        int64, filled with one result after another; with space for N times the most results of a roll.
    lengths
        (N,) int64, filled with the number of results of each roll.

    Returns
    -------
    The number of results written to `out`.
    """
    used = 0
    for n in range(sides.shape[0]):
        for k in range(counts.size):
            counts[k] = sides[n, k]
        start = used
        if counts.any():
            used = list_results(counts, dice[n], terms, path, out, start)
        lengths[n] = used - start
    return used


@njit("i8.1C, i8.1C, i8.2C, i8.1C, i8.1C, i8")
def list_results(counts: Any, dice: Any, terms: Any, path: Any, out: Any, start: int) -> int:
    """Write the different results of one roll to `out` from index `start` on, in the order in which they are found.

    First come the plays that begin with the larger die, then those that begin with the smaller. For a double only
    plays with falling source points are tried: each leads to another position, so none repeats.

    Parameters
    ----------
    counts
        (points,) int64, the board; as before on return.
    dice
        (2,) int64, the larger die first.
    terms
        The binomials of `board.number_terms`.
    path
        Scratch: (4,) int64.
    out, start
        Position numbers are written to out[start:].

    Returns
    -------
    The index after the last result.
    """
    there: Any = np.int64(1)
    back: Any = np.int64(-1)
    double = dice[0] == dice[1]
    end = start
    last = counts.size - 1
    before = np.empty(4, np.int64)  # position numbers on the way
    before[0] = rank_counts(counts, terms)
    for order in range(1 if double else 2):
        depth = 0
        path[0] = counts.size  # the source point tried last; the next one is below it
        while depth >= 0:
            die = dice[order if depth == 0 else 1 - order]
            i = path[depth] - 1
            while i >= 0 and not may_move(counts, i, die):
                i -= 1
            path[depth] = i
            if i < 0:
                depth -= 1
                if depth >= 0:
                    shift_chequers(counts, path[depth], dice[order if depth == 0 else 1 - order], back)
                continue
            number = before[depth]
            above = 0
            for k in range(last - max(i - die, -1)):
                above += counts[last - k]
                if k >= last - i:  # one fewer from here on
                    number -= terms[k, above] - terms[k, above - 1]
            if number != 0 and depth < (3 if double else 1):
                shift_chequers(counts, i, die, there)
                depth += 1
                before[depth] = number
                path[depth] = i + 1 if double else counts.size
                continue
            out[end] = number
            known = end if double else start
            while out[known] != number:
                known += 1
            if known == end:
                end += 1
    return end
