"""The solver of a guest's kind of table."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.solver import Plan, Solver
from bgfmt_guest.fewest import Fewest, solve


class FewestSolver(Solver):
    """The fewest rolls, by a guest."""

    name = kind = "fewest-rolls"

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        n = self.table_size
        return self.limit_memory(Plan("fewest rolls", n, 0.1, 100 * n, 8 + n), memory)

    @property
    def table_size(self) -> int:
        """Its positions."""
        return solve(self.points, self.chequers).positions

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        return {"rolls": ((self.table_size,), np.dtype("u1"))}

    def solve(self, **how: Any) -> Fewest:
        return solve(self.points, self.chequers)
