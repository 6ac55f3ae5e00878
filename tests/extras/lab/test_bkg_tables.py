"""Gillogly's table and the 2011 blog's expected points: solved, written, read, converted, verified.

The sums of the text files and the rows below were calculated with exact rationals from the rules of the game.
"""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver, verifier
from bgfmt.errors import BgfmtError, CapabilityError, CorruptError, HeaderError, NotCoveredError, SolverError
from bgfmt.extras.lab.solvers import ExpectedPointsSolver, GilloglySolver
from bgfmt.extras.lab.tables import Gillogly, domain_ids
from bgfmt.files import solve as solving
from bgfmt.formats import records
from bgfmt.game.board import Position, Side
from tests.support.points_game import as_text

SUMS = {
    "bkg 15": "7a480f950a0588bf1becac2d1066fad9abaa7e215fa5ebd835fb3f50d979c307",
    "bkg 8": "af518a866c4c2f299a5a0d06301000a4c1e8287c5bbc5883c7d6d0f34a09fb92",
    "bkb 15": "f6d379630b70bc2daac19c5998366b2c6e441e07d3bce44267b2ba862d1a3e97",
    "bkb 8": "4c055ee5cec01038e21a423326832fb3df0c0dfeac4718ed9f110f7821ac3f44",
    "1x1": "cbf7391c3666f2b3f8efe9d34ee2e6d62d8145f30d95d9c44906703bb3131b62",
    "1x3": "3edf61744bb2b7f5b8930edda264764d67b8c2c27126bd2f7b18b3677a948989",
    "2x2": "241e042744847b933a16f6f60d6c71a824b036e296c3c46e699a73e90897c60d",
    "3x3": "945d843e7364880e17eb588846c7bd6cbacc0e0bc8dd4ae478b8c2b3135afb17",
    "4x3": "bccfe0145ff20b23409b93dc703dd7ecdce4bc10d5d7bd2ce4028f8e4e5900e2",
    "6x1": "7d43290153fb0ee16ec8c59c8d043547ea7b01d92807c767cd2b5dbea7a8b90c",
    "6x2": "f7bf3faebcf828dfb518e6ffeb27427a46ec546901d87196e2525646af704931",
}
ROWS = """\
0 000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000
13 020000 1.277778 0.722222 0.277778 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000
79 000102 2.670997 0.027778 0.344907 0.556713 0.069745 0.000857 0.000001 0.000000 0.000000
3002 000008 6.878793 0.000000 0.000772 0.002079 0.023290 0.088459 0.204789 0.393360 0.236484
38780 d00002 7.527766 0.000000 0.000000 0.000000 0.000154 0.011844 0.115447 0.345511 0.386745
"""


def sum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("bkg")
    for chequers in (15, 8):
        solving.solve("bkg", 6, chequers, where / f"{chequers}.bkg")
        solving.solve("bkg", 6, chequers, where / f"{chequers}.bkb", recipe="exact")
    return where


@pytest.mark.slow
@pytest.mark.parametrize("chequers", [15, 8])
def test_gillogly_to_the_byte(folder: Path, chequers: int) -> None:
    path = folder / f"{chequers}.bkg"
    assert sum_of(path) == SUMS[f"bkg {chequers}"]
    assert sum_of(folder / f"{chequers}.bkb") == SUMS[f"bkb {chequers}"]  # every double the nearest one
    lines = path.read_text().splitlines()
    if chequers == 15:
        assert set(ROWS.splitlines()) <= set(lines)
    with bgfmt.open(path) as db:
        assert db.table.positions == len(lines) - 1 == {15: 4853, 8: 1724}[chequers]


def test_the_doubles_are_those_of_the_text(folder: Path) -> None:
    exact: Any = bgfmt.load(folder / "15.bkb")
    text: Any = bgfmt.load(folder / "15.bkg")
    assert np.abs(exact.rows - text.rows / 1e6).max() <= 0.5e-6
    assert exact.rows[:, 0].sum() == pytest.approx(22606.879987, abs=5e-7)
    longer = 1 - exact.rows[:, 1:].sum(axis=1)
    assert (longer[1:] > 1e-12).sum() == 2011
    assert longer[1:].max() == pytest.approx(0.140300, abs=5e-7)
    assert exact.side(1 + int(longer[1:].argmax())) == Side(13, 0, 0, 0, 0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["8.bkg", "15.bkb"])
def test_they_are_proved(folder: Path, name: str) -> None:
    report = verifier.verify(folder / name)
    assert report.status == "proved"


@pytest.mark.slow
def test_a_wrong_number_is_found(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.bkg"
    bad.write_text((folder / "15.bkg").read_text().replace("1.277778", "1.277779", 1))
    report = verifier.verify(bad)
    assert report.status == "damaged"
    assert "0 2 0 0 0 0" in str(report)
    assert "1.277779" in str(report)


@pytest.mark.parametrize(("old", "new"), [("13 02", "13 03"), ("020000 1.", "020000 x."), ("union", "onion")])
def test_wrong_text_is_refused(folder: Path, tmp_path: Path, old: str, new: str) -> None:
    bad = tmp_path / "bad.bkg"
    bad.write_text((folder / "15.bkg").read_text().replace(old, new, 1))
    with pytest.raises((CorruptError, HeaderError), match="expected"):
        bgfmt.load(bad)


def test_the_intersection_is_a_corner(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.bkg"
    bgfmt.convert(folder / "15.bkg", out, chequers=8)
    assert sum_of(out) == SUMS["bkg 8"]
    with pytest.raises(CapabilityError, match="6x8 is the intersection"):
        bgfmt.convert(folder / "15.bkg", tmp_path / "x.bkg", chequers=7)
    with pytest.raises(CapabilityError, match="six decimals"):
        bgfmt.convert(folder / "15.bkb", tmp_path / "x.bkg")
    bgfmt.convert(folder / "15.bkg", tmp_path / "x.npz")
    bgfmt.convert(tmp_path / "x.npz", tmp_path / "again.bkg")
    assert sum_of(tmp_path / "again.bkg") == SUMS["bkg 15"]


def test_gillogly_answers(folder: Path) -> None:
    table: Any = bgfmt.load(folder / "15.bkg")
    assert table.lookup(Side(15)).mean_rolls == 6.979592
    assert table.lookup_many([Side(0, 2), Side(1)], column="chance_1").tolist() == [0.722222, 1.0]
    assert table.numbers(np.array([[0, 2, 0, 0, 0, 0]])).tolist() == [table.number(Side(0, 2))]
    with pytest.raises(NotCoveredError, match="up to 8 men or up to 25 pips"):
        table.lookup(Side(0, 0, 0, 0, 3, 6))
    with pytest.raises(NotCoveredError, match="row 1 is outside"):
        table.numbers(np.array([[0, 2, 0, 0, 0, 0], [0, 0, 0, 0, 3, 6]]))
    with pytest.raises(SolverError, match="15 chequers"):
        solving.solve("bkg", 6, 9, folder / "x.bkg")


@pytest.mark.slow
def test_figure_3_of_the_paper() -> None:
    """The printed numbers of rolls fit one position each: the play usual then, and BKG's (2.748 and 2.739)."""
    table: Any = GilloglySolver(6, 15, recipe="exact").solve()
    ids = domain_ids("union")
    for roll, usual, better in (((6, 2), 2.748, 2.739), ((6, 1), 2.794, 2.777)):
        fitting = []
        for number, here in enumerate(ids.tolist()):
            if not 2 < table.rows[number, 0] < 4.5:
                continue
            side = Side.from_number(here, 6)
            if side.highest != 4:  # a man goes off from the 4 point with the 6
                continue
            results = bgfmt.game.moves.side_plays(side, roll)
            means = sorted(round(float(table.rows[table.number(s), 0]), 3) for s in results)
            if means[:2] == [better, usual]:
                fitting.append(side)
        assert fitting == [{(6, 2): Side(2, 0, 2, 2), (6, 1): Side(0, 2, 3, 1)}[roll]]


@pytest.mark.slow
@pytest.mark.parametrize("size", ["1x1", "1x3", "2x2", "3x3", "4x3", "6x1", "6x2"])
def test_expected_points_to_the_byte(size: str, tmp_path: Path) -> None:
    points, chequers = map(int, size.split("x"))
    path = tmp_path / f"{size}.points"
    solving.solve("expected-points", points, chequers, path)
    assert sum_of(path) == SUMS[size]
    if points * chequers <= 4:
        assert path.read_text() == "".join(as_text(points, chequers))
        assert verifier.verify(path).status == "proved"


@pytest.mark.slow
def test_expected_points_answer(tmp_path: Path) -> None:
    table = ExpectedPointsSolver(6, 2, recipe="exact").solve()
    assert table.lookup(
        Position(Side(1, 0, 0, 0, 0, 1), Side(0, 1, 0, 0, 1))
    ).expected_points == pytest.approx(20017 / 52488, abs=1e-15)
    assert table.worth.sum() == pytest.approx(366.148873472, abs=1e-9)
    with pytest.raises(NotCoveredError, match="no chequers left"):
        table.lookup(Position(Side(1), Side()))
    path = tmp_path / "exact.npz"
    bgfmt.save(table, path)
    assert verifier.verify(path).status == "proved"


@pytest.mark.slow
def test_an_order_of_ones_own_is_read_and_put_right(tmp_path: Path) -> None:
    path, back = tmp_path / "3x3.points", tmp_path / "back.points"
    solving.solve("expected-points", 3, 3, path)
    header, *lines = path.read_text().splitlines(keepends=True)
    shuffled = tmp_path / "shuffled.points"
    shuffled.write_text(header + "".join(reversed(lines)))
    assert np.array_equal(bgfmt.load(shuffled).worth, bgfmt.load(path).worth)  # type: ignore[attr-defined]
    bgfmt.save(bgfmt.load(shuffled), back)
    assert back.read_bytes() == path.read_bytes()
    shuffled.write_text(header + "".join(lines[:-1]) + lines[0])
    with pytest.raises(CorruptError, match="once"):
        bgfmt.load(shuffled)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("100 100 +1.0", "100 10g +1.0"),
        ("100 100 +", "f00 100 +"),
        ("+1.000000", "+1,000000"),
        ("=361", "=360"),
    ],
)
def test_wrong_points_are_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "3x3.points"
    solving.solve("expected-points", 3, 3, path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(BgfmtError, match="expected"):
        bgfmt.load(path)


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "suffix"), [("points", "points"), ("exact", "npz")])
def test_a_table_larger_than_memory_lies_in_mapped_files(recipe: str, suffix: str, tmp_path: Path) -> None:
    one, other = tmp_path / f"one.{suffix}", tmp_path / f"other.{suffix}"
    solving.solve("expected-points", 6, 4, one, recipe=recipe)
    solving.solve("expected-points", 6, 4, other, recipe=recipe, memory=600_000_000)
    assert one.read_bytes() == other.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [one.name, other.name]
    planned = solver.registry.solver_of("expected-points", 6, 15).plan(2, 1_000_000_000)
    assert (planned.memory, planned.scratch > 30e9) == (1_000_000_000, True)


@pytest.mark.slow
def test_large_files_are_read_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "3x3.points"
    solving.solve("expected-points", 3, 3, path)
    whole: Any = bgfmt.load(path)
    monkeypatch.setattr("bgfmt.extras.lab.decimals.MAX_SORTED_BYTES", 0)
    with bgfmt.open(path) as db:
        lazy: Any = db.table
        assert np.array_equal(lazy.worth[5], whole.worth[5])
        assert np.array_equal(np.asarray(lazy.worth), whole.worth)
    header, *lines = path.read_text().splitlines(keepends=True)
    path.write_text(header + "".join(reversed(lines)))
    with bgfmt.open(path) as db, pytest.raises(CorruptError, match="expected a row such as"):
        np.asarray(db.table.worth)  # type: ignore[attr-defined]


def test_a_table_of_another_size_is_none() -> None:
    rows = np.zeros((4853, 9), np.uint32)
    assert "6 points" in str(Gillogly(points=5, chequers=15, rows=rows).check())


@pytest.mark.slow
@pytest.mark.parametrize(("what", "points", "chequers"), [("bkg", 6, 8), ("expected-points", 3, 3)])
def test_other_formats_are_proved_too(what: str, points: int, chequers: int, tmp_path: Path) -> None:
    """A format that keeps the recipe's name in words keeps these names as well."""
    solving.solve(what, points, chequers, tmp_path / "made", recipe=None)
    for form in ("npz", "parquet", "sqlite"):
        bgfmt.convert(tmp_path / "made", tmp_path / f"x.{form}", to=form)
        report = bgfmt.verify(tmp_path / f"x.{form}")
        assert report.exit_code == 0, report.verdict


def test_every_recipe_is_a_name_that_files_may_say() -> None:
    assert set(solver.RECIPES) <= set(records.known_recipes())


@pytest.mark.slow
@pytest.mark.parametrize(("what", "points", "chequers"), [("bkg", 6, 8), ("expected-points", 3, 3)])
def test_exact_numbers_are_proved_to_the_last_bit(
    what: str, points: int, chequers: int, tmp_path: Path
) -> None:
    path = tmp_path / "x.npz"
    solving.solve(what, points, chequers, path, recipe="exact")
    table: Any = bgfmt.load(path)
    (name, sound), *_ = table.arrays().items()
    assert bgfmt.verify(path).exit_code == 0
    nought = int(np.flatnonzero(np.asarray(sound).reshape(-1) == 0)[0]) if what == "bkg" else 0
    for place, bit in ((0, 63), (nought, 63), (100, 0), (200, 1)):
        bits = np.array(sound).reshape(-1).view(np.uint64)
        bits[place] ^= np.uint64(1 << bit)
        wrong = dataclasses.replace(table, **{name: bits.view(np.float64).reshape(sound.shape)})
        bgfmt.save(wrong, path, force=True)
        report = bgfmt.verify(path)
        assert report.exit_code == 1, (place, bit)
        assert len(report.findings) == 1
