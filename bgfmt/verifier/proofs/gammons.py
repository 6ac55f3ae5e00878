"""Equities that count gammons: does every entry follow from the smaller ones, and which do not?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bgfmt.errors import VerificationError
from bgfmt.tables import GammonTwoSided, Table
from bgfmt.verifier.findings import Likely, Outcome
from bgfmt.verifier.proofs import KnownRecipe, Proof, Request
from bgfmt.verifier.proofs.two_sided import PUT_RIGHT_MOST, damaged, passed, prove_exact, sampled, unpacked
from bgfmt.verifier.recurrence import two_sided as recurrence

if TYPE_CHECKING:
    from bgfmt.files.database import Database

RECIPE = "gammons"


class GammonProof(Proof[GammonTwoSided]):
    """The rule of money play with gammons, with Jacoby's rule or without, in 16383ths and in float64."""

    recipes = (
        KnownRecipe(RECIPE, "equities in 16383ths, rounded to the nearest", "bgfmt solve", plain=True),
        KnownRecipe("exact", "float64 throughout, nothing rounded", "bgfmt solve --recipe exact", plain=True),
    )

    def prove(self, table: GammonTwoSided, request: Request) -> Outcome:
        if table.exact:
            return prove_exact(table, request)
        if request.sample is not None:
            return sampled(table, request, RECIPE)
        found = passed(table, request)
        if found.failing:
            return damaged(table, request, found)
        return Outcome(found.entries, found.entries, RECIPE)

    def in_parts(self, table: GammonTwoSided) -> bool:
        return not table.exact

    def cause(self, db: Database, outcome: Outcome | None, start: int, end: int) -> Likely | None:
        return None

    def put_right(self, table: GammonTwoSided, threads: int) -> tuple[Table, int]:
        if table.exact or table.entries > PUT_RIGHT_MOST:
            raise VerificationError("a table of this size, or of float64, is solved again instead")
        table = unpacked(table)
        found = recurrence.check(table, threads=threads)
        right, wrong = recurrence.settle(
            table, found.numbers if len(found.numbers) == found.failing else None
        )
        return replace(table, equities=np.ascontiguousarray(right)), len(wrong)

    def options(self, table: GammonTwoSided) -> dict[str, Any]:
        return {"cubeful": table.cubeful}
