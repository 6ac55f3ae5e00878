"""Identifiers: printed vectors in both directions, round trips, refusals, and gnubg itself."""

from __future__ import annotations

import contextlib
import csv
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgfmt import Position, Side
from bgfmt.errors import PositionError
from bgfmt.game import identifiers as ids
from bgfmt.game.state import GameState
from tests.conftest import FIXTURES

with (FIXTURES / "expected/identifiers.tsv").open() as file:
    VECTORS = list(csv.DictReader(file, delimiter="\t"))
FORMS = {"gnubgid": (ids.gnubg_id, ids.from_gnubg_id), "xgid": (ids.xgid, ids.from_xgid)}
FORMS |= {"ogid": (ids.ogid, ids.from_ogid), "fibs": (ids.fibs, ids.from_fibs)}


def known_to_all(state: GameState) -> GameState:
    """Without what some forms do not carry."""
    dice = (max(state.dice), min(state.dice)) if state.dice else None
    return replace(state, jacoby=None, beavers=None, limit=10, names=("P0", "P1"), dice=dice)


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: row["name"])
def test_vectors_in_both_directions(row: dict[str, str]) -> None:
    states = {form: read(row[form]) for form, (_, read) in FORMS.items() if row[form] != "-"}
    assert len({known_to_all(state) for state in states.values()}) == 1
    for form, state in states.items():
        assert FORMS[form][0](state) == row[form]
        assert ids.parse(row[form]) == state
    full = states["xgid"]  # the one form that carries everything
    for form in states:
        assert FORMS[form][0](full) == row[form]
    with_rules = replace(states["fibs"], jacoby=full.jacoby, beavers=full.beavers)
    assert ids.xgid(with_rules) == row["xgid"]
    assert ids.gnubg_id(with_rules) == row["gnubgid"]


def test_the_key_in_letters() -> None:
    assert ids.key_letters(ids.parse_position("dwMAAN4FAAAAAA")) == "HHADAAAANOAFAAAAAAAA"
    assert ids.key_letters(ids.parse_position("4HPwATDgc/ABMA")) == "OAHDPAABDAOAHDPAABDA"
    assert ids.position_id(ids.parse_position("HHADAAAANOAFAAAAAAAA")) == "dwMAAN4FAAAAAA"


sides = st.lists(st.integers(0, 24), max_size=15).map(
    lambda points: Side(*(points.count(p) for p in range(24)), bar=points.count(24))
)


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Legal positions: no physical point is held by both sides."""
    us = draw(sides)
    free = [p for p in range(24) if 23 - p >= len(us.counts) or not us.counts[23 - p]] + [24]
    points = draw(st.lists(st.sampled_from(free), max_size=15))
    return Position(us, Side(*(points.count(p) for p in range(24)), bar=points.count(24)))


@st.composite
def states(draw: st.DrawFn) -> GameState:
    """Any state, with dice or a pending double."""
    position, length = draw(positions()), draw(st.integers(0, 25))
    dice = draw(st.one_of(st.none(), st.tuples(st.integers(1, 6), st.integers(1, 6))))
    doubled = dice is None and draw(st.booleans())
    top = max(0, length - 1)
    return GameState(
        (position.us, position.them),
        turn=draw(st.integers(0, 1)),
        cube_value=1 << draw(st.integers(0, 6)),
        cube_owner=draw(st.sampled_from([None, 0, 1])),
        dice=(max(dice), min(dice)) if dice else None,
        doubled=doubled,
        scores=(draw(st.integers(0, top)), draw(st.integers(0, top))) if length else (0, 0),
        length=length,
        jacoby=draw(st.booleans()) if not length else None,
        beavers=draw(st.booleans()) if not length else None,
    )


@given(states())
def test_round_trips(state: GameState) -> None:
    assert ids.from_xgid(ids.xgid(state)) == state
    known = replace(state, beavers=None, jacoby=bool(state.jacoby))
    assert replace(ids.from_gnubg_id(ids.gnubg_id(state)), jacoby=bool(state.jacoby)) == known
    assert known_to_all(ids.from_fibs(ids.fibs(state))) == known_to_all(state)
    assert known_to_all(ids.from_ogid(ids.ogid(state))) == known_to_all(state)
    assert ids.from_key_letters(ids.key_letters(state.position)) == state.position


@pytest.mark.slow
@given(st.lists(positions(), min_size=1, max_size=30))
def test_many_position_ids_at_once(many: list[Position]) -> None:
    def full(side: Side) -> list[int]:
        return [*side.counts, *[0] * (24 - len(side.counts)), side.bar]

    counts = np.array([[full(p.us), full(p.them)] for p in many])
    texts = ids.position_ids(counts)
    assert [t.decode() for t in texts] == [ids.position_id(p) for p in many]
    assert np.array_equal(ids.from_position_ids(texts), counts)
    assert np.array_equal(ids.from_position_ids([t.decode() for t in texts]), counts)


@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_text_is_a_position_or_an_error(text: str) -> None:
    for read in (ids.parse, ids.parse_side):
        try:
            read(text)
        except PositionError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "4HPwATDgc/ABMB", "4HPwATDgc/ABM", "////////////w", "//////////////", "4HPwATDgc/ABMA:cAkAAAAAAAAI",
        "4HPwATDgc/ABMA:cAkAAAAA", "XGID=-b----E-C---eE---c-e----B:0:0:1:31:0:0:0:0:10",
        "XGID=-b----E-C---eE---c-e----B-:0:0:2:31:0:0:0:0:10", "XGID=-b----Z-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10",
        "1 2 / 99", "1 2 3", "board:a:b:0", "HHADAAAANOAFAAAAAAAP",
        "0 0 0 0 0 1 / 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1",
    ],
)  # fmt: skip
def test_refusals(text: str) -> None:
    with pytest.raises(PositionError):
        ids.parse(text)
    with pytest.raises(PositionError, match="row 0"):
        ids.from_position_ids(["//////////////"])


def test_sides() -> None:
    assert ids.parse_side("0, 0 0 2 3 4") == Side(0, 0, 0, 2, 3, 4)
    assert ids.parse_side("dwMAAN4FAAAAAA") == Side(4, 3, 1)
    assert ids.parse_side(" ".join(["0"] * 24 + ["2"])) == Side(bar=2)


@pytest.mark.slow
def test_gnubg_shows_the_same_identifiers(oracle: Callable[[str], str]) -> None:
    """The real program is given our Position ID and our XGID and tells the ids it then holds."""
    program = oracle("gnubg")
    rng = np.random.default_rng(8)
    for _ in range(6):
        us, them = (Side(*rng.multinomial(int(rng.integers(1, 16)), [1 / 6] * 6)) for _ in range(2))
        state = GameState((them, us), turn=1, dice=(5, 2), jacoby=False)
        script = f"new session\nset xgid {ids.xgid(state)}\nshow board\n"
        run = subprocess.run(
            [program, "-t", "-q", "-r"], input=script, capture_output=True, text=True, check=False
        )
        found = re.findall(r"Position ID: (\S+)", run.stdout)[-1]
        assert found == ids.position_id(state.position)


ODD = [
    "4 3 bar 2\x1d / 3 3",
    "4\x1c3 / \x1d3\x1e3",
    "1" * 5000,
    "bar " + "1" * 5000 + " / 1",
    "1/" + "9" * 5000,
]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_counts_between_odd_blanks_and_of_many_digits(text: str) -> None:
    for read in (ids.parse, ids.parse_side):
        with contextlib.suppress(PositionError):
            read(text)
