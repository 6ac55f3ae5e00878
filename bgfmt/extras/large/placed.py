"""Records of pairs that are stored in squares, in another order than that of position numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables.rows import Array, LazyRows


class PlacedPairs(LazyRows):
    """Records of pairs, (n, n, k), that are indexed by position numbers and stored in another order.

    Place p of that order is position number `order[p]`. Square (a, b) has the records of places a * chunk to (a
    + 1) * chunk against those of b, (chunk, chunk, k), padded at the edges. lines(a, b, rows) returns some of
    its rows, (m, chunk, k). records(a, b, rows, columns) returns some of its records, (m, k).
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        dtype: Any,
        order: NDArray[np.int64],
        chunk: int,
        lines: Callable[[int, int, Array], Array],
        records: Callable[[int, int, Array, Array], Array],
    ) -> None:
        self.order = order
        self.chunk = chunk
        self._lines = lines
        self._records = records
        self.place = np.empty(len(order), np.int64)
        self.place[order] = np.arange(len(order))
        super().__init__(shape, dtype, lambda a, b: self._rows(np.arange(a, b)), self._rows, self._pick_pairs)

    @property
    def chunks(self) -> int:
        """Number of stored squares along a side of the table."""
        return -(-self.shape[0] // self.chunk)

    def piece(self, rows: Array, first: int, last: int) -> Array:
        """Return some records as (rows, columns, k), both sides given by place: their index in the stored order.

        rows : consecutive places of the sides on roll. first, last : the opponents are at places first..last-1.
        """
        start = int(rows[0])
        c = self.chunk
        out = np.empty((len(rows), last - first, self.shape[2]), self.dtype)
        for a in np.unique(rows // c).tolist():
            here = rows[rows // c == a]
            for b in range(first // c, -(-last // c)):
                low = max(b * c, first)
                high = min(b * c + c, last)
                lines = self._lines(a, b, here - a * c)[:, low - b * c : high - b * c]
                out[here - start, low - first : high - first] = lines
        return out

    def _rows(self, numbers: Array) -> Array:
        """Return whole rows of these position numbers."""
        n, _, k = self.shape
        out = np.empty((len(numbers), n, k), self.dtype)
        place = self.place[numbers]
        for a in np.unique(place // self.chunk).tolist():
            here = np.flatnonzero(place // self.chunk == a)
            for b in range(self.chunks):
                columns = self.order[b * self.chunk : (b + 1) * self.chunk]
                lines = self._lines(a, b, place[here] - a * self.chunk)
                out[here[:, None], columns] = lines[:, : len(columns)]
        return out

    def _pick_pairs(self, us: Array, them: Array) -> Array:
        """Return the records of these pairs of position numbers, read square by square."""
        rows = self.place[us]
        columns = self.place[them]
        out = np.empty((len(us), self.shape[2]), self.dtype)
        squares = rows // self.chunk * self.chunks + columns // self.chunk
        order = np.argsort(squares, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(squares[order])) + 1):
            if len(group):
                a, b = divmod(int(squares[group[0]]), self.chunks)
                here = rows[group] - a * self.chunk, columns[group] - b * self.chunk
                out[group] = self._records(a, b, *here)
        return out
