"""Distributions: which recipe every row follows, or which rows do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.board import Side
from bgfmt.tables import OneSided
from bgfmt.verifier.findings import KEPT, Cause, Finding, Likely, Outcome, Rule
from bgfmt.verifier.proofs import SMALL, Work
from bgfmt.verifier.recurrence import fixed_rule
from bgfmt.verifier.recurrence import one_sided as recurrence
from bgfmt.verifier.recurrence.one_sided import BGSAGE, GNUBG, Rows

Array = NDArray[Any]
SETTLE_MOST = 1_400_000
NEAR_UNITS = 400  # by which other programs' rows differ at most
LOOKED = 2000  # rows by which a rule is tried before the whole table is held against it
FEWEST = 8  # rows that fail: fewer are damage, whatever else they may look like
CORNER = 5  # chequers of the corner by which a rival is tried
DIVISOR_2001 = 2359
FIXED = {"gnubg-heuristic": True, "gnubg-heuristic-2009": False}  # fixed rules, and whether they look ahead
STATED = ("gnubg-2001",)  # rules without a recurrence that a file may state
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
    names.sort(key=lambda name: name != table.recipe)  # small tables are the same by several
    if table.recipe in STATED and which is None and _remade(table, recurrence.rows_of(table), STATED):
        return Outcome(n, n, table.recipe)
    if table.recipe in FIXED:
        played = _by_fixed_rule(table, recurrence.rows_of(table), which, work)
        if played is not None:
            return played
    rows: dict[bool, Rows] = {}
    best: Fit | None = None
    for name in names:
        rule = RULES[name]
        if rule.race not in rows:
            rows[rule.race] = recurrence.rows_of(table, race=rule.race)
        own = rows[rule.race]
        few = best is not None and best.failing < max(FEWEST, checked // 100)
        if best is not None and few and (rule.halves or _follow_not(own, rule, best, work)):
            continue  # damage must not pass for somebody's rounding
        if best is not None and which is None and _fails_in_sample(own, rule, work) > LOOKED // 10:
            continue
        fails, largest = recurrence.check(
            own, rule, which=which, threads=work.threads, progress=work.progress if best is None else None
        )
        fit = Fit(name, rule, own, fails, largest)
        if fit.failing == 0:
            return Outcome(n, checked, name, findings=_surprise(table, name))
        # floats let more pass: they are meant only where they explain nearly all
        if best is None or fit.failing * (5 if rule.halves else 1) < best.failing:
            best = fit
    assert best is not None
    many = best.failing >= max(FEWEST, checked // 100)
    if many or n <= SMALL:
        played = _by_fixed_rule(table, best.rows, which, work)
        if played is not None:
            return played
    if which is None and len(best.rows.idle_wrong) == 0 and (many or n <= SMALL):
        sums = best.rows.bearoff.sum(axis=1, dtype=np.int64)
        rival = _remade(table, best.rows) if (sums == recurrence.WHOLE).all() else ""
        if rival:
            return Outcome(n, n, rival)
        if many and (sums == recurrence.WHOLE).all() and int(best.largest.max()) <= NEAR_UNITS:
            return _differs(n, best)
    return _damaged(table, best, checked, work, told_apart=which is None and n <= SETTLE_MOST)


@dataclass(frozen=True)
class Fit:
    """How a table fits a rule: bits of the rows that fail, and by how much."""

    name: str
    rule: recurrence.Rule
    rows: Rows
    fails: Array
    largest: Array

    @property
    def failing(self) -> int:
        """Rows that do not follow."""
        return int((self.fails > 0).sum())


def _surprise(table: OneSided, name: str) -> tuple[Finding, ...]:
    """A note where a layout's usual recipe is not the one that its numbers follow."""
    if table.gammon is None or (table.gammon_policy == "race") == RULES[name].race:
        return ()
    saves = "its gammon part follows the plays that save the gammon, and the file says otherwise"
    races = "its gammon part follows the race's plays, and the file says otherwise"
    text = f"bgsage's numbers: {races}" if RULES[name].race else f"gnubg's numbers: {saves}"
    return (Finding(Rule.MADE_BY, field=name, found=text),)


def _follow_not(rows: Rows, rule: recurrence.Rule, best: Fit, work: Work) -> bool:
    """Whether rows that fail under the best rule fail under another too."""
    failing = np.flatnonzero(best.fails)
    fails, _ = recurrence.check(rows, rule, which=failing, threads=work.threads)
    return bool(fails[failing].any())


def _fails_in_sample(rows: Rows, rule: recurrence.Rule, work: Work) -> int:
    n = len(rows.bearoff)
    which = np.unique(np.linspace(1, n - 1, LOOKED).astype(np.int64))
    fails, _ = recurrence.check(rows, rule, which=which, threads=work.threads)
    return int((fails[which] > 0).sum() * LOOKED / len(which))


def _by_fixed_rule(table: OneSided, rows: Rows, which: Array | None, work: Work) -> Outcome | None:
    """The outcome where all but a few rows are those of gnubg's table in memory."""
    if table.gammon is not None or table.points != fixed_rule.POINTS:
        return None
    looked = np.arange(table.positions) if which is None else which
    for name, look_ahead in sorted(FIXED.items(), key=lambda item: item[0] != table.recipe):
        wanted = fixed_rule.expected(rows.bearoff, table.chequers, look_ahead=look_ahead)
        off = np.abs(wanted[looked] - rows.bearoff[looked]).max(axis=1)
        bad = looked[off > 0]
        if len(bad) == 0:
            return Outcome(table.positions, len(looked), name)
        if len(bad) < max(FEWEST, len(looked) // 100):
            right = replace(rows, bearoff=wanted)
            found = tuple(_finding(table, work, int(x), 1, rows, right) for x in bad[:KEPT])
            worst = float(off.max())
            return Outcome(table.positions, len(looked), failing=len(bad), largest=worst, findings=found)
    return None


def _remade(table: OneSided, rows: Rows, names: tuple[str, ...] = ()) -> str:
    """The name of a rule without a recurrence, one of these if any are given, that gives just this table, or ""."""
    if table.gammon is not None or table.positions > SETTLE_MOST:
        return ""
    ways: dict[str, Callable[[int, int], Array]] = {
        "gnubg-2001": lambda p, c: recurrence.remade_ranked_by_sums(p, c, DIVISOR_2001),
        "float64": lambda p, c: recurrence.remade_in_floats(p, c, "f8"),
        "float32": lambda p, c: recurrence.remade_in_floats(p, c, "f4"),
    }
    for name, way in ways.items():
        if names and name not in names:
            continue
        # a table of fewer chequers is the beginning of one of more
        corner = way(table.points, min(CORNER, table.chequers))
        if np.array_equal(corner, rows.bearoff[: len(corner)]) and np.array_equal(
            way(table.points, table.chequers), rows.bearoff
        ):
            return name
    return ""


def _differs(n: int, fit: Fit) -> Outcome:
    counts = np.bincount(fit.largest[fit.largest > 0])
    return Outcome(
        n,
        n,
        failing=fit.failing,
        largest=float(fit.largest.max()),
        systematic=True,
        differences={str(k): int(v) for k, v in enumerate(counts) if v},
        likely=Likely(Cause.OTHER_PLAYS),
    )


def _damaged(table: OneSided, fit: Fit, checked: int, work: Work, *, told_apart: bool) -> Outcome:
    fails, largest = fit.fails, fit.largest
    bad = np.flatnonzero(fails)
    wrong, inherited, right = bad, np.zeros(0, np.int64), None
    told_apart = told_apart and not fit.rule.halves
    if told_apart:
        right = fit.rows.copy()
        changed = recurrence.settle(right, int(bad[0]), fit.rule)
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
        findings=tuple(_finding(table, work, int(x), int(fails[x]), fit.rows, right) for x in wrong[:KEPT]),
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
