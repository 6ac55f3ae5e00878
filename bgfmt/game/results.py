"""What dice make of every position of a race: the results of one chequer moved, and of the 21 rolls.

Positions go by their place, in any order of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game import kernels_results as kernels

Array = NDArray[Any]
HOME = 6
WEIGHTS = np.array([1 if a == b else 2 for a in range(6) for b in range(a + 1)], np.int32)  # of the 21 rolls


class Singles(NamedTuple):
    """Results of one chequer moved: of die d and place x, results[starts[d - 1, x] : starts[d - 1, x + 1]]."""

    starts: Array
    results: Array


def build_single_moves(points: int, order: Array, places: Array) -> Singles:
    """What one die makes of every position: `order` are the position numbers, `places` the reverse."""
    n = len(order)
    results = Singles(np.zeros((6, n + 1), np.int64), np.zeros((6, n * points), np.int32))
    counts = board.unrank_array(order, points)
    terms = np.array(board.number_terms(points))
    kernels.single_moves(counts, terms, places, *results)
    return results


def build_roll_results(
    moved: Singles, places: Array | None = None, most: int = 1 << 62
) -> tuple[Array, Array]:
    """(ends (21 n + 1,) int64, results int32): results[ends[21 x + r] : ends[21 x + r + 1]] of roll r of place x.

    places : those that are asked about, all when None; x counts them. Looks no farther after `most` results.
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
