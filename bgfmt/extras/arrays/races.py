"""Races of many sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.answers import within_rolls
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.races import Floats
from bgfmt.game import board
from bgfmt.tables.rolls import PIPS_PER_ROLL


@dataclass(frozen=True, eq=False)
class Races:
    """Races of N sides: arrays of length N, float64; None for what the table does not hold.

    mean_rolls, std_rolls : (N,) mean and standard deviation of the rolls to bear off the last chequer.
    bearoff, gammon : (N, 32) probability of bearing off the last, or the first, chequer in exactly i rolls.
    """

    pips: NDArray[np.int64]
    mean_rolls: Floats
    std_rolls: Floats | None
    bearoff: Floats | None = None
    gammon: Floats | None = None

    @property
    def epc(self) -> Floats:
        """Effective pip counts (EPC), mean rolls times 49/6, (N,)."""
        return np.asarray(self.mean_rolls * PIPS_PER_ROLL)

    @property
    def wastage(self) -> Floats:
        """Wastage, EPC minus pips, (N,)."""
        return np.asarray(self.epc - self.pips)

    def off_within(self, rolls: int) -> Floats:
        """Return the probabilities of having borne off the last chequer within `rolls` rolls, (N,).

        NotCoveredError if the table has no distributions.
        """
        return within_rolls(self.bearoff, rolls)

    def gammon_saved_within(self, rolls: int) -> Floats:
        """Return the probabilities of having borne off the first chequer within `rolls` rolls, (N,).

        NotCoveredError if the table has no distributions of that.
        """
        return within_rolls(self.gammon, rolls)


def race_many(databases: Databases, sides: Any) -> Races:
    """Look up the races of many sides in one one-sided table, the best kind that `databases` hold.

    sides : counts (N, points), position numbers (N,), or a sequence of N `Side` objects. NotCoveredError if there is
    no one-sided table.
    """
    fitting = choose.one_sided_tables(databases)
    if not fitting:
        raise choose.not_covered(databases, wanted="the rolls of one side")
    table = min(fitting, key=lambda t: choose.RANK[t.kind])
    numbers = table.numbers(sides)
    pips = board.unrank_array(numbers, table.points).astype(np.int64) @ np.arange(1, table.points + 1)
    last = table.rolls(numbers)
    first = table.first_rolls(numbers) if last.chances is not None else None
    gammon = None if first is None else first.chances
    return Races(pips, last.mean, last.deviation, last.chances, gammon)
