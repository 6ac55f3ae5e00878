"""Tables as Arrow: one column an array, a row an entry, over the table's own bytes where these lie together."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from bgfmt.errors import CapabilityError, extra
from bgfmt.tables.base import Table
from bgfmt.tables.rows import Array, Rows


def pyarrow() -> Any:
    """The module; MissingExtraError where it is not installed."""
    return extra("pyarrow", "Arrow needs pyarrow, which is not installed", "pip install pyarrow")


def arrow(table: Table) -> Any:
    """A table as a `pyarrow.Table`: the stored numbers, entries in order of position number.

    One column for each array, of its name: of lists of equal length (a roll each, an equity each, a byte each), or
    of plain numbers where an entry has one. An array that is an ndarray in one piece, as of a mapped file, is not
    copied: the column lies in the file's own pages and keeps them. Rows made on demand are made, a batch each 8 MB.

    Raises MissingExtraError without pyarrow; CapabilityError for a table without arrays.
    """
    pa = pyarrow()
    return pa.Table.from_batches(list(batches(table)), schema=schema(table))


def stream(table: Table) -> Any:
    """The same as a `pyarrow.RecordBatchReader`, which makes rows on demand batch by batch."""
    return pyarrow().RecordBatchReader.from_batches(schema(table), batches(table))


def schema(table: Table) -> Any:
    """The names and types of its columns."""
    pa = pyarrow()
    if not table.arrays():
        raise CapabilityError(f"a {table.kind} table has no arrays")
    arrays = table.arrays().items()
    fields = [pa.field(name, _type(rows, table.sides), nullable=False) for name, rows in arrays]
    about = {"kind": table.kind, "points": str(table.points), "chequers": str(table.chequers)}
    return pa.schema(fields, metadata={f"bgfmt.{name}": text for name, text in about.items()})


def batches(table: Table) -> Any:
    """Record batches of a table: one where nothing has to be made, else one each block."""
    pa, names = pyarrow(), schema(table)
    arrays = table.arrays()
    mapped = all(isinstance(rows, np.ndarray) and rows.flags.c_contiguous for rows in arrays.values())
    for block in [arrays] if mapped else (block for _, block in table.blocks()):
        columns = [_column(np.ascontiguousarray(block[name]), table.sides) for name in arrays]
        yield pa.RecordBatch.from_arrays(columns, schema=names)


def _type(rows: Rows, sides: int) -> Any:
    pa, items = pyarrow(), prod(rows.shape[sides:])
    number = pa.from_numpy_dtype(np.dtype(rows.dtype).newbyteorder("="))
    return number if len(rows.shape) == sides else pa.list_(pa.field("item", number, nullable=False), items)


def _column(rows: Array, sides: int) -> Any:
    """An array's numbers as they lie, a list for each entry."""
    pa, native = pyarrow(), rows.astype(rows.dtype.newbyteorder("="), copy=False)
    values, kind = pa.array(native.reshape(-1)), _type(rows, sides)
    return values if rows.ndim == sides else pa.FixedSizeListArray.from_arrays(values, type=kind)
