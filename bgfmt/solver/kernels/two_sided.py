"""Compiled: squares of a two-sided table (see `bgfmt.solver.two_sided` for the method).

Positions are numbers in pip order throughout. "Turned" values are what a record is worth to the player who moved
into it: negated, with the opponent's best cube action taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.game import kernels_vectors as vectors
from bgfmt.game.kernels_vectors import RollResults
from bgfmt.jit import njit


class Lines(NamedTuple):
    """Turned values: line base[j] + b * step[j] holds F(t, j), for the t of block b, as `vectors.record` has it.

    numbers (m, lanes) int16; records (m, t's of a block), the same as whole records.
    """

    numbers: Any
    records: Any
    base: Any
    step: Any


@njit()
def squares(
    us: Any, ts: Any, reach: Any, starts: Any, lines: Lines, rolls: RollResults, columns: int, made: Any, target: Any
) -> None:  # fmt: skip
    """All records of blocks us[0]..us[1]-1 on roll against blocks ts[0]..ts[1]-1; starts, the first place of each.

    reach : the first place that their plays may lead to, and past the last. made (records * columns,) uint16 takes
    the records, block of t's by block, u by u. Turned they go the other way round into line target[0] + b * target[1]
    + t, for the u of block b.
    """
    numbers, records, base, step = lines
    lanes = numbers.shape[1]
    at = np.empty(reach[1] - reach[0], np.int32)
    tile = np.empty((records.shape[1], records.shape[1]), records.dtype)
    turned = tile.view(np.int16)
    whole = np.empty(lanes, np.uint16)
    place = 0
    for b in range(ts[0], ts[1]):
        low, width = starts[b], starts[b + 1] - starts[b]
        size = width * columns
        for j in range(reach[0], reach[1]):
            at[j - reach[0]] = base[j] + b * step[j]
        for c in range(us[0], us[1]):
            first, past = starts[c], starts[c + 1]
            for u in range(first, past):
                if size == lanes:
                    stored = made[place : place + lanes]
                    vectors.record(stored, turned[u - first], numbers, at, reach[0], rolls, u, columns)
                else:
                    vectors.record(whole, turned[u - first], numbers, at, reach[0], rolls, u, columns)
                    for i in range(size):
                        made[place + i] = whole[i]
                place += size
            line = target[0] + c * target[1] + low
            for x in range(width):
                for y in range(past - first):
                    records[line + x, y] = tile[y, x]


@njit()
def settle(made: Any, us: Any, ts: Any, starts: Any, numbers: Any, out: Any) -> None:
    """Records of `squares`, as whole records, to where their position numbers say in the table, (n, n)."""
    place = 0
    for b in range(ts[0], ts[1]):
        low, width = starts[b], starts[b + 1] - starts[b]
        for u in range(starts[us[0]], starts[us[1]]):
            row = out[numbers[u]]
            for x in range(width):
                row[numbers[low + x]] = made[place + x]
            place += width
