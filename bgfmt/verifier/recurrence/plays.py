"""The verifier's own rule of a roll: where every roll leads from every position, in GNU Backgammon's order.

Written apart from the solver, play by play, so that a file is judged by code that shares no shortcut with what may
have made it. A board is `above`: above[k] = chequers on the k highest points, k = 0..points. Taking one chequer from
index i to t lowers above[k] by one for k = points-i .. points-t-1, and the position number by the sum of
C(above[k] + k - 2, k - 1) over those k, which running sums give in one subtraction.

Rolls are numbered a * (a + 1) / 2 + b for dice a + 1 >= b + 1.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit

Array = Any
HOME = 6
ROLLS = 21
#: how many of the 36 throws each roll stands for
WEIGHTS = np.array([1 if a == b else 2 for a in range(6) for b in range(a + 1)])
NOWHERE = -2  # where a chequer lands that may not move


class Numbering(NamedTuple):
    """What kernels need to know of position numbers on some points.

    terms[k-1, s] = C(s + k - 1, k). steps[k, s] = what lowering s by one takes off it. room : plays of one roll at
    most.
    """

    points: int
    terms: Array
    steps: Array
    room: int


@lru_cache(maxsize=32)
def numbering(points: int) -> Numbering:
    """The numbering of positions on that many points."""
    terms = np.ascontiguousarray(board.number_terms(points))
    steps = np.zeros((points + 1, terms.shape[1]), np.int64)
    steps[1:, 1:] = np.diff(terms, axis=1)
    return Numbering(points, terms, steps, max(comb(points + 3, 4), 2 * points * points) + 8)


class Space(NamedTuple):
    """Working space for the plays of one position after another.

    above, falls, sources : the position, its running sums, and its occupied indices, highest first. numbers, boards,
    board_falls, board_sources, board_found : [die - 1, q] after the q-th of those chequers has moved; numbers are -1
    where it may not. one, two, three, falls2, falls3, sources2, sources3 : boards within a double. out : position
    numbers after the plays of a roll, in order. best : [roll, 0] the play that is chosen, [roll, 1] the play that
    saves the gammon.
    """

    points: int
    terms: Array
    steps: Array
    above: Array
    falls: Array
    sources: Array
    numbers: Array
    boards: Array
    board_falls: Array
    board_sources: Array
    board_found: Array
    one: Array
    two: Array
    three: Array
    falls2: Array
    falls3: Array
    sources2: Array
    sources3: Array
    out: Array
    best: Array


@njit()
def workspace(numbering: Numbering) -> Space:
    """Working space of one thread."""
    points = numbering.points
    return Space(
        points,
        numbering.terms,
        numbering.steps,
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points, np.int64),
        np.zeros((6, points), np.int64),
        np.zeros((6, points, points + 1), np.int64),
        np.zeros((6, points, points + 1), np.int64),
        np.zeros((6, points, points), np.int64),
        np.zeros((6, points), np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros(numbering.room, np.int64),
        np.zeros((ROLLS, 2), np.int64),
    )


# -- one move ----------------------------------------------------------------------------------------------------


@njit()
def unrank(x: int, points: int, terms: Array, above: Array) -> None:
    """Fill above[0..points] for position number x."""
    left = x
    s = terms.shape[1] - 1
    for k in range(points, 0, -1):
        while terms[k - 1, s] > left:
            s -= 1
        left -= terms[k - 1, s]
        above[k] = s
    above[0] = 0


@njit()
def survey(points: int, above: Array, steps: Array, falls: Array, sources: Array) -> int:
    """Running sums of what lowering each above[k] takes off the number; occupied indices, highest first.

    falls[k] = sum over k' <= k of steps[k', above[k']]. Returns how many indices are occupied.
    """
    found = 0
    falls[0] = 0
    for k in range(1, points + 1):
        falls[k] = falls[k - 1] + steps[k, above[k]]
        if above[k] != above[k - 1]:
            sources[found] = points - k
            found += 1
    return found


@njit()
def moved(
    points: int, above: Array, i: int, t: int, steps: Array, out: Array, falls: Array, sources: Array
) -> int:
    """The board after i -> t (t = -1: off) into `out`, with its survey; returns the number of occupied indices."""
    for k in range(points + 1):
        out[k] = above[k]
    for k in range(points - i, points - t):
        out[k] -= 1
    return survey(points, out, steps, falls, sources)


@njit()
def landing(i: int, die: int, top: int) -> int:
    """Where a chequer on index i lands with `die` if the highest is on `top`: an index, -1 for off, or NOWHERE."""
    t = i - die
    if t >= 0:
        return t
    if top >= HOME or (t < -1 and i != top):
        return NOWHERE
    return -1


# -- the plays of a roll -----------------------------------------------------------------------------------------


@njit()
def begin(space: Space, x: int) -> int:
    """Take up position x: its boards after one chequer has moved with one die; returns how many chequers to try.

    Boards are indexed in place, since a slice costs more than the work done on it.
    """
    points, above, steps, falls, sources = space.points, space.above, space.steps, space.falls, space.sources
    numbers, boards, board_falls = space.numbers, space.boards, space.board_falls
    board_sources, board_found = space.board_sources, space.board_found
    unrank(x, points, space.terms, above)
    found = survey(points, above, steps, falls, sources)
    for a in range(6):
        for q in range(found):
            i = sources[q]
            t = landing(i, a + 1, sources[0])
            if t == NOWHERE:
                numbers[a, q] = -1
                continue
            numbers[a, q] = x - (falls[points - 1 - t] - falls[points - i - 1])
            many = 0
            board_falls[a, q, 0] = 0
            boards[a, q, 0] = 0
            for k in range(1, points + 1):
                s = above[k] - (1 if points - i <= k < points - t else 0)
                boards[a, q, k] = s
                board_falls[a, q, k] = board_falls[a, q, k - 1] + steps[k, s]
                if s != boards[a, q, k - 1]:
                    board_sources[a, q, many] = points - k
                    many += 1
            board_found[a, q] = many
    return found


@njit()
def double_plays(space: Space, a: int, found: int) -> int:
    """Position numbers after every way to play the double of die a + 1, in order, into `out`; returns how many."""
    points, steps, sources, numbers, boards = (
        space.points, space.steps, space.sources, space.numbers, space.boards
    )  # fmt: skip
    board_falls, board_sources, board_found = space.board_falls, space.board_sources, space.board_found
    one_board, two, three, falls2, falls3 = space.one, space.two, space.three, space.falls2, space.falls3
    sources2, sources3, out = space.sources2, space.sources3, space.out
    count = 0
    die = a + 1
    for q in range(found):
        one = numbers[a, q]
        if one < 0:
            continue
        if one == 0:
            out[count] = 0
            count += 1
            continue
        for k in range(points + 1):
            one_board[k] = boards[a, q, k]
        for p in range(board_found[a, q]):
            j = board_sources[a, q, p]
            if j > sources[q]:
                continue
            t = landing(j, die, board_sources[a, q, 0])
            if t == NOWHERE:
                continue
            second = one - (board_falls[a, q, points - 1 - t] - board_falls[a, q, points - j - 1])
            if second == 0:
                out[count] = 0
                count += 1
                continue
            many2 = moved(points, one_board, j, t, steps, two, falls2, sources2)
            for o in range(many2):
                i = sources2[o]
                if i > j:
                    continue
                t = landing(i, die, sources2[0])
                if t == NOWHERE:
                    continue
                third = second - (falls2[points - 1 - t] - falls2[points - i - 1])
                if third == 0:
                    out[count] = 0
                    count += 1
                    continue
                many3 = moved(points, two, i, t, steps, three, falls3, sources3)
                for m in range(many3):
                    l = sources3[m]
                    if l > i:
                        continue
                    t = landing(l, die, sources3[0])
                    if t == NOWHERE:
                        continue
                    out[count] = third - (falls3[points - 1 - t] - falls3[points - l - 1])
                    count += 1
    return count


@njit()
def single_plays(space: Space, a: int, die: int, found: int, count: int) -> int:
    """Append to `out` the numbers after a second move with `die` on each board of a first move with die a + 1."""
    points, numbers, out, board_falls = space.points, space.numbers, space.out, space.board_falls
    board_sources, board_found = space.board_sources, space.board_found
    for q in range(found):
        one = numbers[a, q]
        if one < 0:
            continue
        if one == 0:
            out[count] = 0
            count += 1
            continue
        for p in range(board_found[a, q]):
            j = board_sources[a, q, p]
            t = landing(j, die, board_sources[a, q, 0])
            if t == NOWHERE:
                continue
            out[count] = one - (board_falls[a, q, points - 1 - t] - board_falls[a, q, points - j - 1])
            count += 1
    return count


@njit()
def roll_plays(space: Space, a: int, b: int, found: int, orders: int) -> int:
    """Position numbers after every play of dice a + 1 >= b + 1, in order, into `out`; returns how many.

    orders : 1 where playing the smaller die first meets nothing new.
    """
    if a == b:
        return double_plays(space, a, found)  # type: ignore[no-any-return]
    count = single_plays(space, a, b + 1, found, 0)
    return single_plays(space, b, a + 1, found, count) if orders == 2 else count


@njit()
def least(out: Array, count: int, keys: Array, column: int) -> int:
    """The first of `count` positions that has the least key."""
    best = out[0]
    key = keys[best, column]
    for q in range(1, count):
        other = keys[out[q], column]
        if other < key:
            key = other
            best = out[q]
    return best  # type: ignore[no-any-return]


@njit()
def best_plays(space: Space, x: int, keys: Array, both: bool) -> None:
    """best[roll, 0] (and 1 where `both`): the first play of least keys[:, 0] (keys[:, 1]) of each roll of x > 0."""
    found = begin(space, x)
    # with two chequers outside the home board neither order can bear off, and the second meets nothing new
    outside = space.above[space.points - HOME] if space.points > HOME else 0
    orders = 1 if outside >= 2 else 2
    roll = 0
    for a in range(6):
        for b in range(a + 1):
            count = roll_plays(space, a, b, found, orders)
            space.best[roll, 0] = least(space.out, count, keys, 0)
            if both:
                space.best[roll, 1] = least(space.out, count, keys, 1)
            roll += 1


# -- all plays of all positions ----------------------------------------------------------------------------------


@njit()
def successors(numbering: Numbering, n: int) -> Any:
    """Distinct positions after each roll of positions 0..n-1: (starts (21 n + 1,) int64, results int32).

    The results of roll r of position x are results[starts[21 x + r] : starts[21 x + r + 1]].
    """
    space = workspace(numbering)
    out = space.out
    seen = np.full(n, -1, np.int32)
    starts = np.zeros(ROLLS * n + 1, np.int64)
    results = np.empty(64 * n + 1024, np.int32)
    used = 0
    for x in range(1, n):
        found = begin(space, x)
        roll = ROLLS * x
        for a in range(6):
            for b in range(a + 1):
                count = roll_plays(space, a, b, found, 2)
                if used + count > len(results):
                    larger = np.empty(2 * len(results) + count, np.int32)
                    larger[:used] = results[:used]
                    results = larger
                mark = np.int32(roll % 2147483647)
                for q in range(count):
                    if seen[out[q]] != mark:
                        seen[out[q]] = mark
                        results[used] = out[q]
                        used += 1
                roll += 1
                starts[roll] = used
    return starts, results[:used].copy()


@lru_cache(maxsize=4)
def plays(points: int, chequers: int) -> tuple[Array, Array]:
    """(starts, results) of every position and roll; see `successors`."""
    starts, results = successors(numbering(points), board.count(points, chequers))
    return starts, results


@lru_cache(maxsize=8)
def pips(points: int, chequers: int) -> Array:
    """Pip count of every position, int64."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    return counts.astype(np.int64) @ np.arange(1, points + 1)


@lru_cache(maxsize=4)
def pip_order(points: int, chequers: int) -> tuple[Array, Array, Array]:
    """(pips, positions by pips, where each pip count begins among them, with an end)."""
    counted = pips(points, chequers)
    order = np.argsort(counted, kind="stable")
    return counted, order, np.searchsorted(counted[order], np.arange(counted.max() + 2))
