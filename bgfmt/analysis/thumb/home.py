"""Rolls of a home board in float64, made when first asked for: all positions, and those of Gillogly's table."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.tables.gillogly import ROLLS, domain_ids
from bgfmt.tables import OneSided

Floats = NDArray[np.float64]


@cache
def distributions() -> tuple[Floats, Floats]:
    """(means (54264,), chances (54264, 31)) by gnubg's position number: ENR, and P(1), P(2), ..., P(31)."""
    from bgfmt import solver
    from bgfmt.solver.one_sided import ExactMeans

    table = solver.one_sided(6, gammon=False, recipe="exact")
    assert isinstance(table, OneSided)
    means = table.record(ExactMeans)
    assert means is not None
    chances = np.asarray(table.bearoff)[:, 1:]
    for rows in (means.means, chances):
        rows.setflags(write=False)
    return means.means, chances


@cache
def gillogly() -> tuple[NDArray[np.int64], Floats]:
    """(ids (4853,), rows (4853, 9)): gnubg's position numbers of the union, with ENR and P(1)..P(8)."""
    means, chances = distributions()
    ids = domain_ids("union")
    rows = np.concatenate([means[ids, None], chances[ids, :ROLLS]], axis=1)
    rows.setflags(write=False)
    return ids, rows
