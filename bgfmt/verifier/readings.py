"""Files that do not open as they are: what is wrong with them, and which reading of one without header proves."""

from __future__ import annotations

from collections.abc import Iterator

from bgfmt.errors import (
    BgfmtError,
    CapabilityError,
    FormatError,
    HeaderError,
    TruncatedError,
    UnknownFormatError,
)
from bgfmt.files.database import Database, read_source
from bgfmt.storage import Source
from bgfmt.verifier import causes
from bgfmt.verifier.findings import Cause, Finding, Likely, Rule


def readings(source: Source, error: FormatError) -> Iterator[tuple[Database, Finding]]:
    """Every way to read a file without header that its content allows, each with the note that says so."""
    for text in error.readings if isinstance(error, UnknownFormatError) else ():
        try:
            db = read_source(source, format=text)
        except (FormatError, CapabilityError):
            continue
        yield db, Finding(Rule.READ_AS, expected="it has no header", found=text)


def unreadable(source: Source, error: FormatError) -> tuple[Finding, Likely | None]:
    """What is wrong with a file that is of a known format and yet cannot be read, and why."""
    offset = source.size if isinstance(error, TruncatedError) else getattr(error, "offset", None)
    finding = Finding(
        Rule.BROKEN,
        entry=getattr(error, "position_number", None),
        offset=offset,
        expected=getattr(error, "expected", None),
        found=plain(error, source.name),
    )
    likely = causes.of_size(source)
    sized = isinstance(error, (TruncatedError, HeaderError))
    if likely is not None and likely.cause is Cause.OTHER_SIZE and not sized:
        likely = Likely(Cause.CUT, likely.detail)
    return finding, likely


def broken(error: Exception, name: str) -> Finding:
    """The finding for an error that reading numbers ended with."""
    told = plain(error, name) if isinstance(error, BgfmtError) else f"its numbers make no table: {error}"
    entry, offset = getattr(error, "position_number", None), getattr(error, "offset", None)
    return Finding(Rule.BROKEN, entry=entry, offset=offset, found=told)


def plain(error: BgfmtError, name: str) -> str:
    """An error in one line, without the file's name."""
    return " ".join(str(error).split()).removeprefix(f"{name}: ")
