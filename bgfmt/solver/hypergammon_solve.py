"""The arrays of a hypergammon solve, and sweeps over them by threads; see `hypergammon` for the method."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.game import board

Array = NDArray[Any]
PLACES = 25
BLOCK = 16  # rows made together
#: recipe exact with three chequers: after these sweeps the numbers go on by as much as they would in all further
#: sweeps, if every one changed them by the same part of the one before
CYCLE, STEADY = 6, 0.95
FEW = 100  # rows up to which threads cost more than they save
PARTS = 4  # of a step of a block, for each thread
WHILE = 5e-5  # seconds that a thread which has to wait leaves its core to others
LINE = 64  # bytes
#: bytes a record: values, turned and in tiles, in the recipe's floats, the class, and what a block holds
COST = {"gnubg": 31 * 4, "exact": 46 * 8}


def memory_needed(chequers: int, recipe: str = "gnubg") -> int:
    """Bytes a solve holds."""
    return int(board.count(PLACES, chequers) ** 2 * COST[recipe])


@dataclass
class Solve:
    """The arrays of a solve, and a sweep over them.

    begin : (n, n, 10), the numbers of a restart.
    """

    chequers: int
    recipe: str
    begin: InitVar[Array | None]
    threads: int
    values: Array = field(init=False)
    _before: Array = field(init=False, default_factory=lambda: np.empty(0))
    _size: float = field(init=False, default=0.0)
    _races: bool = field(init=False, default=True)  # whether races are still renewed
    _ended: bool = field(init=False, default=False)  # by an error or an interrupt

    def __post_init__(self, begin: Array | None) -> None:
        from bgfmt.solver import hypergammon_lists as lists
        from bgfmt.solver.kernels import hypergammon as kernels
        from bgfmt.solver.kernels import hypergammon_tiles as tiles

        n = self.n = board.count(PLACES, self.chequers)
        self._pool = ThreadPoolExecutor(self.threads)
        kind: Any = np.float32 if self.recipe == "gnubg" else np.float64
        try:
            self._lists = lists.lists(self.chequers, self.threads)
            self.values = np.empty((n, n, 10), kind) if begin is None else np.array(begin, kind)
            wide = len(self._lists.tiles.blocked)
            self._state = tiles.State(
                values=self.values,
                told=_aligned(wide * n * tiles.TOLD, kind),
                apart=np.zeros((n * n + lists.MOST) * tiles.NUMBERS, kind),
                kinds=np.zeros((n, n), np.uint8),
                live=np.zeros((n, wide), np.uint32),
                boards=self._lists.boards,
                chequers=self.chequers,
                one=kind(1),
                share=kind(1) / kind(36),
                as_is=self.recipe == "gnubg",
            )
            self._made = _aligned(2 * BLOCK * wide * tiles.TILE, kind).reshape(2, BLOCK, wide, tiles.TILE)
        except MemoryError:
            raise SolverError(
                f"too little memory: {memory_needed(self.chequers, self.recipe):,} bytes needed"
            ) from None
        again = begin is not None
        self._each(
            kernels.begin,
            [(self._state, self._lists.tiles, a, b, again) for a, b in _shares(n, 4 * self.threads)],
        )
        self._row = self._tasks(kind)

    def _tasks(self, kind: Any) -> Any:
        """What a sweep's threads share."""
        from bgfmt.solver.kernels import hypergammon as kernels
        from bgfmt.solver.kernels import hypergammon_sweep as sweep

        n, lists = self.n, self._lists
        firsts = range(0, n, BLOCK)
        found = self._each(
            kernels.in_order,
            [(self._state, lists.plays, lists.sides, first, min(n, first + BLOCK)) for first in firsts],
        )
        self._team = 1 if n <= FEW else self.threads
        parts = 1 if n <= FEW else PARTS * self.threads
        return sweep.Row(
            rows=BLOCK,
            parts=parts,
            next=np.zeros(1, np.int64),
            done=np.zeros((len(found) + 1) * sweep.STEPS, np.int64),
            changes=np.zeros((len(found), parts, 2), kind),
            again=np.concatenate(found),
            begins=np.cumsum([0, *map(len, found)]),
            made=self._made,
        )

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
