"""Exact equities of a race from the rules alone, in double precision, to settle what a rounded table leaves open.

Every pair of positions that play can reach from the one asked is calculated; with six chequers a side that takes
well under a second once compiled, and nothing is read from any table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.answers import COLUMNS, PositionEquities
from bgfmt.analysis.cube import EXACT
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS

DICE = np.array([(high, low) for high, low, _ in ROLLS])
WEIGHTS = np.array([float(weight) for _, _, weight in ROLLS])
#: most pairs of positions calculated to settle one decision, some two seconds of one core
SETTLE_LIMIT = 3_000_000
FULL = 15  # only a side with all its chequers on the board can lose a gammon


def family(side: Side, points: int) -> NDArray[np.int64]:
    """Position numbers of all that play can make of a side, itself included, by pips (0, all off, first)."""
    from bgfmt.analysis.bulk import results_of

    seen = np.array([side.number(points)], np.int64)
    frontier = seen
    while len(frontier):
        counts = board.unrank_array(np.repeat(frontier, len(ROLLS)), points)
        rolls = np.tile(DICE, (len(frontier), 1))
        _, found = results_of(counts, rolls)
        fresh = np.setdiff1d(found, seen)
        seen = np.union1d(seen, fresh)
        frontier = fresh[fresh > 0]
    pips = board.unrank_array(seen, points).astype(np.int64) @ np.arange(1, points + 1)
    return seen[np.argsort(pips, kind="stable")]


def _plays(numbers: NDArray[np.int64], points: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from bgfmt.analysis.bulk import results_of

    counts = board.unrank_array(np.repeat(numbers, len(ROLLS)), points)
    lengths, found = results_of(counts, np.tile(DICE, (len(numbers), 1)))
    order = np.argsort(numbers)
    indices = order[np.searchsorted(numbers[order], found)]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return starts.astype(np.int64), indices.astype(np.int64)


def exact_equities(position: Position, *, limit: int | None = None) -> PositionEquities | None:
    """The exact four equities of a race, good to 1e-12, gammons ignored; None beyond `limit` pairs of positions.

    Raises PositionError when the game is over and NotCoveredError for contact.
    """
    choose.check_race(position)
    from bgfmt.analysis import kernels

    points = [max(6, side.highest) for side in (position.us, position.them)]
    if limit is not None:
        most = [
            board.count(min(p, s.highest), s.chequers)
            for p, s in zip(points, (position.us, position.them), strict=True)
        ]
        if most[0] * most[1] > 20 * limit:
            return None
    ours, theirs = family(position.us, points[0]), family(position.them, points[1])
    if limit is not None and len(ours) * len(theirs) > limit:
        return None
    values, _ = kernels.exact_race(*_plays(ours, points[0]), *_plays(theirs, points[1]), WEIGHTS)
    cubeless, owned, centered, opponent = (float(x) for x in values[-1, -1])
    return PositionEquities(
        source="calculation",
        max_error=dict.fromkeys(("win", *COLUMNS), EXACT),
        position=position,
        win=(cubeless + 1) / 2,
        win_gammon=0.0,
        lose_gammon=0.0,
        cubeless=cubeless,
        owned=owned,
        centered=centered,
        opponent=opponent,
        gammons="ignored" if FULL in (position.us.chequers, position.them.chequers) else "none",
    )
