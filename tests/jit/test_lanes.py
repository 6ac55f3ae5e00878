"""The loop written in LLVM's vector types against the plain one, over every size of block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bgfmt.jit import njit
from bgfmt.jit.lanes import (
    LANES,
    LEAST,
    LEAST_WIDE,
    PANEL,
    ROWS,
    add_best,
    add_best_wide,
    multiply,
    multiply_pairs,
)


@njit("i8, i8, i8, i8, i8, i8, i8, i8")
def add_best_of(
    rows: int, stride: int, at: int, results: int, first: int, last: int, total: int, double: int
) -> None:
    add_best(rows, stride, at, results, first, last, total, double)


def both(
    rows: Any, at: Any, results: Any, first: int, last: int, double: int, before: Any
) -> tuple[Any, Any]:
    plain, vector = before.copy(), before.copy()
    plain += rows[at[results[first:last]]].astype(np.int32).max(axis=0, initial=LEAST) << double
    addresses = (array.ctypes.data for array in (at, results))
    add_best_of(rows.ctypes.data, rows.strides[0], *addresses, first, last, vector.ctypes.data, double)
    return plain, vector


@pytest.mark.parametrize("double", [0, 1])
@pytest.mark.parametrize("wide", [1, 2])
def test_every_number_of_results(double: int, wide: int) -> None:
    """From none to more rows than a roll has, from every place in the list, in rows of one block or of two."""
    rng = np.random.default_rng(double)
    rows = rng.integers(-32768, 32768, (300, wide * LANES)).astype(np.int16)[:, :LANES]
    at = rng.permutation(300).astype(np.int32)
    results = rng.integers(0, 300, 400).astype(np.int32)
    before = rng.integers(-(1 << 20), 1 << 20, LANES).astype(np.int32)
    for size in range(140):
        first = int(rng.integers(0, 400 - size))
        plain, vector = both(rows, at, results, first, first + size, double, before)
        assert np.array_equal(plain, vector), size


def test_the_ends_of_the_numbers() -> None:
    results = np.arange(4, dtype=np.int32)
    before = np.zeros(LANES, np.int32)
    for value in (LEAST, LEAST + 1, -1, 0, 1, 32766, 32767):
        rows = np.full((4, LANES), value, np.int16)
        rows[2, ::3] = LEAST
        for size in range(5):
            plain, vector = both(rows, results, results, 0, size, 1, before)
            assert np.array_equal(plain, vector)
            assert vector[1] == 2 * (value if size else LEAST)


@njit("i8, i8, i8, i8, i8, i8, i8, i8")
def add_best_wide_of(
    rows: int, stride: int, at: int, results: int, first: int, last: int, total: int, double: int
) -> None:
    add_best_wide(rows, stride, at, results, first, last, total, double)


@pytest.mark.parametrize("double", [0, 1])
def test_wide_numbers(double: int) -> None:
    """Rows of int32, from none to more than a roll has."""
    rng = np.random.default_rng(double)
    rows = rng.integers(-(1 << 25), 1 << 25, (300, LANES)).astype(np.int32)
    at = rng.permutation(300).astype(np.int32)
    results = rng.integers(0, 300, 400).astype(np.int32)
    before = rng.integers(-(1 << 29), 1 << 29, LANES).astype(np.int32)
    for size in (0, 1, 2, 3, 7, 139):
        plain, vector = before.copy(), before.copy()
        plain += rows[at[results[:size]]].max(axis=0, initial=LEAST_WIDE) << double
        places = (array.ctypes.data for array in (at, results))
        add_best_wide_of(rows.ctypes.data, 4 * LANES, *places, 0, size, vector.ctypes.data, double)
        assert np.array_equal(plain, vector), size


@njit("b1, i8, i8, i8, i8, i8")
def products_of(pairs: bool, left: int, stride: int, right: int, steps: int, out: int) -> None:
    if pairs:
        multiply_pairs(left, stride, right, steps, out)
    else:
        multiply(left, stride, right, steps, out)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [False, True])
def test_products_of_every_length(pairs: bool) -> None:
    """Rows that begin anywhere in longer ones; integers that doubles hold, so that the order of adding is free."""
    rng = np.random.default_rng(pairs)
    for steps in (0, 1, 2, 7, 100):
        shape, kind = ((), np.float64) if not pairs else ((2,), np.int16)
        wide = rng.integers(-1000, 1001, (ROWS, steps + 5, *shape)).astype(kind)
        left, right = wide[:, 3 : 3 + steps], rng.integers(-1000, 1001, (steps, PANEL, *shape)).astype(kind)
        right = np.ascontiguousarray(right if pairs else right[:, : PANEL // 2])
        plain = (
            np.einsum("rkx,kix->ri", *(one.astype(np.int64) for one in (left, right)))
            if pairs
            else left @ right
        )
        vector = np.full((ROWS, right.shape[1]), 9, np.int32 if pairs else np.float64)
        begin = wide.ctypes.data + 3 * wide.strides[1]
        products_of(pairs, begin, wide.strides[0], right.ctypes.data, steps, vector.ctypes.data)
        assert np.array_equal(plain, vector), steps
