"""Two-sided tables that count gammons: against float64, the calculation on demand, plain tables, and themselves."""

from __future__ import annotations

import ctypes as ct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import Position, Side
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.ondemand import solve_money
from bgfmt.files.solve import solve_table
from bgfmt.game.state import GameState
from bgfmt.solver.registry import solver_of
from bgfmt.solver.two_sided import two_sided
from bgfmt.tables import EQUITY_COLUMNS, GammonTwoSided
from plugins.c.tests.conftest import Answer, build, lib  # noqa: F401 - fixtures

KINDS = ("two-sided-gammons", "two-sided-jacoby")


def made(kind: str, points: int = 3, chequers: int = 15, recipe: str | None = None) -> GammonTwoSided:
    table = solver_of(kind, points, chequers, recipe=recipe).solve(threads=1)
    assert isinstance(table, GammonTwoSided)
    return table


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_what_the_calculation_on_demand_gives(kind: str) -> None:
    """In float64, with fifteen chequers on one side, on both and on none; the integers are as near as they say."""
    exact, rounded = made(kind, recipe="exact"), made(kind)
    rng = np.random.default_rng(26)
    full = rng.multinomial(15, [0.5, 0.3, 0.2], 6)
    few = rng.multinomial(6, [0.2, 0.3, 0.5], 6)
    asked = [(full[:2], few[:2]), (few[2:4], full[2:4]), (full[4:], full[:2]), (few[4:], few[:2])]
    for us, them in ((u, t) for pair in asked for u, t in zip(*pair, strict=True)):
        solved = solve_money(Position(Side(*us.tolist()), Side(*them.tolist())), jacoby=exact.jacoby)
        wanted = [solved.equity(name) for name in EQUITY_COLUMNS]
        np.testing.assert_allclose(exact.lookup_many([us], [them])[0], wanted, rtol=0, atol=1e-13)
    apart = np.abs(rounded.read("equities", np.asarray(rounded.equities)) - exact.equities)
    assert (apart.max(axis=(0, 1)) <= rounded.known_errors).all()
    assert apart.mean() * 16383 < 0.3


def test_without_fifteen_chequers_it_is_the_plain_table() -> None:
    plain = two_sided(4, 4, recipe="exact").equities
    for kind in KINDS:
        assert np.array_equal(made(kind, 4, 4, "exact").equities, plain)
        cut = made(kind, 2, 15, "exact").cut(2, 14)
        assert np.array_equal(np.asarray(cut.equities), two_sided(2, 14, recipe="exact").equities)
        rounded = made(kind, 4, 4)
        apart = rounded.read("equities", np.asarray(rounded.equities)) - plain
        assert np.abs(apart).max() <= rounded.known_errors.max()


def test_jacoby_changes_the_centre_alone_and_no_right_double_is_beavered() -> None:
    plain, jacoby = (np.asarray(made(kind, recipe="exact").equities) for kind in KINDS)
    assert np.array_equal(plain[..., [0, 1, 3]], jacoby[..., [0, 1, 3]])
    assert (plain[..., 2] > 1).any()
    assert not (jacoby[..., 2] > 1).any()
    for table in (plain, jacoby):
        centered, opponent = table[..., 2], table[..., 3]
        doubles = np.minimum(1, 2 * opponent) > centered + 1e-12
        assert (doubles & (opponent < 0.5)).sum() > 1000
        assert not (doubles & (opponent < 0)).any()


@pytest.mark.extra("large")
@pytest.mark.parametrize("kind", KINDS)
def test_tiles_and_layers_make_the_same_table(kind: str, tmp_path: Path) -> None:
    table = made(kind, 2)
    report = solve_table(kind, 2, 15, store=tmp_path / "tiles", memory=400_000_000)
    assert report is not None
    assert report.made > 0
    bgfmt.solve(kind, 2, 15, tmp_path / "layers.npz", scratch=tmp_path / "scratch")
    for path in (tmp_path / "tiles", tmp_path / "layers.npz"):
        with bgfmt.open(path) as db:
            assert db.table.kind == kind
            assert np.array_equal(np.asarray(db.table.arrays()["equities"]), table.equities)


@pytest.mark.slow
@pytest.mark.extra("compressed")
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_proved_packed_damaged_and_put_right(kind: str, tmp_path: Path) -> None:
    plain, packed, bad = tmp_path / "x.npz", tmp_path / "x.bgts", tmp_path / "bad.npz"
    table = made(kind, 2)
    bgfmt.save(table, plain)
    bgfmt.convert(plain, packed)
    for path in (plain, packed):
        report = bgfmt.verify(path)
        assert (report.status, report.recipe) == ("proved", "gammons")
    assert bgfmt.diff(plain, packed).same
    rng = np.random.default_rng(1)
    for _ in range(6):
        us, them, column = (int(rng.integers(most)) for most in (*table.equities.shape[:2], 4))
        equities = np.array(table.equities)
        equities[us, them, column] ^= 1 << int(rng.integers(16))
        bgfmt.save(replace(table, equities=equities), bad, force=True)
        report = bgfmt.verify(bad)
        assert (report.status, report.wrong) == ("damaged", 1)
        assert report.findings[0].entry == us * table.positions + them
        bgfmt.repair(bad, tmp_path / "good.npz", force=True)
        with bgfmt.open(tmp_path / "good.npz") as db:
            assert np.array_equal(np.asarray(db.table.arrays()["equities"]), table.equities)


@pytest.mark.slow
@pytest.mark.extra("compressed")
def test_the_c_reader_reads_it(lib: ct.CDLL, tmp_path: Path) -> None:  # noqa: F811
    for kind in KINDS:
        path = tmp_path / f"{kind}.bgts"
        bgfmt.save(made(kind, 2), path)
        table = bgfmt.load(path)
        n, db = table.positions, ct.c_void_p()
        assert lib.bgfmt_open(str(path).encode(), ct.byref(db)) == 0
        us, them = np.random.default_rng(2).integers(0, n, (2, 500), np.uint32)
        out = np.zeros((500, 4), np.float32)
        assert lib.bgfmt_equities_many(db, 500, *(a.ctypes.data for a in (us, them, out))) == 0
        assert np.array_equal(out, table.lookup_many(us.astype(np.int64), them.astype(np.int64)))
        answer = Answer()
        assert lib.bgfmt_lookup_numbers(db, ct.c_uint64(n - 1), ct.c_uint64(2), ct.byref(answer)) == 0
        assert (answer.n_equities, answer.n_outcomes) == (4, 0)
        lib.bgfmt_close(db)


@pytest.mark.slow
def test_the_adviser_takes_it_at_fifteen_chequers() -> None:
    """What it says is what it calculates, for each rule of the centre; where no gammon can be lost plain tables go
    first, and any of these serves."""
    tables = [made(kind, recipe="exact") for kind in KINDS]
    by_table, calculates = Advisor([two_sided(3, 6), *tables]), Advisor([], limit=10**8)
    mine, full = Side(0, 1, 2), Side(4, 5, 6)
    for us, them in ((mine, full), (full, mine), (full, full), (Side(2), full)):
        for jacoby, kind in zip((False, True), KINDS, strict=True):
            for owner in ("centered", "owned"):
                state = GameState.of(Position(us, them), cube=owner, jacoby=jacoby)
                answer, wanted = by_table.cube(state), calculates.cube(state)
                assert answer.source == kind
                equities = by_table.equities(state)
                assert (equities.gammons, equities.win) == ("counted", None)
                assert (answer.action, wanted.source) == (wanted.action, "calculation")
                assert answer.no_double == pytest.approx(wanted.no_double, abs=1e-12)
                played = GameState.of(Position(us, them), (6, 5), cube=owner, jacoby=jacoby)
                best, same = by_table.plays(played), calculates.plays(played)
                assert best.source == kind
                assert best.best.value == pytest.approx(same.best.value, abs=1e-12)
    few = GameState.of(Position(mine, mine), jacoby=True)
    assert by_table.cube(few).source == "two-sided"
    alone = Advisor(tables[:1]).cube(few)
    assert alone.source == KINDS[0]
    assert Advisor(tables[:1]).equities(few).win == pytest.approx(by_table.equities(few).win, abs=1e-4)
