"""The lowest rung: every byte is a number's, as its program writes it, carried by a named rule, or a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bgfmt.errors import CapabilityError
from bgfmt.files.database import Database
from bgfmt.formats.base import Apart
from bgfmt.verifier.findings import Finding, Rule
from bgfmt.verifier.proofs import nowhere

Locate = Callable[..., int | None]


def check(db: Database, run: Apart | None = None) -> Iterator[Finding]:
    """Bytes that the format does not write for the very same numbers, and bytes that belong to no table.

    run : who else may look; see `Database.audit`.
    """
    faults = list(db.audit(run))
    for carried in (False, True):
        kept = [fault for fault in faults if fault.carried is carried]
        if kept:
            first = kept[0]
            yield Finding(
                Rule.CARRIED if carried else Rule.LAYOUT,
                offset=first.offset,
                expected=first.expected,
                found=first.found,
                field=first.rule,
                count=sum(fault.size for fault in kept),
            )
    if db.rest:
        yield Finding(Rule.LEFT_OVER, offset=db.source.size - db.rest, count=db.rest)


def locator(db: Database) -> Locate:
    """(entry, column, item) -> byte offset in the file; None where the format does not tell."""
    try:
        layout = db.format.layout(db.table)
    except CapabilityError:
        return nowhere

    def locate(entry: int, column: str = "", item: int = 0) -> int | None:
        return db.extent.offset + layout.offset_of(entry, column, item)

    return locate
