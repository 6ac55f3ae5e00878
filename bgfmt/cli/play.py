"""`bgfmt play`: the plays of a roll, ranked."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.analysis import questions
from bgfmt.analysis.answers import ROLLOUT, RankedPlay
from bgfmt.cli import asking, options
from bgfmt.cli.sections import section
from bgfmt.cli.sourcing import source_line

EQUITIES = ("money", "cubeless", "match")
EQUAL_LOSS = 5e-7


@section("Query")
@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[DB...] POSITION [ROLL]")
@asking.question_and_limit_options(
    *questions.specific_options("play"), *questions.STATE, "oracle", *questions.MET
)
@options.style_option
@options.json_option
def play(
    words: tuple[str, ...], question: questions.Question, style: str, as_json: bool, **calculation: Any
) -> int:
    """Rank all plays of ROLL (61 or 6-1; "all" for the best play of each of the 21 rolls), best first.

    POSITION has two sides, the one on roll first, or only one side: chequer counts from the ace point up, or any
    identifier. The dice, the cube and the score of an identifier are used. "-" reads a position and a roll from each
    line of standard input and prints a line of JSON for each. DB are files or folders; the default is BGFMT_DB, else
    gnubg's installed databases, else the default tables. Each play is printed with its value and its loss against
    the best.

    \b
    Examples:
      bgfmt play "0 2 2 2 0 4" 6-1
      bgfmt play gnubg_ts0.bd "1 0 0 3 0 1 / 0 0 0 0 0 1" 21 --cube owned
    """
    said = asking.split(words, roll=True)
    with asking.adviser(said, question, **calculation) as advisor:

        def answer(text: str, roll: str | None) -> questions.PlayAnswer:
            asked, rolls = questions.rolls_of(text, roll, question)
            return questions.play(advisor, asked, rolls, **question.specific_values("play"))

        if said.many:
            return asking.answer_stdin(lambda line: answer(*_parts(line, said.roll)), style)
        ranked = answer(said.position, said.roll)
        aside = asking.explain_ignored(advisor, ranked, question, said.paths)
        asking.say(said.position, ranked, lambda: _lines(ranked), aside, as_json, style)
    return 0


def _parts(line: str, roll: str | None) -> tuple[str, str | None]:
    """Split a line into position and roll; the roll of the command line is used for lines without one."""
    words = line.split()
    if len(words) > 1 and asking.ROLL.fullmatch(words[-1]):
        return " ".join(words[:-1]), words[-1]
    return line, roll


def _lines(answer: questions.PlayAnswer) -> list[str]:
    """Format ranked plays as lines of text."""
    first = answer.first
    where = answer.position
    titles = {
        "money": f"money equity, cube {first.cube}",
        "match": f"equity at the score, match winning chance, {first.met}",
        "cubeless": "cubeless equity",
        "mean": "mean rolls left",
    }
    title = titles.get(
        first.measure, f"probability of being off within {first.measure.partition(':')[2]} more rolls"
    )
    about = (" (rollout)" if first.source == ROLLOUT else " (estimated)") if first.approximate else ""
    lines = [asking.board_of(answer.state or where), "", f"{where}: {title}{about}"]
    if answer.state and (more := asking.title(answer.state)):
        lines.append(more)
    for (high, low), one in answer.ranked.items():
        if not one.plays:
            lines.append(f"  {high}{low}  no chequer can move")
        elif answer.one:
            lines += [_line(place, play, first.source) for place, play in enumerate(answer.one.plays, 1)]
        else:
            best = one.plays[0]
            rivals = [p for p in one.plays[1:] if (p.loss or 0.0) <= EQUAL_LOSS]
            names = ", ".join(p.notation for p in rivals[:3]) + ", ..." * (len(rivals) > 3)
            equal = f"   (equal: {names})" if rivals else ""
            lines.append(f"  {high}{low}  {best.notation:<28} {_value(best)}{equal}")
    return [*lines, f"  {source_line(first)}"]


def _line(place: int, play: RankedPlay, source: str) -> str:
    """Format one play with its place, value and loss."""
    what = "rollout's" if source == ROLLOUT else "estimate's" if play.approximate else "table's"
    close = f", within the {what} error" if play.close and play.loss else ""
    lost = f", {100 * play.loss_mwc:.3f} %" if play.loss_mwc is not None else ""
    loss = f"  (-{play.loss:.5f}{lost}{close})" if (play.loss or 0.0) > EQUAL_LOSS else "  (equal)"
    return f"  {place:3d}. {play.notation:<28} {_value(play)}{loss if place > 1 else ''}"


def _value(play: RankedPlay) -> str:
    """Format the value of a play."""
    text = f"{play.value:+.5f}" if play.measure in EQUITIES else f"{play.value:.5f}"
    return text if play.mwc is None else f"{text} {asking.percent(play.mwc)}"
