"""A seeded sample of entries held against the rule, for tables too large to check whole."""

from __future__ import annotations

import numpy as np

from bgfmt.game import board
from bgfmt.tables import OneSided, Table, TwoSided
from bgfmt.verifier import judge_one_sided, judge_two_sided, rules
from bgfmt.verifier.recurrence import one_sided as recurrence_one_sided
from bgfmt.verifier.report import Report, plural


def judge(report: Report, table: Table, sample: int, seed: int) -> None:
    """Check `sample` entries chosen by `seed`."""
    rng = np.random.default_rng(seed)
    if isinstance(table, TwoSided) and not table.exact:
        report.entries = table.positions**2
        numbers = np.unique(rng.integers(0, report.entries, sample))
        wanted = judge_two_sided.expected_of(table, numbers)
        n = table.positions
        stored = np.array([np.asarray(table.equities[int(k) // n])[int(k) % n] for k in numbers])
        bad = np.flatnonzero((stored != wanted).any(axis=1))
        for k in bad[:100]:
            report.add(judge_two_sided.finding(table, int(numbers[k]), wanted[k]))
    elif isinstance(table, OneSided) and not table.exact:
        numbers, bad = _one_sided(report, table, rng.integers(0, table.positions, sample))
    else:
        report.notes.append(f"samples are taken of one- and two-sided integers, not of {table.kind} tables")
        return
    report.checked = len(numbers)
    if len(bad):
        report.status, report.wrong = "damaged", len(bad)
        first = report.findings_of("recurrence")[0]
        report.verdict = (
            f"damaged: {plural(len(bad), 'entry')} of a sample of {len(numbers):,} do not follow from the others; "
            f"first: {first.message}"
        )
    else:
        report.verdict = (
            f"nothing wrong found in a sample of {len(numbers):,} of {plural(report.entries, 'entry')} "
            f"(seed {seed}; not a proof)"
        )


def _one_sided(report: Report, table: OneSided, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    recipe = "bgsage" if table.extra.get("gammon_policy") == "race" else "gnubg"
    rows = recurrence_one_sided.rows_of(table, recipe=recipe)
    report.entries = table.positions
    terms, steps = rules.terms_of(table.points)
    fails, largest = np.zeros(table.positions, np.uint8), np.zeros(table.positions, np.uint16)
    keys, room = rows.keys(), rules.room_for_plays(table.points)
    numbers = np.unique(chosen)
    for x in numbers.tolist():
        kernels.check_rows(
            table.points, x, x + 1, terms, steps, keys, rows.bearoff, rows.gammon, rows.first_full,
            recipe == "bgsage", rows.race, room, fails, largest,
        )  # fmt: skip
    bad = np.flatnonzero(fails)
    for x in bad[:100]:
        side = board.unrank(int(x), table.points)
        message = f"does not follow from the smaller positions (by up to {int(largest[x])}): {side}"
        report.add(judge_one_sided.finding(table, int(x), message, offset=None, stored=None, right=None))
    return numbers, bad
