"""Proofs of the lab's kinds of tables: compare each number with the one that the rules of the game imply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bgfmt.extras.lab.tables import MILLION, POINTS, ROLLS, ExpectedPoints, Gillogly, domain_ids
from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.tables import Table
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, LikelyCause, Outcome
from bgfmt.verifier.proofs import KnownRecipe, Proof, Request, float_outcome
from bgfmt.verifier.recurrence import floats, one_sided, plays

MAX_ROLLS = 16  # rolls of the longest bear-off in BKG's table
MAKER = "bgfmt solve expected-points"
EXACT = "float64 throughout, nothing rounded"


def compare(table: Table, request: Request, recipe: str, stored: Array, right: Array) -> Outcome:
    """Compare the numbers of a table with exact ones; return the outcome of the verification.

    Parameters
    ----------
    request : the sample of entries to compare, or all.
    recipe : name of the recipe that a rounded table follows.
    stored : (entries, numbers) as the table has them, in millionths if it is rounded.
    right : (entries, numbers) float64. Float64 tables must have the same bits, rounded ones the same last decimal.
    """
    which = request.sample_numbers(len(stored))
    numbers = np.arange(len(stored)) if which is None else which
    if request.progress is not None:
        request.progress(len(numbers), len(numbers))
    ours = stored[numbers]
    rule = right[numbers]
    scale = 1 if table.exact else MILLION
    if not table.exact:
        rounded = np.copysign(np.floor(np.abs(rule) * MILLION + 0.5), rule)
        rule = rounded + 0.0  # 0.0 for -0.0, which no integer is
    bad = np.flatnonzero((ours.view(np.int64) != rule.view(np.int64)).any(axis=1))
    gap = np.nan_to_num(np.abs(ours[bad] - rule[bad]), nan=np.inf) / scale
    findings = []
    for row, k in enumerate(bad[:MAX_FINDINGS].tolist()):
        item = int(gap[row].argmax())
        pair = ours[k, item] / scale, rule[k, item] / scale
        unit = table.columns[-1].unit
        findings.append(request.entry_finding(table, int(numbers[k]), *pair, unit, ("", item)))
    name, last_bits = ("exact", -np.inf) if table.exact else (recipe, 1.0 / MILLION)
    outcome = float_outcome(
        table, len(numbers), name, len(bad), float(gap.max(initial=0.0)), findings, last_bits
    )
    return replace(outcome, likely=LikelyCause(Cause.OTHER_ROUNDING)) if outcome.systematic else outcome


class ExpectedPointsProof(Proof[ExpectedPoints]):
    """The proof of expected points: cubeless equities of both sides."""

    recipes = (
        KnownRecipe("points", "the 2011 blog's expected points, to six decimals", MAKER, is_default=True),
        KnownRecipe("exact", EXACT, f"{MAKER} --recipe exact", is_default=True),
    )

    def prove(self, table: ExpectedPoints, request: Request) -> Outcome:
        """Compare all entries of a table with exact cubeless equities that are computed here; return the outcome."""
        right = floats.build_table(table.points, table.chequers, 1)[1:, 1:, 0]
        stored = np.asarray(table.worth, np.float64).reshape(-1, 1)
        return compare(table, request, "points", stored, right.reshape(-1, 1))


class GilloglyProof(Proof[Gillogly]):
    """The proof of Gillogly's table: least expected rolls, and the probabilities that follow from these plays."""

    recipes = (
        KnownRecipe("bkg", "Gillogly's table for BKG, to six decimals", "bgfmt solve bkg", is_default=True),
        KnownRecipe("exact", EXACT, "bgfmt solve bkg --recipe exact", is_default=True),
    )

    def prove(self, table: Gillogly, request: Request) -> Outcome:
        """Compare all entries of a table with exact numbers that are computed here; return the outcome."""
        right = np.ascontiguousarray(compute_rows(domain_ids(table.domain)))
        return compare(table, request, "bkg", np.asarray(table.rows, np.float64), right)


def compute_rows(ids: Array) -> Array:
    """Compute the rows of Gillogly's table, correctly rounded from integer counts.

    Returns (m, 9) float64: the expected number of rolls (ENR), and the probabilities P(1) to P(8) of bearing off in
    exactly that many rolls.

    ids : (m,) position numbers, a set that has the result of every play of its sides.
    """
    mean = one_sided.means_among(POINTS, board.MAX_CHEQUERS, ids)
    starts, results = plays.plays(POINTS, board.MAX_CHEQUERS)

    def best(roll: int) -> int:
        """Return the position number after the best play (fewest expected rolls) of a roll of a position.

        roll : 21 times the position number plus the number of the roll.
        """
        reached = results[starts[roll] : starts[roll + 1]]
        return int(reached[mean[reached].argmin()]) if len(reached) else 0

    row_of = np.full(len(mean), -1)
    row_of[ids] = np.arange(len(ids))
    pips = plays.pips(POINTS, board.MAX_CHEQUERS)[ids]
    chosen = np.array([[best(plays.ROLLS * x + roll) for roll in range(plays.ROLLS)] for x in ids.tolist()])
    ways = np.zeros((len(ids), MAX_ROLLS + 1), object)  # of 36^n, Python's integers
    ways[pips == 0, 0] = 1
    weights = plays.WEIGHTS.astype(object)[None, :, None]
    for left in range(1, int(pips.max()) + 1):
        some = np.flatnonzero(pips == left)
        if len(some):
            ways[some, 1:] = (ways[row_of[chosen[some]], :-1] * weights).sum(axis=1)
    whole = sum(n * 36 ** (MAX_ROLLS - n) * ways[:, n] for n in range(MAX_ROLLS + 1))
    columns = [whole, *(ways[:, n] for n in range(1, ROLLS + 1))]
    parts = [36**MAX_ROLLS, *(36**n for n in range(1, ROLLS + 1))]
    quotients = zip(columns, parts, strict=True)
    return np.array([(column / part).astype(np.float64) for column, part in quotients]).T
