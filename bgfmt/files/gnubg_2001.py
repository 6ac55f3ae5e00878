"""Solve GNU Backgammon's `gnubg.bd` of May 2001 to November 2002: two tables in one file without a header.

It differs from today's recipe in the rank that chooses a play: the mean from the sums before they are rounded, in
whole thousandths of a roll; and in the two-sided part, which is not an integer recipe but float64, truncated at the
end. The rules were derived from the file: its MD5 checksum, which the program of that time checked, is
ffbb2108abe1fd1a79c6d9d3eadf56cf, and a test makes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.files.convert import save
from bgfmt.solver import Recipe, one_sided, two_sided
from bgfmt.solver.waves import Progress
from bgfmt.storage import PathLike, check_output
from bgfmt.tables import OneSided, TwoSided

NAME = "gnubg-2001"
THOUSANDTH = 2359  # 36 * 65535 / 1000, rounded: sums of 36 rolls in thousandths of a roll
RANKED = Recipe(NAME, divisor=THOUSANDTH, summary="GNU Backgammon of 2001")


def gnubg_2001_tables(
    threads: int | None = None, progress: Progress | None = None
) -> tuple[OneSided, TwoSided]:
    """Solve the two tables of GNU Backgammon's file of 2001.

    One-sided: 6 points and 15 chequers without gammons. Two-sided: 6 points and 6 chequers, cubeless.
    """
    one: Any = one_sided(6, gammon=False, recipe=RANKED, threads=threads, progress=progress)
    exact = two_sided(6, 6, cubeful=False, recipe="exact", threads=threads)
    stored = ((np.asarray(exact.equities) + 1) / 2 * 65535.5).astype(np.uint16)
    return one, replace(exact, equities=stored, recipe=NAME, provenance=one.provenance)


def gnubg_2001(
    path: PathLike,
    points: int = 6,
    chequers: int = 15,
    *,
    force: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Write GNU Backgammon's file of 2001: 5,180,448 bytes without a header.

    SolverError for another size; OutputExistsError for an existing file unless `force` is set.
    """
    if (points, chequers) != (6, 15):
        raise SolverError(
            f"gnubg's file of 2001 must have 6 points and 15 chequers, not {points} and {chequers}"
        )
    check_output(path, force=force)
    save(list(gnubg_2001_tables(threads, progress)), path, format=NAME, force=force)
