"""Compiled hypergammon: the steps of the value iteration around `hypergammon_tiles.rows`.

A sweep goes through blocks of rows. `rows` makes all records of a block from the numbers as they stood before it;
`settle` makes again, in order, those that look at a record of the block whose turn was before theirs; `store` puts
all in place. So the numbers are those of a renewal in place, record by record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.hypergammon_numbers import finished, turn
from bgfmt.solver.kernels.hypergammon_plays import (
    AGAIN,
    BAR,
    ILLEGAL,
    LIVE,
    OVER,
    PLACES,
    RACE,
    ROLLS,
    Plays,
    Sides,
)
from bgfmt.solver.kernels.hypergammon_tiles import (
    FEW,
    LANES,
    NUMBERS,
    TOLD,
    State,
    Tiles,
    chosen,
    few,
    rows,
)

Array = Any


@njit()
def renew(state: State, tiles: Tiles, us: int, them: int) -> None:
    """Bring `told` and `apart` up to what `values` has."""
    n, lane = len(state.values), tiles.lane[us]
    at = (them * n + us) * NUMBERS
    turn(state.one, state.values[us, them], state.apart, at + 5, at, 1)
    told = (lane // LANES * n + them) * TOLD + lane % LANES
    for k in range(5):
        state.told[told + k * LANES] = state.apart[at + k]


@njit()
def begin(state: State, tiles: Tiles, first: int, last: int, restart: bool) -> None:
    """The class of every record of some rows, and the values the iteration begins with (kept on a restart)."""
    boards = state.boards
    n = len(boards)
    highest = np.full(n, -1, np.int64)
    points = np.zeros((n, 2), np.int64)
    for side in range(n):
        for i in range(PLACES):
            if boards[side, i]:
                highest[side] = i
                if i < BAR:
                    points[side, 0] |= 1 << i
                    points[side, 1] |= 1 << (BAR - 1 - i)
    for us in range(first, last):
        for them in range(n):
            if points[us, 1] & points[them, 0]:
                kind = ILLEGAL
            elif highest[us] < 0 or highest[them] < 0:
                kind = OVER
            else:
                kind = RACE if highest[us] + highest[them] < BAR - 1 else LIVE
                lane = tiles.lane[them]
                state.live[us, lane // LANES] |= np.uint32(1) << np.uint32(lane % LANES)
            state.kinds[us, them] = kind
            if not restart:
                record = state.values[us, them]
                record[:] = 0
                if kind == OVER:
                    finished(boards, state.chequers, state.one, us, them, record)
                elif kind >= LIVE:
                    record[0] = record[1] = state.one
                    record[5] = state.one + state.one
            renew(state, tiles, us, them)


@njit()
def repeats(after: Array, landed: Array, start: Any, e: Any, blots: Any) -> bool:
    """Whether play e leaves what an earlier one of its roll leaves, hits included."""
    found = False
    for f in range(start, e):
        found = found or (after[f] == after[e] and landed[f] & blots == landed[e] & blots)
    return found


@njit()
def before(us: int, them: int, row: int, column: int) -> bool:
    """Whether the turn of [row, column] comes before that of [us, them]."""
    return row < us or (row == us and column < them)


@njit()
def records(
    state: State,
    plays: Plays,
    sides: Sides,
    tiles: Tiles,
    which: Array,
    many: int,
    first: int,
    in_order: bool,
    made: Array,
) -> None:
    """One step for the records which[:many] = (us, them) of a block that begins with row `first`; into `made`.

    From the numbers as they stood before the block or, where `in_order`, as the turn of each record finds them.
    Arrays are taken out of the tuples once: passing them on costs more than a play.
    """
    values, apart, boards, kinds, one = state.values, state.apart, state.boards, state.kinds, state.one
    record = np.empty(NUMBERS, values.dtype)
    starts, after, landed, lists = plays.first, plays.after, plays.landed, plays.lists
    lane_of, hit, all_places, blocked, all_blots = (
        tiles.lane,
        sides.hit,
        sides.places,
        sides.blocked,
        sides.blots,
    )
    n, two = len(values), one + one
    wide, numbers, unit = np.uint64(n), np.uint64(NUMBERS), np.uint64(1)
    base = np.zeros(8, np.uint64)
    least = -two * two * two
    for m in range(many):
        us, them = which[m, 0], which[m, 1]
        fresh = 0
        for bits in range(8):
            to = hit[them, bits]
            base[bits] = np.uint64(to * NUMBERS)
            if in_order and first <= to <= us:
                fresh |= 1 << bits
        blots = all_blots[them]
        place = np.uint32(all_places[them, 0])
        place_2, place_3 = np.uint32(all_places[them, 1]), np.uint32(all_places[them, 2])
        zero = one - one
        t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = t8 = t9 = zero
        roll = lists[us * PLACES + blocked[them]] * ROLLS
        end = np.uint64(starts[roll])
        for high in range(6):
            for low in range(high + 1):
                roll += 1
                start, end = end, np.uint64(starts[roll])
                b0 = b1 = b2 = b3 = b4 = least
                room = n * n * NUMBERS
                best = np.uint64(0)
                e = start
                while e < end:
                    mask = landed[e]
                    bits = (mask >> place & 1) | (mask >> place_2 & 1) << 1 | (mask >> place_3 & 1) << 2
                    at = base[bits] + np.uint64(after[e]) * wide * numbers
                    if fresh >> bits & 1:
                        column = int(after[e])
                        if before(us, them, hit[them, bits], column) and kinds[hit[them, bits], column]:
                            if column:
                                lane = lane_of[column]
                                out = made[hit[them, bits] - first, lane // LANES]
                                for k in range(NUMBERS):
                                    record[k] = out[k * LANES + lane % LANES]
                            else:
                                finished(boards, state.chequers, one, hit[them, bits], 0, record)
                            turn(one, record, apart, room + 5, room, 1)
                            at = np.uint64(room)
                            room += NUMBERS
                    x = apart[at]
                    taken = x >= b0
                    if mask & AGAIN and x == b0:
                        taken = not repeats(after, landed, int(start), int(e), blots)
                    best = at if taken else best
                    b0 = x if taken else b0
                    y = apart[at + unit]
                    b1 = y if y > b1 else b1
                    y = apart[at + unit + unit]
                    b2 = y if y > b2 else b2
                    y = apart[at + np.uint64(3)]
                    b3 = y if y > b3 else b3
                    y = apart[at + np.uint64(4)]
                    b4 = y if y > b4 else b4
                    e += unit
                if start == end:  # nothing to play: the other side moves next, everything as it is
                    best = base[0] + np.uint64(us) * wide * numbers
                    again = fresh & 1 != 0 and them < us  # in contact: a side in a race can always move
                    if again:
                        lane = lane_of[us]
                        out = made[them - first, lane // LANES]
                        for k in range(NUMBERS):
                            record[k] = out[k * LANES + lane % LANES]
                        turn(one, record, apart, room + 5, room, 1)
                    best = np.uint64(room) if again else best
                    b0, b1, b2 = apart[best], apart[best + unit], apart[best + unit + unit]
                    b3, b4 = apart[best + np.uint64(3)], apart[best + np.uint64(4)]
                    if state.as_is:
                        if not again:
                            record[:] = values[them, us]
                        b1, b2, b3, b4 = -record[6], -record[7], -record[8], -record[9]
                weight = one if high == low else two
                t0 += weight * apart[best + np.uint64(5)]
                t1 += weight * apart[best + np.uint64(6)]
                t2 += weight * apart[best + np.uint64(7)]
                t3 += weight * apart[best + np.uint64(8)]
                t4 += weight * apart[best + np.uint64(9)]
                t5 += weight * b0
                t6 += weight * b1
                t7 += weight * b2
                t8 += weight * b3
                t9 += weight * b4
        lane = lane_of[them]
        out = made[us - first, lane // LANES]
        c = lane % LANES
        out[c], out[c + LANES], out[c + 2 * LANES] = t0 * state.share, t1 * state.share, t2 * state.share
        out[c + 3 * LANES], out[c + 4 * LANES] = t3 * state.share, t4 * state.share
        out[c + 5 * LANES], out[c + 6 * LANES] = t5 * state.share, t6 * state.share
        out[c + 7 * LANES], out[c + 8 * LANES] = t7 * state.share, t8 * state.share
        out[c + 9 * LANES] = t9 * state.share


@njit()
def make(
    state: State,
    plays: Plays,
    sides: Sides,
    tiles: Tiles,
    first: int,
    last: int,
    later: bool,
    from_: int,
    apace: int,
    made: Array,
) -> None:
    """One step for the rows first..last-1 and some tiles, as `chosen` has them, from the numbers as they stand.

    Records [us, them] look at rows of `them` or greater, of sides with more chequers hit. So the tiles of `later`
    sides may be made before the rows before `first` are settled.
    """
    some = chosen(tiles, last, later, from_, apace)
    rows(state, plays, tiles, first, last, some, made)
    which = np.empty((len(some) * (last - first) * FEW, 2), np.int64)
    many = 0
    for tile in some:
        for us in range(first, last):
            alive = state.live[us, tile]
            if few(alive):
                for c in range(LANES):
                    if alive >> np.uint32(c) & np.uint32(1):
                        which[many, 0], which[many, 1] = us, tiles.them[tile * LANES + c]
                        many += 1
    records(state, plays, sides, tiles, which, many, first, False, made)


@njit()
def in_order(state: State, plays: Plays, sides: Sides, first: int, last: int) -> Any:
    """The records (us, them) of a block that look at one of it whose turn was before theirs, in order."""
    n = len(state.values)
    which = np.empty((n * (last - first), 2), np.int64)
    looked = np.zeros(n, np.uint8)  # bit k: hits k of this side lead to a row of the block, not after ours
    many = 0
    for us in range(first, last):
        for k in range(sides.reached[us], sides.reached[us + 1]):
            looked[sides.reach[k, 0]] |= 1 << sides.reach[k, 1]
        for them in range(n):
            if looked[them] and state.kinds[us, them] >= LIVE:
                touched = plays.touched[plays.lists[us * PLACES + sides.blocked[them]]]
                needed = looked[them] & 1
                for bits in range(1, 8):
                    if looked[them] >> bits & 1:
                        possible = 1
                        for k in range(3):
                            if bits >> k & 1 and not touched >> sides.places[them, k] & 1:
                                possible = 0
                        needed |= possible
                if needed:
                    which[many, 0], which[many, 1] = us, them
                    many += 1
    return which[:many].copy()


@njit()
def settle(
    state: State, plays: Plays, sides: Sides, tiles: Tiles, first: int, which: Array, made: Array
) -> None:
    """Make again, in order, those records `which` of a block that are live."""
    live = np.empty_like(which)
    many = 0
    for k in range(len(which)):
        if state.kinds[which[k, 0], which[k, 1]] >= LIVE:
            live[many] = which[k]
            many += 1
    records(state, plays, sides, tiles, live, many, first, True, made)


@njit()
def store(state: State, tiles: Tiles, first: int, last: int, from_: int, to: int, made: Array) -> Any:
    """Put the records of a block and of the columns from_..to-1 in place; the greatest change: of all, of races."""
    greatest = state.one - state.one
    of_races = greatest
    values, kinds = state.values, state.kinds
    fresh = np.empty(NUMBERS, values.dtype)
    for them in range(from_, to):
        lane = tiles.lane[them]
        tile = lane // LANES
        lane %= LANES
        for us in range(first, last):
            kind = kinds[us, them]
            if kind >= LIVE:
                change = state.one - state.one
                for k in range(NUMBERS):
                    fresh[k] = made[us - first, tile, k * LANES + lane]
                    gap = abs(fresh[k] - values[us, them, k])
                    change = gap if gap > change else change
                    values[us, them, k] = fresh[k]
                greatest = max(change, greatest)
                if kind == RACE:
                    of_races = max(change, of_races)
            elif kind == OVER:
                finished(state.boards, state.chequers, state.one, us, them, values[us, them])
            if kind != ILLEGAL:
                renew(state, tiles, us, them)
    return greatest, of_races


@njit()
def leave_races(state: State, tiles: Tiles) -> None:
    """Races look at races alone: once a sweep has changed none, none will change."""
    for us in range(len(state.kinds)):
        for them in range(len(state.kinds)):
            if state.kinds[us, them] == RACE:
                state.kinds[us, them] = ILLEGAL
                lane = tiles.lane[them]
                state.live[us, lane // LANES] ^= np.uint32(1) << np.uint32(lane % LANES)
