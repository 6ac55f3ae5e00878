"""BKG's table: every ENR and chance against the rules."""

from __future__ import annotations

import numpy as np

from bgfmt.extras.lab.recurrence import gillogly as recurrence
from bgfmt.extras.lab.tables.gillogly import domain_ids
from bgfmt.tables import Gillogly
from bgfmt.verifier.findings import Outcome
from bgfmt.verifier.proofs import Work, rounded


def prove(table: Gillogly, work: Work) -> Outcome:
    """Every row under the play of least expected rolls."""
    rows_of = recurrence.nearest_rows_of if table.exact else recurrence.rows_of
    right = np.ascontiguousarray(rows_of(domain_ids(table.domain)))
    stored = np.asarray(table.rows, np.float64)
    return rounded.held(table, work, "bkg", stored, right, lambda k: (table.side(k),))
