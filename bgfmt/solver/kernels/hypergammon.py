"""Compiled hypergammon: the steps of the value iteration around `hypergammon_tiles.rows`.

A sweep goes through blocks of rows. `rows` makes all records of a block from the numbers as they stood before it;
`settle` makes again, in order, those that look at a record of the block whose turn was before theirs; `store` puts all
in place. So the numbers are those of a renewal in place, record by record.
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
def cube_taken(state: State, centered: Any, doubled: Any) -> Any:
    """The equity of the side on roll that may double, after its best cube action and the answer to it."""
    two = doubled + doubled
    if two >= centered and state.one >= centered:
        return state.one if two >= state.one else two
    return centered


@njit()
def turn(state: State, record: Array, out: Array, at: int, step: int) -> None:
    """Ten numbers of a record as the side sees them that leaves it: out[at], out[at + step], ...; see `State.told`."""
    out[at] = state.one - record[0]
    out[at + step] = record[3]
    out[at + 2 * step] = record[4]
    out[at + 3 * step] = record[1]
    out[at + 4 * step] = record[2]
    out[at + 5 * step] = -record[5]
    out[at + 6 * step] = -record[9]
    out[at + 7 * step] = -cube_taken(state, record[7], record[9])
    out[at + 8 * step] = -cube_taken(state, record[8], record[9])
    out[at + 9 * step] = -cube_taken(state, record[6], record[9])


@njit()
def renew(state: State, tiles: Tiles, us: int, them: int) -> None:
    """Bring `told` up to what `values` has."""
    lane = tiles.lane[us]
    at = (lane // LANES * len(state.values) + them) * TILE + lane % LANES
    turn(state, state.values[us, them], state.told, at, LANES)


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
def repeats(plays: Plays, start: Any, e: Any, blots: Any) -> bool:
    """Whether play e leaves what an earlier one of its roll leaves, hits included."""
    found = False
    for f in range(start, e):
        found = found or (
            plays.after[f] == plays.after[e] and plays.landed[f] & blots == plays.landed[e] & blots
        )
    return found


@njit()
def reply(
    state: State, tiles: Tiles, row: int, column: int, us: int, them: int, first: int, made: Array, record: Array, out: Array
) -> None:
    """What record [row, column] is worth to the side that leaves it, when record [us, them] is renewed."""
    lane = tiles.lane[row]
    at = (lane // LANES * len(state.values) + column) * TILE + lane % LANES
    kind = state.kinds[row, column]
    if row < first or row > us or (row == us and column >= them):  # as it was before the block
        kind = ILLEGAL
    if kind == OVER:
        finished(state, row, column)
        turn(state, state.values[row, column], out, 0, 1)
    elif kind == LIVE:
        lane = tiles.lane[column]
        for k in range(NUMBERS):
            record[k] = made[row - first, lane // LANES, k * LANES + lane % LANES]
        turn(state, record, out, 0, 1)
    else:
        for k in range(NUMBERS):
            out[k] = state.told[at + k * LANES]


@njit()
def single(
    state: State, plays: Plays, sides: Sides, tiles: Tiles, us: int, them: int, first: int, made: Array
) -> None:
    """One step for a record, from the numbers as its turn finds them; into `made`."""
    dtype = state.values.dtype
    total, best, found = np.zeros(NUMBERS, dtype), np.zeros(NUMBERS, dtype), np.zeros(NUMBERS, dtype)
    room = np.zeros(NUMBERS, dtype)
    n, two = len(state.values), state.one + state.one
    blots = sides.blots[them]
    roll = plays.lists[us * PLACES + sides.blocked[them]] * ROLLS
    for high in range(1, 7):
        for low in range(1, high + 1):
            start, end = plays.first[roll], plays.first[roll + 1]
            roll += 1
            best[5:] = -two * two
            for e in range(start, end):
                mask = plays.landed[e]
                if mask & AGAIN and repeats(plays, start, e, blots):
                    continue
                bits = 0
                for k in range(3):
                    bits |= (mask >> sides.places[them, k] & 1) << k
                reply(state, tiles, sides.hit[them, bits], np.int64(plays.after[e]), us, them, first, made, room, found)
                if found[5] >= best[5]:
                    best[:6] = found[:6]
                for k in range(6, NUMBERS):
                    best[k] = max(best[k], found[k])
            if start == end:
                reply(state, tiles, them, us, us, them, first, made, room, best)
                if state.as_is:
                    if them >= first and them < us:
                        lane = tiles.lane[us]
                        for k in range(5, NUMBERS):
                            best[k] = -made[them - first, lane // LANES, k * LANES + lane % LANES]
                    else:
                        for k in range(5, NUMBERS):
                            best[k] = -state.values[them, us, k]
            weight = state.one if high == low else two
            for k in range(NUMBERS):
                total[k] += weight * best[k]
    lane = tiles.lane[them]
    for k in range(NUMBERS):
        made[us - first, lane // LANES, k * LANES + lane % LANES] = total[k] * state.share


@njit()
def settle(
    state: State, plays: Plays, sides: Sides, tiles: Tiles, first: int, last: int, made: Array
) -> None:
    """Make again, in order, the records of a block that look at one of it whose turn was before theirs."""
    n = len(state.values)
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
                    single(state, plays, sides, tiles, us, them, first, made)


@njit()
def store(
    state: State, tiles: Tiles, first: int, last: int, from_: int, to: int, made: Array
) -> Any:
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
