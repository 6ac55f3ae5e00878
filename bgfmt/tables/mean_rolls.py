"""Expected rolls under least-mean play: Peelle's table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables.base import ArrayRule, Breach
from bgfmt.tables.rolls import OF_ROLLS, Estimate, OfRolls, Rolls, Which, rolls_values
from bgfmt.tables.rows import Array, Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanRolls(OfRolls):
    """Expected rolls of each position: `means`, (n,) float64 in order of position number."""

    kind: ClassVar[str] = "mean-rolls"
    unit: ClassVar[str] = "rolls"
    names = ("mean_rolls",)
    columns = OF_ROLLS
    means: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("means", ((board.count(points, chequers),),), ("f8",)),)

    def lookup(self, asked: Side | Position) -> Estimate:
        number = self.number(asked)
        assert isinstance(asked, Side)
        return Estimate(asked, number, float(self.means[number]))

    def rolls(self, which: Which) -> Rolls:
        return Rolls(np.asarray(self.means[which]))

    def to_mean_rolls(self) -> MeanRolls:
        return self

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return rolls_values(self, numbers, np.asarray(self.means[numbers]))

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        means = block["means"]
        good = np.isfinite(means) & (means >= 0)
        yield Breach("finite", ~good, "a mean is negative or not a number")
