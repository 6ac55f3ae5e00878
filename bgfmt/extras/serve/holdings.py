"""The tables that are served: each with its name, its file, what it is and how exact it is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bgfmt.errors import CapabilityError
from bgfmt.files.database import Database, open_database
from bgfmt.storage import is_url, system
from bgfmt.storage.chunks import is_address
from bgfmt.tables import Table

BLOCKS, BLOCK = 16, 64 << 10


@dataclass(frozen=True, eq=False)
class Holding:
    """One table: `name` as it is asked for, the opened database, its file's descriptor to send bytes from.

    fd : None for a table that lies on another server, or in several files.
    """

    name: str
    database: Database
    fd: int | None
    size: int
    fingerprint: str

    @property
    def table(self) -> Table:
        """The table."""
        return self.database.table

    @cached_property
    def max_error(self) -> dict[str, float] | None:
        """The greatest error of its numbers by name, None where it is not known."""
        return self.table.errors() or None

    def entry(self, url: str | None) -> dict[str, Any]:
        """What a list of tables says of it."""
        table, info = self.table, self.database.info()
        out: dict[str, Any] = {"name": self.name, "title": info["title"], "format": info["format"]}
        out |= {key: getattr(table, key) for key in ("kind", "points", "chequers", "positions")}
        out |= {key: info[key] for key in ("cubeful", "gammon", "compressed") if key in info}
        return out | {
            "size": self.size,
            "max_error": self.max_error,
            "fingerprint": self.fingerprint,
            "sha256": None,
            "url": url,
        }


class Holdings(list[Holding]):
    """The tables served, in the order in which they were given. A context manager."""

    def __init__(self, held: Iterable[Holding]) -> None:
        super().__init__(held)
        self.by_name = {one.name: one for one in self}

    @classmethod
    def open(cls, named: Iterable[str], **reading: Any) -> Holdings:
        """Open `PATH` or `NAME=PATH` each; a second table of one name gets "-2" behind it."""
        held: list[Holding] = []
        try:
            for text in named:
                held.append(_open(text, {one.name for one in held}, reading))
        except BaseException:
            cls(held).close()
            raise
        return cls(held)

    @property
    def fingerprints(self) -> str:
        """All of them in one text, for ETags."""
        return " ".join(one.name + ":" + one.fingerprint for one in self)

    def close(self) -> None:
        """Close all files."""
        for one in self:
            one.database.close()
            if one.fd is not None:
                os.close(one.fd)
        self.clear()

    def __enter__(self) -> Holdings:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def legible(name: str) -> str:
    """A name from the command line or a folder as text that can be sent: bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def split_name(text: str) -> tuple[str, str]:
    """(name, path) of "PATH" or "NAME=PATH"; a file whose own name has a "=" is taken as a path."""
    name, equals, path = text.partition("=")
    if equals and name and "/" not in name and not os.path.exists(text):
        if name.startswith(".") or not name.isprintable():
            raise CapabilityError(f"{name!r} cannot name a table")
        return name, path
    return (Path(urlsplit(text).path).name or text) if is_url(text) else Path(text).name, text


def _open(text: str, taken: set[str], reading: dict[str, Any]) -> Holding:
    wanted, path = split_name(text)
    wanted = legible(wanted)
    name, k = wanted, 2
    while name in taken:
        name, k = f"{wanted}-{k}", k + 1
    database = open_database(path, guard=True, **reading)
    if is_url(path):
        size = database.source.size
        made = hashlib.sha256(f"{database.format.name} {size} {legible(database.name)}".encode())
        return Holding(name, database, None, size, made.hexdigest()[:32])
    if is_address(path) or os.path.isdir(path):
        return _of_many(name, database, path)
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except BaseException:
        database.close()
        raise
    status = os.fstat(fd)
    fingerprint = _fingerprint(fd, database.format.name, status.st_size, status.st_mtime_ns)
    return Holding(name, database, fd, status.st_size, fingerprint)


def _of_many(name: str, database: Database, path: str) -> Holding:
    """A table of several files, which are not handed out: its fingerprint is of what the first says of the others,
    and of names, sizes and times of change."""
    source = database.source
    made = hashlib.sha256(database.format.name.encode() + source.bytes(0, min(source.size, BLOCK)))
    size = source.size
    if not is_address(path):
        size = 0
        for file in sorted(file for file in Path(path).rglob("*") if file.is_file()):
            status = file.stat()
            size += status.st_size
            made.update(
                f"{file.relative_to(path)} {status.st_size} {status.st_mtime_ns}".encode(
                    "utf-8", "surrogateescape"
                )
            )
    return Holding(name, database, None, size, made.hexdigest()[:32])


def _fingerprint(fd: int, format: str, size: int, changed: int) -> str:
    """32 hexadecimal digits of format, size, time of change and some blocks spread over the file."""
    made = hashlib.sha256(f"{format} {size} {changed}".encode())
    for k in range(BLOCKS):
        at = max(0, size - BLOCK) * k // (BLOCKS - 1)
        made.update(system.read_at(fd, BLOCK, at))
    return made.hexdigest()[:32]
