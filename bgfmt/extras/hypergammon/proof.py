"""Hypergammon: check whether a table is a state of the iteration that solves such tables; see docs/verify.md.

If the table matches no iteration state, one step of the recurrence is checked. This distinguishes damage from another
threshold or build but is not a proof. A float64 table, of recipe exact, is the limit of the iteration. With one and
two chequers the iteration is run again, to the last bit; with three each record must reproduce itself in one step to
the threshold at which the iteration stops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.extras.hypergammon import recurrence
from bgfmt.extras.hypergammon.kernels_recurrence import OVER
from bgfmt.extras.hypergammon.states import nearest_state
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.tables import Hypergammon, Table, same_numbers
from bgfmt.tables.hypergammon import HyperSides
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, Finding, LikelyCause, Outcome
from bgfmt.verifier.proofs import EXACT, KnownRecipe, Proof, Request
from bgfmt.verifier.recurrence.plays import Array, Progress

T = TypeVar("T", bound=HyperSides)
FIELDS = (
    "win", "win gammon", "win backgammon", "lose gammon", "lose backgammon", "owned", "centered",
    "centered with Jacoby", "opponent",
)  # fmt: skip
#: error of truncation to 24 bits in one step: a unit of an equity twice, since a double doubles it, and its own
TRUNCATION = 3 * 6 / recurrence.WHOLE
ROUNDING = 1e-14  # what one step in float64 adds
DAMAGE_ONE_IN = 20  # at most one wrong record in this number, or this number of them, are damage
SMALL_EQUITY = 0.05  # nearly all records of another build or threshold differ by less than this equity
MAX_RERUN_CHEQUERS = 2  # with more chequers the iteration in float64 is not run again


class Check:
    """The check of one table against the iteration.

    Attributes
    ----------
    exact, recipe : float64 or not, and the recipe's name.
    threshold : greatest change of a number at which the solver stops unless told otherwise.
    limit : greatest difference of a right record in one step: the threshold and what rounding adds.
    fields : names of a record's numbers.
    stored, iteration : the table's records in the form of the iteration, and the iteration.
    """

    def __init__(self, table: Any, request: Request) -> None:
        if request.progress is not None:
            request.progress(0, 1)  # before what takes half a minute with three chequers
        self.table = table
        self.request = request
        self.exact = table.exact
        if self.exact:
            self.recipe = "exact"
            self.threshold = 1e-12
            self.limit = self.threshold + ROUNDING
            self.fields: tuple[str, ...] = (*FIELDS[:5], "cubeless", *FIELDS[5:])
            self.stored = np.ascontiguousarray(table.float64, np.float64).reshape(-1, 10).view(np.int64)
        else:
            self.recipe = "gnubg"
            self.threshold = 1e-5
            self.limit = self.threshold + TRUNCATION
            self.fields = (*FIELDS, "last byte of the record")
            self.stored = np.asarray(table.records).reshape(-1, 28)
        self.iteration = recurrence.CheckedIteration(
            table.chequers, exact=self.exact, threads=request.threads
        )

    def prove(self) -> Outcome:
        """Check the table; return the outcome.

        The whole table is compared with each sweep of an iteration of its own; of a sample, one step is checked.
        """
        which = self.request.sample_numbers(len(self.stored))
        if which is not None or (self.exact and self.table.chequers > MAX_RERUN_CHEQUERS):
            return self.check_step(which)
        state = nearest_state(self.iteration, self.stored, self.request.progress)
        if state is None:
            return self.check_step(None)
        entries = len(self.stored)
        if not len(state.differ):
            facts: dict[str, Any] = {"sweeps": state.sweeps}
            change = self.iteration.sweep()
            if change > self.threshold:
                facts["change"] = change
            recipe = f"{self.recipe}-division" if state.divide else self.recipe
            return Outcome(entries, entries, recipe, facts=facts)
        wrong = len(state.differ)
        if wrong > DAMAGE_ONE_IN:
            step = self.check_step(None)
            if not step.failing:
                return replace(
                    step, recipe="", failing=wrong, largest=state.distance, systematic=True,
                    likely=LikelyCause(Cause.THRESHOLD), facts={},
                )  # fmt: skip
            if not state.is_near:
                return step
        return Outcome(
            entries, entries, failing=wrong, wrong=wrong, largest=state.distance, unit="of an equity",
            findings=self._findings(state.differ, state.right, settled=True),
        )  # fmt: skip

    def check_step(self, which: Array | None) -> Outcome:
        """Compute records anew from the table's own entries, compare them with the stored ones; return the outcome.

        which : numbers of the records to check; None for all.
        """
        self.iteration.load(self.stored)
        bad: list[Array] = []
        rights: list[Array] = []
        sizes: list[Array] = []
        fixed_wrong = False
        for some, right, gap in recurrence.check_steps(
            self.iteration, which, 2 * self.limit, self.request.progress
        ):
            fixed = self.iteration.kinds[some] <= OVER
            unlike = self.iteration.encode_records(right) != self.stored[some]
            wrong = (gap > self.limit) | (fixed & unlike.any(axis=1))
            if not self.exact:
                wrong |= self.stored[some, 27] != 0
            fixed_wrong |= bool((wrong & fixed).any())
            bad.append(some[wrong])
            rights.append(right[wrong][:MAX_FINDINGS])
            sizes.append(gap)
        gaps = np.concatenate(sizes)
        numbers = np.concatenate(bad)
        outcome = Outcome(
            len(self.stored), len(gaps), failing=len(numbers), largest=float(gaps.max()), unit="of an equity"
        )
        if not len(numbers):
            return replace(outcome, recipe=self.recipe, facts={"threshold": self.threshold})
        shares = (0.5, 0.99, 0.999)
        differences = {f"{q:.1%} within": float(np.quantile(gaps, q, method="higher")) for q in shares}
        many = len(numbers) > max(DAMAGE_ONE_IN, len(gaps) // DAMAGE_ONE_IN)
        if many and not fixed_wrong and differences["99.0% within"] < SMALL_EQUITY:
            likely = LikelyCause(Cause.THRESHOLD)
            return replace(outcome, differences=differences, systematic=True, likely=likely)
        findings = self._findings(numbers, np.concatenate(rights), settled=False)
        return replace(outcome, differences=differences, findings=findings)

    def _findings(self, where: Array, right: Array, *, settled: bool) -> tuple[Finding, ...]:
        out = []
        decode = self.iteration.decode_numbers
        expected = self.iteration.encode_records(right[:MAX_FINDINGS])
        for number, wanted in zip(where[:MAX_FINDINGS].tolist(), decode(expected), strict=True):
            stored = decode(self.stored[number])
            differ = [a.tobytes() != b.tobytes() for a, b in zip(stored, wanted, strict=True)]
            field = self.fields[differ.index(True) if any(differ) else -1]
            finding = self.request.entry_finding(
                self.table, number, stored, wanted, field, ("", 0), settled=settled
            )
            out.append(finding)
        return tuple(out)


class HyperProof(Proof[T]):
    """Base class of the proofs of tables that an iteration solves."""

    solver = "hypergammon"

    def solve_command(self, table: T) -> str:
        return f"bgfmt solve hypergammon {table.chequers} --recipe {self.recipes[0].name} -o FILE"

    def prove(self, table: T, request: Request) -> Outcome:
        return Check(table, request).prove()

    def solve(self, table: T, recipe: str, threads: int, progress: Progress | None) -> Table | None:
        solved = super().solve(table, recipe, threads, progress)
        if solved is not None and not same_numbers(solved, table):
            raise SolverError("the solver's iteration ends at other numbers")
        return solved


class HypergammonProof(HyperProof[Hypergammon]):
    """Checks of tables of makehyper's iteration."""

    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makehyper", "files of makehyper 1.07", is_default=True),
        KnownRecipe("gnubg-division", "makehyper built with true division by 36", "builds without fast-math"),
    )

    def recompute(self, table: Hypergammon, threads: int) -> tuple[Table, int]:
        """Return the nearest state of the iteration as a table, and the number of records that differ from it.

        If no state is near, the table itself and the number of all its records are returned.
        """
        check = Check(table, Request(threads))
        state = nearest_state(check.iteration, check.stored)
        if state is None or not state.is_near:
            return table, table.positions**2
        records = np.array(table.records)
        records.reshape(-1, 28)[state.differ] = recurrence.encode(state.right)
        return replace(table, records=records), len(state.differ)


class ExactHypergammonProof(HyperProof[ExactHypergammon]):
    """Checks of tables of the iteration in float64."""

    recipes = (EXACT,)
