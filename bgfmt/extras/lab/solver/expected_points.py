"""Expected points of both sides: the cubeless equities of the exact two-sided table, in float64 or millionths."""

from __future__ import annotations

import numpy as np

from bgfmt.extras.lab.tables.expected_points import millionths
from bgfmt.solver.executor import Executor
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.two_sided import two_sided
from bgfmt.solver.waves import Progress
from bgfmt.tables import ExpectedPoints


def expected_points(
    points: int,
    chequers: int,
    *,
    recipe: str | Recipe = "points",
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ExpectedPoints:
    """Expected points of every pair of sides on `points` points with 1 to `chequers` chequers each.

    v(us, them) = 1/36 of the sum over the rolls of the greatest of 1 (all off) and -v(them, result). Recipe
    ``points`` rounds to six decimals, halves up in magnitude; ``exact`` keeps float64.

    >>> expected_points(1, 3).worth[2].tolist()
    [-666667, -666667, 722222]
    """
    chosen = find_recipe(recipe, "expected-points")
    how = {"threads": threads, "executor": executor, "progress": progress}
    whole = two_sided(points, chequers, cubeful=False, recipe="exact", **how)  # type: ignore[arg-type]
    worth = np.ascontiguousarray(np.asarray(whole.equities)[1:, 1:, 0])
    return ExpectedPoints(
        points=points, chequers=chequers, worth=millionths(worth) if chosen.rounded else worth,
        recipe=chosen.name, provenance=f"solved by bgfmt, recipe {chosen.name}",
    )  # fmt: skip
