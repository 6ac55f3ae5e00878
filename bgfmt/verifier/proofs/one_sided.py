"""Checks of one-sided tables (distributions, mean rolls, normal): the recipe they follow, or wrong rows."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from bgfmt.errors import FormatError
from bgfmt.game import board
from bgfmt.tables import MeanRolls, NormalOneSided, OfRolls, OneSided, Table
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, Finding, LikelyCause, Outcome, Rule
from bgfmt.verifier.proofs import EXACT, KnownRecipe, Proof, Request, float_outcome
from bgfmt.verifier.recurrence import one_sided as recurrence
from bgfmt.verifier.recurrence.one_sided import BGSAGE, GNUBG, Distributions, FollowingRows, RowRule, bits_of
from bgfmt.verifier.recurrence.plays import Array

T = TypeVar("T", bound=OfRolls)
MAX_SETTLED_ROWS = 1_400_000  # larger tables are not recomputed to tell wrong rows from inherited errors
SMALL_POSITIONS = 4000  # of tables up to this size, other recipes' tables are built even if few rows fail
MAX_RIVAL_UNITS = 400  # greatest difference of a row that another program's recipe explains
TRIAL_ROWS = 2000  # rows, about, on which another rule is tried before the whole table is checked
MIN_FAILING_ROWS = 8  # fewer failing rows are always reported as damage
RULE_2001 = RowRule(divisor=2359)
MAX_2001_POSITIONS = board.count(6, 15)  # the table of 2001, of which smaller ones are parts
LAST_BITS = 1e-12
RULES = {"gnubg": GNUBG, "bgsage": BGSAGE}
#: SHA-256 of both arrays of bgsage's own table: it follows bgsage's rule, but rounds exact halves either way
GENERATED_SHA256 = "84ffe8b61a0787f88ae556be575e528dd15abd223ac0e9ba11ea22c342fb254c"


class OneSidedProof(Proof[OneSided]):
    """Checks of distributions: recipes of gnubg, bgsage and other programs, and float64."""

    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makebearoff", "files of makebearoff 1.07", is_default=True),
        KnownRecipe("bgsage", "the file that bgsage ships", "the file of PyPI bgsage 2.0", is_default=True),
        KnownRecipe(
            "bgsage-float", "bgsage's rule in floats, exact halves rounded either way: the very table that its own "
            "generate() makes", "BearoffDB().generate() of PyPI bgsage 2.0",
        ),
        KnownRecipe(
            "gnubg-2001", "GNU Backgammon before November 2002: plays chosen by sums before rounding",
            "MD5 ffbb2108abe1fd1a79c6d9d3eadf56cf of gnubg.bd",
        ),
        EXACT,
    )  # fmt: skip

    def prove(self, table: OneSided, request: Request) -> Outcome:
        return _exact(table, request) if table.exact else _rounded(table, request)

    def recompute(self, table: OneSided, threads: int) -> tuple[Table, int]:
        n = table.positions
        if table.exact:
            copied: Any = {name: np.array(rows, np.float64) for name, rows in table.arrays().items()}
            right = replace(table, **copied)
            changed = recurrence.settle(recurrence.float_rows(right), np.arange(n))
            return right, int((changed > 0).sum())
        table = _read_rows(table)
        best: tuple[Table, int] | None = None
        for rule in (BGSAGE,) if table.gammon_policy == "race" else (GNUBG, BGSAGE):
            rows = recurrence.decode_rows(table, rule)
            fails, _ = recurrence.check(rows, threads=threads)
            wrong = int(_settle(rows, fails).sum())
            gammon = None if table.gammon is None else rows.gammon_rows()
            if best is None or wrong < best[1]:
                best = replace(table, bearoff=rows.bearoff, gammon=gammon), wrong
            if wrong < n // 10:
                break
        assert best is not None
        return best

    def solve_command(self, table: OneSided) -> str:
        bgsage = " --recipe bgsage" * (table.gammon_policy == "race")
        return super().solve_command(table) + bgsage + " --no-gammon" * (table.gammon is None)

    def options(self, table: OneSided) -> dict[str, Any]:
        return {"gammon": table.gammon is not None}


def _exact(table: OneSided, request: Request) -> Outcome:
    which = request.sample_numbers(table.positions)
    rows = recurrence.float_rows(table)
    fails, largest = recurrence.check(rows, which=which, threads=request.threads, progress=request.progress)
    bad = np.flatnonzero(fails)
    kept = []
    some = bad[:MAX_FINDINGS]
    for part, (name, (right, _)) in enumerate(zip(table.arrays(), rows.compute_rows(some), strict=True)):
        for k in np.flatnonzero(fails[some] >> part & 1):
            kept.append(
                request.entry_finding(
                    table, int(some[k]), rows.arrays[part][0][some[k]], right[k], name, settled=False
                )
            )
    kept.sort(key=lambda finding: finding.entry or 0)
    checked = table.positions if which is None else len(which)
    return float_outcome(table, checked, "exact", len(bad), float(largest.max()), kept, LAST_BITS)


# -- integers ----------------------------------------------------------------------------------------------------


def _rounded(table: OneSided, request: Request) -> Outcome:
    """Check every row of uint16 distributions under each recipe, the most likely recipe first."""
    n = table.positions
    which = request.sample_numbers(n)
    checked = n if which is None else len(which)
    if table.recipe == "gnubg-2001" and which is None and _follows_2001(table):
        return Outcome(n, n, table.recipe)
    usual = "bgsage" if table.gammon_policy == "race" else "gnubg"
    best: Fit | None = None
    for name in sorted(RULES, key=lambda name: (name != table.recipe, name != usual)):
        rows = recurrence.decode_rows(table, RULES[name])
        if best is not None and not _may_fit(rows, best, request):
            continue
        progress = request.progress if best is None else None
        fails, largest = recurrence.check(rows, which=which, threads=request.threads, progress=progress)
        fit = Fit(rows, fails, largest)
        if fit.failing == 0:
            return Outcome(n, checked, name, findings=_recipe_note(table, name))
        if best is None or fit.failing < best.failing:
            best = fit
    assert best is not None
    if _is_generated_by_bgsage(table):
        return Outcome(n, checked, "bgsage-float")
    many = best.failing >= max(MIN_FAILING_ROWS, checked // 100)
    sums = best.rows.bearoff.sum(axis=1, dtype=np.int64)
    whole = which is None and len(best.rows.idle_wrong) == 0 and bool((sums == recurrence.WHOLE).all())
    if whole and (many or n <= SMALL_POSITIONS) and _follows_2001(table):
        return Outcome(n, n, "gnubg-2001")
    if whole and many and int(best.largest.max()) <= MAX_RIVAL_UNITS:
        return Outcome(
            n, n, failing=best.failing, largest=float(best.largest.max()), systematic=True,
            differences=_counts(best.largest), likely=LikelyCause(Cause.OTHER_PLAYS),
        )  # fmt: skip
    return _damaged(table, best, checked, request, told_apart=which is None and n <= MAX_SETTLED_ROWS)


@dataclass(frozen=True)
class Fit:
    """How the rows of a table fit a rule: for each row the bits of failing arrays, and the largest difference."""

    rows: Distributions
    fails: Array
    largest: Array

    @property
    def failing(self) -> int:
        """Number of rows that do not follow from the others by the rule."""
        return int((self.fails > 0).sum())


def _is_generated_by_bgsage(table: OneSided) -> bool:
    if table.gammon is None:
        return False
    digest = hashlib.sha256(np.ascontiguousarray(table.bearoff, "<u2").tobytes())
    digest.update(np.ascontiguousarray(table.gammon, "<u2").tobytes())
    return digest.hexdigest() == GENERATED_SHA256


def _recipe_note(table: OneSided, name: str) -> tuple[Finding, ...]:
    """Return a note if the numbers follow another recipe than is usual for the file's layout."""
    race = RULES[name].race
    if table.gammon is None or (table.gammon_policy == "race") == race:
        return ()
    follows = (
        "bgsage's numbers: its gammon part follows the race's plays" if race
        else "gnubg's numbers: its gammon part follows the plays that save the gammon"
    )  # fmt: skip
    return (Finding(Rule.MADE_BY, field=name, found=f"{follows}, and the file says otherwise"),)


def _may_fit(rows: Distributions, best: Fit, request: Request) -> bool:
    """Return True if another rule may fit the table: at most a tenth of a few rows that fail under the best rule."""
    bad = np.flatnonzero(best.fails)
    some = bad[:: 1 + len(bad) // TRIAL_ROWS].copy()
    fails, _ = recurrence.check(rows, which=some, threads=request.threads)
    return int(np.count_nonzero(fails)) * 10 <= len(some)


def _follows_2001(table: OneSided) -> bool:
    """Return True if the rows are those of GNU Backgammon's table of 2001, or of a part of it."""
    if table.gammon is not None or table.positions > MAX_2001_POSITIONS:
        return False
    made = recurrence.build_table(table.points, table.chequers, RULE_2001).bearoff
    return np.array_equal(made, np.asarray(table.bearoff))


def _read_rows(table: OneSided) -> OneSided:
    """Return a table with its rows in memory; rows of a compressed file that cannot be read become 0."""
    arrays: dict[str, Any] = {}
    for name, rows in table.arrays().items():
        arrays[name] = np.zeros(rows.shape, rows.dtype)
        try:
            arrays[name][:] = rows[:]
        except FormatError:
            for k in range(len(rows)):
                with contextlib.suppress(FormatError):
                    arrays[name][k] = rows[k : k + 1][0]
    return replace(table, **arrays)


def _settle(rows: Distributions, fails: Array) -> Array:
    """Correct the rows in place, from the first failing one on; return whether each row was wrong, (n,) bool."""
    first = int((fails > 0).argmax()) if fails.any() else len(fails)
    changed = recurrence.settle(rows, np.arange(first, len(fails)))
    changed[rows.idle_wrong] |= 1
    return np.asarray(changed > 0)


def _counts(largest: Array) -> dict[str, float]:
    """Return the number of rows by the size of their difference."""
    return {str(k): int(v) for k, v in enumerate(np.bincount(largest[largest > 0])) if v}


def _damaged(table: OneSided, fit: Fit, checked: int, request: Request, *, told_apart: bool) -> Outcome:
    fails = fit.fails
    largest = fit.largest
    bad = np.flatnonzero(fails)
    wrong = bad
    inherited = np.zeros(0, np.int64)
    right = None
    if told_apart:
        right = replace(fit.rows, bearoff=fit.rows.bearoff.copy(), gammon=fit.rows.gammon.copy())
        changed = _settle(right, fails)
        wrong = np.flatnonzero(changed & (fails > 0))
        inherited = np.flatnonzero(changed & (fails == 0))
    return Outcome(
        table.positions,
        checked,
        failing=len(bad),
        wrong=len(wrong) if told_apart else None,
        inherited=len(inherited),
        largest=float(largest.max()),
        differences=_counts(largest) if largest.max() < 39 else {},
        findings=tuple(
            _finding(table, request, int(x), int(fails[x]), fit.rows, right) for x in wrong[:MAX_FINDINGS]
        ),
    )


def _finding(
    table: OneSided, request: Request, x: int, fails: int, rows: Distributions, right: Distributions | None
) -> Finding:
    if not fails & 1 and x < rows.first_full:
        assert table.gammon is not None
        idle = np.array([recurrence.WHOLE] + [0] * 31)
        return request.entry_finding(table, x, np.asarray(table.gammon[x]), idle, "gammon", ("gammon", 0))
    name, at = ("bearoff", x) if fails & 1 else ("gammon", x - rows.first_full)
    stored = getattr(rows, name)[at]
    wanted = None if right is None else getattr(right, name)[at]
    roll = 0 if wanted is None else int((stored != wanted).argmax())
    return request.entry_finding(table, x, stored, wanted, name, (name, roll))


# -- a few floats a position ------------------------------------------------------------------------------------


class OfRollsProof(Proof[T]):
    """Checks of tables with a few floats a position, which must match to the last bit.

    Attributes
    ----------
    own_rules : the first so many recipes are rules by which rows follow from each other.
    near : largest difference, in rolls, that other arithmetic (`cause_of_near`) makes in one step.
    fields : names of the floats.
    located : array by which findings determine byte offsets; "" if the file has none.
    """

    own_rules: ClassVar[int] = 1
    near: ClassVar[float]
    cause_of_near: ClassVar[Cause]
    fields: ClassVar[tuple[str, ...]]
    located: ClassVar[str] = ""

    def rows(self, table: T, floats: Array, rule: int) -> FollowingRows:
        """Return floats (n, m) of all positions, with the rule by which they follow from each other.

        rule : index of the recipe that has the rule.
        """
        raise NotImplementedError

    def rivals(self, table: T) -> Iterator[tuple[str, Array]]:
        """Yield (recipe's name, floats) of the tables of this size that other programs' recipes give.

        The stored floats are compared with them.
        """
        raise NotImplementedError

    def stored_floats(self, table: T) -> Array:
        """Return the table's own floats of all positions, (n,) or (n, m), in native byte order."""
        floats = np.asarray(next(iter(table.arrays().values())))
        return np.array(floats, floats.dtype.newbyteorder("="))

    def build_table(self, table: T, rule: int) -> Array:
        """Compute the floats of all positions by a recipe, independently of the stored numbers.

        rule : index of the recipe.
        """
        made = np.zeros_like(self.stored_floats(table))
        recurrence.settle(self.rows(table, made.reshape(len(made), -1), rule), np.arange(len(made)))
        return made

    def recompute(self, table: T, threads: int) -> tuple[Table, int]:
        stored = bits_of(self.stored_floats(table))
        made = [self.build_table(table, rule) for rule in range(self.own_rules)]
        changed = [int((bits_of(right) != stored).any(axis=1).sum()) for right in made]
        best = int(np.argmin(changed))
        right: Any = dict.fromkeys(table.arrays(), made[best])
        return replace(table, **right), changed[best]

    def prove(self, table: T, request: Request) -> Outcome:
        n = table.positions
        which = request.sample_numbers(table.positions)
        stored = self.stored_floats(table)
        checked = n if which is None else len(which)
        tried = []
        how = {"which": which, "threads": request.threads, "progress": request.progress}
        for rule in range(self.own_rules):
            fails, off = recurrence.check(self.rows(table, stored.reshape(n, -1), rule), **how)  # type: ignore[arg-type]
            failing = int((fails > 0).sum())
            if failing == 0:
                return Outcome(n, checked, self.recipes[rule].name)
            tried.append((failing, rule, fails > 0, float(off.max())))
            if failing <= max(20, n // 1000):
                break
        failing, rule, fails, largest = min(tried, key=lambda one: one[:2])
        many = failing > max(20, checked // 100)
        if (many or n <= SMALL_POSITIONS) and which is None:
            for name, rival in self.rivals(table):
                if rival.tobytes() == stored.tobytes():
                    return Outcome(n, n, name)
        outcome = Outcome(n, checked, failing=failing, largest=largest, unit="rolls")
        if many and largest <= self.near:
            return replace(
                outcome,
                systematic=True,
                differences={"largest": largest},
                likely=LikelyCause(self.cause_of_near),
            )
        right = self.build_table(table, rule)
        differ = bits_of(stored) != bits_of(right)
        changed = differ.any(axis=1)
        wrong = np.flatnonzero(changed & fails)
        wrong = wrong if len(wrong) else np.flatnonzero(fails)
        findings = []
        for x in wrong[:MAX_FINDINGS].tolist():
            k = int(differ[x].argmax())
            at = (self.located, k) if self.located else None
            own = right[x] if changed[x] else None  # else an entry that it is computed from is wrong
            findings.append(request.entry_finding(table, x, stored[x], own, self.fields[k], at))
        if which is not None:
            return replace(outcome, findings=tuple(findings))
        inherited = int((changed & ~fails).sum())
        return replace(outcome, wrong=len(wrong), inherited=inherited, findings=tuple(findings))


class MeanRollsProof(OfRollsProof[MeanRolls]):
    """Checks of mean rolls: Peelle's rule, and means of other programs' distributions."""

    near = 1e-12
    cause_of_near = Cause.ADDITIONS
    fields = ("mean rolls",)
    recipes = (
        KnownRecipe(
            "peelle",
            "Peelle's J table, to the last bit",
            "bgns.ijf of J 9.7",
            is_default=True,
            aliases=("exact",),
        ),
        KnownRecipe("gnubg-means", "means of gnubg's distributions", "bgfmt convert --lossy"),
        KnownRecipe("bgsage-means", "means of bgsage's distributions", "bgfmt convert --lossy"),
        KnownRecipe("gnubg-normal-means", "means of gnubg's normal distributions", "bgfmt convert --lossy"),
    )

    def solve_command(self, table: MeanRolls) -> str:
        return f"bgfmt solve {table.kind} -o FILE"

    def rows(self, table: MeanRolls, floats: Array, rule: int) -> FollowingRows:
        return recurrence.Means(table.points, table.chequers, floats)

    def rivals(self, table: MeanRolls) -> Iterator[tuple[str, Array]]:
        rolls = np.arange(recurrence.ROLLS)
        for name, rule in (("gnubg-means", GNUBG), ("bgsage-means", BGSAGE)):
            rows = recurrence.build_table(table.points, table.chequers, rule).bearoff
            yield name, (rows.astype(np.int64) @ rolls) / recurrence.WHOLE
        normal = recurrence.build_moments(table.points, table.chequers)
        yield "gnubg-normal-means", normal[:, 0].astype(np.float64)


class NormalProof(OfRollsProof[NormalOneSided]):
    """Checks of normal distributions: makebearoff's rule, and moments of other programs' distributions."""

    own_rules = 2
    near = 1e-3
    cause_of_near = Cause.OTHER_ROUNDING
    fields = ("mean", "deviation", "gammon mean", "gammon deviation")
    located = "moments"
    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makebearoff -n", "files of makebearoff 1.07", is_default=True),
        KnownRecipe(
            "gnubg-division", "makebearoff -n built with true division by 36", "builds without fast-math"
        ),
        KnownRecipe("gnubg-moments", "moments of gnubg's distributions", "bgfmt convert --lossy"),
        KnownRecipe("bgsage-moments", "moments of bgsage's distributions", "bgfmt convert --lossy"),
    )

    def rows(self, table: NormalOneSided, floats: Array, rule: int) -> FollowingRows:
        return recurrence.Moments(table.points, table.chequers, floats, rule == 1)

    def rivals(self, table: NormalOneSided) -> Iterator[tuple[str, Array]]:
        gammon = bool(self.stored_floats(table)[:, 2:].any())
        for name, rule in (("gnubg-moments", GNUBG), ("bgsage-moments", BGSAGE)):
            yield (
                name,
                recurrence.moments_of(
                    recurrence.build_table(table.points, table.chequers, rule, gammon=gammon)
                ),
            )
