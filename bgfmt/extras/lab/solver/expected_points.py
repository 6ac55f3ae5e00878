"""Expected points of both sides: the cubeless equities of the exact two-sided table, in float64 or millionths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from bgfmt.extras.lab.tables import millionths
from bgfmt.extras.lab.tables.expected_points import ExpectedPoints
from bgfmt.game import board
from bgfmt.solver import Plan, Recipe, Solver, registry, two_sided
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.registry import How
from bgfmt.tables import LazyRows


def expected_points(
    points: int,
    chequers: int,
    *,
    recipe: str | Recipe = "points",
    **how: Unpack[How],
) -> ExpectedPoints:
    """Expected points of every pair of sides on `points` points with 1 to `chequers` chequers each.

    v(us, them) = 1/36 of the sum over the rolls of the greatest of 1 (all off) and -v(them, result). Recipe
    ``points`` rounds to six decimals, halves up in magnitude; ``exact`` keeps float64. `how` as of
    `two_sided`; in a `room` they are rounded row by row.

    >>> expected_points(1, 3).worth[2].tolist()
    [-666667, -666667, 722222]
    """
    chosen = find_recipe(recipe, "expected-points")
    whole = two_sided(points, chequers, cubeful=False, recipe="exact", **how)
    worth: Any = np.asarray(whole.equities)[1:, 1:, 0]
    if chosen.rounded and how.get("room") is not None:
        values = worth
        worth = LazyRows(values.shape, "i4", lambda start, stop: millionths(values[start:stop]))
    elif how.get("room") is None:
        worth = millionths(worth) if chosen.rounded else np.ascontiguousarray(worth)
    return ExpectedPoints(
        points=points, chequers=chequers, worth=worth, recipe=chosen.name,
        provenance=f"solved by bgfmt, recipe {chosen.name}", release=whole.release,
    )  # fmt: skip


class ExpectedPointsSolver(Solver):
    """Expected points, from the exact two-sided table."""

    name = kind = "expected-points"
    unit = " pairs"
    function = staticmethod(expected_points)
    maps = True

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        size = self.points, self.chequers
        pairs: Any = registry.solver_of("two-sided", *size, cubeful=False, recipe="exact")
        whole: Plan = pairs.plan(threads, memory)
        n = board.count(*size) - 1
        output = 64 + (2 * self.points + 12) * n * n if self.recipe.rounded else 8 * n * n
        what = f"expected points {self.points}x{self.chequers}, recipe {self.recipe.name}"
        more = 0 if memory is not None else 12 * n * n
        return replace(whole, what=what, positions=n * n, memory=whole.memory + more, output=output)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(self.points, self.chequers) - 1
        return {"worth": ((n, n), np.dtype("<i4" if self.recipe.rounded else "<f8"))}

    def solve(self, **how: Any) -> ExpectedPoints:
        return expected_points(self.points, self.chequers, recipe=self.recipe, **how)
