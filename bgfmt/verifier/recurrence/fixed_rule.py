"""Rows of gnubg's table in memory, which plays by a fixed rule: what every row must be by other rows of the table.

The rule is that of docs/theory/one-sided.md: a die is played by the first of five ways that there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.verifier.recurrence import rules

Array = NDArray[Any]
POINTS, ROLLS = 6, 32


def expected(rows: Array, chequers: int, *, look_ahead: bool) -> Array:
    """What the rows (n, 32) uint16 of 6 points must be, each by those it leads to. Rows are not corrected to 65535.

    look_ahead : whether a chequer that the other dice bear off comes first (releases of 2009 to 1.00: not).
    """
    n = len(rows)
    counts = board.unrank_array(np.arange(n), POINTS).astype(np.int64)
    sums = np.zeros((n, ROLLS), np.int64)
    for high in range(1, POINTS + 1):
        for low in range(1, high + 1):
            left = [high] * 4 if high == low else [high, low]
            boards = counts.copy()
            while left:
                die = left.pop(0)
                _move(boards, _sources(boards, die, left if look_ahead else []), die)
            sums[:, 1:] += (1 if high == low else 2) * rows[_numbers(boards), :-1].astype(np.int64)
    wanted = (sums + 18) // 36
    wanted[0] = [65535] + [0] * (ROLLS - 1)
    return wanted


def _sources(boards: Array, die: int, later: list[int]) -> Array:
    """The point (0 is the ace point) that each board plays a die from; -1 where nothing is left."""
    there = boards > 0
    highest = np.where(there, np.arange(POINTS), -1).max(axis=1)
    ways = [np.where(there[:, die - 1], die - 1, -1), np.where(highest < die - 1, highest, -1)]
    ways += [
        np.where(there[:, at - 1], at - 1, -1) for at in die + np.cumsum(later, dtype=int) if at <= POINTS
    ]
    if die < POINTS:
        stacks, empty = boards[:, die:], boards[:, : POINTS - die]
        safe = np.where((stacks >= 2) & (empty == 0), stacks, 0)
        ways.append(np.where(safe.max(axis=1) > 0, die + safe.argmax(axis=1), -1))
        tall = np.where(stacks > 0, stacks * 16 + 15 - empty, -1)
        ways.append(np.where(tall.max(axis=1) >= 0, die + tall.argmax(axis=1), -1))
    chosen = np.full(len(boards), -1)
    for way in ways:
        chosen = np.where(chosen < 0, way, chosen)
    return np.where(highest < 0, -1, chosen)


def _move(boards: Array, sources: Array, die: int) -> None:
    which = np.flatnonzero(sources >= 0)
    at = sources[which]
    boards[which, at] -= 1
    inside = at >= die
    boards[which[inside], at[inside] - die] += 1


def _numbers(boards: Array) -> Array:
    terms, _ = rules.terms_of(POINTS)
    above = np.cumsum(boards[:, ::-1], axis=1)
    return np.asarray(sum(terms[k][above[:, k]] for k in range(POINTS)), np.int64)
