"""Compiled loops: the results of every play of a roll in a race."""

from __future__ import annotations

from typing import Any

from bgfmt.jit import njit

HOME = 6


@njit()
def _number(counts: Any, points: int, terms: Any) -> int:
    above = 0
    number = 0
    for k in range(points):
        above += counts[points - 1 - k]
        number += terms[k, above]
    return number


@njit()
def _movable(counts: Any, points: int, i: int, die: int) -> bool:
    """Whether a chequer on index i may move `die` pips."""
    if counts[i] == 0:
        return False
    if i >= die:
        return True
    # nothing is borne off while a chequer stands outside, nor with a larger number past one on a higher point
    first = HOME if i == die - 1 else i + 1
    higher = 0
    for k in range(first, points):
        higher += counts[k]
    return higher == 0


@njit()
def _move(counts: Any, i: int, die: int) -> None:
    counts[i] -= 1
    if i >= die:
        counts[i - die] += 1


@njit()
def _back(counts: Any, i: int, die: int) -> None:
    counts[i] += 1
    if i >= die:
        counts[i - die] -= 1


@njit()
def _singles(counts: Any, points: int, dice: Any, terms: Any, out: Any, start: int) -> int:
    """Larger die first, then smaller die first; a position met again keeps its first place."""
    end = start
    for order in range(2):
        first = dice[order]
        second = dice[1 - order]
        for i in range(points - 1, -1, -1):
            if not _movable(counts, points, i, first):
                continue
            _move(counts, i, first)
            empty = _number(counts, points, terms) == 0
            for j in range(points - 1, -1, -1):
                if not empty and not _movable(counts, points, j, second):
                    continue
                if not empty:
                    _move(counts, j, second)
                out[end] = _number(counts, points, terms)
                if not empty:
                    _back(counts, j, second)
                k = start
                while out[k] != out[end]:
                    k += 1
                if k == end:
                    end += 1
            _back(counts, i, first)
    return end


@njit()
def _doubles(counts: Any, points: int, die: int, terms: Any, out: Any, start: int, path: Any) -> int:
    """Up to four moves, sources never rising: each set of sources leads to another position, so none repeats."""
    end = start
    depth = 0
    path[0] = points  # the source tried last; the next one is below it
    while depth >= 0:
        i = path[depth] - 1
        while i >= 0 and not _movable(counts, points, i, die):
            i -= 1
        path[depth] = i
        if i >= 0:
            _move(counts, i, die)
            number = _number(counts, points, terms)
            if depth < 3 and number != 0:
                depth += 1
                path[depth] = i + 1  # the same source may move again
                continue
            out[end] = number
            end += 1
        else:
            depth -= 1
        if depth >= 0:
            _back(counts, path[depth], die)
    return end


@njit()
def successors(sides: Any, dice: Any, terms: Any, counts: Any, path: Any, out: Any, lengths: Any) -> int:
    """Position numbers after every play of the rolls; returns how many were written to `out`.

    sides : (N, points) int8 counts; dice : (N, 2) int64, the larger first; terms : the binomials of
    `board.number_terms`; counts (points,) and path (4,) : int64, scratch; out : int64, one result after another,
    with room for N times the most plays of a roll; lengths : (N,) int64, how many results each has.
    """
    points = sides.shape[1]
    used = 0
    for n in range(sides.shape[0]):
        chequers = 0
        for k in range(points):
            counts[k] = sides[n, k]
            chequers += counts[k]
        start = used
        if chequers == 0:
            used = start
        elif dice[n, 0] == dice[n, 1]:
            used = _doubles(counts, points, dice[n, 0], terms, out, start, path)
        else:
            used = _singles(counts, points, dice[n], terms, out, start)
        lengths[n] = used - start
    return used
