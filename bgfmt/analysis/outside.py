"""What the adviser uses where no table covers a position: a second engine, or a rule of thumb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bgfmt.analysis import choose, measures
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.tables import Table

__all__ = ["OutsideEngine", "PlainRule", "untidiness"]


class OutsideEngine(Protocol):
    """A second engine, queried where no table covers the position."""

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Return a value for each position after a play, greater is better; `us` is the side that has played."""

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Return whether the player on roll doubles, and whether the other takes a double (if there were one)."""


class PlainRule:
    """A rule of thumb for positions that no two-sided table covers.

    * play, no contact: the play that leaves the fewest mean rolls if a one-sided table covers it, else the most
      chequers off, then the fewest pips outside the home board, then the fewest gaps;
    * play, contact: the play with the greatest score: the lead in pips, minus a penalty for each own blot by how far
      it has come and how many opposing chequers can reach it, plus bonuses for opposing chequers on the bar and for
      own points;
    * cube, no contact: the 8-9-12 rule: double at a lead of 8 % of our pips, redouble at 9 %, take up to 12 %;
    * cube, contact: never double, take unless behind by more than a third of both sides' pips together.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Return a score for each position after a play, greater is better; `us` is the side that has played.

        Scores of one call can be compared with each other only.
        """
        if any(result.contact for result in results):
            return [_contact_score(result) for result in results]
        sides = [result.us for result in results]
        table = choose.one_sided_for(self.tables, *sides)
        if table is None:
            return [float(-np.dot(untidiness(side), (10_000, 10, 1))) for side in sides]
        numbers = np.array([side.number(table.points) for side in sides], np.int64)
        return [float(-mean) for mean in measures.side_values(table, numbers, None)]

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Return whether the player on roll doubles, and whether the other takes a double (if there were one)."""
        us = state.position.us.pips
        them = state.position.them.pips
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
    """Return a sort key for positions after plays of equal value; the play with the smallest key is preferred.

    The key is (chequers left, pips outside the home board, empty home points) of the side that has played.
    """
    side = result if isinstance(result, Side) else result.us
    outside = sum((point - 6) * n for point, n in enumerate(side.counts, 1) if point > 6) + 19 * side.bar
    gaps = sum(not n for n in (*side.counts, *(0,) * 6)[:6])
    return side.chequers, outside, gaps


def _contact_score(result: Position) -> float:
    """Return the score of `PlainRule` for a position with contact; `us` is the side that has played."""
    us = result.us
    theirs = result.them.counts
    score = float(result.them.pips - us.pips) + 4.0 * result.them.bar
    for point, chequers in enumerate(us.counts, 1):
        if chequers == 1:
            # their chequers that have not yet passed this point of ours and stand within reach
            reach = sum(n for p, n in enumerate(theirs, 1) if 0 < p - (25 - point) <= 12) + result.them.bar
            score -= min(reach, 3) * (25 - point) * 0.35
        elif chequers > 1 and point <= 8:
            score += 2.0
    return score
