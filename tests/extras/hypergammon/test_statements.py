"""What the proof of an iteration says of one that was stopped early."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt.extras.hypergammon.solver import hypergammon


@pytest.mark.slow
@pytest.mark.parametrize(("chequers", "threshold"), [(1, 0.3), (1, 1e-4)])
def test_an_iteration_that_was_stopped_early_is_said_not_to_have_converged(
    chequers: int, threshold: float, tmp_path: Path
) -> None:
    for limit, early in ((threshold, True), (1e-5, False)):
        bgfmt.save(hypergammon(chequers, threshold=limit).table, tmp_path / f"{early}.bd")
        report = bgfmt.verify(tmp_path / f"{early}.bd")
        assert report.exit_code == 0
        assert ("not converged: the next sweep changes a number by" in report.verdict) == early


@pytest.mark.slow
def test_an_exact_iteration_that_was_stopped_early_too(tmp_path: Path) -> None:
    table = hypergammon(1, recipe="exact", threshold=1e-6).table
    bgfmt.save(table, tmp_path / "x.npz")
    assert np.asarray(table.arrays()["float64"]).dtype == np.float64
    assert "not converged" in bgfmt.verify(tmp_path / "x.npz").verdict
