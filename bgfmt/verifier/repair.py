"""Repair: recompute the wrong entries of a damaged file, and prove the result.

What the file must have been is asked of the formats; each candidate is put right by its own recurrence, and accepted
only when most of the damaged file agrees with it. A file of which less than half is right is refused: that would be a
new file, which is what `bgfmt solve` is for.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import formats
from bgfmt.errors import BgfmtError, FormatError, UnknownFormatError, VerificationError
from bgfmt.files.database import read_source
from bgfmt.formats import Format, Salvage
from bgfmt.storage import MemorySink, PathLike, Source, create, open_source
from bgfmt.tables import Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.verifier.ladder import Climb, thread_count
from bgfmt.verifier.proofs import hypergammon as proof_of_hypergammon
from bgfmt.verifier.recurrence import exact, moments, one_sided, two_sided
from bgfmt.verifier.recurrence.grid import UNPACKED_BYTES, Grid
from bgfmt.verifier.report import Report, together
from bgfmt.verifier.words import plural

Array = NDArray[Any]
LEAST_RIGHT = 0.5
LEAST_RIGHT_ELSE = 0.8  # where the header would have to say something else
ENOUGH = 0.9  # a candidate of which so much is right is taken without looking further
SMALLEST = 4  # rows and columns of a part that is not halved further
MOST_BYTES = 2 << 30
MOST_ENTRIES = 160_000_000


@dataclass(frozen=True)
class Mended:
    """A candidate put right: all its bytes, and how many entries had to change.

    left_over : bytes of the damaged file that it would leave over, where they are not another database. least : the
    part that has to be right already.
    """

    data: bytes
    changed: int
    entries: int
    how: str
    left_over: int
    least: float

    @property
    def share(self) -> float:
        """Part of the entries that were right already, and of the file that they take up."""
        used = len(self.data) / (len(self.data) + self.left_over)
        return (1 - self.changed / max(1, self.entries)) * used


def repair(path: PathLike, out: PathLike, force: bool = False) -> Report:
    """Write `path` with its wrong entries recomputed to `out`, and prove the result.

    Returns the report of the repaired file, its `notes` saying what was changed. Raises VerificationError when the
    file is not of a kind that can be recomputed, or when too little of it is right to say what it was;
    UnknownFormatError when it is no database at all.
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
        best, reason = _best(rest, name)
        if best is None or best.share < best.least:
            if pieces and not formats.resembles(rest):
                notes.append(f"{plural(len(rest), 'byte')} at the end belonged to no table and were left out")
                break
            kind = VerificationError if pieces or best or reason else UnknownFormatError
            raise kind(f"{name}: not repairable: {_why(best, reason)}")
        rest = rest[len(best.data) :]
        if best.data in pieces:
            notes.append("a table that was there a second time was left out")
            continue
        pieces.append(best.data)
        changed = (
            f"{plural(best.changed, 'entry')} recomputed" if best.changed else "no entry had to be recomputed"
        )
        notes.append(f"{changed}, of {best.entries:,}{f'; {best.how}' if best.how else ''}")
    mended = b"".join(pieces)
    if mended == data:
        notes = ["nothing had to be repaired"]
    report = _prove(mended, name)
    with create(out, force=force) as sink:
        sink.write(mended)
    return replace(report, file=os.fspath(out), notes=[*notes, *report.notes])


def _why(best: Mended | None, reason: str) -> str:
    if best is None:
        reason = reason or "it is not a table that can be recomputed"
    else:
        reason = f"at best {best.share:.0%} of it is right, and {best.least:.0%} must be"
    return f"{reason}; it has to be made anew"


def _prove(data: bytes, name: str) -> Report:
    climb = Climb(threads=thread_count(None))
    with Source.from_bytes(data, name) as source:
        db = read_source(source)
        parts = [db, *(read_source(source, part=k) for k in range(1, 1 + len(db.others)))]
        reports = [climb.table(part, name) for part in parts]
    for report in reports:
        if report.exit_code:
            message = f"{name}: not repairable: the recomputed table does not prove: {report.verdict}"
            raise VerificationError(message, report)
    return reports[0] if len(reports) == 1 else together(name, reports)


def _best(data: bytes, name: str) -> tuple[Mended | None, str]:
    """The candidate of which most is right; else why the likeliest that can be read is none."""
    best: Mended | None = None
    reason = ""
    for form, found in _candidates(data, name):
        try:
            mended = mend(form, found, data)
        except VerificationError as error:
            reason = reason or str(error)
            continue
        except (BgfmtError, ValueError, IndexError, OverflowError):
            continue
        if best is None or mended.share - mended.least > best.share - best.least:
            best = mended
        if best.share > ENOUGH:
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


# -- putting it right ------------------------------------------------------------------------------------------


def mend(form: Format[Any], found: Salvage, data: bytes) -> Mended:
    """Recompute every wrong entry of a table, and write it as its format does."""
    right, changed = put_right(found.table)
    memory = MemorySink()
    form.write(right, memory)  # type: ignore[arg-type]
    after = data[len(memory.data) :]
    return Mended(
        bytes(memory.data),
        changed,
        right.entries,
        found.how,
        0 if formats.resembles(after) else len(after),
        LEAST_RIGHT if found.sure else LEAST_RIGHT_ELSE,
    )


def put_right(table: Table) -> tuple[Table, int]:
    """(the table with every wrong entry recomputed, how many entries that changed)."""
    ways = {**WAYS, **EXACT} if table.exact else WAYS
    if table.kind not in ways:
        raise VerificationError(f"a {table.kind} table cannot be recomputed")
    return ways[table.kind](table)


def _two_sided(table: TwoSided) -> tuple[Table, int]:
    if table.entries > MOST_ENTRIES:
        raise VerificationError("a table of this size is not repaired in memory")
    table = _unpacked(table)
    found = two_sided.check(table, threads=thread_count(None))
    complete = len(found.numbers) == found.failing
    settled = two_sided.settle(table, found.numbers if complete else None)
    return replace(table, equities=settled.work), len(settled.wrong)


def _unpacked(table: TwoSided) -> TwoSided:
    """A compressed table with its equities in memory; what a damaged block held is 0, which the recurrence mends.

    What cannot be read is halved, until 1/256 of the rows and columns is left of it.
    """
    grid = Grid(table)
    if grid.order is None:
        return table
    n, order, lost = grid.n, grid.order, 0
    equities = np.zeros((n, n, grid.columns), np.uint16)
    step = max(1, UNPACKED_BYTES // (n * grid.columns * 2))
    parts = [(start, min(n, start + step), 0, n) for start in range(0, n, step)]
    while parts:
        a, b, first, last = parts.pop()
        try:
            found = grid.piece(a, b, first, last).reshape(b - a, last - first, grid.columns)
        except FormatError:
            rows, columns = b - a, last - first
            if max(rows, columns) <= max(SMALLEST, n // 256):
                lost += rows * columns
            elif rows >= columns:
                parts += [(a, a + rows // 2, first, last), (a + rows // 2, b, first, last)]
            else:
                parts += [(a, b, first, first + columns // 2), (a, b, first + columns // 2, last)]
        else:
            equities[np.ix_(order[a:b], order[first:last])] = found
        if lost > n * n * LEAST_RIGHT:
            raise VerificationError("less than half of it can be read")
    return replace(table, equities=equities)


def _one_sided(table: OneSided) -> tuple[Table, int]:
    best: tuple[Table, int] | None = None
    n = table.positions
    ways = (one_sided.BGSAGE,) if table.gammon_policy == "race" else (one_sided.GNUBG, one_sided.BGSAGE)
    for rule in ways:
        rows = one_sided.rows_of(table, race=rule.race)
        fails, _ = one_sided.check(rows, rule, threads=thread_count(None))
        bad = np.flatnonzero(fails)
        changed = one_sided.settle(rows, int(bad[0]) if len(bad) else n, rule)
        gammon = None if table.gammon is None else rows.distributions()
        wrong = int((changed > 0).sum())
        if best is None or wrong < best[1]:
            best = replace(table, bearoff=rows.bearoff, gammon=gammon), wrong
        if wrong < n // 10:
            break
    return best if best is not None else (table, n)


def _normal(table: NormalOneSided) -> tuple[Table, int]:
    ways = [moments.settle(table, divide=divide) for divide in (False, True)]
    right, changed = min(ways, key=lambda way: int(way[1].sum()))
    return replace(table, moments=right), int(changed.sum())


def _means(table: MeanRolls) -> tuple[Table, int]:
    means = exact.means_of(table.points, table.chequers)
    return replace(table, means=means), int((means != np.asarray(table.means)).sum())


def _exact_two_sided(table: TwoSided) -> tuple[Table, int]:
    """Float64 equities are made again by the verifier's own rule."""
    columns = table.equities.shape[2]
    made = two_sided.remade_in_floats(table.points, table.chequers, columns, "f8")
    differ = (made.view(np.int64) != np.ascontiguousarray(table.equities).view(np.int64)).any(axis=2)
    return replace(table, equities=made), int(differ.sum())


def _exact_one_sided(table: OneSided) -> tuple[Table, int]:
    """Float64 distributions are made again by the verifier's own rule."""
    work = replace(
        table,
        bearoff=np.array(table.bearoff),
        gammon=None if table.gammon is None else np.array(table.gammon),
    )
    changed: set[int] = set()
    keys = exact.keys_of(table)
    for which in _layers(table):
        for some, right in exact.rows(work, which=which, keys=keys):
            for name, rows in right.items():
                stored = work.arrays()[name]
                differ = (np.asarray(stored[some]).view(np.int64) != rows.view(np.int64)).any(axis=1)
                changed.update(some[differ].tolist())
                stored[some] = rows  # type: ignore[index]
    return work, len(changed)


def _layers(table: OneSided) -> list[Array]:
    """Positions in order of pips, those of one pip count together: none leads to another."""
    from bgfmt.verifier.recurrence import rules

    _, order, begins = rules.pip_order(table.points, table.chequers)
    return [np.sort(order[a:b]) for a, b in pairwise(begins) if b > a]


def _hypergammon(table: Hypergammon) -> tuple[Table, int]:
    records, differ = proof_of_hypergammon.mended(table, thread_count(None))
    return replace(table, records=records), differ


#: how the wrong entries of a kind of table are recomputed, and those of its exact numbers where that is another way
WAYS: dict[str, Callable[[Any], tuple[Table, int]]] = {
    OneSided.kind: _one_sided,
    TwoSided.kind: _two_sided,
    NormalOneSided.kind: _normal,
    MeanRolls.kind: _means,
    Hypergammon.kind: _hypergammon,
}
EXACT: dict[str, Callable[[Any], tuple[Table, int]]] = {
    OneSided.kind: _exact_one_sided,
    TwoSided.kind: _exact_two_sided,
}
