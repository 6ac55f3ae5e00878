"""Solving hypergammon straight into a file: where its solver and the formats meet."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal

from bgfmt import formats
from bgfmt.errors import CapabilityError, FormatNeededError, OutputExistsError, SolverError
from bgfmt.files.convert import save
from bgfmt.files.database import load
from bgfmt.game import board
from bgfmt.solver import sweeps as states
from bgfmt.solver.hypergammon import Iteration, Sweeping, sweeps
from bgfmt.solver.hypergammon_solve import PLACES, memory_needed
from bgfmt.solver.machine import available_memory, check_disk
from bgfmt.storage import PathLike, check_output
from bgfmt.tables import ExactHypergammon, Hypergammon

KEEP_EVERY = 60.0  # seconds between two states of a long solve


def state_of(path: PathLike) -> Path:
    """Where the solve of `path` keeps its state."""
    return Path(f"{os.fspath(path)}.sweeps")


def solve_hypergammon(
    path: PathLike,
    chequers: int,
    *,
    recipe: Literal["gnubg", "exact"] = "gnubg",
    threshold: float | None = None,
    restart: PathLike | None = None,
    resume: bool = False,
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    sweeping: Sweeping | None = None,
) -> Path:
    """Make a hypergammon table, into a new file that appears whole or not at all.

    A solve of some minutes keeps its state beside the file, as `state_of` names it, about once a minute; when it was
    killed or interrupted, `resume` goes on from there to the same bytes.

    Parameters
    ----------
    format
        By default what the suffix of `path` says; without a suffix gnubg's own, ``npz`` for recipe ``exact``.
    restart
        A hypergammon file whose numbers the iteration begins with, as makehyper's `-r`.
    others
        As `bgfmt.solver.hypergammon.hypergammon` takes them.

    Raises
    ------
    SolverError
        No such solve; the state is another solve's, damaged, or there is none; too little memory.
    """
    check_output(path, force=force)
    target = _target(path, format, recipe)
    free, needed = available_memory(), memory_needed(chequers, recipe) if chequers in (1, 2, 3) else 0
    check_output(state_of(path), force=True)  # said now, not after the first minute
    if free is not None and needed > free:
        raise SolverError(f"needs {needed / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free")
    size = (
        board.count(PLACES, chequers) ** 2 * (28 if recipe == "gnubg" else 80) if chequers in (1, 2, 3) else 0
    )
    check_disk(size, Path(path), 0, Path(path))
    first = _first(restart)
    begun, state = states.begun_with(first), state_of(path)
    begin: Hypergammon | Iteration | None = first
    if resume:
        begin = states.kept(state, chequers, recipe, begun)
    elif os.path.lexists(state) and not states.is_state(state):
        raise OutputExistsError(f"{state}: exists already and is no state of a solve")
    last, written = None, time.monotonic()
    for last in sweeps(chequers, recipe=recipe, threshold=threshold, restart=begin, threads=threads):
        if sweeping is not None:
            sweeping(last.sweeps, last.change)
        if time.monotonic() - written > KEEP_EVERY and last.whole and not last.converged:
            states.keep(last, state, begun)
            written = time.monotonic()
    assert last is not None
    save(last.table, path, format=target or formats.home(last.table).name, force=force)
    if states.is_state(state):
        state.unlink()
    return Path(path)


def _target(path: PathLike, name: str | None, recipe: str) -> str | None:
    """The format to write, as named or by the suffix; None where neither says. Before anything is swept."""
    kind = Hypergammon if recipe == "gnubg" else ExactHypergammon
    suffix = Path(path).suffix
    fitting = [formats.get(name)] if name else [f for f in formats.ending(os.fspath(path)) if not f.historic]
    able = [form for form in fitting if form.reads and issubclass(kind, form.carries)]
    if able or not (name or suffix):
        return able[0].name if able else None
    if name:
        raise CapabilityError(f"{name} holds {', '.join(fitting[0].kinds())} tables, not {kind.kind}")
    if not fitting:
        raise FormatNeededError(
            f"{os.fspath(path)}: no format uses the suffix {suffix!r}; say which to write"
        )
    names = ", ".join(form.name for form in fitting)
    raise FormatNeededError(
        f"{os.fspath(path)}: {suffix} files ({names}) cannot hold a {kind.kind} table; say which to write"
    )


def _first(restart: PathLike | None) -> Hypergammon | None:
    if restart is None:
        return None
    table = load(restart)
    if not isinstance(table, Hypergammon):
        raise SolverError(f"{os.fspath(restart)}: a {table.kind} table, not a hypergammon one")
    return table
