"""Mean rolls and normal distributions: which recipe every row follows to the last bit, or which rows do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from bgfmt.files.database import Database
from bgfmt.tables import MeanRolls, NormalOneSided, OfRolls, Table
from bgfmt.verifier.findings import KEPT, Cause, Likely, Outcome
from bgfmt.verifier.proofs import KnownRecipe, Proof, Request, size_behind
from bgfmt.verifier.recurrence import means, one_sided
from bgfmt.verifier.recurrence.one_sided import bits_of
from bgfmt.verifier.recurrence.plays import Array

T = TypeVar("T", bound=OfRolls)
ONE = b"\x3f\x80\x00\x00"  # the float32 1, the mean of position 1, in the other byte order
SMALL = 4000  # positions up to which the table of a rival is made even where few rows fail


class OfRollsProof(Proof[T]):
    """Tables of a few floats a position, which follow to the last bit.

    own : how many of the recipes, the first, are rules by which rows follow. near : rolls by which other arithmetic
    (`cause_of_near`) differs in one step at most. far : rolls by which a rival's table differs. fields : the names of
    the floats. located : the array in which findings say where they lie.
    """

    own: ClassVar[int] = 1
    near: ClassVar[float]
    far: ClassVar[float]
    cause_of_near: ClassVar[Cause]
    fields: ClassVar[tuple[str, ...]]
    located: ClassVar[str] = ""

    def rows(self, table: T, floats: Array, rule: int) -> one_sided.FollowingRows:
        """Floats (n, m) as the rows of a table of this size, by that rule."""
        raise NotImplementedError

    def rivals(self, table: T) -> Iterator[tuple[str, Array]]:
        """Other programs' tables of this size, each with its recipe."""
        raise NotImplementedError

    def stored(self, table: T) -> Array:
        """The floats of all positions, (n,) or (n, m)."""
        floats = np.asarray(next(iter(table.arrays().values())))
        return np.array(floats, floats.dtype.newbyteorder("="))

    def remade(self, table: T, rule: int) -> Array:
        """The table from the rule alone."""
        made = np.zeros_like(self.stored(table))
        one_sided.settle(self.rows(table, made.reshape(len(made), -1), rule), np.arange(len(made)))
        return made

    def put_right(self, table: T, threads: int) -> tuple[Table, int]:
        stored, made = bits_of(self.stored(table)), [self.remade(table, rule) for rule in range(self.own)]
        changed = [int((bits_of(right) != stored).any(axis=1).sum()) for right in made]
        best = int(np.argmin(changed))
        right: Any = dict.fromkeys(table.arrays(), made[best])
        return replace(table, **right), changed[best]

    def prove(self, table: T, request: Request) -> Outcome:
        n, which, stored = table.positions, request.some(table.positions), self.stored(table)
        checked, tried = n if which is None else len(which), []
        how = {"which": which, "threads": request.threads, "progress": request.progress}
        for rule in range(self.own):
            fails, off = one_sided.check(self.rows(table, stored.reshape(n, -1), rule), **how)  # type: ignore[arg-type]
            failing = int((fails > 0).sum())
            if failing == 0:
                return Outcome(n, checked, self.recipes[rule].name)
            tried.append((failing, rule, fails > 0, float(off.max())))
            if failing <= max(20, n // 1000):
                break
        failing, rule, fails, largest = min(tried, key=lambda one: one[:2])
        many = failing > max(20, checked // 100)
        if (many or n <= SMALL) and which is None and largest <= self.far:
            for name, rival in self.rivals(table):
                if rival.tobytes() == stored.tobytes():
                    return Outcome(n, n, name)
        outcome = Outcome(n, checked, failing=failing, largest=largest, unit="rolls")
        if many and largest <= self.near:
            return replace(
                outcome, systematic=True, differences={"largest": largest}, likely=Likely(self.cause_of_near)
            )
        right = self.remade(table, rule)
        differ = bits_of(stored) != bits_of(right)
        changed = differ.any(axis=1)
        wrong = np.flatnonzero(changed & fails)
        wrong = wrong if len(wrong) else np.flatnonzero(fails)
        findings = []
        for x in wrong[:KEPT].tolist():
            k = int(differ[x].argmax())
            at = (self.located, k) if self.located else None
            findings.append(request.entry(table, x, stored[x], right[x], self.fields[k], at))
        if which is not None:
            return replace(outcome, findings=tuple(findings))
        inherited = int((changed & ~fails).sum())
        return replace(outcome, wrong=len(wrong), inherited=inherited, findings=tuple(findings))


class MeanRollsProof(OfRollsProof[MeanRolls]):
    """Peelle's rule, and the means of other programs' tables."""

    near = 1e-12
    far = 0.1
    cause_of_near = Cause.ADDITIONS
    fields = ("mean rolls",)
    recipes = (
        KnownRecipe(
            "peelle", "Peelle's J table, to the last bit", "bgns.ijf of J 9.7", plain=True, stated=("exact",)
        ),
        KnownRecipe("gnubg-means", "means of gnubg's distributions", "bgfmt convert --lossy"),
        KnownRecipe("bgsage-means", "means of bgsage's distributions", "bgfmt convert --lossy"),
        KnownRecipe("gnubg-normal-means", "means of gnubg's normal distributions", "bgfmt convert --lossy"),
    )

    def rows(self, table: MeanRolls, floats: Array, rule: int) -> one_sided.FollowingRows:
        return means.Means(table.points, table.chequers, floats)

    def rivals(self, table: MeanRolls) -> Iterator[tuple[str, Array]]:
        rolls = np.arange(one_sided.ROLLS)
        for name, rule in (("gnubg-means", one_sided.GNUBG), ("bgsage-means", one_sided.BGSAGE)):
            rows = one_sided.remade(table.points, table.chequers, rule).bearoff
            yield name, (rows.astype(np.int64) @ rolls) / one_sided.WHOLE
        normal = means.remade_moments(table.points, table.chequers)
        yield "gnubg-normal-means", normal[:, 0].astype(np.float64)


class NormalProof(OfRollsProof[NormalOneSided]):
    """makebearoff's rule for means and deviations, and the moments of other programs' distributions."""

    own = 2
    near = 1e-3
    far = 0.2
    cause_of_near = Cause.OTHER_ROUNDING
    fields = ("mean", "deviation", "gammon mean", "gammon deviation")
    located = "moments"
    recipes = (
        KnownRecipe("gnubg", "GNU Backgammon's makebearoff -n", "files of makebearoff 1.07", plain=True),
        KnownRecipe(
            "gnubg-division", "makebearoff -n built with true division by 36", "builds without fast-math"
        ),
        KnownRecipe("gnubg-moments", "moments of gnubg's distributions", "bgfmt convert --lossy"),
        KnownRecipe("bgsage-moments", "moments of bgsage's distributions", "bgfmt convert --lossy"),
    )

    def rows(self, table: NormalOneSided, floats: Array, rule: int) -> one_sided.FollowingRows:
        return means.Moments(table.points, table.chequers, floats, rule == 1)

    def rivals(self, table: NormalOneSided) -> Iterator[tuple[str, Array]]:
        gammon = bool(self.stored(table)[:, 2:].any())
        for name, rule in (("gnubg-moments", one_sided.GNUBG), ("bgsage-moments", one_sided.BGSAGE)):
            yield name, means.moments_of(one_sided.remade(table.points, table.chequers, rule, gammon=gammon))

    def cause(self, db: Database, outcome: Outcome | None, start: int, end: int) -> Likely | None:
        turned = end >= start + 20 and db.source.bytes(start + 16, 4) == ONE
        return size_behind(db) or (Likely(Cause.BYTE_ORDER) if turned else None)
