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
from functools import cache, cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import library
from bgfmt.analysis.answers import COLUMNS, ESTIMATE
from bgfmt.analysis.choose import check_race
from bgfmt.analysis.solving import MONEY, Family, Solved
from bgfmt.errors import SolverError
from bgfmt.extras.races import kernels_game as kernels
from bgfmt.extras.races.kernels_chains import NEAR, Boards
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.solver.columns import CUBELESS, Columns, money_columns
from bgfmt.solver.machine import thread_count
from bgfmt.solver.match import solve_pairs
from bgfmt.solver.two_sided import TwoSidedSolver
from bgfmt.solver.workers import threads_or_workers

Array = NDArray[Any]
Arrays = tuple[Array, ...]
Chains = tuple["Boards", "Boards"]
#: boards played on, those after the first roll, boards with an exact value, terms of numbers, tables, results kept
Rules = tuple[int, int, int, Array, Arrays, Arrays, Arrays]
MOST_LAYERS = 256
BATCH = 256  # races at a time
MOST_RESULTS = 1024  # of a roll
MAX_POINTS = 24
# points of the two tables, and of the mean rolls
HOME = 6
FAR = 10
WIDE = 12
# told apart within and beyond the tables
ROLLS = 32
FAR_ROLLS = 64


@dataclass(frozen=True)
class Effort:
    """How much an estimate takes in.

    boards : played on after each roll; first : after the first roll; slack : mean rolls that a play may lose to the
    best one of its side and still be looked at; first_slack : the same in the first roll; ending : most chequers of
    a side where exact values of home boards are taken; wide : with the mean rolls of twelve points.
    """

    boards: int = 32
    first: int = 64
    slack: float = 0.1
    first_slack: float = 1000.0
    ending: int = 4
    wide: bool = False


#: for one question, about 5 ms; for many, about 1 ms each
CAREFUL, QUICK = Effort(), Effort(12, 12, 0.05, 0.05, 6)
#: errors that 95 % and 99.9 % of estimates keep, in equities: with both sides within the tables, and beyond
ERRORS = {True: (0.0055, 0.016), False: (0.012, 0.04)}
#: the same where a side loses as many gammons as this: neither plays for them beyond the first roll
GAMMON_ERRORS = (0.03, 0.08)
MANY_GAMMONS = 0.01


def errors(position: Position, gammons: float = 0.0) -> tuple[float, float]:
    """Return the errors of equities that 95 % and 99.9 % of estimates of races such as this one keep.

    gammons : about how many a game has, see `ChainGame.gammons`.
    """
    if gammons >= MANY_GAMMONS:
        return GAMMON_ERRORS
    return ERRORS[max(position.us.highest, position.them.highest) <= FAR]


class Estimator:
    """Estimates of races, with the results of boards met kept for the next one; threads take turns."""

    def __init__(self, effort: Effort = CAREFUL, boards: int = 1 << 12) -> None:
        self.effort = effort
        self.boards = boards
        self._lock = Lock()
        self._kept: dict[int, tuple[Array, Arrays, Arrays, Arrays]] = {}
        self._spaces: dict[int, Chains] = {}  # by how many rolls they hold, shared by races on any points
        self._game: GameColumns | None = None

    def solve(self, position: Position, columns: Columns, unit: float = 1.0) -> Solved:
        """The values of a race without contact before the roll, and after each play of each roll.

        unit : what a point is worth in the unit that errors are wanted in.
        """
        with self._lock:
            race = self.race(position, columns, ahead=True)
            ours = race.chains[0]
            found = int(ours.layers[2])
            after = np.zeros((found, len(columns)))
            on_roll = race.solve(after[1:])
            parts = (ours.boards[:found].copy(), ours.ends[:22].copy(), 1 + ours.results[: ours.ends[21]])
        if not position.gammons:
            on_roll = _single(on_roll, columns)
            after = _single(after, columns)
        first = Family(parts[0], np.zeros(found, np.int64), *parts[1:])
        usual, most = (unit * error for error in errors(position, race.gammons))
        return Solved(position, usual, columns, most, first, 0, on_roll, after, ESTIMATE)

    def values(self, us: Array, them: Array, columns: Columns) -> Array:
        """(N, K) values of races before the roll; us, them (N, points) chequers of the two sides."""
        both = np.stack([us, them], axis=1).astype(np.int64)
        farthest = _highest(both).max(axis=1)
        points_of = np.where(farthest <= HOME, HOME, np.maximum(farthest, FAR))
        out = np.empty((len(both), len(columns)))
        for points in map(int, np.unique(points_of)):
            those = np.flatnonzero(points_of == points)
            for some in np.array_split(those, range(BATCH, len(those), BATCH)):
                boards = np.zeros((len(some), 2, points), np.int64)
                values = np.empty((len(some), len(columns)))
                boards[:, :, : both.shape[2]] = both[some, :, :points]
                with self._lock:
                    game, spaces, rules = self._prepared(points, columns)
                    done = kernels.estimates(values, boards, *rules, spaces, game.arrays)
                _check_room(done == len(some), boards[min(done, len(some) - 1)].tolist())
                out[some] = values
        gammons = (both.sum(axis=2) == MAX_CHEQUERS).any(axis=1)
        return np.where(gammons[:, None], out, _single(out, columns))

    def race(
        self, position: Position, columns: Columns, whole: bool = False, ahead: bool = False
    ) -> ChainGame:
        """Return the chains of both sides and the game that they play.

        whole : to the end, else as far as values are not exact. ahead : with the distributions of far boards after
        the first roll by another roll, which `solve` needs for its plays.
        """
        from bgfmt.extras.races import kernels_chains as kernels

        farthest = max(position.us.highest, position.them.highest)
        last = WIDE if self.effort.wide and farthest > FAR else FAR
        points = HOME if farthest <= HOME else max(farthest, last)
        boards = np.array([side.padded(points) for side in (position.us, position.them)], np.int64)
        game, spaces, rules = self._prepared(points, columns)
        starts = kernels.race(boards, 3 * len(columns), whole, ahead, *rules, spaces)
        _check_room(starts.size, position)
        return ChainGame(spaces, starts, rules[2:5], game)

    def _prepared(self, points: int, columns: Columns) -> tuple[GameColumns, Chains, Rules]:
        """The game, room for the boards of both sides, and what else `kernels_chains.race` takes."""
        effort = self.effort
        if self._game is None or self._game.columns is not columns:
            self._game = GameColumns(columns, effort.ending)
        if points not in self._kept:
            rest = kept(self.boards, effort.slack)
            first = rest if effort.first_slack == effort.slack else kept(4, effort.first_slack)
            found = tables(points, effort.wide and points > FAR)
            self._kept[points] = np.ascontiguousarray(board.number_terms(points)), found, first, rest
        rolls = ROLLS if points <= FAR else FAR_ROLLS
        if rolls not in self._spaces:
            room = MAX_POINTS, rolls, max(effort.boards, effort.first)
            self._spaces[rolls] = space(*room), space(*room)
        rules = effort.boards, effort.first, self._game.few, *self._kept[points]
        ours, theirs = self._spaces[rolls]
        return self._game, (of_points(ours, points), of_points(theirs, points)), rules


def _gammons(side: Boards) -> float:
    """Return about how many gammons and backgammons a side of a race loses, by its boards after a roll."""
    first = slice(int(side.layers[1]), int(side.layers[2]))
    return float(side.shares[first, 0] @ side.risks[first])


def _check_room(found: int, race: object) -> None:
    if not found:
        raise SolverError(f"{race}: the race takes more boards than an estimate holds")


def _highest(boards: Array) -> Array:
    """(...,) the highest points with a chequer of boards (..., points), 0 where there is none."""
    from_above = boards[..., ::-1] > 0
    return np.where(from_above.any(axis=-1), boards.shape[-1] - from_above.argmax(axis=-1), 0)


def _single(values: Array, columns: Columns) -> Array:
    """Values (..., K), none beyond a single game won or lost, where there is no gammon: doubles can be passed."""
    won = columns.won[:, :, 1]
    return np.clip(values, -won[1], won[0])


class ChainGame:
    """A race of two chains; lines, starts: see `kernels_game.solve`. gammons: about how many a game has."""

    def __init__(self, chains: Chains, starts: Array, rules: tuple[int, Array, Arrays], game: GameColumns):
        self.chains = chains
        self.starts = starts
        self.rules = rules
        self.game = game
        self.gammons = max(map(_gammons, chains))
        self.lines = np.empty(starts[-1], np.float32)

    def solve(self, after: Array) -> Array:
        """(K,) values of the start; after (boards after the first roll, K) is filled, or empty."""
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
        return board.count(HOME, self.ending)

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The game of `kernels_game.solve`."""

        def single(a: Array) -> Array:
            return np.ascontiguousarray(a, np.float32 if a.dtype == np.float64 else a.dtype)

        doubling = tuple(tuple(single(a[side]) for a in self.columns.doubling) for side in (0, 1))
        won = tuple(single(self.columns.won[side]) for side in (0, 1))
        cubeless = self.columns.states.index(CUBELESS) if CUBELESS in self.columns.states else -1
        exact = _ending(self.columns, self.ending)
        return doubling, won, won[0][:, 1] + won[1][:, 1], cubeless, exact, self.few


_endings: dict[tuple[bytes, int], Array] = {}


def _ending(columns: Columns, chequers: int) -> Array:
    """Exact values of all pairs of home boards of few chequers: see `kernels_game.solve`; a few are kept."""
    key = b"".join(np.ascontiguousarray(a).tobytes() for a in (*columns.doubling, columns.won)), chequers
    found = _endings.get(key)
    if found is None:
        k = len(columns)
        n = board.count(HOME, chequers)
        solver = TwoSidedSolver(HOME, chequers)
        out = np.zeros((n, n, 2 * k), np.float32)
        with threads_or_workers(None, None) as team:
            solve_pairs(solver, columns, np.arange(2 * k).reshape(2, k), out, team, None)
        while len(_endings) >= 4:
            _endings.pop(next(iter(_endings)), None)
        _endings[key] = found = out.reshape(n, n, 2, k).transpose(2, 0, 1, 3).reshape(-1, k)
    return found


@cache
def tables(points: int, wide: bool = False) -> Arrays:
    """The one-sided tables for a race on these points: see `kernels_chains._distributions`."""
    rows = library.distributions(points != HOME)
    home, far, wider = (np.ascontiguousarray(board.number_terms(one)) for one in (HOME, FAR, WIDE))
    terms = home if points == HOME else far
    sums = (library.wide_means(), wider) if wide else (np.zeros(len(rows), np.int32), terms)
    return rows, terms, home, *sums


def kept(boards: int, slack: float) -> Arrays:
    """Room for the results of boards, see `kernels_chains._expand`."""
    size = 1 << (2 * boards).bit_length()
    results = 22 * MOST_RESULTS + 40 * boards
    keys = np.zeros(size, np.int64)
    slots = np.zeros(size, np.int64)
    ends = np.zeros((boards, 22), np.int64)
    numbers = np.empty(results, np.int64)
    means = np.empty(results)
    return keys, slots, ends, numbers, means, np.zeros(2, np.int64), np.array([slack], np.float64)


def space(points: int, rolls: int, width: int, room: int = 1 << 17, results: int = 16) -> Boards:
    """Room for the boards of a side; what is not used takes no memory."""
    layers = np.zeros(MOST_LAYERS, np.int64)
    nexts = np.zeros(MOST_LAYERS, np.int64)
    chosen, numbers, gains, small = (np.empty(room, np.int64) for _ in range(4))
    ends = np.empty(21 * room + 1, np.int64)
    results_ = np.empty(results * room, np.int64)
    keys = np.empty(4 * room, np.int64)
    places = np.empty(4 * room, np.int64)
    return Boards(
        layers, nexts, chosen, ends, results_, np.empty((room, points), np.int8), numbers, np.empty(room),
        np.empty((room, rolls), np.float32), gains, small, np.empty((room, 2), np.float32),
        np.empty((room, NEAR), np.int64), np.empty((room, NEAR), np.float32), np.empty((room, width), np.float32),
        keys, places, np.empty(room, np.float32), np.zeros((MOST_LAYERS, rolls), np.float32),
    )  # fmt: skip


def of_points(boards: Boards, points: int) -> Boards:
    """Return the same room for boards of fewer points."""
    room = len(boards.boards)
    return boards._replace(boards=boards.boards.reshape(-1)[: room * points].reshape(room, points))


def estimate_many(
    us: ArrayLike, them: ArrayLike, *, jacoby: bool = False, threads: int | None = None
) -> Array:
    """Money equities of many races before the roll, by the quick estimate, on all cores.

    us, them : (N, points) chequers on points 1, 2, ... of the side on roll and of the other. Returns (N, 4) float64:
    cubeless, owned, centered, opponent, as tables hold them. What they err by: `docs/races.md`. NotCoveredError for
    contact, PositionError for a game that is over.
    """
    sides = [np.asarray(one).astype(np.int64) for one in (us, them)]
    both = np.zeros((len(sides[0]), 2, max(side.shape[1] for side in sides)), np.int64)
    for k, side in enumerate(sides):
        both[:, k, : side.shape[1]] = side
    chequers = both.sum(axis=2)
    highest = _highest(both)
    odd = (both < 0).any(axis=(1, 2)) | ((chequers < 1) | (chequers > MAX_CHEQUERS)).any(axis=1)
    for n in np.flatnonzero(odd | (highest.sum(axis=1) > 24)):
        check_race(Position(*(Side(*counts) for counts in both[n].tolist())).check())
    columns = money_columns(jacoby=jacoby)
    order = [columns.states.index(MONEY[name]) for name in COLUMNS]
    many = max(1, min(thread_count(threads), len(both)))
    out = np.empty((len(both), len(columns)))

    def part(k: int) -> None:
        out[k::many] = Estimator(QUICK, 1 << 16).values(both[k::many, 0], both[k::many, 1], columns)

    with ThreadPoolExecutor(many) as pool:
        list(pool.map(part, range(many)))
    return out[:, order]
