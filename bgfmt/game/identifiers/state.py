"""What an identifier says: two sides and the state of the match as far as it tells. Conversions go through it."""

from __future__ import annotations

from dataclasses import dataclass

from bgfmt.game.board import Position, Side


@dataclass(frozen=True)
class MatchState:
    """A position of a match between player 0 and player 1 (top and bottom in gnubg's drawings).

    sides : player 0's and player 1's chequers, each from its own ace point.
    turn : the player on roll, or the doubler while a double is pending.
    cube : log2 of the cube; owner : 0, 1, or None when centred.
    dice : the two dice, or None before the roll.
    scores : of player 0 and player 1; length : points of the match, 0 for money.
    jacoby, beavers : None where the identifier does not say.
    limit : log2 of the largest cube.
    """

    sides: tuple[Side, Side]
    turn: int = 1
    cube: int = 0
    owner: int | None = None
    dice: tuple[int, int] | None = None
    doubled: bool = False
    resigned: int = 0
    scores: tuple[int, int] = (0, 0)
    length: int = 0
    crawford: bool = False
    jacoby: bool | None = None
    beavers: bool | None = None
    limit: int = 10
    names: tuple[str, str] = ("P0", "P1")

    @property
    def position(self) -> Position:
        """The board, the player on roll first."""
        return Position(self.sides[self.turn], self.sides[1 - self.turn])

    @property
    def post_crawford(self) -> bool:
        """Whether this is a game after the Crawford game."""
        return self.length > 0 and not self.crawford and self.length - 1 in self.scores


def full(side: Side) -> tuple[int, ...]:
    """25 counts: points 1 to 24 and the bar."""
    return (*side.counts, *(0,) * (24 - len(side.counts)), side.bar)


def side_of(counts: list[int] | tuple[int, ...]) -> Side:
    """A side of 25 counts, points 1 to 24 and the bar."""
    return Side(*counts[:24], bar=counts[24])
