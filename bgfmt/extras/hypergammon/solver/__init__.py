"""The hypergammon solver: value iteration over all positions of one, two or three chequers a side.

Every record is updated from the others, in place and in makehyper's order, sweep after sweep, until none changes by
more than a threshold; docs/theory/hypergammon.md has the rules of both recipes and how threads keep that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.extras.hypergammon.solver import plays, sweep
from bgfmt.extras.hypergammon.solver.plays import PLACES
from bgfmt.extras.hypergammon.solver.sweep import CONTACT, FIXED, OVER, RACE
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.solver.machine import START_SECONDS, Plan, check_memory, thread_count
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import Solver
from bgfmt.tables import Hypergammon, Table
from bgfmt.tables.hypergammon import RECORD, UNITS, hyper_records, hyper_values

Sweeping = Callable[[int, float], None]
FAR_PLACE = 18  # first point of the other side's home board
THRESHOLDS = {"gnubg": 1e-5, "exact": 1e-12}
MAX_SWEEPS = 1000
#: recipe exact with at least this many chequers: every CYCLE_SWEEPS sweeps, extrapolate (Aitken) if the ratio of
#: successive changes is at most MAX_RATIO
EXTRAPOLATED_CHEQUERS = 3
CYCLE_SWEEPS = 6
MAX_RATIO = 0.95
BLOCK_ROWS = 16  # rows computed together up to the diagonal
ABOVE_DIAGONAL_ROWS = 64  # rows of one task beyond it
MAX_SINGLE_THREAD_ROWS = 100  # for fewer rows threads cost more than they save
#: memory of a record: values, replies and class, under exact also the values of an earlier sweep
BYTES_PER_RECORD = {"gnubg": 81, "exact": 241}
SECONDS_PER_RECORD = {"gnubg": 4e-6, "exact": 1e-5}  # of one core, per chequer


@dataclass(frozen=True)
class Iteration:
    """State of a solve.

    Attributes
    ----------
    chequers, recipe : chequers of a side, and the recipe's name.
    values : (n, n, 10) of [us, them], float32 or, under ``exact``, float64: probabilities of win, win gammon, win
        backgammon, lose gammon, lose backgammon; money equities cubeless, cube owned, centered, centered with Jacoby,
        opponent's cube.
    sweeps : number of sweeps done.
    change : greatest change of a number in the last one.
    converged : True if that is within the threshold.
    """

    chequers: int
    recipe: str
    values: Array
    sweeps: int
    change: float
    converged: bool

    @property
    def table(self) -> Hypergammon | ExactHypergammon:
        """The numbers as a table: truncated to 24 bits as by makehyper; under recipe ``exact`` unchanged float64."""
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
            record[:] = hyper_records((parts * np.float32(UNITS)).astype(np.int64))
        return Hypergammon(records=records, **how)


class HypergammonSolver(Solver):
    """Solver of hypergammon tables."""

    name = kind = "hypergammon"
    recipes = ("gnubg", "exact")
    options = frozenset({"threshold", "restart", "sweeping"})
    path_options = frozenset({"restart"})

    def __init__(
        self,
        points: int,
        chequers: int,
        *,
        recipe: str | Recipe | None = None,
        threshold: float | None = None,
        restart: Table | None = None,
        sweeping: Sweeping | None = None,
    ) -> None:
        """Set up the solve; the arguments and errors are those of `hypergammon`."""
        super().__init__(points, chequers, recipe=recipe)
        name = self.recipe.name
        if points != PLACES:
            raise SolverError(f"hypergammon must have {PLACES} points (with the bar), not {points}")
        if chequers not in (1, 2, 3):
            raise SolverError(f"hypergammon must have 1, 2 or 3 chequers a side, not {chequers}")
        if not isinstance(restart, Hypergammon | None):
            raise SolverError(
                f"the table to start from must be a hypergammon table, not a {restart.kind} table"
            )
        if restart is not None and restart.chequers != chequers:
            raise SolverError(
                f"a solve of {chequers} chequers cannot start from a table of {restart.chequers}"
            )
        limit = THRESHOLDS[name] if threshold is None else threshold
        if not 0 <= limit <= 1:
            raise SolverError(f"the threshold must be from 0 to 1, not {limit}")
        self.limit: Any = np.float32(limit) if name == "gnubg" else float(limit)
        self.restart = restart
        self.sweeping = sweeping

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        ((_, (shape, dtype)),) = self.arrays().items()
        records = shape[0] * shape[1]
        name = self.recipe.name
        seconds = START_SECONDS + SECONDS_PER_RECORD[name] * records * self.chequers / thread_count(threads)
        what = f"hypergammon of {self.chequers} chequer{'s'[: self.chequers > 1]}, recipe {name}"
        output = records * shape[2] * dtype.itemsize
        return self.limit_memory(
            Plan(what, records, seconds, records * BYTES_PER_RECORD[name], output), memory
        )

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(PLACES, self.chequers)
        if self.recipe.rounded:
            return {"records": ((n, n, RECORD), np.dtype(np.uint8))}
        return {"float64": ((n, n, 10), np.dtype(np.float64))}

    def table(self, arrays: Mapping[str, Any]) -> Table:
        kind: Any = Hypergammon if self.recipe.rounded else ExactHypergammon
        return kind(points=PLACES, chequers=self.chequers, **arrays)  # type: ignore[no-any-return]

    def sweeps(self, threads: int | None = None, most_sweeps: int = MAX_SWEEPS) -> Iterator[Iteration]:
        """Yield the state of the solve after every sweep over all records, until it has converged.

        All states share one array of values, which the next sweep changes. There are at most `most_sweeps`.
        """
        planned = self.plan()
        name = self.recipe.name
        check_memory(planned.memory, planned.what)
        solve = _Solve(self.chequers, name, self.restart, thread_count(threads))
        extrapolates = name == "exact" and self.chequers >= EXTRAPOLATED_CHEQUERS
        for done in range(1, 1 + max(1, most_sweeps)):
            change = solve.sweep()
            converged = not change > self.limit
            if extrapolates and not converged and solve.extrapolate(done, solve.values):
                solve.update_replies()
            if self.sweeping is not None:
                self.sweeping(done, float(change))
            yield Iteration(self.chequers, name, solve.values, done, float(change), converged)
            if converged:
                return

    def solve(self, *, threads: int | None = None, **unused: Any) -> Table:
        *_, last = self.sweeps(threads)
        return last.table


def hypergammon(
    chequers: int, *, threads: int | None = None, most_sweeps: int = MAX_SWEEPS, **how: Any
) -> Iteration:
    """Solve hypergammon of 1, 2 or 3 chequers a side.

    Parameters
    ----------
    chequers : of a side.
    threads : number of threads, one for each core if None.
    most_sweeps : greatest number of sweeps, at least 1; the result tells whether it has converged.
    recipe : ``gnubg``, the numbers of makehyper; or ``exact``, float64 and the rules of backgammon throughout.
    threshold : sweep until no number changes by more (default 1e-5 under ``gnubg``, as in makehyper, 1e-12 under
        ``exact``). 0 may never be reached.
    restart : table with the initial numbers, as for makehyper's `-r`.
    sweeping : called after each sweep with its number and the greatest change.

    Raises SolverError for another number of chequers, recipe or threshold, a restart from numbers of another kind,
    and too little memory.
    """
    *_, last = HypergammonSolver(PLACES, chequers, **how).sweeps(threads, most_sweeps)
    return last


class IterationBase:
    """Base class of iterations of hypergammon: sides, plays, classes of records, threads, and extrapolation.

    Attributes
    ----------
    kinds : (n, n) uint8, the classes of all records [us, them], see `sweep`.
    now : those of this sweep, in which races that no longer change are FIXED.
    gammon, backgammon : (n,) bool, whether a loss against each side is a gammon or backgammon at least.
    """

    def __init__(self, chequers: int, threads: int) -> None:
        n = self.n = board.count(PLACES, chequers)
        boards = board.unrank_array(np.arange(n), PLACES).astype(np.int64)
        self.threads = 1 if n <= MAX_SINGLE_THREAD_ROWS else threads
        self.pool = ThreadPoolExecutor(self.threads)
        self.rows = list(pairwise(np.linspace(0, n, -(-n // BLOCK_ROWS) + 1).astype(int).tolist()))
        self.sides, self.plays = plays.list_sides(boards), plays.list_plays(boards, self.pool)
        highest = np.where(boards, np.arange(PLACES), -1).max(axis=1)
        on = (boards[:, : PLACES - 1] > 0).astype(np.float32)
        self.kinds = np.where(np.add.outer(highest, highest) < PLACES - 2, RACE, CONTACT).astype(np.uint8)
        self.kinds[on[:, ::-1] @ on.T > 0] = FIXED  # both on one point
        self.kinds[0, :] = self.kinds[:, 0] = OVER
        self.gammon = boards.sum(axis=1) == chequers
        self.backgammon = self.gammon & boards[:, FAR_PLACE:].any(axis=1)
        self.reset()

    def reset(self) -> None:
        """Start over: update the records of all classes again, and forget earlier changes."""
        self.now = self.kinds.copy()
        self._before = np.empty(0)
        self._size = 0.0

    def greatest_change(self, changes: list[Array]) -> Any:
        """Return the greatest change of a number in a sweep; from then on skip races if none of them has changed.

        changes : arrays (4,), the greatest change by class of records in a part of the sweep.
        """
        by_class = np.max(changes, axis=0)
        if by_class[RACE] == 0:  # races look at races alone: none will change any more
            self.now[self.kinds == RACE] = FIXED
        return by_class[CONTACT:].max()

    def extrapolate(self, sweeps: int, values: Array) -> bool:
        """Apply Aitken's extrapolation after every `CYCLE_SWEEPS` sweeps, if changes shrink by a steady factor.

        Call it after each sweep.

        sweeps : number of the sweep. values : the numbers, changed in place. Returns True if they were changed.
        """
        if sweeps % CYCLE_SWEEPS == CYCLE_SWEEPS - 2:
            self._before = values.copy()
        elif sweeps % CYCLE_SWEEPS == CYCLE_SWEEPS - 1 and self._before.size:
            self._size = self._changed(values)
            np.copyto(self._before, values)
        elif sweeps % CYCLE_SWEEPS == 0 and self._size > 0:
            factor = round((self._changed(values) / self._size) ** 0.5, 3)  # as all machines have it
            if factor < MAX_RATIO:

                def stretch(first: int, last: int) -> None:
                    rows = values[first:last]
                    rows += factor / (1 - factor) * (rows - self._before[first:last])

                self.map_rows(stretch, self.rows)
                return True
        return False

    def _changed(self, values: Array) -> float:
        """Sum the squares of the changes since `_before`, in an order that does not depend on threads."""

        def part_sum(first: int, last: int) -> float:
            change = values[first:last] - self._before[first:last]
            return float((change * change).sum())

        return float(sum(self.map_rows(part_sum, self.rows)))

    def map_rows(self, function: Callable[[int, int], Any], arguments: list[tuple[int, int]]) -> list[Any]:
        """Call the function for each pair of arguments on threads; return the results in the order of the arguments.

        An error or interrupt in one call ends all.
        """
        if self.threads == 1:
            return [function(*pair) for pair in arguments]
        return list(self.pool.map(lambda pair: function(*pair), arguments))


class _Solve(IterationBase):
    """The numbers of a solve for money, and a sweep over them."""

    def __init__(self, chequers: int, recipe: str, restart: Hypergammon | None, threads: int) -> None:
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
        else:
            for us in range(n):
                self.values[us] = _decode(restart.records[us])
        won = self.values[0, 1:]
        won[:] = 0
        won[:, 0] = 1
        won[:, 1:3] = lost[1:, 3:5]
        won[:, 5:] = -lost[1:, 5:]
        self._state = sweep.SweepState(
            self.values, np.empty_like(self.values), self.now, lost, recipe == "gnubg"
        )
        self._block = np.empty((BLOCK_ROWS, n, 10), kind)
        self.update_replies()

    def update_replies(self) -> None:
        """Compute the replies to the current values: the value of each record to the side that has just moved."""
        self.map_rows(lambda a, b: sweep.update_all_replies(self._state, a, b), self.rows)

    def sweep(self) -> Any:
        """Update every record once; return the greatest change of a number."""
        known = self._state, self.plays, self.sides
        rows = [(a, min(self.n, a + ABOVE_DIAGONAL_ROWS)) for a in range(0, self.n, ABOVE_DIAGONAL_ROWS)]
        changes = self.map_rows(lambda a, b: sweep.sweep_above_diagonal(*known, a, b), rows)
        for first in range(0, self.n, BLOCK_ROWS):
            last = min(self.n, first + BLOCK_ROWS)
            hit = self.sides.hit
            inward = np.asarray(((hit >= first) & (hit < last)).any(axis=1))

            def make(part: int, parts: int) -> None:
                sweep.compute_below_diagonal(*known, first, last, inward, part, parts, self._block)  # noqa: B023

            self.map_rows(make, [(part, self.threads) for part in range(self.threads)])
            changes.append(sweep.store_in_order(*known, first, last, inward, self._block))
        return self.greatest_change(changes)


def _decode(records: Array) -> Array:
    """Decode records (m, 28) to (m, 10) float32, as makehyper reads a file from which it restarts."""
    chances, equities = hyper_values(records)
    win, gammon, backgammon, lose_gammon, lose_backgammon = chances.T
    cubeless = ((win + win) - np.float32(1)) + ((gammon - lose_gammon) + (backgammon - lose_backgammon))
    return np.concatenate([chances, cubeless[:, None], equities], axis=1)
