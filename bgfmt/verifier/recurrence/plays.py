"""The verifier's own rule of a roll: where every roll leads from every position, in GNU Backgammon's order.

Written apart from the solver, so that a file is judged by code that shares no shortcut with what may have made it. A
board is `above`: above[k] = chequers on the k highest points, k = 0..points. Taking one chequer from index i to t
lowers above[k] by one for k = points-i .. points-t-1, and the position number by the sum of C(above[k] + k - 2,
k - 1) over those k, which running sums give in one subtraction. Rolls are numbered a * (a + 1) / 2 + b,
dice a + 1 >= b + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.jit import njit

Array = NDArray[Any]
Progress = Callable[[int, int], None]
HOME = 6
ROLLS = 21
#: how many of the 36 throws each roll stands for
WEIGHTS = np.array([1 if a == b else 2 for a in range(6) for b in range(a + 1)])
NOWHERE = -2  # where a chequer lands that may not move
NONE: Any = np.int64(0)  # no literal, for which numba would compile functions once more


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
    """Working space for the plays of one position after another: boards by slots.

    Slot 0 is the position, 1 + points * (die - 1) + q the board after its q-th chequer has moved first with that die,
    and the last two are boards within a double. boards (slots, 3, points + 1) : `above`; running sums of what
    lowering each above[k] takes off the number; occupied indices, highest first. numbers, found (slots,) : position
    numbers, -1 where the chequer may not move, and how many indices are occupied. out : position numbers after the
    plays of a roll, in order.
    """

    numbering: Numbering
    boards: Array
    numbers: Array
    found: Array
    out: Array


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
NUMBERING = "bgfmt.verifier.recurrence.plays:Numbering(i8, i8.2C, i8.2C, i8)"
SPACE = f"bgfmt.verifier.recurrence.plays:Space({NUMBERING}, i8.3C, i8.1C, i8.1C, i8.1C)"


@njit()
def workspace(numbering: Numbering) -> Space:
    """Working space of one thread."""
    slots = 6 * numbering.points + 3
    return Space(
        numbering,
        np.zeros((slots, 3, numbering.points + 1), np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(numbering.room, np.int64),
    )


# -- one move ----------------------------------------------------------------------------------------------------


@njit("i8, i8, i8.2C, i8.1C")
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


@njit("i8.2C, i8.3C, i8.1C, i8.1C, i8, i8, i8, i8")
def move(
    steps: Array, boards: Array, numbers: Array, found: Array, before: int, i: int, t: int, after: int
) -> None:
    """Fill slot `after` with the board of slot `before` once a chequer has moved from index i to t (-1: off)."""
    points = len(steps) - 1
    first = points - i
    end = points - t
    numbers[after] = numbers[before] - (boards[before, 1, end - 1] - boards[before, 1, first - 1])
    for k in range(points + 1):
        boards[after, 0, k] = boards[before, 0, k]
    for k in range(first, end):
        boards[after, 0, k] -= 1
    many = 0
    for k in range(1, points + 1):
        boards[after, 1, k] = boards[after, 1, k - 1] + steps[k, boards[after, 0, k]]
        if boards[after, 0, k] != boards[after, 0, k - 1]:
            boards[after, 2, many] = points - k
            many += 1
    found[after] = many


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


@njit(f"{SPACE}, i8")
def begin(space: Space, x: int) -> None:
    """Take up position x: its own board, and those after one chequer has moved with one die."""
    points = space.numbering.points
    steps = space.numbering.steps
    boards = space.boards
    numbers = space.numbers
    found = space.found
    unrank(x, points, space.numbering.terms, boards[0, 0])
    numbers[0] = x
    move(steps, boards, numbers, found, NONE, NONE, NONE, NONE)  # surveys the board, which it leaves as it is
    for a in range(6):
        for q in range(found[0]):
            t = landing(boards[0, 2, q], a + 1, boards[0, 2, 0])
            if t == NOWHERE:
                numbers[1 + points * a + q] = -1
            else:
                move(steps, boards, numbers, found, NONE, boards[0, 2, q], t, 1 + points * a + q)


@njit()
def last_moves(
    boards: Array, number: int, found: int, board: int, die: int, highest: int, out: Array, count: int
) -> int:
    """Append to `out` the numbers after a move with `die` from index `highest` or below; returns the new count."""
    points = boards.shape[2] - 1
    if number == 0:
        out[count] = 0
        return count + 1
    for p in range(found):
        i = boards[board, 2, p]
        if i > highest:
            continue
        t = landing(i, die, boards[board, 2, 0])
        if t != NOWHERE:
            out[count] = number - (boards[board, 1, points - 1 - t] - boards[board, 1, points - i - 1])
            count += 1
    return count


@njit()
def double_moves(space: Space, board: int, die: int, highest: int, count: int) -> int:
    """Append to `out` the numbers after three more moves of a double, whose sources never rise."""
    steps = space.numbering.steps
    boards = space.boards
    numbers = space.numbers
    found = space.found
    out = space.out
    two = len(numbers) - 2
    if numbers[board] == 0:
        out[count] = 0
        return count + 1
    for p in range(found[board]):
        j = boards[board, 2, p]
        t = landing(j, die, boards[board, 2, 0])
        if j > highest or t == NOWHERE:
            continue
        move(steps, boards, numbers, found, board, j, t, two)
        if numbers[two] == 0:
            out[count] = 0
            count += 1
        for o in range(found[two]):
            i = boards[two, 2, o]
            if i > j:
                continue
            t = landing(i, die, boards[two, 2, 0])
            if t != NOWHERE:
                move(steps, boards, numbers, found, two, i, t, two + 1)
                count = last_moves(boards, numbers[two + 1], found[two + 1], two + 1, die, i, out, count)
    return count


@njit()
def roll_plays(space: Space, a: int, b: int, orders: int) -> int:
    """Position numbers after every play of dice a + 1 >= b + 1, in order, into `out`; returns how many.

    orders : 1 where playing the smaller die first meets nothing new.
    """
    count = NONE
    points = space.numbering.points
    boards = space.boards
    numbers = space.numbers
    found = space.found
    out = space.out
    for order in range(1 if a == b else orders):
        first, die = (b, a + 1) if order else (a, b + 1)
        for q in range(found[0]):
            board = 1 + points * first + q
            if numbers[board] < 0:
                continue
            if a == b:
                count = double_moves(space, board, die, boards[0, 2, q], count)
            else:
                count = last_moves(boards, numbers[board], found[board], board, die, points, out, count)
    return count  # type: ignore[no-any-return]


@njit(
    "i8.1C, i8, f4.2A, i8",
    "i8.1C, i8, f4.2C, i8",
    "i8.1C, i8, f8.2C, i8",
    "i8.1C, i8, u4.2C, i8",
    "i8.1C, i8, u8.2C, i8",
)
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


@njit(
    f"{NUMBERING}, i8.1C, f4.2A, i8, i4.3C",
    f"{NUMBERING}, i8.1C, f4.2C, i8, i4.3C",
    f"{NUMBERING}, i8.1C, f8.2C, i8, i4.3C",
    f"{NUMBERING}, i8.1C, u4.2C, i8, i4.3C",
    f"{NUMBERING}, i8.1C, u8.2C, i8, i4.3C",
)
def best_plays(numbering: Numbering, which: Array, keys: Array, full: int, best: Array) -> None:
    """best[k, i, roll] = where the first play of least keys[:, k] leads from the position which[i] > 0.

    k = 1 : of the positions from `full` on alone.
    """
    space = workspace(numbering)
    for i in range(len(which)):
        if which[i] == 0:
            continue
        begin(space, which[i])
        # with two chequers outside the home board neither order can bear off, and the second meets nothing new
        outside = space.boards[0, 0, numbering.points - HOME] if numbering.points > HOME else 0
        orders = 1 if outside >= 2 else 2
        roll = 0
        for a in range(6):
            for b in range(a + 1):
                count = roll_plays(space, a, b, orders)
                for choice in range(len(best) if which[i] >= full else 1):
                    best[choice, i, roll] = least(space.out, count, keys, choice)
                roll += 1


# -- all plays of all positions ----------------------------------------------------------------------------------


@njit(f"{NUMBERING}, i8")
def successors(numbering: Numbering, n: int) -> Any:
    """Distinct positions after each roll of positions 0..n-1: (starts (21 n + 1,) int64, results int32).

    The results of roll r of position x are results[starts[21 x + r] : starts[21 x + r + 1]].
    """
    space = workspace(numbering)
    orders = NONE + 2
    out = space.out
    seen = np.full(n, -1, np.int32)
    starts = np.zeros(ROLLS * n + 1, np.int64)
    results = np.empty(64 * n + 1024, np.int32)
    used = 0
    for x in range(1, n):
        begin(space, x)
        roll = ROLLS * x
        for a in range(6):
            for b in range(a + 1):
                count = roll_plays(space, a, b, orders)
                if used + count > len(results):
                    results = np.concatenate((results, np.empty(len(results) + count, np.int32)))
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


def by_pips(points: int, chequers: int, which: Array) -> Iterator[Array]:
    """The positions `which` by rising pips, those of one pip count together: none of these leads to another."""
    counted = pips(points, chequers)[which]
    order = np.argsort(counted, kind="stable")
    yield from np.split(which[order], np.flatnonzero(np.diff(counted[order])) + 1)
