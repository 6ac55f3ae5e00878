"""Pairs whose sides have not passed each other, as makebearoff decides them in tables of more than 12 points.

Found by experiment with makebearoff 1.07: 13x2, 14x2, 16x2 and 13x3 follow it in every entry. Plays are those of the
game, a point with two chequers of the other side is closed, but
* a chequer that lands on a blot leaves that blot where it was, and is the only one on its point afterwards, even
  where one of its own was there;
* a roll without a play counts -65535, not the position as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.tables.two_sided import StoredEquities
from bgfmt.verifier.recurrence.plays import NOWHERE, WEIGHTS, Array, landing, numbering
from bgfmt.verifier.recurrence.two_sided import PairRule, raise_best, store_mean

__all__ = ["PLAIN_POINTS", "ContactRule", "values_in_contact"]

PLAIN_POINTS = 12  # on more points the sides' points overlap
MAX_PASSED_POINTS = 24  # sum of both sides' last points up to which the sides have passed each other
NO_PLAY_VALUE = -65535  # value of a roll without a legal play


class ContactRule(PairRule):
    """The rule of a table of more than 12 points, where the sides may be in contact."""

    sides_passed = False

    def __init__(self, table: StoredEquities) -> None:
        super().__init__(table)
        self.counts = board.unrank_array(np.arange(self.n), self.points)
        self.last = np.where(self.counts > 0, np.arange(1, self.points + 1), 0).max(axis=1)

    def fill(self, rows: Array, them: Array, expected: Array, lane: int) -> None:
        super().fill(rows, them, expected, lane)
        for k, side in enumerate(them):
            us = np.flatnonzero(self.last + self.last[side] > MAX_PASSED_POINTS)
            at = lane + k * self.columns
            if len(us):
                here = np.full(len(us), k)
                expected[us, at : at + self.columns] = self.values(rows, here, us, np.full(len(us), side))

    def values(self, rows: Array, at: Array, us: Array, them: Array) -> Array:
        met = self.last[us] + self.last[them] > MAX_PASSED_POINTS
        out, value = np.zeros((2, len(us), self.columns), np.int64)
        out[~met] = super().values(rows, at[~met], us[~met], them[~met])
        terms = numbering(self.points).terms
        value = value[met]
        values_in_contact(rows, at[met], self.counts[us[met]], self.counts[them[met]], terms, value)
        out[met] = value
        return out


# -- compiled ----------------------------------------------------------------------------------------------------


@njit("i1.1C, i1.1C, i8, i8, i1.1C, i1.1C")
def move_chequer(us: Array, them: Array, source: int, die: int, after: Array, met: Array) -> bool:
    """Move a chequer of ours from index `source` (0 is point 1) by a die; return False if it may not move.

    us, them : both sides before the move. after, met : our and their side after it, filled by this function.
    """
    points = len(us)
    if us[source] == 0:
        return False
    top = points - 1
    while us[top] == 0:
        top -= 1
    to = landing(source, die, top)
    if to == NOWHERE:
        return False
    place = 23 - to  # of the point it lands on, as they count
    if to >= 0 and place < points and them[place] > 1:
        return False
    for i in range(points):
        after[i] = us[i]
        met[i] = them[i]
    after[source] -= 1
    if to >= 0:
        if place < points and them[place] == 1:
            after[to] = 1
            met[place] = 0
        else:
            after[to] += 1
    return True


@njit()
def consider(row: Array, after: Array, terms: Array, best: Array) -> None:
    """Raise each value of `best` to that of a play that leads to our side `after`, where the latter is greater.

    row : (n, columns) entries of the other side, on roll, by our position number. terms : see `Numbering`.
    """
    points = len(after)
    number = 0
    above = 0
    for k in range(points):
        above += after[points - 1 - k]
        number += terms[k, above]
    raise_best(row, number, False, best)


@njit("i1.1C, i1.1C, u2.2C, i8.2C, i8.1C, i8, i8, i1.2C, i1.2C, i8.1C")
def try_order(
    us: Array, them: Array, row: Array, terms: Array, dice: Array, most: int, least: int, boards: Array, met: Array,
    best: Array,
) -> int:  # fmt: skip
    """Evaluate the plays of the dice in this order that use at least `least` dice, and as many as possible.

    Returns the number of dice that these or earlier plays use. The points that the chequers of a double leave never
    rise.

    Parameters
    ----------
    us, them : the sides before the roll.
    row, terms : see `consider`.
    dice : two dice, or four of a double.
    most : number of dice that plays of the other order use; `best` is reset if more can be used.
    boards, met : (5, points) working space.
    best : (4,) the best values so far.
    """
    points = len(us)
    many = len(dice)
    source = np.full(many + 1, points)
    goes_on = np.zeros(many + 1, np.bool_)
    depth = 0
    boards[0] = us
    met[0] = them
    while depth >= 0:
        i = source[depth] - 1 if depth < many else -1
        while i >= 0 and not move_chequer(
            boards[depth], met[depth], i, dice[depth], boards[depth + 1], met[depth + 1]
        ):
            i -= 1
        if i >= 0:
            source[depth] = i
            goes_on[depth] = True
            depth += 1
            source[depth] = i + 1 if many == 4 else points
            goes_on[depth] = False
            continue
        if depth >= max(most, least) and not goes_on[depth]:
            if depth > most:
                best[:] = NO_PLAY_VALUE
                most = depth
            consider(row, boards[depth], terms, best)
        depth -= 1
    return most


@njit("u2.3C, i8.1C, i1.2C, i1.2C, i8.2C, i8.2C")
def values_in_contact(rows: Array, at: Array, us: Array, them: Array, terms: Array, out: Array) -> None:
    """Compute the values, as makebearoff stores them, of the sides us[i] on roll against them[i] into out[i].

    us, them : (m, points) int8. rows, at : rows[at[i]] are the entries of them[i] on roll; rows is (r, n, columns)
    uint16. terms : of a `Numbering`. out : (m, columns) int64.
    """
    points = us.shape[1]
    columns = rows.shape[2]
    boards = np.zeros((5, points), np.int8)
    met = np.zeros((5, points), np.int8)
    best = np.empty(4, np.int64)
    total = np.empty(4, np.int64)
    none: Any = np.int64(0)  # no literals, for which numba would compile `try_order` once more
    one: Any = np.int64(1)
    for i in range(len(us)):
        row = rows[at[i]]
        u = us[i]
        t = them[i]
        total[:] = 0
        roll = 0
        for a in range(1, 7):
            for b in range(1, a + 1):
                best[:] = NO_PLAY_VALUE
                dice = np.array([a, a, a, a]) if a == b else np.array([a, b])
                most = try_order(u, t, row, terms, dice, none, one, boards, met, best)
                if a != b:  # where one die alone can be played, the larger is
                    dice = dice[::-1].copy()
                    try_order(u, t, row, terms, dice, most, 2 if most else 1, boards, met, best)
                for c in range(columns):
                    total[c] += WEIGHTS[roll] * best[c]
                roll += 1
        store_mean(total, False, out[i])
