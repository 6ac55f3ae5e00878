"""Predictions of a tile, exactly: integers added up in floats that hold them, so that matrix multiplication does it.

A sum of 16-bit products stays below 2**53 (256 factors, shifts to 15), one of 8-bit products below 2**24 where the
shifts of a group allow it; groups are cut so that they do. The result does not depend on the order of addition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.compressed.layout import Scales
from bgfmt.formats.compressed.threads import one_thread

EXACT = 1 << 24
AT_ONCE = 1024  # records of a row, so that converted factors stay near the processor
Bytes = NDArray[np.uint8]


def groups_of(shifts: NDArray[np.uint8], tops: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], int]]:
    """Factors whose products, of at most `tops` each, add up below 2**24: (which, their least shift)."""
    found: list[tuple[NDArray[np.int64], int]] = []
    by_shift: NDArray[np.int64] = np.argsort(shifts, kind="stable")
    start, total = 0, 0
    for k in range(len(by_shift) + 1):
        if k < len(by_shift):
            top = int(tops[by_shift[k]])
            part = top << int(shifts[by_shift[k]]) - int(shifts[by_shift[start]])
            if total + part < EXACT:
                total += part
                continue
            total = top
        if k > start:
            found.append((by_shift[start:k], int(shifts[by_shift[start]])))
        start = k
    return found


def split(factors: Bytes, scales: Scales) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """(m, bytes) factors as (m, K) int16, and (m, M + 2 S) int8 with those of pairs behind, of every column."""
    out, at = [], 0
    for k, m, pairs in scales.counts.tolist():
        high, low = factors[:, at : at + k].view(np.int8).astype(np.int16), factors[:, at + k : at + 2 * k]
        at += 2 * k
        small = np.empty((len(factors), m + 2 * pairs), np.int8)
        small[:, :m] = factors[:, at : at + m].view(np.int8)
        both = factors[:, at + m : at + m + pairs]
        small[:, m : m + pairs] = (both << 4).view(np.int8) >> 4
        small[:, m + pairs :] = both.view(np.int8) >> 4
        out.append((high << 8 | low, small))
        at += m + pairs
    return out


def _power(shifts: NDArray[Any]) -> NDArray[np.float64]:
    return np.exp2(shifts.astype(np.float64))


def predict(rows: Bytes, columns: Bytes, scales: Scales, out: NDArray[np.uint16]) -> None:
    """Predictions of the records of some rows and columns of a tile, (C, rows, columns) uint16 into `out`."""
    from bgfmt.formats.compressed import kernels

    weighted = []
    for (first, second), (wide, narrow, pairs) in zip(split(rows, scales), scales, strict=True):
        shifts = np.concatenate([narrow, pairs, pairs])
        tops = np.repeat([1 << 14, 1 << 6], [len(narrow), 2 * len(pairs)])
        parts = [
            (which, (second[:, which] * _power(shifts[which] - least)).astype(np.float32), least)
            for which, least in groups_of(shifts, tops)
        ]
        weighted.append((first * _power(wide), parts))
    with one_thread:
        for start in range(0, len(columns), AT_ONCE):
            part = columns[start : start + AT_ONCE]
            for c, (first, second) in enumerate(split(part, scales)):
                left, parts = weighted[c]
                wide_sum = left @ first.astype(np.float64).T
                narrow_sums = np.empty((len(parts), len(rows), len(part)), np.float32)
                for g, (which, weights, _) in enumerate(parts):
                    np.matmul(weights, second[:, which].astype(np.float32).T, out=narrow_sums[g])
                scale = np.array([2.0**least for _, _, least in parts])
                kernels.settle(wide_sum, narrow_sums, scale, out[c, :, start : start + len(part)])
