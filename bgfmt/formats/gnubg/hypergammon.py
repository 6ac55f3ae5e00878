"""GNU Backgammon hypergammon database.

offset  size  meaning                                                     source
0       40    header `gnubg-HC`, C = 1, 2 or 3 chequers, see header       files of makehyper 1.07
40      28    a record for each (us, them), us*n + them, n = C(25 + C, C):
              nine 24-bit little-endian numbers and one zero byte
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.base import Extent, Fault, Options, Outlet, Reading, shown
from bgfmt.formats.gnubg.family import HEADER_OPTION, GnubgFormat
from bgfmt.formats.gnubg.header import Said
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import Hypergammon

POINTS = 25
RECORD = 28


class GnubgHypergammon(GnubgFormat[Hypergammon]):
    kind = "H"
    name = "gnubg-hyper"
    title = "GNU Backgammon hypergammon"
    carries = (Hypergammon,)
    headerless: ClassVar[Mapping[str, type]] = {"chequers": int}
    options = (HEADER_OPTION,)

    # -- reading ----------------------------------------------------------------------------------------

    def guess(self, source: Source) -> list[dict[str, Any]]:
        for chequers in (1, 2, 3):
            n = board.count(POINTS, chequers)
            if n * n * RECORD == source.size:
                rows = source.array("u1", (n * n, RECORD), 0)
                some = rows[np.arange(0, n * n, max(1, n * n // 4096))]
                return [] if some[:, RECORD - 1].any() else [{"chequers": chequers}]
        return []

    def described(self, given: dict[str, Any]) -> Said:
        return Said("H", POINTS, given["chequers"])

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[Hypergammon]:
        said, record, start = self.opening(source, offset, described)
        n = board.count(POINTS, said.chequers)
        what = f"{said.chequers}-chequer hypergammon table"
        table = Hypergammon(
            points=POINTS,
            chequers=said.chequers,
            carried=(record,),
            records=source.array("u1", (n, n, RECORD), start, what),
            provenance=source.name,
            release=source.release,
        )
        return Reading(table, Extent(offset, start - offset + n * n * RECORD))

    def host_facts(self, reading: Reading[Hypergammon]) -> dict[str, Any]:
        return super().host_facts(reading) | {"gnubg_name": f"hyper{reading.table.chequers}.bd"}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: Hypergammon, options: Options) -> str | None:
        if table.points != POINTS or not 1 <= table.chequers <= 3:
            return f"gnubg-hyper holds 25 points and 1 to 3 chequers, not {table.points} and {table.chequers}"
        return None

    def home_of(self, table: Hypergammon) -> bool:
        return True

    def emit_numbers(self, table: Hypergammon, sink: Outlet, options: Options) -> None:
        for _, block in table.blocks():
            sink.write(block["records"])

    # -- every byte -------------------------------------------------------------------------------------

    def said_of(self, table: Hypergammon, options: Options) -> Said:
        return Said("H", POINTS, table.chequers)

    def numbers(self, said: Said) -> int:
        return board.count(POINTS, said.chequers) ** 2 * RECORD

    def place(self, table: Hypergammon, options: Options, entry: int, column: str, item: int) -> int:
        return RECORD * entry + item

    def arrays_in(
        self, room: NDArray[np.uint8], table: Hypergammon, options: Options
    ) -> dict[str, NDArray[Any]]:
        n = table.positions
        return {"records": room.reshape(n, n, RECORD)}

    def audit(self, source: Source, table: Hypergammon, extent: Extent) -> Iterator[Fault]:
        yield from super().audit(source, table, extent)
        start = extent.end - table.positions**2 * RECORD
        for rows, block in table.blocks():
            last = block["records"][..., RECORD - 1].reshape(-1)
            for k in np.flatnonzero(last)[:100]:
                at = start + (rows.start * table.positions + int(k)) * RECORD + RECORD - 1
                yield Fault(at, 1, "zero byte of a record", shown(b"\0"), shown(last[k].tobytes()))

    def every(self) -> Iterator[Said]:
        return (Said("H", POINTS, chequers) for chequers in (1, 2, 3))

    def in_words(self, said: Said) -> str:
        return f"{said.chequers} chequer{'s' * (said.chequers > 1)}"
