"""Registry of formats: names, recognition of files by their first bytes, files without header, entry points.

Built-in formats and those of plugins are registered in the entry point group `bgfmt.formats`, which is read on first
use. A plugin that fails to load is listed as broken and does not affect the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from bgfmt.errors import (
    AmbiguousFormatError,
    CapabilityError,
    FormatNeededError,
    UnknownFormatError,
    format_bytes,
    suggest_nearest,
)
from bgfmt.formats import records
from bgfmt.formats.base import (
    HEAD_BYTES,
    Broken,
    Extent,
    Fault,
    Format,
    Head,
    Layout,
    Option,
    Reading,
    Region,
    placeholder_rows,
)
from bgfmt.formats.signatures import Signature
from bgfmt.storage import Source
from bgfmt.tables import Table
from bgfmt.tables.registry import Registry

__all__ = [
    "FORMATS",
    "Broken",
    "Extent",
    "Fault",
    "Format",
    "Head",
    "Layout",
    "Option",
    "Reading",
    "Region",
    "all_by_suffix",
    "all_formats",
    "broken_formats",
    "by_suffix",
    "default_format",
    "default_formats",
    "fields_of",
    "get",
    "get_family",
    "guesses",
    "head_of",
    "placeholder_rows",
    "recognise",
    "signatures",
]


FORMATS: Registry[Format[Any]] = Registry("bgfmt.formats", lambda form: form())


def all_formats() -> dict[str, Format[Any]]:
    """Return all registered formats that can be imported, by name."""
    return dict(FORMATS)


def broken_formats() -> tuple[Broken, ...]:
    """Return the registered formats that cannot be imported, each with the reason."""
    all_formats()
    return tuple(Broken(name, reason) for name, reason in sorted(FORMATS.broken.items()))


def get(name: str) -> Format[Any]:
    """Return the format of this name; raises CapabilityError if there is none."""
    if name not in FORMATS:
        names = ", ".join(form.name for form in get_family(name))
        raise CapabilityError(f"no format {name!r}; give one of {names}")
    return FORMATS[name]


def get_family(name: str) -> list[Format[Any]]:
    """Return the format of this name, else all whose names begin with it, such as gnubg-os and gnubg-ts for gnubg.

    Raises CapabilityError if there is none.
    """
    if name in FORMATS:
        return [FORMATS[name]]
    family = [form for form in FORMATS.values() if form.name.startswith(f"{name}-")]
    if not family:
        near = suggest_nearest(name, FORMATS)
        raise CapabilityError(f"no format {name!r}{near}; known: {', '.join(FORMATS)}")
    return family


def head_of(source: Source, offset: int = 0) -> Head:
    """Return name, size and first 512 bytes of the source from `offset` on, for `Format.recognise`."""
    first = bytes(source.buffer[offset : offset + HEAD_BYTES])
    return Head(source.name, source.size - offset, first, offset)


def recognise(source: Source, offset: int = 0) -> Format[Any]:
    """Return the one format that recognises the bytes at `offset`.

    Raises AmbiguousFormatError if several do, UnknownFormatError if none does.
    """
    head = head_of(source, offset)
    signed = _candidates(lambda sign: re.match(sign.pattern, head.bytes, re.DOTALL) is not None)
    claims = [form for form in signed if form.recognise(head)]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = tuple(f.name for f in claims)
        raise AmbiguousFormatError(f"{source.name}: could be {' or '.join(names)}; give the format", names)
    for form in all_by_suffix(source.name):
        if not form.reads:
            others = [f.name for f in FORMATS.values() if f.reads and {*form.kinds()} <= {*f.kinds()}]
            instead = f"; convert to one of {', '.join(others)} instead" if others else ""
            raise UnknownFormatError(f"{source.name}: {form.name} files can be written but not read{instead}")
    asked = tuple(f.name for f in all_formats().values() if f.reads)
    what = "the file is empty" if source.size == 0 else f"it begins with {format_bytes(head.bytes[:8])}"
    what = f"unknown format; {what} (`bgfmt formats` lists the known ones)"
    raise UnknownFormatError(f"{source.name}: {what}", asked)


def guesses(source: Source) -> list[tuple[Format[Any], dict[str, Any]]]:
    """Return every (format, description) by which a file without header could be read, judged by size and content.

    A description has the facts that a header would state, such as points and chequers.
    """
    return [(f, guess) for f in all_formats().values() for guess in f.guess(source)]


def by_suffix(path: str) -> Format[Any] | None:
    """Return the format with this file name's suffix, or None unless there is exactly one."""
    matches = all_by_suffix(path)
    return matches[0] if len(matches) == 1 else None


def all_by_suffix(path: str) -> list[Format[Any]]:
    """Return all formats with this file name's suffix."""
    low = path.lower()
    listed = _candidates(lambda sign: low.endswith(sign.suffixes))
    return [form for form in listed if low.endswith(form.suffixes)]


def _candidates(fits: Callable[[Signature], bool]) -> list[Format[Any]]:
    """Return the formats whose signature fits, and those that have none."""
    listed = signatures()
    names = sorted({*FORMATS.points, *FORMATS.entered})
    fitting = [name for name in names if name not in listed or fits(listed[name])]
    return [FORMATS[name] for name in fitting if name in FORMATS]


SIGNATURES: Registry[dict[str, Signature]] = Registry("bgfmt.signatures")


@cache
def signatures() -> dict[str, Signature]:
    """Return what the first bytes of each format's files look like, by format name.

    They come from entry points (see `Signature`), so that formats need not be imported.
    """
    found: dict[str, Signature] = {}
    for listed in SIGNATURES.values():
        found |= listed
    return found


def default_formats(table: Table) -> list[Format[Any]]:
    """Return the formats that say they are the default for new tables of this kind and recipe."""
    return [f for f in all_formats().values() if isinstance(table, f.carries) and f.is_default_for(table)]


def default_format(table: Table) -> Format[Any]:
    """Return the format in which a new table is written if no format is named.

    Raises FormatNeededError if none or more than one says that it is the default.
    """
    offers = default_formats(table)
    if len(offers) != 1:
        names = ", ".join(f.name for f in offers or all_formats().values() if isinstance(table, f.carries))
        raise FormatNeededError(f"the format for a {table.kind} table is missing; give one ({names})")
    return offers[0]


def fields_of(facts: object, kind: type[Table]) -> dict[str, Any]:
    """Return the constructor fields of a table from flat facts, as a file stores them by name.

    They are the fields of its class, and `carried` with the records of all formats.

    Raises ValueError, KeyError, TypeError or OverflowError for invalid facts; see `bgfmt.formats.records`.
    """
    if not isinstance(facts, dict):
        raise ValueError("the facts must be a JSON object")
    kinds = {record for f in all_formats().values() for record in f.records}
    each = (record.from_facts(facts) for record in sorted(kinds, key=lambda record: record.__name__))
    return {"carried": tuple(record for record in each if record is not None)} | records.table_fields(
        facts, kind
    )
