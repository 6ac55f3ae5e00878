"""An estimate of any race: each side as a chain of boards, and the cubeful game of the two chains.

A side that plays alone, for few rolls, is a Markov chain of boards. After each roll the boards that have come up are
thinned to those whose distributions of rolls differ most; every other goes with the nearest of them, and its chance
to win, known from the two distributions, corrects the value. Then the game is solved backwards: after each roll
of both sides there is a value for each pair of boards and each state of the cube. Among plays that are about as good
for the side alone, each side takes the one that is best in the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis.solving import Family, Solved
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.solver.columns import CUBELESS, Columns
from bgfmt.tables import OneSided

Array = NDArray[Any]
MOST_LAYERS = 128


@dataclass(frozen=True)
class Effort:
    """How much an estimate takes in.

    boards : played on after each roll; first : after the first roll; slack : mean rolls that a play may lose to the
    best one of its side and still be looked at; first_slack : the same in the first roll.
    """

    boards: int = 32
    first: int = 64
    slack: float = 0.06
    first_slack: float = 0.06


class Kept:
    """Results of boards met so far, for chains of one number of points."""

    def __init__(self, points: int, slack: float, slots: int, results: int) -> None:
        size = 1 << (2 * slots).bit_length()
        self.points = points
        self.arrays = (
            np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros((slots, 22), np.int64), np.zeros(results, np.int64),
            np.zeros(results), np.zeros((results, points), np.int8), np.zeros(2, np.int64), np.array([slack]),
        )  # fmt: skip


def space(points: int, rolls: int, room: int = 1 << 13) -> tuple[Array, ...]:
    return (
        np.zeros(MOST_LAYERS, np.int64), np.empty(room, np.int64), np.zeros(MOST_LAYERS, np.int64), np.empty((room, rolls)),
        np.empty(room, np.int64), np.empty(21 * room + 1, np.int64), np.empty(1 << 17, np.int64), np.empty(room, np.int64),
        np.empty((room, points), np.int8), np.empty(room, np.int64), np.empty(room),
        np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64), np.empty((room, 2)),
    )  # fmt: skip


class Estimator:
    def __init__(self, tables: tuple[Array, ...], effort: Effort = Effort(), slots=1 << 12) -> None:
        self.tables, self.effort = tables, effort
        self._kept = {}
        self.slots = slots

    def solve(self, position: Position, columns: Columns, error: float = 0.0) -> Solved:
        from bgfmt.analysis import kernels_chains as kernels

        points = max(self.tables[3].shape[0], position.us.highest, position.them.highest)
        if points not in self._kept:
            f, s = self.effort.first_slack, self.effort.slack
            rest = Kept(points, s, self.slots, 40 * self.slots).arrays
            first = rest if f == s else Kept(points, f, 4, 1<<13).arrays
            rolls = 24 if points <= 10 else 48
            self._kept[points] = first, rest, space(points, rolls), space(points, rolls), np.ascontiguousarray(board.number_terms(points))
        first, rest, a, b, terms = self._kept[points]
        depth = 0
        for mine, side in ((a, position.us), (b, position.them)):
            start = np.array(side.padded(points), np.int64)
            many = kernels.chain(start, self.effort.boards, self.effort.first, terms, self.tables, first, rest, mine)
            assert many > 0
            depth = max(depth, many)
        k = len(columns)
        doubling = tuple(tuple(np.ascontiguousarray(array[side]) for array in columns.doubling) for side in (0, 1))
        won = np.ascontiguousarray(columns.won)
        cubeless = columns.states.index(CUBELESS) if CUBELESS in columns.states else -1
        one = a[0][2]
        on_roll, after = np.zeros(k), np.zeros((one, k, 1))
        kernels.game(on_roll, after[1:], a, b, depth, doubling, won, cubeless)
        family = Family(a[8][:one].copy(), np.zeros(one, np.int64), a[5][:22].copy(), a[6][:a[5][21]].copy())
        return Solved(position, None, columns, error, family, 0, on_roll, after[:, :, 0])
