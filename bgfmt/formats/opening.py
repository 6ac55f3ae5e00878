"""Where a table's bytes lie: a file, an address, an open file, or a folder whose files make one table."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

from bgfmt import formats, storage
from bgfmt.errors import CapabilityError, FormatError, UnknownFormatError
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


# ---- which format a file is of, and what a file without header would have said

BOUNDS = {"points": 25, "chequers": 15}
BLOCKS = 64  # of a table, that are held against theory
YES, NO = {"1", "yes", "true", "on"}, {"0", "no", "false", "off"}


def settle(
    source: Source, name: str | None, described: Mapping[str, Any]
) -> tuple[Format[Any], dict[str, Any]]:
    """The format to read a source with, and the description that a file without header needs (empty for others).

    name : of a format, perhaps with a description behind it ("gnubg-os:points=3"), or None to find it.

    Raises
    ------
    UnknownFormatError
        Nothing fits; or more than one table does, and its `readings` are listed.
    CapabilityError
        A description of a format that has no files without header, or one that no file can have.
    """
    if name is None:
        if described:
            raise CapabilityError("say which format the description is of")
        try:
            return formats.recognise(source), {}
        except UnknownFormatError:
            candidates = formats.guesses(source)
            if not candidates:
                raise
        return _only(source, candidates)
    plain, _, text = name.partition(":")
    chosen = formats.get(plain)
    given = _typed(chosen, {**_parsed(text), **described})
    if not given and (chosen.recognise(formats.head_of(source)) or not chosen.headerless):
        return chosen, {}
    candidates = [
        (chosen, guess)
        for guess in chosen.guess(source)
        if all(guess.get(key) == value for key, value in given.items())
    ]
    if len(candidates) > 1 or (candidates and not given):
        return _only(source, candidates)
    if candidates:
        return candidates[0]
    if not given:
        raise FormatError(
            f"{source.name}: has no {plain} header, and its size and content fit no {plain} file without one"
        )
    missing = [key for key in ("points", "chequers") if key in chosen.headerless and key not in given]
    if missing and not (missing == ["chequers"] and "cubeful" not in chosen.headerless and "points" in given):
        raise CapabilityError(f"{source.name}: say also its {' and '.join(missing)}")
    return chosen, given


def fitting(source: Source, name: str | None, hints: Mapping[str, Any]) -> dict[str, Any]:
    """Of hints, those that describe a file without header; none where it has one or they fit no reading."""
    if name is None or ":" in name:
        return {}
    chosen = formats.get(name)
    if chosen.recognise(formats.head_of(source)):
        return {}
    wanted = {k: v for k, v in hints.items() if k in chosen.headerless and v is not None}
    guesses = chosen.guess(source)
    fits = any(all(guess.get(k) == v for k, v in wanted.items()) for guess in guesses)
    return wanted if fits or not guesses else {}


def spelled(form: Format[Any], described: Mapping[str, Any]) -> str:
    """A description as it is typed: gnubg-ts:points=4,chequers=2,cubeful=1."""
    return f"{form.name}:{','.join(f'{key}={value:d}' for key, value in described.items())}"


def _only(
    source: Source, candidates: list[tuple[Format[Any], dict[str, Any]]]
) -> tuple[Format[Any], dict[str, Any]]:
    """The one candidate whose numbers make sense; UnknownFormatError where none or more than one does."""
    if len(candidates) > 1:
        candidates = [(f, d) for f, d in candidates if _sensible(source, f, d)] or candidates
    if len(candidates) == 1:
        return candidates[0]
    texts = tuple(spelled(form, described) for form, described in candidates)
    raise UnknownFormatError(
        f"{source.name}: no header, and it fits more than one table; say which: {' or '.join(texts)}",
        readings=texts,
    )


def _sensible(source: Source, form: Format[Any], described: Mapping[str, Any]) -> bool:
    """Whether the first blocks of a table break no rule of theory."""
    try:
        table = form.read(source, **described).table
        for rows, block in islice(table.blocks(), BLOCKS):
            if any(breach.bad.any() for breach in table.breaches(rows.start, block)):
                return False
    except FormatError:
        return False
    return True


def _parsed(text: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in filter(None, text.split(",")))
    return {key.strip(): value.strip() or "yes" for key, _, value in pairs}


def _typed(form: Format[Any], described: Mapping[str, Any]) -> dict[str, Any]:
    """A description in the types and bounds its format has; fields that are None are left out."""
    unknown = sorted(set(described) - set(form.headerless))
    if unknown:
        raise CapabilityError(f"{form.name} files are not described by {', '.join(unknown)}")
    out: dict[str, Any] = {}
    for key, value in described.items():
        if value is None:
            continue
        if form.headerless[key] is bool:
            word = str(value).lower()
            if word not in YES | NO:
                raise CapabilityError(f"{form.name}: {key} is yes or no, not {value!r}")
            out[key] = word in YES
            continue
        try:
            out[key] = int(value)
        except (TypeError, ValueError):
            raise CapabilityError(f"{form.name}: {key} is a number, not {value!r}") from None
        most = BOUNDS.get(key, out[key])
        if isinstance(value, bool) or not 1 <= out[key] <= most:
            raise CapabilityError(f"{form.name}: {key} is a number from 1 to {most}, not {value!r}")
    return out
