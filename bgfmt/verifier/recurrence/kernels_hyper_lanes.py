"""Compiled hypergammon iteration: the records of one side against 32 others at a time.

The others lie together that block the same landing, so that the plays are the same against all of them. A play that
hits nothing leaves them as they are: its replies lie in one place, lane by lane. Where it hits, they are fetched.
Beyond the diagonal everything looked at is as it was before the sweep, and lies up to the diagonal. Up to it, of
records that look at none of the rows that are made, what is looked at without a hit has been made before. So there
is one copy of these replies (`told`), the last that were made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_hyper_plays import OVER, PLACES
from bgfmt.verifier.recurrence.kernels_hyper_rows import ROLLS, SEEN, Lists, Tiles, row, spread
from bgfmt.verifier.recurrence.kernels_hypergammon import NUMBERS, no_play, set_turned
from bgfmt.verifier.recurrence.lanes_hyper import EQUITIES, LANES, LEAST, consider, lowest

Array = Any
POINTS = 24
FEW = 4  # lanes of a tile that are made one by one
WORD, ONE = np.uint32(0), np.uint32(1)
LANDINGS = np.uint32((1 << POINTS) - 1)


@njit()
def spread_all(n: int, tiles: Tiles, turned: Array, told: Array) -> None:
    """`spread` of every record."""
    for us in range(n):
        for them in range(n):
            spread(n, tiles.lane, us, them, turned[them * n + us], told)


@njit()
def alive(r: int, tile: int, own: bool, least: Array, tiles: Tiles, kinds: Array) -> Any:
    """The lanes of a tile to be made: beyond the diagonal or, if `own`, up to it, where `least` is beyond r."""
    n = len(tiles.lane)
    found = WORD
    for k in range(LANES):
        c = tiles.sides[tile * LANES + k]
        if c >= 0 and kinds[r * n + c] > OVER and (c <= r) == own and not (own and least[c] <= r):
            found |= ONE << np.uint32(k)
    return found


@njit()
def hit_lanes(blots: Array, tile: int, mask: Any) -> Any:
    """The lanes with a blot on one of these landings."""
    found = WORD
    left = mask & LANDINGS
    while left:
        found |= blots[tile, lowest(left)]
        left &= left - ONE
    return found


@njit()
def no_move(
    r: int, tile: int, live: Any, lists: Lists, tiles: Tiles, stay: bool, old: Array, new: Array, turned: Array,
    new_from: int, old_from: int, line: Array,
) -> None:  # fmt: skip
    """line[number * 32 + lane] = the ten numbers where the side on roll cannot move."""
    n = len(tiles.lane)
    one = np.zeros(NUMBERS, old.dtype)
    while live:
        k = lowest(live)
        live &= live - ONE
        c = tiles.sides[tile * LANES + k]
        ours = c < r
        if stay:
            one[:] = turned[r * n + c + (new_from if ours else old_from)]
        else:
            no_play(new[c * n + r] if ours else old[c * n + r], one)
        for j in range(NUMBERS):
            line[j * LANES + k] = one[j]


@njit()
def rows_by_tiles(
    first: int, last: int, from_: int, to: int, own: bool, least: Array, lists: Lists, tiles: Tiles, kinds: Array,
    divide: bool, stay: bool, old: Array, new: Array, turned: Array, told: Array, later: bool,
) -> Any:  # fmt: skip
    """One step for the rows first..last-1 and the tiles from_..to-1; the greatest change of a number.

    The records beyond the diagonal or, if `own`, those up to it that `row` does not make in order. The other
    arguments are those of `row`.
    """
    n = len(lists.blocked)
    starts, after, landed, blots = lists.starts, lists.after, lists.landed, tiles.blots
    new_from, old_from = (n * n, 0) if later else (0, n * n)
    wide = EQUITIES * LANES
    number_from = new_from if own else old_from
    met, best = np.zeros(wide, old.dtype), np.zeros(wide, old.dtype)
    met_in, best_in, column = (
        np.zeros(LANES, np.uint32),
        np.zeros(LANES, np.uint32),
        np.zeros(LANES, np.uint32),
    )
    line, total = np.zeros(NUMBERS * LANES, old.dtype), np.zeros(NUMBERS * LANES, old.dtype)
    whole = old.dtype.type(36)
    reciprocal = old.dtype.type(1) / whole
    nothing = old.dtype.type(LEAST)
    once, twice = old.dtype.type(1), old.dtype.type(2)
    most = old.dtype.type(0)
    for tile in range(from_, to):
        for k in range(LANES):
            column[k] = max(0, tiles.sides[tile * LANES + k]) + number_from
        for r in range(first, last):
            live = alive(r, tile, own, least, tiles, kinds)
            count, left = 0, live
            while left:
                count += 1
                left &= left - ONE
            if count <= FEW:
                while live:
                    c = tiles.sides[tile * LANES + lowest(live)]
                    live &= live - ONE
                    change = row(
                        r, c, c + 1, least, False, lists, tiles, kinds, divide, stay, old, new, turned, told, later,
                    )  # fmt: skip
                    most = change if change > most else most
                continue
            roll = (r * PLACES + tiles.blocked[tile]) * ROLLS
            total[:] = 0
            for high in range(6):
                for low in range(high + 1):
                    begin, end = starts[roll], starts[roll + 1]
                    roll += 1
                    if begin == end:
                        no_move(r, tile, live, lists, tiles, stay, old, new, turned, new_from, old_from, line)
                    else:
                        best[:] = nothing
                        for p in range(begin, end):
                            mask = landed[p]
                            barred = WORD
                            if mask & np.uint32(SEEN):
                                for q in range(begin, p):
                                    if after[q] == after[p]:
                                        barred |= ~hit_lanes(blots, tile, landed[q] ^ mask)
                            hits = hit_lanes(blots, tile, mask) & live & ~barred
                            left_to = np.int64(after[p]) * n
                            lone = hits
                            while lone:
                                here = np.int64(lowest(lone))
                                lone &= lone - ONE
                                c = tiles.sides[tile * LANES + here]
                                bits = np.int64(0)
                                for j in range(3):
                                    bits |= (np.int64(mask) >> lists.met[c, j] & 1) << j
                                there = lists.hit[c, bits]
                                at = left_to + there + (new_from if there < r else old_from)
                                met_in[here] = at
                                for j in range(EQUITIES):
                                    met[j * LANES + here] = turned[at, EQUITIES + j]
                            consider(
                                told, (tile * n + np.int64(after[p])) * wide, met, met_in, column,
                                np.uint32(left_to), hits, barred, best, best_in,
                            )  # fmt: skip
                        for k in range(LANES):
                            at = np.int64(best_in[k])
                            for j in range(EQUITIES):
                                line[j * LANES + k] = turned[at, j]
                        for j in range(wide):
                            line[wide + j] = best[j]
                    weight = once if high == low else twice
                    for j in range(NUMBERS * LANES):
                        total[j] += weight * line[j]
            for j in range(NUMBERS * LANES):
                total[j] = total[j] / whole if divide else total[j] * reciprocal
            while live:
                here = np.int64(lowest(live))
                live &= live - ONE
                c = tiles.sides[tile * LANES + here]
                x = r * n + c
                for j in range(NUMBERS):
                    gap = abs(total[j * LANES + here] - old[x, j])
                    most = gap if gap > most else most
                    new[x, j] = total[j * LANES + here]
                y = new_from + c * n + r
                set_turned(new[x], turned[y])
                spread(n, tiles.lane, r, c, turned[y], told)
    return most
