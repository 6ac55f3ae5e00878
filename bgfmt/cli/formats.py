"""`bgfmt formats`: what bgfmt can read and write."""

from __future__ import annotations

import click

from bgfmt.cli import options


@click.command()
@options.json_option
def formats(as_json: bool) -> None:
    """List every format: its name, what it holds, its file suffixes and its writing options."""
    from bgfmt import formats as registry

    known = registry.known()
    broken = registry.broken()
    if as_json:
        rows = [
            {
                "name": f.name,
                "title": f.title,
                "suffixes": list(f.suffixes),
                "kinds": f.kinds(),
                "options": {option.name: option.help for option in f.options},
            }
            for f in known.values()
        ]
        options.echo_json({"formats": rows, "broken": [{"name": b.name, "reason": b.reason} for b in broken]})
        return
    for f in known.values():
        click.echo(f"{f.name:<12} {f.title}  ({', '.join(f.suffixes)})")
        click.echo(f"{'':<12}   holds {', '.join(f.kinds())}")
        for option in f.options:
            click.echo(f"{'':<12}   -O {option.name}=...  {option.help}")
    for b in broken:
        click.echo(f"{b.name:<12} broken: {b.reason}", err=True)
