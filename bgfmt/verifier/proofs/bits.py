"""Tables of floats, whose numbers follow to the last bit or do not: what their proofs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bgfmt.tables import Table
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome
from bgfmt.verifier.proofs import Request
from bgfmt.verifier.recurrence import floats
from bgfmt.verifier.recurrence.plays import Array, pips


def apart(stored: Array, right: Array) -> float:
    """The greatest difference of numbers, infinite for what is no number."""
    with np.errstate(invalid="ignore"):
        gap = np.abs(stored.astype(np.float64) - right)
    return float(np.nan_to_num(gap, nan=np.inf).max(initial=0.0))


def outcome(
    table: Table, checked: int, recipe: str, failing: int, largest: float, findings: list[Finding], last_bits: float
) -> Outcome:  # fmt: skip
    """The outcome of a pass; last_bits : by which another order of additions, or other rounding, differs."""
    if not failing:
        return Outcome(table.entries, checked, recipe)
    systematic = largest <= last_bits and failing > max(20, checked // 50)
    return Outcome(
        table.entries, checked, failing=failing, largest=largest, unit="apart", systematic=systematic,
        likely=Likely(Cause.ADDITIONS) if systematic else None, findings=() if systematic else tuple(findings[:KEPT]),
    )  # fmt: skip


def prove_pairs(
    table: Any,
    request: Request,
    recipe: str,
    last_bits: float,
    finding: Callable[[int, Array, Array], Finding],
) -> Outcome:
    """Hold every entry of a two-sided table of floats against its own smaller ones.

    finding : of an entry's number, stored and right numbers; wanted of the first that are wrong, in order of pips.
    """
    numbers = request.some(table.entries)
    depth, failing, largest = pips(table.points, table.chequers), 0, 0.0
    kept: list[tuple[int, int, Array, Array]] = []
    for some, stored, right in floats.differing(
        floats.rule_of(table), numbers, threads=request.threads, progress=request.progress
    ):
        failing += len(some)
        largest = max(largest, apart(stored, right))
        keys = depth[some // table.positions] + depth[some % table.positions]
        first = np.lexsort((some, keys))[:KEPT]
        kept += [(int(keys[k]), int(some[k]), stored[k], right[k]) for k in first]
        kept = sorted(kept, key=lambda entry: entry[:2])[:KEPT]
    checked = table.entries if numbers is None else len(numbers)
    findings = [finding(*entry[1:]) for entry in kept]
    return outcome(table, checked, recipe, failing, largest, findings, last_bits)
