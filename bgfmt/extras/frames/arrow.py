"""A table as a data frame of pandas or polars, or as an Arrow table."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from bgfmt.errors import CapabilityError, extra, install_hint
from bgfmt.game.board import Side
from bgfmt.tables import Rows, Table
from bgfmt.tables.flat import columns, pieces
from bgfmt.tables.rows import Array

FRAME_ENTRIES = 1 << 16  # entries of a piece


def to_pandas(table: Table) -> Any:
    """Return a table as a pandas DataFrame with the columns of `frame_columns`."""
    pandas = extra("pandas", "this needs pandas, which is not installed", "pip install pandas")
    return pandas.DataFrame(frame_columns(table))


def to_polars(table: Table) -> Any:
    """Return a table as a polars DataFrame with the columns of `frame_columns`."""
    polars = extra("polars", "this needs polars, which is not installed", "pip install polars")
    return polars.DataFrame(frame_columns(table))


def frame_columns(table: Table) -> dict[str, Array]:
    """Return the columns of a data frame of a table by name, one row per entry in order of position number.

    They are `position`, the chequers on each point as text; `pips`, or `us_pips` and `them_pips`; and the numbers
    that the entries mean, such as `mean_rolls`, `epc`, `bearoff_0`, ... or `cubeless`, ... CapabilityError for a
    table without arrays.
    """
    if not table.arrays():
        raise CapabilityError(f"a {table.kind} table has no arrays")
    sides = [
        Side(*counts[:24], bar=sum(counts[24:]))
        for counts in table.counts(np.arange(table.positions)).tolist()
    ]
    texts = np.array([str(side) for side in sides], object)
    pips = np.array([side.pips for side in sides], np.int32)
    n = len(sides)
    out: dict[str, Array] = {"position": texts, "pips": pips}
    if table.sides == 2:
        out = {"position": np.add.outer(texts + " / ", texts).reshape(-1)}
        out |= {"us_pips": np.repeat(pips, n), "them_pips": np.tile(pips, n)}
    values = [column for column in columns(table) if column.role == "value" and column.name not in out]
    out |= {column.name: np.empty(len(out["position"]), column.dtype) for column in values}
    for piece in pieces(table, FRAME_ENTRIES):
        first = piece.rows.start * piece.width
        for column, part in zip(values, piece.arrays(values), strict=True):
            out[column.name][first : first + piece.size] = part
    return out


# -- Arrow: one column an array, a row an entry, over the table's own bytes where these lie together ----------


def pyarrow() -> Any:
    """Import and return the module pyarrow; MissingExtraError if it is not installed."""
    return extra("pyarrow", "Arrow needs pyarrow, which is not installed", install_hint("parquet"))


def import_parquet() -> tuple[Any, Any]:
    """Return pyarrow's module for Parquet files, and pyarrow; MissingExtraError if it is not installed."""
    how = "Parquet files need pyarrow, which is not installed", install_hint("parquet")
    return extra("pyarrow.parquet", *how), extra("pyarrow", *how)


def arrow(table: Table) -> Any:
    """Convert a table to a `pyarrow.Table`: the stored numbers, entries in order of position number.

    There is one column per array, of the same name: lists of equal length (one item per roll, equity or byte),
    or plain numbers if an entry has one. A contiguous ndarray, as of a mapped file, is not copied: the column
    refers to the file's pages and keeps them mapped. Rows made on demand are computed, 8 MB per batch.

    Raises MissingExtraError without pyarrow; CapabilityError for a table without arrays.
    """
    pa = pyarrow()
    return pa.Table.from_batches(list(batches(table)), schema=schema(table))


def stream(table: Table) -> Any:
    """Return a table as a `pyarrow.RecordBatchReader` with the columns of `arrow`, computed batch by batch."""
    return pyarrow().RecordBatchReader.from_batches(schema(table), batches(table))


def schema(table: Table) -> Any:
    """Return the pyarrow schema of a table: its columns' names and types, kind and size as metadata."""
    pa = pyarrow()
    if not table.arrays():
        raise CapabilityError(f"a {table.kind} table has no arrays")
    arrays = table.arrays().items()
    fields = [pa.field(name, _type(rows, table.sides), nullable=False) for name, rows in arrays]
    about = {"kind": table.kind, "points": str(table.points), "chequers": str(table.chequers)}
    return pa.schema(fields, metadata={f"bgfmt.{name}": text for name, text in about.items()})


def batches(table: Table) -> Any:
    """Yield record batches of a table: a single one if nothing has to be computed, else one per block."""
    pa = pyarrow()
    names = schema(table)
    arrays = table.arrays()
    mapped = all(isinstance(rows, np.ndarray) and rows.flags.c_contiguous for rows in arrays.values())
    for block in [arrays] if mapped else (block for _, block in table.blocks()):
        columns = [_column(np.ascontiguousarray(block[name]), names.field(name).type) for name in arrays]
        yield pa.RecordBatch.from_arrays(columns, schema=names)


def _type(rows: Rows, sides: int) -> Any:
    pa = pyarrow()
    items = prod(rows.shape[sides:])
    number = pa.from_numpy_dtype(np.dtype(rows.dtype).newbyteorder("="))
    return number if len(rows.shape) == sides else pa.list_(pa.field("item", number, nullable=False), items)


def _column(rows: Array, kind: Any) -> Any:
    """Return an array's numbers without copying as a pyarrow array of this type, a list per entry."""
    pa = pyarrow()
    values = pa.array(rows.astype(rows.dtype.newbyteorder("="), copy=False).reshape(-1))
    return values if values.type == kind else pa.FixedSizeListArray.from_arrays(values, type=kind)
