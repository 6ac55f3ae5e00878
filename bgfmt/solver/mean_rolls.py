"""Mean rolls under least-mean play, in float64: the table of Peelle's J database `bgns.ijf`, bit for bit."""

from __future__ import annotations

import numpy as np

from bgfmt.game import board
from bgfmt.solver.executor import Executor, executing
from bgfmt.solver.machine import check_memory
from bgfmt.solver.one_sided import check_size, exact_means
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.waves import Layers, Progress, Sweep
from bgfmt.tables import MeanRolls


def mean_rolls(
    points: int = 6,
    chequers: int = 15,
    *,
    recipe: str | Recipe = "exact",
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> MeanRolls:
    """Least expected number of rolls to bear off every position of up to `chequers` chequers on `points` points.

    value = 1 + (sum over the 36 rolls of the least value reachable) / 36 in doubles, added in the order of J 9.7
    (eight running sums of four lanes). Any other order changes last bits.

    Returns
    -------
    MeanRolls with `means` of shape (n,), float64, in order of position number.

    >>> mean_rolls(6, 1).means[6]
    np.float64(1.25)
    """
    chosen = find_recipe(recipe, "mean-rolls")
    check_size(points, chequers)
    n = board.count(points, chequers)
    layers = Layers(points, chequers)
    check_memory(8 * n + 228 * layers.records, "this table")
    with executing(executor, threads) as workers:
        means = exact_means(layers, Sweep(workers, n - 1, progress), np.zeros((0, 0)))
    return MeanRolls(
        points=points, chequers=chequers, means=means, recipe=chosen.name,
        provenance=f"solved by bgfmt, recipe {chosen.name}",
    )  # fmt: skip
