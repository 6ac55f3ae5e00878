"""The served tables, each with its name, file, facts and maximum error."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bgfmt.cli.terminal import say
from bgfmt.errors import CapabilityError
from bgfmt.files.database import Database, open_database
from bgfmt.storage import is_address, is_url
from bgfmt.tables import Table

BLOCKS = 16
BLOCK_BYTES = 64 << 10


@dataclass(frozen=True, eq=False)
class Holding:
    """One served table: the name in queries, the open database, and the descriptor of its file for downloads.

    fd : None for a table on another server, or in several files.
    fingerprint : 32 hexadecimal digits of a hash of format, size and some blocks, and of names, sizes and times of
        change of the files.
    """

    name: str
    database: Database
    fd: int | None
    size: int
    fingerprint: str

    @property
    def table(self) -> Table:
        return self.database.table

    @cached_property
    def max_error(self) -> dict[str, float] | None:
        """Maximum error of the table's numbers by name, None if no bound is known."""
        return self.table.errors() or None

    def entry(self, url: str | None) -> dict[str, Any]:
        """Return the facts about the table as the entry in the list of tables.

        url : address of its file, None if it cannot be downloaded.
        """
        table = self.table
        info = self.database.info()
        out: dict[str, Any] = {"name": self.name, "title": info["title"], "format": info["format"]}
        out |= {key: getattr(table, key) for key in ("kind", "points", "chequers", "positions")}
        out |= {key: info[key] for key in ("cubeful", "gammon", "compressed") if key in info}
        out |= {"size": self.size, "max_error": self.max_error, "fingerprint": self.fingerprint}
        return out | {"sha256": None, "url": url}


class Holdings(list[Holding], AbstractContextManager["Holdings"]):
    """The served tables, in the given order; a context manager that closes them."""

    _stack: ExitStack

    @classmethod
    def open(cls, named: Iterable[str], **reading: Any) -> Holdings:
        """Open tables given as `PATH` or `NAME=PATH`; a second table of the same name gets "-2" appended.

        reading : further arguments of `bgfmt.open`.
        """
        holdings = cls()
        with ExitStack() as stack:
            for text in named:
                holdings.append(_open(text, {one.name for one in holdings}, reading, stack))
            holdings._stack = stack.pop_all()
        return holdings

    @cached_property
    def by_name(self) -> dict[str, Holding]:
        return {one.name: one for one in self}

    def __exit__(self, *error: object) -> None:
        self._stack.close()


def legible(name: str) -> str:
    """Return a file's name as valid text: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def split_name(text: str) -> tuple[str, str]:
    """Split "PATH" or "NAME=PATH" into (name, path); an existing file with "=" in its name is a path."""
    name, equals, path = text.partition("=")
    if equals and name and "/" not in name and not os.path.exists(text):
        if name.startswith(".") or not name.isprintable():
            raise CapabilityError(f"{name!r} is not a valid name of a table")
        return name, path
    return (Path(urlsplit(text).path).name or text) if is_url(text) else Path(text).name, text


def _open(text: str, taken: set[str], reading: dict[str, Any], stack: ExitStack) -> Holding:
    wanted, path = split_name(text)
    plain = legible(wanted)
    names = chain([plain], (f"{plain}-{k}" for k in count(2)))
    name = next(one for one in names if one not in taken)
    if name != plain:
        say(f"bgfmt: {path} is named {name}, as there is another {plain}", err=True)
    database = stack.enter_context(open_database(path, guard=True, **reading))
    files = [] if is_address(path) else [Path(path)]
    fd = None
    if files and files[0].is_dir():  # several files, which are not handed out
        files = sorted(file for file in files[0].rglob("*") if file.is_file())
    elif files:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        stack.callback(os.close, fd)
    size = sum(file.stat().st_size for file in files) or database.source.size
    facts = [database.format.name, str(size)] + ([] if files else [database.name])
    facts += [f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    for k in range(BLOCKS if fd is not None else 1):
        at = max(0, database.source.size - BLOCK_BYTES) * k // (BLOCKS - 1)
        facts.append(
            hashlib.sha256(database.source.bytes(at, min(BLOCK_BYTES, database.source.size))).hexdigest()
        )
    fingerprint = hashlib.sha256(os.fsencode("\n".join(facts))).hexdigest()[:32]
    return Holding(name, database, fd, size, fingerprint)
