"""`bgfmt judge`: one decision judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bgfmt.cli import _asking, options
from bgfmt.errors import PositionError

if TYPE_CHECKING:
    from bgfmt.extras.matches.annotate import Judgement
    from bgfmt.extras.matches.decisions import Decision
    from bgfmt.game.state import GameState

CUBE = {
    "double": "The side on roll doubled.",
    "no double": "The side on roll rolled on.",
    "take": "The other side took a double.",
    "pass": "The other side passed a double.",
    "beaver": "The other side beavered a double.",
}
ABOUT_A_MATCH = ("game", "record", "player", "name", "forced", "error", "close")


def _cube_options(function: _asking.F) -> _asking.F:
    """What was done with the cube, as `done`: whether each was."""

    def options(function: _asking.F) -> _asking.F:
        for did, text in reversed(CUBE.items()):
            name = f"--{did.replace(' ', '-')}"
            function = click.option(name, did.replace(" ", "_") + "_", is_flag=True, help=text)(function)
        return function

    return _asking.together("done", options, *(did.replace(" ", "_") + "_" for did in CUBE))(function)


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[DB...] POSITION")
@click.option("--roll", metavar="ROLL", help="The dice, as 61 or 6-1 (default: the identifier's).")
@click.option("--played", metavar="PLAY", help='The play made, as "6/5 6/off".')
@_cube_options
@_asking.state_options
@_asking.calculation_options
@options.as_option
@options.part_option
@options.json_option
def judge(
    words: tuple[str, ...],
    roll: str | None,
    played: str | None,
    done: dict[str, bool],
    around: dict[str, Any],
    calculation: dict[str, Any],
    described: str | None,
    part: int | None,
    as_json: bool,
) -> int:
    """Judge one decision in POSITION: a play, a double, rolling on, a take or a pass, for money or at a score.

    POSITION is two sides, the one on roll first (of a take or pass: the one that has doubled), as counts from the
    ace point up or any identifier, whose dice, cube and score are used. DB are files or folders; without any,
    BGFMT_DB, what gnubg has installed, or the default tables. What no table covers is calculated, up to a limit.

    \b
    Examples:
      bgfmt judge "1 0 1 0 0 2 / 2 2" --roll 61 --played "6/5 6/off"
      bgfmt judge "1 0 0 1 1 0 / 0 0 1 1" --away 2-4 --double
    """
    from bgfmt.extras.matches.annotate import judge as judged

    did = [name for name, yes in zip(CUBE, done.values(), strict=True) if yes]
    if (played is not None) + len(did) != 1:
        raise click.UsageError(
            "what was done? one of --played PLAY, --double, --no-double, --take, --pass and --beaver"
        )
    question = _asking.split(words)
    if question.many:
        raise click.UsageError("one position is judged at a time")
    state = _asking.state_of(question.position, **around)
    decision = _play(state, roll, played) if played is not None else _cube(state, roll, did[0])
    with _asking.adviser(question.paths, described, part, **calculation) as advisor:
        judgement = judged(decision, advisor)
        table = None if state.money else advisor.met
    if as_json:
        equities = None if table is None else {"name": table.name, "digest": table.digest}
        options.echo_json({"asked": question.position} | _as_dict(judgement) | {"met": equities})
    else:
        click.echo("\n".join(_lines(judgement)))
        if table is not None:
            click.echo(f"  match equity table {table.name} (values {table.digest[:12]})")
    return 0


def _play(state: GameState, roll: str | None, played: str) -> Decision:
    """The decision to play a roll as written; PositionError where that is not legal."""
    from bgfmt.extras.matches import plays
    from bgfmt.extras.matches.decisions import Decision
    from bgfmt.extras.matches.plays import read_play
    from bgfmt.game.moves import Play, parse_roll

    dice = parse_roll(roll) if roll is not None else state.dice
    if dice is None:
        raise PositionError("no dice: say which roll was played (--roll 61)")
    state = state.rolled(dice)
    hops, marks, rest = read_play(played)
    if rest or not hops:
        raise PositionError(f"a play is written as 6/5 6/off, not {played!r}")
    position = state.position.check()
    mine, theirs = plays.board(position.us), plays.board(position.them)
    play = plays.find(mine, theirs, dice, hops, marks)
    if isinstance(play, str):
        raise PositionError(f"{played}: {play}")
    if not play.legal:
        raise PositionError(f"{played} is not a legal play of {dice[0]}{dice[1]}")
    made = Play(play.moves, plays.position(play.mine, play.theirs))
    return Decision(0, 0, "play", state.turn, state, made)


def _cube(state: GameState, roll: str | None, did: str) -> Decision:
    from bgfmt.extras.matches.decisions import Decision

    if roll is not None:
        raise click.UsageError("a cube decision comes before the roll; --roll is for --played")
    doubling = did in ("double", "no double")
    if doubling and state.doubled:
        raise PositionError(
            "the identifier says that a double is pending; judge the answer, --take or --pass"
        )
    if did == "beaver" and not state.money:
        raise PositionError("there are no beavers in a match")
    if state.owner == "opponent" and not state.doubled:
        raise PositionError("the side on roll may not double: the other side owns the cube")
    if state.crawford:
        raise PositionError("there is no doubling in the Crawford game")
    state = replace(state.before_roll(), doubled=not doubling)
    return Decision(0, 0, did, state.turn if doubling else 1 - state.turn, state)


def _as_dict(judgement: Judgement) -> dict[str, Any]:
    from bgfmt.extras.matches.annotate import text

    facts = {name: value for name, value in judgement.as_dict().items() if name not in ABOUT_A_MATCH}
    return facts | {"certainty": text.certainty(judgement), "text": text.verdict(judgement)}


def _lines(judgement: Judgement) -> list[str]:
    from bgfmt.extras.matches.annotate import text

    decision, state = judgement.decision, judgement.decision.state
    who = "The other side" if decision.player != state.turn else "The side on roll"
    more = _asking.title(state)
    dice = f", roll {state.dice[0]}{state.dice[1]}" if state.dice else ""
    lines = [
        _asking.board_of(state.position),
        "",
        f"{more or 'money play'}{dice}",
        "",
        text.verdict(judgement),
    ]
    width = max(len(judgement.did), len(judgement.best))
    choices = [("done", judgement.did, judgement.equity, judgement.mwc)]
    if judgement.best != judgement.did:
        choices.append(("best", judgement.best, judgement.best_equity, judgement.best_mwc))
    sign = "~" if judgement.approximate else ""
    for label, name, equity, mwc in choices:
        lines.append(f"  {label}  {name:<{width}}  {text.worth(equity, mwc, about=bool(sign))}")
    lines += [f"  {judgement.note}"] if judgement.note else []
    lines += [f"  gammons are possible and {judgement.gammons}"] if judgement.gammons != "none" else []
    where = "calculated" if judgement.source == "calculation" else f"from {judgement.table}"
    measured = "equity at the score (EMG)" if judgement.mwc is not None else f"{judgement.measure} equity"
    return [*lines, f"  {who.lower()}'s {measured}; {where}; {text.certainty(judgement)}"]
