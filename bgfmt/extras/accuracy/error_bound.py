"""A proved bound of the error of each stored equity of a two-sided table.

Every exact equity is enclosed between two integers, from the bounds of smaller entries, in the order of the
recurrence; see `bgfmt.extras.accuracy.enclosure`. The bound of a stored equity's error is its distance from the
farther of the two. It holds whatever program made the table, and whether or not its entries follow from each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from bgfmt.errors import CapabilityError
from bgfmt.extras.accuracy import enclosure
from bgfmt.extras.accuracy.enclosure import BINS, DECISIONS, FINE, ONE, WIDTH, Bounds, Found, SizeRules
from bgfmt.extras.accuracy.truth import DECISION_NOUNS
from bgfmt.tables import EQUITY_COLUMNS, Table, TwoSided
from bgfmt.verifier.recurrence.contact import PLAIN_POINTS
from bgfmt.verifier.recurrence.plays import Array, Progress, pip_order, plays
from bgfmt.verifier.words import plural

REACH = 24  # the most pips a roll can spend
DECISION_NAMES = ("initial_doubles", "redoubles", "takes")
PAIRS_PER_TASK = 1 << 18
SECONDS_PER_PAIR = 4e-7


@dataclass(frozen=True)
class ErrorBound:
    """Bounds of the errors of a table's stored equities.

    Attributes
    ----------
    greatest
        (4,) float64: the greatest error bound of each column, in points of equity.
    histogram
        (4, BINS) int64: entry k is the number of error bounds above k - 1 and up to k steps of the stored integers;
        the last entry includes all greater ones.
    decisions
        (3, 3) int64, a row each for initial doubles, redoubles and takes: how many are right, how many the bounds
        leave open, and how many the stored equities decide wrongly.
    pairs
        Number of entries with chequers on both sides.
    """

    greatest: Array
    histogram: Array
    decisions: Array
    pairs: int

    def as_dict(self) -> dict[str, Any]:
        """Return the bounds as plain values for JSON.

        Keys: `pairs`; `greatest` and `histogram`, by column; `histogram_step`, the equity of one bin; `decisions`
        (proved right), `decisions_open` and `decisions_wrong`, counts by "initial_doubles", "redoubles" and "takes".
        Empty bins at the end of the histogram are omitted.
        """
        last = int(np.flatnonzero(self.histogram.any(axis=0)).max(initial=0)) + 1
        right, open_, wrong = self.decisions.T.tolist()
        return {
            "pairs": self.pairs,
            "greatest": dict(zip(EQUITY_COLUMNS, self.greatest.tolist(), strict=True)),
            "decisions": dict(zip(DECISION_NAMES, right, strict=True)),
            "decisions_open": dict(zip(DECISION_NAMES, open_, strict=True)),
            "decisions_wrong": dict(zip(DECISION_NAMES, wrong, strict=True)),
            "histogram_step": FINE / ONE,
            "histogram": dict(zip(EQUITY_COLUMNS, self.histogram[:, :last].tolist(), strict=True)),
        }


def reason_against(table: Table) -> str:
    """Return the reason why the errors of a table cannot be bounded, or "" if they can.

    They can for two-sided tables with the cube, of 16-bit integers, on at most 12 points.
    """
    if not isinstance(table, TwoSided):
        return f"{table.kind} tables have no error bound"
    if table.exact:
        return "equities in float64 have no error bound by this method, whose resolution is 1e-8"
    if not table.cubeful:
        return (
            "a cubeless table has no error bound; use one with the cube, whose first column has its numbers"
        )
    if table.points > PLAIN_POINTS:
        return f"no error bound is known for more than {PLAIN_POINTS} points, where the sides are in contact"
    return ""


def estimate_seconds(table: Table) -> float:
    """Return roughly the seconds that `measure` takes on one core, 0 if the errors cannot be bounded."""
    return 0.0 if reason_against(table) else table.entries * SECONDS_PER_PAIR


def measure(table: Table, threads: int, progress: Progress | None = None) -> dict[str, Any]:
    """Compute the error bounds of a table; return `ErrorBound.as_dict`, or {"note": reason} if there are none.

    progress : called with the numbers of pairs done and in all.
    """
    if reason_against(table):
        return {"note": reason_against(table)}
    return bound_errors(cast(TwoSided, table), threads=threads, progress=progress).as_dict()


def describe(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of text that report error bounds.

    found : result of `measure`.
    """
    if "note" in found:
        yield f"no error bound is proved: {found['note']}"
        return
    yield "proved error bounds:"
    for column, size in found["greatest"].items():
        counts = found["histogram"][column]
        bound = math.ceil(size * 1e7) / 1e7  # rounded up, so that what is printed is proved
        half = _median(counts, found)
        yield f"  {column:<9} within {bound:.7f} of the exact equity; half of the entries within {half:.7f}"
    for name, count in found["decisions_open"].items():
        wrong = found["decisions_wrong"][name]
        yield f"  {plural(count, DECISION_NOUNS[name])} of {found['pairs']:,} left open, {wrong:,} decided wrongly"


def _median(counts: Sequence[int], found: Mapping[str, Any]) -> float:
    """Return the error bound, in equity, that half of the pairs do not exceed, to a step of the histogram."""
    reached = 0
    for k, count in enumerate(counts):
        reached += count
        if 2 * reached >= found["pairs"]:
            return float(k * found["histogram_step"])
    return 0.0


def bound_errors(
    table: TwoSided, *, threads: int = 1, progress: Progress | None = None, out: Array | None = None
) -> ErrorBound:
    """Bound the error of every stored equity of a two-sided table with the cube.

    Parameters
    ----------
    table
        A table of integers with the cube, on at most 12 points. If it is not mapped from a file, it is loaded into
        memory.
    threads
        Number of threads.
    progress
        Called with the numbers of pairs done and in all.
    out
        (n, n, 4) int32 array that receives the error bound of each equity, in units of 1 / `enclosure.ONE`.

    Raises
    ------
    CapabilityError
        For a table that `reason_against` refuses.
    """
    reason = reason_against(table)
    if reason:
        raise CapabilityError(reason)
    sweep = BoundSweep(table, np.empty((0, 0, 0), np.int32) if out is None else out)
    with ThreadPoolExecutor(threads) as pool:
        for layer in range(1, sweep.layers):
            for tasks in sweep.layer_tasks(layer):
                for found in pool.map(sweep.enclose, tasks):
                    sweep.add(found)
            if progress is not None:
                progress(*sweep.progress(layer))
    return sweep.result()


#: places on roll, places of the other side, and places that plays lead to, each as (first, past the last)
Task = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]


class BoundSweep:
    """The computation of the bounds of all pairs of a table, layer by layer; see `enclosure` for the layers.

    out : see `bound_errors`; an array of size 0 if not wanted.
    """

    def __init__(self, table: TwoSided, out: Array) -> None:
        self.stored = _in_memory(table)
        self.out = out
        starts, results = plays(table.points, table.chequers)
        _, numbers, cuts = pip_order(table.points, table.chequers)
        self.n = len(numbers)
        self.cuts = [int(cut) for cut in cuts]
        self.layers = len(cuts) - 1
        places = np.empty(self.n, np.int32)
        places[numbers] = np.arange(self.n, dtype=np.int32)
        self.game = SizeRules(numbers.astype(np.int64), places, starts, results)
        width = ring_width(self.cuts)
        lower = np.repeat(self.cuts[:-1], np.diff(cuts))  # places below the layer of each place
        ends = np.cumsum(np.minimum(lower, width), dtype=np.int64)
        ring = np.empty((int(ends[-1]), 8), np.int8)
        self.bounds = Bounds(ring, np.append(0, ends[:-1]), width, np.zeros((self.n, 8), np.int8))
        self.start = 0
        self.found = _nothing_found()
        enclosure.bound_lost_sides(self.stored, self.game, self.bounds)

    def layer_tasks(self, layer: int) -> Iterator[list[Task]]:
        """Yield the two lists of tasks for the pairs whose lower pip count is that of a layer.

        The tasks of a list can run at the same time. Request the second list only after those of the first are done.

        layer : number of the layer, 1 for the positions with the fewest pips.
        """
        cuts = self.cuts
        first = cuts[layer]
        past = cuts[layer + 1]
        self.start = first
        own = np.empty(((past - first) * (self.n - first), 8), np.int8)
        self.bounds = self.bounds._replace(own=own)
        width = max(WIDTH, PAIRS_PER_TASK // (past - first) // WIDTH * WIDTH)
        reach = cuts[max(0, layer - REACH)], first
        yield [((first, past), (t, min(t + width, self.n)), reach) for t in range(first, self.n, width)]
        reach = cuts[max(0, layer + 1 - REACH)], self.n
        yield [
            ((past, self.n), (t, min(t + WIDTH, past)), reach)
            for t in range(first, past, WIDTH)
            if past < self.n
        ]

    def enclose(self, task: Task) -> Found:
        """Bound the exact equities of the pairs of a task; return the maxima and counts over them."""
        found = _nothing_found()
        enclosure.enclose(self.stored, self.game, self.bounds, *task, self.start, found, self.out)
        return found

    def add(self, found: Found) -> None:
        """Add the maxima and counts of a task, the result of `enclose`, to those of the table."""
        np.maximum(self.found.greatest, found.greatest, out=self.found.greatest)
        self.found.histogram[...] += found.histogram
        self.found.decisions[...] += found.decisions

    def progress(self, layer: int) -> tuple[int, int]:
        """Return how many pairs are done after this layer (index of a pip count), and how many there are."""
        return self.n**2 - (self.n - self.cuts[layer + 1]) ** 2, self.n**2

    def result(self) -> ErrorBound:
        """Return the bounds of all pairs that have been added, in points of equity."""
        greatest, histogram, decisions = self.found
        return ErrorBound(np.nextafter(greatest / ONE, 1), histogram, decisions, (self.n - 1) ** 2)


def ring_width(cuts: list[int]) -> int:
    """Return the largest number of positions in a pip layer and the 24 pips below it, which a roll can cross.

    cuts : the first place (rank in order of pips) of each layer and, last, the number of places.
    """
    layers = len(cuts) - 1
    return max(cuts[layer + 1] - cuts[max(0, layer - REACH)] for layer in range(layers))


def _nothing_found() -> Found:
    return Found(np.zeros(4, np.int64), np.zeros((4, BINS), np.int64), np.zeros((DECISIONS, 3), np.int64))


def _in_memory(table: TwoSided) -> Array:
    """Return the equities as one array of native uint16, mapped where the file has it so."""
    stored = table.equities
    if isinstance(stored, np.ndarray):
        return np.require(stored, np.uint16, ["C", "A"])
    return np.ascontiguousarray(stored[:], np.uint16)
