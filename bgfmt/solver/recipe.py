"""Recipes: the choices on which the bytes of a table depend, named and documented.

Two programs that both play to need the fewest rolls still write different files: they round differently, break
ties differently, and ask different things of the gammon part. A recipe is one such set of choices.

>>> recipe("bgsage").tie
'lexicographic'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bgfmt.errors import SolverError


@dataclass(frozen=True)
class Recipe:
    """The choices behind a table.

    tie : which of equally good plays is taken: the one ``first`` met when the larger die is played first and the
        highest points first, or the ``lexicographic`` least by chequers on point 1, then point 2, ...
    remainder : what rounding leaves of 65535 goes to the first most likely roll: most likely among the rounded
        numbers (``rounded``) or among the sums before the division by 36 (``sums``). ``none``: floats, no remainder.
    gammon : the plays of the gammon distribution: those that ``save`` the gammon soonest, or those of the ``race``.
    rounded : numbers are rounded to integers at every position, as files hold them; False keeps float64.
    """

    name: str
    tie: Literal["first", "lexicographic"]
    remainder: Literal["rounded", "sums", "none"]
    gammon: Literal["save", "race"]
    rounded: bool
    summary: str


RECIPES = {
    r.name: r
    for r in (
        Recipe("gnubg", "first", "rounded", "save", True, "GNU Backgammon's makebearoff, to the byte"),
        Recipe(
            "bgsage",
            "lexicographic",
            "sums",
            "race",
            True,
            "the one-sided file that bgsage ships, to the byte",
        ),
        Recipe(
            "exact",
            "first",
            "none",
            "save",
            False,
            "float64 throughout, nothing rounded to a file's integers",
        ),
    )
}


def recipe(name: str | Recipe) -> Recipe:
    """The recipe of this name; SolverError names the known ones when there is none."""
    if isinstance(name, Recipe):
        return name
    if name not in RECIPES:
        raise SolverError(f"no recipe named {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]
