"""Races played out by real dice, with the luck of the dice taken away: equities with standard errors and bounds.

The game of two chains of boards (`bgfmt.analysis.chains`) is solved once and its values are kept. A play-out goes by
them, and counts what they turn out to be wrong by on its way; it ends in a table of exact values. How far that may
err beyond chance: `docs/oracle.md`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import chains
from bgfmt.analysis.answers import PLAYED
from bgfmt.analysis.choose import check_race
from bgfmt.analysis.shapes import Plain
from bgfmt.analysis.solving import Solved
from bgfmt.game import board
from bgfmt.game.board import Position
from bgfmt.game.state import GameState, as_state
from bgfmt.solver import columns
from bgfmt.solver.columns import Columns
from bgfmt.solver.machine import thread_count

if TYPE_CHECKING:
    from bgfmt.analysis.ondemand import Terms
    from bgfmt.met.score import Score

Array = NDArray[Any]
#: boards that the values are known for, by the standard error asked: from FINE on few
COARSE, CLOSE, FINE = chains.Effort(32, 32, 0.1, 0.1), chains.Effort(64, 64, 0.1, 0.1), 0.001
SLACK = 0.15  # mean rolls that a play may lose to the best one of its side and still be looked at
NODES = 1 << 17  # boards kept by a thread, of each side
FIRST, BLOCK, MOST = 128, 32, 1 << 20  # play-outs before the first look at the error, together, and at most
ENDING = 6  # most chequers of the exact table, on six points; one fewer in a match of many cube states
MANY_COLUMNS = 8
#: how far play-outs may err because their players do not play perfectly, measured for a cube at 1: with both sides
#: within the tables, and beyond
ALLOWANCES = {True: 0.0005, False: 0.01}
WITHIN_95, WITHIN_99, WITHIN_99_9 = 1.959964, 2.5758293, 3.2905267


@dataclass(frozen=True)
class PlayedOut(Plain):
    """A value by play-outs: an equity, or in a match a chance to win it."""

    FIELDS = "value standard_error low high"
    TITLE = "Played out"

    value: Annotated[float, "The mean of the play-outs."]
    standard_error: Annotated[float, "Its standard error."]
    low: Annotated[
        float, "The lower bound of the 99 % interval, with an allowance for play that is not perfect."
    ]
    high: Annotated[float, "The upper bound."]


@dataclass(frozen=True)
class PlayOuts(Plain):
    """What play-outs make of a race, seen by the side on roll before it rolls; other values are None.

    For money cubeless, owned, centered and opponent are equities for a cube at 1; at a score no_double and
    double_take are chances to win the match, and cubeless the chance to win the game less that to lose it.
    """

    FIELDS = "position play_outs seed cubeless? owned? centered? opponent? no_double? double_take?"
    TITLE = "Play-outs"

    position: Annotated[Position, "Both sides, the side on roll first."]
    play_outs: Annotated[int, "How many games were played out."]
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
    """Play out a race without contact, for money or at a score, until its values are known well enough.

    Parameters
    ----------
    error : play on until no standard error is greater (of equities, or of chances to win the match); 0.0005 when
        neither this nor `seconds` is given.
    seconds : stop after this time; how many games that is depends on the machine.
    seed : of the dice. The same seed and number of games give the same answer whatever the number of threads.
    threads : all cores when None.
    score : the score, with its cube and match equity table, of a state in a match; by default that of the state with
        the default table.

    Raises
    ------
    PositionError when the game is over; NotCoveredError for contact.
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
    """An estimate with what a cube action needs played out, until it is `sure` or time is over.

    The number of games doubles while less than half of the seconds have passed, and the dice are always the same:
    the answer follows from the number of doublings.
    """
    asked = list(range(len(solved.columns)))
    if not isinstance(terms, bool):
        place = solved.columns.place(terms.state)
        asked = sorted({0, place, int(solved.columns.doubling.source[0, place])})
    with _turn:
        oracle = _oracle(thread_count(None))
        sample = Sample(oracle, oracle.prepared(solved.position, solved.columns), asked)
        began = 0.0
        while True:
            sample.double()
            on_roll = solved.on_roll.copy()
            on_roll[asked] = sample.means
            found = replace(
                solved, on_roll=on_roll, **_within(float(sample.errors.max()), solved.position, terms)
            )
            began = began or time.monotonic()  # what is done once, or compiled, takes longer
            if sure(found) or 2 * (time.monotonic() - began) > seconds:
                return found


def settle_plays(solved: Solved, terms: Terms, dice: tuple[int, int], column: int, seconds: float) -> Solved:
    """As `settle`, of the plays of a roll that are near the best one in a column, until one is the best."""
    high, low = max(dice), min(dice)
    columns, places, unit = solved.columns, solved.plays(high * (high - 1) // 2 + low - 1), _unit(terms)
    after, counts = solved.after.copy(), solved.ours.counts
    best = after[places, column].max()
    left = [int(x) for x in places if after[x, column] >= best - 2 * solved.error / unit]
    if len(left) < 2:
        return solved
    with _turn:
        asked, oracle = [column, int(columns.doubling.source[1, column])], _oracle(thread_count(None))
        game = oracle.prepared(solved.position, columns)
        samples = {x: Sample(oracle, game, asked, board=counts[x]) for x in left if counts[x].any()}
        began = 0.0
        while True:
            worst = 0.0
            for x in samples.keys() & left:
                samples[x].double()
                rolling = np.zeros(len(columns))
                rolling[asked] = samples[x].means
                after[x, column] = -columns.turn(1, rolling)[column]
                worst = max(worst, float(samples[x].errors.max()))
            found = replace(solved, after=after, **_within(worst, solved.position, terms))
            best = after[left, column].max()
            left = [x for x in left if after[x, column] >= best - 2 * found.error / unit]
            began = began or time.monotonic()
            if len(left) < 2 or 2 * (time.monotonic() - began) > seconds:
                return found


class Oracle:
    """Plays races out, one at a time, on a number of threads; the boards met are kept while one is played out."""

    def __init__(self, threads: int = 1) -> None:
        self.estimators = [chains.Estimator(effort, 1 << 14) for effort in (CLOSE, COARSE)]
        self.pool = ThreadPoolExecutor(threads)
        self.threads = threads
        self._stores: dict[tuple[int, int], list[tuple[chains.Arrays, chains.Arrays]]] = {}

    def play_out(
        self,
        state: GameState | Position | str,
        *,
        error: float | None = None,
        seconds: float | None = None,
        seed: int = 1,
        score: Score | None = None,
    ) -> PlayOuts:
        """As `play_out`."""
        began = time.monotonic()
        state = as_state(state)
        position = state.position
        check_race(position)
        if error is None:
            error = 0.0 if seconds is not None else 0.0005
        kept, asked = _asked(state, score)
        sample = Sample(
            self, self.prepared(position, kept, error), [one.column for one in asked.values()], seed
        )
        times = np.array([one.times for one in asked.values()])
        many = FIRST
        while True:
            sample.more(many)
            done, errors = sample.values, np.abs(times) * sample.errors
            passed = time.monotonic() - began
            if errors.max() <= error or len(done) >= MOST or (seconds is not None and passed >= seconds):
                break
            many = min(len(done), MOST - len(done))
            if error:
                needed = int(1.05 * len(done) * (errors.max() / error) ** 2) - len(done)
                many = min(many, max(FIRST, needed))
            if seconds is not None:
                many = max(BLOCK, min(many, int((seconds - passed) * len(done) / max(passed, 1e-3))))
        values = {}
        for name, one, mean, off in zip(asked, asked.values(), sample.means, errors, strict=True):
            value = one.add + one.times * float(mean)
            reach = WITHIN_99 * float(off) + allowance(position) * abs(one.times)
            values[name] = PlayedOut(value, float(off), value - reach, value + reach)
        return PlayOuts(position, len(done), seed, **values)

    def prepared(self, position: Position, kept: Columns, error: float = FINE) -> Prepared:
        """The values of a race, by the standard error wanted; the boards of an earlier one are forgotten."""
        game = Prepared(self.estimators[error >= FINE], position, kept)
        stores = self._stores.setdefault(game.shape, [])
        while len(stores) < self.threads:
            stores.append((_store(*game.shape), _store(*game.shape)))
        for pair in stores:
            for store, chain in zip(pair, game.chains, strict=True):
                store[3][0] = chain[8][0]
                store[2][:] = NODES  # full: begin anew
        return game

    def run(self, game: Prepared, starts: Array, board: Array, first: int, many: int, seed: int) -> Array:
        """(many, S) values of play-outs first, first + 1, ..., blocks of them shared among the threads."""
        stores = self._stores[game.shape]
        out = np.empty((many, len(starts)))
        blocks = iter(range(0, many, BLOCK))
        lock = Lock()

        def work(pair: tuple[chains.Arrays, chains.Arrays]) -> None:
            while True:
                with lock:
                    at = next(blocks, None)
                if at is None:
                    return
                game.run(out[at : at + BLOCK], first + at, seed, starts, board, pair)

        list(self.pool.map(work, stores))
        return out


class Sample:
    """Play-outs of a race: values (N, S) of columns to the side on roll.

    board : where the first roll is over, what the side that rolled has come to; the other is on roll.
    """

    def __init__(
        self,
        oracle: Oracle,
        game: Prepared,
        columns: Sequence[int],
        seed: int = 1,
        board: Array | None = None,
    ) -> None:
        self.oracle, self.game, self.columns, self.seed = oracle, game, np.array(columns, np.int64), seed
        self.board = np.zeros(0, np.int8) if board is None else np.ascontiguousarray(board)
        self.values = np.zeros((0, len(columns)))

    def more(self, many: int) -> None:
        """Play out `many` more games."""
        first = len(self.values)
        new = self.oracle.run(self.game, self.columns, self.board, first, many, self.seed)
        self.values = np.concatenate([self.values, new])

    def double(self) -> None:
        """Play out as many games as there are already, at first `FIRST`."""
        self.more(len(self.values) or FIRST)

    @property
    def means(self) -> Array:
        """(S,) the values."""
        return self.values.mean(axis=0)  # type: ignore[no-any-return]

    @property
    def errors(self) -> Array:
        """(S,) their standard errors."""
        return self.values.std(axis=0, ddof=1) / np.sqrt(len(self.values))  # type: ignore[no-any-return]


def _unit(terms: Terms) -> float:
    """What 1 of a column is worth in equities for money, in chances at a score."""
    return 1.0 if isinstance(terms, bool) else 0.5


def allowance(position: Position) -> float:
    """How far play-outs of a race such as this one may err beyond chance."""
    return ALLOWANCES[max(position.us.highest, position.them.highest) <= chains.FAR]


def _within(error: float, position: Position, terms: Terms) -> dict[str, Any]:
    """What `Solved` says of values with this standard error: how far 99.9 and 95 % of them err."""
    unit, more = _unit(terms), allowance(position)
    reach = {"error": WITHIN_99_9, "usual": WITHIN_95}
    return {name: unit * (times * error + more) for name, times in reach.items()} | {"source": PLAYED}


class Prepared:
    """The values of a race, and its play-outs."""

    def __init__(self, estimator: chains.Estimator, position: Position, kept: Columns) -> None:
        from bgfmt.analysis import kernels_oracle as kernels

        ours, theirs, depth = estimator.chains(position)
        self.chains = ours, theirs
        points = ours[8].shape[1]
        self.shape = points, ours[3].shape[1]
        k, halves = len(kept), 2 * depth
        sizes = np.zeros(halves + 1, np.int64)
        for h in range(halves):
            mine, other = self.chains[h % 2], self.chains[1 - h % 2]
            t, u = h // 2, h // 2 + h % 2
            sizes[h + 1] = (mine[2][t + 1] - mine[2][t]) * (other[2][u + 1] - other[2][u])
        starts = np.cumsum(sizes)
        self.doubling = tuple(tuple(np.ascontiguousarray(a[s]) for a in kept.doubling) for s in (0, 1))
        self.won = tuple(np.ascontiguousarray(kept.won[s]) for s in (0, 1))
        cubeless = kept.states.index(columns.CUBELESS) if columns.CUBELESS in kept.states else -1
        chequers = ENDING if k < MANY_COLUMNS else ENDING - 1
        self.few = board.count(chains.HOME, chequers)
        self.ending = ending(_Key(kept), chequers)
        far = chains.HOME if points == chains.HOME else chains.FAR
        self.tables = *chains.rows(chains.HOME), *chains.rows(far)
        self.terms = np.ascontiguousarray(board.number_terms(points))
        n = int(starts[-1])
        self.layered = np.zeros(k * n), np.zeros(k * n), np.zeros(n), starts, cubeless
        small = tuple(np.empty(int(chain[0].max()), np.int64) for chain in self.chains)
        for chain, numbers in zip(self.chains, small, strict=True):
            kernels.smalls(chain[8], self.few, self.tables[1], numbers)
        kernels.layers(self.layered, self.chains, self.ending, self.few, small, self.doubling, self.won)

    def run(self, out: Array, begin: int, seed: int, starts: Array, board: Array, stores: Any) -> None:
        """Fill out (N, S) with play-outs number `begin` and on, of the start or of a `board` after the first roll."""
        from bgfmt.analysis import kernels_oracle as kernels

        kernels.play_outs(
            out, begin, np.uint64(seed % (1 << 64)), starts, board, self.layered, self.ending, self.few, self.chains,
            stores, self.doubling, self.won, self.terms, self.tables, SLACK,
        )  # fmt: skip


def _store(points: int, rolls: int) -> chains.Arrays:
    """Room for the boards that a thread meets, see `kernels_oracle._node`."""
    from bgfmt.analysis.kernels_oracle import NEAR

    keys, places, used = np.zeros(4 * NODES, np.int64), np.zeros(4 * NODES, np.int64), np.zeros(2, np.int64)
    gains, slots, small = (np.empty(NODES, np.int64) for _ in range(3))
    ends, results = np.zeros((NODES // 4, 22), np.int64), np.empty(8 * NODES, np.int64)
    return (
        keys, places, used, np.zeros((NODES, points), np.int8), np.empty((NODES, rolls)),
        np.empty((NODES, NEAR), np.int64), gains, slots, ends, results, small, np.empty((NODES, NEAR)),
    )  # fmt: skip


# -- what is asked ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Start:
    """A column that is asked, and what makes its value the one asked: add + times * value."""

    column: int
    add: float = 0.0
    times: float = 1.0


def _asked(state: GameState, score: Score | None) -> tuple[Columns, dict[str, _Start]]:
    """The columns of a question, and the values asked, by name."""
    from bgfmt.analysis.solving import MONEY

    position = state.position
    if state.money:
        kept = columns.for_money(jacoby=bool(state.jacoby))
        return kept, {name: _Start(kept.states.index(cube)) for name, cube in MONEY.items()}
    if score is None:
        from bgfmt.analysis.advisor import Advisor
        from bgfmt.analysis.library import Library

        score = Advisor(Library([])).score(state)
    kept = columns.for_match(score, gammons=position.gammons)
    place = kept.place(score.state)
    dead = kept.states[place] is columns.CUBELESS
    add, times = columns.dead(score, 0, score.state) if dead else (0.0, 1.0)
    asked = {"no_double": _Start(place, (1 + add) / 2, times / 2)}
    if columns.CUBELESS in kept.states:
        asked["cubeless"] = _Start(kept.states.index(columns.CUBELESS))
    if score.may_double(0):
        doubling = kept.doubling
        add, times = float(doubling.add[0, place]), float(doubling.times[0, place])
        asked["double_take"] = _Start(int(doubling.source[0, place]), (1 + add) / 2, times / 2)
    return kept, asked


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
def ending(key: _Key, chequers: int) -> Array:
    """Exact values of all pairs of home boards of few chequers, flat: see `kernels_oracle.play_outs`."""
    from bgfmt.solver.match import solve_pairs
    from bgfmt.solver.two_sided import TwoSidedSolver
    from bgfmt.solver.workers import threads_or

    k, solver = len(key.columns), TwoSidedSolver(chains.HOME, chequers)
    n = board.count(chains.HOME, chequers)
    out = np.zeros((n, n, 2 * k))
    with threads_or(None, None) as team:
        solve_pairs(solver, key.columns, np.arange(2 * k).reshape(2, k), out, team, None)
    return out.reshape(-1)
