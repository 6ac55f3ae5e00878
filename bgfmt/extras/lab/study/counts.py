"""The counts that players go by in a race, of many pairs of sides at once.

Counts are (..., points) arrays of chequers, the ace point first, of the side on roll and of the other; the two
broadcast. Every function returns how far the other side is behind (or how sure the side on roll may be): the greater
the number, the better for the side on roll. What a rule makes of the number is in
`bgfmt.extras.lab.study.rules`; worked
examples and doubts are in `docs/theory/thumb-rules.md`.

Multiples of a tenth, a seventh or a sixth are compared as whole numbers of that part: binary fractions would put the
limits on the wrong side.
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
    """Counts as int64 of shape (..., 6 or more); PositionError for another shape."""
    counts = np.asarray(side)
    if counts.ndim == 0 or counts.dtype.kind not in "iu":
        raise PositionError(f"counts need whole numbers of shape (..., points), not {counts.shape}")
    missing = max(0, HOME - counts.shape[-1])
    return np.pad(counts.astype(np.int64), [(0, 0)] * (counts.ndim - 1) + [(0, missing)])


def pips(side: ArrayLike) -> Integers:
    """The pip count, (...,).

    >>> int(pips([0, 2, 2, 2, 0, 4]))
    42
    """
    counts = of_chequers(side)
    return np.asarray(counts @ np.arange(1, counts.shape[-1] + 1))


def percent_ahead(us: ArrayLike, them: ArrayLike) -> Floats:
    """The lead in per cent of the own pip count (the 8-9-12 rule).

    >>> float(percent_ahead([0, 0, 0, 0, 0, 5], [0, 3, 0, 0, 0, 5]))
    20.0
    """
    own = pips(us)
    other = pips(them)
    return np.asarray(100 * (other - own) / own)


def thorp(us: ArrayLike, them: ArrayLike) -> Integers:
    """E. O. Thorp's count, in tenths of a pip: theirs less ours with its tenth added.

    Pips, 2 more for each chequer, 1 more for each on the ace point, 1 less for each home point held; the side on
    roll adds a tenth where it has more than 30.

    >>> int(thorp([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 10
    -2.0
    """
    own = _thorp(us)
    other = _thorp(them)
    return np.asarray(10 * other - np.where(own > 30, 11, 10) * own)


def _thorp(side: ArrayLike) -> Integers:
    counts = of_chequers(side)
    held = (counts[..., :HOME] > 0).sum(axis=-1)
    return np.asarray(pips(counts) + 2 * counts.sum(axis=-1) + counts[..., 0] - held)


def keith(us: ArrayLike, them: ArrayLike, *, down: bool = True) -> Integers:
    """Tom Keith's count, in sevenths of a pip: theirs less ours with its seventh added (`down`: rounded down).

    Pips; 2 more for each chequer beyond one on the ace point, 1 for each beyond one on the 2 point, 1 for each beyond
    three on the 3 point, 1 for each of the points 4, 5 and 6 that is empty.

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
    counts = of_chequers(side)
    one, two, three = (counts[..., k] for k in range(3))
    gaps = (counts[..., 3:HOME] == 0).sum(axis=-1)
    return np.asarray(pips(counts) + 2 * _beyond(one, 1) + _beyond(two, 1) + _beyond(three, 3) + gaps)


def ward(us: ArrayLike, them: ArrayLike) -> Integers:
    """Jeff Ward's count, in twentieths of a pip: theirs less ours with its tenth added.

    Pips; 2 more for each chequer in excess of the other side's and half a pip for each crossover in excess; 2 for
    each chequer beyond two on the ace point, 1 for each beyond two on the 2 point, 1 for each beyond three on the 3
    point, 1 for each of the points 4, 5 and 6 that is empty where the other side holds its own.

    >>> int(ward([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 20
    -0.7
    """
    own, other = (_compared(a, b, chequer=4, crossover=1, pip=2) for a, b in ((us, them), (them, us)))
    return np.asarray(10 * other - 11 * own)


def isight(us: ArrayLike, them: ArrayLike) -> Integers:
    """Axel Reichert's count, in sixths of a pip: theirs less ours with its sixth added.

    As `ward`, but 1 more for each chequer in excess of the other side's and 1 for each crossover in excess.

    >>> int(isight([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 6
    -3.8333333333333335
    """
    own, other = (_compared(a, b, chequer=1, crossover=1, pip=1) for a, b in ((us, them), (them, us)))
    return np.asarray(6 * other - 7 * own)


def _compared(us: ArrayLike, them: ArrayLike, *, chequer: int, crossover: int, pip: int) -> Integers:
    """The count of one side that looks at the other, in parts of a pip: `pip` of them make one."""
    own = of_chequers(us)
    other = of_chequers(them)
    one, two, three = (own[..., k] for k in range(3))
    stacked = 2 * _beyond(one, 2) + _beyond(two, 2) + _beyond(three, 3)
    gaps = ((own[..., 3:HOME] == 0) & (other[..., 3:HOME] > 0)).sum(axis=-1)
    excess = np.maximum(own.sum(axis=-1) - other.sum(axis=-1), 0)
    farther = np.maximum(_crossovers(own) - _crossovers(other), 0)
    return np.asarray(pip * (pips(own) + stacked + gaps) + chequer * excess + crossover * farther)


def _crossovers(counts: Integers) -> Any:
    """Crossings of a quarter's border that bring all chequers home."""
    return counts @ (np.arange(counts.shape[-1]) // HOME)


def _beyond(chequers: Integers, allowed: int) -> Integers:
    return np.maximum(chequers - allowed, 0)


def acount(us: ArrayLike, them: ArrayLike, *, rounded: bool = True) -> Integers:
    """The Keeler-Gillogly count of BKG's paper, in thirtieths of a pip: theirs less 1.1 times ours.

    Pips; 4/3 more for each chequer on the ace point, 2/3 on the 2 point, 1/3 on the 3 point; 2 more for each chequer
    in excess of the other side's; the difference in gaps (empty points at home) less for the side with fewer. 1.1
    times the own count is `rounded` to the nearest whole number, halves up: that is not certain in the paper.

    >>> int(acount([5, 2, 3, 3, 2], [3, 3, 3, 2, 2, 2])) / 30
    0.0
    """
    own = _thirds(us, them)
    other = _thirds(them, us)
    return np.asarray(10 * other - (30 * ((22 * own + 30) // 60) if rounded else 11 * own))


def _thirds(us: ArrayLike, them: ArrayLike) -> Integers:
    own = of_chequers(us)
    other = of_chequers(them)
    waste = own[..., :3] @ np.array([4, 2, 1])
    excess = np.maximum(own.sum(axis=-1) - other.sum(axis=-1), 0)
    gaps, other_gaps = ((side[..., :HOME] == 0).sum(axis=-1) for side in (own, other))
    return np.asarray(3 * pips(own) + waste + 6 * excess - 3 * np.maximum(other_gaps - gaps, 0))


def trice(us: ArrayLike, them: ArrayLike) -> Integers:
    """Walter Trice's rule on plain pips: theirs less the most with which they may take (the point of last take).

    That is our count and, up to 62 pips, a seventh of what it has beyond 5, rounded down; a tenth of it and one more
    above 62, rounded down.

    >>> trice([[0, 0, 0, 0, 0, 5], [0, 0, 0, 0, 0, 15]], [0, 0, 0, 0, 3, 3]).tolist()
    [0, -67]
    """
    own = pips(us)
    other = pips(them)
    return np.asarray(other - own - np.where(own <= 62, (own - 5) // 7, own // 10 + 1))


def effective(us_rolls: ArrayLike, them_rolls: ArrayLike) -> Floats:
    """Trice's rule on effective pips, from the mean rolls of both sides: theirs less the point of last take.

    Effective pips are mean rolls times 49/6. The rule is about positions that waste little, some `WASTE` pips; so
    that much is taken off both counts, and nothing is rounded.

    >>> float(effective(4.0, 4.5).round(4))
    1.131
    """
    own, other = (np.asarray(rolls, np.float64) * (49 / 6) - WASTE for rolls in (us_rolls, them_rolls))
    return np.asarray(other - own - np.where(own <= 62, (own - 5) / 7, own / 10 + 1))


#: pips that a position with little waste wastes: 7.07 at least with fifteen chequers, on `0 0 0 3 5 7`
WASTE = 7


def kleinman(us: ArrayLike, them: ArrayLike) -> Floats:
    """Danny Kleinman's K = (D + 4)^2 / (S - 4), D the lead in pips, S the sum; negative where D + 4 is.

    The chance to win is about 1/2 + erf(sqrt(K) / 2) / 2. Where S - 4 would be less than 1 it is taken as 1.

    >>> float(kleinman([0, 0, 0, 0, 0, 5], [0, 3, 0, 0, 0, 5]).round(4))
    1.6129
    """
    own = pips(us)
    other = pips(them)
    lead = other - own + 4
    return np.asarray(np.sign(lead) * lead**2 / np.maximum(own + other - 4, 1))
