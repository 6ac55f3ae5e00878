"""The lab's formats of files, and what its two formats of text share."""

from __future__ import annotations

from typing import TypeVar

from bgfmt.errors import TruncatedError
from bgfmt.formats.base import Format, Options
from bgfmt.storage import Source
from bgfmt.tables import Table

LONGEST_HEADER = 120
T = TypeVar("T", bound=Table)


class SixDecimals(Format[T]):
    """A text format whose numbers have six decimals."""

    def refusal(self, table: T, options: Options) -> str | None:
        if table.exact:
            return f"{self.name} holds numbers of six decimals, not exact float64 ones"
        return table.check()

    def home_of(self, table: T) -> bool:
        return not table.exact


def header_line(source: Source, offset: int) -> bytes:
    """The first line of a text, its end included; TruncatedError where the file ends before it does."""
    head = source.bytes(offset, min(LONGEST_HEADER, source.size - offset), "header")
    line, ended, _ = head.partition(b"\n")
    if not ended and len(head) < LONGEST_HEADER:
        raise TruncatedError(source.name, offset + LONGEST_HEADER, source.size, "header line")
    return line + ended
