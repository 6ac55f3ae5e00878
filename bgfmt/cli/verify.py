"""`bgfmt verify`: prove databases right, or name what is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from bgfmt.cli import options
from bgfmt.cli.terminal import Progress, clock

RUNGS = ("structure", "digest", "sense", "recurrence", "regenerate")
SAID_BEFORE = 10.0  # seconds from which the time a proof takes is said before
SHOWN = 5  # findings that are shown


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--until", type=click.Choice(RUNGS), help="Last rung to climb (default: recurrence, the proof)."
)
@click.option("--quick", is_flag=True, help="Look at 100,000 entries only, which is no proof.")
@click.option("--against", type=click.Path(), metavar="OTHER", help="Compare with this database as well.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Check N entries instead of all.")
@click.option("--seed", type=int, default=0, metavar="S", help="Which entries a sample takes.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    metavar="X",
    help="Let differences of up to X pass (units; rolls for means and moments; equity for hypergammon).",
)
@click.option("--cluster", metavar="ADDRESS", help="Check with a Dask cluster: tcp://HOST:PORT, or local:N.")
@click.option("--exact", is_flag=True, help="Measure how far the stored numbers are from the truth.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(),
    metavar="FILE",
    help="Write the whole report (.json or .html).",
)
@options.force_option
@options.threads_option
@options.as_option
@options.json_option
def verify(
    files: tuple[str, ...],
    until: str | None,
    quick: bool,
    against: str | None,
    sample: int | None,
    seed: int,
    tolerance: float | None,
    cluster: str | None,
    exact: bool,
    report_file: str | None,
    force: bool,
    threads: int | None,
    described: str | None,
    as_json: bool,
) -> int:
    """Prove each FILE right, entry by entry, or name what is wrong.

    The verdict comes first, in one line. Exit code 0: proved under a named recipe, or within --tolerance, or nothing
    found where less than a proof was asked for; 1: something was found, or no proof; 2: not readable.

    \b
    Examples:
      bgfmt verify gnubg_ts0.bd
      bgfmt verify --until digest *.bd
      bgfmt verify --exact gnubg_ts0.bd
    """
    import bgfmt

    write = _report_writer(report_file, [*files, *([against] if against else [])], force)
    worst = 0
    reports: list[Any] = []
    failed: list[dict[str, Any]] = []
    for file in files:
        reading = options.reading(described)
        try:
            with Progress(f"verifying {file}") as progress:
                report = bgfmt.verify(
                    file, until=until, quick=quick, against=against, sample=sample, seed=seed, tolerance=tolerance,
                    threads=threads, exact=exact, cluster=cluster,
                    progress=progress, announce=_announcer(file, progress),
                    format=reading.pop("format", None), described=reading,
                )  # fmt: skip
        except OSError as error:
            if len(files) == 1:
                raise
            click.echo(f"bgfmt: {error.filename or file}: {error.strerror or error}", err=True)
            failed.append({"file": file, "error": options.as_error(error)})
            worst = max(worst, 2)
            continue
        worst = max(worst, report.exit_code)
        reports.append(report)
        if not as_json:
            _show(file, report, many=len(files) > 1)
    if as_json:
        plain = [*(report.as_dict() for report in reports), *failed]
        options.echo_json(plain[0] if len(files) == 1 else plain)
    if write is not None:
        write(reports)
    return worst


def _announcer(file: str, progress: Progress) -> Any:
    def announce(seconds: float) -> None:
        if seconds >= SAID_BEFORE:
            click.echo(f"bgfmt: {file}: every entry is checked, about {clock(seconds)} minutes", err=True)
            progress.silent = False

    return announce


def _report_writer(file: str | None, inputs: list[str], force: bool) -> Any:
    """How the report is written; refused before the work where it cannot be."""
    if file is None:
        return None
    from bgfmt.storage import create
    from bgfmt.verifier import report as reports_of

    suffix = Path(file).suffix.lower()
    if suffix not in (".json", ".html"):
        raise click.UsageError(f"{file}: a report is .json or .html")
    if os.path.exists(file):
        if any(os.path.exists(name) and os.path.samefile(file, name) for name in inputs):
            raise click.UsageError(f"{file}: the report would replace a file that is verified")
        if not force:
            raise click.UsageError(f"{file}: exists already (--force replaces it)")

    def write(reports: list[Any]) -> None:
        plain = [report.as_dict() for report in reports]
        text = (
            reports_of.html(plain) if suffix == ".html" else json.dumps(plain, indent=2, default=str) + "\n"
        )
        with create(file, force=force) as sink:
            sink.write(text.encode("utf-8"))

    return write


# -- on the terminal -------------------------------------------------------------------------------------------


def _show(file: str, report: Any, *, many: bool) -> None:
    from bgfmt.verifier import words

    click.echo(f"{file}: {report.verdict}" if many else report.verdict)
    if report.title:
        click.echo(f"  file      {report.title}")
    if report.rung:
        seconds = sum(report.seconds.values())
        entries = f", {report.checked:,} entries checked" if report.checked else ""
        click.echo(f"  reached   {report.rung}{entries}, {seconds:.1f} s")
    for note in report.notes:
        click.echo(f"  note      {note}")
    if report.differences:
        click.echo("  differences  " + ", ".join(f"{k}: {v:,}" for k, v in report.differences.items()))
    drawn = next((finding for finding in report.findings if finding.sides), None)
    for finding in report.findings[:SHOWN]:
        click.echo(f"  found     {words.message(finding)}")
        for line in words.board(finding).splitlines() if finding == drawn else ():
            click.echo(f"            {line}")
    if len(report.findings) > SHOWN:
        click.echo(f"  ...       {len(report.findings) - SHOWN} more findings (--json shows them)")
    for line in words.truth(report.exact):
        click.echo(f"  {line}")
