"""Compiled loops: the boards that rolls and play lead to, and the values of pairs of boards."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game.kernels_results import may_move, rank_counts, shift_chequers
from bgfmt.jit import njit
from bgfmt.solver.kernels.maxima import best_rolls, negate_for_opponent

__all__ = ["DOUBLING", "LAST_PLY", "TILE", "closure", "find_slot", "roll_chances", "solve_rows"]


TILE = 1024  # values of a row that are processed together, to stay in the cache
LAST_PLY = 62  # numbers of rolls from this on share a bit

#: forms of tuples that kernels take, see `bgfmt.jit.njit`
DOUBLING = "(b1.1C, f8.1C, i8.1C, f8.1C, f8.1C)"


@njit("i8.1C, i8")
def find_slot(keys: Any, number: int) -> int:
    """Return the index of a position number in a hash table with open addressing, or the free index to insert it at.

    keys : the table, of a power of two entries; an entry is a position number + 1, or 0 if it is free.
    """
    mask = keys.size - 1
    at = ((number * 0x9E3779B97F4A7C15) >> 24) & mask
    while keys[at] != 0 and keys[at] != number + 1:
        at = (at + 1) & mask
    return at  # type: ignore[no-any-return]


@njit()
def _insert(
    number: int, counts: Any, n: int, boards: Any, follow: Any, heads: Any, keys: Any, places: Any
) -> int:
    """Return the index of a board, inserting it as number `n` and first in the list of its pips if it is new."""
    at = find_slot(keys, number)
    if keys[at] == 0:
        keys[at] = number + 1
        places[at] = n
        left = 0
        for k in range(counts.size):
            boards[n, k] = counts[k]
            left += (k + 1) * counts[k]
        follow[n] = heads[left]
        heads[left] = n
    return places[at]  # type: ignore[no-any-return]


@njit()
def _next_plies(plies: int, alive: int) -> int:
    """Return the bits of the numbers of rolls after one more roll, 0 if the game is then over (see `closure`)."""
    later = plies << 1
    if later >> (LAST_PLY + 1):
        later = (later & ((1 << (LAST_PLY + 1)) - 1)) | (1 << LAST_PLY)
    if plies & alive == 0:
        later = 0
    return later


@njit()
def _mark_reached(
    found: int, number: int, die: int, later: int, one: int, two: int, three: int, plies: Any, pending: Any
) -> None:  # fmt: skip
    """Record that a board was reached by one chequer moved, with the rolls of which this move was a part.

    later : bits of the numbers of rolls if it was the first move of a roll.
    one, two, three : the same if one, two or three moves of `die` were left before it.
    """
    if number == 0:  # all off: the rest of the roll is not played
        plies[found] |= later | one | two | three
        return
    plies[found] |= one
    pending[found, die - 1, 0] |= two
    pending[found, die - 1, 1] |= three
    if later:
        for other in range(6):
            pending[found, other, 2 if other == die - 1 else 0] |= later


@njit("i8.1C, i8.2C, i8, i1.2C, i8.1C, i8.3C, i8.1C, i8.1C, i4.1C, i8.1C, i8.2C, i4.2C")
def closure(
    start: Any, terms: Any, alive: int, boards: Any, plies: Any, pending: Any, order: Any, keys: Any, places: Any,
    follow: Any, starts: Any, targets: Any,
) -> int:  # fmt: skip
    """Find all boards of one side that play can reach from one, including those between two dice of a roll.

    Parameters
    ----------
    start
        (points,) int64, the board to begin with.
    terms
        The binomials of `board.number_terms`.
    alive
        Numbers of this side's rolls after which the game may still go on, as bits (bit k is k rolls); boards that
        come up only after other numbers are not played on.
    boards
        (room, points) int8, filled with the boards in order of discovery.
    plies
        (room,) int64, filled with the numbers of whole rolls after which each board can come up, as bits.
    order
        (room,) int64, filled with the indices of the boards by falling pips, all chequers off last.
    starts, targets
        (6, room + 1) int64 and (6, moves) int32, filled: from the board at x of `order` one chequer moved by die d
        leads to boards targets[d - 1, starts[d - 1, x] : starts[d - 1, x + 1]], from the highest point down.
    pending, keys, places, follow
        Scratch: (room, 6, 3) int64, all 0; a hash table, keys all 0; (room + pips + 1,) int64, all -1.

    Returns
    -------
    The number of boards, -1 if they are more than there is room for.
    """
    points = start.size
    room = boards.shape[0]
    counts = start.copy()
    pips = 0
    for k in range(points):
        pips += (k + 1) * counts[k]
    heads = follow[room:]
    n: Any = np.int64(0)
    for _ in range(2):  # the start, and all off
        n = 1 + _insert(rank_counts(counts, terms), counts, n, boards, follow, heads, keys, places)
        counts[:] = 0
    plies[0] = 1
    # named, since a kernel is compiled anew for every constant it is called with
    there: Any = np.int64(1)
    back: Any = np.int64(-1)
    used = np.zeros(6, np.int64)
    out = 0
    for p in range(pips, -1, -1):
        board = heads[p]
        while board >= 0:
            if n + 6 * points > room:
                return -1
            order[out] = board
            later = _next_plies(plies[board], alive)
            for k in range(points):
                counts[k] = boards[board, k]
            for die in range(1, 7):
                starts[die - 1, out] = used[die - 1]
                one, two, three = pending[board, die - 1]  # rolls with these numbers of moves to come
                if p == 0 or later | one | two | three == 0:
                    continue
                for i in range(points - 1, -1, -1):
                    if not may_move(counts, i, die):
                        continue
                    shift_chequers(counts, i, die, there)
                    number = rank_counts(counts, terms)
                    found = _insert(number, counts, n, boards, follow, heads, keys, places)
                    shift_chequers(counts, i, die, back)
                    n = max(n, found + 1)
                    targets[die - 1, used[die - 1]] = found
                    used[die - 1] += 1
                    _mark_reached(found, number, die, later, one, two, three, plies, pending)
            out += 1
            board = follow[board]
    starts[:, n] = used
    return n  # type: ignore[no-any-return]


@njit(
    f"i8, i8, i8.2C, i8.2C, i8.1C, i4.1C, i8.1C, i4.1C, i8.1C, {DOUBLING}, {DOUBLING}, f8.2C, f8.3C, "
    "(f8.1C, f8.1C, f8.1C)"
)
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
    space: Any,
) -> None:
    """Compute the values of boards first..last-1 of side A, none of which can become another, against all of side B.

    Parameters
    ----------
    first, last
        The range of A's boards.
    rolling, waiting
        (n, 2) int64: for each board of A the range of B's boards, end exclusive, that it can stand against with A on
        roll, and with B on roll.
    ends_a, results_a, ends_b, results_b
        The results of the 21 rolls of both sides' boards, see `bgfmt.game.results.build_roll_results`.
    gains
        (n,) points that B wins by bearing off against each board of A: 1, 2 (gammon) or 3.
    doubling_a, doubling_b
        Rules of the cube for each side: (may, passed, source, add, times), each (K,); see `bgfmt.solver.columns`.
    won
        (K, 4) value to B of winning that many points.
    after
        (boards of A, boards of B, K) value of each pair to A when B is on roll. The rows of boards that A's boards
        lead to are read, rows first..last-1 are filled.
    space
        Scratch: (near, total, best).
    """
    many = after.shape[1]
    k = after.shape[2]
    width = last - first
    rows = after.reshape(after.shape[0], many * k)
    # value of each pair to B when A is on roll, the boards of A side by side
    flat = space[0][: many * width * k].reshape(many, width * k)
    near = flat.reshape(many, width, k)
    total = space[1]
    best = space[2]
    begin = many
    end = 0
    for u in range(first, last):
        begin = min(begin, waiting[u, 0])
        end = max(end, waiting[u, 1])
        for c in range(k):
            near[many - 1, u - first, c] = won[c, gains[u]]
    step = max(1, TILE // k)
    for tile in range(0, many, step):  # tiled so that rows which several boards lead to stay in the cache
        for u in range(first, last):
            low = max(tile, rolling[u, 0])
            high = min(tile + step, rolling[u, 1])
            if high > low:
                lanes = (high - low) * k
                best_rolls(total[:lanes], best[:lanes], rows, ends_a, results_a, u, low * k, high * k)
                negate_for_opponent(
                    near[low:high, u - first], total[:lanes].reshape(high - low, k), *doubling_a
                )
    lanes = width * k
    none: Any = np.int64(0)
    for t in range(begin, end):
        if ends_b[21 * t] == ends_b[21 * t + 1]:
            continue  # a board of B that is not played on
        best_rolls(total[:lanes], best[:lanes], flat, ends_b, results_b, t, none, lanes)
        negate_for_opponent(after[first:last, t], total[:lanes].reshape(width, k), *doubling_b)


@njit("i8.1C, i4.1C, b1.1C, f8.1C, f8.2C")
def roll_chances(ends: Any, results: Any, done: Any, means: Any, chances: Any) -> None:
    """Compute the distribution of the number of rolls until each board is done, when play minimises the mean.

    Parameters
    ----------
    ends, results
        Results of the 21 rolls of each board, boards by falling pips; see `bgfmt.game.results.build_roll_results`.
    done
        (n,) bool, boards that need no more rolls.
    means
        (n,) float64, filled with mean rolls.
    chances
        (n, rolls) float64, filled with the probability of exactly 0, 1, 2, ... rolls; the last column is of
        `rolls` - 1 rolls or more.
    """
    many, rolls = chances.shape
    for x in range(many - 1, -1, -1):
        if done[x]:
            chances[x, 0] = 1.0
            continue
        total = 36.0
        double = 0
        step = 2
        for r in range(21):
            weight = 2.0
            if r == double:
                weight = 1.0
                double = double + step
                step = step + 1
            first = ends[21 * x + r]
            best = results[first]
            for i in range(first + 1, ends[21 * x + r + 1]):
                if means[results[i]] < means[best]:
                    best = results[i]
            total += weight * means[best]
            for i in range(1, rolls):
                chances[x, i] += weight * chances[best, i - 1]
            chances[x, rolls - 1] += weight * chances[best, rolls - 1]
        means[x] = total / 36.0
        for i in range(1, rolls):
            chances[x, i] /= 36.0
