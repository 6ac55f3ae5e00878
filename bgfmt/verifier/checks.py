"""The checks of the levels structure, digest and sense, and the diagnosis of files that cannot be read."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from bgfmt import errors, formats
from bgfmt.files.database import Database, read_source
from bgfmt.storage import Source
from bgfmt.storage.digests import compute_digests
from bgfmt.tables import Table
from bgfmt.verifier.findings import Cause, Finding, LikelyCause, Outcome, Rule
from bgfmt.verifier.proofs import Locate, Request, no_offset, prove

__all__ = ["load_published"]

MIN_CONSTANT_ROWS = 4  # a table of fewer rows may rightly hold one number throughout
MAX_BARE_HEADER_BYTES = 64  # a file up to this size is reported as a bare header
MAX_SAMPLED_BYTES = 1 << 28  # about so many bytes are checked for sense with a sample
CORNER_CHEQUERS = 3  # chequers of the part of a table that is checked in the other byte order
MAX_FAILING_SHARE = 0.15  # share of that part that may fail
MAX_SCANNED_BYTES = 1 << 22  # bytes searched for anything but zeros, or anything but ones


def check_structure(db: Database) -> Iterator[Finding]:
    """Find bytes that the format does not write for these numbers, and bytes that belong to no table.

    Yields one finding for all faulty bytes, one note for all carried bytes (those that readers ignore and copies
    preserve), and one finding for bytes after the last table.
    """
    faults = list(db.audit())
    for carried in (False, True):
        kept = [fault for fault in faults if fault.carried is carried]
        if kept:
            first = kept[0]
            rule = Rule.CARRIED if carried else Rule.LAYOUT
            count = sum(fault.size for fault in kept)
            yield Finding(rule, None, first.offset, first.expected, first.found, first.rule, count=count)
    if db.rest:
        yield Finding(Rule.LEFT_OVER, offset=db.source.size - db.rest, count=db.rest)


def make_locator(db: Database) -> Locate:
    """Return a function that finds where the number of an entry is stored: (entry, column, item) -> byte offset.

    The offset is in the file; it is None if the format cannot tell.
    """
    try:
        layout = db.format.layout(db.table)
    except errors.CapabilityError:
        return no_offset

    def locate(entry: int, column: str = "", item: int = 0) -> int | None:
        return db.extent.offset + layout.offset_of(entry, column, item)

    return locate


# -- digest --------------------------------------------------------------------------------------------------


@cache
def load_published() -> tuple[dict[str, Any], ...]:
    """Return names, sizes and checksums of published database files, one dict a file, from data/digests.toml."""
    return tuple(tomllib.loads((files("bgfmt") / "data" / "digests.toml").read_text("utf-8"))["file"])


def check_digest(source: Source) -> Iterator[Finding]:
    """Compare a file's checksum with those of published files that bgfmt knows.

    Yields a note if the file is a published one, else a finding if a published file has the same size and header.

    A published file of unknown size (0) is matched by its header alone. Checksums of files that bgfmt itself
    generates identify a file but never produce a finding, since other tables have the same size and header.
    """
    head = bytes(source.buffer[:20]).decode("latin-1")
    alike = [entry for entry in load_published() if head.startswith(entry.get("header", ""))]
    alike = [entry for entry in alike if entry["size"] in (0, source.size)]
    if not alike:
        return
    digests = compute_digests(source, {entry["kind"] for entry in alike})
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


def check_sense(
    table: Table, progress: Callable[[int, int], None] | None = None, *, sampled: bool = False
) -> Iterator[Finding]:
    """Check every row against what theory says of its kind of table (`Table.breaches`), in one pass.

    Yields the first violation of each rule, and a finding if all numbers of the table are equal. With `sampled`
    only the beginning of a large table is read. progress : called with (rows done, rows).
    """
    named: set[str] = set()
    alike: dict[str, bool] = {}
    for rows, block in table.blocks():
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
        if sampled and rows.stop * table.nbytes > MAX_SAMPLED_BYTES * table.positions:
            break
    for name, same in alike.items():
        # the gammon part of a table of few chequers is "off already" throughout
        if same and len(table.arrays()[name]) >= MIN_CONSTANT_ROWS and len(alike) == 1:
            yield Finding(Rule.SENSE, entry=1, field=f"its {name} are all the same number")


# -- what cannot be read -------------------------------------------------------------------------------------


def try_readings(source: Source, error: errors.FormatError) -> Iterator[tuple[Database, Finding]]:
    """Yield every table as which a file without a header can be read, each with a note that names the reading.

    error : the error that reading it without options raised; it lists the formats that the content allows.
    """
    for text in error.readings if isinstance(error, errors.UnknownFormatError) else ():
        try:
            db = read_source(source, format=text)
        except (errors.FormatError, errors.CapabilityError):
            continue
        yield db, Finding(Rule.READ_AS, expected="it has no header", found=text)


def diagnose_unreadable(source: Source, error: errors.FormatError) -> tuple[Finding, LikelyCause | None]:
    """Return the finding and the likely cause (or None) for a file of a known format that cannot be read.

    error : what reading it raised.
    """
    finding = replace(error_finding(error, source.name), expected=getattr(error, "expected", None))
    likely = guess_size_cause(source)
    other_size = likely is not None and likely.cause is Cause.OTHER_SIZE
    if isinstance(error, errors.TruncatedError):
        finding = replace(finding, offset=source.size)
        if other_size and error.expected_size:
            promised = f"its header promises {error.expected_size:,} bytes, the file has {source.size:,}"
            finding = replace(finding, found=promised)
    elif finding.offset == 0:  # the checksum of the whole file is wrong, not its size
        likely = None
    elif other_size and likely is not None and not isinstance(error, errors.HeaderError):
        likely = LikelyCause(Cause.CUT, likely.detail)
    return finding, likely


def error_finding(error: errors.FormatError, name: str) -> Finding:
    """Return the finding for an error that reading the file `name` raised."""
    entry = getattr(error, "position_number", None)
    offset = getattr(error, "offset", None)
    return Finding(Rule.BROKEN, entry=entry, offset=offset, found=error_line(error, name))


def error_line(error: errors.BgfmtError, name: str) -> str:
    """Return an error's message as one line, without the file's name `name`, which reports print separately."""
    return " ".join(str(error).split()).removeprefix(f"{name}: ")


# -- causes --------------------------------------------------------------------------------------------------


def guess_size_cause(source: Source) -> LikelyCause | None:
    """Return the likely cause if a file's size does not fit its header; None if no format recognises the header.

    The cause is a bare header, a header that states another size than the file has, or a truncated file.
    """
    head = formats.head_of(source)
    claims = [form for form in formats.all_formats().values() if form.recognise(head)]
    if not claims:
        return None
    if source.size <= MAX_BARE_HEADER_BYTES:
        return LikelyCause(Cause.BARE_HEADER)
    fits = [text for form in claims for text in form.tables_of_size(source)]
    if fits:
        return LikelyCause(Cause.OTHER_SIZE, f"its size fits {' or '.join(dict.fromkeys(fits))}")
    return LikelyCause(Cause.CUT)


def guess_damage_cause(db: Database, outcome: Outcome | None) -> LikelyCause | None:
    """Return the likely cause of a table's damage, judged by its numbers; None if no known cause fits.

    outcome : result of checking the table against its recurrence (how each entry follows from others), None if not
    run.
    """
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
    body = np.frombuffer(source.buffer[start : min(end, start + MAX_SCANNED_BYTES)], np.uint8)
    if not body.any():
        return LikelyCause(Cause.ZEROS)
    if (body == 255).all():
        return LikelyCause(Cause.ONES)
    fits = db.format.tables_of_size(source) if db.rest or db.others else []
    if fits:
        return LikelyCause(Cause.OTHER_SIZE, f"its size fits {' or '.join(fits)}")
    many = outcome is not None and outcome.failing > max(8, outcome.checked // 50)
    return LikelyCause(Cause.BYTE_ORDER) if many and _makes_sense_swapped(table) else None


def _makes_sense_swapped(table: Table) -> bool:
    """Return True if the entries of few chequers follow from each other in the other byte order."""
    with contextlib.suppress(errors.BgfmtError):
        small = table.cut(chequers=min(CORNER_CHEQUERS, table.chequers))
        arrays: dict[str, Any] = {name: np.asarray(rows).byteswap() for name, rows in small.arrays().items()}
        if all(rows.itemsize == 1 for rows in arrays.values()):  # swapping changes nothing
            return False
        outcome = prove(replace(small, **arrays), Request())
        return outcome is not None and outcome.failing <= MAX_FAILING_SHARE * outcome.entries
    return False
