"""Hypergammon: check whether a table is a state of the iteration that solves such tables; see docs/verify.md.

If the table matches no iteration state, one step of the recurrence is checked. This distinguishes damage from another
threshold or build but is not a proof. A float64 table, of recipe exact, is the limit of the iteration. With one and
two chequers the iteration is run again, to the last bit; with three each record must reproduce itself in one step to
the threshold at which the iteration stops.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.extras.hypergammon import recurrence
from bgfmt.extras.hypergammon.kernels_recurrence import OVER
from bgfmt.extras.hypergammon.solver import MAX_SWEEPS, hypergammon
from bgfmt.extras.hypergammon.states import State, nearest_state
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.tables import Hypergammon, Table, same_numbers
from bgfmt.tables.hypergammon import HyperSides
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, Finding, LikelyCause, Outcome
from bgfmt.verifier.proofs import EXACT, KnownRecipe, Proof, Request
from bgfmt.verifier.recurrence.plays import Array
from bgfmt.verifier.spread import Progress

T = TypeVar("T", bound=HyperSides)
FIELDS = (
    "win", "win gammon", "win backgammon", "lose gammon", "lose backgammon", "owned", "centered",
    "centered with Jacoby", "opponent",
)  # fmt: skip
#: error of truncation to 24 bits in one step: a unit of an equity twice, since a double doubles it, and its own
TRUNCATION = 3 * 6 / recurrence.WHOLE
EXPECTED_SWEEPS = 80  # of the solver, to report progress
GLANCE_RECORDS = 20_000  # entries checked to describe how a table differs
DAMAGE_ONE_IN = 20  # at most one wrong record in this number, or this number of them, are damage
SMALL_EQUITY = 0.05  # nearly all records of another build or threshold differ by less than this equity
MAX_WRONG_RECORDS = 5000  # so many wrong records of one step are kept
ROUNDING = 1e-14  # what one step in float64 adds
MAX_RERUN_CHEQUERS = 2  # with more chequers the iteration in float64 is not run again


@dataclass
class Check:
    """The check of one table against the iteration.

    Attributes
    ----------
    table, work : the table, and how to check it.
    exact, recipe : float64 or not, and the recipe's name.
    threshold : greatest change of a number at which the solver stops.
    limit : greatest difference of a right record in one step: the threshold and what rounding adds.
    fields : names of a record's numbers.
    iteration, stored : the iteration, and the table's records in its form.
    """

    table: Any
    work: Request
    exact: ClassVar[bool] = False
    recipe: ClassVar[str] = "gnubg"
    threshold: ClassVar[float] = 1e-5  # at which makehyper stops unless told otherwise
    limit: ClassVar[float] = 1e-5 + TRUNCATION
    fields: ClassVar[tuple[str, ...]] = (*FIELDS, "last byte of the record")
    iteration: recurrence.CheckedIteration = field(init=False)
    stored: Array = field(init=False)

    def __post_init__(self) -> None:
        if self.work.progress is not None:
            self.work.progress(0, 1)  # before what takes half a minute with three chequers
        self.stored = self._read_records()
        self.iteration = recurrence.CheckedIteration(
            self.table.chequers, exact=self.exact, threads=self.work.threads
        )

    def _read_records(self) -> Array:
        return np.asarray(self.table.records).reshape(-1, 28)

    def prove(self) -> Outcome:
        """Check the table; return the outcome.

        The whole table is compared with each sweep of an iteration of its own; of a sample, one step is checked.
        """
        which = self.work.sample_numbers(len(self.stored))
        return self._rerun() if which is None else self.one_step(which)

    def find_state(self) -> State:
        """Return the state (numbers after some sweep) of the iteration that equals the table, or the nearest one."""
        return nearest_state(self.iteration, self.stored, self.work.progress)

    def _rerun(self) -> Outcome:
        state = self.find_state()
        entries = len(self.stored)
        if state.compared < entries:
            if self.work.tolerance is None:
                return self._outcome(state, throughout=True)
        elif not len(state.differ):
            facts: dict[str, Any] = {"sweeps": state.sweeps}
            if state.before:
                facts["restarts"] = state.before
            change = self.iteration.sweep()
            if change > self.threshold:
                facts["change"] = change
            recipe = f"{self.recipe}-division" if state.divide else self.recipe
            return Outcome(entries, entries, recipe, facts=facts)
        elif state.is_near:
            many = len(state.differ) > DAMAGE_ONE_IN
            if not many or self.one_step(state.differ).failing:
                return self._outcome(state)
        return self._describe_distance(state)

    def _describe_distance(self, state: State) -> Outcome:
        """Return the outcome of one step for a table that is no state, of all records if there is a tolerance."""
        glanced = np.arange(0, len(self.stored), max(1, len(self.stored) // GLANCE_RECORDS))
        step = self.one_step(None if self.work.tolerance is not None else glanced)
        if step.failing:
            return step
        return replace(
            step, recipe="", checked=state.compared, failing=len(state.differ),
            largest=max(step.largest, state.distance), systematic=True, likely=LikelyCause(Cause.THRESHOLD), facts={},
        )  # fmt: skip

    def one_step(self, which: Array | None) -> Outcome:
        """Compute records anew from the table's own entries, compare them with the stored ones; return the outcome.

        which : numbers of the records to check; None for all.
        """
        self.iteration.restart(self.stored)
        bad: list[Array] = []
        rights: list[Array] = []
        sizes: list[Array] = []
        largest = 0.0
        failing = 0
        for some, right, gap in recurrence.check_steps(
            self.iteration, which, 2 * self.limit, self.work.progress
        ):
            off = np.nan_to_num(gap, nan=np.inf)
            idle = self.iteration.kinds[some] <= OVER
            wrong = (off > self.limit) | self._misfit(some, right, idle)
            largest = max(largest, float(off[wrong | (not self.exact)].max(initial=0)))
            sizes.append(off[~idle])
            failing += int(wrong.sum())
            if failing <= MAX_WRONG_RECORDS or not bad:
                bad.append(some[wrong])
                rights.append(right[wrong])
        entries = len(self.stored)
        checked = len(self.stored) if which is None else len(which)
        if failing == 0:
            return Outcome(
                entries, checked, self.recipe, largest=largest, unit="of an equity",
                facts={"threshold": self.threshold},
            )  # fmt: skip
        return self._judge_step(
            Outcome(entries, checked, failing=failing, largest=largest, unit="of an equity"),
            np.concatenate(bad), np.concatenate(rights), np.concatenate(sizes),
        )  # fmt: skip

    def _judge_step(self, outcome: Outcome, where: Array, right: Array, sizes: Array) -> Outcome:
        many = outcome.failing > max(DAMAGE_ONE_IN, outcome.checked // DAMAGE_ONE_IN)
        small = many and len(sizes) > 0 and bool(np.quantile(sizes, 0.99) < SMALL_EQUITY)
        return replace(
            outcome, systematic=small, differences=_quantiles(sizes),
            likely=LikelyCause(Cause.THRESHOLD) if small else None,
            findings=() if small else self._findings(where, right, settled=False),
        )  # fmt: skip

    def _misfit(self, which: Array, right: Array, idle: Array) -> Array:
        """Return which records hold bytes that no valid record holds, however near their numbers are."""
        here = self.stored[which]
        unlike: Array = idle & (self.iteration.encode_records(right) != here).any(axis=1)
        return unlike if self.exact else unlike | (here[:, 27] != 0)

    def _outcome(self, state: State, *, throughout: bool = False) -> Outcome:
        """Return the outcome for a table that differs from a state in few records, or in many of those compared.

        throughout : many differ; small differences are then those of another threshold or build.
        """
        where = state.differ
        off = recurrence.greatest_differences(self.stored[where], self.iteration.encode_records(state.right))
        if not self.exact:
            off[self.stored[where, 27] != 0] = np.inf
        small = throughout and bool(np.quantile(off, 0.99) < SMALL_EQUITY)
        small = small and not (self.iteration.kinds[where] <= OVER).any()
        return Outcome(
            len(self.stored), state.compared, failing=len(where), wrong=None if throughout else len(where),
            largest=float(off.max()), unit="of an equity", systematic=small,
            differences=_quantiles(off) if throughout else {},
            likely=LikelyCause(Cause.THRESHOLD) if small else None, findings=self._findings(where, state.right),
        )  # fmt: skip

    def _findings(self, where: Array, right: Array, *, settled: bool = True) -> tuple[Finding, ...]:
        out = []
        for number, expected in zip(
            where[:MAX_FINDINGS].tolist(), self.iteration.encode_records(right[:MAX_FINDINGS]), strict=True
        ):
            stored, wanted = map(self.iteration.decode_numbers, (self.stored[number], expected))
            differ = [a.tobytes() != b.tobytes() for a, b in zip(stored, wanted, strict=True)]
            field = self.fields[differ.index(True) if any(differ) else -1]
            at = ("", 0)
            finding = self.work.entry_finding(self.table, number, stored, wanted, field, at, settled=settled)
            out.append(finding)
        return tuple(out)


class ExactCheck(Check):
    """The check of a float64 table; with three chequers only one step, first of a sample."""

    exact = True
    recipe = "exact"
    threshold = 1e-12
    limit = 1e-12 + ROUNDING
    fields = (*FIELDS[:5], "cubeless", *FIELDS[5:])

    def _read_records(self) -> Array:
        return np.ascontiguousarray(self.table.float64, np.float64).reshape(-1, 10).view(np.int64)

    def _rerun(self) -> Outcome:
        entries = len(self.stored)
        if self.table.chequers <= MAX_RERUN_CHEQUERS:
            return super()._rerun()
        if self.work.tolerance is None:
            glanced = self.one_step(np.arange(0, entries, max(1, entries // GLANCE_RECORDS)))
            if glanced.failing > max(DAMAGE_ONE_IN, glanced.checked // DAMAGE_ONE_IN):
                return glanced
        return self.one_step(None)


def _quantiles(off: Array) -> dict[str, float]:
    return {f"{q:.1%} within": float(np.quantile(off, q)) for q in (0.5, 0.99, 0.999)} if len(off) else {}


class HyperProof(Proof[T]):
    """Base class of the proofs of tables that an iteration solves."""

    check: ClassVar[type[Check]] = Check

    def solve_command(self, table: T) -> str:
        return f"bgfmt solve hypergammon {table.chequers} --recipe {self.check.recipe} -o FILE"

    def prove(self, table: T, request: Request) -> Outcome:
        return self.check(table, request).prove()

    def solve(self, table: T, recipe: str, threads: int, progress: Progress | None) -> Table:
        def sweeping(sweep: int, change: float) -> None:
            if progress is not None:
                progress(min(sweep, EXPECTED_SWEEPS - 1), EXPECTED_SWEEPS)

        how: dict[str, Any] = {"threads": threads, "sweeping": sweeping, "most_sweeps": MAX_SWEEPS}
        solved = hypergammon(table.chequers, recipe=self.check.recipe, **how)
        if not same_numbers(solved.table, table):
            stops = f"which stops after {solved.sweeps} sweeps"
            raise SolverError(f"the solver's iteration, {stops}, ends at other numbers")
        return solved.table


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
        state = Check(table, Request(threads)).find_state()
        if not state.is_near or state.compared < table.positions**2:
            return table, table.positions**2
        records = np.array(table.records)
        records.reshape(-1, 28)[state.differ] = recurrence.encode(state.right)
        return replace(table, records=records), len(state.differ)


class ExactHypergammonProof(HyperProof[ExactHypergammon]):
    """Checks of tables of the iteration in float64."""

    check = ExactCheck
    recipes = (EXACT,)
