"""Compiled: predictions from the factors of a tile, as exact sums of products; see docs/formats/bgfmt-ts.md.

Predictions of whole tiles are matrix products. The factors are laid out for them first: 16-bit ones as doubles, which
hold the sums exactly, the others as pairs of 16-bit integers in 32 bits, so that one instruction of the processor
multiplies and adds both; the innermost loops are those of `bgfmt.jit.lanes`. Predictions of single records are plain
loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.extras.compressed.layout import BEFORE, NARROW, PAIRS, SHIFTS, WIDE
from bgfmt.jit import njit
from bgfmt.jit.lanes import PANEL, ROWS, fetch_line, multiply, multiply_pairs

HALF = PANEL // 2
U = np.uint64
_NONE = U(0)


@njit("u1.2C, i8.1C, i8.1C, f8.1C, i8, i8, f8.1C, i4.1C")
def lay_out(
    rows: Any, counts: Any, raised: Any, scales: Any, panel: int, wide_panel: int, wide: Any, small: Any
) -> None:
    """Copy the low-rank factors of rows or of columns into the memory layout that `products` needs.

    Parameters
    ----------
    rows : (m, bytes) uint8, factors as stored in the file.
    counts : numbers K of 16-bit factors, M of 8-bit factors and S of pairs of 4-bit factors.
    raised : (M + S,) left shift of each 8-bit factor and pair.
    scales : (K,) float64, multipliers of the 16-bit factors.
    wide, small : flat float64 and int32 outputs, of the 16-bit factors and of all others. They are divided into
        panels of `wide_panel` and `panel` rows; within a panel the values of one factor are adjacent.
    """
    many, narrow, pairs = counts
    data = rows.view(np.int8)
    steps = (narrow + 1) // 2 + pairs
    for first in range(0, len(rows), wide_panel):
        last = min(len(rows), first + wide_panel)
        for k in range(many):
            to = first * many + wide_panel * k - first
            for i in range(first, last):
                value = np.int32(data[i, k]) << 8 | (np.int32(data[i, many + k]) & 255)
                wide[to + i] = np.float64(value) * scales[k]
    for first in range(0, len(rows), panel):
        last = min(len(rows), first + panel)
        for k in range(0, narrow, 2):
            to = first * steps + panel * (k // 2) - first
            other = min(k + 1, narrow - 1)
            # an odd one is paired with 0
            by = raised[k]
            also = raised[other] if other > k else 16
            for i in range(first, last):
                one = np.int32(data[i, 2 * many + k])
                two = np.int32(data[i, 2 * many + other])
                small[to + i] = np.int32((one << by & 65535) | two << also << 16)
        for k in range(pairs):
            to = first * steps + panel * ((narrow + 1) // 2 + k) - first
            by = raised[narrow + k]
            for i in range(first, last):
                both = np.int32(data[i, 2 * many + narrow + k])
                one = ((both & 15) ^ 8) - 8
                two = both >> 4
                small[to + i] = np.int32((one << by & 65535) | two << by << 16)


@njit("f8.1C, i4.1C, f8.1C, i4.1C, i8.1C, f8, i8, i8, u2.2C")
def products(
    left_wide: Any, left_small: Any, right_wide: Any, right_small: Any, parts: Any, scale: Any, begin: int, w: int,
    out: Any,
) -> None:  # fmt: skip
    """Compute the predictions of one column of a tile's records: products of the factors of its rows and columns.

    The predictions go to out[:, begin : begin + w], (m, any) uint16.

    Parameters
    ----------
    left_wide, left_small : factors of the m rows from `lay_out`, in panels of one row, padded to four rows.
    right_wide, right_small : factors of the w columns from `lay_out`, in panels of 16 and of 32 columns.
    parts : (p + 1,) indices of pairs at which a new sum begins, to stay within 32 bits, and the end.
    scale : multiplier of those sums.
    """
    m = len(out)
    padded = (m + ROWS - 1) // ROWS * ROWS
    steps = parts[-1]
    many = len(left_wide) // padded
    wide = np.empty((2, ROWS * HALF), np.float64)
    small = np.empty(ROWS * PANEL, np.int32)
    total = np.empty((ROWS, PANEL), np.float64)
    for first in range(0, w, PANEL):
        for row in range(0, m, ROWS):
            for h in range(2):
                right = right_wide.ctypes.data + 8 * (first + h * HALF) * many
                multiply(left_wide.ctypes.data + 8 * row * many, 8 * many, right, many, wide[h].ctypes.data)
            for r in range(ROWS):
                for h in range(2):
                    for i in range(HALF):
                        total[r, h * HALF + i] = np.floor(wide[h, r * HALF + i] * (1.0 / 1024.0))
            for p in range(len(parts) - 1):
                low = parts[p]
                high = parts[p + 1]
                left = left_small.ctypes.data + 4 * (row * steps + low)
                panel = right_small.ctypes.data + 4 * (first * steps + low * PANEL)
                multiply_pairs(left, 4 * steps, panel, high - low, small.ctypes.data)
                for r in range(ROWS):
                    for i in range(PANEL):
                        total[r, i] += scale * np.float64(small[r * PANEL + i])
            for r in range(min(ROWS, m - row)):
                for i in range(min(PANEL, w - first)):
                    value = np.floor((total[r, i] + 8192.0) * (1.0 / 16384.0)) + 32768.0
                    out[row + r, begin + first + i] = np.int32(min(max(value, 0.0), 65535.0))


@njit("u1.1C, i8, i8")
def fetch(data: Any, start: Any, stop: Any) -> None:
    """Prefetch data[start:stop] (uint8), needed soon, into the processor's cache; makes batches a fifth faster."""
    for at in range(start, stop, 64):
        fetch_line(data.ctypes.data + at)


@njit()
def raise_row(data: Any, at: Any, parts: Any, shifts: Any, out: Any) -> None:
    """Decode the low-rank factors of a row into the integers that `add_prediction` takes.

    Parameters
    ----------
    data, at : int8 array, and the offset of the factors in it.
    parts : see `TileModel.parts`.
    shifts : uint8, shifts of the factors of all tiles.
    out : int32, is filled.
    """
    to = _NONE
    for c in range(len(parts)):
        wide = U(parts[c, WIDE])
        narrow = U(parts[c, NARROW])
        pairs = U(parts[c, PAIRS])
        a = U(at + parts[c, BEFORE])
        s = U(parts[c, SHIFTS])
        for k in range(wide):
            value = np.int32(data[a + k]) << 8 | (np.int32(data[a + wide + k]) & 255)
            out[to + k] = np.int32(value) << np.int32(shifts[s + k])
        a = a + wide + wide
        s = s + wide
        to = to + wide
        for k in range(narrow):
            out[to + k] = np.int32(data[a + k]) << np.int32(shifts[s + k])
        a = a + narrow
        s = s + narrow
        to = to + narrow
        for k in range(pairs):
            both = np.int32(data[a + k])
            by = np.int32(shifts[s + k])
            out[to + k] = ((both & 15) ^ 8) - 8 << by
            out[to + pairs + k] = both >> 4 << by
        to += pairs + pairs


@njit()
def add_prediction(row: Any, data: Any, at: Any, parts: Any, out: Any) -> None:
    """Add the predicted numbers of a record, from the factors of its row and its column, to out (columns,) uint16.

    Parameters
    ----------
    row : factors of the row as from `raise_row`.
    data, at : int8 array, and the offset in it of the factors of the record's column of the tile.
    parts : see `TileModel.parts`.
    """
    to = _NONE
    for c in range(len(parts)):
        wide = U(parts[c, WIDE])
        narrow = U(parts[c, NARROW])
        pairs = U(parts[c, PAIRS])
        a = U(at + parts[c, BEFORE])
        total: Any = np.int64(0)
        for k in range(wide):
            value = np.int32(data[a + k]) << 8 | (np.int32(data[a + wide + k]) & 255)
            total += np.int64(row[to + k]) * np.int64(np.int32(value))
        total >>= 10
        a = a + wide + wide
        to = to + wide
        for k in range(narrow):
            total += np.int64(row[to + k]) * np.int64(data[a + k])
        a = a + narrow
        to = to + narrow
        for k in range(pairs):
            both = np.int64(data[a + k])
            total += row[to + k] * (((both & 15) ^ 8) - 8) + row[to + pairs + k] * (both >> 4)
        to += pairs + pairs
        out[c] += min(max((total + 8192 >> 14) + 32768, 0), 65535)
