"""The format: writing by pages, reading row group by row group through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from bgfmt.errors import CorruptError, TruncatedError
from bgfmt.formats import described, records
from bgfmt.formats.base import Extent, Fault, Head, Options, Reading
from bgfmt.formats.described import AnyTable
from bgfmt.formats.outlets import Outlet
from bgfmt.formats.parquet import pages
from bgfmt.formats.parquet.reading import FACTS, Groups, arrow
from bgfmt.storage import Source, system
from bgfmt.tables import Table, flat

WRITER = "bgfmt"
ENTRIES = 1 << 20  # of a row group, about
AHEAD = 1  # row groups that are made while one is written
FEW = 24  # bytes that differ in a file of bgfmt's own whose writer's name is damaged


class Parquet(AnyTable):
    name = "parquet"
    title = "Apache Parquet"
    suffixes = (".parquet",)

    # -- reading ----------------------------------------------------------------------------------------

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(pages.MAGIC)

    def read(self, source: Source, offset: int = 0, **said: Any) -> Reading[Table]:
        size = source.size - offset
        first = source.bytes(offset, min(4, size))
        if not pages.MAGIC.startswith(first):
            raise CorruptError(source.name, offset, "PAR1", first)
        if size < 12 or source.bytes(source.size - 4, 4) != pages.MAGIC:
            raise TruncatedError(source.name, source.size + 4, source.size, "Parquet file with its footer")
        groups = Groups(source, offset)
        stored = described.Stored(groups.fill)
        table = described.table_of(groups.facts(), stored, source, groups.refuse)
        groups.check(table, stored.named(table))
        return Reading(table, Extent(offset, size))

    def info(self, reading: Reading[Table]) -> dict[str, Any]:
        return {"columns": len(flat.columns(reading.table))}

    # -- writing ----------------------------------------------------------------------------------------

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        arrow()  # without it a file is not written either, since it could not be read again
        columns = flat.columns(table)
        footer = pages.Footer(columns)
        sink.write(pages.MAGIC)
        for chunks, rows in _groups(table, columns):
            footer.add(chunks, rows, sink.written)
            for chunk in chunks:
                for data in chunk.data:
                    sink.write(data)
        sink.write(footer.made({FACTS: described.text_of(table, arrays=True)}, WRITER))

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """The file is compared with what this module writes for the same numbers.

        Another program's file differs throughout: it is one fault, since nothing accounts for its bytes.
        """
        by = Groups(source, extent.offset).writer
        faults = list(super().audit(source, table, extent))
        if by == WRITER or sum(fault.size for fault in faults) <= FEW:
            yield from faults
        else:
            found = f"one by {by[:60]!r}"
            yield Fault(extent.offset, extent.size, "Parquet layout", "a file written by bgfmt", found)
        for said in records.unknown(table):
            yield Fault(extent.offset, extent.size, FACTS, "what a program writes", said)


def _groups(table: Table, columns: list[flat.Flat]) -> Iterator[tuple[list[pages.Chunk], int]]:
    """The row groups in order, some made ahead by threads."""

    def made(piece: flat.Piece) -> tuple[list[pages.Chunk], int]:
        return pages.group(piece, columns), piece.size

    waiting: list[Future[tuple[list[pages.Chunk], int]]] = []
    with ThreadPoolExecutor(max(1, system.cores())) as pool:
        for rows, block, them in flat.pieces(table, ENTRIES):
            waiting.append(pool.submit(made, flat.Piece(table, rows, block, them)))
            if len(waiting) > AHEAD:
                yield waiting.pop(0).result()
                if table.release is not None:
                    table.release()
        for future in waiting:
            yield future.result()
