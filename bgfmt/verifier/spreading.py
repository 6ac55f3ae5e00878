"""Checks that the workers of a cluster do: a part of a table each, which they open themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from time import time_ns
from typing import Any, TypeVar

from bgfmt.files.database import Database, open_database
from bgfmt.solver.workers import Workers
from bgfmt.storage import Source

K = TypeVar("K")
R = TypeVar("R")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Spread:
    """The workers that check a table, and how they open it.

    path, part, asked : of the file, the format and description being items. progress : called with (done, total).
    when : tells one check from another, between which the file may have changed.
    """

    workers: Workers
    path: str
    part: int
    asked: tuple[tuple[str, Any], ...]
    progress: Progress | None = None
    when: int = field(default_factory=time_ns)

    def run(self, function: Callable[[Database, K], R], parts: Sequence[K]) -> list[R]:
        """What the function gives of each part, in any order; it must be one that pickles by name."""
        opening = (self.path, self.part, self.asked, self.when)
        found: list[R] = []
        for result in self.workers.run(partial(_of_database, function, opening), parts):
            found.append(result)
            if self.progress is not None:
                self.progress(len(found), len(parts))
        return found

    def of_sources(self, function: Callable[[Source, K], R], parts: Sequence[K]) -> list[R]:
        """The same of a function of the file's bytes."""
        return self.run(partial(_of_source, function), parts)


def _of_database(function: Callable[[Database, K], R], opening: tuple[Any, ...], part: K) -> R:
    """On a worker."""
    return function(_opened(*opening), part)


def _of_source(function: Callable[[Source, K], R], db: Database, part: K) -> R:
    return function(db.source, part)


@lru_cache(maxsize=1)
def _opened(path: str, part: int, asked: tuple[tuple[str, Any], ...], when: int) -> Database:
    """Opened once a process."""
    return open_database(path, part=part, **dict(asked))
