"""How a one-sided solve is cut into pieces that threads may take in any order.

A play never adds to the chequers beyond any point. So the positions with equal counts beyond the lowest points form
a range of position numbers, and ranges whose counts add up alike cannot reach each other: a wave. Waves are done in
order, the ranges of a wave on any thread, so that the number of threads cannot change a number.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.game import board

Array = NDArray[Any]
Progress = Callable[[int, int], None]
SMALL_WAVE = 6000


def waves(points: int, chequers: int, depth: int) -> Iterator[Array]:
    """The positions of exactly `chequers` chequers as waves of ranges, each (m, 2) int64 of first and past-last.

    Ranges share their chequers beyond the `depth` lowest points.
    """
    fixed = min(depth, points - 1)
    terms = board.number_terms(points)
    prefixes = np.array(list(itertools.combinations_with_replacement(range(chequers + 1), fixed)), np.int64)
    # columns of prefixes: chequers beyond point `points - fixed`... nearest the top first, up to beyond point 1
    first = np.full(len(prefixes), terms[points - 1, chequers])
    for j in range(fixed):
        first += terms[points - fixed + j - 1, prefixes[:, j]]
    beyond = prefixes[:, 0] if fixed else np.full(1, chequers)
    free = points - fixed - 1
    size = np.array([comb(s + free, free) for s in range(chequers + 1)], np.int64)[beyond]
    ranges = np.stack([first, first + size], axis=1)
    level = prefixes.sum(axis=1)
    order = np.argsort(level, kind="stable")
    cuts = np.flatnonzero(np.diff(level[order])) + 1
    yield from np.split(ranges[order], cuts)


@dataclass
class Runner:
    """Runs a kernel over waves with some threads, and tells progress."""

    threads: int
    total: int
    progress: Progress | None
    done: int = 0
    pool: ThreadPoolExecutor | None = field(default=None)

    def __enter__(self) -> Runner:
        if self.threads > 1:
            self.pool = ThreadPoolExecutor(self.threads)
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def run(self, kernel: Callable[[Array], None], ranges: Array) -> None:
        """Run `kernel(part)` over parts of the ranges of one wave; returns when all are done."""
        sizes = ranges[:, 1] - ranges[:, 0]
        positions = int(sizes.sum())
        if self.pool is None or positions < SMALL_WAVE or len(ranges) == 1:
            kernel(ranges)
        else:
            shares = min(len(ranges), max(self.threads, min(8 * self.threads, positions // SMALL_WAVE)))
            ends = np.searchsorted(np.cumsum(sizes), positions * np.arange(1, shares) / shares)
            parts = [part for part in np.split(ranges, np.unique(ends)) if len(part)]
            jobs = [self.pool.submit(kernel, part) for part in parts]
            wait(jobs)
            for job in jobs:
                job.result()
        self.advance(positions)

    def advance(self, positions: int) -> None:
        """Count positions as done."""
        self.done += positions
        if self.progress is not None:
            self.progress(self.done, self.total)


def thread_count(threads: int | None) -> int:
    """Threads to use: those asked for, or one for each core this process may run on."""
    if threads is not None:
        return max(1, threads)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_memory() -> int | None:
    """Bytes of memory that are free or can be freed, None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def check_memory(needed: int, what: str) -> None:
    """SolverError when the machine has not got this much memory to give."""
    available = available_memory()
    if available is not None and needed > available:
        raise SolverError(
            f"{what} needs {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are available"
        )


@dataclass
class Layers:
    """Walks the positions of a board by number of chequers, and knows where their records lie.

    Records are kept for the positions of the number of chequers at hand and of one fewer only: in two slots, one for
    odd and one for even numbers, and a last row for "no chequer on the board needed". `depth`, chosen by the number
    of points when 0, is how many of the lowest points' counts the positions of a range share.
    """

    points: int
    chequers: int
    depth: int = 0

    def __post_init__(self) -> None:
        if not self.depth:  # ranges of at most 54,264 positions, however many points
            self.depth = max(3, self.points - 7)
        terms = board.number_terms(self.points)
        self.terms: Array = np.ascontiguousarray(terms)
        self.steps: Array = np.zeros((self.points + 1, terms.shape[1]), np.int64)
        self.steps[1:, 1:] = np.diff(terms, axis=1)
        largest = [0, 0]
        for c in range(self.chequers + 1):
            largest[c & 1] = max(largest[c & 1], self.exactly(c))
        self.slots = (0, largest[0])
        self.spare = sum(largest)
        self.records = self.spare + 1

    def exactly(self, chequers: int) -> int:
        """Number of positions with exactly this many chequers."""
        return comb(self.points + chequers - 1, chequers)

    def first(self, chequers: int) -> int:
        """Number of the first position with exactly this many chequers."""
        return comb(self.points + chequers - 1, self.points)

    def places(self, chequers: int) -> tuple[int, int]:
        """What to add to the number of a position of `chequers` chequers, and of one fewer, to get its record."""
        fewer = chequers - 1
        return self.slots[chequers & 1] - self.first(chequers), self.slots[fewer & 1] - self.first(fewer)

    def run(self, runner: Runner, chequers: int, kernel: Callable[[Array], None]) -> None:
        """Run the kernel over all positions of exactly `chequers` chequers."""
        for ranges in waves(self.points, chequers, self.depth):
            runner.run(kernel, ranges)
