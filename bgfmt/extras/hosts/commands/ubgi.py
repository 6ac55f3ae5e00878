"""`bgfmt ubgi`: an engine on standard input and output."""

from __future__ import annotations

import sys
from typing import Any

import click

from bgfmt.cli import _asking, options


@click.command()
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@options.engine_option
@_asking.engine_options
@options.as_option
def ubgi(databases: tuple[str, ...], engine: str | None, described: str | None, **calculation: Any) -> int:
    """Speak UBGI (handshake, best play, cube action) from the tables DB...; refuse what they do not cover.

    DB are files or folders; without any, BGFMT_DB, what gnubg has installed, or the default tables. In a match the
    answers are exact for its score where a table of it or calculation on demand reaches. With --engine an engine
    such as bkg answers everything in their place.

    \b
    Example:
      printf 'ubgi\\nposition gnubgid tw8AANg7AAAAAA\\ndice 2 1\\ngo role chequer\\nquit\\n' | bgfmt ubgi t.bd
    """
    from bgfmt.extras.hosts.ubgi import Engine

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    if engine is not None:
        Engine(options.engine_of(engine, databases), engine.partition(":")[0]).run(sys.stdin.buffer, write)
        return 0
    with _asking.opened(list(databases), described, None) as library:
        Engine(_asking.engine_adviser(library, **calculation)).run(sys.stdin.buffer, write)
    return 0
