"""The counts that players use in a race, for many pairs of sides at once.

Counts are (..., points) arrays of chequers, the ace point first, of the side on roll and of the other; the two
broadcast. Every function returns how far the other side is behind (or a measure of the lead): the greater the number,
the better for the side on roll. How rules use the number is in `bgfmt.extras.lab.study.rules`; worked examples and
doubts are in `docs/theory/thumb-rules.md`.

Multiples of a tenth, a seventh or a sixth are compared as integers in that unit, because binary fractions would round
some limits to the wrong side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import PositionError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
HOME = 6


def of_chequers(side: ArrayLike) -> Integers:
    """Return chequers by point as int64 of shape (..., 6 or more), padded with 0.

    PositionError if they are not integers or a scalar.
    """
    counts = np.asarray(side)
    if counts.ndim == 0 or counts.dtype.kind not in "iu":
        raise PositionError(f"counts must be whole numbers of shape (..., points), not {counts.shape}")
    missing = max(0, HOME - counts.shape[-1])
    return np.pad(counts.astype(np.int64), [(0, 0)] * (counts.ndim - 1) + [(0, missing)])


def pips(side: ArrayLike) -> Integers:
    """Return the pip count, (...,).

    >>> int(pips([0, 2, 2, 2, 0, 4]))
    42
    """
    counts = of_chequers(side)
    return np.asarray(counts @ np.arange(1, counts.shape[-1] + 1))


def percent_ahead(us: ArrayLike, them: ArrayLike) -> Floats:
    """Return the lead in per cent of the pip count of the side on roll (the 8-9-12 rule).

    >>> float(percent_ahead([0, 0, 0, 0, 0, 5], [0, 3, 0, 0, 0, 5]))
    20.0
    """
    own = pips(us)
    other = pips(them)
    return np.asarray(100 * (other - own) / own)


def thorp(us: ArrayLike, them: ArrayLike) -> Integers:
    """Return E. O. Thorp's lead in tenths of a pip: their count less ours, ours with a tenth added.

    The count is pips, 2 more for each chequer, 1 more for each on the ace point, 1 less for each home point held. The
    side on roll adds a tenth of its count if that is more than 30.

    >>> int(thorp([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 10
    -2.0
    """
    own = _thorp(us)
    other = _thorp(them)
    return np.asarray(10 * other - np.where(own > 30, 11, 10) * own)


def _thorp(side: ArrayLike) -> Integers:
    """Return Thorp's count of one side."""
    counts = of_chequers(side)
    held = (counts[..., :HOME] > 0).sum(axis=-1)
    return np.asarray(pips(counts) + 2 * counts.sum(axis=-1) + counts[..., 0] - held)


def keith(us: ArrayLike, them: ArrayLike, *, down: bool = True) -> Integers:
    """Return Tom Keith's lead in sevenths of a pip: their count less ours, ours with a seventh added.

    The count is pips; 2 more for each chequer beyond one on the ace point, 1 for each beyond one on the 2 point, 1
    for each beyond three on the 3 point, 1 for each of the points 4, 5 and 6 that is empty.

    down : round the seventh down, as Keith does.

    >>> int(keith([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 7
    -3.0
    >>> int(keith([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2], down=False))
    -22
    """
    own = _keith(us)
    other = _keith(them)
    added = 7 * (own // 7) if down else own
    return np.asarray(7 * other - 7 * own - added)


def _keith(side: ArrayLike) -> Integers:
    """Return Keith's count of one side."""
    counts = of_chequers(side)
    one, two, three = (counts[..., k] for k in range(3))
    gaps = (counts[..., 3:HOME] == 0).sum(axis=-1)
    return np.asarray(pips(counts) + 2 * _excess(one, 1) + _excess(two, 1) + _excess(three, 3) + gaps)


def ward(us: ArrayLike, them: ArrayLike) -> Integers:
    """Return Jeff Ward's lead in twentieths of a pip: their count less ours, ours with a tenth added.

    The count is pips; 2 more for each chequer in excess of the other side's and half a pip for each crossover in
    excess; 2 for each chequer beyond two on the ace point, 1 for each beyond two on the 2 point, 1 for each beyond
    three on the 3 point, 1 for each of the points 4, 5 and 6 that is empty where the other side holds its own.

    >>> int(ward([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 20
    -0.7
    """
    own, other = (_relative_count(a, b, chequer=4, pip=2) for a, b in ((us, them), (them, us)))
    return np.asarray(10 * other - 11 * own)


def isight(us: ArrayLike, them: ArrayLike) -> Integers:
    """Return Axel Reichert's lead (Isight) in sixths of a pip: their count less ours, ours with a sixth added.

    The count is as `ward`, but 1 more for each chequer in excess of the other side's and 1 for each crossover in
    excess.

    >>> int(isight([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 6
    -3.8333333333333335
    """
    own, other = (_relative_count(a, b, chequer=1, pip=1) for a, b in ((us, them), (them, us)))
    return np.asarray(6 * other - 7 * own)


def _relative_count(us: ArrayLike, them: ArrayLike, *, chequer: int, pip: int) -> Integers:
    """Return the count of one side against the other, as `ward` and `isight` have it.

    chequer : what each in excess adds, in units of which `pip` make a pip; a crossover in excess adds one.
    """
    own = of_chequers(us)
    other = of_chequers(them)
    one, two, three = (own[..., k] for k in range(3))
    stacked = 2 * _excess(one, 2) + _excess(two, 2) + _excess(three, 3)
    gaps = ((own[..., 3:HOME] == 0) & (other[..., 3:HOME] > 0)).sum(axis=-1)
    excess = np.maximum(own.sum(axis=-1) - other.sum(axis=-1), 0)
    farther = np.maximum(_crossovers(own) - _crossovers(other), 0)
    return np.asarray(pip * (pips(own) + stacked + gaps) + chequer * excess + farther)


def _crossovers(counts: Integers) -> Any:
    """Return the crossings of a quarter's border that bring all chequers home."""
    return counts @ (np.arange(counts.shape[-1]) // HOME)


def _excess(chequers: Integers, allowed: int) -> Integers:
    """Return the chequers beyond the first `allowed` ones."""
    return np.maximum(chequers - allowed, 0)


def acount(us: ArrayLike, them: ArrayLike, *, rounded: bool = True) -> Integers:
    """Return the Keeler-Gillogly lead (BKG's paper) in thirtieths of a pip: their count less 1.1 times ours.

    The count is pips; 4/3 more for each chequer on the ace point, 2/3 on the 2 point, 1/3 on the 3 point; 2 more for
    each chequer in excess of the other side's; the side with fewer gaps (empty points at home) subtracts the
    difference.

    rounded : round 1.1 times our count to the nearest integer, halves up; the paper is not clear about that.

    >>> int(acount([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 30
    0.0
    """
    own = _thirds(us, them)
    other = _thirds(them, us)
    return np.asarray(10 * other - (30 * ((22 * own + 30) // 60) if rounded else 11 * own))


def _thirds(us: ArrayLike, them: ArrayLike) -> Integers:
    """Return the Keeler-Gillogly count of one side in thirds of a pip."""
    own = of_chequers(us)
    other = of_chequers(them)
    waste = own[..., :3] @ np.array([4, 2, 1])
    excess = np.maximum(own.sum(axis=-1) - other.sum(axis=-1), 0)
    gaps, other_gaps = ((side[..., :HOME] == 0).sum(axis=-1) for side in (own, other))
    return np.asarray(3 * pips(own) + waste + 6 * excess - 3 * np.maximum(other_gaps - gaps, 0))


def trice(us: ArrayLike, them: ArrayLike) -> Integers:
    """Return Walter Trice's lead on plain pips: the other side's count less the point of last take.

    That point is the greatest count with which the other side may take: our count plus, up to 62 pips, a seventh of
    what exceeds 5, rounded down; above 62 a tenth of our count, rounded down, and 1 more.

    >>> trice([[0, 0, 0, 0, 0, 5], [0, 0, 0, 0, 0, 15]], [0, 0, 0, 0, 3, 3]).tolist()
    [0, -67]
    """
    own = pips(us)
    other = pips(them)
    return np.asarray(other - own - np.where(own <= 62, (own - 5) // 7, own // 10 + 1))


def six_numbers(us: ArrayLike, them: ArrayLike) -> Integers:
    """Return the lead in pips by the best count with six numbers (docs/theory/best-count.md): their count less ours.

    The count is pips; 2 more for each two chequers, an odd one counted as two; 2 for each chequer beyond two on the
    ace point, 1 for each beyond two on the 2 point, 1 for each of the points 4, 5 and 6 that is empty. The side on
    roll adds a tenth of its count, rounded down.

    >>> int(six_numbers([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2]))
    -2
    """
    own = _six_numbers(us)
    other = _six_numbers(them)
    return np.asarray(other - own - own // 10)


def _six_numbers(side: ArrayLike) -> Integers:
    """Return the best count of six numbers of one side."""
    counts = of_chequers(side)
    pairs = (counts.sum(axis=-1) + 1) // 2
    gaps = (counts[..., 3:HOME] == 0).sum(axis=-1)
    stacked = 2 * _excess(counts[..., 0], 2) + _excess(counts[..., 1], 2)
    return np.asarray(pips(counts) + 2 * pairs + stacked + gaps)


def effective(us_rolls: ArrayLike, them_rolls: ArrayLike) -> Floats:
    """Return Walter Trice's lead on effective pips, from the expected rolls of both sides.

    Effective pips are expected rolls times 49/6. The rule is meant for positions that waste some `WASTE` pips; so
    that much is subtracted from both counts, and nothing is rounded.

    >>> float(effective(4.0, 4.5).round(4))
    1.131
    """
    own, other = (np.asarray(rolls, np.float64) * (49 / 6) - WASTE for rolls in (us_rolls, them_rolls))
    return np.asarray(other - own - np.where(own <= 62, (own - 5) / 7, own / 10 + 1))


#: pips that a position with little waste wastes: 7.07 at least with fifteen chequers, on `0 0 0 3 5 7`
WASTE = 7


def kleinman(us: ArrayLike, them: ArrayLike) -> Floats:
    """Return Danny Kleinman's K = (D + 4)^2 / (S - 4), with the sign of D + 4.

    D is the lead in pips, S the sum of both counts; S - 4 is at least 1. The win probability is about
    1/2 + erf(sqrt(K) / 2) / 2.

    >>> float(kleinman([0, 0, 0, 0, 0, 5], [0, 3, 0, 0, 0, 5]).round(4))
    1.6129
    """
    own = pips(us)
    other = pips(them)
    lead = other - own + 4
    return np.asarray(np.sign(lead) * lead**2 / np.maximum(own + other - 4, 1))
