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
def _add(out: Any, found: int, number: int) -> int:
    for k in range(found):
        if out[k] == number:
            return found
    out[found] = number
    return found + 1


@njit()
def _singles(counts: Any, points: int, high: int, low: int, terms: Any, out: Any) -> int:
    """Larger die first, then smaller die first; a position met again keeps its first place."""
    found = 0
    for order in range(2):
        first, second = (high, low) if order == 0 else (low, high)
        for i in range(points - 1, -1, -1):
            if not _movable(counts, points, i, first):
                continue
            _move(counts, i, first)
            if _number(counts, points, terms) == 0:
                found = _add(out, found, 0)
            else:
                for j in range(points - 1, -1, -1):
                    if _movable(counts, points, j, second):
                        _move(counts, j, second)
                        found = _add(out, found, _number(counts, points, terms))
                        _back(counts, j, second)
            _back(counts, i, first)
    return found


@njit()
def _doubles(counts: Any, points: int, die: int, terms: Any, out: Any, path: Any) -> int:
    """Up to four moves, sources never rising: each set of sources leads to another position, so none repeats."""
    found = 0
    depth = 0
    path[0] = points  # next source to try is one below
    total = 0
    for k in range(points):
        total += counts[k]
    while depth >= 0:
        moved = False
        i = path[depth] - 1
        while i >= 0:
            if _movable(counts, points, i, die):
                moved = True
                break
            i -= 1
        if not moved:
            depth -= 1
            if depth >= 0:
                _back(counts, path[depth], die)
                if path[depth] < die:
                    total += 1
            continue
        path[depth] = i
        _move(counts, i, die)
        if i < die:
            total -= 1
        if depth == 3 or total == 0:
            out[found] = _number(counts, points, terms)
            found += 1
            _back(counts, i, die)
            if i < die:
                total += 1
        else:
            depth += 1
            path[depth] = i + 1
    return found


@njit()
def successors(sides: Any, high: Any, low: Any, terms: Any, width: int) -> Any:
    """Position numbers after every play of the rolls, and how many there are.

    sides : (N, points) int8 counts; high, low : (N,) dice; terms : the binomials of `board.number_terms`.
    width : room for the plays of one roll, at least C(points + 3, 4) and 2 * points * points.
    Returns (lengths (N,) int64, flat int64 array of all results one after another).
    """
    many, points = sides.shape
    room = np.empty(width, np.int64)
    path = np.empty(5, np.int64)
    counts = np.empty(points, np.int64)
    lengths = np.empty(many, np.int64)
    flat = np.empty(max(16, 8 * many), np.int64)
    used = 0
    for n in range(many):
        for k in range(points):
            counts[k] = sides[n, k]
        if high[n] == low[n]:
            found = _doubles(counts, points, high[n], terms, room, path)
        else:
            found = _singles(counts, points, high[n], low[n], terms, room)
        if used + found > len(flat):
            larger = np.empty(2 * len(flat) + found, np.int64)
            larger[:used] = flat[:used]
            flat = larger
        flat[used : used + found] = room[:found]
        used += found
        lengths[n] = found
    return lengths, flat[:used]


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
