"""Compiled: the entropy coder, which `kernels_coder` undoes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.classes import ESCAPE, MIDDLE
from bgfmt.jit import njit

PLAIN = 255
STARTED = 1 << 16


@njit()
def put(out: Any, at: Any, unit: Any) -> Any:
    """A unit, low half first; where the next one goes."""
    out[at] = unit & 255
    out[at + 1] = unit >> 8
    return at + 2


@njit()
def stream(
    residual: Any, first: int, last: int, kinds: Any, frequencies: Any, begins: Any, shifts: Any, units: Any
) -> Any:
    """Code records first..last-1 of a block, the last one first: units, then the state's two; how many in all."""
    columns = len(kinds)
    many = 0
    x: Any = np.int64(STARTED)
    for r in range(last * columns - 1, first * columns - 1, -1):
        kind = kinds[r % columns]
        if kind == 0:
            continue
        shift = shifts[kind]
        symbol = (residual[r] >> shift) + MIDDLE
        low = residual[r] & ((1 << shift) - 1)
        if symbol < 0 or symbol >= ESCAPE or frequencies[kind, symbol] == 0:
            symbol, shift, low = ESCAPE, 16, residual[r] & 65535
        if shift:
            if x >= np.int64(1) << (32 - shift):
                units[many] = x & 65535
                many += 1
                x >>= 16
            x = x << shift | low
        f = frequencies[kind, symbol]
        if x >= f << 20:
            units[many] = x & 65535
            many += 1
            x >>= 16
        x = (x // f << 12) + x % f + begins[kind, symbol]
    units[many] = x >> 16
    units[many + 1] = x & 65535
    return many + 2


@njit()
def encode(
    stored: Any,
    predicted: Any,
    widths: Any,
    factors: Any,
    block: int,
    edges: Any,
    frequencies: Any,
    begins: Any,
    shifts: Any,
    out: Any,
    sizes: Any,
) -> Any:
    """Row segments, room for their sums left: bytes into `out`, sizes of each; bytes in all.

    stored : (m, w, columns) uint16. predicted : (columns, m, w) uint16. widths : how many of the w records each
    segment takes. factors : (m, f) uint8. edges : (15,) of mean
    absolute residuals between classes 1..15, the first 0. frequencies, begins : (16, 64).
    """
    m, _, columns = stored.shape
    kept = 2 if columns == 4 else 1
    units = np.empty((2, 2 * block * columns + 8), np.uint16)
    residual = np.empty(block * columns, np.int64)
    kinds = np.zeros(columns, np.int64)
    at: Any = 0
    for i in range(m):
        width = widths[i]
        blocks = (width + block - 1) // block
        begin: Any = at
        lengths = at + blocks * kept
        at = lengths + blocks
        for f in range(factors.shape[1]):
            out[at + f] = factors[i, f]
        at += factors.shape[1]
        for b in range(blocks):
            count = min(block, width - b * block)
            for c in range(columns):
                total = np.int64(0)
                for k in range(count):
                    r: Any = np.int64(stored[i, b * block + k, c]) - np.int64(predicted[c, i, b * block + k])
                    r = ((r + 32768) & 65535) - 32768
                    residual[k * columns + c] = r
                    total += abs(r)
                kinds[c] = 0
                if total:
                    mean = total / count
                    kinds[c] = 15
                    for k in range(1, 15):
                        if mean < edges[k]:
                            kinds[c] = k
                            break
            for c in range(kept):
                out[begin + b * kept + c] = kinds[2 * c] | (kinds[2 * c + 1] << 4 if columns == 4 else 0)
            if not kinds.any():
                out[lengths + b] = 0
                continue
            half = (count + 1) // 2
            one = stream(residual, 0, half, kinds, frequencies, begins, shifts, units[0])
            two = stream(residual, half, count, kinds, frequencies, begins, shifts, units[1])
            if one + two < PLAIN and one + two <= count * columns:
                out[lengths + b] = one + two
                for k in range(one - 1, -1, -1):
                    at = put(out, at, units[0, k])
                for k in range(two):
                    at = put(out, at, units[1, k])
            else:
                out[lengths + b] = PLAIN
                for c in range(kept):
                    out[begin + b * kept + c] = 0
                for k in range(count):
                    for c in range(columns):
                        at = put(out, at, stored[i, b * block + k, c])
        at += 4
        sizes[i] = at - begin
    return at
