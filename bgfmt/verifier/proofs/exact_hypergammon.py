"""Hypergammon in float64: is the table where the iteration of recipe exact leads?

With one and two chequers the iteration is run again, to the last bit; with three each record must reproduce itself
in one step to the threshold at which the iteration stops. Finished games and races are right to the last bit in
any case, and are looked at first: they tell damage from a table at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import ExactHypergammon
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import KnownRecipe, Progress, Proof, Request
from bgfmt.verifier.proofs.hypergammon import FIELDS, regenerated
from bgfmt.verifier.proofs.hypergammon_states import Search, many, tell
from bgfmt.verifier.recurrence import hypergammon as recurrence

Array = NDArray[Any]
THRESHOLD = 1e-12  # at which the iteration stops
ROUNDING = 1e-14  # what one step in float64 adds
RUN_AGAIN_MOST = 2  # chequers
QUICK = 1  # chequers up to which an iteration takes no time
FEW = 50  # one record in this number, beyond which it is another table rather than damage
LEAST_FEW = 20
GLANCED = 20_000  # entries that are looked at before all are, where that takes minutes
SETTLED = 5000  # wrong records that are told apart from those that follow from them
NUMBERS = (*FIELDS[:5], "cubeless", *FIELDS[5:])


def prove(table: ExactHypergammon, work: Request) -> Outcome:
    """The table as where the iteration leads, or what is not."""
    n = table.positions
    which = work.some(n * n)
    stored = np.ascontiguousarray(table.float64, np.float64).reshape(n * n, 10)
    if which is not None:
        return _one_step(table, work, stored, which)
    if table.chequers > RUN_AGAIN_MOST:
        if work.tolerance is None:
            first = _one_step(table, work, stored, np.arange(0, n * n, max(1, n * n // GLANCED)))
            if many(first.failing, first.checked):
                return first
        return _one_step(table, work, stored, None)
    if table.chequers > QUICK:
        step = _one_step(table, work, stored, None)
        if 0 < step.failing <= max(LEAST_FEW, n * n // FEW):
            return step
    return _run_again(table, work, stored)


def _one_step(table: ExactHypergammon, work: Request, stored: Array, which: Array | None) -> Outcome:
    n = table.positions
    bad: list[Array] = []
    rights: list[Array] = []
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
        if failing <= SETTLED or not bad:
            bad.append(step.which[wrong])
            rights.append(step.right[wrong])
    checked = n * n if which is None else len(which)
    if not failing:
        return Outcome(n * n, checked, "exact", facts={"threshold": THRESHOLD})
    where, right, own = np.concatenate(bad), np.concatenate(rights), None
    if failing <= SETTLED and which is None:
        right, mine = recurrence.settled(stored, table.chequers, where, THRESHOLD + ROUNDING)
        where, right, own = where[mine], right[mine], int(mine.sum())
    return _outcome(table, work, checked, failing, largest, where, right, own)


def _run_again(table: ExactHypergammon, work: Request, stored: Array) -> Outcome:
    iteration = recurrence.CheckedIteration(table.chequers, exact=True, threads=work.threads)
    bits = stored.view(np.int64)
    told = tell(iteration, bits)
    if told.hopeless and work.tolerance is None:
        off = recurrence.off(bits[told.where], told.right.view(np.int64))
        return _outcome(
            table, work, told.known, len(told.where), float(off.max()), told.where, told.right, None
        )
    search = Search(iteration, bits, work.progress)
    for course in () if told.hopeless else told.courses:
        found = search.run(course)
        if found is not None:
            return Outcome(len(stored), len(stored), "exact", facts={"sweeps": found.sweeps})
    if search.differ is None or not search.few():
        differ = iteration.differ(bits)
        right = iteration.values[differ].copy()
        del iteration, search
        step = _one_step(table, work, stored, None)
        if step.failing:
            return step
        off = recurrence.off(bits[differ], right.view(np.int64))  # it is near, and no state of the iteration
        return _outcome(table, work, len(stored), len(differ), float(off.max()), differ, right, None)
    off = recurrence.off(bits[search.differ], search.right.view(np.int64))
    return _outcome(
        table, work, len(stored), len(search.differ), float(off.max()), search.differ, search.right,
        len(search.differ),
    )  # fmt: skip


def _outcome(
    table: ExactHypergammon, work: Request, checked: int, failing: int, largest: float, where: Array, right: Array,
    own: int | None,
) -> Outcome:  # fmt: skip
    """The outcome for a table whose records `where` ought to be `right`; own : how many are wrong in themselves."""
    systematic = largest <= 100 * THRESHOLD and failing > max(LEAST_FEW, checked // FEW)
    found = [_finding(table, work, int(k), r) for k, r in zip(where[:KEPT], right[:KEPT], strict=True)]
    return Outcome(
        table.positions**2, checked, failing=failing, wrong=None if systematic else own,
        inherited=failing - own if own is not None and not systematic else 0, largest=largest, unit="of an equity",
        systematic=systematic, likely=Likely(Cause.THRESHOLD) if systematic else None,
        findings=() if systematic else tuple(found),
    )  # fmt: skip


def _finding(table: ExactHypergammon, work: Request, number: int, right: Array) -> Finding:
    record = np.asarray(table.float64[number // table.positions])[number % table.positions]
    wrong = record.view(np.int64) != np.ascontiguousarray(right).view(np.int64)
    position = table.asked(number)
    return Finding(
        Rule.ENTRY, entry=number, offset=work.locate(number), expected=right.tolist(), found=record.tolist(),
        field=NUMBERS[int(wrong.argmax())], sides=(position.us, position.them),
    )  # fmt: skip


class ExactHypergammonProof(Proof[ExactHypergammon]):
    """The iteration in float64."""

    recipes = (
        KnownRecipe("exact", "float64 throughout, nothing rounded", "bgfmt solve --recipe exact", plain=True),
    )

    def prove(self, table: ExactHypergammon, request: Request) -> Outcome:
        return prove(table, request)

    def regenerate(
        self, table: ExactHypergammon, recipe: str, threads: int, progress: Progress | None
    ) -> Finding:
        return regenerated(table, recipe, "exact", threads, progress)
