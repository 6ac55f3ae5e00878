"""Hypergammon: is the file a state of makehyper's iteration?

With one and two chequers the iteration is run again and the file must equal it after some sweep, restarts among them.
With three that takes hours: races and finished games are made again and must agree to the last bit, and every other
record must reproduce itself in one step to the threshold at which makehyper stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.tables import Hypergammon
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Work
from bgfmt.verifier.recurrence import hypergammon as recurrence

Array = NDArray[Any]
FIELDS = (
    "win", "win gammon", "win backgammon", "lose gammon", "lose backgammon", "owned", "centered",
    "centered with Jacoby", "opponent",
)  # fmt: skip
RUN_AGAIN_MOST = 2  # chequers
SWEEPS = 60
RESTARTS = {1: 30, 2: 3}  # sweeps after a restart that are tried, by chequers
THRESHOLD = 1e-5  # at which makehyper stops unless told otherwise
#: what truncation to 24 bits adds in one step: a unit of an equity twice, since a double doubles it, and its own
TRUNCATION = 3 * 6 / recurrence.WHOLE
#: plays whose cubeless values lie no further apart may have changed places since the program saw them
SLACK = 2 * (THRESHOLD + TRUNCATION)
GLANCED = 5000  # entries of a large table that are looked at before all are
HOPELESS = 10  # of so many of them one may fail before the rest is left
FEW = 200  # of so many records one may be wrong and the nearest sweep still be the one meant
LEAST_FEW = 20  # and so many in any case


@dataclass
class Nearest:
    """The state of the iteration that a file is nearest to."""

    records: Array
    differ: int
    divide: bool


def prove(table: Hypergammon, work: Work) -> Outcome:
    """The file as a state of the iteration, or what is not."""
    n = table.positions
    which = work.some(n * n)
    stored = np.asarray(table.records)
    if which is None and table.chequers <= RUN_AGAIN_MOST:
        proof, nearest = run_again(table, work)
        if proof is not None:
            return proof
        if nearest.differ <= _few(n * n):
            return _damaged(
                table, work, np.argwhere((nearest.records != stored).any(axis=2)), nearest.records
            )
    elif which is None:
        first = _one_step(table, work, np.arange(0, n * n, n * n // GLANCED))
        if first.failing > first.checked // HOPELESS:
            return first
    return _one_step(table, work, which)


def run_again(table: Hypergammon, work: Work) -> tuple[Outcome | None, Nearest]:
    """(the proof where some state of the iteration equals the file, else None; the nearest state)."""
    n, stored = table.positions, np.asarray(table.records)
    nearest = Nearest(stored, n * n + 1, False)
    states: list[Array] = []
    for divide, name in ((False, "gnubg"), (True, "gnubg-division")):
        iteration = recurrence.Iteration.begin(table.chequers, divide=divide, threads=work.threads)
        worse, best = 0, n * n + 1
        for sweeps, records in _sweeps(iteration):
            differ = int((records != stored).any(axis=2).sum())
            if differ == 0:
                return Outcome(n * n, n * n, name, facts={"sweeps": sweeps}), nearest
            if differ < nearest.differ:
                nearest = Nearest(records, differ, divide)
            worse, best = (0, differ) if differ < best else (worse + 1, best)
            if not divide:
                states.append(records)
                if work.progress is not None:
                    work.progress(sweeps, SWEEPS)
            if worse > 3 and best <= _few(n * n):
                break
        if nearest.differ <= _few(n * n) or _far(stored, states[-1]):
            return None, nearest
    iteration = recurrence.Iteration.begin(table.chequers, threads=work.threads)
    for k, state in enumerate(states, 1):
        iteration.restart(state)
        for sweeps in range(1, RESTARTS[table.chequers] + 1):
            iteration.sweep()
            records = iteration.records()
            differ = int((records != stored).any(axis=2).sum())
            if differ == 0:
                return Outcome(n * n, n * n, "gnubg", facts={"sweeps": sweeps, "restarts": k}), nearest
            if differ < nearest.differ:
                nearest = Nearest(records, differ, False)
    return None, nearest


def _few(entries: int) -> int:
    return max(LEAST_FEW, entries // FEW)


def _sweeps(iteration: recurrence.Iteration) -> Iterator[tuple[int, Array]]:
    for sweeps in range(1, SWEEPS + 1):
        change = iteration.sweep()
        yield sweeps, iteration.records()
        if change == 0:
            return


def _far(stored: Array, state: Array) -> bool:
    """Whether a file is nowhere near the iteration's end: no restart or other build ends so."""
    a, b = recurrence.numbers_of(stored), recurrence.numbers_of(state)
    # with the first sweeps of a restart half the numbers may still move; garbage moves nearly all
    near = np.abs(a[..., 5:] - b[..., 5:]) < recurrence.WHOLE // 8
    return float(near.mean()) < 0.8


def _one_step(table: Hypergammon, work: Work, which: Array | None) -> Outcome:
    n, stored = table.positions, np.asarray(table.records)
    solved = None
    if which is None and table.chequers > RUN_AGAIN_MOST:
        solved = _races(table, work)
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
        if solved is not None:
            races = step.kinds == recurrence.RACE
            own = np.searchsorted(solved[0], step.which[races])
            wrong[races] |= (solved[1][own] != here[races]).any(axis=1)
        largest = max(largest, float(off.max()))
        live_off.append(off[~idle])
        failing += int(wrong.sum())
        if wrong.any() and sum(map(len, bad)) < KEPT:
            bad.append(step.which[wrong])
            rights.append(made[wrong])
    checked = n * n if which is None else len(which)
    facts = {"threshold": THRESHOLD}
    if failing == 0 and (which is not None or table.chequers > RUN_AGAIN_MOST):
        stuck = _stuck(flat) if which is None else ""
        if not stuck:
            return Outcome(n * n, checked, "gnubg", largest=largest, unit="of an equity", facts=facts)
        finding = Finding(Rule.SENSE, entry=0, field=stuck)
        return Outcome(n * n, checked, failing=n * n, findings=(finding,))
    if failing == 0:  # near, but no state of the iteration
        return Outcome(
            n * n, checked, failing=n * n, largest=largest, unit="of an equity", systematic=True,
            likely=Likely(Cause.THRESHOLD),
        )  # fmt: skip
    sizes = np.concatenate(live_off) if live_off else np.zeros(0)
    systematic = failing > _few(checked) and bool(np.quantile(sizes, 0.99) < 0.05) if len(sizes) else False
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


def _races(table: Hypergammon, work: Work) -> tuple[Array, Array]:
    """(numbers, records (m, 28)) of the races, which do not go round in circles, run to their end."""
    iteration = recurrence.Iteration.begin(table.chequers, contact=False, threads=work.threads)
    while iteration.sweep() > 0:
        pass
    return iteration.live, iteration.live_records()


def _stuck(flat: Array) -> str:
    """A low bit that is the same in every record of a table that is not idle; "" for none."""
    some = recurrence.numbers_of(flat[:: max(1, len(flat) // 200_000)])
    live = some[(some[:, :5] != 0).any(axis=1)]
    for k in range(5, len(FIELDS)):
        ones = (live[:, k, None] >> np.arange(8) & 1).mean(axis=0)
        stuck = np.flatnonzero((ones < 0.01) | (ones > 0.99))
        if len(stuck):
            return f"bit {int(stuck[0])} of {FIELDS[k]} is the same in nearly all records"
    return ""


def _spread(off: Array) -> dict[str, float]:
    return {f"{q:.1%} within": float(np.quantile(off, q)) for q in (0.5, 0.99, 0.999)} if len(off) else {}


def _damaged(table: Hypergammon, work: Work, where: Array, right: Array) -> Outcome:
    n = table.positions
    numbers = where[:, 0] * n + where[:, 1]
    return Outcome(
        n * n, n * n, failing=len(where), wrong=len(where), largest=float("inf"), unit="of an equity",
        findings=_findings(table, work, numbers, right.reshape(-1, 28)[numbers]),
    )  # fmt: skip


def _findings(table: Hypergammon, work: Work, numbers: Array, rights: Array) -> tuple[Finding, ...]:
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
    counts = [int(c) for c in board.unrank(number, recurrence.PLACES)]
    return Side(*counts[:24], bar=counts[24])
