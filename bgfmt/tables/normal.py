"""Normal approximations of the rolls that one side needs: what makebearoff -n writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables import bounds
from bgfmt.tables.base import ArrayRule, Breach, Coarser
from bgfmt.tables.mean_rolls import MeanRolls
from bgfmt.tables.rolls import DEVIATION, GAMMON, OF_ROLLS, Estimate, OfRolls, Rolls, Which, rolls_values
from bgfmt.tables.rows import Array, LazyRows, Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class NormalOneSided(OfRolls):
    """Normal approximations: (n, 4) float32, mean and standard deviation of rolls to bear off all, and the first."""

    kind: ClassVar[str] = "normal-distribution"
    unit: ClassVar[str] = "rolls"
    names = ("mean_rolls", "std_rolls", "gammon_mean_rolls", "gammon_std_rolls")
    columns = (*OF_ROLLS, DEVIATION, *GAMMON)
    moments: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("moments", ((board.count(points, chequers), 4),), ("f4",)),)

    def lookup(self, asked: Side | Position) -> Estimate:
        number = self.number(asked)
        assert isinstance(asked, Side)
        return Estimate(asked, number, *(float(x) for x in self.moments[number]))

    @property
    def rolls_error(self) -> float:
        return bounds.mean_error(self.points, normal=True)

    def rolls(self, which: Which) -> Rolls:
        rows = np.asarray(self.moments[which])
        return Rolls(rows[..., 0], rows[..., 1])

    def first_rolls(self, which: Which) -> Rolls:
        rows = np.asarray(self.moments[which])
        return Rolls(rows[..., 2], rows[..., 3])

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        rows = np.asarray(self.moments[numbers], np.float64)
        return np.concatenate([rolls_values(self, numbers, rows[:, 0]), rows[:, 1:]], axis=1)

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        moments = block["moments"]
        good = np.isfinite(moments).all(axis=1) & (moments >= 0).all(axis=1)
        yield Breach("finite", np.asarray(~good), "a mean or deviation is negative or not a number")

    def coarser(self) -> tuple[Coarser, ...]:
        lost = "only the mean rolls are kept, not the deviations or gammons"
        return (Coarser(MeanRolls, self.to_mean_rolls, lost),)

    def to_mean_rolls(self) -> MeanRolls:
        """Mean rolls, float64, of each position."""
        means = LazyRows((self.positions,), "f8", lambda a, b: np.asarray(self.moments[a:b, 0], np.float64))
        return self.made_into(MeanRolls, means=means)
