"""Tables that the rules give at once, in float64 or rounded to millionths: every number held against its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import Table
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Work

Array = NDArray[Any]
MILLION = 1_000_000


def held(
    table: Table,
    work: Work,
    recipe: str,
    stored: Array,
    right: Array,
    sides: Callable[[int], tuple[Side, ...]],
) -> Outcome:
    """Compare rows (entries, numbers) with float64 ones: to the last bit, or to the last decimal of millionths."""
    which = work.some(len(stored))
    numbers = np.arange(len(stored)) if which is None else which
    if work.progress is not None:
        work.progress(len(numbers), len(numbers))
    ours, rule = stored[numbers], right[numbers]
    if not table.exact:
        rule = np.copysign(np.floor(np.abs(rule) * MILLION + 0.5), rule)
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(ours - rule), nan=np.inf)
    differ = gap > 0
    if table.exact:  # minus nought is not nought
        differ = np.ascontiguousarray(ours).view(np.int64) != np.ascontiguousarray(rule).view(np.int64)
    bad = np.flatnonzero(differ.any(axis=1))
    if not len(bad):
        return Outcome(len(stored), len(numbers), "exact" if table.exact else recipe)
    largest, scale = float(gap.max()), 1 if table.exact else MILLION
    systematic = largest <= 1 and not table.exact and len(bad) > max(20, len(numbers) // 50)
    column = [int(gap[k].argmax()) for k in bad[:KEPT]]
    findings = tuple(
        Finding(
            Rule.ENTRY, entry=int(numbers[k]), offset=work.locate(int(numbers[k]), "", c),
            expected=float(rule[k, c]) / scale, found=float(ours[k, c]) / scale, field=table.columns[-1].unit,
            sides=sides(int(numbers[k])),
        )
        for k, c in zip(bad[:KEPT], column, strict=True)
    )  # fmt: skip
    return Outcome(
        len(stored), len(numbers), failing=len(bad), largest=largest / scale, unit="apart", systematic=systematic,
        likely=Likely(Cause.OTHER_ROUNDING) if systematic else None, findings=() if systematic else findings,
    )  # fmt: skip
