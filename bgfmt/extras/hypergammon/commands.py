"""The commands `bgfmt solve hypergammon` and `hypergammon-met`."""

from __future__ import annotations

from typing import Any

import click

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.solve import (
    common_options,
    echo_sweep,
    recipe_option,
    report_interrupt,
    run_solver,
    show_making,
)
from bgfmt.cli.terminal import say


@click.command("hypergammon")
@click.argument("chequers", type=click.Choice(["1", "2", "3"]))
@recipe_option("gnubg", "exact")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Sweep until no number changes by more than this (makehyper -t).",
)
@click.option(
    "--restart", type=click.Path(), metavar="FILE", help="Start from this file's numbers (makehyper -r)."
)
@common_options
def hypergammon(chequers: str, quiet: bool, **common: Any) -> None:
    """Compute tables of hypergammon.

    The table has the outcome probabilities and money equities of 1, 2 or 3 chequers a side, with contact. Sweeps over
    all positions until no number changes by more than the threshold: 1e-5 as in makehyper, 1e-12 under recipe exact.
    Two chequers take a second, three some minutes and 1.1 GB (2.8 GB under exact).

    \b
    Examples:
      bgfmt solve hypergammon 2 -o hyper2.bd
      bgfmt solve hypergammon 3 --recipe exact -o hyper3.npz
    """
    run_solver(
        "hypergammon", 25, int(chequers), quiet=quiet, sweeping=None if quiet else echo_sweep, **common
    )


@click.command("hypergammon-met")
@click.argument("length", type=click.IntRange(1, 64))
@click.option(
    "--table", type=click.Path(), metavar="FILE",
    help="Hypergammon table to use (default: solve one with recipe exact).",
)  # fmt: skip
@click.option(
    "--chequers", type=click.Choice(["1", "2", "3"]), help="Chequers a side of the table to solve (default: 3).",
)  # fmt: skip
@click.option(
    "--cube-efficiency", "live", type=click.FloatRange(0, 1),
    help="Cube efficiency, from 0 (dead) to 1 (live) (default: 2/3).",
)  # fmt: skip
@click.option("--exact", is_flag=True, help="Solve every score with its cube, without a model.")
@click.option(
    "--resume", is_flag=True, help="Continue from OUTPUT.scores, which an interrupted exact run left."
)
@click.option("-o", "--output", type=click.Path(), required=True, help="The XML file to write.")
@options.quiet_option
@options.threads_option
@options.force_option
def hypergammon_met(chequers: str | None, live: float | None, output: str, quiet: bool, **how: Any) -> None:
    """Compute a match equity table of hypergammon.

    The table has LENGTH points and is written as gnubg's XML ("set met FILE"). By default a model computes it from
    the gammon and backgammon rates of the opening position. With --exact every score is solved, which takes minutes
    with one or two chequers and days with three. OUTPUT.scores has the scores solved so far: after an interrupt
    --resume continues from it, and --force starts again.

    \b
    Examples:
      bgfmt solve hypergammon-met 15 --table hyper3.npz -o hypergammon.xml
      bgfmt solve hypergammon-met 9 --exact --chequers 2 -o hyper2.xml
    """
    if how["table"] is not None and chequers is not None:
        raise click.UsageError("--chequers and --table exclude each other")
    how |= {"sweeping": None if quiet else echo_sweep, "live": live}
    how["solving"] = None if quiet else say
    try:
        with show_making(output, quiet):
            bgfmt.solve("hypergammon-met", 25, int(chequers or 3), output, **how)
    except KeyboardInterrupt as error:
        report_interrupt(error, f"{output}.scores")
