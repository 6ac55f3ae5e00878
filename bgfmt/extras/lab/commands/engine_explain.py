"""`bgfmt engine ENGINE explain`: the plays of a roll as the engine ranks them, or what it measures of a position."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli import options
from bgfmt.extras.lab.engine import Engine
from bgfmt.extras.lab.engine.bkg import Bkg
from bgfmt.extras.lab.engine.bkg.cubing import Racing, racing
from bgfmt.extras.lab.engine.bkg.measuring import measure
from bgfmt.game.drawing import draw
from bgfmt.game.moves import parse_roll
from bgfmt.game.state import GameState

MOST = 10
WORDS = ("double", "redouble", "take")


def explain(engine: Engine, words: tuple[str, ...], as_json: bool) -> int:
    """Print what the engine goes by."""
    if not 1 <= len(words) <= 2:
        raise click.UsageError("explain takes a position and perhaps a roll (sides in quotes)")
    state = GameState.parse(words[0])
    state.position.check()
    dice = parse_roll(words[1]) if len(words) > 1 else state.dice
    if dice is not None:
        _plays(engine, state.rolled(dice), as_json)
    elif isinstance(engine, Bkg):
        _position(engine, state, as_json)
    else:
        raise click.UsageError(f"say a roll: engine {engine.name} explains plays only")
    return 0


def _plays(engine: Engine, state: GameState, as_json: bool) -> None:
    assert state.dice is not None
    if not isinstance(engine, Bkg):
        chosen = str(engine.play(state))
        options.echo_json({"play": chosen}) if as_json else click.echo(chosen)
        return
    ranked = engine.ranked(state)
    if as_json:
        rows = [
            {
                "play": str(r.play),
                "points": _finite(r.points),
                "terms": r.parts(),
                "position_id": r.play.result.id,
            }
            for r in ranked
        ]
        part = ranked[0].part if ranked else None
        options.echo_json(
            {"position_id": state.position.id, "roll": list(state.dice), "part": part, "plays": rows}
        )
        return
    click.echo(draw(state.position))
    roll = f"{state.dice[0]}-{state.dice[1]}"
    if not ranked:
        click.echo(f"{roll}: no chequer can move")
        return
    units = {"engaged": "heuristic points", "running": "points of the running game"}
    what = units.get(ranked[0].part, "less expected rolls, or the chance that it plays for")
    click.echo(f"{roll}, {ranked[0].part}: {what}")
    for place, r in enumerate(ranked[:MOST], 1):
        terms = "  ".join(f"{name} {value:+.3f}" for name, value in r.parts().items())
        points = "out of the question" if _finite(r.points) is None else f"{r.points:12.6f}"
        click.echo(f"{place:3d}. {r.play!s:<26} {points}  {terms}".rstrip())


def _finite(points: float) -> float | None:
    return points if abs(points) < float("inf") else None


def _position(engine: Bkg, state: GameState, as_json: bool) -> None:
    position = state.position
    found = measure(position, engine.completion).as_dict()
    race = None if position.contact else racing(engine, state)
    if as_json:
        told: dict[str, Any] = {"position_id": position.id, "measures": found}
        options.echo_json(told | {"race": None if race is None else race._asdict()})
        return
    click.echo(draw(position))
    click.echo("X is taken to have just moved; pairs are of X and of O")
    for name, value in found.items():
        text = f"{value[0]}, {value[1]}" if isinstance(value, list) else f"{value:g}"
        click.echo(f"  {name.replace('_', ' '):<12} {text}")
    if race is not None:
        click.echo("X is on roll")
        for name, text in _lines(race):
            click.echo(f"  {name:<12} {text}")


def _lines(race: Racing) -> list[tuple[str, str]]:
    w = "not in the table" if race.win is None else f"{race.win:.9f}"
    return [
        ("ENR", f"{race.enr[0]:.6f}, {race.enr[1]:.6f}"),
        ("W", w),
        ("W, in full", "not all men are home" if race.win_full is None else f"{race.win_full:.9f}"),
        ("Acount", f"{race.acount[0]:.4g}, {race.acount[1]:.4g}"),
        (
            "by Acount",
            ", ".join(f"{w} {'yes' if b else 'no'}" for w, b in zip(WORDS, race.by_count, strict=True)),
        ),
        ("Minturns", f"{race.minturns[0]}, {race.minturns[1]}"),
        ("Maxturns", f"{race.maxturns[0]}, {race.maxturns[1]}"),
        ("doubles", "yes" if race.doubles else "no"),
        ("redoubles", "yes" if race.redoubles else "no"),
        ("O takes", "yes" if race.takes else "no"),
        ("X resigns", str(race.resigns)),
    ]
