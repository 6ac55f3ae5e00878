"""JSON description of any kind of table (kind, size, facts), and the formats that store it beside the arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from bgfmt import formats, tables
from bgfmt.errors import CorruptError, UnknownFormatError
from bgfmt.formats import records
from bgfmt.formats.base import Format, Options
from bgfmt.storage import Source
from bgfmt.tables import Rows, Table

MAX_DESCRIPTION_BYTES = 1 << 16
__all__ = [
    "INVALID_FACTS_ERRORS",
    "MAX_DESCRIPTION_BYTES",
    "AnyTable",
    "ReadArray",
    "foreign_file_error",
    "one_line",
    "table_of",
    "text_of",
]

Refuse = Callable[[str, object], CorruptError]
DTYPES = ("u1", "u2", "u4", "i4", "f4", "f8")
MAX_ROWS = 1 << 33
#: exceptions that parsing invalid JSON facts may raise
INVALID_FACTS_ERRORS = (ValueError, KeyError, TypeError, RecursionError, OverflowError)
Shapes = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
#: returns an array, given its name, shape and dtype, and how many of its leading axes are positions
ReadArray = Callable[[str, tuple[int, ...], Any, int], Rows]


def text_of(table: Table, arrays: bool = False) -> bytes:
    """Return JSON, in UTF-8, that describes a table: kind, size and metadata.

    arrays : add the shapes and dtypes of its arrays.
    """
    description: dict[str, Any] = {"kind": table.kind, "points": table.points, "chequers": table.chequers}
    if arrays:
        description["arrays"] = {
            name: [[int(axis) for axis in rows.shape], np.dtype(rows.dtype).str[1:]]
            for name, rows in table.arrays().items()
        }
    return json.dumps(description | {"extra": records.facts_of(table)}).encode()


class AnyTable(Format[Table]):
    """Base class of formats that hold every kind of table that has arrays."""

    carries = (Table,)

    def kinds(self) -> list[str]:
        return [name for name in super().kinds() if tables.KINDS[name].rules(1, 1)]

    def refusal(self, table: Table, options: Options) -> str | None:
        return table.check() if table.arrays() else f"{self.name} can only hold tables, not {table.kind}"


def foreign_file_error(name: str, what: str, lacks: str) -> UnknownFormatError:
    """Return the error for a valid file of another program, which does not describe a table.

    name : the file. what : the type of the file. lacks : the part that would describe the table.
    """
    why = f"it has no {lacks}, which is lost when another program saves the file"
    again = "`bgfmt convert` writes it again from the database"
    return UnknownFormatError(f"{name}: {what}, but no table of bgfmt's: {why}; {again}")


def table_of(text: bytes | str, arrays: ReadArray | dict[str, Any], source: Source, refuse: Refuse) -> Table:
    """Build the table that a JSON description and its arrays define.

    Parameters
    ----------
    text : JSON as `text_of` writes it
    arrays : arrays by name, or a function that reads one of the arrays that the JSON describes
    source : the file; its name and `release` function go into the table
    refuse : called with (expected, found), returns the error to raise
    """
    try:
        meta = json.loads(text)
        kind = tables.KINDS[meta["kind"]]
        points = meta["points"]
        chequers = meta["chequers"]
        fields = formats.fields_of(meta.get("extra", {}), kind)
        if not isinstance(arrays, dict):
            read = arrays
            shapes = _shapes(meta["arrays"], kind)
            arrays = {name: read(name, *shape, kind.sides) for name, shape in shapes.items()}
    except INVALID_FACTS_ERRORS as error:
        raise refuse("a table's description as bgfmt writes it", one_line(error)) from None
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
    """Return the arrays' shapes and dtypes from the description; raises ValueError or TypeError if it is invalid."""
    shapes = {}
    for name, (axes, dtype) in arrays.items():
        whole = all(type(axis) is int and 0 < axis < MAX_ROWS for axis in axes)
        if dtype not in DTYPES or not kind.sides <= len(axes) <= 3 or not whole:
            raise ValueError(f"{name}: {axes!r:.60} of {dtype!r:.20}")
        if prod(axes[kind.sides :]) > 4096:
            raise ValueError(f"{name}: {axes!r:.60}")
        shapes[name] = tuple(axes), np.dtype("<" + dtype)
    return shapes


def one_line(error: Exception) -> str:
    """Return the message of a library's exception in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200] or type(error).__name__
