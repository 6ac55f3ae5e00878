"""Hypergammon in float64: is the table where the iteration of recipe exact leads?

With one and two chequers the iteration is run again, to the last bit; with three each record must reproduce itself
in one step to the threshold at which the iteration stops. Finished games and races are right to the last bit in any
case.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bgfmt.tables import ExactHypergammon
from bgfmt.verifier.findings import Cause, Likely, Outcome
from bgfmt.verifier.proofs import KnownRecipe
from bgfmt.verifier.proofs.hypergammon import FEW, FIELDS, GLANCED, SETTLED, Check, HyperProof
from bgfmt.verifier.proofs.hypergammon_states import many
from bgfmt.verifier.recurrence import hypergammon as recurrence
from bgfmt.verifier.recurrence.plays import Array

ROUNDING = 1e-14  # what one step in float64 adds
FEW_EXACT = 50  # one wrong record in this number, beyond which it is another table rather than damage
RUN_AGAIN_MOST = 2  # chequers with which the iteration is run again
QUICK = 1  # chequers up to which it takes no time


class ExactCheck(Check):
    """A table in float64: held to one step first, and with one or two chequers run again."""

    exact = True
    recipe = "exact"
    threshold = 1e-12
    limit = 1e-12 + ROUNDING
    fields = (*FIELDS[:5], "cubeless", *FIELDS[5:])

    def _stored(self) -> Array:
        return np.ascontiguousarray(self.table.float64, np.float64).reshape(-1, 10).view(np.int64)

    def _run_again(self) -> Outcome:
        entries, chequers = len(self.stored), self.table.chequers
        if chequers > RUN_AGAIN_MOST and self.work.tolerance is None:
            first = self.one_step(np.arange(0, entries, max(1, entries // GLANCED)))
            if many(first.failing, first.checked):
                return first
        if chequers > QUICK:
            step = self.one_step(None)
            if chequers > RUN_AGAIN_MOST or 0 < step.failing <= max(FEW, entries // FEW_EXACT):
                return step
        return super()._run_again()

    def _described(self) -> Outcome:
        where = self.iteration.differ(self.stored)
        right = self.iteration.values[where]
        step = self.one_step(None)
        if step.failing:
            return step
        return self._outcome(len(self.stored), where, right, self._off(where, right), False, own=None)

    def _of_step(self, outcome: Outcome, where: Array, right: Array, sizes: Array) -> Outcome:
        if outcome.failing > SETTLED or outcome.checked < outcome.entries:
            return self._judged(outcome, where, right, None)
        stored = self.stored.view(np.float64)
        right, mine = recurrence.settled(self.iteration, stored, where, self.limit)
        return self._judged(outcome, where[mine], right[mine], int(mine.sum()))

    def _outcome(
        self, checked: int, where: Array, right: Array, off: Array, small: bool, *, own: int | None,
        spread: bool = False,
    ) -> Outcome:  # fmt: skip
        outcome = Outcome(
            len(self.stored), checked, failing=len(where), largest=float(off.max()), unit="of an equity"
        )
        return self._judged(outcome, where, right, own)

    def _judged(self, outcome: Outcome, where: Array, right: Array, own: int | None) -> Outcome:
        few = outcome.failing <= max(FEW, outcome.checked // FEW_EXACT)
        if outcome.largest <= 100 * self.threshold and not few:
            return replace(outcome, systematic=True, likely=Likely(Cause.THRESHOLD))
        inherited = 0 if own is None else outcome.failing - own
        return replace(outcome, wrong=own, inherited=inherited, findings=self._findings(where, right))


class ExactHypergammonProof(HyperProof[ExactHypergammon]):
    """The iteration in float64."""

    solved_by = "exact"
    check = ExactCheck
    recipes = (
        KnownRecipe("exact", "float64 throughout, nothing rounded", "bgfmt solve --recipe exact", plain=True),
    )
