"""Match-score tables: does every number follow, to the last bit, from the table's own smaller ones?"""

from __future__ import annotations

import numpy as np

from bgfmt.game.board import Side
from bgfmt.tables import MatchScore
from bgfmt.verifier.findings import KEPT, Finding, Outcome, Rule
from bgfmt.verifier.proofs import Work
from bgfmt.verifier.recurrence import match_score as recurrence


def prove(table: MatchScore, work: Work) -> Outcome:
    """Every number, held against those it follows from; a sample is the whole, whose numbers are made together."""
    n = table.positions
    failing, largest = 0, 0.0
    kept: list[Finding] = []
    for numbers, stored, right in recurrence.differing(table, threads=work.threads, progress=work.progress):
        failing += len(numbers)
        with np.errstate(invalid="ignore"):
            gap = abs(stored.astype(np.float64) - right).max()
        largest = max(largest, float(np.nan_to_num(gap, nan=np.inf)))
        for number, found, expected in zip(numbers[: KEPT - len(kept)], stored, right, strict=False):
            us, them = divmod(int(number), n)
            kept.append(
                Finding(
                    Rule.ENTRY,
                    entry=int(number),
                    offset=work.locate(int(number)),
                    expected=expected.tolist(),
                    found=found.tolist(),
                    sides=(Side.from_number(us, table.points), Side.from_number(them, table.points)),
                )
            )
    if not failing:
        return Outcome(n * n, n * n, "bgfmt")
    return Outcome(
        n * n,
        n * n,
        failing=failing,
        largest=largest,
        unit="in chance",
        findings=tuple(sorted(kept, key=lambda finding: finding.entry or 0)),
    )
