"""BKG's table as files: text of six decimals, and doubles behind a header of 40 bytes.

Text (`.bkg`), ASCII, every line closed by LF:

    bkg-bearoff 1 points=6 men=8 pips=25 domain=union rolls=8 entries=4853
    <id> <counts> <ENR> <P1> <P2> <P3> <P4> <P5> <P6> <P7> <P8>

rows in ascending gnubg position number <id>, the empty position first; <counts> six hexadecimal digits, point 1
first; nine numbers with six decimals. `domain=intersection` has 1,724 rows.

Binary (`.bkb`): offset 0 "bkg-T-06-08-25-u-08-f8" filled with "x" to 39 bytes and closed by LF ("i" in place of "u"
for the intersection); from 40 on, for each row in the same order, nine little-endian float64.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, HeaderError
from bgfmt.extras.lab.formats import SixDecimals, header_line
from bgfmt.extras.lab.tables import CHEQUERS, POINTS, ROLLS, Domain, Gillogly, domain_ids
from bgfmt.formats.base import ArrayFormat, Layout, Options, Outlet, Reading, Region
from bgfmt.game import board
from bgfmt.storage import Source

Bytes = NDArray[np.uint8]
MAGIC, BINARY_MAGIC = b"bkg-bearoff ", b"bkg-T-"
COLUMNS, DIGITS = 1 + ROLLS, 7
DOMAINS: tuple[Domain, ...] = ("union", "intersection")
BINARY_HEADER = 40
TENS = 10 ** np.arange(DIGITS - 1, -1, -1)


class Form(NamedTuple):
    """A text file with every digit of a number at nought, and where those digits are, (rows, 9, 7)."""

    text: Bytes
    digits: NDArray[np.int64]


def _header(domain: Domain) -> bytes:
    many = len(domain_ids(domain))
    return f"bkg-bearoff 1 points=6 men=8 pips=25 domain={domain} rolls=8 entries={many}\n".encode()


@cache
def _form(domain: Domain) -> Form:
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
    name = "bkg-text"
    title = "BKG table, text"
    suffixes = (".bkg",)
    magic = MAGIC
    carries = (Gillogly,)

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[Gillogly]:
        line = header_line(source, offset)
        domain = next((d for d in DOMAINS if _header(d) == line), None)
        if domain is None:
            expected = f"{_header('union').decode().strip()!r} or that of the intersection"
            raise HeaderError(source.name, "header line", offset, expected, line)
        form = _form(domain)
        source.need(offset + len(form.text), f"table of {len(form.digits):,} rows ({domain})")
        data = np.frombuffer(source.bytes(offset, len(form.text)), np.uint8)
        digits = data[form.digits]
        numbers = digits - 48  # uint8: what lies below "0" becomes large
        fixed = data == form.text
        fixed[form.digits.reshape(-1)] = numbers.reshape(-1) <= 9
        if not fixed.all():
            at = int((~fixed).argmax())
            begin = int(form.text[:at].tobytes().rfind(b"\n")) + 1
            expected = form.text[begin : begin + 100].tobytes().partition(b"\n")[0].decode()
            stored = data[begin : begin + 100].tobytes().partition(b"\n")[0]
            raise CorruptError(source.name, offset + at, f"a row such as {expected!r}", repr(stored))
        rows = (numbers.astype(np.uint32) @ TENS.astype(np.uint32)).astype(np.uint32)
        size, chequers = len(form.text), CHEQUERS[domain]
        return Reading.of(Gillogly, source, offset, size, POINTS, chequers, rows=rows, recipe="bkg")

    def emit(self, table: Gillogly, sink: Outlet, options: Options) -> None:
        rows, form = np.asarray(table.rows), _form(table.domain)
        if int(rows.max(initial=0)) >= 10**DIGITS:
            raise CapabilityError(f"{self.name} holds numbers below 10, not {rows.max() / 1e6}")
        text = form.text.copy()
        text[form.digits] = rows[:, :, None] // TENS % 10 + 48
        sink.write(text)

    def layout(self, table: Gillogly, **options: Any) -> Layout:
        form, header = _form(table.domain), _header(table.domain)
        start, end = len(header), len(form.text)
        regions = Region("header", 0, start), Region("rows", start, end - start)
        return Layout(header, regions, lambda entry, column, item: int(form.digits[entry, item, 0]))


class BkgBinary(ArrayFormat[Gillogly]):
    name = "bkg-binary"
    title = "BKG table, float64"
    array, dtype = "rows", "<f8"
    suffixes = (".bkb",)
    magic = BINARY_MAGIC
    carries = (Gillogly,)

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[Gillogly]:
        header = source.bytes(offset, BINARY_HEADER, "header")
        domain = next((d for d in DOMAINS if _binary_header(d) == header), None)
        if domain is None:
            expected = _binary_header("union").decode().strip()
            raise HeaderError(source.name, "header", offset, f"{expected!r} or with i for u", header)
        n = len(domain_ids(domain))
        rows = source.array("<f8", (n, COLUMNS), offset + BINARY_HEADER, f"BKG table of the {domain}")
        size, chequers = BINARY_HEADER + 8 * COLUMNS * n, CHEQUERS[domain]
        return Reading.of(Gillogly, source, offset, size, POINTS, chequers, rows=rows, recipe="exact")

    def refusal(self, table: Gillogly, options: Options) -> str | None:
        if not table.exact:
            return f"{self.name} holds float64 numbers, not those rounded to six decimals"
        return table.check()

    def header_of(self, table: Gillogly, options: Options) -> bytes:
        return _binary_header(table.domain)


def _binary_header(domain: Domain) -> bytes:
    return f"bkg-T-06-08-25-{domain[0]}-08-f8".encode().ljust(BINARY_HEADER - 1, b"x") + b"\n"
