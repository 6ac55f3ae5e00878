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
FACTS_SCHEMA = "CREATE TABLE bgfmt (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
INDEX = "CREATE INDEX by_id ON positions (position_id)"
#: questions about a whole file, and the answers of one that bgfmt wrote
SOUND = {
    "PRAGMA application_id": 0,
    "PRAGMA user_version": 0,
    "PRAGMA freelist_count": 0,
    "PRAGMA integrity_check(1)": "ok",
    "SELECT count(*) FROM bgfmt": 1,
}
UNSUPPORTED_FLOATS = "SQLite keeps neither negative zeros nor what is no number"
VERSION_AT = 96  # offset of the version of the SQLite that last wrote the file
VERSION_FACTORS = np.array([10**6, 1000, 1])  # of the three numbers of a version
MAX_PATCH = 99  # the largest plausible last number


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
        if size < length:
            raise TruncatedError(source.name, offset + length, source.size, "SQLite database")
        if not head.startswith(MAGIC) or not 0 < length == size:
            expected = f"a SQLite database of {length:,} bytes"
            raise CorruptError(source.name, offset, expected, f"{size:,} bytes, {head[:16].hex(' ')} ...")
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
        faults = list(super().audit(source, table, extent))
        wrong = _Rows(source, extent.offset).find_difference(table) if faults else ""
        version = int.from_bytes(source.bytes(extent.offset + VERSION_AT, 4), "big")
        own = VERSION_FACTORS @ np.array(sqlite3.sqlite_version_info)
        where = extent.offset, extent.size
        if wrong:
            yield Fault(*where, "SQLite contents", EXPECTED, wrong)
        elif faults and version != own and version // 10**6 == 3 and version % 1000 <= MAX_PATCH:
            expected = f"a file of SQLite's version number {own}"
            yield Fault(*where, "SQLite layout", expected, f"{version}", carried=True)
        else:
            yield from faults
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
    return FACTS_SCHEMA, f"CREATE TABLE positions ({columns})"


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
            if tables != [("table", FACTS_SCHEMA)]:
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
            if self._definitions("positions") != [("table", _schema(table)[1])]:
                raise self.refuse(f"the table positions of a {table.kind} table", "another")
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
            with np.errstate(over="ignore"):
                part[:] = stored[:, 1:]
            own = np.column_stack([np.arange(begin, begin + len(part)), part])
            if not np.array_equal(stored, own):
                row = int((stored != own).any(axis=1).argmax())
                expected = f"position number {begin + row} and numbers that fit {part.dtype}"
                raise self.refuse(expected, f"{stored[row].tolist()} in row {begin + row:,}")

    def find_difference(self, table: Table) -> str:
        """Describe the first difference of the file's contents from what bgfmt writes for the table; "" if none."""
        with self._safely(table.entries + 1000):
            schema = {text for (text,) in self._db.execute("SELECT sql FROM sqlite_schema") if text}
            found = [self._db.execute(question).fetchone()[0] for question in SOUND]
        if schema != {*_schema(table), INDEX} or found != list(SOUND.values()):
            return f"other tables, indexes, header or pages: {dict(zip(SOUND, found, strict=True))}"
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
