"""The two-sided solver: pip layer by pip layer, each pair of sides once; docs/theory/solver.md explains the division.

Positions are numbered by pips ("places"), so that every play leads to a smaller number and the positions of one pip
count, a layer, cannot reach each other. A pair (u, t) belongs to the lower of the two layers L. Two steps solve all
pairs of layer L, each in independent blocks, so that results do not depend on the workers: across, u in L against t
in L or beyond, then down, u beyond against t in L.

The arithmetic is that of docs/theory/two-sided.md, 16-bit integers throughout. A `Taker` receives the finished
records: it puts them into an array of the whole table, or into a store of chunks (`bgfmt.files.routes.Stores`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np

from bgfmt.game import board
from bgfmt.game.kernels_vectors import RollResults
from bgfmt.game.results import WEIGHTS, Array
from bgfmt.solver import columns
from bgfmt.solver.kernels import two_sided as kernels
from bgfmt.solver.layers import REACH, PipOrder, Pool, Stakes, layer_cuts, pip_order
from bgfmt.solver.machine import (
    INTERPRETER_BYTES,
    MAXIMA_PER_SECOND,
    START_SECONDS,
    Plan,
    results_per_position,
    thread_count,
)
from bgfmt.solver.match import plan_pairs, solve_pairs
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import SolveOptions, Solver
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers
from bgfmt.tables import TwoSided

__all__ = ["Pairs", "Squares", "TwoSidedSolver", "count_pairs_done", "record_type", "two_sided"]


LINES_PER_TASK = 4096  # lines of records of a task, so that they stay in the CPU cache
MIN_DIVIDED_LINES = 1000  # fewer lines are not divided among workers
MAX_PAIRS_IN_MEMORY = 100_000_000  # larger tables are solved through a store of chunks; read at each solve
STORE_BYTES_PER_SECOND = 0.4e9  # of a table: checksums, the store, and sorting into the file


def two_sided(
    points: int,
    chequers: int,
    *,
    cubeful: bool = True,
    recipe: str | Recipe = "gnubg",
    **how: Unpack[SolveOptions],
) -> TwoSided:
    """Solve a two-sided table in memory; `bgfmt.solve` solves those that do not fit.

    Parameters
    ----------
    points, chequers : 1..12 points, 1..15 chequers.
    cubeful : all four equities, or only the cubeless one.
    recipe : ``gnubg``, the integers of makebearoff, or ``exact``, float64 equities with nothing rounded.
    how : see `bgfmt.solver.registry.SolveOptions`. `progress` counts pairs of positions; `out` is (n, n, 4 or 1)
        uint16 (float64 for recipe exact); recipe exact takes a `room`.

    Raises
    ------
    SolverError
        For sizes out of range, an unknown recipe or too little memory.
    CapabilityError
        For workers that are not threads.
    """
    return TwoSidedSolver(points, chequers, recipe=recipe, cubeful=cubeful).solve(**how)  # type: ignore[no-any-return]


class TwoSidedSolver(Solver):
    """Solver of two-sided tables, in memory or through a store of chunks."""

    name = kind = "two-sided"
    recipes = ("gnubg", "exact")
    unit = " pairs"
    most_points = 12
    options = frozenset({"cubeful"})
    kept_suffix = ".store"

    def __init__(
        self, points: int, chequers: int, *, recipe: str | Recipe | None = None, cubeful: bool = True
    ) -> None:
        super().__init__(points, chequers, recipe=recipe)
        self.columns = 4 if cubeful else 1
        self.supports_store = self.recipe.rounded
        self.supports_mapping = not self.recipe.rounded

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """Estimate time, memory and disk space of the solve, with at most `memory` bytes if given.

        The model was checked on 6x6 to 6x15 and on other points.
        """
        what = f"{self.name} {self.points}x{self.chequers}, recipe {self.recipe.name}"
        if not self.recipe.rounded:
            return self.limit_memory(plan_pairs(what, self, self.columns, threads), memory)
        cuts = layer_cuts(self.points, self.chequers)
        n = int(cuts[-1])
        results = results_per_position(self.points, self.chequers)
        lanes = n * n * results * self.columns
        body = n * n * self.columns * 2
        large = n * n > MAX_PAIRS_IN_MEMORY
        seconds = (
            START_SECONDS
            + lanes / MAXIMA_PER_SECOND / min(2, thread_count(threads))
            + large * body / STORE_BYTES_PER_SECOND
        )
        needed = Pool(cuts, self.columns).bytes + 4 * n * results + INTERPRETER_BYTES + (0 if large else body)
        return self.limit_memory(Plan(what, n * n, seconds, needed, 40 + body, body if large else 0), memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(self.points, self.chequers)
        return {"equities": ((n, n, self.columns), np.dtype("<u2" if self.recipe.rounded else "<f8"))}

    def build_arrays(
        self, workers: Workers, progress: Progress | None, zeros: Any, out: Any
    ) -> dict[str, Any]:
        out = zeros(*self.arrays()["equities"]) if out is None else out
        if self.recipe.rounded:
            _solve_in_place(pip_order(self.points, self.chequers), self.stakes, out, workers, progress)
        else:  # as at a match score, with the cube of money games that are all worth 1
            kept = columns.single_game_columns([None])
            places = np.array([[0], [-1]])
            if self.stakes.gammons:
                kept.won[...] = np.arange(kept.won.shape[-1])
            if self.columns == 4:  # of cubeless, centered, owned, opponent's, in a record
                kept = columns.money_columns(**self.stakes._asdict())
                places = np.array([[0, 2, 1, 3], [-1] * 4])
            solve_pairs(self, kept, places, out, workers, progress, zeros)
        return {"equities": out}


class GammonSolver(TwoSidedSolver):
    """Solver of two-sided tables with gammons, on 1 to 12 points; see `bgfmt.tables.GammonTwoSided`."""

    name = kind = "two-sided-gammons"
    recipes = ("gammons", "exact")
    stakes = Stakes(gammons=True)


class JacobySolver(TwoSidedSolver):
    """Compute two-sided tables under the Jacoby rule.

    Gammons count only after the cube has been turned. A table has 1 to 12 points.
    """

    name = kind = "two-sided-jacoby"
    recipes = ("gammons", "exact")
    stakes = Stakes(gammons=True, jacoby=True)


def count_pairs_done(cuts: Array, layer: int) -> int:
    """Count the pairs of sides that are solved once layer `layer` is finished.

    A layer is all pairs in which the lower pip count of the two sides has one value. cuts : as `layer_cuts` returns
    it.
    """
    n = int(cuts[-1])
    end = int(cuts[layer + 1])
    return n * n - (n - end) ** 2


def _solve_in_place(
    order: PipOrder, stakes: Stakes, out: Array, workers: Workers, progress: Progress | None
) -> None:
    """Solve a table of integers directly in its array, (n, n, columns)."""
    won, lost = stakes.finished_records(order, out.shape[2])
    out[0, order.numbers] = won
    out[order.numbers[1:], 0] = lost[1:]
    pool = Pool(order.cuts, out.shape[2])
    kind = record_type(out.shape[2])
    table = out.reshape(order.n, -1).view(kind)

    def settle(squares: Squares, made: Array) -> None:
        kernels.scatter_records(made.view(kind), squares.us, squares.ts, pool.starts, order.numbers, table)

    pairs = Pairs(order, pool, stakes, settle)
    for layer in range(1, order.layers):
        pairs.solve_layer(layer, workers)
        if progress is not None:
            progress(count_pairs_done(order.cuts, layer), order.n**2)


class Squares(NamedTuple):
    """Blocks us[0]..us[1]-1 on roll against blocks ts[0]..ts[1]-1; the lower ones belong to `layer`."""

    layer: int
    us: tuple[int, int]
    ts: tuple[int, int]


#: called from several threads with records of uint16, block of t's by block, u by u, and the working space after them
Taker = Callable[[Squares, Array], None]


class Pairs:
    """State of a solve: the values of the last layers as seen by the side that moved, and the receiver of records."""

    def __init__(self, order: PipOrder, pool: Pool, stakes: Stakes, take: Taker) -> None:
        self.order = order
        self.pool = pool
        self.take = take
        self.gammons = stakes.gammons
        self.columns = pool.lanes // pool.side
        numbers = np.empty((pool.lines, pool.lanes), np.int16)
        records = numbers.view(record_type(self.columns))
        base = np.zeros(order.n, np.int64)
        step = np.zeros(order.n, np.int64)
        self.lines = kernels.Lines(numbers, records, base, step)
        self.rolls = RollResults(order.ends, order.results, WEIGHTS)
        # the side that is off has won
        won = (stakes.finished_records(order, self.columns)[0].astype(np.int32) - 32768).astype(np.int16)
        for line, (first, past) in enumerate(pairwise(pool.starts[pool.first[1] :]), pool.offsets[0]):
            numbers[line, : (past - first) * self.columns] = won[first:past].reshape(-1)
        self.finish(0)

    def solve_layer(self, layer: int, workers: Workers) -> None:
        """Solve all pairs in which the lower pip count of the two sides is `layer`."""
        self._set_lines(slice(int(self.order.cuts[layer]), None), *self._own_lines(layer))
        for blocks in self.steps(layer, workers.workers):
            workers.do(self.make, blocks)
        self.finish(layer)

    def finish(self, layer: int) -> None:
        """Mark a layer as finished: from now on its values are read where `target_lines` puts them."""
        cuts = self.order.cuts
        self._set_lines(slice(int(cuts[layer]), int(cuts[layer + 1])), *self.target_lines(layer))

    def _set_lines(self, places: slice, line: int, step: int) -> None:
        at = np.arange(self.order.n)[places]
        self.lines.base[places] = line + at
        self.lines.step[places] = step

    def _own_lines(self, layer: int) -> tuple[int, int]:
        """Return where the working array holds a layer's own values, as (line, step).

        Those of block b against place j are in line + b * step + j.
        """
        start = int(self.order.cuts[layer])
        step = self.order.n - int(self.order.cuts[layer])
        return self.pool.own - int(self.pool.first[layer]) * step - start, step

    def target_lines(self, layer: int) -> tuple[int, int]:
        """Return where the working array holds the values of sides of more pips against those of a layer.

        Those of block b (a range of sides) against place j (the j-th side by pips) are in row line + b * step + j,
        for the returned (line, step).
        """
        start = int(self.order.cuts[layer])
        end = int(self.order.cuts[layer + 1])
        step = end - start
        return int(self.pool.offsets[layer]) - int(self.pool.first[layer + 1]) * step - start, step

    def steps(self, layer: int, workers: int) -> tuple[list[Squares], list[Squares]]:
        """List the tasks that solve a layer, in two lists: tasks of the second need those of the first finished.

        Tasks of the same list do not depend on each other. workers : number of workers to divide them for.
        """
        low = int(self.pool.first[layer])
        high = int(self.pool.first[layer + 1])
        last = len(self.pool.starts) - 1
        width = int(self.order.cuts[layer + 1] - self.order.cuts[layer])
        across = _divide_blocks(low, last, width, workers)
        down = [
            Squares(layer, part, (t, t + 1))
            for t in range(low, high)
            for part in _divide_blocks(high, last, self.pool.side, workers)
        ]
        return [Squares(layer, (low, high), part) for part in across], down

    def make(self, block: Squares) -> None:
        """Solve one task of `steps`, and pass its records to the function `take`."""
        layer, us, ts = block
        cuts = self.order.cuts
        starts = self.pool.starts
        across = us[0] < self.pool.first[layer + 1]
        reach = int(cuts[max(0, layer - REACH)]), int(cuts[layer]) if across else self.order.n
        target = self._own_lines(layer) if across else self.target_lines(layer)
        size = int((starts[us[1]] - starts[us[0]]) * (starts[ts[1]] - starts[ts[0]])) * self.columns
        made = np.empty(size + self.pool.lanes, np.uint16)
        kernels.fill_squares(
            us, ts, reach, starts, self.lines, self.rolls, self.columns, self.gammons, made, target
        )
        self.take(block, made)


def record_type(columns: int) -> Any:
    """Return the integer dtype that is as wide as a record of 1 or 4 16-bit columns, to move records whole."""
    return np.uint64 if columns == 4 else np.uint16


def _divide_blocks(first: int, last: int, lines: int, workers: int) -> list[tuple[int, int]]:
    """Divide blocks first..last-1, `lines` lines each, into parts: four for each worker, more if large."""
    count = last - first
    if count * lines > MIN_DIVIDED_LINES:
        count = min(max(1, LINES_PER_TASK // max(1, lines)), -(-count // (4 * workers)))
    return [(low, min(low + count, last)) for low in range(first, last, max(1, count))]
