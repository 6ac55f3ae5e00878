"""`bgfmt solve`: make databases from the rules of the game."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from bgfmt.cli import options, solve_stored
from bgfmt.cli.solve_hypergammon import hypergammon, hypergammon_met
from bgfmt.cli.solve_match import match as match_score
from bgfmt.cli.terminal import Progress

F = TypeVar("F", bound=Callable[..., Any])


def common(function: F) -> F:
    """Options of every kind of solve."""
    for option in (
        options.json_option,
        options.force_option,
        options.threads_option,
        click.option("--plan", is_flag=True, help="Only say what time, memory and disk it would take."),
        click.option("--quiet", is_flag=True, help="No progress."),
        click.option("--to", "to", metavar="FORMAT", help="Format to write (default: by OUTPUT's suffix)."),
        click.option("-o", "--output", type=click.Path(), help="The file to make."),
    ):
        function = option(function)
    return function


@click.group()
def solve() -> None:
    """Make a database from the rules of the game, with the very bytes of the program it belongs to."""


solve.add_command(hypergammon)
solve.add_command(hypergammon_met)
solve.add_command(match_score)


@solve.command("one-sided")
@click.argument("points", type=int)
@click.option("--chequers", "--checkers", type=click.IntRange(1, 15), default=15, show_default=True)
@click.option("--no-gammon", is_flag=True, help="No gammon distributions (makebearoff -g).")
@click.option("--no-compress", is_flag=True, help="Plain rows (makebearoff -c).")
@click.option("--normal-dist", is_flag=True, help="Means and deviations only (makebearoff -n).")
@click.option("--no-header", is_flag=True, help="Leave out the 40 header bytes (makebearoff -H).")
@click.option(
    "--recipe",
    type=click.Choice(["gnubg", "bgsage", "exact", "gnubg-heuristic", "gnubg-heuristic-2009"]),
    default="gnubg",
    show_default=True,
)
@solve_stored.memory_option
@common
def one_sided(
    points: int,
    chequers: int,
    no_gammon: bool,
    no_compress: bool,
    normal_dist: bool,
    no_header: bool,
    recipe: str,
    memory: int | None,
    **common: Any,
) -> None:
    """Distributions of the rolls one side needs, on POINTS points (1 to 18).

    \b
    Example:
      bgfmt solve one-sided 6 -o gnubg_os0.bd
    """
    kind = "normal-distribution" if normal_dist else "one-sided"
    layout = {"compressed": False} if no_compress and not normal_dist else {}
    layout |= {"header": False} if no_header else {}
    _run(kind, points, chequers, layout, {"recipe": recipe, "gammon": not no_gammon}, memory=memory, **common)


@solve.command("two-sided")
@click.argument("size", metavar="PxC")
@click.option("--cubeless", is_flag=True, help="Only the cubeless equities (makebearoff -C).")
@click.option("--no-header", is_flag=True, help="Leave out the 40 header bytes (makebearoff -H).")
@click.option("--recipe", type=click.Choice(["gnubg", "exact"]), default="gnubg", show_default=True)
@click.option("--resume", is_flag=True, help="Go on from the scratch file that an ended run left.")
@click.option(
    "--scratch", type=click.Path(), help="Where to keep the scratch file (default: OUTPUT.scratch)."
)
@solve_stored.stored_options
@common
def two_sided(
    size: str,
    cubeless: bool,
    no_header: bool,
    recipe: str,
    resume: bool,
    scratch: str | None,
    cluster: str | None,
    store: str | None,
    device: str | None,
    memory: int | None,
    **common: Any,
) -> None:
    """Money equities of both sides on P points with up to C chequers, P 1 to 12, C 1 to 15.

    \b
    Examples:
      bgfmt solve two-sided 6x6 -o gnubg_ts0.bd
      bgfmt solve two-sided 7x12 --cluster local:2 --memory 2.5G --store 7x12.store
    """
    points, chequers = _sized(size)
    layout = {"header": False} if no_header else {}
    facts = {"recipe": recipe, "cubeful": not cubeless}
    through: dict[str, Any] = {"cluster": cluster, "memory": memory, "device": device}
    if store is None and all(value is None for value in through.values()):
        _run("two-sided", points, chequers, layout, facts, resume=resume, scratch=scratch, **common)
        return
    if scratch is not None:
        raise click.UsageError(
            "--scratch and a store (--store, --cluster, --device, --memory) exclude each other"
        )
    if common.pop("plan"):
        solve_stored.say(points, chequers, facts, threads=common["threads"], **through)
        return
    kept: dict[str, Any] = {"store": store, "resume": resume}
    solve_stored.solve("two-sided", points, chequers, facts, layout, **through, **kept, **common)


@solve.command("mean-rolls")
@common
def mean_rolls(**common: Any) -> None:
    """Peelle's table: the mean rolls of 54,264 positions, as the J component file of his article.

    \b
    Example:
      bgfmt solve mean-rolls -o bgns.ijf
    """
    _run("mean-rolls", 6, 15, {}, {}, **common)


@solve.command("bkg")
@click.option("--domain", type=click.Choice(["union", "intersection"]), default="union", show_default=True)
@click.option("--recipe", type=click.Choice(["bkg", "exact"]), default="bkg", show_default=True)
@common
def bkg(domain: str, recipe: str, **common: Any) -> None:
    """Gillogly's table for BKG: expected rolls and P(1) to P(8) of 4,853 home positions.

    The domain is up to 8 men or up to 25 pips (union), or both (intersection, 1,724). Recipe bkg has six decimals
    and is written as text (.bkg), exact has float64 (.bkb, .npz).

    \b
    Example:
      bgfmt solve bkg -o gillogly.bkg
    """
    _run("bkg", 6, 15 if domain == "union" else 8, {}, {"recipe": recipe}, **common)


@solve.command("expected-points")
@click.argument("size", metavar="NxM")
@click.option("--recipe", type=click.Choice(["points", "exact"]), default="points", show_default=True)
@common
def expected_points(size: str, recipe: str, **common: Any) -> None:
    """Expected points of the side on roll for N points and 1 to M chequers a side, N 1 to 12, M 1 to 15.

    The data base of a blog of 2011: a finished game is worth one point, gammons and cube do not count. Recipe
    points has six decimals and is written as text (.points), exact has float64 (.npz).

    \b
    Example:
      bgfmt solve expected-points 3x3 -o 3x3.points
    """
    points, chequers = _sized(size)
    _run("expected-points", points, chequers, {}, {"recipe": recipe}, **common)


@solve.command("gnubg-2001")
@click.option("-o", "--output", type=click.Path(), required=True, help="The file to make.")
@click.option("--quiet", is_flag=True, help="No progress.")
@options.force_option
@options.json_option
def gnubg_2001(output: str, quiet: bool, force: bool, as_json: bool) -> None:
    """The gnubg.bd of GNU Backgammon from May 2001 to November 2002.

    A one-sided table of 6 points and 15 chequers, a two-sided one of 6 points and 6 chequers behind it, no header.

    \b
    Example:
      bgfmt solve gnubg-2001 -o gnubg.bd
    """
    from bgfmt import jit
    from bgfmt.files import solve_table as solving

    with (
        Progress("solving", " tables", always=not quiet) as progress,
        jit.watching((lambda: None) if quiet else progress.compiling),
    ):
        solving.solve_gnubg_2001(output, force=force)
    if as_json:
        options.echo_written(output)


@solve.command("expected-rolls", hidden=True)
@common
def expected_rolls(**common: Any) -> None:
    """The old name of mean-rolls."""
    _run("mean-rolls", 6, 15, {}, {}, **common)


def _sized(size: str) -> tuple[int, int]:
    """Points and chequers of a two-sided table, as written."""
    match = re.fullmatch(r"(\d{1,2})[xX](\d{1,2})", size)
    if not match:
        raise click.UsageError(f"{size!r}: expected points x chequers, such as 6x8")
    points, chequers = int(match.group(1)), int(match.group(2))
    if not 1 <= points <= 12 or not 1 <= chequers <= 15:
        raise click.UsageError(f"{size}: two-sided tables have 1 to 12 points and 1 to 15 chequers")
    return points, chequers


def _run(
    kind: str,
    points: int,
    chequers: int,
    layout: dict[str, Any],
    facts: dict[str, Any],
    *,
    output: str | None,
    to: str | None,
    quiet: bool,
    plan: bool,
    threads: int | None,
    force: bool,
    as_json: bool,
    resume: bool = False,
    scratch: str | None = None,
    memory: int | None = None,
) -> None:
    if plan:
        _say(kind, points, chequers, facts, threads, memory)
        return
    if output is None:
        raise click.UsageError("Missing option '-o': the file to make.")
    from bgfmt import jit
    from bgfmt.files import solve_table as solving

    unit = " pairs" if kind in ("two-sided", "expected-points") else " positions"
    try:
        with (
            Progress("solving", unit, always=not quiet) as progress,
            jit.watching((lambda: None) if quiet else progress.compiling),
        ):
            solving.solve(
                kind, points, chequers, output, format=to, force=force, resume=resume, scratch=scratch,
                threads=threads, memory=memory, progress=None if quiet else progress, **facts, **layout,
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = str(scratch or solving.scratch_of(output))
        if not os.path.exists(kept):
            raise
        text = f"the finished layers are kept in {kept}; the same command with --resume goes on"
        click.echo(f"bgfmt: interrupted; {text}", err=True)
        raise click.exceptions.Exit(130) from None
    if as_json:
        options.echo_written(output)


def _say(
    kind: str, points: int, chequers: int, facts: dict[str, Any], threads: int | None, memory: int | None
) -> None:
    from bgfmt.cli.terminal import echo_plan
    from bgfmt.files.solve_table import planned_for
    from bgfmt.solver.job import job

    made = job(kind, points, chequers, **facts)
    echo_plan(planned_for(made, made.plan(threads), memory))
