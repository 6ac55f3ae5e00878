"""Blots and who can hit them: P1, P2 and Piploss (the paper, section V; our choices: docs/theory/bkg.md).

The side that has moved, J, owns the blots; N hits next. All points are N's: a hitter on its point q meets a blot on
its point t, J's own point 25 - t, at the distance q - t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bgfmt.extras.lab.engine.bkg.kernels import measures
from bgfmt.game.results import Array
from bgfmt.jit import njit


class Danger(NamedTuple):
    """The danger of being hit by the next roll.

    p1 : rolls of 36 that hit. p2 : rolls that hit twice or point on a blot. piploss : pips lost, summed over rolls.
    """

    p1: int
    p2: int
    piploss: int


@njit()
def _scene(j: Array, n: Array) -> tuple[Array, Array, Array]:
    """Return by N's points where it may land, where J has blots, and its hitters."""
    free = np.zeros(26, np.bool_)
    blot = np.zeros(26, np.bool_)
    men = n.copy()
    first = (
        3 if measures.points(n, 1, 7, 2, 15) <= 2 else 1
    )  # lowest point on which a single man of J counts as a blot
    for t in range(1, 25):
        free[t] = j[25 - t] < 2
        blot[t] = t >= first and j[25 - t] == 1
        if t <= 6 and n[t] == 2:
            men[t] = 0
    return free, blot, men


@njit()
def _single(blot: Array, men: Array, die: int) -> tuple[int, int]:
    """Return the number of pairs of a hitter and a blot one die apart, and the farthest such blot.

    The blot is N's point, 0 if there is none.
    """
    pairs = farthest = 0
    for t in range(1, 25 - die):
        if blot[t] and men[t + die]:
            pairs += 1
            farthest = t
    return pairs, farthest


@njit()
def _way(free: Array, blot: Array, q: int, a: int, b: int) -> tuple[int, bool]:
    """Return the point of the blot that a man on q hits with both dice, and whether another blot is on the way.

    The point is 0 if it hits none.
    """
    t = q - a - b
    if t < 1 or not blot[t]:
        return 0, False
    if not (free[q - a] or free[q - b]):
        return 0, False
    return t, blot[q - a] or blot[q - b]


@njit()
def _ladder(free: Array, blot: Array, q: int, die: int, most: int) -> tuple[int, bool]:
    """Return the farthest blot that a man on q hits with 2 to `most` parts of a double (0 if none).

    The second value is whether it passes another blot before one that it hits.
    """
    farthest = 0
    over = False
    passed = False
    for k in range(1, most + 1):
        t = q - k * die
        if t < 1:
            break
        if k >= 2 and blot[t]:
            farthest = max(farthest, t)
            over = over or passed
        if not free[t]:
            break
        passed = passed or blot[t]
    return farthest, over


@njit()
def _pointed(blot: Array, men: Array, a: int, b: int) -> bool:
    """Return True if each die has a hitter and they are two men (rule R2)."""
    by_first = by_second = by_one_man = 0
    for q in range(1, 25):
        if men[q]:
            first = q > a and blot[q - a]
            second = q > b and blot[q - b]
            by_first += first
            by_second += second
            by_one_man += first and second and men[q] == 1
    return by_first * by_second > by_one_man


@njit()
def _double(free: Array, blot: Array, men: Array, die: int) -> tuple[int, bool]:
    """Return the farthest blot that a double hits (0: none), and whether it counts for P2.

    At most one man is on the bar.
    """
    bar = men[25] > 0
    if bar and not free[25 - die]:
        return 0, False
    pairs, farthest = _single(blot, men, die)
    entered = bar and blot[25 - die]
    if entered:
        pairs = pairs + 1
        farthest = 25 - die
    twice = pairs >= 2
    for q in range(1, 26):
        if men[q]:
            t, over = _ladder(free, blot, q, die, 3 if bar and q < 25 else 4)
            farthest = max(farthest, t)
            twice = twice or over or (q == 25 and entered and t > 0)
    return farthest, twice


@njit()
def _two_dice(free: Array, blot: Array, men: Array, a: int, b: int) -> tuple[int, bool]:
    """Return the same for two different dice.

    A man on the bar enters with one die, and he or another man moves on with the other.
    """
    bar = men[25] > 0
    farthest = 0
    twice = not bar and _pointed(blot, men, a, b)
    for q in range(25 if bar else 1, 26):
        if men[q]:
            t, over = _way(free, blot, q, a, b)
            farthest = max(farthest, t)
            twice = twice or over
    for k in range(2):
        enter, rest = (25 - a, b) if k == 0 else (25 - b, a)
        if not bar or free[enter]:
            pairs, t = _single(blot, men, rest)
            farthest = max(farthest, t)
            if bar and blot[enter]:
                farthest = max(farthest, enter)
                twice = twice or pairs > 0
    return farthest, twice


@njit()
def danger(j: Array, n: Array) -> Danger:
    """Return how many rolls of N, the side to move next, hit J's blots once or twice, and the pips that J loses.

    j, n : (26,) men of both sides by their own points, 0 the men off, 25 the bar.
    """
    free, blot, men = _scene(j, n)
    if not blot.any():
        return Danger(0, 0, 0)
    one = two = piploss = 0
    for a in range(1, 7):
        for b in range(1, a + 1):
            if n[25] > 1:
                farthest = max((25 - a) * blot[25 - a], (25 - b) * blot[25 - b])
                twice = blot[25 - a] and blot[25 - b]
            elif a == b:
                farthest, twice = _double(free, blot, men, a)
            else:
                farthest, twice = _two_dice(free, blot, men, a, b)
            if farthest:
                weight = 1 if a == b else 2
                one += weight
                piploss += weight * farthest
                two += weight if twice else 0
    return Danger(one, two, piploss)
