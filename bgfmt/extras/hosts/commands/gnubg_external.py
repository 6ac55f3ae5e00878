"""`bgfmt gnubg-external`: answer GNU Backgammon's external player from tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from bgfmt.cli import _asking, options


@click.command(name="gnubg-external")
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=1234, show_default=True, help="0 takes a free one."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, callback=options.plain, help="Address to listen on."
)
@click.option("--resign", is_flag=True, help="Resign games that a two-sided table gives as certainly lost.")
@click.option(
    "--fallback",
    type=click.Choice(["rule", "gnubg"]),
    default="rule",
    show_default=True,
    help="Who plays where no table reaches: a plain rule, or the gnubg Python package.",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="At most so many at once; beyond, the one silent longest gives way.",
)
@options.engine_option
@click.option("--verbose", is_flag=True, help="Tell every question and answer on stderr.")
@_asking.engine_options
@options.as_option
def gnubg_external(
    databases: tuple[str, ...],
    port: int,
    host: str,
    resign: bool,
    fallback: str,
    connections: int,
    engine: str | None,
    verbose: bool,
    described: str | None,
    **calculation: Any,
) -> int:
    """Play for gnubg's `set player 0 external 127.0.0.1:PORT`, from the best of DB... that covers a position.

    DB are files or folders; without any, BGFMT_DB, what gnubg has installed, or the default tables. Ends on Ctrl-C or
    SIGTERM. With --engine an engine such as bkg plays in their place.

    \b
    Example:
      bgfmt gnubg-external --port 1234 gnubg_ts0.bd gnubg_os0.bd
    """
    from bgfmt.analysis.advisor import Outside
    from bgfmt.extras.hosts.deciding import Decider
    from bgfmt.extras.hosts.external import Player
    from bgfmt.extras.hosts.server import THREADS, Limits, Server

    log = (lambda text: click.echo(text, err=True)) if verbose else None

    def serve(decider: Decider, threads: int = 0, first: Sequence[str] = ()) -> None:
        player = Player(decider, resign=resign)
        server = Server(player, host, port, limits=Limits(connections=connections), log=log, threads=threads)
        server.run(lambda at: click.echo("\n".join([*first, f"listening on {host}:{at}"]), err=True))

    if engine is not None:
        serve(options.engine_of(engine, databases))
        click.echo("stopped", err=True)
        return 0
    outside: Outside = "rule"
    if fallback == "gnubg":
        from bgfmt.extras.hosts.engine import GnubgEngine

        outside = GnubgEngine()
    with _asking.opened(list(databases), described, None, guard=True) as library:
        # the gnubg package answers in the main thread alone
        serve(
            _asking.engine_adviser(library, outside=outside, **calculation),
            THREADS if outside == "rule" else 0,
            library.lines(),
        )
    click.echo("stopped", err=True)
    return 0
