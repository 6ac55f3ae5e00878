"""The commands `bgfmt study`: how good rules of thumb are."""

from __future__ import annotations

import re
from contextlib import ExitStack
from itertools import zip_longest
from typing import Any

import click
import numpy as np

from bgfmt.analysis.choose import check_race
from bgfmt.analysis.questions import state_of
from bgfmt.cli import asking, options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress
from bgfmt.extras.lab.study.measuring import Section, Tally, rule_quality
from bgfmt.extras.lab.study.rules import RULES, Pairs, Thresholds
from bgfmt.extras.options import number_option
from bgfmt.game.state import parse_away
from bgfmt.met import DEFAULT, load
from bgfmt.met.score import Score

#: {kind of decision: (heading, what "yes" means)}
KINDS = {
    "double": ("Doubles of a centered cube", "double"),
    "redouble": ("Redoubles", "redouble"),
    "take": ("Answers to a double, in every position", "take"),
    "answer": ("Answers to a double, where doubling a centered cube is right", "take"),
}
#: JSON names of the counts of a tally, for doubles and for answers
DOUBLES = ("doubles", "should_double", "should_roll", "wrong_doubles", "missed")
ANSWERS = ("takes", "should_take", "should_pass", "wrong_takes", "wrong_passes")


@section("Solve and verify")
@click.group(cls=options.Group)
def study() -> None:
    """Measure rules of thumb of players and programs against exact tables."""


@study.command("rules")
@click.argument("databases", nargs=-1, metavar="[DB...]")
@click.option(
    "--away", metavar="A-B", help="Match score: points that the side on roll and the other still need."
)
@asking.question_options("met", "met_player", "extend_met")
@click.option(
    "--chequers", metavar="N|A-B", help="Judge only sides of N chequers, or of A to B (default: all)."
)
@number_option(
    "--sample", least=1, most=100_000_000, default=200_000, metavar="N",
    help="How many pairs of sides to draw if there are more than 12 million.",
)  # fmt: skip
@number_option("--seed", least=0, default=1, help="Seed of the draw.")
@click.option("--rule", "names", multiple=True, metavar="NAME", help="Judge only this rule; repeatable.")
@options.as_option
@options.json_option
def rules(databases: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Measure what wrong decisions of rules of thumb cost.

    The decisions are doubles, redoubles and takes in races. Without DB, every pair of sides with six points and six
    chequers is judged by exact equities, and for money a sample with six points and fifteen chequers by an estimate.
    A two-sided DB, or with --away a table of that score, judges the pairs that it covers; a one-sided DB judges by
    the estimate. The rules ignore the score and gammons.

    \b
    Examples:
      bgfmt study rules
      bgfmt study rules --chequers 6 --rule keith --rule isight
      bgfmt study rules --away 3-5
    """
    described = asked.pop("described")
    if described and not databases:
        raise click.UsageError("--as needs the name of a database")
    away = asked["away"]
    score = _score(asked)
    asked["chequers"] = _chequers(asked["chequers"])
    with ExitStack() as stack:
        library = (
            stack.enter_context(asking.open_library(list(databases), described, None)) if databases else None
        )
        progress = stack.enter_context(Progress("studying", " pairs"))
        sections = rule_quality(library, score=score, progress=progress, **asked)
    if as_json:
        options.echo_json({"away": away, "sections": [_as_dict(s) for s in sections]})
    else:
        click.echo("\n\n".join("\n".join(_lines(s)) for s in sections))


def _score(asked: dict[str, Any]) -> Score | None:
    """Return the score, None for money; remove its options from `asked`."""
    away, met, extend, player = (
        asked.pop(name, None) for name in ("away", "met", "extend_met", "met_player")
    )
    if away is not None:
        return Score(parse_away(away), load(met or DEFAULT, extend=bool(extend)), player=player or 0)
    if met is not None or extend:
        raise click.UsageError("a match equity table needs a score: --away A-B")
    return None


def _chequers(text: str | None) -> tuple[int, int] | None:
    """Parse N or A-B and return the fewest and the most chequers of a side, None for None."""
    if text is None:
        return None
    read = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", text)
    if not read:
        raise click.UsageError(f"{text!r}: expected a number of chequers, such as 6 or 1-6")
    return int(read[1]), int(read[2] or read[1])


def _title(section: Section) -> str:
    """Return the heading of a section."""
    judge = section.judge
    (few, many) = section.chequers
    chequers = f"{few}" if few == many else f"{few} to {many}"
    pairs = f"every pair ({section.pairs:,})" if section.seed is None else f"{section.pairs:,} pairs"
    about = f"at {section.score}" if section.score else "for money"
    return f"{min(judge.points, 6)} points, {chequers} chequers a side, {pairs}, {about}"


def _lines(section: Section) -> list[str]:
    """Return a section as lines of text."""
    judge = section.judge
    lines = [_title(section), f"judged by {judge.title}" + (f", {judge.table}" if judge.table else "")]
    if section.seed is not None:
        lines.append(f"each side drawn evenly among its positions, seed {section.seed}")
    certain = section.seed is None and not judge.own_loss
    if not certain:
        about = ["twice the standard error of the sample"] * (section.seed is not None)
        about += [f"{judge.own_loss}, what deciding by the estimate loses itself"] * bool(judge.own_loss)
        lines.append(f"place: what a rule may have by its mean loss, within {' and '.join(about)}")
    for kind, (heading, yes) in KINDS.items():
        tallies = section.tallies(kind)
        if not tallies:
            lines += ["", f"{heading}: there are none at this score"]
            continue
        first = next(iter(tallies.values()))
        right = 100 * first.should / first.pairs if first.pairs else 0.0
        lines += ["", f"{heading}: {first.pairs:,}, right to {yes} in {right:.2f} %"]
        more = "" if certain else "  st. error  place"
        lines.append(
            f"{'rule':<12} {yes + 's':>9}   wrong  missed   differs  mean loss{more}  a wrong  worst  the worst"
        )
        for (rule, tally), place in zip(tallies.items(), section.places(kind), strict=True):
            span = "-".join(map(str, sorted(set(place))))
            more = "" if certain else f"   {section.error(tally):.6f}  {span:>5}"
            lines.append(
                f"{rule.name:<12} {100 * tally.yes / max(tally.pairs, 1):7.2f} % {tally.wrong_yes:>7}"
                f" {tally.wrong_no:>7}  {100 * tally.share:6.3f} %   {tally.mean:.6f}{more}"
                f"   {tally.mean_wrong:.4f} {tally.worst:.4f}  {section.worst_at(tally) or ''}"
            )
    return lines


def _as_dict(section: Section) -> dict[str, Any]:
    """Return a section as JSON has it."""
    judge = section.judge
    score = section.score
    rules: list[dict[str, Any]] = [
        {"rule": rule.name, "title": rule.title, "origin": rule.source} for rule in section.results
    ]
    for kind in KINDS:
        tallies = zip(section.tallies(kind).values(), section.places(kind), strict=True)
        found: list[Any] = [_tally(tally, kind, place, section) for tally, place in tallies]
        for row, one in zip(rules, found or [None] * len(rules), strict=True):
            row[kind] = one
    return {
        "judge": judge.title,
        "source": judge.source,
        "table": judge.table,
        "max_error": judge.max_error,
        "mean_error": judge.mean_error,
        "points": min(judge.points, 6),
        "chequers": list(section.chequers),
        "pairs": section.pairs,
        "among": section.among,
        "seed": section.seed,
        "away": list(score.away) if score else None,
        "met": score.met.name if score else None,
        "met_digest": score.met.digest if score else None,
        "ties": {"double": judge.ties[0], "answer": judge.ties[1]},
        "rules": rules,
    }


def _tally(tally: Tally, kind: str, place: tuple[int, int], section: Section) -> dict[str, Any]:
    """Return a tally as JSON has it."""
    own = tally.yes, tally.should, tally.against, tally.wrong_yes, tally.wrong_no
    return dict(zip(DOUBLES if kind in ("double", "redouble") else ANSWERS, own, strict=True)) | {
        "pairs": tally.pairs,
        "wrong": tally.wrong_decisions,
        "wrong_share": tally.share,
        "mean_loss": tally.mean,
        "standard_error": section.error(tally),
        "place": list(place),
        "loss_per_wrong": tally.mean_wrong,
        "worst_loss": tally.worst,
        "worst_at": section.worst_at(tally),
    }


@study.command("counts")
@click.argument("words", nargs=-1, required=True, metavar="[DB...] POSITION")
@asking.question_and_limit_options()
@options.json_option
def of_position(words: tuple[str, ...], as_json: bool, **calculation: Any) -> None:
    """Print what each rule of thumb decides in a race.

    The decisions in the race POSITION are for money. A count is that of the other side minus that of the side on
    roll, after the addition that the rule prescribes.

    \b
    Example:
      bgfmt study counts "2 2 2 3 3 3 / 1 2 3 3 3 3"
    """
    said = asking.split(words)
    position = state_of(said.position).position
    check_race(position)
    sides = position.us, position.them
    with asking.adviser(said, **calculation) as advisor:
        rolls = [advisor.race(side).bearoff for side in sides]
    known = [(0.0, 0.0) if one is None else one for one in rolls]
    chances = np.array(list(zip_longest(*known, fillvalue=0.0))).T[:, None, 1:]
    points = max(6, *(side.highest for side in sides))
    counted = np.array([[side.padded(points)] for side in sides], np.int64)
    pairs = Pairs(*counted, *chances)
    rows: list[dict[str, Any]] = []
    for rule in RULES.values():
        row: dict[str, Any] = {"rule": rule.name, "title": rule.title, "count": None, "limits": None}
        if isinstance(rule.decide, Thresholds):
            row["count"] = round(float(rule.decide.score(pairs)[0]) / rule.decide.part, 6)
            row["limits"] = [rule.decide.double, rule.decide.redouble, rule.decide.take]
        rows.append(row | {name: bool(x[0]) for name, x in rule.decide(pairs)._asdict().items()})
    if as_json:
        options.echo_json({"asked": said.position, "pips": [one.pips for one in sides], "rules": rows})
        return
    click.echo(f"{asking.board_of(position)}\n")
    click.echo("rule            count  double from  redouble from  take up to  says")
    for row in rows:
        numbers = [row["count"], *(row["limits"] or [None] * 3)]
        cells = ["" if n is None else f"{n:g}" if k else f"{n:.2f}" for k, n in enumerate(numbers)]
        first = "redouble" if row["redouble"] else "double" if row["double"] else "no double"
        says = f"{first}, {'take' if row['take'] else 'pass'}"
        click.echo(f"{row['rule']:<12} {cells[0]:>8} {cells[1]:>12} {cells[2]:>14} {cells[3]:>11}  {says}")
