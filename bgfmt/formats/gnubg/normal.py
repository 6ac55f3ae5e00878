"""GNU Backgammon one-sided database of normal distributions.

offset  size  meaning                                                     source
0       40    header `gnubg-OS-PP-15-1-0-1`, see _gnubg_header             files of makebearoff -n 1.07
40      16*n  four float32, little-endian: mean rolls to bear off, its standard deviation, mean rolls to
              save the gammon, its standard deviation (0 with fewer than 15 chequers)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from bgfmt.formats.base import Extent, Format, Head, Option
from bgfmt.formats.gnubg import header as gnubg
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import NormalOneSided, Table

FIRST_ROWS = bytes(16) + b"\x00\x00\x80\x3f" + bytes(12)


class GnubgNormal(Format):
    name = "gnubg-nd"
    title = "GNU Backgammon one-sided, normal distributions"
    suffixes = (".bd",)
    carries = (NormalOneSided,)
    headerless: ClassVar[Mapping[str, type]] = {"points": int, "chequers": int}
    options = (Option("header", bool, "write the 40 header bytes"),)

    def recognise(self, head: Head) -> bool:
        return gnubg.kind(head.bytes) == "ND"

    def guess(self, source: Source) -> list[dict[str, Any]]:
        if source.size < 32 or source.bytes(0, 32) != FIRST_ROWS:
            return []
        return [{"points": p, "chequers": 15} for p in range(1, 24) if board.count(p, 15) * 16 == source.size]

    def read(self, source: Source, offset: int = 0, **described: Any) -> NormalOneSided:
        if described:
            raw, start = b"", offset
            points, chequers = int(described["points"]), int(described.get("chequers", 15))
        else:
            spec = gnubg.read_sided(source, offset)
            points, chequers, raw = spec["points"], spec["chequers"], spec["raw"]
            start = offset + gnubg.SIZE
        n = board.count(points, chequers)
        rows = source.array("<f4", (n, 4), start, f"{points}-point normal-distribution table")
        return NormalOneSided(
            points=points,
            chequers=chequers,
            moments=rows,
            provenance=source.name,
            extra={
                "format": self.name,
                "gnubg_header": raw,
                "extent": Extent(offset, start - offset + 16 * n),
            },
            release=source.release,
        )

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        self.check_options(options)
        self.accept(table)
        canonical = gnubg.canonical_one_sided(
            table.points, table.chequers, gammon=True, compressed=False, normal=True
        )
        sink.write(gnubg.choose(table, canonical, options.get("header")))
        for _, block in table.blocks():
            sink.write(block["moments"].astype("<f4", copy=False))

    def info(self, table: Table) -> dict[str, Any]:
        headed = bool(table.extra.get("gnubg_header"))
        notes = ["gnubg 1.07 crashes when this is installed as gnubg_os.bd; bearoffdump reads it"]
        if not headed:
            notes.append("it has no header")
        return {"header": headed, "gnubg_name": None, "gnubg_reads": False, "notes": notes}
