"""The truth to measure against: the solver's exact recipe."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import OneSided

Array = NDArray[Any]


def two_sided_truth(points: int, chequers: int, cubeful: bool, threads: int | None) -> Array:
    """(n, n, 4 or 1) float64 equities."""
    from bgfmt import solver

    table = solver.two_sided(points, chequers, cubeful=cubeful, recipe="exact", threads=threads)
    return np.asarray(table.equities)


def one_sided_truth(table: OneSided, threads: int | None) -> dict[str, Array]:
    """Distributions, float64, by the names of the table's arrays."""
    from bgfmt import solver

    solved = solver.one_sided(
        table.points,
        chequers=table.chequers,
        gammon=table.gammon is not None,
        recipe="exact",
        threads=threads,
    )
    return {name: np.asarray(rows) for name, rows in solved.arrays().items()}
