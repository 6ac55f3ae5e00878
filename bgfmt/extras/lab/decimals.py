"""Formats of the lab: BKG's table as text and as float64, and expected points as text of six decimals.

BKG's text (`.bkg`), ASCII, every line ended by LF:

    bkg-bearoff 1 points=6 men=8 pips=25 domain=union rolls=8 entries=4853
    <id> <counts> <ENR> <P1> <P2> <P3> <P4> <P5> <P6> <P7> <P8>

rows in ascending gnubg position number <id>, the empty position first; <counts> six hexadecimal digits, point 1
first; nine numbers with six decimals. `domain=intersection` has 1,724 rows.

BKG's float64 file (`.bkb`) has the same rows, in the same order.

Expected points (`.points`), ASCII, every line ended by LF:

    bearoff-2s 1 points=3 checkers=3 entries=361 value=points
    100 100 +1.000000

After the header one line for each entry: a hexadecimal digit for each point of the side on roll, point 1 first, a
space, those of the other side, a space, sign, digit, point, six decimals; 2 points + 12 bytes. The sides on roll are
in ascending gnubg position number without the empty side, and for each of them the other sides likewise. Files in
another order are read if they are small enough to sort (64 MiB), and written in this order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from construct import Array, Const, Float64l, Struct, this
from construct import Bytes as Raw
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, HeaderError, TruncatedError
from bgfmt.extras.lab.tables import CHEQUERS, POINTS, ROLLS, Domain, ExpectedPoints, Gillogly, domain_ids
from bgfmt.formats.base import ArrayFormat, Format, Layout, Options, Outlet, Reading, Region
from bgfmt.formats.structures import fields
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import LazyRows, Table

MAX_HEADER_BYTES = 120
BKG_ROW = "13 020000 1.277778 0.722222 ... 0.000000"
T = TypeVar("T", bound=Table)
Bytes = NDArray[np.uint8]
MAGIC = b"bkg-bearoff "
COLUMNS = 1 + ROLLS
BINARY_HEADER = Struct(
    "magic" / Const(b"bkg-T-06-08-25-"),
    "domain" / Raw(1) * "`u` union, `i` intersection",
    "rest" / Const(b"-08-f8".ljust(23, b"x") + b"\n"),
)
BINARY_FILE = Struct(
    "header" / BINARY_HEADER,
    "rows" / Array(this.n, Array(COLUMNS, Float64l)) * "mean number of rolls (ENR), P(1) ... P(8)",
)
DIGITS = 7
DOMAINS: tuple[Domain, ...] = ("union", "intersection")
TENS = 10 ** np.arange(DIGITS - 1, -1, -1, dtype=np.int32)
DIGIT_PLACES = np.array([1, 3, 4, 5, 6, 7, 8])  # indices of the digits in "+1.000000" and " 1.000000"
ZERO = 48


class SixDecimals(Format[T]):
    """A text format whose numbers have six decimals."""

    def refusal(self, table: T, options: Options) -> str | None:
        """Return why the format cannot store the table (such as float64 numbers), None if it can."""
        if table.exact:
            return f"{self.name} holds numbers of six decimals, not exact float64 ones"
        return table.check()

    def is_default_for(self, table: T) -> bool:
        """Return True if tables with such numbers (six decimals, not exact) are written in this format by default."""
        return not table.exact


def check_text(name: str, offset: int, text: Bytes, expected: Bytes, row: str) -> None:
    """Check bytes of a file against the text that a writer makes of the numbers in them.

    name, offset : of the file and the first of its bytes, for the CorruptError at the first other one. row : what a
    row looks like.
    """
    if not np.array_equal(text, expected):
        at = int((text != expected).reshape(-1).argmax())
        data = text.tobytes()
        begin = data.rfind(b"\n", 0, at) + 1
        raise CorruptError(name, offset + at, f"a row such as {row!r}", data[begin:].partition(b"\n")[0])


def header_line(source: Source, offset: int) -> bytes:
    """Return the first line of a text file, with its LF, cut to `MAX_HEADER_BYTES` bytes.

    TruncatedError if the file ends before the line does.
    """
    head = source.bytes(offset, min(MAX_HEADER_BYTES, source.size - offset), "header")
    line, ended, _ = head.partition(b"\n")
    if not ended and len(head) < MAX_HEADER_BYTES:
        raise TruncatedError(source.name, offset + MAX_HEADER_BYTES, source.size, "header line")
    return line + ended


# -- BKG's table ---------------------------------------------------------------------------------------


class Form(NamedTuple):
    """A text file with every digit of its numbers set to "0", and the offsets of these digits: (rows, 9, 7) int64."""

    header: bytes
    text: Bytes
    digits: NDArray[np.int64]

    def fill(self, rows: NDArray[Any]) -> Bytes:
        """Return the text with numbers in it: (rows, 9) millionths."""
        text = self.text.copy()
        text[self.digits] = rows[:, :, None] // TENS % 10 + ZERO
        return text


@cache
def _form(domain: Domain) -> Form:
    """Return the text of a domain without its numbers, cached."""
    ids = domain_ids(domain)
    header = f"bkg-bearoff 1 points=6 men=8 pips=25 domain={domain} rolls=8 entries={len(ids)}\n".encode()
    sides = board.unrank_array(ids, POINTS).tolist()
    labels = [f"{k} {''.join(f'{c:x}' for c in counts)}" for k, counts in zip(ids, sides, strict=True)]
    numbers = " 0.000000" * COLUMNS + "\n"
    text = header + "".join(label + numbers for label in labels).encode()
    ends = len(header) + np.cumsum([len(label + numbers) for label in labels])
    digits = (ends - len(numbers))[:, None, None] + 9 * np.arange(COLUMNS)[:, None] + DIGIT_PLACES
    return Form(header, np.frombuffer(text, np.uint8), digits)


class BkgText(SixDecimals[Gillogly]):
    """BKG's table as text."""

    name = "bkg-text"
    title = "BKG table, text"
    suffixes = (".bkg",)
    magic = MAGIC
    carries = (Gillogly,)

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[Gillogly]:
        """Read a table from a source at an offset.

        HeaderError, TruncatedError or CorruptError if the text differs from the format.
        """
        line = header_line(source, offset)
        domain = next((d for d in DOMAINS if _form(d).header == line), None)
        if domain is None:
            expected = f"{_form('union').header.decode().strip()!r} or that of the intersection"
            raise HeaderError(source.name, "header line", offset, expected, line)
        form = _form(domain)
        size = len(form.text)
        source.need(offset + size, f"table of {len(form.digits):,} rows ({domain})")
        data = np.frombuffer(source.bytes(offset, size), np.uint8)
        rows = ((data[form.digits] - ZERO) @ TENS).astype(np.uint32)
        check_text(source.name, offset, data, form.fill(rows), BKG_ROW)
        chequers = CHEQUERS[domain]
        return Reading.of(Gillogly, source, offset, size, POINTS, chequers, rows=rows, recipe="bkg")

    def emit(self, table: Gillogly, sink: Outlet, options: Options) -> None:
        """Write a table as text to the sink."""
        rows = np.asarray(table.rows)
        if int(rows.max(initial=0)) >= 10**DIGITS:
            raise CapabilityError(f"{self.name} holds numbers below 10, not {rows.max() / 1e6}")
        sink.write(_form(table.domain).fill(rows))

    def layout(self, table: Gillogly, **options: Any) -> Layout:
        """Return the regions of the file and a function from (entry, column, item) to the offset of a number."""
        form = _form(table.domain)
        start = len(form.header)
        regions = Region("header", 0, start), Region("rows", start, len(form.text) - start)
        return Layout(form.header, regions, lambda entry, column, item: int(form.digits[entry, item, 0]))


class BkgBinary(ArrayFormat[Gillogly]):
    """BKG's table as float64."""

    name = "bkg-binary"
    title = "BKG table, float64"
    array = "rows"
    dtype = fields(BINARY_FILE, n=0)["rows"].dtype
    suffixes = (".bkb",)
    magic = b"bkg-T-"
    carries = (Gillogly,)
    structures: ClassVar[Mapping[str, Struct]] = {"header": BINARY_HEADER, "file": BINARY_FILE}

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[Gillogly]:
        """Read a table from a source at an offset; HeaderError if the header differs from the format."""
        header = source.bytes(offset, BINARY_HEADER.sizeof(), "header")
        domain = next((d for d in DOMAINS if _binary_header(d) == header), None)
        if domain is None:
            expected = _binary_header("union").decode().strip()
            raise HeaderError(source.name, "header", offset, f"{expected!r} or with i for u", header)
        part = fields(BINARY_FILE, n=len(domain_ids(domain)))["rows"]
        rows = part.read(source, offset, f"BKG table of the {domain}")
        size = part.offset + part.size
        chequers = CHEQUERS[domain]
        return Reading.of(Gillogly, source, offset, size, POINTS, chequers, rows=rows, recipe="exact")

    def refusal(self, table: Gillogly, options: Options) -> str | None:
        """Return why the format cannot store the table (numbers rounded to six decimals), None if it can."""
        if not table.exact:
            return f"{self.name} holds float64 numbers, not those rounded to six decimals"
        return table.check()

    def header_of(self, table: Gillogly, options: Options) -> bytes:
        """Return the 40 bytes that a file of the table begins with."""
        return _binary_header(table.domain)


def _binary_header(domain: Domain) -> bytes:
    """Return the 40 bytes before the rows of a domain."""
    return bytes(BINARY_HEADER.build({"domain": domain[:1].encode()}))


# -- expected points -----------------------------------------------------------------------------------

POINTS_MAGIC = b"bearoff-2s "
POINTS_ROW = "100 100 +1.000000"
POINTS_SIZE = re.compile(rb"bearoff-2s 1 points=(\d{1,2}) checkers=(\d{1,2}) ")
MAX_SORTED_BYTES = 64 << 20  # larger files must be in order
BLOCK = 4 << 20
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
MINUS = 45


def _points_header(points: int, chequers: int) -> bytes:
    """Return the header line of a size."""
    n = board.count(points, chequers) - 1
    return f"bearoff-2s 1 points={points} checkers={chequers} entries={n * n} value=points\n".encode()


class _PointsLines:
    """Lines of files of expected points of one size: conversion of values to and from bytes."""

    def __init__(self, points: int, chequers: int) -> None:
        self.points = points
        self.n = board.count(points, chequers) - 1
        self.width = 2 * points + 12
        self.sides = HEX[board.unrank_array(np.arange(1, self.n + 1), points).astype(np.int64)]

    def fill(self, start: int, worth: NDArray[Any]) -> Bytes:
        """Return the lines of some sides on roll against all others, with these values: (len(worth), n, width) uint8.

        start : number of the first side on roll. worth : (rows, n) int32 millionths.
        """
        p = self.points
        out = np.empty((len(worth), self.n, self.width), np.uint8)
        out[:] = np.frombuffer(b" " * (2 * p + 2) + b"+0.000000\n", np.uint8)
        out[:, :, :p] = self.sides[start : start + len(worth), None]
        out[:, :, p + 1 : 2 * p + 1] = self.sides
        value = out[:, :, 2 * p + 2 :]
        value[:, :, 0][worth < 0] = MINUS
        value[:, :, DIGIT_PLACES] = np.abs(worth)[:, :, None] // TENS % 10 + ZERO
        return out

    def values(self, lines: Bytes) -> NDArray[np.int32]:
        """Return the values of lines (..., width) as int32 millionths; what is no number comes out as any value."""
        value = lines[..., 2 * self.points + 2 :]
        numbers = (value[..., DIGIT_PLACES] - ZERO) @ TENS
        return np.where(value[..., 0] == MINUS, -numbers, numbers).astype(np.int32)

    def labels(self, lines: Bytes) -> NDArray[np.bytes_]:
        """Return the two sides of each of M lines (..., width) as text: (M,)."""
        long = 2 * self.points + 1
        return np.ascontiguousarray(lines[..., :long]).view(f"S{long}").reshape(-1)


class PointsText(SixDecimals[ExpectedPoints]):
    """Expected points as text."""

    name = "points-text"
    title = "expected points, text"
    suffixes = (".points",)
    magic = POINTS_MAGIC
    carries = (ExpectedPoints,)

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[ExpectedPoints]:
        """Read a table from a source at an offset.

        HeaderError, TruncatedError or CorruptError if the text differs from the format.
        """
        line = header_line(source, offset)
        size = POINTS_SIZE.match(line)
        points, chequers = map(int, size.groups()) if size else (3, 3)
        if not (1 <= points <= board.MAX_POINTS and 1 <= chequers <= board.MAX_CHEQUERS):
            points, chequers = (3, 3)
        if _points_header(points, chequers) != line:
            expected = _points_header(points, chequers).decode().strip()
            raise HeaderError(source.name, "header line", offset, f"one such as {expected!r}", line)
        n = board.count(points, chequers) - 1
        start = offset + len(line)
        end = start + n * n * (2 * points + 12)
        source.need(end, f"table of {n * n:,} entries")
        worth = _worths(source, start, _PointsLines(points, chequers))
        return Reading.of(
            ExpectedPoints, source, offset, end - offset, points, chequers, worth=worth, recipe="points"
        )

    def emit(self, table: ExpectedPoints, sink: Outlet, options: Options) -> None:
        """Write a table as text to the sink, in blocks of rows."""
        sink.write(_points_header(table.points, table.chequers))
        lines = _PointsLines(table.points, table.chequers)
        for rows, block in table.blocks(max(1, BLOCK // lines.width * 4)):
            sink.write(np.ascontiguousarray(lines.fill(rows.start, block["worth"])))

    def layout(self, table: ExpectedPoints, **options: Any) -> Layout:
        """Return the regions of the file and a function from (entry, column, item) to the offset of a number."""
        header = _points_header(table.points, table.chequers)
        width = 2 * table.points + 12
        regions = (Region("header", 0, len(header)), Region("entries", len(header), width * table.entries))
        at = len(header) + 2 * table.points + 2
        return Layout(header, regions, lambda entry, column, item: at + width * entry)


def _worths(source: Source, start: int, lines: _PointsLines) -> Any:
    """Return the values of a file as (n, n) int32 millionths.

    Small files are read at once and sorted if needed; larger ones are parsed row by row on access and must be in
    order.
    """
    n = lines.n
    row_bytes = n * lines.width

    def fetch(first: int, stop: int) -> NDArray[np.int32]:
        """Return the values for the sides on roll first..stop-1: (stop - first, n) int32 millionths."""
        out = np.empty((stop - first, n), np.int32)
        for row in range(first, stop):
            at = start + row * row_bytes
            data = np.frombuffer(source.bytes(at, row_bytes), np.uint8).reshape(1, n, lines.width)
            out[row - first] = lines.values(data)
            check_text(source.name, at, data, lines.fill(row, out[row - first, None]), POINTS_ROW)
        return out

    if n * row_bytes > MAX_SORTED_BYTES:
        return LazyRows((n, n), "i4", fetch)
    with suppress(CorruptError):  # in order, as nearly all files are
        return fetch(0, n)
    rows = np.frombuffer(source.bytes(start, n * row_bytes), np.uint8).reshape(-1, lines.width)
    labels = lines.labels(rows)
    known = lines.labels(lines.fill(0, np.zeros((n, n), np.int32)))
    order = np.argsort(known)
    places = order[np.searchsorted(known, labels, sorter=order).clip(max=len(known) - 1)]
    worth = np.zeros((n, n), np.int32)
    worth.reshape(-1)[places] = lines.values(rows)
    expected = lines.fill(0, worth).reshape(rows.shape)[places]
    check_text(source.name, start, rows, expected, POINTS_ROW)
    if len(np.unique(places)) < len(places):
        raise CorruptError(source.name, start, "every pair of sides once", "one that is there twice")
    return worth
