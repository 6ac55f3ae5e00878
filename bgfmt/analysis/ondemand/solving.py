"""A race solved from its plan, and what that says of every position that may come up on the way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bgfmt.analysis.ondemand import engine
from bgfmt.analysis.ondemand.engine import LANES, WEIGHTS, Array, Family, Progress, Work
from bgfmt.errors import SolverError
from bgfmt.game.board import Position
from bgfmt.solver.columns import Columns
from bgfmt.solver.machine import thread_count


@dataclass(frozen=True, eq=False)
class Solved:
    """A position solved, seen by the side on roll.

    work : what it took; error : no value is farther than this from the truth. columns : the side on roll first.
    ours, place : the boards of the side on roll, and which of them it has now. on_roll (K,): its values before it
    doubles or rolls, not doubling. after (boards, K): what each board it can play to is worth to it when the other
    side is on roll with the board it has now.
    """

    position: Position
    work: Work
    columns: Columns
    error: float
    ours: Family
    place: int
    on_roll: Array
    after: Array

    def plays(self, roll: int) -> Array:
        """Places of the boards that roll number 0..20 can be played to."""
        return self.ours.plays(roll, self.place)


@dataclass(frozen=True, eq=False)
class Game:
    """All that play can make of a position, solved.

    after (boards of A, boards of B, K): what each pair is worth to A when B is on roll.
    """

    work: Work
    columns: Columns
    after: Array

    @property
    def error(self) -> float:
        """No value is farther than this from the truth: 23 roundings a roll of numbers below the greatest value."""
        return 23 * 2.0**-52 * self.work.rolls * float(np.abs(self.columns.won[:, :, 1:]).max())

    def start(self) -> Solved:
        """The position that was asked."""
        return self._first(self.work.position, 0, 0)

    def find(self, position: Position, *, first: bool) -> Solved | None:
        """A position that may come up, None for one that cannot.

        first : whether A, who was on roll at the start, is on roll in it, or B.
        """
        ours, theirs = self.work.ours, self.work.theirs
        mine, other = (position.us, position.them) if first else (position.them, position.us)
        u, t = ours.place(mine), theirs.place(other)
        if u is None or t is None or not mine.chequers or not other.chequers:
            return None
        if not (int(ours.plies[u]) >> (0 if first else 1)) & int(theirs.plies[t]):
            return None
        return self._first(position, u, t) if first else self._second(position, u, t)

    def _first(self, position: Position, u: int, t: int) -> Solved:
        here = np.ascontiguousarray(self.after[:, t])
        ours = self.work.ours
        on_roll = _rolled(here[_results(ours, u)], ours, u)
        return Solved(position, self.work, self.columns, self.error, ours, u, on_roll, here)

    def _second(self, position: Position, u: int, t: int) -> Solved:
        ours, theirs = self.work.ours, self.work.theirs
        results = _results(theirs, t)
        after = np.zeros((len(theirs), len(self.columns)))
        after[-1] = self.columns.won[1][:, ours.gains[u]]
        met = np.unique(results)
        met = met[met < len(theirs) - 1]
        if len(met):
            rolling = _rolled(self.after[_results(ours, u)[:, None], met[None]], ours, u)
            after[met] = -self.columns.turn(0, rolling)
        on_roll = _rolled(after[results], theirs, t)
        columns = self.columns.exchanged()
        return Solved(position, self.work, columns, self.error, theirs, t, on_roll, after)


def _results(family: Family, place: int) -> Array:
    """What can be made of all rolls, one after another."""
    return family.results[family.ends[21 * place] : family.ends[21 * place + 21]]


def _rolled(values: Array, family: Family, place: int) -> Array:
    """The mean over the rolls of the best of `values` (results, ...), which stand as in `_results`."""
    starts = family.ends[21 * place : 21 * place + 21] - family.ends[21 * place]
    best = np.maximum.reduceat(values, starts, axis=0)
    total = np.zeros(best.shape[1:])
    for roll in range(21):
        total += WEIGHTS[roll] * best[roll]
    return total / 36


def solve(
    work: Work, columns: Columns, *, threads: int | None = None, progress: Progress | None = None
) -> Game:
    """Calculate what `work` plans; `progress(done, total)` counts pairs."""
    from bgfmt.analysis.ondemand import kernels

    if len(columns) != work.columns:
        raise SolverError(f"planned for {work.columns} columns, not {len(columns)}")
    ours, theirs = work.ours, work.theirs
    k = len(columns)
    after = np.zeros((len(ours), len(theirs), k))
    after[-1] = columns.won[0][:, theirs.gains].T
    gains = ours.gains
    a, b = (tuple(np.ascontiguousarray(array[side]) for array in columns.doubling) for side in (0, 1))
    won = np.ascontiguousarray(columns.won[1])
    mirror = columns.mirror() if work.position.us == work.position.them else None
    fixed: tuple[Any, ...]
    if mirror is None:
        fixed = (
            work.rolling, work.waiting, ours.ends, ours.results, theirs.ends, theirs.results, gains, a, b, won, after,
        )  # fmt: skip
    else:
        fixed = (*engine.met_alike(ours.plies), ours.ends, ours.results, a, b, mirror, after)
    kernel: Any = kernels.solve_rows if mirror is None else kernels.solve_alike
    threads = thread_count(threads)
    each = max(1, LANES // k)
    lanes = max(len(theirs), each) * k
    spaces = [(np.zeros(len(theirs) * each * k), np.empty(lanes), np.empty(lanes)) for _ in range(threads)]

    def rows(*which: int) -> None:
        space = spaces.pop()
        kernel(*which, *fixed, space)
        spaces.append(space)

    cuts = np.flatnonzero(np.diff(ours.pips)) + 1
    done, total = 0, max(1, work.pairs)
    lengths = (work.waiting[:, 1] - work.waiting[:, 0]).clip(0)
    with ThreadPoolExecutor(threads) as pool:
        # layers of equal pips from the fewest on; the first board is the position itself, the last all off
        for start, stop in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
            step = min(each, -(-int(stop - start) // threads))
            layer = () if mirror is None else (int(start), int(stop))
            jobs = [
                pool.submit(rows, low, min(low + step, int(stop)), *layer)
                for low in range(int(start), int(stop), step)
            ]
            for job in jobs:
                job.result()
            done += int(lengths[start:stop].sum())
            if progress is not None:
                progress(done, total)
    return Game(work, columns, after)
