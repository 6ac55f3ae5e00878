"""The ladder: structure, digest, sense, recurrence, regenerate. `verify` climbs it and says what it saw."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from bgfmt import errors, formats
from bgfmt.files.database import Database, open_database, read_source
from bgfmt.files.diff import diff_tables
from bgfmt.solver.machine import thread_count
from bgfmt.solver.workers import workers_at
from bgfmt.storage import PathLike, Source, chunks, open_source
from bgfmt.tables import Table
from bgfmt.verifier import checks, report
from bgfmt.verifier.findings import LEVELS, Finding, Kind, Likely, Outcome, Rule, Seen
from bgfmt.verifier.proofs import PROOFS, Request, proof_of, prove
from bgfmt.verifier.report import Report
from bgfmt.verifier.spread import Progress, Spread

QUICK = 100_000  # entries that a quick look samples
STARTING = 3.0  # seconds in which compiled code is loaded and plays are listed


def verify(
    path: PathLike,
    *,
    until: str | None = None,
    quick: bool = False,
    against: PathLike | None = None,
    sample: int | None = None,
    seed: int = 0,
    tolerance: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    announce: Callable[[float], None] | None = None,
    exact: bool = False,
    format: str | None = None,
    described: Mapping[str, Any] | None = None,
    cluster: str | None = None,
) -> Report:
    """Prove a database right, or name what is wrong with it.

    path : the file.
    until : the last rung to climb: structure, digest, sense, recurrence (the default, a proof) or regenerate.
    quick : structure, digest, sense and the recurrence of 100,000 entries, which is no proof.
    against : another database to compare with, over the positions both cover.
    sample : how many entries to check, chosen by `seed` (any whole number) instead of all.
    tolerance : largest difference from what the recipe gives (units of the stored integers; rolls for means and
        moments, equity for hypergammon) that is let pass.
    threads, progress : cores to use; called with (done, total) during the long pass.
    announce : called before the recurrence with the seconds that it is likely to take.
    exact : also measure how far the stored numbers are from the truth; see `bgfmt.verifier.truth`.
    format, described : as for `bgfmt.open`, for files without header.
    cluster : have a two-sided table checked by the workers of a cluster, ``local:N`` or a Dask scheduler's address;
        they open it under the same path.

    Damage of any kind is a report, not an error; the operating system's errors pass through, and so does what is
    wrong with `against`.
    """
    if until is not None and until not in LEVELS:
        raise errors.CapabilityError(f"no rung is called {until!r} (there are: {', '.join(LEVELS)})")
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise errors.CapabilityError(f"a tolerance is a number from 0 up, not {tolerance}")
    if sample is not None and sample < 1:
        raise errors.CapabilityError(f"a sample has 1 entry or more, not {sample}")
    if quick:
        sample = sample or QUICK
    name = os.fspath(path)
    asked = {"format": format, **(described or {})}
    request = Request(thread_count(threads), progress, sample=sample, seed=seed, tolerance=tolerance)
    climb = Verification(until or "recurrence", request, announce)
    with contextlib.ExitStack() as closing:
        closing.enter_context(np.errstate(all="ignore"))
        source = closing.enter_context(closing.enter_context(open_source(path)).local())
        same = () if until == "structure" else tuple(checks.digest(source))
        try:
            db = read_source(source, **asked)
        except errors.FormatError as error:
            # of a file without header the reading that proves best
            readings = checks.readings(source, error)
            read = (climb.table(db, source.name, (note, *same)) for db, note in readings)
            best = min(read, key=lambda r: (r.exit_code, r.wrong), default=None)
            return best or _unreadable(source, error, climb, same)
        more = same if against is None else (*same, _against(db, against, tolerance))
        measured = proof_of(db.table).measure(db.table, request.threads) if exact else report.NOTHING
        parts = parts_of(source, db, **asked)
        climbs = [climb] * len(parts)
        if cluster is not None:
            if not all(proof_of(part.table).in_parts(part.table) for part in parts):
                raise errors.CapabilityError(f"{name}: {db.table.kind} tables are not checked by a cluster")
            workers = closing.enter_context(workers_at(cluster))
            whole = name if chunks.is_address(name) else os.path.abspath(name)
            more_of = (tuple(asked.items()), progress)
            spreads = [Spread(workers, whole, k, *more_of) for k in range(len(parts))]
            climbs = [replace(climb, request=replace(request, spread=spread)) for spread in spreads]
        reports = [
            c.table(part, name, (*more, *_again(parts[:k], part)), measured)
            for k, (c, part) in enumerate(zip(climbs, parts, strict=True))
        ]
        return report.together(name, reports)


def parts_of(source: Source, db: Database, **asked: Any) -> list[Database]:
    """All databases of a file, whose first is `db`."""
    return [db, *(read_source(source, part=k, **asked) for k in range(1, 1 + len(db.others)))]


def _again(before: list[Database], part: Database) -> list[Finding]:
    """A finding where a file holds a table of one size a second time: no program writes that."""
    sizes = [(type(db.table), db.table.points, db.table.chequers) for db in (*before, part)]
    if sizes[-1] not in sizes[:-1]:
        return []
    how: dict[str, Any] = {"expected": "one table of a size", "found": "another", "count": part.extent.size}
    return [Finding(Rule.LAYOUT, offset=part.extent.offset, field=str(part), **how)]


def _against(db: Database, other: PathLike, tolerance: float | None) -> Finding:
    with open_database(other) as second:
        try:
            result = diff_tables(db.table, second.table, db.name, os.fspath(other))
        except errors.CapabilityError as error:
            raise errors.CapabilityError(f"{os.fspath(other)}: {error}") from None
    same = not result.different or result.largest <= (tolerance or 0)
    return Finding(
        Rule.SAME_AGAINST if same else Rule.AGAINST, field=os.fspath(other), found=str(result),
        count=max(1, result.different),
    )  # fmt: skip


def _unreadable(
    source: Source, error: errors.FormatError, climb: Verification, same: tuple[Finding, ...]
) -> Report:
    if isinstance(error, (errors.UnknownFormatError, errors.AmbiguousFormatError)):
        finding = Finding(Rule.UNREADABLE, found=checks.plain(error, source.name))
        return report.build(source.name, climb.seen([finding], None, ""))
    finding, likely = checks.unreadable(source, error)
    return report.build(source.name, climb.seen([finding, *same], None, "structure", likely))


@dataclass(frozen=True)
class Verification:
    """How far to climb, and how."""

    until: str = "recurrence"
    request: Request = field(default_factory=Request)
    announce: Callable[[float], None] | None = None

    def seen(
        self, findings: list[Finding], outcome: Outcome | None, rung: str, likely: Likely | None = None
    ) -> Seen:
        """What was seen, as the verdict wants it."""
        limited = not self.reaches("recurrence") or self.request.sample is not None
        return Seen(tuple(findings), outcome, rung, limited, self.request.tolerance, likely)

    def reaches(self, rung: str) -> bool:
        """Whether that rung was asked for."""
        return LEVELS.index(self.until) >= LEVELS.index(rung)

    def table(
        self,
        db: Database,
        file: str,
        more: tuple[Finding, ...] = (),
        measured: Mapping[str, Any] = report.NOTHING,
    ) -> Report:
        """The report of one table; `more` are findings about its file."""
        findings = list(more)
        outcome = None
        seconds: dict[str, float] = {}
        reached = "digest" if self.reaches("digest") else "structure"
        try:
            spread = self.request.spread
            findings += checks.structure(db, partial(spread.run, of_source=True) if spread else None)
            for rung in ("sense", "recurrence", "regenerate"):
                if not self._wanted(rung, db, outcome):
                    continue
                began = time.perf_counter()
                reached = rung
                found, outcome = self._step(rung, db, outcome)
                findings += found
                seconds[rung] = time.perf_counter() - began
        except errors.FormatError as error:
            findings.append(checks.broken(error, file))
        if outcome is None and reached == "recurrence":  # no rule is known of such a table
            reached = "sense" if "sense" in seconds else "digest"
        likely = None
        if any(f.rule.kind is not Kind.NOTE for f in findings) or (outcome and outcome.failing):
            likely = (outcome.likely if outcome else None) or checks.damage_cause(db, outcome)
        if outcome is not None and outcome.recipe:
            findings += self._of_recipe(db.table, outcome.recipe)
        named = [form.name for form in formats.all_by_suffix(file)]
        if named and db.format.name not in named:
            findings.append(Finding(Rule.STATED, field="its name", found=f"that of a {named[0]} file"))
        seen = self.seen(findings, outcome, reached, likely)
        about = {"format": db.format.name, "title": str(db), "kind": db.table.kind, "exact": measured}
        return report.build(file, seen, **about, seconds=seconds)

    def _wanted(self, rung: str, db: Database, outcome: Outcome | None) -> bool:
        if not self.reaches(rung):
            return False
        if not db.table.columns:
            return rung == "recurrence"
        if rung == "sense":  # the recurrence covers it, where there is one to be run whole
            return self.until == "sense" or self.request.sample is not None or db.table.kind not in PROOFS
        return rung != "regenerate" or (outcome is not None and bool(outcome.recipe))

    def _step(self, rung: str, db: Database, outcome: Outcome | None) -> tuple[list[Finding], Outcome | None]:
        if rung == "sense":
            sampled = self.request.sample is not None
            return list(checks.sense(db.table, self.request.progress, sampled=sampled)), outcome
        if rung == "recurrence":
            return self._recurrence(db)
        assert outcome is not None
        how = (self.request.threads, self.request.progress)
        try:
            return [proof_of(db.table).regenerate(db.table, outcome.recipe, *how)], outcome
        except errors.SolverError as error:
            return [Finding(Rule.NOT_REMADE, found=str(error))], outcome

    def _recurrence(self, db: Database) -> tuple[list[Finding], Outcome | None]:
        if not db.table.columns:
            return [Finding(Rule.NO_TABLE, found="it holds no table that bgfmt knows")], None
        if self.announce is not None:
            self.announce(self._seconds(db.table))
        outcome = prove(db.table, replace(self.request, locate=checks.locator(db)))
        if outcome is None:
            return [Finding(Rule.NO_RECURRENCE, found=f"{db.table.kind} tables")], None
        return list(proof_of(db.table).stated(db.table)), outcome

    def _of_recipe(self, table: Table, name: str) -> list[Finding]:
        """What is to be said of the recipe that a table follows: whose it is, and that the file states another."""
        recipe = proof_of(table).recipe(name)
        findings = [] if recipe.plain else [Finding(Rule.MADE_BY, field=name, found=recipe.title)]
        if self.request.sample is None and table.recipe not in ("", name, *recipe.stated):
            stated: dict[str, Any] = {"expected": repr(name), "found": repr(table.recipe)}
            findings.append(Finding(Rule.LAYOUT, field="the recipe it states", **stated))
        return findings

    def _seconds(self, table: Table) -> float:
        """About how long the recurrence takes."""
        sample = self.request.sample
        cost = table.cost
        if sample is not None:
            cost = min(cost, STARTING + cost * sample / max(1, table.entries))
        return cost / self.request.threads
