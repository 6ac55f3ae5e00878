"""GNU Backgammon's `gnubg.bd` of May 2001 to November 2002: one-sided distributions, and chances to win in doubles.

Differs from today's recipe in the rank that chooses a play: the mean from the sums before they are rounded, in whole
thousandths of a roll; and in the two-sided part, which is not an integer recipe but float64, truncated at the end.
The rules were derived from the file: its MD5 sum, which the program of then checked, is
ffbb2108abe1fd1a79c6d9d3eadf56cf, and a test makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import bgfmt
from bgfmt.errors import SolverError
from bgfmt.solver import Recipe, one_sided, two_sided
from bgfmt.storage import PathLike, check_output
from bgfmt.tables import OneSided, TwoSided

NAME = "gnubg-2001"
THOUSANDTH = 2359  # 36 * 65535 / 1000, rounded: sums of 36 rolls in thousandths of a roll
RANKED = Recipe(NAME, ("one-sided",), gammon="none", divisor=THOUSANDTH, summary="GNU Backgammon of 2001")


class Parts(NamedTuple):
    """The two tables of the file, in its order."""

    one_sided: OneSided
    two_sided: TwoSided


def solve() -> Parts:
    """Both tables: 6 points and 15 chequers one-sided without gammons, 6 points and 6 chequers two-sided cubeless."""
    one = one_sided(6, gammon=False, recipe=RANKED)
    assert isinstance(one, OneSided)
    exact = two_sided(6, 6, cubeful=False, recipe="exact")
    stored = ((np.asarray(exact.equities) + 1) / 2 * 65535.5).astype(np.uint16)
    return Parts(one, replace(exact, equities=stored, recipe=NAME, provenance=one.provenance))


def gnubg_2001(
    path: PathLike,
    points: int = 6,
    chequers: int = 15,
    *,
    force: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Make the file, 5,180,448 bytes without a header.

    SolverError for another size; OutputExistsError for an existing file unless `force`; OSError.
    """
    if (points, chequers) != (6, 15):
        raise SolverError(f"gnubg's file of 2001 has 6 points and 15 chequers, not {points} and {chequers}")
    check_output(path, force=force)
    bgfmt.save(list(solve()), path, format=NAME, force=force)
