"""Recorded matches: one data model, and a reader for each file format that players use.

    for match in bgfmt.matches.read("evening.xg"):
        for game, record in match.records():
            print(match.players[record.player], record.kind, record.position)

The format of a file is recognised from its content, never from its name. A reader is a module with NAME,
`recognise(data)` and `read(data, name)`, registered under the entry points `bgfmt.matches`; bgfmt's own readers and
those of other packages are registered in the same way.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Protocol

from bgfmt.errors import FormatError, UnknownFormatError, format_bytes
from bgfmt.extras.matches import unsupported
from bgfmt.extras.matches.model import MAX_RECORDS, Game, Match, Record, Result, Rules, check_results
from bgfmt.files.database import describe_foreign
from bgfmt.game.drawing import printable
from bgfmt.tables.registry import Registry

LARGEST_FILE = 32 << 20


class Reader(Protocol):
    """Protocol of a module that reads one file format of matches."""

    NAME: str

    def recognise(self, data: bytes) -> bool:
        """Return whether these bytes look like this format."""

    def read(self, data: bytes, name: str) -> Iterator[Match]:
        """Yield the matches in these bytes in the order of the file; `name` is used in error messages."""


_READERS: Registry[Reader] = Registry("bgfmt.matches")
#: the names of the readers as they are asked; .mat comes last, for almost any text may be a match of its form
READERS = tuple(sorted(_READERS.points, key=lambda name: (name == "mat", name)))


def reader(data: bytes, name: str = "<bytes>") -> Reader:
    """Return the reader module that recognises these bytes.

    Raises UnknownFormatError where no reader does, or where the format is one that only other programs read.
    """
    if form := unsupported.name_format(data):
        raise UnknownFormatError(f"{name}: {form}", READERS)
    found = next((one for one in map(_READERS.get, READERS) if one is not None and one.recognise(data)), None)
    if found is not None:
        return found
    if reason := describe_foreign(data[: 1 << 16]):
        raise UnknownFormatError(f"{name}: {reason}", READERS)
    broken = "".join(f"; {one} does not load ({why})" for one, why in _READERS.broken.items())
    what = f"it begins with {format_bytes(data[:8])}" if data else "the file is empty"
    asked = f"(readers tried: {', '.join(READERS)}{broken})"
    raise UnknownFormatError(f"{name}: not a readable match; {what} {asked}", READERS)


def content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file that may hold matches.

    Raises FormatError for a folder, a pipe or a device, and for a file larger than `LARGEST_FILE`.
    """
    name = printable(os.path.basename(os.fspath(path)))
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would keep the reader waiting
        raise FormatError(f"{name}: is not a regular file")
    with open(path, "rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise FormatError(f"{name}: larger than any match ({LARGEST_FILE >> 20} MiB)")
    return data


def _normalise_text(data: bytes) -> bytes:
    """Return UTF-16 text, or text with lone carriage returns, as UTF-8 with line feeds; other bytes unchanged."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode()
    return data if b"\n" in data or b"\0" in data else data.replace(b"\r", b"\n")


def each(source: str | os.PathLike[str] | bytes, name: str | None = None) -> Iterator[Match]:
    """Yield the matches of a file, given by path or as bytes, one by one, for files too large to hold in memory.

    Raises FormatError, with a one-line message, for a file that is not a match.
    """
    if isinstance(source, bytes):
        data = source
        name = name or "<bytes>"
    else:
        data = content(source)
        name = name or os.path.basename(os.fspath(source))
    name = printable(name)
    data = _normalise_text(data)
    return map(check_results, reader(data, name).read(data, name))


def read(source: str | os.PathLike[str] | bytes, name: str | None = None) -> list[Match]:
    """Return all matches of a file, given by path or as bytes.

    Raises FormatError, with a one-line message, for a file that is not a match or has more than `MAX_RECORDS`
    records.
    """
    matches: list[Match] = []
    records = 0
    for match in each(source, name):
        matches.append(match)
        records += sum(len(game.records) for game in match.games)
        if records > MAX_RECORDS:
            many = f"more than {MAX_RECORDS:,} records; read its matches one by one (each)"
            raise FormatError(f"{name or 'the file'}: {many}")
    return matches


__all__ = [
    "LARGEST_FILE",
    "READERS",
    "Game",
    "Match",
    "Reader",
    "Record",
    "Result",
    "Rules",
    "content",
    "each",
    "printable",
    "read",
    "reader",
]
