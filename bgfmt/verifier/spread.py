"""A check of one table by the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial, update_wrapper
from typing import Any, TypeVar

from bgfmt.files.database import Database, open_database
from bgfmt.solver.workers import Workers

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
    when: int = field(default_factory=time.time_ns)

    def run(self, function: Callable[[Any, K], R], parts: Sequence[K], *, of_source: bool = False) -> list[R]:
        """What the function gives of the database, or of its source, and each part, in any order.

        function : one that pickles by name.
        """
        opening = (self.path, self.part, self.asked, self.when)
        found: list[R] = []
        named = update_wrapper(partial(_elsewhere, function, opening, of_source), function, ("__name__",), ())
        for result in self.workers.run(named, parts):
            found.append(result)
            if self.progress is not None:
                self.progress(len(found), len(parts))
        return found


def _elsewhere(function: Callable[[Any, K], R], opening: tuple[Any, ...], of_source: bool, part: K) -> R:
    """On a worker."""
    db = _opened(*opening)
    return function(db.source if of_source else db, part)


@lru_cache(maxsize=1)
def _opened(path: str, part: int, asked: tuple[tuple[str, Any], ...], when: int) -> Database:
    """Opened once a process."""
    return open_database(path, part=part, **dict(asked))
