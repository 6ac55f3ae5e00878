"""The two-sided solver: pip layer by pip layer, each pair of sides once.

Positions are numbered by pips, so that every play goes to a smaller number and the positions of one pip count, a
layer, cannot reach each other. A pair (u, t) belongs to the lower of the two layers L. Two steps make all pairs of
layer L, each of independent blocks of work, so that the number of threads cannot change a value:

across  u in L, t in L or beyond. u wants, roll by roll, the greatest turned value F(t, j) over its results j, all
        in lower layers: a running maximum along rows j of the turned table.
down    t in L, u beyond. F(t, j) is known for j below L from earlier rows and for j from L on from the step
        before; laid out j by j with a block of t's side by side, the same maximum runs across the block.

Only rows of the last 24 layers are needed at a time, and of row j only what lies beyond j's layer. The arithmetic
is that of docs/theory/two-sided.md, 16-bit integers throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.solver.layers import REACH, WEIGHTS, PipOrder, pip_order
from bgfmt.solver.plan import INTERPRETER_BYTES, START_SECONDS, Plan
from bgfmt.solver.schedule import check_memory, thread_count
from bgfmt.tables import TwoSided

if TYPE_CHECKING:
    from bgfmt.solver.scratch import Scratch

Array = NDArray[Any]
Progress = Callable[[int, int], None]
MAX_POINTS = 12
ALIGN = 32  # int16 values in a cache line
HELD_PAIRS = 30_000_000  # tables of more pairs are better made through a scratch file
MERGE_SHARE = 6  # making a table takes about six times as long as merging it
LANES = 6.5e9  # int16 maxima a second on one core, measured
SCRATCH_RATE = 0.25e9  # bytes of table a second that checksums, disk and merging take


def check_size(points: int, chequers: int) -> None:
    """SolverError unless 1..12 points and 1..15 chequers."""
    if not 1 <= points <= MAX_POINTS or not 1 <= chequers <= board.MAX_CHEQUERS:
        raise SolverError(
            f"two-sided tables have 1 to {MAX_POINTS} points and 1 to {board.MAX_CHEQUERS} chequers, "
            f"not {points} and {chequers}"
        )


def layer_cuts(points: int, chequers: int) -> Array:
    """First place of each pip layer in pip order and, last, the number of positions; without any kernel."""
    ways = np.zeros((chequers + 1, points * chequers + 1), np.int64)
    ways[0, 0] = 1
    for point in range(1, points + 1):
        for c in range(1, chequers + 1):  # in place: any number of chequers on this point
            ways[c, point:] += ways[c - 1, :-point]
    return np.concatenate([[0], np.cumsum(ways.sum(axis=0))])


def plan_two_sided(
    points: int, chequers: int, *, cubeful: bool = True, recipe: str = "gnubg", threads: int | None = None
) -> Plan:
    """What solving this table will take, from a model checked on 6x6 to 6x15 and on other points."""
    check_size(points, chequers)
    cuts = layer_cuts(points, chequers)
    n, columns = int(cuts[-1]), 4 if cubeful else 1
    pairs, results = n * n, results_a_position(points, chequers)
    what = f"two-sided {points}x{chequers}, recipe {recipe}"
    lanes, threads = pairs * results * columns, min(2, thread_count(threads))
    if recipe == "exact":
        seconds = START_SECONDS + lanes / 1e9 / threads
        return Plan(what, pairs, seconds, 2 * pairs * columns * 8 + INTERPRETER_BYTES, pairs * columns * 8)
    pool = Pool(cuts, columns).size * 2
    turned = int(max(np.diff(cuts) * (n - cuts[:-1]))) * columns * 2
    near = threads * n * columns * 32 * 2
    body = pairs * columns * 2
    large = pairs > HELD_PAIRS
    seconds = START_SECONDS + lanes / LANES / threads + (body / SCRATCH_RATE if large else 0)
    memory = pool + turned + near + 4 * n * results + INTERPRETER_BYTES + (0 if large else body)
    return Plan(what, pairs, seconds, int(memory), 40 + body, body if large else 0)


def results_a_position(points: int, chequers: int) -> int:
    """About how many (roll, result) pairs a position has on average; measured within a tenth."""
    return int(21 + 2.2 * (points - 1) * (chequers - 1)) if chequers > 1 else 21


class Pool:
    """Where the rows of the turned table lie: one flat array used in rings of layers, oldest first out."""

    def __init__(self, cuts: Array, columns: int) -> None:
        n, layers = int(cuts[-1]), len(cuts) - 1
        widths, lengths = np.diff(cuts), n - cuts[1:]
        #: values in a plane of a row, rounded up to whole cache lines
        self.planes = (lengths + ALIGN - 1) // ALIGN * ALIGN
        sizes = widths * self.planes * columns
        self.offsets = np.zeros(layers, np.int64)
        live: list[tuple[int, int]] = []  # (offset, end) of the layers still needed, oldest first
        self.size = 0
        for layer in range(layers):
            live = live[-REACH:] if layer >= REACH else live
            self.offsets[layer] = self._place(live, int(sizes[layer]))
            live.append((int(self.offsets[layer]), int(self.offsets[layer] + sizes[layer])))
            self.size = max(self.size, live[-1][1])

    @staticmethod
    def _place(live: list[tuple[int, int]], size: int) -> int:
        """Lowest offset at which `size` values fit between the layers still needed."""
        at = 0
        for begin, end in sorted(live):
            if begin - at >= size:
                return at
            at = max(at, end)
        return at


class Solve:
    """One run: the pool, the threads and the place results go to."""

    def __init__(self, order: PipOrder, columns: int, threads: int) -> None:
        self.order, self.columns, self.threads = order, columns, threads
        n, cuts = order.n, order.cuts
        self.pool_plan = Pool(cuts, columns)
        self.pool = np.empty(max(1, self.pool_plan.size), np.int16)
        widths = np.diff(cuts)
        layer_of = np.repeat(np.arange(order.layers), widths)
        within = np.arange(n) - cuts[layer_of]
        self.plane = self.pool_plan.planes[layer_of]
        self.base = self.pool_plan.offsets[layer_of] + within * columns * self.plane
        self.begins = cuts[layer_of + 1]
        self.block = 32 if n > 4000 else 16
        self.turned = np.empty(int(max(widths * (n - cuts[:-1]))) * columns, np.int16)
        self.near = [np.empty(n * columns * self.block, np.int16) for _ in range(threads)]
        self.workers = ThreadPoolExecutor(threads)
        self.free = list(range(threads))

    def close(self) -> None:
        """Let the threads and the memory go."""
        self.workers.shutdown(wait=True, cancel_futures=True)

    def first_layer(self) -> None:
        """The side that is off has won: what leads there is worth +1 in every column."""
        size = self.columns * int(self.plane[0])
        self.pool[self.base[0] : self.base[0] + size] = 32767

    def layer(self, layer: int, out: Array, row_of: Array, column_of: Array, below: Array, b_row: Array,
              b_column: Array) -> None:  # fmt: skip
        """All pairs of a layer: those across into `out`, those down into `below`, placed as the maps say."""
        from bgfmt.solver.kernels import two_sided as kernels

        cuts, n, o = self.order.cuts, self.order.n, self.order
        start, end = int(cuts[layer]), int(cuts[layer + 1])
        width, length = end - start, n - start
        turned = self.turned[: width * self.columns * length].reshape(width, self.columns, length)
        rows = (self.pool, self.base, self.plane, self.begins, o.ends, o.results, WEIGHTS)

        def across(low: int, high: int) -> None:
            kernels.across(start, end, low, high, self.columns, *rows, turned, start, out, row_of, column_of)

        step = kernels.TILE
        if length // step < 4 * self.threads:
            step = max(64, -(-length // (4 * self.threads)))
        self._share([(across, low, min(low + step, n)) for low in range(start, n, step)])
        window = int(cuts[max(0, layer - REACH)])

        def down(low: int, high: int) -> None:
            mine = self.free.pop()
            kernels.down(
                low, high, self.block, start, end, window, n, self.columns, *rows, turned, below, b_row,
                b_column, self.near[mine],
            )  # fmt: skip
            self.free.append(mine)

        self._share([(down, low, min(low + self.block, end)) for low in range(start, end, self.block)])

    def _share(self, work: list[tuple[Callable[[int, int], None], int, int]]) -> None:
        """Run independent pieces of work on the threads, each taking the next that is left."""
        if self.threads == 1 or len(work) == 1:
            for run, low, high in work:
                run(low, high)
            return
        jobs = [self.workers.submit(run, low, high) for run, low, high in work]
        try:
            wait(jobs)
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
        for job in jobs:
            job.result()


def two_sided(
    points: int,
    chequers: int,
    *,
    cubeful: bool = True,
    recipe: str = "gnubg",
    threads: int | None = None,
    progress: Progress | None = None,
    out: Array | None = None,
    scratch: str | Path | None = None,
    resume: bool = False,
) -> TwoSided:
    """Solve the two-sided table of up to `chequers` chequers on `points` points.

    Parameters
    ----------
    points, chequers : 1..12 points, 1..15 chequers.
    cubeful : all four equities, or the cubeless one alone.
    recipe : ``gnubg``, the integers of makebearoff, or ``exact``, float64 equities with nothing rounded.
    threads : how many to use, all cores when None. The values do not depend on it.
    progress : called as ``progress(done, total)`` with pairs of positions.
    out : (n, n, 4 or 1) uint16 to fill, such as the body of a mapped file; made when None.
    scratch : a file that keeps finished layers with checksums, so that an ended run can go on; the result is
        merged from it and memory holds the last 24 layers only. Remove it when the result is safe.
    resume : go on from what `scratch` holds, if anything.

    Returns
    -------
    TwoSided, uint16 (float64 for recipe exact).

    Raises
    ------
    SolverError for sizes out of range, an unknown recipe, too little memory, a damaged or foreign scratch file.
    """
    check_size(points, chequers)
    if recipe == "exact":
        from bgfmt.solver.exact_two_sided import solve_exact

        return solve_exact(points, chequers, cubeful=cubeful, threads=threads, progress=progress)
    if recipe != "gnubg":
        raise SolverError(f"two-sided tables are made by recipe gnubg or exact, not {recipe!r}")
    n, columns = board.count(points, chequers), 4 if cubeful else 1
    planned = plan_two_sided(points, chequers, cubeful=cubeful, threads=threads)
    check_memory(planned.memory + (planned.output if out is None and planned.scratch else 0), planned.what)
    if out is None:
        out = np.empty((n, n, columns), np.uint16)
    if out.shape != (n, n, columns) or out.dtype != np.uint16:
        raise SolverError(f"out must be uint16 of shape {(n, n, columns)}, not {out.dtype} {out.shape}")
    flat = out.reshape(n, n * columns)
    order = pip_order(points, chequers)
    flat[0] = 0xFFFF
    flat[1:, :columns] = 0
    solve = Solve(order, columns, thread_count(threads))
    try:
        if scratch is None:
            _in_place(solve, flat, progress)
        else:
            from bgfmt.solver.scratch import Scratch

            with Scratch(Path(scratch), order, columns, resume=resume) as kept:
                _through_scratch(solve, kept, flat, progress)
    finally:
        solve.close()
    return TwoSided(
        points=points, chequers=chequers, equities=out, provenance="solved by bgfmt, recipe gnubg",
        extra={"recipe": "gnubg"},
    )  # fmt: skip


def done_after(cuts: Array, layer: int) -> int:
    """Pairs made once `layer` is finished."""
    n, end = int(cuts[-1]), int(cuts[layer + 1])
    return n * n - (n - end) ** 2


def _in_place(solve: Solve, flat: Array, progress: Progress | None) -> None:
    """Every record straight to its place in the table."""
    order = solve.order
    total, columns = order.n**2, solve.columns
    column_of = order.numbers * columns
    solve.first_layer()
    for layer in range(1, order.layers):
        solve.layer(layer, flat, order.numbers, column_of, flat, order.numbers, column_of)
        if progress is not None:
            progress(done_after(order.cuts, layer), total)


def _through_scratch(solve: Solve, kept: Scratch, flat: Array, progress: Progress | None) -> None:
    """Layer by layer into the scratch file, then row by row from there into the table."""
    order, columns = solve.order, solve.columns
    n, cuts = order.n, order.cuts
    total = n * n + n * n // MERGE_SHARE  # merging counts as some pairs more
    solve.first_layer()
    begin = kept.finished + 1
    kept.refill(solve)
    if progress is not None:
        progress(done_after(cuts, begin - 1), total)
    for layer in range(begin, order.layers):
        start, end = int(cuts[layer]), int(cuts[layer + 1])
        rows, strips = kept.open_layer(layer)
        here = np.arange(n, dtype=np.int64)
        solve.layer(
            layer, rows, here - start, (here - start) * columns, strips, here - end, (here - start) * columns
        )
        kept.close_layer(layer)
        if progress is not None:
            progress(done_after(cuts, layer), total)
    solve.pool = solve.turned = np.empty(0, np.int16)
    solve.near = []

    def merged(rows: int) -> None:
        if progress is not None:
            progress(n * n + rows * n // MERGE_SHARE, total)

    kept.merge(flat, solve.workers, merged)
