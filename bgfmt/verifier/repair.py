"""Repair: recompute the wrong entries of a damaged file, and prove the result.

What the file must have been is asked of the formats; each candidate is put right by its own recurrence, and accepted
only when most of the damaged file agrees with it. A file of which less than half is right is refused: that would be a
new file, which is what `bgfmt solve` is for.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bgfmt import formats
from bgfmt.errors import BgfmtError, FormatError, UnknownFormatError, VerificationError, shown
from bgfmt.files.database import foreign, read_source
from bgfmt.formats import Format, Salvage
from bgfmt.solver.machine import thread_count
from bgfmt.storage import MemorySink, PathLike, Source, create, open_source
from bgfmt.verifier import checks
from bgfmt.verifier.proofs import Request, proof_of
from bgfmt.verifier.report import Report, together
from bgfmt.verifier.spread import Progress
from bgfmt.verifier.verification import Verification, parts_of
from bgfmt.verifier.words import plural

LEAST_RIGHT = 0.5
LEAST_RIGHT_ELSE = 0.8  # where the header would have to say something else
ENOUGH = 0.9  # a candidate of which so much is right is taken without looking further
MOST_BYTES = 2 << 30
TRIED = 48  # candidates, about, of a file that none explains


@dataclass(frozen=True)
class Mended:
    """A candidate put right: all its bytes, and how many entries had to change.

    taken : bytes of the damaged file that it stands for. left_over : bytes of that file that it would leave over,
    where they are not another database. least : the part that has to be right already. solved : the command that
    makes such a table.
    """

    data: bytes
    taken: int
    changed: int
    entries: int
    how: str
    left_over: int
    least: float
    solved: str

    @property
    def good(self) -> bool:
        """Whether so much is right that no other candidate is looked for."""
        intact = self.least == LEAST_RIGHT and not self.left_over
        return self.share > ENOUGH or (intact and self.share >= self.least)

    @property
    def share(self) -> float:
        """Part of the entries that were right already, and of the file that they take up."""
        used = len(self.data) / (len(self.data) + self.left_over)
        return (1 - self.changed / max(1, self.entries)) * used


def repair(path: PathLike, out: PathLike, force: bool = False, progress: Progress | None = None) -> Report:
    """Write `path` with its wrong entries recomputed to `out`, and prove the result.

    progress : called with (done, total). Returns the report of the repaired file, its `notes` saying what was
    changed. Raises VerificationError when the file is not of a kind that can be recomputed, or when too little of it
    is right to say what it was; UnknownFormatError when it is no database at all.
    """
    name = os.fspath(path)
    with open_source(path) as source:
        if source.size > MOST_BYTES:
            raise VerificationError(f"{name}: {source.size:,} bytes are more than can be repaired in memory")
        data = source.bytes(0, source.size)
    pieces: list[bytes] = []
    notes: list[str] = []
    rest = data
    while rest:
        best, reason = _best(rest, name, progress)
        if best is None or best.share < best.least:
            if pieces and not formats.resembles(rest):
                notes.append(f"left out at the end, of no table: {plural(len(rest), 'byte')}")
                break
            if cause := foreign(rest[: 1 << 16]):
                raise UnknownFormatError(f"{name}: {cause}")
            kind = VerificationError if pieces or best or reason else UnknownFormatError
            reason = reason or "it is not a table that can be recomputed"
            again = "it has to be made anew"
            if best is not None:
                reason = f"at best {best.share:.0%} of it is right, and {best.least:.0%} must be"
                again += f" ({best.solved})" if best.least == LEAST_RIGHT else ""
            raise kind(f"{name}: not repairable: {reason}; {again}")
        before = rest
        rest = rest[best.taken :]
        if best.data in pieces:
            notes.append("a table that was there a second time was left out")
            continue
        pieces.append(best.data)
        changed = plural(best.changed, "entry") if best.changed else "no entry had to be"
        how = [best.how] if best.how else _other_bytes(before, best)
        notes.append("; ".join([f"{changed} recomputed, of {best.entries:,}", *how]))
    mended = b"".join(pieces)
    if mended == data:
        notes = ["nothing had to be repaired"]
    report = _prove(mended, name, progress)
    with create(out, force=force) as sink:
        sink.write(mended)
    return replace(report, file=os.fspath(out), notes=[*notes, *report.notes])


def _other_bytes(data: bytes, best: Mended) -> list[str]:
    """Where the bytes differ though every number is right: that of a header, or its filling."""
    if best.changed:
        return []
    size = min(len(data), len(best.data))
    stored = np.frombuffer(data, np.uint8, size)
    right = np.frombuffer(best.data, np.uint8, size)
    off = np.flatnonzero(stored != right)
    if not len(off):
        return []
    at = int(off[0])
    was = shown(data[at : at + 8])
    now = shown(best.data[at : at + 8])
    return [
        f"{plural(len(off), 'byte')} beside the numbers put right, from byte {at:,} on: {was} is {now} now"
    ]


def _prove(data: bytes, name: str, progress: Progress | None) -> Report:
    climb = Verification(request=Request(thread_count(None), progress))
    with Source.from_bytes(data, name) as source:
        known = tuple(checks.digest(source))
        reports = [climb.table(part, name, known) for part in parts_of(source, read_source(source))]
    for report in reports:
        if report.exit_code:
            message = f"{name}: not repairable: the recomputed table does not prove: {report.verdict}"
            raise VerificationError(message, report)
    return together(name, reports)


def _best(data: bytes, name: str, progress: Progress | None) -> tuple[Mended | None, str]:
    """The candidate of which most is right; else why the likeliest that can be read is none."""
    best: Mended | None = None
    reason = ""
    intact = False
    for tried, (form, found) in enumerate(_candidates(data, name)):
        if progress is not None:
            progress(min(tried, TRIED), TRIED)
        intact |= found.sure
        if intact and found.how and not found.sure:
            continue  # neither its header nor its bytes as they stand
        try:
            mended = mend(form, found, data)
        except VerificationError as error:
            reason = reason or str(error)
            continue
        except (BgfmtError, ValueError, IndexError, OverflowError):
            continue
        if best is None or mended.share - mended.least > best.share - best.least:
            best = mended
        if best.good:
            break
    return best, reason or ("" if best else _unreadable(data, name))


def _unreadable(data: bytes, name: str) -> str:
    """Why a file of a known format cannot be read; empty for others."""
    try:
        read_source(Source.from_bytes(data, name))
    except UnknownFormatError:
        return ""
    except FormatError as error:
        return str(error).removeprefix(f"{name}: ")
    return ""


def _candidates(data: bytes, name: str) -> Iterator[tuple[Format[Any], Salvage]]:
    """What the file may have been; last, what it reads as, where no program writes such a header."""
    yield from formats.salvage(Source.from_bytes(data, name))
    with contextlib.suppress(BgfmtError):
        db = read_source(Source.from_bytes(data, name))
        yield db.format, Salvage(db.table, 0.0)


def mend(form: Format[Any], found: Salvage, data: bytes) -> Mended:
    """Recompute every wrong entry of a table, and write it as its format does."""
    right, changed = proof_of(found.table).put_right(found.table, thread_count(None))
    memory = MemorySink()
    form.write(right, memory)  # type: ignore[arg-type]
    taken = len(data) if form.fills else len(memory.data)
    after = data[taken:]
    left_over = 0 if formats.resembles(after) else len(after)
    least = LEAST_RIGHT if found.sure else LEAST_RIGHT_ELSE
    solved = f"bgfmt solve {right.kind}, of {right.points} points and {right.chequers} chequers"
    return Mended(bytes(memory.data), taken, changed, right.entries, found.how, left_over, least, solved)
