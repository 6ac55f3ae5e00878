"""Mean rolls: which recipe every mean follows to the last bit, or which do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bgfmt.tables import MeanRolls, Table
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import KnownRecipe, Progress, Proof, Request
from bgfmt.verifier.proofs.bits import sides_of
from bgfmt.verifier.recurrence import means, one_sided

SMALL = 4000  # positions up to which the table of a rival is made even where few rows fail
LAST_BITS = 1e-12  # rolls by which another order of additions differs
FAR = 0.1  # rolls by which the means of rounded tables differ


class MeanRollsProof(Proof[MeanRolls]):
    """Peelle's rule, and the means of other programs' tables."""

    recipes = (
        KnownRecipe(
            "peelle", "Peelle's J table, to the last bit", "bgns.ijf of J 9.7", plain=True, stated=("exact",)
        ),
        KnownRecipe("gnubg-means", "means of gnubg's distributions", "bgfmt convert --lossy"),
        KnownRecipe("bgsage-means", "means of bgsage's distributions", "bgfmt convert --lossy"),
        KnownRecipe("gnubg-normal-means", "means of gnubg's normal distributions", "bgfmt convert --lossy"),
    )

    def prove(self, table: MeanRolls, request: Request) -> Outcome:
        n = table.positions
        which = request.some(n)
        checked = n if which is None else len(which)
        off = means.check_means(table, which=which, threads=request.threads, progress=request.progress)
        failing, largest = int((off != 0).sum()), float(off.max())
        if failing == 0:
            return Outcome(n, checked, "peelle")
        many = failing > max(20, checked // 50)
        if (many or n <= SMALL) and which is None and largest <= FAR:
            name = _rival(table)
            if name:
                return Outcome(n, n, name)
        if many and largest <= LAST_BITS:
            return Outcome(
                n, checked, failing=failing, largest=largest, unit="rolls", systematic=True,
                differences={"largest": largest}, likely=Likely(Cause.ADDITIONS),
            )  # fmt: skip
        right = means.means_of(table.points, table.chequers)
        stored = np.asarray(table.means)
        changed = np.ascontiguousarray(stored).view(np.int64) != right.view(np.int64)
        wrong = np.flatnonzero(changed & (off != 0))
        if not len(wrong):
            wrong = np.flatnonzero(off != 0)
        findings = (
            Finding(
                Rule.ENTRY, entry=x, expected=float(right[x]), found=float(stored[x]), field="mean rolls",
                sides=sides_of(table, x),
            )
            for x in wrong[:KEPT].tolist()
        )  # fmt: skip
        return Outcome(
            n, checked, failing=failing, wrong=len(wrong) if which is None else None,
            inherited=int((changed & (off == 0)).sum()) if which is None else 0, largest=largest, unit="rolls",
            findings=tuple(findings),
        )  # fmt: skip

    def put_right(self, table: MeanRolls, threads: int) -> tuple[Table, int]:
        right = means.means_of(table.points, table.chequers)
        return replace(table, means=right), int((right != np.asarray(table.means)).sum())

    def solve(self, table: MeanRolls, recipe: str, threads: int, progress: Progress | None) -> Table | None:
        from bgfmt import solver

        if recipe != "peelle":
            return None
        return solver.mean_rolls(table.points, table.chequers, threads=threads, progress=progress)

    def measure(self, table: MeanRolls, threads: int) -> dict[str, Any]:
        from bgfmt.verifier import truth

        return truth.of_rolls(table, threads)


def _rival(table: MeanRolls) -> str:
    """Whose table these are the means of, or ""."""
    stored = np.asarray(table.means).tobytes()
    rolls = np.arange(one_sided.ROLLS)
    for name, rule in (("gnubg-means", one_sided.GNUBG), ("bgsage-means", one_sided.BGSAGE)):
        rows = one_sided.remade(table.points, table.chequers, rule).bearoff
        if ((rows.astype(np.int64) @ rolls) / one_sided.WHOLE).tobytes() == stored:
            return name
    normal = means.remade_moments(table.points, table.chequers)[:, 0].astype(np.float64)
    return "gnubg-normal-means" if normal.tobytes() == stored else ""
