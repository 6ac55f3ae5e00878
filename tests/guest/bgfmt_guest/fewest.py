"""A kind of table of a third party: the fewest rolls in which a side can bear off, whatever it throws.

With the best rolls every roll is a double six, so the number of rolls is that of the moves of six pips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables import ArrayRule, Breach, Column, OfOneSide, Rows

MOST = 60


@dataclass(frozen=True)
class Least:
    """What the table says of a side."""

    side: Side
    number: int
    rolls: int

    def as_dict(self) -> dict[str, Any]:
        return {"side": str(self.side), "position_number": self.number, "rolls": self.rolls}

    def describe(self, who: str = "") -> str:
        return f"{self.side}  (number {self.number}): at least {self.rolls} rolls\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class Fewest(OfOneSide):
    """Fewest rolls to bear off: `rolls`, (n,) uint8 in order of position number."""

    kind: ClassVar[str] = "fewest-rolls"
    unit: ClassVar[str] = "rolls"
    rolls: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("rolls", ((board.count(points, chequers),),), ("u1",)),)

    def lookup(self, asked: Side | Position) -> Least:
        number = self.number(asked)
        assert isinstance(asked, Side)
        return Least(asked, number, int(self.rolls[number]))

    @property
    def columns(self) -> tuple[Column, ...]:
        return (Column("rolls", "rolls", "  at least %2d", whole=True),)

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(self.rolls[numbers], np.float64)[:, None]

    def breaches(self, start: int, block: dict[str, Any]) -> Iterator[Breach]:
        rolls = block["rolls"]
        over = np.asarray(rolls > MOST)
        yield Breach("bounds", over, f"no side needs more than {MOST} rolls of its best")
        idle = np.asarray((rolls == 0) & (np.arange(start, start + len(rolls)) > 0))
        yield Breach("off at once", idle, "a side with chequers needs a roll")


def solve(points: int, chequers: int) -> Fewest:
    """The table, from the moves of six pips that each chequer needs, four a roll."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    sixes = counts.astype(np.int64) @ -(-np.arange(1, points + 1) // 6)
    return Fewest(points=points, chequers=chequers, rolls=(-(-sixes // 4)).astype(np.uint8))
