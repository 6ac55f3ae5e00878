"""The plays of each side of hypergammon, listed once before the first sweep.

A side is a position number over 25 indices: 0 to 23 are its points 1 to 24, 24 is its bar. A *landing* is an index on
which a moved chequer comes to rest. The other side's chequers are given as landings too: a chequer on its index i
stands on our landing 23 - i. Three chequers block at most one landing, so the plays of a side depend on the other
side only by that landing; and the other side after a play depends on the blots on the play's landings.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.jit import njit

PLACES = 25
BAR = 24
OPEN = 24  # the blocked landing of a side that blocks none
ROLLS = 21
MAX_PLAYS = 96  # more than any roll has
NO_BLOT = 31  # stands for a landing that no play reaches
SAME_SIDE = 1 << 30  # a bit of `Plays.landed`: an earlier play of the roll leaves the same side


class Sides(NamedTuple):
    """What each side is to the other.

    Attributes
    ----------
    blocked : (n,) the landing that it blocks.
    blots : (n,) uint32, a bit for each landing on which it has a blot.
    places : (n, 3) uint32, the landings of its blots, then NO_BLOT.
    hit : (n, 8) uint16, the side after the blots of an index are hit (bit k: the blot on places[k]).
    """

    blocked: Array
    blots: Array
    places: Array
    hit: Array


class Moves(NamedTuple):
    """The moves of one chequer if nothing is blocked: for each side and die, the farthest chequer first.

    counts : (n, 6). start, after : (n, 6, 3) the index that the chequer leaves, and the side after the move.
    """

    counts: Array
    start: Array
    after: Array


class Plays(NamedTuple):
    """The plays of each side, for each landing that may be blocked and each roll, in makehyper's order.

    Attributes
    ----------
    first, last : (n, 25, 21) uint32; the plays of a side, a blocked landing and a roll are first to last - 1. Rolls
        are in the order 11, 21, 22, 31 ... 66.
    after : uint16, the side after a play.
    landed : uint32, a bit for each landing, and SAME_SIDE.
    """

    first: Array
    last: Array
    after: Array
    landed: Array


def list_sides(boards: Array) -> Sides:
    """List what each side means to the other side's plays: points that it blocks, and blots.

    boards : (n, 25), chequers on points 1 to 24 and the bar of every position number.
    """
    landings = boards[:, BAR - 1 :: -1]
    blots = landings == 1
    blocked = np.where((landings > 1).any(axis=1), (landings > 1).argmax(axis=1), OPEN)
    places = np.sort(np.where(blots, np.arange(BAR), NO_BLOT), axis=1)[:, :3]
    hit = np.empty((len(boards), 8), np.uint16)
    for bits in range(8):
        after = boards.copy()
        for k in range(3):
            some = np.flatnonzero(places[:, k] < NO_BLOT) if bits >> k & 1 else np.zeros(0, np.int64)
            after[some, BAR - 1 - places[some, k]] -= 1
            after[some, BAR] += 1
        hit[:, bits] = board.rank_array(after)
    return Sides(
        blocked, (blots << np.arange(BAR)).sum(axis=1).astype(np.uint32), places.astype(np.uint32), hit
    )


def list_moves(boards: Array) -> Moves:
    """List the moves of one chequer of each side, for each die.

    boards : (n, 25), chequers on points 1 to 24 and the bar of every position number.
    """
    n = len(boards)
    moves = Moves(np.zeros((n, 6), np.int64), np.zeros((n, 6, 3), np.int64), np.zeros((n, 6, 3), np.int64))
    side, down = np.nonzero(boards[:, ::-1])
    start = BAR - down
    highest = np.where(boards, np.arange(PLACES), 0).max(axis=1)[side]
    entered = (boards[side, BAR] == 0) | (start == BAR)
    for die in range(1, 7):
        to = start - die
        some = entered & ((to >= 0) | ((highest < 6) & ((to == -1) | (start == highest))))
        who = side[some]
        from_ = start[some]
        to = to[some]
        after = boards[who]
        each = np.arange(len(who))
        after[each, from_] -= 1
        after[each[to >= 0], to[to >= 0]] += 1
        place = each - np.searchsorted(who, who)
        moves.start[who, die - 1, place] = from_
        moves.after[who, die - 1, place] = board.rank_array(after)
        moves.counts[:, die - 1] = np.bincount(who, minlength=n)
    return moves


def list_plays(boards: Array, pool: ThreadPoolExecutor) -> Plays:
    """List all plays of each side, for each roll and each point that the other side may block.

    boards : (n, 25), chequers on points 1 to 24 and the bar of every position number.
    """
    moves = list_moves(boards)

    def of_side(us: int) -> tuple[Array, ...]:
        first, last = np.empty((2, PLACES, ROLLS), np.uint32)
        after = np.empty(PLACES * ROLLS * MAX_PLAYS, np.uint16)
        landed = np.empty(PLACES * ROLLS * MAX_PLAYS, np.uint32)
        total = plays_of_side(moves, us, first, last, after, landed)
        return first, last, after[:total].copy(), landed[:total].copy()

    first, last, after, landed = zip(*pool.map(of_side, range(len(boards))), strict=True)
    before = np.cumsum([0, *map(len, after[:-1])], dtype=np.uint32)[:, None, None]
    return Plays(
        before + np.stack(first), before + np.stack(last), np.concatenate(after), np.concatenate(landed)
    )


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
MOVES = "bgfmt.extras.hypergammon.solver.plays:Moves(i8.2C, i8.3C, i8.3C)"


@njit(f"{MOVES}, i8, u4.2C, u4.2C, u2.1C, u4.1C")
def plays_of_side(moves: Moves, us: int, first: Array, last: Array, after: Array, landed: Array) -> int:
    """List the plays of side `us` (a position number) in the form of `Plays`; return their number.

    Where no play reaches a landing (point on which a chequer comes to rest), blocking it changes nothing, and the
    plays of the unblocked side are used.

    Parameters
    ----------
    moves : moves of one chequer of all sides.
    first, last : (25, 21), receive ranges of plays, numbered from 0.
    after, landed : flat, receive the plays.
    """
    lines = np.empty((2, MAX_PLAYS, 3), np.int64)
    reached = 0
    total: Any = np.int64(0)  # no literal, for which numba would compile `plays_of_roll` once more
    for turn in range(PLACES):
        blocked = OPEN - turn
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                if blocked == OPEN or reached >> blocked & 1:
                    first[blocked, roll] = total
                    total = plays_of_roll(moves, us, blocked, high, low, lines, after, landed, total)
                    last[blocked, roll] = total
                    if blocked == OPEN:
                        for e in range(first[blocked, roll], total):
                            reached |= landed[e] & (SAME_SIDE - 1)
                else:
                    first[blocked, roll] = first[OPEN, roll]
                    last[blocked, roll] = last[OPEN, roll]
                roll += 1
    return total  # type: ignore[no-any-return]


@njit()
def plays_of_roll(
    moves: Moves, us: int, blocked: int, high: int, low: int, lines: Array, after: Array, landed: Array, start: int
) -> int:  # fmt: skip
    """Write the plays of a roll that use the most dice to `after` and `landed` from index `start` on; return the end.

    If only one die can be played, the larger must be. Equal plays are listed once.

    Parameters
    ----------
    moves, us : moves of one chequer of all sides, and the position number of the side that plays.
    blocked : the landing (index on which a chequer comes to rest) that the other side blocks.
    high, low : the dice.
    lines : (2, MAX_PLAYS, 3) working space, positions in the middle of a play: the side, the landings, and the
        highest index that the next chequer may leave (sources of a double never rise, except from the bar).
    """
    end = start
    best = 0
    double = high == low
    for turn in range(1 if double else 2):
        lines[0, 0, 0] = us
        lines[0, 0, 1] = 0
        lines[0, 0, 2] = BAR
        depth = 0
        many = 1
        while depth < (4 if double else 2):
            die = high if (depth + turn) % 2 == 0 else low
            here = lines[depth % 2]
            there = lines[1 - depth % 2]
            count = 0
            for k in range(many):
                side = here[k, 0]
                for m in range(moves.counts[side, die - 1]):
                    source = moves.start[side, die - 1, m]
                    if source <= here[k, 2] and source - die != blocked:
                        there[count, 0] = moves.after[side, die - 1, m]
                        there[count, 1] = here[k, 1] | (1 << (source - die) if source >= die else 0)
                        there[count, 2] = source if double and source != BAR else BAR
                        count += 1
            if count == 0:
                break
            depth = depth + 1
            many = count
        if depth > best:
            best = depth
            end = start
        elif depth < best or depth < 2:
            continue
        for k in range(many):
            side = lines[depth % 2, k, 0]
            mask = lines[depth % 2, k, 1]
            equal = same_side = False
            for e in range(start, end):
                same_side |= after[e] == side
                equal |= after[e] == side and landed[e] & (SAME_SIDE - 1) == mask
            if not equal:
                after[end] = side
                landed[end] = mask | (SAME_SIDE if same_side else 0)
                end += 1
    return end
