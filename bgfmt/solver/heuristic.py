"""The table that GNU Backgammon makes in memory where it finds no `gnubg_os0.bd`: every roll played by a fixed rule.

Of each die in turn, the larger first: bear off from its own point; else, beyond the highest chequer, from there; else
move the chequer that will come off exactly with the dice that are left (`look_ahead`; releases of 2009 to 1.00 left
that out); else the highest stack of two or more onto an empty point, the lowest of equals; else the highest stack, of
equals the one with fewer chequers where it goes, then the lowest. Rows are rounded, not corrected: they add up to
65532 to 65540. The rules were found by evaluations of the program, which tests repeat.
"""

from __future__ import annotations

import numpy as np

from bgfmt.game import board
from bgfmt.solver.recipe import Recipe
from bgfmt.tables import OneSided

POINTS, ROLLS, WHOLE = 6, 32, 65535


def heuristic(chequers: int, recipe: Recipe) -> OneSided:
    """The table of up to `chequers` chequers on 6 points, uint16 rows without gammon part, by such a recipe."""
    from bgfmt.solver.kernels.heuristic import fill

    n = board.count(POINTS, chequers)
    counts = np.ascontiguousarray(board.unrank_array(np.arange(n), POINTS), np.int64)
    rows = np.zeros((n, ROLLS), np.uint16)
    terms = np.asarray(board.number_terms(POINTS), np.int64)
    fill(counts, terms, recipe.play == "look-ahead", rows)
    return OneSided(
        points=POINTS,
        chequers=chequers,
        bearoff=rows,
        recipe=recipe.name,
        provenance=f"solved by bgfmt, recipe {recipe.name}",
    )
