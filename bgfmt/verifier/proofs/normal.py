"""Normal distributions: which recipe every row follows to the last bit, or which rows do not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import NormalOneSided
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import SMALL, Work
from bgfmt.verifier.recurrence import moments as recurrence
from bgfmt.verifier.recurrence import one_sided

Array = NDArray[Any]
NEAR = 1e-3  # rolls by which other arithmetic differs in one step at most
FAR = 0.2  # rolls by which the moments of distributions differ from gnubg's normal ones
FIELDS = ("mean", "deviation", "gammon mean", "gammon deviation")


def prove(table: NormalOneSided, work: Work) -> Outcome:
    """Every row under each recipe."""
    n = table.positions
    which = work.some(n)
    checked = n if which is None else len(which)
    best = None
    for name, divide in (("gnubg", False), ("gnubg-division", True)):
        fails, off = recurrence.check(
            table, divide=divide, which=which, threads=work.threads, progress=work.progress
        )
        failing = int((fails > 0).sum())
        if failing == 0:
            return Outcome(n, checked, name)
        if best is None or failing < best[0]:
            best = failing, divide, fails, off
        if failing <= max(20, n // 1000):
            break
    assert best is not None
    failing, divide, fails, off = best
    with np.errstate(invalid="ignore"):
        largest = float(np.sqrt(np.nan_to_num(off, nan=np.inf)).max() if off.size else 0)
        largest = max(float(np.nan_to_num(off[:, 0], nan=np.inf).max()), largest**2)
    many = failing > max(20, checked // 100)
    if (many or n <= SMALL) and which is None and largest <= FAR:
        name = _of_distributions(table)
        if name:
            return Outcome(n, n, name)
    if many and largest <= NEAR:
        return Outcome(
            n, checked, failing=failing, largest=largest, unit="rolls", systematic=True,
            differences={"largest": largest}, likely=Likely(Cause.OTHER_ROUNDING),
        )  # fmt: skip
    right, changed = recurrence.settle(table, divide=divide)
    stored = np.array(np.asarray(table.moments), np.float32)
    wrong = np.flatnonzero((changed > 0) & (fails > 0))
    if not len(wrong):
        wrong = np.flatnonzero(fails)
    return Outcome(
        n,
        checked,
        failing=failing,
        wrong=len(wrong) if which is None else None,
        inherited=int(((changed > 0) & (fails == 0)).sum()) if which is None else 0,
        largest=largest,
        unit="rolls",
        findings=tuple(_finding(table, work, int(x), stored[x], right[x]) for x in wrong[:KEPT]),
    )


def _of_distributions(table: NormalOneSided) -> str:
    """Whose finished distributions these are the moments of, or ""."""
    stored = np.array(np.asarray(table.moments), np.float32)
    gammon = bool(stored[:, 2:].any())
    for name, rule in (("gnubg-moments", one_sided.GNUBG), ("bgsage-moments", one_sided.BGSAGE)):
        rows = one_sided.remade(table.points, table.chequers, rule, gammon=gammon)
        made = recurrence.of_distributions(rows)
        if made.tobytes() == stored.tobytes():
            return name
    return ""


def _finding(table: NormalOneSided, work: Work, x: int, stored: Array, right: Array) -> Finding:
    differ = stored.view(np.uint32) != right.view(np.uint32)
    k = int(differ.argmax()) if differ.any() else 0
    return Finding(
        Rule.ENTRY,
        entry=x,
        offset=work.locate(x, "moments", k),
        expected=[float(v) for v in right],
        found=[float(v) for v in stored],
        field=FIELDS[k],
        sides=(Side.from_number(x, table.points),),
    )
