"""Normal distributions: which recipe every row follows to the last bit, or which rows do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from bgfmt.tables import NormalOneSided, Table
from bgfmt.verifier.findings import Cause, Likely, Outcome
from bgfmt.verifier.proofs import KnownRecipe, Request, size_behind
from bgfmt.verifier.proofs.mean_rolls import OfRollsProof, bits_of
from bgfmt.verifier.recurrence import means, one_sided
from bgfmt.verifier.recurrence.plays import Array

if TYPE_CHECKING:
    from bgfmt.files.database import Database

ONE = b"\x3f\x80\x00\x00"  # the float32 1, the mean of position 1, in the other byte order


class NormalProof(OfRollsProof[NormalOneSided]):
    """makebearoff's rule for means and deviations, and the moments of other programs' distributions."""

    near = 1e-3
    far = 0.2
    cause_of_near = Cause.OTHER_ROUNDING
    fields = ("mean", "deviation", "gammon mean", "gammon deviation")
    located = "moments"
    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makebearoff -n", "files of makebearoff 1.07", plain=True),
        KnownRecipe(
            "gnubg-division", "makebearoff -n built with true division by 36", "builds without fast-math"
        ),
        KnownRecipe("gnubg-moments", "moments of gnubg's distributions", "bgfmt convert --lossy"),
        KnownRecipe("bgsage-moments", "moments of bgsage's distributions", "bgfmt convert --lossy"),
    )

    def prove(self, table: NormalOneSided, request: Request) -> Outcome:
        n, which = table.positions, request.some(table.positions)
        tried = []
        for divide, name in enumerate(("gnubg", "gnubg-division")):
            fails, off = means.check_moments(
                table, divide=bool(divide), which=which, threads=request.threads, progress=request.progress
            )
            failing = int(fails.sum())
            if failing == 0:
                return Outcome(n, n if which is None else len(which), name)
            tried.append((failing, divide, fails, off))
            if failing <= max(20, n // 1000):
                break
        _, divide, wrong, off = min(tried, key=lambda one: one[:2])
        right = means.remade_moments(table.points, table.chequers, divide=bool(divide))
        return self.judged(table, request, wrong, float(off.max()), right)

    def rivals(self, table: NormalOneSided) -> Iterator[tuple[str, Array]]:
        gammon = bool(self.stored(table)[:, 2:].any())
        for name, rule in (("gnubg-moments", one_sided.GNUBG), ("bgsage-moments", one_sided.BGSAGE)):
            yield name, means.moments_of(one_sided.remade(table.points, table.chequers, rule, gammon=gammon))

    def cause(self, db: Database, outcome: Outcome | None, start: int, end: int) -> Likely | None:
        turned = end >= start + 20 and db.source.bytes(start + 16, 4) == ONE
        return size_behind(db) or (Likely(Cause.BYTE_ORDER) if turned else None)

    def put_right(self, table: NormalOneSided, threads: int) -> tuple[Table, int]:
        stored = bits_of(self.stored(table))
        made = [means.remade_moments(table.points, table.chequers, divide=divide) for divide in (False, True)]
        changed = [int((bits_of(right) != stored).any(axis=1).sum()) for right in made]
        best = int(changed[1] < changed[0])
        return replace(table, moments=made[best]), changed[best]
