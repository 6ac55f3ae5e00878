"""Match-score tables: does every number follow, to the last bit, from the table's own smaller ones?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import MatchScore
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Work
from bgfmt.verifier.recurrence import match_score as recurrence
from bgfmt.verifier.recurrence import rules

Array = NDArray[Any]
LAST_BITS = 1e-6  # by which another order of additions, or other rounding, differs


def prove(table: MatchScore, work: Work) -> Outcome:
    """Every number, held against the table's own smaller ones."""
    n = table.positions
    numbers = work.some(n * n)
    failing, largest = 0, 0.0
    kept: list[tuple[int, Finding]] = []
    depth = rules.pips(table.points, table.chequers)
    for some, stored, right in _differing(table, work, numbers):
        failing += len(some)
        gap = np.abs(stored.astype(np.float64) - right)
        largest = max(largest, float(np.nan_to_num(gap, nan=np.inf).max()))
        pips = depth[some // n] + depth[some % n]
        kept += [
            (int(pips[k]), _finding(table, work, int(some[k]), stored[k], right[k])) for k in range(len(some))
        ]
        kept = sorted(kept, key=lambda found: (found[0], found[1].entry or 0))[:KEPT]
    checked = n * n if numbers is None else len(numbers)
    if not failing:
        return Outcome(n * n, checked, "exact" if table.exact else "match")
    systematic = largest <= LAST_BITS and failing > max(20, checked // 50)
    return Outcome(
        n * n, checked, failing=failing, largest=largest, unit="apart", systematic=systematic,
        likely=Likely(Cause.ADDITIONS) if systematic else None,
        findings=() if systematic else tuple(finding for _, finding in kept),
    )  # fmt: skip


def _differing(table: MatchScore, work: Work, numbers: Array | None) -> Iterator[tuple[Array, Array, Array]]:
    if numbers is None:
        yield from recurrence.differing(table, threads=work.threads, progress=work.progress)
        return
    right = recurrence.balances_at(table, numbers)
    us, them = np.divmod(numbers, table.positions)
    stored = np.ascontiguousarray(np.asarray(table.balance)[us, them], right.dtype)
    bits = np.dtype(f"i{right.dtype.itemsize}")
    bad = np.flatnonzero((stored.view(bits) != right.view(bits)).any(axis=1))
    if len(bad):
        yield numbers[bad], stored[bad], right[bad]


def _finding(table: MatchScore, work: Work, number: int, stored: Array, right: Array) -> Finding:
    """An entry, with the first of its columns that is not what follows."""
    bits = np.dtype(f"i{stored.dtype.itemsize}")
    column = int((stored.view(bits) != right.view(bits)).argmax())
    us, them = divmod(number, table.positions)
    return Finding(
        Rule.ENTRY,
        entry=number,
        offset=work.locate(number, "balance", column),
        expected=float(right[column]),
        found=float(stored[column]),
        field=table.names[column],
        sides=(Side.from_number(us, table.points), Side.from_number(them, table.points)),
    )
