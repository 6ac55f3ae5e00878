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
