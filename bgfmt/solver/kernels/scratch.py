"""Compiled: the scratch file of a two-sided solve: sums, rows put together, turned values made again."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game.kernels_vectors import turned
from bgfmt.jit import njit
from bgfmt.solver.kernels.two_sided import Lines


@njit()
def weighted(values: Any, weights: Any) -> Any:
    """Sum of values[i] * weights[i] modulo 2**64."""
    total = np.uint64(0)
    for i in range(values.size):
        total += np.uint64(values[i]) * np.uint64(weights[i])
    return total


@njit()
def add_up(made: Any, ts: Any, starts: Any, weights: Any, sums: Any) -> None:
    """sums[x] += sum of the numbers of side x times their weights, modulo 2**64; records as `squares` makes them.

    weights (n * columns,) uint32, by place; sums, (sides on roll,) uint64.
    """
    columns = weights.size // starts[-1]
    place = 0
    for b in range(ts[0], ts[1]):
        by = weights[starts[b] * columns : starts[b + 1] * columns]
        for x in range(sums.size):
            sums[x] += weighted(made[place : place + by.size], by)
            place += by.size


@njit()
def gather(records: Any, pieces: Any, first: int, starts: Any, numbers: Any, out: Any) -> None:
    """Rows of the table, (m, n) records, from what the layers hold of them: from block `first` on, at pieces[b]."""
    for b in range(first, pieces.size):
        low, width = starts[b], starts[b + 1] - starts[b]
        for y in range(out.shape[0]):
            row = out[y]
            place = pieces[b] + y * width
            for x in range(width):
                row[numbers[low + x]] = records[place + x]


@njit()
def refill(made: Any, us: Any, ts: Any, starts: Any, lines: Lines, columns: int, target: Any) -> None:
    """Turned values of finished records again, as `squares` has put them into `lines`."""
    records = lines.records
    side = records.shape[1]
    tile = np.empty((side, side), records.dtype)
    values = tile.view(np.int16)
    place = 0
    for b in range(ts[0], ts[1]):
        low, width = starts[b], starts[b + 1] - starts[b]
        size = width * columns
        for c in range(us[0], us[1]):
            first, past = starts[c], starts[c + 1]
            for u in range(first, past):
                turned(made[place : place + size], columns, values[u - first])
                place += size
            line = target[0] + c * target[1] + low
            for x in range(width):
                for y in range(past - first):
                    records[line + x, y] = tile[y, x]
