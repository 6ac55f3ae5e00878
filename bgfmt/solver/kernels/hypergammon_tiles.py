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

Array = Any
LANES = 32
NUMBERS = 10
TILE = LANES * NUMBERS
CUBELESS = 5 * LANES
FEW = 5  # live lanes up to which the records of a tile are made one by one
#: place of a lowest bit in a word by the top five bits of its product with SPREAD
SPREAD = 0x077CB531
LOWEST = np.array([0] * 32, np.uint8)
for _k in range(32):
    LOWEST[((SPREAD << _k) & 0xFFFFFFFF) >> 27] = _k


class Tiles(NamedTuple):
    """The other sides in tiles.

    them : (tiles * 32,) the side of each lane, 0 where there is none. lane : (n,) tile * 32 + lane of each side.
    blocked : (tiles,) the landing that all sides of a tile block. blots : (tiles, 32) uint32, bits of the lanes with
        a blot on a landing; nothing from landing 24 on. places (tiles * 32, 3), hit (tiles * 32, 8) : of the lanes,
        what `Sides` has of sides, the hits as places in `State.apart` of records of column 0.
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
def first_play(told: Array, at: Any, best: Array, word: Any, barred: Any) -> None:
    """The numbers of a tile after the first play of a roll; lanes of `word` are barred from it."""
    for c in range(LANES):
        off = barred * np.float32((word >> np.uint32(c)) & np.uint32(1))
        for k in range(5):
            best[k * LANES + c] = told[at + np.uint64(k * LANES + c)]
        for k in range(5, NUMBERS):
            best[k * LANES + c] = told[at + np.uint64(k * LANES + c)] + off


@njit()
def next_play(told: Array, at: Any, old: Array, best: Array, word: Any, barred: Any) -> None:
    """`best` = `old` or, lane by lane, what a play leads to: the last of equally good ones gives the chances."""
    for c in range(LANES):
        off = barred * np.float32((word >> np.uint32(c)) & np.uint32(1))
        x = told[at + np.uint64(CUBELESS + c)] + off
        was = old[CUBELESS + c]
        taken = x >= was
        best[CUBELESS + c] = x if taken else was
        for k in range(5):
            best[k * LANES + c] = told[at + np.uint64(k * LANES + c)] if taken else old[k * LANES + c]
        for k in range(6, NUMBERS):
            y = told[at + np.uint64(k * LANES + c)] + off
            z = old[k * LANES + c]
            best[k * LANES + c] = y if y > z else z


@njit()
def one_lane(apart: Array, at: Any, best: Array, c: int) -> None:
    """As `next_play`, for a lane in which the play leads to the record at `at` of `State.apart`."""
    x, was = apart[at], best[CUBELESS + c]
    taken = x >= was  # no branch: it would be guessed wrong every other time
    best[CUBELESS + c] = x if taken else was
    for k in range(5):
        y = apart[at + np.uint64(k + 5)]
        z = best[k * LANES + c]
        best[k * LANES + c] = y if taken else z
    for k in range(1, 5):
        y = apart[at + np.uint64(k)]
        z = best[CUBELESS + k * LANES + c]
        best[CUBELESS + k * LANES + c] = y if y > z else z


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
    barred = -(one + one) * (one + one) * (one + one)
    ping, pong = np.zeros(TILE, told.dtype), np.zeros(TILE, told.dtype)
    total = np.zeros(TILE, told.dtype)
    for tile in range(from_, len(tiles.blocked), apace):
        start_of_tile = np.uint64(tile) * n
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
                    in_ping = True
                    if start == end:
                        stay(state, tiles, tile, us, alive, ping)
                    for e in range(start, end):
                        hits = met(blots, tile, packed[e])
                        repeated = np.uint32(0)
                        mask = landed[e]
                        if mask & AGAIN:
                            for f in range(start, e):
                                if after[f] == after[e]:
                                    other = landed[f] ^ mask
                                    different = np.uint32(0)
                                    for k in range(OPEN):
                                        if other >> np.uint32(k) & np.uint32(1):
                                            different |= blots[tile, k]
                                    repeated |= ~different
                            if not alive & ~repeated:
                                continue
                        to_side = np.uint64(after[e])
                        at = (start_of_tile + to_side) * tile_wide
                        if e == start:
                            first_play(told, at, ping, hits, barred)
                        elif in_ping:
                            next_play(told, at, ping, pong, hits | repeated, barred)
                            in_ping = False
                        else:
                            next_play(told, at, pong, ping, hits | repeated, barred)
                            in_ping = True
                        lone = hits & alive & ~repeated
                        there = to_side * n * np.uint64(NUMBERS)
                        while lone:
                            lowest = lone & (~lone + np.uint32(1))
                            lone ^= lowest
                            c = int(LOWEST[np.uint32(lowest * np.uint32(SPREAD)) >> np.uint32(27)])
                            at_lane = tile * LANES + c
                            bits = (
                                (mask >> places[at_lane, 0] & 1)
                                | (mask >> places[at_lane, 1] & 1) << 1
                                | (mask >> places[at_lane, 2] & 1) << 2
                            )
                            if in_ping:
                                one_lane(apart, there + hit[at_lane, bits], ping, c)
                            else:
                                one_lane(apart, there + hit[at_lane, bits], pong, c)
                    weight = one if high == low else one + one
                    if in_ping:
                        for k in range(TILE):
                            total[k] += weight * ping[k]
                    else:
                        for k in range(TILE):
                            total[k] += weight * pong[k]
            out = made[us - first, tile]
            for k in range(TILE):
                out[k] = total[k] * share


@njit()
def few(alive: Any) -> bool:
    """Whether at most `FEW` lanes are live."""
    for _ in range(FEW):
        alive &= alive - np.uint32(1) if alive else alive
    return not alive
