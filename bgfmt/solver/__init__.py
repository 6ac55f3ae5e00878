"""The solver: tables from the rules of the game alone. It knows no file formats.

Importing it does not import numba; solving does.

>>> from bgfmt import solver
>>> solver.one_sided(1, gammon=False).bearoff[2, :2].tolist()
[0, 65535]
"""

from __future__ import annotations

from bgfmt.solver.machine import Plan
from bgfmt.solver.one_sided import mean_rolls, one_sided
from bgfmt.solver.recipe import RECIPES, Recipe
from bgfmt.solver.registry import Solver, plan
from bgfmt.solver.two_sided import two_sided

__all__ = ["RECIPES", "Plan", "Recipe", "Solver", "mean_rolls", "one_sided", "plan", "two_sided"]
