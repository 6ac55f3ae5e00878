"""Compiled: tiles of a two-sided table that is solved through a store.

Positions are numbers in pip order, and "turned" values are as in `bgfmt.solver.kernels.two_sided`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game import kernels_vectors as vectors
from bgfmt.game.kernels_vectors import RollResults, negate_for_opponent
from bgfmt.jit import njit

PLACES_PER_RUN = 128  # places processed together, so that their lanes stay in the CPU cache


@njit("u2.2C, i8, b1, i2.3C, i8, i8, i2.1C, i2.1C", "u2.2C, i8, b1, u8.3C, i8, i8, i2.1C, u8.1C")
def store_turned(
    stored: Any, columns: int, gammons: bool, near: Any, side: int, at: int, run: Any, records: Any
) -> None:  # fmt: skip
    """Convert stored records to values as seen by the side that has just moved, and write them to `near`.

    The record of side t against place j (rank of a position in order of pips) goes to near[t // block, at + j, t %
    block].

    Parameters
    ----------
    stored : (m, places * columns) uint16, of sides from number `side` on.
    gammons : the equities count gammons, in units of 1/16383.
    near : (blocks, places, block), a record each, as an integer of its size.
    run : (PLACES_PER_RUN * columns,) int16 working space. records : the same memory as whole records.
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
    """Compute the records of pairs (u, t): the sides at places first..last-1 on roll against the sides t of `near`.

    A record is the mean over the 21 rolls of the best value in each column. Places are ranks of positions in order of
    pips.

    Parameters
    ----------
    near, window : (places, sides * columns) int16, values as seen by the side that has just moved, of places from
        `window` on.
    ends, results, weights : places after each roll, see `PipOrder`, and the weight 1 or 2 of each roll.
    gammons : the equities count gammons, in units of 1/16383.
    out, row, place : uint16; for low <= x < high, the record of u against side x of `near` goes to out[row + u -
        first], from column (place + x) * columns on.
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
