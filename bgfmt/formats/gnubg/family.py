"""What gnubg's formats share: a header of 40 bytes or none, and the numbers behind it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, CapabilityError
from bgfmt.formats.base import Format, Head, Layout, Option, Options, Outlet, Reading, Region, Salvage, T
from bgfmt.formats.gnubg import header
from bgfmt.formats.gnubg.header import SIZE, GnubgHeader, Said
from bgfmt.formats.records import Record
from bgfmt.game import moves
from bgfmt.game.board import Side
from bgfmt.storage import Source
from bgfmt.tables import Table

LEAST_SAME = 30  # of 40 header bytes
FOR_SIZE = 8
MOST = 12  # headers of one kind that are tried
MOST_BYTES = 2 << 30

# ---- what the numbers of a file without header say of the table they belong to

FEW = 40  # sides whose chance to bear off in one roll is compared
OF = 36
LOOKED_AT = 64  # rows of a two-sided table


def fits_two_sided(rows: NDArray[Any], points: int) -> bool:
    """Whether stored equities (n, n, columns) can be those of a table of `points` points.

    Row 0 (we have borne off) is all 0xFFFF, column 0 (they have) all 0, and column 1 (they have a chequer on the ace
    point) holds 65535 times the chance to bear off in one roll, rounded one way or the other.
    """
    some = rows[np.unique(np.linspace(0, len(rows) - 1, LOOKED_AT, dtype=np.int64))]
    if not (some[0] == 0xFFFF).all() or some[1:, 0].any():
        return False
    sides = min(len(rows), FEW)
    wanted = np.array([one_roll(number, points) for number in range(1, sides)], np.int64)
    found = rows[1:sides][:, 1, 0].astype(np.int64)
    return bool((np.abs(found * OF - wanted * 65535) <= 2 * OF).all())


def fits_distributions(rows: NDArray[Any], points: int) -> bool:
    """Whether distributions (n, parts, 32) can be those of a table of `points` points, side by side.

    All add up to 65535, and the first number of rolls is 1 as often as a roll bears the whole side off.
    """
    some = rows[np.arange(0, len(rows), max(1, len(rows) // 1000))]
    if not (some.sum(axis=2, dtype=np.int64) == 65535).all():
        return False
    sides = min(len(rows), FEW)
    wanted = np.array([one_roll(number, points) for number in range(1, sides)], np.int64)
    found = rows[1:sides][:, 0, 1].astype(np.int64)
    return bool((np.abs(found * OF - wanted * 65535) <= 2 * OF).all())


@cache
def one_roll(number: int, points: int) -> int:
    """In how many of 36 rolls the side of this position number bears off all its chequers at once."""
    side = Side.from_number(number, points)
    if side.chequers > 4:
        return 0
    counts = side.padded(points)
    done = (0,) * points
    return sum(roll.weight * (done in moves.race_plays(counts, roll.high, roll.low)) for roll in moves.ROLLS)


HEADER_OPTION = Option("header", bool, "write the 40 header bytes")


class GnubgFormat(Format[T]):
    """One of gnubg's kinds of file, by the letters its header says it with."""

    kind: ClassVar[str]
    suffixes = (".bd",)
    by_range = True
    records: ClassVar[tuple[type[Record], ...]] = (GnubgHeader,)

    @abstractmethod
    def said_of(self, table: T, options: Options) -> Said:
        """What the header of this table's file says."""

    @abstractmethod
    def described(self, given: dict[str, Any]) -> Said:
        """What the header of a file without one would have said."""

    @abstractmethod
    def numbers(self, said: Said) -> int | None:
        """Bytes behind the header; None where that depends on the numbers."""

    # -- reading ----------------------------------------------------------------------------------------

    def recognise(self, head: Head) -> bool:
        return header.kind(head.bytes) == self.kind

    def opening(self, source: Source, offset: int, given: dict[str, Any]) -> tuple[Said, GnubgHeader, int]:
        """What is said of the table at `offset`, the header it was said in, and where the numbers begin."""
        if given:
            return self.described(given), GnubgHeader(b""), offset
        said, raw = header.checked(source, offset, self.kind)
        return said, GnubgHeader(raw), offset + header.SIZE

    def info(self, reading: Reading[T]) -> dict[str, Any]:
        return {"header": header.headed(reading.table)}

    def host_facts(self, reading: Reading[T]) -> dict[str, Any]:
        limit = header.slot_limits(reading.extent.size)
        headed = header.headed(reading.table)
        notes = [] if headed else ["it has no header"]
        notes += [limit] if limit else []
        return {"gnubg_name": None, "gnubg_reads": headed and limit is None, "notes": notes}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: T, options: Options) -> str | None:
        most = header.most_points(self.kind)
        if not (1 <= table.points <= most and 1 <= table.chequers <= 15):
            return f"{self.name} holds up to {most} points and 15 chequers, not {table.points} and {table.chequers}"
        return None

    def together(self, tables: Sequence[Table]) -> str | None:
        return None if tables else "no table was given"

    def header_of(self, table: T, options: Options) -> bytes:
        """The header bytes to write for this table: its file's own, the canonical ones, or none."""
        return header.choose(table, self.said_of(table, options).canonical, options)

    def emit(self, table: T, sink: Outlet, options: Options) -> None:
        sink.write(self.header_of(table, options))
        self.emit_numbers(table, sink, options)

    @abstractmethod
    def emit_numbers(self, table: T, sink: Outlet, options: Options) -> None:
        """The bytes behind the header."""

    # -- every byte -------------------------------------------------------------------------------------

    def as_written(self, table: T) -> tuple[T, Options]:
        record = table.record(GnubgHeader)
        kept = tuple(r for r in table.carried if r is not record)
        return replace(table, carried=kept), {"header": record is None or bool(record.raw)}

    def layout(self, table: T, **options: Any) -> Layout:
        first = self.header_of(table, options)
        size = self.numbers(self.said_of(table, options))
        if size is None:
            raise CapabilityError(f"the layout of a compressed {self.name} file depends on its numbers")

        def place(entry: int, column: str, item: int) -> int:
            return len(first) + self.place(table, options, entry, column, item)

        body = Region("numbers", len(first), size, numbers=True)
        return Layout(first, (*header.regions(first), body), place)

    @abstractmethod
    def place(self, table: T, options: Options, entry: int, column: str, item: int) -> int:
        """Where a number lies behind the header; see `Layout.offset_of`."""

    @abstractmethod
    def every(self) -> Iterator[Said]:
        """Every header of this kind that gnubg's programs write."""

    def in_words(self, said: Said) -> str:
        """A table of this kind in a few words."""
        return f"{said.points} points"

    def fitting(self, source: Source) -> list[str]:
        sizes = ((said, self.numbers(said)) for said in self.every())
        return [
            self.in_words(said) for said, size in sizes if size is not None and SIZE + size == source.size
        ]

    def resembles(self, head: bytes) -> bool:
        return len(head) >= 6 and sum(a == b for a, b in zip(head[:6], b"gnubg-", strict=True)) >= 5

    def salvage(self, source: Source) -> Iterator[Salvage]:
        """What a damaged file may have been: by its header, its size, and its numbers turned round or shifted.

        Every header that gnubg's programs write is held against the file's own first 40 bytes. One wrong digit in an
        intact header is far likelier than a body of exactly another kind's size, so the size counts like eight bytes
        of the header.
        """
        if source.size < SIZE or source.size > MOST_BYTES:
            return
        own, body = source.bytes(0, SIZE), source.bytes(SIZE, source.size - SIZE)
        scored = sorted(self._near(own, source.size), key=lambda pair: -pair[0])[:MOST]
        for near, said in scored:
            yield from self._read(said, body, source.name, near, own)
        even = len(body) & ~1
        turned = np.frombuffer(body[:even], "<u2").byteswap().tobytes() + body[even:]
        for near, said in scored[:2]:
            later = near / 2
            yield from self._read(said, turned, source.name, later, own, "its bytes were in the other order")
            for by in (1, 2, 8):
                how = f"its body was shifted by {by} bytes"
                yield from self._read(said, body[by:], source.name, later, own, how)
                how = f"its body was shifted by -{by} bytes"
                yield from self._read(said, bytes(by) + body, source.name, later, own, how)

    def _near(self, own: bytes, size: int) -> Iterator[tuple[float, Said]]:
        for said in self.every():
            same = sum(a == b for a, b in zip(own, said.canonical, strict=True))
            if same >= LEAST_SAME:
                numbers = self.numbers(said)
                fits = numbers is not None and SIZE + numbers == size
                yield (same + FOR_SIZE * fits) / (SIZE + FOR_SIZE), said

    def _read(
        self, said: Said, body: bytes, name: str, near: float, own: bytes, how: str = ""
    ) -> Iterator[Salvage]:
        try:
            found = self.from_body(said, body, name)
        except (BgfmtError, ValueError):
            return
        if found is not None:
            yield replace(found, near=near, sure=said.canonical[:20] == own[:20], how=how)

    def from_body(self, said: Said, body: bytes, name: str) -> Salvage | None:
        """The table that a header promises, over what there is of its numbers; None when that is far too little."""
        size = self.numbers(said)
        if size is None or size > 2 * len(body) + 64:
            return None
        image = said.canonical + body[:size] + bytes(max(0, size - len(body)))
        return Salvage(self.read(Source.from_bytes(image, name)).table, 1.0)
