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

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.solver.hypergammon_solve import CYCLE, PLACES, Solve
from bgfmt.tables import ExactHypergammon, Hypergammon

Array = NDArray[Any]
Sweeping = Callable[[int, float], None]
RECORD = 28
THRESHOLDS = {"gnubg": 1e-5, "exact": 1e-12}
MOST_SWEEPS = 1000
SCALE = 16777215
LONG = 3  # chequers from which that is worth while; plain sweeps can be run again to the last bit


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
    solve = Solve(chequers, recipe, _begin(restart), threads or os.cpu_count() or 1)
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


def _begin(restart: Hypergammon | Iteration | None) -> Array | None:
    """The numbers of a restart."""
    from bgfmt.solver.kernels import hypergammon_numbers as kernels

    if restart is None or isinstance(restart, Iteration):
        return None if restart is None else restart.values
    n = restart.positions
    out = np.empty((n, n, 10), np.float32)
    for us in range(n):
        kernels.decode(np.ascontiguousarray(restart.records[us]), out[us])
    return out
