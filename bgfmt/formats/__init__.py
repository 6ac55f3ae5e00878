"""The registry of formats: names, recognition, entry points.

Built-in formats and guests arrive by the same door, the entry-point group `bgfmt.formats`; it is read on first
use. A guest that fails to load is listed as broken and harms nobody.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from bgfmt.errors import AmbiguousFormatError, CapabilityError, UnknownFormatError
from bgfmt.formats.base import HEAD_BYTES, Broken, Format, Head
from bgfmt.storage import Source

GROUP = "bgfmt.formats"


@cache
def _load() -> tuple[dict[str, Format], tuple[Broken, ...]]:
    found: dict[str, Format] = {}
    broken: list[Broken] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        try:
            found[entry.name] = entry.load()()
        except Exception as error:  # a guest may fail in any way; it is named, not fatal
            broken.append(Broken(entry.name, f"{type(error).__name__}: {error}"))
    return found, tuple(broken)


def known() -> dict[str, Format]:
    """All formats that loaded, by name."""
    return dict(_load()[0])


def broken() -> tuple[Broken, ...]:
    """Registered formats that failed to load, with the reason."""
    return _load()[1]


def get(name: str) -> Format:
    """The format of that name."""
    try:
        return _load()[0][name]
    except KeyError:
        raise CapabilityError(f"no format is called {name!r} (there are: {', '.join(known())})") from None


def recognise(source: Source, offset: int = 0) -> Format:
    """The one format that recognises the bytes at `offset`."""
    head = Head(source.name, source.size - offset, bytes(source.buffer[offset : offset + HEAD_BYTES]))
    claims = [f for f in _load()[0].values() if f.recognise(head)]
    if len(claims) == 1:
        return claims[0]
    if claims:
        names = tuple(f.name for f in claims)
        raise AmbiguousFormatError(
            f"{source.name}: could be {' or '.join(names)}; say which with --as", names
        )
    asked = tuple(known())
    what = "the file is empty" if source.size == 0 else f"it begins with {head.bytes[:8]!r}"
    raise UnknownFormatError(f"{source.name}: no known format; {what} (asked: {', '.join(asked)})", asked)


def by_suffix(path: str) -> Format | None:
    """The one format that uses this file name's suffix, if there is exactly one."""
    matches = [f for f in _load()[0].values() if path.lower().endswith(f.suffixes)] if path else []
    return matches[0] if len(matches) == 1 else None
