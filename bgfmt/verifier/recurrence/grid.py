"""Rows and pieces of columns of a two-sided table, whatever it is made of; see `two_sided`."""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.storage import system
from bgfmt.tables import TwoSided

Array = NDArray[Any]
UNPACKED_BYTES = 64 << 20  # rows of a compressed table that are made at once


def _offset_in_file(array: Array) -> int | None:
    """Where an array that looks straight into a mapped file begins in it; None for any other array."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    if not isinstance(base, mmap.mmap):
        return None
    start = np.frombuffer(base, np.uint8, 1).__array_interface__["data"][0]
    return int(array.__array_interface__["data"][0] - start)


class Grid:
    """Rows and pieces of columns of a table, mapped or read; what is read is let go again."""

    def __init__(self, table: TwoSided) -> None:
        self.rows_array = table.equities
        self.n, _, self.columns = table.equities.shape
        self.release = table.release or (lambda: None)
        self._fd = -1
        self._offset = 0
        #: position numbers by place, where rows and columns are walked in another order than that of their numbers
        self.order: Array | None = getattr(table.equities, "order", None)
        array = table.equities
        if isinstance(array, np.ndarray) and array.flags.c_contiguous and array.dtype == np.dtype("<u2"):
            offset = _offset_in_file(array)
            if offset is not None and os.path.isfile(table.provenance):
                self._offset = offset
                with contextlib.suppress(OSError):
                    self._fd = os.open(table.provenance, os.O_RDONLY)

    def rows(self, start: int, stop: int) -> Array:
        """Rows at places start..stop-1, (stop - start, n, columns) uint16, columns by position number."""
        if self.order is not None:
            return np.ascontiguousarray(self.rows_array[self.order[start:stop]], "<u2")
        if self._fd < 0:
            rows = np.array(self.rows_array[start:stop], "<u2")
            self.release()
            return rows
        out = np.empty((stop - start, self.n, self.columns), "<u2")
        self._read(out, start * self.n * self.columns * 2)
        return out

    def at_once(self) -> int:
        """Rows that are best made at once, where they are made."""
        return 1 if self.order is None else UNPACKED_BYTES // (self.n * self.columns * 2)

    def piece(self, start: int, stop: int, first: int, last: int) -> Array:
        """Places first..last-1 of rows at start..stop-1: (stop - start, (last - first) * columns) uint16."""
        width = (last - first) * self.columns
        if self.order is not None:
            made = self.rows_array.piece(np.arange(start, stop), first, last)  # type: ignore[attr-defined]
            return np.asarray(made).reshape(stop - start, width)
        if last - first == self.n:
            return self.rows(start, stop).reshape(stop - start, width)
        out = np.empty((stop - start, width), "<u2")
        for k in range(start, stop):
            if self._fd < 0:
                out[k - start] = np.asarray(self.rows_array[k])[first:last].reshape(-1)
            else:
                self._read(out[k - start], (k * self.n + first) * self.columns * 2)
        if self._fd < 0:
            self.release()
        return out

    def _read(self, out: Array, at: int) -> None:
        view = out.reshape(-1).view(np.uint8).data
        if system.read_into(self._fd, view, self._offset + at) < len(view):
            raise OSError("the file became shorter while it was read")

    def numbers(self, places: Array) -> Array:
        """Position numbers at places."""
        return places if self.order is None else np.asarray(self.order[places])

    def place(self, number: int) -> int:
        """The place of a position number."""
        return number if self.order is None else int((self.order == number).argmax())

    def close(self) -> None:
        """Let the file go."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
