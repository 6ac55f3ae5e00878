"""Float64 distributions and equities: does every number follow, to the last bit, from smaller ones?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import OneSided, TwoSided
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Work
from bgfmt.verifier.recurrence import exact as recurrence

Array = NDArray[Any]
LAST_BITS = 1e-12


class Tally:
    """Entries that do not follow, counted; the first kept."""

    def __init__(self) -> None:
        self.failing, self.largest = 0, 0.0
        self.kept: list[Finding] = []

    def add(self, stored: Array, right: Array) -> Array:
        """Rows (m, k) whose bits differ, as indices."""
        stored, right = np.ascontiguousarray(stored), np.ascontiguousarray(right)
        bad = np.flatnonzero((stored.view(np.int64) != right.view(np.int64)).any(axis=1))
        self.failing += len(bad)
        if len(bad):
            with np.errstate(invalid="ignore"):
                gap = np.abs(stored[bad] - right[bad])
            self.largest = max(self.largest, float(np.nan_to_num(gap, nan=np.inf).max()))
        return bad


def prove(table: OneSided | TwoSided, work: Work) -> Outcome:
    """Every number, held against the file's own smaller ones."""
    tally = Tally()
    entries = table.entries
    checked = HELD[table.kind](table, work, tally)
    if tally.failing == 0:
        return Outcome(entries, checked, "exact")
    systematic = tally.largest <= LAST_BITS and tally.failing > max(20, checked // 50)
    return Outcome(
        entries, checked, failing=tally.failing, largest=tally.largest, unit="apart", systematic=systematic,
        likely=Likely(Cause.ADDITIONS) if systematic else None,
        findings=() if systematic else tuple(sorted(tally.kept, key=lambda f: f.entry or 0)[:KEPT]),
    )  # fmt: skip


def _one_sided(table: OneSided, work: Work, tally: Tally) -> int:
    which = work.some(table.positions)
    bad_rows: set[int] = set()
    for some, right in recurrence.rows(table, which=which, threads=work.threads, progress=work.progress):
        for name, expected in right.items():
            stored = np.asarray(table.arrays()[name][some])
            for k in tally.add(stored, expected):
                x = int(some[k])
                bad_rows.add(x)
                if len(tally.kept) < KEPT:
                    tally.kept.append(
                        Finding(
                            Rule.ENTRY, entry=x, expected=expected[k].tolist(), found=stored[k].tolist(), field=name,
                            sides=(Side.from_number(x, table.points),),
                        )
                    )  # fmt: skip
    tally.failing = len(bad_rows)
    return table.positions if which is None else len(which)


def _two_sided(table: TwoSided, work: Work, tally: Tally) -> int:
    n = table.positions
    numbers = work.some(n * n)
    if numbers is not None:
        right = recurrence.equities_at(table, numbers)
        stored = np.asarray(table.equities).reshape(n * n, -1)[numbers]
        _keep(table, tally, tally.add(stored, right), numbers, stored, right)
        return len(numbers)
    for them, expected in recurrence.equities(table, threads=work.threads, progress=work.progress):
        stored = np.asarray(table.equities)[:, them]
        flat, right = stored.reshape(-1, stored.shape[2]), expected.reshape(-1, stored.shape[2])
        here = (np.arange(n)[:, None] * n + np.arange(them.start, them.stop)).reshape(-1)
        _keep(table, tally, tally.add(flat, right), here, flat, right)
    return n * n


#: how entries of each kind are held against the rule; each gives how many it looked at
HELD: dict[str, Callable[[Any, Work, Tally], int]] = {OneSided.kind: _one_sided, TwoSided.kind: _two_sided}


def _keep(table: TwoSided, tally: Tally, bad: Array, numbers: Array, stored: Array, right: Array) -> None:
    for k in bad[: KEPT - len(tally.kept)]:
        us, them = divmod(int(numbers[k]), table.positions)
        tally.kept.append(
            Finding(
                Rule.ENTRY, entry=int(numbers[k]), expected=right[k].tolist(), found=stored[k].tolist(),
                sides=(Side.from_number(us, table.points), Side.from_number(them, table.points)),
            )
        )  # fmt: skip
