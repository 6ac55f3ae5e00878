"""`bgfmt diff`: compare two databases number by number."""

from __future__ import annotations

import click

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import say


@section("Files")
@click.command()
@click.argument("a", type=click.Path(), metavar="A")
@click.argument("b", type=click.Path(), metavar="B")
@options.json_option
def diff(a: str, b: str, as_json: bool) -> int:
    """Compare the databases A and B over the positions that both cover.

    Sizes, orders and formats may differ. Exit code 0: the numbers are equal; 1: some differ; 2: nothing to compare.

    \b
    Example:
      bgfmt diff gnubg_os0.bd bearoff_1sided.db
    """
    result = bgfmt.diff(a, b)
    if as_json:
        options.echo_json(result.as_dict())
        return 0 if result.same else 1
    say(str(result))
    for note in result.notes:
        say(f"  note      {note}")
    if not result.same:
        say(f"  mean      {result.mean:.3g} {result.unit}")
        say(f"  differing {_describe_counts(result.by_column)}")
        if result.counts:
            say(f"  by units  {_describe_counts(result.counts)}")
        for label, place in (("first", result.first), ("worst", result.worst)):
            assert place is not None
            say(f"  {label:<9} {place['position_number']:,} ({place['position']})")
            for side in ("a", "b"):
                numbers = "; ".join(f"{name} {_numbers(values)}" for name, values in place[side].items())
                say(f"    {side.upper()} {numbers}")
    return 0 if result.same else 1


def _describe_counts(counts: dict[str, int]) -> str:
    """Format counts by name as text."""
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items())


def _numbers(values: object) -> str:
    """Format a number or a list of numbers as text."""
    return " ".join(map(str, values)) if isinstance(values, list) else str(values)
