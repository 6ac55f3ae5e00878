"""`bgfmt study best-count`: the best counts of one to six numbers."""

from __future__ import annotations

from contextlib import ExitStack

import click

from bgfmt.cli import asking, options


@click.command("best-count")
@click.argument(
    "files", nargs=-1, required=True, metavar="MATCH...", type=click.Path(exists=True, dir_okay=False)
)
@click.option(
    "--table", metavar="DB", help="A cubeful two-sided database: judges for money where it covers both."
)
@click.option("--away", metavar="A-B", help="At a score: points that the side on roll and the other need.")
@asking.question_options("met", "extend_met")
@click.option("--numbers", type=click.IntRange(1, 6), default=6, show_default=True, help="At most so many.")
@click.option(
    "--again", type=click.IntRange(1, 10_000), default=10, show_default=True, metavar="N",
    help="How often each race is played on.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the dice and of the halves."
)
@options.json_option
def best_count(
    files: tuple[str, ...],
    table: str | None,
    away: str | None,
    met: str | None,
    extend_met: bool | None,
    numbers: int,
    again: int,
    seed: int,
    as_json: bool,
) -> None:
    """Search for the best counts that people can keep in mind, of one to six numbers to remember.

    The races of the recorded matches MATCH (any form that `bgfmt matches` reads) are played on with other dice. By
    half of the matches the search finds the best rules; by the other half they, Isight and others are judged, and a
    second search tells what no rule of the form can fall below there. Gammons are ignored.

    \b
    Examples:
      bgfmt study best-count matches/*.mat
      bgfmt study best-count --table 6x15.bgts --again 100 matches/*.mat
      bgfmt study best-count --away 5-7 matches/*.xg
    """
    from bgfmt.analysis.questions import parse_away
    from bgfmt.cli.terminal import Progress
    from bgfmt.errors import NotCoveredError
    from bgfmt.extras.lab.study import races, search
    from bgfmt.met import DEFAULT, load
    from bgfmt.met.score import Score
    from bgfmt.tables import TwoSided, of_kind

    if away is None and (met is not None or extend_met):
        raise click.UsageError("a match equity table is for a score: name it with --away")
    score = Score(parse_away(away), load(met or DEFAULT, extend=bool(extend_met))) if away else None
    with ExitStack() as stack:
        judge = None
        if table is not None:
            fitting = of_kind(stack.enter_context(asking.opened([table], None, None)).tables, TwoSided)
            if not fitting:
                raise NotCoveredError(f"{table}: rules are judged by both sides' cubeful equities")
            judge = fitting[0]
        sample = races.sample(races.starts(files), again, seed)
        progress = stack.enter_context(Progress("judging", " decisions"))
        worths = races.judged(sample.us, sample.them, score, judge, progress)
        progress = stack.enter_context(Progress("searching", " families"))
        rules = search.study(sample, worths, numbers, progress)
    if as_json:
        options.echo_json({"away": away, "seed": seed, "again": again, "rules": rules})
        return
    about = f"at {score}" if score else "for money"
    held = int(sample.held.sum())
    click.echo(f"{len(sample.held) - held:,} decisions to search by, {held:,} held out, {about}")
    click.echo(
        "\nbest of  rule, and what it loses a race where it was searched for, in thousandths of a point"
    )
    for rule in rules[:numbers]:
        click.echo(f"      {rule['rule'][-1]}  {rule['words']}: {1000 * rule['searched']:.2f}")
    click.echo(
        "\nwhat the rules lose in races held out; no rule of as many numbers loses less than the bound"
    )
    click.echo("rule         loss  st. error  double  redouble    take  of isight's  st. error   bound")
    for rule in rules:
        kinds = " ".join(f"{1000 * rule[kind]:8.2f}" for kind in ("double", "redouble", "take"))
        bound = f" {1000 * rule['bound']:7.2f}" if "bound" in rule else ""
        click.echo(
            f"{rule['rule']:<10} {1000 * rule['loss']:6.2f} {1000 * rule['error']:10.2f} {kinds}"
            f" {rule['share']:11.3f} {rule['share_error']:10.3f}{bound}"
        )
