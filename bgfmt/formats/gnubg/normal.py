"""GNU Backgammon one-sided database of normal distributions.

offset  size  meaning                                                     source
0       40    header `gnubg-OS-PP-15-1-0-1`, see header                   files of makebearoff -n 1.07
40      16*n  four float32, little-endian: mean rolls to bear off, its standard deviation, mean rolls to
              save the gammon, its standard deviation (0 with fewer than 15 chequers)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.base import Extent, Options, Outlet, Reading
from bgfmt.formats.gnubg.family import HEADER_OPTION, GnubgFormat
from bgfmt.formats.gnubg.header import Said
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import NormalOneSided

FIRST_ROWS = bytes(16) + b"\x00\x00\x80\x3f" + bytes(12)
ROW = 16


class GnubgNormal(GnubgFormat[NormalOneSided]):
    kind = "ND"
    name = "gnubg-nd"
    title = "GNU Backgammon one-sided, normal distributions"
    carries = (NormalOneSided,)
    headerless: ClassVar[Mapping[str, type]] = {"points": int, "chequers": int}
    options = (HEADER_OPTION,)

    # -- reading ----------------------------------------------------------------------------------------

    def guess(self, source: Source) -> list[dict[str, Any]]:
        if source.size < 32 or source.bytes(0, 32) != FIRST_ROWS:
            return []
        return [
            {"points": p, "chequers": 15} for p in range(1, 24) if board.count(p, 15) * ROW == source.size
        ]

    def described(self, given: dict[str, Any]) -> Said:
        return Said("ND", given["points"], given.get("chequers", 15))

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[NormalOneSided]:
        said, record, start = self.opening(source, offset, described)
        n = board.count(said.points, said.chequers)
        what = f"{said.points}-point normal-distribution table"
        table = NormalOneSided(
            points=said.points,
            chequers=said.chequers,
            moments=source.array("<f4", (n, 4), start, what),
            provenance=source.name,
            carried=(record,),
            release=source.release,
        )
        return Reading(table, Extent(offset, start - offset + ROW * n))

    def host_facts(self, reading: Reading[NormalOneSided]) -> dict[str, Any]:
        crash = "gnubg 1.07 crashes when this is installed as gnubg_os.bd; bearoffdump reads it"
        notes = super().host_facts(reading)["notes"]
        return {"gnubg_name": None, "gnubg_reads": False, "notes": [crash, *notes]}

    # -- writing ----------------------------------------------------------------------------------------

    def home_of(self, table: NormalOneSided) -> bool:
        return True

    def emit_numbers(self, table: NormalOneSided, sink: Outlet, options: Options) -> None:
        for _, block in table.blocks():
            sink.write(block["moments"].astype("<f4", copy=False))

    # -- every byte -------------------------------------------------------------------------------------

    def said_of(self, table: NormalOneSided, options: Options) -> Said:
        return Said("ND", table.points, table.chequers, gammon=True)

    def numbers(self, said: Said) -> int:
        return board.count(said.points, said.chequers) * ROW

    def place(self, table: NormalOneSided, options: Options, entry: int, column: str, item: int) -> int:
        return ROW * entry + 4 * item

    def arrays_in(
        self, room: NDArray[np.uint8], table: NormalOneSided, options: Options
    ) -> dict[str, NDArray[Any]]:
        return {"moments": room.view("<f4").reshape(-1, 4)}

    def every(self) -> Iterator[Said]:
        return (Said("ND", points, 15, gammon=True) for points in range(1, 19))

    def in_words(self, said: Said) -> str:
        return f"{said.points} points of normal distributions"
