"""Compiled: the two steps of a tile of a two-sided table (see `bgfmt.solver.tiles` for the method).

Lanes are the numbers of `block` sides t put side by side, as they lie in their records: lane x * columns + k is
column k of the block's t number x. "Turned" values are as in `bgfmt.solver.kernels.two_sided`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game import kernels_vectors as vectors
from bgfmt.game.kernels_vectors import RollResults, turned
from bgfmt.jit import njit

RUN = 128  # places turned together: their lanes stay in the processor's cache


@njit()
def lay(stored: Any, columns: int, near: Any, side: int, at: int, run: Any, records: Any) -> None:
    """near[t // block, at + j, t % block] = turned record (t, j) of sides t against places j.

    stored (m, places * columns) uint16, of sides from number `side` on. near (blocks, places of the window, block):
    a record each, as a whole number of its size. run (RUN * columns,) int16 is working space, records the same as
    whole numbers.
    """
    block = near.shape[2]
    places = stored.shape[1] // columns
    for low in range(0, places, RUN):
        size = min(RUN, places - low)
        for x in range(stored.shape[0]):
            turned(stored[x, low * columns : (low + size) * columns], columns, run)
            t = side + x
            b, lane = t // block, t % block
            for j in range(size):
                near[b, at + low + j, lane] = records[j]


@njit()
def best(
    first: int, last: int, near: Any, window: int, ends: Any, results: Any, weights: Any, columns: int, out: Any,
    row: int, place: int, low: int, high: int,
) -> None:  # fmt: skip
    """Records (u, t) of u in first..last-1 and the lanes' t: the maxima over u's results, roll by roll.

    near (places of the window, lanes) int16, of places from `window` on. out[row + u - first, (place + x) * columns
    + k], uint16, takes column k of t number x, for low <= x < high.
    """
    lanes = near.shape[1]
    at = np.arange(near.shape[0]).astype(np.int32)
    stored = np.empty(lanes, np.uint16)
    turned = np.empty(lanes, np.int16)
    rolls = RollResults(ends, results, weights)
    for u in range(first, last):
        vectors.record(stored, turned, near, at, window, rolls, u, columns)
        made = out[row + u - first]
        begin = place * columns
        for i in range(low * columns, high * columns):
            made[begin + i] = stored[i]
