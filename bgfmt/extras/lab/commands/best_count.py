"""`bgfmt study best-count`: the best counts of one to six numbers."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from bgfmt.cli import asking, options

COLUMNS = ("loss", "error", "double", "redouble", "take")


@click.command("best-count")
@click.argument(
    "files", nargs=-1, required=True, metavar="MATCH...", type=click.Path(exists=True, dir_okay=False)
)
@click.option("--table", metavar="DB", help="A cubeful two-sided database: judges for money where it covers both.")
@click.option("--away", metavar="A-B", help="At a score: points that the side on roll and the other need.")
@asking.question_options("met", "extend_met")
@click.option("--numbers", type=click.IntRange(1, 6), default=6, show_default=True, help="At most so many.")
@click.option(
    "--again", type=click.IntRange(1, 10_000), default=10, show_default=True, metavar="N",
    help="How often each race is played on.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the dice and of the halves.")
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

    The races of the recorded matches MATCH (any form that `bgfmt matches` reads) are played on with other dice. By half
    of the matches the search finds the best rules; by the other half they, Isight and others are judged, and a second
    search tells what no rule of the form can fall below there. Gammons are ignored.

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
        study = search.study(sample, worths, numbers, progress)
    if as_json:
        rules = [rule._asdict() for rule in study.rules]
        options.echo_json({"away": away, "seed": seed, "again": again} | study._asdict() | {"rules": rules})
    else:
        click.echo("\n".join(_lines(study, f"at {score}" if score else "for money")))


def _lines(study: Any, about: str) -> list[str]:
    found = [rule for rule in study.rules if rule.count]
    lines = [
        f"{study.searched:,} decisions to search by, {study.held:,} held out, {about}",
        f"{study.families:,} families of rules, {study.boxes:,} boxes of weights looked at",
        "",
        "best of  rule, and what it loses a race where it was searched for, in thousandths of a point",
        *(f"      {rule.rule[-1]}  {rule.count}: {1000 * rule.searched:.2f}" for rule in found),
        "",
        "what races held out lose; no rule of as many numbers loses less than the bound",
        "rule         loss  st. error  double  redouble    take  of isight's  st. error   bound",
    ]
    for rule in study.rules:
        loss, error, *kinds = (1000 * getattr(rule, name) for name in COLUMNS)
        bound = f"{1000 * rule.bound:8.2f}" if rule.bound is not None else ""
        lines.append(
            f"{rule.rule:<10} {loss:6.2f} {error:10.2f} {kinds[0]:7.2f} {kinds[1]:9.2f} {kinds[2]:7.2f}"
            f" {rule.share:12.3f} {rule.share_error:10.3f}{bound}"
        )
    return lines
