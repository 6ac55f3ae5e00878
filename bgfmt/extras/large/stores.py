"""Solve a two-sided table into a store of chunks, and write the store to a file.

The store holds all finished chunks, so that an interrupted run resumes from there, and memory is bounded: by
one tile per worker, or by the negated values of the current layers if those fit. A complete store is itself a
table of the format zarr, and need not become a file. The file is checked before the work begins, and written
while the store fills.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bgfmt import jit
from bgfmt.errors import OutputExistsError, ScratchError, SolverError, require
from bgfmt.extras.large.chunks import CHECKSUM_BYTES, ROOT, ChunkStore, chunks_of, is_store_address
from bgfmt.extras.large.tiles import (
    WORKER_BASE_BYTES,
    TileGrid,
    TileReport,
    TileSolve,
    buffer,
    grid_of,
    play_list_bytes,
    solve_layers,
)
from bgfmt.extras.large.zarr import MAIN, NUMBERS, StoreDescription, chunk_bytes, parse_description
from bgfmt.files.database import read_source
from bgfmt.files.output import OutputFile, Progress
from bgfmt.files.routes import Route
from bgfmt.game.board import order_by_pips
from bgfmt.solver.layers import Array, Stakes
from bgfmt.solver.machine import available_memory, check_disk, check_memory, thread_count
from bgfmt.solver.registry import Solver
from bgfmt.solver.workers import ThreadWorkers, Workers, device_class, open_workers, workers_class
from bgfmt.storage import open_source
from bgfmt.storage.system import format_size

WORKER_BYTES = 2_400_000_000  # default memory of a worker, if it needs less
#: time of writing the file in order, and of compressing it, as a multiple of the time of solving the table
MERGE_SHARE = 0.125
PACK_SHARE = 4.0
MERGE_BYTES = 128 << 20  # of rows that a thread writes at a time


@dataclass
class StoreReport:
    """Statistics of a solve through a store.

    made, found : tiles computed, and found from an earlier run. read, written : bytes. seconds, kernels : time of
    all work, and of the compiled kernels in it. sum : SHA-256 of the checksums of all chunks.
    """

    grid: TileGrid
    made: int = 0
    found: int = 0
    read: int = 0
    written: int = 0
    seconds: float = 0.0
    kernels: float = 0.0
    sum: str = ""

    def count(self, tile: TileReport) -> None:
        """Add a finished tile (a block of the table that is solved as a whole) to the statistics of a solve."""
        self.made += tile.written > 0
        self.found += tile.written == 0
        self.read += tile.read
        self.written += tile.written
        self.seconds += tile.seconds
        self.kernels += tile.kernels


class StoredPlan(NamedTuple):
    """The tiles of a solve through a store, and the bytes of memory that a worker needs."""

    grid: TileGrid
    memory: int


def plan_stored(
    solver: Solver, *, workers: int, memory: int | None = None, grid: TileGrid | None = None
) -> StoredPlan:
    """Return a plan of a solve through a store of chunks: its tiles, and the memory that a worker needs.

    workers : number of workers. memory : bytes that each of them may use; by default 2.4 GB, or the minimum if that
    is more. grid : the tiles, if they are fixed. SolverError if `memory` is too little.
    """
    ((_, _, columns), _), *_ = solver.arrays().values()
    points = solver.points
    chequers = solver.chequers
    base = WORKER_BASE_BYTES + play_list_bytes(points, chequers)
    left = (WORKER_BYTES if memory is None else memory) - base
    grid = grid or grid_of(points, chequers, columns=columns, workers=workers, memory=left)
    needed = base + grid.memory
    if memory is not None and needed > memory:
        what = f"two-sided {points}x{chequers}"
        raise SolverError(
            f"{what} needs {needed / 1e9:.2f} GB for each worker, which has {memory / 1e9:.2f} GB"
        )
    return StoredPlan(grid, needed)


def fill_store(
    solver: Solver, file: OutputFile | None, path: str, route: Route, *, layers: bool
) -> StoreReport:
    """Solve a table into the store of chunks at `path`, and write it to a file.

    Parameters
    ----------
    file : the file; None for the store alone.
    route : threads or workers, device, memory, and whether to resume or overwrite.
    layers : solve by layers of equal pip count if the store is new and memory allows, by tiles otherwise.

    Raises
    ------
    The errors of `bgfmt.solve`.
    """
    require("a solve through a store", ("google_crc32c", "large"), *jit.modules())
    known = _read_description(solver, path, route.resume, route.force)
    count = thread_count(route.threads)
    if route.device is not None:
        count = device_class(route.device).tiles_at_once(count)
    with contextlib.ExitStack() as opened:
        team: Workers
        if isinstance(route.workers, str):
            team = opened.enter_context(open_workers(route.workers, route.announce))
        else:
            team = route.workers or opened.enter_context(ThreadWorkers(count))
        fixed = None
        if known is not None:
            facts = {"columns": known.columns, "side": known.side, "chunk": known.chunk}
            fixed = grid_of(solver.points, solver.chequers, **facts)
        plan = plan_stored(solver, workers=team.workers, memory=route.memory, grid=fixed)
        grid = plan.grid
        left = 0
        if not is_store_address(path):
            left = max(0, grid.bytes_moved[1] - sum(ChunkStore(path).places.sizes(MAIN).values()))
        planned = solver.plan()
        free = available_memory()
        output, name = (0, Path(path)) if file is None else (planned.output, Path(file.path))
        check_disk(output, name, left, Path(path))
        layers = layers and known is None and (free is None or planned.memory <= free)
        if team.threads and not layers:
            check_memory((team.workers - 1) * grid.memory + plan.memory, "this solve")
        if known is None:
            if route.force:
                remove(path)
            sizes = (grid.points, grid.chequers, grid.columns, solver.recipe.name, grid.side, grid.chunk)
            known = StoreDescription(solver.kind, *sizes)
            ChunkStore(path).places.write(ROOT, [known.group_json()])
        filling = Filling(path, known, grid, route.progress, file, solver.stakes)
        with write_meanwhile(filling, thread_count(route.threads)):
            filling.run(team, layers, route.device or "", route.resume)
            opened.close()  # the workers end while the file is finished
    return filling.report


#: names of files in a store without description: a solve was killed at its first step, or continued with a store
#: while another process removed it
UNFINISHED_NAME = re.compile(rf"{ROOT}\..*")
LEFTOVER_NAME = re.compile(rf"({MAIN}|{NUMBERS})(/(c(\.\d+)+|{ROOT})(\..*)?)?|{UNFINISHED_NAME.pattern}")


def remove(path: str) -> None:
    """Remove the store of chunks at `path`, and its folder if nothing else is in it."""
    ChunkStore(path).places.remove(MAIN, NUMBERS, ROOT)


def _read_description(solver: Solver, path: str, resume: bool, force: bool) -> StoreDescription | None:
    """Return the description of the store to resume, None for a new one.

    An existing store is replaced with `force` and without `resume`. Without both it is a ScratchError, and that
    of another table too.
    """
    try:
        text = ChunkStore(path).read_metadata(ROOT)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.lexists(path):
            ours = LEFTOVER_NAME if resume or force else UNFINISHED_NAME
            if not os.path.isdir(path) or any(
                p.is_symlink() or not ours.fullmatch(p.relative_to(path).as_posix())
                for p in Path(path).rglob("*")
            ):
                message = f"{path}: exists already and is not the store of a solve"
                raise OutputExistsError(message, replaceable=False) from None
            ChunkStore(path).places.remove(MAIN, NUMBERS)  # of which table nobody knows
        return None
    facts = parse_description(text, path)
    if force and not resume:
        return None
    ((_, _, columns), _), *_ = solver.arrays().values()
    wanted = (solver.kind, solver.points, solver.chequers, columns, solver.recipe.name)
    if (facts.kind, facts.points, facts.chequers, facts.columns, facts.recipe) != wanted:
        what = f"holds {facts.kind} {facts.points}x{facts.chequers}, another table"
        raise ScratchError(path, "foreign", what)
    if not resume:
        complete = facts.state == "whole"
        what = "is complete already" if complete else "holds the unfinished table of an interrupted run"
        raise ScratchError(path, "unfinished", what)
    return facts


@dataclass
class Filling:
    """A store being filled, and the file written from it.

    Calls `rows_ready` with ranges of rows as they become complete.
    """

    path: str
    facts: StoreDescription
    grid: TileGrid
    progress: Progress | None
    file: OutputFile | None
    stakes: Stakes
    pairs: int = 0
    reported: int = 0
    rows: int = 0  # of the file that are written
    rows_ready: Callable[[int, int], None] = lambda first, past: None

    def __post_init__(self) -> None:
        self.store, self.report = ChunkStore(self.path), StoreReport(self.grid)

    def run(self, workers: Workers, layers: bool, device: str, check: bool) -> None:
        """Compute all chunks that the store lacks, and mark it as complete once every chunk exists.

        Parameters
        ----------
        layers : solve by layers of equal pip count, into an empty store; else by tiles.
        device : name of the device that runs the kernels, "" for none.
        check : verify the checksums of existing chunks, so that damaged ones are computed again.
        """
        grid = self.grid
        store = self.store
        name = self.path if is_store_address(self.path) else os.path.abspath(self.path)
        making = TileSolve(name, MAIN, grid, device, check, self.stakes)
        needed, present = chunk_bytes(store, self.facts)
        if self.facts.state == "whole" and needed == present:  # else a removal was interrupted
            self.pairs = grid.n**2
            self.report.sum = self.facts.sum
            self.rows_ready(0, grid.n)
            return
        store.write_chunk(NUMBERS, (0,), order_by_pips(grid.points, grid.chequers))
        store.places.write(f"{NUMBERS}/{ROOT}", [self.facts.numbers_json()])
        rows = 0
        steps = solve_layers(making, workers) if layers else self._tiles(making, workers)
        for self.pairs, past in steps:
            if past > rows:
                self.rows_ready(rows, past)
                rows = past
            self.report_progress()
        needed, present = chunk_bytes(store, self.facts)
        if needed != present:
            raise SolverError(f"{self.path}: chunks of the store are missing; solve again with --resume")
        total = hashlib.sha256()
        for place in chunks_of(self.facts.shape[:2], self.facts.chunk_shape[:2]):
            total.update(
                store.read_parts(MAIN, (*place, 0), [grid.chunk_bytes - CHECKSUM_BYTES], CHECKSUM_BYTES)
            )
        store.places.sweep()
        self.facts = replace(self.facts, state="whole", sum=total.hexdigest())
        self.report.sum = self.facts.sum
        store.places.write(f"{MAIN}/{ROOT}", [self.facts.array_json()])
        store.places.write(ROOT, [self.facts.group_json()])

    def _tiles(self, making: TileSolve, workers: Workers) -> Iterator[tuple[int, int]]:
        """Solve the table tile by tile.

        Yields, as `solve_layers`, (pairs solved so far, number of rows that are complete from the first one on).
        """
        pairs = past = 0
        for tile in workers.run(making.make_tile, self.grid.tiles(), self.grid.predecessors):
            self.report.count(tile)
            pairs += self.grid.pairs(tile.tile)
            group, last = tile.tile
            if last == self.grid.size - 1:  # behind all others of its row and column
                past = max(past, self.grid.group(group)[1])
            yield pairs, past

    def report_written(self, done: int, total: int) -> None:
        """Report progress of a file that is written from the complete store: `done` of `total` bytes."""
        self.rows = self.grid.n * done // total
        self.report_progress()

    def report_progress(self) -> None:
        """Report progress in pairs solved, plus the rows written to the file weighted by the time that they take."""
        if self.progress is None:
            return
        n = self.grid.n
        most = 0
        if self.file is not None:
            most = int(n * n * (MERGE_SHARE if self.file.takes_body else PACK_SHARE))
        done = self.pairs + most * self.rows // n
        if done != self.reported:
            self.reported = done
            self.progress(done, n * n + most)


@contextlib.contextmanager
def write_meanwhile(filling: Filling, threads: int) -> Iterator[None]:
    """Return a context manager that writes complete rows of the store to the file while its block fills the store.

    The file appears when the block ends without error. threads : number of threads that write.
    """
    file = filling.file
    if file is None:
        yield
        return
    if not file.takes_body:
        yield
        with open_source(filling.path) as source:
            file.write(read_source(source).table, filling.report_written)
        return
    with file.body() as (sink, arrays), ThreadPoolExecutor(threads) as pool:
        facts = filling.facts
        out = arrays[MAIN].reshape(facts.n, -1).view("<u8" if facts.columns == 4 else "<u2")
        merge = Merge(filling, out, sink, order_by_pips(facts.points, facts.chequers))
        jobs: set[Future[int]] = set()

        def submit(first: int, past: int) -> None:
            for job in [job for job in jobs if job.done()]:
                jobs.remove(job)
                filling.rows += job.result()
            jobs.update(pool.submit(merge.write_rows, *part) for part in merge.parts(first, past))

        filling.rows_ready = submit
        try:
            yield
            for job in as_completed(jobs):
                filling.rows += job.result()
                filling.report_progress()
            if filling.rows != len(file.blank.arrays()[MAIN]):
                raise SolverError(f"{filling.path}: rows of the table are missing")
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Merge:
    """Writes rows of a store, in order of position numbers, into the body of a file.

    out : the rows of the file, (n, n), each record as one integer. sink : of the file.
    """

    filling: Filling
    out: Array
    sink: Any
    order: Array

    def parts(self, first: int, past: int) -> Iterator[tuple[int, int]]:
        """Split rows first..past-1 of the store into ranges (first, past), each within one row of chunks."""
        chunk = self.filling.facts.chunk
        most = max(1, MERGE_BYTES // self.out[:1].nbytes)
        while first < past:
            last = min(past, first + most, (first // chunk + 1) * chunk)
            yield first, last
            first = last

    def write_rows(self, first: int, past: int) -> int:
        """Write rows first..past-1 of the store to the file and sync them to the disk; return their number.

        SolverError if a row of the file was changed by others since it was first written.
        """
        n = len(self.order)
        c = self.filling.facts.chunk
        record = self.out.dtype
        a, low = divmod(first, c)
        placed = buffer("placed", (past - first, n), record.type)
        space = buffer("chunk", (c * c * record.itemsize + CHECKSUM_BYTES + 1,), np.uint8)
        for b in range(-(-n // c)):
            square, _ = self.filling.store.read_chunk(MAIN, (a, b, 0), record, (c, c), space)
            placed[:, b * c : (b + 1) * c] = square[low : low + past - first, : n - b * c]
        line = buffer("line", (n,), record.type)
        for number, row in zip(self.order[first:past], placed, strict=True):
            line[self.order] = row
            if not self.sink.write_reserved(self.out[number], line):
                text = f"the row of position {number:,} differs from what was written: it was changed since"
                raise SolverError(f"{self.sink.name}: {text}")
        self.sink.settle()
        return past - first


class ChunkStores:
    """Solves through stores of chunks, for the entry point `bgfmt.stores`; see `bgfmt.files.routes.Stores`."""

    fill = staticmethod(fill_store)

    def remove(self, path: str) -> None:
        """Remove a store of chunks, and its folder if nothing else is in it."""
        remove(path)

    def describe_plan(self, solver: Solver, route: Route) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what a solve through a store would take, as (numbers by name, lines of text by title).

        Names are `what`, `tiles`, `memory` (bytes a worker), `workers`, and in bytes `read`, `written` and `output`.
        """
        workers = thread_count(route.threads)
        if isinstance(route.workers, str):
            workers = workers_class(route.workers).count(route.workers) or max(8, workers)
        grid, needed = plan_stored(solver, workers=workers, memory=route.memory)
        read, written = grid.bytes_moved
        what = f"two-sided {grid.points}x{grid.chequers}, recipe {solver.recipe.name}, through a store"
        numbers: dict[str, Any] = {
            "what": what,
            "tiles": len(grid.tiles()),
            "memory": needed,
            "workers": workers,
            "read": read,
            "written": written,
            "output": solver.plan().output,
        }
        lines = {
            "tiles": f"{len(grid.tiles()):,}, {grid.side:,} places a side, in chunks of {grid.chunk:,}",
            "memory": f"{format_size(needed)} a worker, {workers} workers",
            "store": f"{format_size(written)} of disk",
            "moved": f"{format_size(read)} read, {format_size(written)} written",
        }
        return numbers, lines


STORES = ChunkStores()
