"""Compiled: squares of a two-sided table (`bgfmt.solver.two_sided`), and tiles of one that is solved through a store.

Positions are numbers in pip order throughout. "Turned" values are those of a record to the player who moved into it:
negated, with the opponent's best cube action. Lanes of a tile are the numbers of `block` sides t side by side, in the
order of their records: lane x * columns + k is column k of the block's t number x.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.game import kernels_vectors as vectors
from bgfmt.game.kernels_vectors import RollResults, negate_for_opponent
from bgfmt.jit import njit

__all__ = [
    "LINES",
    "LINES64",
    "PLACES_PER_RUN",
    "ROLL_RESULTS",
    "Lines",
    "compute_records",
    "fill_squares",
    "scatter_records",
    "store_turned",
]


PLACES_PER_RUN = 128  # places processed together, so that their lanes stay in the CPU cache


class Lines(NamedTuple):
    """Turned values: line base[j] + b * step[j] holds those of place j and the sides of block b.

    The order within a line is that of `vectors.record`.

    numbers (m, lanes) int16; records (m, t's of a block), the same as whole records.
    """

    numbers: Any
    records: Any
    base: Any
    step: Any


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
LINES = "bgfmt.solver.kernels.two_sided:Lines(i2.2C, u2.2C, i8.1C, i8.1C)"
LINES64 = "bgfmt.solver.kernels.two_sided:Lines(i2.2C, u8.2C, i8.1C, i8.1C)"
ROLL_RESULTS = "bgfmt.game.kernels_vectors:RollResults(i8.1C, i4.1C, i4.1C)"


@njit(
    f"(i8, i8), (i8, i8), (i8, i8), i8.1C, {LINES}, {ROLL_RESULTS}, i8, b1, u2.1C, (i8, i8)",
    f"(i8, i8), (i8, i8), (i8, i8), i8.1C, {LINES64}, {ROLL_RESULTS}, i8, b1, u2.1C, (i8, i8)",
)
def fill_squares(
    us: Any, ts: Any, reach: Any, starts: Any, lines: Lines, rolls: RollResults, columns: int, gammons: bool,
    made: Any, target: Any,
) -> None:  # fmt: skip
    """Compute all records of blocks us[0]..us[1]-1 on roll against blocks ts[0]..ts[1]-1.

    Parameters
    ----------
    reach : the first place that their plays may lead to, and past the last.
    starts : first place of each block.
    lines : turned values; those of the new records are written to line target[0] + b * target[1] + t, for the u of b.
    rolls, columns, gammons : results of rolls, columns of a record, and whether gammons count.
    made : (records * columns + lanes,) uint16, filled with the records, block of t's by block, u by u; the end is
        working space.
    """
    numbers, records, base, step = lines
    lanes = numbers.shape[1]
    at = np.empty(reach[1] - reach[0], np.int32)
    tile = np.empty((records.shape[1], records.shape[1]), records.dtype)
    turned = tile.view(np.int16)
    place = 0
    for b in range(ts[0], ts[1]):
        low = starts[b]
        width = starts[b + 1] - starts[b]
        for j in range(reach[0], reach[1]):
            at[j - reach[0]] = base[j] + b * step[j]
        for c in range(us[0], us[1]):
            first = starts[c]
            past = starts[c + 1]
            for u in range(first, past):
                stored = made[
                    place : place + lanes
                ]  # of a narrow block more than its own, made anew by the next
                vectors.record(stored, turned[u - first], numbers, at, reach[0], rolls, u, columns, gammons)
                place += width * columns
            line = target[0] + c * target[1] + low
            for x in range(width):
                for y in range(past - first):
                    records[line + x, y] = tile[y, x]


@njit("u2.1C, (i8, i8), (i8, i8), i8.1C, i8.1C, u2.2C", "u8.1C, (i8, i8), (i8, i8), i8.1C, i8.1C, u8.2C")
def scatter_records(made: Any, us: Any, ts: Any, starts: Any, numbers: Any, out: Any) -> None:
    """Copy records of `fill_squares`, as whole records, to their position numbers in the table, (n, n)."""
    place = 0
    for b in range(ts[0], ts[1]):
        low = starts[b]
        width = starts[b + 1] - starts[b]
        for u in range(starts[us[0]], starts[us[1]]):
            row = out[numbers[u]]
            for x in range(width):
                row[numbers[low + x]] = made[place + x]
            place += width


# ---- tiles


@njit("u2.2C, i8, b1, i2.3C, i8, i8, i2.1C, i2.1C", "u2.2C, i8, b1, u8.3C, i8, i8, i2.1C, u8.1C")
def store_turned(
    stored: Any, columns: int, gammons: bool, near: Any, side: int, at: int, run: Any, records: Any
) -> None:  # fmt: skip
    """Set near[t // block, at + j, t % block] to the turned record (t, j), of sides t against places j.

    Parameters
    ----------
    stored : (m, places * columns) uint16, of sides from number `side` on.
    near : (blocks, places of the window, block), a record each, as an integer of its size.
    run : (PLACES_PER_RUN * columns,) int16 working space. records : the same as whole records.
    """
    block = near.shape[2]
    places = stored.shape[1] // columns
    for low in range(0, places, PLACES_PER_RUN):
        size = min(PLACES_PER_RUN, places - low)
        for x in range(stored.shape[0]):
            negate_for_opponent(stored[x, low * columns : (low + size) * columns], columns, gammons, run)
            t = side + x
            b = t // block
            lane = t % block
            for j in range(size):
                near[b, at + low + j, lane] = records[j]


@njit("i8, i8, i2.2C, i8, i8.1C, i4.1C, i4.1C, i8, b1, u2.2C, i8, i8, i8, i8")
def compute_records(
    first: int, last: int, near: Any, window: int, ends: Any, results: Any, weights: Any, columns: int,
    gammons: bool, out: Any, row: int, place: int, low: int, high: int,
) -> None:  # fmt: skip
    """Compute the records (u, t) of u in first..last-1 and the lanes' t: the maxima over u's results, roll by roll.

    near (places of the window, lanes) int16, of places from `window` on. out[row + u - first, (place + x) * columns +
    k], uint16, becomes column k of t number x, for low <= x < high.
    """
    lanes = near.shape[1]
    at = np.arange(near.shape[0]).astype(np.int32)
    stored = np.empty(lanes, np.uint16)
    turned = np.empty(lanes, np.int16)
    rolls = RollResults(ends, results, weights)
    for u in range(first, last):
        vectors.record(stored, turned, near, at, window, rolls, u, columns, gammons)
        made = out[row + u - first]
        begin = place * columns
        for i in range(low * columns, high * columns):
            made[begin + i] = stored[i]
