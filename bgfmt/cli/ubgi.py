"""`bgfmt ubgi`: an engine on standard input and output."""

from __future__ import annotations

import sys

import click

from bgfmt.cli import options


@click.command()
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@options.engine_option
@options.as_option
def ubgi(databases: tuple[str, ...], engine: str | None, described: str | None) -> int:
    """Speak UBGI (handshake, best play, cube action) from the tables DB...; refuse what they do not cover.

    DB are files or folders; without any, BGFMT_DB, what gnubg has installed, or the default tables. With --engine an
    engine such as bkg answers everything in their place.

    \b
    Example:
      printf 'ubgi\\nposition gnubgid tw8AANg7AAAAAA\\ndice 2 1\\ngo role chequer\\nquit\\n' | bgfmt ubgi t.bd
    """
    from bgfmt.analysis.advisor import Advisor
    from bgfmt.cli import _asking
    from bgfmt.hosts.ubgi import Engine

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    if engine is not None:
        Engine(options.engine_of(engine, databases), engine.partition(":")[0]).run(sys.stdin.buffer, write)
        return 0
    with _asking.opened(list(databases), described, None) as library:
        Engine(Advisor(library)).run(sys.stdin.buffer, write)
    return 0
