"""Compiled hypergammon: one step for whole rows, 32 records at a time.

The other sides are laid out in *tiles* of 32 lanes, those that block the same landing together: a side's plays
against all lanes of a tile are the same, and a play that hits nothing leads to the same lane of another row. So a
play is one pass over 32 lanes of ten numbers each. Lanes in which it hits a blot lead elsewhere and are done
one by one, from a second copy of the numbers that has those of a record side by side. Tiles with few lanes that are
renewed are left to `hypergammon.records`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.hypergammon_plays import AGAIN, OPEN, PLACES, ROLLS, Plays
from bgfmt.solver.kernels.hypergammon_vectors import first_play, lowest, next_play

Array = Any
LANES = 32
NUMBERS = 10
TILE = LANES * NUMBERS
CUBELESS = 5 * LANES
FIVE, LANDINGS = np.uint32(31), np.uint32((1 << OPEN) - 1)  # five bits; those of landings
FEW = 5  # live lanes up to which the records of a tile are made one by one


class Tiles(NamedTuple):
    """The other sides in tiles.

    them : (tiles * 32,) the side of each lane, 0 where there is none. lane : (n,) tile * 32 + lane of each side.
    blocked : (tiles,) the landing that all sides of a tile block. blots : (tiles, 32) uint32, bits of the lanes with
        a blot on a landing; nothing from landing 24 on. places : (tiles * 32,) uint32, what `Sides` has, five bits
        each. hit : flat (tiles * 32, 8) uint64, what `Sides` has as places in `State.apart` of records of column 0.
    """

    them: Array
    lane: Array
    blocked: Array
    blots: Array
    places: Array
    hit: Array


class State(NamedTuple):
    """The numbers of the iteration, float32 or float64.

    values : (n, n, 10) of [us, them]: win, win gammon, win backgammon, lose gammon, lose backgammon; equities
        cubeless, owned, centered, centered with Jacoby, opponent's cube.
    told : flat, ((tile, them), (10, 32)): record [us of this lane, them] as the side sees it that leaves it to the
        other: the five chances, then equities cubeless, owned, centered, Jacoby, opponent's cube, the
        other's cube action taken.
    apart : flat, (them, us, 10): the same, equities before chances; then room for the plays of a roll.
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
def one_lane(apart: Array, at: Any, out: Array, begin: Any) -> None:
    """The record at `at` of `State.apart` as one lane of a tile, from `begin` on."""
    for k in range(5):
        out[begin + np.uint64(k * LANES)] = apart[at + np.uint64(k + 5)]
        out[begin + np.uint64(CUBELESS + k * LANES)] = apart[at + np.uint64(k)]


@njit()
def met(blots: Array, tile: int, packed: Any) -> Any:
    """The lanes of a tile with a blot on one of up to four landings."""
    word = blots[tile, packed & 31] | blots[tile, packed >> 5 & 31]
    return word | blots[tile, packed >> 10 & 31] | blots[tile, packed >> 15 & 31]


@njit()
def stay(state: State, tiles: Tiles, tile: int, us: int, alive: Any, best: Array) -> None:
    """The numbers of a tile where the side on roll cannot move."""
    n = len(state.values)
    for c in range(LANES):
        if alive >> np.uint32(c) & np.uint32(1):
            them = tiles.them[tile * LANES + c]
            at = (tile * n + us) * TILE + c
            for k in range(NUMBERS):
                best[k * LANES + c] = state.told[at + k * LANES]
            if state.as_is:
                for k in range(5, NUMBERS):
                    best[k * LANES + c] = -state.values[them, us, k]


@njit()
def rows(
    state: State, plays: Plays, tiles: Tiles, first: int, last: int, from_: int, apace: int, made: Array
) -> None:
    """One step for the rows first..last-1 from the numbers as they stand: made[us - first, tile] = (320,) numbers.

    For every so many tiles, the outer loop, since rows near each other look at the same records.
    Lanes that are not live, and tiles with few that are, hold anything.
    """
    told, apart, live, share, one = state.told, state.apart, state.live, state.share, state.one
    starts, after, landed, packed, lists = plays.first, plays.after, plays.landed, plays.packed, plays.lists
    blots, places, hit = tiles.blots, tiles.places, tiles.hit
    n = np.uint64(len(state.kinds))
    tile_wide = np.uint64(TILE)
    best, total = np.zeros(TILE, told.dtype), np.zeros(TILE, told.dtype)
    others = np.zeros(2 * TILE, told.dtype)  # of two plays, the lanes in which a blot is hit
    for tile in range(from_, len(tiles.blocked), apace):
        start_of_tile = np.uint64(tile) * n
        lane_of_tile = np.uint64(tile * LANES)
        for us in range(first, last):
            alive = live[us, tile]
            if few(alive):
                continue
            roll = lists[us * PLACES + tiles.blocked[tile]] * ROLLS
            total[:] = 0
            for high in range(1, 7):
                for low in range(1, high + 1):
                    start, end = starts[roll], starts[roll + 1]
                    roll += 1
                    if start == end:
                        stay(state, tiles, tile, us, alive, best)
                    last_at = np.uint64(0)
                    last_hits = last_barred = np.uint32(0)
                    waiting = (
                        0  # a play is done after the next one's hits were put together, not to wait for them
                    )
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
                        side = np.uint64(waiting & 1) * tile_wide
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
                            to = hit[at_lane * np.uint64(8) + np.uint64(bits)]
                            one_lane(apart, there + to, others, side + np.uint64(c))
                        if waiting == 1:
                            first_play(told, last_at, others, np.uint64(0), best, last_hits, last_barred)
                        elif waiting:
                            behind = tile_wide - side
                            next_play(told, last_at, others, behind, best, last_hits, last_barred)
                        waiting += 1
                        last_at = (start_of_tile + to_side) * tile_wide
                        last_hits, last_barred = hits, repeated
                    if waiting == 1:
                        first_play(told, last_at, others, np.uint64(0), best, last_hits, last_barred)
                    elif waiting:
                        behind = np.uint64((~waiting & 1) * TILE)
                        next_play(told, last_at, others, behind, best, last_hits, last_barred)
                    weight = one if high == low else one + one
                    for k in range(TILE):
                        total[k] += weight * best[k]
            out = made[us - first, tile]
            for k in range(TILE):
                out[k] = total[k] * share


@njit()
def few(alive: Any) -> bool:
    """Whether at most `FEW` lanes are live."""
    for _ in range(FEW):
        alive &= alive - np.uint32(1) if alive else alive
    return not alive
