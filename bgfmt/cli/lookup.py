"""`bgfmt lookup`: what a database says of positions."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli import options
from bgfmt.game.board import Position, Side
from bgfmt.lookup import Answer, Equities, Estimate, HyperOutcome, Race


@click.command()
@click.argument("file", type=click.Path())
@click.argument("positions", nargs=-1, required=True, metavar="POSITION...")
@options.as_option
@options.part_option
@options.json_option
def lookup(
    file: str, positions: tuple[str, ...], described: str | None, part: int | None, as_json: bool
) -> int:
    """Print what FILE says of each POSITION: counts from the ace point up, or any identifier.

    One-sided files answer for one side, or for both sides of a two-sided position; "#N" is a position number.

    \b
    Examples:
      bgfmt lookup gnubg_os0.bd "0 2 2 2 0 4"
      bgfmt lookup gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" JgAAkAgAAAAAAA
    """
    import bgfmt
    from bgfmt.errors import NotCoveredError

    if len(positions) > 1 and all(p.isdigit() for p in positions) and len(positions) <= 24:
        positions = (" ".join(positions),)  # counts typed without quotes
    answers: list[dict[str, Any]] = []
    uncovered = 0
    with bgfmt.open(file, part=part or 0, **options.reading(described)) as db:
        for text in positions:
            for who, asked in asked_of(db.table, text):
                try:
                    answer = db.lookup(asked)
                except NotCoveredError as error:
                    uncovered += 1
                    click.echo(f"bgfmt: {text}: {error}", err=True)
                    continue
                if as_json:
                    answers.append({"asked": text} | ({"player": who} if who else {}) | answer.as_dict())
                else:
                    click.echo(describe(answer, who))
    if as_json:
        options.echo_json(answers)
    return 1 if uncovered else 0


def asked_of(table: Any, text: str) -> list[tuple[str, Side | Position]]:
    """What to look up for a text: a side, a position, or, in one-sided tables, both sides of a position."""
    from bgfmt.game.identifiers import parse_position, parse_side
    from bgfmt.tables import Hypergammon, TwoSided

    two_sided = isinstance(table, (TwoSided, Hypergammon))
    if text.startswith("#") and text[1:].isdigit():
        return [("", by_number(table, int(text[1:])))]
    if two_sided:
        return [("", parse_position(text))]
    if (
        "/" not in text
        and all(part.isdigit() for part in text.replace(",", " ").split())
        and " " in text.strip()
    ):
        return [("", parse_side(text))]
    try:
        position = parse_position(text)
    except ValueError:
        return [("", parse_side(text))]
    return [("on roll", position.us), ("other side", position.them)]


def by_number(table: Any, number: int) -> Side | Position:
    """The side or position with this number in the table."""
    from bgfmt.errors import NotCoveredError
    from bgfmt.tables import Hypergammon, TwoSided

    n = table.positions
    two_sided = isinstance(table, (TwoSided, Hypergammon))
    if number >= (n * n if two_sided else n):
        raise NotCoveredError(
            f"position number {number} lies beyond the last, {(n * n if two_sided else n) - 1}"
        )

    def side(k: int) -> Side:
        from bgfmt.game.board import unrank

        counts = unrank(k, table.points)
        return Side(*counts[:24], bar=counts[24]) if table.points == 25 else Side(*counts)

    return Position(side(number // n), side(number % n)) if two_sided else side(number)


def describe(answer: Answer, who: str = "") -> str:
    """An answer as text, with the decimals bearoffdump prints."""
    head = f"{answer.side if isinstance(answer, (Race, Estimate)) else answer.position}"
    lines = [f"{head}  (number {answer.number}{', ' + who if who else ''})"]
    if isinstance(answer, Equities):
        names: list[tuple[str, float | None]] = [
            ("Cubeless equity", answer.cubeless),
            ("Owned cube", answer.owned),
        ]
        names += [("Centered cube", answer.centered), ("Opponent owns cube", answer.opponent)]
        lines += [f"{name:<30}: {value:+7.4f}" for name, value in names if value is not None]
        lines.append(f"{'Win':<30}: {100 * answer.win:7.3f} %")
    elif isinstance(answer, HyperOutcome):
        lines += [f"{name.replace('_', ' '):<30}: {value:7.4f}" for name, value in answer.outcomes.items()]
        lines += [
            f"{'equity ' + name.replace('_', ' '):<30}: {value:+7.4f}"
            for name, value in answer.equities.items()
        ]
    elif isinstance(answer, Race):
        lines += _distribution(answer)
    else:
        lines.append(f"{'Mean':<10}{answer.mean_rolls:10.6g}")
        if answer.std_rolls is not None:
            lines.append(f"{'Std dev':<10}{answer.std_rolls:10.3f}")
        if answer.gammon_mean_rolls is not None:
            lines.append(
                f"{'Saving gammon':<14}{answer.gammon_mean_rolls:7.3f} (std dev {answer.gammon_std_rolls:.3f})"
            )
        lines.append(f"{'EPC':<10}{answer.epc:10.3f}")
        lines.append(f"{'Wastage':<10}{answer.wastage:10.3f}")
    return "\n".join(lines) + "\n"


def _distribution(race: Race) -> list[str]:
    columns = [race.bearoff] if race.gammon is None else [race.bearoff, race.gammon]
    rolls = [i for i in range(len(race.bearoff)) if any(c[i] > 0 for c in columns)]
    lines = ["Rolls   bearing off" + ("  at least one off" if race.gammon is not None else "")]
    for i in range(min(rolls), max(rolls) + 1):
        lines.append(
            f"{i:5d}   {100 * columns[0][i]:9.3f} %"
            + (f"  {100 * columns[1][i]:14.3f} %" if len(columns) > 1 else "")
        )
    pairs = [
        ("Mean", race.mean_rolls, race.gammon_mean_rolls),
        ("Std dev", race.std_rolls, race.gammon_std_rolls),
    ]
    for name, first, second in pairs:
        lines.append(f"{name:<7} {first:9.3f}" + (f"    {second:14.3f}" if second is not None else ""))
    lines.append(f"EPC     {race.epc:9.3f}")
    lines.append(f"Wastage {race.wastage:9.3f}   (pips {race.pips})")
    return lines
