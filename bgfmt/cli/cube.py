"""`bgfmt cube`: double or not, take or pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import click

from bgfmt.analysis import questions
from bgfmt.analysis.answers import COLUMNS
from bgfmt.analysis.cube import CubeAction
from bgfmt.cli import asking, options
from bgfmt.cli.sections import section
from bgfmt.cli.sourcing import source_line
from bgfmt.errors import TooMuchWorkError
from bgfmt.game.drawing import pluralize
from bgfmt.game.state import GameState

#: what `--owner` means for `--cube`
CUBE_OF_OWNER: dict[str, Literal["centered", "owned", "opponent"]] = {
    "me": "owned",
    "nobody": "centered",
    "other": "opponent",
}


@section("Query")
@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[DB...] POSITION")
@click.option(
    "--plot", metavar="FILE", type=click.Path(dir_okay=False),
    help="Draw into FILE the cube actions of all positions in which each side has as many chequers as "
    "in POSITION; with --scores, of POSITION at all scores.",
)  # fmt: skip
@click.option(
    "--owner", type=click.Choice(list(CUBE_OF_OWNER)),
    help="Who owns the cube; me, nobody and other mean --cube owned, centered and opponent.",
)  # fmt: skip
@asking.question_and_limit_options(
    *questions.specific_options("cube"), *questions.STATE, "oracle", *questions.MET
)
@options.style_option
@options.json_option
def cube(
    words: tuple[str, ...],
    plot: str | None,
    owner: str | None,
    question: questions.Question,
    style: str,
    as_json: bool,
    **calculation: Any,
) -> int:
    """Find the cube action of POSITION; the cube is centered unless the identifier or an option says otherwise.

    POSITION has two sides, the one on roll first: chequer counts from the ace point up, or any identifier. "-" reads
    a position from each line of standard input and prints a line of JSON for each. DB are files or folders; the
    default is BGFMT_DB, else gnubg's installed databases, else the default tables. The cube and the score of an
    identifier are used; --cube or --owner overrides the cube's position. The equities listed for each position of the
    cube are those without a double. If no table covers the position, or the best two choices differ by less than the
    table's error, the answer is calculated exactly within --limit. A hypergammon table answers only if it is the only
    one named.

    \b
    Examples:
      bgfmt cube "0 1 0 0 1 0 / 0 1 1 0 0 0"
      bgfmt cube "0 1 0 0 1 0 / 0 1 1 0 0 0" --owner me
      bgfmt cube gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" --away 3-5
    """
    if owner is not None:
        if question.cube is not None:
            raise click.UsageError("--owner and --cube exclude each other")
        question = replace(question, cube=CUBE_OF_OWNER[owner])
    said = asking.split(words)
    specific = question.specific_values("cube")
    with asking.adviser(said, question, **calculation) as advisor:
        if said.many:
            options.refuse_ignored("an answer of many positions", "plot")
            return asking.answer_stdin(
                lambda text: questions.cube(advisor, questions.state_of(text, question), **specific), style
            )
        answer = questions.cube(advisor, questions.state_of(said.position, question), **specific)
        aside = asking.explain_ignored(advisor, answer, question, said.paths)
        refusal = advisor.sources.results.find_refusal(answer.state.position)
        asking.say(said.position, answer, lambda: answer_lines(answer, refusal), aside, as_json, style)
        if plot:
            charts = asking.load_charts()
            if isinstance(answer, questions.ScoresAnswer):
                charts.score_chart(plot, _codes(answer))
            else:
                charts.cube_chart(plot, advisor.library.tables, answer.state.position)
    return 0


def heading(state: GameState) -> list[str]:
    """Return the drawn board, the pips of both sides, and cube and score if they are not the default, as lines."""
    us = state.position.us
    them = state.position.them
    sides = f"On roll {us} ({pluralize(us.pips, 'pip')}), other side {them} ({pluralize(them.pips, 'pip')})"
    more = asking.title(state)
    return [asking.board_of(state), "", sides, *([more] if more else [])]


def answer_lines(
    answer: questions.CubeAnswer | questions.MatchCubeAnswer | questions.ScoresAnswer,
    refusal: TooMuchWorkError | None = None,
) -> list[str]:
    """Format the answer to a query about the cube (for money, at a score, or at all scores) as lines of text.

    refusal : see `source_line`.
    """
    if isinstance(answer, questions.ScoresAnswer):
        return grid_lines(answer)
    if isinstance(answer, questions.MatchCubeAnswer):
        return match_lines(answer)
    equities = answer.equities
    lines = heading(answer.state)
    about = "approximately " if equities.approximate else ""
    if equities.win is not None:
        lines.append(f"  win {about}{asking.percent(equities.win).strip()}")
    columns = ", ".join(f"{name} {getattr(equities, name):+.4f}" for name in COLUMNS)
    lines.append("  equity of rolling without doubling: " + columns)
    if equities.gammons != "none":
        lines.append(f"  gammons are possible and {equities.gammons}")
    lines.append(f"  {source_line(equities, refusal)}")
    action = answer.action
    lines += action_lines(action) if action.may_double else ["", action.action]
    return [*lines, *insight_lines(answer)]


def insight_lines(answer: questions.CubeAnswer | questions.MatchCubeAnswer) -> list[str]:
    """Format the reasons of a cube action (take point, market losers, best rolls) as lines; none if not requested."""
    return ["", *(f"  {line}" for line in answer.insight.lines)] if answer.insight else []


def action_lines(action: CubeAction) -> list[str]:
    """Format a cube action for money (equities, decision, certainty) as lines of text."""
    word = "redouble" if action.cube == "owned" else "double"
    lines = ["", f"{'Centered cube' if action.cube == 'centered' else 'Own cube'}: {action.action}"]
    rows = [
        (f"no {word}", action.no_double),
        (f"{word}, take", action.double_take),
        (f"{word}, pass", action.double_pass),
    ]
    if action.beavers and action.double_beaver is not None:
        rows.insert(2, (f"{word}, beaver", action.double_beaver))
    for name, value in rows:
        best = "   <" if abs(value - action.best) < 1e-12 else ""
        lines.append(f"  {name:<16} {value:+8.4f}{best}")
    doubling = gain_words("doubling", action.double_margin, f"{abs(action.double_margin):.4f}")
    taking = gain_words("taking", action.take_margin, f"{abs(action.take_margin):.4f}")
    if action.beavers:
        taking += f", beavering {-action.double_take:.4f} more"
    calculated = " (calculated exactly)" if action.settled else ""
    lines.append(f"  {doubling}, {taking}; {action.certainty}{calculated}")
    return lines


def gain_words(choice: str, margin: float, amount: str) -> str:
    """Return what a choice gains or costs, such as "doubling costs 0.0322"; `margin` has the sign of the gain."""
    return f"{choice} {'gains' if margin >= 0 else 'costs'} {amount}"


def match_lines(answer: questions.MatchCubeAnswer) -> list[str]:
    """Format a cube action at a match score (match winning chances, equities, certainty) as lines of text."""
    state = answer.state
    action = answer.action
    emg = answer.action.emg
    word = "redouble" if state.owner == "owned" else "double"
    lines = [*heading(state), "", action.action, f"  {'':<16}    match     equity"]
    for name, chance, equity in (
        (f"no {word}", action.mwc.no_double, emg.no_double),
        (f"{word}, take", action.mwc.double_take, emg.double_take),
        (f"{word}, pass", action.mwc.double_pass, emg.double_pass),
    ):
        if chance is not None and equity is not None:
            best = "   <" if abs(chance - action.mwc.best) < 1e-12 else ""
            lines.append(f"  {name:<16} {asking.percent(chance)}  {equity:+8.4f}{best}")
    if action.may_double:
        equities = (action.double_margin, action.take_margin)
        gains = [
            gain_words(choice, margin, f"{100 * abs(margin):.3f} % ({abs(equity):.4f})")
            for choice, margin, equity in zip(("doubling", "taking"), action.margins, equities, strict=True)
        ]
        lines.append("  " + ", ".join(gains))
    lines += [f"  {text}" for text in action.notes]
    about = action.certainty if action.approximate else "exact"
    met = action.score.met
    lines.append(f"  {about}; match equity table {met.name} (values {met.digest[:12]})")
    return [*lines, *insight_lines(answer)]


# -- the action at every score ----------------------------------------------------------------------------

#: meaning of a cell's code
WORDS = {
    "D/T": "double, take",
    "D/P": "double, pass",
    "N/T": "no double, take",
    "N/P": "too good, pass",
    "O/T": "optional double, take",
    "D/=": "double, take or pass",
    "--": "no double possible",
}


def grid_lines(answer: questions.ScoresAnswer) -> list[str]:
    """Format the cube actions at all scores as a grid: rows are the points that the side on roll needs.

    Columns are the points that the opponent needs.
    """
    state = answer.state
    grid = answer.grid
    out = [asking.board_of(state), ""]
    out += [f"Cube at {state.cube_value}, {state.owner}; match equity table {grid.met.name}", ""]
    across = "".join(f"{other:>5}" for other in range(1, grid.upto + 1))
    out.append(f"you need{across}   the other side needs")
    out += [f"{mine:>8}{''.join(f'{code:>5}' for code in row)}" for mine, row in enumerate(_codes(answer), 1)]
    out += ["", "Scores with a 1 are after the Crawford game, in which nobody may double."]
    seen = dict.fromkeys(cell.code for cell in grid.cells.values())
    return out + [f"{name} {WORDS.get(name, name)}" for name in seen]


def _codes(answer: questions.ScoresAnswer) -> list[list[str]]:
    """Return the codes of the actions, own points to go down, the opponent's across."""
    away = range(1, answer.grid.upto + 1)
    return [[answer.grid[mine, other, False].code for other in away] for mine in away]
