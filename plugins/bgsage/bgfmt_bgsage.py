"""bgfmt's tables for bgsage's boards: 26 numbers, own chequers positive on [1..24], own bar [25], opponent's bar [0].

`databases` is what `bgfmt.open` gives, or a list of those. The side whose view the board is is on roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bgfmt import Position, Side
from bgfmt.analysis import equities, judge_cube, rank_plays, twosided_from_onesided


def position(board: Sequence[int]) -> Position:
    """The position of a board."""
    us = Side(*(max(0, n) for n in board[1:25]), bar=abs(board[25]))
    return Position(us, Side(*(max(0, -board[25 - p]) for p in range(1, 25)), bar=abs(board[0])))


def board(of: Position) -> list[int]:
    """The board of a position."""
    us, them = (side.counts + (0,) * (24 - len(side.counts)) for side in (of.us, of.them))
    return [of.them.bar, *(us[p] - them[23 - p] for p in range(24)), of.us.bar]


def money(databases: Any, board: Sequence[int]) -> Any:
    """Cubeless and cubeful equities, from a two-sided table."""
    return equities(databases, position(board))


def chances(databases: Any, board: Sequence[int]) -> Any:
    """Win and gammon chances, from a one-sided table (each side plays alone)."""
    return twosided_from_onesided(databases, position(board))


def cube_action(databases: Any, board: Sequence[int], owner: str = "centered") -> Any:
    """The cube action; `owner` is "centered" or "owned"."""
    return judge_cube(databases, owner, position=position(board))


def checker_play(
    databases: Any, on: Sequence[int], die1: int, die2: int, cube: str = "centered"
) -> list[tuple[list[int], float]]:
    """(board after the play, equity) of every play, best first; the board keeps the mover's view."""
    ranked = rank_plays(databases, position(on), (die1, die2), cube=cube)
    return [(board(play.result), play.value) for play in ranked if isinstance(play.result, Position)]


def epc(database: Any, board: Sequence[int], player: int = 0) -> float:
    """Effective pip count of the side whose view the board is (0) or of the other (1)."""
    sides = position(board)
    return float(database.lookup(sides.them if player else sides.us).epc)
