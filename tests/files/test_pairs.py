"""Every pair of formats that hold a table: there and back, not a byte is lost, and the page says which they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import bgfmt
from bgfmt import formats
from bgfmt.formats.records import facts_of
from bgfmt.tables import Table, same_numbers
from tests.support import pairs

TABLES = pairs.tables()
KEEPS = ("npz", "parquet", "sqlite")  # formats that keep what any other says beyond the numbers
LARGE = 5000  # positions; of such a table only pairs with formats that hold no smaller one are tried


def bytes_of(path: Path) -> dict[str, bytes]:
    """A file's bytes, or those of a folder's files."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name if path.is_dir() else "": file.read_bytes() for file in files}


def as_kind(table: Table, kind: type[Table]) -> Table:
    """A table of finer numbers as the table they were made of, where nothing is lost by that."""
    ways = [way for way in table.coarser() if way.kind is kind]
    if isinstance(table, kind) or not ways:
        return table
    assert ways[0].losses() == []
    return ways[0].make()


def tried(table: Table) -> list[tuple[str, str]]:
    every = pairs.pairs(table)
    if table.positions < LARGE:
        return every
    small = {name for other in TABLES.values() if other.positions < LARGE for name in pairs.holders(other)}
    return [pair for pair in every if not set(pair) <= small]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_there_and_back(name: str, tmp_path: Path) -> None:
    """A conversion of the same bytes to the same format is done once."""
    table, made = TABLES[name], {}
    done: dict[tuple[object, ...], Path] = {}

    def converted(path: Path, first: str, second: str) -> Path:
        key = first, second, *sorted(bytes_of(path).items())
        if key not in done:
            done[key] = tmp_path / f"{len(done)}.table"
            assert bgfmt.convert(path, done[key], to=second) == [], (first, second)
        return done[key]

    bgfmt.save(table, tmp_path / "seed.npz", format="npz")
    for form in pairs.holders(table):
        made[form] = tmp_path / f"{form}.table"
        bgfmt.convert(tmp_path / "seed.npz", made[form], to=form)
    several = tried(table)
    for first, second in several:
        back = converted(converted(made[first], first, second), second, first)
        with bgfmt.open(made[first]) as one, bgfmt.open(back) as two:
            assert same_numbers(one.table, as_kind(two.table, type(one.table))), (first, second)
            alike = type(one.table) is type(two.table) and facts_of(one.table) == facts_of(two.table)
        assert alike or second not in KEEPS, (first, second)
        assert not alike or bytes_of(back) == bytes_of(made[first]), (first, second)
    assert len(several) >= 2


@pytest.mark.extra("lab", "large")
def test_the_page_is_what_the_code_says() -> None:
    assert pairs.shown() == pairs.page()


def test_every_format_that_is_read_has_a_pair() -> None:
    """All but the file of two tables, and component files of anything."""
    found = {name for table in TABLES.values() for pair in pairs.pairs(table) for name in pair}
    assert {name for name, form in formats.all_formats().items() if form.reads} - found <= {
        "gnubg-2001",
        "zarr",
    }  # of two tables; a folder that solving alone makes
