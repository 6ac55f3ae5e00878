"""Save tables, and convert files to another format, layout, size or coarser kind of table."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from bgfmt import formats, storage
from bgfmt.errors import CapabilityError, FormatNeededError, LossError
from bgfmt.files.database import read_source
from bgfmt.formats import Format
from bgfmt.storage import PathLike, Source
from bgfmt.tables import Table

__all__ = ["Progress", "choose_lossless_target", "convert", "prepare", "save"]


Progress = Callable[[int, int], None]
STEP = 8 << 20


def save(
    table: Table | Sequence[Table],
    path: PathLike,
    *,
    format: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> None:
    """Write a table to a file, which appears whole or not at all. Without `force` an existing file is refused.

    Several tables are concatenated, if the format has such files (as gnubg's `gnubg.bd` of 2001). `format` is a
    format's name, by default the one of the suffix; `options` are those of the format (`bgfmt formats` lists them);
    `progress` is called with (bytes written, bytes in all).
    """
    tables = [table] if isinstance(table, Table) else list(table)
    if not tables:
        raise CapabilityError("no table was given")
    target = choose_target(path, format, tables[0])
    for one in tables:
        target.check(one, options)
    reason = target.concatenation_refusal(tables)
    if reason is not None:
        raise CapabilityError(reason)
    with storage.create(path, force=force) as sink:
        for one in tables:
            target.write(one, sink, progress=progress, **options)


def convert(
    source: PathLike | BinaryIO,
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
    dry: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> list[str]:
    """Convert a database to another format or layout, block by block; return what was lost, one line of text each.

    Without `to` the source's own format is kept if the destination's suffix fits it, else the suffix decides.
    Without options the source's own layout is kept, so a plain copy is identical byte for byte. A conversion
    that loses something raises LossError unless `lossy`. With `dry` nothing is written, and no loss is an
    error. `progress` is called with (bytes written, bytes in all).

    `points` and `chequers` cut the table down; the positions that this removes are in the list, and need no
    `lossy`. For a source without header that is read as `format`, they describe the source; `described` describes
    it without cutting anything. `part` is the index of the table in a source that holds several.
    """
    with storage.open_source(source) as file:
        sizes = {"points": points, "chequers": chequers}
        described = described or _description(file, format, sizes)
        db = read_source(file, format=format, part=part or 0, **described)
        target = choose_target(destination, to, db.table, own=db.format)
        smaller = db.table.cut(points, chequers)
        plain = target is db.format and not options and smaller is db.table
        table, lost = prepare(db.table, target, points=points, chequers=chequers, options=options)
        if target is not db.format or table is not db.table:
            lost += db.format.extra_contents(db.reading)
        whole = plain and part is None
        if not whole and part is None and db.others:
            lost.append(f"{len(db.others)} more database(s) in the same file are skipped")
        if not whole and db.rest:
            lost.append(f"{db.rest:,} bytes at the end of the file belong to no table and are skipped")
        reason = None if whole else target.concatenation_refusal([table])
        if reason is not None:
            raise CapabilityError(reason)
        cut: list[str] = []  # the caller asked for it, so that it needs no `lossy`
        if smaller is not db.table:
            count = f"{db.table.positions - smaller.positions:,} of {db.table.positions:,} positions"
            cut = [f"{count}: those beyond {smaller.points} points and {smaller.chequers} chequers"]
        if dry:
            return cut + lost
        if lost and not lossy:
            raise LossError(lost, several=bool(db.others) and part is None)
        with contextlib.suppress(OSError):
            if isinstance(source, (str, os.PathLike)) and not force and os.path.samefile(source, destination):
                raise CapabilityError(f"{os.fspath(destination)}: source and destination are the same file")
        with storage.create(destination, force=force) as sink:
            target.write(table, sink, progress=progress, **options)
            # what follows the first table of a copied file: further databases, or unknown bytes
            for start in range(db.extent.end, db.source.size if whole else 0, STEP):
                sink.write(db.source.buffer[start : min(start + STEP, db.source.size)])
                with contextlib.suppress(ValueError):
                    db.source.release()
        return cut + lost


def prepare(
    table: Table,
    target: Format[Any],
    *,
    points: int | None = None,
    chequers: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Table, list[str]]:
    """Convert a table, in memory or on demand, to one that `target` can hold, cut down to `points` and `chequers`.

    options : those of the format `target`. Returns the table, and what the conversion loses, one line of text each.
    """
    options = options or {}
    target.check_options(options)
    table = table.cut(points, chequers)
    lost: list[str] = []
    wanted = options.get("kind")
    carried = isinstance(table, target.carries) and wanted in (None, table.kind)
    if not carried or target.refusal(table, options) is not None:  # other numbers of the same kind may do
        ways = [
            (way, way.make())
            for way in table.coarser()
            if issubclass(way.kind, target.carries)
            and (way.kind is type(table)) == carried
            and wanted in (None, way.kind.kind)
        ]
        if carried:
            ways = [(way, other) for way, other in ways if _shapes(other) == _shapes(table)]
        fitting = [(way, other) for way, other in ways if target.refusal(other, options) is None]
        if fitting or (ways and not carried):
            way, table = (fitting or ways)[0]
            lost = way.losses()
        elif not carried:
            target.check(table, options)
            raise CapabilityError(f"a {table.kind} table cannot be converted to {wanted}")
    target.check(table, options)
    return table, lost + target.losses(table, options)


def _shapes(table: Table) -> dict[str, tuple[int, ...]]:
    return {name: tuple(rows.shape) for name, rows in table.arrays().items()}


def choose_target(
    path: PathLike, name: str | None, table: Table, *, own: Format[Any] | None = None, what: str = ""
) -> Format[Any]:
    """Choose the format to write: the one named, the source's own if the suffix fits it, else by the suffix.

    Parameters
    ----------
    path : the file.
    name : a format, or the beginning of several names (gnubg for gnubg-os, gnubg-ts, ...), of which the one that
        fits the table is chosen; None for no preference.
    table : the table to write.
    own : the format that the table was read from.
    what : description of a table about to be solved, for messages. Then a format must hold the table without
        conversion; of several the table's default format is preferred, also if the path has no suffix.
    """
    suffix = Path(path).suffix.lower()
    if name is not None:
        candidates = formats.get_family(name)
        if len(candidates) == 1:
            return candidates[0]
    elif own is not None and (not suffix or suffix in own.suffixes):
        return own
    elif what and not suffix:
        return formats.default_format(table)
    else:
        candidates = formats.all_by_suffix(suffix)
    fitting = [f for f in candidates if not f.historic and (f.reads or not what)]
    holding = [f for f in fitting if isinstance(table, f.carries)]
    if what:
        holding = [f for f in holding if f.refusal(table, {}) is None]
        holding = [f for f in holding if f.is_default_for(table)] or holding
    elif not holding:
        holding = [f for f in fitting if any(issubclass(way.kind, f.carries) for way in table.coarser())]
        if not holding and len(fitting) == 1:
            return fitting[0]  # which says itself why it cannot hold the table
    if len(holding) == 1:
        return holding[0]
    possible = ", ".join(f.name for f in holding) or ", ".join(formats.all_formats())
    reason = f"the format to write is missing ({possible})"
    if suffix and not fitting and (own is not None or what):
        reason = f"no format uses the suffix {suffix!r}; give the format to write"
    elif fitting and not holding:
        names = ", ".join(f.name for f in fitting)
        what = what or f"a {table.kind} table"
        reason = f"{name or suffix} files ({names}) cannot hold {what}; give another format"
    raise FormatNeededError(f"{os.fspath(path)}: {reason}")


def choose_lossless_target(
    path: PathLike, name: str | None, blank: Table, what: str, options: Mapping[str, Any]
) -> Format[Any]:
    """Choose the format for a table about to be solved, and check its options.

    path, name : the file, and the name of a format or None. blank : a table of the kind and size, without numbers.
    what : its description for messages. CapabilityError if the format could not hold all of the table.
    """
    target = choose_target(path, name, blank, what=what)
    target.check(blank, options)
    lost = target.losses(blank, options)
    if lost:
        raise CapabilityError(f"{target.name} would lose information: {'; '.join(lost)}")
    return target


def _description(source: Source, name: str | None, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Select those sizes that describe a file without header; none if it has a header or they fit no reading."""
    if name is None or ":" in name:
        return {}
    chosen = formats.get(name)
    if chosen.recognise(formats.head_of(source)):
        return {}
    given = {k: v for k, v in sizes.items() if k in chosen.headerless and v is not None}
    guesses = chosen.guess(source)
    return given if not guesses or any(given.items() <= guess.items() for guess in guesses) else {}
