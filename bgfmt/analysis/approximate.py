"""Both sides from one-sided distributions: gnubg's formula, approximate, because each side then plays alone.

Measured over all pairs of six chequers or fewer on six points, the win chance differs from the exact one by at
most 0.0139, 0.00088 on average: the side behind should play for doubles, which one-sided play never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt import lookup
from bgfmt.analysis import choose
from bgfmt.analysis.choose import Databases
from bgfmt.board import Position
from bgfmt.tables import OneSided

WORST_ERROR = 0.0139
MEAN_ERROR = 0.00088
FULL = 15  # only a side with all fifteen chequers on the board can lose a gammon
#: how live the cube is in a race, between dead (0) and fully live (1); Janowski's usual 2/3
EFFICIENCY = 2 / 3


@dataclass(frozen=True)
class TwoSidedEstimate:
    """Approximate chances of the side on roll; gammons are None where the table has no gammon data."""

    position: Position
    win: float
    win_gammon: float | None
    lose_gammon: float | None
    worst_error: float = WORST_ERROR
    mean_error: float = MEAN_ERROR

    @property
    def cubeless(self) -> float:
        """Approximate cubeless money equity, gammons counted where known."""
        return 2 * self.win - 1 + (self.win_gammon or 0.0) - (self.lose_gammon or 0.0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "position": str(self.position),
            "approximate": True,
            "win": self.win,
            "win_gammon": self.win_gammon,
            "lose_gammon": self.lose_gammon,
            "cubeless": self.cubeless,
            "worst_error": self.worst_error,
            "mean_error": self.mean_error,
        }


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


def twosided_from_onesided(databases: Databases, position: Position) -> TwoSidedEstimate:
    """Win and gammon chances of a race from the best one-sided table that covers both sides, approximate."""
    choose.check_race(position)
    table = choose.one_sided_for(databases, position.us, position.them, distributions=True)
    if table is None:
        raise choose.not_covered(databases, position.us, position.them, wanted="the distributions of rolls")
    assert isinstance(table, OneSided)
    ours, theirs = (lookup.look_up(table, side) for side in (position.us, position.them))
    assert isinstance(ours, lookup.Race)
    assert isinstance(theirs, lookup.Race)
    known = table.gammon is not None
    full = (position.us.chequers >= FULL, position.them.chequers >= FULL)
    win, won, lost = outcome_chances(
        ours.bearoff, theirs.bearoff, ours.gammon if full[0] else None, theirs.gammon if full[1] else None
    )
    return TwoSidedEstimate(
        position,
        float(win),
        float(won) if known or not full[1] else None,
        float(lost) if known or not full[0] else None,
    )


def twosided_many(databases: Databases, us: Any, them: Any) -> NDArray[np.float64]:
    """(N, 3) float64: approximate win, win gammon and lose gammon chances of many positions.

    `us` and `them` are counts (N, points); the first one-sided table with distributions answers. Gammon chances
    are NaN where they matter and the table has no gammon data.
    """
    for table in choose.tables_of(databases):
        if isinstance(table, OneSided):
            break
    else:
        raise choose.not_covered(databases, wanted="the distributions of rolls")
    a, b = lookup.numbers_of(table, us), lookup.numbers_of(table, them)
    ours, theirs = lookup.look_up_many(table, a), lookup.look_up_many(table, b)
    from bgfmt.board import count

    full_us, full_them = (x >= count(table.points, FULL - 1) for x in (a, b))
    if table.gammon is None:
        win = win_chances(ours, theirs)
        return np.stack([win, np.where(full_them, np.nan, 0.0), np.where(full_us, np.nan, 0.0)], axis=1)
    first_us = lookup.look_up_many(table, a, column="gammon")
    first_them = lookup.look_up_many(table, b, column="gammon")
    win, won, lost = outcome_chances(ours, theirs, first_us, first_them)
    return np.stack([win, np.where(full_them, won, 0.0), np.where(full_us, lost, 0.0)], axis=1)


def janowski(cubeless: Any, efficiency: float = EFFICIENCY) -> tuple[Any, Any, Any]:
    """Approximate cubeful equities (owned, centered, opponent) from a cubeless one, without gammons.

    R. Janowski, "Take-points in money games" (1993): between a dead and a fully live cube, `efficiency` of the
    way. Takes and returns scalars or arrays.
    """
    dead = np.asarray(cubeless, np.float64)
    win = (dead + 1) / 2
    owned = np.clip(2.5 * win - 1, -1, 1)
    centered = np.clip((win - 0.5) / 0.3, -1, 1)
    opponent = np.clip(2.5 * (win - 0.2) - 1, -1, 1)
    mix = [(1 - efficiency) * dead + efficiency * live for live in (owned, centered, opponent)]
    return mix[0], mix[1], mix[2]
