"""Rows indexed [us, them] that lie in squares, in an order of their own, and are read by the square."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables.rows import Array, LazyRows


class Squares(Protocol):
    """Squares of records, (chunk, chunk, k) each, filled up at the edges."""

    def square(self, a: int, b: int) -> Array:
        """A whole square."""
        ...

    def lines(self, a: int, b: int, rows: Array) -> Array:
        """Some of its rows, (m, chunk, k)."""
        ...

    def records(self, a: int, b: int, rows: Array, columns: Array) -> Array:
        """Some of its records, (m, k)."""
        ...


class PlacedPairs(LazyRows):
    """(n, n, k) records by position numbers, kept by places: place p is that of position `order[p]`.

    Read by `squares`, each the records of places a * chunk to (a + 1) * chunk against those of b.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        dtype: Any,
        order: NDArray[np.int64],
        chunk: int,
        squares: Squares,
    ) -> None:
        self.order, self.chunk, self.squares = order, chunk, squares
        self.place = np.empty(len(order), np.int64)
        self.place[order] = np.arange(len(order))
        super().__init__(shape, dtype, lambda a, b: self._rows(np.arange(a, b)), self._rows)

    @property
    def chunks(self) -> int:
        """Squares along a side."""
        return -(-self.shape[0] // self.chunk)

    def placed(self, start: int, stop: int, first: int, last: int) -> Array:
        """Records of places start..stop-1 against places first..last-1, (stop - start, last - first, k)."""
        out = np.empty((stop - start, last - first, self.shape[2]), self.dtype)
        c = self.chunk
        for a in range(start // c, -(-stop // c)):
            for b in range(first // c, -(-last // c)):
                rows, columns = _common(a * c, c, start, stop), _common(b * c, c, first, last)
                to = out[rows.start - start : rows.stop - start, columns.start - first : columns.stop - first]
                here = np.arange(rows.start - a * c, rows.stop - a * c)
                to[...] = self.squares.lines(a, b, here)[:, columns.start - b * c : columns.stop - b * c]
        return out

    def piece(self, rows: Array, first: int, last: int) -> Array:
        """As `placed`, for places rows that follow each other."""
        return self.placed(int(rows[0]), int(rows[-1]) + 1, first, last)

    def _rows(self, numbers: Array) -> Array:
        """Whole rows of these position numbers."""
        n, _, k = self.shape
        out = np.empty((len(numbers), n, k), self.dtype)
        place = self.place[numbers]
        for a in np.unique(place // self.chunk).tolist():
            here = np.flatnonzero(place // self.chunk == a)
            for b in range(self.chunks):
                columns = self.order[b * self.chunk : (b + 1) * self.chunk]
                found = self.squares.lines(a, b, place[here] - a * self.chunk)[:, : len(columns)]
                out[here[:, None], columns] = found
        return out

    def __getitem__(self, key: Any, /) -> Any:
        """As of an ndarray; two numbers, or arrays of numbers, read these records alone."""
        if isinstance(key, tuple) and len(key) >= 2 and all(_whole(k) for k in key[:2]):
            us, them = np.broadcast_arrays(*(np.asarray(k, np.int64) for k in key[:2]))
            rows = self._some(us.reshape(-1), them.reshape(-1)).reshape(*us.shape, self.shape[2])
            return rows[(..., *key[2:])] if len(key) > 2 else rows
        return super().__getitem__(key)

    def _some(self, us: Array, them: Array) -> Array:
        n = self.shape[0]
        for numbers in (us, them):
            if numbers.size and (numbers.min() < -n or numbers.max() >= n):
                raise IndexError(f"an index lies outside 0 to {n - 1}")
        rows, columns = self.place[us], self.place[them]
        out = np.empty((len(us), self.shape[2]), self.dtype)
        squares = rows // self.chunk * self.chunks + columns // self.chunk
        order = np.argsort(squares, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(squares[order])) + 1):
            if len(group):
                a, b = divmod(int(squares[group[0]]), self.chunks)
                out[group] = self.squares.records(
                    a, b, rows[group] - a * self.chunk, columns[group] - b * self.chunk
                )
        return out


def _common(begin: int, size: int, first: int, last: int) -> range:
    return range(max(begin, first), min(begin + size, last))


def _whole(key: Any) -> bool:
    return isinstance(key, (int, np.integer)) or (
        isinstance(key, (np.ndarray, list)) and np.asarray(key).dtype.kind in "iu"
    )
