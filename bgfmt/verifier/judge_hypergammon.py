"""Hypergammon: regenerated where that is quick, else held to one step of its own iteration.

The positions of hypergammon go round in circles, so no order of proof exists: a file is the state of an iteration.
For one and two chequers the iteration is run again and the file must equal it after some sweep. Otherwise each record
must reproduce itself, to the iteration's threshold, when recomputed from the file's own records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.tables import Hypergammon
from bgfmt.verifier.drawing import board_of
from bgfmt.verifier.recurrence.one_sided import Progress, spread
from bgfmt.verifier.report import Finding, Report, plural

Array = NDArray[Any]
PLACES = 25
FIELDS = (
    "win", "win gammon", "win backgammon", "lose gammon", "lose backgammon", "owned", "centered",
    "centered with Jacoby", "opponent",
)  # fmt: skip
SWEEPS = 60
REGENERATE_MOST = 351
DECODE = np.float32(1 / 16777215)
LIMIT = 2e-4
STEP = 16


def encode(values: Array) -> Array:
    """(…, 10) float32 as the 28 bytes of a record."""
    numbers = np.empty((*values.shape[:-1], 9), np.int64)
    numbers[..., :5] = (values[..., :5] * np.float32(16777215)).astype(np.int64)
    equities = values[..., 6:] * np.float32(1 / 6) + np.float32(0.5)
    numbers[..., 5:] = (equities * np.float32(16777215)).astype(np.int64)
    out = np.zeros((*values.shape[:-1], 28), np.uint8)
    for k in range(3):
        out[..., k:27:3] = (numbers >> (8 * k)) & 255
    return out


def numbers_of(records: Array) -> Array:
    """(…, 9) int32 of the nine 24-bit numbers of records (…, 28)."""
    wide = records[..., :27].astype(np.int32)
    return np.asarray(wide[..., 0::3] | wide[..., 1::3] << 8 | wide[..., 2::3] << 16)


def decode(records: Array) -> Array:
    """(…, 10) float32 of records, the cubeless equity from the chances, as makehyper restarts from a file."""
    numbers = numbers_of(records).astype(np.float32)
    out = np.empty((*records.shape[:-1], 10), np.float32)
    chances = numbers[..., :5] * DECODE
    out[..., :5] = chances
    out[..., 5] = (np.float32(2) * chances[..., 0] - np.float32(1)) + (
        (chances[..., 1] - chances[..., 3]) + (chances[..., 2] - chances[..., 4])
    )
    out[..., 6:] = (numbers[..., 5:] * DECODE - np.float32(0.5)) * np.float32(6)
    return out


def boards_of(chequers: int) -> Array:
    """(n, 25) int64 counts of every position."""
    return board.unrank_array(np.arange(board.count(PLACES, chequers)), PLACES).astype(np.int64)


def terms_of() -> Array:
    """Terms of position numbers on 25 places."""
    from math import comb

    return np.array([[comb(s + k - 1, k) for s in range(16)] for k in range(1, PLACES + 1)], np.int64)


def regenerated(table: Hypergammon, progress: Progress | None = None) -> tuple[int, Array]:
    """(sweeps after which the iteration equals the file, or 0; the records of the nearest sweep)."""
    from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

    boards, terms = boards_of(table.chequers), terms_of()
    n = len(boards)
    values = np.zeros((n, n, 10), np.float32)
    kinds = np.zeros((n, n), np.uint8)
    kernels.start_values(boards, table.chequers, values, kinds)
    stored = np.asarray(table.records)
    nearest, least, worse = stored, n * n + 1, 0
    for done in range(1, SWEEPS + 1):
        change = kernels.sweep(values, kinds, boards, terms)
        made = encode(values)
        differ = int((made != stored).any(axis=2).sum())
        if differ == 0:
            return done, made
        if differ < least:
            nearest, least, worse = made, differ, 0
        else:
            worse += 1
        if progress is not None:
            progress(done, SWEEPS)
        if change == 0 or (worse > 3 and least <= n * n // 200):
            break
    return 0, nearest


def judge(report: Report, table: Hypergammon, *, threads: int, progress: Progress | None) -> None:
    """Fill the report for a hypergammon table."""
    n = table.positions
    report.entries = report.checked = n * n
    near = None
    if n <= REGENERATE_MOST:
        sweeps, near = regenerated(table, progress)
        if sweeps:
            report.status, report.recipe = "proved", "gnubg"
            report.verdict = (
                f"proved: every one of {plural(n * n, 'entry')} is what makehyper's iteration gives after "
                f"{plural(sweeps, 'sweep')} (recipe gnubg)"
            )
            return
    _residual(report, table, near, threads, progress)


def _residual(report: Report, table: Hypergammon, near: Array | None, threads: int, progress: Any) -> None:
    from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

    boards, terms = boards_of(table.chequers), terms_of()
    n = len(boards)
    records = np.asarray(table.records)
    values = np.empty((n, n, 10), np.float32)
    for start in range(0, n, 64):
        values[start : start + 64] = decode(records[start : start + 64])
    kinds = np.zeros((n, n), np.uint8)
    step = 1 if n <= REGENERATE_MOST else STEP
    off = np.zeros((n, n), np.float32)
    kernels.classes(boards, kinds)
    spread(
        n,
        threads,
        lambda a, b: kernels.residual(values, kinds, boards, terms, table.chequers, a, b, step, off),
        progress,
    )
    padding = records[..., 27] != 0
    report.checked = n * n // step
    typical = float(np.quantile(off[off > 0], 0.999)) if (off > 0).any() else 0.0
    exact_differs = 0
    if near is not None:
        exact_differs = int((near != records).any(axis=2).sum())
    idle = kinds < 2
    bad = padding | (idle & (off > 1e-6)) | (~np.isfinite(off)) | (off > max(LIMIT, 20 * typical))
    if near is not None and 0 < exact_differs <= max(64, n * n // 200):
        bad = (near != records).any(axis=2)
    if not bad.any():
        report.status, report.recipe = "consistent", "gnubg"
        part = "" if step == 1 else f" 1 in {step} of"
        report.verdict = (
            f"consistent to {float(off.max()):.1e}:{part} {plural(n * n, 'entry')} reproduce themselves in one step "
            "of the iteration (another threshold, a restart, or another build)"
        )
        return
    where = np.argwhere(bad)
    report.status = "damaged"
    report.wrong = len(where)
    for us, them in where[:100]:
        report.add(_finding(table, int(us), int(them), float(off[us, them]), near))
    count = f"{plural(len(where), 'entry')} wrong"
    report.verdict = f"damaged: {count}; first: {report.findings_of('recurrence')[0].message}"


def _finding(table: Hypergammon, us: int, them: int, off: float, near: Array | None) -> Finding:
    n = table.positions
    number = us * n + them
    extent = table.extra.get("extent")
    at = None if extent is None else int(extent.offset + extent.size - n * n * 28 + 28 * number)
    sides = []
    for k in (us, them):
        counts = [int(c) for c in board.unrank(k, PLACES)]
        sides.append(Side(*counts[:24], bar=counts[24]))
    stored = [int(v) for v in numbers_of(np.asarray(table.records[us])[them])]
    right = [] if near is None else [int(v) for v in numbers_of(near[us, them])]
    where = "" if at is None else f", byte {at:,}"
    text = f"position {number:,} ({sides[0]} / {sides[1]}){where}: "
    if right and right != stored:
        k = next(k for k in range(9) if stored[k] != right[k])
        text += f"{FIELDS[k]} stored {stored[k]}, right {right[k]}"
    elif np.asarray(table.records[us])[them][27]:
        text += "the last byte of the record is not zero"
    else:
        text += f"off by {off:.2g} from what its successors give; stored {stored}"
    return Finding(
        "recurrence", text, position_number=number, position=f"{sides[0]} / {sides[1]}", offset=at,
        expected=right or None,
        found=stored, board=board_of(*sides),
    )  # fmt: skip
