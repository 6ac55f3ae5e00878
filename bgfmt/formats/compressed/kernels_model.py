"""Compiled: what the factors of a tile predict, as exact sums of products. See docs/formats/bgfmt-ts.md for the rule.

Predictions of whole tiles are products of matrices. Factors are laid out for them first: those of 16 bits as doubles,
which hold the sums exactly, the others as pairs of 16-bit integers in 32 bits, so that one instruction of the
processor multiplies and adds both; the innermost loops are those of `bgfmt.jit.lanes`. Predictions of single records
are plain loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.layout import BEFORE, NARROW, PAIRS, SHIFTS, WIDE
from bgfmt.jit import njit
from bgfmt.jit.lanes import PANEL, ROWS, fetch_line, multiply, multiply_pairs

HALF = PANEL // 2
U = np.uint64
_NONE = U(0)


@njit("u1.2C, i8.1C, i8.1C, f8.1C, i8, i8, f8.1C, i4.1C")
def lay_out(
    rows: Any, counts: Any, raised: Any, scales: Any, panel: int, wide_panel: int, wide: Any, small: Any
) -> None:
    """Factors (m, bytes) uint8 of rows or of columns, laid out for `products`.

    counts : K, M, S. raised : (M + S,) by how many bits each small factor is raised here. scales : (K,) float64 by
    what each factor of 16 bits is multiplied. wide float64 and small int32, both flat, take panels of `wide_panel`
    and `panel` rows, factor by factor, those of a panel side by side.
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
            # one left over has 0 beside it
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
    """Predict one column of the table from factors that are laid out: out[:, begin : begin + w] of (m, any) uint16.

    The left ones are in panels of one row, padded to four rows; the right ones in panels of 16 and of 32 columns.
    parts : (p + 1,) where sums of pairs must begin anew to stay within 32 bits, and the end. scale : what the sums
    are multiplied by.
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
    """Have the memory bring data[start:stop] (uint8), which will soon be needed: batches are a fifth faster."""
    for at in range(start, stop, 64):
        fetch_line(data.ctypes.data + at)


@njit()
def raise_row(data: Any, at: Any, parts: Any, shifts: Any, out: Any) -> None:
    """The factors of a row, from data[at] (int8) on, shifted for `add_prediction`: out int32.

    parts : as `TileModel.parts` has them. shifts : uint8, those of all tiles.
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
    """Add what the factors predict of a record to out (columns,) uint16: `row` as `raise_row` has it, the column's
    factors from data[at] (int8) on."""
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
