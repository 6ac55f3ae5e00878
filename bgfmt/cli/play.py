"""`bgfmt play`: the plays of a roll, ranked."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli import _asking, options
from bgfmt.game.board import Position


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="DB... POSITION ROLL")
@click.option(
    "--measure",
    metavar="MEASURE",
    help="money (default for two sides), cubeless, mean (default for one) or off:N (chance off in N more rolls).",
)
@click.option(
    "--cube",
    type=click.Choice(["centered", "owned", "opponent"]),
    default="centered",
    help="Where the cube lies.",
)
@options.as_option
@options.part_option
@options.json_option
def play(
    words: tuple[str, ...],
    measure: str | None,
    cube: str,
    described: str | None,
    part: int | None,
    as_json: bool,
) -> None:
    """All plays of ROLL (61 or 6-1; "all" for the best play of each of the 21 rolls), best first.

    POSITION is two sides, the one on roll first, or one side alone, as counts from the ace point up or any
    identifier. Each play is followed by its value and what it loses against the best.

    \b
    Examples:
      bgfmt play gnubg_os0.bd "0 2 2 2 0 4" 6-1
      bgfmt play gnubg_ts0.bd "1 0 0 3 0 1 / 0 0 0 0 0 1" 21 --cube owned
    """
    from bgfmt.analysis.play import parse_roll, rank_all_rolls, rank_plays

    paths, text, (roll,) = _asking.split(words, after=1)
    every = roll.lower() == "all"
    dice = None if every else parse_roll(roll)
    asked = _asking.one_or_two(text)
    with _asking.opened(paths, described, part) as databases:
        if dice is None:
            ranked = rank_all_rolls(databases, asked, cube=cube, measure=measure)
        else:
            ranked = {dice: rank_plays(databases, asked, dice, cube=cube, measure=measure)}
    first = next(iter(ranked.values()))[0]
    if as_json:
        out: dict[str, Any] = {
            "position": str(asked),
            "measure": first.measure,
            "approximate": first.approximate,
        }
        if isinstance(asked, Position) and first.measure == "money":
            out["cube"] = cube
        if dice is None:
            rolls = [{"roll": f"{a}{b}", "plays": plays} for (a, b), plays in ranked.items()]
            options.echo_json(out | {"rolls": rolls})
        else:
            options.echo_json(out | {"roll": f"{dice[0]}{dice[1]}", "plays": ranked[dice]})
        return
    click.echo(_asking.board_of(asked))
    what = {"money": f"money equity, cube {cube}", "cubeless": "cubeless equity", "mean": "rolls still to go"}
    title = what.get(first.measure, f"chance to be off within {first.measure.partition(':')[2]} more rolls")
    click.echo(
        f"\n{asked}: {title}{' (approximate: from one-sided distributions)' if first.approximate else ''}"
    )
    for (a, b), plays in ranked.items():
        if dice is None:
            rivals = [p for p in plays[1:] if p.loss <= 5e-7]
            names = ", ".join(p.notation for p in rivals[:3]) + ", ..." * (len(rivals) > 3)
            equal = f"   (as good: {names})" if rivals else ""
            click.echo(f"  {a}{b}  {plays[0].notation:<28} {_value(plays[0])}{equal}")
            continue
        for place, one in enumerate(plays, 1):
            close = ", within the table's error" if one.close and one.loss else ""
            loss = f"  (-{one.loss:.5f}{close})" if place > 1 else ""
            click.echo(f"  {place:3d}. {one.notation:<28} {_value(one)}{loss}")


def _value(play: Any) -> str:
    return f"{play.value:+.5f}" if play.measure in ("money", "cubeless") else f"{play.value:.5f}"
