"""A table as rows of plain columns, one row per entry, for spreadsheets, data frames and query languages.

Columns, in order: `position_number`; `position_id`, gnubg's (of one side alone with an opponent who has no
chequers); chequers on each point, `us_1`, ... and `them_1`, ... or, of one side, `point_1`, ...; every number
as the file stores it, `stored_...`; and the numbers that they mean, by the names that `bgfmt lookup --json`
uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.identifiers.gnubg_id import write_pair_ids
from bgfmt.tables.base import Table
from bgfmt.tables.rows import Array

__all__ = ["ID_LENGTH", "Flat", "Piece", "columns", "pieces", "stored_names"]


ID_LENGTH = 14


class Flat(NamedTuple):
    """A column: its name, its role ("number", "id", "count", "stored" or "value") and its dtype.

    of : the array of a stored number; "us" or "them" for a count. place : for a count the point, from 0; for a
    stored number its index in the record; for a value its index among the table's columns.
    """

    name: str
    role: str
    dtype: np.dtype[np.generic]
    of: str = ""
    place: int = 0


def columns(table: Table) -> list[Flat]:
    """List the plain columns of a table as a data frame has them, one number each.

    In order: position number, Position ID, chequers on each point, stored numbers, values.
    """
    number = Flat("position_number", "number", np.dtype("i8"))
    out = [number, Flat("position_id", "id", np.dtype(f"S{ID_LENGTH}"))]
    sides = {"us": "point"} if table.sides == 1 else {"us": "us", "them": "them"}
    for side, name in sides.items():
        out += [Flat(f"{name}_{p + 1}", "count", np.dtype("u1"), side, p) for p in range(table.points)]
    for name, rows in table.arrays().items():
        kind = np.dtype(rows.dtype).newbyteorder("=")
        width = prod(rows.shape[table.sides :])
        names = stored_names(table, name, width)
        out += [Flat(text, "stored", kind, name, k) for k, text in enumerate(names)]
    kind = np.dtype("f8" if table.exact else "f4")
    return out + [Flat(c.name, "value", kind, "", k) for k, c in enumerate(table.columns)]


def stored_names(table: Table, name: str, width: int) -> list[str]:
    """Return the column names for the `width` stored numbers of array `name`.

    "stored_" and a column's name if the array has one number for each equity or probability, else "stored_NAME_k".
    """
    shown = [c.name for c in table.columns if c.unit in ("equity", "chance") and c.name != "win"]
    if len(table.arrays()) == 1 and len(shown) == width:
        return [f"stored_{text}" for text in shown]
    return [f"stored_{name}" if width == 1 else f"stored_{name}_{k}" for k in range(width)]


class Piece:
    """Some rows of a table, with all their entries, as columns; computed on demand."""

    def __init__(self, table: Table, rows: slice, block: dict[str, Array], them: NDArray[np.int8]) -> None:
        self.table = table
        self.rows = rows
        self.block = block
        self.them = them
        self.width = table.positions if table.sides == 2 else 1
        self.size = (rows.stop - rows.start) * self.width

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Position numbers of the entries, (size,) int64."""
        first = self.rows.start * self.width
        return np.arange(first, first + self.size)

    @cached_property
    def us(self) -> NDArray[np.int8]:
        """Chequers of the side on roll on each point, one row for each row of the table: (rows, points)."""
        return self.table.counts(np.arange(self.rows.start, self.rows.stop))

    def arrays(self, columns: list[Flat]) -> Iterator[Array]:
        """Yield these columns, one array after the other, (size,) each in its own dtype, with an item for each entry.

        A Position ID is a row of 14 uint8 letters, shape (size, 14).
        """
        values = enumerate(self.table.flat_values(self.numbers, self.block))
        for column in columns:
            if column.role == "number":
                yield self.numbers
            elif column.role == "id":
                yield self._ids()
            elif column.role == "count" and column.of == "them":
                counts = np.tile(self.them[:, column.place], self.rows.stop - self.rows.start)
                yield counts.astype(column.dtype)
            elif column.role == "count":
                yield np.repeat(self.us[:, column.place], self.width).astype(column.dtype)
            elif column.role == "stored":
                rows = self.block[column.of]
                flat = rows.reshape(*rows.shape[: self.table.sides], -1)[..., column.place]
                yield np.ascontiguousarray(flat).reshape(-1).astype(column.dtype, copy=False)
            else:
                value = next(value for place, value in values if place == column.place)
                yield value.astype(column.dtype, copy=False)

    def _ids(self) -> NDArray[np.uint8]:
        letters = np.empty((self.size, ID_LENGTH), np.uint8)
        write_pair_ids(self.us, self.them if self.table.sides == 2 else np.zeros((1, 1), np.int8), letters)
        return letters

    def lists(self, columns: list[Flat]) -> Iterator[list[Any]]:
        """Yield these columns, one after the other, as lists of Python numbers or strings, one for each entry."""
        for column, array in zip(columns, self.arrays(columns), strict=True):
            text = column.role == "id"
            yield (array.view(column.dtype).reshape(-1).astype(str) if text else array).tolist()


def pieces(table: Table, entries: int) -> Iterator[Piece]:
    """Iterate over the table in pieces of whole rows, of about `entries` entries each, by position number.

    Pages of a mapped file are freed after each piece.
    """
    n = table.positions
    arrays = table.arrays()
    them = table.counts(np.arange(n)) if table.sides == 2 else np.zeros((1, 1), np.int8)
    step = max(1, entries // (n if table.sides == 2 else 1))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        yield Piece(table, rows, {name: np.asarray(array[rows]) for name, array in arrays.items()}, them)
        if table.release is not None:
            table.release()
