"""The least and the greatest number of rolls to bear off, by which BKG resigns (the paper, section VI).

Minturns plays 6-6 every time, Maxturns 2-1, each so that the number stays small.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.engine.bkg.kernels import measures
from bgfmt.jit import njit

Array = NDArray[Any]
HOME = 6


@njit()
def _moved(counts: Array, point: int, die: int) -> bool:
    """Move a man at home where the rules allow it."""
    if counts[point] == 0:
        return False
    if die > point:
        for higher in range(point + 1, HOME + 1):
            if counts[higher]:
                return False
    counts[point] -= 1
    if point > die:
        counts[point - die] += 1
    return True


@njit()
def number(terms: Array, counts: Array) -> int:
    """Position number of a side on the six home points."""
    total = above = 0
    for k in range(HOME):
        above += counts[HOME - k]
        total += terms[k, above]
    return total


@njit()
def fill_greatest(positions: Array, order: Array, terms: Array, greatest: Array) -> None:
    """Maxturns of every home position, (n,) int64; `order` has fewer pips first."""
    side = np.zeros(HOME + 1, np.int64)
    for n in order:
        if n == 0:
            greatest[0] = 0
            continue
        best = 1 << 30
        for swap in range(2):
            first, second = (2, 1) if swap == 0 else (1, 2)
            for p in range(1, HOME + 1):
                for q in range(HOME):
                    side[q + 1] = positions[n, q]
                if not _moved(side, p, first):
                    continue
                moved = False
                for q in range(1, HOME + 1):
                    after = side.copy()
                    if _moved(after, q, second):
                        moved = True
                        best = min(best, greatest[number(terms, after)])
                if not moved:
                    best = min(best, greatest[number(terms, side)])
        greatest[n] = best + 1


@njit()
def least(x: Array) -> int:
    """Minturns: each man takes as many sixes as points of six pips it has to go, four a roll."""
    sixes = 0
    for point in range(1, 26):
        sixes += x[point] * ((point + 5) // 6)
    return (sixes + 3) // 4


@njit()
def _one_die_in(side: Array, die: int) -> bool:
    """The farthest man outside moves; False when all are home."""
    back = measures.mostback(side)
    if back <= HOME:
        return False
    side[back] -= 1
    side[back - die] += 1
    return True


@njit()
def most(terms: Array, greatest: Array, x: Array) -> int:
    """Maxturns; men outside come home first, the farthest by each die, so that outside it is never too small."""
    side, rolls = x.copy(), 0
    while measures.mostback(side) > HOME:
        _one_die_in(side, 2)
        if not _one_die_in(side, 1):
            highest = measures.mostback(side)
            _moved(side, highest, 1)
        rolls += 1
    return rolls + greatest[number(terms, side)]  # type: ignore[no-any-return]


@njit()
def least_to_one_off(x: Array) -> int:
    """Minloff: rolls of 6-6 until one man is off."""
    sixes = 1
    for point in range(HOME + 1, 26):
        sixes += x[point] * ((point - 1) // 6)
    return (sixes + 3) // 4


@njit()
def most_to_one_off(x: Array) -> int:
    """Maxloff: rolls of 2-1 until one man is off."""
    side, rolls = x.copy(), 0
    while measures.mostback(side) > HOME:
        _one_die_in(side, 2)
        if not _one_die_in(side, 1):
            lowest = 1
            while side[lowest] == 0:
                lowest += 1
            if lowest == 1:
                return rolls + 1
            _moved(side, lowest, 1)
        rolls += 1
    lowest = 1
    while side[lowest] == 0:
        lowest += 1
    return rolls + (lowest + 2) // 3


@njit()
def least_to_leave(x: Array) -> int:
    """Rolls of 6-6 until no man is in the enemy's home board."""
    sixes = 0
    for point in range(19, 26):
        sixes += x[point] * ((point - 13) // 6)
    return (sixes + 3) // 4
