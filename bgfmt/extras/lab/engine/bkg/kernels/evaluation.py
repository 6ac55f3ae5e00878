"""The evaluation of engaged positions in heuristic points (the paper, section VI; our choices: docs/theory/bkg.md).

J has just moved and N moves next; Onmove is J before the play, measured once for a roll.
"""

from __future__ import annotations

import numpy as np

from bgfmt.extras.lab.engine.bkg.completion import Array, Kernel
from bgfmt.extras.lab.engine.bkg.kernels import hits
from bgfmt.extras.lab.engine.bkg.kernels.measures import (
    Measures,
    gammon_danger,
    getbackin,
    measure_side,
    pipcount,
)
from bgfmt.jit import njit

TERMS = 7  # GENERAL, NEARDIS, NOTNEARDIS, DEFENSE, the holding bonus, BLOT DANGER, the last term


@njit()
def passing(n: Array, edge: int) -> tuple[int, float]:
    """Return how many of N's men must still pass J's point `edge`, and the probability that one roll is enough.

    N is the side that moves next, J the one that has just moved. A roll is enough if its dice, or the parts of a
    double, carry all of these men past the point.

    n : (26,) N's men by point, 25 the bar.
    """
    men = 0
    first = second = 0  # distances of the two farthest
    steps = np.zeros(7, np.int64)  # parts of a double 1..6
    for q in range(25 - edge + 1, 26):
        if n[q]:
            d = q + edge - 25
            men += n[q]
            second = d if n[q] > 1 else first
            first = d
            for die in range(1, 7):
                steps[die] += n[q] * ((d + die - 1) // die)
    rolls = 0
    for a in range(1, 7):
        rolls += steps[a] <= 4
        for b in range(1, a):
            one_man = men == 1 and first <= a + b
            two_men = men == 2 and first <= a and second <= b
            rolls += 2 * (men == 0 or one_man or two_men)
    return men, rolls / 36


@njit()
def _neardis(ours: Array, j: Measures, n: Measures, was: Measures, one: int, edge: int, hit: bool) -> float:
    """Return the points of NEARDIS: J is nearly past the other side.

    one : rolls that hit J. hit : whether the play hit.
    """
    back = j.mostback
    points = 0.0
    if edge >= 0 or n.acontain >= 16:
        if one <= 3:
            points += edge**2 if edge > 0 else n.acontain**3 / 300
            points -= j.histack
            points += 10 if ours[back] <= 2 else 0
            if back <= 6:
                points += 10 if ours[back] % 2 == 0 else 0
                points += 10 if ours[back] + (ours[back - 1] if back > 1 else 0) >= 5 else 0
        if was.acontain > 6:
            points += 2 * n.acontain - (3 * edge if edge > 0 else 0)
        elif not hit or one > (26 - edge) / 5:
            stuck = was.contain**3 / 300 + getbackin(n.closeboard, 1) / 4
            points -= (j.gap + one) * stuck * 6 / back
    else:
        points += n.acontain**3 / 300
    if back + n.mostback - 25 <= 2 or j.gap <= 1:
        points += (was.expallin - j.expallin) / 10
    return points


@njit()
def evaluate(kernel: Kernel, was: Measures, start: Array, board: Array, terms: Array) -> float:
    """Return the heuristic points that BKG gives to a play in an engaged position.

    was : measures of the playing side before the play. start, board : the boards before and after it.
    terms : (7,) float64, filled with the parts of the points.
    """
    ours = board[0]
    theirs = board[1]
    risk = hits.danger(board[0], board[1])
    j = measure_side(kernel.escapes, kernel.low, kernel.moment, ours, theirs)
    n = measure_side(kernel.escapes, kernel.low, kernel.moment, theirs, ours)
    caploss = n.pips - pipcount(start[1])
    edge = n.pips - j.pips - 4
    winfactor = (j.pips + 4 + 2 * j.acontain) / (n.pips + 2 * n.acontain)
    terms[:] = 0.0
    terms[0] = float(caploss) + ours[0] * (22 if risk.p1 == 0 else 3) + j.mobility / 5
    terms[0] += getbackin(j.closeboard, theirs[25])
    terms[0] -= risk.piploss / kernel.scale / winfactor
    if j.mostback > 6:
        terms[0] -= j.moment2
    terms[0] = terms[0] - 2 * (ours[1] + ours[2]) - j.homblots**2
    if j.acontain <= 6:
        terms[1] = _neardis(ours, j, n, was, risk.p1, edge, caploss > 0)
    else:
        terms[2] = j.slotted + 4.5 * j.builders - j.histack
        terms[2] += n.acontain**3 / 300 + n.contain**2 / 50
        if ours[25] == 0:
            terms[2] += 2 * j.escapes
        terms[2] -= 2 * n.escapes
    behind = 10 * j.pips > 11 * n.pips
    danger = gammon_danger(ours, theirs)
    if behind and danger and (n.contain >= 15 or j.closeboard >= 4):
        men, chance = passing(theirs, j.mostback)
        terms[3] = men**3 * (j.mostback + n.mostback - 25) * 2 - 100 * chance
    if n.acontain >= 16 and (kernel.hold == 0 or (behind and (kernel.hold == 1 or danger))):
        terms[4] = 150 + 3 * n.acontain
    if n.acontain != 36:
        contfactor = was.contain**3 / 300
        single = getbackin(n.closeboard, 1) + contfactor
        double = getbackin(n.closeboard, 2) + contfactor
        terms[5] = -(risk.p1 * single + risk.p2 * double) / kernel.scale / winfactor
    if j.mostback != was.mostback and j.mostback < was.contsq:
        terms[6] = (was.acontain**2 - j.acontain**2) / 50
    return terms.sum()  # type: ignore[no-any-return]
