"""The recipes that files are proved under: name, kind of table, and who makes such files. A recipe is one entry.

How each is held against a table is told in `bgfmt.verifier.proofs`, by kind.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """A rule with a name. `title` says in words whose it is; `source` where the rule was taken from."""

    name: str
    kind: str
    title: str
    source: str


#: one entry a recipe; a name may serve several kinds of table
RECIPES = (
    Recipe("gnubg", "one-sided", "GNU Backgammon's makebearoff", "files of makebearoff 1.07"),
    Recipe("bgsage", "one-sided", "the file that bgsage ships", "the file of PyPI bgsage 2.0"),
    Recipe(
        "gnubg-float", "one-sided", "makebearoff's rule in floats, exact halves rounded either way",
        "a program that divides floats by 36",
    ),
    Recipe(
        "bgsage-float", "one-sided", "bgsage's rule in floats, exact halves rounded either way, as its own "
        "generate() leaves it", "BearoffDB().generate() of PyPI bgsage 2.0",
    ),
    Recipe(
        "gnubg-2001", "one-sided", "GNU Backgammon before November 2002: plays chosen by sums before rounding",
        "MD5 ffbb2108abe1fd1a79c6d9d3eadf56cf of gnubg.bd",
    ),
    Recipe(
        "gnubg-heuristic", "one-sided", "what GNU Backgammon plays by where it finds no database: a fixed rule",
        "evaluations of 1.07.001",
    ),
    Recipe(
        "gnubg-heuristic-2009", "one-sided", "the fixed rule of GNU Backgammon 2009 to 1.00, without a look ahead",
        "documented",
    ),
    Recipe("float32", "one-sided", "distributions kept in float32, rounded once at the end", "plain arithmetic"),
    Recipe("float64", "one-sided", "distributions kept in float64, rounded once at the end", "plain arithmetic"),
    Recipe("exact", "one-sided", "float64 throughout, nothing rounded", "bgfmt solve --recipe exact"),
    Recipe("gnubg", "normal-distribution", "GNU Backgammon's makebearoff -n", "files of makebearoff 1.07"),
    Recipe(
        "gnubg-division", "normal-distribution", "makebearoff -n built with true division by 36",
        "builds without fast-math",
    ),
    Recipe("gnubg-moments", "normal-distribution", "moments of gnubg's distributions", "bgfmt convert --lossy"),
    Recipe("bgsage-moments", "normal-distribution", "moments of bgsage's distributions", "bgfmt convert --lossy"),
    Recipe("peelle", "mean-rolls", "Peelle's J table, to the last bit", "bgns.ijf of J 9.7"),
    Recipe("gnubg-means", "mean-rolls", "means of gnubg's distributions", "bgfmt convert --lossy"),
    Recipe("bgsage-means", "mean-rolls", "means of bgsage's distributions", "bgfmt convert --lossy"),
    Recipe("gnubg-normal-means", "mean-rolls", "means of gnubg's normal distributions", "bgfmt convert --lossy"),
    Recipe("gnubg", "two-sided", "GNU Backgammon's makebearoff", "files of makebearoff 1.07"),
    Recipe(
        "gnubg-2001", "two-sided", "GNU Backgammon before November 2002: chances to win, in float64, truncated",
        "MD5 ffbb2108abe1fd1a79c6d9d3eadf56cf of gnubg.bd",
    ),
    Recipe(
        "gnubg-2002", "two-sided", "equities kept in float32, truncated when stored, as GNU Backgammon did in late "
        "2002", "documented; no file was seen",
    ),
    Recipe("float32", "two-sided", "equities kept in float32, rounded when stored", "plain arithmetic"),
    Recipe("float64", "two-sided", "equities kept in float64, rounded when stored", "plain arithmetic"),
    Recipe(
        "float64-truncated", "two-sided", "equities kept in float64, truncated when stored", "plain arithmetic"
    ),
    Recipe("exact", "two-sided", "float64 throughout, nothing rounded", "bgfmt solve --recipe exact"),
    Recipe("match", "match-score", "match winning chances in float32, sums in float64", "bgfmt solve match"),
    Recipe("exact", "match-score", "float64 throughout, nothing rounded", "bgfmt solve match --recipe exact"),
    Recipe("bkg", "bkg", "Gillogly's table for BKG, to six decimals", "bgfmt solve bkg"),
    Recipe("exact", "bkg", "float64 throughout, nothing rounded", "bgfmt solve bkg --recipe exact"),
    Recipe("points", "expected-points", "the 2011 blog's expected points, to six decimals",
           "bgfmt solve expected-points"),
    Recipe("exact", "expected-points", "float64 throughout, nothing rounded",
           "bgfmt solve expected-points --recipe exact"),
    Recipe("exact", "hypergammon-exact", "float64 throughout, nothing rounded", "bgfmt solve --recipe exact"),
    Recipe("gnubg", "hypergammon", "GNU Backgammon's makehyper", "files of makehyper 1.07"),
    Recipe(
        "gnubg-division", "hypergammon", "makehyper built with true division by 36", "builds without fast-math"
    ),
)  # fmt: skip


def recipe(name: str, kind: str) -> Recipe:
    """The entry of this name for this kind of table."""
    return next(entry for entry in RECIPES if (entry.name, entry.kind) == (name, kind))
