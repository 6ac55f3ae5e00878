"""Compiled hypergammon: the steps of the value iteration around `hypergammon_tiles.rows`.

A sweep goes through blocks of rows. `rows` makes all records of a block from the numbers as they stood before it;
`settle` makes again, in order, those that look at a record of the block whose turn was before theirs; `store` puts
all in place. So the numbers are those of a renewal in place, record by record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.hypergammon_plays import (
    AGAIN,
    BAR,
    ILLEGAL,
    LIVE,
    OVER,
    PLACES,
    ROLLS,
    Plays,
    Sides,
)
from bgfmt.solver.kernels.hypergammon_tiles import LANES, NUMBERS, TILE, State, Tiles

Array = Any


@njit()
def cube_taken(one: Any, centered: Any, doubled: Any) -> Any:
    """The equity of the side on roll that may double, after its best cube action and the answer to it."""
    two = doubled + doubled
    if two >= centered and one >= centered:
        return one if two >= one else two
    return centered


@njit()
def turn(one: Any, record: Array, out: Array, at: int, step: int) -> None:
    """Ten numbers of a record as `State.told` has them, into out[at], out[at + step], ..."""
    out[at] = one - record[0]
    out[at + step] = record[3]
    out[at + 2 * step] = record[4]
    out[at + 3 * step] = record[1]
    out[at + 4 * step] = record[2]
    out[at + 5 * step] = -record[5]
    out[at + 6 * step] = -record[9]
    out[at + 7 * step] = -cube_taken(one, record[7], record[9])
    out[at + 8 * step] = -cube_taken(one, record[8], record[9])
    out[at + 9 * step] = -cube_taken(one, record[6], record[9])


@njit()
def renew(state: State, tiles: Tiles, us: int, them: int) -> None:
    """Bring `told` up to what `values` has."""
    lane = tiles.lane[us]
    at = (lane // LANES * len(state.values) + them) * TILE + lane % LANES
    turn(state.one, state.values[us, them], state.told, at, LANES)


@njit()
def finished(state: State, us: int, them: int) -> None:
    """The fixed values of a game that is over: whoever has nothing left has won, the other side first."""
    record, boards = state.values[us, them], state.boards
    record[:] = 0
    zero = state.one - state.one
    left_us = left_them = far = 0
    for i in range(PLACES):
        left_us += boards[us, i]
        left_them += boards[them, i]
    won = left_them > 0
    loser = boards[them] if won else boards[us]
    for i in range(18, PLACES):
        far += loser[i]
    whole = (left_them if won else left_us) == state.chequers
    sign = state.one if won else -state.one
    if won:
        record[0] = state.one
    first = 1 if won else 3
    gammon = backgammon = zero
    if whole:
        record[first] = gammon = state.one
        if far:
            record[first + 1] = backgammon = state.one
    for k in range(5, 10):
        record[k] = sign + sign * gammon + sign * backgammon
    record[8] = sign


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
                kind = LIVE
                lane = tiles.lane[them]
                state.live[us, lane // LANES] |= np.uint32(1) << np.uint32(lane % LANES)
            state.kinds[us, them] = kind
            if not restart:
                record = state.values[us, them]
                record[:] = 0
                if kind == OVER:
                    finished(state, us, them)
                elif kind == LIVE:
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
def single(
    state: State,
    plays: Plays,
    sides: Sides,
    tiles: Tiles,
    us: int,
    them: int,
    first: int,
    made: Array,
    room: Array,
) -> None:
    """One step for a record, from the numbers as its turn finds them; into `made`.

    room : (4, 10), to work in. Arrays are taken out of the tuples once: passing them on costs more than a play.
    """
    values, told, kinds, one = state.values, state.told, state.kinds, state.one
    starts, after, landed = plays.first, plays.after, plays.landed
    lane_of, hit = tiles.lane, sides.hit
    total, best, found, record = room[0], room[1], room[2], room[3]
    n, two = len(values), one + one
    blots = sides.blots[them]
    place, place_2, place_3 = sides.places[them, 0], sides.places[them, 1], sides.places[them, 2]
    total[:] = 0
    roll = plays.lists[us * PLACES + sides.blocked[them]] * ROLLS
    for high in range(1, 7):
        for low in range(1, high + 1):
            start, end = starts[roll], starts[roll + 1]
            roll += 1
            best[5:] = -two * two
            for e in range(start, max(end, start + 1)):
                row, column = them, us  # nothing to play: the other side moves next, everything as it is
                if end > start:
                    mask = landed[e]
                    if mask & AGAIN and repeats(after, landed, start, e, blots):
                        continue
                    bits = (mask >> place & 1) | (mask >> place_2 & 1) << 1 | (mask >> place_3 & 1) << 2
                    row, column = hit[them, bits], int(after[e])
                kind = ILLEGAL
                if row >= first and (
                    row < us or (row == us and column < them)
                ):  # renewed before us, in this block
                    kind = kinds[row, column]
                if kind == LIVE:
                    lane = lane_of[column]
                    for k in range(NUMBERS):
                        record[k] = made[row - first, lane // LANES, k * LANES + lane % LANES]
                    turn(one, record, found, 0, 1)
                elif kind == OVER:
                    finished(state, row, column)
                    turn(one, values[row, column], found, 0, 1)
                else:
                    lane = lane_of[row]
                    at = (lane // LANES * n + column) * TILE + lane % LANES
                    for k in range(NUMBERS):
                        found[k] = told[at + k * LANES]
                if start == end and state.as_is:
                    for k in range(5, NUMBERS):
                        found[k] = -(record[k] if kind == LIVE else values[row, column, k])
                if found[5] >= best[5]:
                    best[:6] = found[:6]
                for k in range(6, NUMBERS):
                    best[k] = max(best[k], found[k])
            weight = one if high == low else two
            for k in range(NUMBERS):
                total[k] += weight * best[k]
    lane = lane_of[them]
    for k in range(NUMBERS):
        made[us - first, lane // LANES, k * LANES + lane % LANES] = total[k] * state.share


@njit()
def settle(
    state: State, plays: Plays, sides: Sides, tiles: Tiles, first: int, last: int, made: Array
) -> None:
    """Make again, in order, the records of a block that look at one of it whose turn was before theirs."""
    n = len(state.values)
    room = np.zeros((4, NUMBERS), state.values.dtype)
    looked = np.zeros(n, np.uint8)  # bit k: hits k of this side lead to a row of the block, not after ours
    for us in range(first, last):
        for k in range(sides.reached[us], sides.reached[us + 1]):
            looked[sides.reach[k, 0]] |= 1 << sides.reach[k, 1]
        for them in range(n):
            if looked[them] and state.kinds[us, them] == LIVE:
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
                    single(state, plays, sides, tiles, us, them, first, made, room)


@njit()
def store(state: State, tiles: Tiles, first: int, last: int, from_: int, to: int, made: Array) -> Any:
    """Put the records of a block and of the columns from_..to-1 in place; the greatest change of a number."""
    greatest = state.one - state.one
    values, kinds = state.values, state.kinds
    fresh = np.empty(NUMBERS, values.dtype)
    for them in range(from_, to):
        lane = tiles.lane[them]
        tile = lane // LANES
        lane %= LANES
        for us in range(first, last):
            kind = kinds[us, them]
            if kind == LIVE:
                for k in range(NUMBERS):
                    fresh[k] = made[us - first, tile, k * LANES + lane]
                    gap = abs(fresh[k] - values[us, them, k])
                    greatest = gap if gap > greatest else greatest
                    values[us, them, k] = fresh[k]
            elif kind == OVER:
                finished(state, us, them)
            if kind != ILLEGAL:
                renew(state, tiles, us, them)
    return greatest


@njit()
def decode(records: Array, values: Array) -> None:
    """values (m, 10) float32 from records (m, 28) uint8, as makehyper reads a file it restarts from."""
    scale = np.float32(1) / np.float32(16777215)
    half = np.float32(0.5)
    six = np.float32(6)
    one = np.float32(1)
    for m in range(len(records)):
        out = values[m]
        for k in range(9):
            low = np.int64(records[m, 3 * k]) | np.int64(records[m, 3 * k + 1]) << 8
            number = np.float32(low | np.int64(records[m, 3 * k + 2]) << 16) * scale
            if k < 5:
                out[k] = number
            else:
                out[k + 1] = (number - half) * six
        out[5] = ((out[0] + out[0]) - one) + ((out[1] - out[3]) + (out[2] - out[4]))


@njit()
def encode(values: Array, sixth: Any, half: Any, scale: Any, records: Array) -> None:
    """records (m, 28) uint8 from values (m, 10) float32: parts of 16777215, what is beyond cut off."""
    for m in range(len(values)):
        for k in range(9):
            number = values[m, k] * scale if k < 5 else (values[m, k + 1] * sixth + half) * scale
            whole = np.int64(number)
            records[m, 3 * k] = whole & 255
            records[m, 3 * k + 1] = whole >> 8 & 255
            records[m, 3 * k + 2] = whole >> 16 & 255
        records[m, 27] = 0
