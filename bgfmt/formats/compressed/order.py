"""In what order a file has the positions: by strength."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import Rows

SAMPLED = 97  # rows that the strength of the positions is taken from
Numbers = NDArray[np.int64]


def sampled(n: int) -> Numbers:
    """The position numbers whose rows say how strong the others are."""
    found: Numbers = np.unique(np.linspace(0, n - 1, SAMPLED).round().astype(np.int64))
    return found


def weakness(equities: Rows) -> Numbers:
    """How the sides of some rows fare against each position, (n,)."""
    sums = np.zeros(equities.shape[0], np.int64)
    for u in sampled(len(sums)).tolist():
        sums += np.asarray(equities[u])[:, 0]
    return sums


def weakest_first(weak: Numbers) -> Numbers:
    """Position numbers by place: the order of the first level. Any order will do; this one packs well."""
    found: Numbers = np.argsort(-weak, kind="stable")
    return found


def strongest_first(weak: Numbers) -> Numbers:
    """The same the other way round, as the second level has it; of equally strong ones the lower number first."""
    found: Numbers = np.argsort(weak, kind="stable")
    return found


def falling(weak: Numbers, points: int, chequers: int) -> Numbers:
    """Position numbers by place, near to that order, such that every play goes to an earlier place.

    Every play of a race is made of single chequers that go down one pip, so it is enough that each of these does.
    """
    weak = weak.copy()
    pairs = lowered(points, chequers)
    while True:  # a position is as weak as any that a pip makes of it; where both are the number decides
        before = int(weak.sum())
        for high, low in pairs:
            weak[high] = np.maximum(weak[high], weak[low])
        if int(weak.sum()) == before:
            break
    found: Numbers = np.argsort(weak, kind="stable")
    return found


def lowered(points: int, chequers: int) -> list[tuple[Numbers, Numbers]]:
    """For each point, position numbers with a chequer there, and those with that chequer a pip lower."""
    numbers = np.arange(board.count(points, chequers))
    counts = board.unrank_array(numbers, points)
    above = counts[:, ::-1].cumsum(axis=1, dtype=np.int64)[:, ::-1]  # chequers on a point or higher ones
    terms = board.number_terms(points)
    found = []
    for point in range(points):
        high = numbers[counts[:, point] > 0]
        term, chequers_above = terms[points - 1 - point], above[high, point]
        found.append((high, high - term[chequers_above] + term[chequers_above - 1]))
    return found
