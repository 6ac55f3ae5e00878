"""Normal distributions: which recipe every row follows to the last bit, or which rows do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import NormalOneSided, Table
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import KnownRecipe, Progress, Proof, Request, size_behind
from bgfmt.verifier.proofs.bits import sides_of
from bgfmt.verifier.proofs.mean_rolls import SMALL
from bgfmt.verifier.recurrence import means, one_sided

if TYPE_CHECKING:
    from bgfmt.files.database import Database

Array = NDArray[Any]
NEAR = 1e-3  # rolls by which other arithmetic differs in one step at most
FAR = 0.2  # rolls by which the moments of distributions differ from gnubg's normal ones
FIELDS = ("mean", "deviation", "gammon mean", "gammon deviation")
ONE = b"\x3f\x80\x00\x00"  # the float32 1, the mean of position 1, in the other byte order


class NormalProof(Proof[NormalOneSided]):
    """makebearoff's rule for means and deviations, and the moments of other programs' distributions."""

    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makebearoff -n", "files of makebearoff 1.07", plain=True),
        KnownRecipe(
            "gnubg-division", "makebearoff -n built with true division by 36", "builds without fast-math"
        ),
        KnownRecipe("gnubg-moments", "moments of gnubg's distributions", "bgfmt convert --lossy"),
        KnownRecipe("bgsage-moments", "moments of bgsage's distributions", "bgfmt convert --lossy"),
    )

    def prove(self, table: NormalOneSided, request: Request) -> Outcome:
        n = table.positions
        which = request.some(n)
        checked = n if which is None else len(which)
        best = None
        for name, divide in (("gnubg", False), ("gnubg-division", True)):
            fails, off = means.check_moments(
                table, divide=divide, which=which, threads=request.threads, progress=request.progress
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
            name = _rival(table)
            if name:
                return Outcome(n, n, name)
        if many and largest <= NEAR:
            return Outcome(
                n, checked, failing=failing, largest=largest, unit="rolls", systematic=True,
                differences={"largest": largest}, likely=Likely(Cause.OTHER_ROUNDING),
            )  # fmt: skip
        stored, right = _stored(table), means.remade_moments(table.points, table.chequers, divide=divide)
        changed = (stored.view(np.uint32) != right.view(np.uint32)).any(axis=1)
        wrong = np.flatnonzero(changed & (fails > 0))
        if not len(wrong):
            wrong = np.flatnonzero(fails)
        return Outcome(
            n, checked, failing=failing, wrong=len(wrong) if which is None else None,
            inherited=int((changed & (fails == 0)).sum()) if which is None else 0, largest=largest, unit="rolls",
            findings=tuple(_finding(table, request, x, stored[x], right[x]) for x in wrong[:KEPT].tolist()),
        )  # fmt: skip

    def cause(self, db: Database, outcome: Outcome | None, start: int, end: int) -> Likely | None:
        turned = end >= start + 20 and db.source.bytes(start + 16, 4) == ONE
        return size_behind(db) or (Likely(Cause.BYTE_ORDER) if turned else None)

    def put_right(self, table: NormalOneSided, threads: int) -> tuple[Table, int]:
        stored = _stored(table).view(np.uint32)
        made = [means.remade_moments(table.points, table.chequers, divide=divide) for divide in (False, True)]
        changed = [int((right.view(np.uint32) != stored).any(axis=1).sum()) for right in made]
        best = int(changed[1] < changed[0])
        return replace(table, moments=made[best]), changed[best]

    def solve(
        self, table: NormalOneSided, recipe: str, threads: int, progress: Progress | None
    ) -> Table | None:
        from bgfmt import solver

        if recipe != "gnubg":
            return None
        how = {"threads": threads, "progress": progress}
        return solver.one_sided(table.points, chequers=table.chequers, normal=True, **how)  # type: ignore[arg-type]

    def measure(self, table: NormalOneSided, threads: int) -> dict[str, Any]:
        from bgfmt.verifier import truth

        return truth.of_rolls(table, threads)


def _stored(table: NormalOneSided) -> Array:
    return np.array(np.asarray(table.moments), np.float32)


def _rival(table: NormalOneSided) -> str:
    """Whose finished distributions these are the moments of, or ""."""
    stored = _stored(table)
    gammon = bool(stored[:, 2:].any())
    for name, rule in (("gnubg-moments", one_sided.GNUBG), ("bgsage-moments", one_sided.BGSAGE)):
        rows = one_sided.remade(table.points, table.chequers, rule, gammon=gammon)
        if means.moments_of(rows).tobytes() == stored.tobytes():
            return name
    return ""


def _finding(table: NormalOneSided, request: Request, x: int, stored: Array, right: Array) -> Finding:
    differ = stored.view(np.uint32) != right.view(np.uint32)
    k = int(differ.argmax()) if differ.any() else 0
    return Finding(
        Rule.ENTRY, entry=x, offset=request.locate(x, "moments", k), expected=[float(v) for v in right],
        found=[float(v) for v in stored], field=FIELDS[k], sides=sides_of(table, x),
    )  # fmt: skip
