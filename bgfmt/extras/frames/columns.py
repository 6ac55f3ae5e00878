"""Files with one column for each stored number of an entry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError
from bgfmt.formats.described import table_of
from bgfmt.storage import Source
from bgfmt.tables import LazyRows, Rows, Table, flat


class StoredColumns(ABC):
    """Base class of files with one column for each stored number of an entry, read on demand.

    A subclass defines `facts`, `check` and `fill`.
    """

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.names: dict[str, list[str]] = {}  # columns by array

    def refuse(self, expected: str, found: object) -> CorruptError:
        """Return (do not raise) the CorruptError for a file whose content is not as expected.

        expected, found : for its message.
        """
        return CorruptError(self.source.name, self.offset, expected, found)

    @abstractmethod
    def facts(self) -> bytes | str:
        """Return the JSON that describes the table, as `bgfmt.formats.described.text_of` writes it."""

    @abstractmethod
    def check(self, table: Table, stored: list[flat.Flat]) -> None:
        """Raise CorruptError unless the file has one row per entry of the table and a column per stored number."""

    @abstractmethod
    def fill(self, first: int, out: NDArray[Any], names: list[str]) -> None:
        """Read the columns `names` of the table's entries from number `first` on into `out`, (entries, columns)."""

    def table(self) -> Table:
        """Build the table, with lazily read arrays; raises CorruptError if the file is not that of a table."""
        table = table_of(self.facts(), self.array, self.source, self.refuse)
        stored = [column for column in flat.columns(table) if column.role == "stored"]
        for column in stored:
            self.names.setdefault(column.of, []).append(column.name)
        self.check(table, stored)
        return table

    def array(self, name: str, shape: tuple[int, ...], dtype: Any, sides: int) -> Rows:
        """Return an array of the table as lazy rows, read from the file's columns on demand.

        name, shape, dtype : of the array. sides : how many leading axes of the array are positions, 1 or 2.
        """
        width, items = prod(shape[1:sides]), prod(shape[sides:])

        def fetch(start: int, stop: int) -> NDArray[Any]:
            out = np.empty(((stop - start) * width, items), dtype)
            self.fill(start * width, out, self.names[name])
            return out.reshape(stop - start, *shape[1:])

        return LazyRows(shape, dtype, fetch)
