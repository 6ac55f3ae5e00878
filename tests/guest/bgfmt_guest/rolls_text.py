"""Mean rolls as text.

line 1        rolls POINTS CHEQUERS
line 2 + k    expected rolls of position number k, as Python writes a float (17 digits at most, exact)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.errors import CorruptError, HeaderError, TruncatedError
from bgfmt.formats import Extent, Format, Head, Reading
from bgfmt.game import board
from bgfmt.tables import MeanRolls, Table


class RollsText(Format):
    name = "rolls-text"
    title = "Mean rolls, a line each"
    suffixes = (".rolls",)
    carries = (MeanRolls,)

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(b"rolls ")

    def read(self, source: Any, offset: int = 0, **described: Any) -> Reading:
        text = source.bytes(offset, source.size - offset)
        if not text.endswith(b"\n"):
            raise TruncatedError(source.name, source.size + 1, source.size, "last line")
        lines = text.split(b"\n")[:-1]
        try:
            word, *numbers = lines[0].split()
            points, chequers = map(int, numbers)
        except ValueError:
            raise HeaderError(source.name, "line 1", offset, "rolls POINTS CHEQUERS", lines[0][:40]) from None
        if word != b"rolls" or not (1 <= points <= 15 and 1 <= chequers <= 15):
            raise HeaderError(source.name, "line 1", offset, "1 to 15 points and chequers", lines[0][:40])
        many = board.count(points, chequers)
        if len(lines) <= many:
            raise TruncatedError(source.name, source.size + 1, source.size, f"list of {many} numbers")
        try:
            means = np.array([float(line) for line in lines[1 : many + 1]])
        except ValueError as error:
            raise CorruptError(source.name, offset, "a number in every line", str(error)) from None
        table = MeanRolls(points=points, chequers=chequers, means=means, provenance=source.name)
        return Reading(table, Extent(offset, sum(len(line) + 1 for line in lines[: many + 1])))

    def emit(self, table: Table, sink: Any, options: Any) -> None:
        assert isinstance(table, MeanRolls)
        sink.write(f"rolls {table.points} {table.chequers}\n".encode())
        sink.write("".join(f"{float(mean)!r}\n" for mean in table.means[:]).encode())
