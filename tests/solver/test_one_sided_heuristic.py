"""The table that gnubg makes where it finds none: its sums, and the program's own evaluations."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import SolverError
from bgfmt.game import board
from tests.conftest import FIXTURES

SUMS = {
    "gnubg-heuristic": "cde8b257460907ec13e36a11607f649e58fe27d3dcdd71c0350f909a0df1be7e",
    "gnubg-heuristic-2009": "7aa428f0b9c0e2d8309f6171e94a90e50b65724213bd93b9383ca6885399e8da",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SUMS)
def test_its_sum(name: str) -> None:
    table: Any = solver.one_sided(6, recipe=name)
    assert hashlib.sha256(np.asarray(table.bearoff, "<u2").tobytes()).hexdigest() == SUMS[name]
    assert (table.recipe, table.gammon) == (name, None)
    small: Any = solver.one_sided(6, chequers=4, recipe=name)
    assert np.array_equal(small.bearoff, table.bearoff[: small.positions])
    for rows, block in table.blocks():
        assert not any(breach.bad.any() for breach in table.breaches(rows.start, block))


@pytest.mark.slow
def test_it_is_what_the_program_evaluates_with() -> None:
    lines = (FIXTURES / "expected/eval_heuristic.tsv").read_text().splitlines()[1:]
    cells = [line.split("\t") for line in lines]
    us, them = ([[int(x) for x in cell[k].split(",")] for cell in cells] for k in (0, 1))
    table: Any = solver.one_sided(6, recipe="gnubg-heuristic")
    chances = np.asarray(table.bearoff) / 65535
    ours, theirs = (chances[board.rank_array(np.array(side))] for side in (us, them))
    later = np.cumsum(theirs[:, ::-1], axis=1)[:, ::-1]
    found = (ours * later).sum(axis=1)
    assert len(cells) > 300
    assert np.abs(found - [float(cell[2]) for cell in cells]).max() < 4.1e-7


@pytest.mark.slow
def test_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "h.bd"
    assert run(["solve", "one-sided", "6", "--recipe", "gnubg-heuristic", "--quiet", "-o", str(path)]) == 0
    with bgfmt.open(path) as db:
        assert db.format.name == "gnubg-os"
        assert np.array_equal(
            np.asarray(db.table.arrays()["bearoff"])[:100].sum(axis=1)[1:] > 65530, [True] * 99
        )
    assert run(["solve", "one-sided", "7", "--recipe", "gnubg-heuristic", "-o", str(tmp_path / "x.bd")]) == 2
    assert "6 points" in capsys.readouterr().err
    with pytest.raises(SolverError):
        solver.one_sided(5, recipe="gnubg-heuristic")
