"""Equities of both sides: which recipe every entry follows, or which entries do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import TwoSided
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Work
from bgfmt.verifier.recurrence import contact, rules
from bgfmt.verifier.recurrence import two_sided as recurrence
from bgfmt.verifier.spreading import Opening

Array = NDArray[Any]
SETTLE_MOST = 400_000_000
REMADE_MOST = 3003  # positions a side up to which a rival's table is made again
SMALL = 210  # positions a side up to which that is done even for few entries that fail
SMALL_UNITS = 16
COLUMNS = ("cubeless", "owned", "centered", "opponent")
CLUSTER = 100  # entries of one row that a sample takes together


def prove(table: TwoSided, work: Work) -> Outcome:
    """Every entry under recipe gnubg; where they differ slightly and everywhere, under its rivals."""
    if work.sample is not None:
        return _sampled(table, work)
    if table.recipe == "gnubg-2001" and _of_2001(table):  # a small one may be the same by gnubg's rule
        return Outcome(table.entries, table.entries, table.recipe)
    if work.spread is None:
        found = recurrence.check(table, threads=work.threads, progress=work.progress)
    else:
        parts = recurrence.bands(table)
        found, *others = work.spread.run(check_band, parts, work.progress)
        found.joined(others)
    if table.points > contact.PLAIN_POINTS:
        found = _with_contact(table, work, found)
    if found.failing == 0:
        return Outcome(found.entries, found.entries, "gnubg")
    small = found.largest <= SMALL_UNITS and found.failing > max(64, found.entries // 500)
    near = small or (found.largest <= SMALL_UNITS and table.positions <= SMALL)
    if near and table.positions <= REMADE_MOST:
        for name, made in _rivals(table):
            if _equal(made, table):
                return Outcome(found.entries, found.entries, name)
    differences: dict[str, float] = {
        f"{k - 9:+d}{' or more' if k == 18 else ' or less' if k == 0 else ''}": int(v)
        for k, v in enumerate(found.histogram.sum(axis=0))
        if v
    }
    if small:
        return Outcome(
            found.entries, found.entries, failing=found.failing, largest=float(found.largest), systematic=True,
            differences=differences, likely=Likely(_rounding_of(found)),
        )  # fmt: skip
    return _damaged(table, work, found, differences)


def check_band(opening: Opening, band: tuple[int, int]) -> recurrence.Pass:
    """On a worker: one band of the table."""
    return recurrence.check(cast(TwoSided, opening.table()), only=[band])


def _damaged(table: TwoSided, work: Work, found: recurrence.Pass, differences: dict[str, float]) -> Outcome:
    n, numbers = table.positions, found.numbers
    pips = rules.pips(table.points, table.chequers)
    numbers = numbers[np.lexsort((numbers, pips[numbers // n] + pips[numbers % n]))]
    wrong, inherited, right = numbers, 0, None
    massive = found.failing > max(2000, found.entries // 5)
    if found.entries <= SETTLE_MOST and len(numbers) == found.failing and not massive:
        settled = recurrence.settle(table, numbers)
        failing = np.isin(settled.wrong, numbers)
        wrong, inherited, right = settled.wrong[failing], int((~failing).sum()), settled.work
    some = wrong[:KEPT]
    values = recurrence.expected_at(table, some) if right is None else right.reshape(n * n, -1)[some]
    return Outcome(
        found.entries,
        found.entries,
        failing=found.failing,
        wrong=None if right is None else len(wrong),
        inherited=inherited,
        largest=float(found.largest),
        differences=differences,
        findings=tuple(
            _finding(table, work, int(number), value) for number, value in zip(some, values, strict=True)
        ),
    )


def _finding(table: TwoSided, work: Work, number: int, right: Array) -> Finding:
    us, them = divmod(number, table.positions)
    stored = [int(v) for v in table.equities[us, them]]
    wanted = [int(v) for v in right]
    return Finding(
        Rule.ENTRY,
        entry=number,
        offset=work.locate(number),
        expected=wanted,
        found=stored,
        field=", ".join(COLUMNS[c] for c in range(len(stored)) if stored[c] != wanted[c]),
        sides=(Side.from_number(us, table.points), Side.from_number(them, table.points)),
    )


def _sampled(table: TwoSided, work: Work) -> Outcome:
    """Entries at random, some of each of many rows: what they follow from lies in one row of the file."""
    n = table.positions
    rng, sample = work.rng(), min(work.sample or 0, n * n)
    rows = rng.integers(0, n, -(-sample // min(CLUSTER, n)))
    them = np.repeat(rows, min(CLUSTER, n))[:sample]
    numbers = np.unique(rng.integers(0, n, sample) * n + them)
    right = np.empty((len(numbers), table.equities.shape[2]), np.int64)
    order = np.argsort(numbers % n, kind="stable")
    done = 0
    for part in np.array_split(order, max(1, len(order) // (32 * CLUSTER))):
        right[part] = recurrence.expected_at(table, numbers[part])
        done += len(part)
        if work.progress is not None:
            work.progress(done, len(numbers))
    stored = np.asarray(table.equities[numbers // n, numbers % n])
    off = np.abs(stored.astype(np.int64) - right)
    bad = np.flatnonzero(off.any(axis=1))
    if not len(bad):
        return Outcome(n * n, len(numbers), "gnubg")
    small = int(off.max()) <= SMALL_UNITS and len(bad) > max(8, len(numbers) // 500)
    return Outcome(
        n * n,
        len(numbers),
        failing=len(bad),
        largest=float(off.max()),
        systematic=small,
        findings=tuple(_finding(table, work, int(numbers[k]), right[k]) for k in bad[:KEPT]),
    )


def _equal(made: Array, table: TwoSided) -> bool:
    return np.array_equal(made, np.asarray(table.equities))


def _of_2001(table: TwoSided) -> bool:
    if table.positions > REMADE_MOST:
        return False
    name, made = next(_rivals(table))
    return name == "gnubg-2001" and _equal(made, table)


def _rivals(table: TwoSided) -> Iterator[tuple[str, Array]]:
    """Tables of other programs' arithmetic, as they store it."""
    size = (table.points, table.chequers, table.equities.shape[2])
    if not table.cubeful:
        chances = recurrence.remade_in_floats(*size, "f8", chances=True)
        yield "gnubg-2001", np.trunc(chances * 65535.5).astype(np.uint16)
    for width, truncated, rounded in (
        ("f4", "gnubg-2002", "float32"),
        ("f8", "float64-truncated", "float64"),
    ):
        for divide in (True, False):
            made = recurrence.remade_in_floats(*size, width, divide=divide)
            for stored in ((made.astype(np.float64) + 1) * 32767.5, (made + 1) * made.dtype.type(32767.5)):
                yield truncated, np.trunc(stored).astype(np.uint16)
                yield rounded, np.floor(stored + made.dtype.type(0.5)).astype(np.uint16)


def _with_contact(table: TwoSided, work: Work, found: recurrence.Pass) -> recurrence.Pass:
    """The pass with pairs in contact held against the rule of their own, see `recurrence.contact`."""
    numbers, off = contact.check(table, work.threads)
    if len(found.numbers) < found.failing:  # too many to tell which are in contact
        return found
    passed = found.numbers[~contact.Contact(table.points, table.chequers).among(found.numbers)]
    apart = recurrence.differences(table, passed)
    every = np.concatenate([off, apart])
    return recurrence.Pass(
        found.entries, found.columns, len(every), np.sort(np.concatenate([numbers, passed])),
        contact.histogram_of(every), int(np.abs(every).max()) if len(every) else 0,
    )  # fmt: skip


def _rounding_of(found: recurrence.Pass) -> Cause:
    """The likeliest arithmetic behind small differences, from their signs (stored less gnubg's)."""
    total = found.histogram.sum(axis=0)
    above, below = int(total[10:].sum()), int(total[:9].sum())
    if above > 20 * max(1, below):
        return Cause.ROUNDED
    return Cause.ROUNDED_DOWN if below > 20 * max(1, above) else Cause.OTHER_ROUNDING
