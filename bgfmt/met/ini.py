"""eXtreme Gammon's match equity tables: `.met`, an INI file.

Sections `[Current]` (`Name`, ...), `[PostCrawford]` (`Size`, `Data`) and `[PreCrawford]` (`Size`, a row for each away
score). Case, blanks around keys and after numbers do not matter; `;` begins a comment line; `Data` may be short.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from bgfmt.errors import CapabilityError, CorruptError
from bgfmt.met.model import Met, Row, build_met, parse_length, parse_probability


class _Entry(NamedTuple):
    offset: int  # of the line, in bytes
    text: str


def _sections(data: bytes, source: str) -> dict[str, dict[str, _Entry]]:
    """Return the entries by section and key, both in lower case; of a repeated key the first value counts."""
    sections: dict[str, dict[str, _Entry]] = {}
    here: dict[str, _Entry] | None = None
    offset = 0
    for raw in data.splitlines(keepends=True):
        body = raw.removeprefix(b"\xef\xbb\xbf") if offset == 0 else raw
        try:
            line = body.decode("utf-8").strip()
        except UnicodeDecodeError:
            line = body.decode("latin-1").strip()
        if line.startswith("[") and line.endswith("]"):
            here = sections.setdefault(line[1:-1].strip().lower(), {})
        elif line and not line.startswith(";"):
            key, equals, text = line.partition("=")
            if not equals or here is None:
                raise CorruptError(source, offset, "[section], key=value or ; comment", repr(line[:40]))
            here.setdefault(key.strip().lower(), _Entry(offset, text.strip()))
        offset += len(raw)
    return sections


def read(data: bytes, source: str, short: str, *, extend: bool = False) -> Met:
    """Parse eXtreme Gammon's `.met` file.

    Parameters
    ----------
    data
        The contents of the file.
    source
        What error messages call the file.
    short
        The short name that the table gets; its title is `Name` of section `[Current]`.
    extend
        Let the table answer scores beyond its length, up to 64-away.

    Raises
    ------
    CorruptError
        The file is no such table; the message says what is wrong and at which byte.
    """
    sections = _sections(data, source)

    def entry(section: str, key: str) -> _Entry:
        line = sections.get(section.lower(), {}).get(key.lower())
        if line is None:
            raise CorruptError(source, len(data), f"a line {key}= in section [{section}]", "none")
        return line

    def numbers(line: _Entry) -> Row:
        return tuple(parse_probability(source, line.offset, word) for word in line.text.split())

    stated = entry("PreCrawford", "Size")
    length = parse_length(source, stated.offset, stated.text, "Size")
    rows = []
    for away in range(1, length + 1):
        line = entry("PreCrawford", str(away))
        rows.append(numbers(line))
        if len(rows[-1]) != length:
            raise CorruptError(source, line.offset, f"a row of {length} numbers", len(rows[-1]))
    stated = entry("PostCrawford", "Size")
    most = min(length, parse_length(source, stated.offset, stated.text, "Size"))
    line = entry("PostCrawford", "Data")
    post = numbers(line)
    if not 1 <= len(post) <= most:
        raise CorruptError(source, line.offset, f"1 to {most} numbers", len(post))
    title = sections.get("current", {}).get("name", _Entry(0, "")).text
    return build_met(source, short, title, rows, (post, post), extend=extend)


def write(met: Met) -> bytes:
    """Return the table as an INI file that `read` and eXtreme Gammon accept.

    CapabilityError if the two players have different post-Crawford rows: the format has a single one.
    """
    if met.post[0] != met.post[1]:
        raise CapabilityError(
            f"{met.name}: eXtreme Gammon's tables have one post-Crawford row, this table has two"
        )
    title = " ".join((met.title or met.name).split())
    numbers = range(1, met.length + 1)
    head = f"[Current]\nName={title}\nVersion=1.00\nDescription=Written by bgfmt\n\n[PostCrawford]"
    lines = head.split("\n")
    lines += [f"Size={met.length}", f"Data={_row(met.post[0])}", "", "[PreCrawford]", f"Size={met.length}"]
    return "\r\n".join([*lines, *(f"{n:2d}={_row(met.pre[n - 1])}" for n in numbers), ""]).encode()


def _row(numbers: Row) -> str:
    return " ".join(f"{Decimal(repr(number)):f}".ljust(7, "0") for number in numbers)
