"""Compiled: records that the second level leaves out, rebuilt for many sides at once. See `halves` and `leaving`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game.kernels_vectors import Rolls, record, turned
from bgfmt.jit import njit


@njit()
def tile_of(rows: Any, lines: Any, values: Any) -> None:
    """lines (width, lanes) int16 = turned values of rows (m, width, columns), those of a place side by side."""
    m, width, columns = rows.shape
    for i in range(m):
        turned(rows[i].reshape(-1), columns, values)
        for x in range(width):
            for c in range(columns):
                lines[x, i * columns + c] = values[x * columns + c]


@njit()
def _against(lines: Any, at: Any, rolls: Rolls, u: Any, columns: int, stored: Any, back: Any) -> None:
    """Records of u against the rows of `lines`, stored (lanes,) uint16."""
    if u == 0:
        stored[:] = 65535
    else:
        record(stored, back, lines, at, 0, rolls, u, columns)


@njit()
def against(
    lines: Any, at: Any, ends: Any, results: Any, weights: Any, us: Any, first: Any, many: Any, columns: int,
    into: Any, target: Any, out: Any,
) -> None:  # fmt: skip
    """Records of sides at ascending places `us` against those at first..first+many-1, as far as they are left out.

    lines : as `tile_of` has it, of rows `first` on. at : arange. out : (any, any) uint64, or uint16 where there is
    one column: the record of us[i] and place t goes to out[into[i], target[t]], unless that is negative.
    """
    stored, back = np.empty(lines.shape[1], np.uint16), np.empty(lines.shape[1], np.int16)
    whole = stored.view(out.dtype)
    rolls = Rolls(ends, results, weights)
    for i in range(len(us)):
        u = us[i]
        if u >= first + many - 1:
            break
        _against(lines, at, rolls, u, columns, stored, back)
        for t in range(max(first, u + 1), first + many):
            if target[t] >= 0:
                out[into[i], target[t]] = whole[t - first]


@njit()
def _mixed(x: Any) -> Any:
    """The end of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit()
def sum_stored(rows: Any, first: Any, keys: Any, sums: Any) -> None:
    """Add up what the second level leaves out of rows first.., (m, n) whole records, by row; keys (n,) uint64."""
    for i in range(rows.shape[0]):
        total = np.uint64(0)
        for t in range(first + i + 1, rows.shape[1]):
            total += _mixed(np.uint64(rows[i, t]) ^ keys[t])
        sums[first + i] += total


@njit()
def sum_rebuilt(
    lines: Any, at: Any, ends: Any, results: Any, weights: Any, first: Any, many: Any, columns: int, keys: Any,
    sums: Any,
) -> None:  # fmt: skip
    """The same of what one ply makes of rows first..first+many-1, for every side before them."""
    stored, back = np.empty(lines.shape[1], np.uint16), np.empty(lines.shape[1], np.int16)
    rolls = Rolls(ends, results, weights)
    for u in range(first + many - 1):
        _against(lines, at, rolls, u, columns, stored, back)
        total = np.uint64(0)
        for t in range(max(first, u + 1), first + many):
            whole = np.uint64(0)
            for c in range(columns):
                whole |= np.uint64(stored[(t - first) * columns + c]) << np.uint64(16 * c)
            total += _mixed(whole ^ keys[t])
        sums[u] += total
