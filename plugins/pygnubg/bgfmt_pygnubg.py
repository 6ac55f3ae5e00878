"""bgfmt's tables for the gnubg Python package's boards: (opponent, side on roll), 25 counts each, the bar last.

`databases` is what `bgfmt.open` gives, or a list of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bgfmt import Position, Side
from bgfmt.analysis import equities, judge_cube, rank_plays, twosided_from_onesided

Board = tuple[Sequence[int], Sequence[int]]


def position(board: Board) -> Position:
    """The position of a board."""
    them, us = (Side(*side[:24], bar=side[24]) for side in board)
    return Position(us, them)


def board(of: Position) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The board of a position."""
    them, us = ((*s.counts, *(0,) * (24 - len(s.counts)), s.bar) for s in (of.them, of.us))
    return them, us


def money(databases: Any, board: Board) -> Any:
    """Cubeless and cubeful equities, from a two-sided table."""
    return equities(databases, position(board))


def chances(databases: Any, board: Board) -> Any:
    """Win and gammon chances, from a one-sided table (each side plays alone)."""
    return twosided_from_onesided(databases, position(board))


def cube_action(databases: Any, board: Board, owner: str = "centered") -> Any:
    """The cube action; `owner` is "centered" or "owned"."""
    return judge_cube(databases, owner, position=position(board))


def checker_play(
    databases: Any, on: Board, die1: int, die2: int, cube: str = "centered"
) -> list[tuple[Any, float]]:
    """(board after the play, still the mover's view, and equity) of every play, best first."""
    ranked = rank_plays(databases, position(on), (die1, die2), cube=cube)
    return [(board(play.result), play.value) for play in ranked if isinstance(play.result, Position)]


def epc(database: Any, board: Board, player: int = 0) -> float:
    """Effective pip count of the side on roll (0) or of the other (1)."""
    sides = position(board)
    return float(database.lookup(sides.them if player else sides.us).epc)
