"""Rollouts of races with variance reduction: equities with standard errors and bounds.

The game of two chains of boards (`bgfmt.extras.races.chains`) is solved once and its values are cached. A rollout
follows these values and sums their errors along the way (control variates); it ends in a table of exact values. How
far that may err beyond chance: `docs/oracle.md`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import met as mets
from bgfmt.analysis.answers import ROLLOUT
from bgfmt.analysis.choose import check_race
from bgfmt.analysis.ondemand import Terms
from bgfmt.analysis.shapes import Plain
from bgfmt.analysis.solving import MONEY, Solved
from bgfmt.extras.races import chains
from bgfmt.extras.races import kernels_game as kernels
from bgfmt.extras.races.chains import ChainGame
from bgfmt.game.board import BAR, Position
from bgfmt.game.state import GameState, as_state
from bgfmt.met.score import Score, score_of
from bgfmt.solver import columns
from bgfmt.solver.columns import Columns
from bgfmt.solver.machine import thread_count

Array = NDArray[Any]
EFFORT = chains.Effort(64, 64, 0.1, 0.1, 6, wide=True)
SLACK = 0.2  # a play is considered if it loses at most this many mean rolls against the best for its side
THROWS = 36  # sequences of dice of each side in a block; a block is THROWS * THROWS games
MAX_BLOCKS = 1 << 12
MANY_BLOCKS = 32  # from this many blocks on the standard error is computed from their means
STRATIFIED = 0.8  # variance relative to independent dice: in a block each roll comes up equally often
#: bias of rollouts because the players are not perfect, measured for a cube at 1, by the highest point of both sides
ALLOWANCES = {chains.FAR: 0.0005, chains.WIDE: 0.001, BAR: 0.01}
#: the same where a side loses many gammons: the players do not look ahead for plays that save one
GAMMON_ALLOWANCE = 0.06
#: the same if besides a side has a chequer in the other's home board, with which it can lose a backgammon
BACKGAMMON_ALLOWANCE = 0.4
WITHIN_95 = 1.959964
WITHIN_99 = 2.5758293
WITHIN_99_9 = 3.2905267


@dataclass(frozen=True)
class PlayedOut(Plain):
    """A value by rollouts: an equity, or at a score a match winning chance."""

    FIELDS = "value standard_error low high"
    TITLE = "Rolled out"

    value: Annotated[float, "The mean of the rollouts."]
    standard_error: Annotated[float, "Its standard error."]
    low: Annotated[
        float, "The lower bound of the 99 % interval, with an allowance for play that is not perfect."
    ]
    high: Annotated[float, "The upper bound."]


@dataclass(frozen=True)
class PlayOuts(Plain):
    """The values of a race by rollouts, for the side on roll before it rolls; values that do not apply are None.

    For money cubeless, owned, centered and opponent are equities for a cube at 1; at a score no_double and
    double_take are match winning chances, and cubeless the probability of winning the game minus that of losing it.
    """

    FIELDS = "position play_outs seed cubeless? owned? centered? opponent? no_double? double_take?"
    TITLE = "Play-outs"

    position: Annotated[Position, "Both sides, the side on roll first."]
    play_outs: Annotated[int, "The number of games rolled out."]
    seed: Annotated[int, "The seed of the dice."]
    cubeless: Annotated[PlayedOut | None, "Without a cube."] = None
    owned: Annotated[PlayedOut | None, "Rolling on with the cube on the own side."] = None
    centered: Annotated[PlayedOut | None, "Rolling on with the cube in the middle."] = None
    opponent: Annotated[PlayedOut | None, "With the cube on the other side."] = None
    no_double: Annotated[PlayedOut | None, "At a score: rolling on with the cube as it is."] = None
    double_take: Annotated[PlayedOut | None, "At a score: doubling, when the other side takes."] = None


def play_out(
    state: GameState | Position | str,
    *,
    error: float | None = None,
    seconds: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    score: Score | None = None,
) -> PlayOuts:
    """Roll out a race, for money or at a match score, until its values are accurate enough or the time is over.

    Parameters
    ----------
    state
        The race before the roll, with its cube and score.
    error
        Continue until no standard error is greater (of equities, or of match winning chances); 0.0005 if neither
        this nor `seconds` is given.
    seconds
        Stop after this time; the number of games then depends on the machine.
    seed
        The seed of the dice. The same seed and number of games give the same answer for any number of threads.
    threads
        Number of threads; all cores if None.
    score
        The score of a state in a match, with its cube and match equity table; by default that of the state with the
        default table.

    Raises
    ------
    PositionError
        The game is over.
    NotCoveredError
        The sides are in contact.
    """
    with _turn:
        return _oracle(thread_count(threads)).play_out(
            state, error=error, seconds=seconds, seed=seed, score=score
        )


_turn = Lock()


@cache
def _oracle(threads: int) -> Oracle:
    return Oracle(threads)


def settle(solved: Solved, terms: Terms, sure: Callable[[Solved], bool], seconds: float) -> Solved:
    """Roll out an estimated race until its cube action is certain, as `sure` judges, or the time is over.

    The number of games is doubled while less than half of the seconds have passed. The dice are always the same, so
    the answer depends only on the number of doublings.

    Parameters
    ----------
    solved
        The estimate.
    terms
        A match score, or for money whether Jacoby's rule is in force.
    sure
        Returns whether values decide the cube action in spite of their error.
    seconds
        Time limit.

    Returns
    -------
    The estimate with the values that the cube action needs, and the errors, replaced by those of the rollouts.
    """
    asked = list(range(len(solved.columns)))
    if not isinstance(terms, bool):
        place = solved.columns.place(terms.state)
        asked = sorted({0, place, int(solved.columns.doubling.source[0, place])})
    with _turn:
        oracle = _oracle(thread_count(None))
        sample = Sample(oracle, oracle.prepare(solved.position, solved.columns), asked)
        began = 0.0
        while True:
            sample.double()
            on_roll = solved.on_roll.copy()
            on_roll[asked] = sample.means
            found = replace(
                solved,
                on_roll=on_roll,
                **_within(float(sample.errors.max()), sample.race, solved.position, terms),
            )
            began = began or time.monotonic()  # from the end of the first, which may compile kernels
            if sure(found) or 2 * (time.monotonic() - began) > seconds:
                return found


def settle_plays(solved: Solved, terms: Terms, dice: tuple[int, int], column: int, seconds: float) -> Solved:
    """Roll out the best plays of a roll of an estimated race until only one can be best, or the time is over.

    A play is dropped once its value is below the best one by more than twice the error bound of the rollouts (99.9
    %).

    Parameters
    ----------
    solved
        The estimate.
    terms
        A match score, or for money whether Jacoby's rule is in force.
    dice
        The roll.
    column
        Index among the columns of `solved` of the cube state by whose value the plays are ranked.
    seconds
        Time limit.

    Returns
    -------
    The estimate with the values of these plays, and the errors, replaced by those of the rollouts.
    """
    high = max(dice)
    low = min(dice)
    columns = solved.columns
    places = solved.plays(high * (high - 1) // 2 + low - 1)
    unit = _unit(terms)
    after = solved.after.copy()
    counts = solved.ours.counts
    best = after[places, column].max()
    left = [int(x) for x in places if after[x, column] >= best - 2 * solved.error / unit]
    if len(left) < 2:
        return solved
    with _turn:
        asked = [column, int(columns.doubling.source[1, column])]
        oracle = _oracle(thread_count(None))
        game = oracle.prepare(solved.position, columns)
        samples = {x: Sample(oracle, game, asked, board=counts[x]) for x in left if counts[x].any()}
        began = 0.0
        while True:
            worst = 0.0
            for x in samples.keys() & left:
                samples[x].double()
                rolling = np.zeros(len(columns))
                rolling[asked] = samples[x].means
                after[x, column] = -columns.choose_cube_action(1, rolling)[column]
                worst = max(worst, float(samples[x].errors.max()))
            found = replace(solved, after=after, **_within(worst, game, solved.position, terms))
            best = after[left, column].max()
            left = [x for x in left if after[x, column] >= best - 2 * found.error / unit]
            began = began or time.monotonic()
            if len(left) < 2 or 2 * (time.monotonic() - began) > seconds:
                return found


class Oracle:
    """Rolls out races, one at a time, on several threads; the results of rolls of boards are cached."""

    def __init__(self, threads: int = 1) -> None:
        self.estimator = chains.Estimator(EFFORT, 1 << 14)
        self.pool = ThreadPoolExecutor(threads)
        self._rooms: dict[tuple[int, int], list[_Room]] = {}
        self._threads = threads

    def play_out(
        self,
        state: GameState | Position | str,
        *,
        error: float | None = None,
        seconds: float | None = None,
        seed: int = 1,
        score: Score | None = None,
    ) -> PlayOuts:
        """Roll out a race; the parameters are those of the function `play_out`."""
        began = time.monotonic()
        state = as_state(state)
        position = state.position
        check_race(position)
        if error is None:
            error = 0.0 if seconds is not None else 0.0005
        cubes, asked = _columns_for(state, score)
        sample = Sample(self, self.prepare(position, cubes), [one.column for one in asked.values()], seed)
        times = np.array([one.times for one in asked.values()])
        many = 1
        while True:
            sample.add_blocks(many)
            done = sample.blocks
            errors = np.abs(times) * sample.errors
            passed = time.monotonic() - began
            if errors.max() <= error or done >= MAX_BLOCKS or (seconds is not None and passed >= seconds):
                break
            many = (MANY_BLOCKS if done < MANY_BLOCKS else MAX_BLOCKS) - done
            if error:
                many = min(many, max(1, int(done * (errors.max() / error) ** 2) + 1 - done))
            if seconds is not None:
                many = max(1, min(many, int((seconds - passed) * done / max(passed, 1e-3))))
        values = {}
        for name, one, mean, off in zip(asked, asked.values(), sample.means, errors, strict=True):
            value = one.add + one.times * float(mean)
            reach = WITHIN_99 * float(off) + allowance(position, sample.race.gammons) * abs(one.times)
            values[name] = PlayedOut(value, float(off), value - reach, value + reach)
        return PlayOuts(position, done * THROWS**2, seed, **values)

    def prepare(self, position: Position, cubes: Columns) -> ChainGame:
        """Solve a race approximately, to the end of the game, for these cube states; rollouts play by its values."""
        race = self.estimator.race(position, cubes, whole=True)
        race.solve(np.empty((0, len(cubes))))
        return race

    def run(self, race: ChainGame, board: Array, first: int, many: int, seed: int) -> Array:
        """Roll out blocks of games on the threads.

        Parameters
        ----------
        race
            The race, solved by `prepare`.
        board
            (points,) int8, the board that the side on roll has come to after its roll; empty to begin before it.
        first, many
            Number of the first block, and how many blocks; a block's number and the seed determine its dice.
        seed
            The seed of the dice.

        Returns
        -------
        (many, 2, THROWS, K) mean values over the games with each sequence of dice of the side on roll, and with each
        of the other side.
        """
        points = race.chains[0].boards.shape[1]
        rolls = race.chains[0].within.shape[1]
        rooms = self._rooms.setdefault((points, rolls), [])
        while len(rooms) < self._threads:
            rooms.append(_Room(points, rolls))
        out = np.zeros((many, 2, THROWS, len(race.game.columns)))
        blocks, lock = iter(range(many)), Lock()

        def work(room: _Room) -> None:
            while True:
                with lock:
                    at = next(blocks, None)
                if at is None:
                    return
                dice = np.uint64((seed * 0x9E3779B97F4A7C15 + first + at) % (1 << 64))
                kernels.roll_out(
                    out[at], dice, board, race.lines, race.starts, race.chains, race.game.arrays, *race.rules,
                    room.kept, room.spaces,
                )  # fmt: skip

        list(self.pool.map(work, rooms))
        return out


class _Room:
    """Memory for the rollouts of a thread: caches of results and boards of each side."""

    def __init__(self, points: int, rolls: int) -> None:
        self.kept = chains.new_result_cache(1 << 14, SLACK), chains.new_result_cache(1 << 14, SLACK)
        size = points, rolls, 1
        self.spaces = chains.new_boards(*size, results=2), chains.new_boards(*size, results=2)


class Sample:
    """Rollouts of one race in blocks of games: mean values of S cube states to the side on roll.

    oracle : plays the games.
    race : the race, as `Oracle.prepare` returns it.
    columns : the S columns that are wanted.
    seed : the seed of the dice.
    board : if the first roll has been played, (points,) the board that the side that rolled has come to; then the
        other side is on roll.
    """

    def __init__(
        self,
        oracle: Oracle,
        race: ChainGame,
        columns: Sequence[int],
        seed: int = 1,
        board: Array | None = None,
    ) -> None:
        self.oracle = oracle
        self.race = race
        self.columns = np.array(columns, np.int64)
        self.seed = seed
        self.board = np.zeros(0, np.int8) if board is None else np.ascontiguousarray(board)
        self._means = np.zeros((0, 2, THROWS, len(columns)))

    @property
    def blocks(self) -> int:
        """Number of blocks of games that were played."""
        return len(self._means)

    def add_blocks(self, many: int) -> None:
        """Play `many` more blocks of THROWS * THROWS games."""
        new = self.oracle.run(self.race, self.board, self.blocks, many, self.seed)
        self._means = np.concatenate([self._means, new[..., self.columns]])

    def double(self) -> None:
        """Double the number of games; the first call plays one block."""
        self.add_blocks(self.blocks or 1)

    @property
    def means(self) -> Array:
        """Mean values of the S cube states to the side on roll, (S,)."""
        return self._means[:, 0].mean(axis=(0, 1))  # type: ignore[no-any-return]

    @property
    def errors(self) -> Array:
        """Standard errors of the means, (S,).

        From `MANY_BLOCKS` blocks on from the variance of the blocks' means; below, from the variances of the means
        for each sequence of dice, summed over both sides.
        """
        if self.blocks >= MANY_BLOCKS:
            return self._means[:, 0].mean(axis=1).std(axis=0, ddof=1) / np.sqrt(self.blocks)  # type: ignore[no-any-return]
        variances = self._means.var(axis=2, ddof=1).mean(axis=0).sum(axis=0)
        return np.sqrt(STRATIFIED * variances / (THROWS * self.blocks))  # type: ignore[no-any-return]


def _unit(terms: Terms) -> float:
    """Return the value of 1 in a column: in equity for money, in match winning chance at a score."""
    return 1.0 if isinstance(terms, bool) else 0.5


def allowance(position: Position, gammons: float = 0.0) -> float:
    """Return the bias, in equity, that rollouts of a race like this one may have, in addition to their random error.

    gammons : approximate number of gammons and backgammons per game, see `chains.ChainGame`.
    """
    highest = max(position.us.highest, position.them.highest)
    if gammons >= chains.MANY_GAMMONS:
        return BACKGAMMON_ALLOWANCE if highest >= chains.FIRST_HOME_POINT_OF_OTHER else GAMMON_ALLOWANCE
    return next(far for points, far in ALLOWANCES.items() if highest <= points)


def _within(error: float, race: ChainGame, position: Position, terms: Terms) -> dict[str, Any]:
    """Return the fields of `Solved` for values with this standard error: source, and errors of 99.9 % and 95 %."""
    unit = _unit(terms)
    more = allowance(position, race.gammons)
    reach = {"error": WITHIN_99_9, "usual": WITHIN_95}
    return {name: unit * (times * error + more) for name, times in reach.items()} | {"source": ROLLOUT}


# -- the columns of a query ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Start:
    """A column, and the factors that convert its value to the one queried: add + times * value."""

    column: int
    add: float = 0.0
    times: float = 1.0


def _columns_for(state: GameState, score: Score | None) -> tuple[Columns, dict[str, _Start]]:
    """Return the cube states that a rollout of a state evaluates, and the columns of its values by their names."""
    position = state.position
    if state.money:
        cubes = columns.money_columns(jacoby=bool(state.jacoby))
        return cubes, {name: _Start(cubes.states.index(cube)) for name, cube in MONEY.items()}
    if score is None:
        score = score_of(state, mets.load(mets.DEFAULT), 0)
    cubes = columns.match_columns(score, gammons=position.gammons)
    place = cubes.place(score.state)
    dead = cubes.states[place] is columns.CUBELESS
    add, times = columns.dead_cube_scale(score, score.state) if dead else (0.0, 1.0)
    asked = {"no_double": _Start(place, (1 + add) / 2, times / 2)}
    if columns.CUBELESS in cubes.states:
        asked["cubeless"] = _Start(cubes.states.index(columns.CUBELESS))
    if score.may_double(0):
        doubling = cubes.doubling
        add = float(doubling.add[0, place])
        times = float(doubling.times[0, place])
        asked["double_take"] = _Start(int(doubling.source[0, place]), (1 + add) / 2, times / 2)
    return cubes, asked
