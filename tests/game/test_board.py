"""Sides, positions and position numbers: the real program's numbers, and properties for every board there is."""

from __future__ import annotations

import csv
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgfmt import Position, Side
from bgfmt.errors import PositionError
from bgfmt.game.board import corner_numbers, count, rank, rank_array, unrank, unrank_array
from tests.conftest import FIXTURES

with (FIXTURES / "expected/position-numbers.tsv").open() as file:
    NUMBERS = list(csv.DictReader(file, delimiter="\t"))


def test_numbers_of_the_real_program() -> None:
    assert len(NUMBERS) == 192
    for row in NUMBERS:
        points, number = int(row["points"]), int(row["id"])
        counts = [int(c) for c in row["board_point1_first"].split(",")]
        assert rank(counts) == number
        assert list(unrank(number, points)) == counts
        if points <= 24:
            assert rank_array(np.array(counts)) == number


@pytest.mark.slow
@given(st.integers(1, 24), st.integers(1, 15), st.data())
def test_rank_and_unrank_are_inverse(points: int, chequers: int, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, count(points, chequers) - 1), min_size=1, max_size=20))
    counts = unrank_array(numbers, points)
    assert counts.sum(axis=1).max() <= chequers
    assert rank_array(counts).tolist() == numbers
    for row, number in zip(counts.tolist(), numbers, strict=True):
        assert rank(row) == number
        assert list(unrank(number, points)) == row
        assert Side(*row).number(points) == number


def test_small_boards_whole() -> None:
    for points, chequers in [(1, 15), (3, 5), (6, 4), (12, 2)]:
        numbers = np.arange(count(points, chequers))
        counts = unrank_array(numbers, points)
        assert len({tuple(row) for row in counts.tolist()}) == len(numbers)
        assert np.array_equal(rank_array(counts), numbers)
        assert (counts.sum(axis=1) <= chequers).all()


def test_corners() -> None:
    inner = corner_numbers(3, 4, 6)
    wide = unrank_array(inner, 6)
    assert not wide[:, 3:].any()
    assert np.array_equal(rank_array(wide[:, :3]), np.arange(count(3, 4)))


def test_sides_and_positions() -> None:
    side = Side(0, 2, 2, 2, 0, 4)
    assert (side.chequers, side.pips, side.highest, str(side)) == (10, 42, 6, "0 2 2 2 0 4")
    assert side == Side(0, 2, 2, 2, 0, 4, 0, 0)
    assert hash(side) == hash(pickle.loads(pickle.dumps(side)))
    assert list(side) == [0, 2, 2, 2, 0, 4]
    assert Side(1, bar=1).pips == 26
    assert eval(repr(side)) == side
    race = Position(Side(1), Side(0, 1))
    assert not race.contact
    assert race.swapped() == Position(Side(0, 1), Side(1))
    assert Position(Side(*[0] * 23, 1), Side(1)).contact
    for wrong in (lambda: Side(16), lambda: Side(-1), lambda: Side(*[0] * 24, 1), lambda: Side(15, bar=1)):
        with pytest.raises(PositionError):
            wrong()
    with pytest.raises(PositionError, match="point 1"):
        Position(Side(1), Side(*[0] * 23, 1)).check()
    with pytest.raises(AttributeError):
        side.bar = 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: rank_array(np.array([16])),
        lambda: rank_array(np.array([8, 8])),
        lambda: rank_array(np.array([1.0])),
        lambda: rank_array(np.zeros((2, 26), int)),
        lambda: unrank_array([54264], 6),
        lambda: unrank_array([-1], 6),
        lambda: unrank(-1, 6),
        lambda: unrank(54264, 6),
        lambda: Side(0, 0, 1).padded(2),
    ],
)
def test_refusals(wrong: object) -> None:
    with pytest.raises(PositionError):
        wrong()  # type: ignore[operator]
