"""The loop written in LLVM's vector types against the plain one, over every size of block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bgfmt.jit import njit
from bgfmt.verifier.recurrence import two_sided as recurrence
from bgfmt.verifier.recurrence.lanes import LANES, LEAST, add_best, add_best_plainly


@njit()
def add_best_at(tile: int, results: int, first: int, last: int, total: int, double: int) -> None:
    add_best(tile, results, first, last, total, double)


def both(tile: Any, results: Any, first: int, last: int, double: int, before: Any) -> tuple[Any, Any]:
    plain, vector = before.copy(), before.copy()
    add_best_plainly(tile, results, first, last, plain, double)
    add_best_at(tile.ctypes.data, results.ctypes.data, first, last, vector.ctypes.data, double)
    return plain, vector


@pytest.mark.parametrize("double", [0, 1])
def test_every_number_of_results(double: int) -> None:
    """From none to more rows than a roll has, from every place in the list."""
    rng = np.random.default_rng(double)
    tile = rng.integers(-32768, 32768, (300, LANES)).astype(np.int16)
    results = rng.integers(0, 300, 400).astype(np.int32)
    before = rng.integers(-(1 << 20), 1 << 20, LANES).astype(np.int32)
    for size in range(140):
        first = int(rng.integers(0, 400 - size))
        plain, vector = both(tile, results, first, first + size, double, before)
        assert np.array_equal(plain, vector), size


def test_the_ends_of_the_numbers() -> None:
    results = np.arange(4, dtype=np.int32)
    before = np.zeros(LANES, np.int32)
    for value in (LEAST, LEAST + 1, -1, 0, 1, 32766, 32767):
        tile = np.full((4, LANES), value, np.int16)
        tile[2, ::3] = LEAST
        for size in range(5):
            plain, vector = both(tile, results, 0, size, 1, before)
            assert np.array_equal(plain, vector)
            assert vector[1] == 2 * (value if size else LEAST)


def test_every_width_of_a_tile() -> None:
    """Tables of 1 to more than LANES positions a side: tiles cut short, one lane or four a position."""
    from bgfmt import solver
    from bgfmt.game import board

    for points, chequers in ((1, 1), (1, 3), (2, 4), (3, 4), (4, 4), (1, 15), (2, 9), (5, 3), (3, 5)):
        for cubeful in (True, False):
            table = solver.two_sided(points, chequers, cubeful=cubeful)
            assert recurrence.check(table).failing == 0, (points, chequers, board.count(points, chequers))
            right = np.array(table.equities)
            n = len(right)
            for us, them in ((n - 1, n - 1), (n - 1, 1), (1, n - 1)):
                wrong = right.copy()
                wrong[us, them, -1] ^= 1
                from dataclasses import replace

                found = recurrence.check(replace(table, equities=wrong))
                assert us * n + them in found.numbers
