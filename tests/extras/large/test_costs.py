"""The tables of docs/cluster.md are those of the model."""

from __future__ import annotations

import sys
from pathlib import Path

from bgfmt.extras.large.tiles import grid_of

BGFMT = [sys.executable, "-m", "bgfmt"]


def test_the_table_of_costs_is_the_models() -> None:
    from benchmarks import costs
    from bgfmt import met

    page = (Path(__file__).resolve().parents[3] / "docs" / "cluster.md").read_text(encoding="utf-8")
    assert "\n".join(costs.lines(met.load())) in page
    assert "\n".join(costs.point_lines()) in page


def test_the_model_is_near_what_was_measured() -> None:
    from benchmarks import costs

    for point in costs.points():
        assert 0.7 < point.seconds / point.model.seconds < 1.4, point
        assert 0.7 < point.memory / point.model.memory < 1.3, point


def test_what_the_page_says_of_growth() -> None:
    from bgfmt.solver.machine import results_per_position

    a, b = (grid_of(p, 15, columns=4, side=2048, chunk=512) for p in (6, 8))
    work = b.n**2 * results_per_position(8, 15) / (a.n**2 * results_per_position(6, 15))
    assert round(b.n**2 / a.n**2) == 82
    assert round(work) == 110
    span = int(max(b.spans[1])) / int(max(a.spans[1]))
    assert round(span) == 8
    read = [grid_of(p, 15, columns=4, workers=2, memory=16 * 10**9).bytes_moved[0] for p in (6, 8)]
    assert round(read[1] / read[0], -2) == 2300
