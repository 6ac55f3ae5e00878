"""What a file of any kind of table says of it, as JSON, for formats that hold them all: kind, size, facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import formats, tables
from bgfmt.errors import CorruptError, UnknownFormatError
from bgfmt.formats import records
from bgfmt.formats.base import Format, Options
from bgfmt.storage import Source
from bgfmt.tables import LazyRows, Rows, Table, flat

MOST = 1 << 16  # bytes
Refuse = Callable[[str, object], CorruptError]
DTYPES = ("u1", "u2", "u4", "i4", "f4", "f8")
MOST_ROWS = 1 << 33
#: what JSON of any kind can end in
SENSELESS = (ValueError, KeyError, TypeError, RecursionError, OverflowError)
Shapes = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]


def text_of(table: Table, arrays: bool = False) -> bytes:
    """Kind, size and all that the table says beyond its numbers; also shape and dtype of its `arrays`."""
    description: dict[str, Any] = {"kind": table.kind, "points": table.points, "chequers": table.chequers}
    if arrays:
        description["arrays"] = {
            name: [[int(axis) for axis in rows.shape], np.dtype(rows.dtype).str[1:]]
            for name, rows in table.arrays().items()
        }
    return json.dumps(description | {"extra": records.facts_of(table)}).encode()


class AnyTable(Format[Table]):
    """A format of every kind of table that has arrays."""

    carries = (Table,)
    fills = True

    def kinds(self) -> list[str]:
        return [name for name in super().kinds() if tables.KINDS[name].rules(1, 1)]

    def refusal(self, table: Table, options: Options) -> str | None:
        return table.check() if table.arrays() else f"{self.name} holds tables, not {table.kind}"


def foreign(name: str, what: str, lacks: str) -> UnknownFormatError:
    """The error of a sound file that another program made, or saved anew without what describes the table."""
    why = f"it has no {lacks}, which is lost where another program saves the file"
    again = "`bgfmt convert` makes it anew from the database"
    return UnknownFormatError(f"{name}: {what}, but no table of bgfmt's: {why}; {again}")


class Stored:
    """A file whose numbers lie in columns, one a stored number, and are read when they are asked for.

    A format derives its own: `facts`, `check` and `fill`.
    """

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.names: dict[str, list[str]] = {}  # of an array: its columns

    def refuse(self, expected: str, found: object) -> CorruptError:
        """The error of a file that is not as expected."""
        return CorruptError(self.source.name, self.offset, expected, found)

    def facts(self) -> bytes | str:
        """The text that describes the table."""
        raise NotImplementedError

    def check(self, table: Table, stored: list[flat.Flat]) -> None:
        """CorruptError unless the file has what is needed of the table, and columns for all its stored numbers."""
        raise NotImplementedError

    def fill(self, first: int, out: NDArray[Any], names: list[str]) -> None:
        """The numbers of these columns, of `len(out)` entries from one on."""
        raise NotImplementedError

    def table(self) -> Table:
        """The table; CorruptError where the file makes none."""
        table = table_of(self.facts(), self, self.source, self.refuse)
        stored = [column for column in flat.columns(table) if column.role == "stored"]
        for column in stored:
            self.names.setdefault(column.of, []).append(column.name)
        self.check(table, stored)
        return table

    def array(self, name: str, shape: tuple[int, ...], dtype: Any, sides: int) -> Rows:
        """The array of this name."""
        width, items = prod(shape[1:sides]), prod(shape[sides:])

        def fetch(start: int, stop: int) -> NDArray[Any]:
            out = np.empty(((stop - start) * width, items), dtype)
            self.fill(start * width, out, self.names[name])
            return out.reshape(stop - start, *shape[1:])

        return LazyRows(shape, dtype, fetch)


def table_of(text: bytes | str, arrays: Stored | dict[str, Any], source: Source, refuse: Refuse) -> Table:
    """The table that such a text and its arrays make together.

    refuse : makes the error of (expected, found).
    """
    try:
        meta = json.loads(text)
        kind = tables.KINDS[meta["kind"]]
        points = meta["points"]
        chequers = meta["chequers"]
        fields = formats.fields_of(meta.get("extra", {}), kind)
        if isinstance(arrays, Stored):
            shapes = _shapes(meta["arrays"], kind)
            arrays = {name: arrays.array(name, *shape, kind.sides) for name, shape in shapes.items()}
    except SENSELESS as error:
        raise refuse("a table's description as bgfmt writes it", in_a_line(error)) from None
    if not (type(points) is type(chequers) is int and 1 <= points <= 25 and 1 <= chequers <= 15):
        raise refuse("1 to 25 points, 1 to 15 chequers", f"{points!r:.40} and {chequers!r:.40}")
    rules = {rule.name: rule.optional for rule in kind.rules(points, chequers)}
    if (
        arrays.keys() - rules.keys()
        or {name for name, optional in rules.items() if not optional} - arrays.keys()
    ):
        raise refuse(f"arrays {' and '.join(rules)}", ", ".join(arrays) or "none")
    if not rules:
        raise refuse("a kind of table with arrays", kind.kind)
    common: dict[str, Any] = {"provenance": source.name, "release": source.release}
    table = kind(points=points, chequers=chequers, **common, **fields, **arrays)
    problem = table.check()
    if problem is not None:
        raise refuse("arrays of the table's size", problem)
    return table


def _shapes(arrays: Any, kind: type[Table]) -> Shapes:
    """Shapes and dtypes of arrays as the text gives them; ValueError or TypeError for any other text."""
    shapes = {}
    for name, (axes, dtype) in arrays.items():
        whole = all(type(axis) is int and 0 < axis < MOST_ROWS for axis in axes)
        if dtype not in DTYPES or not kind.sides <= len(axes) <= 3 or not whole:
            raise ValueError(f"{name}: {axes!r:.60} of {dtype!r:.20}")
        if prod(axes[kind.sides :]) > 4096:
            raise ValueError(f"{name}: {axes!r:.60}")
        shapes[name] = tuple(axes), np.dtype("<" + dtype)
    return shapes


def in_a_line(error: Exception) -> str:
    """What an error of a library says, in one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__
