"""From failing entries of a two-sided table to a verdict: which are wrong in themselves, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.tables import TwoSided
from bgfmt.verifier.recurrence import rules
from bgfmt.verifier.drawing import board_of
from bgfmt.verifier.recurrence import two_sided as recurrence
from bgfmt.verifier.report import Finding, Report, plural

Array = NDArray[Any]
SETTLE_MOST = 400_000_000
SMALL_UNITS = 8
PLAIN_POINTS = 12  # beyond, the two sides' points overlap
COLUMNS = ("cubeless", "owned", "centered", "opponent")


@dataclass
class Settled:
    """The table put right: `work` (n, n, columns), and the numbers of the entries that were wrong, in order."""

    work: Array
    wrong: Array = field(default_factory=lambda: np.zeros(0, np.int64))


def pip_order(table: TwoSided) -> tuple[Array, Array, Array]:
    """(pips, positions by pips, where each pip count begins, with an end)."""
    pips = rules.pips(table.points, table.chequers)
    order = np.argsort(pips, kind="stable")
    begins = np.searchsorted(pips[order], np.arange(pips.max() + 2))
    return pips, order, begins


def settle(table: TwoSided, failing: Array | None) -> Settled:
    """Put wrong entries right in order of pips, following each correction to what depends on it.

    failing : numbers us * n + them to look at first; None for all entries.
    """
    from bgfmt.verifier.recurrence import kernels_plays
    from bgfmt.verifier.recurrence import kernels_two_sided as kernels

    n = table.positions
    starts, results = rules.plays(table.points, table.chequers)
    begins, before = kernels_plays.predecessors(n, starts, results)
    pips, order, pips_at = pip_order(table)
    work = np.array(np.asarray(table.equities), np.uint16)
    dirty = np.zeros((n, n), np.uint8)
    if failing is None:
        dirty[:] = 1
    else:
        dirty.reshape(-1)[failing] = 1
    lists = []
    room = np.empty(n * n, np.int64) if n * n < 1 << 24 else np.empty(1 << 24, np.int64)
    for total in range(2 * int(pips.max()) + 1):
        found = kernels.settle(work, starts, results, begins, before, dirty, order, pips_at, total, room)
        lists.append(np.sort(room[: min(found, len(room))]))
    return Settled(work, np.concatenate(lists))


def offset_of(table: TwoSided, number: int) -> int | None:
    """Byte offset of an entry in its file."""
    extent = table.extra.get("extent")
    if extent is None or table.extra.get("format") != "gnubg-ts":
        return None
    width = table.equities.shape[2] * 2
    return int(extent.offset + extent.size - table.positions**2 * width + number * width)


def finding(table: TwoSided, number: int, right: Array, kind: str = "wrong") -> Finding:
    """An entry that is not what it should be."""
    n = table.positions
    us, them = divmod(int(number), n)
    mine, theirs = (Side.from_number(k, table.points) for k in (us, them))
    stored = [int(v) for v in np.asarray(table.equities[us])[them]]
    wanted = [int(v) for v in right]
    differ = [COLUMNS[c] for c in range(len(stored)) if stored[c] != wanted[c]]
    offset = offset_of(table, number)
    where = "" if offset is None else f", byte {offset:,}"
    at = f"position {number:,} ({mine} / {theirs}){where}"
    return Finding(
        "recurrence",
        f"{at}: {', '.join(differ)} stored {stored}, right {wanted}",
        kind=kind,
        position_number=int(number),
        position=f"{mine} / {theirs}",
        offset=offset,
        expected=wanted,
        found=stored,
        board=board_of(mine, theirs),
    )


def expected_of(table: TwoSided, numbers: Array, work: Array | None = None) -> Array:
    """What the rule gives for these entries from the stored ones, (m, columns) int64."""
    from bgfmt.verifier.recurrence import kernels_two_sided as kernels

    n, columns = table.positions, table.equities.shape[2]
    starts, results = rules.plays(table.points, table.chequers)
    out = np.zeros((len(numbers), 4), np.int64)
    source = np.asarray(table.equities) if work is None else work
    kernels.values_of(source, numbers // n, numbers % n, starts, results, out)
    return out[:, :columns]


def judge(report: Report, table: TwoSided, found: recurrence.Pass, *, tolerance: float | None = None) -> None:
    """Fill the report from a pass that failed somewhere (or nowhere)."""
    report.entries = report.checked = found.entries
    if found.failing == 0:
        report.status, report.recipe = "proved", "gnubg"
        report.verdict = (
            f"proved: every one of {plural(found.entries, 'entry')} follows from the rules (recipe gnubg)"
        )
        return
    if table.points > PLAIN_POINTS and _contact_only(report, table, found):
        return
    pips = rules.pips(table.points, table.chequers)
    n = table.positions
    numbers = found.numbers
    depth = pips[numbers // n] + pips[numbers % n]
    numbers = numbers[np.lexsort((numbers, depth))]
    massive = found.failing > max(2000, found.entries // 5)
    mostly_small = found.largest <= SMALL_UNITS
    wrong, inherited, right = numbers, np.zeros(0, np.int64), None
    told_apart = False
    if found.entries <= SETTLE_MOST and len(numbers) == found.failing and not massive:
        settled = settle(table, numbers)
        failing = np.isin(settled.wrong, numbers)
        wrong, inherited = settled.wrong[failing], settled.wrong[~failing]
        right = settled.work
        told_apart = True
    report.differences = {
        f"{k - 9:+d}{' or more' if k == 18 else ' or less' if k == 0 else ''}": int(v)
        for k, v in enumerate(found.histogram.sum(axis=0))
        if v
    }
    share = len(wrong) if told_apart else found.failing
    allowed = tolerance is not None and found.largest <= min(SMALL_UNITS, tolerance)
    if allowed or (mostly_small and share > max(64, found.entries // 500)):
        units = found.largest
        report.status, report.recipe = "consistent", "other"
        report.cause = rounding_of(found)
        report.verdict = (
            f"consistent to {plural(units, 'unit')}, not the gnubg recipe: {share:,} of "
            f"{plural(found.entries, 'entry')} differ from what gnubg's arithmetic gives ({report.cause})"
        )
        return
    report.status = "damaged"
    report.wrong, report.inherited = (len(wrong), len(inherited)) if told_apart else (found.failing, 0)
    some = wrong[:100]
    values = expected_of(table, some) if right is None else right.reshape(n * n, -1)[some]
    for number, value in zip(some, values, strict=True):
        report.add(finding(table, int(number), value))
    first = report.findings_of("recurrence")[0] if len(some) else "the file changed while it was read"
    if told_apart:
        verb = "inherits" if len(inherited) == 1 else "inherit"
        tail = f", {len(inherited):,} {verb} the error" if len(inherited) else ""
        count = (
            f"{plural(len(wrong), 'entry')} wrong in {'itself' if len(wrong) == 1 else 'themselves'}{tail}"
        )
    else:
        count = f"{found.failing:,} of {plural(found.entries, 'entry')} do not follow from the others"
    report.verdict = f"damaged: {count}; first: {first}"


def _contact_only(report: Report, table: TwoSided, found: recurrence.Pass) -> bool:
    """Whether all that fails lies where the sides have not passed each other, which no race decides."""
    n = table.positions
    counts = board.unrank_array(np.arange(n), table.points)
    highest = np.where(counts > 0, np.arange(1, table.points + 1), 0).max(axis=1)
    contact = highest[found.numbers // n] + highest[found.numbers % n] > 24
    if len(found.numbers) != found.failing or not contact.all():
        return False
    ranks = np.sort(highest)
    met = int((n - np.searchsorted(ranks, 24 - highest, side="right")).sum())
    report.status, report.recipe = "consistent", "gnubg"
    report.checked = n * n - met
    report.verdict = (
        f"consistent: every one of the {n * n - met:,} entries without contact follows from the rules (recipe "
        f"gnubg); of the {met:,} with contact, which a race does not decide, {found.failing:,} follow other rules"
    )
    return True


def rounding_of(found: recurrence.Pass) -> str:
    """The likeliest arithmetic behind small differences, from their signs (stored less gnubg's)."""
    total = found.histogram.sum(axis=0)
    above, below = int(total[10:].sum()), int(total[:9].sum())
    if above > 20 * max(1, below):
        return "likely cause: rounding where gnubg truncates"
    if below > 20 * max(1, above):
        return "likely cause: rounding down where gnubg truncates towards zero"
    return "likely cause: other rounding, or plain negation instead of one's complement"
