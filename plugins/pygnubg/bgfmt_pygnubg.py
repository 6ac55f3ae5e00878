"""bgfmt's tables for the gnubg Python package's boards: (opponent, side on roll), 25 counts each, the bar last.

`money`, `chances`, `cube_action`, `checker_play` and `epc` are those of `bgfmt.extras.hosts.boards.Boards`.
"""

from __future__ import annotations

from bgfmt import Position, Side
from bgfmt.extras.hosts.boards import Boards

Board = tuple[tuple[int, ...], tuple[int, ...]]


def position(board: Board) -> Position:
    """The position of a board."""
    them, us = (Side(*side[:24], bar=side[24]) for side in board)
    return Position(us, them)


def board(of: Position) -> Board:
    """The board of a position."""
    them, us = ((*s.counts, *(0,) * (24 - len(s.counts)), s.bar) for s in (of.them, of.us))
    return them, us


_boards = Boards(position, board)
money, chances, cube_action = _boards.money, _boards.chances, _boards.cube_action
checker_play, epc = _boards.checker_play, _boards.epc
