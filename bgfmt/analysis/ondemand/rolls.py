"""One side's rolls on demand: all that play can make of it, each board played so that the mean is least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bgfmt.analysis.ondemand.engine import DEFAULT_LIMIT, Array, Family, family
from bgfmt.errors import NotCoveredError, PositionError, TooMuchWorkError
from bgfmt.game.board import MAX_CHEQUERS, Side
from bgfmt.solver.machine import check_memory


@dataclass(frozen=True, eq=False)
class SideRolls:
    """The rolls of one side, exactly.

    last : (rolls,) chances to bear off the last chequer in exactly 0, 1, 2, ... rolls; first : the first chequer,
    None where some are off already. Their means are the least that play can reach, each by itself.
    """

    side: Side
    boards: int
    last: Array
    first: Array | None


def solve_side(side: Side, *, limit: int | None = None) -> SideRolls:
    """The rolls of one side on up to 24 points, in float64, from the rules alone.

    NotCoveredError for a chequer on the bar, and for more boards than `limit` (as of `solve_money`) allows.
    """
    if not side.chequers:
        raise PositionError("there is nothing to play, all chequers are off")
    if side.bar:
        raise NotCoveredError(f"{side} has a chequer on the bar")
    most = DEFAULT_LIMIT if limit is None else limit
    boards = family(side, limit=most)
    if boards is None:
        raise TooMuchWorkError(f"{side}", None, most)
    rolls = int(boards.plies[-1]).bit_length()
    check_memory(8 * len(boards) * (rolls + 1), f"{side}: its rolls")
    counts = boards.counts.sum(axis=1, dtype=np.int64)
    last = _chances(boards, counts == 0, rolls)
    first = _chances(boards, counts < MAX_CHEQUERS, rolls) if side.chequers == MAX_CHEQUERS else None
    return SideRolls(side, len(boards), last, first)


def _chances(boards: Family, done: Array, rolls: int) -> Array:
    from bgfmt.analysis.ondemand import kernels_rolls

    chances = np.zeros((len(boards), rolls))
    kernels_rolls.roll_chances(boards.ends, boards.results, done, np.zeros(len(boards)), chances)
    found: Array = chances[0, : np.flatnonzero(chances[0])[-1] + 1].copy()
    return found
