"""bgfmt's tables for the gnubg Python package's boards: (opponent, side on roll), 25 counts each, the bar last.

`asked` is an adviser (`bgfmt.Advisor`), what `bgfmt.open` gives, or a list of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bgfmt import Advisor, GameState, Position, Side
from bgfmt.analysis import CubeAction, Databases, PositionEquities, TwoSidedEstimate

Board = tuple[Sequence[int], Sequence[int]]


def position(board: Board) -> Position:
    """The position of a board."""
    them, us = (Side(*side[:24], bar=side[24]) for side in board)
    return Position(us, them)


def board(of: Position) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The board of a position."""
    them, us = ((*s.counts, *(0,) * (24 - len(s.counts)), s.bar) for s in (of.them, of.us))
    return them, us


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
) -> list[tuple[tuple[tuple[int, ...], tuple[int, ...]], float]]:
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
