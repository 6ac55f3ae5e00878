"""Mean rolls: which recipe every mean follows to the last bit, or which do not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import MeanRolls
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import SMALL, Work
from bgfmt.verifier.recurrence import exact as recurrence
from bgfmt.verifier.recurrence import moments, one_sided

Array = NDArray[Any]
LAST_BITS = 1e-12  # rolls by which another order of additions differs
FAR = 0.1  # rolls by which the means of rounded tables differ


def prove(table: MeanRolls, work: Work) -> Outcome:
    """Every mean under each recipe."""
    n = table.positions
    which = work.some(n)
    checked = n if which is None else len(which)
    off = recurrence.check_means(table, which=which, threads=work.threads, progress=work.progress)
    failing, largest = int((off != 0).sum()), float(off.max())
    if failing == 0:
        return Outcome(n, checked, "peelle")
    many = failing > max(20, checked // 50)
    if (many or n <= SMALL) and which is None and largest <= FAR:
        name = _of_coarser(table)
        if name:
            return Outcome(n, n, name)
    if many and largest <= LAST_BITS:
        return Outcome(
            n, checked, failing=failing, largest=largest, unit="rolls", systematic=True,
            differences={"largest": largest}, likely=Likely(Cause.ADDITIONS),
        )  # fmt: skip
    right = recurrence.means_of(table.points, table.chequers)
    stored = np.asarray(table.means)
    changed = stored.view(np.int64) != right.view(np.int64) if stored.flags.c_contiguous else stored != right
    wrong = np.flatnonzero(changed & (off != 0))
    if not len(wrong):
        wrong = np.flatnonzero(off != 0)
    return Outcome(
        n,
        checked,
        failing=failing,
        wrong=len(wrong) if which is None else None,
        inherited=int((changed & (off == 0)).sum()) if which is None else 0,
        largest=largest,
        unit="rolls",
        findings=tuple(_finding(table, int(x), float(stored[x]), float(right[x])) for x in wrong[:KEPT]),
    )


def _of_coarser(table: MeanRolls) -> str:
    """Whose table these are the means of, or ""."""
    stored = np.asarray(table.means).tobytes()
    rolls = np.arange(one_sided.ROLLS)
    for name, rule in (("gnubg-means", one_sided.GNUBG), ("bgsage-means", one_sided.BGSAGE)):
        rows = one_sided.remade(table.points, table.chequers, rule).bearoff
        if ((rows.astype(np.int64) @ rolls) / one_sided.WHOLE).tobytes() == stored:
            return name
    normal = moments.remade(table.points, table.chequers)[:, 0].astype(np.float64)
    return "gnubg-normal-means" if normal.tobytes() == stored else ""


def _finding(table: MeanRolls, x: int, stored: float, right: float) -> Finding:
    return Finding(
        Rule.ENTRY, entry=x, expected=right, found=stored, field="mean rolls",
        sides=(Side.from_number(x, table.points),),
    )  # fmt: skip
