"""The verifier's own move generator: the positions after every roll of every position, in GNU Backgammon's order.

It shares no code with the solver, so that a file is judged by code independent of what may have written it. A board
is `above`: above[k] = chequers on the k highest points, k = 0..points. Moving one chequer from index i to t lowers
above[k] by one for k = points-i .. points-t-1, and the position number by the sum of C(above[k] + k - 2, k - 1) over
those k, which running sums give in one subtraction. Rolls are numbered a * (a + 1) / 2 + b, dice a + 1 >= b + 1.
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

__all__ = [
    "ROLLS",
    "WEIGHTS",
    "Array",
    "Progress",
    "best_plays",
    "group_by_pips",
    "numbering",
    "pip_order",
    "pips",
    "plays",
]


Array = NDArray[Any]
Progress = Callable[[int, int], None]
HOME = 6
ROLLS = 21
#: how many of the 36 throws each of the 21 rolls stands for
WEIGHTS = np.array([1 if a == b else 2 for a in range(6) for b in range(a + 1)])
NOWHERE = -2  # returned by `landing` if the chequer may not move
NONE: Any = np.int64(0)  # no literal, for which numba would compile functions once more


class Numbering(NamedTuple):
    """Tables for computing position numbers on some points.

    terms[k-1, s] = C(s + k - 1, k). steps[k, s] : decrease of the number if above[k] = s is lowered by one. room :
    upper bound of the number of plays of a roll.
    """

    points: int
    terms: Array
    steps: Array
    room: int


@lru_cache(maxsize=32)
def numbering(points: int) -> Numbering:
    """Return tables of binomials, with which position numbers on that many points are computed."""
    terms = np.ascontiguousarray(board.number_terms(points))
    steps = np.zeros((points + 1, terms.shape[1]), np.int64)
    steps[1:, 1:] = np.diff(terms, axis=1)
    return Numbering(points, terms, steps, max(comb(points + 3, 4), 2 * points * points) + 8)


class Space(NamedTuple):
    """Working space for the plays of one position after another: boards by slots.

    Slot 0 is the position, 1 + points * (die - 1) + q the board after its q-th occupied point has moved a chequer
    with that die first, and the last two are boards within a double.

    Attributes
    ----------
    boards : (slots, 3, points + 1) `above`; running sums of what lowering each above[k] takes off the number;
        occupied indices, highest first.
    numbers : (slots,) position numbers, -1 if the chequer may not move.
    occupied : (slots,) number of occupied indices.
    out : position numbers after the plays of a roll, in order.
    """

    numbering: Numbering
    boards: Array
    numbers: Array
    occupied: Array
    out: Array


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
NUMBERING = "bgfmt.verifier.recurrence.plays:Numbering(i8, i8.2C, i8.2C, i8)"
SPACE = f"bgfmt.verifier.recurrence.plays:Space({NUMBERING}, i8.3C, i8.1C, i8.1C, i8.1C)"


@njit()
def make_workspace(numbering: Numbering) -> Space:
    """Return working space of one thread for listing plays on the points of `numbering`."""
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
    """Set above[k], k from 0 to `points`, to the number of chequers of position number x on the k highest points.

    terms : the binomials of the numbering. above : (points + 1,) is filled.
    """
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
    steps: Array, boards: Array, numbers: Array, occupied: Array, before: int, i: int, t: int, after: int
) -> None:
    """Fill slot `after` of the working space with the board of slot `before` after one chequer has moved.

    i, t : index (point - 1) that it leaves, and where it lands; -1 is off. steps : of a `Numbering`. boards, numbers,
    occupied : the fields of a `Space`.
    """
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
    occupied[after] = many


@njit()
def landing(i: int, die: int, top: int) -> int:
    """Return where a chequer on index i (point i + 1) lands with `die`: an index, -1 for off, or NOWHERE.

    NOWHERE means that it may not move. top : the highest occupied index.
    """
    t = i - die
    if t >= 0:
        return t
    if top >= HOME or (t < -1 and i != top):
        return NOWHERE
    return -1


# -- the plays of a roll -----------------------------------------------------------------------------------------


@njit(f"{SPACE}, i8")
def begin(space: Space, x: int) -> None:
    """Fill the slots of the working space for position x: its own board, and those after one move with each die."""
    points = space.numbering.points
    steps = space.numbering.steps
    boards = space.boards
    numbers = space.numbers
    occupied = space.occupied
    unrank(x, points, space.numbering.terms, boards[0, 0])
    numbers[0] = x
    # a move of no points fills the running sums and occupied indices of slot 0
    move(steps, boards, numbers, occupied, NONE, NONE, NONE, NONE)
    for a in range(6):
        for q in range(occupied[0]):
            t = landing(boards[0, 2, q], a + 1, boards[0, 2, 0])
            if t == NOWHERE:
                numbers[1 + points * a + q] = -1
            else:
                move(steps, boards, numbers, occupied, NONE, boards[0, 2, q], t, 1 + points * a + q)


@njit()
def last_moves(
    boards: Array, number: int, occupied: int, board: int, die: int, highest: int, out: Array, count: int
) -> int:
    """Add to `out` the position numbers after one more move with `die` from index `highest` or below.

    Parameters
    ----------
    boards, board : the boards of a `Space`, and the slot of the one to play.
    number, occupied : that board's position number, and how many of its points are occupied.
    count : how many numbers `out` has so far. Returned is the new count.
    """
    points = boards.shape[2] - 1
    if number == 0:
        out[count] = 0
        return count + 1
    for p in range(occupied):
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
    """Add to `space.out` the position numbers after three more moves of a double; return the new count.

    The points that chequers leave never rise, so that each play is found once. board : slot of the board after the
    first move. highest : the index that the first chequer left. count : how many numbers `out` has so far.
    """
    steps = space.numbering.steps
    boards = space.boards
    numbers = space.numbers
    occupied = space.occupied
    out = space.out
    two = len(numbers) - 2
    if numbers[board] == 0:
        out[count] = 0
        return count + 1
    for p in range(occupied[board]):
        j = boards[board, 2, p]
        t = landing(j, die, boards[board, 2, 0])
        if j > highest or t == NOWHERE:
            continue
        move(steps, boards, numbers, occupied, board, j, t, two)
        if numbers[two] == 0:
            out[count] = 0
            count += 1
        for o in range(occupied[two]):
            i = boards[two, 2, o]
            if i > j:
                continue
            t = landing(i, die, boards[two, 2, 0])
            if t != NOWHERE:
                move(steps, boards, numbers, occupied, two, i, t, two + 1)
                count = last_moves(boards, numbers[two + 1], occupied[two + 1], two + 1, die, i, out, count)
    return count


@njit()
def roll_plays(space: Space, a: int, b: int, orders: int) -> int:
    """List in `space.out` the position numbers after every play of dice a + 1 >= b + 1; return their count.

    The larger die is played first, then the smaller first; each from the highest point down. orders : 1 if playing
    the smaller die first gives no new position, else 2.
    """
    count = NONE
    points = space.numbering.points
    boards = space.boards
    numbers = space.numbers
    occupied = space.occupied
    out = space.out
    for order in range(1 if a == b else orders):
        first, die = (b, a + 1) if order else (a, b + 1)
        for q in range(occupied[0]):
            board = 1 + points * first + q
            if numbers[board] < 0:
                continue
            if a == b:
                count = double_moves(space, board, die, boards[0, 2, q], count)
            else:
                count = last_moves(boards, numbers[board], occupied[board], board, die, points, out, count)
    return count  # type: ignore[no-any-return]


@njit(
    "i8.1C, i8, f4.2A, i8",
    "i8.1C, i8, f4.2C, i8",
    "i8.1C, i8, f8.2C, i8",
    "i8.1C, i8, u4.2C, i8",
    "i8.1C, i8, u8.2C, i8",
)
def find_least(out: Array, count: int, keys: Array, column: int) -> int:
    """Return that of the first `count` positions in `out` whose keys[:, column] is least; the first of equal ones."""
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
    """Set best[k, i, roll] to the position after that play from which[i] (not 0) whose keys[:, k] is least.

    Of equal keys the first play counts. full : for k = 1 (first chequer off) only positions from this number on are
    set.
    """
    space = make_workspace(numbering)
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
                    best[choice, i, roll] = find_least(space.out, count, keys, choice)
                roll += 1


# -- all plays of all positions ----------------------------------------------------------------------------------


@njit(f"{NUMBERING}, i8")
def successors(numbering: Numbering, n: int) -> Any:
    """List the distinct positions after each roll of positions 0..n-1: (starts (21 n + 1,) int64, results int32).

    The results of roll r of position x are results[starts[21 x + r] : starts[21 x + r + 1]].
    """
    space = make_workspace(numbering)
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
    """List the distinct positions after every roll of every position: (starts, results), see `successors`."""
    starts, results = successors(numbering(points), board.count(points, chequers))
    return starts, results


@lru_cache(maxsize=8)
def pips(points: int, chequers: int) -> Array:
    """Return the pip count of every position, (n,) int64."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    return counts.astype(np.int64) @ np.arange(1, points + 1)


@lru_cache(maxsize=4)
def pip_order(points: int, chequers: int) -> tuple[Array, Array, Array]:
    """Sort the positions of one side by pips.

    Returns (pip count of each position, positions in order, index in that order of the first of each pip count and,
    last, the number of positions).
    """
    counted = pips(points, chequers)
    order = np.argsort(counted, kind="stable")
    return counted, order, np.searchsorted(counted[order], np.arange(counted.max() + 2))


def group_by_pips(points: int, chequers: int, which: Array) -> Iterator[Array]:
    """Yield the positions `which` in groups of equal pips, rising.

    No roll leads from one position of a group to another.
    """
    counted = pips(points, chequers)[which]
    order = np.argsort(counted, kind="stable")
    yield from np.split(which[order], np.flatnonzero(np.diff(counted[order])) + 1)
