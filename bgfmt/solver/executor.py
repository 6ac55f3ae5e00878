"""The seam below the layer: a solve is steps of independent blocks, and an executor decides who makes them.

A `Work` holds a solve's state and makes a block in this process's memory. No kernel knows who runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, Self, TypeVar

from bgfmt.solver.machine import thread_count

B = TypeVar("B")
B_contra = TypeVar("B_contra", contravariant=True)


class Work(Protocol[B_contra]):
    """A solve whose blocks are made here."""

    def make(self, block: B_contra, /) -> None:
        """Make a block. Safe from several threads at once for blocks of one step."""
        ...


class Calls(Work[Callable[[], None]]):
    """A work whose blocks are functions."""

    def make(self, block: Callable[[], None], /) -> None:
        """Call it."""
        block()


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
    """The executor given, which stays its owner's, or `threads` threads (one a core when None)."""
    return nullcontext(executor) if executor is not None else Threads(thread_count(threads))
