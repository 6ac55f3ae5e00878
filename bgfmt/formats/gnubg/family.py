"""What gnubg's formats share: a header of 40 bytes or none, and the numbers behind it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from bgfmt.errors import CapabilityError
from bgfmt.formats.base import Format, Head, Layout, Option, Options, Reading, Region, Salvage, T
from bgfmt.formats.gnubg import header, salvage
from bgfmt.formats.gnubg.header import GnubgHeader, Said
from bgfmt.formats.outlets import Outlet
from bgfmt.formats.records import Record
from bgfmt.storage import Source
from bgfmt.tables import Table

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
        return list(salvage.fitting(self, source))

    def resembles(self, head: bytes) -> bool:
        return len(head) >= 6 and sum(a == b for a, b in zip(head[:6], b"gnubg-", strict=True)) >= 5

    def salvage(self, source: Source) -> Iterator[Salvage]:
        return salvage.candidates(self, source)

    def from_body(self, said: Said, body: bytes, name: str) -> Salvage | None:
        """The table that a header promises, over what there is of its numbers; None when that is far too little."""
        size = self.numbers(said)
        if size is None or size > 2 * len(body) + 64:
            return None
        image = said.canonical + body[:size] + bytes(max(0, size - len(body)))
        return Salvage(self.read(Source.from_bytes(image, name)).table, 1.0)
