"""Equities of both sides: which recipe every entry follows, or which entries do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from bgfmt.errors import FormatError, VerificationError
from bgfmt.files.database import Database
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import Table, TwoSided
from bgfmt.tables.rows import random_access
from bgfmt.tables.two_sided import StoredEquities
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, Finding, LikelyCause, Outcome
from bgfmt.verifier.proofs import (
    EXACT,
    KnownRecipe,
    Proof,
    Request,
    guess_order_or_shift,
    prove_pairs,
    sort_by_pips,
)
from bgfmt.verifier.recurrence import contact, floats
from bgfmt.verifier.recurrence import two_sided as recurrence
from bgfmt.verifier.recurrence.plays import Array

T = TypeVar("T", bound=StoredEquities)
SETTLE_MOST = 400_000_000
REMADE_MOST = 3003  # positions a side up to which a rival's table is made again
SMALL = 210  # positions a side up to which that is done even for few entries that fail
SMALL_UNITS = 16
CLUSTER = 100  # entries of one row that a sample takes together
LAST_BITS = 1e-12
CORNER = 3  # chequers of the corner that is tried
FITS = 0.15  # part of a corner's entries that may fail
PUT_RIGHT_MOST = 160_000_000  # entries
LEAST_READ = 0.5
SMALLEST = 4  # rows and columns of a part that is not halved further


class TwoSidedProof(Proof[StoredEquities]):
    """gnubg's rule, float64, and the arithmetic of other programs."""

    recipes: ClassVar[tuple[KnownRecipe, ...]] = (
        KnownRecipe("gnubg", "GNU Backgammon's makebearoff", "files of makebearoff 1.07", is_default=True),
        KnownRecipe(
            "gnubg-2001", "GNU Backgammon before November 2002: chances to win, in float64, truncated",
            "MD5 ffbb2108abe1fd1a79c6d9d3eadf56cf of gnubg.bd",
        ),
        KnownRecipe(
            "gnubg-2002", "equities kept in float32, truncated when stored, as GNU Backgammon did in late 2002",
            "documented; no file was seen",
        ),
        KnownRecipe("float32", "equities kept in float32, rounded when stored", "plain arithmetic"),
        KnownRecipe("float64", "equities kept in float64, rounded when stored", "plain arithmetic"),
        KnownRecipe("float64-truncated", "equities kept in float64, truncated when stored", "plain arithmetic"),
        EXACT,
    )  # fmt: skip

    def prove(self, table: StoredEquities, request: Request) -> Outcome:
        if table.exact:
            return prove_pairs(table, request, "exact", LAST_BITS)
        if request.sample is not None:
            return sampled(table, request, self.recipes[0].name)
        return self.whole(table, request)

    def whole(self, table: StoredEquities, request: Request) -> Outcome:
        """Every entry of integers, under the usual recipe or that of another program."""
        return _rounded(table, request)

    def supports_parts(self, table: StoredEquities) -> bool:
        return not table.exact

    def cause(self, db: Database, outcome: Outcome | None, start: int, end: int) -> LikelyCause | None:
        wrong = 0 if outcome is None else outcome.failing if outcome.wrong is None else outcome.wrong
        few = outcome is None or wrong < max(8, outcome.entries // 50)
        return None if few else _other_layout(cast(StoredEquities, db.table), db.source, start, end)

    def recompute(self, table: StoredEquities, threads: int) -> tuple[Table, int]:
        if table.exact:
            made = floats.remade(table.points, table.chequers, table.equities.shape[2], "f8")
            stored = np.ascontiguousarray(table.equities)
            differ = (made.view(np.int64) != stored.view(np.int64)).any(axis=2)
            return replace(table, equities=made), int(differ.sum())
        if table.entries > PUT_RIGHT_MOST:
            raise VerificationError("a table of this size is not repaired in memory")
        table = unpacked(table)
        rule = rule_of(table)
        found = recurrence.check(rule, threads=threads)
        # else all are computed, which is faster
        complete = len(found.numbers) == found.failing <= table.entries // 5
        right, wrong = recurrence.settle(rule, found.numbers if complete else None)
        return replace(table, equities=right), len(wrong)

    def options(self, table: StoredEquities) -> dict[str, Any]:
        return {"cubeful": table.cubeful}


class GammonProof(TwoSidedProof):
    """The rule of money play with gammons, with Jacoby's rule or without, in 16383ths and in float64."""

    recipes = (
        KnownRecipe(
            "gammons", "equities in 16383ths, rounded to the nearest", "bgfmt solve", is_default=True
        ),
        EXACT,
    )

    def whole(self, table: StoredEquities, request: Request) -> Outcome:
        found = passed(table, request)
        if found.failing:
            return damaged(table, request, found)
        return Outcome(found.entries, found.entries, self.recipes[0].name)

    def cause(self, db: Database, outcome: Outcome | None, start: int, end: int) -> LikelyCause | None:
        return None

    def recompute(self, table: StoredEquities, threads: int) -> tuple[Table, int]:
        if table.exact:
            raise VerificationError("a table of this size, or of float64, is solved again instead")
        return super().recompute(table, threads)


def rule_of(table: StoredEquities) -> recurrence.PairRule:
    """The rule of a table of integers."""
    kind = recurrence.PairRule if table.points <= contact.PLAIN_POINTS else contact.ContactRule
    return kind(table)


def _rounded(table: StoredEquities, request: Request) -> Outcome:
    """Every entry under recipe gnubg; where they differ slightly and everywhere, under its rivals."""
    if table.recipe == "gnubg-2001" and _of_2001(table):  # a small one may be the same by gnubg's rule
        return Outcome(table.entries, table.entries, table.recipe)
    found = passed(table, request)
    if found.failing == 0:
        return Outcome(found.entries, found.entries, "gnubg")
    small = found.largest <= SMALL_UNITS and found.failing > max(64, found.entries // 500)
    near = small or (found.largest <= SMALL_UNITS and table.positions <= SMALL)
    if near and table.positions <= REMADE_MOST:
        for name, made in _rivals(table):
            if _equal(made, table):
                return Outcome(found.entries, found.entries, name)
    differences = differences_of(found)
    if small:
        return Outcome(
            found.entries, found.entries, failing=found.failing, largest=float(found.largest), systematic=True,
            differences=differences, likely=LikelyCause(_rounding_of(found)),
        )  # fmt: skip
    return damaged(table, request, found)


def differences_of(found: recurrence.Pass) -> dict[str, float]:
    """How often each difference was found, in words."""
    return {
        f"{k - 9:+d}{' or more' if k == 18 else ' or less' if k == 0 else ''}": int(v)
        for k, v in enumerate(found.histogram)
        if v
    }


def passed(table: StoredEquities, request: Request) -> recurrence.Pass:
    """Every entry held against what follows, here or on workers."""
    if request.spread is None:
        return recurrence.check(rule_of(table), threads=request.threads, progress=request.progress)
    found, *others = request.spread.run(check_band, rule_of(table).bands)
    return found.joined(others)


def check_band(db: Database, band: tuple[int, int]) -> recurrence.Pass:
    """On a worker: one band of the table."""
    return recurrence.check(rule_of(cast(StoredEquities, db.table)), only=[band])


def damaged(table: StoredEquities, request: Request, found: recurrence.Pass) -> Outcome:
    """The outcome of a pass that found entries that do not follow: which are wrong, and what they should be."""
    n = table.positions
    rule = rule_of(table)
    numbers = sort_by_pips(table, found.numbers)
    wrong = numbers
    inherited = 0
    right = None
    massive = found.failing > max(2000, found.entries // 5)
    if found.entries <= SETTLE_MOST and len(numbers) == found.failing and not massive:
        right, changed = recurrence.settle(rule, numbers)
        failing = np.isin(changed, numbers)
        wrong = changed[failing]
        inherited = int((~failing).sum())
    some = wrong[:MAX_FINDINGS]
    values = rule.at(some) if right is None else right.reshape(n * n, -1)[some]
    return Outcome(
        found.entries,
        found.entries,
        failing=found.failing,
        wrong=None if right is None else len(wrong),
        inherited=inherited,
        largest=float(found.largest),
        differences=differences_of(found),
        findings=tuple(
            _finding(table, request, int(number), value) for number, value in zip(some, values, strict=True)
        ),
    )


def _finding(table: StoredEquities, request: Request, number: int, right: Array) -> Finding:
    stored = np.asarray(table.equities[divmod(number, table.positions)])
    wrong = np.flatnonzero(stored != right)
    field = ", ".join(table.names[c] for c in wrong)
    found = table.decode(stored)
    expected = table.decode(right)
    each = (f"{table.names[c]} equity {found[c]:+.4f}, right {expected[c]:+.4f}" for c in wrong)
    meaning = "" if table.exact else "; ".join(each)
    return request.entry_finding(table, number, stored, right, field, ("", 0), meaning)


def sampled(table: StoredEquities, request: Request, recipe: str) -> Outcome:
    """Entries at random, some of each of many rows: what they follow from lies in one row of the file."""
    n = table.positions
    rng = request.rng()
    sample = min(request.sample or 0, n * n)
    rows = rng.integers(0, n, -(-sample // min(CLUSTER, n)))
    them = np.repeat(rows, min(CLUSTER, n))[:sample]
    numbers = np.unique(rng.integers(0, n, sample) * n + them)
    rule = rule_of(table)
    order = np.argsort(numbers % n, kind="stable")
    done = 0
    right = np.empty((len(numbers), rule.columns), np.int64)
    for part in np.array_split(order, max(1, len(order) // (32 * CLUSTER))):
        with random_access(table.equities):
            right[part] = rule.at(numbers[part])
        done += len(part)
        if request.progress is not None:
            request.progress(done, len(numbers))
    with random_access(table.equities):
        stored = rule.stored(numbers)
    off = np.abs(stored.astype(np.int64) - right)
    bad = np.flatnonzero(off.any(axis=1))
    if not len(bad):
        return Outcome(n * n, len(numbers), recipe)
    small = int(off.max()) <= SMALL_UNITS and len(bad) > max(8, len(numbers) // 500)
    return Outcome(
        n * n,
        len(numbers),
        failing=len(bad),
        largest=float(off.max()),
        systematic=small,
        findings=tuple(_finding(table, request, int(numbers[k]), right[k]) for k in bad[:MAX_FINDINGS]),
    )


def _equal(made: Array, table: StoredEquities) -> bool:
    return np.array_equal(made, np.asarray(table.equities))


def _of_2001(table: StoredEquities) -> bool:
    if table.positions > REMADE_MOST:
        return False
    name, made = next(_rivals(table))
    return name == "gnubg-2001" and _equal(made, table)


def _rivals(table: StoredEquities) -> Iterator[tuple[str, Array]]:
    """Tables of other programs' arithmetic, as they store it."""
    size = (table.points, table.chequers, table.equities.shape[2])
    if not table.cubeful:
        chances = floats.remade(*size, "f8", chances=True)
        yield "gnubg-2001", np.trunc(chances * 65535.5).astype(np.uint16)
    for width, truncated, rounded in (
        ("f4", "gnubg-2002", "float32"),
        ("f8", "float64-truncated", "float64"),
    ):
        for divide in (True, False):
            made = floats.remade(*size, width, divide=divide)
            for stored in ((made.astype(np.float64) + 1) * 32767.5, (made + 1) * made.dtype.type(32767.5)):
                yield truncated, np.trunc(stored).astype(np.uint16)
                yield rounded, np.floor(stored + made.dtype.type(0.5)).astype(np.uint16)


def _rounding_of(found: recurrence.Pass) -> Cause:
    """The likeliest arithmetic behind small differences, from their signs (stored less gnubg's)."""
    above = int(found.histogram[10:].sum())
    below = int(found.histogram[:9].sum())
    if above > 20 * max(1, below):
        return Cause.ROUNDED
    return Cause.ROUNDED_DOWN if below > 20 * max(1, above) else Cause.OTHER_ROUNDING


def unpacked(table: T) -> T:
    """A compressed table with its equities in memory; what a damaged block held is 0, which the recurrence mends.

    What cannot be read is halved, until 1/256 of the rows and columns is left of it.
    """
    grid = recurrence.PairReader(recurrence.PairRule(table))
    if not grid.packed:
        return table
    n = grid.n
    order = grid.order
    lost = 0
    equities = np.zeros((n, n, grid.columns), np.uint16)
    step = max(1, recurrence.UNPACKED_BYTES // (n * grid.columns * 2))
    parts = [(start, min(n, start + step), 0, n) for start in range(0, n, step)]
    while parts:
        a, b, first, last = parts.pop()
        try:
            found = grid.piece(a, b, first, last).reshape(b - a, last - first, grid.columns)
        except FormatError:
            rows = b - a
            columns = last - first
            if max(rows, columns) <= max(SMALLEST, n // 256):
                lost += rows * columns
            elif rows >= columns:
                parts += [(a, a + rows // 2, first, last), (a + rows // 2, b, first, last)]
            else:
                parts += [(a, b, first, first + columns // 2), (a, b, first + columns // 2, last)]
        else:
            equities[np.ix_(order[a:b], order[first:last])] = found
        if lost > n * n * LEAST_READ:
            raise VerificationError("less than half of it can be read")
    return replace(table, equities=equities)


def _other_layout(table: StoredEquities, source: Source, start: int, end: int) -> LikelyCause | None:
    """Numbers that obey the recurrence in the other byte order, shifted, or as a table of another size."""
    n = table.positions
    columns = table.equities.shape[2]

    def fits(shift: int, order: str) -> bool:
        corner = (table.points, min(CORNER, table.chequers), n, columns)
        return _corner_fits(source, start + shift, end + min(0, shift), *corner, order)

    if fits(0, "<"):
        return None
    likely = guess_order_or_shift(fits)
    if likely is not None:
        return likely
    for wide in (columns, 1 if columns == 4 else 4):
        for points in range(1, 13):
            for chequers in range(1, 16):
                m = board.count(points, chequers)
                if (m, wide) == (n, columns) or m * m * wide * 2 > 4 * (end - start):
                    continue
                if _corner_fits(source, start, end, points, min(CORNER, chequers), m, wide):
                    size = f"{points}x{chequers}{' cubeless' if wide == 1 else ''}"
                    return LikelyCause(Cause.OTHER_SIZE, f"it begins like {size}")
    return None


def _corner_fits(
    source: Source, start: int, end: int, points: int, chequers: int, n: int, columns: int, order: str = "<"
) -> bool:
    """Whether the corner of few chequers of an n x n table at `start` obeys the recurrence: it is a table itself."""
    m = board.count(points, chequers)
    row = n * columns * 2
    last = start + (m - 1) * row + m * columns * 2
    if start < 0 or last > min(end, source.size):
        return False
    first = np.frombuffer(source.buffer[start : start + m * columns * 2], "u1")
    if (first == 255).mean() < 0.75:  # a side without chequers has won, in either byte order
        return False
    corner = np.empty((m, m, columns), np.uint16)
    for us in range(m):
        at = start + us * row
        corner[us] = np.frombuffer(source.buffer[at : at + m * columns * 2], f"{order}u2").reshape(m, columns)
    found = recurrence.check(recurrence.PairRule(TwoSided(points=points, chequers=chequers, equities=corner)))
    return found.failing <= FITS * found.entries
