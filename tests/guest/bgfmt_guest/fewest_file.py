"""A file of fewest rolls.

offset  size  meaning
0       6     "FEWEST"
6       1     points
7       1     chequers
8       n     fewest rolls of each position, in order of position number
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import HeaderError
from bgfmt.formats import Extent, Format, Head, Layout, Reading, Region
from bgfmt.game import board
from bgfmt.tables import Table
from bgfmt_guest.fewest import Fewest

MAGIC = b"FEWEST"


class FewestFile(Format):
    name = "fewest"
    title = "Fewest rolls"
    suffixes = (".few",)
    carries = (Fewest,)

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(MAGIC)

    def read(self, source: Any, offset: int = 0, **described: Any) -> Reading:
        head = source.bytes(offset, 8, "header")
        points, chequers = head[6], head[7]
        if head[:6] != MAGIC or not (1 <= points <= 24 and 1 <= chequers <= 15):
            raise HeaderError(source.name, "header", offset, "FEWEST, points, chequers", head)
        n = board.count(points, chequers)
        rolls = source.array("u1", (n,), offset + 8, "fewest rolls")
        table = Fewest(
            points=points, chequers=chequers, rolls=rolls, provenance=source.name, release=source.release
        )
        return Reading(table, Extent(offset, 8 + n))

    def is_default_for(self, table: Table) -> bool:
        return isinstance(table, Fewest)

    def emit(self, table: Table, sink: Any, options: Any) -> None:
        sink.write(self.layout(table).header)
        for _, block in table.blocks():
            sink.write(block["rolls"])

    def layout(self, table: Table, **options: Any) -> Layout:
        header = MAGIC + bytes([table.points, table.chequers])
        regions = (Region("header", 0, 8), Region("rolls", 8, table.positions, numbers=True))
        return Layout(header, regions, lambda entry, column, item: 8 + entry)

    def arrays_in(self, room: NDArray[np.uint8], table: Table, options: Any) -> dict[str, NDArray[Any]]:
        return {"rolls": room}
