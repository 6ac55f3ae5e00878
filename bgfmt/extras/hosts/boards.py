"""Queries for hosts with boards of their own, which supply the conversion of a board to a position and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bgfmt.analysis import Advisor, CubeAction, Databases, PositionEquities, TwoSidedEstimate
from bgfmt.game.board import Position
from bgfmt.game.state import GameState

Board = TypeVar("Board")
Asked = Advisor | Databases


@dataclass(frozen=True)
class Boards(Generic[Board]):
    """Queries about boards of a host; the board itself says which side is on roll.

    position, board : convert a board to a position and back. In all methods `asked` is an adviser (`bgfmt.Advisor`),
    the result of `bgfmt.open`, or a list of such results.
    """

    position: Callable[[Board], Position]
    board: Callable[[Position], Board]

    def money(self, asked: Asked, board: Board) -> PositionEquities:
        """Return the money equities of a host's board: win and gammon probabilities, cubeless and cubeful equities.

        asked : an adviser or open databases.
        """
        return adviser(asked).equities(self.position(board))

    def chances(self, asked: Asked, board: Board) -> TwoSidedEstimate:
        """Estimate win and gammon probabilities of a host's board from a one-sided table, each side playing alone.

        asked : an adviser or open databases.
        """
        return adviser(asked).chances(self.position(board))

    def cube_action(self, asked: Asked, board: Board, owner: str = "centered", **state: Any) -> CubeAction:
        """Return the money or match cube action of the side on roll.

        asked : an adviser or open databases. owner : "centered" or "owned" by the side on roll. state : further
        arguments of `bgfmt.GameState.of`, such as away=(3, 5).
        """
        return adviser(asked).cube(GameState.of(self.position(board), cube=owner, **state))

    def checker_play(
        self, asked: Asked, on: Board, die1: int, die2: int, cube: str = "centered", **state: Any
    ) -> list[tuple[Board, float]]:
        """Return every play of a roll (die1, die2) as (board after it, equity), best first.

        The boards after plays are seen by the player who moved.

        asked : an adviser or open databases. on : the board. cube : "centered", "owned" or "opponent". state :
        further arguments of `bgfmt.GameState.of`.
        """
        ranked = adviser(asked).plays(GameState.of(self.position(on), (die1, die2), cube=cube, **state))
        return [(self.board(play.result), play.value) for play in ranked.plays if play.value is not None]

    def epc(self, asked: Asked, board: Board, player: int = 0) -> float:
        """Return the effective pip count of the side on roll (player 0) or of the other (1).

        asked : an adviser or open databases, with a one-sided table.
        """
        sides = self.position(board)
        return adviser(asked).race(sides.them if player else sides.us).epc


def adviser(asked: Asked) -> Advisor:
    """Return `asked` itself if it is an adviser, else a new adviser over these databases."""
    return asked if isinstance(asked, Advisor) else Advisor(asked)
