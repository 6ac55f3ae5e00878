"""Solving a two-sided table through a store of chunks: by threads, by the workers of a cluster, or on a device.

The store holds all that is finished, so that memory is bounded by a tile a worker and a run that ended, whoever of it
ended, goes on from what is there. What is whole is a table of a format like any other, and need not become a file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from bgfmt.errors import BgfmtError, CapabilityError, OutputExistsError, ScratchError, SolverError
from bgfmt.extras.cluster.addresses import workers_here
from bgfmt.extras.cluster.dask_workers import workers_of
from bgfmt.files.filing import Filing
from bgfmt.formats.zarr import MAIN, NUMBERS, Described, described, in_pips, sizes
from bgfmt.solver.job import Job, job
from bgfmt.solver.machine import check_disk, check_memory, thread_count
from bgfmt.solver.stored import Made, Making, plays_bytes
from bgfmt.solver.tiles import WORK_BYTES, Grid, grid_of
from bgfmt.solver.workers import Workers
from bgfmt.storage import PathLike
from bgfmt.storage.chunks import ROOT, SUM, ChunkStore, chunks_of, is_address

Progress = Callable[[int, int], None]
WORKER_BYTES = 2_400_000_000  # memory of a worker where nothing else was said, and less would do
AHEAD_PAIRS = 8_000_000  # of a tile, at most, that is made before workers are there: a fraction of a second
MERGE_SHARE = 8  # making a table takes about eight times as long as putting it in order


@dataclass
class Solved:
    """What a solve through a store did: tiles made and found, bytes read and written, seconds of work and of the
    kernels in it."""

    grid: Grid
    made: int = 0
    found: int = 0
    read: int = 0
    written: int = 0
    seconds: float = 0.0
    kernels: float = 0.0

    def count(self, tile: Made) -> None:
        """Add a tile."""
        self.made += tile.written > 0
        self.found += tile.written == 0
        self.read += tile.read
        self.written += tile.written
        self.seconds += tile.seconds
        self.kernels += tile.kernels


@dataclass(frozen=True)
class StoredPlan:
    """What a solve through a store will take, in bytes: `memory` of a worker, the store and the output, what is
    `read` from the store and `written` to it."""

    grid: Grid
    workers: int
    memory: int
    store: int
    output: int
    read: int
    written: int
    tiles: int


def plan_stored(
    made: Job, *, workers: int, memory: int | None = None, grid: Grid | None = None
) -> StoredPlan:
    """The plan for so many workers of so much memory each, 2.4 GB or what it takes at least when None.

    SolverError where that is too little.
    """
    columns = 4 if made.cubeful else 1
    base = WORK_BYTES + plays_bytes(made.points, made.chequers)
    left = (WORKER_BYTES if memory is None else memory) - base
    size = (made.points, made.chequers)
    grid = grid or grid_of(*size, columns=columns, workers=workers, memory=left)
    needed = base + grid.memory
    if memory is not None and needed > memory:
        what = f"two-sided {made.points}x{made.chequers}"
        raise SolverError(f"{what} needs {needed / 1e9:.2f} GB a worker, not {memory / 1e9:.2f} GB")
    read, written = grid.moved
    output = grid.n**2 * columns * 2 + 40
    return StoredPlan(grid, workers, needed, written, output, read, written, len(grid.tiles()))


def solve_stored(
    what: str,
    points: int,
    chequers: int,
    path: PathLike | None = None,
    *,
    store: PathLike | None = None,
    cluster: str | None = None,
    device: str | None = None,
    memory: int | None = None,
    resume: bool = False,
    cubeful: bool = True,
    recipe: str | None = None,
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
    **options: Any,
) -> Solved:
    """Make a two-sided table in a store of chunks, and a file of it.

    Parameters
    ----------
    what, points, chequers, cubeful, recipe : as `bgfmt.solve`; two-sided tables of recipe gnubg.
    path : the file to make of the store; None leaves it at the store.
    store : folder, or address that fsspec and all workers know. By default `path` with ".store" behind it, removed
        when the file is safe.
    cluster : ``local:N`` or a Dask scheduler's address; see `bgfmt.extras.cluster.dask_workers`. Threads of this process when None.
    device : ``cuda`` runs the kernels on a GPU.
    memory : bytes that a worker may take.
    resume : go on from what the store holds. Chunks are held against their checksums, damaged ones made again.
    announce : told the address of Dask's dashboard.

    Raises
    ------
    CapabilityError for other tables; ScratchError for a store that is unfinished or of another table; ClusterError;
    otherwise as `bgfmt.solve`.
    """
    made = job(what, points, chequers, recipe=recipe, cubeful=cubeful)
    if made.kind != "two-sided" or not made.recipe.rounded:
        raise CapabilityError("two-sided tables of recipe gnubg alone are solved through a store of chunks")
    if path is None and store is None:
        raise CapabilityError("a file to make or a store has to be named")
    kept = os.fspath(store) if store is not None else store_of(path or "")
    if not kept:
        raise FileNotFoundError(errno.ENOENT, "an empty name is no name of a store", kept)
    filing = _filing(made, path, format, force, options)
    there = _found(made, kept, resume)
    at_once = thread_count(threads)
    if device is not None:
        from bgfmt.extras.cluster.device import tiles_at_once

        at_once = tiles_at_once(at_once)

    def begun(workers: int) -> Solving:
        if there is None:
            grid = plan_stored(made, workers=workers, memory=memory).grid
        else:
            size = {"columns": there.columns, "side": there.side, "chunk": there.chunk}
            grid = grid_of(points, chequers, **size)
        _check_room(kept, grid, filing)
        plan = plan_stored(made, workers=workers, memory=memory, grid=grid)
        if cluster is None:
            check_memory((workers - 1) * grid.memory + plan.memory, "this solve")
        said = there or _begun(made, kept, grid)
        return Solving(kept, said, grid, device or "", resume, progress, filing)

    here = at_once if cluster is None else workers_here(cluster)
    solving = None if here is None else begun(here)
    with contextlib.ExitStack() as closing:
        if solving is not None:
            closing.callback(solving.first.end)
        ahead = None if solving is None else solving.ahead
        at_work = closing.enter_context(workers_of(cluster, at_once, announce, ahead))
        solving = solving or begun(at_work.workers)
        with contextlib.ExitStack() as opened:
            whole: Callable[[int, int], None] | None = None
            if filing is not None:
                whole = opened.enter_context(
                    filing.opened(kept, solving.said, thread_count(threads), solving.tell)
                )
            solving.run(at_work, whole)
            at_work.leave()
            opened.close()
    if store is None:
        remove(kept)
    return solving.solved


def store_of(path: PathLike) -> str:
    """Where the solve of `path` keeps its store unless it is told otherwise."""
    return f"{os.fspath(path)}.store"


def remove(path: str) -> None:
    """Remove a store, and its folder where nothing else is in it."""
    places = ChunkStore(path).places
    for name in (MAIN, NUMBERS):
        places.remove(name)
    places.remove_one(ROOT)


def _found(made: Job, path: str, resume: bool) -> Described | None:
    """What a store that is there says of itself; None where there is none; ScratchError if it is not for us."""
    try:
        text = ChunkStore(path).meta(ROOT)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.lexists(path) and not (os.path.isdir(path) and not os.listdir(path)):
            raise OutputExistsError(f"{path}: exists already and is no store of a solve") from None
        return None
    said = described(text, path)
    columns = 4 if made.cubeful else 1
    wanted = (made.kind, made.points, made.chequers, columns, made.recipe.name)
    if (said.kind, said.points, said.chequers, said.columns, said.recipe) != wanted:
        raise ScratchError(path, "foreign", f"holds {said.kind} {said.points}x{said.chequers}, another table")
    if not resume:
        state = "is whole already" if said.state == "whole" else "holds the finished part of an ended run"
        raise ScratchError(path, "unfinished", f"{state}, and going on from it was not asked for")
    return said


def _begun(made: Job, path: str, grid: Grid) -> Described:
    """A new store."""
    store = ChunkStore(path)
    said = Described(
        made.kind, made.points, made.chequers, grid.columns, made.recipe.name, grid.side, grid.chunk
    )
    store.put(NUMBERS, (0,), in_pips(made.points, made.chequers))
    store.places.write(f"{NUMBERS}/{ROOT}", [said.numbers()])
    store.places.write(ROOT, [said.group()])
    return said


def _check_room(path: str, grid: Grid, filing: Filing | None) -> None:
    """SolverError where the disk has no room for what is left to make of the store, and for the file beside it."""
    left = 0
    if not is_address(path):
        left = max(0, grid.moved[1] - sum(ChunkStore(path).places.sizes(MAIN).values()))
    output, file = (0, Path(path)) if filing is None else (filing.size, Path(filing.path))
    check_disk(output, file, left, Path(path))


class Solving:
    """A store being filled, and a file of it."""

    def __init__(
        self,
        path: str,
        said: Described,
        grid: Grid,
        device: str,
        resume: bool,
        progress: Progress | None,
        filing: Filing | None,
    ) -> None:
        self.path, self.said, self.grid = path, said, grid
        self.progress, self.filing = progress, filing
        self.making = Making(
            path if is_address(path) else os.path.abspath(path), MAIN, grid, device, check=resume
        )
        self.solved = Solved(grid)
        self.pairs = self.told = 0  # that are made, and that were told of
        self.first = First(self.making)

    def ahead(self) -> None:
        """Begin with the first tiles here, of which few can be made at once, while workers start."""
        if self.said.state != "whole" and not self.making.device and 2 * self.grid.side**2 < AHEAD_PAIRS:
            self.first.start()

    def run(self, workers: Workers, whole: Callable[[int, int], None] | None) -> None:
        """Make all tiles, and say that the store is whole; `whole` is told of rows that are, as they come to be."""
        grid, making = self.grid, self.making
        if self.said.state == "whole":
            self.pairs = grid.n**2
            if whole is not None:
                whole(0, grid.n)
            return
        workers.prepare(making.prepare)
        first = self.first.end()
        left = grid.tiles()[len(first) :]
        for made in chain(first, workers.run(making.make_elsewhere, left, grid.after)):
            self.solved.count(made)
            self.pairs += grid.pairs(made.tile)
            if whole is not None and made.tile[1] == grid.size - 1:  # behind all others of its row and column
                whole(*grid.group(made.tile[0]))
            self.tell()
        self.finish()

    def finish(self) -> None:
        """Describe the store as whole, once every chunk is seen to be there."""
        store, said = ChunkStore(self.path), self.said
        needed, found = sizes(store, said)
        if needed != found:
            raise SolverError(f"{self.path}: chunks of the store are gone; going on makes them again")
        seen = hashlib.sha256()
        at = self.grid.chunk_bytes - SUM
        for place in chunks_of(said.shape[:2], said.chunk_shape[:2]):
            seen.update(store.parts(MAIN, (*place, 0), [at], SUM))
        self.said = replace(said, state="whole", sum=seen.hexdigest())
        store.places.write(f"{MAIN}/{ROOT}", [said.array()])
        store.places.write(ROOT, [self.said.group()])

    def tell(self) -> None:
        """Tell how much is done: pairs, and those of the file a part of as much."""
        if self.progress is None:
            return
        n, share = self.grid.n, MERGE_SHARE
        rows, every = (0, 0) if self.filing is None else (self.filing.rows, n * n // share)
        done = self.pairs + every * rows // n
        if done != self.told:
            self.told = done
            self.progress(done, n * n + every)


class First(threading.Thread):
    """Makes the first tiles, one after the other, until it is told to end."""

    def __init__(self, making: Making) -> None:
        super().__init__(name="first tiles")
        self.making = making
        self._made: list[Made] = []
        self._enough = threading.Event()

    def run(self) -> None:
        with contextlib.suppress(OSError, MemoryError, BgfmtError):  # whoever makes the tile then says so
            for tile in self.making.grid.tiles():
                if self._enough.is_set():
                    return
                self._made.append(self.making.make(tile))

    def end(self) -> list[Made]:
        """The tiles that it made, behind the one that it was at."""
        self._enough.set()
        if self.is_alive():
            self.join()
        return self._made


def _filing(
    made: Job, path: PathLike | None, format: str | None, force: bool, options: dict[str, Any]
) -> Filing | None:
    if path is not None:
        return Filing(made, path, format, force, options)
    if format is not None or options:
        raise CapabilityError("a format and its options are of a file to make, and none was named")
    return None
