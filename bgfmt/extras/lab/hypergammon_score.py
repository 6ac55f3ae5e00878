"""Hypergammon at a match score: what every position is worth with every cube that can arise, and the opening.

Kept is, for each player, what a record is worth to the one who has just moved, the other being on roll: values
2 * MWC - 1, one column for each cube state. docs/theory/hypergammon.md has the steps; a step reads nothing that it
writes, so that no number depends on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.jit import njit
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver import columns
from bgfmt.solver.hypergammon import CYCLE, FAR, PLACES, STEADY, classes_of
from bgfmt.solver.hypergammon.plays import Plays, Sides, list_plays, list_sides
from bgfmt.solver.hypergammon.sweep import CONTACT, FIXED, RACE, TOGETHER
from bgfmt.solver.machine import check_memory, thread_count

Stepping = Callable[[int, float], None]
LIMIT = 5e-13
MOST_STEPS = 2000
ROWS = 16  # that a thread makes at a time
MOST_COLUMNS = 9  # cube states at any score up to 16-away


@dataclass(frozen=True)
class SolvedScore:
    """A score solved: the chance of player a to win the match before the opening roll; steps; the last changes."""

    chance: float
    steps: int
    change: float


class Scores:
    """Solves scores of hypergammon of 1, 2 or 3 chequers a side, one after the other. A context manager."""

    def __init__(self, chequers: int, threads: int | None = None) -> None:
        if chequers not in (1, 2, 3):
            raise SolverError(f"hypergammon has 1, 2 or 3 chequers a side, not {chequers}")
        n = self.n = board.count(PLACES, chequers)
        check_memory(n * n * (4 * MOST_COLUMNS + 2) * 8, f"match scores of hypergammon, {chequers} chequers")
        boards = board.unrank_array(np.arange(n), PLACES).astype(np.int64)
        self.pool = ThreadPoolExecutor(thread_count(threads))
        self.sides, self.plays = list_sides(boards), list_plays(boards, self.pool)
        self.kinds = classes_of(boards)
        gammon = boards.sum(axis=1) == chequers
        #: what is won against each side: 1, a gammon 2, a backgammon 3
        self.gains = 1 + gammon + (gammon & boards[:, FAR:].any(axis=1))
        begin = np.zeros(PLACES, np.int64)
        begin[PLACES - 1 - chequers : PLACES - 1] = 1
        self.begin = int(board.rank_array(begin[None])[0])
        self._first: Array | None = None

    def __enter__(self) -> Scores:
        return self

    def __exit__(self, *error: object) -> None:
        self.pool.shutdown(cancel_futures=True)

    def solve(self, score: Score, stepping: Stepping | None = None) -> SolvedScore:
        """The chance of the side first in `score`, of whose match equity table only what can follow counts."""
        kept = columns.for_match(score, gammons=True)
        worth, steps, change = self.worth(kept, stepping)
        if self._first is None:
            # chances, to begin other scores with
            self._first = worth[..., :1].copy() / np.abs(worth[0, 0, 1, 0])
        place = kept.states.index(CubeState(1, NOBODY))
        return SolvedScore(float(1 + self.opening(worth)[place]) / 2, steps, change)

    def worth(self, kept: columns.Columns, stepping: Stepping | None = None) -> tuple[Array, int, float]:
        """(2, n, n, K): what [mover, own side, other side] is worth to the mover; steps, and the last changes."""
        n, k = self.n, len(kept)
        worth = np.zeros((2, n, n, k))
        for side in (0, 1):
            if self._first is not None:
                win, lose = kept.won[side, :, 1], -kept.won[1 - side, :, 1]
                worth[side] = (win + lose) / 2 + (win - lose) / 2 * self._first[side]
            worth[side, 0] = kept.won[side][:, self.gains].T
        doubling = [tuple(np.ascontiguousarray(array[side]) for array in kept.doubling) for side in (0, 1)]
        kinds, size = self.kinds.copy(), 0.0
        before: Array = np.empty(0)
        rows = [(a, min(n, a + ROWS)) for a in range(0, n, ROWS)]
        for steps in range(1, MOST_STEPS + 1):
            changes = np.zeros(RACE + 1)
            for side in (0, 1):
                fixed = worth[side], worth[1 - side], self.plays, self.sides, kinds, doubling[side]
                found = self._each(partial(step, *fixed), rows)
                changes = np.maximum(changes, np.max(found, axis=0))
            change = float(changes[CONTACT:].max())
            if stepping is not None:
                stepping(steps, change)
            if change <= LIMIT:
                return worth, steps, change
            if changes[RACE] == 0:  # races look at races alone: none will change any more
                kinds[self.kinds == RACE] = FIXED
            if steps % CYCLE == CYCLE - 2:
                before = worth.copy()
            elif steps % CYCLE == CYCLE - 1 and before.size:
                size = self._changed(worth, before)
                np.copyto(before, worth)
            elif steps % CYCLE == 0 and size > 0:
                # no more digits than all machines agree on
                factor = round((self._changed(worth, before) / size) ** 0.5, 3)
                if factor < STEADY:
                    self._each(partial(stretch, worth, before, kinds, factor), rows)
        raise SolverError(f"numbers still change by {change:g} after {MOST_STEPS} steps")

    def opening(self, worth: Array) -> Array:
        """(K,) values of player a before the opening roll: either side begins, by one of fifteen rolls."""
        plays, sides, us = self.plays, self.sides, self.begin
        blocked, places, total = sides.blocked[us], sides.places[us], np.zeros(worth.shape[3])
        for low, high in combinations(range(6), 2):
            roll = high * (high + 1) // 2 + low
            some = slice(plays.first[us, blocked, roll], plays.last[us, blocked, roll])
            met = plays.landed[some, None] >> places & 1
            hit = sides.hit[us, met @ np.array([1, 2, 4], met.dtype)]
            ours, theirs = (worth[side, plays.after[some], hit].max(axis=0) for side in (0, 1))
            total += ours - theirs
        return np.asarray(total / 30)

    def _changed(self, worth: Array, before: Array) -> float:
        """The sum of the squares of the changes, in an order that does not depend on threads."""
        parts = list(pairwise(np.linspace(0, self.n, -(-self.n // 64) + 1).astype(int).tolist()))

        def some(first: int, last: int) -> float:
            change = worth[:, first:last] - before[:, first:last]
            return float((change * change).sum())

        return float(sum(self._each(some, parts)))

    def _each(self, function: Callable[[int, int], Any], arguments: list[tuple[int, int]]) -> list[Any]:
        return list(self.pool.map(lambda pair: function(*pair), arguments))


@njit()
def step(
    worth: Array, others: Array, plays: Plays, sides: Sides, kinds: Array, doubling: Any, first: int, last: int
) -> Array:  # fmt: skip
    """Renew others[them, us] of the rows us first to last - 1 on roll from `worth`; (4,) greatest changes by class.

    doubling : what the side on roll may do in each of K columns, as `bgfmt.solver.columns.Doubling` of one side.
    """
    may, passed, source, add, times = doubling
    first_play, last_play, landed, after = plays.first, plays.last, plays.landed, plays.after
    hit, places = sides.hit, sides.places
    # the rolls are written out here: a kernel called for each of them takes ten times as long
    n, k = len(worth), worth.shape[2]
    total, best, changes = np.empty(k), np.empty(k), np.zeros(4)
    for column in range(1, n, TOGETHER):
        for us in range(first, last):
            for them in range(column, min(n, column + TOGETHER)):
                kind = kinds[us, them]
                if kind < CONTACT:
                    continue
                total[:] = 0.0
                roll = 0
                blocked = sides.blocked[them]
                one, two, three = places[them, 0], places[them, 1], places[them, 2]
                for high in range(6):
                    for low in range(high + 1):
                        start, end = first_play[us, blocked, roll], last_play[us, blocked, roll]
                        if start == end:
                            for c in range(k):
                                best[c] = worth[us, them, c]
                        else:
                            for c in range(k):
                                best[c] = -2.0
                        for e in range(start, end):
                            mask = landed[e]
                            bits = (mask >> one & 1) | (mask >> two & 1) << 1 | (mask >> three & 1) << 2
                            a, h = after[e], hit[them, bits]
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


def stretch(worth: Array, before: Array, kinds: Array, factor: float, first: int, last: int) -> None:
    """Rows first to last - 1 go on by what is left of their changes, which shrink by `factor` a step."""
    some = worth[:, first:last]
    further = factor / (1 - factor) * (some - before[:, first:last])
    some += np.where((kinds[first:last] >= CONTACT)[..., None], further, 0.0)
