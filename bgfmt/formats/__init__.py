"""The registry of formats: names, recognition, files without header, entry points.

Built-in formats and guests arrive by the same door, the entry-point group `bgfmt.formats`; it is read on first
use. A guest that fails to load is listed as broken and does not disturb the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from heapq import merge
from itertools import repeat
from typing import Any

from bgfmt.errors import AmbiguousFormatError, CapabilityError, FormatNeededError, UnknownFormatError, shown
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
    Salvage,
    promised,
)
from bgfmt.formats.signatures import Signature
from bgfmt.storage import Source
from bgfmt.tables import Table
from bgfmt.tables.registry import Registry, doors

__all__ = [
    "Broken",
    "Extent",
    "Fault",
    "Format",
    "Head",
    "Layout",
    "Option",
    "Reading",
    "Region",
    "Salvage",
    "broken",
    "by_suffix",
    "ending",
    "get",
    "guesses",
    "home",
    "homes",
    "known",
    "promised",
    "recognise",
    "resembles",
    "salvage",
    "signatures",
]


FORMATS: Registry[Format[Any]] = Registry("bgfmt.formats", lambda form: form())


def known() -> dict[str, Format[Any]]:
    """All formats that load, by name."""
    return dict(FORMATS)


def broken() -> tuple[Broken, ...]:
    """Registered formats that failed to load, with the reason."""
    known()
    return tuple(Broken(name, reason) for name, reason in sorted(FORMATS.broken.items()))


def get(name: str) -> Format[Any]:
    """The format of that name."""
    if name not in FORMATS:
        raise CapabilityError(f"no format is called {name!r} (there are: {', '.join(FORMATS)})")
    return FORMATS[name]


def head_of(source: Source, offset: int = 0) -> Head:
    """What formats are shown of the bytes at `offset`."""
    first = bytes(source.buffer[offset : offset + HEAD_BYTES])
    return Head(source.name, source.size - offset, first, offset)


def recognise(source: Source, offset: int = 0) -> Format[Any]:
    """The one format that recognises the bytes at `offset`."""
    head = head_of(source, offset)
    signed = _candidates(lambda sign: re.match(sign.pattern, head.bytes, re.DOTALL) is not None)
    claims = [form for form in signed if form.recognise(head)]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = tuple(f.name for f in claims)
        raise AmbiguousFormatError(f"{source.name}: could be {' or '.join(names)}; say which", names)
    unread = tuple(s for f in known().values() if not f.reads for s in f.suffixes)
    if source.name.lower().endswith(unread):
        what = f"{', '.join(unread)} files are written, not read; parquet and sqlite are read"
        raise CapabilityError(f"{source.name}: {what}")
    asked = tuple(f.name for f in known().values() if f.reads)
    what = "the file is empty" if source.size == 0 else f"it begins with {shown(head.bytes[:8])}"
    what = f"no known format; {what} (`bgfmt formats` lists those there are)"
    raise UnknownFormatError(f"{source.name}: {what}", asked)


def guesses(source: Source) -> list[tuple[Format[Any], dict[str, Any]]]:
    """Every reading of a file without header that its size and content allow: format and description."""
    return [(f, guess) for f in known().values() for guess in f.guess(source)]


def by_suffix(path: str) -> Format[Any] | None:
    """The one format that uses this file name's suffix, if there is exactly one."""
    matches = ending(path)
    return matches[0] if len(matches) == 1 else None


def ending(path: str) -> list[Format[Any]]:
    """All formats that use this file name's suffix."""
    low = path.lower()
    listed = _candidates(lambda sign: low.endswith(sign.suffixes))
    return [form for form in listed if low.endswith(form.suffixes)]


def _candidates(fits: Callable[[Signature], bool]) -> list[Format[Any]]:
    """Return the formats whose signature fits, and those that have none."""
    listed = signatures()
    names = sorted({*FORMATS.points, *FORMATS.entered})
    fitting = [name for name in names if name not in listed or fits(listed[name])]
    return [FORMATS[name] for name in fitting if name in FORMATS]


@cache
def signatures() -> dict[str, Signature]:
    """Return the signatures that packages list, by format."""
    found: dict[str, Signature] = {}
    for point in doors("bgfmt.signatures").values():
        found |= point.load()
    return found


def homes(table: Table) -> list[Format[Any]]:
    """The formats that offer to be a new table's home."""
    return [f for f in known().values() if isinstance(table, f.carries) and f.home_of(table)]


def home(table: Table) -> Format[Any]:
    """The format in which a new table is written where no format is named."""
    offers = homes(table)
    if len(offers) != 1:
        names = ", ".join(f.name for f in offers or known().values() if isinstance(table, f.carries))
        raise FormatNeededError(f"say in which format to write a {table.kind} table ({names})")
    return offers[0]


def fields_of(facts: object, kind: type[Table]) -> dict[str, Any]:
    """Fields of a table that flat facts describe: its own, and `carried`, the records of any formats.

    ValueError, KeyError, TypeError or OverflowError for facts that make no sense; see `bgfmt.formats.records`.
    """
    if not isinstance(facts, dict):
        raise ValueError("the facts are no object")
    kinds = {record for f in known().values() for record in f.records}
    each = (record.from_facts(facts) for record in sorted(kinds, key=lambda record: record.__name__))
    return {"carried": tuple(record for record in each if record is not None)} | records.stated(facts, kind)


def salvage(source: Source) -> Iterator[tuple[Format[Any], Salvage]]:
    """What a damaged file may have been, of all formats, the likeliest first."""
    each = (zip(repeat(form), form.salvage(source)) for form in known().values())
    return merge(*each, key=lambda pair: -pair[1].near)


def resembles(head: bytes) -> bool:
    """Whether bytes look like the beginning of a file of some format, perhaps a damaged one."""
    return any(f.resembles(head) for f in known().values())
