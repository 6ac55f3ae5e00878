"""Gillogly's table: expected rolls and eight chances of a part of the home board, in millionths or in doubles.

The play of each roll is found in float64; then chances are counted in whole numbers, P(n) being N(n) / 36^n, and
divided once, so that every double is the one nearest to the exact number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.extras.lab.tables import millionths
from bgfmt.extras.lab.tables.gillogly import CHEQUERS, POINTS, Domain, Gillogly, domain_ids, domain_of
from bgfmt.extras.lab.tables.gillogly import ROLLS as COLUMNS
from bgfmt.game import board
from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.solver import Plan, Recipe, Solver, mean_rolls, plan
from bgfmt.solver.recipe import recipe as find_recipe

Array = NDArray[Any]
Progress = Callable[[int, int], None]
LONGEST = 16  # rolls of the longest bear-off in the union


def gillogly(
    domain: Domain = "union",
    *,
    recipe: str | Recipe = "bkg",
    threads: int | None = None,
    workers: Any = None,
    progress: Progress | None = None,
) -> Gillogly:
    """ENR and P(1)..P(8) under the play of least expected rolls, of every position of a domain.

    Recipe ``bkg`` rounds to six decimals, halves up, as the text file has them (no value lies on a half); ``exact``
    has the doubles nearest to the exact numbers. Which of equally good plays is taken never changes a number: in
    every tie within the domain the distributions are the same.

    >>> from bgfmt.game.board import Side
    >>> gillogly("intersection").lookup(Side(0, 2)).mean_rolls
    1.277778
    """
    chosen = find_recipe(recipe, "bkg")
    means = np.asarray(mean_rolls(POINTS, board.MAX_CHEQUERS, threads=threads, workers=workers).means)
    rows = _rows(domain_ids(domain), means, progress)
    return Gillogly(
        points=POINTS, chequers=CHEQUERS[domain], rows=millionths(rows).astype(np.uint32) if chosen.rounded else rows,
        recipe=chosen.name, provenance=f"solved by bgfmt, recipe {chosen.name}",
    )  # fmt: skip


def _rows(ids: Array, means: Array, progress: Progress | None) -> Array:
    """(n, 9) float64 of a domain that play does not leave, from the mean rolls of all home positions."""
    counts = [tuple(row) for row in board.unrank_array(ids, POINTS).tolist()]
    mean = dict(zip(counts, means[ids].tolist(), strict=True))
    order = sorted(range(len(ids)), key=lambda k: sum(i * c for i, c in enumerate(counts[k], 1)))
    ways_of: dict[tuple[int, ...], list[int]] = {}
    rows = np.zeros((len(ids), 1 + COLUMNS))
    for done, k in enumerate(order, 1):
        side, ways = counts[k], [0] * (LONGEST + 2)
        if not any(side):
            ways[0] = 1
        else:
            for roll in ROLLS:
                best = min(race_plays(side, roll.high, roll.low), key=mean.__getitem__)
                for n, many in enumerate(ways_of[best][:-1]):
                    ways[n + 1] += roll.weight * many
        ways_of[side] = ways
        whole = sum(n * many * 36 ** (LONGEST - n) for n, many in enumerate(ways[: LONGEST + 1]))
        rows[k, 0] = whole / 36**LONGEST
        rows[k, 1:] = [ways[n] / 36**n for n in range(1, 1 + COLUMNS)]
        if progress is not None and done % 256 == 0:
            progress(done, len(ids))
    return rows


class GilloglySolver(Solver):
    """The union of the two conditions of the domain by 15 chequers, the intersection by 8."""

    name = kind = "bkg"
    function = staticmethod(gillogly)

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        if self.points != POINTS or self.chequers not in CHEQUERS.values():
            raise SolverError(
                f"BKG's table has 6 points and 15 chequers (union) or 8, not {self.points} and {self.chequers}"
            )
        whole = plan("one-sided", POINTS, 15, gammon=False, recipe="exact", threads=threads)
        n = len(domain_ids(domain_of(self.chequers)))
        output = 93 * n if self.recipe.rounded else 40 + 72 * n
        what = f"Gillogly's table, recipe {self.recipe.name}"
        return self.in_memory(Plan(what, n, whole.seconds, whole.memory, output), memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        rows, columns = Gillogly.rules(self.points, self.chequers)[0].shapes[0]
        assert rows is not None
        assert columns is not None
        return {"rows": ((rows, columns), np.dtype("<u4" if self.recipe.rounded else "<f8"))}

    def solve(self, **how: Any) -> Gillogly:
        return gillogly(domain_of(self.chequers), recipe=self.recipe, **how)
