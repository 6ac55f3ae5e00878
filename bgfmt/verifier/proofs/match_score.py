"""Match-score tables: does every number follow, to the last bit, from the table's own smaller ones?"""

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
EVEN = 1e-12  # by which the chances of both players may fail to make 1 where the players are alike


class MatchScoreProof(Proof[MatchScore]):
    """The rule of match play, in float32 or float64."""

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
            """An entry, with the first of its columns that is not what follows."""
            bits = np.dtype(f"i{stored.dtype.itemsize}")
            column = int((stored.view(bits) != right.view(bits)).argmax())
            at = ("balance", column)
            name = table.names[column]
            return request.entry_finding(table, number, stored[column], right[column], name, at)

        outcome = prove_pairs(table, request, "exact" if table.exact else "match", LAST_BITS, finding)
        given = {} if _shipped(table.score) else {"given": table.score.met}
        return replace(outcome, facts={**outcome.facts, **given})

    def check_statements(self, table: MatchScore) -> Iterator[Finding]:
        """The match equity table that it names, the chances of that table, the player and the columns."""
        score = table.score
        known = _shipped(table.score)
        results = dict(score.results)
        alike = (
            all(abs(r.win + r.lose - 1) < EVEN for r in results.values()) and score.away[0] == score.away[1]
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
        """The match equity table is the one that comes with bgfmt, where it is that one."""
        score = table.score
        same = _shipped(table.score)
        if same is None or same.digest != score.digest:
            raise SolverError(f"the match equity table {score.met} is none of {', '.join(met.names())}")
        return {"away": score.away, "met": same, "player": score.player}


def _shipped(score: ScoreFacts) -> met.Met | None:
    """The match equity table that comes with bgfmt and has the digest, or the name, that the score states."""
    same = (one for one in _tables() if one.digest == score.digest)
    return next(same, next((one for one in _tables() if one.name.lower() == score.met.lower()), None))


@cache
def _tables() -> tuple[met.Met, ...]:
    return tuple(met.load(name, extend=True) for name in met.names())
