"""Recipes: the choices on which the bytes of a table depend, named and documented.

Two programs that both minimise the number of rolls still write different files: they round differently, break ties
differently, and treat the gammon part differently. A recipe is one such set of choices; the solver uses the choices,
never the name. Recipes are registered as entry points `bgfmt.recipes`; a solver names those it supports.

>>> RECIPES["bgsage"].tie
'lexicographic'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bgfmt.errors import SolverError, suggest_nearest
from bgfmt.tables.registry import Registry

__all__ = ["RECIPES", "Recipe", "choose_recipe"]


@dataclass(frozen=True)
class Recipe:
    """The choices that determine the numbers of a table.

    tie : which of equally good plays is taken: the ``first`` found when the larger die is played first and the
        highest points first, or the ``lexicographic`` least by chequers on point 1, then point 2, ...
    remainder : the rounding remainder to 65535 goes to the first most likely roll: most likely among the rounded
        numbers (``rounded``) or among the sums before the division by 36 (``sums``).
    gammon : the plays of the gammon distribution: those that ``save`` the gammon soonest, or those of the ``race``.
    rounded : numbers are rounded to integers at every position, as files hold them; False keeps float64.
    divisor : plays minimise the mean of the rounded numbers (0), or the sums of 36 rolls divided by this number,
        truncated.
    """

    name: str
    summary: str
    tie: Literal["first", "lexicographic"] = "first"
    remainder: Literal["rounded", "sums"] = "rounded"
    gammon: Literal["save", "race"] = "save"
    rounded: bool = True
    divisor: int = 0


GNUBG = Recipe("gnubg", "GNU Backgammon's makebearoff and makehyper, to the byte")
BGSAGE = Recipe(
    "bgsage", "the one-sided file that bgsage ships, to the byte", "lexicographic", "sums", "race"
)
MATCH = Recipe("match", "match winning probabilities in float32, sums in float64")
GAMMONS = Recipe("gammons", "equities in 16383ths, rounded to the nearest")
EXACT = Recipe("exact", "float64 throughout, nothing rounded to a file's integers", rounded=False)
RECIPES: Registry[Recipe] = Registry("bgfmt.recipes")


def choose_recipe(named: str | Recipe | None, known: Sequence[str], kind: str) -> Recipe:
    """Return the recipe (algorithm and rounding of one program) by which a table is solved.

    named : a name; a recipe, which is returned unchanged; or None for the first of `known`.
    known : names of the recipes that `kind` tables support.

    Raises SolverError for a name that is not known.
    """
    if isinstance(named, Recipe):
        return named
    name = named or known[0]
    if name not in RECIPES:
        near = suggest_nearest(name, RECIPES)
        raise SolverError(f"no recipe {name!r}{near}; known: {', '.join(RECIPES)}")
    if name not in known:
        raise SolverError(f"{kind} tables can only be solved by recipe {' or '.join(known)}, not by {name}")
    return RECIPES[name]
