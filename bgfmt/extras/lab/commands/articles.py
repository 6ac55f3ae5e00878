"""`bgfmt articles`: the systems of the articles the project started from, by their authors' names."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from bgfmt.cli import options
from bgfmt.extras.lab.articles import orders, systems
from bgfmt.game.board import Side

exact_option = click.option("--exact", is_flag=True, help="Calculate in fractions.")


@click.group()
def articles() -> None:
    """Peelle's Ace, BTree, DoubleOffAce, Rolls and Pwin, Ross's perfect hash, and the layouts of the 2011 blog.

    \b
    Examples:
      bgfmt articles ace 8 6
      bgfmt articles btree 1/6 3
      bgfmt articles pwin "8" "6" --exact
      bgfmt articles hash "0 0 0 2 3 4"
    """


def _say(system: str, value: Any, as_json: bool) -> None:
    """A number or a list of them; fractions as such."""
    values = value if isinstance(value, list) else [value]
    plain = [str(one) if isinstance(one, Fraction) else one for one in values]
    if as_json:
        options.echo_json({"system": system, "value": plain if isinstance(value, list) else plain[0]})
    else:
        click.echo(" ".join(f"{one:.9g}" if isinstance(one, float) else str(one) for one in plain))


@articles.command()
@click.argument("x", type=click.IntRange(0, 10_000))
@click.argument("o", type=click.IntRange(0, 10_000))
@exact_option
@options.json_option
def ace(x: int, o: int, exact: bool, as_json: bool) -> None:
    """Chance to win with X pieces on the ace point against O on theirs, on roll."""
    _say("Ace", systems.Ace(x, o, exact=exact), as_json)


@articles.command()
@click.argument("p")
@click.argument("level", type=click.IntRange(0, 20))
@click.option("--truncated", is_flag=True, help="BTreeA: cut the branch after P short.")
@options.json_option
def btree(p: str, level: int, truncated: bool, as_json: bool) -> None:
    """A level of the binary tree of P and its complement; in fractions where P is one, such as 1/6."""
    try:
        chance: float | Fraction = Fraction(p) if "/" in p else float(p)
    except (ValueError, ZeroDivisionError):
        raise click.UsageError(f"{p!r}: expected a number such as 1/6 or 0.25") from None
    name, tree = ("BTreeA", systems.BTreeA) if truncated else ("BTree", systems.BTree)
    _say(name, tree(chance, level), as_json)


@articles.command("double-off")
@click.argument("n", type=click.IntRange(0, 10_000))
@exact_option
@options.json_option
def double_off(n: int, exact: bool, as_json: bool) -> None:
    """Chance that the last of N pieces on the ace point go off with a double (DoubleOffAce)."""
    _say("DoubleOffAce", systems.DoubleOffAce(n, exact=exact), as_json)


@articles.command()
@click.argument("side")
@exact_option
@options.json_option
def rolls(side: str, exact: bool, as_json: bool) -> None:
    """Least expected rolls to bear off a side, counts from the ace point up."""
    _say("Rolls", systems.Rolls(Side.parse(side), exact=exact), as_json)


@articles.command()
@click.argument("ours")
@click.argument("theirs")
@exact_option
@options.json_option
def pwin(ours: str, theirs: str, exact: bool, as_json: bool) -> None:
    """Chance that OURS, on roll, is off before THEIRS, where both play for the least rolls."""
    win = systems.Pwin(Side.parse(ours), Side.parse(theirs))
    _say("Pwin", win if exact else float(win), as_json)


@articles.command("hash")
@click.argument("side")
@click.option("--points", type=click.IntRange(1, 24), default=6, show_default=True)
@click.option("--rank", is_flag=True, help="SIDE is a rank: say its counts.")
@options.json_option
def hash_(side: str, points: int, rank: bool, as_json: bool) -> None:
    """Ross's rank of a side of up to 15 pieces, counted from 0: gnubg's position number."""
    if not rank:
        _say("Ross's hash", orders.ross_rank(orders.ross_list(Side.parse(side)), points), as_json)
    elif side.isdecimal():
        on = orders.ross_unrank(int(side), points=points)
        _say("Ross's hash", [on.count(point) for point in range(1, points + 1)], as_json)
    else:
        raise click.UsageError(f"{side!r}: expected a rank, a whole number")


@articles.command()
@click.argument("points", type=click.IntRange(1, 24))
@click.argument("chequers", type=click.IntRange(1, 15))
@options.json_option
def layouts(points: int, chequers: int, as_json: bool) -> None:
    """Layouts of 1 to CHEQUERS chequers on POINTS points: of one side, and of both."""
    _say("layouts", [systems.layouts(points, chequers), systems.two_sided_layouts(points, chequers)], as_json)
