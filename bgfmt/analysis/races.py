"""One side's race: rolls, effective pips, wastage, and the chances to be off or to save the gammon in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import lookup
from bgfmt.analysis import choose
from bgfmt.analysis.choose import Databases
from bgfmt.errors import NotCoveredError
from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.lookup import PIPS_PER_ROLL, Estimate, Race
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided

Floats = NDArray[Any]


def race(databases: Databases, side: Side) -> Race | Estimate:
    """What the best one-sided table says of a side: `Race` with distributions, or `Estimate` with the mean.

    Raises NotCoveredError where no table covers the side.
    """
    table = choose.one_sided_for(databases, side)
    if table is None:
        raise choose.not_covered(databases, side, wanted="the rolls of one side")
    answer = lookup.look_up(table, side)
    assert isinstance(answer, (Race, Estimate))
    return answer


def within(distribution: Any) -> Floats:
    """Chances to be done within 0, 1, 2, ... rolls, float64 of the same shape, never above 1."""
    return np.minimum(np.cumsum(np.asarray(distribution, np.float64), axis=-1), 1.0)


def summary(answer: Race | Estimate) -> dict[str, Any]:
    """A race as plain values, with the chances to be done within n rolls beside the exact ones."""
    out = answer.as_dict()
    if isinstance(answer, Race):
        out["off_within"] = [float(x) for x in within(answer.bearoff)]
        if answer.gammon is not None:
            out["gammon_saved_within"] = [float(x) for x in within(answer.gammon)]
    return out


@dataclass(frozen=True, eq=False)
class Races:
    """Races of N sides; arrays of shape (N,) and (N, 32), None where the table does not say.

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
    numbers = lookup.numbers_of(table, sides)
    pips = board.unrank_array(numbers, table.points).astype(np.int64) @ np.arange(1, table.points + 1)
    stored = lookup.look_up_many(table, numbers)
    if isinstance(table, OneSided):
        mean, deviation = lookup.moments(stored)
        gammon = None if table.gammon is None else lookup.look_up_many(table, numbers, column="gammon")
        return Races(pips, mean, deviation, stored, gammon)
    if isinstance(table, NormalOneSided):
        return Races(pips, stored[:, 0], stored[:, 1])
    return Races(pips, stored, None)
