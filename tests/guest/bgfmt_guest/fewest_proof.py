"""The proof of a guest's kind of table: every number against the rule."""

from __future__ import annotations

import numpy as np

from bgfmt.tables import Table
from bgfmt.verifier.findings import MAX_FINDINGS, Finding, Outcome, Rule
from bgfmt.verifier.proofs import KnownRecipe, Proof, Request
from bgfmt.verifier.recurrence.plays import Progress
from bgfmt_guest.fewest import Fewest, solve


class FewestProof(Proof[Fewest]):
    """Moves of six pips, four a roll."""

    recipes = (KnownRecipe("sixes", "the guest's own rule", "nothing but double sixes", is_default=True),)

    def prove(self, table: Fewest, request: Request) -> Outcome:
        some = request.sample_numbers(table.positions)
        looked = np.arange(table.positions) if some is None else some
        right = np.asarray(solve(table.points, table.chequers).rolls)
        stored = np.asarray(table.rolls)
        bad = looked[stored[looked] != right[looked]].tolist()
        findings = tuple(
            Finding(
                Rule.ENTRY, entry=x, offset=request.locate(x), expected=int(right[x]), found=int(stored[x]),
                sides=(table.side(x),),
            )
            for x in bad[:MAX_FINDINGS]
        )  # fmt: skip
        name = "" if bad else "sixes"
        return Outcome(table.entries, len(looked), name, failing=len(bad), wrong=len(bad), findings=findings)

    def solve(self, table: Fewest, recipe: str, threads: int, progress: Progress | None) -> Table:
        return solve(table.points, table.chequers)
