"""An estimate of any race: each side as a chain of boards, and the cubeful game of the two chains.

A side that plays alone, for few rolls, is a Markov chain of boards. After each roll the boards that have come up are
thinned to those whose distributions of rolls differ most; every other lies between the nearest of them, and its
chance to win, known from the two distributions, corrects the value. Then the game is solved backwards: after each
roll of both sides there is a value for each pair of boards and each state of the cube. Among plays that are about as
good for the side alone, each side takes the one that is best in the game. What that errs by: `docs/races.md`.

The distributions are read from two one-sided tables, of six points and of ten. A chequer farther back counts as one
on the last point and the pips up to there.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from bgfmt.analysis.kernels_chains import Boards

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
    best one of its side and still be looked at; first_slack : the same in the first roll; ending : most chequers of
    a side where exact values of home boards are taken.
    """

    boards: int = 32
    first: int = 64
    slack: float = 0.1
    first_slack: float = 1000.0
    ending: int = 4


#: for one question, about 5 ms; for many, about 1 ms each
CAREFUL, QUICK = Effort(), Effort(12, 12, 0.05, 0.05, 6)
#: errors that 95 % and 99.9 % of estimates keep, in equities: with both sides within the tables, and beyond
ERRORS = {True: (0.0055, 0.012), False: (0.012, 0.04)}


def errors(position: Position) -> tuple[float, float]:
    """The errors of equities that 95 % and 99.9 % of estimates of races such as this one keep."""
    return ERRORS[max(position.us.highest, position.them.highest) <= FAR]


class Estimator:
    """Estimates of races, with the results of boards met kept for the next one; threads take turns."""

    def __init__(self, effort: Effort = CAREFUL, boards: int = 1 << 12) -> None:
        self.effort, self.boards = effort, boards
        self._lock = Lock()
        self._kept: dict[int, tuple[Arrays, Arrays]] = {}
        self._spaces: dict[tuple[int, int], tuple[Boards, Boards]] = {}
        self._game: GameColumns | None = None

    def solve(self, position: Position, columns: Columns, unit: float = 1.0) -> Solved:
        """The values of a race without contact before the roll, and after each play of each roll.

        unit : what a point is worth in the unit that errors are wanted in.
        """
        with self._lock:
            race = self.race(position, columns)
            ours = race.chains[0]
            found = int(ours.layers[2])
            after = np.zeros((found, len(columns)))
            on_roll = race.solve(after[1:])
            parts = (ours.boards[:found].copy(), ours.ends[:22].copy(), 1 + ours.results[: ours.ends[21]])
        first = Family(parts[0], np.zeros(found, np.int64), *parts[1:])
        usual, most = (unit * error for error in errors(position))
        return Solved(position, usual, columns, most, first, 0, on_roll, after, ESTIMATE)

    def values(self, position: Position, columns: Columns) -> Array:
        """(K,) values of a race before the roll."""
        with self._lock:
            return self.race(position, columns).solve(np.empty((0, len(columns))))

    def race(self, position: Position, columns: Columns) -> ChainGame:
        """The chains of both sides, and the game that they play."""
        from bgfmt.analysis import kernels_chains as kernels

        farthest = max(position.us.highest, position.them.highest)
        points = next((p for p in (HOME, FAR) if farthest <= p), farthest)
        rolls = ROLLS if farthest <= FAR else FAR_ROLLS
        if self._game is None or self._game.columns is not columns:
            self._game = GameColumns(columns, self.effort.ending)
        game = self._game
        rules = game.few, np.ascontiguousarray(board.number_terms(points)), tables(points)
        if points not in self._kept:
            effort, rest = self.effort, kept(self.boards, self.effort.slack)
            first = rest if effort.first_slack == effort.slack else kept(4, effort.first_slack)
            self._kept[points] = first, rest
        first, rest = self._kept[points]
        for room in (1 << 13, 1 << 15, 1 << 17):
            if (points, rolls) not in self._spaces or len(self._spaces[points, rolls][0].chosen) < room:
                width = max(self.effort.boards, self.effort.first)
                self._spaces[points, rolls] = (
                    space(points, rolls, room, width),
                    space(points, rolls, room, width),
                )
            spaces, depth = self._spaces[points, rolls], MOST_LAYERS - 2
            both = zip((position.us, position.them), spaces, strict=True)
            # the game ends with the shorter chain
            for side, each in sorted(both, key=lambda one: one[0].pips):
                depth = kernels.chain(
                    np.array(side.padded(points), np.int64), self.effort.boards, self.effort.first, depth, *rules,
                    first, rest, each,
                )  # fmt: skip
                if depth < 0:
                    break
                depth += 1
            else:
                return ChainGame(spaces, depth, rules, game)
        raise SolverError(f"{position}: the race takes more boards than an estimate holds")


class ChainGame:
    """A race of two chains; lines, starts: see `kernels_game.solve`."""

    def __init__(
        self, chains: tuple[Boards, Boards], depth: int, rules: tuple[int, Array, Arrays], game: GameColumns
    ) -> None:
        self.chains, self.rules, self.game = chains, rules, game
        many = [np.diff(chain.nexts) for chain in chains]
        sizes = [0, *(many[h % 2][h // 2] * many[1 - h % 2][h // 2 + h % 2] for h in range(2 * depth)), 0]
        self.starts = np.cumsum(sizes) * 3 * len(game.columns)
        self.lines = np.empty(self.starts[-1], np.float32)

    def solve(self, after: Array) -> Array:
        """(K,) values of the start; after (boards after the first roll, K) is filled, or empty."""
        from bgfmt.analysis import kernels_game as kernels

        on_roll = np.zeros(len(self.game.columns))
        kernels.solve(on_roll, after, self.lines, self.starts, self.chains, self.game.arrays)
        return on_roll


@dataclass(frozen=True, eq=False)
class GameColumns:
    """Columns as `kernels_game` takes them, with exact values of home boards of few chequers."""

    columns: Columns
    ending: int

    @property
    def few(self) -> int:
        """How many boards have an exact value."""
        return board.count(HOME, self.ending) if self.ending else 0

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The game of `kernels_game.solve`."""

        def single(a: Array) -> Array:
            return np.ascontiguousarray(a, np.float32 if a.dtype == np.float64 else a.dtype)

        doubling = tuple(tuple(single(a[side]) for a in self.columns.doubling) for side in (0, 1))
        won = tuple(single(self.columns.won[side]) for side in (0, 1))
        cubeless = self.columns.states.index(CUBELESS) if CUBELESS in self.columns.states else -1
        exact = _ending(_Key(self.columns), self.ending) if self.ending else np.zeros(1, np.float32)
        return doubling, won, won[0][:, 1] + won[1][:, 1], cubeless, exact, self.few


@dataclass(frozen=True)
class _Key:
    """Columns, equal where their numbers are."""

    columns: Columns

    @property
    def _bytes(self) -> bytes:
        return b"".join(np.ascontiguousarray(a).tobytes() for a in (*self.columns.doubling, self.columns.won))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)


@lru_cache(maxsize=4)
def _ending(key: _Key, chequers: int) -> Array:
    """Exact values of all pairs of home boards of few chequers, flat: see `kernels_game.solve`."""
    from bgfmt.solver.match import solve_pairs
    from bgfmt.solver.two_sided import TwoSidedSolver
    from bgfmt.solver.workers import threads_or

    k, solver = len(key.columns), TwoSidedSolver(HOME, chequers)
    n = board.count(HOME, chequers)
    out = np.zeros((n, n, 2 * k), np.float32)
    with threads_or(None, None) as team:
        solve_pairs(solver, key.columns, np.arange(2 * k).reshape(2, k), out, team, None)
    return out.reshape(-1)


@cache
def tables(points: int) -> tuple[Array, Array, Array, Array]:
    """The one-sided table for a race on these points: see `kernels_chains._distributions`."""
    far = points != HOME
    rows = library.distributions(far)
    terms, home = (np.ascontiguousarray(board.number_terms(one)) for one in (FAR if far else HOME, HOME))
    return rows, terms, home, np.zeros(len(rows), np.int32)


def kept(boards: int, slack: float) -> Arrays:
    """Room for the results of boards, see `kernels_chains._expand`."""
    size = 1 << (2 * boards).bit_length()
    results = 22 * MOST_RESULTS + 40 * boards
    keys, slots, ends = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros((boards, 22), np.int64)
    numbers, means = np.empty(results, np.int64), np.empty(results)
    return keys, slots, ends, numbers, means, np.zeros(2, np.int64), np.array([slack], np.float64)


def space(points: int, rolls: int, room: int, width: int, results: int = 16) -> Boards:
    """Room for the boards of a side."""
    from bgfmt.analysis.kernels_chains import NEAR, Boards

    layers, nexts = np.zeros(MOST_LAYERS, np.int64), np.zeros(MOST_LAYERS, np.int64)
    chosen, numbers, gains, small = (np.empty(room, np.int64) for _ in range(4))
    ends, results_ = np.empty(21 * room + 1, np.int64), np.empty(results * room, np.int64)
    keys, places = np.empty(4 * room, np.int64), np.empty(4 * room, np.int64)
    return Boards(
        layers, nexts, chosen, ends, results_, np.empty((room, points), np.int8), numbers, np.empty(room),
        np.empty((room, rolls), np.float32), gains, small, np.empty((room, 2), np.float32),
        np.empty((room, NEAR), np.int64), np.empty((room, NEAR), np.float32), np.empty((room, width), np.float32),
        keys, places,
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
