"""What a host asks about boards of its own: it says how to turn a board into a position, and back."""

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
    """The questions of a host with boards of its own, the side on roll told by the board.

    `asked` is an adviser (`bgfmt.Advisor`), what `bgfmt.open` gives, or a list of those.
    """

    position: Callable[[Board], Position]
    board: Callable[[Position], Board]

    def money(self, asked: Asked, board: Board) -> PositionEquities:
        """Chances, cubeless and cubeful equities for money."""
        return adviser(asked).equities(self.position(board))

    def chances(self, asked: Asked, board: Board) -> TwoSidedEstimate:
        """Win and gammon chances, from a one-sided table (each side plays alone)."""
        return adviser(asked).chances(self.position(board))

    def cube_action(self, asked: Asked, board: Board, owner: str = "centered", **state: Any) -> CubeAction:
        """The cube action; `owner` is "centered" or "owned".

        `state` as of `bgfmt.GameState.of`, such as away=(3, 5).
        """
        return adviser(asked).cube(GameState.of(self.position(board), cube=owner, **state))

    def checker_play(
        self, asked: Asked, on: Board, die1: int, die2: int, cube: str = "centered", **state: Any
    ) -> list[tuple[Board, float]]:
        """(board after the play, still the mover's view, and equity) of every play, best first; `state` as above."""
        ranked = adviser(asked).plays(GameState.of(self.position(on), (die1, die2), cube=cube, **state))
        return [(self.board(play.result), play.value) for play in ranked.plays if play.value is not None]

    def epc(self, asked: Asked, board: Board, player: int = 0) -> float:
        """Effective pip count of the side on roll (0) or of the other (1)."""
        sides = self.position(board)
        return adviser(asked).race(sides.them if player else sides.us).epc


def adviser(asked: Asked) -> Advisor:
    """An adviser as it is; one over databases otherwise."""
    return asked if isinstance(asked, Advisor) else Advisor(asked)
