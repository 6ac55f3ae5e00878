"""`bgfmt formats`: the formats that bgfmt can read and write."""

from __future__ import annotations

from typing import Any

import click

from bgfmt import formats as registry
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import say


@section("Files")
@click.command()
@options.json_option
def formats(as_json: bool) -> None:
    """List every format: its name, what it holds, its file suffixes and its writing options."""
    known = registry.all_formats()
    broken = registry.broken_formats()
    if as_json:
        rows = [
            {
                "name": f.name,
                "title": f.title,
                "suffixes": list(f.suffixes),
                "reads": f.reads,
                "writes": f.writes,
                "kinds": f.kinds(),
                "options": {option.name: option.help for option in f.options},
            }
            for f in known.values()
        ]
        options.echo_json({"formats": rows, "broken": [{"name": b.name, "reason": b.reason} for b in broken]})
        return
    every = max((f.kinds() for f in known.values()), key=len)  # several formats hold them all
    for f in known.values():
        say(f"{f.name:<12} {f.title}  ({_describe_suffixes(f)})")
        say(f"{'':<12}   holds {'any table' if f.kinds() == every else ', '.join(f.kinds())}")
        for option in f.options:
            say(f"{'':<12}   -O {option.name}=...  {option.help}")
    say(f"any table: {', '.join(every)}")
    for b in broken:
        say(f"{b.name:<12} broken: {b.reason}", err=True)


def _describe_suffixes(form: registry.Format[Any]) -> str:
    """Return the suffixes of a format, and restrictions on writing it."""
    if not form.writes:
        return "read only"
    suffixes = ", ".join(form.suffixes) or f"no suffix: --to {form.name}"
    return suffixes + ("" if form.reads else "; written only") + ("; by name only" if form.historic else "")
