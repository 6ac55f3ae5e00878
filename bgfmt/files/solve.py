"""`bgfmt.solve`: solve a table and write it to a new file; connects solvers and formats.

A table that fits into memory is solved there and written. One that does not is solved into a store of chunks
beside the file (`bgfmt.files.routes.Stores`), and the file is written in order of position while the store fills.
"""

from __future__ import annotations

import errno
import inspect
import os
from collections.abc import Callable
from dataclasses import fields
from math import prod
from operator import index
from pathlib import Path
from typing import Any

from bgfmt.errors import CapabilityError, SolverError
from bgfmt.files.database import load
from bgfmt.files.output import OutputFile, Progress
from bgfmt.files.routes import Route, StoreReport, stores
from bgfmt.solver import registry
from bgfmt.solver.machine import check_disk
from bgfmt.solver.registry import Solver
from bgfmt.storage import PathLike, check_output
from bgfmt.storage.mapped import MappedScratch

__all__ = ["ROUTE_OPTIONS", "solve", "solve_table"]


ROUTE_OPTIONS = frozenset(field.name for field in fields(Route))
SLACK_BYTES = 150_000_000  # memory of the process apart from mapped arrays


def solve(
    what: str,
    points: int,
    chequers: int,
    path: PathLike | None = None,
    *,
    recipe: Any = None,
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Path:
    """Solve a table, write it to a new file, which appears whole or not at all, and return the path of file or store.

    Parameters
    ----------
    what
        The name of a solver: ``one-sided``, ``normal-distribution``, ``two-sided``, ``mean-rolls``, ``bkg``,
        ``expected-points``, ``match`` (a match score), ``hypergammon``, ``hypergammon-met`` (a match equity
        table as gnubg's XML), ``gnubg-2001`` (gnubg's file of that year, of 6 points and 15 chequers), or one
        of a plugin.
    points, chequers
        The size of the table; 25 points in hypergammon, where the bar is one.
    path
        The file to make, checked before the work begins; None if the table is left in its `store`.
    recipe
        By default the first that makes such tables; see `bgfmt.solver.recipe`.
    format
        The format to write; by default the one of the suffix of `path`, or the recipe's own.
    force
        Replace an existing file, and discard what an interrupted run left, unless `resume`.
    threads
        Number of threads (default: one per core).
    progress
        Called as ``progress(done, total)``.
    options
        What not every solver takes:

        * `workers`: threads (`bgfmt.solver.workers.ThreadWorkers`) or, for two-sided tables of recipe gnubg,
          a cluster's address, ``local:N`` or ``tcp://host:port``;
        * `memory`: maximum bytes of memory, for two-sided tables of recipe gnubg per worker; other tables are
          put in a mapped file beside `path`, as they are anyway if they do not fit into free memory;
        * two-sided tables of recipe gnubg: `store`, a folder or address of chunks, itself a database;
          `scratch`, the same for a large table, removed when the file is safe (default: `path` + ".store");
          `resume`, continue with what the store holds, damaged chunks being computed again; `device`,
          ``cuda``;
        * one-sided: `gammon`, also gammon distributions. two-sided: `cubeful`, all four equities;
        * match: `away`, the points that both sides need; `met`, from `bgfmt.met.load` (default:
          Kazaross-XG2); `player`, which player of `met` the first side is;
        * hypergammon: `threshold`, `restart`, `resume`, `sweeping`, called as ``sweeping(sweep, greatest
          change)`` instead of `progress`; hypergammon-met: `length`, `table`, `live`, `sweeping`;
        * those of the format; `bgfmt formats` lists them.

    Raises
    ------
    SolverError
        If there is no such solver, or too little memory or disk space.
    ScratchError, ClusterError
        If a store is unfinished or of another table; if a cluster does not answer.
    CapabilityError, FormatNeededError
        If the format does not fit.
    TypeError
        If the solver does not take an option, or needs one that is missing.
    OutputExistsError, OSError
        For a file that cannot be created.
    """
    solver = registry.get(what)
    points, chequers = _check_size(what, points, chequers)
    _check_required(what, solver, options)
    options |= {"force": force, "threads": threads, "progress": progress}
    if isinstance(solver, type):
        solve_table(what, points, chequers, path, recipe=recipe, format=format, **options)
    else:
        named = {name: value for name, value in (("recipe", recipe), ("format", format)) if value is not None}
        if path is None:
            raise CapabilityError("the file to write is missing")
        solver(path, points, chequers, **named, **options)
    return Path(path if path is not None else options["store"])


def _check_size(what: str, points: int, chequers: int) -> tuple[int, int]:
    """Return points and chequers as integers; SolverError if one is no whole number."""
    try:
        return index(points), index(chequers)
    except TypeError:
        size = f"solve({what!r}, 6, 8, ...), not {points!r} and {chequers!r}"
        raise SolverError(f"points and chequers must be two whole numbers, such as {size}") from None


def _check_required(what: str, solver: Callable[..., Any], options: dict[str, Any]) -> None:
    """Raise TypeError if an option without a default is missing."""
    for name, parameter in inspect.signature(solver).parameters.items():
        required = parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        if required and name not in options:
            raise TypeError(f"solve({what!r}, ...) needs {name}=")


def solve_table(
    what: str,
    points: int,
    chequers: int,
    path: PathLike | None = None,
    *,
    recipe: Any = None,
    format: str | None = None,
    **options: Any,
) -> StoreReport | None:
    """Solve a single table, as `solve` does, and write it to `path`.

    Return what was done if the solve went through a store of chunks, else None. options : those of `Route`, of the
    solver and of the format.
    """
    route = Route(**{name: options.pop(name) for name in ROUTE_OPTIONS & options.keys()})
    known: Any = registry.get(what)
    own = {name: options.pop(name) for name in known.options & options.keys()}
    for name in known.path_options & own.keys():
        own[name] = own[name] if own[name] is None else load(own[name])
    solver = registry.solver_of(what, points, chequers, recipe=recipe, **own)
    file = None
    if path is not None:
        file = OutputFile(solver, path, format, route.force, options)
    elif format is not None or options:
        raise CapabilityError("a format and its options are only for a file to write")
    tiles = route.by_tiles or (solver.supports_store and route.memory is not None)
    planned = solver.plan()
    large = solver.supports_store and file is not None and (planned.scratch > 0 or not planned.fits_in_memory)
    if tiles or large or route.scratch is not None or route.resume:
        return _through_store(solver, file, route, layers=not tiles)
    if file is None:
        raise CapabilityError("the file to write or a store is missing")
    _in_memory(solver, file, route)
    return None


def _through_store(solver: Solver, file: OutputFile | None, route: Route, *, layers: bool) -> StoreReport:
    """Solve through a store, which is removed afterwards unless the route keeps it."""
    if not solver.supports_store:
        text = "is solved in memory: it has no store and cannot be resumed"
        raise CapabilityError(f"{solver.what} {text}")
    place = _store(file, route.store, route.scratch, solver.kept_suffix)
    report = stores().fill(solver, file, place, route, layers=layers)
    if route.store is None:
        stores().remove(place)
    return report


def _in_memory(solver: Solver, file: OutputFile, route: Route) -> None:
    """Solve without a store: into the body of the file if the solver can, else in separate memory."""
    how: dict[str, Any] = {"threads": route.threads, "workers": route.workers, "progress": route.progress}
    planned = solver.fitting_plan(route.threads, route.memory)
    path = Path(file.path)
    kept = sum(prod(shape) * dtype.itemsize for shape, dtype in solver.arrays().values())
    disk = max(planned.scratch, kept + planned.output) if planned.scratch else planned.output
    check_disk(planned.output, path, disk - planned.output, path)
    if solver.fills_out and file.takes_body:
        with file.body() as (_, arrays):
            how["out"] = next(iter(arrays.values()))
            solver.solve(**how)
    elif planned.scratch:  # the arrays lie on the disk
        with MappedScratch(path.resolve().parent, planned.memory - SLACK_BYTES) as room:
            how["room"] = room
            file.write(solver.solve(**how))
    else:
        file.write(solver.solve(**how))


def _store(file: OutputFile | None, store: PathLike | None, scratch: PathLike | None, suffix: str) -> str:
    """Return the path of the store; raises now what would prevent a temporary store from being made later."""
    if store is not None or file is None:
        if store is None:
            raise CapabilityError("the file to write or a store is missing")
        if not os.fspath(store):
            raise FileNotFoundError(errno.ENOENT, "the name of a store must not be empty", "")
        return os.fspath(store)
    beside = Path(f"{os.fspath(file.path)}{suffix}" if scratch is None else scratch)
    if beside.resolve() == Path(file.path).resolve():
        raise CapabilityError(f"{beside}: the store and the output must be different")
    if not beside.is_dir():
        check_output(beside, force=True)
    return str(beside)
