"""GNU Backgammon hypergammon database.

offset  size  meaning                                                     source
0       40    header `gnubg-HC`, C = 1, 2 or 3 chequers, see _gnubg_header files of makehyper 1.07
40      28    a record for each (us, them), us*n + them, n = C(25 + C, C):
              nine 24-bit little-endian numbers and one zero byte
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from bgfmt.errors import HeaderError
from bgfmt.formats.base import Extent, Format, Head, Option
from bgfmt.formats.gnubg import header as gnubg
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import Hypergammon, Table

POINTS = 25
RECORD = 28


class GnubgHypergammon(Format):
    name = "gnubg-hyper"
    title = "GNU Backgammon hypergammon"
    suffixes = (".bd",)
    carries = (Hypergammon,)
    headerless: ClassVar[Mapping[str, type]] = {"chequers": int}
    options = (Option("header", bool, "write the 40 header bytes"),)

    def recognise(self, head: Head) -> bool:
        return gnubg.kind(head.bytes) == "H"

    def guess(self, source: Source) -> list[dict[str, Any]]:
        for chequers in (1, 2, 3):
            n = board.count(POINTS, chequers)
            if n * n * RECORD == source.size and not source.array("u1", (n * n, RECORD), 0)[:, 27].any():
                return [{"chequers": chequers}]
        return []

    def read(self, source: Source, offset: int = 0, **described: Any) -> Hypergammon:
        if described:
            raw, start, chequers = b"", offset, int(described["chequers"])
        else:
            spec = source.header(gnubg.HYPER, gnubg.SIZE, offset)
            raw, start, chequers = source.bytes(offset, gnubg.SIZE), offset + gnubg.SIZE, spec.chequers
            if not 1 <= chequers <= 3:
                raise HeaderError(source.name, "chequers", offset + 7, "1, 2 or 3", chequers)
        n = board.count(POINTS, chequers)
        records = source.array("u1", (n, n, RECORD), start, f"{chequers}-chequer hypergammon table")
        return Hypergammon(
            points=POINTS,
            chequers=chequers,
            records=records,
            provenance=source.name,
            extra={
                "format": self.name,
                "gnubg_header": raw,
                "extent": Extent(offset, start - offset + n * n * RECORD),
            },
            release=source.release,
        )

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        self.check_options(options)
        self.accept(table)
        sink.write(gnubg.choose(table, gnubg.canonical_hyper(table.chequers), options.get("header")))
        for _, block in table.blocks():
            sink.write(block["records"])

    def info(self, table: Table) -> dict[str, Any]:
        headed = bool(table.extra.get("gnubg_header"))
        return {
            "header": headed,
            "gnubg_name": f"hyper{table.chequers}.bd",
            "gnubg_reads": headed,
            "notes": [] if headed else ["it has no header"],
        }
