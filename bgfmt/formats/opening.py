"""Where a table's bytes lie: a file, an address, an open file, or a folder whose files make one table."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from bgfmt import formats, storage
from bgfmt.formats.base import Format, Options
from bgfmt.storage import FolderSource, PathLike, Sink, Source
from bgfmt.tables import Table

MOST_NAMES = 10_000  # of a folder, that are looked at


def open_source(path: PathLike | BinaryIO, *, guard: bool = False, **options: Any) -> Source:
    """As `bgfmt.storage.open_source`; a folder is opened where its files make a table of some format.

    FormatError where some of these files are missing, OSError for any other folder.
    """
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        parts = parts_of(path)
        if parts:
            return FolderSource(path, parts, guard=guard)
    return storage.open_source(path, guard=guard, **options)


def parts_of(folder: PathLike) -> list[str] | None:
    """The files of a folder that make one table, in order; None where they make none.

    FormatError where some of them are missing.
    """
    with os.scandir(folder) as entries:
        names = [entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False)]
    each = (form.parts(os.fspath(folder), names) for form in formats.known().values())
    return next((parts for parts in each if parts), None)


@contextlib.contextmanager
def create(
    path: PathLike, form: Format[Any], table: Table, options: Options, *, force: bool
) -> Iterator[Sink]:
    """A new file, or folder of files, for a table in a format; it appears whole or not at all."""
    files = form.files(table, options)
    with (
        storage.create_folder(path, files, force=force)
        if files
        else storage.create(path, force=force) as sink
    ):
        yield sink
