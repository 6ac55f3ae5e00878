"""Gillogly's table from the rules alone: least expected rolls, and the distributions that follow from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.verifier.recurrence import exact, rules

Array = NDArray[Any]
POINTS, CHEQUERS, ROLLS = 6, 15, 8


def rows_of(ids: Array) -> Array:
    """(m, 9) float64, ENR and P(1)..P(8) of the sides with these gnubg position numbers.

    Means first, by `exact.means_of`; then the chances, in order of the pips that are left.
    """
    from bgfmt.verifier.recurrence import kernels_exact as kernels

    n = board.count(POINTS, CHEQUERS)
    means = exact.means_of(POINTS, CHEQUERS)
    keys = np.zeros((n, 2))
    keys[:, 0] = means
    chances = np.zeros((n, 1 + ROLLS))
    chances[0, 0] = 1
    terms, steps = rules.terms_of(POINTS)
    room = rules.room_for_plays(POINTS)
    pips = board.unrank_array(np.arange(n), POINTS).astype(np.int64) @ np.arange(1, POINTS + 1)
    none = np.zeros((0, 1 + ROLLS))
    for left in range(1, int(pips.max()) + 1):
        some = np.flatnonzero(pips == left)
        out, unused = np.zeros((len(some), 1 + ROLLS)), np.zeros((len(some), 1 + ROLLS))
        kernels.exact_rows(POINTS, some, terms, steps, keys, chances, none, n, room, out, unused)
        chances[some] = out
    return np.concatenate([means[ids, None], chances[ids, 1:]], axis=1)
