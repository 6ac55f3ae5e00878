"""Recorded matches: one model, and a reader for each form in which players have them.

    for match in bgfmt.matches.read("evening.xg"):
        for game, record in match.records():
            print(match.players[record.player], record.kind, record.position)

A file is told by its content, never by its name. A reader is a module with NAME, `recognise(data)` and
`read(data, name)`, and comes in by the entry points `bgfmt.matches`, bgfmt's own as those of other packages.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Protocol

from bgfmt.errors import FormatError, UnknownFormatError, shown
from bgfmt.extras.matches import elsewhere
from bgfmt.extras.matches.model import MOST_RECORDS, Game, Match, Record, Result, Rules, checked
from bgfmt.files.database import foreign
from bgfmt.game.drawing import printable
from bgfmt.tables.registry import Registry

LARGEST_FILE = 64 << 20


class Reader(Protocol):
    """The module of a form."""

    NAME: str

    def recognise(self, data: bytes) -> bool:
        """Whether these bytes claim to be of the form."""

    def read(self, data: bytes, name: str) -> Iterator[Match]:
        """The matches in them, one after another."""


_READERS: Registry[Reader] = Registry("bgfmt.matches")
#: the names of the readers as they are asked; .mat comes last, for almost any text may be a match of its form
READERS = tuple(sorted(_READERS.points, key=lambda name: (name == "mat", name)))


def reader(data: bytes, name: str = "<bytes>") -> Reader:
    """The reader that recognises the bytes; UnknownFormatError where none does, or where the form is another's."""
    if form := elsewhere.named(data):
        raise UnknownFormatError(f"{name}: {form}", READERS)
    found = next((one for one in map(_READERS.get, READERS) if one is not None and one.recognise(data)), None)
    if found is not None:
        return found
    if reason := foreign(data[: 1 << 16]):
        raise UnknownFormatError(f"{name}: {reason}", READERS)
    broken = "".join(f"; {one} does not load ({why})" for one, why in _READERS.broken.items())
    what = f"it begins with {shown(data[:8])}" if data else "the file is empty"
    asked = f"(asked: {', '.join(READERS)}{broken})"
    raise UnknownFormatError(f"{name}: no match that can be read; {what} {asked}", READERS)


def content(path: str | os.PathLike[str]) -> bytes:
    """All of a file that may be a match; FormatError where it is no ordinary file, or too large."""
    name = printable(os.path.basename(os.fspath(path)))
    if os.path.isdir(path):
        raise FormatError(f"{name}: is a folder, not a regular file")
    flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a FIFO keeps nobody waiting
    with open(os.open(path, os.O_RDONLY | flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FormatError(f"{name}: not a regular file")
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise FormatError(f"{name}: larger than any match ({LARGEST_FILE >> 20} MiB)")
    return data


def _plain(data: bytes) -> bytes:
    """Text of UTF-16, or with carriage returns alone, as UTF-8 with line feeds; other bytes as they are."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode()
    return data if b"\n" in data or b"\0" in data else data.replace(b"\r", b"\n")


def each(source: str | os.PathLike[str] | bytes, name: str | None = None) -> Iterator[Match]:
    """The matches of a file, or of its bytes, one after another: for streams that are too large to hold.

    FormatError, in one line, where it is not a match.
    """
    if isinstance(source, bytes):
        data = source
        name = name or "<bytes>"
    else:
        data = content(source)
        name = name or os.path.basename(os.fspath(source))
    name = printable(name)
    data = _plain(data)
    return map(checked, reader(data, name).read(data, name))


def read(source: str | os.PathLike[str] | bytes, name: str | None = None) -> list[Match]:
    """All matches of a file, or of its bytes.

    FormatError, in one line, where it is not a match, or holds more than can be held.
    """
    matches: list[Match] = []
    records = 0
    for match in each(source, name):
        matches.append(match)
        records += sum(len(game.records) for game in match.games)
        if records > MOST_RECORDS:
            many = f"more than {MOST_RECORDS:,} records; read its matches one by one (each)"
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
