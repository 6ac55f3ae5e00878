"""What the readers of match equity tables share: numbers, refusals, and the finished table."""

from __future__ import annotations

import math
import re

from bgfmt.errors import CorruptError
from bgfmt.met.model import MAX_AWAY, Met, completed

NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,60})?|\.\d{1,60})([eE][+-]?\d{1,3})?")
Row = tuple[float, ...]


def chance(name: str, offset: int, text: str) -> float:
    """A number from 0 to 1; CorruptError at `offset` for anything else."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not 0 <= value <= 1:
        raise CorruptError(name, offset, "a number from 0 to 1", repr(text[:40]))
    return value


def whole(name: str, offset: int, text: str, what: str) -> int:
    """A table's length, 1 to 64; CorruptError for anything else."""
    if re.fullmatch(r"\+?\d{1,4}", text) and 1 <= int(text) <= MAX_AWAY:
        return int(text)
    raise CorruptError(name, offset, f"{what} from 1 to {MAX_AWAY}", repr(text[:40]))


def finished(
    source: str, short: str, title: str, rows: list[Row], post: tuple[Row, Row], *, extend: bool
) -> Met:
    """The table, with short post-Crawford rows completed."""
    first, second = (completed(row, len(rows)) for row in post)
    return Met(short, tuple(rows), (first, second), title or short, source, extend)
