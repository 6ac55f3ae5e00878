"""`bgfmt study best-count`: the best counts of one to six numbers."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from bgfmt.cli import asking, options

KINDS = ("double", "redouble", "take")


@click.command("best-count")
@click.argument("files", nargs=-1, metavar="[MATCH...]", type=click.Path(exists=True, dir_okay=False))
@click.option("--table", metavar="DB", help="A cubeful two-sided database; where it covers both sides, it judges.")
@click.option("--scores", metavar="A-B,...", help="At these scores instead of for money, such as 3-5,7-7.")
@asking.question_options("met", "extend_met")
@click.option("--numbers", type=click.IntRange(1, 6), default=6, show_default=True, help="At most so many.")
@click.option(
    "--sample", type=click.IntRange(0, 10_000_000), default=100_000, show_default=True, metavar="N",
    help="Positions of the races played on with other dice; without MATCH, pairs.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of dice, halves and pairs.")
@click.option("--bound", is_flag=True, help="Search by the positions held out too: no rule of the form loses less.")
@options.json_option
def best_count(
    files: tuple[str, ...],
    table: str | None,
    scores: str | None,
    met: str | None,
    extend_met: bool | None,
    numbers: int,
    sample: int,
    seed: int,
    bound: bool,
    as_json: bool,
) -> None:
    """Search for the best counts that people can use, of one to six numbers to remember.

    All races of the recorded matches MATCH (any form that `bgfmt matches` reads) and N positions of the same races
    played on with other dice; half of the matches are held out, and the rules found, Isight and others are judged by
    them. Gammons are ignored; what the table does not cover is estimated. Without MATCH pairs are drawn evenly from DB,
    or from six points and six chequers.

    \b
    Examples:
      bgfmt study best-count
      bgfmt study best-count --table 6x15.bgts matches/*.mat
      bgfmt study best-count --scores 2-4,7-7 matches/*.xg
    """
    from bgfmt.analysis.questions import parse_away
    from bgfmt.cli.terminal import Progress
    from bgfmt.errors import NotCoveredError
    from bgfmt.extras.lab.study import races, search
    from bgfmt.met import DEFAULT, load
    from bgfmt.met.score import Score
    from bgfmt.solver import two_sided
    from bgfmt.tables import TwoSided, of_kind

    if scores is None and (met is not None or extend_met):
        raise click.UsageError("a match equity table is for scores: name them with --scores")
    equity = load(met or DEFAULT, extend=bool(extend_met)) if scores else None
    asked = [Score(parse_away(one), equity) for one in scores.split(",")] if scores and equity else [None]
    with ExitStack() as stack:
        judge: TwoSided | None = None
        if table is not None:
            fitting = of_kind(stack.enter_context(asking.opened([table], None, None)).tables, TwoSided)
            if not fitting or not fitting[0].cubeful:
                raise NotCoveredError(f"{table}: rules are judged by both sides' cubeful equities")
            judge = fitting[0]
        elif not files:
            judge = of_kind([two_sided(6, 6, recipe="exact")], TwoSided)[0]
        if files:
            drawn = races.of_matches(files, sample, seed)
        else:
            assert judge is not None
            drawn = races.drawn_evenly(judge, max(sample, 2), seed)
        studies = []
        for score in asked:
            with Progress("judging", " positions") as progress:
                worths = races.worths(drawn, score, judge, progress)
            with Progress("searching", " families") as progress:
                studies.append(search.study(drawn, worths, numbers, bound, progress))
    sections = [_section(one, score) for one, score in zip(studies, asked, strict=True)]
    if as_json:
        options.echo_json({"seed": seed, "sample": sample, "sections": sections})
    else:
        click.echo("\n\n".join("\n".join(_lines(one)) for one in sections))


def _section(study: Any, score: Any) -> dict[str, Any]:
    return {"away": list(score.away) if score else None} | study.as_dict()


def _lines(section: dict[str, Any]) -> list[str]:
    away = section["away"]
    about = f"at {away[0]}-away, {away[1]}-away" if away else "for money"
    lines = [
        f"{section['searched']:,} positions to search by, {section['held']:,} held out, {about}",
        f"of {section['families']:,} families of rules {section['boxes']:,} boxes of weights were looked at",
        "",
        "what a position costs on average, in thousandths of a point, by positions held out",
        "rule          loss  st. error   double redouble   take   of isight's  st. error   recorded  st. error",
    ]
    for rule in section["rules"]:
        held, share, real = rule["held"], rule["of_isight"], rule["recorded"]
        kinds = " ".join(f"{1000 * rule[kind]:8.3f}" for kind in KINDS)
        recorded = f"   {1000 * real['value']:8.3f} {1000 * real['error']:10.3f}" if real else ""
        lines.append(
            f"{rule['rule']:<9} {1000 * held['value']:8.3f} {1000 * held['error']:10.3f} {kinds}"
            f"   {share['value']:11.3f} {share['error']:10.3f}{recorded}"
        )
    lines.append("")
    for rule in section["rules"]:
        if rule["count"]:
            found = f"{rule['rule']}: {rule['count']} ({1000 * rule['searched']:.3f} where searched)"
            if rule["bound"] is not None:
                found += f"; no rule of the form loses less than {1000 * rule['bound']:.3f} held out"
            lines.append(found)
    return lines
