"""Look-ups one at a time and many at once agree, and say no to what a table does not cover."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bgfmt
from bgfmt import Position, Side
from bgfmt.errors import CapabilityError, ClosedError, NotCoveredError, PositionError
from bgfmt.game.board import count, unrank_array
from tests.conftest import GOLDEN

OS = GOLDEN / "gnubg/os_p06.bd"
TS = GOLDEN / "gnubg/ts_06x04.bd"


def test_importing_wakes_nothing_heavy() -> None:
    code = "import sys, bgfmt; bgfmt.open; assert not {'numba', 'rich', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_front_page_names_what_exists() -> None:
    for name in bgfmt.__all__:
        assert getattr(bgfmt, name) is not None


def test_known_values() -> None:
    with bgfmt.open(TS) as db:
        eq = db.lookup(Position(Side(0, 1, 0, 0, 1), Side(0, 1, 1)))
        assert isinstance(eq, bgfmt.tables.Equities)
        assert [f"{x:.4f}" for x in (eq.cubeless, eq.owned, eq.centered, eq.opponent)] == [
            "0.3422", "0.3441", "0.1605", "0.1605",
        ]  # fmt: skip
    with bgfmt.open(OS) as db:
        race = db.lookup(Side(0, 0, 0, 2, 3, 4))
        assert f"{race.mean_rolls:.3f} {race.epc:.2f}" == "6.567 53.63"
        assert race.off_within(18) == pytest.approx(1, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, count(6, 4) - 1), min_size=1, max_size=30), st.randoms())
def test_two_sided_many_is_one_by_one(numbers: list[int], random: object) -> None:
    other = [(k * 7919) % count(6, 4) for k in numbers]
    us, them = unrank_array(numbers, 6), unrank_array(other, 6)
    with bgfmt.open(TS) as db:
        many = db.lookup_many(us, them)
        assert np.array_equal(many, db.lookup_many(np.array(numbers), np.array(other)))
        assert np.array_equal(many, db.lookup_many([Side(*c) for c in us], [Side(*c) for c in them]))
        for row, a, b in zip(many, us, them, strict=True):
            eq = db.lookup(Position(Side(*a), Side(*b)))
            assert row.tolist() == [eq.cubeless, eq.owned, eq.centered, eq.opponent]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, count(6, 15) - 1), min_size=1, max_size=20))
def test_one_sided_many_is_one_by_one(numbers: list[int]) -> None:
    with bgfmt.open(OS) as db:
        for column in ("bearoff", "gammon"):
            many = db.lookup_many(np.array(numbers), column=column)
            for row, number in zip(many, numbers, strict=True):
                assert np.array_equal(row, getattr(db.lookup(Side.from_number(number, 6)), column))


@pytest.mark.parametrize("name", ["os_p03_nd", "hyper1", "ts_06x04_cubeless", "os_p03_g"])
def test_every_kind_answers(name: str) -> None:
    with bgfmt.open(GOLDEN / "gnubg" / f"{name}.bd") as db:
        two = db.table.kind in ("two-sided", "hypergammon")
        asked = Position(Side(1), Side(0, 0, 1) if name != "hyper1" else Side(0, 1)) if two else Side(2, 1)
        assert db.lookup(asked).as_dict()
        assert db.get(Side(*[1] * 15) if not two else Position(Side(*[1] * 15), Side(1))) is None


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((GOLDEN / "gnubg").glob("*.bd")), ids=lambda path: path.stem)
def test_every_column_is_answered_of_many(path: Path) -> None:
    """Rows in any order, some twice: each column that `columns` lists, and a misspelt one is named."""
    if path.stem.endswith("H"):
        pytest.skip("no header")
    with bgfmt.open(path) as db:
        table = db.table
        numbers = np.random.default_rng(1).integers(0, table.entries, 20)
        numbers = np.append(numbers, numbers[::-1])
        asked = np.divmod(numbers, table.positions) if table.sides == 2 else (numbers,)
        ascending, back = np.unique(numbers, return_inverse=True)
        values = table.values(ascending)[back]
        for k, column in enumerate(table.columns):
            found = db.lookup_many(*asked, column=column.name)
            assert np.allclose(found, values[:, k], rtol=0, atol=1e-6), column.name
            assert table.answers(column.name) == [column.name]
            assert db.lookup_many(*(side[:0] for side in asked), column=column.name).shape == (0,)
        for name in (f"{table.columns[-1].name}s", ""):
            with pytest.raises(
                CapabilityError,
                match=f"no column '{name}' .it has.* {table.columns[-1].name if name else '.*'}[,)]",
            ) as said:
                db.lookup_many(*asked, column=name)
            assert str(said.value).count(",") < 12, "a message lists all of few, or the nearest of many"


def test_a_column_that_the_file_leaves_out_is_said() -> None:
    with (
        bgfmt.open(GOLDEN / "gnubg/os_p03_g.bd") as db,
        pytest.raises(CapabilityError, match="no column 'gammon'"),
    ):
        db.lookup_many([Side(1)], column="gammon")


def test_what_is_not_covered() -> None:
    with bgfmt.open(TS) as db:
        for position, reason in [
            (Position(Side(5), Side(1)), "5 chequers"),
            (Position(Side(0, 0, 0, 0, 0, 0, 1), Side(1)), "point 7"),
            (Position(Side(1, bar=1), Side(1)), "bar"),
        ]:
            with pytest.raises(NotCoveredError, match=reason):
                db.lookup(position)
            assert db.get(position) is None
            assert not db.covers(position)
        with pytest.raises(PositionError):
            db.lookup(Side(1))
        with pytest.raises(NotCoveredError, match="row 1"):
            db.lookup_many(np.array([0, 210]), np.array([0, 0]))
        with pytest.raises(NotCoveredError, match="row 0"):
            db.lookup_many(np.array([[5, 0, 0, 0, 0, 0]]), np.array([[1, 0, 0, 0, 0, 0]]))
        with pytest.raises(PositionError):
            db.lookup_many(np.array([[-1, 0, 0, 0, 0, 0]]), np.array([[1, 0, 0, 0, 0, 0]]))
        with pytest.raises(PositionError):
            db.lookup_many(np.array([1.5]), np.array([1]))
    with pytest.raises(ClosedError):
        db.lookup(Position(Side(1), Side(1)))


def test_many_of_a_table_cut_down() -> None:
    """Rows made on demand are indexed by pairs of arrays as an ndarray is."""
    with bgfmt.open(TS) as db:
        small = db.table.cut(4, 3)
        us, them = np.array([3, 20, 11]), np.array([7, 1, 30])
        assert np.array_equal(
            small.lookup_many(us, them), db.lookup_many(unrank_array(us, 4), unrank_array(them, 4))
        )


def test_a_table_is_shown_in_one_line() -> None:
    with bgfmt.open(TS) as db, bgfmt.open(OS) as sides:
        assert repr(db.table).endswith("equities=uint16 (210, 210, 4))")
        assert "bearoff=uint16 (54264, 32), gammon=uint16 (54264, 32)" in repr(sides.table)
