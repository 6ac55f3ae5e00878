"""The registry of solvers: built-in ones and plugins, registered by name as entry points `bgfmt.solvers`.

An entry is a `Solver`, a class whose instances each solve one table; `bgfmt.solve` writes the file. Or it is a
function ``(path, points, chequers, *, force, threads, progress, **options)`` that writes its file by itself, for
files that do not hold one table. Only the requested solver is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypedDict

import numpy as np

from bgfmt.errors import CapabilityError, SolverError, suggest_nearest
from bgfmt.game import board
from bgfmt.solver.layers import SINGLE, Stakes
from bgfmt.solver.machine import Plan, aligned_zeros, available_memory, check_memory, plan_mapped
from bgfmt.solver.recipe import Recipe, choose_recipe
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers, threads_or_workers
from bgfmt.storage.mapped import MappedScratch
from bgfmt.tables import KINDS, Table
from bgfmt.tables.registry import Registry, installed_names

__all__ = ["SOLVERS", "SolveOptions", "Solver", "plan", "solver_of"]


GROUP = "bgfmt.solvers"
SOLVERS: Registry[Any] = Registry(GROUP)


class SolveOptions(TypedDict, total=False):
    """Arguments of `Solver.solve`.

    Attributes
    ----------
    threads : number of threads, one for each core if None. Results do not depend on it.
    workers : open threads to use instead.
    progress : called as ``progress(done, total)``, in the solver's unit, from the calling thread.
    out : array to fill and to use for the table, if the solver `fills_out`.
    room : mapped files in which to put the arrays instead of memory, if the solver has `supports_mapping`; the table
        is valid as long as they are open.
    """

    threads: int | None
    workers: Workers | None
    progress: Progress | None
    out: Any
    room: MappedScratch | None


class Solver(ABC):
    """The solve of one table of `points` points and up to `chequers` chequers.

    Attributes
    ----------
    name : name of the entry point.
    kind : kind of the tables.
    recipes : names of the recipes it supports, the default first.
    unit : what `progress` counts.
    most_points : greatest number of points, with up to 15 chequers; 0 if the solver checks sizes itself.
    options : arguments of the class that `bgfmt.solve` passes on, besides `recipe`; all others are the format's.
    path_options : those of them that are paths of databases; the class gets the table instead.
    kept_suffix : suffix of the file that an interrupted solve leaves next to its output.
    fills_out : True if the arrays of the output file may be passed as `out`.
    supports_store : True if this table can be solved tile by tile in a store of chunks.
    supports_mapping : True if its arrays may lie in memory-mapped files.
    stakes : value of the games.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    recipes: ClassVar[tuple[str, ...]] = ("exact",)
    unit: ClassVar[str] = " positions"
    most_points: ClassVar[int] = 0
    options: ClassVar[frozenset[str]] = frozenset()
    path_options: ClassVar[frozenset[str]] = frozenset()
    kept_suffix: ClassVar[str] = ""
    fills_out: ClassVar[bool] = False
    stakes: ClassVar[Stakes] = SINGLE
    recipe: Recipe
    supports_store = False
    supports_mapping = False

    def __init__(self, points: int, chequers: int, *, recipe: str | Recipe | None = None) -> None:
        """Raise SolverError for a size or a recipe that the solver does not support."""
        self.points = points
        self.chequers = chequers
        self.recipe = choose_recipe(recipe, self.recipes, self.name)
        most = self.most_points
        many = board.MAX_CHEQUERS
        if most and (not 1 <= points <= most or not 1 <= chequers <= many):
            sizes = f"1 to {most} points and 1 to {many} chequers, not {points} and {chequers}"
            raise SolverError(f"{self.name} tables must have {sizes}")

    @property
    def what(self) -> str:
        """Description of the table for messages, such as its size and kind."""
        return f"a {self.name} table of recipe {self.recipe.name}"

    @abstractmethod
    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """Estimate time, memory and disk space of the solve, with at most `memory` bytes if given.

        Raises CapabilityError if `memory` is given and the solver cannot limit it.
        """

    def fitting_plan(self, threads: int | None, memory: int | None) -> Plan:
        """Return the plan that `solve` follows, with its estimated cost.

        Without a limit of memory (None), a table that does not fit is planned in a mapped file, with half of the free
        memory, if the solver supports that.
        """
        planned = self.plan(threads, memory)
        free = available_memory()
        if memory is not None or not self.supports_mapping or free is None or planned.memory <= free:
            return planned
        return self.plan(threads, free // 2)

    @abstractmethod
    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Return shape and dtype of each array of the table, by name."""

    def table(self, arrays: Mapping[str, Any]) -> Table:
        """Build the table object from its arrays, as `build_arrays` returns them."""
        return KINDS[self.kind](
            points=self.points, chequers=self.chequers, recipe=self.recipe.name,
            provenance=f"solved by bgfmt, recipe {self.recipe.name}", **arrays,
        )  # fmt: skip

    def build_arrays(
        self, workers: Workers, progress: Progress | None, zeros: Callable[..., Any], out: Any
    ) -> dict[str, Any]:
        """Compute the arrays of the table, by name.

        Parameters
        ----------
        workers, progress : see `SolveOptions`.
        zeros : called with (shape, dtype), returns a zeroed array to fill.
        out : the array to fill instead, or None.
        """
        raise NotImplementedError

    def solve(
        self,
        *,
        threads: int | None = None,
        workers: Workers | None = None,
        progress: Progress | None = None,
        out: Any = None,
        room: MappedScratch | None = None,
    ) -> Any:
        """Solve the table in memory and return it; the arguments are those of `SolveOptions`.

        Raises SolverError for an unsuitable `out` or `room`, and if memory is too small.
        """
        planned = self.plan(threads)
        if room is not None and (out is not None or not self.supports_mapping):
            raise SolverError(f"{self.what} cannot be solved in mapped files")
        if out is not None:
            ((shape, dtype),) = self.arrays().values()
            if out.shape != shape or out.dtype != dtype:
                raise SolverError(f"out must be {dtype} of shape {shape}, not {out.dtype} {out.shape}")
        if room is None:
            counted = not planned.scratch  # whether the plan's memory holds the table itself
            check_memory(planned.memory + ((out is None) - counted) * planned.output, planned.what)
        with threads_or_workers(workers, threads) as team:
            arrays = self.build_arrays(team, progress, aligned_zeros if room is None else room.zeros, out)
        return self.table(arrays if room is None else {**arrays, "release": room.drop_pages})

    def limit_memory(self, planned: Plan, memory: int | None) -> Plan:
        """Return the plan changed to need at most `memory` bytes; CapabilityError if the solver cannot do that."""
        if memory is None:
            return planned
        if not self.supports_mapping:
            raise CapabilityError(
                f"{self.name} tables of recipe {self.recipe.name} can only be solved in memory"
            )
        return plan_mapped(planned, memory)


def get(name: str) -> type[Solver] | Callable[..., object]:
    """Return the solver registered under a name: a class, or a function for those with several tables.

    SolverError if there is none or if it cannot be loaded.
    """
    if name in SOLVERS:
        return SOLVERS[name]  # type: ignore[no-any-return]
    if name in SOLVERS.broken:
        raise SolverError(f"the solver of {name} tables is broken: {SOLVERS.broken[name]}")
    known = sorted(installed_names(GROUP))
    raise SolverError(
        f"no solver of {name!r} tables{suggest_nearest(name, known)}; known: {', '.join(known)}"
    )


def solver_of(name: str, points: int, chequers: int, **options: Any) -> Solver:
    """Return the solver of a table for this size and options; raise SolverError if there is none.

    >>> solver_of("mean-rolls", 6, 15).recipe.name
    'exact'
    """
    found: Any = get(name)
    if not isinstance(found, type):
        raise SolverError(f"no solver of {name!r} as a single table that can be planned")
    solver: Solver = found(points, chequers, **options)
    solver.plan()  # refuses sizes that there is no solver for
    return solver


def plan(
    kind: str, points: int = 6, chequers: int = 15, *, threads: int | None = None, **options: Any
) -> Plan:
    """Estimate time, memory and disk space of a solve; `kind` is the solver's name, `options` its own options.

    >>> plan("one-sided", 6).positions
    54264
    """
    return solver_of(kind, points, chequers, **options).plan(threads)
