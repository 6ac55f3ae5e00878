"""Winning chances of a race from the probabilities of two sides to need exactly n rolls (BKG, section VII).

With AWPRB(N) the probability that the side on roll bears off on roll N, given that it has not before, and AVPRB(N)
that of the other side, the paper computes

    W = W + (1 - W - V) * AWPRB(N)
    V = V + (1 - W - V) * AVPRB(N)         for N = 1, 2, ... until W + V = 1

which is W = sum of WPRB(n) * P2(>= n) and V = sum of VPRB(n) * P1(> n), the form of `chances`. The sides do not
interact: each plays for the fewest rolls.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt import solver
from bgfmt.solver.one_sided import ExactMeans
from bgfmt.tables import OneSided

Floats = NDArray[np.float64]


def chances(onmove: ArrayLike, other: ArrayLike) -> tuple[Floats, Floats]:
    """Return the probabilities W and V that the side on roll and the other bear off first, float64 of shape (...,).

    onmove, other : (..., rolls) probabilities of needing exactly 1, 2, ... rolls; the shapes before the last axis
    broadcast. If the distributions are truncated, W + V may be less than 1.
    """
    ours = np.asarray(onmove, np.float64)
    theirs = np.asarray(other, np.float64)
    our_left = 1 - np.cumsum(ours, axis=-1)  # after roll n
    their_left = 1 - np.cumsum(theirs, axis=-1) + theirs  # before it
    win = np.einsum("...n,...n->...", ours, their_left)
    lose = np.einsum("...n,...n->...", theirs, our_left)
    return np.asarray(win), np.asarray(lose)


def win_chance(onmove: ArrayLike, other: ArrayLike) -> Floats:
    """Return the win probability of the side on roll, float64 of shape (...,), from two distributions of rolls.

    It is W / (W + V) of the probabilities W that the side on roll is off first and V that the other is. The division
    distributes the probability of more than eight rolls, which tables of eight columns omit.

    onmove, other : (..., rolls) probabilities of being off in exactly 1, 2, ... rolls.

    >>> float(win_chance([0.75, 0.25], [0.75, 0.25]))
    0.8125
    """
    win, lose = chances(onmove, other)
    return np.asarray(win / (win + lose))


@cache
def distributions() -> tuple[Floats, Floats]:
    """Return (means, chances) of all home positions by gnubg's position number, solved once.

    means : (54264,) expected rolls. chances : (54264, 31) float64, probabilities of exactly 1, 2, ... 31 rolls.
    """
    table = solver.one_sided(6, gammon=False, recipe="exact")
    assert isinstance(table, OneSided)
    means = table.record(ExactMeans)
    assert means is not None
    chances = np.asarray(table.bearoff)[:, 1:]
    for rows in (means.means, chances):
        rows.setflags(write=False)
    return means.means, chances
