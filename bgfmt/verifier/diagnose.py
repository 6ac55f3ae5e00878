"""The likely cause of what a check found."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt import board
from bgfmt.database import Database
from bgfmt.formats import _gnubg_header as gnubg
from bgfmt.storage import Source
from bgfmt.tables import TwoSided
from bgfmt.verifier.report import Report


def of_size(source: Source) -> str:
    """Why a file's size does not fit its header: cut short, or made for other numbers than the header says."""
    head = bytes(source.buffer[: gnubg.SIZE])
    kind = gnubg.kind(head)
    if len(head) < gnubg.SIZE or not kind:
        return "likely cause: cut short within its header" if kind else ""
    if source.size == gnubg.SIZE:
        return "likely cause: a bare header"
    body = source.size - gnubg.SIZE
    if kind == "TS":
        fits = two_sided_sizes(body)
        if fits:
            return f"likely cause: other points or chequers than the header says; the size fits {' or '.join(fits)}"
    return "likely cause: cut short, or a header of other points or chequers"


def two_sided_sizes(body: int) -> list[str]:
    """Two-sided tables whose entries take this many bytes."""
    found = []
    for points in range(1, 24):
        for chequers in range(1, 16):
            n = board.count(points, chequers)
            for width, name in ((8, ""), (2, " cubeless")):
                if n * n * width == body:
                    found.append(f"{points}x{chequers}{name}")
    return found


def of_table(report: Report, db: Database) -> None:
    """Add the likely cause of damage to a report, from patterns in the table's bytes."""
    if report.cause:
        return
    cause = _pattern(db)
    if cause:
        report.cause = f"likely cause: {cause}"
        if "than the header says" in cause or "byte order" in cause:
            report.status = "not what it claims"
            head, _, rest = report.verdict.partition(": ")
            report.verdict = f"not what it claims: {rest}" if head == "damaged" else report.verdict
        report.verdict += f" ({report.cause})"


def _pattern(db: Database) -> str:
    table, source = db.table, db.source
    extent = table.extra.get("extent")
    if extent is None:
        return ""
    head = gnubg.SIZE if table.extra.get("gnubg_header") else 0
    start, end = extent.offset + head, extent.offset + extent.size
    sample = np.frombuffer(source.buffer[start : min(end, start + (1 << 22))], np.uint8)
    if not sample.any():
        return "nothing but zeros"
    if (sample == 255).all():
        return "nothing but ones"
    if isinstance(table, TwoSided):
        return _two_sided_pattern(table, source, start, end)
    return ""


def _two_sided_pattern(table: TwoSided, source: Source, start: int, end: int) -> str:
    n, columns = table.positions, table.equities.shape[2]
    if _fits(np.asarray(table.equities[: min(n, 8)])):
        return ""
    swapped = np.asarray(table.equities[: min(n, 8)]).byteswap()
    if _fits(swapped):
        return "the other byte order"
    width = min(n, 8) * n * columns * 2
    for shift in (*range(-64, 0), *range(1, 65)):
        at = start + shift
        if at < 0 or at + width > source.size:
            continue
        rows = np.frombuffer(source.buffer[at : at + width], "<u2").reshape(min(n, 8), n, columns)
        if _fits(rows):
            return f"shifted by {shift:+d} bytes"
    others = [(c, 4 if c == 1 else 1) for c in (columns,)]
    for _, other in others:
        for points in range(1, 13):
            for chequers in range(1, 16):
                m = board.count(points, chequers)
                for wide in (columns, other):
                    if (m, wide) == (n, columns) or m > 60000:
                        continue
                    size = min(m, 8) * m * wide * 2
                    if start + size > end or m * m * wide * 2 > 4 * (end - start):
                        continue
                    rows = np.frombuffer(source.buffer[start : start + size], "<u2").reshape(-1, m, wide)
                    if _fits(rows):
                        what = f"{points}x{chequers}{' cubeless' if wide == 1 else ''}"
                        return f"other points or chequers than the header says; it begins like {what}"
    return ""


def _fits(rows: Any) -> bool:
    """Whether first rows look like a two-sided table: row 0 won, column 0 lost, one chequer on the ace wins."""
    if len(rows) < 2:
        return False
    return bool((rows[0] == 0xFFFF).all() and (rows[1:, 0] == 0).all() and (rows[1, 1:] == 0xFFFF).all())
