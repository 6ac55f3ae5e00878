"""BKG's measuring functions (the paper, section V); hits are in `hits`.

`x` is the side measured and `y` the other, each by its own numbering: int64 (26,), 0 the chequers off, 25 the bar.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bgfmt.game.results import Array
from bgfmt.jit import njit

ROLL = 49 / 6  # pips of an average roll
PIPS = np.arange(26)
#: half-turns in which a man of each point comes home, and is borne off: distances in rolls of 7 pips, rounded up
COMING_HOME, GOING_OFF = (-(-2 * np.maximum(PIPS - edge, 0) // 7) for edge in (6, 0))
#: how good a next point is, by its number; 0 for those that are none
VALUES = np.array([0, 0, 1, 2, 4, 8, 6, 5, 3, 2] + [0] * 16, np.int64)


class Measures(NamedTuple):
    """BKG's measures of a side.

    escapes : rolls of 36 that escape from Mostback.
    contain : 36 less the fewest escapes from any point of the range of Contain.
    contsq, acontain : the point of that range up to Mostback with the fewest escapes, the farthest of equals, and 36
        less its escapes; 0 if Mostback is nearer.
    mobility : escapes of all chequers on board and bar.
    closeboard : home points made, less those that the other side has made, less half the home blots.
    histack : 1 for a point with three men, 2 with four, 4 with five, 7 with six, ...
    gap : empty points among the six in front of Mostback.
    expallin, exploff, expturns : half-turns to bring all men home, until the first is off, to bear off all.
    next_point : of 2..9 the best point to make that is neither made nor held by the other side, 0 for none.
    builders : spare men on the six points behind it, single ones and all but two of more.
    slotted : twice its value if one man stands on it.
    """

    pips: int
    escapes: int
    contain: int
    acontain: int
    contsq: int
    mobility: int
    mostback: int
    closeboard: int
    moment2: float
    homblots: int
    histack: int
    gap: int
    expallin: int
    exploff: int
    expturns: int
    next_point: int
    builders: int
    slotted: int


@njit()
def mostback(x: Array) -> int:
    """Return the point of the farthest man of a side, 25 on the bar, 0 when all are off.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    point = 25
    while point > 0 and x[point] == 0:
        point -= 1
    return point


@njit()
def weighted_sum(x: Array, weights: Array) -> int:
    """Return the sum of weights[point] over all men of a side, bar (25) included, men off excluded.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    total = 0
    for point in range(1, 26):
        total += weights[point] * x[point]
    return total


@njit()
def points(x: Array, first: int, last: int, least: int, most: int) -> int:
    """Return how many of the points first to last - 1 have at least `least` and at most `most` men of a side.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    many = 0
    for point in range(first, last):
        many += least <= x[point] <= most
    return many


@njit()
def men(x: Array, lowest: int) -> int:
    """Return the number of men of a side on the points from `lowest` on and on the bar.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    total = 0
    for point in range(lowest, 26):
        total += x[point]
    return total


@njit()
def pipcount(x: Array) -> int:
    """Return the pip count of a side, 25 for each man on the bar.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    return weighted_sum(x, PIPS)  # type: ignore[no-any-return]


@njit()
def escapes(table: Array, y: Array) -> Array:
    """Return for each point how many rolls of 36 bring a man on it past the points that the side `y` has made, (26,).

    table : the result of `escapes_table`.
    """
    made = 0
    rolls = np.empty(26, np.int64)
    for point in range(1, 25):
        made |= int(y[point] >= 2) << point
    for point in range(26):
        rolls[point] = table[made >> (26 - point) & 4095]
    return rolls


@njit()
def moment2(x: Array, form: int) -> float:
    """Return the mean (or sum) of squared distances from the mean point, over the men of a side behind that mean.

    x : (26,) men by point, 0 the men off, 25 the bar. form : 0 divides by the number of all men, 1 by that of those
    behind, 2 returns the sum.
    """
    many = men(x, 1)
    if many == 0:
        return 0.0
    middle = pipcount(x) / many
    squares = 0.0
    behind = 0
    for point in range(1, 26):
        if x[point] and point > middle:
            squares += x[point] * (point - middle) ** 2
            behind += x[point]
    if form == 2:
        return squares
    return squares / (many if form == 0 else max(behind, 1))


@njit()
def gaps(x: Array) -> int:
    """Return the number of empty points in the home board of a side.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    return points(x, 1, 7, 0, 0)  # type: ignore[no-any-return]


@njit()
def expallin(x: Array) -> int:
    """Return the time that a side needs to bring all men home, in half-rolls of 3.5 pips.

    Each man's distance is rounded up on its own. x : (26,) men by point, 0 the men off, 25 the bar.
    """
    return weighted_sum(x, COMING_HOME)  # type: ignore[no-any-return]


@njit()
def exploff(x: Array) -> int:
    """Return the time until a side has borne off its first man, in half-rolls of 3.5 pips.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    return expallin(x) + (x[0] == 0)  # type: ignore[no-any-return]


@njit()
def expturns(x: Array) -> int:
    """Return the time that a side needs to bear off all men, in half-rolls of 3.5 pips.

    Each man's distance is rounded up on its own. x : (26,) men by point, 0 the men off, 25 the bar.
    """
    return weighted_sum(x, GOING_OFF)  # type: ignore[no-any-return]


@njit()
def gammon_danger(x: Array, y: Array) -> bool:
    """Return True if the side `x` may not have a man off when `y` has borne off all, by their expected rolls.

    x, y : (26,) men by point, 0 the men off, 25 the bar.
    """
    return exploff(x) >= expturns(y)


@njit()
def getbackin(closed: int, men: int) -> float:
    """Return the pips that `men` men on the bar are expected to lose against `closed` closed home points."""
    c = min(max(closed, 0), 6)
    if c == 6:
        return men * 4 * ROLL
    out = c * c / 36
    return men * min(out / (1 - out), 4.0) * ROLL


@njit()
def measure_side(table: Array, low: int, form: int, x: Array, y: Array) -> Measures:
    """Return all measures of the side `x` against `y`.

    Parameters
    ----------
    table : the result of `escapes_table`.
    low : last point of the range of Contain.
    form : see `moment2`.
    x, y : (26,) men of both sides by their own points, 0 the men off, 25 the bar.
    """
    rolls = escapes(table, y)
    back = mostback(x)
    contsq = acontain = 0
    if back >= low:
        contsq = back
        for point in range(back - 1, low - 1, -1):
            if rolls[point] < rolls[contsq]:
                contsq = point
        acontain = 36 - rolls[contsq]
    best = 0
    for point in range(2, 10):
        if x[point] < 2 and y[25 - point] < 2 and VALUES[point] > VALUES[best]:
            best = point
    builders = histack = 0
    for point in range(best + 1, min(best + 6, 24) + 1 if best else 1):
        builders += 1 if x[point] == 1 else max(x[point] - 2, 0)
    for point in range(1, 25):
        if x[point] >= 3:
            histack += 1 + (x[point] - 3) * (x[point] - 2) // 2
    blots = points(x, 1, 7, 1, 1)
    return Measures(
        pipcount(x),
        rolls[back],
        36 - rolls[low:25].min(),
        acontain,
        contsq,
        weighted_sum(x, rolls),
        back,
        points(x, 1, 7, 2, 15) - points(y, 19, 25, 2, 15) - blots // 2,
        moment2(x, form),
        blots,
        histack,
        points(x, max(1, back - 6), back, 0, 0),
        expallin(x),
        exploff(x),
        expturns(x),
        best,
        builders,
        2 * VALUES[best] if x[best] == 1 else 0,
    )
