"""Hypergammon: is the file a state of makehyper's iteration?

What is known without a sweep over positions in contact is held against the file first: finished games and races,
which also tell how the file may have come about, or that it is damaged throughout. Then the iteration is run again
in that way, and the file must equal it after some sweep, to the last bit; with one and two chequers restarts are
tried, too. What equals no state is held to one step from its own entries, which tells damage from another threshold
or build, and proves nothing: a converged file is no fixed point, since it holds numbers cut off to 24 bits of an
iteration that stopped while they changed by up to its threshold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.tables import Hypergammon, Table
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import KnownRecipe, Progress, Proof, Request
from bgfmt.verifier.proofs.hypergammon_states import Search, Told, tell
from bgfmt.verifier.recurrence import hypergammon as recurrence
from bgfmt.verifier.recurrence.hypergammon import PLACES

Array = NDArray[Any]
FIELDS = (
    "win", "win gammon", "win backgammon", "lose gammon", "lose backgammon", "owned", "centered",
    "centered with Jacoby", "opponent",
)  # fmt: skip
THRESHOLD = 1e-5  # at which makehyper stops unless told otherwise
#: what truncation to 24 bits adds in one step: a unit of an equity twice, since a double doubles it, and its own
TRUNCATION = 3 * 6 / recurrence.WHOLE
#: plays whose cubeless values lie no further apart may have changed places since the program saw them
SLACK = 2 * (THRESHOLD + TRUNCATION)
EXPECTED_SWEEPS = 80  # of the solver, for its progress alone
ROWS = 64  # rows that are compared with the solver's together
GLANCED = 20_000  # entries that are looked at where no more than a description is wanted
FEW = 20  # one wrong record in this number, and this number in any case, are damage
SMALL = 0.05  # an equity that nearly all records of another build or threshold differ less by


def prove(table: Hypergammon, work: Request) -> Outcome:
    """The file as a state of the iteration, or what is not."""
    n = table.positions
    which = work.some(n * n)
    if which is not None:
        return _one_step(table, work, which)
    stored = np.asarray(table.records).reshape(-1, 28)
    if work.progress is not None:
        work.progress(0, 1)  # before what takes half a minute with three chequers
    iteration = recurrence.CheckedIteration(table.chequers, threads=work.threads)
    told = tell(iteration, stored)
    if told.hopeless:
        return _hopeless(table, work, told)
    search = Search(iteration, stored, work.progress)
    for course in told.courses:
        found = search.run(course)
        if found is not None:
            facts = {"sweeps": found.sweeps} | ({"restarts": found.before} if found.before else {})
            return Outcome(n * n, n * n, "gnubg-division" if found.divide else "gnubg", facts=facts)
    if search.few() and search.differ is not None:
        return _from_nearest(
            table, work, search.differ, search.right, search.faded() and len(search.differ) > FEW
        )
    del iteration, search
    return _described(table, work)


def mended(table: Hypergammon, threads: int) -> tuple[Array, int]:
    """The records of the state that a damaged file is nearest to, and how many of its own differ; all, if of none."""
    n, records = table.positions, np.array(table.records)
    stored = records.reshape(-1, 28)
    iteration = recurrence.CheckedIteration(table.chequers, threads=threads)
    told = tell(iteration, stored)
    search = Search(iteration, stored)
    for course in () if told.hopeless else told.courses:
        if search.run(course) is not None:
            return records, 0
    if search.differ is None:
        return records, n * n
    stored[search.differ] = recurrence.encode(search.right)
    return records, len(search.differ)


def _described(table: Hypergammon, work: Request) -> Outcome:
    """How far a file that no state equals is from one step of its own: whole, where the user lets something pass."""
    entries = table.positions**2
    some = np.arange(0, entries, max(1, entries // GLANCED))
    return _one_step(table, work, None if work.tolerance is not None else some, proof=True)


def _from_nearest(table: Hypergammon, work: Request, where: Array, right: Array, systematic: bool) -> Outcome:
    """The outcome for a copy of some state that differs from it in the records `where`.

    systematic : as after a restart, and not as damaged.
    """
    entries, made = table.positions**2, recurrence.encode(right)
    here = np.asarray(table.records).reshape(-1, 28)[where]
    off = recurrence.off(here, made)
    off[here[:, 27] != 0] = np.inf
    return Outcome(
        entries, entries, failing=len(where), wrong=None if systematic else len(where), largest=float(off.max()),
        unit="of an equity", systematic=systematic, likely=Likely(Cause.THRESHOLD) if systematic else None,
        findings=_findings(table, work, where, made),
    )  # fmt: skip


def _hopeless(table: Hypergammon, work: Request, told: Told) -> Outcome:
    """The outcome for a file that differs from finished games and races throughout."""
    if work.tolerance is not None:
        return _described(table, work)
    entries, stored = table.positions**2, np.asarray(table.records).reshape(-1, 28)
    made = recurrence.encode(told.right)
    off = recurrence.off(stored[told.where], made)
    systematic = not told.fixed and bool(np.quantile(off, 0.99) < SMALL)
    return Outcome(
        entries, told.known, failing=len(told.where), largest=float(off.max()), unit="of an equity",
        systematic=systematic, differences=_spread(off), likely=Likely(Cause.THRESHOLD) if systematic else None,
        findings=_findings(table, work, told.where, made),
    )  # fmt: skip


def _one_step(table: Hypergammon, work: Request, which: Array | None, *, proof: bool = False) -> Outcome:
    """One step from the file's own entries. `proof` : a proof was asked for, which none of this is."""
    n, stored = table.positions, np.asarray(table.records)
    limit = THRESHOLD + TRUNCATION
    bad: list[Array] = []
    rights: list[Array] = []
    largest, failing, live_off = 0.0, 0, []
    flat = stored.reshape(-1, 28)
    for step in recurrence.steps(
        stored, table.chequers, which, slack=SLACK, threads=work.threads, progress=work.progress
    ):
        off = np.nan_to_num(step.off, nan=np.inf)
        idle = step.kinds <= recurrence.OVER
        made = recurrence.encode(step.right)
        here = flat[step.which]
        wrong = (off > limit) | (here[:, 27] != 0) | (idle & (made != here).any(axis=1))
        largest = max(largest, float(off.max()))
        live_off.append(off[~idle])
        failing += int(wrong.sum())
        if wrong.any() and sum(map(len, bad)) < KEPT:
            bad.append(step.which[wrong])
            rights.append(made[wrong])
    checked = n * n if which is None else len(which)
    if failing == 0 and not proof:
        return Outcome(
            n * n, checked, "gnubg", largest=largest, unit="of an equity", facts={"threshold": THRESHOLD}
        )
    if failing == 0:  # near, but no state of the iteration
        return Outcome(
            n * n, checked, failing=checked, largest=largest, unit="of an equity", systematic=True,
            likely=Likely(Cause.THRESHOLD),
        )  # fmt: skip
    sizes = np.concatenate(live_off) if live_off else np.zeros(0)
    many = failing > max(FEW, checked // FEW)
    systematic = many and len(sizes) > 0 and bool(np.quantile(sizes, 0.99) < SMALL)
    found = () if systematic else _findings(table, work, np.concatenate(bad), np.concatenate(rights))
    return Outcome(
        n * n,
        checked,
        failing=failing,
        largest=largest,
        unit="of an equity",
        systematic=systematic,
        differences=_spread(sizes),
        likely=Likely(Cause.THRESHOLD) if systematic else None,
        findings=found,
    )


def _spread(off: Array) -> dict[str, float]:
    return {f"{q:.1%} within": float(np.quantile(off, q)) for q in (0.5, 0.99, 0.999)} if len(off) else {}


def _findings(table: Hypergammon, work: Request, numbers: Array, rights: Array) -> tuple[Finding, ...]:
    out = []
    for number, right in list(zip(numbers, rights, strict=True))[:KEPT]:
        us, them = divmod(int(number), table.positions)
        record = np.asarray(table.records[us])[them]
        stored, wanted = recurrence.numbers_of(record).tolist(), recurrence.numbers_of(right).tolist()
        k = next((k for k in range(9) if stored[k] != wanted[k]), None)
        out.append(
            Finding(
                Rule.ENTRY, entry=int(number), offset=work.locate(int(number)), expected=wanted, found=stored,
                field="last byte of the record" if k is None else FIELDS[k], sides=(_side(us), _side(them)),
            )
        )  # fmt: skip
    return tuple(out)


def _side(number: int) -> Side:
    counts = [int(c) for c in board.unrank(number, PLACES)]
    return Side(*counts[:24], bar=counts[24])


class HypergammonProof(Proof[Hypergammon]):
    """makehyper's iteration."""

    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makehyper", "files of makehyper 1.07", plain=True),
        KnownRecipe("gnubg-division", "makehyper built with true division by 36", "builds without fast-math"),
    )

    def prove(self, table: Hypergammon, request: Request) -> Outcome:
        return prove(table, request)

    def put_right(self, table: Hypergammon, threads: int) -> tuple[Table, int]:
        records, differ = mended(table, threads)
        return replace(table, records=records), differ

    def regenerate(self, table: Hypergammon, recipe: str, threads: int, progress: Progress | None) -> Finding:
        return regenerated(table, recipe, "gnubg", threads, progress)


def regenerated(
    table: Table, recipe: str, solved_by: Literal["gnubg", "exact"], threads: int, progress: Progress | None
) -> Finding:
    """Whether the solver's iteration by recipe `solved_by` comes to just these records after some sweep."""
    from bgfmt.solver.hypergammon import MOST_SWEEPS, hypergammon

    def sweeping(sweep: int, change: float) -> None:
        if progress is not None:
            progress(min(sweep, EXPECTED_SWEEPS - 1), EXPECTED_SWEEPS)

    solved = hypergammon(
        table.chequers, recipe=solved_by, threads=threads, sweeping=sweeping, most_sweeps=MOST_SWEEPS
    )
    name, stored = next(iter(table.arrays().items()))
    made = solved.table.arrays()[name]
    for start in range(0, table.positions, ROWS):
        rows = slice(start, start + ROWS)
        if np.asarray(made[rows]).tobytes() != np.asarray(stored[rows]).tobytes():
            why = f"the solver's iteration, which stops after {solved.sweeps} sweeps, ends elsewhere"
            return Finding(Rule.NOT_REMADE, found=why)
    return Finding(Rule.SAME_REMADE, field=recipe)
