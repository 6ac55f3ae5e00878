"""An answer as the text that eXtreme Gammon puts on the clipboard, which AnkiGammon and forums read.

X is on roll and at the bottom; the players are called Player 1 and Player 2. The source of the numbers replaces the
name of an engine; the last line is bgfmt's own. Layout: docs/hosts/xg-text.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bgfmt import __version__
from bgfmt.analysis.answers import ESTIMATE, ROLLOUT
from bgfmt.analysis.cube import TIE, CubeAction
from bgfmt.analysis.questions import CubeAnswer, MatchCubeAnswer, PlayAnswer, ScoresAnswer
from bgfmt.cli.sourcing import source_line
from bgfmt.errors import CapabilityError
from bgfmt.game.drawing import draw
from bgfmt.game.state import GameState

EQUITIES = ("money", "cubeless", "match")
HIGHEST_SAFE_POINT = 18  # the highest point from which no backgammon is lost in a race
CUBE = (" +---+", " | {} |", " +---+")


def xg_text(answer: Any) -> str:
    """Format the answer to a query (plays of one or more rolls, or a cube action) as eXtreme Gammon's text.

    Raises CapabilityError if XG has no text for such an answer.
    """
    if isinstance(answer, PlayAnswer):
        return _plays(answer)
    if isinstance(answer, ScoresAnswer):
        raise CapabilityError("the cube actions at all scores cannot be printed as XG text")
    lines = _cube(answer) if isinstance(answer, CubeAnswer) else _match_cube(answer)
    met = None if isinstance(answer, CubeAnswer) else answer.action.met.name
    return _assemble(
        answer.state.before_roll(), "X on roll, cube action", [*lines, *_choices(answer.action)], met
    )


def _assemble(state: GameState, asked: str, lines: Iterable[str], met: str | None) -> str:
    """Join header, analysis and footer."""
    footer = f"bgfmt Version: {__version__}" + (f", MET: {met}" if met else "")
    return "\n".join([*header(state, asked), "", *lines, "", footer, ""])


def header(state: GameState, asked: str) -> list[str]:
    """Return the lines before the analysis: XGID, players, score, board, pips, cube, and the query.

    asked : the last line, such as "X on roll, cube action".
    """
    position = state.position
    mine = state.scores[state.turn]
    other = state.scores[1 - state.turn]
    players = "X:Player 1   O:Player 2" if state.turn == 1 else "X:Player 2   O:Player 1"
    rules = [name for name, on in (("Jacoby", state.jacoby), ("Beaver", state.beavers)) if on]
    game = f". Unlimited Game{', ' * bool(rules)}{' '.join(rules)}"
    score = f"{mine}-{other}"
    if state.length:
        game = f" {state.length} pt.(s) match."
        score = f"{score}/{state.length}{' Crawford' * state.crawford}"
    owner = {"centered": "", "owned": ", X own cube", "opponent": ", O own cube"}[state.owner]
    return [
        *(state.xgid, "", players, f"Score is X:{mine} O:{other}{game}", *_board(state)),
        f"Pip count  X: {position.us.pips}  O: {position.them.pips} X-O: {score}",
        f"Cube: {state.cube_value}{owner}",
        asked,
    ]


def _board(state: GameState) -> list[str]:
    """Return the lines of the board, with an owned cube beside its owner's home."""
    board = [line[:44].replace("+---+", "-----") for line in draw(state.position).splitlines()]
    if state.owner != "centered":
        at = -4 if state.owner == "owned" else 1
        for row, part in enumerate(CUBE):
            board[at + row] += part.format(state.cube_value)
    return board


def _chances(win: float, gammon: float, lost: float) -> list[str]:
    """Return the lines of the win and gammon probabilities of both sides."""
    return [
        f"Player Winning Chances:   {win:.2%} (G:{gammon:.2%} B:0.00%)",
        f"Opponent Winning Chances: {1 - win:.2%} (G:{lost:.2%} B:0.00%)",
        "",
    ]


def _cube(answer: CubeAnswer) -> list[str]:
    """Return the lines of a money cube action before its choices."""
    found = answer.equities
    lines = [f"Analyzed in bgfmt, {source_line(found)}"]
    highest = max(found.position.us.highest, found.position.them.highest)
    no_backgammons = not found.position.contact and highest <= HIGHEST_SAFE_POINT
    if found.win is not None and found.gammons != "ignored" and no_backgammons:
        lines += _chances(found.win, found.win_gammon or 0.0, found.lose_gammon or 0.0)
    return [
        *lines,
        f"Cubeless Equities: No Double={found.cubeless:+.4f}, Double={2 * found.cubeless:+.4f}",
        "",
    ]


def _match_cube(answer: MatchCubeAnswer) -> list[str]:
    """Return the lines of a cube action at a match score before its choices."""
    action = answer.action
    lines = [f"Analyzed in bgfmt, {action.certainty}"]
    if action.cubeless_win is None or action.gammons_text != "none":
        return lines
    win = action.cubeless_win
    score = action.score
    points = 2 * score.cube
    doubled = score.emg(win * score.after(0, points) + (1 - win) * score.after(0, -points))
    equities = f"Cubeless Equities: No Double={2 * win - 1:+.4f}, Double={doubled:+.4f}"
    return [*lines, *_chances(win, 0.0, 0.0), equities, ""]


def _choices(action: CubeAction) -> list[str]:
    """Return the lines of the three choices with their differences from the best, and the action."""
    word = "Redouble" if action.cube == "owned" else "Double"
    taken = "Take"
    taken_value = action.double_take
    if action.beavers and action.double_beaver is not None:
        taken = "Beaver"
        taken_value = action.double_beaver
    offered = [(f"{word}/{taken}", taken_value), (f"{word}/Pass", action.double_pass)]
    values = [(f"No {word.lower()}", action.no_double), *offered * action.may_double]
    lines = ["Cubeful Equities:"]
    for name, value in values:
        more = "" if abs(value - action.best) < TIE else f" ({value - action.best:+.4f})"
        lines.append(f"       {name + ':':<{len(word) + 9}}{value:+.4f}{more}")
    if not action.may_double:
        return lines
    response = taken if action.takes else "Pass"
    first = (
        word if action.doubles else f"No {word.lower()}" if action.takes else f"Too good to {word.lower()}"
    )
    lines += ["", f"Best Cube action: {first} / {response}"]
    right, wrong = sorted((taken_value, action.double_pass))
    if not action.doubles and right < action.no_double < wrong:
        other = "pass" if action.takes else "take"
        part = (action.no_double - right) / (wrong - right)
        lines.append(f"Percentage of wrong {other} needed to make the double decision right: {part:.1%}")
    return lines


def _plays(answer: PlayAnswer) -> str:
    """Return the text of ranked plays, for each roll."""
    first = answer.first
    state = answer.state
    if state is None or first.measure not in EQUITIES:
        raise CapabilityError(
            "XG text needs equities: a position of both sides, and the measure money, cubeless or match"
        )
    name = {ESTIMATE: "", ROLLOUT: "Rollout¹"}.get(first.source, "Book¹")
    out = []
    for roll in [answer.one] if answer.one else answer.rolls or []:
        lines = []
        for place, play in enumerate(roll.plays, 1):
            notation = play.notation.replace("off", "Off").replace("bar", "Bar")
            worth = "" if play.value is None else f"eq:{play.value:+.4f}"
            loss = f" ({-play.loss:+.4f})" if place > 1 and play.loss is not None else ""
            lines += [f"{place:5d}. {name:<11} {notation:<28} {worth}{loss}", ""]
        high, low = map(int, roll.roll)
        source = [f"¹ {source_line(first)}".removeprefix("" if name else "¹ ")]
        out.append(_assemble(state.rolled((high, low)), f"X to play {roll.roll}", lines + source, first.met))
    return "\n".join(out)
