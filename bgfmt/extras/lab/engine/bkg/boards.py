"""Positions as the kernels have them, and the table they go by."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.thumb import racing
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position

if TYPE_CHECKING:
    from bgfmt.extras.lab.engine.bkg.kernels.running import Home

Array = NDArray[Any]


def array_of(position: Position) -> Array:
    """(2, 26) int64: the side on roll, then the other; 0 the chequers off, 25 the bar."""
    rows = [
        (MAX_CHEQUERS - side.chequers, *side.padded(25)[:24], side.bar)
        for side in (position.us, position.them)
    ]
    return np.array(rows, np.int64)


@cache
def home_of_table() -> Home:
    """Gillogly's table, and Maxturns, by gnubg's position number."""
    from bgfmt.extras.lab.engine.bkg.kernels import turns
    from bgfmt.extras.lab.engine.bkg.kernels.running import Home

    ids, rows = racing.gillogly()
    n = board.count(6, MAX_CHEQUERS)
    enr, chances = np.full(n, np.inf), np.zeros((n, 8))
    enr[ids], chances[ids] = rows[:, 0], rows[:, 1:]
    terms = np.ascontiguousarray(board.number_terms(6), np.int64)
    counts = board.unrank_array(np.arange(n), 6).astype(np.int64)
    order = np.argsort(counts @ np.arange(1, 7), kind="stable")
    greatest = np.zeros(n, np.int64)
    turns.fill_greatest(counts, order, terms, greatest)
    return Home(enr, chances, terms, greatest)
