"""The databases that queries go to: those named, or the default ones of this machine.

A name is a file or a folder of files. Without names these are tried in turn, and the first that has any database is
the library:

1. the files and folders in the environment variable BGFMT_DB, separated like those in PATH;
2. the files of GNU Backgammon, in its own folders and in its data folder of this user (~/.local/share/gnubg), with
   the default table of the kind (one-sided, two-sided) that is not among them;
3. the default tables: one-sided 6 points and two-sided 6x6, solved once in about two seconds and stored in the user's
   data folder (`folder()`).

Two more default tables are solved and stored when first needed: the one-sided table of ten points (about ten seconds)
for a race outside the home boards, and the mean rolls of twelve points (twenty seconds) for rollouts beyond these.
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

__all__ = [
    "DEFAULTS",
    "FAR",
    "GNUBG_FILES",
    "VARIABLE",
    "WIDE",
    "Library",
    "distributions",
    "folder",
    "one_sided_default",
    "open_default",
    "open_paths",
    "wide_means",
]


VARIABLE = "BGFMT_DB"
#: the default tables: file name, kind of table, points, and the name in the message when they are solved
DEFAULTS = (
    ("gnubg_os0.bd", OneSided.kind, 6, "the default tables"),
    ("gnubg_ts0.bd", TwoSided.kind, 6, "the default tables"),
)
#: the same for races outside the home boards; without gammons and uncompressed, so that rows are read in place
FAR = ("bgfmt_os10.bd", OneSided.kind, 10, "the one-sided table of 10 points")
#: the same for rollouts of chequers beyond these
WIDE = ("bgfmt_means12.npz", MeanRolls.kind, 12, "the mean rolls of 12 points")
#: gnubg's files of ordinary backgammon, of each kind the optional larger one first
GNUBG_FILES = ("gnubg_ts.bd", "gnubg_ts0.bd", "gnubg_os.bd", "gnubg_os0.bd")

_making = Lock()  # one thread solves a default table, others wait for its file


class Library:
    """An ordered list of databases and their names. A context manager.

    databases : databases and tables that the caller opened, and closes.
    opened : databases that `close` closes.
    notes : files that were skipped and why, a line each.
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
        """Return a library of databases, tables or paths, one or several; None for the default databases.

        A library is returned as it is.
        """
        if isinstance(asked, Library):
            return asked
        if asked is None:
            return open_default()
        single = isinstance(asked, (str, os.PathLike, Database, Table))
        several: Any = [asked] if single else asked
        library = open_paths(one for one in several if isinstance(one, (str, os.PathLike)))
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
        """Close the databases that this library opened."""
        while self._opened:
            self._opened.pop().close()

    @property
    def tables(self) -> list[Table]:
        """The tables of the databases, in the order in which these were given."""
        return [one.table if isinstance(one, Database) else one for one in self.databases]

    def lines(self) -> list[str]:
        """Return a line of text for each database (its name, kind and size), then the notes about skipped files."""
        lines = [f"{self.name(t)}: {o}" for t, o in zip(self.tables, self.databases, strict=True)]
        return lines + self.notes

    def name(self, table: Table) -> str:
        """Return the name of a table: that of its file, or its kind and size if it has none."""
        return self._names.get(id(table)) or _name(table, str)


def _name(one: Asked, of_path: Callable[[str], str]) -> str:
    """Return the name of a database, by `of_path` of its path, or kind and size of a table in memory."""
    return of_path(one.name) if isinstance(one, Database) else f"{one.kind} {one.points}x{one.chequers}"


# -- files and folders -----------------------------------------------------------------------------------


def open_paths(paths: Iterable[PathLike], **reading: Any) -> Library:
    """Open the databases of files and folders.

    A folder may be one database, as a store of chunks is, or have several files. Of these files, those that are no
    database are skipped, and broken ones are listed in the library's notes.

    Parameters
    ----------
    paths
        Files and folders.
    reading
        Options of `bgfmt.open`, used for `paths` but not for files in a folder.

    Raises
    ------
    UnknownFormatError
        A folder has no database. Errors of opening a path in `paths` are raised too.
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
                raise UnknownFormatError(f"{os.fspath(path)}: there is no database in this folder")
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
            notes.append(f"{path.name} is skipped: {error}")


# -- the default databases -------------------------------------------------------------------------------


def open_default() -> Library:
    """Open this machine's default databases.

    They are those in the environment variable BGFMT_DB; else gnubg's installed files, and tables that bgfmt has
    solved and stored, one-sided and two-sided, for kinds that are not among them.

    A line on stderr says if default tables have to be solved.
    """
    variable = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    if variable:
        return open_paths(variable)
    notes: list[str] = []
    opened: list[Database] = []
    for path in _gnubg_files():
        try:
            opened.append(open_database(path))
        except (BgfmtError, OSError) as error:
            notes.append(f"{path} is skipped: {error}")
    kinds = {one.table.kind for one in opened}
    announce = cache(_to_stderr)  # once
    tables: list[Table] = []
    for default in DEFAULTS:
        if default[1] not in kinds:
            table = _default(*default, announce)
            (opened if isinstance(table, Database) else tables).append(table)  # type: ignore[arg-type]
    return Library(tables, opened=opened, notes=notes)


def _gnubg_files() -> Iterator[Path]:
    """Yield the files of gnubg that are installed: its own folders first, then its data folder of this user."""
    found: dict[Path, None] = {}
    with suppress(BgfmtError):
        found = dict.fromkeys(folders.stock(folders.detect()))
    found[folders.user_folder()] = None
    for each in found:
        for file in GNUBG_FILES:
            path = each / file
            if path.is_file():
                yield path


def folder() -> Path:
    """Return the folder in which bgfmt stores its default tables, in the user's folder for application data."""
    return folders.user_data() / "bgfmt" / "tables"


def distributions(far: bool) -> Any:
    """Return the distributions of rolls of a default one-sided table.

    far : as of `one_sided_default`.

    Returns
    -------
    (boards, rolls) uint16, read-only: probability of bearing off the last chequer in exactly i rolls, in 65535ths,
    by position number.
    """
    rows = np.ascontiguousarray(one_sided_default(far).bearoff[:])
    rows.flags.writeable = False  # as what is mapped, so that kernels are compiled once
    return rows


@cache
def one_sided_default(far: bool) -> OneSided:
    """Return the one-sided table that bgfmt uses where no database is named; it is solved and stored on first use.

    far : the table of ten points, else that of six. A line on stderr says if the former has to be solved.
    """
    return _table(*(FAR if far else DEFAULTS[0]), _to_stderr if far else lambda _: None)  # type: ignore[no-any-return]


@cache
def wide_means() -> Any:
    """Return (boards,) int32, the mean rolls of all boards on twelve points, in 65535ths, by position number.

    The default table `WIDE` is solved and stored if it doesn't exist yet.
    """
    return np.rint(65535 * _table(*WIDE, _to_stderr).means[:]).astype(np.int32)


def _table(*default: Any) -> Any:
    with _making:
        found = _default(*default)
    return found.table if isinstance(found, Database) else found


def _default(name: str, kind: str, points: int, called: str, say: Callable[[str], None]) -> Database | Table:
    """Open a default table, or solve and store it; if it can't be stored, return it in memory."""
    path = folder() / name
    far = name == FAR[0]
    with suppress(BgfmtError, OSError):  # missing or broken
        found = open_database(path)
        if found.table.kind == kind:
            return found
        found.close()
    from bgfmt import solver
    from bgfmt.files.convert import save

    say(f"solving {called} into {folder()}, once")
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
