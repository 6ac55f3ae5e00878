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
from bgfmt.solver.hypergammon import PLACES, Iteration, Sweeping, memory_needed, state, sweeps
from bgfmt.solver.machine import check_disk, check_memory
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
    target, kept = _target(path, format, recipe), state_of(path)
    check_output(kept, force=True)  # said now, not after the first minute
    if chequers in (1, 2, 3):
        check_memory(memory_needed(chequers, recipe), "hypergammon")
        records = board.count(PLACES, chequers) ** 2
        check_disk(records * (28 if recipe == "gnubg" else 80), Path(path), 0, Path(path))
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
    save(last.table, path, format=target or formats.home(last.table).name, force=force)
    if state.is_state(kept):
        kept.unlink()
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


def _table(restart: PathLike | None) -> Hypergammon | None:
    if restart is None:
        return None
    table = load(restart)
    if not isinstance(table, Hypergammon):
        raise SolverError(f"{os.fspath(restart)}: a {table.kind} table, not a hypergammon one")
    return table
