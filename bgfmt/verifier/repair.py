"""Repair: recompute the wrong entries of a damaged file, and prove the result.

A file whose header is intact is corrected by its own recurrence; what a truncated file lacks is computed too. A file
of which less than half is right is refused: that would be a new file, which is the task of `bgfmt solve`.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace

from bgfmt import formats
from bgfmt.errors import FormatError, TruncatedError, UnknownFormatError, VerificationError
from bgfmt.files.database import Database, read_source
from bgfmt.solver.machine import thread_count
from bgfmt.storage import MemorySink, PathLike, Source, create, open_source
from bgfmt.verifier import checks
from bgfmt.verifier.findings import Status
from bgfmt.verifier.proofs import PROOFS, Proof, Request, proof_of
from bgfmt.verifier.recurrence.plays import Progress
from bgfmt.verifier.report import Report, merge_reports
from bgfmt.verifier.verification import Verification, parts_of
from bgfmt.verifier.words import plural

MIN_RIGHT_SHARE = 0.5
MAX_FILE_BYTES = 2 << 30


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
        If the file cannot be read, is not of a kind that can be recomputed, or if too little of it is right.
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
    parts = _read_parts(data, name)
    rest = parts[-1].rest
    if rest > len(data) * (1 - MIN_RIGHT_SHARE):
        raise _refusal(name, f"{plural(rest, 'byte')} at the end belong to no known table")
    for part in parts:
        piece, changed = _mend(part)
        if piece in pieces:
            notes.append("a second copy of the table was removed")
            continue
        pieces.append(piece)
        count = plural(changed, "entry") if changed else "no entry was"
        notes.append(f"{count} recomputed, of {part.table.entries:,}")
        if not changed and piece != part.source.buffer[part.extent.offset : part.extent.end]:
            notes[-1] += "; bytes outside the numbers corrected"
    if rest:
        notes.append(f"removed at the end, part of no table: {plural(rest, 'byte')}")
    mended = b"".join(pieces)
    if mended == data:
        notes = ["nothing had to be repaired"]
    report = _prove(mended, name, progress)
    with create(out, force=force) as sink:
        sink.write(mended)
    return replace(report, file=os.fspath(out), notes=[*notes, *report.notes])


def _read_parts(data: bytes, name: str) -> list[Database]:
    """Read the databases of a damaged file; the bytes that a truncated file lacks are read as zeros.

    What follows them is read as a file of its own if it begins like one; a later table may be damaged, too.
    """
    try:
        parts = _open_parts(data, name)
        after = data[len(data) - parts[-1].rest :]
        with contextlib.suppress(UnknownFormatError):
            formats.recognise(Source.from_bytes(after, name))
            parts += _read_parts(after, name)
        return parts
    except FormatError as error:
        if isinstance(error, UnknownFormatError) and not error.readings:
            raise
        if isinstance(error, TruncatedError) and error.expected_size <= 2 * len(data):
            with contextlib.suppress(FormatError):
                return _open_parts(data.ljust(error.expected_size, b"\0"), name)
        raise _refusal(name, checks.error_line(error, name)) from None


def _open_parts(data: bytes, name: str) -> list[Database]:
    source = Source.from_bytes(data, name)
    return parts_of(source, read_source(source))


def _refusal(name: str, reason: str, command: str = "") -> VerificationError:
    return VerificationError(f"{name}: not repairable: {reason}; it must be solved again{command}")


def _mend(part: Database) -> tuple[bytes, int]:
    """Return the bytes of a table with every wrong entry computed again, and the number of these entries."""
    proof = proof_of(part.table)
    try:
        table, changed = proof.recompute(part.table, thread_count(None))
    except (FormatError, VerificationError) as error:
        raise _refusal(part.name, checks.error_line(error, part.name)) from None
    wrong = changed / max(1, table.entries)
    if wrong > 1 - MIN_RIGHT_SHARE:
        reason = f"{wrong:.1%} of it is wrong, {1 - MIN_RIGHT_SHARE:.0%} may be"
        raise _refusal(part.name, reason, f": {proof.solve_command(table)}")
    own, options = part.format.as_written(table)
    memory = MemorySink()
    part.format.write(own, memory, **options)  # type: ignore[arg-type]
    return bytes(memory.data), changed


def _prove(data: bytes, name: str, progress: Progress | None) -> Report:
    """Verify the repaired bytes and return the report; raise VerificationError if they do not prove."""
    verification = Verification(request=Request(thread_count(None), progress))
    with Source.from_bytes(data, name) as source:
        known = tuple(checks.check_digest(source))
        reports = [verification.verify_table(part, name, known) for part in _open_parts(data, name)]
    for report in reports:
        if report.exit_code:
            message = f"{name}: not repairable: the recomputed table is not proved: {report.verdict}"
            raise VerificationError(message, report)
    return merge_reports(name, reports)


def may_be_repairable(report: Report) -> bool:
    """Return True if a file was found damaged, and is not known to be of a kind that cannot be recomputed."""
    proof = PROOFS.get(report.kind, Proof) if report.kind else None
    recomputes = proof is None or proof.recompute is not Proof.recompute
    return report.status == Status.DAMAGED.value and recomputes
