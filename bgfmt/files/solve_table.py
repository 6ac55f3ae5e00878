"""Solving straight into a file: where the solver and the formats meet.

A table that fits in memory is solved there and written. A large two-sided table is solved into the body of the
new file itself, mapped, with a checksummed scratch file beside it, so that it is never held in memory and a
killed run can go on.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from bgfmt import formats
from bgfmt.errors import CapabilityError, FormatNeededError, SolverError
from bgfmt.formats import Format
from bgfmt.formats.base import promised
from bgfmt.solver.executor import Executor
from bgfmt.solver.job import Job, job
from bgfmt.solver.machine import available_memory, check_disk
from bgfmt.solver.plan import Plan, in_mapped_files, mapped_disk
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.scratch import Scratch
from bgfmt.storage import PathLike, check_output, create
from bgfmt.storage.mapped import MappedRoom
from bgfmt.tables import Table

Progress = Callable[[int, int], None]
LEAST_BYTES = 500_000_000  # of memory for a one-sided table whose arrays are mapped
SLACK_BYTES = 150_000_000  # that such a solve may take until it is seen to


def solve(
    what: str,
    points: int,
    chequers: int,
    path: PathLike,
    *,
    recipe: str | Recipe | None = None,
    format: str | None = None,
    gammon: bool = True,
    cubeful: bool = True,
    force: bool = False,
    resume: bool = False,
    scratch: PathLike | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    memory: int | None = None,
    **options: Any,
) -> Path:
    """Make a table from the rules of the game, into a new file that appears whole or not at all.

    Parameters
    ----------
    what : ``one-sided``, ``normal-distribution``, ``two-sided`` or ``mean-rolls``.
    points, chequers : its size.
    path : the file to make. All that could keep it from appearing there is looked for before the work begins.
    recipe : ``gnubg``, ``bgsage`` or ``exact``, by default the first that makes such tables; see
        `bgfmt.solver.recipe`.
    format : the format to write; by default what the suffix of `path` says, the recipe's own where that fits or
        there is no suffix.
    gammon, cubeful : also the gammon distributions (one-sided); all four equities or the cubeless one (two-sided).
    force : replace an existing file.
    resume, scratch : a large two-sided table keeps its finished layers in the file `scratch`, by default `path` with
        ".scratch" behind it, until the result is safe. A run that ended leaves it, and `resume` goes on from
        there. Named, it is used for small tables too.
    threads, executor, progress : see `bgfmt.solver.two_sided`.
    memory : bytes to take at most for a one-sided table; the rest lies in a mapped file beside `path` until the end.
        Without it that is done where the table does not fit into what is free.
    options : the format's own; `bgfmt formats` lists them.

    Returns
    -------
    The path.

    Raises
    ------
    SolverError where there is no such solver, too little memory or disk; ScratchError for a scratch file that is
    in use, damaged or something else; CapabilityError and FormatNeededError for a format that does not fit;
    OutputExistsError; OSError.
    """
    made = job(what, points, chequers, recipe=recipe, gammon=gammon, cubeful=cubeful)
    check_output(path, force=force)
    blank = made.table({name: promised(*shape) for name, shape in made.arrays().items()})
    target = target_of(path, format, blank, made, options)
    planned = made.plan(threads)
    kept = _scratch_path(path, scratch, resume, bool(planned.scratch) and target.takes_body(blank, options))
    how: dict[str, Any] = {"threads": threads, "executor": executor, "progress": progress}
    if kept is None:
        check_disk(planned.output, Path(path), 0, Path(path))
        with _room(made, planned, path, memory) as room:
            table = made.solve(**how) if room is None else made.solve(room=room, **how)
            with create(path, force=force) as sink:
                target.write(table, sink, **options)
        return Path(path)
    if made.kind != "two-sided" or not made.recipe.rounded or not target.takes_body(blank, options):
        raise CapabilityError(
            f"a {made.kind} table of recipe {made.recipe.name} in format {target.name} is solved in one go: "
            "it keeps no scratch file and cannot be resumed"
        )
    _through_scratch(made, blank, target, options, Path(path), kept, resume=resume, force=force, how=how)
    return Path(path)


def _room(
    made: Job, planned: Plan, path: PathLike, memory: int | None
) -> AbstractContextManager[MappedRoom | None]:
    """Room on the disk for the arrays of a one-sided table that is not to be in memory; None for others."""
    mapped = planned_for(made, planned, memory)
    if mapped is planned:
        return nullcontext(None)
    disk = mapped_disk(mapped, 64 if made.gammon else 32)
    check_disk(planned.output, Path(path), disk - planned.output, Path(path))
    return MappedRoom(Path(path).resolve().parent, (memory or mapped.memory) - SLACK_BYTES)


def planned_for(made: Job, planned: Plan, memory: int | None) -> Plan:
    """The plan itself where the table is made in memory, else that with its arrays on the disk.

    CapabilityError for a table that is not made so; SolverError for too little memory.
    """
    if made.kind != "one-sided" or not made.recipe.rounded:
        if memory is not None:
            raise CapabilityError(f"{made.kind} tables of recipe {made.recipe.name} are made in memory only")
        return planned
    if memory is None:
        free = available_memory()
        if free is None or planned.memory <= free:
            return planned
        memory = free // 2
    if memory < LEAST_BYTES:
        raise SolverError(
            f"this table needs {LEAST_BYTES / 1e9:.1f} GB of memory at least, not {memory / 1e9:.2f} GB"
        )
    return in_mapped_files(planned, memory)


def _through_scratch(
    made: Job,
    blank: Table,
    target: Format[Any],
    options: dict[str, Any],
    path: Path,
    kept: Path,
    *,
    resume: bool,
    force: bool,
    how: dict[str, Any],
) -> None:
    if not (resume and kept.exists()):
        body = made.plan().output
        check_disk(body, path, body, kept)
    facts: dict[str, Any] = {"cubeful": made.cubeful, "recipe": made.recipe.name}
    with Scratch(kept, made.points, made.chequers, resume=resume, output=path, **facts) as scratch:
        with create(path, force=force) as sink, target.body(sink, blank, **options) as arrays:
            made.solve(out=arrays["equities"], scratch=scratch, sink=sink, **how)
        scratch.remove()


def scratch_of(path: PathLike) -> Path:
    """Where the solve of `path` keeps its scratch file unless it is told otherwise."""
    return Path(f"{os.fspath(path)}.scratch")


def _scratch_path(path: PathLike, scratch: PathLike | None, resume: bool, large: bool) -> Path | None:
    """The scratch file to use, None for none; what could keep it from being made is said now."""
    if scratch is None and not resume and not large:
        return None
    beside = scratch_of(path) if scratch is None else Path(scratch)
    if beside.resolve() == Path(path).resolve():
        raise CapabilityError(f"{beside}: the scratch file cannot be the output itself")
    try:
        check_output(beside, force=True)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and scratch is None:
            text = "the name of its scratch file would be too long; name another one"
            raise OSError(error.errno, text, os.fspath(path)) from None
        raise
    return beside


def target_of(
    path: PathLike, name: str | None, blank: Table, made: Job, options: dict[str, Any]
) -> Format[Any]:
    """The format to write a file in, options checked; CapabilityError where it could not hold all of the table."""
    target = _target(path, name, blank, made)
    target.check(blank, options)
    lost = target.losses(blank, options)
    if lost:
        raise CapabilityError(f"{target.name} would lose something of this table: {'; '.join(lost)}")
    return target


def _target(path: PathLike, name: str | None, blank: Table, made: Job) -> Format[Any]:
    """The format to write: as named; else as the suffix says, the table's own first; else the table's own."""
    if name is not None:
        return formats.get(name)
    suffix = Path(path).suffix.lower()
    if not suffix:
        return formats.home(blank)
    fitting = [f for f in formats.ending(os.fspath(path)) if f.reads and not f.historic]
    able = [f for f in fitting if isinstance(blank, f.carries) and f.refusal(blank, {}) is None]
    chosen = [f for f in able if f.home_of(blank)] or able
    if len(chosen) == 1:
        return chosen[0]
    what = f"a {made.kind} table of recipe {made.recipe.name}"
    if not fitting:
        raise FormatNeededError(
            f"{os.fspath(path)}: no format uses the suffix {suffix!r}; say which to write"
        )
    if not able:
        names = ", ".join(f.name for f in fitting)
        raise FormatNeededError(
            f"{os.fspath(path)}: {suffix} files ({names}) cannot hold {what}; say which to write"
        )
    names = ", ".join(f.name for f in chosen)
    raise FormatNeededError(f"{os.fspath(path)}: say which format to write ({names})")


def solve_gnubg_2001(path: PathLike, *, force: bool = False) -> Path:
    """Make gnubg's `gnubg.bd` of May 2001 to November 2002: two tables, 5,180,448 bytes, no header.

    OutputExistsError for an existing file unless `force`; OSError.
    """
    from bgfmt.files.convert import save
    from bgfmt.solver import gnubg2001

    check_output(path, force=force)
    save(list(gnubg2001.solve()), path, format=gnubg2001.NAME, force=force)
    return Path(path)


__all__ = ["Plan", "scratch_of", "solve", "solve_gnubg_2001"]
