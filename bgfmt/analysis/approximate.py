"""Both sides from one-sided distributions: gnubg's formula, approximate, because each side then plays alone.

Measured over all pairs of six chequers or fewer on six points, the win chance differs from the exact one by at
most 0.0139, 0.00088 on average: the side behind should play for doubles, which one-sided play never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.shapes import Chance, Plain
from bgfmt.game import board
from bgfmt.game.board import Position
from bgfmt.tables import OneSided, of_kind
from bgfmt.tables.rolls import CHANCE_WHOLE

if TYPE_CHECKING:
    from bgfmt.analysis.solving import SideRolls

WORST_ERROR = 0.0139
MEAN_ERROR = 0.00088
FULL = 15  # only a side with all fifteen chequers on the board can lose a gammon


@dataclass(frozen=True)
class TwoSidedEstimate(Plain):
    """Approximate chances of the side on roll, by gnubg's formula, each side playing alone."""

    FIELDS = "position approximate win win_gammon lose_gammon cubeless worst_error mean_error"
    TITLE = "Chances"

    position: Annotated[Position, "Both sides, the side on roll first."]
    win: Annotated[Chance, "The chance to win."]
    win_gammon: Annotated[Chance | None, "The chance to win a gammon; null without gammon data."]
    lose_gammon: Annotated[Chance | None, "The chance to lose a gammon; null without gammon data."]
    worst_error: Annotated[
        float, "The greatest error of `win`, measured over all pairs of six chequers or fewer on six points."
    ] = WORST_ERROR
    mean_error: Annotated[float, "The mean error of `win` over the same pairs."] = MEAN_ERROR
    approximate: Annotated[bool, "Always true."] = True

    @property
    def cubeless(self) -> float:
        """The equity without a cube, gammons counted where they are known."""
        return 2 * self.win - 1 + (self.win_gammon or 0.0) - (self.lose_gammon or 0.0)


def win_chances(ours: ArrayLike, theirs: ArrayLike) -> Any:
    """Chance that the side on roll is off first: sum over i of ours[i] * sum over j >= i of theirs[j].

    Takes distributions of shape (..., rolls) from the same or different tables and returns shape (...); the
    side on roll wins ties. gnubg's formula, and Peelle's `Pwin`.
    """
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    rolls = max(a.shape[-1], b.shape[-1])
    a, b = _wide(a, rolls), _wide(b, rolls)
    return (a * _at_least(b)).sum(axis=-1)


def _wide(distribution: NDArray[np.float64], rolls: int) -> NDArray[np.float64]:
    missing = rolls - distribution.shape[-1]
    return (
        np.pad(distribution, [(0, 0)] * (distribution.ndim - 1) + [(0, missing)]) if missing else distribution
    )


def _float64(stored: Any) -> NDArray[np.float64]:
    """Stored chances as floats."""
    rows = np.asarray(stored)
    return rows if rows.dtype == np.float64 else rows / CHANCE_WHOLE


def _at_least(distribution: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entry i becomes the chance of i rolls or more."""
    return np.cumsum(distribution[..., ::-1], axis=-1)[..., ::-1]


def outcome_chances(
    ours: ArrayLike,
    theirs: ArrayLike,
    our_first: ArrayLike | None = None,
    their_first: ArrayLike | None = None,
) -> tuple[Any, Any, Any]:
    """(win, win gammon, lose gammon) of the side on roll from distributions of shape (..., rolls).

    `our_first` and `their_first` are the distributions for the first chequer, None where nothing is known (the
    gammon chances are then 0). A side that has borne a chequer off has all of its `first` chance at 0 rolls.
    """
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
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
    """Rows for the first chequer: the table's own or, up to eight points, calculated once; None beyond that."""
    if table.gammon is not None or table.points > 8:
        return table.gammon
    return _solved_first(table.points)


def twosided_from_onesided(databases: Databases, position: Position) -> TwoSidedEstimate:
    """Win and gammon chances of a race from the best one-sided table that covers both sides, approximate."""
    choose.check_race(position)
    table = choose.distributions_for(databases, position.us, position.them)
    if table is None:
        raise choose.not_covered(databases, position.us, position.them, wanted="the distributions of rolls")
    win, won, lost = (float(x) for x in twosided_many(table, [position.us], [position.them])[0])
    return TwoSidedEstimate(position, win, None if np.isnan(won) else won, None if np.isnan(lost) else lost)


def of_rolls(position: Position, ours: SideRolls, theirs: SideRolls) -> TwoSidedEstimate:
    """The same from calculated rolls of each side."""
    a, b = (_wide(x.last, max(len(ours.last), len(theirs.last))) for x in (ours, theirs))
    win, won, lost = (float(x) for x in outcome_chances(a, b, ours.first, theirs.first))
    return TwoSidedEstimate(position, win, won, lost)


def twosided_many(databases: Databases, us: Any, them: Any) -> NDArray[np.float64]:
    """(N, 3) float64: approximate win, win gammon and lose gammon chances of many positions.

    `us` and `them` are counts (N, points); the first one-sided table with distributions answers. Gammon chances
    are NaN where they matter and no gammon data is to be had.
    """
    tables = of_kind(choose.tables_of(databases), OneSided)
    if not tables:
        raise choose.not_covered(databases, wanted="the distributions of rolls")
    table = tables[0]
    ours, theirs = table.numbers(us), table.numbers(them)
    a, b = _float64(table.bearoff[ours]), _float64(table.bearoff[theirs])
    few = board.count(table.points, FULL - 1)
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


def turned(equities: Any, cube: str) -> Any:
    """Worth to the side that has just played, (M,), of the other side's equities (M, 4) once it is on roll.

    `cube` is where the cube lies for the side that played: the other side may turn it unless we own it. The
    name "cubeless" gives the cubeless worth, for which one column is enough.
    """
    if cube in ("cubeless", "owned"):
        return -equities[:, 0 if cube == "cubeless" else 3]
    rolling = equities[:, 2 if cube == "centered" else 1]
    cashed = np.minimum(equities.dtype.type(1), 2 * equities[:, 3])
    return -np.maximum(rolling, cashed)
