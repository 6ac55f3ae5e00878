"""GNU Backgammon two-sided database.

offset  size  meaning                                                     source
0       40    header `gnubg-TS-PP-CC-U`, see header                       files of makebearoff 1.07
40      ...   n*n records of 4 (cubeful) or 1 uint16, little-endian;
              record us*n + them, equity = value / 32767.5 - 1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.base import Extent, Option, Options, Outlet, Reading
from bgfmt.formats.gnubg.family import HEADER_OPTION, GnubgFormat, fits_two_sided
from bgfmt.formats.gnubg.header import Said
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import TwoSided

MAX_PLAIN_POINTS = 12  # beyond, the sides' points overlap and makebearoff itself is no longer exact
COLUMNS = ("cubeless", "owned", "centered", "opponent")


class GnubgTwoSided(GnubgFormat[TwoSided]):
    kind = "TS"
    name = "gnubg-ts"
    title = "GNU Backgammon two-sided"
    carries = (TwoSided,)
    headerless: ClassVar[Mapping[str, type]] = {"points": int, "chequers": int, "cubeful": bool}
    options = (HEADER_OPTION, Option("cubeful", bool, "write all four equities, or the cubeless one alone"))

    # -- reading ----------------------------------------------------------------------------------------

    def guess(self, source: Source) -> list[dict[str, Any]]:
        found = []
        for cubeful in (True, False):
            values = 4 if cubeful else 1
            for points in range(1, MAX_PLAIN_POINTS + 1):
                for chequers in range(1, 16):
                    n = board.count(points, chequers)
                    if n * n * values * 2 == source.size:
                        rows = source.array("<u2", (n, n, values), 0)
                        if fits_two_sided(rows, points):
                            found.append({"points": points, "chequers": chequers, "cubeful": cubeful})
        return found

    def described(self, given: dict[str, Any]) -> Said:
        return Said("TS", given["points"], given["chequers"], cubeful=given.get("cubeful", True))

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[TwoSided]:
        said, record, start = self.opening(source, offset, described)
        n, values = board.count(said.points, said.chequers), 4 if said.cubeful else 1
        what = f"{said.points}x{said.chequers} two-sided table"
        table = TwoSided(
            points=said.points,
            chequers=said.chequers,
            equities=source.array("<u2", (n, n, values), start, what),
            provenance=source.name,
            carried=(record,),
            release=source.release,
        )
        return Reading(table, Extent(offset, start - offset + n * n * values * 2))

    def info(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        return {"cubeful": reading.table.cubeful} | super().info(reading)

    def host_facts(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        table, facts = reading.table, super().host_facts(reading)
        notes = facts["notes"]
        if not table.cubeful:
            notes.append("bearoffdump prints 2e - 1 for cubeless files, and gnubg finds no cubeful equities")
        if table.points > MAX_PLAIN_POINTS:
            notes.append(f"{table.points} points are more than a pure race")
        if table.points > 23:
            notes.append("gnubg's own reader refuses 24 points")
        name = "gnubg_ts0.bd" if (table.points, table.chequers) == (6, 6) else "gnubg_ts.bd"
        return facts | {
            "gnubg_name": name,
            "gnubg_reads": facts["gnubg_reads"] and table.points <= 23,
            "notes": notes,
        }

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: TwoSided, options: Options) -> str | None:
        if table.exact:
            return "gnubg-ts holds 16-bit integers, not exact float64 equities; npz holds those"
        if options.get("cubeful") and not table.cubeful:
            return "a cubeless table has no cubeful equities; solve it anew to get them"
        return super().refusal(table, options)

    def losses(self, table: TwoSided, options: Options) -> list[str]:
        dropped = table.cubeful and options.get("cubeful") is False
        return ["the cubeful equities are dropped"] if dropped else []

    def home_of(self, table: TwoSided) -> bool:
        return not table.exact

    def emit_numbers(self, table: TwoSided, sink: Outlet, options: Options) -> None:
        columns = slice(None) if _cubeful(table, options) == table.cubeful else slice(0, 1)
        for _, block in table.blocks():
            sink.write(block["equities"][..., columns].astype("<u2", copy=False))

    # -- every byte -------------------------------------------------------------------------------------

    def said_of(self, table: TwoSided, options: Options) -> Said:
        return Said("TS", table.points, table.chequers, cubeful=_cubeful(table, options))

    def numbers(self, said: Said) -> int:
        return board.count(said.points, said.chequers) ** 2 * (8 if said.cubeful else 2)

    def place(self, table: TwoSided, options: Options, entry: int, column: str, item: int) -> int:
        return 2 * (entry * (4 if _cubeful(table, options) else 1) + item)

    def arrays_in(
        self, room: NDArray[np.uint8], table: TwoSided, options: Options
    ) -> dict[str, NDArray[Any]]:
        n = table.positions
        return {"equities": room.view("<u2").reshape(n, n, -1)}

    def every(self) -> Iterator[Said]:
        for points in range(1, 24):
            for chequers in range(1, 16):
                for cubeful in (True, False):
                    yield Said("TS", points, chequers, cubeful=cubeful)

    def in_words(self, said: Said) -> str:
        return f"{said.points}x{said.chequers}{'' if said.cubeful else ' cubeless'}"


def _cubeful(table: TwoSided, options: Options) -> bool:
    wanted = options.get("cubeful")
    return table.cubeful if wanted is None else bool(wanted)
