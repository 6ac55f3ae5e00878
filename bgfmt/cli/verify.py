"""`bgfmt verify`: prove databases right, or name what is wrong."""

from __future__ import annotations

import json
from typing import Any

import click

from bgfmt.cli import options
from bgfmt.cli.terminal import Progress

RUNGS = ("structure", "digest", "sense", "recurrence", "regenerate")


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--until", type=click.Choice(RUNGS), help="Last rung to climb (default: as far as a minute reaches)."
)
@click.option("--against", type=click.Path(), metavar="OTHER", help="Compare with this database as well.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Check N entries instead of all.")
@click.option("--seed", type=int, default=0, metavar="S", help="Which entries a sample takes.")
@click.option("--tolerance", type=float, metavar="X", help="Largest difference still called consistent.")
@click.option("--exact", is_flag=True, help="Measure how far the stored numbers are from the truth.")
@click.option(
    "--report", "report_file", type=click.Path(), metavar="FILE", help="Write the whole report as JSON."
)
@options.threads_option
@options.as_option
@options.json_option
def verify(
    files: tuple[str, ...],
    until: str | None,
    against: str | None,
    sample: int | None,
    seed: int,
    tolerance: float | None,
    exact: bool,
    report_file: str | None,
    threads: int | None,
    described: str | None,
    as_json: bool,
) -> int:
    """Prove each FILE right, entry by entry, or name what is wrong.

    The verdict comes first, in one line. Exit code 0: proved or consistent, 1: something was found, 2: not readable.

    \b
    Examples:
      bgfmt verify gnubg_ts0.bd
      bgfmt verify --until digest *.bd
      bgfmt verify --exact gnubg_ts0.bd
    """
    import bgfmt

    worst = 0
    reports: list[dict[str, Any]] = []
    for file in files:
        reading = options.reading(described)
        try:
            with Progress(f"verifying {file}") as progress:
                report = bgfmt.verify(
                    file, until=until, against=against, sample=sample, seed=seed, tolerance=tolerance,
                    threads=threads,
                    exact=exact, progress=progress, format=reading.pop("format", None), described=reading,
                )  # fmt: skip
        except OSError as error:
            click.echo(f"bgfmt: {file}: {error.strerror or error}", err=True)
            worst = max(worst, 2)
            continue
        worst = max(worst, report.exit_code)
        reports.append(report.as_dict())
        if not as_json:
            _show(file, report, many=len(files) > 1)
    if as_json:
        options.echo_json(reports[0] if len(files) == 1 and reports else reports)
    if report_file:
        with open(report_file, "w", encoding="utf-8") as out:
            json.dump(reports, out, indent=2, default=str)
            out.write("\n")
    return worst


def _show(file: str, report: Any, *, many: bool) -> None:
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
        click.echo("  differences  " + ", ".join(f"{k}: {v}" for k, v in report.differences.items()))
    for finding in report.findings[:5]:
        click.echo(f"  found     {finding.message}")
        for line in finding.board.splitlines() if finding is _first_board(report) else ():
            click.echo(f"            {line}")
    if len(report.findings) > 5:
        click.echo(f"  ...       {len(report.findings) - 5} more findings (--json shows them)")
    if report.exact:
        click.echo("  against the truth:")
        for key, value in report.exact.items():
            click.echo(f"    {key}: {value}")


def _first_board(report: Any) -> Any:
    return next((finding for finding in report.findings if finding.board), None)
