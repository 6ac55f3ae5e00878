"""The likely cause of what a check found, from a file's size and from patterns in its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import formats
from bgfmt.errors import CapabilityError
from bgfmt.files.database import Database
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import NormalOneSided, OneSided, TwoSided
from bgfmt.verifier.findings import Cause, Likely, Outcome

Array = NDArray[Any]
CORNER = 3  # chequers of the corner that is tried
FITS = 0.15  # part of a corner's entries that may fail
LITTLE = 64  # bytes of which a file is hardly more than a header
LOOKED = 1 << 22  # bytes that are looked at for one value throughout


def of_size(source: Source) -> Likely | None:
    """Why a file's size does not fit its header: cut short, or made for other numbers than the header says."""
    head = formats.head_of(source)
    claims = [form for form in formats.known().values() if form.recognise(head)]
    if not claims:
        return None
    if source.size <= LITTLE:
        return Likely(Cause.BARE_HEADER)
    fits = [text for form in claims for text in form.fitting(source)]
    if fits:
        return Likely(Cause.OTHER_SIZE, f"its size fits {' or '.join(dict.fromkeys(fits))}")
    return Likely(Cause.CUT)


def of_table(db: Database, outcome: Outcome | None) -> Likely | None:
    """The likely cause of damage."""
    table, source = db.table, db.source
    try:
        regions = [region for region in db.format.layout(table).regions if region.numbers]
    except CapabilityError:
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
    way = PATTERNS.get(table.kind)
    return None if table.exact or way is None else way(db, outcome, start, end)


def _of_size_behind(db: Database) -> Likely | None:
    """A header that says less than the file holds: what its size fits."""
    fits = db.format.fitting(db.source) if db.rest or db.others else []
    return Likely(Cause.OTHER_SIZE, f"its size fits {' or '.join(fits)}") if fits else None


def _two_sided(db: Database, outcome: Outcome | None, start: int, end: int) -> Likely | None:
    wrong = 0 if outcome is None else outcome.failing if outcome.wrong is None else outcome.wrong
    few = outcome is None or wrong < max(8, outcome.entries // 50)
    return None if few else _of_equities(db.table, db.source, start, end)


def _normal(db: Database, outcome: Outcome | None, start: int, end: int) -> Likely | None:
    turned = end >= start + 20 and db.source.bytes(start + 16, 4) == b"\x3f\x80\x00\x00"
    return _of_size_behind(db) or (Likely(Cause.BYTE_ORDER) if turned else None)


def _one_sided(db: Database, outcome: Outcome | None, start: int, end: int) -> Likely | None:
    size = _of_size_behind(db)
    width = sum(r.size for r in db.format.layout(db.table).regions if r.numbers) // db.table.positions
    return size or (_of_rows(db.source, start, end, width) if width in (64, 128) else None)


#: what the numbers of a kind of table tell, rounded ones: (database, outcome of the proof, first byte, end)
PATTERNS: dict[str, Callable[[Database, Outcome | None, int, int], Likely | None]] = {
    OneSided.kind: _one_sided,
    TwoSided.kind: _two_sided,
    NormalOneSided.kind: _normal,
}


def _of_rows(source: Source, start: int, end: int, width: int) -> Likely | None:
    """Uncompressed distributions that add up only when turned round or shifted."""

    def fit(at: int, order: str) -> bool:
        size = min(end - start, 64 * width) // width * width
        if at < 0 or at + size > source.size or size == 0:
            return False
        rows = np.frombuffer(source.buffer[at : at + size], f"{order}u2").reshape(-1, 32)
        return float((rows.sum(axis=1, dtype=np.int64) == 65535).mean()) > 1 - FITS

    if fit(start, "<"):
        return None
    if fit(start, ">"):
        return Likely(Cause.BYTE_ORDER)
    for shift in _shifts():
        if fit(start + shift, "<"):
            return Likely(Cause.SHIFTED, f"{shift:+d}")
    return None


def _shifts() -> Iterator[int]:
    for size in range(1, 65):
        yield size
        yield -size


def _of_equities(table: Any, source: Source, start: int, end: int) -> Likely | None:
    n, columns, points = table.positions, table.equities.shape[2], table.points
    chequers = min(CORNER, table.chequers)
    if _corner_fits(source, start, end, points, chequers, n, columns):
        return None
    if _corner_fits(source, start, end, points, chequers, n, columns, order=">"):
        return Likely(Cause.BYTE_ORDER)
    for shift in _shifts():
        if _corner_fits(source, start + shift, end + min(0, shift), points, chequers, n, columns):
            return Likely(Cause.SHIFTED, f"{shift:+d}")
    for wide in (columns, 1 if columns == 4 else 4):
        for other_points in range(1, 13):
            for other in range(1, 16):
                m = board.count(other_points, other)
                if (m, wide) == (n, columns) or m * m * wide * 2 > 4 * (end - start):
                    continue
                if _corner_fits(source, start, end, other_points, min(CORNER, other), m, wide):
                    size = f"{other_points}x{other}{' cubeless' if wide == 1 else ''}"
                    return Likely(Cause.OTHER_SIZE, f"it begins like {size}")
    return None


def _corner_fits(
    source: Source, start: int, end: int, points: int, chequers: int, n: int, columns: int, order: str = "<"
) -> bool:
    """Whether the corner of few chequers of an n x n table at `start` obeys the recurrence: it is a table itself."""
    from bgfmt.verifier.recurrence import two_sided as recurrence

    m = board.count(points, chequers)
    row = n * columns * 2
    last = start + (m - 1) * row + m * columns * 2
    if start < 0 or last > min(end, source.size):
        return False
    first = np.frombuffer(source.buffer[start : start + m * columns * 2], "u1")
    if (first == 255).mean() < 0.75:  # a side without chequers has won, in either byte order
        return False
    corner = np.empty((m, m, columns), np.uint16)
    for us in range(m):
        at = start + us * row
        corner[us] = np.frombuffer(source.buffer[at : at + m * columns * 2], f"{order}u2").reshape(m, columns)
    found = recurrence.check(TwoSided(points=points, chequers=chequers, equities=corner))
    return found.failing <= FITS * found.entries
