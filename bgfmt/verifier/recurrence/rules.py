"""What a recurrence needs to know of a board: terms of position numbers, plays, pips and their order."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board

Array = NDArray[Any]


@lru_cache(maxsize=32)
def terms_of(points: int) -> tuple[Array, Array]:
    """(terms, steps): terms[k-1, s] = C(s + k - 1, k); steps[k, s] = what lowering s by one takes off it."""
    terms = np.ascontiguousarray(board.number_terms(points))
    steps = np.zeros((points + 1, terms.shape[1]), np.int64)
    steps[1:, 1:] = np.diff(terms, axis=1)
    return terms, steps


def room_for_plays(points: int) -> int:
    """Room for the plays of one roll."""
    return max(comb(points + 3, 4), 2 * points * points) + 8


@lru_cache(maxsize=4)
def plays(points: int, chequers: int) -> tuple[Array, Array]:
    """(starts, results) of every position and roll; see kernels_successors.successors."""
    from bgfmt.verifier.recurrence import kernels_successors

    terms, steps = terms_of(points)
    starts, results = kernels_successors.successors(
        points, board.count(points, chequers), terms, steps, room_for_plays(points)
    )
    return starts, results


@lru_cache(maxsize=8)
def pips(points: int, chequers: int) -> Array:
    """Pip count of every position, int64."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    return counts.astype(np.int64) @ np.arange(1, points + 1)


@lru_cache(maxsize=4)
def pip_order(points: int, chequers: int) -> tuple[Array, Array, Array]:
    """(pips, positions by pips, where each pip count begins among them, with an end)."""
    found = pips(points, chequers)
    order = np.argsort(found, kind="stable")
    return found, order, np.searchsorted(found[order], np.arange(found.max() + 2))
