"""Ross's, gnubg's and Peelle's orders: whole permutations by their printed sums, properties, refusals."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgfmt import Side
from bgfmt.errors import PositionError
from bgfmt.extras.lab import orders
from bgfmt.game.board import count, unrank_array

N = 54264


def sha(array: np.ndarray, dtype: str = "<u4") -> str:  # type: ignore[type-arg]
    return hashlib.sha256(array.astype(dtype).tobytes()).hexdigest()


def test_whole_permutations() -> None:
    forward, back = orders.peelle_to_number(), orders.number_to_peelle()
    counts = unrank_array(np.arange(N), 6)
    assert sha(np.arange(N)) == "c1e820f407f846285f8690c98c803d5d4ba62aa049c4895a36eb8c732a4e15bb"
    assert sha(forward) == "2b99bdf67a1b0739794f0ce4fc8db9821d37e79b72ac64f20143bc9feeccd5ef"
    assert sha(back) == "d7747bb8775a60a3c071885859412dc1831189a50de458b18b5d3342eae7453f"
    assert (
        sha(orders.ncodes(counts[forward]))
        == "44d459dc86eebced51324f38db5b19c87dcb35e7ba43953b122d6f9ebb64a684"
    )
    assert sha(counts, "u1") == "150a82f078cf3a0b50ad63d96e5473a68ba801aef0803818c7ab7379be00b146"
    assert sha(counts[forward], "u1") == "d14a5a6de29f6e1d04f13b8b6c81c9df29ec7d9faf1970ac1d44ed672dc344bf"


@pytest.mark.slow
def test_every_list_of_ross_is_its_position_number() -> None:
    lists = [orders.ross_unrank(rank) for rank in range(N)]
    text = "".join("".join(map(str, points)) + "\n" for points in lists)
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "f2055d9c9b9eef5f3b283c9b7193e27da417e3cc8e59c3ec04a5850a2f7188ad"
    )
    for number in range(0, N, 501):
        side = Side.from_number(number, 6)
        assert orders.ross_list(side) == lists[number]
        assert orders.ross_rank(lists[number]) == number
        assert orders.ross_rank(lists[number], base=1) == number + 1


@pytest.mark.parametrize(
    ("counts", "number", "code", "row"),
    [
        ((0, 0, 0, 2, 3, 4), 4982, 564, 299),
        ((0, 2, 2, 2, 0, 4), 7407, 139780, 8099),
        ((15, 0, 0, 0, 0, 0), 38760, 15728640, 54263),
        ((5, 10, 0, 0, 0, 0), 40762, 5898240, 49258),
        ((3, 3, 3, 2, 2, 2), 43691, 3355170, 40451),
        ((0, 0, 0, 0, 0, 15), 54263, 15, 15),
    ],
)
def test_printed_rows(counts: tuple[int, ...], number: int, code: int, row: int) -> None:
    side = Side(*counts)
    assert (side.number(6), orders.ncode(side), orders.number_to_peelle()[number]) == (number, code, row)
    assert orders.from_ncode(code) == side


@given(st.integers(1, 24), st.integers(1, 15), st.data())
def test_ross_for_any_board(points: int, chequers: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, count(points, chequers) - 1))
    listed = orders.ross_unrank(number, chequers, points)
    assert orders.ross_rank(listed, points) == number
    side = Side.from_number(number, points)
    assert orders.ross_list(side, chequers) == listed


@given(st.integers(1, 15), st.data())
def test_codes_for_any_board(points: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, count(points, 15) - 1))
    side = Side.from_number(number, points)
    code = orders.ncode(side, points)
    assert orders.from_ncode(code, points) == side
    assert orders.ncodes(np.array(side.padded(points))) == code
    assert tuple(orders.counts_of_ncodes(code, points)) == side.padded(points)


def test_counting_formulas_and_refusals() -> None:
    assert (orders.multichoose(6, 4), orders.multichoose(7, 15)) == (126, N)
    for wrong in ([2, 1], [0, 7]):
        with pytest.raises(PositionError):
            orders.ross_rank(wrong)
    with pytest.raises(PositionError):
        orders.ross_unrank(N)
    with pytest.raises(PositionError):
        orders.from_ncode(16**6)
