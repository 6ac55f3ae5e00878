"""Mean rolls as text.

line 1        rolls POINTS CHEQUERS
line 2 + k    expected rolls of position number k, as Python writes a float (17 digits at most, exact)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.errors import CorruptError, HeaderError
from bgfmt.formats.base import Extent, Format, Head
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import MeanRolls, Table


class RollsText(Format):
    name = "rolls-text"
    title = "Mean rolls, a line each"
    suffixes = (".rolls",)
    carries = (MeanRolls,)

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(b"rolls ")

    def read(self, source: Source, offset: int = 0, **described: Any) -> Table:
        lines = source.bytes(offset, source.size - offset).split(b"\n")
        try:
            points, chequers = (int(word) for word in lines[0].split()[1:])
        except ValueError:
            raise HeaderError(
                source.name, "first line", offset, "rolls POINTS CHEQUERS", lines[0][:40]
            ) from None
        if not (1 <= points <= 15 and 1 <= chequers <= 15):
            raise HeaderError(source.name, "first line", offset, "1 to 15 points and chequers", lines[0][:40])
        many = board.count(points, chequers)
        try:
            means = np.array([float(line) for line in lines[1 : many + 1]])
        except ValueError as error:
            raise CorruptError(source.name, offset, "a number in every line", str(error)) from None
        if len(means) != many:
            raise CorruptError(source.name, source.size, f"{many} numbers", f"{len(means)}")
        extra = {"extent": Extent(offset, source.size - offset)}
        return MeanRolls(points=points, chequers=chequers, means=means, extra=extra)

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        assert isinstance(table, MeanRolls)
        sink.write(f"rolls {table.points} {table.chequers}\n".encode())
        sink.write("".join(f"{float(mean)!r}\n" for mean in table.means[:]).encode())
