"""Races: rolls, effective pips and wastage of one side, and win probabilities of two sides that each play alone.

The win probabilities are gnubg's formula, an approximation. Over all pairs of six chequers or fewer on six points
it differs from the exact value by at most 0.0139, 0.00088 on average: the side behind should play for doubles,
which one-sided play never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import choose, library
from bgfmt.analysis.answers import ESTIMATE, SideRace
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.shapes import Chance, Plain
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.moves import ROLLS, legal_plays
from bgfmt.tables import OfRolls, OneSided, Rolls, of_kind
from bgfmt.tables.rolls import CHANCE_WHOLE, PIPS_PER_ROLL, rolls_of

if TYPE_CHECKING:
    from bgfmt.analysis.solving import SideRolls

__all__ = [
    "EXACT",
    "FAR_ERROR",
    "FAR_ROLLS",
    "MEAN_ERROR",
    "WORST_ERROR",
    "Floats",
    "TwoSidedEstimate",
    "calculated_race",
    "estimate_from_rolls",
    "far_race",
    "first_chequer",
    "outcome_chances",
    "side_race",
    "twosided_from_onesided",
    "twosided_many",
    "win_chances",
]


Floats = NDArray[Any]
EXACT = 1e-12
FAR_ROLLS = 128  # length of a distribution, enough for fifteen chequers on the 24th point
FAR_ERROR = 0.1  # rolls; the greatest of 51 random sides of up to eight chequers on 16 points is 0.037
WORST_ERROR = 0.0139
MEAN_ERROR = 0.00088


def side_race(table: OfRolls, side: Side, name: str | None = None) -> SideRace:
    """Return the race of one side (rolls, effective pips, wastage) from a one-sided table that covers it.

    name : the name of the table, for the answer.
    """
    number = side.number(table.points)
    origin = {"source": "one-sided", "table": name, "max_error": table.errors() or None}
    return _race(side, number, table.rolls(number), table.first_rolls(number), **origin)


def calculated_race(found: SideRolls) -> SideRace:
    """Return the race of a side (rolls, effective pips, wastage) from its calculated distributions of rolls.

    found : what `solving.solve_side` returned.
    """
    side = found.side
    first = None if found.first is None else rolls_of(found.first)
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
    """Return the race of a side outside the home board, by the default one-sided table of ten points.

    With chequers beyond ten points it is an estimate: the weighted mean over the 21 rolls, each played to the result
    with the fewest mean rolls left, where a chequer beyond the tenth point counts as one on the tenth point plus
    6/49 of a roll for each pip up to there.
    """
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
    """Return (FAR_ROLLS,) the distribution of rolls of a side, chequers beyond the table moved to its last point."""
    counts = np.array(side.padded(max(side.highest, table.points)), np.int64)
    far = counts[table.points :]
    whole, part = divmod(float(far @ np.arange(1, len(far) + 1)) / PIPS_PER_ROLL, 1.0)
    near = Side(*counts[: table.points - 1].tolist(), int(counts[table.points - 1 :].sum()))
    row = np.asarray(table.rolls(near.number(table.points)).chances)
    out = np.zeros(FAR_ROLLS)
    out[int(whole) : int(whole) + len(row)] += (1 - part) * row
    out[int(whole) + 1 : int(whole) + 1 + len(row)] += part * row
    return out


# -- both sides, each playing alone ----------------------------------------------------------------------


@dataclass(frozen=True)
class TwoSidedEstimate(Plain):
    """Approximate win and gammon probabilities of the side on roll, by gnubg's formula, each side playing alone."""

    FIELDS = "position approximate win win_gammon lose_gammon cubeless worst_error mean_error"
    TITLE = "Win probabilities"

    position: Annotated[Position, "Both sides, the side on roll first."]
    win: Annotated[Chance, "Win probability."]
    win_gammon: Annotated[Chance | None, "Probability of winning a gammon; null without gammon data."]
    lose_gammon: Annotated[Chance | None, "Probability of losing a gammon; null without gammon data."]
    worst_error: Annotated[float, "Maximum error of `win`, measured up to six chequers on six points."] = (
        WORST_ERROR
    )
    mean_error: Annotated[float, "Mean error of `win`, measured in the same way."] = MEAN_ERROR
    approximate: Annotated[bool, "Always true."] = True

    @property
    def cubeless(self) -> float:
        """Equity without a cube, gammons counted if known.

        In points, of the side on roll.
        """
        return 2 * self.win - 1 + (self.win_gammon or 0.0) - (self.lose_gammon or 0.0)


def win_chances(ours: ArrayLike, theirs: ArrayLike) -> Any:
    """Return the probability that the side on roll bears off first, each side playing alone.

    This is the sum over i of ours[i] * sum over j >= i of theirs[j]: with equal numbers of rolls the side on roll
    wins. gnubg's formula, and Peelle's `Pwin`.

    Parameters
    ----------
    ours, theirs
        Distributions (..., rolls) of the side on roll and the other: probability of being off in exactly i rolls.
        The two may have different numbers of rolls.

    Returns
    -------
    (...,) float64
    """
    a = np.asarray(ours, np.float64)
    b = np.asarray(theirs, np.float64)
    rolls = max(a.shape[-1], b.shape[-1])
    a = _wide(a, rolls)
    b = _wide(b, rolls)
    return (a * _at_least(b)).sum(axis=-1)


def _wide(distribution: Floats, rolls: int) -> Floats:
    """Return distributions (..., n) padded with zeros to (..., rolls)."""
    missing = rolls - distribution.shape[-1]
    return (
        np.pad(distribution, [(0, 0)] * (distribution.ndim - 1) + [(0, missing)]) if missing else distribution
    )


def _float64(stored: Any) -> Floats:
    """Return probabilities as float64; integers as stored are divided by 65535."""
    rows = np.asarray(stored)
    return rows if rows.dtype == np.float64 else rows / CHANCE_WHOLE


def _at_least(distribution: Floats) -> Floats:
    """Return the cumulative sums from the end: entry i is the probability of i rolls or more."""
    return np.cumsum(distribution[..., ::-1], axis=-1)[..., ::-1]


def outcome_chances(
    ours: ArrayLike,
    theirs: ArrayLike,
    our_first: ArrayLike | None = None,
    their_first: ArrayLike | None = None,
) -> tuple[Any, Any, Any]:
    """Compute the probabilities (win, win gammon, lose gammon) of the side on roll, each side playing alone.

    Parameters
    ----------
    ours, theirs
        Distributions (..., rolls) of the rolls to bear off the last chequer, of the side on roll and the other: the
        probability of exactly i rolls.
    our_first, their_first
        The same for the first chequer, all at 0 rolls for a side that has borne one off. If None, the gammon
        probability that needs it is 0.

    Returns
    -------
    Three float64 arrays of shape (...).
    """
    a = np.asarray(ours, np.float64)
    b = np.asarray(theirs, np.float64)
    win = win_chances(a, b)
    zero = np.zeros_like(win)
    win_gammon = zero if their_first is None else win_chances(a, their_first)
    if our_first is None:
        return win, win_gammon, zero
    later = _at_least(np.asarray(our_first, np.float64))
    after = np.concatenate([later[..., 1:], np.zeros_like(later[..., :1])], axis=-1)
    rolls = max(b.shape[-1], after.shape[-1])
    return win, win_gammon, (_wide(b, rolls) * _wide(after, rolls)).sum(axis=-1)


@cache
def _solved_first(points: int) -> Any:
    from bgfmt import solver

    return solver.one_sided(points).arrays()["gammon"]


def first_chequer(table: OneSided) -> Any:
    """Return the distributions of rolls to bear off the first chequer, which give gammon probabilities.

    They are the table's own rows by position number; if it has none and at most eight points, they are solved once.
    None in all other cases.
    """
    if table.gammon is not None or table.points > 8:
        return table.gammon
    return _solved_first(table.points)


def twosided_from_onesided(databases: Databases, position: Position) -> TwoSidedEstimate:
    """Estimate win and gammon probabilities of a race from the best one-sided table that covers both sides.

    PositionError if the game is over; NotCoveredError for contact, or if no table covers both sides.
    """
    choose.check_race(position)
    table = choose.distributions_for(databases, position.us, position.them)
    if table is None:
        raise choose.not_covered(databases, position.us, position.them, wanted="the distributions of rolls")
    win, won, lost = (float(x) for x in twosided_many(table, [position.us], [position.them])[0])
    return TwoSidedEstimate(position, win, None if np.isnan(won) else won, None if np.isnan(lost) else lost)


def estimate_from_rolls(position: Position, ours: SideRolls, theirs: SideRolls) -> TwoSidedEstimate:
    """Estimate win and gammon probabilities of a race from both sides' calculated distributions of rolls.

    ours, theirs : the distributions of the side on roll and of the other.
    """
    a, b = (_wide(x.last, max(len(ours.last), len(theirs.last))) for x in (ours, theirs))
    win, won, lost = (float(x) for x in outcome_chances(a, b, ours.first, theirs.first))
    return TwoSidedEstimate(position, win, won, lost)


def twosided_many(databases: Databases, us: Any, them: Any) -> Floats:
    """Estimate win and gammon probabilities of many races from the first one-sided table with distributions.

    Parameters
    ----------
    databases
        One or more databases or tables.
    us, them
        Counts (N, points) of the side on roll and of the other.

    Returns
    -------
    (N, 3) float64: win, win gammon, lose gammon of the side on roll. Gammon probabilities are NaN if a gammon is
    possible
    but the table has no data for it.
    """
    tables = of_kind(choose.tables_of(databases), OneSided)
    if not tables:
        raise choose.not_covered(databases, wanted="the distributions of rolls")
    table = tables[0]
    ours = table.numbers(us)
    theirs = table.numbers(them)
    a = _float64(table.bearoff[ours])
    b = _float64(table.bearoff[theirs])
    few = board.count(table.points, MAX_CHEQUERS - 1)
    out = np.zeros((len(ours), 3))
    out[:, 0] = np.minimum(win_chances(a, b), 1.0)
    for column, full in ((1, theirs >= few), (2, ours >= few)):
        if not full.any():
            continue
        rows = first_chequer(table)
        if rows is None:
            out[full, column] = np.nan
        else:
            firsts = (_float64(rows[one[full]]) for one in (ours, theirs))
            out[full, column] = outcome_chances(a[full], b[full], *firsts)[column]
    return out
