"""From failing rows of a one-sided table to a verdict: distributions, normal moments and mean rolls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table
from bgfmt.verifier.drawing import board_of
from bgfmt.verifier.recurrence import one_sided as recurrence
from bgfmt.verifier.report import Finding, Report, plural

Array = NDArray[Any]
SETTLE_MOST = 1_400_000
NEAR_UNITS = 200
NEAR_MEAN = 1e-4
J_TOLERANCE = 1e-12


def proved(report: Report, entries: int, recipe: str) -> None:
    """The verdict of a table without fault."""
    report.status, report.recipe = "proved", recipe
    report.verdict = (
        f"proved: every one of {plural(entries, 'entry')} follows from the rules (recipe {recipe})"
    )


def finding(table: Table, x: int, message: str, *, offset: int | None, stored: Any, right: Any) -> Finding:
    """A row that is not what it should be."""
    side = Side.from_number(int(x), table.points)
    where = "" if offset is None else f", byte {offset:,}"
    return Finding(
        "recurrence",
        f"position {x:,} ({side}){where}: {message}",
        position_number=int(x),
        position=str(side),
        offset=offset,
        expected=right,
        found=stored,
        board=board_of(side),
    )


def row_offset(table: OneSided, x: int, part: int, roll: int, rows: recurrence.Rows) -> int | None:
    """Byte offset of one number of a row; of its index entry where a compressed file does not store it."""
    extent = table.extra.get("extent")
    kind = table.extra.get("format")
    if extent is None:
        return None
    packed = table.extra.get("packed")
    if packed is not None:
        entry = packed.index[x]
        start = int(entry["start"])
        count, first = (int(entry["count"]), int(entry["first"]))
        if part:
            start += count
            count, first = int(entry["gammon_count"]), int(entry["gammon_first"])
        if first <= roll < first + count:
            return int(packed.data_offset + 2 * (start + roll - first))
        return int(packed.offset + x * packed.entry)
    n = table.positions
    if kind == "bgsage":
        at = extent.offset + 28
        return int(
            at + 64 * x + 2 * roll if part == 0 else at + 72 * n + 64 * (x - rows.first_full) + 2 * roll
        )
    if kind == "gnubg-os":
        width = 128 if table.gammon is not None else 64
        return int(extent.offset + extent.size - n * width + x * width + 64 * part + 2 * roll)
    return None


def judge_rows(
    report: Report, table: OneSided, *, threads: int, progress: recurrence.Progress | None
) -> None:
    """Recurrence of distributions, by the gnubg recipe and, where that fails widely, by bgsage's."""
    race = table.extra.get("gammon_policy") == "race"
    recipe = "bgsage" if race else "gnubg"
    rows = recurrence.rows_of(table, recipe=recipe)
    n = report.entries = report.checked = table.positions
    fails, largest = recurrence.check(rows, recipe=recipe, threads=threads, progress=progress)
    fails[rows.idle_wrong] |= 2
    bad = np.flatnonzero(fails)
    if not len(bad):
        proved(report, n, recipe)
        return
    if len(bad) > max(20, n // 100):
        for other in ("bgsage", "gnubg"):
            if other == recipe and not race:
                continue
            again = recurrence.rows_of(table, recipe=other, race=not race if other == recipe else None)
            more, _ = recurrence.check(again, recipe=other, threads=threads)
            more[again.idle_wrong] |= 2
            if not more.any():
                proved(report, n, other)
                return
    wrong, inherited = bad, np.zeros(0, np.int64)
    told_apart = n <= SETTLE_MOST
    stored_bearoff, stored_gammon = rows.bearoff, rows.gammon
    if told_apart:
        rows.bearoff, rows.gammon = stored_bearoff.copy(), stored_gammon.copy()
        changed = recurrence.settle(rows, int(bad[0]), recipe=recipe)
        changed[rows.idle_wrong] |= 2
        wrong = np.flatnonzero((changed > 0) & (fails > 0))
        inherited = np.flatnonzero((changed > 0) & (fails == 0))
    sums_hold = bool((stored_bearoff.sum(axis=1, dtype=np.int64) == 65535).all())
    share = len(wrong)
    if share > max(20, n // 100) and int(largest.max()) <= NEAR_UNITS and sums_hold:
        units = int(largest.max())
        report.status, report.recipe = "consistent", "other"
        counts = np.bincount(largest[largest > 0])
        report.differences = {str(k): int(v) for k, v in enumerate(counts) if v}
        report.cause = "likely cause: another rule for equally good plays, or other rounding"
        report.verdict = (
            f"consistent to {plural(units, 'unit')}, not the {recipe} recipe: {share:,} of "
            f"{plural(n, 'entry')} differ from what its arithmetic gives ({report.cause})"
        )
        return
    report.status = "damaged"
    report.wrong, report.inherited = len(wrong), len(inherited)
    for x in wrong[:100]:
        report.add(_row_finding(table, int(x), fails, rows, stored_bearoff, stored_gammon, told_apart))
    _say_damaged(report, told_apart, len(bad), n)


def _row_finding(
    table: OneSided,
    x: int,
    fails: Array,
    rows: recurrence.Rows,
    bearoff: Array,
    gammon: Array,
    told_apart: bool,
) -> Finding:
    part = 0 if fails[x] & 1 else 1
    name = ("bearoff", "gammon")[part]
    if part and x < rows.first_full:
        right = [65535] + [0] * 31
        assert table.gammon is not None
        stored = [int(v) for v in np.asarray(table.gammon[x])]
    else:
        at = x - rows.first_full if part else x
        stored = [int(v) for v in (gammon if part else bearoff)[at]]
        right = [int(v) for v in (rows.gammon if part else rows.bearoff)[at]] if told_apart else []
    roll = next((k for k in range(32) if right and stored[k] != right[k]), 0)
    offset = row_offset(table, x, part, roll, rows)
    text = f"{name} does not follow from the smaller positions"
    if right:
        text = f"{name} after {roll} rolls stored {stored[roll]}, right {right[roll]}"
    return finding(table, x, text, offset=offset, stored=stored, right=right)


def _say_damaged(report: Report, told_apart: bool, failing: int, n: int) -> None:
    first = report.findings_of("recurrence")[0]
    if told_apart:
        many = report.wrong
        verb = "inherits" if report.inherited == 1 else "inherit"
        tail = f", {report.inherited:,} {verb} the error" if report.inherited else ""
        count = f"{plural(many, 'entry')} wrong in {'itself' if many == 1 else 'themselves'}{tail}"
    else:
        count = f"{failing:,} of {plural(n, 'entry')} do not follow from the others"
    report.verdict = f"damaged: {count}; first: {first.message}"


def judge_normal(
    report: Report, table: NormalOneSided, *, threads: int, progress: recurrence.Progress | None
) -> None:
    """Recurrence of normal moments: gnubg's build, or the same with a true division."""
    n = report.entries = report.checked = table.positions
    results = {}
    for divide in (False, True):
        fails, off = recurrence.check_normal(table, divide=divide, threads=threads, progress=progress)
        results[divide] = (fails, off)
        if not fails.any():
            proved(report, n, "gnubg, dividing by 36" if divide else "gnubg")
            if divide:
                report.status = "consistent"
                report.verdict = (
                    f"consistent to the last bit: every one of {plural(n, 'entry')} follows from the rules with a "
                    "true division by 36, not the gnubg recipe, which multiplies by 1/36"
                )
            return
    divide = int((results[True][0] > 0).sum()) < int((results[False][0] > 0).sum())
    fails, off = results[divide]
    failing = int((fails > 0).sum())
    if failing > max(50, n // 50) and float(off.max()) <= NEAR_MEAN:
        report.status, report.recipe = "consistent", "other"
        report.differences = {
            "largest mean": float(off[:, 0].max()),
            "largest variance": float(off[:, 1].max()),
        }
        report.cause = "likely cause: a build with other floating-point arithmetic"
        report.verdict = (
            f"consistent to {off[:, 0].max():.1e} rolls, not the gnubg recipe: {failing:,} of "
            f"{plural(n, 'entry')} differ in their last bits ({report.cause})"
        )
        return
    right, changed = recurrence.settle_normal(table, divide=divide)
    wrong = np.flatnonzero((changed > 0) & (fails > 0))
    report.status = "damaged"
    report.wrong, report.inherited = len(wrong), int(((changed > 0) & (fails == 0)).sum())
    extent = table.extra.get("extent")
    stored = np.asarray(table.moments)
    for x in wrong[:100]:
        column = int(np.flatnonzero(stored[x].view(np.uint32) != right[x].view(np.uint32))[0])
        at = None if extent is None else int(extent.offset + extent.size - 16 * (n - int(x)) + 4 * column)
        name = ("mean", "deviation", "gammon mean", "gammon deviation")[column]
        text = f"{name} stored {float(stored[x, column])!r}, right {float(right[x, column])!r}"
        report.add(
            finding(table, int(x), text, offset=at, stored=stored[x].tolist(), right=right[x].tolist())
        )
    _say_damaged(report, True, failing, n)


def judge_means(
    report: Report, table: MeanRolls, *, threads: int, progress: recurrence.Progress | None
) -> None:
    """Recurrence of mean rolls, in J's order of additions or to 1e-12."""
    n = report.entries = report.checked = table.positions
    off = recurrence.check_means(table, threads=threads, progress=progress)
    failing = int((off != 0).sum())
    if failing == 0:
        proved(report, n, "Peelle's J table, to the last bit")
        return
    if failing > max(20, n // 50) and float(off.max()) <= J_TOLERANCE:
        report.status, report.recipe = "consistent", "other"
        report.cause = "likely cause: another order of additions"
        report.differences = {"largest": float(off.max())}
        report.verdict = (
            f"consistent to {off.max():.1e} rolls: {failing:,} of {plural(n, 'entry')} differ in their last bits "
            f"from Peelle's J table ({report.cause})"
        )
        return
    right = recurrence.settle_means(table)
    stored = np.asarray(table.means)
    changed = stored != right
    wrong = np.flatnonzero(changed & (off != 0))
    if not len(wrong):
        wrong = np.flatnonzero(off != 0)
    report.status = "damaged"
    report.wrong, report.inherited = len(wrong), int((changed & (off == 0)).sum())
    for x in wrong[:100]:
        text = f"mean rolls stored {float(stored[x])!r}, right {float(right[x])!r}"
        report.add(finding(table, int(x), text, offset=None, stored=float(stored[x]), right=float(right[x])))
    _say_damaged(report, True, failing, n)
