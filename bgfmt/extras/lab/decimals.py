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
TENS = 10 ** np.arange(DIGITS - 1, -1, -1)


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

    text: Bytes
    digits: NDArray[np.int64]


def _header(domain: Domain) -> bytes:
    """Return the header line of a domain."""
    many = len(domain_ids(domain))
    return f"bkg-bearoff 1 points=6 men=8 pips=25 domain={domain} rolls=8 entries={many}\n".encode()


@cache
def _form(domain: Domain) -> Form:
    """Return the text of a domain without its numbers, cached."""
    ids = domain_ids(domain)
    number = " ".join(["0.000000"] * COLUMNS)
    rows = [
        f"{k} {''.join(f'{c:x}' for c in counts)} "
        for k, counts in zip(ids.tolist(), board.unrank_array(ids, POINTS).tolist(), strict=True)
    ]
    header = _header(domain)
    text = header + "".join(f"{row}{number}\n" for row in rows).encode()
    lengths = np.array([len(row) for row in rows])
    begins = len(header) + np.cumsum(lengths + len(number) + 1) - len(number) - 1
    inside = np.array([0, 2, 3, 4, 5, 6, 7])
    digits = begins[:, None, None] + 9 * np.arange(COLUMNS)[:, None] + inside
    return Form(np.frombuffer(text, np.uint8), digits)


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
        domain = next((d for d in DOMAINS if _header(d) == line), None)
        if domain is None:
            expected = f"{_header('union').decode().strip()!r} or that of the intersection"
            raise HeaderError(source.name, "header line", offset, expected, line)
        form = _form(domain)
        source.need(offset + len(form.text), f"table of {len(form.digits):,} rows ({domain})")
        data = np.frombuffer(source.bytes(offset, len(form.text)), np.uint8)
        digits = data[form.digits]
        numbers = digits - 48  # uint8: bytes below "0" wrap to large values
        fixed = data == form.text
        fixed[form.digits.reshape(-1)] = numbers.reshape(-1) <= 9
        if not fixed.all():
            at = int((~fixed).argmax())
            begin = int(form.text[:at].tobytes().rfind(b"\n")) + 1
            expected = form.text[begin : begin + 100].tobytes().partition(b"\n")[0].decode()
            stored = data[begin : begin + 100].tobytes().partition(b"\n")[0]
            raise CorruptError(source.name, offset + at, f"a row such as {expected!r}", stored)
        rows = (numbers.astype(np.uint32) @ TENS.astype(np.uint32)).astype(np.uint32)
        size = len(form.text)
        chequers = CHEQUERS[domain]
        return Reading.of(Gillogly, source, offset, size, POINTS, chequers, rows=rows, recipe="bkg")

    def emit(self, table: Gillogly, sink: Outlet, options: Options) -> None:
        """Write a table as text to the sink."""
        rows = np.asarray(table.rows)
        form = _form(table.domain)
        if int(rows.max(initial=0)) >= 10**DIGITS:
            raise CapabilityError(f"{self.name} holds numbers below 10, not {rows.max() / 1e6}")
        text = form.text.copy()
        text[form.digits] = rows[:, :, None] // TENS % 10 + 48
        sink.write(text)

    def layout(self, table: Gillogly, **options: Any) -> Layout:
        """Return the regions of the file and a function from (entry, column, item) to the offset of a number."""
        form = _form(table.domain)
        header = _header(table.domain)
        start = len(header)
        end = len(form.text)
        regions = Region("header", 0, start), Region("rows", start, end - start)
        return Layout(header, regions, lambda entry, column, item: int(form.digits[entry, item, 0]))


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
POINTS_HEADER = re.compile(
    rb"bearoff-2s 1 points=([1-9]\d?) checkers=([1-9]\d?) entries=([1-9]\d{0,18}) value=points\n"
)
MAX_SORTED_BYTES = 64 << 20  # larger files must be in order
BLOCK = 4 << 20
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
DIGIT_PLACES = np.array([1, 3, 4, 5, 6, 7, 8])  # indices of the digits in "+1.000000"
PLUS = 43
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

    def blank(self, start: int, stop: int) -> Bytes:
        """Return the lines of the sides start..stop-1 on roll against all others, each with the value +0.000000.

        The shape is (stop - start, n, width) uint8.
        """
        out = np.empty((stop - start, self.n, self.width), np.uint8)
        p = self.points
        out[:] = np.frombuffer(b" " * (2 * p + 2) + b"+0.000000\n", np.uint8)
        out[:, :, :p] = self.sides[start:stop, None]
        out[:, :, p + 1 : 2 * p + 1] = self.sides
        return out

    def fill(self, start: int, worth: NDArray[Any]) -> Bytes:
        """Return the lines of some sides on roll against all others, with these values: (len(worth), n, width) uint8.

        start : number of the first side on roll. worth : (rows, n) int32 millionths.
        """
        out = self.blank(start, start + len(worth))
        at = 2 * self.points + 2
        out[:, :, at][np.asarray(worth) < 0] = MINUS
        digits = np.abs(np.asarray(worth, np.int64))[:, :, None] // TENS % 10 + 48
        out[:, :, at + DIGIT_PLACES] = digits
        return out

    def values(self, lines: Bytes, name: str, offset: int) -> NDArray[np.int32]:
        """Parse the values of lines of a file; return them as (M,) int32 millionths.

        lines : (M, width) uint8. name, offset : of the file and the first line, for CorruptError at the first invalid
        line.
        """
        at = 2 * self.points + 2
        value = lines[:, at : at + 9]
        digits = value[:, DIGIT_PLACES] - 48
        sign = value[:, 0]
        good = (digits <= 9).all(axis=1) & (value[:, 2] == 46) & ((sign == PLUS) | (sign == MINUS))
        good &= (lines[:, at + 9] == 10) & (lines[:, self.points] == 32) & (lines[:, at - 1] == 32)
        numbers = digits.astype(np.int64) @ TENS
        good &= ~((sign == MINUS) & (numbers == 0))  # -0.000000 is not canonical
        if not good.all():
            row = int((~good).argmax())
            expected = "two sides and a value such as +0.123456"
            raise CorruptError(name, offset + row * self.width, expected, lines[row].tobytes())
        return np.where(sign == MINUS, -numbers, numbers).astype(np.int32)

    def places(self, lines: Bytes, name: str, offset: int) -> NDArray[np.int64]:
        """Return the entry number us * n + them of each line of a file whose lines may be in any order.

        lines : (n * n, width) uint8. name, offset : of the file and the first line, for CorruptError, which is raised
        if the lines are not exactly those of the table.
        """
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
            raise CorruptError(name, offset + row * self.width, "two sides", lines[row].tobytes())
        if len(missing := np.setdiff1d(np.arange(len(known)), places)):
            sides = known[missing[0]].decode()
            raise CorruptError(name, offset, f"{sides} once", "it is missing or there twice")
        return places


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
        header = POINTS_HEADER.fullmatch(line)
        points, chequers = (int(header[1]), int(header[2])) if header else (0, 0)
        if not (1 <= points <= board.MAX_POINTS and 1 <= chequers <= board.MAX_CHEQUERS):
            expected = _points_header(3, 3).decode().strip()
            raise HeaderError(source.name, "header line", offset, f"one such as {expected!r}", line)
        if _points_header(points, chequers) != line:
            expected = _points_header(points, chequers).decode().strip()
            raise HeaderError(source.name, "entries", offset, repr(expected), line)
        n = board.count(points, chequers) - 1
        start = offset + len(line)
        size = n * n * (2 * points + 12)
        source.need(start + size, f"table of {n * n:,} entries")
        worth = _worths(source, start, _PointsLines(points, chequers))
        size += start - offset
        return Reading.of(
            ExpectedPoints, source, offset, size, points, chequers, worth=worth, recipe="points"
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
    row_bytes = lines.n * lines.width

    def text(first: int, stop: int) -> Bytes:
        """Return the bytes of the lines for the sides on roll first..stop-1: (M, width) uint8."""
        data = source.bytes(start + first * row_bytes, (stop - first) * row_bytes)
        return np.frombuffer(data, np.uint8).reshape(-1, lines.width)

    if n * row_bytes <= MAX_SORTED_BYTES:
        data = text(0, n)
        out = np.empty(n * n, np.int32)
        values = lines.values(data, source.name, start)
        out[lines.places(data, source.name, start)] = values
        return out.reshape(n, n)

    def fetch(first: int, stop: int) -> NDArray[np.int32]:
        """Return the values for the sides on roll first..stop-1: (stop - first, n) int32 millionths."""
        out = np.empty((stop - first, n), np.int32)
        for row in range(first, stop):
            data = text(row, row + 1)
            at = start + row * row_bytes
            out[row - first] = lines.values(data, source.name, at)
            wrong = (data != lines.blank(row, row + 1)[0])[:, : 2 * lines.points + 1].any(axis=1)
            if wrong.any():
                bad = int(wrong.argmax())
                expected = "the entries in order (larger files are not sorted)"
                raise CorruptError(source.name, at + bad * lines.width, expected, data[bad].tobytes())
        return out

    return LazyRows((n, n), "i4", fetch)
