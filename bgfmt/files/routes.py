"""Options of a solve (`Route`), and the interface of solves through a store (`Stores`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from bgfmt.files.output import OutputFile, Progress
from bgfmt.solver.registry import Solver
from bgfmt.solver.workers import Workers
from bgfmt.storage import PathLike
from bgfmt.tables.registry import Registry

__all__ = ["Route", "StoreReport", "stores"]


@dataclass(frozen=True)
class Route:
    """How a table is solved; the options of `bgfmt.solve` that belong neither to the table nor to its format.

    Parameters
    ----------
    workers
        Workers, or the address of a cluster.
    threads
        How many threads, by default one a core.
    device
        "cuda" to compute on a GPU.
    memory
        Bytes to take at most, through a store those of each worker.
    store
        Folder or address of chunks that is kept.
    scratch
        Folder of chunks that is removed once the file is safe.
    resume, force
        Continue an interrupted run; replace an existing file or store.
    tiles
        Solve tile by tile through a store, whatever the size.
    progress
        Called as ``progress(done, total)``.
    announce
        Called with the address of a cluster's dashboard, if it has one.
    """

    workers: str | Workers | None = None
    threads: int | None = None
    device: str | None = None
    memory: int | None = None
    store: PathLike | None = None
    scratch: PathLike | None = None
    resume: bool = False
    force: bool = False
    tiles: bool = False
    progress: Progress | None = None
    announce: Callable[[str], None] | None = None

    @property
    def by_tiles(self) -> bool:
        """Whether an option makes the solve go tile by tile (a block of rows and columns at a time).

        These are `tiles`, `store`, `device` and the address of a cluster.
        """
        return (
            self.tiles or self.store is not None or self.device is not None or isinstance(self.workers, str)
        )


class StoreReport(Protocol):
    """What a solve through a store did: tiles made and found, bytes read and written, the store's checksum."""

    made: int
    found: int
    read: int
    written: int
    sum: str


class Stores(Protocol):
    """Solves through a store of chunks; an entry point of the group `bgfmt.stores`."""

    def fill(
        self, solver: Solver, file: OutputFile | None, path: str, route: Route, *, layers: bool
    ) -> StoreReport:
        """Solve a table into the store `path` (a folder or address of chunks); write it to `file` if not None.

        layers : solve by layers (all pairs of equal pips at once) if the store is new and memory allows, by tiles
        (blocks of rows and columns) otherwise.
        """

    def remove(self, path: str) -> None:
        """Remove a store (a folder or address of chunks), and its folder if nothing else is in it."""

    def describe_plan(self, solver: Solver, route: Route) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the resources that a solve would take: {name: number}, and {title: text} for people."""


STORES: Registry[Stores] = Registry("bgfmt.stores")


def stores() -> Stores:
    """Return the object that solves through a store of chunks; CapabilityError if none is installed.

    It is an entry point of the group `bgfmt.stores`.
    """
    return STORES.first("nothing installed solves through a store")
