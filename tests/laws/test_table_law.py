"""What every kind of table and every array of one must do, built in or a guest's; the tables are `samples`'."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest

from bgfmt.errors import BgfmtError, CapabilityError, NotCoveredError
from bgfmt.formats.gnubg.family import GnubgHeader
from bgfmt.formats.records import AsRead, facts_of
from bgfmt.game.board import Position, Side
from bgfmt.tables import KINDS, Table, same_numbers

from .samples import Sample, from_checkout, samples, tables

TABLES = {name: table for name, table in tables().items() if table.arrays()}
every = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())


def some_entries(table: Table, many: int = 40) -> list[int]:
    rng = np.random.default_rng(7)
    return sorted({0, table.entries - 1, *rng.integers(0, table.entries, many).tolist()})


@from_checkout
def test_every_kind_has_a_table() -> None:
    assert {table.kind for table in tables().values()} == set(KINDS)


@every
def test_arrays_are_those_the_kind_declares(table: Table) -> None:
    assert table.check() is None
    rules = {rule.name: rule for rule in table.rules(table.points, table.chequers)}
    assert set(table.arrays()) <= set(rules)
    assert all(rule.optional for name, rule in rules.items() if name not in table.arrays())
    for rows in table.arrays().values():
        assert rows.shape[: table.sides] == (table.positions,) * table.sides
    assert table.entries == table.positions**table.sides
    assert table.nbytes == sum(np.asarray(rows).nbytes for rows in table.arrays().values())


@every
def test_blocks_cover_the_table_once(table: Table) -> None:
    for size in (1, 10_000, 1 << 30):
        if size == 1 and table.positions > 5000:
            continue
        found: dict[str, list[Any]] = {name: [] for name in table.arrays()}
        at = 0
        for rows, block in table.blocks(size):
            assert rows.start == at
            at = rows.stop
            for name, part in block.items():
                assert len(part) == rows.stop - rows.start
                found[name].append(np.array(part))
        assert at == table.positions
        for name, parts in found.items():
            assert np.array_equal(np.concatenate(parts), np.asarray(table.arrays()[name]))


@every
def test_numbers_and_what_is_asked_are_each_others(table: Table) -> None:
    for number in some_entries(table):
        asked = table.unrank(number)
        assert isinstance(asked, Position if table.sides == 2 else Side)
        reason = table.covers(asked)
        if reason is None:
            assert table.number(asked) == number
        else:
            with pytest.raises(NotCoveredError):
                table.lookup(asked)
    for number in (-1, table.entries):
        with pytest.raises(NotCoveredError):
            table.unrank(number)


@every
def test_an_answer_says_what_the_columns_say(table: Table) -> None:
    for number in some_entries(table, 10):
        asked = table.unrank(number)
        if table.covers(asked) is not None:
            continue
        answer = table.lookup(asked)
        assert answer.number == number
        assert json.loads(json.dumps(answer.as_dict()))
        assert answer.describe("somebody").endswith("\n")
    outside: Any = Side(*[0] * 23, 15) if table.sides == 1 else Side(1)
    with pytest.raises(BgfmtError):
        table.lookup(outside if table.sides == 2 or table.points < 24 else Position(Side(1), Side(1)))


@every
def test_columns_have_names_and_values(table: Table) -> None:
    names = [column.name for column in table.columns]
    assert names
    assert len(set(names)) == len(names)
    assert all(column.unit in ("chance", "equity", "rolls", "pips") for column in table.columns)
    numbers = np.array(some_entries(table), np.int64)
    values = table.values(numbers)
    assert (values.shape, values.dtype) == ((len(numbers), len(names)), np.float64)
    one_by_one = np.concatenate([table.values(numbers[k : k + 1]) for k in range(len(numbers))])
    assert np.array_equal(values, one_by_one, equal_nan=True)
    with pytest.raises(BgfmtError):
        pair = (np.zeros(1, int),) * table.sides
        table.lookup_many(*pair, column="no such column")


@every
def test_a_corner_says_the_same(table: Table) -> None:
    assert table.cut(table.points, table.chequers) is table
    for points, chequers in ((0, table.chequers), (table.points + 1, table.chequers), (table.points, 99)):
        if points:
            with pytest.raises(CapabilityError):
                table.cut(points, chequers)
    try:
        corner = table.cut(max(1, table.points - 1), max(1, table.chequers - 1))
    except CapabilityError:
        return
    assert corner.check() is None
    assert facts_of(corner).get("recipe") == facts_of(table).get("recipe")
    for record in corner.carried:
        assert not isinstance(record, AsRead)
        assert not (isinstance(record, GnubgHeader) and record.raw)
    for number in some_entries(corner, 15):
        asked = corner.unrank(number)
        if corner.covers(asked) is None and table.covers(asked) is None:
            mine, whole = corner.lookup(asked).as_dict(), table.lookup(asked).as_dict()
            mine.pop("position_number")
            whole.pop("position_number")
            assert mine == whole


@every
def test_coarser_tables_are_of_the_kind_they_say(table: Table) -> None:
    for way in table.coarser():
        made = way.make()
        assert isinstance(made, way.kind)
        assert made.check() is None
        assert way.lost or way.kind is not type(table)
        assert len(way.losses()) <= 1
        assert made.positions == table.positions


@every
def test_stored_numbers_compare(table: Table) -> None:
    assert same_numbers(table, table)
    for name, rows in table.arrays().items():
        stored = table.unpack(name, np.asarray(rows[:3]))
        read = table.read(name, stored)
        assert read.shape == stored.shape
        assert read.dtype == np.float64


@every
def test_what_real_programs_made_makes_sense(table: Table) -> None:
    for rows, block in table.blocks():
        for breach in table.breaches(rows.start, block):
            assert breach.bad.shape == (rows.stop - rows.start,)
            assert breach.rule
            assert breach.what
            if table.provenance.endswith(".bd"):
                assert not breach.bad.any(), breach.rule


@every
def test_what_it_tells_is_told_back(table: Table) -> None:
    fields = type(table).parse_metadata(table.metadata())
    assert all(getattr(table, name) == value for name, value in fields.items())
    assert table.cost > 0
    assert json.dumps(table.facts())


# -- arrays ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("sample", samples().values(), ids=samples().keys())
def test_an_array_promises_what_numpy_does(sample: Sample) -> None:
    """Every array as its format reads it, a view of the file or rows made on demand, and a corner of it."""
    table: Any = sample.read().table
    for name, rows in table.arrays().items():
        promises(rows)
        if table.points < 20:
            with contextlib.suppress(CapabilityError):
                promises(table.cut(chequers=table.chequers - 1).arrays()[name])


def promises(rows: Any) -> None:
    """What numpy does with an index, these rows do too."""
    whole = np.asarray(rows)
    n = len(whole)
    assert (tuple(rows.shape), rows.dtype, len(rows)) == (whole.shape, whole.dtype, n)
    rng = np.random.default_rng(8)
    numbers = rng.integers(0, n, 30)
    keys: list[Any] = [0, n - 1, -1, slice(0, 0), slice(3, 9), slice(None, None, 7), slice(n - 2, None)]
    keys += [
        numbers,
        np.sort(numbers),
        numbers[:0],
        numbers.reshape(5, 6),
        (slice(0, 5), 0),
        (0, 0),
        np.int64(0),
    ]
    for key in keys:
        if isinstance(key, tuple) and whole.ndim < 2:
            continue
        assert np.array_equal(rows[key], whole[key]), key
    for key in (n, -n - 1):
        with pytest.raises(IndexError):
            rows[key]
