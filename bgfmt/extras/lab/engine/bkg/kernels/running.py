"""Play after all contact: the running game by points, the bear-off by Gillogly's table (sections VI and VII)."""

from __future__ import annotations

import numpy as np

from bgfmt.extras.lab.engine.bkg.completion import Array, Kernel
from bgfmt.extras.lab.engine.bkg.kernels import measures
from bgfmt.jit import njit

EQUAL = 1e-12
FAR_BEHIND = 0.10
COLUMNS = 8
HOME = 6
#: points for a man on each point outside, from which few pips are left to the next quarter
OUTSIDE = np.array([(3 - (p - 1) // 6) * ((p - 1) % 6 + 1) * (HOME < p < 25) for p in range(26)])


@njit()
def number(kernel: Kernel, x: Array) -> int:
    """Return the position number of a side on six home points; -1 unless all men are home.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    if measures.mostback(x) > HOME:
        return -1
    total = above = 0
    for k in range(HOME):
        above += x[HOME - k]
        total += kernel.terms[k, above]
    return total


@njit()
def row(kernel: Kernel, x: Array) -> int:
    """Return the row of a side in the bear-off table (its position number); -1 if the table does not have it.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    place = number(kernel, x)
    return place if place >= 0 and kernel.enr[place] < np.inf else -1


@njit()
def off_within(kernel: Kernel, place: int, rolls: int) -> float:
    """Return the probability that a side bears off in at most `rolls` rolls; place : its row of the table."""
    if place == 0:
        return 1.0
    return kernel.chances[place, : min(max(rolls, 0), COLUMNS)].sum()  # type: ignore[no-any-return]


@njit()
def win_chance(kernel: Kernel, us: int, them: int) -> float:
    """Return the win probability of the side on roll: W / (W + V), W and V being the sides' chances to be off first.

    us, them : rows of both sides in the bear-off table.
    """
    win = lose = 0.0
    ours = theirs = 1.0
    for n in range(COLUMNS):
        win += kernel.chances[us, n] * theirs
        ours -= kernel.chances[us, n]
        lose += kernel.chances[them, n] * ours
        theirs -= kernel.chances[them, n]
    return win / (win + lose)


@njit()
def expected_rolls(kernel: Kernel, x: Array) -> float:
    """Return the expected number of rolls of a side by the bear-off table, outside of it estimated by pips and men.

    x : (26,) men by point, 0 the men off, 25 the bar.
    """
    place = row(kernel, x)
    if place >= 0:
        return kernel.enr[place]  # type: ignore[no-any-return]
    return max(measures.pipcount(x) / 7, (measures.men(x, 1) + 1) / 2)


@njit()
def worth(kernel: Kernel, board: Array, place: int, mode: int, rolls: int) -> tuple[float, float]:
    """Return (value, tie-breaker) by which a board after a play in the bear-off is ranked; greater is better.

    Parameters
    ----------
    board : (2, 26), the side that has played first. place : its row of the bear-off table.
    mode : 0 least expected rolls; 1 greatest probability of being off in at most `rolls` rolls, then least expected
        rolls; 2 least win probability of the opponent.
    """
    if mode == 1:
        return off_within(kernel, place, rolls), -kernel.enr[place]
    if mode == 2:
        theirs = row(kernel, board[1])
        return (1.0 if place == 0 else -win_chance(kernel, theirs, place)), 0.0
    return -kernel.enr[place], 0.0


@njit()
def mode_of(kernel: Kernel, start: Array) -> tuple[int, int]:
    """Return (mode, rolls), which tell `worth` how to rank the plays of a roll from the board `start`.

    This is section VII of the paper with its exceptions.
    """
    us = row(kernel, start[0])
    them = row(kernel, start[1])
    if kernel.by_w and them >= 0:
        return 2, 0
    if us >= 0 and them >= 0 and win_chance(kernel, us, them) < FAR_BEHIND:
        return 1, int(np.floor(kernel.enr[them] + 1e-9))
    if us >= 0 and measures.men(start[1], 1) == 15:
        return 1, (measures.exploff(start[1]) + 1) // 2
    return 0, 0


@njit()
def _quick_doubles(x: Array) -> int:
    """Return how many doubles among 2-2..6-6 bring all men home and bear one off."""
    good = 0
    for die in range(2, 7):
        side = x.copy()
        steps = 4
        back = measures.mostback(side)
        while back > HOME and steps > 0:
            side[back] -= 1
            side[back - die] += 1
            steps -= 1
            back = measures.mostback(side)
        if back > HOME or steps == 0:
            continue
        off = False
        for k in range(1, steps + 1):
            off = off or (k * die <= HOME and side[k * die] > 0)
        while steps > 0 and not off:
            back = measures.mostback(side)
            off = back < die
            if not off:
                side[back] -= 1
                side[back - die] += 1
            steps -= 1
        good += off
    return good


@njit()
def score(board: Array, gain: float) -> float:
    """Return the points of a board after a play in the running game (before the bear-off).

    gain : points of the men that came home, from `moves.plays`.
    """
    j = board[0]
    points = gain + measures.weighted_sum(board[0], OUTSIDE)
    if measures.mostback(j) <= HOME:
        points += 200
    if measures.gammon_danger(j, board[1]):
        points += 50 * _quick_doubles(j)
    return points


@njit()
def tidiness(x: Array) -> int:
    """Return the tie-breaker of plays (the greater the better): fewer men left, then fewer gaps, then fewer pips.

    x : (26,) men by point after the play, 0 the men off, 25 the bar.
    """
    return -(measures.men(x, 1) * 100 + measures.gaps(x)) * 1000 - measures.pipcount(x)
