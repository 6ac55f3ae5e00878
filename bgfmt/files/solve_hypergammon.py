"""Solving hypergammon straight into a file: where its solver and the formats meet."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bgfmt.errors import OutputExistsError, SolverError
from bgfmt.files.convert import save, whole_target
from bgfmt.files.database import load
from bgfmt.formats.base import promised
from bgfmt.game import board
from bgfmt.solver.hypergammon import PLACES, Iteration, Sweeping, check_solve, memory_needed, state, sweeps
from bgfmt.solver.machine import check_disk, check_memory
from bgfmt.storage import PathLike, check_output
from bgfmt.tables import ExactHypergammon, Hypergammon
from bgfmt.tables.hypergammon import RECORD

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
    kept = state_of(path)
    check_solve(chequers, recipe, threshold)
    target = _target(path, format, chequers, recipe)
    check_output(kept, force=True)  # said now, not after the first minute
    check_memory(memory_needed(chequers, recipe), "hypergammon")
    size = board.count(PLACES, chequers) ** 2 * (RECORD if recipe == "gnubg" else 80)
    check_disk(size, Path(path), 0, Path(path))
    table = _table(restart)
    begun = state.begun_with(table)
    begin: Hypergammon | Iteration | None = table
    if resume:
        begin = state.read(kept, chequers, recipe, begun)
    elif os.path.lexists(kept) and not state.is_state(kept):
        raise OutputExistsError(f"{kept}: exists already and is no state of a solve")
    last, written = None, time.monotonic()
    for last in sweeps(chequers, recipe=recipe, threshold=threshold, restart=begin, threads=threads):
        if sweeping is not None:
            sweeping(last.sweeps, last.change)
        if time.monotonic() - written > KEEP_EVERY and last.whole and not last.converged:
            state.write(last, kept, begun)
            written = time.monotonic()
    assert last is not None
    save(last.table, path, format=target, force=force)
    if state.is_state(kept):
        kept.unlink()
    return Path(path)


def _target(path: PathLike, name: str | None, chequers: int, recipe: str) -> str:
    """The format to write, as named or by the suffix, before anything is swept."""
    n = board.count(PLACES, chequers)
    how: dict[str, Any] = {"points": PLACES, "chequers": chequers}
    blank: Hypergammon | ExactHypergammon
    if recipe == "gnubg":
        blank = Hypergammon(records=promised((n, n, RECORD), np.uint8), **how)
    else:
        blank = ExactHypergammon(float64=promised((n, n, 10), np.float64), **how)
    return whole_target(path, name, blank, f"a {blank.kind} table", {}).name


def _table(restart: PathLike | None) -> Hypergammon | None:
    if restart is None:
        return None
    table = load(restart)
    if not isinstance(table, Hypergammon):
        raise SolverError(f"{os.fspath(restart)}: a {table.kind} table, not a hypergammon one")
    return table
