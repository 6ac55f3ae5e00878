"""Recipes: the choices on which the bytes of a table depend, named and documented.

Two programs that both play to need the fewest rolls still write different files: they round differently, break
ties differently, and ask different things of the gammon part. A recipe is one such set of choices; the solver looks
at the choices, never at the name.

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

    kinds : the kinds of table it makes, by name.
    tie : which of equally good plays is taken: the one ``first`` met when the larger die is played first and the
        highest points first, or the ``lexicographic`` least by chequers on point 1, then point 2, ...
    remainder : what rounding leaves of 65535 goes to the first most likely roll: most likely among the rounded
        numbers (``rounded``) or among the sums before the division by 36 (``sums``).
    gammon : the plays of the gammon distribution: those that ``save`` the gammon soonest, or those of the ``race``;
        ``none``: there is no such distribution.
    play : how a roll is played: for the fewest rolls (``best``), or by gnubg's fixed rule, in two versions; see
        `bgfmt.solver.one_sided.by_fixed_rule`.
    rounded : numbers are rounded to integers at every position, as files hold them; False keeps float64.
    divisor : the fewest rolls are those of the rounded numbers (0), or the sums of 36 rolls divided by this number,
        truncated.
    """

    name: str
    kinds: tuple[str, ...]
    summary: str
    tie: Literal["first", "lexicographic"] = "first"
    remainder: Literal["rounded", "sums"] = "rounded"
    gammon: Literal["save", "race", "none"] = "save"
    play: Literal["best", "look-ahead", "fixed"] = "best"
    rounded: bool = True
    divisor: int = 0


_ONE = ("one-sided",)
_GAMMONS = ("two-sided-gammons", "two-sided-jacoby")
_EXACT = ("one-sided", "two-sided", *_GAMMONS, "mean-rolls", "match", "bkg", "expected-points", "hypergammon")
_RULE = "what GNU Backgammon plays by where it finds no database: a fixed rule; 6 points"
_OLD_RULE = "the same of releases from 2009 to 1.00, which did not look ahead"
_ALL = (
    Recipe(
        "gnubg",
        ("one-sided", "normal-distribution", "two-sided", "hypergammon"),
        "GNU Backgammon's makebearoff and makehyper, to the byte",
    ),
    Recipe(
        "bgsage", _ONE, "the one-sided file that bgsage ships, to the byte", "lexicographic", "sums", "race"
    ),
    Recipe("bkg", ("bkg",), "Gillogly's table for BKG (1977), to six decimals"),
    Recipe("points", ("expected-points",), "the 2011 blog's expected points, to six decimals"),
    Recipe("match", ("match",), "match winning chances in float32, sums in float64"),
    Recipe("gammons", _GAMMONS, "equities in 16383ths, rounded to the nearest"),
    Recipe("exact", _EXACT, "float64 throughout, nothing rounded to a file's integers", rounded=False),
    Recipe("gnubg-heuristic", _ONE, _RULE, gammon="none", play="look-ahead"),
    Recipe("gnubg-heuristic-2009", _ONE, _OLD_RULE, gammon="none", play="fixed"),
)
RECIPES = {r.name: r for r in _ALL}


def first_recipe(kind: str) -> str:
    """The recipe that makes tables of a kind where none is named."""
    return _makers(kind)[0].name


def _makers(kind: str) -> list[Recipe]:
    """The recipes that make tables of a kind: of one that no recipe names, ``exact``."""
    return [r for r in _ALL if kind in r.kinds] or [RECIPES["exact"]]


def recipe(name: str | Recipe, kind: str | None = None) -> Recipe:
    """The recipe of this name, for tables of this kind; SolverError names the known ones when there is none."""
    chosen = RECIPES.get(name) if isinstance(name, str) else name
    if chosen is None:
        raise SolverError(f"no recipe named {name!r}; there are {', '.join(RECIPES)}")
    if kind is None or kind in chosen.kinds or chosen in _makers(kind):
        return chosen
    makers = " or ".join(r.name for r in _makers(kind))
    raise SolverError(f"{kind} tables are made by recipe {makers}, not by {chosen.name}")
