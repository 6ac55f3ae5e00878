"""Hypergammon: is the file a state of makehyper's iteration?

The iteration is run again, and the file must equal it after some sweep, to the last bit; with one and two chequers
restarts are tried, too. What equals no state is held to one step from its own entries, which tells damage from
another threshold or build, and proves nothing: a converged file is no fixed point, since it holds numbers cut off to
24 bits of an iteration that stopped while they changed by up to its threshold.
"""

from __future__ import annotations

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
SWEEPS = {1: 60, 2: 60, 3: 150}
#: the change at which the iteration stays where it is, by chequers
SETTLED = {1: 0.0, 2: 3e-7, 3: 6e-7}
LONG = 3  # chequers with which an iteration takes minutes
AFTER, MOST_RESTARTS = 4, {1: 200, 2: 6, 3: 0}  # sweeps after a restart, and restarts, that are tried
LOOKS_LIKE = 0.05  # part of the records glanced at that may differ before all are compared
DIVISION = (0.3, 0.95)  # part of the records that true division changes
NEAR_UNITS = (
    2000  # by which nine in ten records differ at most from a state of another build or after a restart
)
THRESHOLD = 1e-5  # at which makehyper stops unless told otherwise
#: what truncation to 24 bits adds in one step: a unit of an equity twice, since a double doubles it, and its own
TRUNCATION = 3 * 6 / recurrence.WHOLE
#: plays whose cubeless values lie no further apart may have changed places since the program saw them
SLACK = 2 * (THRESHOLD + TRUNCATION)
GLANCED = 5000  # entries that are looked at before all are
HOPELESS = 10  # of so many of them one may fail before the rest is left
FEW = 20  # of so many records one may be wrong and the nearest sweep still be the one meant
LEAST_FEW = 20  # and so many in any case


@dataclass
class Nearest:
    """The state of the iteration that a file is nearest to: its records, how many differ, after how many sweeps."""

    records: Array
    differ: int
    sweeps: int = 0


def prove(table: Hypergammon, work: Work) -> Outcome:
    """The file as a state of the iteration, or what is not."""
    n = table.positions
    which = work.some(n * n)
    stored = np.asarray(table.records)
    if which is None and table.chequers == LONG:
        first = _one_step(table, work, np.arange(0, n * n, n * n // GLANCED))
        if first.failing > first.checked // HOPELESS:
            return first
    if which is None:
        proof, nearest = run_again(table, work)
        if proof is not None:
            return proof
        if nearest.differ <= _few(n * n):
            where = np.argwhere((nearest.records != stored).any(axis=2))
            return _damaged(table, work, where, nearest.records)
    if which is None and table.chequers < LONG and n * n > GLANCED:
        first = _one_step(table, work, np.arange(0, n * n, n * n // GLANCED))
        if first.failing > first.checked // HOPELESS:
            return first
    return _one_step(table, work, which)


def run_again(table: Hypergammon, work: Work) -> tuple[Outcome | None, Nearest]:
    """(the proof where some state of the iteration equals the file, else None; the nearest state)."""
    n, stored = table.positions, np.asarray(table.records).reshape(-1, 28)
    iteration = recurrence.Iteration(table.chequers, threads=work.threads)
    some = iteration.live[:: max(1, len(iteration.live) // GLANCED)]
    glance = recurrence.numbers_of(stored[some])
    nearest = Nearest(np.asarray(table.records), n * n + 1)
    distances: list[float] = []
    apart, most = 1.0, SWEEPS[table.chequers]

    def equal(name: str, facts: dict[str, int]) -> Outcome | None:
        """The proof where the iteration stands at the file; the nearest state is kept."""
        nonlocal apart
        off = np.abs(recurrence.numbers_of(recurrence.encode(iteration.values[some])) - glance)
        apart = float((off > 0).any(axis=1).mean())
        distances.append(float(np.quantile(off.max(axis=1), 0.9)))
        if apart > LOOKS_LIKE:
            return None
        records = iteration.records()
        differ = int((records.reshape(-1, 28) != stored).any(axis=1).sum())
        if differ < nearest.differ:
            nearest.records, nearest.differ, nearest.sweeps = records, differ, facts["sweeps"]
        return Outcome(n * n, n * n, name, facts=facts) if differ == 0 else None

    for name in ("gnubg", "gnubg-division"):
        if name == "gnubg-division":
            if not DIVISION[0] < apart < DIVISION[1] or min(distances) > NEAR_UNITS:
                break
            iteration.begin_again(divide=True)
        for sweeps in range(1, most + 1):
            change = iteration.sweep()
            found = equal(name, {"sweeps": sweeps})
            if found is not None:
                return found, nearest
            if (
                nearest.differ <= _few(n * n) and nearest.sweeps < sweeps
            ):  # the state that is meant lies behind
                return None, nearest
            if work.progress is not None and name == "gnubg":
                work.progress(sweeps, most)
            if change <= SETTLED[table.chequers]:
                break
        if nearest.differ <= _few(n * n):
            return None, nearest
    iteration.begin_again(divide=False)
    walked = 0
    for before, sweeps in _restarts(distances, table.chequers):
        while walked < before:
            iteration.sweep()
            walked += 1
        kept = iteration.values.copy()
        iteration.restart(iteration.records())
        for _ in range(sweeps):
            iteration.sweep()
        found = equal("gnubg", {"sweeps": sweeps, "restarts": before})
        if found is not None:
            return found, nearest
        iteration.go_on(kept)
    return None, nearest


def _restarts(distances: list[float], chequers: int) -> list[tuple[int, int]]:
    """(sweeps before, sweeps after) a restart that may have led to a file, from its distance to each sweep.

    A restart rounds the numbers once, so that a file after it is near the state without it.
    """
    near = [k for k, distance in enumerate(distances, 1) if distance <= NEAR_UNITS]
    near.sort(key=lambda k: distances[k - 1])
    tried = [(k - after, after) for k in near for after in range(1, AFTER + 1) if k > after]
    return sorted(tried[: MOST_RESTARTS[chequers]])


def _few(entries: int) -> int:
    return max(LEAST_FEW, entries // FEW)


def _one_step(table: Hypergammon, work: Work, which: Array | None) -> Outcome:
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
    if failing == 0 and which is not None:
        return Outcome(
            n * n, checked, "gnubg", largest=largest, unit="of an equity", facts={"threshold": THRESHOLD}
        )
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
