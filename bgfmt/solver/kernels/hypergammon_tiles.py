"""Compiled hypergammon: one step for whole rows, 32 records at a time.

The other sides are laid out in *tiles* of 32 lanes, those that block the same landing together: a side's plays
against all lanes of a tile are the same, and a play that hits nothing leads to the same lane of another row. So a
play is one pass over 32 lanes of five equities each. Lanes in which it hits a blot lead elsewhere and are done
one by one, from a second copy of the numbers that has those of a record side by side; the chances are read there
once a roll, of the best play. Tiles with few lanes that are renewed are left to `hypergammon.records`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.hypergammon_plays import AGAIN, OPEN, PLACES, ROLLS, Plays
from bgfmt.solver.kernels.hypergammon_vectors import LEAST, TOGETHER, add_some, lowest, play

Array = Any
LANES = 32
NUMBERS = 10
TILE = LANES * NUMBERS
CUBELESS = TOLD = 5 * LANES  # where the equities of a tile begin; and how many there are
FIVE, LANDINGS = np.uint32(31), np.uint32((1 << OPEN) - 1)  # five bits; those of landings
FEW = 5  # live lanes up to which the records of a tile are made one by one


class Tiles(NamedTuple):
    """The other sides in tiles.

    them : (tiles * 32,) the side of each lane, 0 where there is none. lane : (n,) tile * 32 + lane of each side.
    least : (tiles,) the least side of each.
    blocked : (tiles,) the landing that all sides of a tile block. blots : (tiles, 32) uint32, bits of the lanes with
        a blot on a landing; nothing from landing 24 on. places : (tiles * 32,) uint32, what `Sides` has, five bits
        each. column : (tiles * 32,) uint32, and hit : flat (tiles * 32, 8) uint64, what `Sides` has: as places in
        `State.apart`, of records of column 0, of a side that is not hit or is.
    """

    them: Array
    lane: Array
    least: Array
    blocked: Array
    blots: Array
    places: Array
    column: Array
    hit: Array


class State(NamedTuple):
    """The numbers of the iteration, float32 or float64.

    values : (n, n, 10) of [us, them]: win, win gammon, win backgammon, lose gammon, lose backgammon; equities
        cubeless, owned, centered, centered with Jacoby, opponent's cube.
    told : flat, ((tile, them), (5, 32)): record [us of this lane, them] as the side sees it that leaves it to the
        other: equities cubeless, owned, centered, Jacoby, opponent's cube, the other's cube action taken.
    apart : flat, (them, us, 10): the same, and then the five chances; then room for the plays of a roll.
    kinds : (n, n) uint8. live : (n, tiles) uint32, the lanes whose records the iteration renews.
    boards : (n, 25) int64, the sides. chequers : how many one begins with.
    one, share : the number 1, and 1/36 as the recipe rounds it.
    as_is : whether a side that cannot move gets the other's numbers column by column, as makehyper has it.
    """

    values: Array
    told: Array
    apart: Array
    kinds: Array
    live: Array
    boards: Array
    chequers: int
    one: Any
    share: Any
    as_is: bool


@njit()
def met(blots: Array, tile: Any, packed: Any) -> Any:
    """The lanes of a tile with a blot on one of up to four landings."""
    word = blots[tile, packed & 31] | blots[tile, packed >> 5 & 31]
    return word | blots[tile, packed >> 10 & 31] | blots[tile, packed >> 15 & 31]


@njit()
def stay(state: State, tiles: Tiles, tile: int, us: int, alive: Any, best: Array, chosen: Array) -> None:
    """The equities of a tile where the side on roll cannot move, and where in `State.apart` its chances are."""
    n = len(state.values)
    for c in range(LANES):
        if alive >> np.uint32(c) & np.uint32(1):
            them = tiles.them[tile * LANES + c]
            at = (us * n + them) * NUMBERS
            chosen[c] = at
            for k in range(5):
                best[k * LANES + c] = state.apart[at + k]
            if state.as_is:
                for k in range(5):
                    best[k * LANES + c] = -state.values[them, us, 5 + k]


@njit()
def rows(state: State, plays: Plays, tiles: Tiles, first: int, last: int, which: Array, made: Array) -> None:
    """One step for the rows first..last-1 from the numbers as they stand: made[us - first, tile] = (320,) numbers.

    For the tiles `which`, the outer loop, since rows near each other look at the same records.
    Lanes that are not live, and tiles with few that are, hold anything.
    """
    told, apart, live, share, one = state.told, state.apart, state.live, state.share, state.one
    starts, after, landed, packed, lists = plays.first, plays.after, plays.landed, plays.packed, plays.lists
    blots, places, hit, column = tiles.blots, tiles.places, tiles.hit, tiles.column
    n, wide = np.uint64(len(state.kinds)), np.uint64(TOLD)
    best, equities = np.zeros(TOLD, told.dtype), np.zeros(TOLD, told.dtype)
    chances, many = np.zeros(LANES * TOGETHER, told.dtype), np.uint64(TOGETHER)
    chosen, least = np.zeros(LANES, np.uint32), told.dtype.type(LEAST)
    # of two plays, the lanes in which a blot is hit
    others, others_at = np.zeros(2 * TOLD, told.dtype), np.zeros(2 * LANES, np.uint32)
    for some in which:
        tile = np.uint64(some)  # what may be negative is looked up more slowly
        start_of_tile = tile * n
        lane_of_tile = tile * np.uint64(LANES)
        for us in range(first, last):
            alive = live[us, tile]
            if few(alive):
                continue
            roll = lists[us * PLACES + tiles.blocked[tile]] * ROLLS
            equities[:] = chances[:] = 0
            for high in range(1, 7):
                for low in range(1, high + 1):
                    start, end = starts[roll], starts[roll + 1]
                    roll += 1
                    best[:] = least
                    if start == end:
                        stay(state, tiles, int(tile), us, alive, best, chosen)
                    last_at = last_turn = np.uint64(0)
                    last_hits = last_barred = last_side = np.uint32(0)
                    # a play is done after the hits of the next one were put together, so as not to wait for them
                    waiting = 0
                    for e in range(start, end):
                        repeated = np.uint32(0)
                        mask = landed[e]
                        if mask & AGAIN:
                            for f in range(start, e):
                                if after[f] == after[e]:
                                    other = (landed[f] ^ mask) & LANDINGS
                                    different = np.uint32(0)
                                    while other:
                                        different |= blots[tile, lowest(other)]
                                        other &= other - np.uint32(1)
                                    repeated |= ~different
                            if not alive & ~repeated:
                                continue
                        hits = met(blots, tile, packed[e]) & alive & ~repeated
                        to_side = np.uint64(after[e])
                        there = to_side * n * np.uint64(NUMBERS)
                        lone = hits
                        turn = np.uint64(waiting & 1)
                        while lone:
                            c = lowest(lone)
                            lone &= lone - np.uint32(1)
                            at_lane = lane_of_tile + np.uint64(c)
                            place = places[at_lane]
                            bits = (
                                (mask >> (place & FIVE) & np.uint32(1))
                                | (mask >> (place >> np.uint32(5) & FIVE) & np.uint32(1)) << np.uint32(1)
                                | (mask >> (place >> np.uint32(10)) & np.uint32(1)) << np.uint32(2)
                            )
                            to = there + hit[at_lane * np.uint64(8) + np.uint64(bits)]
                            others_at[turn * np.uint64(LANES) + np.uint64(c)] = to
                            begin = turn * wide + np.uint64(c)
                            for k in range(5):
                                others[begin + np.uint64(k * LANES)] = apart[to + np.uint64(k)]
                        if waiting:
                            play(
                                told, last_at, column, lane_of_tile, last_side, others, others_at, last_turn,
                                best, chosen, last_hits, last_barred,
                            )  # fmt: skip
                        waiting += 1
                        last_at, last_turn, last_side = (
                            (start_of_tile + to_side) * wide,
                            turn,
                            np.uint32(there),
                        )
                        last_hits, last_barred = hits, repeated
                    if waiting:
                        play(
                            told, last_at, column, lane_of_tile, last_side, others, others_at, last_turn, best,
                            chosen, last_hits, last_barred,
                        )  # fmt: skip
                    weight = one if high == low else one + one
                    for k in range(TOLD):
                        equities[k] += weight * best[k]
                    for c in range(np.uint64(LANES)):
                        add_some(chances, c * many, apart, np.uint64(chosen[c]) + np.uint64(5), weight)
            out = made[us - first, tile]
            for k in range(TOLD):
                out[CUBELESS + k] = equities[k] * share
            for c in range(LANES):
                for k in range(5):
                    out[k * LANES + c] = chances[c * TOGETHER + k] * share


@njit()
def few(alive: Any) -> bool:
    """Whether at most `FEW` lanes are live."""
    for _ in range(FEW):
        alive &= alive - np.uint32(1) if alive else alive
    return not alive


@njit()
def chosen(tiles: Tiles, last: int, later: bool, from_: int, apace: int) -> Array:
    """Every n-th tile of those whose sides all are `last` or greater, if `later`, or of the other ones."""
    out = np.empty(len(tiles.least), np.int64)
    many = seen = 0
    for tile in range(len(out)):
        if (tiles.least[tile] >= last) == later:
            if seen % apace == from_:
                out[many] = tile
                many += 1
            seen += 1
    return out[:many]
