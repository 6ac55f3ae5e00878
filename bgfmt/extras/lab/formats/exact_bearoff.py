"""Michel Grimminck's ExactBearoff: two-sided, six points, 24-bit equities; from a description, no such file was seen.

offset  size     meaning (little-endian)                                     source
0       u32      73457356                                                    described
4       u32      100, the version                                            described
8       2 x i32  chequers of the bottom and of the top player                described
16      12*n*n   records: four u24, equity = value / 4194000 - 2, cubeless,  described; the offset of a record as it
                 owned, centered, opponent's cube; n = C(chequers + 6, 6)    must have been meant, 16 + 12 * number

Number of a record: us * n + them in ExactBearoff's own order of sides, by chequers on point 6, then 5, ... then 1,
fewest first. That order is what the description's formula gives when called so that it tells all positions apart.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from construct import Const, Int32sl, Int32ul, Struct
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, HeaderError
from bgfmt.formats.base import Format, Layout, Options, Outlet, Reading, Region
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import FineTwoSided
from bgfmt.tables.rows import LazyRows, Rows

POINTS = 6
SIZE = 16
RECORD = 12
MAGIC = 73_457_356
HEADER = Struct(
    "magic" / Const(MAGIC, Int32ul), "version" / Const(100, Int32ul), "bottom" / Int32sl, "top" / Int32sl
)


class ExactBearoff(Format[FineTwoSided]):
    name = "exactbearoff"
    title = "ExactBearoff"
    magic = MAGIC.to_bytes(4, "little")
    carries = (FineTwoSided,)
    historic = True
    notes = ("status: documented, no genuine file seen; the order of its records is a conjecture",)

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[FineTwoSided]:
        header = source.header(HEADER, SIZE, offset)
        if not 1 <= header.bottom <= board.MAX_CHEQUERS:
            raise HeaderError(source.name, "bottom", offset + 8, "1 to 15 chequers", header.bottom)
        if header.top != header.bottom:
            same = f"{header.bottom}, as of the other"
            raise HeaderError(source.name, "top", offset + 12, same, header.top)
        n = board.count(POINTS, header.bottom)
        what = f"{POINTS}x{header.bottom} two-sided table"
        records = source.array("u1", (n, n, RECORD), offset + SIZE, what)
        size = SIZE + RECORD * n * n
        equities = _decoded(records, header.bottom)
        return Reading.of(FineTwoSided, source, offset, size, POINTS, header.bottom, equities=equities)

    def refusal(self, table: FineTwoSided, options: Options) -> str | None:
        if table.points != POINTS:
            return f"{self.name} holds {POINTS} points, not {table.points}"
        if table.equities.dtype.kind != "u":
            return f"{self.name} holds 24-bit integers, not float32 equities"
        return None

    def emit(self, table: FineTwoSided, sink: Outlet, options: Options) -> None:
        sink.write(_header(table))
        order, _ = _orders(table.chequers)
        for us in order:
            row = np.ascontiguousarray(np.asarray(table.equities[int(us)])[order], "<u4")
            if row.max() >> 24:
                raise CapabilityError(f"{self.name} holds 24-bit integers, not {row.max()}")
            sink.write(np.ascontiguousarray(row.view(np.uint8).reshape(-1, 4, 4)[..., :3]))
            if table.release is not None:
                table.release()

    def layout(self, table: FineTwoSided, **options: Any) -> Layout:
        n = table.positions
        (_, place_of) = _orders(table.chequers)

        def place(entry: int, column: str, item: int) -> int:
            us, them = divmod(entry, n)
            return SIZE + RECORD * (int(place_of[us]) * n + int(place_of[them])) + 3 * item

        numbers = Region("numbers", SIZE, RECORD * n * n, numbers=True)
        return Layout(_header(table), (Region("header", 0, SIZE), numbers), place)


def _header(table: FineTwoSided) -> bytes:
    return bytes(HEADER.build({"bottom": table.chequers, "top": table.chequers}))


@lru_cache(maxsize=4)
def _orders(chequers: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Position numbers in the file's order of sides, and the place of each position number in it."""
    n = board.count(POINTS, chequers)
    counts = board.unrank_array(np.arange(n), POINTS)
    order = np.lexsort(counts.T)  # the last key, point 6, counts most
    places = np.empty(n, np.int64)
    places[order] = np.arange(n)
    return order, places


def _decoded(records: Rows, chequers: int) -> LazyRows:
    """The 24-bit integers, in order of position number."""
    _, places = _orders(chequers)
    n = len(places)

    def integers(records: Any) -> NDArray[np.uint32]:
        raw: NDArray[np.uint32] = np.asarray(records).astype(np.uint32)
        return np.asarray(raw[..., 0::3] | raw[..., 1::3] << 8 | raw[..., 2::3] << 16, np.uint32)

    def fetch(start: int, stop: int) -> NDArray[np.uint32]:
        out = np.empty((stop - start, n, 4), np.uint32)
        for k in range(start, stop):  # a row is hundreds of records
            out[k - start] = integers(records[int(places[k])])[places]
        return out

    shape = n, n, 4
    return LazyRows(shape, "u4", fetch, pairs=lambda us, them: integers(records[places[us], places[them]]))
