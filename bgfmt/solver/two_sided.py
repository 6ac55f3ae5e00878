"""The two-sided solver: pip layer by pip layer, each pair of sides once; docs/theory/solver.md says how it is cut.

Positions are numbered by pips, so that every play goes to a smaller number and the positions of one pip count, a
layer, cannot reach each other. A pair (u, t) belongs to the lower of the two layers L. Two steps make all pairs of
layer L, each of independent blocks, so that who makes them cannot change a value: across, u in L against t in L or
beyond, then down, u beyond against t in L.

The arithmetic is that of docs/theory/two-sided.md, 16-bit integers throughout. What becomes of finished records is
the business of a `Taker`: they go to their place in an array of the whole table, or into a store of chunks
(`bgfmt.solver.stored`).
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
    LANES,
    START_SECONDS,
    Plan,
    results_a_position,
    thread_count,
)
from bgfmt.solver.match import plan_pairs, solve_pairs
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import How, Solver
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers
from bgfmt.tables import TwoSided

MADE = 4096  # lines of records that a worker makes at a time, which stay in the processor's cache
FEW = 1000  # lines that are not worth dividing
HELD_PAIRS = 100_000_000  # tables of more pairs are made through a store of chunks; read anew at each solve
STORE_RATE = 0.4e9  # bytes of table a second that checksums, the store, and the file in order take


def two_sided(
    points: int, chequers: int, *, cubeful: bool = True, recipe: str | Recipe = "gnubg", **how: Unpack[How]
) -> TwoSided:
    """Solve a two-sided table in memory; `bgfmt.solve` makes those that do not fit.

    points, chequers : 1..12 points, 1..15 chequers.
    cubeful : all four equities, or the cubeless one alone.
    recipe : ``gnubg``, the integers of makebearoff, or ``exact``, float64 equities with nothing rounded.
    how : see `bgfmt.solver.registry.How`. `progress` counts pairs of positions; `out` is (n, n, 4 or 1) uint16
        (float64 for recipe exact); recipe exact takes a `room`.

    SolverError for sizes out of range, an unknown recipe or too little memory; CapabilityError for workers that are
    not threads.
    """
    return TwoSidedSolver(points, chequers, recipe=recipe, cubeful=cubeful).solve(**how)  # type: ignore[no-any-return]


class TwoSidedSolver(Solver):
    """Two-sided tables, in memory or through a store of chunks."""

    name = kind = "two-sided"
    recipes = ("gnubg", "exact")
    unit = " pairs"
    most_points = 12
    options = frozenset({"cubeful"})
    beside = ".store"

    def __init__(
        self, points: int, chequers: int, *, recipe: str | Recipe | None = None, cubeful: bool = True
    ) -> None:
        super().__init__(points, chequers, recipe=recipe)
        self.columns = 4 if cubeful else 1
        self.stores = self.recipe.rounded
        self.maps = not self.recipe.rounded

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """From a model checked on 6x6 to 6x15 and on other points."""
        what = f"{self.name} {self.points}x{self.chequers}, recipe {self.recipe.name}"
        if not self.recipe.rounded:
            return self.in_memory(plan_pairs(what, self, self.columns, threads), memory)
        cuts = layer_cuts(self.points, self.chequers)
        n = int(cuts[-1])
        results = results_a_position(self.points, self.chequers)
        lanes = n * n * results * self.columns
        body = n * n * self.columns * 2
        large = n * n > HELD_PAIRS
        seconds = START_SECONDS + lanes / LANES / min(2, thread_count(threads)) + large * body / STORE_RATE
        needed = Pool(cuts, self.columns).bytes + 4 * n * results + INTERPRETER_BYTES + (0 if large else body)
        return self.in_memory(Plan(what, n * n, seconds, needed, 40 + body, body if large else 0), memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(self.points, self.chequers)
        return {"equities": ((n, n, self.columns), np.dtype("<u2" if self.recipe.rounded else "<f8"))}

    def made(self, workers: Workers, progress: Progress | None, zeros: Any, out: Any) -> dict[str, Any]:
        out = zeros(*self.arrays()["equities"]) if out is None else out
        if self.recipe.rounded:
            _in_place(pip_order(self.points, self.chequers), self.stakes, out, workers, progress)
        else:  # as at a match score, with the cube of money games that are all worth 1
            kept = columns.single_games([None])
            places = np.array([[0], [-1]])
            if self.stakes.gammons:
                kept.won[...] = np.arange(kept.won.shape[-1])
            if self.columns == 4:  # of cubeless, centered, owned, opponent's, in a record
                kept = columns.for_money(**self.stakes._asdict())
                places = np.array([[0, 2, 1, 3], [-1] * 4])
            solve_pairs(self, kept, places, out, workers, progress, zeros)
        return {"equities": out}


class GammonSolver(TwoSidedSolver):
    """Two-sided tables that count gammons, on 1 to 12 points; see `bgfmt.tables.GammonTwoSided`."""

    name = kind = "two-sided-gammons"
    recipes = ("gammons", "exact")
    stakes = Stakes(gammons=True)


class JacobySolver(TwoSidedSolver):
    """Two-sided tables that count gammons once the cube is turned, by Jacoby's rule, on 1 to 12 points."""

    name = kind = "two-sided-jacoby"
    recipes = ("gammons", "exact")
    stakes = Stakes(gammons=True, jacoby=True)


def done_after(cuts: Array, layer: int) -> int:
    """Pairs made once `layer` is finished."""
    n = int(cuts[-1])
    end = int(cuts[layer + 1])
    return n * n - (n - end) ** 2


def _in_place(
    order: PipOrder, stakes: Stakes, out: Array, workers: Workers, progress: Progress | None
) -> None:
    """Every record of integers straight to its place in the table, (n, n, columns)."""
    won, lost = stakes.over(order, out.shape[2])
    out[0, order.numbers] = won
    out[order.numbers[1:], 0] = lost[1:]
    pool = Pool(order.cuts, out.shape[2])
    kind = record_type(out.shape[2])
    table = out.reshape(order.n, -1).view(kind)

    def settle(squares: Squares, made: Array) -> None:
        kernels.settle(made.view(kind), squares.us, squares.ts, pool.starts, order.numbers, table)

    pairs = Pairs(order, pool, stakes, settle)
    for layer in range(1, order.layers):
        pairs.layer(layer, workers)
        if progress is not None:
            progress(done_after(order.cuts, layer), order.n**2)


class Squares(NamedTuple):
    """Blocks us[0]..us[1]-1 on roll against blocks ts[0]..ts[1]-1; the lower ones are of `layer`."""

    layer: int
    us: tuple[int, int]
    ts: tuple[int, int]


#: takes records of uint16, block of t's by block, u by u, and what lies behind them; called from several threads
Taker = Callable[[Squares, Array], None]


class Pairs:
    """A solve's state: the turned values of the last layers, and what takes finished records."""

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
        won = (stakes.over(order, self.columns)[0].astype(np.int32) - 32768).astype(np.int16)
        for line, (first, past) in enumerate(pairwise(pool.starts[pool.first[1] :]), pool.offsets[0]):
            numbers[line, : (past - first) * self.columns] = won[first:past].reshape(-1)
        self.finish(0)

    def layer(self, layer: int, workers: Workers) -> None:
        """Make all pairs of a layer."""
        self._lie(slice(int(self.order.cuts[layer]), None), *self._own(layer))
        for blocks in self.steps(layer, workers.workers):
            workers.do(self.make, blocks)
        self.finish(layer)

    def finish(self, layer: int) -> None:
        """From now on the values of a layer are found where those of higher places against it are kept."""
        cuts = self.order.cuts
        self._lie(slice(int(cuts[layer]), int(cuts[layer + 1])), *self.target(layer))

    def _lie(self, places: slice, line: int, step: int) -> None:
        at = np.arange(self.order.n)[places]
        self.lines.base[places] = line + at
        self.lines.step[places] = step

    def _own(self, layer: int) -> tuple[int, int]:
        """(line, step) of the layer's own values: those of block b against place j lie in line + b * step + j."""
        start = int(self.order.cuts[layer])
        step = self.order.n - int(self.order.cuts[layer])
        return self.pool.own - int(self.pool.first[layer]) * step - start, step

    def target(self, layer: int) -> tuple[int, int]:
        """The same of the values of higher blocks against the layer's places."""
        start = int(self.order.cuts[layer])
        end = int(self.order.cuts[layer + 1])
        step = end - start
        return int(self.pool.offsets[layer]) - int(self.pool.first[layer + 1]) * step - start, step

    def steps(self, layer: int, workers: int) -> tuple[list[Squares], list[Squares]]:
        """The blocks of a layer's two steps; those of a step are independent of each other."""
        low = int(self.pool.first[layer])
        high = int(self.pool.first[layer + 1])
        last = len(self.pool.starts) - 1
        width = int(self.order.cuts[layer + 1] - self.order.cuts[layer])
        across = _cut(low, last, width, workers)
        down = [
            Squares(layer, part, (t, t + 1))
            for t in range(low, high)
            for part in _cut(high, last, self.pool.side, workers)
        ]
        return [Squares(layer, (low, high), part) for part in across], down

    def make(self, block: Squares) -> None:
        """Make a block, and hand its records on."""
        layer, us, ts = block
        cuts = self.order.cuts
        starts = self.pool.starts
        across = us[0] < self.pool.first[layer + 1]
        reach = int(cuts[max(0, layer - REACH)]), int(cuts[layer]) if across else self.order.n
        target = self._own(layer) if across else self.target(layer)
        size = int((starts[us[1]] - starts[us[0]]) * (starts[ts[1]] - starts[ts[0]])) * self.columns
        made = np.empty(size + self.pool.lanes, np.uint16)
        kernels.squares(
            us, ts, reach, starts, self.lines, self.rolls, self.columns, self.gammons, made, target
        )
        self.take(block, made)


def record_type(columns: int) -> Any:
    """A record as one number, for moving it."""
    return np.uint64 if columns == 4 else np.uint16


def _cut(first: int, last: int, lines: int, workers: int) -> list[tuple[int, int]]:
    """Blocks first..last-1, `lines` lines each, in parts: four for each worker, or more where they are large."""
    count = last - first
    if count * lines > FEW:
        count = min(max(1, MADE // max(1, lines)), -(-count // (4 * workers)))
    return [(low, min(low + count, last)) for low in range(first, last, max(1, count))]
