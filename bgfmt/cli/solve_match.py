"""`bgfmt solve match`: the table of a match score."""

from __future__ import annotations

import re

import click

from bgfmt.cli import options


@click.command("match")
@click.argument("size", metavar="PxC")
@click.option("--away", required=True, metavar="A-B", help="Points that one side and the other still need.")
@click.option(
    "--met", metavar="NAME|FILE", help="Match equity table: a name or a file (default: Kazaross-XG2)."
)
@click.option(
    "--met-player",
    type=click.IntRange(0, 1),
    default=0,
    help="Which player of an uneven match equity table the first side is.",
)
@click.option("--extend-met", is_flag=True, help="Beyond the table go on by the normal distribution.")
@click.option("--recipe", type=click.Choice(["match", "exact"]), default="match", show_default=True)
@click.option("-o", "--output", type=click.Path(), help="The file to make.")
@click.option("--to", "to", metavar="FORMAT", help="Format to write (default: by OUTPUT's suffix).")
@click.option("--plan", is_flag=True, help="Only say what time, memory and disk it would take.")
@click.option("--quiet", is_flag=True, help="No progress.")
@options.threads_option
@options.force_option
@options.json_option
def match(
    size: str,
    away: str,
    met: str | None,
    met_player: int,
    extend_met: bool,
    recipe: str,
    output: str | None,
    to: str | None,
    plan: bool,
    quiet: bool,
    threads: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Match winning chances of both sides at one score, for every live state of the cube.

    P points and up to C chequers a side. The file serves either side of the score; a folder of such files, given
    where a database is asked for, serves a whole match.

    \b
    Examples:
      bgfmt solve match 6x6 --away 5-9 -o 5-9.bgm
      bgfmt solve match 6x8 --away 3-3 --met g11 --plan
    """
    sized = re.fullmatch(r"(\d{1,2})[xX](\d{1,2})", size)
    if not sized:
        raise click.UsageError(f"{size!r}: expected points x chequers, such as 6x8")
    scored = re.fullmatch(r"(\d{1,3})-(\d{1,3})", away)
    if not scored:
        raise click.UsageError(f"{away!r}: expected the points that either side needs, such as 5-9")
    if output is None and not plan:
        raise click.UsageError("Missing option '-o': the file to make.")
    from bgfmt import jit
    from bgfmt import met as tables
    from bgfmt.cli.terminal import Progress, echo_plan
    from bgfmt.files import solve_match as solving_match
    from bgfmt.solver.match import plan_match_score

    points, chequers = int(sized[1]), int(sized[2])
    needed = (int(scored[1]), int(scored[2]))
    table = tables.load(met or tables.DEFAULT, extend=extend_met)
    if plan or output is None:
        echo_plan(plan_match_score(points, chequers, needed, table, player=met_player, threads=threads))
        return
    with (
        Progress("solving", " pairs", always=not quiet) as progress,
        jit.watching((lambda: None) if quiet else progress.compiling),
    ):
        solving_match.solve_match_score(
            output, points, chequers, needed, table, player=met_player, recipe=recipe, format=to, force=force,
            threads=threads, progress=None if quiet else progress,
        )  # fmt: skip
    if as_json:
        options.echo_written(output)
