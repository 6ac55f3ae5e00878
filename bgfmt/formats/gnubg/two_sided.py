"""GNU Backgammon two-sided database.

offset  size  meaning                                                     source
0       40    header `gnubg-TS-PP-CC-U`, see _gnubg_header                 files of makebearoff 1.07
40      ...   n*n records of 4 (cubeful) or 1 uint16, little-endian;
              record us*n + them, equity = value / 32767.5 - 1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from bgfmt.errors import CapabilityError
from bgfmt.formats.base import Extent, Format, Head, Option
from bgfmt.formats.gnubg import header as gnubg
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import Table, TwoSided

MAX_PLAIN_POINTS = 12  # beyond, the sides' points overlap and makebearoff itself is no longer exact


class GnubgTwoSided(Format):
    name = "gnubg-ts"
    title = "GNU Backgammon two-sided"
    suffixes = (".bd",)
    carries = (TwoSided,)
    headerless: ClassVar[Mapping[str, type]] = {"points": int, "chequers": int, "cubeful": bool}
    options = (
        Option("header", bool, "write the 40 header bytes"),
        Option("cubeful", bool, "write all four equities, or the cubeless one alone"),
    )

    def recognise(self, head: Head) -> bool:
        return gnubg.kind(head.bytes) == "TS"

    def guess(self, source: Source) -> list[dict[str, Any]]:
        found = []
        for cubeful in (True, False):
            values = 4 if cubeful else 1
            for points in range(1, MAX_PLAIN_POINTS + 1):
                for chequers in range(1, 16):
                    n = board.count(points, chequers)
                    if n * n * values * 2 == source.size and self._ends_fit(source, n, values):
                        found.append({"points": points, "chequers": chequers, "cubeful": cubeful})
        return found

    @staticmethod
    def _ends_fit(source: Source, n: int, values: int) -> bool:
        """Row 0 (we have borne off) is all 0xFFFF, column 0 (they have) all 0; one chequer on the ace wins."""
        rows = source.array("<u2", (n, n, values), 0)
        return bool((rows[0] == 0xFFFF).all() and (rows[1:, 0] == 0).all() and (rows[1, 1:] == 0xFFFF).all())

    def read(self, source: Source, offset: int = 0, **described: Any) -> TwoSided:
        if described:
            raw, start = b"", offset
            points, chequers = int(described["points"]), int(described["chequers"])
            cubeful = bool(described.get("cubeful", True))
        else:
            spec = gnubg.read_sided(source, offset)
            points, chequers, cubeful, raw = spec["points"], spec["chequers"], spec["flags"][0], spec["raw"]
            start = offset + gnubg.SIZE
        n = board.count(points, chequers)
        values = 4 if cubeful else 1
        rows = source.array("<u2", (n, n, values), start, f"{points}x{chequers} two-sided table")
        extent = Extent(offset, start - offset + n * n * values * 2)
        return TwoSided(
            points=points,
            chequers=chequers,
            equities=rows,
            provenance=source.name,
            extra={"format": self.name, "gnubg_header": raw, "extent": extent},
            release=source.release,
        )

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        self.check_options(options)
        self.accept(table)
        assert isinstance(table, TwoSided)
        cubeful = self._cubeful(table, options)
        canonical = gnubg.canonical_two_sided(table.points, table.chequers, cubeful=cubeful)
        sink.write(gnubg.choose(table, canonical, options.get("header")))
        columns = slice(None) if cubeful == table.cubeful else slice(0, 1)
        for _, block in table.blocks():
            sink.write(block["equities"][..., columns].astype("<u2", copy=False))

    def accept(self, table: Table) -> None:
        super().accept(table)
        if table.exact:
            raise CapabilityError(
                "gnubg-ts holds 16-bit integers, not exact float64 equities; npz holds those"
            )

    @staticmethod
    def _cubeful(table: TwoSided, options: Mapping[str, Any]) -> bool:
        wanted = options.get("cubeful")
        if wanted and not table.cubeful:
            raise CapabilityError("a cubeless table has no cubeful equities; solve it anew to get them")
        return table.cubeful if wanted is None else bool(wanted)

    def info(self, table: Table) -> dict[str, Any]:
        assert isinstance(table, TwoSided)
        size = gnubg.SIZE + table.positions**2 * 2 * (4 if table.cubeful else 1)
        notes = [gnubg.slot_limits(size)]
        if not table.extra.get("gnubg_header"):
            notes.append("it has no header")
        if not table.cubeful:
            notes.append("bearoffdump prints 2e - 1 for cubeless files, and gnubg finds no cubeful equities")
        if table.points > MAX_PLAIN_POINTS:
            notes.append(f"{table.points} points are more than a pure race")
        unreadable = gnubg.slot_limits(size) or (
            None if table.extra.get("gnubg_header") else "it has no header"
        )
        return {
            "cubeful": table.cubeful,
            "header": bool(table.extra.get("gnubg_header")),
            "gnubg_name": "gnubg_ts0.bd" if (table.points, table.chequers) == (6, 6) else "gnubg_ts.bd",
            "gnubg_reads": unreadable is None,
            "notes": [note for note in notes if note],
        }

    def losses(self, table: Table, options: Mapping[str, Any]) -> list[str]:
        return []
