"""Hugh Sconyers's two-sided database in 44 files, from a description; no genuine file was seen.

bg15_1.dat to bg15_44.dat, no header: records of four float32, little-endian, equities cubeless, owned, centered and
opponent's cube; 6 points, 15 chequers; sides without chequers are left out.

record  54263 * (us - 1) + (them - 1) in position numbers; each file has 1250 rows of us, the last one 513

Fewer chequers are ours: the same in bgC_1.dat, ... of C chequers, 1250 rows of us a file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, FormatError, TruncatedError
from bgfmt.formats.base import Format, Head, Layout, Options, Outlet, Reading, Region
from bgfmt.game import board
from bgfmt.storage import FolderSource, Source
from bgfmt.tables import FineTwoSided
from bgfmt.tables.rows import LazyRows, Rows

POINTS = 6
RECORD = 16
ROWS = 1250
FILE = re.compile(r"bg([1-9]|1[0-5])_([1-9][0-9]?)\.dat")
TRIED = 64  # rows that are looked at before bytes without a name are taken for such a table


class Sconyers(Format[FineTwoSided]):
    name = "sconyers"
    title = "Hugh Sconyers's database"
    carries = (FineTwoSided,)
    historic = True
    notes = ("status: documented, no genuine file seen",)
    headerless = {"chequers": int}  # noqa: RUF012 - as the base class declares it

    def parts(self, folder: str, names: Collection[str]) -> list[str] | None:
        matches = [FILE.fullmatch(name) for name in names]
        tables = sorted({int(match.group(1)) for match in matches if match})
        if not tables:
            return None
        if len(tables) > 1:
            raise FormatError(f"{folder}: files of tables of {' and '.join(map(str, tables))} chequers")
        expected = [name for name, _ in _files(tables[0])]
        missing = [name for name in expected if name not in names]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise FormatError(f"{folder}: {missing[0]}{more} of {expected[0]} to {expected[-1]} missing")
        return expected

    def recognise(self, head: Head) -> bool:
        return bool(head.files) and FILE.fullmatch(head.files[0]) is not None

    def guess(self, source: Source) -> list[dict[str, Any]]:
        """By size; bytes without a name are taken for such a table only where their first rows make sense."""
        sizes = {chequers: RECORD * _rows(chequers) ** 2 for chequers in range(1, board.MAX_CHEQUERS + 1)}
        fitting = [chequers for chequers, size in sizes.items() if size == source.size]
        return [{"chequers": chequers} for chequers in fitting if self._sensible(source, chequers)]

    def _sensible(self, source: Source, chequers: int) -> bool:
        table = self.read(source, chequers=chequers).table
        blocks = islice(table.blocks(1 << 16), TRIED)
        return not any(b.bad.any() for rows, block in blocks for b in table.breaches(rows.start, block))

    def read(
        self, source: Source, offset: int = 0, chequers: int = board.MAX_CHEQUERS, **described: Any
    ) -> Reading[FineTwoSided]:
        if isinstance(source, FolderSource):
            first = FILE.fullmatch(next(iter(source.files), ""))
            if first is None:
                raise FormatError(f"{source.name}: no folder of such files (bg15_1.dat, ...)")
            chequers = int(first.group(1))
            for name, size in _files(chequers):
                file = source.files[name]
                if file.size < size:
                    raise TruncatedError(file.name, size, file.size)
                if file.size > size:
                    raise CorruptError(file.name, size, "the end of the file", f"{file.size:,} bytes")
        rows = _rows(chequers)
        what = f"{POINTS}x{chequers} two-sided table"
        equities = _framed(source.array("<f4", (rows, rows, 4), offset, what))
        return Reading.of(FineTwoSided, source, offset, RECORD * rows**2, POINTS, chequers, equities=equities)

    def info(self, reading: Reading[FineTwoSided]) -> dict[str, Any]:
        return {"files": len(_files(reading.table.chequers))}

    def files(self, table: FineTwoSided, options: Options) -> list[tuple[str, int]]:
        return _files(table.chequers)

    def refusal(self, table: FineTwoSided, options: Options) -> str | None:
        if table.points != POINTS:
            return f"{self.name} holds {POINTS} points, not {table.points}"
        if table.equities.dtype.kind != "f":
            return f"{self.name} holds float32 equities, not 24-bit integers"
        return None

    def emit(self, table: FineTwoSided, sink: Outlet, options: Options) -> None:
        for part, block in table.blocks():
            rows = block["equities"]
            if (rows[: 1 if part.start == 0 else 0] != 1).any() or (rows[part.start == 0 :, 0] != -1).any():
                left_out = f"{self.name} leaves out sides without chequers"
                raise CapabilityError(f"{left_out}; theirs are not 1 and -1")
            sink.write(np.ascontiguousarray(rows[part.start == 0 :, 1:], "<f4"))

    def layout(self, table: FineTwoSided, **options: Any) -> Layout:
        n = table.positions

        def place(entry: int, column: str, item: int) -> int:
            us, them = divmod(entry, n)
            if not (us and them):
                raise CapabilityError(f"{self.name} leaves out sides without chequers")
            return RECORD * ((n - 1) * (us - 1) + them - 1) + 4 * item

        return Layout(b"", (Region("numbers", 0, RECORD * (n - 1) ** 2, numbers=True),), place)


def _rows(chequers: int) -> int:
    """Sides with chequers."""
    return board.count(POINTS, chequers) - 1


def _files(chequers: int) -> list[tuple[str, int]]:
    """Names and sizes of the files of a table."""
    rows = _rows(chequers)
    firsts = enumerate(range(0, rows, ROWS), 1)
    return [(f"bg{chequers}_{k}.dat", RECORD * rows * min(ROWS, rows - first)) for k, first in firsts]


def _framed(inner: Rows) -> LazyRows:
    """The records with those of sides without chequers around them: a side that has none has won."""
    n = inner.shape[0] + 1

    def fetch(start: int, stop: int) -> NDArray[np.float32]:
        out = np.empty((stop - start, n, 4), np.float32)
        out[:, 0] = -1
        first = max(start, 1)
        if start < first <= stop:
            out[0] = 1
        if first < stop:
            out[first - start :, 1:] = inner[first - 1 : stop - 1]
        return out

    def pairs(us: NDArray[np.int64], them: NDArray[np.int64]) -> NDArray[np.float32]:
        out = np.full((len(us), 4), -1, np.float32)
        out[us == 0] = 1
        both = (us > 0) & (them > 0)
        out[both] = inner[us[both] - 1, them[both] - 1]
        return out

    return LazyRows((n, n, 4), "f4", fetch, pairs=pairs)
