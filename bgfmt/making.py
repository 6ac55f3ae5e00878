"""Solving straight into a file: where the solver and the formats meet.

A table that fits in memory is solved there and written. A large two-sided table is solved into the body of the
new file itself, mapped, with a checksummed scratch file beside it, so that it is never held in memory and a
killed run can go on.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bgfmt import board, formats, solver
from bgfmt.database import save
from bgfmt.errors import CapabilityError, SolverError
from bgfmt.storage import PathLike, create

Progress = Callable[[int, int], None]
HELD_PAIRS = 30_000_000  # larger two-sided tables are solved into their file


@dataclass(frozen=True)
class Plan:
    """What a solve will take: seconds, bytes of memory of its own, bytes of scratch and of output."""

    seconds: float
    memory: int
    scratch: int
    output: int

    def check(self, folder: Path) -> None:
        """SolverError when the disk that holds `folder` has too little room."""
        free = shutil.disk_usage(folder).free
        if self.scratch + self.output > free:
            raise SolverError(
                f"{folder}: needs {_size(self.scratch + self.output)} of disk "
                f"({_size(self.output)} output, {_size(self.scratch)} scratch), {_size(free)} are free"
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
    folder = Path(path).resolve().parent
    plan_one_sided(
        points, chequers, gammon=gammon, compressed=compressed, normal=normal, recipe=recipe
    ).check(folder)
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
    plan = plan_two_sided(points, chequers, cubeful=cubeful, recipe=recipe)
    if not resume:
        plan.check(Path(path).resolve().parent)
    from bgfmt.formats._gnubg_header import canonical_two_sided

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


def plan_one_sided(
    points: int,
    chequers: int = 15,
    *,
    gammon: bool = True,
    compressed: bool = True,
    normal: bool = False,
    recipe: str = "gnubg",
) -> Plan:
    """What solving a one-sided table will take, from a model checked on 6 to 13 points."""
    from bgfmt.solver.one_sided import check_size, memory_needed
    from bgfmt.solver.recipe import recipe as find

    check_size(points, chequers)
    n = board.count(points, chequers)
    memory = memory_needed(points, chequers, gammon=gammon, normal=normal, recipe=find(recipe))
    row = (
        16 if normal else 128 if gammon and not compressed else 64 if not compressed else 36 if gammon else 30
    )
    row = 512 if recipe == "exact" else 90 if recipe == "bgsage" else row
    per_position = (0.06e-6 if normal else 0.11e-6) * points * (1.5 if gammon else 1.0)
    return Plan(1.0 + n * per_position, memory, 0, 40 + n * row)


def plan_two_sided(points: int, chequers: int, *, cubeful: bool = True, recipe: str = "gnubg") -> Plan:
    """What solving a two-sided table will take; the solver's own model."""
    from bgfmt.solver.two_sided import plan

    made = plan(points, chequers, cubeful=cubeful)
    if recipe == "exact":
        return Plan(made.seconds * 8, made.pairs * 64, 0, made.pairs * (32 if cubeful else 8))
    if made.pairs <= HELD_PAIRS:
        return Plan(made.seconds, made.memory_bytes + made.output_bytes, 0, made.output_bytes)
    return Plan(made.seconds, made.memory_bytes, made.scratch_bytes, made.output_bytes)


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
