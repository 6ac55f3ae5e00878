"""Expected points of the side on roll: the two-sided data base of a blog of 19 October 2011, "Bearoff databases".

A finished game is worth one point; gammons, cube and match do not count. The value is 2 w - 1, w the chance to win.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, NotCoveredError
from bgfmt.extras.lab.tables import Millionths, counts_on
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables.base import ArrayRule, Breach, Column, OfRaces
from bgfmt.tables.rows import Array, Rows

NAME = "expected_points"


@dataclass(frozen=True)
class Points:
    """Expected points of the side on roll, between -1 and 1."""

    position: Position
    number: int
    expected_points: float

    @property
    def win(self) -> float:
        """Chance to win."""
        return self.expected_points / 2 + 0.5

    def as_dict(self) -> dict[str, Any]:
        """The value as plain values."""
        return {
            "position": str(self.position),
            "position_number": self.number,
            "win": self.win,
            NAME: self.expected_points,
        }

    def describe(self, who: str = "") -> str:
        """Lines of text; `who` names the side."""
        title = f"{self.position}  (number {self.number}{', ' + who if who else ''})"
        return f"{title}\nExpected points: {self.expected_points:+.6f}\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedPoints(Millionths, OfRaces):
    """Expected points of every pair of sides that both have chequers left, indexed [us, them].

    worth : (n, n) int32 millionths, as the text file has them, or float64; n = C(N + M, M) - 1. A side's number is
    gnubg's less one, since the side with nothing left is not there.
    """

    kind: ClassVar[str] = "expected-points"
    unit: ClassVar[str] = "equity"
    worth: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        n = board.count(points, chequers) - 1
        return (ArrayRule("worth", ((n, n),), ("i4", "f8")),)

    # -- numbering ---------------------------------------------------------------------------------------

    @property
    def positions(self) -> int:
        return board.count(self.points, self.chequers) - 1

    def covers_side(self, side: Side) -> str | None:
        return super().covers_side(side) if side.chequers else "a side has no chequers left"

    def number(self, asked: Side | Position) -> int:
        if isinstance(asked, Position) and not (asked.us.chequers and asked.them.chequers):
            raise NotCoveredError(f"{asked}: a side has no chequers left")
        return super().number(asked)

    def side_number(self, side: Side) -> int:
        return side.number(self.points) - 1

    def side(self, number: int) -> Side:
        return Side.from_number(number + 1, self.points)

    def counts(self, numbers: NDArray[np.int64]) -> NDArray[np.int8]:
        return board.unrank_array(np.asarray(numbers) + 1, self.points)

    def _rank(self, given: NDArray[Any]) -> NDArray[np.int64]:
        numbers = board.rank_array(counts_on(self.points, given)) - 1
        outside = (numbers < 0) | (numbers >= self.positions)
        if outside.any():
            row = int(outside.argmax())
            raise NotCoveredError(f"row {row} has {given[row].sum()} chequers, not 1 to {self.chequers}")
        return numbers

    def cut(self, points: int | None = None, chequers: int | None = None) -> Self:
        p, c = points or self.points, chequers or self.chequers
        if (p, c) == (self.points, self.chequers):
            return self
        raise CapabilityError(f"a {self.kind} table is not cut down; solve one of {p}x{c} instead")

    # -- look-up -----------------------------------------------------------------------------------------

    def lookup(self, asked: Side | Position) -> Points:
        number = self.number(asked)
        assert isinstance(asked, Position)
        us, them = divmod(number, self.positions)
        return Points(
            asked, number, float(self.read("worth", np.asarray(self.worth[us])[them : them + 1])[0])
        )

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    def decoded(self, stored: Array) -> Array:
        return self.read("worth", stored)

    @property
    def columns(self) -> tuple[Column, ...]:
        return (
            Column("win", "chance", "  win %7.3f", percent=True),
            Column(NAME, "equity", "  points %+9.6f"),
        )

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        worth = self.read("worth", np.asarray(self.at(self.worth, numbers)))
        return np.stack([worth / 2 + 0.5, worth], axis=1)

    # -- what theory says --------------------------------------------------------------------------------

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        worth = self.read("worth", block["worth"])
        yield Breach(
            "bounds", np.asarray(~(np.abs(worth) <= 1).all(axis=1)), "a value is not between -1 and 1"
        )
