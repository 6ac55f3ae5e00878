"""Which play BKG makes, and what it does with the cube; one roll at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.engine.bkg.completion import Kernel
from bgfmt.extras.lab.engine.bkg.kernels import evaluation, measures, running
from bgfmt.extras.lab.engine.bkg.kernels.moves import Room
from bgfmt.extras.lab.thumb import doubling
from bgfmt.jit import njit

Array = NDArray[Any]
ENGAGED, RUNNING, BEAROFF = 0, 1, 2
CENTERED, OWNED = doubling.CENTERED, doubling.OWNED
DOUBLE, NEVER, PASS = doubling.DOUBLE, doubling.NEVER, doubling.PASS


class Cube(NamedTuple):
    """How BKG doubles, and ranks plays in the bear-off.

    zone : 0 Z1, 1 Z0, 2 always. nearest : 1.1 times the count is rounded. by_w : see `running.worth`.
    """

    zone: int
    nearest: bool
    by_w: bool


@njit()
def engaged(board: Array) -> bool:
    """Whether the sides have not yet passed each other."""
    return measures.mostback(board[0]) + measures.mostback(board[1]) > 25  # type: ignore[no-any-return]


@njit()
def rate(
    kernel: Kernel, home: running.Home, by_w: bool, start: Array, room: Room, points: Array, terms: Array
) -> int:
    """Fill `points` (m, 2), what each result in layer 2 is ranked by; which part of the program ranked them.

    Results that are out of the question have -inf. terms : (m, 7), of engaged positions.
    """
    many = room.many[2]
    was_engaged, free, all_free = engaged(start), 0, True
    for k in range(many):
        points[k, 0] = points[k, 1] = -np.inf
        board = room.boards[2, k]
        edge = measures.pipcount(board[1]) - measures.pipcount(board[0]) - 4
        free += not engaged(board) and edge > 0
        all_free = all_free and not engaged(board)
    if was_engaged and free == 0 and not all_free:
        was = evaluation.before(kernel, start)
        for k in range(many):
            points[k, 0] = evaluation.evaluate(kernel, was, start, room.boards[2, k], terms[k])
            points[k, 1] = -k
        return ENGAGED
    mode, rolls = running.mode_of(home, start, by_w)
    part = RUNNING
    for k in range(many):
        if running.row(home, room.boards[2, k, 0]) >= 0 and not engaged(room.boards[2, k]):
            part = BEAROFF
    for k in range(many):
        board = room.boards[2, k]
        edge = measures.pipcount(board[1]) - measures.pipcount(board[0]) - 4
        if engaged(board) or (was_engaged and free > 0 and edge <= 0):
            continue
        if part == RUNNING:
            points[k, 0] = running.score(board, room.gain[2, k])
            points[k, 1] = running.tidiness(board[0])
            continue
        place = running.row(home, board[0])
        if place >= 0:
            points[k, 0], points[k, 1] = running.worth(home, board, place, mode, rolls)
    return part


@njit()
def best(home: running.Home, part: int, room: Room, points: Array) -> int:
    """The first of the best by points, then by what breaks ties; in the bear-off the least position number."""
    chosen = 0
    for k in range(1, room.many[2]):
        gap = points[k, 0] - points[chosen, 0]
        if abs(gap) <= running.EQUAL or points[k, 0] == points[chosen, 0]:
            gap = points[k, 1] - points[chosen, 1]
            if part == BEAROFF and abs(gap) <= running.EQUAL:
                here = running.number(home, room.boards[2, k, 0])
                gap = running.number(home, room.boards[2, chosen, 0]) - here
        if gap > 0:
            chosen = k
    return chosen


@njit()
def adjusted_thirds(us: Array, them: Array) -> int:
    """Acount in thirds of a pip; `bgfmt.extras.lab.thumb.counting` has the rule."""
    total = 3 * measures.pipcount(us) + 4 * us[1] + 2 * us[2] + us[3]
    men, gaps = measures.men(us, 1) - measures.men(them, 1), 0
    for point in range(1, 7):
        gaps += (us[point] == 0) - (them[point] == 0)
    return total + 6 * max(men, 0) - 3 * max(-gaps, 0)  # type: ignore[no-any-return]


@njit()
def beyond(us: Array, them: Array, margin: int, nearest: bool) -> int:
    """How far the other side's count lies beyond 1.1 of ours and the margin."""
    count, other = adjusted_thirds(us, them), adjusted_thirds(them, us)
    if nearest:
        return other - 3 * ((22 * count + 30) // 60 + margin)  # type: ignore[no-any-return]
    return 10 * other - 11 * count - 30 * margin  # type: ignore[no-any-return]


@njit()
def doubles(home: running.Home, cube: Cube, board: Array, owned: bool) -> bool:
    """Whether the side on roll doubles; never while engaged."""
    if engaged(board):
        return False
    us, them = running.row(home, board[0]), running.row(home, board[1])
    if us < 0 or them < 0:
        return beyond(board[0], board[1], -1 if owned else -2, cube.nearest) >= 0  # type: ignore[no-any-return]
    win = running.win_chance(home, us, them)
    if cube.zone == 2:
        return win >= NEVER  # type: ignore[no-any-return]
    if cube.zone == 1:
        return win >= DOUBLE  # type: ignore[no-any-return]
    left = min(max(int(np.ceil(home.enr[us] - 1e-9)), 1), 5) - 1
    return win >= (OWNED[left] if owned else CENTERED[left])  # type: ignore[no-any-return]


@njit()
def takes(home: running.Home, cube: Cube, board: Array) -> bool:
    """Whether the side that is doubled takes; the doubler stands first. While engaged always."""
    if engaged(board):
        return True
    us, them = running.row(home, board[0]), running.row(home, board[1])
    if us < 0 or them < 0:
        return beyond(board[0], board[1], 2, cube.nearest) <= 0  # type: ignore[no-any-return]
    return running.win_chance(home, us, them) <= PASS  # type: ignore[no-any-return]
