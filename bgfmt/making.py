"""Solving straight into a file: where the solver and the formats meet.

A table that fits in memory is solved there and written. A large two-sided table is solved into the body of the
new file itself, mapped, with a checksummed scratch file beside it, so that it is never held in memory and a
killed run can go on.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bgfmt import formats, solver
from bgfmt.converting import save
from bgfmt.errors import CapabilityError, SolverError
from bgfmt.game import board
from bgfmt.solver.two_sided import HELD_PAIRS
from bgfmt.storage import PathLike, create

Progress = Callable[[int, int], None]


def check_disk(plan: solver.Plan, folder: Path) -> None:
    """SolverError when the disk that holds `folder` has too little room."""
    free = shutil.disk_usage(folder).free
    if plan.scratch + plan.output > free:
        raise SolverError(
            f"{folder}: needs {_size(plan.scratch + plan.output)} of disk "
            f"({_size(plan.output)} output, {_size(plan.scratch)} scratch), {_size(free)} are free"
        )


def _size(number: float) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


def solve_one_sided(
    path: PathLike,
    points: int,
    *,
    chequers: int = 15,
    gammon: bool = True,
    compressed: bool = True,
    normal: bool = False,
    header: bool = True,
    recipe: str = "gnubg",
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Solve a one-sided table into a file, by default gnubg's (bgsage's for that recipe, npz for exact)."""
    format = (
        format or {"bgsage": "bgsage", "exact": "npz"}.get(recipe) or ("gnubg-nd" if normal else "gnubg-os")
    )
    options: dict[str, Any] = {}
    if format in ("gnubg-os", "gnubg-nd"):
        options["header"] = header
    if format == "gnubg-os":
        options["compressed"] = compressed
    target = formats.get(format)
    target.check_options(options)
    _early_refusal(path, force)
    planned = solver.plan(
        "one-sided", points, chequers, gammon=gammon, compressed=compressed, normal=normal, recipe=recipe
    )
    check_disk(planned, Path(path).resolve().parent)
    table = solver.one_sided(
        points,
        chequers=chequers,
        gammon=gammon,
        normal=normal,
        recipe=recipe,
        threads=threads,
        progress=progress,
    )
    save(table, path, format=format, force=force, **options)


def solve_expected_rolls(
    path: PathLike,
    *,
    points: int = 6,
    chequers: int = 15,
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Solve Peelle's table of expected rolls into a J component file (or npz)."""
    _early_refusal(path, force)
    table = solver.expected_rolls(points, chequers, threads=threads, progress=progress)
    save(table, path, format=format or "jfile", force=force)


def solve_two_sided(
    path: PathLike,
    points: int,
    chequers: int,
    *,
    cubeful: bool = True,
    header: bool = True,
    recipe: str = "gnubg",
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    resume: bool = False,
    scratch: PathLike | None = None,
) -> None:
    """Solve a two-sided table into a file, by default gnubg's (npz for recipe exact).

    Large tables keep a scratch file (`path` with ".scratch" behind it unless `scratch` says where) until they
    are whole; with `resume` a run goes on from what an earlier one left there.
    """
    format = format or ("npz" if recipe == "exact" else "gnubg-ts")
    _early_refusal(path, force)
    n = board.count(points, chequers)
    values = 4 if cubeful else 1
    large = n * n > HELD_PAIRS
    if recipe == "exact" or format != "gnubg-ts" or not (large or resume):
        if resume:
            raise CapabilityError("only a gnubg-ts table of recipe gnubg can be resumed")
        table = solver.two_sided(
            points, chequers, cubeful=cubeful, recipe=recipe, threads=threads, progress=progress
        )
        options = {"header": header} if format == "gnubg-ts" else {}
        save(table, path, format=format, force=force, **options)
        return
    beside = Path(scratch) if scratch is not None else Path(f"{os.fspath(path)}.scratch")
    if not (resume and beside.exists()):
        planned = solver.plan("two-sided", points, chequers, cubeful=cubeful, recipe=recipe)
        check_disk(planned, Path(path).resolve().parent)
    from bgfmt.formats.gnubg.header import canonical_two_sided

    with create(path, force=force) as sink:
        if header:
            sink.write(canonical_two_sided(points, chequers, cubeful=cubeful))
        body = sink.reserve(n * n * values * 2).view("<u2").reshape(n, n, values)
        solver.two_sided(
            points,
            chequers,
            cubeful=cubeful,
            recipe=recipe,
            threads=threads,
            progress=progress,
            out=body,
            scratch=beside,
            resume=resume,
        )
    beside.unlink(missing_ok=True)


def _early_refusal(path: PathLike, force: bool) -> None:
    """Say before hours of work, not after, that the result could not be put there."""
    target = Path(path)
    if target.exists() and not force:
        from bgfmt.errors import OutputExistsError

        raise OutputExistsError(f"{target}: exists already (--force replaces it)")
    if target.is_dir():
        raise IsADirectoryError(f"{target}: is a directory")
    folder = target.resolve().parent
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder}: no such folder")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder}: not writable")
