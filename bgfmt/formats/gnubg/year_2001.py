"""GNU Backgammon's `gnubg.bd` as it was until November 2002: two tables in one file, and no header.

offset   size     meaning                                                          source
0        3472896  54264 records of 32 uint16, little-endian: chances, parts of      published MD5 sum, see
                  65535, to bear off in exactly k rolls; 6 points, 15 chequers      docs/formats/gnubg-2001.md
3472896  1707552  924 x 924 uint16, us*924 + them: chance of the side on roll to
                  win, parts of 65535; 6 points, 6 chequers

A chance p of 65535 is the cubeless equity 2p - 1 = value / 32767.5 - 1, so that the second part is a cubeless
two-sided table as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import FormatError, TruncatedError
from bgfmt.formats.base import Extent, Format, Head, Layout, Options, Reading, Region
from bgfmt.formats.outlets import Outlet
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import OneSided, Table, TwoSided

POINTS, ROLLS = 6, 32
SIDES, PAIRED = board.count(POINTS, 15), board.count(POINTS, 6)
FIRST, SECOND = 64 * SIDES, 2 * PAIRED * PAIRED
SIZE = FIRST + SECOND
ALL_OFF = b"\xff\xff" + bytes(62)
WON = b"\xff" * 512


class Gnubg2001(Format):
    name = "gnubg-2001"
    title = "GNU Backgammon, until November 2002"
    suffixes = (".bd",)
    carries = (OneSided, TwoSided)
    historic = True

    # -- reading ----------------------------------------------------------------------------------------

    def recognise(self, head: Head) -> bool:
        if head.offset == 0:
            return head.size == SIZE and head.bytes.startswith(ALL_OFF)
        return (head.offset, head.size) == (FIRST, SECOND) and head.bytes == WON

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading:
        if source.size < SIZE:
            raise TruncatedError(source.name, SIZE, source.size, "file of two tables")
        if offset not in (0, FIRST) or source.size > SIZE:
            raise FormatError(f"{source.name}: a gnubg-2001 file has {SIZE:,} bytes, not {source.size:,}")
        common: dict[str, Any] = {"points": POINTS, "provenance": source.name, "release": source.release}
        if offset == 0:
            rows = source.array("<u2", (SIDES, ROLLS), 0)
            return Reading(OneSided(chequers=15, bearoff=rows, **common), Extent(0, FIRST))
        pairs = source.array("<u2", (PAIRED, PAIRED, 1), FIRST)
        return Reading(TwoSided(chequers=6, equities=pairs, **common), Extent(FIRST, SECOND))

    def host_facts(self, reading: Reading) -> dict[str, Any]:
        note = "read by GNU Backgammon until November 2002, as gnubg.bd; it has no header"
        notes = [note]
        if reading.extent.offset:
            notes.append("the file has chances to win, which are read as cubeless equities")
        return {"gnubg_name": None, "gnubg_reads": False, "notes": notes}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: Table, options: Options) -> str | None:
        if table.exact:
            return f"{self.name} holds 16-bit integers, not exact float64 numbers; npz holds those"
        if isinstance(table, OneSided):
            if (table.points, table.chequers, table.bearoff.shape[1]) != (POINTS, 15, ROLLS):
                return f"the one-sided part of a {self.name} file has 6 points, 15 chequers and 32 rolls"
            return None if table.gammon is None else f"{self.name} holds no gammon distributions"
        assert isinstance(table, TwoSided)
        if (table.points, table.chequers) != (POINTS, 6) or table.cubeful:
            return f"the two-sided part of a {self.name} file has 6 points, 6 chequers and one column"
        return None

    def together(self, tables: Sequence[Table]) -> str | None:
        if [type(table) for table in tables] == [OneSided, TwoSided]:
            return None
        return f"a {self.name} file holds a one-sided table and a two-sided one behind it"

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        for _, block in table.blocks():
            for rows in block.values():
                sink.write(rows.astype("<u2", copy=False))

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: Table, **options: Any) -> Layout:
        one = isinstance(table, OneSided)
        width = ROLLS if one else 1
        return Layout(
            b"",
            (Region("numbers", 0, FIRST if one else SECOND, numbers=True),),
            lambda entry, column, item: 2 * (width * entry + item),
        )

    def arrays_in(self, room: NDArray[np.uint8], table: Table, options: Options) -> dict[str, NDArray[Any]]:
        return {name: room.view("<u2").reshape(rows.shape) for name, rows in table.arrays().items()}
