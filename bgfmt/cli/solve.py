"""`bgfmt solve`: make databases from the rules of the game."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from bgfmt.cli import options
from bgfmt.cli.terminal import Progress

F = TypeVar("F", bound=Callable[..., Any])


def common(function: F) -> F:
    """Options of every kind of solve."""
    for option in (
        options.force_option,
        options.threads_option,
        click.option("--plan", is_flag=True, help="Only say what time, memory and disk it would take."),
        click.option("--quiet", is_flag=True, help="No progress."),
        click.option("--to", "to", metavar="FORMAT", help="Format to write (default: the recipe's own)."),
        click.option("-o", "--output", type=click.Path(), help="The file to make."),
    ):
        function = option(function)
    return function


@click.group()
def solve() -> None:
    """Make a database from the rules of the game, with the very bytes of the program it belongs to."""


@solve.command("one-sided")
@click.argument("points", type=int)
@click.option("--chequers", "--checkers", type=click.IntRange(1, 15), default=15, show_default=True)
@click.option("--no-gammon", is_flag=True, help="No gammon distributions (makebearoff -g).")
@click.option("--no-compress", is_flag=True, help="Plain rows (makebearoff -c).")
@click.option("--normal-dist", is_flag=True, help="Means and deviations only (makebearoff -n).")
@click.option("--no-header", is_flag=True, help="Leave out the 40 header bytes (makebearoff -H).")
@click.option("--recipe", type=click.Choice(["gnubg", "bgsage", "exact"]), default="gnubg", show_default=True)
@common
def one_sided(
    points: int,
    chequers: int,
    no_gammon: bool,
    no_compress: bool,
    normal_dist: bool,
    no_header: bool,
    recipe: str,
    output: str | None,
    to: str | None,
    quiet: bool,
    plan: bool,
    threads: int | None,
    force: bool,
) -> None:
    """Distributions of the rolls one side needs, on POINTS points (1 to 18).

    \b
    Example:
      bgfmt solve one-sided 6 -o gnubg_os0.bd
    """
    from bgfmt import making

    gammon = not (no_gammon and not normal_dist)
    if plan:
        facts = {"gammon": gammon, "compressed": not no_compress, "normal": normal_dist, "recipe": recipe}
        _say("one-sided", points, chequers, **facts, threads=threads)
        return
    with Progress("solving", " positions", always=not quiet) as progress:
        making.solve_one_sided(
            _needed(output),
            points,
            chequers=chequers,
            gammon=gammon,
            compressed=not no_compress,
            normal=normal_dist,
            header=not no_header,
            recipe=recipe,
            format=to,
            force=force,
            threads=threads,
            progress=None if quiet else progress,
        )


@solve.command("two-sided")
@click.argument("size", metavar="PxC")
@click.option("--cubeless", is_flag=True, help="Only the cubeless equities (makebearoff -C).")
@click.option("--no-header", is_flag=True, help="Leave out the 40 header bytes (makebearoff -H).")
@click.option("--recipe", type=click.Choice(["gnubg", "exact"]), default="gnubg", show_default=True)
@click.option("--resume", is_flag=True, help="Go on from the scratch file that an ended run left.")
@click.option(
    "--scratch", type=click.Path(), help="Where to keep the scratch file (default: OUTPUT.scratch)."
)
@common
def two_sided(
    size: str,
    cubeless: bool,
    no_header: bool,
    recipe: str,
    resume: bool,
    scratch: str | None,
    output: str | None,
    to: str | None,
    quiet: bool,
    plan: bool,
    threads: int | None,
    force: bool,
) -> None:
    """Money equities of both sides on P points with up to C chequers, P 1 to 12, C 1 to 15.

    \b
    Example:
      bgfmt solve two-sided 6x6 -o gnubg_ts0.bd
    """
    from bgfmt import making

    match = re.fullmatch(r"(\d{1,2})[xX](\d{1,2})", size)
    if not match:
        raise click.UsageError(f"{size!r}: expected points x chequers, such as 6x8")
    points, chequers = int(match.group(1)), int(match.group(2))
    if not 1 <= points <= 12 or not 1 <= chequers <= 15:
        raise click.UsageError(f"{size}: two-sided tables have 1 to 12 points and 1 to 15 chequers")
    if plan:
        _say("two-sided", points, chequers, cubeful=not cubeless, recipe=recipe, threads=threads)
        return
    with Progress("solving", " pairs", always=not quiet) as progress:
        making.solve_two_sided(
            _needed(output),
            points,
            chequers,
            cubeful=not cubeless,
            header=not no_header,
            recipe=recipe,
            format=to,
            force=force,
            threads=threads,
            progress=None if quiet else progress,
            resume=resume,
            scratch=scratch,
        )


@solve.command("expected-rolls")
@common
def expected_rolls(
    output: str | None, to: str | None, quiet: bool, plan: bool, threads: int | None, force: bool
) -> None:
    """Peelle's table: the expected rolls of 54,264 positions, as the J component file of his article.

    \b
    Example:
      bgfmt solve expected-rolls -o bgns.ijf
    """
    from bgfmt import making

    if plan:
        _say("expected-rolls", threads=threads)
        return
    with Progress("solving", " positions", always=not quiet) as progress:
        making.solve_expected_rolls(
            _needed(output), format=to, force=force, threads=threads, progress=None if quiet else progress
        )


def _needed(output: str | None) -> str:
    if output is None:
        raise click.UsageError("Missing option '-o': the file to make.")
    return output


def _say(*arguments: Any, **options: Any) -> None:
    from bgfmt import solver
    from bgfmt.cli.terminal import clock

    plan = solver.plan(*arguments, **options)
    click.echo(plan.what)
    click.echo(f"  time     about {clock(plan.seconds)} on this machine when it is idle")
    click.echo(f"  memory   {plan.memory / 1e6:,.0f} MB" + ("" if plan.fits else " (more than is free now)"))
    click.echo(f"  scratch  {plan.scratch / 1e6:,.0f} MB of disk until the table is whole")
    click.echo(f"  output   {plan.output / 1e6:,.1f} MB")
