"""BKG's measuring functions of one side (the paper, section V); hits are in `hits`.

`x` is the side measured and `y` the other, each by its own numbering: int64 (26,), 0 the chequers off, 25 the bar.
"""

from __future__ import annotations

import numpy as np

from bgfmt.game.results import Array
from bgfmt.jit import njit

ROLL = 49 / 6  # pips of an average roll
#: how good a next point is, by its number; 0 for those that are none
VALUES = np.array([0, 0, 1, 2, 4, 8, 6, 5, 3, 2] + [0] * 16, np.int64)


@njit()
def mostback(x: Array) -> int:
    """The farthest chequer, 25 on the bar, 0 when all are off."""
    point = 25
    while point > 0 and x[point] == 0:
        point -= 1
    return point


@njit()
def men(x: Array, lowest: int) -> int:
    """Men on the points from `lowest` on and on the bar."""
    total = 0
    for point in range(lowest, 26):
        total += x[point]
    return total


@njit()
def pipcount(x: Array) -> int:
    """Pips, 25 for each chequer on the bar."""
    total = 0
    for point in range(1, 26):
        total += point * x[point]
    return total


@njit()
def escapes(table: Array, y: Array, point: int) -> int:
    """Rolls of 36 that bring a man on `point` past the points that the other side has made, by the 12-bit table."""
    code = 0
    for d in range(1, 13):
        if point - d >= 1 and y[25 - (point - d)] >= 2:
            code |= 1 << (d - 1)
    return table[code]  # type: ignore[no-any-return]


@njit()
def contain(table: Array, low: int, y: Array) -> int:
    """How well the side facing `y` is held: 36 less the fewest escapes from any of its points low..24."""
    least = 36
    for point in range(low, 25):
        least = min(least, escapes(table, y, point))
    return 36 - least


@njit()
def held_at(table: Array, low: int, x: Array, y: Array) -> tuple[int, int]:
    """Contsq and Acontain: the point low..Mostback with the fewest escapes (the farthest of equals), 36 less them."""
    back = mostback(x)
    if back < low:
        return 0, 0
    square, least = back, escapes(table, y, back)
    for point in range(back - 1, low - 1, -1):
        now = escapes(table, y, point)
        if now < least:
            square, least = point, now
    return square, 36 - least


@njit()
def mobility(table: Array, x: Array, y: Array) -> int:
    """Sum of the escapes of all chequers on board and bar."""
    total = 0
    for point in range(1, 26):
        if x[point]:
            total += x[point] * escapes(table, y, point)
    return total


@njit()
def moment2(x: Array, form: int) -> float:
    """Squares of the distances of the men behind the mean: form 0 over all men, 1 over those behind, 2 their sum."""
    many = men(x, 1)
    if many == 0:
        return 0.0
    middle, squares, behind = pipcount(x) / many, 0.0, 0
    for point in range(1, 26):
        if x[point] and point > middle:
            squares += x[point] * (point - middle) ** 2
            behind += x[point]
    if form == 2:
        return squares
    return squares / (many if form == 0 else max(behind, 1))


@njit()
def homblots(x: Array) -> int:
    """Single men on the home board."""
    blots = 0
    for point in range(1, 7):
        blots += x[point] == 1
    return blots


@njit()
def closeboard(x: Array, y: Array) -> int:
    """Home points made, less those that the other side has made, less half the home blots."""
    points = 0
    for point in range(1, 7):
        points += (x[point] >= 2) - (y[25 - point] >= 2)
    return points - homblots(x) // 2  # type: ignore[no-any-return]


@njit()
def next_point(x: Array, y: Array) -> int:
    """The point 2..9 best worth making that is neither made nor held by the other side; 0 for none."""
    best = 0
    for point in range(2, 10):
        if x[point] < 2 and y[25 - point] < 2 and VALUES[point] > VALUES[best]:
            best = point
    return best


@njit()
def builders(x: Array, point: int) -> int:
    """Spare men on the six points behind a point: a single man, and all but two of more than two."""
    spare = 0
    if point > 0:
        for p in range(point + 1, min(point + 6, 24) + 1):
            spare += 1 if x[p] == 1 else max(x[p] - 2, 0)
    return spare


@njit()
def slotted(x: Array, point: int) -> int:
    """Twice the value of the next point where exactly one man stands on it."""
    return 2 * VALUES[point] if point > 0 and x[point] == 1 else 0  # type: ignore[no-any-return]


@njit()
def histack(x: Array) -> int:
    """Three men on a point 1, four 2, five 4, six 7, ..."""
    total = 0
    for point in range(1, 25):
        n = x[point]
        if n >= 3:
            total += 1 + (n - 3) * (n - 2) // 2
    return total


@njit()
def gap(x: Array) -> int:
    """Empty points among the six in front of Mostback."""
    back, empty = mostback(x), 0
    for point in range(max(1, back - 6), back):
        empty += x[point] == 0
    return empty


@njit()
def getbackin(closed: int, men: int) -> float:
    """Pips that `men` men on the bar are expected to lose against a number of closed points."""
    c = min(max(closed, 0), 6)
    if c == 6:
        return men * 4 * ROLL
    out = c * c / 36
    return men * min(out / (1 - out), 4.0) * ROLL


@njit()
def expallin(x: Array) -> int:
    """Half-turns to bring all men home."""
    total = 0
    for point in range(7, 26):
        total += x[point] * ((2 * (point - 6) + 6) // 7)
    return total


@njit()
def exploff(x: Array) -> int:
    """Half-turns until the first man is off."""
    return expallin(x) + (x[0] == 0)  # type: ignore[no-any-return]


@njit()
def expturns(x: Array) -> int:
    """Half-turns to bear off all men."""
    total = 0
    for point in range(1, 26):
        total += x[point] * ((2 * point + 6) // 7)
    return total
