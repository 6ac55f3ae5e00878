"""Pip layers of a board, and what each position's rolls lead to: the ground of the two-sided solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board, results

Array = NDArray[Any]
REACH = 24  # the most pips a roll can spend


@dataclass(frozen=True)
class PipOrder:
    """All positions of a board in order of pips, and position number within them.

    numbers : (n,) int64, position number of each place; cuts : first place of each layer and, last, n.
    ends : (n * 21 + 1,) int64, results : int32; the results of roll r of place x are
    results[ends[21 x + r] : ends[21 x + r + 1]], never empty but for x = 0.
    """

    points: int
    chequers: int
    numbers: Array
    cuts: Array
    ends: Array
    results: Array

    @property
    def n(self) -> int:
        """Number of positions."""
        return len(self.numbers)

    @property
    def layers(self) -> int:
        """Number of pip layers."""
        return len(self.cuts) - 1


def layer_cuts(points: int, chequers: int) -> Array:
    """First place of each pip layer in pip order and, last, the number of positions; without any kernel."""
    ways = np.zeros((chequers + 1, points * chequers + 1), np.int64)
    ways[0, 0] = 1
    for point in range(1, points + 1):
        for c in range(1, chequers + 1):  # in place: any number of chequers on this point
            ways[c, point:] += ways[c - 1, :-point]
    return np.concatenate([[0], np.cumsum(ways.sum(axis=0))])


def pip_order(points: int, chequers: int) -> PipOrder:
    """The positions of `points` x `chequers` by pips, with every roll's results."""
    n = board.count(points, chequers)
    pips = board.unrank_array(np.arange(n), points).astype(np.int64) @ np.arange(1, points + 1)
    numbers = np.argsort(pips, kind="stable")
    place = np.empty(n, np.int64)
    place[numbers] = np.arange(n)
    cuts = np.searchsorted(pips[numbers], np.arange(points * chequers + 2))
    ends, found = results.of_rolls(results.singles(points, numbers, place))
    return PipOrder(points, chequers, numbers, cuts.astype(np.int64), ends, found)
