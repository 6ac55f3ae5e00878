"""Peelle's order of one-sided positions (Vector 24), by which J's files number their rows.

Ascending ncode, the base-16 number whose digits are the counts, the ace point's first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board

__all__ = ["Peelle"]


class Peelle:
    """The row numbers, from 0, of all positions of up to `chequers` chequers on `points` points in Peelle's order.

    With r the chequers not yet seen, a point that holds b of them is preceded by C(r + m, m) - C(r - b + m, m)
    positions, m the number of points from there on. Summed up, the rows counted from the end are the position
    numbers of the counts on points 2..P and off, so `board` can compute them.
    """

    def __init__(self, points: int, chequers: int) -> None:
        self.points = points
        self.chequers = chequers
        self.count = board.count(points, chequers)

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert gnubg's position numbers to row numbers, from 0, of Peelle's table (the order of J's files)."""
        counts = board.unrank_array(numbers, self.points)
        off = self.chequers - counts.sum(axis=-1, dtype=np.int8)
        shifted = np.concatenate([counts[..., 1:], off[..., None]], axis=-1)
        return self.count - 1 - board.rank_array(shifted)

    def counts(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the chequers on each point, int8 of shape (..., points), for row numbers of Peelle's table."""
        shifted = board.unrank_array(self.count - 1 - rows, self.points)
        first = self.chequers - shifted.sum(axis=-1, dtype=np.int8)
        return np.concatenate([first[..., None], shifted[..., :-1]], axis=-1)

    def numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert row numbers of Peelle's table to gnubg's position numbers."""
        return board.rank_array(self.counts(rows))

    def codes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return Peelle's ncodes for row numbers of his table.

        An ncode is the base-16 number whose digits are the counts, the ace point's first.
        """
        return self.counts(rows).astype(np.int64) @ (1 << 4 * np.arange(self.points - 1, -1, -1))
