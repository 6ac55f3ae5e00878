"""Results of rolls for every position of a race: after one move, and after each of the 21 rolls.

Positions are identified by their place in any order of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game import kernels_results as kernels

__all__ = ["HOME", "WEIGHTS", "Array", "Singles", "build_roll_results", "build_single_moves"]


Array = NDArray[Any]
HOME = 6
WEIGHTS = np.array([1 if a == b else 2 for a in range(6) for b in range(a + 1)], np.int32)  # of the 21 rolls


class Singles(NamedTuple):
    """Results of one move: for die d and place x, results[starts[d - 1, x] : starts[d - 1, x + 1]]."""

    starts: Array
    results: Array


def build_single_moves(points: int, order: Array, places: Array) -> Singles:
    """Compute which positions moving one chequer with each die leads to, for every position of `points` points.

    order : all position numbers in the order in which results count them. places : the index in `order` of each
    position number.
    """
    n = len(order)
    results = Singles(np.zeros((6, n + 1), np.int64), np.zeros((6, n * points), np.int32))
    counts = board.unrank_array(order, points)
    terms = np.array(board.number_terms(points))
    kernels.single_moves(counts, terms, places, *results)
    return results


def build_roll_results(
    moved: Singles, places: Array | None = None, most: int = 1 << 62
) -> tuple[Array, Array]:
    """Compute which positions each of the 21 rolls can lead to.

    Parameters
    ----------
    moved
        Results of moving one chequer; positions are indices in its order.
    places
        The n positions that roll, all if None.
    most
        Stop after about this many results; `ends` of the positions that are left are 0.

    Returns
    -------
    ends
        Array of shape (21 n + 1,), int64.
    results
        Array of int32: roll r (11, 21, 22, 31, ... 66) of the position at index x of `places` leads to positions
        results[ends[21 x + r] : ends[21 x + r + 1]].
    """
    asked = np.arange(moved.starts.shape[1] - 1) if places is None else places
    n = len(asked)
    step = 512
    marks = np.zeros(moved.starts.shape[1], np.int64)
    ends = np.zeros(21 * n + 1, np.int64)
    room = np.empty(1 << 20, np.int32)
    pieces: list[Array] = [np.zeros(0, np.int32)]
    first = total = 0
    while first < n and total <= most:
        last = min(n, first + step)
        part = ends[21 * first + 1 : 21 * last + 1]
        many = kernels.roll_results(*moved, asked[first:last], part, room, marks)
        if many < 0:
            step = max(1, step // 2)
            room = np.empty(2 * len(room), np.int32)
            continue
        part += total
        pieces.append(room[:many].copy())
        total = total + many
        first = last
    return ends, np.concatenate(pieces)
