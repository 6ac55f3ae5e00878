"""Check one table on the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial, update_wrapper
from typing import Any, TypeVar

from bgfmt.files.database import Database, open_database
from bgfmt.solver.workers import Workers

__all__ = ["Progress", "Spread"]


K = TypeVar("K")
R = TypeVar("R")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Spread:
    """The workers that check a table, and the arguments with which they open it.

    Attributes
    ----------
    workers : the cluster.
    path, part : the file, and the number of the database in it.
    options : items of the format and description, as for `bgfmt.open`.
    progress : called with (parts done, parts).
    stamp : distinguishes this check from earlier ones of the same path, so that workers open the file again.
    """

    workers: Workers
    path: str
    part: int
    options: tuple[tuple[str, Any], ...]
    progress: Progress | None = None
    stamp: int = field(default_factory=time.time_ns)

    def run(self, function: Callable[[Any, K], R], parts: Sequence[K], *, of_source: bool = False) -> list[R]:
        """Call `function(db, part)` on the workers for every part; return the results in order of arrival.

        function : one that pickles by name. of_source : pass the database's source (`db.source`) instead of the
        database.
        """
        opening = (self.path, self.part, self.options, self.stamp)
        found: list[R] = []
        named = update_wrapper(
            partial(_run_on_worker, function, opening, of_source), function, ("__name__",), ()
        )
        for result in self.workers.run(named, parts):
            found.append(result)
            if self.progress is not None:
                self.progress(len(found), len(parts))
        return found


def _run_on_worker(function: Callable[[Any, K], R], opening: tuple[Any, ...], of_source: bool, part: K) -> R:
    """Open the database and call the function; this runs on a worker."""
    db = _open_cached(*opening)
    return function(db.source if of_source else db, part)


@lru_cache(maxsize=1)
def _open_cached(path: str, part: int, options: tuple[tuple[str, Any], ...], stamp: int) -> Database:
    """Open the database once for each process and check."""
    return open_database(path, part=part, **dict(options))
