"""Expected points of both sides as text, `.points`: ASCII, every line closed by LF.

    bearoff-2s 1 points=3 checkers=3 entries=361 value=points
    100 100 +1.000000

Behind the header one line an entry: a hexadecimal digit for each point of the side on roll, point 1 first, a blank,
those of the other side, a blank, sign, digit, point, six decimals; 2 points + 12 bytes. The side on roll in
ascending gnubg position number, the side with nothing left not there, and within it the other side likewise. A file
in another order is read too where it is small enough to sort (64 MiB), and written in order.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError, HeaderError
from bgfmt.extras.lab.formats import SixDecimals, header_line
from bgfmt.extras.lab.tables import ExpectedPoints
from bgfmt.formats.base import Layout, Options, Outlet, Reading, Region
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import LazyRows

Bytes = NDArray[np.uint8]
MAGIC = b"bearoff-2s "
HEADER = re.compile(
    rb"bearoff-2s 1 points=([1-9]\d?) checkers=([1-9]\d?) entries=([1-9]\d{0,18}) value=points\n"
)
MOST_SORTED = 64 << 20  # bytes of a file in another order that are sorted in memory
BLOCK = 4 << 20
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
TENS = 10 ** np.arange(6, -1, -1, dtype=np.int64)
DIGITS = np.array([1, 3, 4, 5, 6, 7, 8])  # places of the digits in "+1.000000"
PLUS, MINUS = 43, 45


def _header(points: int, chequers: int) -> bytes:
    n = board.count(points, chequers) - 1
    return f"bearoff-2s 1 points={points} checkers={chequers} entries={n * n} value=points\n".encode()


class _Lines:
    """The lines of a file of one size: their labels, and numbers to and from bytes."""

    def __init__(self, points: int, chequers: int) -> None:
        self.points, self.n = points, board.count(points, chequers) - 1
        self.width = 2 * points + 12
        self.sides = HEX[board.unrank_array(np.arange(1, self.n + 1), points).astype(np.int64)]

    def blank(self, start: int, stop: int) -> Bytes:
        """(rows, n, width) lines of the sides on roll start..stop-1 with the value +0.000000."""
        out = np.empty((stop - start, self.n, self.width), np.uint8)
        p = self.points
        out[:] = np.frombuffer(b" " * (2 * p + 2) + b"+0.000000\n", np.uint8)
        out[:, :, :p] = self.sides[start:stop, None]
        out[:, :, p + 1 : 2 * p + 1] = self.sides
        return out

    def filled(self, start: int, worth: NDArray[Any]) -> Bytes:
        """The lines of these rows of values, int32 millionths."""
        out = self.blank(start, start + len(worth))
        at = 2 * self.points + 2
        out[:, :, at][np.asarray(worth) < 0] = MINUS
        digits = np.abs(np.asarray(worth, np.int64))[:, :, None] // TENS % 10 + 48
        out[:, :, at + DIGITS] = digits
        return out

    def values(self, lines: Bytes, name: str, offset: int) -> NDArray[np.int32]:
        """Millionths of lines (m, width); CorruptError at the first that has no value."""
        at = 2 * self.points + 2
        value = lines[:, at : at + 9]
        digits = value[:, DIGITS] - 48
        sign = value[:, 0]
        good = (digits <= 9).all(axis=1) & (value[:, 2] == 46) & ((sign == PLUS) | (sign == MINUS))
        good &= (lines[:, at + 9] == 10) & (lines[:, self.points] == 32) & (lines[:, at - 1] == 32)
        numbers = digits.astype(np.int64) @ TENS
        good &= ~((sign == MINUS) & (numbers == 0))  # minus nought is no canonical value
        if not good.all():
            row = int((~good).argmax())
            expected = "two sides and a value such as +0.123456"
            raise CorruptError(name, offset + row * self.width, expected, repr(lines[row].tobytes()))
        return np.where(sign == MINUS, -numbers, numbers).astype(np.int32)

    def places(self, lines: Bytes, name: str, offset: int) -> NDArray[np.int64]:
        """us * n + them of the lines of a file, in any order; CorruptError where they are not those of the table."""
        long = 2 * self.points + 1
        both = lines, self.blank(0, self.n).reshape(lines.shape)
        labels, known = (np.ascontiguousarray(rows[:, :long]).view(f"S{long}")[:, 0] for rows in both)
        if np.array_equal(labels, known):
            return np.arange(len(known))
        order = np.argsort(known)
        found = np.searchsorted(known, labels, sorter=order).clip(max=len(known) - 1)
        places: NDArray[np.int64] = order[found]
        if (strange := known[places] != labels).any():
            row = int(strange.argmax())
            raise CorruptError(name, offset + row * self.width, "two sides", repr(lines[row].tobytes()))
        if len(missing := np.setdiff1d(np.arange(len(known)), places)):
            sides = known[missing[0]].decode()
            raise CorruptError(name, offset, f"{sides} once", "it is missing or there twice")
        return places


class PointsText(SixDecimals[ExpectedPoints]):
    name = "points-text"
    title = "expected points, text"
    suffixes = (".points",)
    magic = MAGIC
    carries = (ExpectedPoints,)

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[ExpectedPoints]:
        line = header_line(source, offset)
        header = HEADER.fullmatch(line)
        points, chequers = (int(header[1]), int(header[2])) if header else (0, 0)
        if not (1 <= points <= board.MAX_POINTS and 1 <= chequers <= board.MAX_CHEQUERS):
            expected = _header(3, 3).decode().strip()
            raise HeaderError(source.name, "header line", offset, f"one such as {expected!r}", line)
        if _header(points, chequers) != line:
            expected = _header(points, chequers).decode().strip()
            raise HeaderError(source.name, "entries", offset, repr(expected), line)
        n, start = board.count(points, chequers) - 1, offset + len(line)
        size = n * n * (2 * points + 12)
        source.need(start + size, f"table of {n * n:,} entries")
        worth = _rows(source, start, _Lines(points, chequers))
        size += start - offset
        return Reading.of(
            ExpectedPoints, source, offset, size, points, chequers, worth=worth, recipe="points"
        )

    def emit(self, table: ExpectedPoints, sink: Outlet, options: Options) -> None:
        sink.write(_header(table.points, table.chequers))
        lines = _Lines(table.points, table.chequers)
        for rows, block in table.blocks(max(1, BLOCK // lines.width * 4)):
            sink.write(np.ascontiguousarray(lines.filled(rows.start, block["worth"])))

    def layout(self, table: ExpectedPoints, **options: Any) -> Layout:
        header = _header(table.points, table.chequers)
        width = 2 * table.points + 12
        regions = (Region("header", 0, len(header)), Region("entries", len(header), width * table.entries))
        at = len(header) + 2 * table.points + 2
        return Layout(header, regions, lambda entry, column, item: at + width * entry)


def _rows(source: Source, start: int, lines: _Lines) -> Any:
    """The values of a file: made row by row where it is large, and in order then, else sorted."""
    n, row_bytes = lines.n, lines.n * lines.width

    def text(first: int, stop: int) -> Bytes:
        data = source.bytes(start + first * row_bytes, (stop - first) * row_bytes)
        return np.frombuffer(data, np.uint8).reshape(-1, lines.width)

    if n * row_bytes <= MOST_SORTED:
        data = text(0, n)
        out = np.empty(n * n, np.int32)
        values = lines.values(data, source.name, start)
        out[lines.places(data, source.name, start)] = values
        return out.reshape(n, n)

    def fetch(first: int, stop: int) -> NDArray[np.int32]:
        out = np.empty((stop - first, n), np.int32)
        for row in range(first, stop):
            data, at = text(row, row + 1), start + row * row_bytes
            out[row - first] = lines.values(data, source.name, at)
            wrong = (data != lines.blank(row, row + 1)[0])[:, : 2 * lines.points + 1].any(axis=1)
            if wrong.any():
                bad, expected = int(wrong.argmax()), "the entries in order (larger files are not sorted)"
                raise CorruptError(source.name, at + bad * lines.width, expected, repr(data[bad].tobytes()))
        return out

    return LazyRows((n, n), "i4", fetch)
