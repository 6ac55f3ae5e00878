"""What to do where no table reaches: a plain rule, or a second engine.

* play, no contact: the play that leaves the fewest mean rolls where a one-sided table knows them, else the most
  chequers off, then the fewest pips outside the home board, then the fewest gaps;
* play, contact: the play with the best of a plain sum: pips ahead, less for our blots by how far they have come and
  how many opposing chequers can reach them, more for chequers of theirs on the bar and for points we hold;
* cube, no contact: the 8-9-12 rule: double at a lead of 8 % of our pips, redouble at 9 %, take up to 12 %;
* cube, contact: never double, take unless behind by more than a third of our pips.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bgfmt.analysis import bulk, choose
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.tables import Table


class OutsideEngine(Protocol):
    """A second engine, asked where no table covers the position."""

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Worth of each position after a play, greater is better; `us` is the side that has played."""

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Whether the player on roll doubles, and whether the other takes."""


class PlainRule:
    """The rule, with the one-sided tables there are."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Worth of each position after a play, greater is better."""
        if any(result.contact for result in results):
            return [_contact_score(result) for result in results]
        sides = [result.us for result in results]
        table = choose.one_sided_for(self.tables, *sides)
        if table is None:
            return [float(-np.dot(untidiness(side), (10_000, 10, 1))) for side in sides]
        numbers = np.array([side.number(table.points) for side in sides], np.int64)
        return [float(-mean) for mean in bulk.side_values(table, numbers, None)]

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Whether to double, and whether to take."""
        us, them = state.position.us.pips, state.position.them.pips
        if state.position.contact:
            return False, 3 * (them - us) <= us + them
        lead = them - us
        doubles = lead >= (0.09 if state.owner == "owned" else 0.08) * us
        takes = lead <= 0.12 * us
        if state.away is not None and state.away[0] <= state.cube_value:
            doubles = False  # the cube is worth nothing to us
        if state.away is not None and state.away[1] <= state.cube_value:
            takes = True  # passing loses the match
        return doubles, takes


def untidiness(result: Position | Side) -> tuple[int, ...]:
    """Of the side that has played: chequers left, pips outside the home board, gaps; the least is the tidiest."""
    side = result if isinstance(result, Side) else result.us
    outside = sum((point - 6) * n for point, n in enumerate(side.counts, 1) if point > 6) + 19 * side.bar
    gaps = sum(not n for n in (*side.counts, *(0,) * 6)[:6])
    return side.chequers, outside, gaps


def _contact_score(result: Position) -> float:
    us, theirs = result.us, result.them.counts
    score = float(result.them.pips - us.pips) + 4.0 * result.them.bar
    for point, chequers in enumerate(us.counts, 1):
        if chequers == 1:
            # their chequers that have not yet passed this point of ours and stand within reach
            reach = sum(n for p, n in enumerate(theirs, 1) if 0 < p - (25 - point) <= 12) + result.them.bar
            score -= min(reach, 3) * (25 - point) * 0.35
        elif chequers > 1 and point <= 8:
            score += 2.0
    return score
