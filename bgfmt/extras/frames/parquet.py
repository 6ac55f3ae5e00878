"""Apache Parquet: any table, one row for each entry, for data frames and query languages. Needs the extra `parquet`.

offset  content
0       "PAR1"
4       row groups of whole rows of the table, about a million entries; in each, every column in order
...     footer in Thrift's compact protocol, its size as u32, "PAR1"

Columns are those of `bgfmt.tables.flat`. Metadata `bgfmt`: kind, size, arrays and facts, as in npz's bgfmt.json.
pyarrow writes and reads it; equal tables give equal files as long as pyarrow's version is the same.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, TruncatedError
from bgfmt.extras.frames.arrow import import_parquet
from bgfmt.extras.frames.columns import StoredColumns
from bgfmt.formats import described, records
from bgfmt.formats.base import Extent, Fault, Option, Options, Outlet, Reading
from bgfmt.formats.described import AnyTable
from bgfmt.storage import Source
from bgfmt.storage.sink import Tail
from bgfmt.storage.source import SourceFile
from bgfmt.tables import Table, flat
from bgfmt.tables.base import no_column
from bgfmt.tables.flat import ID_LENGTH, Flat

MAGIC = b"PAR1"
FACTS = "bgfmt"  # the key of the metadata that describe the table
NUMBER = "position_number"
GROUP_ENTRIES = 1 << 20  # entries of a row group, about
ENCODINGS = {"number": "DELTA_BINARY_PACKED", "id": "DELTA_LENGTH_BYTE_ARRAY"}  # by role; others use PLAIN
CACHED_GROUPS = 4  # row groups of some columns in memory
MAX_GROUP_ROWS = 1 << 24
MAX_ROWS_PER_BYTE = 1 << 12  # of the file
COMPRESSIONS = ("zstd", "none", "snappy", "gzip", "brotli", "lz4")
MAX_BYTES_PER_NUMBER = 64  # after decompression, with an allowance for each page


@dataclass(frozen=True)
class Settings:
    """How a file is written: its compression, and the names of its columns (empty if it has all of them)."""

    compression: str = "zstd"
    columns: tuple[str, ...] = ()


DEFAULT_SETTINGS = Settings("none")  # of a file that does not state its settings


class Parquet(AnyTable):
    name = "parquet"
    title = "Apache Parquet"
    suffixes = (".parquet",)
    magic = MAGIC
    options = (
        Option(
            "compression", str, f"{', '.join(COMPRESSIONS)}; zstd unless the table's own file has another"
        ),
        Option("columns", str, f"names of the columns to write, with commas between them, beside {NUMBER}"),
    )

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **description: Any) -> Reading[Table]:
        size = source.size - offset
        if size < 12 or source.bytes(source.size - 4, 4) != MAGIC:
            raise TruncatedError(source.name, 0, source.size, "Parquet file with its footer")
        groups = Groups(source, offset)
        table = groups.table()
        return Reading(replace(table, carried=(*table.carried, groups.settings())), Extent(offset, size))

    def info(self, reading: Reading[Table]) -> dict[str, Any]:
        return {"columns": len(_columns(reading.table, _settings(reading.table, {})))}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: Table, options: Options) -> str | None:
        settings = _settings(table, options)
        names = [column.name for column in flat.columns(table)]
        if settings.compression not in COMPRESSIONS:
            return f"parquet: compression must be {' or '.join(COMPRESSIONS)}, not {settings.compression!r}"
        unknown = [name for name in settings.columns if name not in names]
        if unknown:
            return no_column(table.kind, unknown[0], names)
        return super().refusal(table, options)

    def losses(self, table: Table, options: Options) -> list[str]:
        settings = _settings(table, options)
        stored = [column.name for column in flat.columns(table) if column.role == "stored"]
        readable = not settings.columns or set(stored) <= set(settings.columns)
        lost = "columns of stored numbers are left out, so that bgfmt cannot read the file back"
        return [] if readable else [lost]

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        parquet, pyarrow = import_parquet()
        settings = _settings(table, options)
        columns = _columns(table, settings)
        types = [pyarrow.string() if c.role == "id" else pyarrow.from_numpy_dtype(c.dtype) for c in columns]
        schema = pyarrow.schema([(c.name, kind, False) for c, kind in zip(columns, types, strict=True)])
        few = table.few_values
        small = {c.name for c in columns if c.dtype.itemsize <= 2 or (c.role == "value" and few)}
        writer = parquet.ParquetWriter(
            Tail(sink),
            schema,
            compression=settings.compression,
            use_dictionary=sorted(small),
            column_encoding={c.name: ENCODINGS.get(c.role, "PLAIN") for c in columns if c.name not in small},
            write_statistics=[NUMBER],
            store_schema=False,
        )
        with writer:
            for piece in flat.pieces(table, GROUP_ENTRIES):
                arrays = _arrow_arrays(piece, columns)
                writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), piece.size)
            writer.add_key_value_metadata({FACTS: _text(table, settings)})

    def as_written(self, table: Table) -> tuple[Table, Options]:
        settings = _settings(table, {})
        return table, {"compression": settings.compression, "columns": ",".join(settings.columns)}

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """Compare the file with what this version of pyarrow writes for the same numbers; yield the differences.

        If bgfmt wrote the file with another version of pyarrow, the contents of all columns are compared instead. A
        file of another program is one fault as a whole, because its layout is not known.
        """
        faults = list(super().audit(source, table, extent))
        groups = Groups(source, extent.offset)
        own = f"parquet-cpp-arrow version {import_parquet()[1].cpp_version}"
        found = f"one by {groups.writer[:60]!r}"
        where = extent.offset, extent.size
        if faults and groups.keys != {FACTS}:
            yield Fault(*where, "Parquet layout", "a file written by bgfmt", found)
        elif faults and groups.writer != own:
            wrong = ", ".join(groups.find_wrong_columns(table, _columns(table, _settings(table, {}))))
            if wrong:
                yield Fault(*where, "Parquet columns", "what follows from the table", f"others in {wrong}")
            yield Fault(*where, "Parquet layout", f"a file written by {own}", found, carried=True)
        else:
            yield from faults
        for text in records.unknown(table):
            yield Fault(extent.offset, extent.size, FACTS, "what a program writes", text)


def _settings(table: Table, options: Options) -> Settings:
    """Return the settings from the options, else those of the table's own file."""
    own = table.record(Settings) or Settings()
    columns = options.get("columns")
    names = own.columns if columns is None else tuple(filter(None, map(str.strip, columns.split(","))))
    return Settings(options.get("compression") or own.compression, names)


def _columns(table: Table, settings: Settings) -> list[Flat]:
    """Return the columns of the table that are written."""
    names = {NUMBER, *settings.columns}
    return [c for c in flat.columns(table) if not settings.columns or c.name in names]


def _text(table: Table, settings: Settings) -> bytes:
    """Return the JSON that describes the table, and the settings of the file if they are not the default."""
    text = json.loads(described.text_of(table, arrays=True))
    if settings.compression != DEFAULT_SETTINGS.compression:
        text["compression"] = settings.compression
    if settings.columns:
        text["columns"] = list(settings.columns)
    return json.dumps(text).encode()


def _arrow_arrays(piece: flat.Piece, columns: list[Flat]) -> list[Any]:
    """Return columns of some rows of a table as pyarrow arrays."""
    _, pyarrow = import_parquet()
    arrays = []
    for column, array in zip(columns, piece.arrays(columns), strict=True):
        if column.role == "id":
            ends = np.arange(0, array.size + 1, ID_LENGTH, dtype=np.int32)
            buffers = pyarrow.py_buffer(ends), pyarrow.py_buffer(array)
            arrays.append(pyarrow.StringArray.from_buffers(piece.size, *buffers))
        else:
            arrays.append(pyarrow.array(array))
    return arrays


class Groups(StoredColumns):
    """Row groups and footer of a Parquet file."""

    def __init__(self, source: Source, offset: int) -> None:
        parquet, pyarrow = import_parquet()
        super().__init__(source, offset)
        self._cached: dict[tuple[int, tuple[str, ...]], Any] = {}  # the most recently used last
        self._lock = Lock()
        at_hand = isinstance(source.buffer, memoryview)
        file = pyarrow.BufferReader(source.buffer[offset:]) if at_hand else SourceFile(source, offset)
        try:
            self._file = parquet.ParquetFile(file)
            self._meta = self._file.metadata
            self.writer = str(self._meta.created_by or "")
            self.keys = {key.decode(errors="replace") for key in self._meta.metadata or {}}
            schema = self._file.schema_arrow
            self.columns = {field.name: str(field.type) for field in schema}
            sizes = [self._meta.row_group(k).num_rows for k in range(self._meta.num_row_groups)]
        except BgfmtError:
            raise
        except Exception as error:  # pyarrow raises many types of exception for damaged files
            raise self.refuse("a Parquet file", described.one_line(error)) from None
        self._begins = [0, *accumulate(sizes)]
        most = MAX_ROWS_PER_BYTE * source.size
        if any(not 0 <= size <= MAX_GROUP_ROWS for size in sizes) or self._begins[-1] > most:
            expected = f"groups of up to {MAX_GROUP_ROWS:,} rows, at most {MAX_ROWS_PER_BYTE} rows a byte"
            raise self.refuse(expected, f"groups of {str(sizes)[:60]} rows")

    def facts(self) -> bytes:
        found = (self._meta.metadata or {}).get(FACTS.encode())
        if found is None:
            raise described.foreign_file_error(self.source.name, "Parquet", f"metadata {FACTS!r}")
        if len(found) > described.MAX_DESCRIPTION_BYTES:
            raise self.refuse(f"metadata {FACTS!r} that describe the table", f"{len(found):,} bytes")
        return bytes(found)

    def settings(self) -> Settings:
        """Return the compression and columns with which the file says it was written; CorruptError for others."""
        text = json.loads(self.facts())
        compression = text.get("compression", DEFAULT_SETTINGS.compression)
        columns = text.get("columns", [])
        if compression not in COMPRESSIONS or not isinstance(columns, list):
            found = f"{compression!r:.40} and {columns!r:.40}"
            raise self.refuse("a compression and a list of columns", found)
        return Settings(compression, tuple(map(str, columns)))

    def check(self, table: Table, stored: list[Flat]) -> None:
        if self._begins[-1] != table.entries:
            raise self.refuse(f"{table.entries:,} rows", f"{self._begins[-1]:,}")
        for name in (NUMBER, *(column.name for column in stored)):
            if name not in self.columns:
                own = ", since it was written with some columns alone" if self.settings().columns else ""
                raise self.refuse(f"a column {name}", f"none{own}")

    def find_wrong_columns(self, table: Table, columns: list[Flat]) -> list[str]:
        """Return the names of the file's columns whose contents differ from what is written for the table.

        columns : those that the file should have. Differences between the lists of columns, and of the sizes of row
        groups, are named instead of contents.
        """
        names = [column.name for column in columns]
        if list(self.columns) != names:
            return ["the list of columns"]
        wrong = set()
        for k, piece in enumerate(flat.pieces(table, GROUP_ENTRIES)):
            found: Any = self._group(k, tuple(names)) if k + 1 < len(self._begins) else []
            if len(found) != piece.size:
                return ["the sizes of row groups"]
            for column, array in zip(columns, _arrow_arrays(piece, columns), strict=True):
                if _bytes_of(found.column(column.name).combine_chunks()) != _bytes_of(array):
                    wrong.add(column.name)
        return sorted(wrong)

    def fill(self, first: int, out: NDArray[Any], names: list[str]) -> None:
        stop = first + len(out)
        at = first
        while at < stop:
            k = bisect_right(self._begins, at) - 1
            end = min(stop, self._begins[k + 1])
            part = slice(at - self._begins[k], end - self._begins[k])
            group = self._group(k, tuple(names))
            for place, name in enumerate(names):
                out[at - first : end - first, place] = self._numbers(group, name, part, out.dtype)
            at = end

    def _group(self, k: int, names: tuple[str, ...]) -> Any:
        """Return columns of row group k, cached or read from the file."""
        with self._lock:
            self._cached[k, names] = self._cached.pop((k, names), None) or self._read_group(k, names)
            if len(self._cached) > CACHED_GROUPS:
                del self._cached[next(iter(self._cached))]
            return self._cached[k, names]

    def _read_group(self, k: int, names: tuple[str, ...]) -> Any:
        """Read columns of row group k, and check that its entries are in order of position number."""
        rows = self._begins[k + 1] - self._begins[k]
        try:
            # not the columns' own sizes: pyarrow ends the process for some damaged ones
            group = self._meta.row_group(k)
            if group.total_byte_size > MAX_BYTES_PER_NUMBER * (rows + (1 << 16)) * group.num_columns:
                raise self.refuse(f"{rows:,} rows of numbers", f"{group.total_byte_size:,} bytes of them")
            wanted = list(dict.fromkeys([NUMBER, *names]))
            found = self._file.read_row_group(k, columns=wanted).combine_chunks()
        except BgfmtError:
            raise
        except Exception as error:
            raise self.refuse(f"row group {k}", described.one_line(error)) from None
        numbers = self._numbers(found, NUMBER, slice(0, rows), np.dtype(np.int64))
        first = self._begins[k]
        if not np.array_equal(numbers, np.arange(first, first + rows)):
            raise self.refuse(f"rows in order of {NUMBER}, from {first:,} on", "others")
        return found

    def _numbers(self, group: Any, name: str, part: slice, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return numbers of a column, converted to the table's dtype; raises CorruptError if they do not fit."""
        column = group.column(name).slice(part.start, part.stop - part.start)
        found = column.to_numpy()
        numbers: NDArray[Any] = found
        sound = not column.null_count and found.dtype.kind in ("iu" if dtype.kind in "iu" else "f")
        if sound and found.dtype != dtype:
            numbers = found.astype(dtype)
            sound = np.array_equal(numbers, found, equal_nan=dtype.kind == "f")
        if not sound:
            raise self.refuse(f"numbers of {name} that fit {dtype}", f"others in a column of {column.type}")
        return numbers


def _bytes_of(array: Any) -> tuple[str, bytes]:
    """Return type and contents of an array whose chunks were combined."""
    if str(array.type) == "string":
        return "string", "\n".join(array.to_pylist()).encode()
    return str(array.type), array.to_numpy(zero_copy_only=False).tobytes()
