"""Solvers of the lab: Gillogly's table and expected points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.extras.lab import tables
from bgfmt.game import board
from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.game.results import Array
from bgfmt.solver import Plan, Recipe, Solver, mean_rolls, plan, registry, two_sided
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers
from bgfmt.tables import LazyRows

# -- Gillogly's table --------------------------------------------------------------------------------------


BKG = Recipe("bkg", "Gillogly's table for BKG (1977), to six decimals")
EXPECTED_POINTS = Recipe("points", "the 2011 blog's expected points, to six decimals")

MAX_ROLLS = 16  # rolls of the longest bear-off in the union


class GilloglySolver(Solver):
    """The solver of Gillogly's table: 15 chequers for the union of its conditions, 8 for the intersection.

    Play is for the fewest expected rolls. How ties between plays are broken does not change any number: within the
    domain equally good plays have the same distribution. Recipe "bkg" rounds to six decimals, halves up, as the text
    file has them (no value lies on a half); "exact" has the correctly rounded doubles.
    """

    name = kind = "bkg"
    recipes = ("bkg", "exact")

    @property
    def ids(self) -> Array:
        """Position numbers of the sides of the table."""
        return tables.domain_ids(tables.domain_of(self.chequers))

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """Return a plan of the solve: expected time, memory and size of the output.

        memory : limit in bytes, None for none. SolverError for another size than that of the two tables.
        """
        if refusal := tables.sizes(self.points, self.chequers):
            raise SolverError(refusal)
        whole = plan("one-sided", tables.POINTS, 15, gammon=False, recipe="exact", threads=threads)
        n = len(self.ids)
        output = 93 * n if self.recipe.rounded else 40 + 72 * n
        what = f"Gillogly's table, recipe {self.recipe.name}"
        return self.limit_memory(Plan(what, n, whole.seconds, whole.memory, output), memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Return the arrays of the table that is solved: {name: (shape, dtype)}."""
        return {
            "rows": ((len(self.ids), 1 + tables.ROLLS), np.dtype("<u4" if self.recipe.rounded else "<f8"))
        }

    def build_arrays(
        self, workers: Workers, progress: Progress | None, zeros: Any, out: Any
    ) -> dict[str, Any]:
        """Solve the table and return its arrays by name.

        zeros, out : not used.
        """
        means = np.asarray(mean_rolls(tables.POINTS, board.MAX_CHEQUERS, workers=workers).means)
        rows = _rows(self.ids, means, progress)
        return {"rows": tables.millionths(rows).astype(np.uint32) if self.recipe.rounded else rows}


def _rows(ids: Array, means: Array, progress: Progress | None) -> Array:
    """Return (n, 9) float64 rows of a domain that no play leaves.

    means : (54264,) expected rolls of all home positions. Ways are counted as integers, P(n) being N(n) / 36^n, and
    divided once, so that every number is correctly rounded.
    """
    counts = board.unrank_array(ids, tables.POINTS)
    mean = dict(zip(map(tuple, counts.tolist()), means[ids].tolist(), strict=True))
    ways_of = {(0,) * tables.POINTS: [1] + [0] * MAX_ROLLS}
    rows = np.zeros((len(ids), 1 + tables.ROLLS))
    order = np.argsort(counts @ np.arange(1, 1 + tables.POINTS), kind="stable")
    for done, k in enumerate(order[1:].tolist(), 1):  # after the empty side
        side = tuple(counts[k].tolist())
        ways = [0] * (1 + MAX_ROLLS)
        for roll in ROLLS:
            best = min(race_plays(side, roll.high, roll.low), key=mean.__getitem__)
            for n, many in enumerate(ways_of[best][:-1], 1):
                ways[n] += roll.weight * many
        ways_of[side] = ways
        whole = sum(n * many * 36 ** (MAX_ROLLS - n) for n, many in enumerate(ways))
        rows[k] = [whole / 36**MAX_ROLLS, *(ways[n] / 36**n for n in range(1, 1 + tables.ROLLS))]
        if progress is not None and done % 256 == 0:
            progress(done, len(ids))
    return rows


# -- expected points ---------------------------------------------------------------------------------------


class ExpectedPointsSolver(Solver):
    """The solver of expected points, which are the cubeless equities of the exact two-sided table.

    v(us, them) is 1/36 of the sum over the rolls of the greatest of 1 (all off) and -v(them, result). Recipe "points"
    rounds to six decimals, halves away from 0; "exact" keeps float64. With the option `room` (mapped files for the
    values) they are rounded row by row; the table is valid while it is open.
    """

    name = kind = "expected-points"
    recipes = ("points", "exact")
    unit = " pairs"
    supports_mapping = True

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """Return a plan of the solve: expected time, memory and size of the output."""
        size = self.points, self.chequers
        pairs: Any = registry.solver_of("two-sided", *size, cubeful=False, recipe="exact")
        whole: Plan = pairs.plan(threads, memory)
        n = board.count(*size) - 1
        output = 64 + (2 * self.points + 12) * n * n if self.recipe.rounded else 8 * n * n
        what = f"expected points {self.points}x{self.chequers}, recipe {self.recipe.name}"
        more = 0 if memory is not None else 12 * n * n
        return replace(whole, what=what, positions=n * n, memory=whole.memory + more, output=output)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Return the arrays of the table that is solved: {name: (shape, dtype)}."""
        n = board.count(self.points, self.chequers) - 1
        return {"worth": ((n, n), np.dtype("<i4" if self.recipe.rounded else "<f8"))}

    def solve(self, **how: Any) -> tables.ExpectedPoints:
        """Solve the exact two-sided table and return the table of expected points that follows from it."""
        whole = two_sided(self.points, self.chequers, cubeful=False, recipe="exact", **how)
        worth: Any = np.asarray(whole.equities)[1:, 1:, 0]
        values = worth
        if how.get("room") is None:
            worth = tables.millionths(worth) if self.recipe.rounded else np.ascontiguousarray(worth)
        elif self.recipe.rounded:
            worth = LazyRows(values.shape, "i4", lambda start, stop: tables.millionths(values[start:stop]))
        return self.table({"worth": worth, "release": whole.release})  # type: ignore[return-value]
