"""Repair: recompute the wrong entries of a damaged file, and prove the result.

What kind of file it must have been is taken from its header, its size and its bytes; each candidate is put right by
its own recurrence, and accepted only when most of the damaged file agrees with it. A file of which less than half is
right is refused: that would be a new file, which is what `bgfmt solve` is for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import formats
from bgfmt.database import read_source
from bgfmt.errors import BgfmtError, FormatError, VerificationError
from bgfmt.formats.gnubg import header as gnubg
from bgfmt.game import board
from bgfmt.storage import PathLike, Source, create
from bgfmt.tables import Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.verifier import judge_hypergammon, judge_two_sided
from bgfmt.verifier.ladder import _Climb, thread_count
from bgfmt.verifier.memory import Memory, decoded
from bgfmt.verifier.recurrence import one_sided as recurrence_one_sided
from bgfmt.verifier.recurrence import two_sided as recurrence_two_sided
from bgfmt.verifier.report import Finding, Report, plural

Array = NDArray[Any]
LEAST_RIGHT = 0.5
LEAST_RIGHT_ELSE = 0.8  # where the header would have to say something else
LEAST_HEADER = 30  # of 40 bytes
MOST_BYTES = 2 << 30
MOST_ENTRIES = 160_000_000
BGSAGE_HEADER = 28


@dataclass
class Candidate:
    """What a damaged file may have been: its header bytes, the table its body gives, and how to write it."""

    format: str
    header: bytes
    table: Table
    options: dict[str, Any]
    how: str = ""


@dataclass
class Mended:
    """A candidate put right: all its bytes, and how many entries had to change."""

    data: bytes
    changed: int
    entries: int
    how: str
    #: bytes of the damaged file that it would leave over, where they are not another database
    left_over: int = 0
    least: float = LEAST_RIGHT

    @property
    def share(self) -> float:
        """Part of the entries that were right already, and of the file that they take up."""
        used = len(self.data) / (len(self.data) + self.left_over)
        return (1 - self.changed / max(1, self.entries)) * used


def repair(path: PathLike, out: PathLike, force: bool = False) -> Report:
    """Write `path` with its wrong entries recomputed to `out`, and prove the result.

    Returns the report of the repaired file, its `notes` saying what was changed. Raises VerificationError when the
    file is not of a kind that can be recomputed, or when too little of it is right to say what it was.
    """
    name = os.fspath(path)
    with Source(path) as source:
        if source.size > MOST_BYTES:
            raise VerificationError(f"{name}: {source.size:,} bytes are more than can be repaired in memory")
        data = bytes(source.buffer)
    pieces: list[bytes] = []
    notes: list[str] = []
    rest = data
    while rest:
        best = _best(rest, name)
        if best is None or best.share < best.least:
            if pieces and not _like_header(rest):
                notes.append(f"{len(rest):,} bytes at the end belonged to no table and were left out")
                break
            share = f"; at best {best.share:.0%} of its entries are right" if best is not None else ""
            raise VerificationError(
                f"{name}: not repairable: it is not a table that can be recomputed{share}"
            )
        pieces.append(best.data)
        changed = (
            f"{plural(best.changed, 'entry')} recomputed" if best.changed else "no entry had to be recomputed"
        )
        notes.append(f"{changed}, of {best.entries:,}{f'; {best.how}' if best.how else ''}")
        rest = rest[len(best.data) :]
    mended = b"".join(pieces)
    if mended == data:
        notes = ["nothing had to be repaired"]
    report = _prove(mended, name)
    report.file = os.fspath(out)
    report.notes = notes + report.notes
    with create(out, force=force) as sink:
        sink.write(mended)
    return report


def _prove(data: bytes, name: str) -> Report:
    climb = _Climb("recurrence", None, 0, None, thread_count(None), None)
    with Source.from_bytes(data, name) as source:
        db = read_source(source)
        reports = [climb.table(db, name)]
        reports += [climb.table(read_source(source, part=k), name) for k in range(1, 1 + len(db.others))]
    for report in reports:
        if report.exit_code:
            message = f"{name}: not repairable: the recomputed table does not prove: {report.verdict}"
            raise VerificationError(message, report)
    first = reports[0]
    if len(reports) > 1:
        first.verdict = "; ".join(r.verdict for r in reports)
    return first


def _best(data: bytes, name: str) -> Mended | None:
    best: Mended | None = None
    for candidate in _candidates(data, name):
        try:
            mended = mend(candidate)
        except (BgfmtError, ValueError, IndexError, OverflowError):
            continue
        after = data[len(mended.data) :]
        mended.left_over = 0 if _like_header(after) else len(after)
        same = candidate.header[:20] == data[:20]
        mended.least = LEAST_RIGHT if same or not candidate.header else LEAST_RIGHT_ELSE
        if best is None or mended.share - mended.least > best.share - best.least:
            best = mended
        if best.share > 0.9:
            break
    return best


def _like_header(data: bytes) -> bool:
    return len(data) >= 6 and sum(a == b for a, b in zip(data[:6], b"gnubg-", strict=True)) >= 5


# -- what it may have been -----------------------------------------------------------------------------------


def _candidates(data: bytes, name: str) -> Iterator[Candidate]:
    """Likely kinds first: as it reads, then by header and size, then with the body turned round or shifted."""
    seen: set[bytes] = set()
    try:
        db = read_source(Source.from_bytes(data, name))
        if db.format.name not in ("gnubg-os", "gnubg-nd", "gnubg-ts", "gnubg-hyper"):
            yield Candidate(db.format.name, b"", db.table, {})
            return
        raw = db.table.extra.get("gnubg_header")
        if not raw:
            yield Candidate(db.format.name, b"", db.table, {"header": False})
            return
    except FormatError:
        pass
    if data[:BGSAGE_HEADER] and _like_bgsage(data):
        yield from _bgsage(data, name)
    headers = [h for h in _headers(data) if not (h in seen or seen.add(h))]  # type: ignore[func-returns-value]
    body = data[gnubg.SIZE :]
    for header in headers:
        yield from _tables(header, body, name, "")
    order = bytearray(body)
    even = len(body) & ~1
    order[0:even:2], order[1:even:2] = body[1:even:2], body[0:even:2]
    for header in headers[:2]:
        yield from _tables(header, bytes(order), name, "its bytes were in the other order")
        for by in (1, 2, 8):
            yield from _tables(header, body[by:], name, f"its body was shifted by {by} bytes")
            yield from _tables(header, bytes(by) + body, name, f"its body was shifted by -{by} bytes")


def _headers(data: bytes) -> list[bytes]:
    """Canonical headers that the file's own is near, those that agree with its size first."""
    own = data[: gnubg.SIZE]
    size = len(data)
    scored: list[tuple[float, bytes]] = []
    for header, wanted in _all_headers():
        same = sum(a == b for a, b in zip(own, header, strict=False))
        if same < LEAST_HEADER:
            continue
        fits = wanted is not None and wanted == size
        # one wrong digit in an intact header is far likelier than a body of exactly another kind's size
        scored.append((same + (8 if fits else 0), header))
    scored.sort(key=lambda pair: -pair[0])
    return [header for _, header in scored[:12]]


def _all_headers() -> Iterator[tuple[bytes, int | None]]:
    for points in range(1, 19):
        n = board.count(points, 15)
        for gammon in (True, False):
            yield gnubg.canonical_one_sided(points, 15, gammon=gammon, compressed=True, normal=False), None
            header = gnubg.canonical_one_sided(points, 15, gammon=gammon, compressed=False, normal=False)
            yield header, 40 + n * (128 if gammon else 64)
        yield gnubg.canonical_one_sided(points, 15, gammon=True, compressed=False, normal=True), 40 + 16 * n
    for points in range(1, 24):
        for chequers in range(1, 16):
            n = board.count(points, chequers)
            for cubeful in (True, False):
                header = gnubg.canonical_two_sided(points, chequers, cubeful=cubeful)
                yield header, 40 + n * n * (8 if cubeful else 2)
    for chequers in (1, 2, 3):
        yield gnubg.canonical_hyper(chequers), 40 + board.count(25, chequers) ** 2 * 28


def _tables(header: bytes, body: bytes, name: str, how: str) -> Iterator[Candidate]:
    """The table a header promises, over a body cut or filled with zeros to the right length."""
    kind = gnubg.kind(header)
    wanted = dict(_all_headers())[header]
    if kind == "OS" and wanted is None:
        spec = gnubg.SIDED.parse(header)
        if board.count(spec.points, 15) * 6 > 2 * len(body) + 64:
            return
        table = decoded(body, spec.points, bool(spec.flag15), len(header))
        yield Candidate("gnubg-os", header, table, {"compressed": True}, how)
        return
    assert wanted is not None
    length = wanted - gnubg.SIZE
    if length > 2 * len(body) + 64 or length > MOST_BYTES:
        return
    image = header + body[:length] + bytes(max(0, length - len(body)))
    source = Source.from_bytes(image, name)
    db = read_source(source)
    yield Candidate(db.format.name, header, db.table, {}, how)


def _like_bgsage(data: bytes) -> bool:
    from bgfmt.formats import bgsage

    wanted = bgsage.HEADER.build({"gammon_rows": 0})[:24]
    return sum(a == b for a, b in zip(data[:24], bytes(wanted), strict=False)) >= 18


def _bgsage(data: bytes, name: str) -> Iterator[Candidate]:
    from bgfmt.formats import bgsage

    n = bgsage.N
    for rows in (n - bgsage.FULL, 0):
        length = 28 + 72 * n + 64 * rows
        image = bytearray(data[:length] + bytes(max(0, length - len(data))))
        if len(data) < length // 2:
            continue
        image[:28] = bgsage.HEADER.build({"gammon_rows": rows})
        where = np.full(n, -1, "<i4")
        if rows:
            where[bgsage.FULL :] = np.arange(rows)
        image[28 + 68 * n : 28 + 72 * n] = where.tobytes()
        db = read_source(Source.from_bytes(bytes(image), name))
        yield Candidate("bgsage", b"", db.table, {})


# -- putting it right ----------------------------------------------------------------------------------------


def mend(candidate: Candidate) -> Mended:
    """Recompute every wrong entry of a candidate's table."""
    table = candidate.table
    if isinstance(table, TwoSided):
        right, changed, entries = _two_sided(table)
    elif isinstance(table, OneSided):
        right, changed, entries = _one_sided(table)
    elif isinstance(table, NormalOneSided):
        right, changed, entries = _normal(table)
    elif isinstance(table, MeanRolls):
        means = recurrence_one_sided.settle_means(table)
        changed, entries = int((means != np.asarray(table.means)).sum()), table.positions
        right = replace(table, means=means)
    elif isinstance(table, Hypergammon):
        right, changed, entries = _hypergammon(table)
    else:
        raise VerificationError(f"a {table.kind} table cannot be recomputed")
    dropped = (
        {"bgsage", "packed", "gnubg_header"} if candidate.format.startswith(("gnubg", "bgsage")) else set()
    )
    extra = {key: value for key, value in right.extra.items() if key not in dropped}
    if candidate.header:
        extra["gnubg_header"] = candidate.header
    memory = Memory()
    formats.get(candidate.format).write(replace(right, extra=extra), memory, **candidate.options)  # type: ignore[arg-type]
    return Mended(bytes(memory.data), changed, entries, candidate.how)


def _two_sided(table: TwoSided) -> tuple[Table, int, int]:
    if table.exact or table.positions**2 > MOST_ENTRIES:
        raise VerificationError("a table of this kind or size is not repaired in memory")
    found = recurrence_two_sided.check(table, threads=thread_count(None))
    if found.failing > found.entries * 0.9:
        return table, found.entries, found.entries
    complete = len(found.numbers) == found.failing
    settled = judge_two_sided.settle(table, found.numbers if complete else None)
    return replace(table, equities=settled.work), len(settled.wrong), found.entries


def _one_sided(table: OneSided) -> tuple[Table, int, int]:
    best: tuple[Table, int, int] | None = None
    n = table.positions
    own = table.extra.get("gammon_policy") == "race"
    for recipe in ("bgsage",) if own else ("gnubg", "bgsage"):
        rows = recurrence_one_sided.rows_of(table, recipe=recipe)
        fails, _ = recurrence_one_sided.check(rows, recipe=recipe, threads=thread_count(None))
        fails[rows.idle_wrong] |= 2
        if (fails > 0).sum() > 0.95 * n:
            continue
        bad = np.flatnonzero(fails)
        changed = recurrence_one_sided.settle(rows, int(bad[0]) if len(bad) else n, recipe=recipe)
        changed[rows.idle_wrong] |= 2
        gammon = None
        if table.gammon is not None:
            gammon = np.zeros((n, 32), np.uint16)
            gammon[:, 0] = 65535
            if len(rows.gammon):
                full = rows.gammon
                if rows.race:
                    before = np.concatenate([np.full((len(full), 1), 65535, np.uint16), full[:, :-1]], axis=1)
                    full = before - full
                gammon[rows.first_full :] = full
        wrong = int((changed > 0).sum())
        if best is None or wrong < best[1]:
            best = (replace(table, bearoff=rows.bearoff, gammon=gammon), wrong, n)
        if wrong < n // 10:
            break
    return best if best is not None else (table, n, n)


def _normal(table: NormalOneSided) -> tuple[Table, int, int]:
    best: tuple[Table, int, int] | None = None
    for divide in (False, True):
        moments, changed = recurrence_one_sided.settle_normal(table, divide=divide)
        if best is None or int(changed.sum()) < best[1]:
            best = (replace(table, moments=moments), int(changed.sum()), table.positions)
    assert best is not None
    return best


def _hypergammon(table: Hypergammon) -> tuple[Table, int, int]:
    n = table.positions
    if n > judge_hypergammon.REGENERATE_MOST:
        raise VerificationError("three-chequer hypergammon takes hours to recompute and is not repaired")
    _, near = judge_hypergammon.regenerated(table)
    changed = int((near != np.asarray(table.records)).any(axis=2).sum())
    if near is table.records:
        changed = n * n
    return replace(table, records=near), changed, n * n


__all__ = ["Finding", "repair"]
