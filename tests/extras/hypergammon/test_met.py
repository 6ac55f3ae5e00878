"""The match equity table of hypergammon: from the chances of one game, written for gnubg."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import met as tables
from bgfmt.cli import run
from bgfmt.errors import BgfmtError, OutputExistsError, PositionError, SolverError
from bgfmt.extras.hypergammon.met import Wins, evaluate_opening, hypergammon_met, make_met, start_position
from bgfmt.extras.hypergammon.solver import hypergammon
from bgfmt.game.moves import legal_plays
from bgfmt.met import gnubg_xml


def test_near_a_table_of_rollouts() -> None:
    """With backgammon's own parts of gammons it comes within 0.022 of gnubg's rolled out table."""
    made, known = make_met(15, Wins(0.262, 0.012), name="made"), tables.load("g11")
    gaps = [abs(made.pre[a][b] - known.pre[a][b]) for a in range(11) for b in range(11)]
    assert max(gaps) < 0.022
    assert made.even


def test_without_gammons_and_with_a_dead_cube_it_is_a_race_of_coins() -> None:
    made = make_met(6, Wins(0, 0), name="made", live=0)
    for a in range(2, 7):
        for b in range(2, 7):
            won, lost = made.mwc((a - 1, b)), made.mwc((a, b - 1))
            assert made.mwc((a, b)) == pytest.approx((won + lost) / 2, abs=1e-12)
    # the Crawford game, and the games after it, by hand: the trailer of 3 needs two games at 2 points
    assert made.post[0][:4] == pytest.approx((0.5, 0.5, 0.25, 0.25))
    assert made.mwc((3, 1)) == pytest.approx(0.25)


def test_a_live_cube_lies_where_it_should() -> None:
    """At 2-away each a live cube without gammons is turned at once or decides nothing: the score stays even; and
    at 3-away, 2-away the published 60 % are met."""
    made = make_met(5, Wins(0, 0), name="made", live=1)
    assert made.mwc((2, 2)) == 0.5
    assert 0.55 < made.mwc((2, 3)) < 0.65


@pytest.mark.parametrize("wins", [Wins(0, 0), Wins(0.26, 0.01), Wins(0.7, 0.1), Wins(1, 0.1), Wins(1, 1)])
def test_order(wins: Wins) -> None:
    made = make_met(12, wins, name="made")
    for row in made.pre:
        assert all(0 <= x <= y <= 1 for x, y in pairwise(row))
    assert all(0 <= y <= x <= 1 for x, y in pairwise(made.post[0]))
    assert made.even


def test_refusals(tmp_path: Path, golden: Path) -> None:
    for wrong in ({"length": 0}, {"length": 65}, {"length": 3, "live": 1.5}):
        with pytest.raises(PositionError):
            make_met(wins=Wins(0, 0), name="x", **wrong)  # type: ignore[arg-type]
    for parts in ((0.1, 0.2), (1.1, 0.0), (0.5, -0.1), (float("nan"), 0.0)):
        with pytest.raises(PositionError):
            Wins(*parts)
    target = tmp_path / "x.xml"
    with pytest.raises(SolverError, match="a hypergammon table"):
        hypergammon_met(target, 25, 1, length=5, table=golden / "gnubg/ts_01x01.bd")
    target.write_text("mine")
    with pytest.raises(OutputExistsError):
        hypergammon_met(target, 25, 1, length=5)
    assert target.read_text() == "mine"
    assert run(["solve", "hypergammon-met", "0", "-o", str(tmp_path / "y.xml")]) == 2
    assert run(["solve", "hypergammon-met", "65", "-o", str(tmp_path / "y.xml")]) == 2


@pytest.mark.slow
def test_opening_by_hand() -> None:
    """Of one chequer: the mean over the fifteen rolls, by the rules of play and the table's own records."""
    table = hypergammon(1, recipe="exact").table
    found = evaluate_opening(table)
    equities, rows = [], []
    for low in range(1, 7):
        for high in range(low + 1, 7):
            theirs = [
                np.asarray(table.float64[table.side_number(p.result.them), table.side_number(p.result.us)])
                for p in legal_plays(start_position(1), high, low)
            ]
            best = min(theirs, key=lambda row: row[5])
            equities.append(-best[5])
            rows.append([1 - best[0], best[3], best[4], best[1], best[2]])
    assert found.equity == pytest.approx(np.mean(equities), abs=1e-14)
    assert found.chances == pytest.approx(tuple(np.mean(rows, axis=0)), abs=1e-14)
    stored = evaluate_opening(hypergammon(1).table)
    assert stored.equity == pytest.approx(found.equity, abs=1e-5)


def test_the_file(tmp_path: Path, golden: Path) -> None:
    path = tmp_path / "hypergammon.xml"
    table = golden / "gnubg/hyper1.bd"
    made = hypergammon_met(path, 25, 1, length=9, table=table)
    read = tables.load(path)
    assert (read.name, read.title, read.length) == ("hypergammon", "Hypergammon, 1 chequer", 9)
    assert np.abs(np.array(read.pre) - np.array(made.pre)).max() < 1e-12
    assert np.abs(np.array(read.post) - np.array(made.post)).max() < 1e-12
    assert bgfmt.solve("hypergammon-met", 25, 1, tmp_path / "again.xml", length=9, table=table).exists()
    assert (tmp_path / "again.xml").read_bytes() == path.read_bytes()
    assert run(["solve", "hypergammon-met", "9", "--table", str(table), "-o", str(tmp_path / "c.xml")]) == 0
    assert (tmp_path / "c.xml").read_bytes() == path.read_bytes()


def test_what_is_written_is_read() -> None:
    for name in tables.names():
        known = tables.load(name)
        again = gnubg_xml.read(gnubg_xml.write(known, "a <b> & c"), "x", name)
        assert np.abs(np.array(again.pre) - np.array(known.pre)).max() < 1e-12
        assert np.abs(np.array(again.post) - np.array(known.post)).max() < 1e-12
        assert again.title == known.title


@pytest.mark.slow
def test_gnubg_reads_it(oracle: Callable[[str], str], tmp_path: Path) -> None:
    made = hypergammon_met(tmp_path / "h.xml", 25, 1, length=7)
    said = subprocess.run(
        [oracle("gnubg"), "-t", "-q"], input="set met h.xml\nshow met\nquit\n", cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": ""}, capture_output=True, text=True, timeout=800, check=True,
    ).stdout  # fmt: skip
    assert "Hypergammon, 1 chequer" in said
    row = next(line for line in said.splitlines() if line.strip().startswith("3-away"))
    shown = [float(x) / 100 for x in row.split()[1:8]]
    assert shown == pytest.approx(made.pre[2], abs=1e-6)


@pytest.mark.slow
def test_one_function_for_every_solve(tmp_path: Path, golden: Path) -> None:
    made = bgfmt.solve("hypergammon", 25, 1, tmp_path / "h.bd")
    assert made.read_bytes() == (golden / "gnubg/hyper1.bd").read_bytes()
    score = bgfmt.solve("match", 3, 2, tmp_path / "m.bgm", away=(3, 5), met=tables.load())
    with bgfmt.open(score) as db:
        assert db.table.kind == "match-score"
    two = bgfmt.solve("two-sided", 2, 2, tmp_path / "t.bd", cubeful=False)
    with bgfmt.open(two) as db:
        assert db.table.kind == "two-sided"
    with pytest.raises(SolverError, match="25 points"):
        bgfmt.solve("hypergammon", 24, 1, tmp_path / "no.bd")
    with pytest.raises(BgfmtError):
        bgfmt.solve("nothing", 2, 2, tmp_path / "no.bd")
