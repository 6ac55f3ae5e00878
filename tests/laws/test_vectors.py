"""fixtures/vectors: what its script writes, and what bgfmt itself says."""

from __future__ import annotations

import csv
import runpy
from typing import Any

import pytest

import bgfmt
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import from_gnubg_id, from_xgid
from bgfmt.game.moves import legal_plays
from tests.conftest import FIXTURES, GOLDEN

VECTORS = FIXTURES / "vectors"
NAMES = sorted(path.name for path in VECTORS.glob("*.tsv"))


def read_rows(name: str) -> list[dict[str, str]]:
    lines = (VECTORS / name).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# License: MIT.")
    return list(csv.DictReader(lines[1:], delimiter="\t"))


def parse_counts(text: str) -> list[int]:
    return [int(count) for count in text.split()]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(FIXTURES / "make_vectors.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_script_writes_them_again(script: dict[str, Any], name: str) -> None:
    assert set(NAMES) == set(script["FILES"])
    rows = script["FILES"][name]()
    assert script["write_text"](rows) == (VECTORS / name).read_text(encoding="utf-8")


def test_every_file_is_explained() -> None:
    text = (VECTORS / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"| `{name}` |" in text
        assert read_rows(name)


def test_identifiers_are_read_back() -> None:
    for row in read_rows("identifiers.tsv"):
        us, them = (parse_counts(row[name]) for name in ("us", "them"))
        position = Position(Side(*us[:24], bar=us[24]), Side(*them[:24], bar=them[24]))
        state = from_gnubg_id(f"{row['position_id']}:{row['match_id']}")
        assert state.position == position
        other = from_xgid(row["xgid"])
        assert other.position == position
        assert (state.away, state.dice, state.cube_owner) == (other.away, other.dice, other.cube_owner)


def test_plays_of_bgfmt_are_those_of_the_specification() -> None:
    for row in read_rows("plays.tsv"):
        position = Position(Side(*parse_counts(row["counts"])), Side(1))
        plays = legal_plays(position, *map(int, row["roll"]))
        listed = {Side(*parse_counts(play)) for play in row["plays_in_order"].split(", ")}
        assert {play.result.us for play in plays} == listed


def test_tables_of_bgfmt_hold_the_numbers() -> None:
    with bgfmt.open(GOLDEN / "gnubg/os_p04.bd") as database:
        table: Any = database.table
        for row in read_rows("one-sided.tsv"):
            race = database.lookup(Side(*parse_counts(row["counts"]))).as_dict()
            number = race["position_number"]
            assert table.bearoff[number].tolist() == parse_counts(row["bearoff"])
            assert table.gammon[number].tolist() == parse_counts(row["gammon"])
            assert race["epc"] == pytest.approx(float(row["epc"]), rel=1e-6)
    columns = ("cubeless", "owned", "centered", "opponent")
    with bgfmt.open(GOLDEN / "gnubg/ts_04x04.bd") as database:
        table = database.table
        for row in read_rows("cube-money.tsv"):
            us, them = (bgfmt.Side(*parse_counts(row[name])).number(4) for name in ("us", "them"))
            assert [int(value) - 32768 for value in table.equities[us][them]] == [
                int(row[c]) for c in columns
            ]
