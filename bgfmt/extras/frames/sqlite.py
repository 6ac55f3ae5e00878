"""SQLite 3: any table, one row for each entry, with an index of Position IDs.

table bgfmt       key, value: `table`, whose value has kind, size, arrays and facts, as in npz's bgfmt.json
table positions   the columns of `bgfmt.tables.flat`; `position_number` is the primary key
index by_id       positions by `position_id`

Equal tables give equal files if SQLite's version, which the file states, is the same.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from itertools import zip_longest
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, CapabilityError, CorruptError, TruncatedError
from bgfmt.extras.frames.columns import StoredColumns
from bgfmt.formats import described, records
from bgfmt.formats.base import Extent, Fault, Options, Outlet, Reading
from bgfmt.formats.described import AnyTable
from bgfmt.storage import MappedSource, Source
from bgfmt.tables import Table, flat

MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
PAGE_BYTES = 4096
BATCH_ENTRIES = 1 << 16  # entries that are read or written together
COPY_BYTES = 8 << 20
EXPECTED = "what bgfmt writes for the same numbers"
FACTS = "table"
STEPS_PER_CHECK = 10_000  # instructions of SQLite's virtual machine between two checks
MAX_STEPS_PER_ENTRY = 200  # instructions of its virtual machine; an intact file needs about ten
TYPES = {"number": "INTEGER PRIMARY KEY", "id": "TEXT NOT NULL", "count": "INTEGER NOT NULL"}
BETWEEN = "position_number >= ? AND position_number < ? ORDER BY position_number"
INDEX = "CREATE INDEX by_id ON positions (position_id)"
#: header fields that bgfmt leaves at zero, and the number of unused pages
UNUSED = ("application_id", "user_version", "freelist_count")
UNSUPPORTED_FLOATS = "SQLite keeps neither negative zeros nor what is no number"
VERSION_AT = 96  # offset of the version of the SQLite that last wrote the file
# largest plausible numbers of a version
MAX_MINOR = 199
MAX_PATCH = 99


class Sqlite(AnyTable):
    name = "sqlite"
    title = "SQLite"
    suffixes = (".sqlite", ".sqlite3")
    magic = MAGIC

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[Table]:
        head = source.bytes(offset, HEADER_BYTES, "SQLite header")
        page = int.from_bytes(head[16:18], "big")
        length = (65536 if page == 1 else page) * int.from_bytes(head[28:32], "big")
        size = source.size - offset
        if not head.startswith(MAGIC) or length == 0:
            raise CorruptError(source.name, offset, "a SQLite header", head[:32].hex(" "))
        if size != length:
            if size < length:
                raise TruncatedError(source.name, offset + length, source.size, "SQLite database")
            more = f"{size - length:,} bytes"
            raise CorruptError(source.name, offset + length, "the end of the database", more)
        return Reading(_Rows(source, offset).table(), Extent(offset, size))

    def info(self, reading: Reading[Table]) -> dict[str, Any]:
        return {"columns": len(flat.columns(reading.table))}

    # -- writing ----------------------------------------------------------------------------------------

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        with _temporary() as (file, db):
            try:
                _fill(table, db)
            except sqlite3.IntegrityError:  # the value of a number is NaN
                raise CapabilityError(UNSUPPORTED_FLOATS) from None
            except sqlite3.OperationalError as error:  # no room, most likely
                raise OSError(errno.EIO, f"cannot be written: {error}", tempfile.gettempdir()) from None
            while data := file.read(COPY_BYTES):
                sink.write(data)

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """Compare the file with what bgfmt and this version of SQLite write for the same numbers; yield differences.

        If another version of SQLite wrote the file, the contents of its tables are compared instead of its bytes.
        """
        here = extent.offset + VERSION_AT
        version = int.from_bytes(source.bytes(here, 4), "big")
        major = version // 10**6
        minor = version // 1000 % 1000
        patch = version % 1000
        faults = list(super().audit(source, table, extent))
        own = (major, minor, patch) == sqlite3.sqlite_version_info
        if own or major != 3 or minor > MAX_MINOR or patch > MAX_PATCH:
            wrong = _Rows(source, extent.offset).find_difference(table) if faults else ""
            if wrong:
                faults[0] = replace(faults[0], rule="SQLite contents", expected=EXPECTED, found=wrong)
            yield from faults
        else:
            alone = all(here <= fault.offset and fault.offset + fault.size <= here + 4 for fault in faults)
            at, size = (here, 4) if alone else (extent.offset, extent.size)
            expected = f"a file written by SQLite {sqlite3.sqlite_version}"
            version_text = f"one by SQLite {major}.{minor}.{patch}"
            yield Fault(at, size, "SQLite layout", expected, version_text, carried=True)
            wrong = "" if alone else _Rows(source, extent.offset).find_difference(table)
            if wrong:
                yield Fault(at, size, "SQLite contents", EXPECTED, wrong)
        for text in records.unknown(table):
            yield Fault(extent.offset, extent.size, "words of the table", "what a program writes", text)


# -- writing ---------------------------------------------------------------------------------------------


def _rows(table: Table) -> Iterator[tuple[int, Iterator[tuple[Any, ...]]]]:
    """Yield the rows of the SQL table `positions` in batches: (number of rows, iterator over the rows)."""
    columns = flat.columns(table)
    for piece in flat.pieces(table, BATCH_ENTRIES):
        for numbers in piece.block.values():
            odd = numbers.dtype.kind == "f" and np.isnan(numbers) | (np.signbit(numbers) & (numbers == 0))
            if np.any(odd):
                raise CapabilityError(UNSUPPORTED_FLOATS)
        yield piece.size, zip(*piece.lists(columns), strict=True)


def _schema(table: Table) -> tuple[str, ...]:
    """Return the SQL statements that create the tables; the index is created last, by `INDEX`."""
    kinds = {"i": "INTEGER NOT NULL", "u": "INTEGER NOT NULL", "f": "REAL NOT NULL"}
    pairs = [(c.name, TYPES.get(c.role) or kinds[c.dtype.kind]) for c in flat.columns(table)]
    columns = ", ".join(f'"{name}" {kind}' for name, kind in pairs)
    return (
        "CREATE TABLE bgfmt (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        f"CREATE TABLE positions ({columns})",
    )


@contextmanager
def _temporary() -> Iterator[tuple[BinaryIO, sqlite3.Connection]]:
    """Open an empty database in the folder for temporary files, and the same file for reading.

    Where the system allows it, the name is removed as soon as SQLite has opened the file, so that a killed process
    leaves nothing.
    """
    handle, path = tempfile.mkstemp(prefix="bgfmt-")
    named = True
    try:
        with open(handle, "rb") as file, closing(sqlite3.connect(path, isolation_level=None)) as db:
            for pragma in (
                f"page_size={PAGE_BYTES}",
                "journal_mode=OFF",
                "synchronous=OFF",
                "encoding='UTF-8'",
            ):
                db.execute(f"PRAGMA {pragma}").fetchall()
            with suppress(OSError):  # Windows removes no open file
                os.unlink(path)
                named = False
            yield file, db
    finally:
        if named:
            os.unlink(path)


def _fill(table: Table, db: sqlite3.Connection) -> None:
    """Write the rows of a table into an empty database."""
    columns = flat.columns(table)
    line = f"INSERT INTO positions VALUES ({', '.join('?' * len(columns))})"
    db.execute("BEGIN")
    for text in _schema(table):
        db.execute(text)
    db.execute("INSERT INTO bgfmt VALUES (?, ?)", (FACTS, described.text_of(table, arrays=True).decode()))
    for _, rows in _rows(table):
        db.executemany(line, rows)
    db.execute(INDEX)
    db.execute("COMMIT")


# -- reading ---------------------------------------------------------------------------------------------


class _Rows(StoredColumns):
    """Rows of a database, queried by position number."""

    def __init__(self, source: Source, offset: int) -> None:
        super().__init__(source, offset)
        # one thread at a time: sqlite3 waits for a connection in use while it holds the GIL
        self._turn = Lock()
        if isinstance(source, MappedSource) and offset == 0 and source.path is not None:
            uri = source.path.absolute().as_uri() + "?mode=ro&immutable=1"
            self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        else:
            self._db = sqlite3.connect(":memory:", check_same_thread=False)
            self._db.deserialize(source.bytes(offset, source.size - offset))
        with self._safely():
            self._db.execute("PRAGMA trusted_schema=OFF")

    @contextmanager
    def _safely(self, entries: int = 1000) -> Iterator[None]:
        """Convert SQLite's errors to ours, and interrupt queries that take more steps than `entries` rows need."""
        left = iter(range(0, MAX_STEPS_PER_ENTRY * entries, STEPS_PER_CHECK))
        try:
            with self._turn:
                self._db.set_progress_handler(lambda: int(next(left, None) is None), STEPS_PER_CHECK)
                yield
        except BgfmtError:
            raise
        except (sqlite3.Error, ValueError, OverflowError, MemoryError) as error:
            raise self.refuse("a sound SQLite database", described.one_line(error)) from None

    def facts(self) -> str:
        with self._safely():
            tables = self._definitions("bgfmt")
            if not tables:
                raise described.foreign_file_error(self.source.name, "SQLite", "table `bgfmt`")
            if len(tables) != 1 or not str(tables[0][1]).startswith("CREATE TABLE bgfmt (key TEXT"):
                raise self.refuse("a table bgfmt that describes the numbers", "another")
            text = "SELECT value FROM bgfmt WHERE key = ? AND length(value) <= ?"
            row = self._db.execute(text, (FACTS, described.MAX_DESCRIPTION_BYTES)).fetchone()
        if row is None or not isinstance(row[0], str):
            raise self.refuse(f"a text {FACTS!r} in the table bgfmt", "none")
        return row[0]

    def _definitions(self, name: str) -> list[tuple[str, str]]:
        """Return (type, SQL) of what has this name in the schema."""
        return self._db.execute("SELECT type, sql FROM sqlite_schema WHERE name = ?", (name,)).fetchall()

    def check(self, table: Table, stored: list[flat.Flat]) -> None:
        with self._safely():
            for text in _schema(table):
                name = text.split()[2]
                if self._definitions(name) != [("table", text)]:
                    raise self.refuse(f"the table {name} of a {table.kind} table", "another")
            questions = (f"SELECT {what}(position_number) FROM positions" for what in ("min", "max"))
            ends = tuple(self._db.execute(text).fetchone()[0] for text in questions)
        if ends != (0, table.entries - 1):
            found = f"{ends[0]!r:.40} to {ends[1]!r:.40}"
            raise self.refuse(f"position numbers 0 to {table.entries - 1:,}", found)

    def fill(self, first: int, out: NDArray[Any], names: list[str]) -> None:
        chosen = ", ".join(f'"{name}"' for name in names)
        text = f"SELECT position_number, {chosen} FROM positions WHERE {BETWEEN}"
        for start in range(0, len(out), BATCH_ENTRIES):
            part = out[start : start + BATCH_ENTRIES]
            begin = first + start
            with self._safely(len(part) * (1 + len(names) // 8) + 1000):
                rows = self._db.execute(text, (begin, begin + len(part))).fetchmany(len(part) + 1)
                stored = np.array(rows) if rows else np.zeros((0, 1))
            if stored.shape != (len(part), 1 + len(names)) or stored.dtype.kind not in "iuf":
                raise self.refuse(f"{len(part):,} rows of numbers from {begin:,} on", "others")
            if not np.array_equal(stored[:, 0], np.arange(begin, begin + len(part))):
                raise self.refuse(f"position numbers from {begin:,} on", "others")
            numbers = stored[:, 1:]
            if part.dtype.kind in "iu" and stored.dtype.kind == "f":
                raise self.refuse(f"numbers that fit {part.dtype}", "others")
            with np.errstate(over="ignore"):
                part[:] = numbers
            if not np.array_equal(part, numbers):
                row = int((part != numbers).any(axis=1).argmax())
                found = f"{numbers[row].tolist()} in row {begin + row:,}"
                raise self.refuse(f"numbers that fit {part.dtype}", found)

    def find_difference(self, table: Table) -> str:
        """Describe the first difference of the file's contents from what bgfmt writes for the table; "" if none."""
        with self._safely(table.entries + 1000):
            schema = {text for (text,) in self._db.execute("SELECT sql FROM sqlite_schema") if text}
            if schema != {*_schema(table), INDEX}:
                return "other tables or indexes"
            if any(self._db.execute(f"PRAGMA {name}").fetchone() != (0,) for name in UNUSED):
                return "numbers in the header, or pages without use"
            if self._db.execute("SELECT count(*) FROM bgfmt").fetchone() != (1,):
                return "more in the table bgfmt"
            if self._db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                return "pages or an index that do not agree"
        if self.facts() != described.text_of(table, arrays=True).decode():
            return "another text in the table bgfmt"
        at = 0
        for size, rows in _rows(table):
            with self._safely(size * (2 + len(flat.columns(table)) // 8) + 1000):
                text = f"SELECT * FROM positions WHERE {BETWEEN}"
                stored = self._db.execute(text, (at, at + size)).fetchall()
            pairs = enumerate(zip_longest(stored, rows))
            wrong = next((row for row, (one, other) in pairs if one != other), None)
            if wrong is not None:
                return f"columns that mean something else, first in row {at + wrong:,}"
            at += size
        return ""
