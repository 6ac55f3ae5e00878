"""bgfmt's tables for bgsage's boards: 26 numbers, own chequers positive on [1..24], own bar [25], opponent's bar [0].

The side whose view the board is is on roll. `money`, `chances`, `cube_action`, `checker_play` and `epc` are those of
`bgfmt.extras.hosts.boards.Boards`.
"""

from __future__ import annotations

from bgfmt import Position, Side
from bgfmt.extras.hosts.boards import Boards


def position(board: list[int]) -> Position:
    """The position of a board."""
    us = Side(*(max(0, n) for n in board[1:25]), bar=abs(board[25]))
    return Position(us, Side(*(max(0, -board[25 - p]) for p in range(1, 25)), bar=abs(board[0])))


def board(of: Position) -> list[int]:
    """The board of a position."""
    us, them = (side.counts + (0,) * (24 - len(side.counts)) for side in (of.us, of.them))
    return [of.them.bar, *(us[p] - them[23 - p] for p in range(24)), of.us.bar]


_boards = Boards(position, board)
money, chances, cube_action = _boards.money, _boards.chances, _boards.cube_action
checker_play, epc = _boards.checker_play, _boards.epc
