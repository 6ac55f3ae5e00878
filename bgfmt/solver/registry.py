"""The door of solvers, the entry-point group `bgfmt.solvers`: built-in ones and guests enter by it, by name.

An entry is a `Solver`, a class whose objects are solves of one table each; `bgfmt.solve` makes the file. Or it is a
function ``(path, points, chequers, *, force, threads, progress, **options)`` that makes its file by itself, for what
is no table made in one go. Only the solver that is asked for is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypedDict

import numpy as np

from bgfmt.errors import CapabilityError, SolverError
from bgfmt.game import board
from bgfmt.solver.layers import SINGLE, Stakes
from bgfmt.solver.machine import Plan, available_memory, check_memory, in_mapped_files, zeros_on_lines
from bgfmt.solver.recipe import Recipe, choose_recipe
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers, threads_or
from bgfmt.storage.mapped import MappedScratch
from bgfmt.tables import KINDS, Table
from bgfmt.tables.registry import Registry

GROUP = "bgfmt.solvers"
SOLVERS: Registry[Any] = Registry(GROUP)


class How(TypedDict, total=False):
    """How a table is made in memory.

    threads : how many, one a core when None; workers : threads that stay open instead. No number depends on them.
    progress : called as ``progress(done, total)`` with what the solver counts, from the calling thread.
    out : the array to fill and to make the table over, of a solver that `fills`.
    room : where the arrays lie instead of in memory, of one that `maps`; the table is good as long as it is open.
    """

    threads: int | None
    workers: Workers | None
    progress: Progress | None
    out: Any
    room: MappedScratch | None


class Solver(ABC):
    """The solve of one table of `points` points and up to `chequers` chequers: what it takes, and how it is made.

    name : as in the entry point. kind : of its tables. recipes : names of those that it follows, the default first.
    unit : what `progress` counts. most_points : of a table of up to 15 chequers; where it is 0 the solver itself
    refuses sizes. options : names of the arguments of the class that `bgfmt.solve` hands on, besides `recipe`; all
    others are the format's. opens : those of them that are paths of databases, of which the class takes the table.
    beside : suffix of what an ended solve leaves beside its file; keeps_state : whether that is a file that `solve`
    takes as `state`, with `resume` and `force`.
    fills : whether the body of a file may be the array to fill. stores : whether this table can be made tile by tile
    in a store of chunks. maps : whether its arrays may lie in mapped files. stakes : what its games are worth.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    recipes: ClassVar[tuple[str, ...]] = ("exact",)
    unit: ClassVar[str] = " positions"
    most_points: ClassVar[int] = 0
    options: ClassVar[frozenset[str]] = frozenset()
    opens: ClassVar[frozenset[str]] = frozenset()
    beside: ClassVar[str] = ""
    keeps_state: ClassVar[bool] = False
    fills: ClassVar[bool] = False
    stakes: ClassVar[Stakes] = SINGLE
    recipe: Recipe
    stores = maps = False

    def __init__(self, points: int, chequers: int, *, recipe: str | Recipe | None = None) -> None:
        """SolverError for a size or a recipe that there is no solver for."""
        self.points = points
        self.chequers = chequers
        self.recipe = choose_recipe(recipe, self.recipes, self.name)
        most = self.most_points
        many = board.MAX_CHEQUERS
        if most and (not 1 <= points <= most or not 1 <= chequers <= many):
            sizes = f"1 to {most} points and 1 to {many} chequers, not {points} and {chequers}"
            raise SolverError(f"{self.name} tables have {sizes}")

    @property
    def what(self) -> str:
        """What is made, for messages."""
        return f"a {self.name} table of recipe {self.recipe.name}"

    @abstractmethod
    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """What the solve will take, `memory` bytes at most where that is said.

        CapabilityError where the memory cannot be chosen.
        """

    def fitting_plan(self, threads: int | None, memory: int | None) -> Plan:
        """The plan; half of what is free is the memory where nothing is said and a table that maps does not fit."""
        planned = self.plan(threads, memory)
        free = available_memory()
        if memory is not None or not self.maps or free is None or planned.memory <= free:
            return planned
        return self.plan(threads, free // 2)

    @abstractmethod
    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and dtype of each array of the table, by name."""

    def table(self, arrays: Mapping[str, Any]) -> Table:
        """The table over these arrays."""
        return KINDS[self.kind](
            points=self.points, chequers=self.chequers, recipe=self.recipe.name,
            provenance=f"solved by bgfmt, recipe {self.recipe.name}", **arrays,
        )  # fmt: skip

    def made(
        self, workers: Workers, progress: Progress | None, zeros: Callable[..., Any], out: Any
    ) -> dict[str, Any]:
        """The arrays of the table, from ``zeros(shape, dtype)`` or in `out` where that is given."""
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
        """Make the table in memory, as `How` says; SolverError for another `out` or `room`, and too little memory."""
        planned = self.plan(threads)
        if room is not None and (out is not None or not self.maps):
            raise SolverError(f"{self.what} is not made in mapped files")
        if out is not None:
            ((shape, dtype),) = self.arrays().values()
            if out.shape != shape or out.dtype != dtype:
                raise SolverError(f"out must be {dtype} of shape {shape}, not {out.dtype} {out.shape}")
        if room is None:
            counted = not planned.scratch  # whether the plan's memory holds the table itself
            check_memory(planned.memory + ((out is None) - counted) * planned.output, planned.what)
        with threads_or(workers, threads) as team:
            arrays = self.made(team, progress, zeros_on_lines if room is None else room.zeros, out)
        return self.table(arrays if room is None else {**arrays, "release": room.drop_pages})

    def in_memory(self, planned: Plan, memory: int | None) -> Plan:
        """The plan of a solve that takes `memory` bytes at most; CapabilityError where that cannot be chosen."""
        if memory is None:
            return planned
        if not self.maps:
            raise CapabilityError(f"{self.name} tables of recipe {self.recipe.name} are made in memory only")
        return in_mapped_files(planned, memory)


def get(name: str) -> type[Solver] | Callable[..., object]:
    """The solver of that name; SolverError names all where there is none, and says why one cannot be loaded."""
    if name in SOLVERS:
        return SOLVERS[name]  # type: ignore[no-any-return]
    if name in SOLVERS.broken:
        raise SolverError(f"the solver of {name} tables is broken: {SOLVERS.broken[name]}")
    raise SolverError(f"no solver of {name!r} tables; there are {', '.join(sorted(SOLVERS.points))}")


def solver_of(name: str, points: int, chequers: int, **options: Any) -> Solver:
    """The solve of a table, checked; SolverError where there is none.

    >>> solver_of("mean-rolls", 6, 15).recipe.name
    'exact'
    """
    found: Any = get(name)
    if not isinstance(found, type):
        raise SolverError(f"no solver of {name!r} as a single table, which can be planned")
    solver: Solver = found(points, chequers, **options)
    solver.plan()  # refuses sizes that there is no solver for
    return solver


def plan(
    kind: str, points: int = 6, chequers: int = 15, *, threads: int | None = None, **options: Any
) -> Plan:
    """Estimate a solve, by the solver's name and with its own options.

    >>> plan("one-sided", 6).positions
    54264
    """
    return solver_of(kind, points, chequers, **options).plan(threads)
