"""Division of a one-sided solve into blocks that may be solved in any order.

A play never adds to the number of chequers beyond any point. So the positions with equal counts beyond the lowest
points form a range of position numbers, and ranges whose counts have the same sum cannot reach each other: a wave.
Waves are solved in order, the ranges of a wave by any worker, so that results do not depend on the number of workers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.solver.workers import Workers

__all__ = ["Layers", "Progress", "Sweep", "waves"]


Progress = Callable[[int, int], None]
MIN_DIVIDED_POSITIONS = 6000  # smaller waves are not divided among workers


def waves(points: int, chequers: int, depth: int) -> Iterator[Array]:
    """Yield the positions of exactly `chequers` chequers in waves; a position depends on earlier waves only.

    A wave is an array of ranges of position numbers, (m, 2) int64 [first, past the last], which can be solved in
    parallel. Positions of a range have the same chequers beyond the `depth` lowest points.
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


class Sweep:
    """Runs kernels over waves on workers, and reports progress in positions."""

    def __init__(self, workers: Workers, total: int, progress: Progress | None) -> None:
        self.workers = workers
        self.total = total
        self.progress = progress
        self.done = 0

    def run(self, kernel: Callable[[Array], None], waves: Iterable[Array]) -> None:
        """Call `kernel(part)` on the workers for parts of the ranges of each wave, one wave after the other.

        waves : arrays of ranges of position numbers, as `bgfmt.solver.waves.waves` yields them.
        """
        for ranges in waves:
            positions = int((ranges[:, 1] - ranges[:, 0]).sum())
            self.workers.do(kernel, self._parts(ranges, positions))
            self.done += positions
            if self.progress is not None:
                self.progress(self.done, self.total)

    def _parts(self, ranges: Array, positions: int) -> list[Array]:
        workers = self.workers.workers
        if workers == 1 or positions < MIN_DIVIDED_POSITIONS or len(ranges) == 1:
            return [ranges]
        shares = min(len(ranges), max(workers, min(8 * workers, positions // MIN_DIVIDED_POSITIONS)))
        sizes = ranges[:, 1] - ranges[:, 0]
        ends = np.searchsorted(np.cumsum(sizes), positions * np.arange(1, shares) / shares)
        return [part for part in np.split(ranges, np.unique(ends)) if len(part)]


@dataclass
class Layers:
    """Positions of a board by number of chequers, and the rows of their working records.

    Records are kept only for the current number of chequers and one fewer: in two slots, one for odd and one for even
    numbers, and a last row for "no chequer needs to be on the board".

    Attributes
    ----------
    terms, steps : tables for position numbers, see `bgfmt.solver.kernels.one_sided.Board`.
    slots : first row of each slot. spare : the last row. records : number of rows.
    """

    points: int
    chequers: int

    def __post_init__(self) -> None:
        terms = board.number_terms(self.points)
        self.terms: Array = np.ascontiguousarray(terms)
        self.steps: Array = np.zeros((self.points + 1, terms.shape[1]), np.int64)
        self.steps[1:, 1:] = np.diff(terms, axis=1)
        largest = [0, 0]
        for c in range(self.chequers + 1):
            largest[c & 1] = max(largest[c & 1], self.count_exactly(c))
        self.slots = (0, largest[0])
        self.spare = sum(largest)
        self.records = self.spare + 1

    def count_exactly(self, chequers: int) -> int:
        """Count the positions of one side with exactly this many chequers."""
        return comb(self.points + chequers - 1, chequers)

    def first_number(self, chequers: int) -> int:
        """Return the lowest position number of a side with exactly this many chequers."""
        return comb(self.points + chequers - 1, self.points)

    def record_offsets(self, chequers: int) -> tuple[int, int]:
        """Return what to add to position numbers to get rows of the working records.

        The first is for positions of `chequers` chequers, the second for those of one fewer.
        """
        fewer = chequers - 1
        return self.slots[chequers & 1] - self.first_number(chequers), self.slots[
            fewer & 1
        ] - self.first_number(fewer)

    def waves(self, chequers: int) -> Iterator[Array]:
        """Yield all positions of exactly `chequers` chequers, in the order in which they can be solved.

        Each item is an array (m, 2) of ranges of position numbers that can be solved in parallel, each of at most
        54,264 positions.
        """
        return waves(self.points, chequers, max(3, self.points - 7))
