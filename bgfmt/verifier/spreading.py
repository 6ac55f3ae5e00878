"""Checks that the workers of a cluster do: a part of a table each, which they open themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from time import time_ns
from typing import Any, TypeVar

from bgfmt.files.database import Database, open_database
from bgfmt.formats.base import Apart
from bgfmt.solver.workers import Workers
from bgfmt.storage import Source
from bgfmt.tables import Table

K = TypeVar("K")
R = TypeVar("R")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TableAddress:
    """How a worker opens a table: path, format, part, and description as items; `asked` tells one check from another,
    between which the file may have changed."""

    path: str
    format: str | None = None
    part: int = 0
    described: tuple[tuple[str, Any], ...] = ()
    asked: int = 0

    def table(self) -> Table:
        """The table, opened once a process."""
        return _opened(self).table

    def source(self) -> Source:
        """Its bytes."""
        return _opened(self).source


def address(path: str, part: int, asked: Mapping[str, Any]) -> TableAddress:
    """Where the workers find a part of a file; `asked`: format and description."""
    described = tuple((name, value) for name, value in asked.items() if name != "format")
    return TableAddress(path, asked.get("format"), part, described, time_ns())


@lru_cache(maxsize=1)
def _opened(opening: TableAddress) -> Database:
    return open_database(opening.path, format=opening.format, part=opening.part, **dict(opening.described))


@dataclass(frozen=True)
class Spread:
    """The workers that check a table, and how they open it."""

    workers: Workers
    opening: TableAddress

    def of_sources(self, progress: Progress | None) -> Apart:
        """What gives function(source, part) of each part, in any order."""

        def run(function: Callable[[Source, K], R], parts: Sequence[K]) -> list[R]:
            return self.run(partial(_of_source, function), parts, progress)

        return run

    def run(
        self, function: Callable[[TableAddress, K], R], parts: Sequence[K], progress: Progress | None
    ) -> list[R]:
        """What the function gives of each part, in any order; it must be one that pickles by name."""
        found: list[R] = []
        for result in self.workers.run(partial(function, self.opening), parts):
            found.append(result)
            if progress is not None:
                progress(len(found), len(parts))
        return found


def _of_source(function: Callable[[Source, K], R], opening: TableAddress, part: K) -> R:
    """On a worker."""
    return function(opening.source(), part)
