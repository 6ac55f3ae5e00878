"""Expected points of both sides: every value against the rules."""

from __future__ import annotations

import numpy as np

from bgfmt.extras.lab.recurrence import expected_points as recurrence
from bgfmt.game.board import Side
from bgfmt.tables import ExpectedPoints
from bgfmt.verifier.findings import Outcome
from bgfmt.verifier.proofs import Work, rounded


def prove(table: ExpectedPoints, work: Work) -> Outcome:
    """Every pair of sides."""
    right = recurrence.worth_of(table.points, table.chequers).reshape(-1, 1)
    stored = np.asarray(table.worth, np.float64).reshape(-1, 1)

    def sides(number: int) -> tuple[Side, ...]:
        asked = table.asked(number)
        return asked.us, asked.them

    return rounded.held(table, work, "points", stored, right, sides)
