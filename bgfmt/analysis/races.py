"""One side's race: rolls, effective pips, wastage, and the chances to be off or to save the gammon in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.answers import SideRace
from bgfmt.analysis.choose import Databases
from bgfmt.errors import NotCoveredError
from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided
from bgfmt.tables.scales import CHANCE_WHOLE, PIPS_PER_ROLL

Floats = NDArray[Any]


def side_race(table: OneSided | MeanRolls | NormalOneSided, side: Side, name: str | None = None) -> SideRace:
    """What a one-sided table that covers a side says of it, in float64."""
    number = side.number(table.points)
    error = {"mean_rolls": choose.known_error_of_rolls(table)}
    if isinstance(table, OneSided):
        mean, deviation, chances = moments(np.asarray(table.bearoff[number]))
        gammon = None if table.gammon is None else moments(np.asarray(table.gammon[number]))
        return SideRace(
            source="one-sided",
            table=name,
            max_error=error,
            side=side,
            number=number,
            mean_rolls=float(mean),
            std_rolls=float(deviation),
            gammon_mean_rolls=None if gammon is None else float(gammon[0]),
            gammon_std_rolls=None if gammon is None else float(gammon[1]),
            bearoff=chances,
            gammon=None if gammon is None else gammon[2],
        )
    if isinstance(table, NormalOneSided):
        numbers = [float(x) for x in table.moments[number]]
        keys = ("mean_rolls", "std_rolls", "gammon_mean_rolls", "gammon_std_rolls")
        known = dict(zip(keys, numbers, strict=True))
        return SideRace(source="one-sided", table=name, side=side, number=number, **known)  # type: ignore[arg-type]
    mean_rolls = float(table.means[number])
    return SideRace(
        source="one-sided", table=name, max_error=error, side=side, number=number, mean_rolls=mean_rolls
    )


def moments(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, standard deviation and chances, in float64, of stored distributions (..., rolls).

    Sums of the stored integers are exact; each mean is divided once.
    """
    scale = 1.0 if rows.dtype == np.float64 else float(CHANCE_WHOLE)
    rolls = np.arange(rows.shape[-1], dtype=np.float64)
    chances = rows.astype(np.float64) / scale
    mean = rows @ rolls / scale
    square = rows @ (rolls * rolls) / scale
    return mean, np.sqrt(np.maximum(square - mean * mean, 0.0)), chances


@dataclass(frozen=True, eq=False)
class Races:
    """Races of N sides; float64 arrays of shape (N,) and (N, 32), None where the table does not say.

    bearoff, gammon : chances to bear off the last, the first chequer in exactly i rolls.
    """

    pips: NDArray[np.int64]
    mean_rolls: Floats
    std_rolls: Floats | None
    bearoff: Floats | None = None
    gammon: Floats | None = None

    @property
    def epc(self) -> Floats:
        """Effective pip count: mean rolls times 49/6."""
        return np.asarray(self.mean_rolls * PIPS_PER_ROLL)

    @property
    def wastage(self) -> Floats:
        """EPC less pips."""
        return np.asarray(self.epc - self.pips)

    def off_within(self, rolls: int) -> Floats:
        """(N,) chance to be off after `rolls` rolls."""
        return self._within(self.bearoff, rolls)

    def gammon_saved_within(self, rolls: int) -> Floats:
        """(N,) chance to have borne the first chequer off after `rolls` rolls."""
        return self._within(self.gammon, rolls)

    @staticmethod
    def _within(rows: Floats | None, rolls: int) -> Floats:
        if rows is None:
            raise NotCoveredError("the table has no such distributions")
        return np.asarray(rows[:, : rolls + 1].sum(axis=1, dtype=np.float64))


def race_many(databases: Databases, sides: Any) -> Races:
    """Races of many sides, counts (N, points), numbers (N,) or Side objects, from the first one-sided table."""
    kinds = (OneSided, MeanRolls, NormalOneSided)
    fitting = [table for table in choose.tables_of(databases) if isinstance(table, kinds)]
    if not fitting:
        raise choose.not_covered(databases, wanted="the rolls of one side")
    table = min(fitting, key=lambda t: kinds.index(type(t)))
    numbers = table.numbers(sides)
    pips = board.unrank_array(numbers, table.points).astype(np.int64) @ np.arange(1, table.points + 1)
    if isinstance(table, OneSided):
        mean, deviation, chances = moments(np.asarray(table.bearoff[numbers]))
        gammon = None if table.gammon is None else moments(np.asarray(table.gammon[numbers]))[2]
        return Races(pips, mean, deviation, chances, gammon)
    stored = table.lookup_many(numbers)
    if isinstance(table, NormalOneSided):
        return Races(pips, stored[:, 0], stored[:, 1])
    return Races(pips, stored, None)
