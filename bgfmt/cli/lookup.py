"""`bgfmt lookup`: the values that a database has for positions."""

from __future__ import annotations

from typing import Any

import click

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import say
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse_position, parse_side
from bgfmt.tables import Table


@section("Query")
@click.command()
@click.argument("file", type=click.Path())
@click.argument("positions", nargs=-1, required=True, metavar="POSITION...")
@options.as_option
@options.part_option
@options.json_option
def lookup(
    file: str, positions: tuple[str, ...], described: str | None, part: int | None, as_json: bool
) -> int:
    """Print the values that FILE has for each POSITION: counts from the ace point up, or any identifier.

    A one-sided file answers for one side, or for each side if POSITION has two; "#N" is a position number. "-" reads
    a POSITION from each line of standard input and prints a line of JSON for each.

    \b
    Examples:
      bgfmt lookup gnubg_os0.bd "0 2 2 2 0 4"
      bgfmt lookup gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" JgAAkAgAAAAAAA
      bgfmt lookup gnubg_ts0.bd - < positions.txt
    """
    if len(positions) > 1 and all(p.isdecimal() for p in positions) and len(positions) <= 24:
        positions = (" ".join(positions),)  # counts typed without quotes
    answers: list[dict[str, Any]] = []
    uncovered = 0
    many = positions == ("-",)
    with bgfmt.open(file, part=part or 0, format=described, guard=many) as db:
        source = options.origin(db)
        if many:
            return options.answer_each_line(
                lambda text: [
                    {"asked": text} | ({"player": who} if who else {}) | db.lookup(asked).as_dict() | source
                    for who, asked in asked_of(db.table, text)
                ]
            )
        for text in positions:
            try:
                for who, asked in asked_of(db.table, text):
                    answer = db.lookup(asked)
                    if as_json:
                        said = {"asked": text} | ({"player": who} if who else {})
                        answers.append(said | answer.as_dict() | source)
                    else:
                        say(answer.describe(who))
            except NotCoveredError as error:
                uncovered += 1
                if as_json:
                    answers.append({"asked": text, "error": options.error_fields(error)})
                say(f"bgfmt: {' '.join(text[:60].split())}: {error}", err=True)
    if as_json:
        options.echo_json(answers)
    return 1 if uncovered else 0


def asked_of(table: Table, text: str) -> list[tuple[str, Side | Position]]:
    """Parse a text to what is looked up in a table, as pairs (label, side or position).

    text : counts ("0 1 1 / 0 1"), a Position ID, an XGID or other identifier, or "#" and a position number.

    A one-sided table gets a pair for each side, labelled "on roll" and "other side", if the text has both; else the
    label is "". PositionError if the text is none of these.
    """
    if text.startswith("#") and text[1:].isdecimal():
        return [("", table.unrank(int(text[1:])))]
    if table.sides == 2:
        return [("", parse_position(text))]
    if "/" not in text and all(part.isdecimal() for part in text.replace(",", " ").split()) and " " in text:
        return [("", parse_side(text))]
    try:
        position = parse_position(text)
    except ValueError:
        return [("", parse_side(text))]
    return [("on roll", position.us), ("other side", position.them)]
