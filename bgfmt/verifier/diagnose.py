"""The likely cause of what a check found, from a file's size and from patterns in its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.database import Database
from bgfmt.formats.gnubg import header as gnubg
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import NormalOneSided, OneSided, TwoSided
from bgfmt.verifier.report import Report

Array = NDArray[Any]
OTHER = "other points or chequers than the header says"
CORNER = 3  # chequers of the corner that is tried
FITS = 0.15  # part of a corner's entries that may fail


def of_size(source: Source) -> str:
    """Why a file's size does not fit its header: cut short, or made for other numbers than the header says."""
    head = bytes(source.buffer[: gnubg.SIZE])
    kind = gnubg.kind(head)
    if not kind:
        return ""
    if len(head) < gnubg.SIZE:
        return "likely cause: cut short within its header"
    if source.size == gnubg.SIZE:
        return "likely cause: a bare header"
    fits = list(fitting(source, kind))
    if fits:
        return f"likely cause: {OTHER}; its size fits {' or '.join(fits)}"
    return "likely cause: cut short, or a header of other points or chequers"


def fitting(source: Source, kind: str) -> Iterator[str]:
    """Tables that would take just this file's size after a header of 40 bytes."""
    body = source.size - gnubg.SIZE
    if kind == "TS":
        for points in range(1, 24):
            for chequers in range(1, 16):
                n = board.count(points, chequers)
                for width, name in ((8, ""), (2, " cubeless")):
                    if n * n * width == body:
                        yield f"{points}x{chequers}{name}"
    elif kind in ("OS", "ND"):
        for points in range(1, 19):
            n = board.count(points, 15)
            for width, name in (
                (128, "with gammons"),
                (64, "without gammons"),
                (16, "of normal distributions"),
            ):
                if n * width == body:
                    yield f"{points} points {name}"
            for entry in (8, 6):
                if n * entry < body and _index_ends(source, n, entry):
                    yield f"{points} points compressed"
                    break


def _index_ends(source: Source, n: int, entry: int) -> bool:
    """Whether the last index entry of n leads just to the end of the file."""
    last = source.bytes(gnubg.SIZE + (n - 1) * entry, entry)
    stored = int.from_bytes(last[:4], "little") + last[4] + (last[6] if entry == 8 else 0)
    return gnubg.SIZE + n * entry + 2 * stored == source.size


def of_table(report: Report, db: Database) -> None:
    """Add the likely cause of damage to a report."""
    if report.cause:
        return
    cause = _pattern(report, db)
    if not cause:
        return
    report.cause = f"likely cause: {cause}"
    if OTHER in cause or "byte order" in cause:
        report.status = "not what it claims"
        report.verdict = "not what it claims: " + report.verdict.removeprefix("damaged: ")
    report.verdict += f" ({report.cause})"


def _pattern(report: Report, db: Database) -> str:
    table, source = db.table, db.source
    extent = table.extra.get("extent")
    if extent is None:
        return ""
    head = len(table.extra.get("gnubg_header") or b"")
    start, end = extent.offset + head, extent.offset + extent.size
    body = np.frombuffer(source.buffer[start : min(end, start + (1 << 22))], np.uint8)
    if not body.any():
        return "nothing but zeros"
    if (body == 255).all():
        return "nothing but ones"
    if isinstance(table, TwoSided) and not table.exact:
        if report.wrong < max(8, report.entries // 50):
            return ""
        return _two_sided_pattern(table, source, start, end)
    if head and (db.rest or db.others) and isinstance(table, (OneSided, NormalOneSided)):
        fits = list(fitting(source, "OS"))
        if fits:
            return f"{OTHER}; its size fits {' or '.join(fits)}"
    if isinstance(table, NormalOneSided):
        first = source.bytes(start + 16, 4) if end >= start + 20 else b""
        return "the other byte order" if first == b"\x3f\x80\x00\x00" else ""
    if isinstance(table, OneSided) and not table.extra.get("compressed") and report.format == "gnubg-os":
        return _rows_pattern(source, start, end, 128 if table.gammon is not None else 64)
    return ""


def _rows_pattern(source: Source, start: int, end: int, width: int) -> str:
    """Uncompressed distributions that add up only when turned round or shifted."""

    def fit(at: int, order: str) -> bool:
        size = min(end - start, 64 * width) // width * width
        if at < 0 or at + size > source.size or size == 0:
            return False
        rows = np.frombuffer(source.buffer[at : at + size], f"{order}u2").reshape(-1, 32)
        return float((rows.sum(axis=1, dtype=np.int64) == 65535).mean()) > 1 - FITS

    if fit(start, "<"):
        return ""
    if fit(start, ">"):
        return "the other byte order"
    for shift in _shifts():
        if fit(start + shift, "<"):
            return f"shifted by {shift:+d} bytes"
    return ""


def _shifts() -> Iterator[int]:
    for size in range(1, 65):
        yield size
        yield -size


def _two_sided_pattern(table: TwoSided, source: Source, start: int, end: int) -> str:
    n, columns, points = table.positions, table.equities.shape[2], table.points
    chequers = min(CORNER, table.chequers)
    if _corner_fits(source, start, end, points, chequers, n, columns):
        return ""
    if _corner_fits(source, start, end, points, chequers, n, columns, order=">"):
        return "the other byte order"
    for shift in _shifts():
        if _corner_fits(source, start + shift, end + min(0, shift), points, chequers, n, columns):
            return f"shifted by {shift:+d} bytes"
    for wide in (columns, 1 if columns == 4 else 4):
        for other_points in range(1, 13):
            for other in range(1, 16):
                m = board.count(other_points, other)
                if (m, wide) == (n, columns) or m * m * wide * 2 > 4 * (end - start):
                    continue
                if _corner_fits(source, start, end, other_points, min(CORNER, other), m, wide):
                    return f"{OTHER}; it begins like {other_points}x{other}{' cubeless' if wide == 1 else ''}"
    return ""


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
