"""Gillogly's table in float64, made when it is first asked for."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables.gillogly import domain_ids


@cache
def gillogly() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(ids (4853,), rows (4853, 9)): gnubg's position numbers of the union, with ENR and P(1)..P(8)."""
    from bgfmt import solver

    rows = np.asarray(solver.gillogly("union", recipe="exact").rows, np.float64)
    rows.setflags(write=False)
    return domain_ids("union"), rows
