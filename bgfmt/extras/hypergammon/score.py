"""Hypergammon at a match score: values of every position with every cube that can arise, and of the opening.

The arrays hold for each player the value of a record to the one who has just moved, the other being on roll: 2 * MWC
- 1, one column for each cube state. docs/theory/hypergammon.md describes the steps; a step reads nothing that it
writes, so that results do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.extras.hypergammon.solver import IterationBase
from bgfmt.extras.hypergammon.solver.plays import PLACES, Plays, Sides
from bgfmt.extras.hypergammon.solver.sweep import COLUMNS_AT_ONCE, CONTACT, PLAYS, SIDES
from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.game.results import Array
from bgfmt.jit import njit
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver import columns
from bgfmt.solver.machine import check_memory, thread_count

Stepping = Callable[[int, float], None]
MAX_CHANGE = 5e-13
MAX_STEPS = 2000
MIN_WON = 1e-6  # a game, or with one chequer a gammon, is worth less if it levels the match
MAX_COLUMNS = 9  # cube states at any score up to 16-away


class Scores(IterationBase):
    """Solver of hypergammon scores with 1, 2 or 3 chequers a side, one after the other. A context manager."""

    def __init__(self, chequers: int, threads: int | None = None) -> None:
        if chequers not in (1, 2, 3):
            raise SolverError(f"hypergammon must have 1, 2 or 3 chequers a side, not {chequers}")
        n = board.count(PLACES, chequers)
        what = f"match scores of hypergammon, {chequers} chequers"
        check_memory(n * n * (4 * MAX_COLUMNS + 2) * 8, what)
        super().__init__(chequers, thread_count(threads))
        self.start = Side(*(0,) * (PLACES - 1 - chequers), *(1,) * chequers).number(PLACES)
        self._first: Array | None = None

    def __enter__(self) -> Scores:
        return self

    def __exit__(self, *error: object) -> None:
        self.pool.shutdown(cancel_futures=True)

    def solve(self, score: Score, stepping: Stepping | None = None) -> float:
        """Compute the match winning probability of the first side of `score` before the opening roll.

        Only those entries of its match equity table are used that can follow. stepping : called after each iteration
        with its number and the greatest change. SolverError if the values do not converge.
        """
        kept = columns.match_columns(score, gammons=True)
        worth = self.solve_values(kept, stepping)
        won = abs(worth[0, 0, 1, 0])
        if self._first is None and won > MIN_WON:
            # values from -1 to 1 that other scores begin with
            self._first = worth[..., :1] / won
        place = kept.states.index(CubeState(1, NOBODY))
        return float(1 + self.average_opening(worth)[place]) / 2

    def solve_values(self, kept: columns.Columns, stepping: Stepping | None = None) -> Array:
        """Compute the values of all records for some cube states.

        values[mover, own side, other side, column], (2, n, n, K), is the value (2 * match winning probability - 1) to
        the player who has just moved, with one column for each cube state.

        Parameters
        ----------
        kept : the cube states and their doubles.
        stepping : called after each iteration with its number and the greatest change.
        """
        worth = np.zeros((2, self.n, self.n, len(kept)))
        for side in (0, 1):
            if self._first is not None:
                win = kept.won[side, :, 1]
                lose = -kept.won[1 - side, :, 1]
                worth[side] = (win + lose) / 2 + (win - lose) / 2 * self._first[side]
            worth[side, 0] = kept.won[side][:, 1 + self.gammon + self.backgammon].T
        doubling = [tuple(np.ascontiguousarray(array[side]) for array in kept.doubling) for side in (0, 1)]
        self.reset()
        for steps in range(1, MAX_STEPS + 1):
            changes: list[Array] = []
            for side in (0, 1):
                fixed = worth[side], worth[1 - side], self.plays, self.sides, self.now, doubling[side]
                changes += self.map_rows(partial(update_rows, *fixed), self.rows)
            change = float(self.greatest_change(changes))
            if stepping is not None:
                stepping(steps, change)
            if change <= MAX_CHANGE:
                return worth
            self.extrapolate(steps, worth.swapaxes(0, 1))
        raise SolverError(f"numbers still change by {change:g} after {MAX_STEPS} steps")

    def average_opening(self, worth: Array) -> Array:
        """Return the values of player a before the opening roll, (K,), one for each cube state.

        Either side begins, with one of fifteen rolls. worth : values from `solve_values`.
        """
        plays = self.plays
        sides = self.sides
        us = self.start
        blocked = sides.blocked[us]
        places = sides.places[us]
        total = np.zeros(worth.shape[3])
        for low, high in combinations(range(6), 2):
            roll = high * (high + 1) // 2 + low
            some = slice(plays.first[us, blocked, roll], plays.last[us, blocked, roll])
            met = plays.landed[some, None] >> places & 1
            hit = sides.hit[us, met @ np.array([1, 2, 4], met.dtype)]
            ours, theirs = (worth[side, plays.after[some], hit].max(axis=0) for side in (0, 1))
            total += ours - theirs
        return np.asarray(total / 30)


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
DOUBLING = "(b1.1C, f8.1C, i8.1C, f8.1C, f8.1C)"


@njit(f"f8.3C, f8.3C, {PLAYS}, {SIDES}, u1.2C, {DOUBLING}, i8, i8")
def update_rows(
    worth: Array, others: Array, plays: Plays, sides: Sides, kinds: Array, doubling: Any, first: int, last: int
) -> Array:  # fmt: skip
    """Compute the values of the records of sides us in first..last-1 on roll, from those after their plays.

    Parameters
    ----------
    worth, others : (n, n, K) values to the player who has just moved, of the side on roll and of the other. Entries
        others[them, us] are updated from worth.
    plays, sides, kinds : see `IterationBase`.
    doubling : what the side on roll may do in each of K columns, as one side of `bgfmt.solver.columns.Doubling`.

    Returns
    -------
    (4,), the greatest change by class of records.
    """
    may, passed, source, add, times = doubling
    first_play = plays.first
    last_play = plays.last
    landed = plays.landed
    after = plays.after
    hit = sides.hit
    places = sides.places
    # the rolls are written out here: a kernel called for each of them takes ten times as long
    n = len(worth)
    k = worth.shape[2]
    total = np.empty(k)
    best = np.empty(k)
    changes = np.zeros(4)
    for column in range(1, n, COLUMNS_AT_ONCE):
        for us in range(first, last):
            for them in range(column, min(n, column + COLUMNS_AT_ONCE)):
                kind = kinds[us, them]
                if kind < CONTACT:
                    continue
                total[:] = 0.0
                roll = 0
                blocked = sides.blocked[them]
                one = places[them, 0]
                two = places[them, 1]
                three = places[them, 2]
                for high in range(6):
                    for low in range(high + 1):
                        start = first_play[us, blocked, roll]
                        end = last_play[us, blocked, roll]
                        if start == end:
                            for c in range(k):
                                best[c] = worth[us, them, c]
                        else:
                            for c in range(k):
                                best[c] = -2.0
                        for e in range(start, end):
                            mask = landed[e]
                            bits = (mask >> one & 1) | (mask >> two & 1) << 1 | (mask >> three & 1) << 2
                            a = after[e]
                            h = hit[them, bits]
                            for c in range(k):
                                best[c] = max(best[c], worth[a, h, c])
                        weight = 1.0 if high == low else 2.0
                        for c in range(k):
                            total[c] += weight * best[c]
                        roll += 1
                for c in range(k):
                    total[c] /= 36.0
                for c in range(k):
                    value = total[c]
                    if may[c]:
                        value = max(value, min(add[c] + times[c] * total[source[c]], passed[c]))
                    change = abs(others[them, us, c] + value)
                    changes[kind] = max(changes[kind], change)
                    others[them, us, c] = -value
    return changes
