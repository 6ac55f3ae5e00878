"""The orders in which the literature numbers one-sided positions, and the permutations between them.

Ross (Benjamin and Ross, "Enumerating backgammon positions: the perfect hash", 1996): a position is the
nondecreasing list of its chequers' points, 0 for a chequer that is off, and lists are sorted. Counted from 0 his
rank is gnubg's position number, for every number of chequers and points.

Peelle (Vector 24): ascending ncode, the base-16 number whose digits are the counts, the ace point's first.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import PositionError
from bgfmt.game.board import Side
from bgfmt.game.orders import Peelle

__all__ = [
    "MAX_DIGITS",
    "Peelle",
    "counts_of_ncodes",
    "from_ncode",
    "multichoose",
    "ncode",
    "ncodes",
    "number_to_peelle",
    "peelle_to_number",
    "ross_list",
    "ross_rank",
    "ross_unrank",
]


MAX_DIGITS = 15  # base-16 digits that fit in a signed 64-bit number


def multichoose(kinds: int, things: int) -> int:
    """Compute the ways to choose `things` of `kinds` with repetition, C(kinds + things - 1, things).

    >>> multichoose(6, 4)
    126
    """
    return comb(kinds + things - 1, things) if kinds or things else 1


# -- Ross ------------------------------------------------------------------------------------------------


def ross_list(side: Side, chequers: int = 15) -> tuple[int, ...]:
    """Return the points of a side's chequers in nondecreasing order, 0 for those borne off (Ross's notation).

    chequers : length of the list. PositionError if the side has more.
    """
    if side.chequers > chequers:
        raise PositionError(f"{side} has more than {chequers} chequers")
    on = [point for point, count in enumerate(side.counts, 1) for _ in range(count)]
    return (*(0,) * (chequers - len(on)), *on)


def ross_rank(points_list: tuple[int, ...] | list[int], points: int = 6, *, base: int = 0) -> int:
    """Compute the rank of a nondecreasing list of points among all lists of its length, counted from `base`.

    points : the highest point, so that items are 0..`points`. Any number of chequers and points. Raises
    PositionError if the list is not sorted or out of range.
    """
    n = len(points_list)
    m = points
    if any(not 0 <= c <= m for c in points_list) or list(points_list) != sorted(points_list):
        raise PositionError(f"{list(points_list)}: expected points 0 to {m} in nondecreasing order")
    below = sum(comb(m - c + n - i, n - i + 1) for i, c in enumerate(points_list, 1))
    return comb(n + m, m) - 1 - below + base


def ross_unrank(rank: int, chequers: int = 15, points: int = 6, *, base: int = 0) -> tuple[int, ...]:
    """Compute the nondecreasing list of points with this rank; the inverse of `ross_rank`.

    chequers : length of the list. points : the highest point. base : rank of the first list. PositionError for a rank
    out of range.
    """
    left = rank - base
    n = chequers
    m = points
    if not 0 <= left < comb(n + m, m):
        raise PositionError(f"rank {rank} is not in {base}..{comb(n + m, m) - 1 + base}")
    out = []
    point = 0
    for i in range(1, n + 1):
        while left >= (step := comb(m - point + n - i, n - i)):
            left -= step
            point += 1
        out.append(point)
    return tuple(out)


# -- Peelle ----------------------------------------------------------------------------------------------


def ncode(side: Side, points: int = 6) -> int:
    """Encode a side as Peelle's ncode: the counts are digits of a base-16 number, the ace point most significant."""
    code = 0
    for count in side.padded(points):
        code = code * 16 + count
    return code


def from_ncode(code: int, points: int = 6) -> Side:
    """Decode Peelle's ncode to a side; PositionError if it has more than `points` base-16 digits.

    The digits are the counts, the ace point most significant.
    """
    if not 0 <= code < 16**points:
        raise PositionError(f"code {code} has more than {points} base-16 digits")
    return Side(*(code >> 4 * (points - 1 - k) & 15 for k in range(points)))


def ncodes(counts: ArrayLike) -> NDArray[np.int64]:
    """Encode counts of shape (..., points) as Peelle's ncodes, int64 of shape (...).

    The counts are the digits of a base-16 number, the ace point most significant. PositionError for more than 15
    points.
    """
    rows = np.asarray(counts)
    if not 1 <= rows.shape[-1] <= MAX_DIGITS:
        raise PositionError(f"codes must have 1 to {MAX_DIGITS} base-16 digits, not {rows.shape[-1]}")
    weights = 16 ** np.arange(rows.shape[-1] - 1, -1, -1, dtype=np.int64)
    return np.asarray(rows.astype(np.int64) @ weights)


def counts_of_ncodes(codes: ArrayLike, points: int = 6) -> NDArray[np.int8]:
    """Decode Peelle's ncodes, see `ncodes`, of shape (...) to counts, int8 of shape (..., points)."""
    numbers = np.asarray(codes, np.int64)
    shifts = 4 * np.arange(points - 1, -1, -1, dtype=np.int64)
    return (numbers[..., None] >> shifts & 15).astype(np.int8)


@lru_cache(maxsize=8)
def peelle_to_number(points: int = 6, chequers: int = 15) -> NDArray[np.int64]:
    """Return the position number of each row of a table in Peelle's order of positions: (n,) int64, read-only."""
    order = Peelle(points, chequers)
    numbers = order.numbers(np.arange(order.count))
    numbers.setflags(write=False)
    return numbers


@lru_cache(maxsize=8)
def number_to_peelle(points: int = 6, chequers: int = 15) -> NDArray[np.int64]:
    """Return the row of each position number in a table in Peelle's order of positions: (n,) int64, read-only."""
    order = Peelle(points, chequers)
    rows = order.rows(np.arange(order.count))
    rows.setflags(write=False)
    return rows
