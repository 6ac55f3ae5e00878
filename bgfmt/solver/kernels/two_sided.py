"""Compiled: squares of a two-sided table (`bgfmt.solver.two_sided`).

Positions are numbers in pip order throughout. "Turned" values are those of a record to the player who moved into it:
negated, with the opponent's best cube action. Lanes are the numbers of a block of sides t side by side, in the
order of their records: lane x * columns + k is column k of the block's t number x.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.game import kernels_vectors as vectors
from bgfmt.game.kernels_vectors import ROLL_RESULTS, RollResults
from bgfmt.jit import njit


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


@njit(
    f"(i8, i8), (i8, i8), (i8, i8), i8.1C, {LINES}, {ROLL_RESULTS}, i8, b1, u2.1C, (i8, i8)",
    f"(i8, i8), (i8, i8), (i8, i8), i8.1C, {LINES64}, {ROLL_RESULTS}, i8, b1, u2.1C, (i8, i8)",
)
def fill_squares(
    us: Any, ts: Any, reach: Any, starts: Any, lines: Lines, rolls: RollResults, columns: int, gammons: bool,
    made: Any, target: Any,
) -> None:  # fmt: skip
    """Compute all records of the sides of blocks us[0]..us[1]-1, on roll, against those of blocks ts[0]..ts[1]-1.

    A block is a range of sides, which are counted in order of pips ("places"). A line is a row of `lines.numbers`:
    the values of all sides of a block against one place, as seen by the side that has moved there.

    Parameters
    ----------
    reach : the first place that their plays may lead to, and past the last.
    starts : first place of each block.
    lines : the lines; those of the new records are written to line target[0] + b * target[1] + t, for the u of block
        b.
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
    """Copy records that `fill_squares` made to the table `out`, (n, n) of whole records, by position number.

    made : the records. us, ts, starts : as of `fill_squares`. numbers : position number of each place.
    """
    place = 0
    for b in range(ts[0], ts[1]):
        low = starts[b]
        width = starts[b + 1] - starts[b]
        for u in range(starts[us[0]], starts[us[1]]):
            row = out[numbers[u]]
            for x in range(width):
                row[numbers[low + x]] = made[place + x]
            place += width
