"""Hypergammon in float64: is the table a state of the iteration of recipe exact?

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
RUN_AGAIN_MOST = 2  # chequers
THRESHOLD = 1e-12  # at which the iteration stops
ROUNDING = 1e-14  # what one step in float64 adds
SWEEPS = 200
NUMBERS = (*FIELDS[:5], "cubeless", *FIELDS[5:])


def prove(table: ExactHypergammon, work: Work) -> Outcome:
    """The table as a state of the iteration, or what is not."""
    n = table.positions
    which = work.some(n * n)
    stored = np.ascontiguousarray(table.float64, np.float64).reshape(n * n, 10)
    if which is None and table.chequers <= RUN_AGAIN_MOST:
        iteration = recurrence.Iteration(table.chequers, exact=True, threads=work.threads)
        for sweeps in range(1, SWEEPS + 1):
            change = iteration.sweep()
            differ = (iteration.values.view(np.int64) != stored.view(np.int64)).any(axis=1)
            if not differ.any():
                return Outcome(n * n, n * n, "exact", facts={"sweeps": sweeps})
            if change <= THRESHOLD:
                break
        with np.errstate(invalid="ignore"):
            gap = np.nan_to_num(np.abs(iteration.values - stored).max(axis=1), nan=np.inf)
        return _outcome(table, work, np.flatnonzero(differ), iteration.values, gap, n * n)
    return _one_step(table, work, which, stored)


def _one_step(table: ExactHypergammon, work: Work, which: Array | None, stored: Array) -> Outcome:
    n = table.positions
    bad, rights, sizes, failing = [], [], [], 0
    slack = 2 * (THRESHOLD + ROUNDING)
    for step in recurrence.steps(
        stored.reshape(n, n, 10), table.chequers, which, slack=slack, exact=True, threads=work.threads,
        progress=work.progress,
    ):  # fmt: skip
        off = np.nan_to_num(step.off, nan=np.inf)
        idle = (step.kinds <= recurrence.OVER) & (
            step.right.view(np.int64) != stored[step.which].view(np.int64)
        ).any(axis=1)
        wrong = (off > THRESHOLD + ROUNDING) | idle
        failing += int(wrong.sum())
        bad.append(step.which[wrong])
        rights.append(step.right[wrong])
        sizes.append(off[wrong])
    checked = n * n if which is None else len(which)
    if not failing:
        return Outcome(n * n, checked, "exact", facts={"threshold": THRESHOLD})
    right = dict(zip(np.concatenate(bad).tolist(), np.concatenate(rights), strict=True))
    gap = dict(zip(np.concatenate(bad).tolist(), np.concatenate(sizes), strict=True))
    return _outcome(table, work, np.concatenate(bad), right, gap, checked)


def _outcome(table: ExactHypergammon, work: Work, bad: Array, right: Any, gap: Any, checked: int) -> Outcome:
    n = table.positions
    largest = max(float(gap[k]) for k in bad.tolist())
    systematic = largest <= 100 * THRESHOLD and len(bad) > max(20, checked // 50)
    found = []
    for number in [] if systematic else bad[:KEPT].tolist():
        record = np.asarray(table.float64[number // n])[number % n]
        wrong = record.view(np.int64) != np.ascontiguousarray(right[number]).view(np.int64)
        position = table.asked(number)
        found.append(
            Finding(
                Rule.ENTRY,
                entry=number,
                offset=work.locate(number),
                expected=right[number].tolist(),
                found=record.tolist(),
                field=NUMBERS[int(wrong.argmax())],
                sides=(position.us, position.them),  # type: ignore[union-attr]
            )
        )
    return Outcome(
        n * n, checked, failing=len(bad), largest=largest, unit="of an equity", systematic=systematic,
        likely=Likely(Cause.THRESHOLD) if systematic else None, findings=tuple(found),
    )  # fmt: skip
