"""The hypergammon solver: value iteration over all positions of one, two or three chequers a side.

Every record is renewed from the others, in place and in makehyper's order, sweep after sweep, until none changes by
more than a threshold; docs/theory/hypergammon.md has the rules of both recipes and how threads keep to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.errors import OutputExistsError, ScratchError, SolverError
from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.solver.machine import START_SECONDS, Plan, check_memory, thread_count
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import Solver
from bgfmt.storage import check_output
from bgfmt.tables import ExactHypergammon, Hypergammon, Table
from bgfmt.tables.hypergammon import RECORD, hyper_values

Sweeping = Callable[[int, float], None]
# points and the bar; the first of the other side's home board
PLACES = 25
FAR = 18
THRESHOLDS = {"gnubg": 1e-5, "exact": 1e-12}
MOST_SWEEPS = 1000
KEEP_EVERY = 60.0  # seconds between two states of a long solve
SCALE = 16777215
#: recipe exact, this number of chequers: after every CYCLE sweeps the numbers go on by as much as they would in all
#: further sweeps, if each sweep changed them by the same part of the one before, up to a part of STEADY
LONG = 3
CYCLE = 6
STEADY = 0.95
# rows made together: up to the diagonal, and beyond it
BLOCK = 16
BEYOND = 64
FEW = 100  # rows up to which threads cost more than they save
#: bytes a record takes in a solve: values and replies, under exact the values of an earlier sweep too, and the class
COST = {"gnubg": 81, "exact": 241}
SECONDS = {"gnubg": 4e-6, "exact": 1e-5}  # of one core, for a record and each chequer


@dataclass(frozen=True)
class Iteration:
    """Where a solve stands.

    values : (n, n, 10) of [us, them], float32 or, under ``exact``, float64: the chances of win, win gammon, win
        backgammon, lose gammon, lose backgammon; money equities cubeless, cube owned, centered, centered with Jacoby,
        opponent's cube.
    sweeps : the number of sweeps done. change : the greatest change of a number in the last one. converged : whether
        that is within the threshold.
    """

    chequers: int
    recipe: str
    values: Array
    sweeps: int
    change: float
    converged: bool

    @property
    def whole(self) -> bool:
        """Whether a solve that goes on from here gets the numbers of one that was never left."""
        return not _guesses(self.chequers, self.recipe) or self.sweeps % CYCLE == 0

    @property
    def table(self) -> Hypergammon | ExactHypergammon:
        """The numbers as makehyper writes them, cut off to 24 bits; under ``exact`` as they are."""
        how: dict[str, Any] = {
            "points": PLACES, "chequers": self.chequers, "recipe": self.recipe,
            "provenance": f"solved by bgfmt, recipe {self.recipe}, {self.sweeps} sweeps",
        }  # fmt: skip
        if self.recipe == "exact":
            return ExactHypergammon(float64=self.values, **how)
        records = np.zeros((*self.values.shape[:2], RECORD), np.uint8)
        one = np.float32(1)
        for record, row in zip(records, self.values, strict=True):
            parts = np.concatenate([row[:, :5], row[:, 6:] * (one / np.float32(6)) + one / 2], axis=1)
            whole = (parts * np.float32(SCALE)).astype(np.int64)
            for k in range(3):
                record[:, k : RECORD - 1 : 3] = whole >> 8 * k & 255
        return Hypergammon(records=records, **how)


class HypergammonSolver(Solver):
    """Tables of hypergammon. A long solve keeps its state in a file, from which another goes on."""

    name = kind = "hypergammon"
    recipes = ("gnubg", "exact")
    options = frozenset({"threshold", "restart", "sweeping"})
    path_options = frozenset({"restart"})
    kept_suffix = ".sweeps"
    keeps_state = True

    def __init__(
        self,
        points: int,
        chequers: int,
        *,
        recipe: str | Recipe | None = None,
        threshold: float | None = None,
        restart: Table | Iteration | None = None,
        sweeping: Sweeping | None = None,
    ) -> None:
        """`threshold`, `restart`, `sweeping` and errors as `hypergammon` has them."""
        super().__init__(points, chequers, recipe=recipe)
        name = self.recipe.name
        if points != PLACES:
            raise SolverError(f"hypergammon has {PLACES} points, with the bar, not {points}")
        if chequers not in (1, 2, 3):
            raise SolverError(f"hypergammon has 1, 2 or 3 chequers a side, not {chequers}")
        if not isinstance(restart, Hypergammon | Iteration | None):
            raise SolverError(f"numbers to begin with: a {restart.kind} table, not a hypergammon one")
        if restart is not None and restart.chequers != chequers:
            raise SolverError(
                f"a solve of {chequers} chequers cannot begin with numbers of {restart.chequers}"
            )
        if isinstance(restart, Iteration) and restart.recipe != name:
            raise SolverError(f"a solve by recipe {name} cannot go on from one by recipe {restart.recipe}")
        limit = THRESHOLDS[name] if threshold is None else threshold
        if not 0 <= limit <= 1:
            raise SolverError(f"a threshold lies between 0 and 1, not at {limit}")
        self.limit: Any = np.float32(limit) if name == "gnubg" else float(limit)
        self.restart = restart
        self.sweeping = sweeping

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        ((_, (shape, dtype)),) = self.arrays().items()
        records = shape[0] * shape[1]
        name = self.recipe.name
        seconds = START_SECONDS + SECONDS[name] * records * self.chequers / thread_count(threads)
        what = f"hypergammon of {self.chequers} chequer{'s'[: self.chequers > 1]}, recipe {name}"
        output = records * shape[2] * dtype.itemsize
        return self.limit_memory(Plan(what, records, seconds, records * COST[name], output), memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(PLACES, self.chequers)
        if self.recipe.rounded:
            return {"records": ((n, n, RECORD), np.dtype(np.uint8))}
        return {"float64": ((n, n, 10), np.dtype(np.float64))}

    def table(self, arrays: Mapping[str, Any]) -> Table:
        kind: Any = Hypergammon if self.recipe.rounded else ExactHypergammon
        return kind(points=PLACES, chequers=self.chequers, **arrays)  # type: ignore[no-any-return]

    def sweeps(
        self, threads: int | None = None, most_sweeps: int = MOST_SWEEPS, *, begin: Iteration | None = None
    ) -> Iterator[Iteration]:
        """The states of a solve after every sweep; the next one changes the values of the last.

        begin : where it stands already, instead of at the numbers to begin with.
        """
        planned = self.plan()
        name = self.recipe.name
        check_memory(planned.memory, planned.what)
        numbers = begin or self.restart
        solve = _Solve(self.chequers, name, numbers, thread_count(threads))
        first = 1 + (numbers.sweeps if isinstance(numbers, Iteration) else 0)
        for done in range(first, first + max(1, most_sweeps)):
            change = solve.sweep()
            guesses = _guesses(self.chequers, name) and change > self.limit
            if guesses and solve.guess(done, solve.values):
                solve.answered()
            converged = not change > self.limit
            if self.sweeping is not None:
                self.sweeping(done, float(change))
            yield Iteration(self.chequers, name, solve.values, done, float(change), converged)
            if converged:
                return

    def solve(
        self,
        *,
        state: Path | None = None,
        resume: bool = False,
        force: bool = False,
        threads: int | None = None,
        **_: Any,
    ) -> Table:
        """Make the table.

        state : the file of the state. resume : go on from there, to the same numbers. force : start anew where an
        ended run left a state; without either that is a ScratchError.
        """
        from bgfmt.extras.hypergammon.solver import state as states

        begun = states.begun_with(self.restart)
        begin = None
        if state is not None:
            check_output(state, force=True)  # said now, not after the first minute
            if resume:
                begin = states.read(state, self.chequers, self.recipe.name, begun)
            elif state.exists() and not states.is_state(state):
                message = f"{state}: exists already and is no state of a solve"
                raise OutputExistsError(message, replaceable=False)
            elif state.exists() and not force:
                message = "holds the state of an ended run, and going on from it was not asked for"
                raise ScratchError(str(state), "unfinished", message)
        written = time.monotonic()
        for last in self.sweeps(threads, begin=begin):
            late = time.monotonic() - written > KEEP_EVERY
            if state is not None and late and last.whole and not last.converged:
                states.write(last, state, begun)
                written = time.monotonic()
        return last.table


def hypergammon(
    chequers: int, *, threads: int | None = None, most_sweeps: int = MOST_SWEEPS, **how: Any
) -> Iteration:
    """Solve hypergammon of 1, 2 or 3 chequers a side.

    most_sweeps : sweeps after which to stop in any case, 1 at least; the result says whether it has converged.
    recipe : ``gnubg`` makes the numbers of makehyper; ``exact`` float64 and the rules of backgammon throughout.
    threshold : sweeps go on while a number changes by more (default 1e-5 under ``gnubg``, as makehyper's, 1e-12 under
        ``exact``). 0 may never be reached.
    restart : numbers to begin with: a table, as makehyper's `-r`, or an `Iteration`, which goes on as if never left.
    sweeping : called after each sweep with its number and the greatest change.

    SolverError for another number of chequers, recipe or threshold, a restart from numbers of another kind, and too
    little memory.
    """
    *_, last = HypergammonSolver(PLACES, chequers, **how).sweeps(threads, most_sweeps)
    return last


def _guesses(chequers: int, recipe: str) -> bool:
    return recipe == "exact" and chequers >= LONG


class Iterated:
    """What every iteration of hypergammon needs: sides, plays, classes of records, threads, and where changes lead.

    kinds : (n, n) uint8, the classes of all records [us, them], as `sweep` names them. now : those of this sweep, in
    which races that no longer change are FIXED. gammon, backgammon : (n,) bool, what is lost against each side.
    """

    def __init__(self, chequers: int, threads: int) -> None:
        from bgfmt.extras.hypergammon.solver import plays
        from bgfmt.extras.hypergammon.solver.sweep import CONTACT, FIXED, OVER, RACE

        n = self.n = board.count(PLACES, chequers)
        boards = board.unrank_array(np.arange(n), PLACES).astype(np.int64)
        self.threads = 1 if n <= FEW else threads
        self.pool = ThreadPoolExecutor(self.threads)
        self.rows = list(pairwise(np.linspace(0, n, -(-n // BLOCK) + 1).astype(int).tolist()))
        self.sides, self.plays = plays.list_sides(boards), plays.list_plays(boards, self.pool)
        highest = np.where(boards, np.arange(PLACES), -1).max(axis=1)
        on = (boards[:, : PLACES - 1] > 0).astype(np.float32)
        self.kinds = np.where(np.add.outer(highest, highest) < PLACES - 2, RACE, CONTACT).astype(np.uint8)
        self.kinds[on[:, ::-1] @ on.T > 0] = FIXED  # both on one point
        self.kinds[0, :] = self.kinds[:, 0] = OVER
        self.gammon = boards.sum(axis=1) == chequers
        self.backgammon = self.gammon & boards[:, FAR:].any(axis=1)
        self.begin()

    def begin(self) -> None:
        """Before the first sweep."""
        self.now = self.kinds.copy()
        self._before = np.empty(0)
        self._size = 0.0

    def greatest(self, changes: list[Array]) -> Any:
        """The greatest change of a number, from those by class."""
        from bgfmt.extras.hypergammon.solver.sweep import CONTACT, FIXED, RACE

        by_class = np.max(changes, axis=0)
        if by_class[RACE] == 0:  # races look at races alone: none will change any more
            self.now[self.kinds == RACE] = FIXED
        return by_class[CONTACT:].max()

    def guess(self, sweeps: int, values: Array) -> bool:
        """At the end of a cycle of sweeps, go where they lead (Aitken): what they change shrinks by one factor.

        values : rows of numbers. Whether they were changed.
        """
        if sweeps % CYCLE == CYCLE - 2:
            self._before = values.copy()
        elif sweeps % CYCLE == CYCLE - 1 and self._before.size:
            self._size = self._changed(values)
            np.copyto(self._before, values)
        elif sweeps % CYCLE == 0 and self._size > 0:
            factor = round((self._changed(values) / self._size) ** 0.5, 3)  # as all machines have it
            if factor < STEADY:

                def stretch(first: int, last: int) -> None:
                    rows = values[first:last]
                    rows += factor / (1 - factor) * (rows - self._before[first:last])

                self.each(stretch, self.rows)
                return True
        return False

    def _changed(self, values: Array) -> float:
        """The sum of the squares of the changes since `_before`, in an order that does not depend on threads."""

        def some(first: int, last: int) -> float:
            change = values[first:last] - self._before[first:last]
            return float((change * change).sum())

        return float(sum(self.each(some, self.rows)))

    def each(self, function: Callable[[int, int], Any], arguments: list[tuple[int, int]]) -> list[Any]:
        """What a function gives for each of these, by threads; an error or an interrupt in one ends all."""
        if self.threads == 1:
            return [function(*pair) for pair in arguments]
        return list(self.pool.map(lambda pair: function(*pair), arguments))


class _Solve(Iterated):
    """The numbers of a solve for money, and a sweep over them."""

    def __init__(
        self, chequers: int, recipe: str, restart: Hypergammon | Iteration | None, threads: int
    ) -> None:
        from bgfmt.extras.hypergammon.solver import sweep

        super().__init__(chequers, threads)
        n = self.n
        kind = np.dtype("f4" if recipe == "gnubg" else "f8")
        self.values = np.zeros((n, n, 10), kind)
        lost = np.zeros((n, 10), kind)
        lost[:, 3] = self.gammon
        lost[:, 4] = self.backgammon
        lost[:, 5:] = -(1 + lost[:, 3:4] + lost[:, 4:5])
        lost[:, 8] = -1
        if restart is None:
            self.values[self.kinds >= sweep.CONTACT] = [1, 1, 0, 0, 0, 2, 0, 0, 0, 0]
            self.values[:, 0] = lost
        elif isinstance(restart, Iteration):
            self.values[:] = restart.values
        else:
            for us in range(n):
                self.values[us] = _decoded(restart.records[us])
        won = self.values[0, 1:]
        won[:] = 0
        won[:, 0] = 1
        won[:, 1:3] = lost[1:, 3:5]
        won[:, 5:] = -lost[1:, 5:]
        self._state = sweep.SweepState(
            self.values, np.empty_like(self.values), self.now, lost, recipe == "gnubg"
        )
        self._block = np.empty((BLOCK, n, 10), kind)
        self.answered()

    def answered(self) -> None:
        """Bring the replies up to the values."""
        from bgfmt.extras.hypergammon.solver import sweep

        self.each(lambda a, b: sweep.answer_all(self._state, a, b), self.rows)

    def sweep(self) -> Any:
        """Renew every record once; the greatest change of a number."""
        from bgfmt.extras.hypergammon.solver import sweep as kernels

        known = self._state, self.plays, self.sides
        rows = [(a, min(self.n, a + BEYOND)) for a in range(0, self.n, BEYOND)]
        changes = self.each(lambda a, b: kernels.beyond(*known, a, b), rows)
        for first in range(0, self.n, BLOCK):
            last = min(self.n, first + BLOCK)
            hit = self.sides.hit
            inward = np.asarray(((hit >= first) & (hit < last)).any(axis=1))

            def make(part: int, parts: int) -> None:
                kernels.up_to(*known, first, last, inward, part, parts, self._block)  # noqa: B023

            self.each(make, [(part, self.threads) for part in range(self.threads)])
            changes.append(kernels.in_order(*known, first, last, inward, self._block))
        return self.greatest(changes)


def _decoded(records: Array) -> Array:
    """(m, 10) float32 of records (m, 28), as makehyper reads a file it restarts from."""
    chances, equities = hyper_values(records)
    win, gammon, backgammon, lose_gammon, lose_backgammon = chances.T
    cubeless = ((win + win) - np.float32(1)) + ((gammon - lose_gammon) + (backgammon - lose_backgammon))
    return np.concatenate([chances, cubeless[:, None], equities], axis=1)
