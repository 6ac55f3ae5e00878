"""bgfmt's tables for bgsage's boards: 26 numbers, own chequers positive on [1..24], own bar [25], opponent's bar [0].

`asked` is an adviser (`bgfmt.Advisor`), what `bgfmt.open` gives, or a list of those. The side whose view the board is
is on roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bgfmt import Advisor, GameState, Position, Side
from bgfmt.analysis import CubeAction, Databases, PositionEquities, TwoSidedEstimate

Board = Sequence[int]


def position(board: Sequence[int]) -> Position:
    """The position of a board."""
    us = Side(*(max(0, n) for n in board[1:25]), bar=abs(board[25]))
    return Position(us, Side(*(max(0, -board[25 - p]) for p in range(1, 25)), bar=abs(board[0])))


def board(of: Position) -> list[int]:
    """The board of a position."""
    us, them = (side.counts + (0,) * (24 - len(side.counts)) for side in (of.us, of.them))
    return [of.them.bar, *(us[p] - them[23 - p] for p in range(24)), of.us.bar]


def adviser(asked: Advisor | Databases) -> Advisor:
    """An adviser as it is; one over databases otherwise."""
    return asked if isinstance(asked, Advisor) else Advisor(asked)


def money(asked: Advisor | Databases, board: Board) -> PositionEquities:
    """Chances, cubeless and cubeful equities for money."""
    return adviser(asked).equities(position(board))


def chances(asked: Advisor | Databases, board: Board) -> TwoSidedEstimate:
    """Win and gammon chances, from a one-sided table (each side plays alone)."""
    return adviser(asked).chances(position(board))


def cube_action(
    asked: Advisor | Databases, board: Board, owner: str = "centered", **state: Any
) -> CubeAction:
    """The cube action; `owner` is "centered" or "owned". `state` as of `bgfmt.GameState.of`, such as away=(3, 5)."""
    return adviser(asked).cube(GameState.of(position(board), cube=owner, **state))


def checker_play(
    asked: Advisor | Databases, on: Board, die1: int, die2: int, cube: str = "centered", **state: Any
) -> list[tuple[list[int], float]]:
    """(board after the play, still the mover's view, and equity) of every play, best first; `state` as above."""
    ranked = adviser(asked).plays(GameState.of(position(on), (die1, die2), cube=cube, **state))
    found = [(play.result, play.value) for play in ranked.plays]
    return [
        (board(result), value)
        for result, value in found
        if isinstance(result, Position) and value is not None
    ]


def epc(asked: Advisor | Databases, board: Board, player: int = 0) -> float:
    """Effective pip count of the side on roll (0) or of the other (1)."""
    sides = position(board)
    return adviser(asked).race(sides.them if player else sides.us).epc
