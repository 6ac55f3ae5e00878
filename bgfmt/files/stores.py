"""Making a two-sided table in a store of chunks, and a file of the store.

The store holds all that is finished, so that a run that ended goes on from there, and memory is bounded: by a tile a
worker, or by the turned values of the layers at hand where those fit. A store that is whole is a table of a format
like any other, and need not become a file. The file is checked before the work begins, and written while it goes on.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, OutputExistsError, ScratchError, SolverError
from bgfmt.files.convert import whole_target
from bgfmt.files.database import read_source
from bgfmt.formats import Format, promised
from bgfmt.formats.zarr import MAIN, NUMBERS, StoreDescription, described, in_pips, sizes
from bgfmt.solver.machine import available_memory, check_disk, check_memory, thread_count
from bgfmt.solver.registry import Solver
from bgfmt.solver.stored import Made, Making, plays_bytes, room, solve_layers
from bgfmt.solver.tiles import WORK_BYTES, TileGrid, grid_of
from bgfmt.solver.workers import ThreadWorkers, Workers, device_named, workers_at
from bgfmt.storage import PathLike, check_output, create, open_source
from bgfmt.storage.chunks import ROOT, SUM, ChunkStore, chunks_of, is_address
from bgfmt.tables import Table

Array = NDArray[Any]
Progress = Callable[[int, int], None]
WORKER_BYTES = 2_400_000_000  # memory of a worker where nothing else was said, and less would do
MERGE_SHARE = 8  # making a table takes about eight times as long as putting it in order
ROWS_BYTES = 128 << 20  # of rows that a thread puts in order at a time


@dataclass
class StoreReport:
    """What a solve through a store did: tiles made and found, bytes read and written, seconds of work and of the
    kernels in it."""

    grid: TileGrid
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

    grid: TileGrid
    workers: int
    memory: int
    store: int
    output: int
    read: int
    written: int
    tiles: int


def plan_stored(
    solver: Solver, *, workers: int, memory: int | None = None, grid: TileGrid | None = None
) -> StoredPlan:
    """The plan for this many workers of this much memory each, 2.4 GB or what it takes at least when None.

    SolverError where that is too little.
    """
    ((n, _, columns), _), *_ = solver.arrays().values()
    points, chequers = solver.points, solver.chequers
    base = WORK_BYTES + plays_bytes(points, chequers)
    left = (WORKER_BYTES if memory is None else memory) - base
    grid = grid or grid_of(points, chequers, columns=columns, workers=workers, memory=left)
    needed = base + grid.memory
    if memory is not None and needed > memory:
        what = f"two-sided {points}x{chequers}"
        raise SolverError(f"{what} needs {needed / 1e9:.2f} GB a worker, not {memory / 1e9:.2f} GB")
    read, written = grid.moved
    output = n**2 * columns * 2 + 40
    return StoredPlan(grid, workers, needed, written, output, read, written, len(grid.tiles()))


def fill_store(
    solver: Solver,
    file: OutputFile | None,
    *,
    store: PathLike | None = None,
    scratch: PathLike | None = None,
    workers: str | Workers | None = None,
    device: str | None = None,
    memory: int | None = None,
    resume: bool = False,
    layers: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> StoreReport:
    """Make a table in a store, and a file of the store; arguments as `bgfmt.solve` has them.

    layers : solve by layers where memory allows, by tiles otherwise.

    Raises
    ------
    CapabilityError for tables of other kinds; ScratchError for a store that is unfinished or of another table;
    ClusterError; otherwise as `bgfmt.solve`.
    """
    if not solver.stores:
        raise CapabilityError("two-sided tables of recipe gnubg alone are solved through a store of chunks")
    kept = store if store is not None else scratch
    if kept is None:
        if file is None:
            raise CapabilityError("a file to make or a store has to be named")
        kept = store_of(file.path)
    name = os.fspath(kept)
    if not name:
        raise FileNotFoundError(errno.ENOENT, "an empty name is no name of a store", name)
    known = _known(solver, name, resume)
    count = thread_count(threads)
    if device is not None:
        count = device_named(device).tiles_at_once(count)
    filling: Filling | None = None
    with contextlib.ExitStack() as opened:
        team: Workers
        if isinstance(workers, str):
            team = opened.enter_context(workers_at(workers, announce))
        else:
            team = workers or opened.enter_context(ThreadWorkers(count))
        if known is None:
            grid = plan_stored(solver, workers=team.workers, memory=memory).grid
        else:
            facts = {"columns": known.columns, "side": known.side, "chunk": known.chunk}
            grid = grid_of(solver.points, solver.chequers, **facts)
        _check_room(name, grid, file)
        planned, free = solver.plan(), available_memory()
        layers = layers and (free is None or planned.memory <= free)
        if not layers:
            plan = plan_stored(solver, workers=team.workers, memory=memory, grid=grid)
            if team.threads:
                check_memory((team.workers - 1) * grid.memory + plan.memory, "this solve")
        filling = Filling(
            name, known or _begun(solver, name, grid), grid, device or "", resume, progress, file
        )
        with contextlib.nullcontext() if file is None else file.opened(filling, thread_count(threads)):
            filling.run(team, layers)
            opened.close()  # workers end while the file is finished
    if store is None:
        remove(name)
    return filling.solved


def store_of(path: PathLike) -> str:
    """Where the solve of `path` keeps its store unless another place is named."""
    return f"{os.fspath(path)}.store"


def remove(path: str) -> None:
    """Remove a store, and its folder where nothing else is in it."""
    places = ChunkStore(path).places
    for name in (MAIN, NUMBERS):
        places.remove(name)
    places.remove_one(ROOT)


def _known(solver: Solver, path: str, resume: bool) -> StoreDescription | None:
    """What a store that is there says of itself; None where there is none; ScratchError if it is not for us."""
    try:
        text = ChunkStore(path).meta(ROOT)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.isfile(path) and _is_old_scratch(path):
            raise ScratchError(
                path,
                "foreign",
                "is a scratch file of an older bgfmt, which cannot be gone on with; remove it",
            ) from None
        if os.path.lexists(path) and not (os.path.isdir(path) and all(map(_begun_only, os.listdir(path)))):
            raise OutputExistsError(f"{path}: exists already and is no store of a solve") from None
        return None
    facts = described(text, path)
    ((_, _, columns), _), *_ = solver.arrays().values()
    wanted = (solver.kind, solver.points, solver.chequers, columns, solver.recipe.name)
    if (facts.kind, facts.points, facts.chequers, facts.columns, facts.recipe) != wanted:
        raise ScratchError(
            path, "foreign", f"holds {facts.kind} {facts.points}x{facts.chequers}, another table"
        )
    if not resume:
        state = "is whole already" if facts.state == "whole" else "holds the finished part of an ended run"
        raise ScratchError(path, "unfinished", f"{state}, and going on from it was not asked for")
    return facts


def _begun_only(name: str) -> bool:
    """Whether a name in a folder is that of a store's description that a killed solve has half written."""
    return name.startswith(f"{ROOT}.") and name.endswith(".part")


def _is_old_scratch(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(16) == b'{"bgfmt scratch"'


def _begun(solver: Solver, path: str, grid: TileGrid) -> StoreDescription:
    """A new store."""
    store = ChunkStore(path)
    facts = StoreDescription(
        solver.kind, grid.points, grid.chequers, grid.columns, solver.recipe.name, grid.side, grid.chunk
    )
    store.places.write(ROOT, [facts.group()])
    return facts


def _check_room(path: str, grid: TileGrid, file: OutputFile | None) -> None:
    """SolverError where the disk has no room for what is left to make of the store, and for the file beside it."""
    left = 0
    if not is_address(path):
        left = max(0, grid.moved[1] - sum(ChunkStore(path).places.sizes(MAIN).values()))
    output, name = (0, Path(path)) if file is None else (file.solver.plan().output, Path(file.path))
    check_disk(output, name, left, Path(path))


class Filling:
    """A store being filled, and a file of it; `whole` is called with rows that are all in the store, each once."""

    def __init__(
        self,
        path: str,
        facts: StoreDescription,
        grid: TileGrid,
        device: str,
        resume: bool,
        progress: Progress | None,
        file: OutputFile | None,
    ) -> None:
        self.path, self.facts, self.grid = path, facts, grid
        self.progress, self.file = progress, file
        name = path if is_address(path) else os.path.abspath(path)
        self.making = Making(name, MAIN, grid, device, check=resume)
        self.solved = StoreReport(grid)
        self.pairs = self.reported = 0
        self.whole: Callable[[int, int], None] = lambda first, past: None

    def run(self, workers: Workers, layers: bool) -> None:
        """Make all that the store lacks, and say that it is whole."""
        grid, making = self.grid, self.making
        store = ChunkStore(self.path)
        needed, found = sizes(store, self.facts)
        if self.facts.state == "whole" and needed == found:  # else its removal was begun
            self.pairs = grid.n**2
            self.whole(0, grid.n)
            return
        store.put(NUMBERS, (0,), in_pips(grid.points, grid.chequers))
        store.places.write(f"{NUMBERS}/{ROOT}", [self.facts.numbers()])
        if layers:
            rows = 0

            def layer_made(pairs: int, past: int) -> None:
                nonlocal rows
                self.pairs = pairs
                if past > rows:
                    self.whole(rows, past)
                    rows = past
                self.report()

            solve_layers(making, workers, layer_made)
        else:
            for made in workers.run(making.make_elsewhere, grid.tiles(), grid.after):
                self.solved.count(made)
                self.pairs += grid.pairs(made.tile)
                if made.tile[1] == grid.size - 1:  # behind all others of its row and column
                    self.whole(*grid.group(made.tile[0]))
                self.report()
        self._finish()

    def _finish(self) -> None:
        """Describe the store as whole, once every chunk is seen to be there."""
        store, facts = ChunkStore(self.path), self.facts
        needed, found = sizes(store, facts)
        if needed != found:
            raise SolverError(f"{self.path}: chunks of the store are gone; going on makes them again")
        total = hashlib.sha256()
        at = self.grid.chunk_bytes - SUM
        for place in chunks_of(facts.shape[:2], facts.chunk_shape[:2]):
            total.update(store.parts(MAIN, (*place, 0), [at], SUM))
        self.facts = replace(facts, state="whole", sum=total.hexdigest())
        store.places.write(f"{MAIN}/{ROOT}", [self.facts.array()])
        store.places.write(ROOT, [self.facts.group()])

    def report(self) -> None:
        """Report how much is done: pairs, and those of the file a part of as much."""
        if self.progress is None:
            return
        n = self.grid.n
        rows, every = (0, 0) if self.file is None else (self.file.rows, n * n // MERGE_SHARE)
        done = self.pairs + every * rows // n
        if done != self.reported:
            self.reported = done
            self.progress(done, n * n + every)


class OutputFile:
    """A file to make of a table that is solved: checked when this object is made, before the work.

    Raises
    ------
    As `bgfmt.solve`, for what is wrong with the path, the format and its options.
    """

    def __init__(
        self, solver: Solver, path: PathLike, format: str | None, force: bool, options: dict[str, Any]
    ) -> None:
        check_output(path, force=force)
        self.solver, self.path, self.force, self.options = solver, path, force, options
        arrays = {name: promised(*shape) for name, shape in solver.arrays().items()}
        self.blank: Table = solver.table(arrays)
        self.target: Format[Any] = whole_target(path, format, self.blank, solver.what, options)
        self.takes_body = self.target.takes_body(self.blank, options)
        self.rows = 0  # that are written

    @contextlib.contextmanager
    def opened(self, filling: Filling, threads: int) -> Iterator[None]:
        """While the block fills the store, write rows that are whole there. The file appears when it ends well."""
        if not self.takes_body:
            yield
            with open_source(filling.path) as source, self.sink() as sink:
                self.target.write(read_source(source).table, sink, **self.options)
            return
        with self.sink() as sink, self.target.body(sink, self.blank, **self.options) as arrays:
            merge = Merge(filling, arrays[MAIN], sink, self)
            with ThreadPoolExecutor(threads) as pool, ThreadPoolExecutor(1) as disk:
                jobs: list[Future[None]] = []
                asked = 0  # rows that are to be written

                def whole(first: int, past: int) -> None:
                    nonlocal asked
                    asked += past - first
                    some = [pool.submit(merge.put, *part) for part in merge.parts(first, past)]
                    jobs.extend([*some, disk.submit(merge.settle, some)])
                    for job in jobs:
                        if job.done():
                            job.result()

                filling.whole = whole
                try:
                    yield
                    if asked != len(self.blank.arrays()[MAIN]):
                        raise SolverError(f"{filling.path}: rows of the table were left out")
                    for job in jobs:
                        job.result()
                        filling.report()
                finally:
                    pool.shutdown(cancel_futures=True)
                    disk.shutdown(cancel_futures=True)

    def sink(self) -> Any:
        """Where the file is written; it appears whole or not at all."""
        return create(self.path, force=self.force)


class Merge:
    """Puts rows of a store in order of position numbers, into the body of a file."""

    def __init__(self, filling: Filling, out: Array, sink: Any, file: OutputFile) -> None:
        self.store, self.facts, self.sink, self.file = ChunkStore(filling.path), filling.facts, sink, file
        self.order = in_pips(self.facts.points, self.facts.chequers)
        n, k = self.facts.n, self.facts.columns
        self.record = np.dtype("<u8" if k == 4 else "<u2")
        self.out = out.reshape(n, n * k).view(self.record)
        self.most = max(1, ROWS_BYTES // self.out[:1].nbytes)

    def parts(self, first: int, past: int) -> Iterator[tuple[int, int]]:
        """Places first..past-1 as pieces of one row of chunks."""
        chunk = self.facts.chunk
        while first < past:
            last = min(past, first + self.most, (first // chunk + 1) * chunk)
            yield first, last
            first = last

    def put(self, first: int, past: int) -> None:
        """The rows of places first..past-1."""
        n, c, order = self.facts.n, self.facts.chunk, self.order
        a, low = divmod(first, c)
        placed = room("placed", (past - first, n), self.record.type)
        space = room("chunk", (c * c * self.record.itemsize + SUM + 1,), np.uint8)
        for b in range(-(-n // c)):
            square = self.store.get(MAIN, (a, b, 0), self.record, (c, c), space)
            placed[:, b * c : (b + 1) * c] = square[low : low + past - first, : n - b * c]
        line = room("line", (n,), self.record.type)
        for number, row in zip(order[first:past], placed, strict=True):
            line[order] = row
            place = self.out[number]
            self.sink.put(place, line)
            if not np.array_equal(self.sink.got(place), line):
                raise SolverError(
                    f"{self.file.path}: the row of position {number:,} is not what was written: something changed it"
                )
        self.file.rows += past - first

    def settle(self, jobs: list[Future[None]]) -> None:
        """Have the disk keep what these jobs put, while other rows are made: it takes long at the end."""
        if not any(job.exception() for job in jobs):
            self.sink.settle()
