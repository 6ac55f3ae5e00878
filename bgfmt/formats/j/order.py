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
SMALL = 1 << 22  # positions whose whole permutation is kept (4 bytes each)
FEW = 1 << 12


class Order:
    """Rows and position numbers of all positions of up to `chequers` chequers on `points` points."""

    def __init__(self, points: int, chequers: int) -> None:
        self.points, self.chequers = points, chequers
        self.count = board.count(points, chequers)
        self._kept: dict[str, NDArray[np.int32]] = {}

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

    def span(self, start: int, stop: int, *, to_rows: bool) -> Numbers:
        """Rows of the position numbers start..stop-1, or position numbers of these rows; walked, so kept if small."""
        make, name = (self.rows, "rows") if to_rows else (self.numbers, "numbers")
        if self.count > SMALL or (stop - start < FEW and name not in self._kept):
            return make(np.arange(start, stop))
        if name not in self._kept:
            whole = np.empty(self.count, np.int32)
            for at in range(0, self.count, 1 << 18):
                part = np.arange(at, min(at + (1 << 18), self.count))
                whole[at : at + len(part)] = make(part)
            self._kept[name] = whole
        return self._kept[name][start:stop].astype(np.int64)


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
