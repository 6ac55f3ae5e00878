"""The measured bounds: nothing that was measured lies above them, and the line beyond keeps its distance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.bounds import rounding_errors
from bgfmt import solver
from bgfmt.tables import bounds
from bgfmt.verifier import truth as measured
from bgfmt.verifier.recurrence.plays import pip_order, plays

MARGIN = 1.05


def test_the_line_beyond_lies_above_all_that_was_measured() -> None:
    assert len(bounds.measured_tables()) >= 20
    for found in bounds.measured_tables():
        line = bounds.STORED[0] * found.chequers + bounds.STORED[1] * found.points
        assert line >= MARGIN * max(found.stored), found
        line = bounds.FLOAT64[0] * found.chequers + bounds.FLOAT64[1] * found.points
        assert line >= MARGIN * found.float64, found
        assert min(found.margins.values()) > 1000 * found.float64
    for points in range(1, 9):
        assert bounds.MEAN[0] + bounds.MEAN[1] * points >= MARGIN * bounds.mean_error(points)
        line = bounds.NORMAL_MEAN[0] + bounds.NORMAL_MEAN[1] * points
        assert line >= MARGIN * bounds.mean_error(points, normal=True)


def test_larger_tables_are_given_larger_bounds() -> None:
    for points in range(1, 13):
        for chequers in range(1, 15):
            here, more = bounds.stored_error(points, chequers), bounds.stored_error(points, chequers + 1)
            assert all(a <= b for a, b in zip(here, more, strict=True)), (points, chequers)
            assert bounds.float64_error(points, chequers) <= bounds.float64_error(points, chequers + 1)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6, 4), (4, 4), (9, 3), (3, 7)])
def test_bounds_are_what_a_measurement_gives(size: tuple[int, int]) -> None:
    found = measured.measure_equity_errors(solver.two_sided(*size), None)
    greatest = tuple(found["greatest_error"].values())
    bound = bounds.stored_error(*size)
    assert all(a <= b for a, b in zip(greatest, bound, strict=True))
    if size in {(m.points, m.chequers) for m in bounds.measured_tables()}:
        assert tuple(math.ceil(error * 1e7) / 1e7 for error in greatest) == bound


@pytest.mark.slow
def test_bounds_of_the_means() -> None:
    for points in (2, 4, 5):
        for normal in (False, True):
            found = measured.measure_roll_errors(solver.one_sided(points, normal=normal), None)
            assert found["greatest_error_of_the_mean"] <= bounds.mean_error(points, normal=normal)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6, 3), (4, 4), (3, 3)])
def test_float64_errs_by_no_more_than_its_bound(size: tuple[int, int]) -> None:
    """Against rational arithmetic, in which nothing is rounded."""
    values, scale = measured.rational_equities(*size)
    truth = np.asarray(solver.two_sided(*size, recipe="exact").equities)
    exact = np.array([[[v / scale for v in pair] for pair in row] for row in values])
    starts, results = plays(*size)
    _, order, pips_at = pip_order(*size)
    n = len(order)
    bound = rounding_errors(
        starts, results, order, pips_at, np.zeros((n, n, 4)), np.zeros((n, n, 4), np.float32)
    )
    assert float(np.abs(truth - exact).max()) <= float(bound.max()) <= bounds.float64_error(*size)


def test_signs_that_are_certain() -> None:
    assert [bounds.sign(margin, 1e-13) for margin in (1.1e-9, -1.1e-9, 1e-14, 0.0)] == [1, -1, 0, 0]
