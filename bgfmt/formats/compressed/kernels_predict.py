"""Compiled: predictions of a tile, as exact sums of products of matrices. See `layout` for the bytes.

A tile of products is four rows by 32 columns. Factors are laid out for that first: those of 16 bits as doubles, the
others as pairs of 16-bit numbers in 32 bits, the two of a byte of 4-bit ones together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.kernels_products import (
    LANES,
    ROWS,
    long_narrow_sum,
    long_pairs_sum,
    narrow_raised,
    narrow_sum,
    pairs_raised,
    pairs_sum,
    pairs_tile,
    wide_raised,
    wide_sum,
    wide_tile,
)
from bgfmt.jit import njit

HALF = LANES // 2
U = np.uint64


@njit()
def _pair(first: Any, second: Any, by: Any, also: Any) -> Any:
    """Two numbers, raised, as 16 bits each."""
    return np.int32((first << by & 65535) | second << also << 16)


@njit()
def _wide(data: Any, i: Any, many: Any, k: Any) -> Any:
    """A factor of 16 bits of row i of data, int8."""
    return np.int32(data[i, k]) << 8 | (np.int32(data[i, many + k]) & 255)


@njit()
def left(rows: Any, counts: Any, shifts: Any, raised: Any, wide: Any, small: Any) -> None:
    """Factors of rows, (m, bytes) uint8, laid out: wide (m, K) float64, small (m, pairs) int32.

    counts : K, M, S. shifts : (K,). raised : (M + S,) by how many bits the small ones are raised here.
    """
    many, narrow, pairs = counts
    data = rows.view(np.int8)
    for i in range(len(rows)):
        for k in range(many):
            wide[i, k] = np.float64(_wide(data, i, many, k)) * np.float64(1 << shifts[k])
        at = 2 * many
        for k in range(0, narrow, 2):
            second = np.int32(data[i, at + k + 1]) if k + 1 < narrow else np.int32(0)
            also = raised[k + 1] if k + 1 < narrow else raised[k]
            small[i, k // 2] = _pair(np.int32(data[i, at + k]), second, raised[k], also)
        for k in range(narrow, narrow + pairs):
            both, by = np.int32(data[i, at + k]), raised[k]
            small[i, (narrow + 1) // 2 + k - narrow] = _pair(((both & 15) ^ 8) - 8, both >> 4, by, by)


@njit()
def _four(data: Any, first: Any, lanes: int, at: Any, out: Any) -> None:
    """Four bytes, from place `at` on, of some rows of data (any, bytes) uint8: out (lanes,) uint32."""
    for i in range(lanes):
        row = np.uint64(first + i)
        out[i] = (
            np.uint32(data[row, at])
            | np.uint32(data[row, at + U(1)]) << np.uint32(8)
            | np.uint32(data[row, at + U(2)]) << np.uint32(16)
            | np.uint32(data[row, at + U(3)]) << np.uint32(24)
        )


@njit()
def _signed(four: Any, byte: int) -> Any:
    """One of four bytes, as a signed number."""
    return np.int32(four << np.uint32(24 - 8 * byte)) >> 24


@njit()
def right(columns: Any, counts: Any, raised: Any, wide: Any, small: Any) -> None:
    """Factors of columns, (w, bytes) uint8, laid out: wide (panels of 16, K, 16) float64, small (panels of 32, pairs,
    32) int32, both flat. Whole panels are made of four bytes of every column at a time."""
    many, narrow, pairs = counts
    steps = (narrow + 1) // 2 + pairs
    full = len(columns) // LANES * LANES
    four, low = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    by_fours = many // 4 * 4, narrow // 4 * 4, pairs // 4 * 4
    for first in range(0, full, LANES):
        for k in range(0, by_fours[0], 4):
            _four(columns, first, LANES, U(k), four)
            _four(columns, first, LANES, U(many + k), low)
            for byte in range(4):
                at = first * many + (k + byte) * HALF
                for i in range(LANES):
                    value = _signed(four[i], byte) << 8 | (_signed(low[i], byte) & 255)
                    wide[at + i // HALF * HALF * many + i % HALF] = np.float64(value)
        for k in range(0, by_fours[1], 4):
            _four(columns, first, LANES, U(2 * many + k), four)
            for pair in range(2):
                at = (first * steps) + (k // 2 + pair) * LANES
                by, also = raised[k + 2 * pair], raised[k + 2 * pair + 1]
                for i in range(LANES):
                    one, two = _signed(four[i], 2 * pair), _signed(four[i], 2 * pair + 1)
                    small[at + i] = _pair(one, two, by, also)
        for k in range(0, by_fours[2], 4):
            _four(columns, first, LANES, U(2 * many + narrow + k), four)
            for byte in range(4):
                at = first * steps + ((narrow + 1) // 2 + k + byte) * LANES
                by = raised[narrow + k + byte]
                for i in range(LANES):
                    both = _signed(four[i], byte)
                    small[at + i] = _pair(((both & 15) ^ 8) - 8, both >> 4, by, by)
    rest = columns.view(np.int8)
    for i in range(len(columns)):
        begin = by_fours if i < full else (0, 0, 0)
        at = i // HALF * HALF * many + i % HALF
        for k in range(begin[0], many):
            wide[at + k * HALF] = np.float64(_wide(rest, i, many, k))
        at = i // LANES * LANES * steps + i % LANES
        for k in range(begin[1], narrow, 2):
            second = np.int32(rest[i, 2 * many + k + 1]) if k + 1 < narrow else np.int32(0)
            also = raised[k + 1] if k + 1 < narrow else raised[k]
            small[at + k // 2 * LANES] = _pair(np.int32(rest[i, 2 * many + k]), second, raised[k], also)
        for k in range(begin[2], pairs):
            both, by = np.int32(rest[i, 2 * many + narrow + k]), raised[narrow + k]
            place = at + ((narrow + 1) // 2 + k) * LANES
            small[place] = _pair(((both & 15) ^ 8) - 8, both >> 4, by, by)


@njit()
def products(
    left_wide: Any, left_small: Any, right_wide: Any, right_small: Any, parts: Any, scale: Any, out: Any
) -> None:
    """Predictions of one column of the table from factors that are laid out: out (m, w) uint16.

    Rows of the left ones are padded to four, columns of the right ones to 32. parts : (p + 1,) where sums of pairs
    must begin anew to stay within 32 bits, and the end. scale : what they are multiplied by.
    """
    m, w = out.shape
    many, steps = left_wide.shape[1], left_small.shape[1]
    flat_wide, flat_small = left_wide.reshape(-1), left_small.reshape(-1)
    wide, small = np.empty((2, ROWS * HALF), np.float64), np.empty(ROWS * LANES, np.int32)
    total = np.empty((ROWS, LANES), np.float64)
    for panel in range((w + LANES - 1) // LANES):
        first = panel * LANES
        begin, start = first * many, first * steps
        for row in range(0, m, ROWS):
            for h in range(2):
                wide_tile(flat_wide, row * many, many, right_wide, begin + h * HALF * many, many, wide[h])
            for r in range(ROWS):
                for h in range(2):
                    for i in range(HALF):
                        total[r, h * HALF + i] = np.floor(wide[h, r * HALF + i] * (1.0 / 1024.0))
            for p in range(len(parts) - 1):
                low = parts[p]
                pairs_tile(
                    flat_small,
                    row * steps + low,
                    steps,
                    right_small,
                    start + low * LANES,
                    parts[p + 1] - low,
                    small,
                )
                for r in range(ROWS):
                    for i in range(LANES):
                        total[r, i] += scale * np.float64(small[r * LANES + i])
            for r in range(min(ROWS, m - row)):
                for i in range(min(LANES, w - first)):
                    value = np.floor((total[r, i] + 8192.0) * (1.0 / 16384.0)) + 32768.0
                    out[row + r, first + i] = np.int32(min(max(value, 0.0), 65535.0))


@njit()
def whole(many: Any) -> Any:
    """A number of factors, made up to whole vectors."""
    return (many + 15) // 16 * 16


@njit()
def laid(data: Any, at: Any, parts: Any, weights: Any, out: Any) -> None:
    """The factors of a row, from data[at] (int8) on, raised for `predicted`, int32; 16 bytes more can be read.

    parts : (columns, 6) int64: bytes before the column's factors, how many of 16 bits, of 8, and pairs of 4, weights
    before its own, and whether the sum of the small ones stays within 32 bits. weights : int32, two to each shift,
    each kind filled up with zeros to 16.
    """
    to = np.int64(0)
    for c in range(len(parts)):
        wide, narrow, pairs = parts[c, 1], parts[c, 2], parts[c, 3]
        a, w = at + parts[c, 0], parts[c, 4]
        wide_raised(out, to, data, a, weights, w, wide)
        a, w, to = a + 2 * wide, w + whole(wide), to + whole(wide)
        narrow_raised(out, to, data, a, weights, w, narrow)
        a, w, to = a + narrow, w + whole(narrow), to + whole(narrow)
        pairs_raised(out, to, data, a, weights, w, pairs)
        to += 2 * whole(pairs)


@njit()
def predicted(row: Any, data: Any, at: Any, parts: Any, out: Any) -> None:
    """Add the predictions of a record to out (columns,) uint16, from its row as `laid`, and its column's factors,
    from data[at] (int8) on, behind which 16 bytes more can be read."""
    to = np.int64(0)
    for c in range(len(parts)):
        wide, narrow, pairs = parts[c, 1], parts[c, 2], parts[c, 3]
        a = at + parts[c, 0]
        total = wide_sum(row, to, data, a, wide) >> 10
        a, to = a + 2 * wide, to + whole(wide)
        if parts[c, 5]:
            total += narrow_sum(row, to, data, a, narrow)
        else:
            total += long_narrow_sum(row, to, data, a, narrow)
        a, to = a + narrow, to + whole(narrow)
        if parts[c, 5]:
            total += pairs_sum(row, to, data, a, pairs)
        else:
            total += long_pairs_sum(row, to, data, a, pairs)
        to += 2 * whole(pairs)
        out[c] += min(max((total + 8192 >> 14) + 32768, 0), 65535)
