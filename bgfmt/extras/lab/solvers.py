"""Solvers of the lab: Gillogly's table and expected points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.extras.lab import tables
from bgfmt.game import board
from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.game.results import Array
from bgfmt.solver import Plan, Recipe, Solver, mean_rolls, plan, registry, two_sided
from bgfmt.solver.registry import SolveOptions
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers
from bgfmt.tables import LazyRows

# -- Gillogly's table --------------------------------------------------------------------------------------


BKG = Recipe("bkg", "Gillogly's table for BKG (1977), to six decimals")
EXPECTED_POINTS = Recipe("points", "the 2011 blog's expected points, to six decimals")

MAX_ROLLS = 16  # rolls of the longest bear-off in the union


def gillogly(
    domain: tables.Domain = "union", *, recipe: str | Recipe = "bkg", **how: Unpack[SolveOptions]
) -> tables.Gillogly:
    """Solve Gillogly's table: expected rolls, and probabilities of exactly 1 to 8 rolls, of some home positions.

    Play is for the fewest expected rolls. How ties between plays are broken does not change any number: within the
    domain equally good plays have the same distribution.

    domain : "union", sides of up to 8 chequers or up to 25 pips, or "intersection", both. recipe : "bkg" rounds to
    six decimals, halves up, as the text file has them (no value lies on a half); "exact" has the correctly rounded
    doubles.

    >>> from bgfmt.game.board import Side
    >>> gillogly("intersection").lookup(Side(0, 2)).mean_rolls
    1.277778
    """
    return GilloglySolver(tables.POINTS, tables.CHEQUERS[domain], recipe=recipe).solve(**how)  # type: ignore[no-any-return]


class GilloglySolver(Solver):
    """The solver of Gillogly's table: 15 chequers for the union of its conditions, 8 for the intersection."""

    name = kind = "bkg"
    recipes = ("bkg", "exact")

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """Return a plan of the solve: expected time, memory and size of the output.

        memory : limit in bytes, None for none. SolverError for another size than that of the two tables.
        """
        if refusal := tables.sizes(self.points, self.chequers):
            raise SolverError(refusal)
        whole = plan("one-sided", tables.POINTS, 15, gammon=False, recipe="exact", threads=threads)
        n = len(tables.domain_ids(tables.domain_of(self.chequers)))
        output = 93 * n if self.recipe.rounded else 40 + 72 * n
        what = f"Gillogly's table, recipe {self.recipe.name}"
        return self.limit_memory(Plan(what, n, whole.seconds, whole.memory, output), memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Return the arrays of the table that is solved: {name: (shape, dtype)}."""
        shape = len(tables.domain_ids(tables.domain_of(self.chequers))), 1 + tables.ROLLS
        return {"rows": (shape, np.dtype("<u4" if self.recipe.rounded else "<f8"))}

    def build_arrays(
        self, workers: Workers, progress: Progress | None, zeros: Any, out: Any
    ) -> dict[str, Any]:
        """Solve the table and return its arrays by name.

        zeros, out : not used.
        """
        means = np.asarray(mean_rolls(tables.POINTS, board.MAX_CHEQUERS, workers=workers).means)
        rows = _rows(tables.domain_ids(tables.domain_of(self.chequers)), means, progress)
        return {"rows": tables.millionths(rows).astype(np.uint32) if self.recipe.rounded else rows}


def _rows(ids: Array, means: Array, progress: Progress | None) -> Array:
    """Return (n, 9) float64 rows of a domain that no play leaves.

    means : (54264,) expected rolls of all home positions. Ways are counted as integers, P(n) being N(n) / 36^n, and
    divided once, so that every number is correctly rounded.
    """
    counts = [tuple(row) for row in board.unrank_array(ids, tables.POINTS).tolist()]
    mean = dict(zip(counts, means[ids].tolist(), strict=True))
    order = sorted(range(len(ids)), key=lambda k: sum(i * c for i, c in enumerate(counts[k], 1)))
    ways_of: dict[tuple[int, ...], list[int]] = {}
    rows = np.zeros((len(ids), 1 + tables.ROLLS))
    for done, k in enumerate(order, 1):
        side = counts[k]
        ways = [0] * (MAX_ROLLS + 2)
        if not any(side):
            ways[0] = 1
        else:
            for roll in ROLLS:
                best = min(race_plays(side, roll.high, roll.low), key=mean.__getitem__)
                for n, many in enumerate(ways_of[best][:-1]):
                    ways[n + 1] += roll.weight * many
        ways_of[side] = ways
        whole = sum(n * many * 36 ** (MAX_ROLLS - n) for n, many in enumerate(ways[: MAX_ROLLS + 1]))
        rows[k] = [whole / 36**MAX_ROLLS, *(ways[n] / 36**n for n in range(1, 1 + tables.ROLLS))]
        if progress is not None and done % 256 == 0:
            progress(done, len(ids))
    return rows


# -- expected points ---------------------------------------------------------------------------------------


def expected_points(
    points: int, chequers: int, *, recipe: str | Recipe = "points", **how: Unpack[SolveOptions]
) -> tables.ExpectedPoints:
    """Solve the expected points of every pair of sides with 1 to `chequers` chequers each on `points` points.

    v(us, them) is 1/36 of the sum over the rolls of the greatest of 1 (all off) and -v(them, result): the cubeless
    equity of the exact two-sided table. Recipe "points" rounds to six decimals, halves away from 0; "exact" keeps
    float64. With the option `room` (mapped files for the values) they are rounded row by row; the table is valid
    while it is open.

    >>> expected_points(1, 3).worth[2].tolist()
    [-666667, -666667, 722222]
    """
    return ExpectedPointsSolver(points, chequers, recipe=recipe).solve(**how)


class ExpectedPointsSolver(Solver):
    """The solver of expected points, which come from the exact two-sided table."""

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
        if self.recipe.rounded and how.get("room") is not None:
            values = worth
            worth = LazyRows(values.shape, "i4", lambda start, stop: tables.millionths(values[start:stop]))
        elif how.get("room") is None:
            worth = tables.millionths(worth) if self.recipe.rounded else np.ascontiguousarray(worth)
        return self.table({"worth": worth, "release": whole.release})  # type: ignore[return-value]
