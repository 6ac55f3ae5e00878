"""`bgfmt annotate`: every bearoff decision of a match, judged."""

from __future__ import annotations

import json

import click

from bgfmt.cli import options


@click.command()
@click.argument("match", type=click.Path(dir_okay=False))
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Where to write: a .sgf with comments, a .json, or a report in words.",
)
@options.force_option
@options.as_option
@options.json_option
def annotate(
    match: str,
    databases: tuple[str, ...],
    output: str | None,
    force: bool,
    described: str | None,
    as_json: bool,
) -> int:
    """Judge every decision of MATCH (.mat, .sgf, .xg, .bgf, OGXM) that the tables DB... cover.

    DB are files or folders; without any, BGFMT_DB, what gnubg has installed, or the default tables.

    Plays, doubles not made, doubles, takes and passes: what was done, what was best, and the equity lost, with
    totals for each player. OUT ending in .sgf is the match with the judgements as comments; without -o the report
    is printed. Equities are money equities, in matches too.

    \b
    Examples:
      bgfmt annotate evening.sgf gnubg_ts0.bd -o evening-judged.sgf
      bgfmt annotate evening.mat gnubg_ts0.bd gnubg_os0.bd -o evening.txt --json
    """
    from bgfmt import storage
    from bgfmt.analysis.advisor import Advisor
    from bgfmt.cli import _asking
    from bgfmt.hosts.annotate import judge_match, read_match
    from bgfmt.matches import printable

    file = read_match(match)
    with _asking.opened(list(databases), described, None) as library:
        report = judge_match(file.match, Advisor(library))
    if file.count > 1:
        click.echo(f"bgfmt: {file.name}: {file.count} matches are in it, the first is judged", err=True)
    for problem in report.problems:
        click.echo(f"bgfmt: {file.name}: {printable(problem)}", err=True)
    if output is not None:
        ending = output.lower().rpartition(".")[2]
        if ending == "sgf":
            data = file.annotated(report)
        elif ending == "json":
            data = (json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n").encode()
        else:
            data = report.text().encode()
        with storage.create(output, force=force) as sink:
            sink.write(data)
    if as_json:
        options.echo_json(report.as_dict())
    elif output is None:
        click.echo(report.text(), nl=False)
    else:
        for player in (0, 1):
            click.echo(report.total_line(player))
    return 0
