"""Compiled hypergammon iteration over whole tables: the plays of a side listed once, a row of records at a time.

What a side can play depends on the one landing that the other side blocks (three chequers block no more), and what a
play leaves of the other side on which of its blots it hits. The plays are those of `kernels_hyper_plays`, found
against a side with a blot on every landing that is not blocked: the blots then gone are the landings of the play.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_hyper_plays import BAR, MOST_PLAYS, OVER, PLACES, number_of, plays_of
from bgfmt.verifier.recurrence.kernels_hypergammon import (
    NUMBERS,
    add_roll,
    finish,
    no_play,
    over_values,
    set_turned,
)
from bgfmt.verifier.recurrence.lanes_hyper import EQUITIES, LANES

Array = Any
ROLLS = 21
SEEN = 1 << 30  # in `landed`: an earlier play of the roll leaves the same side
POINTS = 24
FIVE, SIX, SEVEN, EIGHT, NINE = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8), np.uint64(9)
WIDE = 32  # more chequers than the full side has


class Lists(NamedTuple):
    """Plays of side us against one that blocks landing b (24: none): rolls (us * 25 + b) * 21 and up, as ranges.

    starts : where the plays of each roll begin. after : the side left. landed : bit k: one landed on k; SEEN.
    blocked, blots (n,) : the landing a side blocks, and those of its blots as bits. met (n, 3) : the blots one by
    one, 31 where there are fewer. hit (n, 8) : the side when those blots (bit k: met[k]) are on the bar.
    """

    starts: Array
    after: Array
    landed: Array
    blocked: Array
    blots: Array
    met: Array
    hit: Array


class Tiles(NamedTuple):
    """The sides as the others, by the landing they block, in tiles of 32 lanes.

    sides (tiles * 32,) : -1 where there is none. lane (n,) : where each side is. blocked (tiles,) : the landing.
    blots (tiles, 24) uint32 : the lanes with a blot on each landing.
    """

    sides: Array
    lane: Array
    blocked: Array
    blots: Array


@njit()
def spread(n: int, lane: Array, us: int, them: int, turned: Array, told: Array) -> None:
    """told, flat (tile, them, 5, 32): the equities of record [us, them], `turned`, in the lane of us."""
    at = (lane[us] // LANES * n + them) * EQUITIES * LANES + lane[us] % LANES
    for k in range(EQUITIES):
        told[at + k * LANES] = turned[EQUITIES + k]


@njit()
def others(boards: Array, terms: Array, blocked: Array, blots: Array, met: Array, hit: Array) -> None:
    """Fill what `Lists` says of a side as the other one."""
    board = np.zeros(PLACES, np.int64)
    for s in range(len(boards)):
        blocked[s] = POINTS
        many = 0
        for i in range(POINTS - 1, -1, -1):
            if boards[s, i] > 1:
                blocked[s] = POINTS - 1 - i
            elif boards[s, i] == 1:
                blots[s] |= np.int64(1) << (POINTS - 1 - i)
                met[s, many] = POINTS - 1 - i
                many += 1
        for k in range(many, 3):
            met[s, k] = 31
        for bits in range(8):
            board[:] = boards[s]
            for k in range(many):
                if bits >> k & 1:
                    board[POINTS - 1 - met[s, k]] = 0
                    board[BAR] += 1
            hit[s, bits] = number_of(board, terms)


@njit()
def landings(number: int, blocked: int, terms: Array) -> int:
    """The blots gone from the full side that `list_side` plays against, from its position number."""
    above = WIDE - 1
    mask = 0
    for k in range(PLACES - 1, -1, -1):
        while terms[k, above] > number:
            above -= 1
        number -= terms[k, above]
        below = above
        if k:
            while terms[k - 1, below] > number:
                below -= 1
        else:
            below = 0
        i = PLACES - 1 - k
        if i < POINTS and POINTS - 1 - i != blocked and above == below:
            mask |= 1 << (POINTS - 1 - i)
        above = below
    return mask


@njit()
def list_sides(boards: Array, first: int, last: int, wide: Array, ends: Array) -> Any:
    """(after, landed) of the sides first..last-1; ends[row - first row] takes where the plays of a roll end.

    wide : terms of position numbers of up to WIDE - 1 chequers.
    """
    plays = np.zeros((MOST_PLAYS, 2), np.int64)
    u = np.zeros(PLACES, np.int64)
    t = np.zeros(PLACES, np.int64)
    after = np.empty(1 << 16, np.uint16)
    landed = np.empty(1 << 16, np.uint32)
    used = at = 0
    for us in range(first, last):
        for blocked in range(PLACES):
            for high in range(1, 7):
                for low in range(1, high + 1):
                    u[:] = boards[us]
                    t[:] = 1
                    t[BAR] = 0
                    if blocked < POINTS:
                        t[POINTS - 1 - blocked] = 2
                    count = plays_of(u, t, high, low, wide, plays)
                    if used + count > len(after):
                        room = 2 * len(after) + count
                        more, mark = np.empty(room, np.uint16), np.empty(room, np.uint32)
                        more[:used], mark[:used] = after[:used], landed[:used]
                        after, landed = more, mark
                    for p in range(count):
                        seen = 0
                        for q in range(p):
                            if plays[q, 0] == plays[p, 0]:
                                seen = SEEN
                        after[used + p] = plays[p, 0]
                        landed[used + p] = landings(plays[p, 1], blocked, wide) | seen
                    used += count
                    ends[at] = used
                    at += 1
    return after[:used].copy(), landed[:used].copy()


@njit()
def row(
    r: int,
    first: int,
    last: int,
    least: Array,
    ordered: bool,
    lists: Lists,
    tiles: Tiles,
    kinds: Array,
    divide: bool,
    stay: bool,
    old: Array,
    new: Array,
    turned: Array,
    told: Array,
    later: bool,
) -> Any:
    """One step for the records [r, first..last-1] from the old numbers and those new ones whose turn was before.

    turned (2 * n * n, 10) : record [us, them] at them * n + us, so that those of neighbours lie together, twice: the
    old and the new ones, the new ones in the second half if `later`; told as `spread` has it, the last ones made.
    ordered : only those that can look at rows up to r of those that are made, the first of which for each column is
    `least`. kinds : (n * n,), the classes. Returns the greatest change of a number.
    """
    starts, after, landed = lists.starts, lists.after, lists.landed
    n = len(lists.blocked)
    new_from, old_from = (n * n, 0) if later else (0, n * n)
    total = np.zeros(NUMBERS, old.dtype)
    best = np.zeros(NUMBERS, old.dtype)
    most = old.dtype.type(0)
    nothing = old.dtype.type(-1e9)
    for c in range(first, last):
        x = r * n + c
        if kinds[x] <= OVER or (ordered and least[c] > r):
            continue
        a, b_, d = lists.met[c, 0], lists.met[c, 1], lists.met[c, 2]
        blots = lists.blots[c]
        roll = (r * PLACES + lists.blocked[c]) * ROLLS
        total[:] = 0
        for high in range(6):
            for low in range(high + 1):
                begin, end = starts[roll], starts[roll + 1]
                roll += 1
                if begin == end:
                    y = c * n + r
                    ours = c < r
                    if stay:
                        best[:] = turned[r * n + c + (new_from if ours else old_from)]
                    else:
                        no_play(new[y] if ours else old[y], best)
                else:
                    e5 = e6 = e7 = e8 = e9 = nothing
                    chosen = np.uint64(0)
                    for p in range(begin, end):
                        mask = np.int64(landed[p])
                        again = False
                        if mask & SEEN:
                            for q in range(begin, p):
                                if after[q] == after[p] and (np.int64(landed[q]) ^ mask) & blots == 0:
                                    again = True
                        if again:
                            continue
                        bits = (mask >> a & 1) | (mask >> b_ & 1) << 1 | (mask >> d & 1) << 2
                        to = lists.hit[c, bits]
                        left = np.int64(after[p])
                        y = left * n + to
                        # no branches: they would be guessed wrong every other time
                        fresh = (to < r) | ((to == r) & (left < c))
                        at = np.uint64(y + (new_from if fresh else old_from))
                        g5, g6, g7 = turned[at, FIVE], turned[at, SIX], turned[at, SEVEN]
                        g8, g9 = turned[at, EIGHT], turned[at, NINE]
                        taken = g5 >= e5  # among equal ones the last play gives the chances
                        e5, chosen = (g5 if taken else e5), (at if taken else chosen)
                        e6, e7 = (g6 if g6 > e6 else e6), (g7 if g7 > e7 else e7)
                        e8, e9 = (g8 if g8 > e8 else e8), (g9 if g9 > e9 else e9)
                    for k in range(5):
                        best[k] = turned[chosen, np.uint64(k)]
                    best[5], best[6], best[7], best[8], best[9] = e5, e6, e7, e8, e9
                add_roll(total, best, high == low)
        finish(total, divide)
        for k in range(NUMBERS):
            gap = abs(total[k] - old[x, k])
            most = gap if gap > most else most
            new[x, k] = total[k]
        y = new_from + c * n + r
        set_turned(new[x], turned[y])
        spread(n, tiles.lane, r, c, turned[y], told)
    return most


@njit()
def over(
    first: int, last: int, own: bool, lists: Lists, tiles: Tiles, boards: Array, chequers: int, kinds: Array,
    new: Array, turned: Array, told: Array, later: bool,
) -> None:  # fmt: skip
    """The finished games of the rows first..last-1, which every sweep puts right: beyond the diagonal or up to it."""
    n = len(lists.blocked)
    for r in range(first, last):
        for c in range(0 if own else r + 1, r + 1 if own else n):
            x = r * n + c
            if kinds[x] == OVER:
                over_values(boards[r], boards[c], chequers, new[x])
                y = c * n + r + (n * n if later else 0)
                set_turned(new[x], turned[y])
                spread(n, tiles.lane, r, c, turned[y], told)


@njit()
def rows_in_order(
    first: int, last: int, least: Array, lists: Lists, tiles: Tiles, kinds: Array, divide: bool, stay: bool,
    old: Array, new: Array, turned: Array, told: Array, later: bool,
) -> Any:  # fmt: skip
    """`row`, ordered, for the rows first..last-1 up to the diagonal, one behind the other."""
    most = old.dtype.type(0)
    for r in range(first, last):
        change = row(
            r, 0, r + 1, least, True, lists, tiles, kinds, divide, stay, old, new, turned, told, later
        )
        most = change if change > most else most
    return most
