"""The ladder: structure, digest, sense, recurrence, regenerate. `verify` climbs it and says what it saw."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bgfmt.database import Database, read_source
from bgfmt.errors import (
    AmbiguousFormatError,
    BgfmtError,
    CapabilityError,
    CorruptError,
    FormatError,
    HeaderError,
    TruncatedError,
    UnknownFormatError,
)
from bgfmt.storage import PathLike, Source
from bgfmt.tables import Components, Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.verifier import checks, digests
from bgfmt.verifier.report import RUNGS, Finding, Report, plural

Progress = Callable[[int, int], None]
MINUTE = 60.0
READ_IN_A_MINUTE = 40 << 30


def thread_count(threads: int | None) -> int:
    """Threads to use: those asked for, or one for each core this process may run on."""
    if threads is not None:
        return max(1, threads)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def verify(
    path: PathLike,
    *,
    until: str | None = None,
    against: PathLike | None = None,
    sample: int | None = None,
    seed: int = 0,
    tolerance: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    exact: bool = False,
    format: str | None = None,
    described: dict[str, Any] | None = None,
) -> Report:
    """Prove a database right, or name what is wrong with it.

    Parameters
    ----------
    path : the file.
    until : the last rung to climb: structure, digest, sense, recurrence or regenerate. Default: recurrence where it
        takes about a minute at most, else sense and a sample.
    against : another database to compare with, over the positions both cover.
    sample : check so many entries chosen by `seed` instead of all.
    tolerance : largest difference from the recipe (units of the stored integers; rolls for floats) still called
        consistent.
    threads, progress : cores to use; called with (done, total) during the long pass.
    exact : also measure how far the stored numbers are from the truth; see `bgfmt.verifier.exact`.
    format, described : as for `bgfmt.open`, for files without header.

    Returns
    -------
    Report. Damage of any kind is a report, not an error; only the operating system's errors pass through.
    """
    if until is not None and until not in RUNGS:
        raise CapabilityError(f"no rung is called {until!r} (there are: {', '.join(RUNGS)})")
    name = os.fspath(path)
    asked = {"format": format, **(described or {})}
    with Source(path) as source:
        known, same_size = (None, []) if until == "structure" else digests.identify(source)
        climb = _Climb(until, sample, seed, tolerance, thread_count(threads), progress)
        try:
            db = read_source(source, **asked)
            reports = [climb.table(db, name)]
        except FormatError as error:
            best = None if any(asked.values()) else _best_reading(source, climb, name)
            if best is None:
                return _unreadable(name, source, error)
            db, reports = best[0], [best[1]]
        for part in range(1, 1 + len(db.others)):
            reports.append(climb.table(read_source(source, part=part, **asked), name))
        report = reports[0] if len(reports) == 1 else _together(name, reports)
        _known(report, known, same_size, db)
        if against is not None:
            _against(report, path, against, tolerance)
        if exact:
            from bgfmt.verifier.exact import measure

            report.exact = measure(db.table, threads=thread_count(threads))
        return report


def _best_reading(source: Source, climb: _Climb, name: str) -> tuple[Database, Report] | None:
    """The reading of a file that proves best, where its size without header fits more than one table.

    Also 24 points, which makebearoff writes and gnubg's reader refuses.
    """
    from bgfmt import formats
    from bgfmt.formats.gnubg import header as gnubg

    readings: list[tuple[Source, str, dict[str, Any], str]] = []
    head = bytes(source.buffer[: gnubg.SIZE])
    if gnubg.kind(head) == "TS" and head[9:11] == b"24" and len(head) == gnubg.SIZE:
        spec = gnubg.SIDED.parse(head)
        body = Source.from_bytes(source.buffer[gnubg.SIZE :], name)
        described = {"points": 24, "chequers": spec.chequers, "cubeful": bool(spec.flag15)}
        canonical = gnubg.canonical_two_sided(24, spec.chequers, cubeful=bool(spec.flag15))
        if canonical == head:
            readings.append((body, "gnubg-ts", described, "gnubg's own reader refuses 24 points"))
    elif not gnubg.kind(head):
        for known in formats.known().values():
            readings += [(source, known.name, guess, "it has no header") for guess in known.guess(source)]
    best: tuple[Database, Report] | None = None
    for where, format, described, note in readings:
        try:
            db = read_source(where, format=format, **described)
        except (FormatError, CapabilityError):
            continue
        report = climb.table(db, name)
        report.notes.append(
            f"{note}; read as {format}:{','.join(f'{k}={v:d}' for k, v in described.items())}"
        )
        if best is None or (report.exit_code, report.wrong) < (best[1].exit_code, best[1].wrong):
            best = db, report
    return best


def _unreadable(name: str, source: Source, error: FormatError) -> Report:
    if isinstance(error, (UnknownFormatError, AmbiguousFormatError)):
        return Report(name, f"not readable: {_plain(error, name)}", "not readable")
    from bgfmt.verifier import diagnose

    offset = getattr(error, "offset", None)
    if isinstance(error, TruncatedError):
        offset = source.size
    report = Report(name, status="damaged", rung="structure")
    report.add(Finding("structure", _plain(error, name), kind="layout", offset=offset,
                       expected=getattr(error, "expected", None), found=getattr(error, "found", None),
                       position_number=getattr(error, "position_number", None)))  # fmt: skip
    report.cause = diagnose.of_size(source)
    claims = bool(report.cause) and isinstance(error, (TruncatedError, HeaderError))
    if claims and "than the header says" in report.cause:
        report.status = "not what it claims"
    cause = f" ({report.cause})" if report.cause else ""
    report.verdict = f"{report.status}: {_plain(error, name)}{cause}"
    return report


def _plain(error: BgfmtError, name: str) -> str:
    text = " ".join(str(error).split())
    return text.removeprefix(f"{name}: ")


def _together(name: str, reports: list[Report]) -> Report:
    worst = max(reports, key=lambda r: r.exit_code)
    out = Report(
        name, status=worst.status, rung=min((r.rung for r in reports), key=RUNGS.index), parts=reports
    )
    out.format, out.title, out.recipe = worst.format, worst.title, worst.recipe
    out.entries, out.checked = (sum(getattr(r, f) for r in reports) for f in ("entries", "checked"))
    out.wrong, out.inherited = (sum(getattr(r, f) for r in reports) for f in ("wrong", "inherited"))
    if worst.exit_code == 0:
        out.verdict = f"{len(reports)} databases; {'; '.join(r.verdict for r in reports)}"
    else:
        place = reports.index(worst)
        head, _, rest = worst.verdict.partition(": ")
        out.verdict = f"{head}: database {place} of {len(reports)}: {rest}"
    for report in reports:
        out.findings += report.findings
    return out


def _known(
    report: Report, known: dict[str, Any] | None, same_size: list[dict[str, Any]], db: Database
) -> None:
    if known is not None:
        report.known_as = f"{known['name']} ({known['kind']} published by: {known['published_by']})"
        report.notes.append(f"its bytes are those of {report.known_as}")
        if report.status == "unproved":
            report.verdict += f"; its bytes are those of {report.known_as}"
    elif same_size and report.exit_code == 0 and report.rung != "structure":
        names = sorted({entry["name"] for entry in same_size})
        report.notes.append(f"it has the size of, but not the bytes of: {'; '.join(names)}")


def _against(report: Report, path: PathLike, other: PathLike, tolerance: float | None) -> None:
    from bgfmt.verifier.comparing import diff

    result = diff(path, other)
    report.notes.append(str(result))
    allowed = tolerance or 0
    if result.different and result.largest > allowed:
        report.add(Finding("against", str(result)))
        if report.exit_code == 0:
            report.status = "damaged" if report.status != "proved" else "not what it claims"
            report.verdict = f"not the same as {os.fspath(other)}: {result}"


class _Climb:
    def __init__(
        self,
        until: str | None,
        sample: int | None,
        seed: int,
        tolerance: float | None,
        threads: int,
        progress: Progress | None,
    ) -> None:
        self.until, self.sample, self.seed, self.tolerance = until, sample, seed, tolerance
        self.threads, self.progress = threads, progress

    def table(self, db: Database, name: str) -> Report:
        report = Report(name, format=db.format.name, title=str(db), rung="structure")
        began = time.perf_counter()
        findings = list(checks.structure(db))
        report.seconds["structure"] = time.perf_counter() - began
        last = RUNGS.index(self.until) if self.until else self._reach(db.table)
        try:
            if last >= RUNGS.index("digest"):
                report.rung = "digest"
            if last == RUNGS.index("sense"):
                self._sense(report, db.table)
            elif last >= RUNGS.index("recurrence"):
                self._recurrence(report, db)
                if report.exit_code == 0 and not findings:
                    findings += checks.layout(db)
                if last >= RUNGS.index("regenerate") and report.exit_code == 0:
                    self._regenerate(report, db)
        except (CorruptError, ValueError) as error:
            report.status = "damaged"
            text = (
                _plain(error, name)
                if isinstance(error, BgfmtError)
                else f"its numbers make no table: {error}"
            )
            report.verdict = f"damaged: {text}"
            report.add(Finding("structure", text, kind="layout", offset=getattr(error, "offset", None),
                               position_number=getattr(error, "position_number", None)))  # fmt: skip
        self._finish(report, findings)
        return report

    def _finish(self, report: Report, findings: list[Finding]) -> None:
        report.findings[:0] = findings
        if findings and report.exit_code == 0:
            kept = report.verdict.partition(": ")[2]
            report.status = "damaged"
            what = "; ".join(str(f) for f in findings)
            report.verdict = f"damaged: {what}" + (f"; otherwise {kept}" if kept else "")
        elif findings:
            report.notes += [str(finding) for finding in findings]
        if not report.verdict:
            report.verdict = f"nothing wrong found as far as {report.rung} (not a proof)"

    def _reach(self, table: Table) -> int:
        """The rung that about a minute reaches."""
        if isinstance(table, Components):
            return RUNGS.index("structure")
        seconds = _cost(table) / self.threads
        if seconds < MINUTE or self.sample:
            return RUNGS.index("recurrence")
        size = sum(
            int(np.prod(r.shape, dtype=np.float64)) * r.dtype.itemsize for r in table.arrays().values()
        )
        return RUNGS.index("sense" if size < READ_IN_A_MINUTE else "digest")

    def _sense(self, report: Report, table: Table) -> None:
        began = time.perf_counter()
        report.rung = "sense"
        found = list(checks.sense(table))
        report.seconds["sense"] = time.perf_counter() - began
        for finding in found:
            report.add(finding)
        if found:
            report.status = "damaged"
            report.verdict = f"damaged: {found[0].message}"

    def _recurrence(self, report: Report, db: Database) -> None:
        table = db.table
        began = time.perf_counter()
        report.rung = "recurrence"
        if self.sample:
            from bgfmt.verifier import sampling

            sampling.judge(report, table, self.sample, self.seed)
        elif isinstance(table, TwoSided):
            self._two_sided(report, table)
        elif isinstance(table, Hypergammon):
            from bgfmt.verifier import judge_hypergammon

            judge_hypergammon.judge(report, table, threads=self.threads, progress=self.progress)
        elif isinstance(table, (OneSided, NormalOneSided, MeanRolls)):
            self._one_sided(report, table)
        else:
            report.rung = "structure"
            report.verdict = "nothing wrong found as far as structure: it holds no table bgfmt can prove"
        report.seconds["recurrence"] = time.perf_counter() - began
        if report.exit_code:
            from bgfmt.verifier import diagnose

            diagnose.of_table(report, db)

    def _two_sided(self, report: Report, table: TwoSided) -> None:
        from bgfmt.verifier import judge_two_sided
        from bgfmt.verifier.recurrence import two_sided as recurrence_two_sided

        if table.exact:
            from bgfmt.verifier import exact

            exact.judge(report, table, threads=self.threads)
            return
        found = recurrence_two_sided.check(table, threads=self.threads, progress=self.progress)
        judge_two_sided.judge(report, table, found, tolerance=self.tolerance)

    def _one_sided(self, report: Report, table: OneSided | NormalOneSided | MeanRolls) -> None:
        from bgfmt.verifier import judge_one_sided as judge

        if isinstance(table, OneSided) and table.exact:
            from bgfmt.verifier import exact

            exact.judge(report, table, threads=self.threads)
        elif isinstance(table, OneSided):
            judge.judge_rows(report, table, threads=self.threads, progress=self.progress)
        elif isinstance(table, NormalOneSided):
            judge.judge_normal(report, table, threads=self.threads, progress=self.progress)
        else:
            judge.judge_means(report, table, threads=self.threads, progress=self.progress)

    def _regenerate(self, report: Report, db: Database) -> None:
        from bgfmt.verifier import regenerate

        began = time.perf_counter()
        regenerate.judge(report, db, threads=self.threads, progress=self.progress)
        report.seconds["regenerate"] = time.perf_counter() - began


def _cost(table: Table) -> float:
    """Seconds of one core that the recurrence rung takes, roughly."""
    n = table.positions
    if isinstance(table, TwoSided):
        return 2 + n * n * 4e-8 * (table.points * table.chequers) / 48
    if isinstance(table, Hypergammon):
        return {26: 5.0, 351: 10.0}.get(n, 600.0)
    return 3 + n * 2e-6 * table.points


def describe(report: Report) -> str:
    """The rung a report reached, in words."""
    return f"{report.rung}: {plural(report.checked, 'entry')} checked" if report.checked else report.rung
