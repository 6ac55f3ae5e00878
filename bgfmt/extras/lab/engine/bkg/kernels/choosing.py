"""BKG's choice of a play and its cube decisions, one roll at a time."""

from __future__ import annotations

import numpy as np

from bgfmt.extras.lab.engine.bkg.completion import Array, Kernel
from bgfmt.extras.lab.engine.bkg.kernels import evaluation, measures, running
from bgfmt.extras.lab.thumb import doubling
from bgfmt.jit import njit

ENGAGED = 0
RUNNING = 1
BEAROFF = 2
PASS = doubling.PASS

#: forms of tuples that kernels take, see `bgfmt.jit.njit`
COMPLETION = (
    "bgfmt.extras.lab.engine.bkg.completion:Kernel(i8.1C, f8, i8, i8, i8, f8.2C, b1, b1, f8.1C, f8.2C, i8.2C)"
)


@njit()
def is_engaged(board: Array) -> bool:
    """Return True if the sides have not passed each other yet.

    board : (2, 26), the side on roll first; men by point, 0 the men off, 25 the bar.
    """
    return measures.mostback(board[0]) + measures.mostback(board[1]) > 25  # type: ignore[no-any-return]


@njit(f"{COMPLETION}, i8.2C, i8.3C, f8.1C")
def rate(kernel: Kernel, start: Array, boards: Array, gains: Array) -> tuple[int, Array, Array]:
    """Rate the boards after each play of a roll as BKG does.

    Parameters
    ----------
    kernel : the engine's options and tables.
    start : the board before the roll.
    boards, gains : the boards and points of the running game, from `moves.plays`.

    Returns
    -------
    part : which part of the program rates them, ENGAGED, RUNNING or BEAROFF.
    points : (m, 2) float64, the rating and a tie-breaker; -inf for results that are excluded.
    terms : (m, 7) float64, the parts of the points of engaged positions.
    """
    many = len(boards)
    points = np.full((many, 2), -np.inf)
    terms = np.zeros((many, evaluation.TERMS))
    free = np.zeros(many, np.bool_)
    edge = np.zeros(many, np.int64)
    for k in range(many):
        free[k] = not is_engaged(boards[k])
        edge[k] = measures.pipcount(boards[k, 1]) - measures.pipcount(boards[k, 0]) - 4
    leaves = is_engaged(start) and (free & (edge > 0)).any()
    if is_engaged(start) and not leaves and not free.all():
        was = measures.measure_side(kernel.escapes, kernel.low, kernel.moment, start[0], start[1])
        for k in range(many):
            points[k, 0] = evaluation.evaluate(kernel, was, start, boards[k], terms[k])
            points[k, 1] = -k
        return ENGAGED, points, terms
    mode, rolls = running.mode_of(kernel, start)
    part = RUNNING
    for k in range(many):
        if free[k] and running.row(kernel, boards[k, 0]) >= 0:
            part = BEAROFF
    for k in range(many):
        if not free[k] or (leaves and edge[k] <= 0):
            continue
        place = running.row(kernel, boards[k, 0])
        if part == RUNNING:
            points[k, 0], points[k, 1] = running.score(boards[k], gains[k]), running.tidiness(boards[k, 0])
        elif place >= 0:
            points[k, 0], points[k, 1] = running.worth(kernel, boards[k], place, mode, rolls)
    return part, points, terms


@njit(f"{COMPLETION}, i8, i8.3C, f8.2C")
def best(kernel: Kernel, part: int, boards: Array, points: Array) -> int:
    """Return the index of the best board after a play: by points, then by the tie-breaker.

    In the bear-off the lesser position number comes next; of boards that are still equal the first is best. The
    parameters are arguments and results of `rate`.
    """
    chosen = 0
    for k in range(1, len(boards)):
        gap = points[k, 0] - points[chosen, 0]
        if abs(gap) <= running.EQUAL or points[k, 0] == points[chosen, 0]:
            gap = points[k, 1] - points[chosen, 1]
            if part == BEAROFF and abs(gap) <= running.EQUAL:
                gap = running.number(kernel, boards[chosen, 0]) - running.number(kernel, boards[k, 0])
        if gap > 0:
            chosen = k
    return chosen


@njit()
def adjusted_thirds(us: Array, them: Array) -> int:
    """Return the adjusted pip count (Keeler-Gillogly) of the side `us` in thirds of a pip.

    us, them : (26,) men by point, 0 the men off, 25 the bar. `bgfmt.extras.lab.study.counts` has the rule.
    """
    total = 3 * measures.pipcount(us) + 4 * us[1] + 2 * us[2] + us[3]
    men = measures.men(us, 1) - measures.men(them, 1)
    gaps = measures.gaps(them) - measures.gaps(us)
    return total + 6 * max(men, 0) - 3 * max(gaps, 0)  # type: ignore[no-any-return]


@njit()
def count_excess(us: Array, them: Array, margin: int, nearest: bool) -> int:
    """Return by how much the other side's adjusted pip count exceeds 1.1 times ours plus `margin` pips.

    us, them : (26,) men by point, 0 the men off, 25 the bar. nearest : 1.1 times our count is rounded to a pip, and
    the unit of the result is thirds of a pip; else it is thirtieths.
    """
    count = adjusted_thirds(us, them)
    other = adjusted_thirds(them, us)
    if nearest:
        return other - 3 * ((22 * count + 30) // 60 + margin)  # type: ignore[no-any-return]
    return 10 * other - 11 * count - 30 * margin  # type: ignore[no-any-return]


@njit(f"{COMPLETION}, i8.2C, b1")
def doubles(kernel: Kernel, board: Array, owned: bool) -> bool:
    """Return True if BKG doubles as the side on roll; never while the sides are engaged.

    kernel : the engine's options and tables. board : (2, 26), that side first. owned : it owns the cube, and
    redoubles.
    """
    if is_engaged(board):
        return False
    us = running.row(kernel, board[0])
    them = running.row(kernel, board[1])
    if us < 0 or them < 0:
        return count_excess(board[0], board[1], -1 if owned else -2, kernel.nearest) >= 0  # type: ignore[no-any-return]
    win = running.win_chance(kernel, us, them)
    left = min(max(int(np.ceil(kernel.enr[us] - 1e-9)), 1), 5) - 1
    return win >= kernel.limits[int(owned), left]  # type: ignore[no-any-return]


@njit(f"{COMPLETION}, i8.2C")
def takes(kernel: Kernel, board: Array) -> bool:
    """Return True if BKG takes a double of the first side of the board; always while the sides are engaged.

    kernel : the engine's options and tables. board : (2, 26).
    """
    if is_engaged(board):
        return True
    us = running.row(kernel, board[0])
    them = running.row(kernel, board[1])
    if us < 0 or them < 0:
        return count_excess(board[0], board[1], 2, kernel.nearest) <= 0  # type: ignore[no-any-return]
    return running.win_chance(kernel, us, them) <= PASS  # type: ignore[no-any-return]
