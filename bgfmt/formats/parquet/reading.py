"""Parquet files read row group by row group, through pyarrow."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, CorruptError, MissingExtraError
from bgfmt.formats import described
from bgfmt.storage import Source
from bgfmt.storage.window import Window
from bgfmt.tables import Table
from bgfmt.tables.flat import Flat

FACTS = "bgfmt"  # the key of the metadata that describe the table
NUMBER = "position_number"
KEPT = 2  # row groups whose numbers are kept
MOST_ROWS = 1 << 24  # of a row group
MOST_A_BYTE = 100  # entries for each byte of the file
MOST_BYTES = 64  # that a number may take once a page is unpacked, beside what every page may


def arrow() -> Any:
    """pyarrow's module of Parquet files; MissingExtraError where it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        text = "Parquet files need pyarrow, which is not installed: pip install pyarrow"
        raise MissingExtraError(text, "pip install pyarrow") from None
    return pyarrow.parquet


class Groups:
    """The row groups of a file, and what its footer says."""

    def __init__(self, source: Source, offset: int) -> None:
        parquet = arrow()
        self.source, self._offset = source, offset
        self._kept: OrderedDict[int, tuple[list[str], Any]] = OrderedDict()
        self._lock = Lock()
        view = source.buffer[offset : source.size] if isinstance(source.buffer, memoryview) else None
        try:
            self._file = parquet.ParquetFile(Window(source, offset) if view is None else _buffer(view))
            self._meta = self._file.metadata
            self.writer = str(self._meta.created_by or "")
            schema = self._file.schema_arrow
            self.columns = {field.name: str(field.type) for field in schema}
            sizes = [self._meta.row_group(k).num_rows for k in range(self._meta.num_row_groups)]
        except BgfmtError:
            raise
        except Exception as error:  # pyarrow raises errors of many kinds for damaged files
            raise self.refuse("a Parquet file", _line(error)) from None
        if any(not 0 <= size <= MOST_ROWS for size in sizes):
            raise self.refuse(f"row groups of up to {MOST_ROWS:,} rows", max(sizes))
        self._begins = [0, *accumulate(sizes)]
        if self._begins[-1] > MOST_A_BYTE * source.size:
            raise self.refuse(f"at most {MOST_A_BYTE} rows a byte", f"{self._begins[-1]:,} rows")

    def refuse(self, expected: str, found: object) -> CorruptError:
        """The error of a file that is not as expected."""
        return CorruptError(self.source.name, self._offset, expected, found)

    def facts(self) -> bytes:
        """The text that describes the table."""
        found = (self._meta.metadata or {}).get(FACTS.encode())
        if found is None or len(found) > described.MOST:
            raise self.refuse(f"metadata {FACTS!r} that describe the table", "none")
        return bytes(found)

    def check(self, table: Table, stored: list[Flat]) -> None:
        """CorruptError unless rows and columns are those of the table."""
        if self._begins[-1] != table.entries:
            raise self.refuse(f"{table.entries:,} rows", f"{self._begins[-1]:,}")
        for name in (NUMBER, *(column.name for column in stored)):
            if name not in self.columns:
                raise self.refuse(f"a column {name}", "none")

    def fill(self, first: int, out: NDArray[Any], names: list[str]) -> None:
        """The numbers of these columns, of `len(out)` entries from one on."""
        stop, at = first + len(out), first
        while at < stop:
            k = bisect_right(self._begins, at) - 1
            end = min(stop, self._begins[k + 1])
            part = slice(at - self._begins[k], end - self._begins[k])
            group = self._group(k, names)
            for place, name in enumerate(names):
                out[at - first : end - first, place] = self._numbers(group, name, part, out.dtype)
            at = end

    def _group(self, k: int, names: list[str]) -> Any:
        """A row group's columns, from those kept or from the file; its entries are in order."""
        with self._lock:
            kept = self._kept.get(k)
            if kept is not None and set(names) <= set(kept[0]):
                self._kept.move_to_end(k)
                return kept[1]
            rows = self._begins[k + 1] - self._begins[k]
            wanted = [NUMBER, *names]
            try:
                group = self._meta.row_group(k)
                for place in range(group.num_columns):
                    column = group.column(place)
                    if column.path_in_schema in wanted and column.total_uncompressed_size > MOST_BYTES * (
                        rows + (1 << 16)
                    ):
                        raise self.refuse(
                            f"{rows:,} numbers", f"{column.total_uncompressed_size:,} bytes of them"
                        )
                found = self._file.read_row_group(k, columns=wanted).combine_chunks()
            except BgfmtError:
                raise
            except Exception as error:
                raise self.refuse(f"row group {k}", _line(error)) from None
            numbers = self._numbers(found, NUMBER, slice(0, rows), np.dtype(np.int64))
            first = self._begins[k]
            if len(numbers) != rows or not np.array_equal(numbers, np.arange(first, first + rows)):
                raise self.refuse(f"rows in order of {NUMBER}, from {first:,} on", "others")
            self._kept[k] = names, found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return found

    def _numbers(self, group: Any, name: str, part: slice, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Some numbers of a column, in the dtype of the table."""
        column = group.column(name)
        if column.null_count:
            raise self.refuse(f"a number in every row of {name}", "none in some")
        found = column.slice(part.start, part.stop - part.start).to_numpy()
        if found.dtype.kind not in ("iu" if dtype.kind in "iu" else "f"):
            raise self.refuse(f"{name} of {dtype}", found.dtype)
        numbers: NDArray[Any] = found.astype(dtype, copy=False)
        if found.dtype != dtype and not np.array_equal(numbers, found, equal_nan=dtype.kind == "f"):
            raise self.refuse(f"numbers of {name} that fit {dtype}", "others")
        return numbers


def _buffer(view: memoryview) -> Any:
    import pyarrow as pa

    return pa.BufferReader(pa.py_buffer(view))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
