"""The modes of `bgfmt engine`."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from bgfmt import jit, storage
from bgfmt.analysis.choose import check_unfinished
from bgfmt.cli import options
from bgfmt.cli.terminal import Progress
from bgfmt.extras import matches
from bgfmt.extras.engines import parse_options
from bgfmt.extras.lab import engine
from bgfmt.extras.lab.engine import Engine
from bgfmt.extras.lab.engine.bkg import Bkg
from bgfmt.extras.lab.engine.bkg.measures import measure, racing
from bgfmt.extras.lab.playing import Quit, referee, series
from bgfmt.extras.lab.playing import dice as rolls
from bgfmt.extras.lab.playing.person import Person
from bgfmt.extras.matches.mat import write_mat
from bgfmt.extras.matches.model import Game, Match, Record
from bgfmt.extras.matches.sgf import write_sgf
from bgfmt.game.drawing import draw
from bgfmt.game.moves import notation, parse_roll
from bgfmt.game.state import GameState

MAX_GAMES = 10_000_000
WRITERS = {".sgf": write_sgf, ".mat": lambda match: write_mat(match).encode("utf-8", "backslashreplace")}


class Request(SimpleNamespace):
    """The command line of `bgfmt engine`: `name` of the engine, `mode`, further `words`, options by name."""


def run(request: Request) -> None:
    """Run the mode of `bgfmt engine` that is requested, such as "play" or "series"."""
    main = engine.create(request.name, parse_options(request.pairs))
    if request.output is not None:
        _check_output(request)
    modes = {"replay": _replay, "explain": _explain, "series": _series}
    with Progress("engine") as progress, jit.watching(progress.compiling):
        modes.get(request.mode, _games)(request, main)


# -- players, setting and dice ----------------------------------------------------------------------------


def ask(prompt: str) -> str:
    """Print a prompt and return one line from standard input; raise Quit at its end."""
    try:
        return input(prompt).strip()
    except EOFError:
        click.echo()
        raise Quit from None


def _players(request: Request, main: engine.Engine) -> tuple[referee.Players, tuple[str, str]]:
    """Return the two players and their names."""

    def person() -> Person:
        return Person(ask, click.echo, doubling=request.doubling, adviser=main)

    if request.mode == "referee":
        return (person(), person()), ("White", "Black")
    usual: Engine = person() if request.mode == "play" else main
    name = "you" if request.mode == "play" else request.name
    if request.against is not None:
        usual = engine.create(request.against)
        name = request.against
    pair = (main, usual)
    names = (request.name, name)
    if request.mode == "play" and not request.second:
        pair = (usual, main)
        names = (name, request.name)
    return pair, names if name != request.name else (f"{name} 1", f"{name} 2")


def _setting(request: Request, names: tuple[str, str], cube: bool) -> referee.Setting:
    """Return the conditions of the games. cube : whether the cube is used unless an option decides."""
    cube = cube if request.cube is None else request.cube
    setting = referee.Setting(length=request.length or 0, cube=cube, names=names)
    if request.position is None:
        return setting
    position = GameState.parse(request.position).position
    check_unfinished(position)
    return replace(setting, position=position)


def _dice(request: Request, seed: int | None) -> rolls.Dice:
    """Return the source of the dice: typed in, from a file, or from a seed."""
    if request.dice == "-":
        return rolls.Thrown(ask, click.echo)
    if request.dice is not None:
        return rolls.Listed.of_file(request.dice)
    return rolls.Seeded(secrets.randbits(64) if seed is None else seed)


# -- modes -----------------------------------------------------------------------------------------------------


def _series(request: Request, main: engine.Engine) -> None:
    """Play a series of games and print its results."""
    pair, names = _players(request, main)
    setting = _setting(request, names, False)
    games = request.games or 1000
    seed = 1 if request.seed is None else request.seed
    alike = pair[0] is pair[1] and request.dice is None and request.output is None and not request.length
    with Progress("playing", " games") as progress:
        if alike and isinstance(main, Bkg):
            result = series.play_compiled(
                main, setting, games, seed, threads=request.threads, progress=progress
            )
        else:
            played: list[Game] = []

            def ended(game: Game) -> bool:
                played.append(game)
                progress(len(played), games)
                return True

            match = referee.play_match(pair, _dice(request, seed), setting, games=games, ended=ended)
            result = series.of_games(match.games)
            _write(request, match)
    if request.as_json:
        options.echo_json({"engine": request.name, "against": names[1], "seed": seed, **result.as_dict()})
    else:
        click.echo("\n".join(result.lines(names)))


def _games(request: Request, main: engine.Engine) -> None:
    """Play games or a match, print every turn, and write what was played."""
    pair, names = _players(request, main)
    setting = _setting(request, names, True)
    person = next((player for player in pair if isinstance(player, Person)), None)
    asks = person is not None and request.games is None and not request.length

    def tell(record: Record) -> None:
        if not request.quiet:
            click.echo(line_of(record, names))

    def ended(game: Game) -> bool:
        click.echo(str(game).replace("player 1", names[0]).replace("player 2", names[1]))
        return not asks or (person is not None and person.ask_for_another_game())

    games = MAX_GAMES if asks else request.games or 1
    try:
        match = referee.play_match(
            pair, _dice(request, request.seed), setting, games=games, tell=tell, ended=ended
        )
    except Quit as end:
        match = end.match
        done = sum(game.result is not None for game in match.games)
        click.echo(f"games played: {done}" if done else "the game was abandoned")
    if match.games:
        _write(request, match)


def line_of(record: Record, names: tuple[str, str]) -> str:
    """Return a record (an event of a game) as a line of text, such as a roll and its play.

    names : of the players.
    """
    who = names[record.player]
    if record.kind in ("play", "dance"):
        assert record.dice is not None
        text = notation(record.moves) if record.kind == "play" else "no chequer can move"
        return f"{who:<10} {record.dice[0]}-{record.dice[1]}: {text}"
    words = {
        "double": f"doubles to {2 * record.cube}", "take": "takes", "drop": "passes",
        "resign": f"resigns {record.points} point{'s' * (record.points != 1)}",
        "set": f"is on roll: {record.position}",
    }  # fmt: skip
    return f"{who:<10} {words.get(record.kind, record.kind)}"


def _replay(request: Request, main: engine.Engine) -> None:
    """Compare a recorded game with what the engine would have played."""
    recorded = matches.read(request.words[0]) if request.words else [referee.sample_game()]
    only = 1 if request.second or not request.words else None
    problems = [problem for match in recorded for problem in match.problems]
    for problem in problems:
        click.echo(problem, err=True)
    rows: list[dict[str, Any]] = []
    same: list[bool] = []
    engaged: list[bool] = []
    for match in recorded:
        for record, row in (turn for game in match.games for turn in referee.replay(main, match, game)):
            rows.append(row)
            mine = only is None or record.player == only
            if mine and row["legal"] != 1:
                same.append(row["same"])
                engaged += [row["same"]] * row["contact"]
            if not request.as_json:
                roll = "-".join(map(str, row["roll"] or []))
                line = f"{row['turn'] or '':>3} {row['player']:<10.10} {roll:3}  {row['played']:<24}"
                more = "" if row["same"] or not mine else f" {request.name} now: {row['engine']}"
                click.echo((line + more).rstrip())
    if request.as_json:
        options.echo_json(
            {"turns": rows, "same": sum(same), "choices": len(same), "same_in_contact": sum(engaged),
             "choices_in_contact": len(engaged), "problems": problems}
        )  # fmt: skip
        return
    whose = "" if only is None else f" of {recorded[0].players[only]}"
    click.echo(
        f"the same in {sum(engaged)} of {len(engaged)} choices{whose} in contact, {sum(same)} of {len(same)} in all"
    )


# -- files -----------------------------------------------------------------------------------------------------


def _suffix(request: Request) -> str:
    """Return the suffix of the output file in small letters."""
    return str(os.path.splitext(request.output)[1]).lower()


def _check_output(request: Request) -> None:
    """Check before any game that the games can be written; UsageError for another suffix."""
    if _suffix(request) not in WRITERS:
        raise click.UsageError(f"{request.output}: the file of games must end in {' or '.join(WRITERS)}")
    storage.check_output(request.output, force=request.force)


def _write(request: Request, match: Match) -> None:
    """Write the games if an output is given."""
    if request.output is not None:
        data = WRITERS[_suffix(request)](match)
        with storage.create(request.output, force=request.force) as sink:
            sink.write(data)


# -- explain ------------------------------------------------------------------------------------------


MAX_PLAYS_SHOWN = 10


def _explain(request: Request, engine: Engine) -> None:
    """Print how the engine rates a position or the plays of a roll."""
    words = request.words
    as_json = request.as_json
    if not 1 <= len(words) <= 2:
        raise click.UsageError(
            "explain takes a position (in quotes if it has blanks) and, optionally, a roll"
        )
    state = GameState.parse(words[0])
    state.position.check()
    dice = parse_roll(words[1]) if len(words) > 1 else state.dice
    if dice is not None:
        _plays(engine, state.rolled(dice), as_json)
    elif isinstance(engine, Bkg):
        _position(engine, state, as_json)
    else:
        raise click.UsageError(f"the roll is missing: engine {engine.name} can only explain plays")


def _plays(engine: Engine, state: GameState, as_json: bool) -> None:
    """Print the plays of a roll as the engine ranks them."""
    assert state.dice is not None
    if not isinstance(engine, Bkg):
        chosen = str(engine.play(state))
        options.echo_json({"play": chosen}) if as_json else click.echo(chosen)
        return
    ranked = engine.ranked(state)
    if as_json:
        rows = [
            {"play": str(r.play), "points": _finite(r.points), "terms": r.parts(), "position_id": r.play.result.id}
            for r in ranked
        ]  # fmt: skip
        out = {"position_id": state.position.id, "roll": list(state.dice)}
        options.echo_json(out | {"part": ranked[0].part if ranked else None, "plays": rows})
        return
    click.echo(draw(state.position))
    roll = f"{state.dice[0]}-{state.dice[1]}"
    if not ranked:
        click.echo(f"{roll}: no chequer can move")
        return
    units = {"engaged": "heuristic points", "running": "points of the running game"}
    what = units.get(ranked[0].part, "less expected rolls, or the chance that it plays for")
    click.echo(f"{roll}, {ranked[0].part}: {what}")
    for place, r in enumerate(ranked[:MAX_PLAYS_SHOWN], 1):
        terms = "  ".join(f"{name} {value:+.3f}" for name, value in r.parts().items())
        points = "excluded" if _finite(r.points) is None else f"{r.points:12.6f}"
        click.echo(f"{place:3d}. {r.play!s:<26} {points}  {terms}".rstrip())


def _finite(points: float) -> float | None:
    """Return a number, None if it is infinite."""
    return points if abs(points) < float("inf") else None


def _position(engine: Bkg, state: GameState, as_json: bool) -> None:
    """Print the measures of a position and, in a race, BKG's decisions."""
    position = state.position
    measures = measure(position, engine.completion)
    race = None if position.contact else racing(engine.completion, state)._asdict()
    if as_json:
        options.echo_json({"position_id": position.id, "measures": measures, "race": race})
        return
    click.echo(draw(position))
    click.echo("X is taken to have just moved; pairs are of X and of O")
    _echo_numbers(measures)
    if race is not None:
        click.echo("X is on roll; by count: double, redouble, take by the adjusted count alone")
        _echo_numbers(race)


def _echo_numbers(numbers: dict[str, Any]) -> None:
    """Print numbers, or lists of them, by name."""
    for name, value in numbers.items():
        cells = value if isinstance(value, (list, tuple)) else [value]
        click.echo(f"  {name.replace('_', ' '):<12} {', '.join(map(_text, cells))}")


def _text(value: float | bool | None) -> str:
    """Return a number or a decision as text."""
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:g}"
