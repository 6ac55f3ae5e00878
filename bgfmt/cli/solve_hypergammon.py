"""`bgfmt solve hypergammon`: gnubg's hyper1.bd to hyper3.bd, or the same in float64; `hypergammon-met` from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from bgfmt.cli import options

UNITS = ("1", "2", "3")


@click.command("hypergammon")
@click.argument("chequers", type=click.Choice(UNITS))
@click.option("--recipe", type=click.Choice(["gnubg", "exact"]), default="gnubg", show_default=True)
@click.option(
    "--threshold", type=click.FloatRange(0, 1), help="Sweep until no number changes by more (makehyper -t)."
)
@click.option(
    "--restart", type=click.Path(), metavar="FILE", help="Begin with this file's numbers (makehyper -r)."
)
@click.option("--resume", is_flag=True, help="Go on from the state that an ended run left in OUTPUT.sweeps.")
@click.option("-o", "--output", type=click.Path(), required=True, help="The file to make.")
@click.option("--to", "to", metavar="FORMAT", help="Format to write (default: by OUTPUT's suffix).")
@click.option("--quiet", is_flag=True, help="No progress.")
@options.threads_option
@options.force_option
@options.json_option
def hypergammon(
    chequers: str,
    recipe: str,
    threshold: float | None,
    restart: str | None,
    resume: bool,
    output: str,
    to: str | None,
    quiet: bool,
    threads: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Chances and money equities of all positions of 1, 2 or 3 chequers a side, contact included.

    Sweeps over all positions until no number changes by more than the threshold: 1e-5 as makehyper's, 1e-12 under
    recipe exact. Two chequers take a second, three some minutes and 1.1 GB (2.8 GB under exact).

    \b
    Examples:
      bgfmt solve hypergammon 2 -o hyper2.bd
      bgfmt solve hypergammon 3 --recipe exact -o hyper3.npz
    """
    from bgfmt.files import solve_hypergammon as sweeping

    try:
        with _telling(quiet) as tell:
            sweeping.solve_hypergammon(
                output, int(chequers), recipe=recipe, threshold=threshold, restart=restart, resume=resume,  # type: ignore[arg-type]
                format=to, force=force, threads=threads, sweeping=tell,
            )  # fmt: skip
    except KeyboardInterrupt:
        state = sweeping.state_of(output)
        if not state.exists():
            raise
        click.echo(
            f"bgfmt: interrupted; {state} keeps a state, the same command with --resume goes on", err=True
        )
        raise click.exceptions.Exit(130) from None
    if as_json:
        options.echo_written(output)


@contextmanager
def _telling(quiet: bool) -> Iterator[Callable[[int, float], None] | None]:
    """What is called after each sweep; inside, it is also said once that something is compiled."""
    from bgfmt import jit

    if quiet:
        yield None
        return
    said: list[str] = []

    def compiling() -> None:
        if not said:
            said.append("compiling, once")
            click.echo(said[0], err=True)

    def tell(sweep: int, change: float) -> None:
        click.echo(f"sweep {sweep}: greatest change {change:.2g}", err=True)

    with jit.watching(compiling):
        yield tell


@click.command("hypergammon-met")
@click.argument("length", type=click.IntRange(1, 64))
@click.option(
    "--table",
    type=click.Path(),
    metavar="FILE",
    help="A hypergammon table (default: one of recipe exact, solved).",
)
@click.option(
    "--chequers", type=click.Choice(UNITS), help="Chequers of the table that is solved (default: 3)."
)
@click.option(
    "--cube-efficiency",
    "live",
    type=click.FloatRange(0, 1),
    help="From 0, a dead cube, to 1, a live one (default: 2/3).",
)
@click.option("-o", "--output", type=click.Path(), required=True, help="The XML file to make.")
@click.option("--quiet", is_flag=True, help="No progress.")
@options.threads_option
@options.force_option
def hypergammon_met(
    length: int,
    table: str | None,
    chequers: str | None,
    live: float | None,
    output: str,
    quiet: bool,
    threads: int | None,
    force: bool,
) -> None:
    """A match equity table for hypergammon, of matches up to LENGTH points, as gnubg's XML ("set met FILE").

    From how often the opening position of the table wins and loses gammons and backgammons.

    \b
    Example:
      bgfmt solve hypergammon-met 15 --table hyper3.npz -o hypergammon.xml
    """
    from bgfmt.files import solve_met as openings

    if table is not None and chequers is not None:
        raise click.UsageError("--chequers says what to solve; --table is solved already")
    how = {} if live is None else {"live": live}
    with _telling(quiet) as tell:
        openings.solve_hypergammon_met(
            output, length, table=table, chequers=int(chequers or 3), force=force, threads=threads, sweeping=tell,
            **how,
        )  # fmt: skip
