"""Measured errors: against the literature, rational arithmetic and what the command prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.extras.accuracy import truth
from tests.support.rational import rational_equities, rational_means


@pytest.mark.slow
def test_distance_from_the_truth_as_the_literature_gives_it(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "ts.bd"
    bgfmt.save(solver.two_sided(6, 6), path, format="gnubg-ts")
    exact = bgfmt.verify(path, exact=True).exact
    assert exact["pairs"] == 851_929
    assert exact["decisions"]["initial_doubles"] == 490_816
    assert exact["decisions"]["redoubles"] == 469_628
    assert exact["decisions_wrong"] == {"initial_doubles": 13, "redoubles": 15, "takes": 34, "beavers": 2}
    assert len(exact["wrong_decisions"]) == 13 + 15 + 34 + 2
    assert exact["wrong_decisions_left_out"] == 0
    assert {name: round(error, 6) for name, error in exact["greatest_error"].items()} == {
        "cubeless": 0.000113,
        "owned": 0.000106,
        "centered": 0.000128,
        "opponent": 0.000125,
    }
    one = bgfmt.verify(golden / "gnubg" / "os_p06.bd", exact=True).exact
    assert round(one["greatest_error_of_the_mean"], 6) == 0.000197
    assert one["worst"][0]["position"] == "0 2 0 0 10 3"
    assert (one["too_low"], one["too_high"]) == (35_365, 18_893)


@pytest.mark.slow
def test_rational_arithmetic_agrees_with_floats() -> None:
    values, scale = rational_equities(4, 3)
    solved = np.asarray(solver.two_sided(4, 3, recipe="exact").equities)
    exact = np.array([[[v / scale for v in pair] for pair in row] for row in values])
    assert np.abs(solved - exact).max() < 1e-14
    means = rational_means(6, 2)
    assert str(means[6]) == "5/4"


@pytest.mark.slow
def test_wrong_decisions_that_are_left_out_are_counted() -> None:
    found = truth.measure_equity_errors(solver.two_sided(6, 7), None)
    wrong = found["decisions_wrong"]
    assert set(wrong) == {"initial_doubles", "redoubles", "takes", "beavers"}
    assert len(found["wrong_decisions"]) + found["wrong_decisions_left_out"] == sum(wrong.values())
    assert len(found["wrong_decisions"]) <= truth.MAX_LISTED_DECISIONS


def test_a_kind_that_is_not_measured_is_not_said_to_have_no_exact_recipe(golden: Path) -> None:
    said = bgfmt.verify(golden / "gnubg" / "hyper1.bd", exact=True).as_dict()
    assert "hypergammon tables are not measured; bgfmt diff compares" in str(said)


@pytest.mark.slow
def test_measured_errors_are_printed(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--exact", str(golden / "gnubg" / "ts_06x03.bd")]) == 0
    said = capsys.readouterr().out
    assert "beavers of 1,682 decided wrongly" in said
    assert "{" not in said
