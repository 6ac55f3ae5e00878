"""How far stored numbers are from the truth: the exact recipe, and for small tables rational arithmetic.

Errors are stored less true: in equity for two-sided tables, in rolls (of the mean) for one-sided ones. Pairs in which
a side has no chequers left are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table, TwoSided


def measure(table: Table, *, threads: int | None = None) -> dict[str, Any]:
    """Greatest and mean error of the stored numbers, worst positions, and wrong cube decisions.

    Raises SolverError where the truth does not fit into memory.
    """
    from bgfmt.verifier.measuring import one_sided, two_sided

    ways: dict[str, Callable[[Any, int | None], dict[str, Any]]] = {
        TwoSided.kind: two_sided.measure,
        OneSided.kind: one_sided.measure,
        NormalOneSided.kind: one_sided.measure,
        MeanRolls.kind: one_sided.measure,
    }
    if table.kind not in ways:
        return {"note": f"no exact recipe for {table.kind} tables"}
    return ways[table.kind](table, threads)
