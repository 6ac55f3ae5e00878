"""The equities of a compressed table, as an array whose rows and records are made when asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.reading import Numbers, Packed, Records
from bgfmt.tables import LazyRows


class PackedRows(LazyRows):
    """The equities of a compressed table: rows, or single records, by position number."""

    def __init__(self, packed: Packed) -> None:
        self.packed = packed
        n = packed.shape.positions
        super().__init__((n, n, packed.shape.columns), "<u2", self._some, packed.rows)
        self._kept: tuple[int, Records] = (0, np.empty((0, n, packed.shape.columns), np.uint16))
        self._next = -1

    @property
    def order(self) -> Numbers:
        """Position numbers in the order in which rows and columns lie together in the file."""
        return self.packed.directory.order

    @property
    def half(self) -> bool:
        """Whether of each pair of sides the one that stands first in that order on roll is left out of the file."""
        return self.packed.shape.level == 2

    @property
    def ahead(self) -> int:
        """How many rows to make at once where they are read one behind the other."""
        return self.packed.ahead(len(self) * self.shape[2] * 2)

    def piece(self, places: Numbers, first: int, last: int) -> Records:
        """Rows and columns by their place in that order; see `Packed.piece`."""
        return self.packed.piece(places, first, last)

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, tuple) and len(key) == 2:
            us, them = key
            if isinstance(us, (int, np.integer)) and isinstance(them, (int, np.integer)):
                return self.packed.record(range(len(self))[us], range(len(self))[them])
            if isinstance(us, np.ndarray) and isinstance(them, np.ndarray) and us.ndim == them.ndim == 1:
                return self.packed.records(self._numbers(us), self._numbers(them))
        return super().__getitem__(key)

    def _some(self, start: int, stop: int) -> Records:
        """Rows start..stop-1; where rows are read one behind the other, more of them are made at once."""
        first, kept = self._kept
        if first <= start and stop <= first + len(kept) and start < stop:
            self._next = stop
            return kept[start - first : stop - first]
        if start and start == self._next:
            stop_ahead = max(stop, min(len(self), start + self.ahead))
            self._kept = (0, kept[:0])  # its memory, before more is taken
            del kept
            rows = self.packed.rows(np.arange(start, stop_ahead))
            self._kept, self._next = (start, rows), stop
            return rows[: stop - start]
        self._next = stop
        return self.packed.rows(np.arange(start, stop))
