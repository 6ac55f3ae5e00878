"""`bgfmt id`: convert an identifier to all others, with the information that each of them lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from bgfmt.cli import options
from bgfmt.cli.asking import note
from bgfmt.cli.sections import section
from bgfmt.cli.solve import parse_size
from bgfmt.errors import PositionError
from bgfmt.game import identifiers as ids
from bgfmt.game.board import MAX_POINTS, Position, Side, count
from bgfmt.game.drawing import draw
from bgfmt.game.state import GameState

#: name -> function that writes it, and whether `parse` can read it
FORMS: dict[str, tuple[Callable[[GameState], str], bool]] = {
    "counts": (lambda state: str(state.position), True),
    "position-id": (lambda state: ids.position_id(state.position), True),
    "match-id": (ids.match_id, True),
    "gnubg-id": (ids.gnubg_id, True),
    "xgid": (ids.xgid, True),
    "ogid": (ids.ogid, True),
    "fibs": (ids.fibs, True),
    "key": (lambda state: ids.key_letters(state.position), True),
    "board": (lambda state: draw(state.position, state.chequers), False),
}
#: facts in which two states are compared; what is not stated counts as the default
FACTS: dict[str, Callable[[GameState], Any]] = {
    "position": lambda state: state.position,
    "which player is on roll": lambda state: state.turn,
    "dice": lambda state: state.dice and sorted(state.dice),
    "cube": lambda state: (state.cube_value, state.owner),
    "double": lambda state: state.doubled,
    "beaver": lambda state: state.beavered,
    "resignation": lambda state: state.resigned,
    "end of the game": lambda state: state.ended,
    "score": lambda state: (state.away, state.length),
    "Crawford game": lambda state: state.crawford,
    "Jacoby rule": lambda state: bool(state.jacoby),
    "beavers": lambda state: bool(state.beavers),
    "largest cube": lambda state: state.limit,
    "play without a cube": lambda state: state.cube_in_use,
    "hypergammon": lambda state: state.chequers,
    "names": lambda state: state.names,
}


@section("Query")
@click.command(name="id")
@click.argument("words", nargs=-1, required=True, metavar="TEXT")
@click.option(
    "--to", "form", type=click.Choice([*FORMS, "number"]), help="Print only this kind of identifier."
)
@click.option(
    "--table", metavar="PxC",
    help="Read and print position numbers of a table of P points and C chequers; TEXT may then be #N.",
)  # fmt: skip
@options.json_option
def identify(words: tuple[str, ...], form: str | None, table: str | None, as_json: bool) -> int:
    """Convert the identifier in TEXT to all other kinds, and list what each of them cannot express.

    "-" reads a text from each line of standard input and prints a line for each: JSON, or with --to plain text.

    \b
    Examples:
      bgfmt id XGID=-DCA------------------bcc-:1:1:1:65:0:0:0:0:10
      bgfmt id "4 3 1 / 3 3 2" --to xgid
      bgfmt id "#52487" --table 6x6
    """
    size = None if table is None else parse_size(table, MAX_POINTS)
    if form == "number" and size is None:
        raise click.UsageError("a position number needs the size of its table: --table PxC")

    def answer(text: str) -> Any:
        state = _state(text, size)
        names = [form] if form else [*FORMS, *["number"] * (size is not None)]
        found = {name: _form(name, state, size) for name in names}
        if form and found[form]["text"] is None:
            raise PositionError(found[form]["reason"])
        return {"asked": text, "forms": found, "notes": list(state.notes)}

    if words == ("-",):
        return options.answer_each_line(
            (lambda text: answer(text)["forms"][form]["text"]) if form else answer
        )
    found = answer(" ".join(words))
    if as_json:
        options.echo_json(found)
        return 0
    for name, one in found["forms"].items():
        lost = ", ".join(one["lost"])
        if form:
            click.echo(one["text"])
        else:
            click.echo(f"{name:<12} " + (one["text"] or one["reason"]).replace("\n", f"\n{'':<13}"))
        if lost and form:
            note(f"not in it: {lost}")
        elif lost:
            click.echo(f"{'':<13}(without {lost})")
    if found["notes"]:
        note(f"not converted: {', '.join(found['notes'])}")
    return 0


def _form(name: str, state: GameState, size: tuple[int, int] | None) -> dict[str, Any]:
    """Return a form of a state: its text (None, with the reason, if it has none) and the facts that are lost."""
    try:
        if name == "number":
            assert size is not None
            text = str(_number(state.position, size))
            back = _state(f"#{text}", size)
        else:
            write, read = FORMS[name]
            text = write(state)
            back = ids.parse(text) if read else GameState.of(state.position)
    except PositionError as error:
        return {"text": None, "lost": [], "reason": str(error)}
    return {"text": text, "lost": [fact for fact, of in FACTS.items() if of(state) != of(back)]}


def _number(position: Position, size: tuple[int, int]) -> int:
    """Return the position number of a two-sided table of this size."""
    points, chequers = size
    for side in (position.us, position.them):
        if side.bar or side.highest > points or side.chequers > chequers:
            raise PositionError(f"{side} is not in a table of {points} points and {chequers} chequers")
    return position.us.number(points) * count(points, chequers) + position.them.number(points)


def _state(text: str, size: tuple[int, int] | None) -> GameState:
    """Parse an identifier, or a position number "#N" of a table of this size."""
    if not re.fullmatch(r"#\d{1,24}", text):
        return ids.parse(text)
    if size is None:
        raise click.UsageError("a position number needs the size of its table: --table PxC")
    both = count(*size) ** 2
    if int(text[1:]) >= both:
        raise PositionError(f"{text}: the last position number of {size[0]}x{size[1]} is #{both - 1}")
    sides = divmod(int(text[1:]), count(*size))
    return GameState.of(Position(*(Side.from_number(number, size[0]) for number in sides)).check())
