"""Peelle's order of positions: ascending ncode, the count on the 1-point most significant.

Row of a position among those of up to c chequers on P points: with r the chequers not yet seen, a point that
holds b of them is preceded by C(r + m, m) - C(r - b + m, m) positions, m the points from there on. Summed up, the
rows counted from the end are the ordinary position numbers of the counts on points 2..P and off, so `board` does
the work.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board

Numbers = NDArray[np.int64]


class Order:
    """Rows and position numbers of all positions of up to `chequers` chequers on `points` points."""

    def __init__(self, points: int, chequers: int) -> None:
        self.points, self.chequers = points, chequers
        self.count = board.count(points, chequers)

    def rows(self, numbers: Numbers) -> Numbers:
        """Rows of position numbers."""
        counts = board.unrank_array(numbers, self.points)
        off = self.chequers - counts.sum(axis=-1, dtype=np.int8)
        shifted = np.concatenate([counts[..., 1:], off[..., None]], axis=-1)
        return self.count - 1 - board.rank_array(shifted)

    def counts(self, rows: Numbers) -> NDArray[np.int8]:
        """Counts of shape (..., points) of rows."""
        shifted = board.unrank_array(self.count - 1 - rows, self.points)
        first = self.chequers - shifted.sum(axis=-1, dtype=np.int8)
        return np.concatenate([first[..., None], shifted[..., :-1]], axis=-1)

    def numbers(self, rows: Numbers) -> Numbers:
        """Position numbers of rows."""
        return board.rank_array(self.counts(rows))

    def codes(self, rows: Numbers) -> Numbers:
        """Ncodes of rows: base-16 numbers of the counts."""
        return self.counts(rows).astype(np.int64) @ (1 << 4 * np.arange(self.points - 1, -1, -1))


@lru_cache(maxsize=4)
def order(points: int, chequers: int) -> Order:
    """The order of one size of table."""
    return Order(points, chequers)


def holds(points: int, chequers: int) -> bool:
    """Whether the ncodes of this size fit in J's 64-bit integers."""
    return chequers << 4 * (points - 1) < 1 << 63


@lru_cache(maxsize=64)
def sizes_of(count: int) -> tuple[tuple[int, int], ...]:
    """Every (points, chequers) whose table has `count` rows, and whose ncodes J can hold."""
    every = ((p, c) for c in range(1, board.MAX_CHEQUERS + 1) for p in range(1, board.MAX_POINTS + 1))
    return tuple((p, c) for p, c in every if board.count(p, c) == count and holds(p, c))
