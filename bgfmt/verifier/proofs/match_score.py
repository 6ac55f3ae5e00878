"""Match-score tables: does every number follow, to the last bit, from the table's own smaller ones?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.tables import MatchScore, Table
from bgfmt.verifier.findings import Finding, Outcome, Rule
from bgfmt.verifier.proofs import KnownRecipe, Progress, Proof, Request
from bgfmt.verifier.proofs.bits import prove_pairs, sides_of
from bgfmt.verifier.recurrence.plays import pips

Array = NDArray[Any]
LAST_BITS = 1e-6


class MatchScoreProof(Proof[MatchScore]):
    """The rule of match play, in float32 or float64."""

    recipes = (
        KnownRecipe(
            "match", "match winning chances in float32, sums in float64", "bgfmt solve match", plain=True
        ),
        KnownRecipe(
            "exact", "float64 throughout, nothing rounded", "bgfmt solve match --recipe exact", plain=True
        ),
    )

    def prove(self, table: MatchScore, request: Request) -> Outcome:
        depth, n = pips(table.points, table.chequers), table.positions

        def finding(number: int, stored: Array, right: Array) -> Finding:
            """An entry, with the first of its columns that is not what follows."""
            bits = np.dtype(f"i{stored.dtype.itemsize}")
            column = int((stored.view(bits) != right.view(bits)).argmax())
            return Finding(
                Rule.ENTRY, entry=number, offset=request.locate(number, "balance", column),
                expected=float(right[column]), found=float(stored[column]), field=table.names[column],
                sides=sides_of(table, number),
            )  # fmt: skip

        recipe = "exact" if table.exact else "match"
        return prove_pairs(
            table,
            request,
            recipe,
            LAST_BITS,
            finding,
            lambda numbers: depth[numbers // n] + depth[numbers % n],
        )

    def solve(self, table: MatchScore, recipe: str, threads: int, progress: Progress | None) -> Table | None:
        """Solved again with the match equity table that comes with bgfmt, where it is that one."""
        from bgfmt import met
        from bgfmt.solver.match import match_score

        score = table.score
        tables = (met.load(name) for name in met.names())
        same = next((one for one in tables if one.digest == score.digest), None)
        if same is None:
            raise SolverError(f"the match equity table {score.met} is none of {', '.join(met.names())}")
        return match_score(
            table.points, table.chequers, score.away, same, player=score.player,
            dtype=np.float64 if table.exact else np.float32, threads=threads, progress=progress,
        )  # fmt: skip
