"""One side's race: rolls, effective pips, wastage, and the chances to be off or to save the gammon in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.answers import ESTIMATE, SideRace
from bgfmt.analysis.choose import Databases
from bgfmt.errors import NotCoveredError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS, legal_plays
from bgfmt.tables import OfRolls, OneSided, Rolls
from bgfmt.tables.rolls import PIPS_PER_ROLL, rolls_of

if TYPE_CHECKING:
    from bgfmt.analysis.solving import SideRolls

Floats = NDArray[Any]
EXACT = 1e-12
FAR_ROLLS = 128  # more than fifteen chequers on the 24th point take
FAR_ERROR = 0.1  # rolls; the greatest of 51 random sides of up to eight chequers on 16 points is 0.037


def side_race(table: OfRolls, side: Side, name: str | None = None) -> SideRace:
    """What a one-sided table that covers a side says of it, in float64."""
    number = side.number(table.points)
    origin = {"source": "one-sided", "table": name, "max_error": table.errors() or None}
    return _race(side, number, table.rolls(number), table.first_rolls(number), **origin)


def calculated(found: SideRolls) -> SideRace:
    """The race of a side that was calculated from the rules."""
    side, first = found.side, None if found.first is None else rolls_of(found.first)
    origin = {"source": "calculation", "max_error": {"mean_rolls": EXACT}}
    return _race(side, side.number(max(6, side.highest)), rolls_of(found.last), first, **origin)


def _race(side: Side, number: int, last: Rolls, first: Rolls | None, **origin: Any) -> SideRace:
    found = {"mean_rolls": last.mean, "std_rolls": last.deviation}
    if first is not None:
        found |= {"gammon_mean_rolls": first.mean, "gammon_std_rolls": first.deviation}
    numbers: Any = {name: float(value) for name, value in found.items() if value is not None}
    gammon = None if first is None else first.chances
    return SideRace(side=side, number=number, bearoff=last.chances, gammon=gammon, **numbers, **origin)


def far_race(side: Side) -> SideRace:
    """The race of a side outside the home board by the default table of ten points; chequers beyond are estimated.

    The estimate is the mean of the 21 rolls, each played to where the fewest rolls are left. A chequer beyond ten
    points then counts as one on the tenth and 6/49 of a roll for each pip up to there.
    """
    from bgfmt.analysis import library

    table = library.one_sided_default(True)
    if side.highest <= table.points:
        return side_race(table, side, library.FAR[0])
    chances = np.zeros(FAR_ROLLS)
    for roll in ROLLS:
        results = {play.result.us for play in legal_plays(Position(side, Side()), roll.high, roll.low)}
        rows = [_stand_in(result, table) for result in results]
        best = min(rows, key=lambda row: float(row @ np.arange(FAR_ROLLS)))
        chances[1:] += roll.weight / 36 * best[:-1]
    last = rolls_of(chances[: np.flatnonzero(chances)[-1] + 1])
    return _race(
        side, side.number(side.highest), last, None, source=ESTIMATE, max_error={"mean_rolls": FAR_ERROR}
    )


def _stand_in(side: Side, table: OneSided) -> Floats:
    counts = np.array(side.padded(max(side.highest, table.points)), np.int64)
    far = counts[table.points :]
    whole, part = divmod(float(far @ np.arange(1, len(far) + 1)) / PIPS_PER_ROLL, 1.0)
    near = Side(*counts[: table.points - 1].tolist(), int(counts[table.points - 1 :].sum()))
    row = np.asarray(table.rolls(near.number(table.points)).chances)
    out = np.zeros(FAR_ROLLS)
    out[int(whole) : int(whole) + len(row)] += (1 - part) * row
    out[int(whole) + 1 : int(whole) + 1 + len(row)] += part * row
    return out


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
    fitting = choose.of_rolls(databases)
    if not fitting:
        raise choose.not_covered(databases, wanted="the rolls of one side")
    table = min(fitting, key=lambda t: choose.RANK[t.kind])
    numbers = table.numbers(sides)
    pips = board.unrank_array(numbers, table.points).astype(np.int64) @ np.arange(1, table.points + 1)
    last = table.rolls(numbers)
    first = table.first_rolls(numbers) if last.chances is not None else None
    gammon = None if first is None else first.chances
    return Races(pips, last.mean, last.deviation, last.chances, gammon)
