"""Hypergammon: is the table a state of the iteration that makes such tables? docs/verify.md tells the way.

What equals no state is held to one step from its own entries, which tells damage from another threshold or build, and
proves nothing. A table in float64, of recipe exact, is where the iteration leads. With one and two chequers that is
run again, to the last bit; with three each record must reproduce itself in one step to the threshold at which the
iteration stops.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.extras.hypergammon import recurrence
from bgfmt.extras.hypergammon.kernels_recurrence import OVER
from bgfmt.extras.hypergammon.solver import MOST_SWEEPS, hypergammon
from bgfmt.extras.hypergammon.states import Course, Search, Told, many, tell
from bgfmt.tables import ExactHypergammon, Hypergammon, Table, same_numbers
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
#: what truncation to 24 bits adds in one step: a unit of an equity twice, since a double doubles it, and its own
TRUNCATION = 3 * 6 / recurrence.WHOLE
EXPECTED_SWEEPS = 80  # of the solver, for its progress alone
GLANCED = 20_000  # entries that are looked at where no more than a description is wanted
FEW = 20  # one wrong record in this number, and this number in any case, are damage
SMALL = 0.05  # an equity that nearly all records of another build or threshold differ less by
SETTLED = 5000  # wrong records that are told apart from those that follow from them

ROUNDING = 1e-14  # what one step in float64 adds
FEW_EXACT = 50  # one wrong record in this number, beyond which it is another table rather than damage
RUN_AGAIN_MOST = 2  # chequers with which the iteration is run again
QUICK = 1  # chequers up to which it takes no time


@dataclass
class Check:
    """A table held against the iteration.

    limit : the difference in one step up to which a record follows; threshold and what is added in the step.
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
        self.stored = self._stored()
        self.iteration = recurrence.CheckedIteration(
            self.table.chequers, exact=self.exact, threads=self.work.threads
        )

    def _stored(self) -> Array:
        return np.asarray(self.table.records).reshape(-1, 28)

    def prove(self) -> Outcome:
        """The table as a state of the iteration, or what is not."""
        which = self.work.sample_numbers(len(self.stored))
        return self._run_again() if which is None else self.one_step(which)

    def searched(self) -> tuple[Told, Search, Course | None]:
        """What races tell, the search for the state that the table is, and the course to it where there is one."""
        told = tell(self.iteration, self.stored)
        search = Search(self.iteration, self.stored, self.work.progress)
        ends = map(search.run, () if told.hopeless else told.courses)
        return told, search, next((end for end in ends if end is not None), None)

    def _run_again(self) -> Outcome:
        (told, search, state) = self.searched()
        entries = len(self.stored)
        if told.hopeless and self.work.tolerance is None:
            off = recurrence.off(self.stored[told.where], self.iteration.written(told.right))
            small = not told.fixed and bool(np.quantile(off, 0.99) < SMALL)
            return self._outcome(told.known, told.where, told.right, off, small, own=None, spread=True)
        if state is not None:
            facts: dict[str, Any] = {"sweeps": state.sweeps}
            if state.before:
                facts["restarts"] = state.before
            change = self.iteration.sweep()
            if change > self.threshold:
                facts["change"] = change
            recipe = f"{self.recipe}-division" if state.divide else self.recipe
            return Outcome(entries, entries, recipe, facts=facts)
        where = search.differ
        right = search.right
        if where is not None and search.few():
            small = search.faded() and len(where) > FEW
            return self._outcome(entries, where, right, self._off(where, right), small, own=len(where))
        return self._described()

    def _described(self) -> Outcome:
        """How far a table that no state equals is from one step: whole, where the user lets something pass."""
        glanced = np.arange(0, len(self.stored), max(1, len(self.stored) // GLANCED))
        step = self.one_step(None if self.work.tolerance is not None else glanced)
        if step.failing:
            return step
        likely = LikelyCause(Cause.THRESHOLD)
        return replace(step, recipe="", failing=step.checked, systematic=True, likely=likely, facts={})

    def one_step(self, which: Array | None) -> Outcome:
        """One step from the table's own entries, those of `which` or all."""
        self.iteration.restart(self.stored)
        bad: list[Array] = []
        rights: list[Array] = []
        sizes: list[Array] = []
        largest = 0.0
        failing = 0
        for some, right, gap in recurrence.steps(self.iteration, which, 2 * self.limit, self.work.progress):
            off = np.nan_to_num(gap, nan=np.inf)
            idle = self.iteration.kinds[some] <= OVER
            wrong = (off > self.limit) | self._misfit(some, right, idle)
            largest = max(largest, float(off[wrong | (not self.exact)].max(initial=0)))
            sizes.append(off[~idle])
            failing += int(wrong.sum())
            if failing <= SETTLED or not bad:
                bad.append(some[wrong])
                rights.append(right[wrong])
        entries = len(self.stored)
        checked = len(self.stored) if which is None else len(which)
        if failing == 0:
            return Outcome(
                entries, checked, self.recipe, largest=largest, unit="of an equity",
                facts={"threshold": self.threshold},
            )  # fmt: skip
        return self._of_step(
            Outcome(entries, checked, failing=failing, largest=largest, unit="of an equity"),
            np.concatenate(bad), np.concatenate(rights), np.concatenate(sizes),
        )  # fmt: skip

    def _of_step(self, outcome: Outcome, where: Array, right: Array, sizes: Array) -> Outcome:
        many = outcome.failing > max(FEW, outcome.checked // FEW)
        small = many and len(sizes) > 0 and bool(np.quantile(sizes, 0.99) < SMALL)
        return replace(
            outcome, systematic=small, differences=_spread(sizes),
            likely=LikelyCause(Cause.THRESHOLD) if small else None,
            findings=() if small else self._findings(where, right),
        )  # fmt: skip

    def _misfit(self, which: Array, right: Array, idle: Array) -> Array:
        """Which records hold bits that no record holds, however near their numbers are."""
        here = self.stored[which]
        unlike: Array = idle & (self.iteration.written(right) != here).any(axis=1)
        return unlike if self.exact else unlike | (here[:, 27] != 0)

    def _off(self, where: Array, right: Array) -> Array:
        off = recurrence.off(self.stored[where], self.iteration.written(right))
        if not self.exact:
            off[self.stored[where, 27] != 0] = np.inf
        return off

    def _outcome(
        self, checked: int, where: Array, right: Array, off: Array, small: bool, *, own: int | None,
        spread: bool = False,
    ) -> Outcome:  # fmt: skip
        """The outcome where the records `where` ought to be `right`; own : how many are wrong in themselves."""
        return Outcome(
            len(self.stored), checked, failing=len(where), wrong=None if small else own, largest=float(off.max()),
            unit="of an equity", systematic=small, differences=_spread(off) if spread else {},
            likely=LikelyCause(Cause.THRESHOLD) if small else None, findings=self._findings(where, right),
        )  # fmt: skip

    def _findings(self, where: Array, right: Array) -> tuple[Finding, ...]:
        out = []
        for number, expected in zip(
            where[:MAX_FINDINGS].tolist(), self.iteration.written(right[:MAX_FINDINGS]), strict=True
        ):
            stored, wanted = map(self.iteration.numbers, (self.stored[number], expected))
            differ = [a.tobytes() != b.tobytes() for a, b in zip(stored, wanted, strict=True)]
            field = self.fields[differ.index(True) if any(differ) else -1]
            out.append(self.work.entry_finding(self.table, number, stored, wanted, field, ("", 0)))
        return tuple(out)


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
        entries = len(self.stored)
        chequers = self.table.chequers
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
            return replace(outcome, systematic=True, likely=LikelyCause(Cause.THRESHOLD))
        inherited = 0 if own is None else outcome.failing - own
        return replace(outcome, wrong=own, inherited=inherited, findings=self._findings(where, right))


def _spread(off: Array) -> dict[str, float]:
    return {f"{q:.1%} within": float(np.quantile(off, q)) for q in (0.5, 0.99, 0.999)} if len(off) else {}


class HyperProof(Proof[T]):
    """Tables of an iteration."""

    check: ClassVar[type[Check]] = Check

    def prove(self, table: T, request: Request) -> Outcome:
        return self.check(table, request).prove()

    def solve(self, table: T, recipe: str, threads: int, progress: Progress | None) -> Table:
        def sweeping(sweep: int, change: float) -> None:
            if progress is not None:
                progress(min(sweep, EXPECTED_SWEEPS - 1), EXPECTED_SWEEPS)

        how: dict[str, Any] = {"threads": threads, "sweeping": sweeping, "most_sweeps": MOST_SWEEPS}
        solved = hypergammon(table.chequers, recipe=self.check.recipe, **how)
        if not same_numbers(solved.table, table):
            stops = f"which stops after {solved.sweeps} sweeps"
            raise SolverError(f"the solver's iteration, {stops}, ends elsewhere")
        return solved.table


class HypergammonProof(HyperProof[Hypergammon]):
    """makehyper's iteration."""

    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makehyper", "files of makehyper 1.07", is_default=True),
        KnownRecipe("gnubg-division", "makehyper built with true division by 36", "builds without fast-math"),
    )

    def recompute(self, table: Hypergammon, threads: int) -> tuple[Table, int]:
        """The state of the iteration that a damaged file is nearest to."""
        _, search, state = Check(table, Request(threads)).searched()
        if state is not None:
            return table, 0
        if search.differ is None:
            return table, table.positions**2
        records = np.array(table.records)
        records.reshape(-1, 28)[search.differ] = recurrence.encode(search.right)
        return replace(table, records=records), len(search.differ)


class ExactHypergammonProof(HyperProof[ExactHypergammon]):
    """The iteration in float64."""

    check = ExactCheck
    recipes = (EXACT,)
