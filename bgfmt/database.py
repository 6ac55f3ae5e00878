"""An opened database: a file, its format, its table, and the questions it answers; and the front door to them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt import formats, reshape
from bgfmt.errors import CapabilityError, ClosedError, FormatError, NotCoveredError, UnknownFormatError
from bgfmt.formats.base import HEAD_BYTES, Extent, Format, Head
from bgfmt.game.board import Position, Side
from bgfmt.storage import PathLike, Source, create
from bgfmt.tables import BLOCK_BYTES, Answer, Table, TwoSided


class Database:
    """One table of an opened file. A context manager; made by `bgfmt.open`."""

    def __init__(self, source: Source, format: Format, table: Table, others: list[Extent], rest: int) -> None:
        self.source, self.format, self._table = source, format, table
        #: other databases found in the same file, and bytes at its end that belong to none
        self.others, self.rest = others, rest

    @property
    def table(self) -> Table:
        """The table: the file's own numbers."""
        self.source.buffer  # noqa: B018 - raises ClosedError once closed
        return self._table

    @property
    def name(self) -> str:
        """The file's path."""
        return self.source.name

    def __str__(self) -> str:
        table = self._table
        facts = [self.format.title]
        if table.points:
            facts += [
                f"{table.points} points",
                f"{table.chequers} chequers",
                f"{table.positions:,} positions",
            ]
        info = self.format.info(table)
        facts += [name for name in ("cubeful", "gammon", "compressed") if info.get(name)]
        return " · ".join(facts)

    def __repr__(self) -> str:
        return f"<Database {self.name}: {self}>"

    def lookup(self, asked: Side | Position) -> Answer:
        """What the database says of a side or a position; NotCoveredError when it lies outside."""
        return self.table.lookup(asked)

    def get(self, asked: Side | Position) -> Answer | None:
        """Like `lookup`, but None for a position outside the database."""
        try:
            return self.lookup(asked)
        except NotCoveredError:
            return None

    def covers(self, asked: Side | Position) -> bool:
        """Whether `lookup` would answer."""
        return self.get(asked) is not None

    def lookup_many(self, us: Any, them: Any = None, *, column: str | None = None) -> np.ndarray[Any, Any]:
        """What the database says of many positions at once; see the table's own `lookup_many`."""
        return self.table.lookup_many(us, them, column=column)

    def info(self) -> dict[str, Any]:
        """Facts for a person or a program: what the file is, and what gnubg makes of it."""
        table = self.table
        out: dict[str, Any] = {
            "file": self.name,
            "size": self.source.size,
            "format": self.format.name,
            "title": self.format.title,
            "kind": table.kind,
        }
        if table.points:
            out |= {"points": table.points, "chequers": table.chequers, "positions": table.positions}
        details = self.format.info(table)
        notes = list(details.pop("notes", []))
        if self.others:
            where = ", ".join(f"{extent.size:,} bytes at {extent.offset:,}" for extent in self.others)
            notes.append(f"another database follows in the same file: {where} (--part reads it)")
        if self.rest:
            notes.append(f"{self.rest:,} bytes at the end belong to no table")
        return out | details | {"parts": 1 + len(self.others), "notes": notes}

    def close(self) -> None:
        """Close the file. Arrays already handed out keep their bytes."""
        self._table = _Closed(self.name)  # type: ignore[assignment]
        self.source.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _Closed:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise ClosedError(f"{self._name} is closed")


# -- the front door --------------------------------------------------------------------------------------


def open_database(path: PathLike, *, format: str | None = None, part: int = 0, **described: Any) -> Database:
    """Open a database: recognised by its bytes, mapped, nothing decoded.

    Parameters
    ----------
    path
        The file.
    format
        Name of the format, where the file does not say (a file without header) or to insist on one.
    part
        Which database of a file that holds several, 0 the first.
    described
        What a missing header would have said: points, chequers, gammon, compressed, cubeful.

    Raises
    ------
    FormatError
        The bytes are no database, are cut short, or break their format's rules.
    """
    source = Source(path)
    try:
        return read_source(source, format=format, part=part, **described)
    except BaseException:
        source.close()
        raise


def read_source(source: Source, *, format: str | None = None, part: int = 0, **described: Any) -> Database:
    """The database in a source (a mapped file, or bytes in memory by `Source.from_bytes`)."""
    chosen, described = _choose(source, format, described)
    tables: list[tuple[Format, Table]] = [(chosen, chosen.read(source, **described))]
    end = _end(tables[0][1], source)
    while end < source.size:
        try:
            following = formats.recognise(source, end)
            table = following.read(source, end)
        except FormatError:
            break
        tables.append((following, table))
        end = _end(table, source)
    if not 0 <= part < len(tables):
        raise CapabilityError(f"{source.name} holds {len(tables)} databases; there is no part {part}")
    others = [t.extra["extent"] for k, (_, t) in enumerate(tables) if k != part]
    return Database(source, *tables[part], others, source.size - end)


def _end(table: Table, source: Source) -> int:
    extent = table.extra.get("extent") or Extent(0, source.size)
    return int(extent.offset + extent.size)


def _choose(source: Source, name: str | None, described: dict[str, Any]) -> tuple[Format, dict[str, Any]]:
    """The format to read with, and the description a file without header needs."""
    if name is not None:
        chosen = formats.get(name)
        if described:
            unknown = set(described) - set(chosen.headerless)
            if unknown:
                raise CapabilityError(f"{name} files are not described by {', '.join(sorted(unknown))}")
            return chosen, {key: chosen.headerless[key](value) for key, value in described.items()}
        head = Head(source.name, source.size, bytes(source.buffer[:HEAD_BYTES]))
        if chosen.recognise(head) or not chosen.headerless:
            return chosen, {}
        candidates = [(chosen, guess) for guess in chosen.guess(source)]
    else:
        if described:
            raise CapabilityError("say which format the description is of (format=..., --as)")
        try:
            return formats.recognise(source), {}
        except UnknownFormatError:
            candidates = [(f, guess) for f in formats.known().values() for guess in f.guess(source)]
            if not candidates:
                raise
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise FormatError(
            f"{source.name}: has no {name} header, and its size fits no {name} file without one"
        )
    texts = "; ".join(f"--as {f.name}:{','.join(f'{k}={v:d}' for k, v in g.items())}" for f, g in candidates)
    raise UnknownFormatError(
        f"{source.name}: no header, and its size fits more than one table; say which: {texts}"
    )


def load(path: PathLike, *, format: str | None = None, part: int = 0, **described: Any) -> Table:
    """A whole table in memory, independent of its file."""
    with open_database(path, format=format, part=part, **described) as db:
        arrays: dict[str, Any] = {name: np.array(rows) for name, rows in db.table.arrays().items()}
        extra = {key: value for key, value in db.table.extra.items() if key in (*reshape.KEPT, "entry")}
        return replace(db.table, release=None, extra=extra, **arrays)


def save(
    table: Table, path: PathLike, *, format: str | None = None, force: bool = False, **options: Any
) -> None:
    """Write a table; the file appears whole or not at all. Without `force` an existing file is refused."""
    target = _target(path, format, table)
    target.check_options(options)
    target.accept(table)
    with create(path, force=force) as sink:
        target.write(table, sink, **options)


def convert(
    source: PathLike,
    destination: PathLike,
    *,
    to: str | None = None,
    points: int | None = None,
    chequers: int | None = None,
    lossy: bool = False,
    force: bool = False,
    format: str | None = None,
    part: int | None = None,
    described: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> list[str]:
    """Write a database in another format or layout, block by block; returns what was lost, a line each.

    Without `to` the source's own format is kept where the destination's suffix fits it, else the suffix decides.
    Without options the source's own layout is kept, so a plain copy is byte for byte. What loses something
    raises CapabilityError unless `lossy`. `progress` is called with (bytes of the table done, bytes in all).
    """
    with open_database(source, format=format, part=part or 0, **(described or {})) as db:
        target = _target(destination, to, db.table, own=db.format)
        plain = target is db.format and not options and points is None and chequers is None
        table, lost = prepare(db.table, target, points=points, chequers=chequers, options=options)
        if not plain and part is None and db.others:
            lost.append(f"{len(db.others)} more database(s) in the same file are left out (--part chooses)")
        if not plain and db.rest:
            lost.append(f"{db.rest:,} bytes at the end of the file belong to no table and are left out")
        if lost and not lossy:
            raise CapabilityError(f"this would lose something ({'; '.join(lost)}); --lossy allows it")
        if os.path.exists(destination) and os.path.samefile(source, destination) and not force:
            raise CapabilityError(f"{os.fspath(destination)}: source and destination are one file")
        with create(destination, force=force) as sink:
            target.write(_watched(table, progress), sink, **options)
            if plain and part is None:
                for piece in _rest(db):
                    sink.write(piece)
        return lost


def _watched(table: Table, progress: Callable[[int, int], None] | None) -> Table:
    """The same table, reporting how much of it has been walked each time a block lets its pages go."""
    if progress is None or not table.arrays():
        return table
    total = sum(int(np.prod(r.shape, dtype=np.int64)) * r.dtype.itemsize for r in table.arrays().values())
    done = 0

    def release() -> None:
        nonlocal done
        done = min(total, done + BLOCK_BYTES)
        progress(done, total)
        if table.release is not None:
            table.release()

    return replace(table, release=release)


def _rest(db: Database) -> Iterator[memoryview]:
    """What follows the first table of a file: further databases, or bytes nobody knows, carried unchanged."""
    end = _end(db.table, db.source)
    step = 8 << 20
    for start in range(end, db.source.size, step):
        yield db.source.buffer[start : min(start + step, db.source.size)]
        with contextlib.suppress(ValueError):
            db.source.release()


def prepare(
    table: Table,
    target: Format,
    *,
    points: int | None = None,
    chequers: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Table, list[str]]:
    """A table as `target` can hold it, cut down as asked, and what that loses, a line each."""
    options = options or {}
    target.check_options(options)
    table = reshape.cut(table, points, chequers)
    lost: list[str] = []
    if isinstance(table, TwoSided) and options.get("cubeful") is False and table.cubeful:
        table = reshape.cubeless(table)
    wanted = options.get("kind")
    if not isinstance(table, target.carries) or (wanted and wanted != table.kind):
        ways = [
            (how, text)
            for (have, want), (how, text) in reshape.COARSER.items()
            if type(table) is have and want in target.carries and wanted in (None, want.kind)
        ]
        if not ways:
            target.accept(table)
            raise CapabilityError(f"a {table.kind} table cannot become {wanted}")
        how, text = ways[0]
        table = how(table)
        lost.append(text)
    target.accept(table)
    return table, lost + target.losses(table, options)


def _target(path: PathLike, name: str | None, table: Table, own: Format | None = None) -> Format:
    if name is not None:
        return formats.get(name)
    suffix = Path(path).suffix.lower()
    if own is not None and (not suffix or suffix in own.suffixes):
        return own
    fitting = [f for f in formats.known().values() if suffix in f.suffixes]
    holding = [f for f in fitting if isinstance(table, f.carries)]
    if len(holding) == 1 or (not holding and len(fitting) == 1):
        return (holding or fitting)[0]
    if own is not None and not fitting:
        raise CapabilityError(f"no format uses the suffix {suffix!r}; say which with --to")
    names = ", ".join(f.name for f in fitting) or ", ".join(formats.known())
    raise CapabilityError(f"{os.fspath(path)}: say which format with --to ({names})")
