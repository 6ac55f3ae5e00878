"""A solve as data: which table, by which recipe; what it will take; and the way to the solver that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bgfmt.extras.lab.solver.expected_points import expected_points
from bgfmt.extras.lab.solver.gillogly import gillogly
from bgfmt.extras.lab.tables.gillogly import domain_of
from bgfmt.game import board
from bgfmt.solver.executor import Executor
from bgfmt.solver.mean_rolls import mean_rolls
from bgfmt.solver.one_sided import ROLLS, check_heuristic, one_sided
from bgfmt.solver.plan import Plan, plan
from bgfmt.solver.recipe import RECIPES, Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.two_sided import two_sided
from bgfmt.solver.waves import Progress
from bgfmt.tables import Gillogly, Table


@dataclass(frozen=True)
class Job:
    """A table to be made: `kind` as `bgfmt.tables.KINDS` has it. `job` makes a checked one."""

    kind: str
    points: int
    chequers: int
    recipe: Recipe
    gammon: bool = True
    cubeful: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """What the solver of this kind and `plan` are told besides the size."""
        own = {"one-sided": {"gammon": self.gammon}, "two-sided": {"cubeful": self.cubeful}}
        return {"recipe": self.recipe, **own.get(self.kind, {})}

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and dtype of each array of the table, by name."""
        n = board.count(self.points, self.chequers)
        number = np.dtype("<u2" if self.recipe.rounded else "<f8")
        if self.kind == "one-sided":
            names = ("bearoff", "gammon") if self.gammon else ("bearoff",)
            return dict.fromkeys(names, ((n, ROLLS), number))
        if self.kind == "normal-distribution":
            return {"moments": ((n, 4), np.dtype("<f4"))}
        if self.kind == "two-sided":
            return {"equities": ((n, n, 4 if self.cubeful else 1), number)}
        if self.kind == "bkg":
            rows, columns = Gillogly.rules(self.points, self.chequers)[0].shapes[0]
            assert rows is not None
            assert columns is not None
            return {"rows": ((rows, columns), np.dtype("<u4" if self.recipe.rounded else "<f8"))}
        if self.kind == "expected-points":
            return {"worth": ((n - 1, n - 1), np.dtype("<i4" if self.recipe.rounded else "<f8"))}
        return {"means": ((n,), np.dtype("<f8"))}

    def table(self, arrays: Mapping[str, Any]) -> Table:
        """The table over these arrays."""
        policy: dict[str, Any] = {}
        if self.kind == "one-sided" and self.recipe.gammon == "race":
            policy["gammon_policy"] = "race"
        from bgfmt.tables import KINDS

        return KINDS[self.kind](
            points=self.points, chequers=self.chequers, recipe=self.recipe.name,
            provenance=f"solved by bgfmt, recipe {self.recipe.name}", **policy, **arrays,
        )  # fmt: skip

    def plan(self, threads: int | None = None) -> Plan:
        """What it will take."""
        return plan(self.kind, self.points, self.chequers, threads=threads, **self.options)

    def solve(
        self,
        *,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: Progress | None = None,
        **more: Any,
    ) -> Table:
        """Make the table in memory; `more` as the solver of this kind takes it."""
        how: dict[str, Any] = {"threads": threads, "executor": executor, "progress": progress, **more}
        if self.kind == "two-sided":
            return two_sided(self.points, self.chequers, **self.options, **how)
        if self.kind == "bkg":
            return gillogly(domain_of(self.chequers), **self.options, **how)
        if self.kind == "expected-points":
            return expected_points(self.points, self.chequers, **self.options, **how)
        if self.kind == "mean-rolls":
            return mean_rolls(self.points, self.chequers, **self.options, **how)
        normal = self.kind == "normal-distribution"
        return one_sided(self.points, chequers=self.chequers, normal=normal, **self.options, **how)


def job(
    kind: str,
    points: int,
    chequers: int,
    *,
    recipe: str | Recipe | None = None,
    gammon: bool = True,
    cubeful: bool = True,
) -> Job:
    """A solve that there is a solver for; SolverError otherwise. Without `recipe` the first that makes this kind.

    >>> job("mean-rolls", 6, 15).recipe.name
    'exact'
    """
    first = next((r for r in RECIPES.values() if kind in r.kinds), "gnubg")
    chosen = find_recipe(recipe or first, kind)
    check_heuristic(points, chosen)
    made = Job(kind, points, chequers, chosen, gammon and chosen.gammon != "none", cubeful)
    made.plan()  # refuses sizes that there is no solver for
    return made
