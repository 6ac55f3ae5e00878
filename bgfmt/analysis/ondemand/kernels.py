"""Compiled: all that play can make of one side, and both sides' values against each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.maxima import best_rolls, turned

HOME = 6
TILE = 1024  # lanes of a row taken together
LAST_PLY = 62  # the last number of rolls told apart; more count as this many


@njit()
def _number(counts: Any, terms: Any) -> int:
    above = 0
    number = 0
    for k in range(counts.size):
        above += counts[counts.size - 1 - k]
        number += terms[k, above]
    return number


@njit()
def _may_move(counts: Any, i: int, die: int) -> bool:
    """Whether the chequer on index i may move: off only when none is outside, with a larger die none higher."""
    if counts[i] == 0:
        return False
    if i >= die:
        return True
    higher = 0
    for k in range(HOME if i == die - 1 else i + 1, counts.size):
        higher += counts[k]
    return higher == 0  # type: ignore[no-any-return]


@njit()
def _shift(counts: Any, i: int, die: int, by: int) -> None:
    """Move (by = 1) a chequer from index i, or take the move back (by = -1)."""
    counts[i] -= by
    if i >= die:
        counts[i - die] += by


@njit()
def _slot(keys: Any, number: int) -> int:
    """Where a position number stands or may be put in an open hash table; entries are number + 1, 0 is free."""
    mask = keys.size - 1
    at = ((number * 0x9E3779B97F4A7C15) >> 24) & mask
    while keys[at] != 0 and keys[at] != number + 1:
        at = (at + 1) & mask
    return at  # type: ignore[no-any-return]


@njit()
def _insert(
    number: int, counts: Any, n: int, boards: Any, follow: Any, heads: Any, keys: Any, places: Any
) -> int:
    """Place of a board; as `n`, put before the others of its pips, where it is a new one."""
    at = _slot(keys, number)
    if keys[at] == 0:
        keys[at], places[at] = number + 1, n
        left = 0
        for k in range(counts.size):
            boards[n, k] = counts[k]
            left += (k + 1) * counts[k]
        follow[n] = heads[left]
        heads[left] = n
    return places[at]  # type: ignore[no-any-return]


@njit()
def reach(
    start: Any, terms: Any, alive: int, boards: Any, plies: Any, order: Any, keys: Any, places: Any, ends: Any,
    results: Any,
) -> int:  # fmt: skip
    """All boards that play can make of `start` (points,) int64, in order of falling pips, all off last.

    alive : bits of the numbers of own rolls after which the game may still go on; boards that come up after others
    only are not played on. Filled are, in order of discovery, boards (room, points) int8 and plies (room,) int64,
    bits of the numbers of rolls after which a board can come up; order (room,), the discoveries by falling pips;
    ends (21 room + 1,) and results int32: those of roll r of the board at x of `order` are
    results[ends[21 x + r] : ends[21 x + r + 1]]. keys, places : room for a hash table, a power of two, keys zero.
    Returns the number of boards, -1 where there is too little room for boards, -2 for results.
    """
    points, room = start.size, boards.shape[0]
    widest = max(2 * points * points, (points + 3) * (points + 2) * (points + 1) * points // 24) + 2
    counts = start.copy()
    pips = 0
    for k in range(points):
        pips += (k + 1) * counts[k]
    heads = np.full(pips + 1, -1, np.int64)
    follow = np.full(room, -1, np.int64)
    seen = np.full(room, -1, np.int64)
    n = 1 + _insert(_number(counts, terms), counts, 0, boards, follow, heads, keys, places)
    plies[0] = 1
    counts[:] = 0
    n += _insert(0, counts, n, boards, follow, heads, keys, places)
    used = 0
    out = 0
    sources = np.zeros(4, np.int64)
    moved = np.zeros(4, np.int64)
    for p in range(pips, -1, -1):
        board = heads[p]
        while board >= 0:
            order[out] = board
            later = plies[board] << 1
            if later >> (LAST_PLY + 1):
                later = (later & ((1 << (LAST_PLY + 1)) - 1)) | (1 << LAST_PLY)
            played = p > 0 and (plies[board] & alive) != 0
            for k in range(points):
                counts[k] = boards[board, k]
            high, low = 1, 0
            for roll in range(21):
                low += 1
                if low > high:
                    high, low = high + 1, 1
                if not played:
                    ends[21 * out + roll + 1] = used
                    continue
                if n + widest > room:
                    return -1
                if used + widest > results.size:
                    return -2
                for turn in range(1 if high == low else 2):
                    # every way to play the dice in this order; a double's sources never rise
                    depth = 0
                    sources[0] = points
                    while depth >= 0:
                        die = high if (depth + turn) % 2 == 0 else low
                        i = sources[depth] - 1
                        while i >= 0 and not _may_move(counts, i, die):
                            i -= 1
                        sources[depth] = i
                        if i < 0:
                            depth -= 1
                            if depth >= 0:
                                _shift(counts, sources[depth], moved[depth], -1)
                            continue
                        _shift(counts, i, die, 1)
                        moved[depth] = die
                        number = _number(counts, terms)
                        if depth + 1 < (4 if high == low else 2) and number != 0:
                            depth += 1
                            sources[depth] = i + 1 if high == low else points
                            continue
                        found = _insert(number, counts, n, boards, follow, heads, keys, places)
                        n = max(n, found + 1)
                        if seen[found] != 21 * board + roll:
                            seen[found] = 21 * board + roll
                            plies[found] |= later
                            results[used] = found
                            used += 1
                        _shift(counts, i, die, -1)
                ends[21 * out + roll + 1] = used
            out += 1
            board = follow[board]
    return n


@njit()
def solve_rows(
    first: int,
    last: int,
    rolling: Any,
    waiting: Any,
    ends_a: Any,
    results_a: Any,
    ends_b: Any,
    results_b: Any,
    gains: Any,
    doubling_a: Any,
    doubling_b: Any,
    won: Any,
    after: Any,
) -> None:
    """Boards first..last-1 of side A, none of which can become another, against all boards of side B.

    after (boards of A, boards of B, K): what a pair is worth to A when B is on roll; rows of what A's boards lead
    to must be there, and rows first..last-1 are filled. rolling, waiting (n, 2): the boards of B, from the first to
    past the last, against which a board of A is met with A on roll, and with B on roll. gains (n,): what B wins
    against it: 1, a gammon 2, 3. doubling_a, doubling_b: (may, passed, source, add, times) of each side, each (K,);
    won (K, 4): value to B of winning.
    """
    many, k = after.shape[1], after.shape[2]
    width = last - first
    rows = after.reshape(after.shape[0], many * k)
    # what a pair is worth to B when A is on roll, the boards of A side by side
    near = np.zeros((many, width, k))
    flat = near.reshape(many, width * k)
    total = np.empty(max(many, width) * k)
    best = np.empty(max(many, width) * k)
    begin, end = many, 0
    for u in range(first, last):
        begin, end = min(begin, waiting[u, 0]), max(end, waiting[u, 1])
        for c in range(k):
            near[many - 1, u - first, c] = won[c, gains[u]]
    step = max(1, TILE // k)
    for tile in range(0, many, step):  # so that rows which several boards lead to stay in the cache
        for u in range(first, last):
            low, high = max(tile, rolling[u, 0]), min(tile + step, rolling[u, 1])
            if high > low:
                lanes = (high - low) * k
                best_rolls(total[:lanes], best[:lanes], rows, ends_a, results_a, u, low * k, high * k)
                turned(near[low:high, u - first], total[:lanes].reshape(high - low, k), *doubling_a)
    lanes = width * k
    for t in range(begin, end):
        if ends_b[21 * t] == ends_b[21 * t + 1]:
            continue  # a board of B that no more is played on
        best_rolls(total[:lanes], best[:lanes], flat, ends_b, results_b, t, 0, lanes)
        turned(after[first:last, t], total[:lanes].reshape(width, k), *doubling_b)
