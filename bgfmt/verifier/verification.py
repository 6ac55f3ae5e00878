"""`verify` runs the verification levels in order: structure, digest, sense, recurrence, regenerate."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bgfmt import errors, formats
from bgfmt.files.database import Database, open_database, read_source
from bgfmt.files.diff import diff_tables
from bgfmt.solver.machine import thread_count
from bgfmt.storage import PathLike, Source, open_source
from bgfmt.tables import Table
from bgfmt.verifier import checks, report
from bgfmt.verifier.findings import LEVELS, Finding, Kind, LikelyCause, Observations, Outcome, Rule
from bgfmt.verifier.measures import measure_of
from bgfmt.verifier.proofs import PROOFS, Request, proof_of, prove
from bgfmt.verifier.recurrence.plays import Progress
from bgfmt.verifier.report import Report

QUICK_SAMPLE_ENTRIES = 100_000  # entries that a quick look samples
STARTUP_SECONDS = 3.0  # seconds in which compiled code is loaded and plays are listed


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
    bound: bool = False,
    format: str | None = None,
    described: Mapping[str, Any] | None = None,
) -> Report:
    """Prove a database right, or name what is wrong with it.

    Damage of any kind is reported, not raised. Errors of the operating system and errors in reading `against` are
    raised. Of a file without a header, the report is that of the reading with the fewest wrong entries.

    Parameters
    ----------
    path : the file.
    until : last level to run: structure, digest, sense, recurrence (the default, a proof) or regenerate.
    quick : run structure, digest, sense and the recurrence of 100,000 entries, which is no proof.
    against : another database to compare with, over the positions both cover.
    sample : number of entries to check, chosen by `seed` (any integer), instead of all.
    tolerance : largest difference from what the recipe gives that is accepted (units of the stored integers; rolls
        for means and moments, equity for hypergammon).
    threads : number of threads (default: all cores).
    progress : called with (done, total) during the long pass.
    announce : called before the recurrence, and before bounding errors, with the estimated time in seconds.
    exact : also measure the errors of the stored numbers; see `bgfmt.verifier.measures`.
    bound : also prove an error bound of each stored equity of a two-sided table with the cube.
    format, described : as for `bgfmt.open`, for files without a header.

    Raises
    ------
    CapabilityError
        If an argument is out of range.
    """
    _check_arguments(until, tolerance, sample)
    for name, wanted in (("exact", exact), ("bound", bound)):
        if wanted:
            measure_of(name)  # raises before the work if it is not installed
    if quick:
        sample = sample or QUICK_SAMPLE_ENTRIES
    name = os.fspath(path)
    options = {"format": format, **(described or {})}
    request = Request(thread_count(threads), progress, sample=sample, seed=seed, tolerance=tolerance)
    verification = Verification(until or "recurrence", request, announce)
    with contextlib.ExitStack() as closing:
        closing.enter_context(np.errstate(all="ignore"))
        source = closing.enter_context(closing.enter_context(open_source(path)).local())
        same = () if until == "structure" else tuple(checks.check_digest(source))
        try:
            db = read_source(source, **options)
        except errors.FormatError as error:
            return _verify_readings(source, error, verification, same)
        more = same if against is None else (*same, _compare_with(db, against, tolerance))
        parts = parts_of(source, db, **options)
        reports = [
            verification.verify_table(
                part, name, (*more, *_duplicate_findings(parts[:k], part)), exact=exact, bound=bound
            )
            for k, part in enumerate(parts)
        ]
        return report.merge_reports(name, reports)


def _check_arguments(until: str | None, tolerance: float | None, sample: int | None) -> None:
    if until is not None and until not in LEVELS:
        near = errors.suggest_nearest(until, LEVELS)
        raise errors.CapabilityError(f"no verification level {until!r}{near}; known: {', '.join(LEVELS)}")
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise errors.CapabilityError(f"a tolerance must be a number of at least 0, not {tolerance}")
    if sample is not None and sample < 1:
        raise errors.CapabilityError(f"a sample must have at least 1 entry, not {sample}")


def _verify_readings(
    source: Source, error: errors.FormatError, verification: Verification, same: tuple[Finding, ...]
) -> Report:
    """Return the report of the best possible reading of a file without a header, else that of an unreadable file."""
    readings = checks.try_readings(source, error)
    reports = (verification.verify_table(db, source.name, (note, *same)) for db, note in readings)
    best = min(reports, key=lambda r: (r.exit_code, r.wrong), default=None)
    return best or _unreadable(source, error, verification, same)


def parts_of(source: Source, db: Database, **options: Any) -> list[Database]:
    """Return all databases of a file that holds several, one after another; `db` is the first.

    options : arguments of `read_source`.
    """
    return [db, *(read_source(source, part=k, **options) for k in range(1, 1 + len(db.others)))]


def _duplicate_findings(before: list[Database], part: Database) -> list[Finding]:
    """Return a finding if an earlier table of the file has the same kind and size; no program writes such a file."""
    sizes = [(type(db.table), db.table.points, db.table.chequers) for db in (*before, part)]
    if sizes[-1] not in sizes[:-1]:
        return []
    how: dict[str, Any] = {"expected": "one table of each kind and size", "found": f"a second {part}"}
    return [Finding(Rule.LAYOUT, offset=part.extent.offset, field="file", count=part.extent.size, **how)]


def _compare_with(db: Database, other: PathLike, tolerance: float | None) -> Finding:
    """Return a finding or note about the differences from another database, over the positions both cover."""
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
    source: Source, error: errors.FormatError, verification: Verification, same: tuple[Finding, ...]
) -> Report:
    """Return the report of a file that cannot be read."""
    if isinstance(error, (errors.UnknownFormatError, errors.AmbiguousFormatError)):
        finding = Finding(Rule.UNREADABLE, found=checks.error_line(error, source.name))
        return report.build(source.name, verification.observe([finding], None, ""))
    finding, likely = checks.diagnose_unreadable(source, error)
    return report.build(source.name, verification.observe([finding, *same], None, "structure", likely))


@dataclass(frozen=True)
class Verification:
    """The levels to run, how to run them, and what to call before the recurrence.

    until : last level. request : threads, sample and tolerance. announce : called with the estimated seconds.
    """

    until: str = "recurrence"
    request: Request = field(default_factory=Request)
    announce: Callable[[float], None] | None = None

    def observe(
        self, findings: list[Finding], outcome: Outcome | None, level: str, likely: LikelyCause | None = None
    ) -> Observations:
        """Collect what was found out about one table, for `report.build`.

        outcome : result of the recurrence, None if not run. level : the highest level completed. likely : likely
        cause of damage.
        """
        limited = not self.reaches("recurrence") or self.request.sample is not None
        return Observations(tuple(findings), outcome, level, limited, self.request.tolerance, likely)

    def reaches(self, level: str) -> bool:
        """Return True if the checks are to run at least up to this level.

        Levels are, in order, structure, digest, sense, recurrence and regenerate.
        """
        return LEVELS.index(self.until) >= LEVELS.index(level)

    def measure(self, name: str, table: Table) -> dict[str, Any]:
        """Measure the errors of a table's numbers by the measure of this name; return its values by name.

        Measures are the entry points of `bgfmt.verifier.measures`.
        """
        measure = measure_of(name)
        seconds = measure.estimate_seconds(table)
        if self.announce is not None and seconds:
            self.announce(seconds / self.request.threads)
        try:
            return measure.measure(table, self.request.threads, self.request.progress)
        except errors.SolverError as error:
            # the exact table does not fit into memory; the proof still stands
            return {"note": str(error)}

    def verify_table(
        self,
        db: Database,
        file: str,
        more: tuple[Finding, ...] = (),
        *,
        exact: bool = False,
        bound: bool = False,
    ) -> Report:
        """Run the checks, level by level, on one table and return its report.

        file : name in the report. more : findings about the file, added first. exact : also measure the errors of the
        stored numbers. bound : also prove bounds of these errors.
        """
        findings = list(more)
        outcome = None
        measured: Mapping[str, Any] = report.EMPTY
        bounded: Mapping[str, Any] = report.EMPTY
        seconds: dict[str, float] = {}
        reached = "digest" if self.reaches("digest") else "structure"
        try:
            findings += checks.check_structure(db)
            for level in ("sense", "recurrence", "regenerate"):
                if not self._includes(level, db, outcome):
                    continue
                began = time.perf_counter()
                reached = level
                found, outcome = self._run_level(level, db, outcome)
                findings += found
                seconds[level] = time.perf_counter() - began
            if exact:
                measured = self.measure("exact", db.table)
            if bound:
                bounded = self.measure("bound", db.table)
        except errors.FormatError as error:
            findings.append(checks.error_finding(error, file))
        if outcome is None and reached == "recurrence":  # no rule is known of such a table
            reached = "sense" if "sense" in seconds else "digest"
        likely = None
        if any(f.rule.kind is not Kind.NOTE for f in findings) or (outcome and outcome.failing):
            likely = (outcome.likely if outcome else None) or checks.guess_damage_cause(db, outcome)
        if outcome is not None and outcome.recipe:
            findings += self._recipe_findings(db.table, outcome.recipe)
        named = [form.name for form in formats.all_by_suffix(file)]
        if named and db.format.name not in named and db.format.suffixes:
            suffixes = " or ".join(db.format.suffixes)
            text = f"{db.format.name} files end in {suffixes}, not {os.path.splitext(file)[1]}"
            findings.append(Finding(Rule.STATED, field="its name", found=text))
        seen = self.observe(findings, outcome, reached, likely)
        about = {"format": db.format.name, "title": str(db), "kind": db.table.kind, "exact": measured}
        about["bound"] = bounded
        return report.build(file, seen, **about, seconds=seconds)

    def _includes(self, level: str, db: Database, outcome: Outcome | None) -> bool:
        """Return True if this level is to be run on this table."""
        if not self.reaches(level):
            return False
        if not db.table.columns:
            return level == "recurrence"
        if level == "sense":  # the recurrence covers it, where there is one to be run whole
            return self.until == "sense" or self.request.sample is not None or db.table.kind not in PROOFS
        return level != "regenerate" or (outcome is not None and bool(outcome.recipe))

    def _run_level(
        self, level: str, db: Database, outcome: Outcome | None
    ) -> tuple[list[Finding], Outcome | None]:
        """Run one level; return its findings, and the outcome of the recurrence."""
        if level == "sense":
            sampled = self.request.sample is not None
            return list(checks.check_sense(db.table, self.request.progress, sampled=sampled)), outcome
        if level == "recurrence":
            return self._recurrence(db)
        assert outcome is not None
        how = (self.request.threads, self.request.progress)
        try:
            return [proof_of(db.table).regenerate(db.table, outcome.recipe, *how)], outcome
        except errors.SolverError as error:
            return [Finding(Rule.NOT_REMADE, found=str(error))], outcome

    def _recurrence(self, db: Database) -> tuple[list[Finding], Outcome | None]:
        """Check the recurrence; return findings about the facts it states, and the outcome (None: no known rule)."""
        if not db.table.columns:
            return [Finding(Rule.NO_TABLE, found="it holds no table that bgfmt knows")], None
        if self.announce is not None:
            self.announce(self._estimate_seconds(db.table))
        outcome = prove(db.table, replace(self.request, locate=checks.make_locator(db)))
        if outcome is None:
            return [Finding(Rule.NO_RECURRENCE, found=f"{db.table.kind} tables")], None
        return list(proof_of(db.table).check_statements(db.table)), outcome

    def _recipe_findings(self, table: Table, name: str) -> list[Finding]:
        """Return findings about a table's recipe: a note on its origin, a fault if the file names another recipe."""
        recipe = proof_of(table).recipe(name)
        findings = [] if recipe.is_default else [Finding(Rule.MADE_BY, field=name, found=recipe.title)]
        if self.request.sample is None and table.recipe not in ("", name, *recipe.aliases):
            stated: dict[str, Any] = {"expected": repr(name), "found": repr(table.recipe)}
            findings.append(Finding(Rule.LAYOUT, field="the recipe it states", **stated))
        return findings

    def _estimate_seconds(self, table: Table) -> float:
        """Return the estimated time of the recurrence in seconds."""
        sample = self.request.sample
        cost = table.cost
        if sample is not None:
            cost = min(cost, STARTUP_SECONDS + cost * sample / max(1, table.entries))
        return cost / self.request.threads
