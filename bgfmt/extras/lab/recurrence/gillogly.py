"""Gillogly's table from the rules alone: least expected rolls, and the distributions that follow from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.verifier.recurrence import exact, rules

Array = NDArray[Any]
POINTS, CHEQUERS, ROLLS = 6, 15, 8
LONGEST = 16  # rolls of the longest bear-off in the table
WEIGHTS = [
    1 if a == b else 2 for a in range(6) for b in range(a + 1)
]  # of the rolls in 36, in the order of `plays`


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


def nearest_rows_of(ids: Array) -> Array:
    """The same, every number the double nearest to the exact one: ways are counted in whole numbers, divided once."""
    means = exact.means_of(POINTS, CHEQUERS)
    starts, results = rules.plays(POINTS, CHEQUERS)
    row_of = np.full(len(means), -1)
    row_of[ids] = np.arange(len(ids))
    pips = rules.pips(POINTS, CHEQUERS)[ids]
    rolls = 21 * ids[:, None] + np.arange(21)
    best = np.array([[_best(means, results[starts[r] : starts[r + 1]]) for r in line] for line in rolls])
    ways = np.zeros((len(ids), LONGEST + 1), object)  # of 36^n, Python's integers
    ways[pips == 0, 0] = 1
    weights = np.array(WEIGHTS, object)[None, :, None]
    for left in range(1, int(pips.max()) + 1):
        some = np.flatnonzero(pips == left)
        if len(some):
            ways[some, 1:] = (ways[row_of[best[some]], :-1] * weights).sum(axis=1)
    whole = sum(n * 36 ** (LONGEST - n) * ways[:, n] for n in range(LONGEST + 1))
    columns = [whole, *(ways[:, n] for n in range(1, ROLLS + 1))]
    parts = [36**LONGEST, *(36**n for n in range(1, ROLLS + 1))]
    return np.array(
        [(column / part).astype(np.float64) for column, part in zip(columns, parts, strict=True)]
    ).T


def _best(means: Array, reached: Array) -> int:
    return int(reached[means[reached].argmin()]) if len(reached) else 0
