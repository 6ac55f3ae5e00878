"""The rolls that one side needs: EPC and wastage, which follow from their mean; tables of means and deviations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables import bounds
from bgfmt.tables.base import ArrayRule, Breach, Coarser, Column, OfOneSide
from bgfmt.tables.rows import Array, LazyRows, Rows

Which = int | NDArray[np.int64]
PIPS_PER_ROLL = 49 / 6
"""Pips of an average roll: what turns mean rolls into an effective pip count (EPC)."""
CHANCE_WHOLE = 65535


def chances(rows: Any) -> Array:
    """Stored chances as floats: uint16 / 65535 in float32, or float64 as it stands."""
    values = np.asarray(rows)
    return values if values.dtype == np.float64 else values.astype(np.float32) / np.float32(CHANCE_WHOLE)


def moments(distribution: Array) -> tuple[Array, Array]:
    """Mean and standard deviation over the last axis, added roll by roll in the width of the chances."""
    width = distribution.dtype.type
    mean = np.zeros(distribution.shape[:-1], width)
    square = np.zeros_like(mean)
    for roll in range(1, distribution.shape[-1]):
        part = width(roll) * distribution[..., roll]
        mean += part
        square += width(roll) * part
    return mean, np.sqrt(np.maximum(square - mean * mean, width(0)))


def means_of(distributions: Array) -> NDArray[np.float64]:
    """Mean rolls, float64, of stored distributions (n, rolls); sums of integers are exact."""
    if distributions.dtype == np.float64:
        return moments(distributions)[0]
    return np.asarray((distributions.astype(np.int64) @ np.arange(distributions.shape[1])) / CHANCE_WHOLE)


class Rolls(NamedTuple):
    """Rolls that sides need: mean and standard deviation (...,), and chances (..., rolls) to need exactly i of them.

    None where a table does not say.
    """

    mean: Array
    deviation: Array | None = None
    chances: Array | None = None


class OfRolls(OfOneSide):
    """Tables of the rolls that one side needs."""

    @abstractmethod
    def rolls(self, which: Which) -> Rolls:
        """Rolls to bear off the last chequer, by position number."""

    def first_rolls(self, which: Which) -> Rolls | None:
        """Rolls to bear off the first chequer, None where the table does not say."""
        return None

    @abstractmethod
    def to_mean_rolls(self) -> MeanRolls:
        """Mean rolls, float64, of each position."""

    @property
    def rolls_error(self) -> float:
        """Greatest error of the mean rolls that follow from distributions in a file's integers."""
        return 1e-12 if self.exact else bounds.mean_error(self.points)

    def errors(self) -> dict[str, float]:
        return {"mean_rolls": self.rolls_error}


def rolls_of(rows: Array) -> Rolls:
    """Rolls, in float64, of stored distributions (..., rolls).

    Sums of the stored integers are exact; each mean is divided once.
    """
    scale = 1.0 if rows.dtype == np.float64 else float(CHANCE_WHOLE)
    rolls = np.arange(rows.shape[-1], dtype=np.float64)
    chances = rows.astype(np.float64) / scale
    mean = rows @ rolls / scale
    square = rows @ (rolls * rolls) / scale
    return Rolls(mean, np.sqrt(np.maximum(square - mean * mean, 0.0)), chances)


class OneSideAnswer:
    """What follows from the mean rolls of one side."""

    side: Side
    number: int
    mean_rolls: Any  # float: a field or a property of the answer

    @property
    def pips(self) -> int:
        """The pip count."""
        return self.side.pips

    @property
    def epc(self) -> float:
        """The effective pip count: mean rolls times 49/6."""
        return float(self.mean_rolls * PIPS_PER_ROLL)

    @property
    def wastage(self) -> float:
        """The effective pip count less the pip count."""
        return self.epc - self.pips

    def title(self, who: str) -> str:
        """The first line of a description."""
        return f"{self.side}  (number {self.number}{', ' + who if who else ''})"

    def heading(self) -> dict[str, Any]:
        """What every answer about one side begins with, as plain values."""
        rolls = {name: getattr(self, name) for name in ("pips", "mean_rolls", "epc", "wastage")}
        return {"side": str(self.side), "position_number": self.number} | rolls


@dataclass(frozen=True)
class Estimate(OneSideAnswer):
    """What a table of means (and perhaps deviations) says of one side; the rest is None."""

    side: Side
    number: int
    mean_rolls: float
    std_rolls: float | None = None
    gammon_mean_rolls: float | None = None
    gammon_std_rolls: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The estimate as plain values, under the names of `bgfmt lookup --json`."""
        more = {name: getattr(self, name) for name in ("std_rolls", "gammon_mean_rolls", "gammon_std_rolls")}
        return self.heading() | {name: value for name, value in more.items() if value is not None}

    def describe(self, who: str = "") -> str:
        """Lines of text, as `bgfmt lookup` prints them; `who` names the side."""
        lines = [self.title(who), f"{'Mean':<10}{self.mean_rolls:10.6g}"]
        if self.std_rolls is not None:
            lines.append(f"{'Std dev':<10}{self.std_rolls:10.3f}")
        if self.gammon_mean_rolls is not None:
            deviation = f"(std dev {self.gammon_std_rolls:.3f})"
            lines.append(f"{'Saving gammon':<14}{self.gammon_mean_rolls:7.3f} {deviation}")
        lines += [f"{'EPC':<10}{self.epc:10.3f}", f"{'Wastage':<10}{self.wastage:10.3f}"]
        return "\n".join(lines) + "\n"


#: what every table about rolls gives
OF_ROLLS = (
    Column("pips", "pips", "  pips %3d", whole=True),
    Column("mean_rolls", "rolls", "  mean %7.3f"),
    Column("epc", "pips", "  EPC %7.3f"),
    Column("wastage", "pips", "  wastage %7.3f"),
)
DEVIATION = Column("std_rolls", "rolls", "  sd %7.3f")
GAMMON = (
    Column("gammon_mean_rolls", "rolls", "  gammon mean %7.3f"),
    Column("gammon_std_rolls", "rolls", " sd %7.3f"),
)


def rolls_values(table: OfOneSide, numbers: NDArray[np.int64], mean: Array) -> NDArray[np.float64]:
    """The values of `OF_ROLLS`, (m, 4)."""
    counts = board.unrank_array(numbers, table.points)
    pips = counts.astype(np.int64) @ np.arange(1, table.points + 1)
    epc = np.asarray(mean, np.float64) * PIPS_PER_ROLL
    return np.stack([pips, mean, epc, epc - pips], axis=1).astype(np.float64)


class OfMeans(OfRolls):
    """Tables of means, and perhaps of deviations."""

    unit: ClassVar[str] = "rolls"

    def lookup(self, asked: Side | Position) -> Estimate:
        number = self.number(asked)
        assert isinstance(asked, Side)
        return Estimate(asked, number, *map(float, np.atleast_1d(self._first[number])))


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanRolls(OfMeans):
    """Expected rolls under least-mean play, Peelle's table: `means`, (n,) float64 in order of position number."""

    kind: ClassVar[str] = "mean-rolls"
    names = ("mean_rolls",)
    columns = OF_ROLLS
    means: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("means", ((board.count(points, chequers),),), ("f8",)),)

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


@dataclass(frozen=True, eq=False, kw_only=True)
class NormalOneSided(OfMeans):
    """As makebearoff -n: (n, 4) float32, mean and standard deviation of rolls to bear off all, and the first."""

    kind: ClassVar[str] = "normal-distribution"
    names = ("mean_rolls", "std_rolls", "gammon_mean_rolls", "gammon_std_rolls")
    columns = (*OF_ROLLS, DEVIATION, *GAMMON)
    moments: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("moments", ((board.count(points, chequers), 4),), ("f4",)),)

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
