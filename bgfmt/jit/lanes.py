"""Loops written in LLVM's vector types, for kernels; arrays are given by their addresses.

Sums of the maxima of several rows make two-sided tables and check them; products of rows and columns predict
the records of compressed tables. Numba compiles plain loops to code that keeps maxima and sums in memory, and
takes five and two and a half times as long. `bgfmt.jit.vectors` generates the vector code when numba asks for
it.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "LANES",
    "LEAST",
    "LEAST_WIDE",
    "PANEL",
    "ROWS",
    "add_best",
    "add_best_wide",
    "fetch_line",
    "multiply",
    "multiply_pairs",
]


LANES = 64  # int16 numbers in a row: two cache lines
LEAST = -32768
LEAST_WIDE = -(1 << 31)
# rows and columns of a block of products
ROWS = 4
PANEL = 32


def add_best(
    rows: int, stride: int, at: int, results: int, first: int, last: int, total: int, double: Any
) -> None:
    """Add to total[k] the maximum of rows[at[results[q]], k] over q = first..last-1, shifted left by `double`.

    All but `double` (0 or 1) and the range are addresses of arrays. rows : (n, LANES) int16, with its stride in
    bytes. at, results : int32. total : (LANES,) int32. The maximum of no rows is LEAST.
    """
    raise NotImplementedError


def add_best_wide(
    rows: int, stride: int, at: int, results: int, first: int, last: int, total: int, double: Any
) -> None:
    """Add to total[k] the maximum of rows[at[results[q]], k] over q = first..last-1, shifted left by `double`.

    As `add_best` with the same arguments, for rows (n, LANES) of int32. The maximum of no rows is LEAST_WIDE; a sum
    that does not fit into int32 wraps.
    """
    raise NotImplementedError


def multiply(left: int, stride: int, right: int, steps: int, out: int) -> None:
    """Compute out[r, i] = the sum of left[r, k] * right[k, i] over k < steps, in float64.

    Arguments are addresses. left : (ROWS, K), with its stride in bytes. right : (K, PANEL / 2).
    """
    raise NotImplementedError


def multiply_pairs(left: int, stride: int, right: int, steps: int, out: int) -> None:
    """Compute out[r, i] = the sum over k < steps of the dot products of left[r, k] and right[k, i], in int32.

    Arguments are addresses. left : (ROWS, K, 2) int16, with its stride in bytes. right : (K, PANEL, 2) int16.
    """
    raise NotImplementedError


def fetch_line(at: int) -> None:
    """Prefetch the cache line at an address that will soon be read."""
    raise NotImplementedError
