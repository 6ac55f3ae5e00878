"""The one-sided file of up to 18 points that GNU Backgammon wrote for a short time in autumn 2002.

offset  size  meaning                                                       source
0       22    points, 2 digits; 19 "x"; line feed                           described; no such file was seen
22      64*n  records of 32 uint16, little-endian: chances, parts of 65535,
              to bear off 15 chequers in exactly k rolls
"""

from __future__ import annotations

import re
from typing import Any

from bgfmt.errors import HeaderError
from bgfmt.formats.base import GAMMONS_DROPPED, ROLLS, ArrayFormat, Head, Options, Reading
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import OneSided

SIZE = 22
CHEQUERS = 15
MOST = 18
MAGIC = re.compile(rb"([0-9]{2})x{19}\n")


class GnubgHuge(ArrayFormat[OneSided]):
    name = "gnubg-huge"
    title = "GNU Backgammon one-sided, autumn 2002"
    suffixes = (".bd",)
    carries = (OneSided,)
    array = "bearoff"
    dtype = "<u2"
    historic = True
    notes = ("read by GNU Backgammon in autumn 2002 only, as gnubg_huge_os.bd; no genuine file was seen",)

    def recognise(self, head: Head) -> bool:
        return MAGIC.match(head.bytes) is not None

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[OneSided]:
        match = MAGIC.match(source.bytes(offset, SIZE, "header"))
        points = int(match.group(1)) if match else 0
        if not 1 <= points <= MOST:
            digits = source.bytes(offset, 2)
            raise HeaderError(source.name, "points", offset, f"two digits, 01 to {MOST}", digits)
        n = board.count(points, CHEQUERS)
        what = f"{points}-point one-sided table"
        rows = source.array("<u2", (n, ROLLS), offset + SIZE, what)
        return Reading.of(OneSided, source, offset, SIZE + 64 * n, points, CHEQUERS, bearoff=rows)

    def refusal(self, table: OneSided, options: Options) -> str | None:
        if table.exact:
            return f"{self.name} holds 16-bit integers, not exact float64 chances; npz holds those"
        if table.chequers != CHEQUERS or table.points > MOST or table.bearoff.shape[1] != ROLLS:
            return f"{self.name} holds 15 chequers on up to {MOST} points and 32 rolls"
        return None

    def losses(self, table: OneSided, options: Options) -> list[str]:
        return [] if table.gammon is None else [GAMMONS_DROPPED]

    def header_of(self, table: OneSided, options: Options) -> bytes:
        return f"{table.points:02d}{'x' * 19}\n".encode()
