"""Proved and measured bounds: nothing measured lies above a proved one, and the line beyond keeps its distance."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.bounds import rounding_errors
from bgfmt import solver
from bgfmt.extras.accuracy import error_bound
from bgfmt.extras.accuracy import truth as measured
from bgfmt.tables import bounds
from bgfmt.verifier.recurrence.plays import pip_order, plays
from tests.support.rational import rational_equities

MARGIN = 1.05
DATA = Path(bounds.__file__).parents[1] / "data" / "bounds.json"
PROVED = {(e["points"], e["chequers"]): e for e in json.loads(DATA.read_text("utf-8"))["proved"]}


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


def test_proved_bounds_lie_above_what_was_measured_and_below_the_line() -> None:
    for found in bounds.measured_tables():
        proved = bounds.proved_error(found.points, found.chequers)
        assert proved is not None, found
        assert all(a < b < 1.4 * a for a, b in zip(found.stored, proved, strict=True)), found
    for (points, chequers), entry in PROVED.items():
        line = bounds.STORED[0] * chequers + bounds.STORED[1] * points
        assert line >= MARGIN * max(entry["bound"]), (points, chequers)
    for points in range(1, 13):
        for chequers in range(1, 16):
            proved = bounds.proved_error(points, chequers)
            assert proved in (None, bounds.stored_error(points, chequers))


def test_the_page_of_sums_lists_the_proved_bounds() -> None:
    page = (DATA.parents[2] / "docs" / "digests.md").read_text("utf-8")
    for (points, chequers), entry in PROVED.items():
        bound = " | ".join(f"{size:.7f}" for size in entry["bound"])
        counts = (", ".join(f"{count:,}" for count in entry[key].values()) for key in ("open", "wrong"))
        assert f"\n| {points}x{chequers} | {bound} | {' | '.join(counts)} |\n" in page


@pytest.mark.parametrize("size", [(4, 4), (6, 3), (9, 3), (12, 2)])
def test_proved_bounds_are_what_the_verifier_proves(size: tuple[int, int]) -> None:
    found = error_bound.bound_errors(solver.two_sided(*size)).as_dict()
    entry = PROVED[size]
    assert [math.ceil(error * 1e7) / 1e7 for error in found["greatest"].values()] == entry["bound"]
    assert (found["decisions_open"], found["decisions_wrong"]) == (entry["open"], entry["wrong"])


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6, 4), (4, 4), (9, 3), (3, 7)])
def test_measured_errors_are_what_a_measurement_gives(size: tuple[int, int]) -> None:
    found = measured.measure_equity_errors(solver.two_sided(*size), None)
    greatest = tuple(found["greatest_error"].values())
    bound = bounds.stored_error(*size)
    assert all(a <= b for a, b in zip(greatest, bound, strict=True))
    for entry in bounds.measured_tables():
        if size == (entry.points, entry.chequers):
            assert tuple(math.ceil(error * 1e7) / 1e7 for error in greatest) == entry.stored


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
    values, scale = rational_equities(*size)
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
