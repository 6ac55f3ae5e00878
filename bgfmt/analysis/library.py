"""Which databases are asked: those named, or those of this machine.

A name may be a file or a folder of files. Where none is given these are tried in turn, and the first that has any
database is the library:

1. the files and folders in the environment variable BGFMT_DB, parted as those in PATH are;
2. what GNU Backgammon has installed, with the default table of the kind (one-sided, two-sided) that it lacks;
3. the default tables: one-sided 6 points and two-sided 6x6, made once in about two seconds and kept in the user's
   data folder (`folder()`).

Beside them the one-sided table of ten points is made, once in about ten seconds, the first time that a race outside
the home boards is asked for, and the mean rolls of twelve, in twenty, where one beyond is played out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from bgfmt import formats
from bgfmt.analysis.choose import Asked
from bgfmt.errors import BgfmtError, UnknownFormatError
from bgfmt.files import gnubg_folders as folders
from bgfmt.files.database import Database, open_database
from bgfmt.storage import PathLike
from bgfmt.tables import MeanRolls, OneSided, Table, TwoSided

VARIABLE = "BGFMT_DB"
#: the default tables: file name, kind of table, points, what they are called when they are made
DEFAULTS = (
    ("gnubg_os0.bd", OneSided.kind, 6, "the default tables"),
    ("gnubg_ts0.bd", TwoSided.kind, 6, "the default tables"),
)
#: the one of races outside the home boards, without gammons; its rows are read where they lie
FAR = ("bgfmt_os10.bd", OneSided.kind, 10, "the one-sided table of 10 points")
#: of play-outs beyond it
WIDE = ("bgfmt_means12.npz", MeanRolls.kind, 12, "the mean rolls of 12 points")
#: gnubg's files of ordinary backgammon, the larger ones of each kind beside those it always has
GNUBG_FILES = ("gnubg_ts.bd", "gnubg_ts0.bd", "gnubg_os.bd", "gnubg_os0.bd")

Say = Callable[[str], None]
_making = Lock()  # one thread makes a table, others wait for its file


class Library:
    """Databases with their names, in the order in which they were given. A context manager.

    notes : what was left out and why, a line each.
    """

    def __init__(
        self, databases: Iterable[Asked] = (), *, opened: Iterable[Database] = (), notes: Iterable[str] = ()
    ) -> None:
        self._opened = list(opened)
        self.notes = list(notes)
        self.databases: list[Asked] = [*databases, *self._opened]
        names = [_name(one, os.path.basename) for one in self.databases]
        names = [
            _name(one, str) if names.count(k) > 1 else k for one, k in zip(self.databases, names, strict=True)
        ]
        self._names = {id(table): name for table, name in zip(self.tables, names, strict=True)}

    @classmethod
    def of(cls, asked: Library | Asked | PathLike | Sequence[Asked | PathLike] | None) -> Library:
        """The library of whatever stands for databases; None for those of this machine."""
        if isinstance(asked, Library):
            return asked
        if asked is None:
            return standing()
        single = isinstance(asked, (str, os.PathLike, Database, Table))
        several: Any = [asked] if single else asked
        library = named(one for one in several if isinstance(one, (str, os.PathLike)))
        return cls(
            [one for one in several if isinstance(one, (Database, Table))],
            opened=library._opened,
            notes=library.notes,
        )

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.databases)

    def close(self) -> None:
        """Close the databases that were opened here."""
        while self._opened:
            self._opened.pop().close()

    @property
    def tables(self) -> list[Table]:
        """The tables, in order."""
        return [one.table if isinstance(one, Database) else one for one in self.databases]

    def lines(self) -> list[str]:
        """What is asked, a line each, and what was left out."""
        held = [f"{self.name(t)}: {o}" for t, o in zip(self.tables, self.databases, strict=True)]
        return held + self.notes

    def name(self, table: Table) -> str:
        """What a table is called: the name of its file, or its kind and size where it is in memory."""
        return self._names.get(id(table)) or _name(table, str)


def _name(one: Asked, of_path: Callable[[str], str]) -> str:
    """What a table is called: that of a file by its path, where `of_path` says how much of it is wanted."""
    return of_path(one.name) if isinstance(one, Database) else f"{one.kind} {one.points}x{one.chequers}"


# -- files and folders -----------------------------------------------------------------------------------


def named(paths: Iterable[PathLike], **reading: Any) -> Library:
    """The databases of files and folders; `reading` are options of `bgfmt.open`, for the files named themselves.

    A folder may be one database, as a store of chunks is, or hold several.
    Files of a folder that are no database are passed over, broken ones are named in the notes; of a file named
    itself every error is raised. UnknownFormatError for a folder without any database.
    """
    opened: list[Database] = []
    notes: list[str] = []
    try:
        for path in paths:
            try:
                opened.append(open_database(path, **reading))
                continue
            except OSError:
                if not os.path.isdir(path):
                    raise
            found = list(_scanned(Path(path), notes))
            if not found:
                raise UnknownFormatError(f"{os.fspath(path)}: no database in this folder")
            opened += found
    except BaseException:
        for one in opened:
            one.close()
        raise
    return Library(opened=opened, notes=notes)


def _scanned(folder: Path, notes: list[str]) -> Iterator[Database]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not path.is_file():
            continue
        try:
            yield open_database(path)
        except UnknownFormatError:
            continue
        except (BgfmtError, OSError) as error:
            notes.append(f"{path.name} is left out: {error}")


# -- those of this machine -------------------------------------------------------------------------------


def standing(say: Say | None = None) -> Library:
    """The databases of this machine. `say` takes a line when the default tables are made (stderr if None)."""
    variable = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    if variable:
        return named(variable)
    notes: list[str] = []
    opened: list[Database] = []
    for path in _gnubg_files():
        try:
            opened.append(open_database(path))
        except (BgfmtError, OSError) as error:
            notes.append(f"{path} is left out: {error}")
    kinds = {one.table.kind for one in opened}
    announce = cache(say or _to_stderr)  # once
    tables: list[Table] = []
    for default in DEFAULTS:
        if default[1] not in kinds:
            table = _default(*default, announce)
            (opened if isinstance(table, Database) else tables).append(table)  # type: ignore[arg-type]
    return Library(tables, opened=opened, notes=notes)


def _gnubg_files() -> Iterator[Path]:
    try:
        found = dict.fromkeys(folders.stock(folders.detect()))
    except BgfmtError:
        return
    for each in found:
        for file in GNUBG_FILES:
            path = each / file
            if path.is_file():
                yield path


def folder() -> Path:
    """Where the default tables are kept: `bgfmt/tables` in the user's folder for programs' data."""
    return folders.user_data() / "bgfmt" / "tables"


def distributions(far: bool, say: Say | None = None) -> Any:
    """(boards, rolls) uint16: the rows of the one-sided default table of six points, or ten where a race is `far`.

    Chances in 65535ths to bear off the last chequer. The table is made the first time and kept.
    """
    rows = np.ascontiguousarray(one_sided_default(far, say).bearoff[:])
    rows.flags.writeable = False  # as what is mapped, so that kernels are compiled once
    return rows


@cache
def one_sided_default(far: bool, say: Say | None = None) -> OneSided:
    """The one-sided default table of ten points where a race is `far`, else of six; made the first time and kept."""
    return _table(*(FAR if far else DEFAULTS[0]), (say or _to_stderr) if far else lambda _: None)  # type: ignore[no-any-return]


@cache
def sums() -> Any:
    """(boards,) int32: mean rolls of boards on twelve points, in 65535ths; the table is made and kept as those."""
    return np.rint(65535 * _table(*WIDE, _to_stderr).means[:]).astype(np.int32)


def _table(*default: Any) -> Any:
    with _making:
        found = _default(*default)
    return found.table if isinstance(found, Database) else found


def _default(name: str, kind: str, points: int, called: str, say: Say) -> Database | Table:
    """A default table, kept earlier or made and kept now; where it cannot be kept it serves this once."""
    path = folder() / name
    far = name == FAR[0]
    with suppress(BgfmtError, OSError):  # missing or broken
        found = open_database(path)
        if found.table.kind == kind:
            return found
        found.close()
    from bgfmt import solver
    from bgfmt.files.convert import save

    say(f"making {called} in {folder()}, once")
    table: Table
    if kind == MeanRolls.kind:
        table = solver.mean_rolls(points)
    elif kind == TwoSided.kind:
        table = solver.two_sided(points, points)
    else:
        table = solver.one_sided(points, gammon=not far)
    options: dict[str, Any] = {"compressed": False, "gammon": False} if far else {}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        form = formats.default_format(table).name if path.suffix == ".bd" else None
        save(table, path, format=form, force=True, **options)
        return open_database(path)
    except OSError:
        return table


def _to_stderr(text: str) -> None:
    print(f"bgfmt: {text}", file=sys.stderr, flush=True)
