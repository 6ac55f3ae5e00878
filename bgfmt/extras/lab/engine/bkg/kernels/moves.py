"""The legal plays of a roll, in the order of `bgfmt.game.moves.legal_plays`, the readable version of this.

Boards are reached die by die. Of equal boards the first is kept, with the greatest points that any way to it scores
in the running game, whose points depend on the order in which chequers come home.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.extras.lab.engine.bkg.kernels import measures
from bgfmt.game.results import Array
from bgfmt.jit import njit


@njit()
def _key(board: Array) -> int:
    """Return a hash of a board; boards of equal hashes are compared."""
    key: Any = np.int64(1469598103934665603)
    for side in range(2):
        for point in range(26):
            key = (key ^ (board[side, point] + 31 * point)) * np.int64(1099511628211)
    return key  # type: ignore[no-any-return]


@njit()
def _coming_in(board: Array, start: int, end: int) -> float:
    """Return the points of the running game for a chequer that comes home (the paper, section VI)."""
    if start <= 6 or end > 6 or end < 1:
        return 0.0
    more = 10.0 if end == 6 else (-10.0 * (5 - end) if end < 5 else 0.0)
    return 3.0 - board[0, end] + more  # type: ignore[no-any-return]


@njit()
def copy_board(to: Array, of: Array) -> None:
    """Copy a board into `to`; plain loops compile far faster than assignments of arrays."""
    for side in range(2):
        for point in range(26):
            to[side, point] = of[side, point]


@njit()
def swap_sides(board: Array) -> None:
    """Update a board in place so that the other side is on roll."""
    for point in range(26):
        board[0, point], board[1, point] = board[1, point], board[0, point]


@njit()
def _equal_boards(a: Array, b: Array) -> bool:
    """Return True if two boards are equal."""
    for side in range(2):
        for point in range(26):
            if a[side, point] != b[side, point]:
                return False
    return True


@njit()
def _unique(boards: Array, gains: Array) -> tuple[Array, Array]:
    """Return each board once, in the order of first occurrence, with the greatest gain of equal ones."""
    keys = np.empty(len(boards), np.int64)
    many = 0
    for k in range(len(boards)):
        keys[many] = _key(boards[k])
        place = 0
        while keys[place] != keys[many] or (place < many and not _equal_boards(boards[place], boards[k])):
            place += 1
        if place < many:
            gains[place] = max(gains[place], gains[k])
        else:
            copy_board(boards[many], boards[k])
            gains[many] = gains[k]
            many += 1
    return boards[:many], gains[:many]


@njit()
def _step(boards: Array, gains: Array, die: int) -> tuple[Array, Array]:
    """Return all boards one die further, and their gains."""
    room = 15 * len(boards) + 1
    after = np.empty((room, 2, 26), np.int64)
    more = np.empty(room)
    many = 0
    for k in range(len(boards)):
        board = boards[k]
        highest = measures.mostback(board[0])
        for start in range(highest, 24 if board[0, 25] else 0, -1):
            if board[0, start] == 0:
                continue
            end = start - die
            if end <= 0:
                if highest > 6 or (end < 0 and start != highest):
                    continue
                end = 0
            elif board[1, 25 - end] > 1:
                continue
            new = after[many]
            copy_board(new, board)
            new[0, start] -= 1
            new[0, end] += 1
            if end > 0 and board[1, 25 - end] == 1:
                new[1, 25 - end] = 0
                new[1, 25] += 1
            more[many] = gains[k] + _coming_in(board, start, end)
            many += 1
    return _unique(after[:many], more[:many])  # type: ignore[no-any-return]


@njit()
def _reach(board: Array, first: int, second: int, dice: int) -> tuple[int, Array, Array]:
    """Play `first` and then `second`, `dice` dice in all; return how many can be played, boards and gains."""
    boards = np.empty((1, 2, 26), np.int64)
    gains = np.zeros(1)
    copy_board(boards[0], board)
    for played in range(dice):
        after, more = _step(boards, gains, second if played else first)
        if len(after) == 0:
            return played, boards, gains
        boards = after
        gains = more
    return dice, boards, gains


@njit("i8.2C, i8, i8")
def plays(board: Array, die: int, other: int) -> tuple[Array, Array]:
    """Return the boards after all legal plays of a roll, and their points by the rules of the running game.

    board : (2, 26), the side on roll first. die, other : the dice. The results are (m, 2, 26) int64 and (m,) float64.
    """
    high = max(die, other)
    low = min(die, other)
    depth, boards, gains = _reach(board, high, low, 4 if high == low else 2)
    if high != low:
        second, others, more = _reach(board, low, high, 2)
        if second > depth:
            return others, more
        if second == depth == 2:
            return _unique(np.concatenate((boards, others)), np.concatenate((gains, more)))  # type: ignore[no-any-return]
    return (boards, gains) if depth else (boards[:0], gains[:0])
