"""Estimate any race: each side is a Markov chain of boards, and the cubeful game of the two chains is solved.

A side that plays alone, minimising its mean rolls, is a Markov chain of boards. After each roll only the boards are
kept whose distributions of rolls differ most. Every other board is interpolated from its four nearest kept boards,
then corrected by its own win probability, which is known from the two sides' distributions. The game is solved
backwards: after each roll there is a value for each pair of kept boards and each state of the cube. Among plays that
lose little for the side alone, each side chooses the one that is best in the game. Errors: `docs/races.md`.

The distributions are read from two one-sided tables, of six points and of ten. A chequer farther back counts as one
on the last point plus the pips up to there.
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
from bgfmt.extras.races import kernels_chains as chain_kernels
from bgfmt.extras.races import kernels_game as kernels
from bgfmt.extras.races.kernels_chains import Boards
from bgfmt.extras.races.kernels_choice import NEAR
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
#: boards kept after each roll, and after the first; number of boards with an exact value; terms of position numbers;
#: one-sided tables; caches of results for the first roll, and for the others (see `kernels_chains.race`)
Rules = tuple[int, int, int, Array, Arrays, Arrays, Arrays]
MAX_LAYERS = 256  # rolls of a side
BATCH = 256  # races that one call of the kernel estimates
MAX_RESULTS = 1024  # results of a roll
MAX_POINTS = 24
# points of the two tables of distributions, and of the table of mean rolls
HOME = 6
FAR = 10
WIDE = 12
# length of distributions, for boards within the tables and beyond
ROLLS = 32
FAR_ROLLS = 64


@dataclass(frozen=True)
class Effort:
    """The accuracy of an estimate, which determines its speed.

    boards : boards kept after each roll.
    first : boards kept after the first roll.
    slack : a play is considered if it loses at most this many mean rolls against the best one for its side alone.
    first_slack : the same for the first roll.
    ending : two home boards of at most this many chequers each have their exact value.
    wide : use the table of mean rolls of twelve points for boards beyond ten.
    """

    boards: int = 32
    first: int = 64
    slack: float = 0.1
    first_slack: float = 1000.0
    ending: int = 4
    wide: bool = False


#: for one query, about 5 ms
CAREFUL = Effort()
#: for many races, about 1 ms each
QUICK = Effort(12, 12, 0.05, 0.05, 6)
#: errors in equity that 95 % and 99.9 % of estimates do not exceed: with both sides within ten points, and beyond
ERRORS = {True: (0.0055, 0.016), False: (0.012, 0.04)}
#: the same with at least `MANY_GAMMONS` gammons a game: beyond the first roll neither side plays to win or save them
GAMMON_ERRORS = (0.03, 0.08)
MANY_GAMMONS = 0.01
#: the same if besides a side has a chequer in the other's home board, with which it can lose a backgammon
BACKGAMMON_ERRORS = (0.12, 0.6)
FIRST_HOME_POINT_OF_OTHER = 19


def errors(position: Position, gammons: float = 0.0) -> tuple[float, float]:
    """Return the errors in equity that 95 % and 99.9 % of estimates of races like this one do not exceed.

    gammons : approximate number of gammons and backgammons per game, see `ChainGame`.
    """
    highest = max(position.us.highest, position.them.highest)
    if gammons >= MANY_GAMMONS:
        return BACKGAMMON_ERRORS if highest >= FIRST_HOME_POINT_OF_OTHER else GAMMON_ERRORS
    return ERRORS[highest <= FAR]


class Estimator:
    """Estimates races. The results of rolls of boards are cached for the next race. Thread-safe by a lock.

    effort : how accurate the estimates are.
    boards : most boards whose results are cached.
    """

    def __init__(self, effort: Effort = CAREFUL, boards: int = 1 << 12) -> None:
        self.effort = effort
        self.boards = boards
        self._lock = Lock()
        self._kept: dict[int, tuple[Array, Arrays, Arrays, Arrays]] = {}
        #: by length of distributions; used for races on any number of points
        self._spaces: dict[int, Chains] = {}
        self._game: GameColumns | None = None

    def solve(self, position: Position, columns: Columns, unit: float = 1.0) -> Solved:
        """Estimate the values of a race before the roll, and after each play of each roll.

        Parameters
        ----------
        position
            The race, the side on roll first.
        columns
            The cube states to evaluate.
        unit
            The value of a point of equity in the unit in which the errors are to be returned.
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
        """Estimate the values of many races before the roll.

        Parameters
        ----------
        us, them
            (N, points) chequers on points 1, 2, ... of the side on roll and of the other.
        columns
            The K cube states to evaluate.

        Returns
        -------
        (N, K) float64
        """
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
                    game, spaces, rules = self._prepare(points, columns)
                    done = kernels.estimates(values, boards, *rules, spaces, game.arrays)
                _check_room(done == len(some), boards[min(done, len(some) - 1)].tolist())
                out[some] = values
        gammons = (both.sum(axis=2) == MAX_CHEQUERS).any(axis=1)
        return np.where(gammons[:, None], out, _single(out, columns))

    def race(
        self, position: Position, columns: Columns, whole: bool = False, ahead: bool = False
    ) -> ChainGame:
        """Build the chains of both sides of a race (boards kept after each roll), and the game that is to be solved.

        Parameters
        ----------
        position
            The race, the side on roll first.
        columns
            The cube states to evaluate.
        whole
            Continue the chains to the end; else only until all boards have exact values.
        ahead
            Compute the distributions of boards with chequers beyond the tables, after the first roll, from all
            results of another roll. `solve` needs this to value plays.
        """
        farthest = max(position.us.highest, position.them.highest)
        last = WIDE if self.effort.wide and farthest > FAR else FAR
        points = HOME if farthest <= HOME else max(farthest, last)
        boards = np.array([side.padded(points) for side in (position.us, position.them)], np.int64)
        game, spaces, rules = self._prepare(points, columns)
        starts = chain_kernels.race(boards, 3 * len(columns), whole, ahead, *rules, spaces)
        _check_room(starts.size, position)
        return ChainGame(spaces, starts, rules[2:5], game)

    def _prepare(self, points: int, columns: Columns) -> tuple[GameColumns, Chains, Rules]:
        """Return the columns, memory for both sides' boards, and the other arguments of `kernels_chains.race`."""
        effort = self.effort
        if self._game is None or self._game.columns is not columns:
            self._game = GameColumns(columns, effort.ending)
        if points not in self._kept:
            rest = new_result_cache(self.boards, effort.slack)
            first = rest if effort.first_slack == effort.slack else new_result_cache(4, effort.first_slack)
            found = tables(points, effort.wide and points > FAR)
            self._kept[points] = np.ascontiguousarray(board.number_terms(points)), found, first, rest
        rolls = ROLLS if points <= FAR else FAR_ROLLS
        if rolls not in self._spaces:
            size = MAX_POINTS, rolls, max(effort.boards, effort.first)
            self._spaces[rolls] = new_boards(*size), new_boards(*size)
        rules = effort.boards, effort.first, self._game.exact_boards, *self._kept[points]
        ours, theirs = self._spaces[rolls]
        return self._game, (with_points(ours, points), with_points(theirs, points)), rules


def _gammons(side: Boards) -> float:
    """Return roughly how many gammons and backgammons per game a side loses, from its boards after one roll."""
    first = slice(int(side.layers[1]), int(side.layers[2]))
    return float(side.shares[first, 0] @ side.risks[first])


def _check_room(found: int, race: object) -> None:
    if not found:
        raise SolverError(f"{race}: the race has too many positions for an estimate")


def _highest(boards: Array) -> Array:
    """Return (...,) the highest point with a chequer of boards (..., points), 0 for a board without chequers."""
    from_above = boards[..., ::-1] > 0
    return np.where(from_above.any(axis=-1), boards.shape[-1] - from_above.argmax(axis=-1), 0)


def _single(values: Array, columns: Columns) -> Array:
    """Return values (..., K) clipped to those of a single game won or lost: without gammons no value exceeds them."""
    won = columns.won[:, :, 1]
    return np.clip(values, -won[1], won[0])


class ChainGame:
    """A race as a game of two chains, to be solved.

    chains : the boards of the side on roll and of the other.
    lines, starts : the values of pairs of boards, see `kernels_game.solve`.
    gammons : approximate number of gammons per game that the side which loses more of them loses.
    """

    def __init__(self, chains: Chains, starts: Array, rules: tuple[int, Array, Arrays], game: GameColumns):
        self.chains = chains
        self.starts = starts
        self.rules = rules
        self.game = game
        self.gammons = max(map(_gammons, chains))
        self.lines = np.empty(starts[-1], np.float32)

    def solve(self, after: Array) -> Array:
        """Solve the game backwards from its end; return the values (K,) of the start to the side on roll.

        after : (boards after the first roll, K), filled with the values of these boards to the side that rolled; may
            be empty.
        """
        on_roll = np.zeros(len(self.game.columns))
        kernels.solve(on_roll, after, self.lines, self.starts, self.chains, self.game.arrays)
        return on_roll


@dataclass(frozen=True, eq=False)
class GameColumns:
    """Cube states as `kernels_game` takes them, with exact values of home boards of at most `ending` chequers."""

    columns: Columns
    ending: int

    @property
    def exact_boards(self) -> int:
        """Number of boards of a side that have an exact value: home boards of at most `ending` chequers."""
        return board.count(HOME, self.ending)

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The cube states and exact values as the argument `game` of `kernels_game.solve`."""

        def single(a: Array) -> Array:
            return np.ascontiguousarray(a, np.float32 if a.dtype == np.float64 else a.dtype)

        doubling = tuple(tuple(single(a[side]) for a in self.columns.doubling) for side in (0, 1))
        won = tuple(single(self.columns.won[side]) for side in (0, 1))
        cubeless = self.columns.states.index(CUBELESS) if CUBELESS in self.columns.states else -1
        exact = _ending(self.columns, self.ending)
        return doubling, won, won[0][:, 1] + won[1][:, 1], cubeless, exact, self.exact_boards


_endings: dict[tuple[bytes, int], Array] = {}


def _ending(columns: Columns, chequers: int) -> Array:
    """Return the exact values of all pairs of home boards of at most `chequers` chequers each, from a small cache.

    Their order is that of `ending` in `kernels_game.solve`.
    """
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
    """Return the arrays of the one-sided tables (distributions of rolls) for races on this many points.

    wide : with the table of mean rolls of twelve points, for boards with chequers beyond ten.
    """
    rows = library.distributions(points != HOME)
    home, far, wider = (np.ascontiguousarray(board.number_terms(one)) for one in (HOME, FAR, WIDE))
    terms = home if points == HOME else far
    sums = (library.wide_means(), wider) if wide else (np.zeros(len(rows), np.int32), terms)
    return rows, terms, home, *sums


def new_result_cache(boards: int, slack: float) -> Arrays:
    """Create an empty cache of the plays of boards, for the argument `kept` of `kernels_chains.race`.

    boards : most boards in it.
    slack : plays are included that lose at most this many mean rolls against the best for their side alone.
    """
    size = 1 << (2 * boards).bit_length()
    results = 22 * MAX_RESULTS + 40 * boards
    keys = np.zeros(size, np.int64)
    slots = np.zeros(size, np.int64)
    ends = np.zeros((boards, 22), np.int64)
    numbers = np.empty(results, np.int64)
    means = np.empty(results)
    return keys, slots, ends, numbers, means, np.zeros(2, np.int64), np.array([slack], np.float64)


def new_boards(points: int, rolls: int, width: int, room: int = 1 << 17, results: int = 16) -> Boards:
    """Create empty arrays for the boards of a side; parts that are never written take no memory.

    Parameters
    ----------
    points
        Points of the boards.
    rolls
        Length of the distributions of rolls.
    width
        Most boards kept after a roll.
    room
        Most boards of all rolls together.
    results
        Mean number of results stored for each board.
    """
    layers = np.zeros(MAX_LAYERS, np.int64)
    nexts = np.zeros(MAX_LAYERS, np.int64)
    chosen, numbers, gains, small = (np.empty(room, np.int64) for _ in range(4))
    ends = np.empty(21 * room + 1, np.int64)
    results_ = np.empty(results * room, np.int64)
    keys = np.empty(4 * room, np.int64)
    places = np.empty(4 * room, np.int64)
    return Boards(
        layers, nexts, chosen, ends, results_, np.empty((room, points), np.int8), numbers, np.empty(room),
        np.empty((room, rolls), np.float32), gains, small, np.empty((room, 2), np.float32),
        np.empty((room, NEAR), np.int64), np.empty((room, NEAR), np.float32), np.empty((room, width), np.float32),
        keys, places, np.empty(room, np.float32), np.zeros((MAX_LAYERS, rolls), np.float32),
    )  # fmt: skip


def with_points(boards: Boards, points: int) -> Boards:
    """Return a view of the arrays of boards, shaped for boards of fewer points."""
    room = len(boards.boards)
    return boards._replace(boards=boards.boards.reshape(-1)[: room * points].reshape(room, points))


def estimate_many(
    us: ArrayLike, them: ArrayLike, *, jacoby: bool = False, threads: int | None = None
) -> Array:
    """Estimate the money equities of many races before the roll, quickly (about 1 ms each) and on all cores.

    Parameters
    ----------
    us, them
        (N, points) chequers on points 1, 2, ... of the side on roll and of the other.
    jacoby
        Gammons do not count while the cube is centered.
    threads
        Number of threads; all cores if None.

    Returns
    -------
    (N, 4) float64: cubeless, owned, centered, opponent, as in two-sided tables. Their errors: `docs/races.md`.

    Raises
    ------
    NotCoveredError
        The sides of a position are in contact.
    PositionError
        A game is over.
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
