"""The two-sided solver: pip layer by pip layer, each pair of sides once.

Positions are numbered by pips, so that every play goes to a smaller number and the positions of one pip count, a
layer, cannot reach each other. A pair (u, t) belongs to the lower of the two layers L. Two steps make all pairs of
layer L, each of independent blocks, so that who makes them cannot change a value:

across  u in L, t in L or beyond. u wants, roll by roll, the greatest turned value F(t, j) over its results j, all
        in lower layers.
down    t in L, u beyond. F(t, j) is known for j below L from earlier layers and for j from L on from the step
        before.

Both are squares of a block of u's and a block of t's of one layer each. The values F(t, j) of a block of t's lie side
by side, j by j, so that the maxima run across the block; what is made lies as it must for later layers once the
square is turned over.

Only rows of the last 24 layers are needed at a time, and of row j only what lies beyond j's layer. The arithmetic
is that of docs/theory/two-sided.md, 16-bit integers throughout.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.solver.exact_two_sided import ExactPairs
from bgfmt.solver.executor import Calls, Executor, executing
from bgfmt.solver.layers import PipOrder, pip_order
from bgfmt.solver.machine import check_memory
from bgfmt.solver.merge import Merge
from bgfmt.solver.pairs import InPlace, Pairs
from bgfmt.solver.plan import plan_two_sided
from bgfmt.solver.pool import Pool
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.scratch import Scratch
from bgfmt.solver.waves import Progress
from bgfmt.storage import PathLike
from bgfmt.storage.sink import MemorySink, Sink
from bgfmt.tables import TwoSided

Array = NDArray[Any]


def two_sided(
    points: int,
    chequers: int,
    *,
    cubeful: bool = True,
    recipe: str | Recipe = "gnubg",
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    out: Array | None = None,
    scratch: PathLike | Scratch | None = None,
    resume: bool = False,
    sink: Sink | None = None,
) -> TwoSided:
    """Solve the two-sided table of up to `chequers` chequers on `points` points.

    Parameters
    ----------
    points, chequers : 1..12 points, 1..15 chequers.
    cubeful : all four equities, or the cubeless one alone.
    recipe : ``gnubg``, the integers of makebearoff, or ``exact``, float64 equities with nothing rounded.
    threads : how many to use, all cores when None. The values do not depend on it.
    executor : who makes the blocks instead of threads; see `bgfmt.solver.executor`.
    progress : called as ``progress(done, total)`` with pairs of positions.
    out : (n, n, 4 or 1) uint16 to fill, such as the body of a mapped file; made when None.
    scratch : a file that keeps finished layers with checksums, so that an ended run can go on; the result is
        merged from it and memory holds the last 24 layers only. It is locked while it is in use and stays at the
        end: remove it when the result is safe, or give an open `Scratch` and call its `remove`.
    resume : go on from what the file `scratch` holds, if anything.
    sink : the file in which `out` lies, so that rows are written to it rather than through its map.

    Returns
    -------
    TwoSided, uint16 (float64 for recipe exact).

    Raises
    ------
    ScratchError for a scratch file in use, damaged, or of something else; SolverError for sizes out of range, an
    unknown recipe, too little memory, or a table that does not add up to what was solved.
    """
    chosen = find_recipe(recipe, "two-sided")
    planned = plan_two_sided(points, chequers, cubeful=cubeful, recipe=chosen, threads=threads)
    held = planned.output if out is None and planned.scratch else 0
    check_memory(planned.memory + held, planned.what)
    n, columns = board.count(points, chequers), 4 if cubeful else 1
    with executing(executor, threads) as workers:
        if not chosen.rounded:
            if out is not None or scratch is not None:
                raise SolverError(f"tables of recipe {chosen.name} are made in memory only")
            made = ExactPairs(pip_order(points, chequers), columns).solve(workers, progress)
            return _table(points, chequers, made, chosen)
        if out is None:
            out = np.empty((n, n, columns), np.uint16)
        if out.shape != (n, n, columns) or out.dtype != np.uint16:
            raise SolverError(f"out must be uint16 of shape {(n, n, columns)}, not {out.dtype} {out.shape}")
        flat = out.reshape(n, n * columns)
        if scratch is None:
            _in_place(pip_order(points, chequers), columns, flat, workers, progress)
        elif isinstance(scratch, Scratch):
            if (scratch.points, scratch.chequers, scratch.columns) != (points, chequers, columns):
                raise SolverError(f"{scratch.path}: opened for another table")
            _through_scratch(scratch, flat, sink or MemorySink(), workers, progress)
        else:
            facts: Any = {"cubeful": cubeful, "recipe": chosen.name, "resume": resume}
            with Scratch(scratch, points, chequers, **facts) as kept:
                _through_scratch(kept, flat, sink or MemorySink(), workers, progress)
    return _table(points, chequers, out, chosen)


def _table(points: int, chequers: int, equities: Array, recipe: Recipe) -> TwoSided:
    return TwoSided(
        points=points, chequers=chequers, equities=equities, recipe=recipe.name,
        provenance=f"solved by bgfmt, recipe {recipe.name}",
    )  # fmt: skip


def done_after(cuts: Array, layer: int) -> int:
    """Pairs made once `layer` is finished."""
    n, end = int(cuts[-1]), int(cuts[layer + 1])
    return n * n - (n - end) ** 2


def _in_place(
    order: PipOrder, columns: int, flat: Array, executor: Executor, progress: Progress | None
) -> None:
    """Every record straight to its place in the table."""
    flat[0] = 0xFFFF
    flat[1:, :columns] = 0
    pool = Pool(order.cuts, columns)
    pairs = Pairs(order, pool, InPlace(pool, order, flat))
    for layer in range(1, order.layers):
        pairs.layer(layer, executor)
        if progress is not None:
            progress(done_after(order.cuts, layer), order.n**2)


def _through_scratch(
    kept: Scratch, flat: Array, sink: Sink, executor: Executor, progress: Progress | None
) -> None:
    """Layer by layer into the scratch file; a layer's rows of the table are whole then, and go where they belong."""
    order = kept.order

    def told(layer: int) -> None:
        if progress is not None:
            progress(done_after(order.cuts, layer), order.n**2)

    pairs = Pairs(order, kept.pool, kept)
    kept.refill(pairs)
    merge = Merge(kept, flat, sink)
    for layer in range(kept.finished + 1):
        executor.run(Calls(), merge.rows(layer))
        merge.finish()
    told(kept.finished)
    for layer in range(kept.finished + 1, order.layers):
        kept.open_layer()
        pairs.layer(layer, executor, [partial(merge.ahead, layer)], merge.rows(layer))
        merge.finish()
        kept.close_layer(layer, sink)
        told(layer)
    kept.wait()
