"""A proved bound of the error of each stored equity of a two-sided table.

Every exact equity is enclosed between two integers, from the bounds of smaller entries, in the order of the
recurrence; see `bgfmt.extras.accuracy.enclosure`. The bound of a stored equity's error is its distance from the
farther of the two. It holds whatever program made the table, and whether or not its entries follow from each other.
"""

from __future__ import annotations

import math
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from bgfmt.errors import CapabilityError
from bgfmt.extras.accuracy import enclosure
from bgfmt.extras.accuracy.enclosure import BINS, DECISIONS, FINE, ONE, WIDTH, Entries, Found, SizeRules
from bgfmt.extras.accuracy.truth import DECISION_NOUNS
from bgfmt.jit.lanes import LANES
from bgfmt.solver.machine import available_memory, check_disk, check_memory
from bgfmt.storage.mapped import MappedScratch
from bgfmt.tables import EQUITY_COLUMNS, Table, TwoSided
from bgfmt.verifier.proofs import MAX_PLAIN_POINTS
from bgfmt.verifier.recurrence.plays import Array, Progress, pip_order, plays
from bgfmt.verifier.words import plural

REACH = 24  # the most pips a roll can spend
DECISION_NAMES = ("initial_doubles", "redoubles", "takes")
ROWS_PER_TASK = 8
SIDES_PER_TASK = 8 * WIDTH
SECONDS_PER_PAIR = 5e-7


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
        return f"{table.kind} tables have no equities; --exact compares their numbers with exact ones"
    if table.exact:
        return "equities in float64 have no error bound by this method, whose resolution is 1e-8"
    if not table.cubeful:
        return (
            "a cubeless table has no error bound; use one with the cube, whose first column has its numbers"
        )
    if table.points > MAX_PLAIN_POINTS:
        return (
            f"no error bound is known for more than {MAX_PLAIN_POINTS} points, where the sides are in contact"
        )
    return ""


def estimate_seconds(table: Table) -> float:
    """Return roughly the seconds that `measure` takes on one core, 0 if the errors cannot be bounded."""
    return 0.0 if reason_against(table) else table.entries * SECONDS_PER_PAIR


def measure(table: Table, threads: int, progress: Progress | None = None) -> dict[str, Any]:
    """Compute the error bounds of a table; return `ErrorBound.as_dict`, or {"note": reason} if there are none.

    progress : called with the numbers of pairs done and in all.
    """
    if reason := reason_against(table):
        return {"note": reason}
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
        A table of integers with the cube, on at most 12 points.
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
    SolverError
        If memory or disk are too small.
    """
    reason = reason_against(table)
    if reason:
        raise CapabilityError(reason)
    with ThreadPoolExecutor(threads) as pool, _allocator(table) as allocate:
        sweep = BoundSweep(table, np.empty((0, 0, 0), np.int32) if out is None else out, allocate)
        list(pool.map(sweep.read_lower, sweep.row_tasks()))  # raises errors of the tasks
        for layer in range(1, len(sweep.cuts) - 1):
            sweep.run_layer(layer, pool)
            if progress is not None:
                left = sweep.n - sweep.cuts[layer + 1]
                progress(sweep.n**2 - left**2, sweep.n**2)
    greatest, histogram, decisions = sweep.found
    return ErrorBound(np.nextafter(greatest / ONE, 1), histogram, decisions, (sweep.n - 1) ** 2)


Range = tuple[int, int]  # (first, past the last)
Allocate = Callable[[tuple[int, ...], Any], Array]


class BoundSweep:
    """The computation of the bounds of all pairs of a table, layer by layer; see `enclosure` for the layers.

    The table is read twice, by rows. First, the stored equities of places on roll against places of lower layers are
    copied to `lower`, in order of places. They lie there until the layer of the place on roll is done. Second, the
    rows of each layer are read for its pairs, on roll, with places of this and higher layers: `own`.

    Parameters
    ----------
    out : see `bound_errors`; an array of size 0 if not wanted.
    allocate : creates an array for stored equities, as `numpy.empty` does.
    """

    def __init__(self, table: TwoSided, out: Array, allocate: Allocate) -> None:
        self.table = table
        self.out = out
        starts, results = plays(table.points, table.chequers)
        _, numbers, cuts = pip_order(table.points, table.chequers)
        self.n = len(numbers)
        self.cuts = [int(cut) for cut in cuts]
        self.numbers = numbers.astype(np.int64)
        self.places = np.empty(self.n, np.int32)
        self.places[numbers] = np.arange(self.n, dtype=np.int32)
        self.game = SizeRules(self.numbers, self.places, starts, results)
        self.layers = list(pairwise(self.cuts))
        self.lower = {
            layer: self._entries(layer, (0, self.cuts[layer]), allocate)
            for layer in range(1, len(self.layers))
        }
        self.found = _nothing_found()

    def _entries(self, layer: int, others: Range, allocate: Allocate = np.empty) -> Entries:
        """Create the entries of the places of a layer, on roll, with a range of other places."""
        first, past = self.layers[layer]
        columns = others[1] - others[0]
        stored = allocate((past - first, columns, 4), np.uint16)
        return Entries(stored, np.empty((columns, past - first, 8), np.int8))

    def row_tasks(self) -> Iterator[Array]:
        """Yield the position numbers of the table's rows, a few at a time, in the order in which they are stored."""
        # a compressed table stores its rows in an order of its own, which it has as an attribute
        order = getattr(self.table.equities, "order", np.arange(self.n))
        return (order[k : k + ROWS_PER_TASK] for k in range(0, self.n, ROWS_PER_TASK))

    def _read(self, numbers: Array) -> Array:
        """Read rows of the table, as (rows, n) with the four equities of a pair in one number."""
        rows = np.ascontiguousarray(self.table.equities[numbers], np.uint16)
        if self.table.release is not None:
            self.table.release()
        return rows.view(np.uint64)[..., 0]

    def read_lower(self, rows: Array) -> None:
        """Read the stored equities of positions on roll, by number, against places of lower layers."""
        for place, row in zip(self.places[rows], self._read(rows), strict=True):
            layer = bisect_right(self.cuts, place) - 1
            first = self.cuts[layer]
            if layer > 0:
                stored = self.lower[layer].stored.view(np.uint64)
                np.take(row, self.numbers[:first], out=stored[place - first, :, 0], mode="clip")

    def run_layer(self, layer: int, pool: ThreadPoolExecutor) -> None:
        """Bound the pairs whose lower pip count is that of a layer, after those of all lower layers.

        layer : number of the layer, 1 for the positions with the fewest pips.
        """
        if layer == 1:
            for entries in self.lower.values():
                enclosure.bound_lost_sides(entries)
        first, _ = self.layers[layer]
        self.layer = layer
        self.own = self._entries(layer, (first, self.n))
        list(pool.map(self.read_own, _split(self.layers[layer], ROWS_PER_TASK)))
        across = (
            (higher, sides)
            for higher in range(layer, len(self.layers))
            for sides in _split(self.layers[higher], SIDES_PER_TASK)
        )
        self._add(pool.map(self.enclose_layer, across))
        self._add(pool.map(self.enclose_higher, _split(self.layers[layer], WIDTH)))
        del self.lower[layer]

    def _add(self, parts: Iterable[Found]) -> None:
        """Add the maxima and counts of tasks to those of the table."""
        for found in parts:
            np.maximum(self.found.greatest, found.greatest, out=self.found.greatest)
            self.found.histogram[...] += found.histogram
            self.found.decisions[...] += found.decisions

    def read_own(self, rows: Range) -> None:
        """Read the stored equities of places of the current layer on roll against this and higher layers."""
        first = self.cuts[self.layer]
        stored = self.own.stored.view(np.uint64)[..., 0]
        for place, row in zip(range(*rows), self._read(self.numbers[slice(*rows)]), strict=True):
            np.take(row, self.numbers[first:], out=stored[place - first], mode="clip")

    def enclose_layer(self, task: tuple[int, Range]) -> Found:
        """Bound the pairs of the current layer, on roll, with some places of a layer that is not lower.

        task : this layer, and the range of its places.
        """
        higher, sides = task
        us = self.layers[self.layer]
        reach = self.cuts[max(0, self.layer - REACH)]
        tile = np.zeros((us[0] - reach, LANES), np.int32)
        found = _nothing_found()
        for them in _split(sides, WIDTH):
            rows = them[0] - self.cuts[higher], them[1] - self.cuts[higher]
            enclosure.fill_tile(self.lower[higher], rows, (reach, us[0]), tile)
            enclosure.enclose(self.game, tile, reach, us, them, self.own, (us[0], us[0]), found, self.out)
        return found

    def enclose_higher(self, them: Range) -> Found:
        """Bound the pairs of all places of higher layers, on roll, with some places of the current layer."""
        first = self.cuts[self.layer]
        reach = self.cuts[max(0, self.layer + 1 - REACH)]
        tile = np.zeros((self.n - reach, LANES), np.int32)
        rows = them[0] - first, them[1] - first
        enclosure.fill_tile(self.lower[self.layer], rows, (reach, first), tile)
        enclosure.fill_tile(self.own, rows, (0, self.n - first), tile[first - reach :])
        found = _nothing_found()
        for higher in range(self.layer + 1, len(self.layers)):
            us = self.layers[higher]
            enclosure.enclose(
                self.game, tile, reach, us, them, self.lower[higher], (us[0], 0), found, self.out
            )
        return found


def memory_bytes(points: int, chequers: int) -> tuple[int, int]:
    """Return how many bytes of memory the bounds of a table need at most, without its stored equities, and with them.

    Stored equities in memory are those of pairs with the side on roll in the higher layer.
    """
    _, _, cuts = pip_order(points, chequers)
    rows = np.diff(cuts)
    without = 0
    in_all = 0
    for layer in range(len(rows)):
        own = 2 * rows[layer] * (cuts[-1] - cuts[layer])
        bounds = own + np.sum(rows[layer:] * np.minimum(cuts[layer:-1], cuts[layer + 1]))
        without = max(without, 8 * int(bounds))
        in_all = max(in_all, 8 * int(bounds + np.sum(rows[layer:] * cuts[layer:-1])))
    return without, in_all


@contextmanager
def _allocator(table: TwoSided) -> Iterator[Allocate]:
    """Yield a function that creates arrays for stored equities: in memory or, if it is too small, in temporary files.

    These lie in the folder of the table's file, or in the system's temporary folder if the table is no file.
    SolverError if memory or disk are too small.
    """
    without, in_all = memory_bytes(table.points, table.chequers)
    available = available_memory()
    if available is None or in_all <= available:
        yield np.empty
        return
    check_memory(without, f"the error bound of {table.points}x{table.chequers}")
    file = Path(table.provenance)
    folder = file.parent if file.is_file() else Path(tempfile.gettempdir())
    check_disk(0, folder / "output", 4 * table.positions**2, folder / "scratch")
    with MappedScratch(folder, available) as scratch:
        yield scratch.zeros


def _split(sides: Range, size: int) -> Iterator[Range]:
    """Yield parts of a range, of at most this size."""
    return ((k, min(k + size, sides[1])) for k in range(*sides, size))


def _nothing_found() -> Found:
    return Found(np.zeros(4, np.int64), np.zeros((4, BINS), np.int64), np.zeros((DECISIONS, 3), np.int64))
