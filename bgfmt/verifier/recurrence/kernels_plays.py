"""Compiled enumeration of race plays, in the order in which GNU Backgammon meets them.

Written apart from the solver, play by play, so that a file is judged by something that shares no shortcut with what
may have made it. A board is `above`: above[k] = chequers on the k highest points, k = 0..points. Taking one chequer
from index i to t lowers above[k] by one for k = points-i .. points-t-1, and the position number by
sum of C(above[k] + k - 2, k - 1) over those k, which running sums give in one subtraction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

Array = Any
HOME = 6
ROLLS = 21


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
    """Where a chequer on index i lands with `die`: an index, -1 for off, -2 where it may not move."""
    t = i - die
    if t >= 0:
        return t
    if top >= HOME or (t < -1 and i != top):
        return -2
    return -1


@njit()
def first_moves(
    points: int,
    x: int,
    above: Array,
    steps: Array,
    falls: Array,
    sources: Array,
    found: int,
    numbers: Array,
    boards: Array,
    board_falls: Array,
    board_sources: Array,
    board_found: Array,
) -> None:
    """Every board after one chequer has moved with one die: arrays [die - 1, q] for the q-th source.

    numbers holds -1 where that source may not move. Indexed in place: a slice costs more than the work done on it.
    """
    for a in range(6):
        for q in range(found):
            i = sources[q]
            t = landing(i, a + 1, sources[0])
            if t == -2:
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


@njit()
def double_plays(
    points: int,
    a: int,
    found: int,
    sources: Array,
    numbers: Array,
    boards: Array,
    board_falls: Array,
    board_sources: Array,
    board_found: Array,
    steps: Array,
    out: Array,
    one_board: Array,
    two: Array,
    three: Array,
    falls2: Array,
    falls3: Array,
    sources2: Array,
    sources3: Array,
) -> int:
    """Position numbers after every way to play the double of die a + 1, in order, into `out`; returns how many.

    The seven last arrays are working space, (points + 1,) int64 each.
    """
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
            if t == -2:
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
                if t == -2:
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
                    if t == -2:
                        continue
                    out[count] = third - (falls3[points - 1 - t] - falls3[points - l - 1])
                    count += 1
    return count


@njit()
def single_plays(
    points: int,
    a: int,
    die: int,
    found: int,
    numbers: Array,
    board_falls: Array,
    board_sources: Array,
    board_found: Array,
    out: Array,
    count: int,
) -> int:
    """Append the numbers after a second move with `die` on each board of a first move with die a + 1."""
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
            if t == -2:
                continue
            out[count] = one - (board_falls[a, q, points - 1 - t] - board_falls[a, q, points - j - 1])
            count += 1
    return count


@njit()
def outside(points: int, above: Array) -> int:
    """Chequers beyond the home board."""
    return above[points - HOME] if points > HOME else 0  # type: ignore[no-any-return]


@njit()
def best_plays(
    points: int,
    x: int,
    terms: Array,
    steps: Array,
    keys: Array,
    both: bool,
    best: Array,
    out: Array,
    above: Array,
    falls: Array,
    sources: Array,
    numbers: Array,
    boards: Array,
    board_falls: Array,
    board_sources: Array,
    board_found: Array,
) -> None:
    """best[roll, 0] (and 1 where `both`): the first play of least keys[:, 0] (keys[:, 1]) of each roll of x > 0.

    Rolls are numbered a * (a + 1) / 2 + b for dice a + 1 >= b + 1.
    """
    unrank(x, points, terms, above)
    found = survey(points, above, steps, falls, sources)
    first_moves(
        points,
        x,
        above,
        steps,
        falls,
        sources,
        found,
        numbers,
        boards,
        board_falls,
        board_sources,
        board_found,
    )
    one, two, three = (
        np.empty(points + 1, np.int64),
        np.empty(points + 1, np.int64),
        np.empty(points + 1, np.int64),
    )
    falls2, falls3 = np.empty(points + 1, np.int64), np.empty(points + 1, np.int64)
    sources2, sources3 = np.empty(points + 1, np.int64), np.empty(points + 1, np.int64)
    # with two chequers outside neither order can bear off, and the second order meets nothing new
    orders = 1 if outside(points, above) >= 2 else 2
    for a in range(6):
        for b in range(a + 1):
            roll = a * (a + 1) // 2 + b
            if a == b:
                count = double_plays(
                    points, a, found, sources, numbers, boards, board_falls, board_sources, board_found, steps, out,
                    one, two, three, falls2, falls3, sources2, sources3,
                )  # fmt: skip
            else:
                count = single_plays(
                    points, a, b + 1, found, numbers, board_falls, board_sources, board_found, out, 0
                )
                if orders == 2:
                    count = single_plays(
                        points, b, a + 1, found, numbers, board_falls, board_sources, board_found, out, count
                    )
            best[roll, 0] = out[0]
            least_key = keys[out[0], 0]
            for q in range(1, count):
                key = keys[out[q], 0]
                if key < least_key:
                    least_key = key
                    best[roll, 0] = out[q]
            if both:
                best[roll, 1] = out[0]
                least_key = keys[out[0], 1]
                for q in range(1, count):
                    key = keys[out[q], 1]
                    if key < least_key:
                        least_key = key
                        best[roll, 1] = out[q]
