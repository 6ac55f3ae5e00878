"""Repair: recompute the wrong entries of a damaged file, and prove the result.

The formats propose what the file may have been. Each candidate is corrected by its own recurrence, and accepted only
if most of the damaged file agrees with it. A file of which less than half is right is refused: that would be a new
file, which is the task of `bgfmt solve`.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bgfmt import formats
from bgfmt.errors import BgfmtError, FormatError, UnknownFormatError, VerificationError, format_bytes
from bgfmt.files.database import describe_foreign, read_source
from bgfmt.formats import Format, Salvage
from bgfmt.solver.machine import thread_count
from bgfmt.storage import MemorySink, PathLike, Source, create, open_source
from bgfmt.tables import Table
from bgfmt.verifier import checks
from bgfmt.verifier.findings import Status
from bgfmt.verifier.proofs import PROOFS, Proof, Request, proof_of
from bgfmt.verifier.report import Report, merge_reports
from bgfmt.verifier.spread import Progress
from bgfmt.verifier.verification import Verification, parts_of
from bgfmt.verifier.words import plural

MIN_RIGHT_SHARE = 0.5
MIN_RIGHT_SHARE_OTHER_HEADER = 0.8  # where the header would have to say something else
SUFFICIENT_SHARE = 0.9  # a candidate of which so much is right is taken without looking further
CLEAR_SHARE = 0.25  # a table of which so much is right has the header that it should have
MAX_FILE_BYTES = 2 << 30
TYPICAL_CANDIDATES = 48  # candidates, about, of a file that none explains


@dataclass(frozen=True)
class RepairedTable:
    """A candidate whose entries were recomputed.

    Attributes
    ----------
    data : all bytes of the repaired table.
    consumed : bytes of the damaged file that it replaces.
    changed, entries : number of entries that had to change, and of all.
    how : what was wrong with the file, as text, if known.
    left_over : bytes of the damaged file that belong neither to it nor to another database.
    min_share : share of the file that must be right for the candidate to be accepted.
    solve_command : the command that solves such a table.
    """

    data: bytes
    consumed: int
    changed: int
    entries: int
    how: str
    left_over: int
    min_share: float
    solve_command: str

    @property
    def is_intact(self) -> bool:
        """True if the file begins with the header of this table and has nothing after it."""
        return self.min_share == MIN_RIGHT_SHARE and not self.left_over

    @property
    def is_sufficient(self) -> bool:
        """True if so many entries were right already that no other reading of the damaged file is tried."""
        return self.share > SUFFICIENT_SHARE or (self.is_intact and self.share >= self.min_share)

    @property
    def share(self) -> float:
        """Share (0 to 1) of the entries that were right already, times the share of the file that the table fills."""
        used = len(self.data) / (len(self.data) + self.left_over)
        return (1 - self.changed / max(1, self.entries)) * used


def repair(path: PathLike, out: PathLike, force: bool = False, progress: Progress | None = None) -> Report:
    """Repair the file `path`: recompute its wrong entries, prove the result, and write it to `out`.

    Parameters
    ----------
    path, out : the damaged file, and the file to write.
    force : overwrite `out`.
    progress : called with (done, total).

    Returns
    -------
    Report
        Of the repaired file; its `notes` state what was changed.

    Raises
    ------
    VerificationError
        If the file is not of a kind that can be recomputed, or if too little of it is right.
    UnknownFormatError
        If the file is not a database.
    """
    name = os.fspath(path)
    with open_source(path) as source:
        if source.size > MAX_FILE_BYTES:
            raise VerificationError(f"{name}: {source.size:,} bytes are more than can be repaired in memory")
        data = source.bytes(0, source.size)
    pieces: list[bytes] = []
    notes: list[str] = []
    rest = data
    while rest:
        best, reason = _find_best(rest, name, progress)
        if best is None or best.share < best.min_share:
            if pieces and not formats.resembles(rest):
                notes.append(f"removed at the end, part of no table: {plural(len(rest), 'byte')}")
                break
            if cause := describe_foreign(rest[: 1 << 16]):
                raise UnknownFormatError(f"{name}: {cause}")
            kind = VerificationError if pieces or best or reason else UnknownFormatError
            if kind is UnknownFormatError:
                raise kind(f"{name}: not repairable: no table of a known format is found in it")
            again = "it must be solved again"
            if best is not None:
                share = math.floor(1000 * best.share) / 10
                reason = f"at most {share} % of it is right, {100 * best.min_share:.0f} % are needed"
                again += f": {best.solve_command}" if best.min_share == MIN_RIGHT_SHARE else ""
            raise kind(f"{name}: not repairable: {reason}; {again}")
        before = rest
        rest = rest[best.consumed :]
        if best.data in pieces:
            notes.append("a second copy of the table was removed")
            continue
        pieces.append(best.data)
        changed = plural(best.changed, "entry") if best.changed else "no entry was"
        how = [best.how] if best.how else _describe_other_bytes(before, best)
        notes.append("; ".join([f"{changed} recomputed, of {best.entries:,}", *how]))
    mended = b"".join(pieces)
    if mended == data:
        notes = ["nothing had to be repaired"]
    report = _prove(mended, name, progress)
    with create(out, force=force) as sink:
        sink.write(mended)
    return replace(report, file=os.fspath(out), notes=[*notes, *report.notes])


def _describe_other_bytes(data: bytes, best: RepairedTable) -> list[str]:
    """Return a sentence about wrong bytes of the header or padding if no entry had to change, else nothing."""
    if best.changed:
        return []
    size = min(len(data), len(best.data))
    stored = np.frombuffer(data, np.uint8, size)
    right = np.frombuffer(best.data, np.uint8, size)
    off = np.flatnonzero(stored != right)
    if not len(off):
        return []
    at = int(off[0])
    was = format_bytes(data[at : at + 8])
    now = format_bytes(best.data[at : at + 8])
    return [
        f"{plural(len(off), 'byte')} outside the numbers corrected, from byte {at:,} on: {was} is {now} now"
    ]


def _prove(data: bytes, name: str, progress: Progress | None) -> Report:
    """Verify the repaired bytes and return the report; raise VerificationError if they do not prove."""
    verification = Verification(request=Request(thread_count(None), progress))
    with Source.from_bytes(data, name) as source:
        known = tuple(checks.check_digest(source))
        reports = [
            verification.verify_table(part, name, known) for part in parts_of(source, read_source(source))
        ]
    for report in reports:
        if report.exit_code:
            message = f"{name}: not repairable: the recomputed table is not proved: {report.verdict}"
            raise VerificationError(message, report)
    return merge_reports(name, reports)


def may_be_repairable(report: Report) -> bool:
    """Return True if a file was found damaged, and is not known to be of a kind that cannot be recomputed."""
    damaged = report.status in (Status.DAMAGED.value, Status.CLAIMS.value)
    proof = PROOFS.get(report.kind, Proof) if report.kind else None
    return damaged and (proof is None or proof.recompute is not Proof.recompute)


def _find_best(data: bytes, name: str, progress: Progress | None) -> tuple[RepairedTable | None, str]:
    """Return the candidate of which most is right, or None and the reason why there is none."""
    best: RepairedTable | None = None
    reason = ""
    intact = False
    for tried, (form, found) in enumerate(_candidates(data, name)):
        if progress is not None:
            progress(min(tried, TYPICAL_CANDIDATES - 1), TYPICAL_CANDIDATES)
        intact |= found.sure
        if intact and found.how and not found.sure:
            continue  # neither its header nor its bytes as they stand
        if best is not None and best.is_intact and best.share > CLEAR_SHARE and not found.sure:
            continue
        try:
            mended = mend(form, found, data)
        except VerificationError as error:
            reason = reason or str(error)
            continue
        except (BgfmtError, ValueError, IndexError, OverflowError):
            continue
        if best is None or mended.share - mended.min_share > best.share - best.min_share:
            best = mended
        if best.is_sufficient:
            break
    return best, reason or ("" if best else _explain_unreadable(data, name))


def _explain_unreadable(data: bytes, name: str) -> str:
    """Return why a file of a known format cannot be read; "" if it can be read or is of no known format."""
    try:
        read_source(Source.from_bytes(data, name))
    except UnknownFormatError:
        return ""
    except FormatError as error:
        return str(error).removeprefix(f"{name}: ")
    return ""


def _candidates(data: bytes, name: str) -> Iterator[tuple[Format[Any], Salvage]]:
    """Yield what the file may have been; last the table that it reads as, even if no program writes such a header."""
    yield from formats.salvage(Source.from_bytes(data, name))
    with contextlib.suppress(BgfmtError):
        db = read_source(Source.from_bytes(data, name))
        yield db.format, Salvage(db.table, 0.0)


def mend(form: Format[Any], found: Salvage, data: bytes) -> RepairedTable:
    """Recompute every wrong entry of a table read from a damaged file, and write the table in its format.

    form : the format. found : what the damaged file may have been, with its numbers. data : the damaged file's bytes
    from the table's start on.
    """
    proof = proof_of(found.table)
    least = MIN_RIGHT_SHARE if found.sure else MIN_RIGHT_SHARE_OTHER_HEADER
    solved = proof.solve_command(found.table)
    impossible = count_impossible_rows(found.table)
    if impossible > (1 - least) * found.table.entries:  # no need to recompute it
        return RepairedTable(data, len(data), impossible, found.table.entries, found.how, 0, least, solved)
    right, changed = proof.recompute(found.table, thread_count(None))
    memory = MemorySink()
    form.write(right, memory)  # type: ignore[arg-type]
    taken = len(data) if form.fills else len(memory.data)
    after = data[taken:]
    left_over = 0 if formats.resembles(after) else len(after)
    return RepairedTable(
        bytes(memory.data), taken, changed, right.entries, found.how, left_over, least, solved
    )


def count_impossible_rows(table: Table) -> int:
    """Return how many rows of a one-sided table break a rule of theory (`Table.breaches`); 0 for other kinds."""
    if table.entries != table.positions:
        return 0
    count = 0
    for rows, block in table.blocks():
        broken = np.zeros(rows.stop - rows.start, bool)
        for breach in table.breaches(rows.start, block):
            broken |= breach.bad
        count += int(broken.sum())
    return count
