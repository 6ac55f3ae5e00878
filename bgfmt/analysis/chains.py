"""An estimate of any race: each side as a chain of boards, and the cubeful game of the two chains.

A side that plays alone, for few rolls, is a Markov chain of boards. After each roll the boards that have come up are
thinned to those whose distributions of rolls differ most; every other goes with the nearest of them, and its chance
to win, known from the two distributions, corrects the value. Then the game is solved backwards: after each roll
of both sides there is a value for each pair of boards and each state of the cube. Among plays that are about as good
for the side alone, each side takes the one that is best in the game. What that errs by: `docs/races.md`.

The distributions are read from two one-sided tables, of six points and of ten. A chequer farther back counts as one
on the last point and the pips up to there.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import library
from bgfmt.analysis.answers import COLUMNS, ESTIMATE
from bgfmt.analysis.choose import check_race
from bgfmt.analysis.solving import MONEY, Family, Solved
from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.solver.columns import CUBELESS, Columns, for_money
from bgfmt.solver.machine import thread_count

Array = NDArray[Any]
Arrays = tuple[Array, ...]
MOST_LAYERS = 256
MOST_RESULTS = 1024  # of a roll
HOME, FAR = 6, 10  # points of the two tables
ROLLS, FAR_ROLLS = 32, 64  # told apart within and beyond the tables


@dataclass(frozen=True)
class Effort:
    """How much an estimate takes in.

    boards : played on after each roll; first : after the first roll; slack : mean rolls that a play may lose to the
    best one of its side and still be looked at; first_slack : the same in the first roll.
    """

    boards: int = 32
    first: int = 64
    slack: float = 0.1
    first_slack: float = 1000.0


#: for one question, about 5 ms; for many, about 1 ms each
CAREFUL, QUICK = Effort(), Effort(16, 16, 0.05, 0.05)
#: errors that 95 % and 99.9 % of estimates keep, in equities: with both sides within the tables, and beyond
ERRORS = {True: (0.0055, 0.012), False: (0.012, 0.04)}


def errors(position: Position) -> tuple[float, float]:
    """The errors of equities that 95 % and 99.9 % of estimates of races such as this one keep."""
    return ERRORS[max(position.us.highest, position.them.highest) <= FAR]


@cache
def rows(points: int) -> tuple[Array, Array]:
    """The distributions of a one-sided table, (boards, rolls) uint16, and the terms of its position numbers."""
    return library.distributions(points == FAR), np.ascontiguousarray(board.number_terms(points))


class Estimator:
    """Estimates of races, with the results of boards met kept for the next one; threads take turns."""

    def __init__(self, effort: Effort = CAREFUL, boards: int = 1 << 12) -> None:
        self.effort, self.boards = effort, boards
        self._lock = Lock()
        self._kept: dict[int, tuple[Arrays, Arrays, Array]] = {}
        self._spaces: dict[tuple[int, int], tuple[Arrays, Arrays]] = {}

    def solve(self, position: Position, columns: Columns, unit: float = 1.0) -> Solved:
        """The values of a race without contact before the roll, and after each play of each roll.

        unit : what a point is worth in the unit that errors are wanted in.
        """
        with self._lock:
            ours, theirs, depth = self.chains(position)
            found = ours[0][2]
            after = np.zeros((found, len(columns)))
            on_roll = self._game(ours, theirs, depth, columns, after)
            parts = (ours[8][:found].copy(), ours[5][:22].copy(), ours[6][: ours[5][21]].copy())
        first = Family(parts[0], np.zeros(found, np.int64), *parts[1:])
        usual, most = (unit * error for error in errors(position))
        return Solved(position, usual, columns, most, first, 0, on_roll, after, ESTIMATE)

    def values(self, position: Position, columns: Columns) -> Array:
        """(K,) values of a race before the roll."""
        with self._lock:
            ours, theirs, depth = self.chains(position)
            return self._game(ours, theirs, depth, columns, np.empty((ours[0][2], len(columns))))

    def chains(self, position: Position) -> tuple[Arrays, Arrays, int]:
        """The chains of both sides, as `kernels_chains.chain` fills them, and how many layers they have."""
        from bgfmt.analysis import kernels_chains as kernels

        farthest = max(position.us.highest, position.them.highest)
        points = next((p for p in (HOME, FAR) if farthest <= p), farthest)
        tables = *rows(HOME), *rows(HOME if points == HOME else FAR)
        if points not in self._kept:
            effort, rest = self.effort, _kept(self.boards, self.effort.slack)
            first = rest if effort.first_slack == effort.slack else _kept(4, effort.first_slack)
            self._kept[points] = first, rest, np.ascontiguousarray(board.number_terms(points))
        first, rest, terms = self._kept[points]
        rolls = ROLLS if farthest <= FAR else FAR_ROLLS
        for room in (1 << 13, 1 << 15, 1 << 17):
            if (points, rolls) not in self._spaces or len(self._spaces[points, rolls][0][1]) < room:
                self._spaces[points, rolls] = (_space(points, rolls, room), _space(points, rolls, room))
            spaces, depth = self._spaces[points, rolls], MOST_LAYERS - 2
            both = zip((position.us, position.them), spaces, strict=True)
            for side, space in sorted(
                both, key=lambda one: one[0].pips
            ):  # the game ends with the shorter chain
                depth = kernels.chain(
                    np.array(side.padded(points), np.int64), self.effort.boards, self.effort.first, depth, terms,
                    tables, first, rest, space,
                )  # fmt: skip
                if depth < 0:
                    break
                depth += 1
            else:
                return *spaces, depth
        raise SolverError(f"{position}: the race takes more boards than an estimate holds")

    @staticmethod
    def _game(ours: Arrays, theirs: Arrays, depth: int, columns: Columns, after: Array) -> Array:
        from bgfmt.analysis import kernels_chains as kernels

        doubling = tuple(
            tuple(np.ascontiguousarray(array[side]) for array in columns.doubling) for side in (0, 1)
        )
        cubeless = columns.states.index(CUBELESS) if CUBELESS in columns.states else -1
        on_roll = np.zeros(len(columns))
        kernels.game(
            on_roll, after, ours, theirs, depth, doubling, np.ascontiguousarray(columns.won), cubeless
        )
        return on_roll


def _kept(boards: int, slack: float) -> Arrays:
    """Room for the results of boards, see `kernels_chains._expand`."""
    size = 1 << (2 * boards).bit_length()
    results = 22 * MOST_RESULTS + 40 * boards
    keys, slots, ends = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros((boards, 22), np.int64)
    numbers, means = np.empty(results, np.int64), np.empty(results)
    return keys, slots, ends, numbers, means, np.zeros(2, np.int64), np.array([slack], np.float64)


def _space(points: int, rolls: int, room: int) -> Arrays:
    """Room for a chain, see `kernels_chains.chain`."""
    layers, nexts = np.zeros(MOST_LAYERS, np.int64), np.zeros(MOST_LAYERS, np.int64)
    chosen, near, gains, numbers = (np.empty(room, np.int64) for _ in range(4))
    within, boards, means = np.empty((room, rolls)), np.empty((room, points), np.int8), np.empty(room)
    ends, results = np.empty(21 * room + 1, np.int64), np.empty(16 * room, np.int64)
    keys, places = np.empty(4 * room, np.int64), np.empty(4 * room, np.int64)
    return (
        layers, chosen, nexts, within, near, ends, results, gains, boards, numbers, means, keys, places,
        np.empty((room, 2)),
    )  # fmt: skip


def estimate_many(
    us: ArrayLike, them: ArrayLike, *, jacoby: bool = False, threads: int | None = None
) -> Array:
    """Money equities of many races before the roll, by the quick estimate, on all cores.

    us, them : (N, points) chequers on points 1, 2, ... of the side on roll and of the other. Returns (N, 4) float64:
    cubeless, owned, centered, opponent, as tables hold them. What they err by: `docs/races.md`. NotCoveredError for
    contact, PositionError for a game that is over.
    """
    sides = [[Side(*map(int, counts)) for counts in np.asarray(one)] for one in (us, them)]
    positions = [Position(*pair) for pair in zip(*sides, strict=True)]
    for position in positions:
        check_race(position.check())
    columns = for_money(jacoby=jacoby)
    order = [columns.states.index(MONEY[name]) for name in COLUMNS]
    many = max(1, min(thread_count(threads), len(positions)))
    out = np.empty((len(positions), len(columns)))

    def part(k: int) -> None:
        estimator = Estimator(QUICK, 1 << 16)
        for n in range(k, len(positions), many):
            out[n] = estimator.values(positions[n], columns)

    with ThreadPoolExecutor(many) as pool:
        list(pool.map(part, range(many)))
    return out[:, order]
