"""Solving hypergammon straight into a file: where its solver and the formats meet."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Literal

from bgfmt import formats
from bgfmt.converting import save
from bgfmt.database import load
from bgfmt.errors import CapabilityError, OutputExistsError, SolverError
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
        By default gnubg's own, ``npz`` for recipe ``exact``.
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
    if format is not None:
        _check_format(formats.get(format), recipe)
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
    save(last.table, path, format=format or formats.home(last.table).name, force=force)
    if states.is_state(state):
        state.unlink()
    return Path(path)


def _check_format(form: formats.Format[Any], recipe: str) -> None:
    """CapabilityError, before anything is swept, for a format that holds no table of this recipe."""
    kind = Hypergammon if recipe == "gnubg" else ExactHypergammon
    if not issubclass(kind, form.carries):
        raise CapabilityError(f"{form.name} holds {', '.join(form.kinds())} tables, not {kind.kind}")


def _first(restart: PathLike | None) -> Hypergammon | None:
    if restart is None:
        return None
    table = load(restart)
    if not isinstance(table, Hypergammon):
        raise SolverError(f"{os.fspath(restart)}: a {table.kind} table, not a hypergammon one")
    return table
