"""Checks of two-sided equities: the recipe that every entry follows, or the entries that follow none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from bgfmt.errors import FormatError, VerificationError
from bgfmt.game import board
from bgfmt.tables import Table
from bgfmt.tables.two_sided import StoredEquities
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, Finding, LikelyCause, Outcome
from bgfmt.verifier.proofs import (
    EXACT,
    MAX_PLAIN_POINTS,
    KnownRecipe,
    Proof,
    Request,
    prove_pairs,
    sort_by_pips,
)
from bgfmt.verifier.recurrence import floats
from bgfmt.verifier.recurrence import two_sided as recurrence
from bgfmt.verifier.recurrence.plays import Array

T = TypeVar("T", bound=StoredEquities)
MAX_SETTLED_ENTRIES = (
    400_000_000  # larger tables are not recomputed to tell wrong entries from inherited errors
)
MAX_2001_POSITIONS = board.count(6, 6)  # the table of 2001, of which smaller ones are parts
MAX_SYSTEMATIC_UNITS = 16  # greatest difference that another program's arithmetic explains
LAST_BITS = 1e-12
MAX_RECOMPUTED_ENTRIES = 160_000_000  # larger tables are not repaired in memory
MAX_LOST_SHARE = 0.5  # of the entries of a compressed table that cannot be read
MIN_PART_SIZE = 4  # least rows and columns of a part of a compressed table that is read at once


class TwoSidedProof(Proof[StoredEquities]):
    """Checks of equities without gammons: gnubg's recipe, float64, and the arithmetic of other programs."""

    recipes: ClassVar[tuple[KnownRecipe, ...]] = (
        KnownRecipe("gnubg", "GNU Backgammon's makebearoff", "files of makebearoff 1.07", is_default=True),
        KnownRecipe(
            "gnubg-2001", "GNU Backgammon before November 2002: chances to win, in float64, truncated",
            "MD5 ffbb2108abe1fd1a79c6d9d3eadf56cf of gnubg.bd",
        ),
        EXACT,
    )  # fmt: skip

    def prove(self, table: StoredEquities, request: Request) -> Outcome | None:
        if _has_contact(table):
            return None
        if table.exact:
            return prove_pairs(table, request, "exact", LAST_BITS)
        # a small table may be the same by gnubg's rule
        if table.recipe == "gnubg-2001" and _follows_2001(table):
            return Outcome(table.entries, table.entries, table.recipe)
        found = _check_integers(table, request)
        if not found.failing:
            return Outcome(table.entries, found.entries, self.recipes[0].name)
        return self.explain(table, request, found)

    def explain(self, table: StoredEquities, request: Request, found: recurrence.Pass) -> Outcome:
        """Return the outcome for a table of integers of which entries fail: another program's recipe, or damage.

        found : the result of checking the entries.
        """
        least = max(64 if request.sample is None else 8, found.entries // 500)
        if found.largest > MAX_SYSTEMATIC_UNITS:
            return diagnose_damage(table, request, found)
        if _follows_2001(table):
            return Outcome(table.entries, found.entries, "gnubg-2001")
        if found.failing <= least:
            return diagnose_damage(table, request, found)
        return Outcome(
            table.entries, found.entries, failing=found.failing, largest=float(found.largest), systematic=True,
            differences=count_differences(found), likely=LikelyCause(Cause.OTHER_ROUNDING),
        )  # fmt: skip

    def recompute(self, table: StoredEquities, threads: int) -> tuple[Table, int]:
        if _has_contact(table):
            raise VerificationError(f"no rule is known for tables of more than {MAX_PLAIN_POINTS} points")
        if table.exact:
            made = floats.build_table(table.points, table.chequers, table.equities.shape[2])
            stored = np.ascontiguousarray(table.equities)
            differ = (made.view(np.int64) != stored.view(np.int64)).any(axis=2)
            return replace(table, equities=made), int(differ.sum())
        if table.entries > MAX_RECOMPUTED_ENTRIES:
            raise VerificationError("a table of this size is too large to repair in memory; solve it again")
        table = unpack(table)
        rule = recurrence.PairRule(table)
        found = recurrence.check(rule, threads=threads)
        # else all are computed, which is faster
        complete = len(found.numbers) == found.failing <= table.entries // 5
        right, wrong = recurrence.settle(rule, found.numbers if complete else None)
        return replace(table, equities=right), len(wrong)

    def solve_command(self, table: StoredEquities) -> str:
        return super().solve_command(table) + " --cubeless" * (not table.cubeful)

    def options(self, table: StoredEquities) -> dict[str, Any]:
        return {"cubeful": table.cubeful}


class GammonProof(TwoSidedProof):
    """Checks of money play with gammons, with or without the Jacoby rule, in 16383ths or float64."""

    recipes = (
        KnownRecipe(
            "gammons", "equities in 16383ths, rounded to the nearest", "bgfmt solve", is_default=True
        ),
        EXACT,
    )

    def explain(self, table: StoredEquities, request: Request, found: recurrence.Pass) -> Outcome:
        return diagnose_damage(table, request, found)

    def recompute(self, table: StoredEquities, threads: int) -> tuple[Table, int]:
        if table.exact:
            raise VerificationError("a table of this size, or of float64, cannot be repaired; solve it again")
        return super().recompute(table, threads)


def _has_contact(table: StoredEquities) -> bool:
    """Return True if sides of the table may block or hit each other, for which no rule is known."""
    return table.points > MAX_PLAIN_POINTS and table.chequers > 1


def count_differences(found: recurrence.Pass) -> dict[str, float]:
    """Return how many numbers are wrong by each difference: {stored minus right, as text: count}."""
    return {
        f"{k - 9:+d}{' or more' if k == 18 else ' or less' if k == 0 else ''}": int(v)
        for k, v in enumerate(found.histogram)
        if v
    }


def _check_integers(table: StoredEquities, request: Request) -> recurrence.Pass:
    """Check entries of a table against those that they follow from: a sample, or all."""
    rule = recurrence.PairRule(table)
    if request.sample is not None:
        return recurrence.check_some(rule, request.sample_pairs(rule.n), request.progress)
    return recurrence.check(rule, threads=request.threads, progress=request.progress)


def diagnose_damage(table: StoredEquities, request: Request, found: recurrence.Pass) -> Outcome:
    """Return the outcome for failing entries: which are wrong themselves, which inherit errors, and the right values.

    found : the result of checking the entries. Only tables of moderate size and damage, of which all entries were
    checked, are recomputed for this; otherwise `Outcome.wrong` is None.
    """
    n = table.positions
    rule = recurrence.PairRule(table)
    numbers = sort_by_pips(table, found.numbers)
    wrong = numbers
    inherited = 0
    right = None
    massive = found.failing > max(2000, found.entries // 5)
    whole = request.sample is None and found.entries <= MAX_SETTLED_ENTRIES
    if whole and len(numbers) == found.failing and not massive:
        right, changed = recurrence.settle(rule, numbers)
        failing = np.isin(changed, numbers)
        wrong = changed[failing]
        inherited = int((~failing).sum())
    some = wrong[:MAX_FINDINGS]
    values = rule.compute_entries(some) if right is None else right.reshape(n * n, -1)[some]
    return Outcome(
        table.entries,
        found.entries,
        failing=found.failing,
        wrong=None if right is None else len(wrong),
        inherited=inherited,
        largest=float(found.largest),
        differences=count_differences(found),
        findings=tuple(
            _finding(table, request, int(number), value, settled=right is not None)
            for number, value in zip(some, values, strict=True)
        ),
    )


def _finding(table: StoredEquities, request: Request, number: int, right: Array, *, settled: bool) -> Finding:
    stored = np.asarray(table.equities[divmod(number, table.positions)])
    wrong = np.flatnonzero(stored != right)
    field = ", ".join(table.names[c] for c in wrong)
    found = table.decode(stored)
    expected = table.decode(right)
    meaning = () if table.exact else tuple(f"equities {found[c]:+.5f} and {expected[c]:+.5f}" for c in wrong)
    return request.entry_finding(table, number, stored, right, field, ("", 0), meaning, settled)


def _follows_2001(table: StoredEquities) -> bool:
    """Return True if the entries are those of GNU Backgammon's table of 2001, truncated from float64."""
    if table.cubeful or table.positions > MAX_2001_POSITIONS:
        return False
    exact = floats.build_table(table.points, table.chequers, 1)
    made = ((exact + 1) / 2 * 65535.5).astype(np.uint16)
    return np.array_equal(made, np.asarray(table.equities))


def unpack(table: T) -> T:
    """Return a table of a compressed file with its equities decoded in memory; other tables are returned unchanged.

    Unreadable parts of few rows and columns become 0, for the verifier to compute again. Raises VerificationError if
    less than half of the entries can be read.
    """
    grid = recurrence.PairReader(recurrence.PairRule(table))
    if not grid.packed:
        return table
    n = grid.n
    equities = np.zeros((n, n, grid.columns), np.uint16)

    def can_read(a: int, b: int, first: int, last: int) -> bool:
        try:
            found = grid.piece(a, b, first, last).reshape(b - a, last - first, grid.columns)
        except FormatError:
            return False
        equities[np.ix_(grid.order[a:b], grid.order[first:last])] = found
        return True

    step = max(MIN_PART_SIZE, n // 256)
    ranges = [(start, min(n, start + step)) for start in range(0, n, step)]
    lost = 0
    for a, b in ranges:
        if not can_read(a, b, 0, n):
            lost += sum((b - a) * (last - first) for first, last in ranges if not can_read(a, b, first, last))
    if lost > n * n * MAX_LOST_SHARE:
        raise VerificationError("less than half of the file can be read")
    return replace(table, equities=equities)
