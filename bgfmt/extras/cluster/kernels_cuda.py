"""CUDA kernels: the two steps of a tile of a two-sided table, one thread for each pair.

They do the same as `bgfmt.extras.large.kernels_tiles`.

Turned values (as seen by the side that moved) lie in `near`, (places of the window, sides, columns) int16: the
threads of a block, of one position u and consecutive sides t, read adjacent memory. Imported only for a device.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from numba import int16, int32, uint16

Decorator = Callable[[Callable[..., Any]], Any]
cuda: Any = import_module("numba.cuda")
kernel: Decorator = cuda.jit  # compiled when it is first launched
inline: Decorator = cuda.jit(device=True)  # called by kernels
THREADS = 128


@inline
def cube(nd: Any, dt: Any) -> Any:
    """Return the better of doubling and not doubling, in units of the stored integers, 1/32767.5 point.

    nd : value without doubling. dt : half the value after a double and a take; the opponent passes from 1 point on.
    """
    half = (nd + 1) >> 1 if nd < 0 else nd >> 1
    if dt >= half:
        return 32767 if dt >= 16383 else dt + dt
    return nd


@kernel
def store_turned(stored: Any, near: Any, side: Any, at: Any) -> None:
    """Convert stored records to values as seen by the side that moved, and store them in `near`.

    stored : records as in the file; (x, j) is side number x against place j and goes to near[at + j, side + x].
    """
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    x = cuda.blockIdx.y
    columns = near.shape[2]
    if j >= stored.shape[1] // columns:
        return
    e0 = int32(stored[x, j * columns]) - 32768
    near[at + j, side + x, 0] = int16(~e0)
    if columns == 4:
        e1 = int32(stored[x, j * 4 + 1]) - 32768
        e2 = int32(stored[x, j * 4 + 2]) - 32768
        e3 = int32(stored[x, j * 4 + 3]) - 32768
        near[at + j, side + x, 1] = int16(~e3)
        near[at + j, side + x, 2] = int16(~cube(e2, e3))
        near[at + j, side + x, 3] = int16(~cube(e1, e3))


@inline
def divide_by_36(total: Any) -> Any:
    """Return total / 36, truncated towards zero, as stored (plus 32768, uint16)."""
    if total < 0:
        return uint16(32768 - (-total) // 36)
    return uint16(32768 + total // 36)


@kernel
def compute_records(
    first: Any, near: Any, window: Any, ends: Any, results: Any, weights: Any, out: Any, row: Any, place: Any,
    low: Any, high: Any,
) -> None:  # fmt: skip
    """Compute the stored records of the pairs (u, t), u on roll against t; the grid has a row of blocks for each u.

    Parameters
    ----------
    first : place (rank in order of pips) of the side u of the first row of blocks.
    low, high : range of the sides t, indices in `near`.
    near : (places, sides, columns) int16, values as seen by the side that has just moved.
    window : place of the first row of `near`.
    ends, results : the places after roll r of u are results[ends[21 * u + r]:ends[21 * u + r + 1]].
    weights : (21,) weight of each roll, 1 or 2.
    out, row, place : uint16; the record of the k-th u against t goes to row `row` + k, from column
        (place + t) * columns on.
    """
    x = low + cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    u = first + cuda.blockIdx.y
    if x >= high:
        return
    columns = near.shape[2]
    s0 = int32(0)
    s1 = int32(0)
    s2 = int32(0)
    s3 = int32(0)
    i = ends[u * 21]
    for r in range(21):
        past = ends[u * 21 + r + 1]
        b0 = int32(-32768)
        b1 = int32(-32768)
        b2 = int32(-32768)
        b3 = int32(-32768)
        while i < past:
            j = results[i] - window
            b0 = max(b0, int32(near[j, x, 0]))
            if columns == 4:
                b1 = max(b1, int32(near[j, x, 1]))
                b2 = max(b2, int32(near[j, x, 2]))
                b3 = max(b3, int32(near[j, x, 3]))
            i += 1
        w = weights[r]
        s0 += w * b0
        s1 += w * b1
        s2 += w * b2
        s3 += w * b3
    y = row + cuda.blockIdx.y
    at = (place + x) * columns
    out[y, at] = divide_by_36(s0)
    if columns == 4:
        out[y, at + 1] = divide_by_36(s1)
        out[y, at + 2] = divide_by_36(s2)
        out[y, at + 3] = divide_by_36(s3)
