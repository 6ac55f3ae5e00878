"""The complete table for a site, and what goes with it: made where it is not given, in files that free hosts take."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bgfmt.errors import CapabilityError
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.storage import system
from bgfmt.storage.source import Progress
from bgfmt.tables import OneSided, TwoSided

#: parts begin at a multiple of it, as the reader's pages do, and overlap by it, so that every record lies in one
GRAIN = 64 << 10
COPIED = 8 << 20
MET = "Kazaross-XG2.xml"
TABLES = ".tables"  # what is made lies in OUT.tables until the site is there

#: a size of parts that most hosts take
PART = 100_000_000

#: `making(what)` is a context manager that gives the progress of making it
Making = Callable[[str], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class Sizes:
    """Points and chequers of the two-sided table; chequers of a small one, from which the first answers come with the
    fewest bytes; points of the one-sided table of races outside the home boards."""

    points: int = 6
    chequers: int = 15
    few: int = 6
    far: int = 10


COMPLETE = Sizes()


def tables(given: list[str], folder: Path, making: Making) -> list[str]:
    """The files of a complete site: those given, and in `folder`, made now or earlier, those that they lack."""
    home, most, few, far = COMPLETE.points, COMPLETE.chequers, COMPLETE.few, COMPLETE.far
    with Holdings.open(given) as holdings:
        here = [held.table for held in holdings if held.table.points >= home]
        two = [t for t in here if isinstance(t, TwoSided) and not t.exact and t.equities.shape[2] == 4]
        one = [t for t in here if isinstance(t, OneSided)]
        wanted: tuple[tuple[str, bool, Callable[..., None], tuple[Any, ...]], ...] = (
            (f"{home}x{most}.bgts", any(t.chequers >= most for t in two), _two_sided, (home, most)),
            ("gnubg_ts0.bd", any(few <= t.chequers < most for t in two), _solved, ("two-sided", home, few)),
            ("gnubg_os0.bd", any(t.gammon is not None for t in one), _solved, ("one-sided", home, 15)),
            (f"bgfmt_os{far}.bd", any(t.points >= far for t in one), _solved, ("one-sided", far, 15, False)),
        )
    made = []
    for name, there, make, how in wanted:
        if not there:
            made.append(folder / name)
            if not made[-1].exists():
                folder.mkdir(exist_ok=True)
                make(made[-1], making, *how)
    return [*given, *map(str, made)]


def _two_sided(path: Path, making: Making, points: int, chequers: int) -> None:
    """Solved into a store, from which an ended run goes on, and packed."""
    from bgfmt.files.convert import convert
    from bgfmt.files.solve import solve_table
    from bgfmt.files.stores import remove

    store = path.with_suffix(".store")
    with making("solving") as progress:
        solve_table("two-sided", points, chequers, store=store, resume=store.exists(), progress=progress)
    with making("packing") as progress:
        convert(store, path, progress=progress)
    remove(str(store))


def _solved(path: Path, making: Making, what: str, points: int, chequers: int, gammon: bool = True) -> None:
    from bgfmt.files.solve import solve_table

    options: dict[str, Any] = {} if gammon else {"compressed": False, "gammon": False}
    with making("solving") as progress:
        solve_table(what, points, chequers, path, progress=progress, **options)


def part_size(most: int) -> int:
    """The size of parts of at most that many bytes; CapabilityError where that is less than two pages."""
    if most < 2 * GRAIN:
        raise CapabilityError(f"parts have at least {2 * GRAIN:,} bytes, not {most:,}")
    return most - most % GRAIN


def cut(source: Path, folder: Path, name: str, most: int, progress: Progress) -> dict[str, Any]:
    """A file in parts NAME.000, NAME.001, ... of `most` bytes: what `site.json` says of it."""
    total, size, summed = hashlib.sha256(), source.stat().st_size, 0
    parts: list[dict[str, str | int]] = []
    with open(source, "rb") as file, system.said_of(folder):
        for k, start in enumerate(range(0, size, most - GRAIN)):
            part, left = folder / f"{name}.{k:03}", min(most, size - start)
            parts.append({"url": f"tables/{quote(part.name)}", "at": start, "size": left})
            file.seek(start)
            with open(part, "wb") as out:
                for piece in _pieces(file, left):
                    total.update(piece[summed - (file.tell() - len(piece)) :])
                    summed = file.tell()
                    out.write(piece)
                    progress(summed, size)
    return {"parts": parts, "sha256": total.hexdigest()}


def _pieces(file: Any, left: int) -> Iterator[bytes]:
    while left:
        piece = file.read(min(COPIED, left))
        if not piece:
            raise OSError("the file became shorter while it was copied")
        left -= len(piece)
        yield piece
