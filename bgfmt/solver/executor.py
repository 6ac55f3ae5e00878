"""The seam below the layer: a solve is steps of independent blocks, and an executor decides who makes them.

A `Work` holds a solve's state and makes a block in this process's memory. A `MovableWork` can also say what a
block needs and gives, as `Strip`s of the solve's arrays, hand a block out as a `Task` that pickles, and put in place
what came back; that is all that executors over processes, machines or a GPU need. No kernel knows who runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from numpy.typing import NDArray

from bgfmt.solver.machine import thread_count

B = TypeVar("B")
B_contra = TypeVar("B_contra", contravariant=True)


@dataclass(frozen=True)
class Strip:
    """A rectangle of one of a solve's arrays: places rows[0]..rows[1]-1 by columns[0]..columns[1]-1, and its size."""

    array: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    bytes: int


class Task(Protocol):
    """A block with all it needs; pickles. `run` returns what it gives, by name."""

    def run(self) -> Mapping[str, NDArray[Any]]: ...


class Work(Protocol[B_contra]):
    """A solve whose blocks are made here."""

    def make(self, block: B_contra, /) -> None:
        """Make a block. Safe from several threads at once for blocks of one step."""
        ...


class MovableWork(Work[B_contra], Protocol[B_contra]):
    """A solve whose blocks can be made elsewhere."""

    def needs(self, block: B_contra, /) -> Sequence[Strip]:
        """What a block reads of finished layers and steps."""
        ...

    def gives(self, block: B_contra, /) -> Sequence[Strip]:
        """What it makes. No two blocks of a step give the same, nor needs one what another gives."""
        ...

    def task(self, block: B_contra, /) -> Task:
        """The block with copies of all it needs."""
        ...

    def take(self, block: B_contra, made: Mapping[str, NDArray[Any]], /) -> None:
        """Put in place what a task's `run` returned."""
        ...


class Executor(Protocol):
    """Runs the blocks of a step."""

    #: how many blocks it makes at once, by which steps are divided
    workers: int

    def run(self, work: Work[B], blocks: Sequence[B]) -> None:
        """Make all blocks of a step, in any order; return when all are done."""
        ...


class Threads:
    """Threads of this process, each taking the next block that is left. A context manager."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None

    def run(self, work: Work[B], blocks: Sequence[B]) -> None:
        """As `Executor.run`."""
        if self._pool is None or len(blocks) == 1:
            for block in blocks:
                work.make(block)
            return
        jobs = [self._pool.submit(work.make, block) for block in blocks]
        try:
            wait(jobs)
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
        for job in jobs:
            job.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def executing(executor: Executor | None, threads: int | None) -> AbstractContextManager[Executor]:
    """The executor given, which stays its owner's, or so many threads (one a core when None)."""
    return nullcontext(executor) if executor is not None else Threads(thread_count(threads))
