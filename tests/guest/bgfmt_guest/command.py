"""`bgfmt pips POSITION`: the pip counts of both sides."""

from __future__ import annotations

import click

import bgfmt


@click.command()
@click.argument("position")
def pips(position: str) -> int:
    """Pip counts of POSITION (any identifier), the side on roll first."""
    both = bgfmt.parse_position(position)
    click.echo(f"{both.us.pips} {both.them.pips}")
    return 0
