"""The evaluation of engaged positions in heuristic points (the paper, section VI; docs/theory/bkg.md in words).

J has just moved and N moves next; Onmove is J before the play, with `Before` measured once for a roll.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.extras.lab.engine.bkg.completion import Array, Kernel
from bgfmt.extras.lab.engine.bkg.kernels import hits, measures
from bgfmt.jit import njit

TERMS = 7  # GENERAL, NEARDIS, NOTNEARDIS, DEFENSE, the holding bonus, BLOT DANGER, the last term


class Before(NamedTuple):
    """Onmove before the play: Contfactor, Contsq, Acontain, Expallin, Mostback."""

    contfactor: float
    contsq: int
    acontain: int
    expallin: int
    mostback: int


@njit()
def before(kernel: Kernel, board: Array) -> Before:
    """Onmove and what holds it."""
    us, them = board[0], board[1]
    square, held = measures.held_at(kernel.escapes, kernel.low, us, them)
    contfactor = measures.contain(kernel.escapes, kernel.low, them) ** 3 / 300
    return Before(contfactor, square, held, measures.expallin(us), measures.mostback(us))


@njit()
def passing(n: Array, edge: int) -> tuple[int, float]:
    """N's men that have yet to pass J's point `edge`, and the chance that one roll brings all of them past.

    The table's P(1) for those men, counted from the edge of the board laid at that point: a roll bears off all
    of them when its dice, or the parts of a double, reach as far.
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
def _general(kernel: Kernel, j: Array, n: Array, caploss: int, risk: hits.Danger, winfactor: float) -> float:
    points = (
        float(caploss) + j[0] * (22 if risk.one == 0 else 3) + measures.mobility(kernel.escapes, j, n) / 5
    )
    points += measures.getbackin(measures.closeboard(j, n), n[25])
    points -= risk.piploss / kernel.scale / winfactor
    if measures.mostback(j) > 6:
        points -= measures.moment2(j, kernel.moment)
    return points - 2 * (j[1] + j[2]) - measures.homblots(j) ** 2  # type: ignore[no-any-return]


@njit()
def _neardis(
    j: Array, n: Array, caploss: int, one: int, edge: int, held: int, was: Before, mover_was: bool
) -> float:
    """J is nearly past the other side. held : Acontain(N). mover_was : Onmove was so already."""
    back, gap, points = measures.mostback(j), measures.gap(j), 0.0
    if edge >= 0 or held >= 16:
        if one <= 3:
            points += edge**2 if edge > 0 else held**3 / 300
            points -= measures.histack(j)
            points += 10 if j[back] <= 2 else 0
            if back <= 6:
                points += 10 if j[back] % 2 == 0 else 0
                points += 10 if j[back] + (j[back - 1] if back > 1 else 0) >= 5 else 0
        if not mover_was:
            points += 2 * held - (3 * edge if edge > 0 else 0)
        elif caploss == 0 or one > (26 - edge) / 5:
            stuck = was.contfactor + measures.getbackin(measures.closeboard(n, j), 1) / 4
            points -= (gap + one) * stuck * 6 / back
    else:
        points += held**3 / 300
    if back + measures.mostback(n) - 25 <= 2 or gap <= 1:
        points += (was.expallin - measures.expallin(j)) / 10
    return points


@njit()
def _notneardis(kernel: Kernel, j: Array, n: Array, held: int) -> float:
    point = measures.next_point(j, n)
    points = measures.slotted(j, point) + 4.5 * measures.builders(j, point) - measures.histack(j)
    points += held**3 / 300 + measures.contain(kernel.escapes, kernel.low, j) ** 2 / 50
    if j[25] == 0:
        points += 2 * measures.escapes(kernel.escapes, n, measures.mostback(j))
    return points - 2 * measures.escapes(kernel.escapes, j, measures.mostback(n))  # type: ignore[no-any-return]


@njit()
def gammon_danger(j: Array, n: Array) -> bool:
    """J may not have a man off when N is done."""
    return measures.exploff(j) >= measures.expturns(n)  # type: ignore[no-any-return]


@njit()
def evaluate(kernel: Kernel, was: Before, start: Array, board: Array, terms: Array) -> float:
    """Heuristic points of a play: `start` before it, `board` after it, `terms` (7,) float64 for the parts."""
    j, n = board[0], board[1]
    terms[:] = 0.0
    caploss: Any = np.int64(0)
    for point in range(1, 25):
        if start[1, point] > n[point]:
            caploss += (25 - point) * (start[1, point] - n[point])
    risk = hits.danger(j, n)
    held_j = measures.held_at(kernel.escapes, kernel.low, j, n)[1]
    held_n = measures.held_at(kernel.escapes, kernel.low, n, j)[1]
    pips_j, pips_n = measures.pipcount(j), measures.pipcount(n)
    edge = pips_n - pips_j - 4
    winfactor = (pips_j + 4 + 2 * held_j) / (pips_n + 2 * held_n)
    back_j, back_n = measures.mostback(j), measures.mostback(n)
    terms[0] = _general(kernel, j, n, caploss, risk, winfactor)
    if held_j <= 6:
        terms[1] = _neardis(j, n, caploss, risk.one, edge, held_n, was, was.acontain <= 6)
    else:
        terms[2] = _notneardis(kernel, j, n, held_n)
    behind, danger = 10 * pips_j > 11 * pips_n, gammon_danger(j, n)
    holds = measures.contain(kernel.escapes, kernel.low, j) >= 15 or measures.closeboard(j, n) >= 4
    if behind and danger and holds:
        men, chance = passing(n, back_j)
        terms[3] = men**3 * (back_j + back_n - 25) * 2 - 100 * chance
    if held_n >= 16 and (kernel.hold == 0 or (behind and (kernel.hold == 1 or danger))):
        terms[4] = 150 + 3 * held_n
    if held_n != 36:
        closed = measures.closeboard(n, j)
        single = measures.getbackin(closed, 1) + was.contfactor
        double = measures.getbackin(closed, 2) + was.contfactor
        terms[5] = -(risk.one * single + risk.two * double) / kernel.scale / winfactor
    if back_j != was.mostback and back_j < was.contsq:
        terms[6] = (was.acontain**2 - held_j**2) / 50
    return terms.sum()  # type: ignore[no-any-return]
