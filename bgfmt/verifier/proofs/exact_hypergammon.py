"""Hypergammon in float64: is the table where the iteration of recipe exact leads?

With one and two chequers the iteration is run again, to the last bit; with three each record must reproduce itself
in one step to the threshold at which the iteration stops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import ExactHypergammon
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Work
from bgfmt.verifier.proofs.hypergammon import FIELDS
from bgfmt.verifier.recurrence import hypergammon as recurrence

Array = NDArray[Any]
THRESHOLD = 1e-12  # at which the iteration stops
ROUNDING = 1e-14  # what one step in float64 adds
RUN_AGAIN_MOST = 2  # chequers
SWEEPS = 200
NUMBERS = (*FIELDS[:5], "cubeless", *FIELDS[5:])


def prove(table: ExactHypergammon, work: Work) -> Outcome:
    """The table as where the iteration leads, or what is not."""
    n = table.positions
    which = work.some(n * n)
    stored = np.ascontiguousarray(table.float64, np.float64).reshape(n * n, 10)
    if which is None and table.chequers <= RUN_AGAIN_MOST:
        return _run_again(table, work, stored)
    found: list[Finding] = []
    failing, largest = 0, 0.0
    for step in recurrence.steps(
        stored.reshape(n, n, 10), table.chequers, which, slack=2 * (THRESHOLD + ROUNDING), exact=True,
        threads=work.threads, progress=work.progress,
    ):  # fmt: skip
        off = np.nan_to_num(step.off, nan=np.inf)
        idle = (step.kinds <= recurrence.OVER) & (
            step.right.view(np.int64) != stored[step.which].view(np.int64)
        ).any(axis=1)
        wrong = np.flatnonzero((off > THRESHOLD + ROUNDING) | idle)
        failing += len(wrong)
        largest = max(largest, float(off[wrong].max(initial=0)))
        for k in wrong[: KEPT - len(found)]:
            found.append(_finding(table, work, int(step.which[k]), step.right[k]))
    checked = n * n if which is None else len(which)
    if not failing:
        return Outcome(n * n, checked, "exact", facts={"threshold": THRESHOLD})
    return _outcome(n * n, checked, failing, largest, found)


def _run_again(table: ExactHypergammon, work: Work, stored: Array) -> Outcome:
    iteration = recurrence.Iteration(table.chequers, exact=True, threads=work.threads)
    for sweeps in range(1, SWEEPS + 1):
        change = iteration.sweep()
        differ = (iteration.values.view(np.int64) != stored.view(np.int64)).any(axis=1)
        if not differ.any():
            return Outcome(len(stored), len(stored), "exact", facts={"sweeps": sweeps})
        if change <= THRESHOLD:
            break
    bad = np.flatnonzero(differ)
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(iteration.values[bad] - stored[bad]), nan=np.inf)
    found = [_finding(table, work, int(k), iteration.values[k]) for k in bad[:KEPT]]
    return _outcome(len(stored), len(stored), len(bad), float(gap.max()), found)


def _outcome(entries: int, checked: int, failing: int, largest: float, found: list[Finding]) -> Outcome:
    systematic = largest <= 100 * THRESHOLD and failing > max(20, checked // 50)
    return Outcome(
        entries, checked, failing=failing, largest=largest, unit="of an equity", systematic=systematic,
        likely=Likely(Cause.THRESHOLD) if systematic else None, findings=() if systematic else tuple(found),
    )  # fmt: skip


def _finding(table: ExactHypergammon, work: Work, number: int, right: Array) -> Finding:
    record = np.asarray(table.float64[number // table.positions])[number % table.positions]
    wrong = record.view(np.int64) != np.ascontiguousarray(right).view(np.int64)
    position = table.asked(number)
    return Finding(
        Rule.ENTRY, entry=number, offset=work.locate(number), expected=right.tolist(), found=record.tolist(),
        field=NUMBERS[int(wrong.argmax())], sides=(position.us, position.them),
    )  # fmt: skip
