"""`bgfmt verify`: prove databases right, or report what is wrong; `bgfmt repair`: recompute what is wrong."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress, clock, say
from bgfmt.errors import FormatError, MissingExtraError
from bgfmt.storage import check_output, create
from bgfmt.verifier import report as pages
from bgfmt.verifier import words
from bgfmt.verifier.measures import measure_of
from bgfmt.verifier.repair import may_be_repairable

__all__ = ["ANNOUNCED_SECONDS", "COLOURS", "LEVELS", "SHOWN_FINDINGS", "repair", "verify"]


LEVELS = ("structure", "digest", "sense", "recurrence", "regenerate")
ANNOUNCED_SECONDS = 10.0  # longer checks are announced with their expected duration
SHOWN_FINDINGS = 5
COLOURS = {0: "green", 1: "red", 2: "red"}  # of a verdict, by exit code


@section("Solve and verify")
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--until",
    type=click.Choice(LEVELS),
    help="Last check to run, in this order (default: recurrence, the proof; regenerate solves the table again).",
)
@click.option(
    "--quick", is_flag=True, help="Check a sample of 100,000 entries: finds damage, proves nothing."
)
@click.option("--against", type=click.Path(), metavar="OTHER", help="Also compare with this database.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Check N entries instead of all.")
@click.option("--seed", type=int, default=0, metavar="S", help="Seed of the sample (default: 0).")
@click.option(
    "--tolerance", type=click.FloatRange(0), metavar="X",
    help="Accept differences of up to X units of the stored integers (means: rolls; hypergammon: equity).",
)  # fmt: skip
@click.option("--exact", is_flag=True, help="Measure the error of the stored numbers against exact ones.")
@click.option("--bound", is_flag=True, help="Prove an error bound for every stored equity.")
@click.option(
    "--report", "report_file", type=click.Path(), metavar="FILE",
    help="Write the whole report (.json, .html or .md).",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="Print no progress, and only the verdicts of files with faults.")
@options.force_option
@options.threads_option
@options.as_option
@options.json_option
def verify(
    files: tuple[str, ...],
    against: str | None,
    report_file: str | None,
    quiet: bool,
    force: bool,
    described: str | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Prove that each FILE is correct, entry by entry, or say what is wrong.

    The first line is the verdict. Exit code 0: proved under a named recipe, or within --tolerance, or nothing found
    by a check that is less than a proof (--until, --quick, --sample); 1: a finding, or no proof; 2: not readable.

    \b
    Examples:
      bgfmt verify gnubg_ts0.bd
      bgfmt verify --until digest *.bd
      bgfmt verify --exact gnubg_ts0.bd
      bgfmt verify --bound gnubg_ts0.bd
    """
    if how["until"] in LEVELS[:3]:
        options.refuse_ignored(
            f"--until {how['until']}", "quick sample seed" + " tolerance" * (against is None)
        )
    if not (how["sample"] or how["quick"]):
        options.refuse_ignored("a check of every entry", "seed")
    write = _report_writer(report_file, [*files, *([against] if against else [])], force)
    how |= {"against": against, "format": described}
    reports: list[pages.Report] = []
    plain: list[dict[str, Any]] = []
    for file in files:
        try:
            with Progress(f"verifying {file}", quiet=quiet) as progress:
                announce = _announcer(file, progress)
                report = bgfmt.verify(file, progress=progress, announce=None if quiet else announce, **how)
            plain.append(report.as_dict())
        except (OSError, FormatError, MissingExtraError) as error:
            if len(files) == 1 and isinstance(error, MissingExtraError):
                raise
            reason = options.message_of(error)
            say(f"bgfmt: {reason}", err=True)
            report = pages.Report(file, f"not readable: {reason}", "not readable", 2)
            plain.append(report.as_dict() | {"error": options.error_fields(error)})
        else:
            if not as_json and not (quiet and report.ok):
                _show(file, report, many=len(files) > 1, brief=quiet)
        reports.append(report)
    if as_json:
        options.echo_json(plain[0] if len(files) == 1 else plain)
    elif len(files) > 1 and not quiet:
        counts = Counter(
            "with published bytes" if r.known_as and r.status == "unproved" else r.status for r in reports
        )
        say(f"{len(files)} files: {', '.join(f'{count} {status}' for status, count in counts.items())}")
    if not as_json and not quiet and any(map(may_be_repairable, reports)):
        name = shlex.quote(files[0]) if len(files) == 1 else "FILE"
        say(f"to recompute what is wrong, if at least half is right: bgfmt repair {name} NEW")
    if write is not None:
        write(plain)
    return max(report.exit_code for report in reports)


def _announcer(file: str, progress: Progress) -> Callable[[float], None]:
    """Return a function that prints the expected duration of a long check."""

    def announce(seconds: float) -> None:
        if seconds >= ANNOUNCED_SECONDS:
            say(f"bgfmt: {file}: the next step takes about {clock(seconds)} minutes", err=True)
            progress.silent = False

    return announce


def _report_writer(
    path: str | None, inputs: list[str], force: bool
) -> Callable[[list[dict[str, Any]]], None] | None:
    """Return a function that writes the report, or None without a path; raises if it cannot be written."""
    if path is None:
        return None
    suffix = Path(path).suffix.lower()
    if suffix not in (".json", ".html", ".md"):
        raise click.UsageError(f"{path}: expected a report with the suffix .json, .html or .md")
    if any(os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name) for name in inputs):
        raise click.UsageError(f"{path}: the report would replace a file to verify; choose another name")
    check_output(path, force=force)

    def write(reports: list[dict[str, Any]]) -> None:
        made = {"bgfmt": bgfmt.__version__, "date": datetime.now(UTC).isoformat(timespec="seconds")}
        plain = [report | {"sha256": _sha256(report["file"])} | made for report in reports]
        if suffix == ".json":
            text = json.dumps(plain, indent=2, default=str) + "\n"
        else:
            text = pages.html(plain) if suffix == ".html" else pages.markdown(plain)
        with create(path, force=force) as sink:
            sink.write(text.encode("utf-8", "backslashreplace"))

    return write


def _sha256(path: str) -> str:
    """Return the SHA-256 of a file, or "" for a folder, an address or an unreadable file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


@section("Solve and verify")
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="SRC DST")
@click.option(
    "-o", "--output", type=click.Path(), metavar="DST", help="File to write, instead of the argument DST."
)
@options.force_option
@options.json_option
def repair(files: tuple[str, ...], output: str | None, force: bool, as_json: bool) -> int:
    """Write a copy of SRC to DST, with wrong entries recomputed, and verify the copy.

    Fails if the kind of table cannot be recomputed, or if less than half of the file is correct.

    \b
    Example:
      bgfmt repair gnubg_ts0.bd fixed.bd
    """
    if len(files) + (output is not None) != 2:
        raise click.UsageError("expected the damaged file and the file to write: SRC DST")
    file = files[0]
    out = files[1] if output is None else output
    with Progress(f"repairing {file}", always=True) as progress:
        report = bgfmt.repair(file, out, force=force, progress=progress)
    if as_json:
        options.echo_json(report.as_dict())
    else:
        say(report.verdict, fg=COLOURS[report.exit_code])
        for note in report.notes:
            say(f"  note      {note}")
    return int(report.exit_code)


# -- on the terminal -------------------------------------------------------------------------------------------


def _show(file: str, report: pages.Report, *, many: bool, brief: bool) -> None:
    """Print the verdict on a file, and unless `brief` its notes and findings."""
    say(f"{file}: {report.verdict}" if many or brief else report.verdict, fg=COLOURS[report.exit_code])
    if brief:
        return
    if report.title:
        say(f"  file      {report.title}")
    if report.rung:
        seconds = sum(report.seconds.values())
        entries = f", {report.checked:,} entries checked" if report.checked else ""
        say(f"  reached   {report.rung}{entries}, {seconds:.1f} s")
    for note in report.notes:
        say(f"  note      {note}")
    if report.differences:
        say(f"  differ    {words.differences(report.differences)}")
    drawn = next((finding for finding in report.findings if finding.sides), None)
    for finding in report.findings[:SHOWN_FINDINGS] if report.rung else ():  # else the verdict has said it
        say(f"  found     {words.message(finding)}")
        for line in words.board(finding).splitlines() if finding == drawn else ():
            say(f"            {line}")
    if len(report.findings) > SHOWN_FINDINGS:
        say(f"  ...       {len(report.findings) - SHOWN_FINDINGS} more findings (--json shows them)")
    for part in report.parts or [report]:
        for name, found in (("exact", part.exact), ("bound", part.bound)):
            for line in measure_of(name).describe(found) if found else ():
                say(f"  {line}")
