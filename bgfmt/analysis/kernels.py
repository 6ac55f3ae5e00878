"""Compiled loops: the results of every play of a roll in a race, and exact equities of small races."""

from __future__ import annotations

from typing import Any

import numpy as np

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


@njit()
def best_reply(turned: Any, row: Any, weights: Any, starts: Any, results: Any, at: int, total: Any) -> None:
    """total[0:4] = sum over the rolls of weight * the best of turned[row, result] over the roll's results."""
    best = np.empty(4)
    for c in range(4):
        total[c] = 0.0
    for roll in range(21):
        for c in range(4):
            best[c] = -2.0
        for k in range(starts[at * 21 + roll], starts[at * 21 + roll + 1]):
            j = results[k]
            for c in range(4):
                best[c] = max(best[c], turned[row, j, c])
        for c in range(4):
            total[c] += weights[roll] * best[c]


@njit()
def exact_race(starts_a: Any, results_a: Any, starts_b: Any, results_b: Any, weights: Any) -> Any:
    """Equities of every pair of two families of positions, each closed under play, index 0 all off.

    starts_* : (21 * len + 1,) where the results of (position, roll) begin; results_* : indices, all smaller
    than the position's own. Returns (a on roll (A, B, 4), b on roll (B, A, 4)): cubeless, owned, centered,
    opponent, in double precision.
    """
    many_a = (len(starts_a) - 1) // 21
    many_b = (len(starts_b) - 1) // 21
    a = np.empty((many_a, many_b, 4))
    b = np.empty((many_b, many_a, 4))
    # the same values turned round: what they are worth to the side that has just played
    a_turned = np.empty((many_a, many_b, 4))
    b_turned = np.empty((many_b, many_a, 4))
    total = np.empty(4)
    for u in range(many_a):
        for t in range(many_b):
            for side in range(2):
                if side == 0:
                    if u == 0 or t == 0:
                        for c in range(4):
                            total[c] = 1.0 if u == 0 else -1.0
                    else:
                        best_reply(b_turned, t, weights, starts_a, results_a, u, total)
                        for c in range(4):
                            total[c] /= 36
                    for c in range(4):
                        a[u, t, c] = total[c]
                else:
                    if u == 0 or t == 0:
                        for c in range(4):
                            total[c] = 1.0 if t == 0 else -1.0
                    else:
                        best_reply(a_turned, u, weights, starts_b, results_b, t, total)
                        for c in range(4):
                            total[c] /= 36
                    for c in range(4):
                        b[t, u, c] = total[c]
                cashed = min(1.0, 2 * total[3])
                if side == 0:
                    a_turned[u, t, 0] = -total[0]
                    a_turned[u, t, 1] = -total[3]
                    a_turned[u, t, 2] = -max(total[2], cashed)
                    a_turned[u, t, 3] = -max(total[1], cashed)
                else:
                    b_turned[t, u, 0] = -total[0]
                    b_turned[t, u, 1] = -total[3]
                    b_turned[t, u, 2] = -max(total[2], cashed)
                    b_turned[t, u, 3] = -max(total[1], cashed)
    return a, b
