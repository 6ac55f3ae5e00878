"""GNU Backgammon's `gnubg.bd` as it was until November 2002: two tables in one file, and no header.

A value v is the win probability p = v / 65535 and the cubeless equity 2p - 1 = v / 32767.5 - 1, so the second part
is a cubeless two-sided table without conversion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from construct import Array, Int16ul, Struct
from numpy.typing import NDArray

from bgfmt.errors import FormatError, TruncatedError
from bgfmt.formats.base import ROLLS, Format, Head, Layout, Options, Outlet, Reading, Region
from bgfmt.formats.structures import fields
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import OneSided, Table, TwoSided

POINTS = 6
SIDES = board.count(POINTS, 15)
PAIRED = board.count(POINTS, 6)
FILE = Struct(
    "rolls"
    / Array(SIDES, Array(ROLLS, Int16ul))
    * f"probability, in 65535ths, of bearing off in exactly k rolls, k from 0 to 31; {POINTS} points, 15 chequers",
    "pairs"
    / Array(PAIRED, Array(PAIRED, Array(1, Int16ul)))
    * (
        f"win probability of the side on roll, in 65535ths, record us * {PAIRED} + them; "
        f"{POINTS} points, 6 chequers"
    ),
)
ROLLS_PART, PAIRS_PART = fields(FILE).values()
FIRST = ROLLS_PART.size
SECOND = PAIRS_PART.size
SIZE = FIRST + SECOND
NUMBER = ROLLS_PART.dtype
ALL_OFF = b"\xff\xff" + bytes(62)
WON = b"\xff" * 512
#: by kind of part: chequers, numbers of an entry, size in bytes, and its numbers in words
PARTS = {OneSided.kind: (15, ROLLS, FIRST, "32 rolls"), TwoSided.kind: (6, 1, SECOND, "one column")}
Part = OneSided | TwoSided


class Gnubg2001(Format[Part]):
    name = "gnubg-2001"
    title = "GNU Backgammon, until November 2002"
    suffixes = (".bd",)
    carries = (OneSided, TwoSided)
    structures: ClassVar[Mapping[str, Struct]] = {"file": FILE}
    historic = True
    notes = ("read by GNU Backgammon until November 2002, as gnubg.bd; it has no header",)

    def recognise(self, head: Head) -> bool:
        if head.offset == 0:
            return head.size == SIZE and head.bytes.startswith(ALL_OFF)
        return (head.offset, head.size) == (FIRST, SECOND) and head.bytes == WON

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[Part]:
        if source.size < SIZE:
            raise TruncatedError(source.name, SIZE, source.size, "file of two tables")
        if offset not in (0, FIRST) or source.size > SIZE:
            raise FormatError(
                f"{source.name}: a gnubg-2001 file must have {SIZE:,} bytes, not {source.size:,}"
            )
        if offset == 0:
            rows = ROLLS_PART.read(source, 0)
            return Reading.of(OneSided, source, 0, FIRST, POINTS, 15, bearoff=rows, recipe=self.name)
        pairs = PAIRS_PART.read(source, 0)
        return Reading.of(TwoSided, source, FIRST, SECOND, POINTS, 6, equities=pairs, recipe=self.name)

    def host_facts(self, reading: Reading[Part]) -> dict[str, Any]:
        facts = super().host_facts(reading)
        if reading.extent.offset:
            facts["notes"].append("the file has chances to win, which are read as cubeless equities")
        return facts

    def refusal(self, table: Part, options: Options) -> str | None:
        if table.exact:
            return f"{self.name} holds 16-bit integers, not exact float64 numbers; npz holds those"
        chequers, width, _, what = PARTS[table.kind]
        first, *more = table.arrays().values()
        if (table.points, table.chequers, first.shape[-1]) != (POINTS, chequers, width):
            kind = f"{table.kind} part of a {self.name} file"
            return f"the {kind} has {POINTS} points, {chequers} chequers and {what}"
        return f"{self.name} holds no gammon distributions" if more else None

    def concatenation_refusal(self, tables: Sequence[Table]) -> str | None:
        if [table.kind for table in tables] == list(PARTS):
            return None
        return f"a {self.name} file holds a one-sided table and a two-sided one behind it"

    def emit(self, table: Part, sink: Outlet, options: Options) -> None:
        for _, block in table.blocks():
            for rows in block.values():
                sink.write(rows.astype(NUMBER, copy=False))

    def layout(self, table: Part, **options: Any) -> Layout:
        _, width, size, _ = PARTS[table.kind]
        numbers = Region("numbers", 0, size, numbers=True)
        return Layout(b"", (numbers,), lambda entry, column, item: NUMBER.itemsize * (width * entry + item))

    def arrays_in(self, room: NDArray[np.uint8], table: Part, options: Options) -> dict[str, NDArray[Any]]:
        return {name: room.view(NUMBER).reshape(rows.shape) for name, rows in table.arrays().items()}
