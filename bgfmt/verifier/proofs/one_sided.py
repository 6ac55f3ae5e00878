"""Distributions: which recipe every row follows, or which rows do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import OneSided
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import Work
from bgfmt.verifier.recurrence import one_sided as recurrence
from bgfmt.verifier.recurrence.one_sided import BGSAGE, GNUBG, Rows

Array = NDArray[Any]
SETTLE_MOST = 1_400_000
NEAR_UNITS = 400  # by which other programs' rows differ at most
LOOKED = 2000  # rows by which a rule is tried before the whole table is held against it
DIVISOR_2001 = 2359
RULES = {
    "gnubg": GNUBG,
    "bgsage": BGSAGE,
    "gnubg-float": replace(GNUBG, halves=True),
    "bgsage-float": replace(BGSAGE, halves=True),
}


def prove(table: OneSided, work: Work) -> Outcome:
    """Every row under each recipe, that of the file's own kind first."""
    n = table.positions
    which = work.some(n)
    checked = n if which is None else len(which)
    names = list(RULES)
    if table.gammon_policy == "race":
        names = ["bgsage", "gnubg", "bgsage-float", "gnubg-float"]
    rows = {race: recurrence.rows_of(table, race=race) for race in (RULES[names[0]].race,)}
    best = None
    for name in names:
        rule = RULES[name]
        if rule.race not in rows:
            rows[rule.race] = recurrence.rows_of(table, race=rule.race)
        own = rows[rule.race]
        if best is not None and which is None and _fails_in_sample(own, rule, work) > LOOKED // 10:
            continue
        fails, largest = recurrence.check(
            own, rule, which=which, threads=work.threads, progress=work.progress if best is None else None
        )
        failing = int((fails > 0).sum())
        if failing == 0:
            return Outcome(n, checked, name)
        if best is None or failing < best[0]:
            best = failing, name, fails, largest
        if failing <= max(20, checked // 1000):
            break
    assert best is not None
    failing, name, fails, largest = best
    rule = RULES[name]
    own = rows[rule.race]
    if which is None and _systematic(own, fails, largest):
        rival = _remade(table, own)
        if rival:
            return Outcome(n, n, rival)
        return _differs(n, failing, largest)
    apart = which is None and n <= SETTLE_MOST
    return _damaged(table, own, rule, fails, largest, checked, work, told_apart=apart)


def _fails_in_sample(rows: Rows, rule: recurrence.Rule, work: Work) -> int:
    n = len(rows.bearoff)
    which = np.unique(np.linspace(1, n - 1, LOOKED).astype(np.int64))
    fails, _ = recurrence.check(rows, rule, which=which, threads=work.threads)
    return int((fails[which] > 0).sum() * LOOKED / len(which))


def _systematic(rows: Rows, fails: Array, largest: Array) -> bool:
    """Whether the differences look like another program's: many, small, and every row still a distribution."""
    n = len(rows.bearoff)
    if int((fails > 0).sum()) <= max(20, n // 100) or len(rows.idle_wrong):
        return False
    sums = (rows.bearoff.sum(axis=1, dtype=np.int64) == recurrence.WHOLE).all()
    return bool(sums) and int(largest.max()) <= NEAR_UNITS


def _remade(table: OneSided, rows: Rows) -> str:
    """The name of a rule without a recurrence that gives just this table, or ""."""
    if table.gammon is not None or table.positions > SETTLE_MOST:
        return ""
    ways: dict[str, Callable[[int, int], Array]] = {
        "gnubg-2001": lambda p, c: recurrence.remade_ranked_by_sums(p, c, DIVISOR_2001),
        "float64": lambda p, c: recurrence.remade_in_floats(p, c, "f8"),
        "float32": lambda p, c: recurrence.remade_in_floats(p, c, "f4"),
    }
    for name, way in ways.items():
        if np.array_equal(way(table.points, table.chequers), rows.bearoff):
            return name
    return ""


def _differs(n: int, failing: int, largest: Array) -> Outcome:
    counts = np.bincount(largest[largest > 0])
    return Outcome(
        n,
        n,
        failing=failing,
        largest=float(largest.max()),
        systematic=True,
        differences={str(k): int(v) for k, v in enumerate(counts) if v},
        likely=Likely(Cause.OTHER_PLAYS),
    )


def _damaged(
    table: OneSided,
    rows: Rows,
    rule: recurrence.Rule,
    fails: Array,
    largest: Array,
    checked: int,
    work: Work,
    *,
    told_apart: bool,
) -> Outcome:
    bad = np.flatnonzero(fails)
    wrong, inherited, right = bad, np.zeros(0, np.int64), None
    told_apart = told_apart and not rule.halves
    if told_apart:
        right = rows.copy()
        changed = recurrence.settle(right, int(bad[0]), rule)
        wrong = np.flatnonzero((changed > 0) & (fails > 0))
        inherited = np.flatnonzero((changed > 0) & (fails == 0))
    counts = np.bincount(largest[largest > 0])
    return Outcome(
        table.positions,
        checked,
        failing=len(bad),
        wrong=len(wrong) if told_apart else None,
        inherited=len(inherited),
        largest=float(largest.max()),
        differences={str(k): int(v) for k, v in enumerate(counts) if v} if len(counts) < 40 else {},
        findings=tuple(_finding(table, work, int(x), int(fails[x]), rows, right) for x in wrong[:KEPT]),
    )


def _finding(table: OneSided, work: Work, x: int, fails: int, rows: Rows, right: Rows | None) -> Finding:
    part = 0 if fails & 1 else 1
    name = ("bearoff", "gammon")[part]
    if part and x < rows.first_full:
        assert table.gammon is not None
        stored, wanted = [int(v) for v in np.asarray(table.gammon[x])], [recurrence.WHOLE] + [0] * 31
    else:
        at = x - rows.first_full if part else x
        stored = [int(v) for v in (rows.gammon if part else rows.bearoff)[at]]
        wanted = [] if right is None else [int(v) for v in (right.gammon if part else right.bearoff)[at]]
    roll = next((k for k in range(len(wanted)) if stored[k] != wanted[k]), 0)
    return Finding(
        Rule.ENTRY,
        entry=x,
        offset=work.locate(x, name, roll),
        expected=wanted or None,
        found=stored,
        field=name,
        sides=(Side.from_number(x, table.points),),
    )
