"""The lower rungs of the ladder: structure, digest and sense; and what is wrong with a file that cannot be read."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from bgfmt import errors, formats
from bgfmt.files.database import Database, read_source
from bgfmt.formats.base import RunParts
from bgfmt.storage import Source
from bgfmt.storage.blocks import digests_of
from bgfmt.tables import Table
from bgfmt.tables.rows import random_access
from bgfmt.verifier.findings import Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Locate, nowhere, proof_of

LEAST = 4  # rows below which a table may well be one number
LITTLE = 64  # bytes of which a file is hardly more than a header
LOOKED = 1 << 22  # bytes that are looked at for one value throughout


def structure(db: Database, run: RunParts | None = None) -> Iterator[Finding]:
    """Bytes that the format does not write for the very same numbers, and bytes that belong to no table.

    run : who else may look; see `Database.audit`.
    """
    faults = list(db.audit(run))
    for carried in (False, True):
        kept = [fault for fault in faults if fault.carried is carried]
        if kept:
            first = kept[0]
            rule = Rule.CARRIED if carried else Rule.LAYOUT
            count = sum(fault.size for fault in kept)
            yield Finding(rule, None, first.offset, first.expected, first.found, first.rule, count=count)
    if db.rest:
        yield Finding(Rule.LEFT_OVER, offset=db.source.size - db.rest, count=db.rest)


def locator(db: Database) -> Locate:
    """(entry, column, item) -> byte offset in the file; None where the format does not tell."""
    try:
        layout = db.format.layout(db.table)
    except errors.CapabilityError:
        return nowhere

    def locate(entry: int, column: str = "", item: int = 0) -> int | None:
        return db.extent.offset + layout.offset_of(entry, column, item)

    return locate


# -- digest --------------------------------------------------------------------------------------------------


@cache
def published() -> tuple[dict[str, Any], ...]:
    """The entries of data/digests.toml."""
    return tuple(tomllib.loads((files("bgfmt") / "data" / "digests.toml").read_text("utf-8"))["file"])


def digest(source: Source) -> Iterator[Finding]:
    """The published file that has this file's digest; or the published files of its size and beginning.

    Of a file whose size was never published the beginning alone counts. Sums of what bgfmt makes, which other tables
    share size and beginning with, tell that a file is known, and never that it differs.
    """
    head = bytes(source.buffer[:20]).decode("latin-1")
    alike = [entry for entry in published() if head.startswith(entry.get("header", ""))]
    alike = [entry for entry in alike if entry["size"] in (0, source.size)]
    if not alike:
        return
    digests = digests_of(source, {entry["kind"] for entry in alike})
    for entry in alike:
        if digests[entry["kind"]] == entry["sum"]:
            text = f"{entry['name']} ({entry['kind']} published by: {entry['published_by']})"
            yield Finding(Rule.KNOWN, found=text, expected=entry["sum"])
            return
    first = next((entry for entry in alike if entry["size"] and "command" not in entry), None)
    if first is not None:
        names = "; ".join(sorted({entry["name"] for entry in alike}))
        kind = first["kind"]
        expected = f"{kind} {first['sum']}"
        found = f"{kind} {digests[kind]}"
        yield Finding(Rule.DIGEST, field=names, expected=expected, found=found)


# -- sense ---------------------------------------------------------------------------------------------------


def sense(
    table: Table, progress: Callable[[int, int], None] | None = None, *, sampled: bool = False
) -> Iterator[Finding]:
    """One pass; the first breach of each rule. sampled : look at some stretches of a large table only."""
    named: set[str] = set()
    alike: dict[str, bool] = {}
    for rows, block in _stretches(table) if sampled and table.nbytes > LARGE else table.blocks():
        for breach in table.breaches(rows.start, block):
            if breach.rule not in named and breach.bad.any():
                named.add(breach.rule)
                yield Finding(Rule.SENSE, entry=rows.start + int(breach.bad.argmax()), field=breach.what)
        for name, numbers in block.items():
            if alike.get(name, True):
                later = numbers[1:] if rows.start == 0 else numbers
                alike[name] = bool((later == later.reshape(-1)[:1]).all()) if later.size else True
        if progress is not None:
            progress(rows.stop, table.positions)
    for name, same in alike.items():
        # the gammon part of a table of few chequers is "off already" throughout
        if same and len(table.arrays()[name]) >= LEAST and len(alike) == 1:
            yield Finding(Rule.SENSE, entry=1, field=f"its {name} are one number throughout")


LARGE = 1 << 28  # bytes of a table of which a sample is enough to be quick
# of a sampled table: how many, and bytes of each, a row at least
STRETCHES = 256
STRETCH = 1 << 18


def _stretches(table: Table) -> Iterator[tuple[slice, dict[str, Any]]]:
    """As `Table.blocks`, evenly spread stretches of the rows, the first and the last among them."""
    arrays = table.arrays()
    total = len(next(iter(arrays.values())))
    size = min(total, max(1, STRETCH * total // table.nbytes))
    with ExitStack() as reading:
        for array in arrays.values():
            reading.enter_context(random_access(array))
        for start in np.unique(np.linspace(0, total - size, STRETCHES).astype(int)).tolist():
            rows = slice(start, start + size)
            yield rows, {name: array[rows] for name, array in arrays.items()}
            if table.release is not None:
                table.release()


# -- what cannot be read -------------------------------------------------------------------------------------


def readings(source: Source, error: errors.FormatError) -> Iterator[tuple[Database, Finding]]:
    """Every way to read a file without header that its content allows, each with the note that says so."""
    for text in error.readings if isinstance(error, errors.UnknownFormatError) else ():
        try:
            db = read_source(source, format=text)
        except (errors.FormatError, errors.CapabilityError):
            continue
        yield db, Finding(Rule.READ_AS, expected="it has no header", found=text)


def unreadable(source: Source, error: errors.FormatError) -> tuple[Finding, Likely | None]:
    """What is wrong with a file that is of a known format and yet cannot be read, and why."""
    finding = replace(broken(error, source.name), expected=getattr(error, "expected", None))
    if isinstance(error, errors.TruncatedError):
        finding = replace(finding, offset=source.size)
    likely = size_cause(source)
    sized = isinstance(error, (errors.TruncatedError, errors.HeaderError))
    if likely is not None and likely.cause is Cause.OTHER_SIZE and not sized:
        likely = Likely(Cause.CUT, likely.detail)
    if isinstance(error, errors.TruncatedError):
        if error.cause:
            likely = Likely(Cause.TEXT)
    elif (
        likely is not None and finding.offset == 0
    ):  # of a whole of which a program says that it is not sound
        likely = None
    return finding, likely


def broken(error: errors.FormatError, name: str) -> Finding:
    """The finding for an error that reading ended with."""
    entry = getattr(error, "position_number", None)
    offset = getattr(error, "offset", None)
    return Finding(Rule.BROKEN, entry=entry, offset=offset, found=plain(error, name))


def plain(error: errors.BgfmtError, name: str) -> str:
    """An error in one line, without the file's name and the likely cause, which a report has apart."""
    text = str(error).removesuffix(f"; likely cause: {getattr(error, 'cause', '')}")
    return " ".join(text.split()).removeprefix(f"{name}: ")


# -- causes --------------------------------------------------------------------------------------------------


def size_cause(source: Source) -> Likely | None:
    """Why a file's size does not fit its header: cut short, or made for other numbers than the header says."""
    head = formats.head_of(source)
    claims = [form for form in formats.all_formats().values() if form.recognise(head)]
    if not claims:
        return None
    if source.size <= LITTLE:
        return Likely(Cause.BARE_HEADER)
    fits = [text for form in claims for text in form.tables_of_size(source)]
    if fits:
        return Likely(Cause.OTHER_SIZE, f"its size fits {' or '.join(dict.fromkeys(fits))}")
    return Likely(Cause.CUT)


def damage_cause(db: Database, outcome: Outcome | None) -> Likely | None:
    """The likely cause of damage."""
    table = db.table
    source = db.source
    try:
        regions = [region for region in db.format.layout(table).regions if region.numbers]
    except errors.CapabilityError:
        return None
    if len(regions) != 1:
        return None
    start = db.extent.offset + regions[0].offset
    end = min(start + regions[0].size, source.size)
    body = np.frombuffer(source.buffer[start : min(end, start + LOOKED)], np.uint8)
    if not body.any():
        return Likely(Cause.ZEROS)
    if (body == 255).all():
        return Likely(Cause.ONES)
    return None if table.exact else proof_of(table).cause(db, outcome, start, end)
