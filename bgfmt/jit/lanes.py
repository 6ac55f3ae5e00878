"""The loops that are written in LLVM's vector types, each beside the plain one that says what it does.

Adding up the greatest of several rows makes two-sided tables and checks them; products of rows and columns predict
the records of compressed tables. Numba compiles the plain loops to code that keeps maxima and sums in memory, and
takes five and two and a half times as long. The loops know nothing of backgammon; `tests/jit/test_lanes.py` holds
each pair against each other. `bgfmt.jit.vectors` writes the vector code when numba asks for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

Array = Any
LANES = 64  # int16 numbers in a row: two cache lines
LEAST = -32768
ROWS, PANEL = 4, 32  # rows and columns of a block of products


def add_best(
    rows: int, stride: int, at: int, results: int, first: int, last: int, total: int, double: Any
) -> None:
    """As `add_best_plainly`, in kernels; arrays are given by their addresses, `rows` with its stride in bytes."""
    raise NotImplementedError


def multiply(left: int, stride: int, right: int, steps: int, out: int) -> None:
    """As `multiply_plainly` of `steps` k, in kernels; arrays are given by their addresses, `left` with its stride."""
    raise NotImplementedError


def multiply_pairs(left: int, stride: int, right: int, steps: int, out: int) -> None:
    """As `multiply_pairs_plainly`, given as `multiply` is."""
    raise NotImplementedError


def fetch_line(at: int) -> None:
    """Have the memory bring the cache line of an address, which will soon be needed, in kernels."""
    raise NotImplementedError


@njit()
def add_best_plainly(
    rows: Array, at: Array, results: Array, first: int, last: int, total: Array, double: int
) -> None:
    """total[k] += the greatest rows[at[results[q]], k] over q = first..last-1, shifted left by `double`.

    rows : (n, LANES) int16; at, results : int32; total : (LANES,) int32. The greatest of nothing is LEAST.
    """
    for k in range(LANES):
        best = np.int32(LEAST)
        for q in range(first, last):
            best = max(best, np.int32(rows[at[results[q]], k]))
        total[k] += best << double


@njit()
def multiply_plainly(left: Array, right: Array, out: Array) -> None:
    """out[r, i] = the sum of left[r, k] * right[k, i] over k: left (ROWS, K), right (K, PANEL / 2), float64."""
    for r in range(left.shape[0]):
        for i in range(right.shape[1]):
            total = 0.0
            for k in range(left.shape[1]):
                total += left[r, k] * right[k, i]
            out[r, i] = total


@njit()
def multiply_pairs_plainly(left: Array, right: Array, out: Array) -> None:
    """out[r, i] = the sum of the products of the int16 pairs left[r, k] and right[k, i] over k, in int32.

    left (ROWS, K, 2), right (K, PANEL, 2) int16.
    """
    for r in range(left.shape[0]):
        for i in range(right.shape[1]):
            total = np.int32(0)
            for k in range(left.shape[1]):
                for x in range(2):
                    total += np.int32(left[r, k, x]) * np.int32(right[k, i, x])
            out[r, i] = total
