"""The Keeler-Gillogly adjusted count, by which BKG doubles where a side is not in its tables (BKG, section VII).

    Acount = pips + 4/3 a chequer on point 1 + 2/3 a chequer on point 2 + 1/3 a chequer on point 3
             + 2 for every chequer left in excess of the other side's
             - the difference in gaps (empty points of the home board) for the side with fewer

With R = 1.1 A rounded to the nearest whole number, halves up, A the count of the side on roll and O the other's:
double when O >= R - 2, redouble when O >= R - 1, accept when O <= R + 2. Rounding is not certain in the paper;
``rounding="none"`` compares with 1.1 A itself. Everything is counted in whole thirds of a pip, since binary fractions
put the halves on the wrong side.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import PositionError

Rounding = Literal["nearest", "none"]
Integers = NDArray[np.int64]
DOUBLE, REDOUBLE, ACCEPT = -2, -1, 2  # margins around 1.1 A


def adjusted_thirds(us: ArrayLike, them: ArrayLike) -> Integers:
    """Acount of `us` against `them` in thirds of a pip, int64 of shape (...,), from counts (..., 6 or more).

    >>> int(adjusted_thirds([2, 2, 3, 0, 0, 0], [5, 2, 3, 3, 2, 0])) / 3
    20.0
    """
    own, other = _counts(us), _counts(them)
    own_pips = own @ (3 * np.arange(1, own.shape[-1] + 1, dtype=np.int64))
    waste = 4 * own[..., 0] + 2 * own[..., 1] + own[..., 2]
    excess = np.maximum(own.sum(axis=-1) - other.sum(axis=-1), 0)
    gaps, other_gaps = ((side[..., :6] == 0).sum(axis=-1) for side in (own, other))
    return np.asarray(own_pips + waste + 6 * excess - 3 * np.maximum(other_gaps - gaps, 0))


def doubles(
    us: ArrayLike, them: ArrayLike, *, owned: bool = False, rounding: Rounding = "nearest"
) -> NDArray[np.bool_]:
    """Whether `us`, on roll, doubles (`owned`: redoubles) by the adjusted count, bool of shape (...,)."""
    margin = REDOUBLE if owned else DOUBLE
    return np.asarray(_beyond(adjusted_thirds(us, them), adjusted_thirds(them, us), margin, rounding) >= 0)


def takes(us: ArrayLike, them: ArrayLike, *, rounding: Rounding = "nearest") -> NDArray[np.bool_]:
    """Whether `them` accept the double of `us`, who are on roll, by the adjusted count, bool of shape (...,)."""
    return np.asarray(_beyond(adjusted_thirds(us, them), adjusted_thirds(them, us), ACCEPT, rounding) <= 0)


def _beyond(count: Integers, other: Integers, margin: int, rounding: Rounding) -> Integers:
    """How far O lies beyond R + margin, in some unit."""
    if rounding == "none":
        return 10 * other - 11 * count - 30 * margin
    if rounding != "nearest":
        raise PositionError(f"1.1 times the count is rounded to nearest or none, not {rounding!r}")
    rounded = (22 * count + 30) // 60
    return other - 3 * (rounded + margin)


def _counts(side: ArrayLike) -> Integers:
    counts = np.asarray(side, np.int64)
    if counts.ndim == 0 or counts.shape[-1] < 6:
        raise PositionError(f"counts need shape (..., 6 or more points), not {counts.shape}")
    return counts
