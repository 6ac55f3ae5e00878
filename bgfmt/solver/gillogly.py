"""Gillogly's table: a part of the exact one-sided table of six points, in float64 or rounded to millionths."""

from __future__ import annotations

import numpy as np

from bgfmt.solver.executor import Executor
from bgfmt.solver.one_sided import ExactMeans, one_sided
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.waves import Progress
from bgfmt.tables import Gillogly, OneSided
from bgfmt.tables.gillogly import CHEQUERS, ROLLS, Domain, domain_ids, millionths


def gillogly(
    domain: Domain = "union",
    *,
    recipe: str | Recipe = "bkg",
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Gillogly:
    """ENR and P(1)..P(8) under the play of least expected rolls, of every position of a domain.

    Recipe ``bkg`` rounds to six decimals, halves up, as the text file has them (no value lies on a half); ``exact``
    keeps float64. Which of equally good plays is taken never changes a number: in every tie within the domain the
    distributions are the same.

    >>> from bgfmt.game.board import Side
    >>> gillogly("intersection").lookup(Side(0, 2)).mean_rolls
    1.277778
    """
    chosen = find_recipe(recipe, "bkg")
    whole = one_sided(6, gammon=False, recipe="exact", threads=threads, executor=executor, progress=progress)
    assert isinstance(whole, OneSided)
    means = whole.record(ExactMeans)
    assert means is not None
    ids = domain_ids(domain)
    rows = np.concatenate([means.means[ids, None], np.asarray(whole.bearoff)[ids, 1 : 1 + ROLLS]], axis=1)
    return Gillogly(
        points=6, chequers=CHEQUERS[domain], rows=millionths(rows) if chosen.rounded else rows,
        recipe=chosen.name, provenance=f"solved by bgfmt, recipe {chosen.name}",
    )  # fmt: skip
