"""`bgfmt repair`: recompute the wrong entries of a damaged database."""

from __future__ import annotations

import click

from bgfmt.cli import options


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "-o", "--output", "out", required=True, type=click.Path(), metavar="FIXED", help="File to write."
)
@options.force_option
@options.json_option
def repair(file: str, out: str, force: bool, as_json: bool) -> int:
    """Write FILE to FIXED with its wrong entries recomputed, and prove the result.

    Refuses when the file is not of a kind that can be recomputed, or less than half of it is right.

    \b
    Example:
      bgfmt repair gnubg_ts0.bd -o fixed.bd
    """
    import bgfmt

    report = bgfmt.repair(file, out, force=force)
    if as_json:
        options.echo_json(report.as_dict())
    else:
        click.echo(report.verdict)
        for note in report.notes:
            click.echo(f"  note      {note}")
    return int(report.exit_code)
