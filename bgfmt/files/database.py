"""Open databases: `Database` is a file, its format and its table, and answers queries."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from bgfmt import formats, storage
from bgfmt.errors import (
    AmbiguousFormatError,
    CapabilityError,
    ClosedError,
    FormatError,
    NotCoveredError,
    PositionError,
    UnknownFormatError,
)
from bgfmt.formats import Extent, Fault, Format, Reading
from bgfmt.formats.records import lasting
from bgfmt.game.board import Position, Side
from bgfmt.game.drawing import pluralize
from bgfmt.storage import PathLike, Source, source_options
from bgfmt.tables import Answer, Table

__all__ = ["WORDS", "Database", "describe_foreign", "load", "open_database", "read_source"]


MIN_REENCODED_CHARACTERS = 64  # so many multi-byte UTF-8 characters mean the file was re-encoded as text
SCANNED_BYTES = 1 << 16  # in which files of other kinds are recognised
#: first bytes of files that are mistaken for databases, and what to do about them
FOREIGN_STARTS = {
    (b"\x1f\x8b",): "is compressed by gzip; unpack it first",
    (b"BZh",): "is compressed by bzip2; unpack it first",
    (b"\xfd7zXZ",): "is compressed by xz; unpack it first",
    (b"\x28\xb5\x2f\xfd",): "is compressed by zstd; unpack it first",
    (b"7z\xbc\xaf",): "is a 7z archive; unpack it first",
    (b"PK\x03\x04", b"PK\x05\x06"): "is a zip archive; unpack it first",
    (b"z251ymct",): "is text in base64; decode it first",
    (b"[current]", b"<?xml"): "is text; if it is a match equity table, `bgfmt met` reads it",
    (b"<!doctype html", b"<html"): "is an HTML page, not the file to download",
    (b"version https://git-lfs",): "is a pointer of git-lfs, not the file; `git lfs pull` fetches the file",
}


class Database:
    """One table of an open file; made by `bgfmt.open`. A context manager."""

    def __init__(
        self, source: Source, format: Format[Any], reading: Reading[Any], others: list[Extent], rest: int
    ) -> None:
        self.source = source
        self.format = format
        self._table: Table | None = reading.table
        #: where the table lies in the file
        self.extent = reading.extent
        #: other databases found in the same file, and bytes at its end that belong to none
        self.others = others
        self.rest = rest
        self._again: Callable[[], Database] | None = None  # opens it once more

    @property
    def table(self) -> Table:
        """The table, with the file's own numbers; ClosedError once closed."""
        if self._table is None:
            raise ClosedError(f"{self.name} is closed")
        return self._table

    @property
    def kind(self) -> str:
        """The kind of the table, such as "two-sided"."""
        return self.table.kind

    @property
    def points(self) -> int:
        """The number of points of the table."""
        return self.table.points

    @property
    def chequers(self) -> int:
        """The greatest number of chequers a side in the table."""
        return self.table.chequers

    @property
    def reading(self) -> Reading[Any]:
        """The table, and its extent: offset and size in the file."""
        return Reading(self.table, self.extent)

    @property
    def name(self) -> str:
        """The file's path."""
        return self.source.name

    def __str__(self) -> str:
        table = self.table
        facts = [self.format.title]
        if table.points:
            facts += [pluralize(table.points, "point"), pluralize(table.chequers, "chequer")]
            facts.append(f"{table.positions:,} positions")
        said = table.facts() | self.format.info(Reading(table, self.extent))
        facts += [name for name in ("cubeful", "gammon", "compressed") if said.get(name)]
        return " · ".join(facts)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def __repr__(self) -> str:
        return f"<Database {self.name}: {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a database as a call that opens it again: path, format, part and description."""
        if self._again is None:
            raise TypeError(f"{self.name}: only a database in a file can be pickled")
        return self._again, ()

    def lookup(self, asked: Side | Position) -> Answer:
        """Look up a side (one-sided tables) or a position (two-sided ones); NotCoveredError if it is not covered.

        PositionError for one side where both are needed, or the reverse.
        """
        if isinstance(asked, str):
            raise PositionError(f"{asked[:40]!r} is text; Side.parse and Position.parse read it")
        return self.table.lookup(asked)

    def get(self, asked: Side | Position) -> Answer | None:
        """Look up a side or a position like `lookup`, but return None if it lies outside the database."""
        try:
            return self.lookup(asked)
        except NotCoveredError:
            return None

    def covers(self, asked: Side | Position) -> bool:
        """Return whether `lookup` would find this side or position."""
        return self.get(asked) is not None

    def lookup_many(self, us: Any, them: Any = None, *, column: str | None = None) -> np.ndarray[Any, Any]:
        """Look up many sides or positions at once: one number or a row of numbers for each.

        us, them, column : see `Table.lookup_many` of the table.
        """
        return self.table.lookup_many(us, them, column=column)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row per entry: position, pips and numbers; see `Table.to_pandas`."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """Return a polars DataFrame with one row per entry; see `Table.to_pandas`."""
        return self.table.to_polars()

    def audit(self) -> Iterator[Fault]:
        """Iterate over those bytes of the table, header included, that differ from the canonical ones.

        Canonical is what the format's own program writes for the same numbers.
        """
        return self.format.audit(self.source, self.table, self.extent)

    def info(self) -> dict[str, Any]:
        """Return facts about the file: format, size, kind, and how gnubg would use it."""
        reading = self.reading
        form = self.format
        table = reading.table
        out: dict[str, Any] = {"file": self.name, "size": self.source.size}
        out |= {"format": form.name, "title": form.title, "kind": table.kind}
        if table.points:
            out |= {"points": table.points, "chequers": table.chequers, "positions": table.positions}
        details = form.info(reading)
        host = form.host_facts(reading)
        notes = [*details.pop("notes", []), *host.pop("notes", [])]
        if self.others:
            where = ", ".join(f"{extent.size:,} bytes at {extent.offset:,}" for extent in self.others)
            notes.append(f"another database follows in the same file: {where}")
        if self.rest:
            notes.append(f"{self.rest:,} bytes at the end belong to no table")
        out |= table.facts() | details | host
        return out | {"parts": 1 + len(self.others), "notes": notes} | self.source.facts()

    def close(self) -> None:
        """Close the file. Arrays already handed out keep their bytes."""
        self._table = None  # lets go of the bytes
        self.source.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


# -- opening ---------------------------------------------------------------------------------------------


def open_database(
    path: PathLike | BinaryIO,
    *,
    format: str | None = None,
    part: int = 0,
    guard: bool = False,
    **described: Any,
) -> Database:
    """Open a database. The format is recognised by the bytes; the file is mapped and nothing is decoded yet.

    Parameters
    ----------
    path
        The file; or a folder whose files make one table; or an http or https address, which is read by byte
        range (the extra `remote`); or an open seekable binary file.
    format
        Name of the format, to insist on one or if the file does not tell; a description may follow it, as in
        "gnubg-ts:points=4,chequers=2".
    part
        Index of the database in a file that holds several, from 0.
    guard
        Read the file with system calls instead of mapping it: slower, but if another process truncates it a
        TruncatedError is raised and this process is not killed; for servers.
    described
        What a missing header would say: points, chequers, gammon, compressed, cubeful; as much as size and
        content of the file leave open. For an address also the options of its scheme (of http
        addresses page_bytes, cache_pages, whole_bytes, timeout, retries, headers).

    Raises
    ------
    NetworkError, RangeNotSupportedError, SourceChangedError
        Of addresses, also later.
    FormatError
        For bytes that are no database, are cut short, or violate the rules of their format.
    UnknownFormatError
        If a file without header could be more than one table (`readings` lists them).
    """
    options = {}
    if described:
        options = {name: described.pop(name) for name in source_options() & described.keys()}
    source = storage.open_source(path, guard=guard, **options)
    try:
        db = read_source(source, format=format, part=part, **described)
        if isinstance(path, (str, os.PathLike)):
            how: dict[str, Any] = {"format": format, "part": part, "guard": guard}
            db._again = partial(open_database, path, **how, **described, **options)
        return db
    except BaseException:
        source.close()
        raise


def read_source(source: Source, *, format: str | None = None, part: int = 0, **described: Any) -> Database:
    """Read the database in a source (a mapped file, or bytes in memory by `Source.from_bytes`).

    Arguments and errors are those of `open_database`.
    """
    try:
        db = _read(source, format, part, described)
    except FormatError:
        _refuse_foreign(source)
        raise
    if db.rest:
        _refuse_foreign(source)
    return db


def _refuse_foreign(source: Source) -> None:
    """Raise UnknownFormatError if a source is a file of another kind, or was damaged by a transfer."""
    reason = describe_foreign(source.buffer[: min(source.size, SCANNED_BYTES)])
    if reason is not None:
        raise UnknownFormatError(f"{source.name}: {reason}") from None


def describe_foreign(head: Any) -> str | None:
    """Recognise a file of another kind that is often mistaken for a database, or a transfer that damaged the file.

    head : the first bytes of the file. Returns the explanation and advice as text, None if nothing is recognised.
    """
    head = bytes(head)
    text = head[:512].lstrip().lower()
    own_archive = b".npy" in head or b"bgfmt.json" in head
    for starts, reason in FOREIGN_STARTS.items():
        if not own_archive and (text.startswith(starts) or head.startswith(starts)):
            return reason
    if head[257:262] == b"ustar":
        return "is a tar archive; unpack it first"
    lines = head.count(b"\n")
    if 0 < lines == head.count(b"\r\n") and not head.isascii() and b"\0" in head:
        return "a transfer in text mode added a carriage return before every line feed; copy the file in binary mode"
    letters = head.decode("utf-8", "ignore")  # ignoring a character cut by the end
    if b"\0" in head and len(letters) + MIN_REENCODED_CHARACTERS < len(head) < len(letters.encode()) + 4:
        return "its bytes were re-encoded as UTF-8 text; copy the file in binary mode"
    return None


def _read(source: Source, format: str | None, part: int, described: dict[str, Any]) -> Database:
    try:
        formats.recognise(source)
    except AmbiguousFormatError:
        pass
    except UnknownFormatError:  # a file without header is recognised by its content
        with contextlib.suppress(CapabilityError):
            source = source.read_whole()
    chosen, described = choose_format(source, format, described)
    if not chosen.by_range:
        source = source.read_whole()
    first = chosen.read(source, **described)
    if described and first.extent.end != source.size:
        text = f"described so, the table takes {first.extent.size:,} bytes; the file has {source.size:,}"
        raise FormatError(f"{source.name}: {text}")
    readings: list[tuple[Format[Any], Reading[Any]]] = [(chosen, first)]
    end = first.extent.end
    while end < source.size:
        try:
            following = formats.recognise(source, end)
            readings.append((following, following.read(source, end)))
        except FormatError:
            break
        end = readings[-1][1].extent.end
    if not 0 <= part < len(readings):
        raise CapabilityError(f"{source.name} holds {len(readings)} databases; there is no part {part}")
    others = [reading.extent for k, (_, reading) in enumerate(readings) if k != part]
    return Database(source, *readings[part], others, source.size - end)


def load(path: PathLike | BinaryIO, *, format: str | None = None, part: int = 0, **described: Any) -> Table:
    """Load a whole table into memory, independent of its file; arguments as `open_database`."""
    with open_database(path, format=format, part=part, **described) as db:
        arrays: dict[str, Any] = {name: np.array(rows) for name, rows in db.table.arrays().items()}
        return replace(db.table, release=None, carried=lasting(db.table), **arrays)


# -- the format of a file, and the description of a file without header ------------------------------------------

BOUNDS = {"points": 25, "chequers": 15}
MAX_NUMBER = 999_999_999  # of other facts, which a format of a plugin may have
CHECKED_BLOCKS = 64  # of a table, checked against the rules of theory
WORDS = dict.fromkeys(("1", "yes", "true", "on"), True) | dict.fromkeys(("0", "no", "false", "off"), False)


def choose_format(
    source: Source, name: str | None, described: Mapping[str, Any]
) -> tuple[Format[Any], dict[str, Any]]:
    """Choose the format to read a source with, and the description that a file without header needs (else empty).

    name : name of a format, perhaps followed by a description ("gnubg-os:points=3"), or None to recognise it.
    described : further facts of a description, such as points and chequers.

    UnknownFormatError if nothing fits, or more than one table does (`readings` lists them); CapabilityError for
    a description of a format that has no files without header, or an impossible one.
    """
    if name is None:
        if described:
            raise CapabilityError("the format is missing; give FORMAT:KEY=VALUE")
        try:
            return formats.recognise(source), {}
        except UnknownFormatError:
            candidates = formats.guesses(source)
            if not candidates:
                raise
        return _select_candidate(source, candidates)
    plain, _, text = name.partition(":")
    chosen = formats.get(plain)
    pairs = (item.partition("=") for item in filter(None, text.split(",")))
    given = _typed(chosen, {key.strip(): value.strip() or "yes" for key, _, value in pairs} | {**described})
    if not given and (chosen.recognise(formats.head_of(source)) or not chosen.headerless):
        return chosen, {}
    guesses = chosen.guess(source)
    candidates = [(chosen, guess) for guess in guesses if given.items() <= guess.items()]
    if candidates:
        return _select_candidate(source, candidates)
    if not given:
        text = f"has no {plain} header, and its size and content fit no {plain} file without one"
        raise FormatError(f"{source.name}: {text}")
    missing = [key for key in ("points", "chequers") if key in chosen.headerless and key not in given]
    if missing and not (missing == ["chequers"] and "cubeful" not in chosen.headerless and "points" in given):
        raise CapabilityError(
            f"{source.name}: give its {' and '.join(missing)} too, such as {plain}:{missing[0]}=6"
        )
    return chosen, given


def _select_candidate(
    source: Source, candidates: list[tuple[Format[Any], dict[str, Any]]]
) -> tuple[Format[Any], dict[str, Any]]:
    """Return the only candidate whose numbers are plausible; UnknownFormatError if none or more than one is."""
    if len(candidates) > 1:
        candidates = [(f, d) for f, d in candidates if _sensible(source, f, d)] or candidates
    if len(candidates) == 1:
        return candidates[0]
    words = ((form, (f"{key}={value:d}" for key, value in fields.items())) for form, fields in candidates)
    texts = tuple(f"{form.name}:{','.join(said)}" for form, said in words)
    what = f"the file has no header and fits more than one table; give one: {' or '.join(texts)}"
    raise UnknownFormatError(f"{source.name}: {what}", readings=texts)


def _sensible(source: Source, form: Format[Any], described: Mapping[str, Any]) -> bool:
    """Return whether the first blocks of a table break no rule of theory."""
    try:
        table = form.read(source, **described).table
        blocks = islice(table.blocks(), CHECKED_BLOCKS)
        return not any(b.bad.any() for rows, block in blocks for b in table.breaches(rows.start, block))
    except FormatError:
        return False


def _typed(form: Format[Any], described: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description with the types and bounds of its format; fields that are None are dropped."""
    unknown = sorted(set(described) - set(form.headerless))
    if unknown:
        raise CapabilityError(f"{form.name} files have no key {', '.join(unknown)}")
    out: dict[str, Any] = {}
    for key, value in described.items():
        if value is None:
            continue
        typed: int | None
        if form.headerless[key] is bool:
            typed = WORDS.get(str(value).lower())
            expected = "yes or no"
        else:
            most = BOUNDS.get(key, MAX_NUMBER)
            text = str(value)
            number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
            typed = number if 1 <= number <= most else None
            expected = f"a number from 1 to {most:,}"
        if typed is None:
            raise CapabilityError(f"{form.name}: {key} must be {expected}, not {value!r}")
        out[key] = typed
    return out
