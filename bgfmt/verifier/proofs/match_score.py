"""Match-score tables: check that every number follows, to the last bit, from the table's own smaller entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from bgfmt import met
from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.met.score import Score
from bgfmt.tables import MatchScore
from bgfmt.tables.match_score import Results, ScoreFacts
from bgfmt.verifier.findings import Finding, Outcome, Rule
from bgfmt.verifier.proofs import KnownRecipe, Proof, Request, prove_pairs
from bgfmt.verifier.recurrence.plays import Array

LAST_BITS = 1e-6
MAX_UNEVENNESS = 1e-12  # largest |win + lose - 1| of equal players


class MatchScoreProof(Proof[MatchScore]):
    """Checks of match-score tables, with values in float32 or float64."""

    solver = "match"
    recipes = (
        KnownRecipe(
            "match", "match winning chances in float32, sums in float64", "bgfmt solve match", is_default=True
        ),
        KnownRecipe(
            "exact",
            "float64 throughout, nothing rounded",
            "bgfmt solve match --recipe exact",
            is_default=True,
        ),
    )

    def prove(self, table: MatchScore, request: Request) -> Outcome:
        def finding(number: int, stored: Array, right: Array) -> Finding:
            """Return the finding for the first column whose bits differ."""
            bits = np.dtype(f"i{stored.dtype.itemsize}")
            column = int((stored.view(bits) != right.view(bits)).argmax())
            at = ("balance", column)
            name = table.names[column]
            return request.entry_finding(
                table, number, stored[column], right[column], name, at, settled=False
            )

        outcome = prove_pairs(table, request, "exact" if table.exact else "match", LAST_BITS, finding)
        given = {} if _bundled_table(table.score) else {"given": table.score.met}
        return replace(outcome, facts={**outcome.facts, **given})

    def check_statements(self, table: MatchScore) -> Iterator[Finding]:
        """Check what the table states of its match equity table, player and columns; yield findings."""
        score = table.score
        known = _bundled_table(table.score)
        results = dict(score.results)
        alike = (
            all(abs(r.win + r.lose - 1) < MAX_UNEVENNESS for r in results.values())
            and score.away[0] == score.away[1]
        )
        facts: list[tuple[str, Any, Any]] = [
            ("columns for players alike", alike, score.alike),
            ("columns for fifteen chequers", table.chequers == board.MAX_CHEQUERS, score.gammons),
        ]
        if known is not None:
            scores = (Score(score.away, known, player=p) for p in (score.player, 1 - score.player))
            right, other = ({k: Results(s.after(0, k), s.after(0, -k)) for k in results} for s in scores)
            k = next((k for k in results if results[k] != right[k]), 1)
            facts += [
                ("name of the match equity table", known.name, score.met),
                ("SHA-256 of the match equity table", known.digest, score.digest),
                (f"chances of {known.name} after {k} points", right[k], results[k]),
            ]
            if score.player and right == other:
                yield Finding(Rule.STATED, field="player", found=f"1; the players of {known.name} are alike")
        else:
            yield Finding(Rule.STATED, field="unknown match equity table", found=f"SHA-256 {score.digest}")
        for name, expected, found in facts:
            if expected != found:
                yield Finding(Rule.LAYOUT, field=name, expected=expected, found=found)

    def options(self, table: MatchScore) -> dict[str, Any]:
        """Return the solver's options: match score, match equity table and which of its players is player a.

        Raises SolverError if bgfmt does not have that match equity table.
        """
        score = table.score
        same = _bundled_table(table.score)
        if same is None or same.digest != score.digest:
            raise SolverError(
                f"the match equity table {score.met} is not known; expected one of {', '.join(met.names())}"
            )
        return {"away": score.away, "met": same, "player": score.player}


def _bundled_table(score: ScoreFacts) -> met.Met | None:
    """Return bgfmt's own match equity table of the stated digest, or else of the stated name, or None."""
    same = (one for one in _bundled_tables() if one.digest == score.digest)
    return next(same, next((one for one in _bundled_tables() if one.name.lower() == score.met.lower()), None))


@cache
def _bundled_tables() -> tuple[met.Met, ...]:
    return tuple(met.load(name, extend=True) for name in met.names())
