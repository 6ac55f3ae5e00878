"""`bgfmt race`: rolls to bear off, effective pip count, win probability of both sides."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.analysis import questions
from bgfmt.analysis.answers import SideRace, cumulate
from bgfmt.analysis.positions import one_or_two
from bgfmt.cli import asking, options
from bgfmt.cli.sections import section
from bgfmt.cli.sourcing import source_line
from bgfmt.errors import NotCoveredError


@section("Query")
@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[DB...] POSITION")
@click.option(
    "--plot", metavar="FILE", type=click.Path(dir_okay=False), help="Draw the distribution into FILE."
)
@asking.question_and_limit_options()
@options.json_option
def race(words: tuple[str, ...], plot: str | None, as_json: bool, **calculation: Any) -> int:
    """Compute mean rolls, effective pips and wastage of a side, from the best database or by calculation.

    If a side has chequers outside the home board and exact calculation would take too long, bgfmt looks it up in a
    one-sided table of ten points, which it solves once and caches. A side with chequers beyond ten points is
    estimated. With --no-settle all answers come from the databases.

    POSITION has one or two sides: chequer counts from the ace point up, or any identifier. "-" reads a position from
    each line of standard input and prints a line of JSON for each. DB are files or folders; the default is BGFMT_DB,
    else gnubg's installed databases, else the default tables. With two sides, both are described, and the win
    probability is estimated from their distributions.

    \b
    Examples:
      bgfmt race 0 2 2 2 0 4
      bgfmt race gnubg_os0.bd "0 2 2 2 0 4 / 0 0 3 3 3 1"
    """
    said = asking.split(words)
    with asking.adviser(said, **calculation) as advisor:
        if said.many:
            return asking.answer_stdin(lambda text: questions.race(advisor, one_or_two(text)))
        asked = one_or_two(said.position)
        answer = questions.race(advisor, asked)
        for line in asking.explain_ignored_in_race(advisor, said.position, answer, said.paths):
            asking.note(line)
        if plot:
            _plot(plot, answer)
        asking.say(said.position, answer, lambda: [asking.board_of(asked), *_lines(answer)], [], as_json)
    return 0


def _plot(path: str, answer: SideRace | questions.TwoRaces) -> None:
    """Draw the distributions of an answer into a file."""
    sides = [answer.on_roll, answer.other_side] if isinstance(answer, questions.TwoRaces) else [answer]
    drawn = {f"{one.side}": one.bearoff for one in sides if one.bearoff is not None}
    if not drawn:
        raise NotCoveredError("only the mean rolls of this side are known; its distribution cannot be drawn")
    asking.load_charts().distributions(path, drawn)


def _lines(answer: SideRace | questions.TwoRaces) -> list[str]:
    """Format an answer as lines of text."""
    if not isinstance(answer, questions.TwoRaces):
        return ["", f"{answer.side}", *describe(answer)]
    lines = []
    for name, one in (("On roll", answer.on_roll), ("Other side", answer.other_side)):
        lines += ["", f"{name}: {one.side}", *describe(one)]
    estimate = answer.two_sided
    if estimate is None:
        return lines
    lines += ["", "The side on roll, approximately (each side playing alone):"]
    lines.append(f"  win         {asking.percent(estimate.win)}")
    for name, value in (("win gammon", estimate.win_gammon), ("lose gammon", estimate.lose_gammon)):
        known = "unknown: no gammon data" if value is None else asking.percent(value)
        lines.append(f"  {name:<11} {known}")
    worst = 100 * estimate.worst_error
    mean = 100 * estimate.mean_error
    errs = f"  the win probability is off by {worst:.2f} % at most, {mean:.3f} % on average"
    return [*lines, f"{errs} (six chequers a side or fewer)"]


def describe(one: SideRace) -> list[str]:
    """Format one side's race (pips, mean rolls, EPC, wastage, distribution) as lines of text."""
    lines = [f"  pips        {one.pips:8d}", f"  mean rolls  {one.mean_rolls:12.5f}"]
    if one.std_rolls is not None:
        lines.append(f"  std dev     {one.std_rolls:12.5f}")
    lines += [f"  EPC         {one.epc:12.3f}", f"  wastage     {one.wastage:12.3f}"]
    if one.gammon_mean_rolls:
        lines.append(f"  first off   {one.gammon_mean_rolls:12.5f}   (mean rolls to save the gammon)")
    lines.append(f"  {source_line(one)}")
    if one.bearoff is None:
        return lines
    off = cumulate(one.bearoff)
    saved = cumulate(one.gammon) if one.gammon is not None and one.side.chequers == 15 else None
    lines.append("  rolls     exactly      off within" + ("  gammon saved" if saved is not None else ""))
    some = [i for i, chance in enumerate(one.bearoff) if chance > 0]
    first = 0 if saved is not None else some[0]
    for i in range(first, some[-1] + 1):
        more = "" if saved is None else f"    {asking.percent(saved[i] if i < len(saved) else 1.0)}"
        lines.append(f"  {i:5d}  {asking.percent(one.bearoff[i])}    {asking.percent(off[i])}{more}")
    return lines
