"""The hypergammon solver: value iteration over all positions of one, two or three chequers a side.

Positions go round in circles, so there is no order in which each follows from finished ones: every record is renewed
from the others, sweep after sweep, until none changes by more than a threshold. makehyper renews in place, row by
row, and its bytes depend on that order. Here the rows are taken in blocks, and made 32 records at a time by any
thread; the few records that look at others of their block whose turn was before theirs are made again, in order. So
the number of threads cannot change a number, and recipe ``gnubg`` has makehyper's bytes after every sweep.

Recipe ``exact`` is float64, and right where makehyper is not: a side that cannot move gets what the other side's turn
is worth to it, the cube's owner and the right to double exchanged. Sources: experiments with makehyper 1.07; the
rules of backgammon. See docs/theory/hypergammon.md.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.tables import ExactHypergammon, Hypergammon

Array = NDArray[Any]
Sweeping = Callable[[int, float], None]
PLACES = 25
RECORD = 28
THRESHOLDS = {"gnubg": 1e-5, "exact": 1e-12}
MOST_SWEEPS = 1000
SCALE = 16777215
BLOCK = 16  # rows made together
#: recipe exact with three chequers: after so many sweeps the numbers go on by as much as they would in all further
#: sweeps, if every one changed them by the same part of the one before
CYCLE, STEADY = 6, 0.95
LONG = 3  # chequers from which that is worth while; plain sweeps can be run again to the last bit
FEW = 100  # rows up to which threads cost more than they save
PARTS = 4  # of a step of a block, for each thread
WHILE = 5e-5  # seconds that a thread which has to wait leaves its core to others
LINE = 64  # bytes
#: bytes a record: values, turned and swapped in the recipe's floats, the class, and what a block holds
COST = {"gnubg": 36 * 4, "exact": 52 * 8}


@dataclass(frozen=True)
class Iteration:
    """Where a solve stands.

    values : (n, n, 10) of [us, them], float32 or, under ``exact``, float64: the chances of win, win gammon, win
        backgammon, lose gammon, lose backgammon; money equities cubeless, cube owned, centered, centered with Jacoby,
        opponent's cube.
    sweeps : how many were made. change : the greatest change of a number in the last one. converged : whether
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
        from bgfmt.solver.kernels.hypergammon_numbers import encode

        n, one = len(self.values), np.float32(1)
        records = np.empty((n, n, RECORD), np.uint8)
        flat = self.values.reshape(n * n, 10), records.reshape(n * n, RECORD)
        encode(flat[0], one / np.float32(6), one / 2, np.float32(SCALE), flat[1])
        return Hypergammon(records=records, **how)


def hypergammon(
    chequers: int,
    *,
    recipe: Literal["gnubg", "exact"] = "gnubg",
    threshold: float | None = None,
    restart: Hypergammon | Iteration | None = None,
    most_sweeps: int = MOST_SWEEPS,
    threads: int | None = None,
    sweeping: Sweeping | None = None,
) -> Iteration:
    """Solve hypergammon of 1, 2 or 3 chequers a side.

    Parameters
    ----------
    recipe
        ``gnubg`` makes the numbers of gnubg's makehyper; ``exact`` float64 and the rules of backgammon throughout.
    threshold
        Sweeps go on while a number changes by more (default 1e-5 under ``gnubg``, as makehyper's, 1e-12 under
        ``exact``). 0 may never be reached.
    restart
        Numbers to begin with: a table, as makehyper's `-r`, or an `Iteration`, which goes on as if never left.
    most_sweeps
        Sweeps after which to stop in any case; the result says whether it has converged.
    sweeping
        Called after each sweep with its number and the greatest change.

    Raises
    ------
    SolverError
        No such number of chequers, recipe or threshold; a restart from another kind of numbers; too little memory.
    """
    last = None
    for last in sweeps(
        chequers,
        recipe=recipe,
        threshold=threshold,
        restart=restart,
        most_sweeps=most_sweeps,
        threads=threads,
    ):
        if sweeping is not None:
            sweeping(last.sweeps, last.change)
    assert last is not None
    return last


def sweeps(
    chequers: int,
    *,
    recipe: Literal["gnubg", "exact"] = "gnubg",
    threshold: float | None = None,
    restart: Hypergammon | Iteration | None = None,
    most_sweeps: int = MOST_SWEEPS,
    threads: int | None = None,
) -> Iterator[Iteration]:
    """As `hypergammon`, but gives the state after every sweep; its values are changed by the next one."""
    limit = _threshold(recipe, threshold)
    _check(chequers, recipe, restart)
    solve = _Solve(chequers, recipe, restart, threads or os.cpu_count() or 1)
    done = restart.sweeps if isinstance(restart, Iteration) else 0
    for _ in range(max(1, most_sweeps)):
        change = solve.sweep()
        done += 1
        if _guesses(chequers, recipe) and change > limit:
            solve.go_on(done)
        converged = not change > limit
        yield Iteration(chequers, recipe, solve.values, done, float(change), converged)
        if converged:
            return


def memory_needed(chequers: int, recipe: str = "gnubg") -> int:
    """Bytes a solve holds."""
    return int(board.count(PLACES, chequers) ** 2 * COST[recipe])


def _guesses(chequers: int, recipe: str) -> bool:
    return recipe == "exact" and chequers >= LONG


def _threshold(recipe: str, threshold: float | None) -> Any:
    if recipe not in THRESHOLDS:
        raise SolverError(f"no recipe {recipe!r} of hypergammon; there are {', '.join(THRESHOLDS)}")
    asked = THRESHOLDS[recipe] if threshold is None else threshold
    if not 0 <= asked <= 1:
        raise SolverError(f"a threshold lies between 0 and 1, not at {asked}")
    return np.float32(asked) if recipe == "gnubg" else float(asked)


def _check(chequers: int, recipe: str, restart: Hypergammon | Iteration | None) -> None:
    if chequers not in (1, 2, 3):
        raise SolverError(f"hypergammon has 1, 2 or 3 chequers a side, not {chequers}")
    if restart is None:
        return
    if restart.chequers != chequers:
        raise SolverError(f"a solve of {chequers} chequers cannot begin with numbers of {restart.chequers}")
    if isinstance(restart, Iteration) and restart.recipe != recipe:
        raise SolverError(f"a solve by recipe {recipe} cannot go on from one by recipe {restart.recipe}")


@dataclass
class _Solve:
    """The arrays of a solve, and a sweep over them."""

    chequers: int
    recipe: str
    restart: Hypergammon | Iteration | None
    threads: int
    values: Array = field(init=False)
    _before: Array = field(init=False, default_factory=lambda: np.empty(0))
    _size: float = field(init=False, default=0.0)
    _races: bool = field(init=False, default=True)  # whether races are still renewed
    _ended: bool = field(init=False, default=False)  # by an error or an interrupt

    def __post_init__(self) -> None:
        from bgfmt.solver import hypergammon_lists as lists
        from bgfmt.solver.kernels import hypergammon as kernels
        from bgfmt.solver.kernels import hypergammon_sweep as sweep
        from bgfmt.solver.kernels import hypergammon_tiles as tiles

        n = self.n = board.count(PLACES, self.chequers)
        self._pool = ThreadPoolExecutor(self.threads)
        kind: Any = np.float32 if self.recipe == "gnubg" else np.float64
        try:
            self._lists = lists.lists(self.chequers, self.threads)
            self.values = self._begin(kind)
            wide = len(self._lists.tiles.blocked)
            self._state = tiles.State(
                values=self.values,
                told=_aligned(wide * n * tiles.TILE, kind),
                apart=np.zeros((n * n + lists.MOST) * tiles.NUMBERS, kind),
                kinds=np.zeros((n, n), np.uint8),
                live=np.zeros((n, wide), np.uint32),
                boards=self._lists.boards,
                chequers=self.chequers,
                one=kind(1),
                share=kind(1) / kind(36),
                as_is=self.recipe == "gnubg",
            )
            self._team = 1 if n <= FEW else self.threads
            parts, blocks = 1 if n <= FEW else PARTS * self.threads, -(-n // BLOCK) + 1
            self._row = sweep.Row(
                rows=BLOCK,
                parts=parts,
                next=np.zeros(1, np.int64),
                done=np.zeros(blocks * sweep.STEPS, np.int64),
                changes=np.zeros((blocks, parts, 2), kind),
                made=_aligned(2 * BLOCK * wide * tiles.TILE, kind).reshape(2, BLOCK, wide, tiles.TILE),
            )
        except MemoryError:
            raise SolverError(
                f"too little memory: {memory_needed(self.chequers, self.recipe):,} bytes needed"
            ) from None
        again = self.restart is not None
        self._each(
            kernels.begin,
            [(self._state, self._lists.tiles, a, b, again) for a, b in _shares(n, 4 * self.threads)],
        )

    def _begin(self, kind: Any) -> Array:
        from bgfmt.solver.kernels import hypergammon_numbers as kernels

        n = self.n
        if isinstance(self.restart, Iteration):
            return np.array(self.restart.values, kind)
        if self.restart is None:
            return np.empty((n, n, 10), kind)
        out = np.empty((n, n, 10), np.float32)
        for us in range(n):
            kernels.decode(np.ascontiguousarray(self.restart.records[us]), out[us])
        return out.astype(kind, copy=False)

    def sweep(self) -> Any:
        """Renew every record once; the greatest change of a number."""
        from bgfmt.solver.kernels import hypergammon as kernels

        row = self._row
        row.next[:] = row.done[:] = 0
        self._all([(self._work,)] * self._team)
        greatest, of_races = row.changes.max(axis=(0, 1))
        if self._races and of_races == 0:
            kernels.leave_races(self._state, self._lists.tiles)
            self._races = False
        return greatest

    def _work(self) -> None:
        """Make what there is to make of a sweep, beside other threads."""
        from bgfmt.solver.kernels import hypergammon_sweep as kernels

        known, task = self._lists, kernels.NONE
        try:
            while task != kernels.END and not self._ended:
                task = kernels.work(self._state, known.plays, known.sides, known.tiles, self._row, task)
                if task >= 0:
                    time.sleep(WHILE)  # for another thread, which may have no core
        except BaseException:
            self._ended = True  # or the others would wait for what this one had begun
            raise

    def go_on(self, sweeps: int) -> None:
        """At the end of a cycle of sweeps, guess where they lead (Aitken): what they change shrinks by one factor."""
        if sweeps % CYCLE == CYCLE - 2:
            self._before = self.values.copy()
        elif sweeps % CYCLE == CYCLE - 1 and self._before.size:
            self._size = self._changed()
            np.copyto(self._before, self.values)
        elif sweeps % CYCLE == 0 and self._size > 0:
            factor = round(
                (self._changed() / self._size) ** 0.5, 3
            )  # no more than what all machines agree on
            if factor < STEADY:
                self._each(self._stretch, [(a, b, factor / (1 - factor)) for a, b in self._rows()])
                self._races = True

    def _rows(self) -> list[tuple[int, int]]:
        return _shares(self.n, -(-self.n // BLOCK))

    def _changed(self) -> float:
        """The sum of the squares of the changes since `_before`, in an order that does not depend on threads."""

        def some(first: int, last: int) -> float:
            change = self.values[first:last] - self._before[first:last]
            return float((change * change).sum())

        return float(sum(self._each(some, self._rows())))

    def _stretch(self, first: int, last: int, by: float) -> None:
        from bgfmt.solver.kernels import hypergammon as kernels

        rows = self.values[first:last]
        rows += by * (rows - self._before[first:last])
        kernels.begin(self._state, self._lists.tiles, first, last, True)

    def _each(self, function: Any, calls: list[tuple[Any, ...]]) -> list[Any]:
        return self._all([(function, *arguments) for arguments in calls])

    def _all(self, calls: list[tuple[Any, ...]]) -> list[Any]:
        """What these functions give, the first one called by this thread."""
        if len(calls) <= 1 or self.threads == 1:
            return [function(*arguments) for function, *arguments in calls]
        others = [self._pool.submit(*call) for call in calls[1:]]
        function, *arguments = calls[0]
        return [function(*arguments), *(done.result() for done in others)]


def _aligned(size: int, kind: Any) -> Array:
    """Zeros that begin where a line of the processor's cache does, as the kernels' vectors then do too."""
    bytes_ = size * np.dtype(kind).itemsize
    raw = np.zeros(bytes_ + LINE, np.uint8)
    begin = -raw.ctypes.data % LINE
    return raw[begin : begin + bytes_].view(kind)


def _shares(total: int, parts: int, start: int = 0) -> list[tuple[int, int]]:
    cuts = start + np.linspace(0, total, min(total, max(1, parts)) + 1).astype(int)
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts)]
