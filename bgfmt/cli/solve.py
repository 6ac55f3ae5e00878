"""`bgfmt solve`: build databases from the rules of the game."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, TypeVar

import click

from bgfmt import jit
from bgfmt import met as tables
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress, clock, echo_made, say
from bgfmt.errors import BgfmtError, CapabilityError
from bgfmt.files.routes import Route, stores
from bgfmt.files.solve import ROUTE_OPTIONS, solve_table
from bgfmt.files.solve import solve as solve_file
from bgfmt.solver import registry
from bgfmt.storage.system import format_size
from bgfmt.tables.registry import installed_names

__all__ = [
    "common_options",
    "echo_sweep",
    "memory_option",
    "parse_numbers",
    "parse_size",
    "recipe_option",
    "report_interrupt",
    "run_solver",
    "show_making",
    "solve",
]

#: entry points of the commands that extras add to `bgfmt solve`
COMMANDS = "bgfmt.solve_commands"
F = TypeVar("F", bound=Callable[..., Any])
SIZE = r"(\d{1,2})[xX](\d{1,2})"


#: options of all solves
common_options = options.combine(
    click.option("-o", "--output", type=click.Path(), help="The file to write."),
    click.option("--to", "to", metavar="FORMAT", help="Format to write (default: by OUTPUT's suffix)."),
    options.quiet_option,
    click.option(
        "--plan", is_flag=True, help="Print the time, memory and disk space needed, and solve nothing."
    ),
    options.threads_option,
    options.force_option,
    options.json_option,
)


def recipe_option(*names: str) -> Callable[[F], F]:
    """Return a decorator that adds the option `--recipe NAME` with these names, of which the first is the default."""
    return click.option("--recipe", type=click.Choice(names), default=names[0], show_default=True)


def memory_option(text: str) -> Callable[[F], F]:
    """Return a decorator that adds the option `--memory SIZE` with this help text to a command."""
    return click.option("--memory", metavar="SIZE", callback=options.parse_bytes, help=text)


class Solvers(options.Group):
    """Group of the commands of solvers: those with their own options, and a generic one, NAME ``PxC``, for others.

    Extras add theirs by entry points.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        theirs = {*installed_names(COMMANDS), *installed_names(registry.GROUP)}
        return sorted({*super().list_commands(ctx), *theirs})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name) or options.load_command(COMMANDS, cmd_name)
        if command is not None or cmd_name not in self.list_commands(ctx):
            return command
        try:
            solver = registry.get(cmd_name)
        except BgfmtError as error:  # the help of all names it, the command fails with it
            return plain_command(cmd_name, str(error))
        return plain_command(cmd_name, solver.__doc__ or "") if isinstance(solver, type) else None


#: options of tables that can be solved through a store of chunks
through_a_store = options.combine(
    click.option("--resume", is_flag=True, help="Continue from the store that an interrupted run left."),
    click.option(
        "--scratch", type=click.Path(),
        help="Folder of the temporary store of a large table (default: OUTPUT.store).",
    ),
    click.option(
        "--cluster", "workers", metavar="ADDRESS",
        help="Solve on a Dask cluster: tcp://HOST:PORT, or local:N for N workers here (extra: cluster).",
    ),
    click.option(
        "--store", metavar="PATH", help="Solve into this folder of chunks, which is itself a database."
    ),
    click.option(
        "--device", type=click.Choice(sorted(installed_names("bgfmt.devices"))),
        help="Solve on a GPU (extra: cuda).",
    ),
    memory_option("Memory limit of a worker, such as 2G (solves through a store)."),
)  # fmt: skip


def plain_command(name: str, about: str) -> click.Command:
    """Build the command of a solver that takes a size, a recipe and the common options; `about` is its help."""

    @click.command(name, help=about)
    @click.argument("size", metavar="PxC")
    @click.option("--recipe", metavar="NAME", help="Algorithm and rounding (default: the first of its kind).")
    @common_options
    def command(size: str, **common: Any) -> None:
        run_solver(name, *parse_numbers(size, SIZE, "points x chequers, such as 6x8"), **common)

    return command


@section("Solve and verify")
@click.group(cls=Solvers)
def solve() -> None:
    """Compute a database from the rules of the game, byte for byte as the original program writes it."""


@solve.command("one-sided")
@click.argument("size", metavar="POINTS")
@click.option("--chequers", "--checkers", type=click.IntRange(1, 15), help="[default: 15]")
@options.no_option("--no-gammon", "gammon", "Omit the gammon distributions (makebearoff -g).")
@options.no_option("--no-compress", "compressed", "Write uncompressed rows (makebearoff -c).")
@click.option(
    "--normal-dist", is_flag=True, help="Write means and standard deviations only (makebearoff -n)."
)
@options.no_option("--no-header", "header", "Omit the 40-byte header (makebearoff -H).")
@recipe_option("gnubg", "bgsage", "exact")
@memory_option("Memory limit, such as 6G; the rest is in a temporary mapped file next to OUTPUT.")
@common_options
def one_sided(size: str, chequers: int | None, normal_dist: bool, **common: Any) -> None:
    """Compute roll distributions of one side.

    POINTS is the number of points, 1 to 18; 6x15 means 6 points and 15 chequers.

    \b
    Example:
      bgfmt solve one-sided 6 -o gnubg_os0.bd
    """
    points, named = parse_numbers(
        f"{size}x{chequers or 15}" if size.isdecimal() else size, SIZE, "a number of points, such as 6"
    )
    if chequers not in (None, named):
        raise click.UsageError(f"{size} has {named} chequers, but --chequers is {chequers}")
    if normal_dist:
        common |= {"compressed": None}
    run_solver("normal-distribution" if normal_dist else "one-sided", points, named, **common)


@solve.command("two-sided")
@click.argument("size", metavar="PxC")
@options.no_option("--cubeless", "cubeful", "Compute only the cubeless equities (makebearoff -C).")
@options.no_option("--no-header", "header", "Omit the 40-byte header (makebearoff -H).")
@recipe_option("gnubg", "exact")
@through_a_store
@common_options
def two_sided(size: str, **common: Any) -> None:
    """Compute two-sided money equities.

    PxC is 1 to 12 points and up to 1 to 15 chequers a side.

    \b
    Examples:
      bgfmt solve two-sided 6x6 -o gnubg_ts0.bd
      bgfmt solve two-sided 7x12 --cluster local:2 --memory 2.5G --store 7x12.store
    """
    _pairs("two-sided", size, **common)


@solve.command("two-sided-gammons")
@click.argument("size", metavar="PxC")
@options.no_option("--cubeless", "cubeful", "Compute only the cubeless equities.")
@click.option("--jacoby", is_flag=True, help="Apply the Jacoby rule: no gammons while the cube is centered.")
@recipe_option("gammons", "exact")
@through_a_store
@common_options
def two_sided_gammons(size: str, jacoby: bool, **common: Any) -> None:
    """Compute two-sided money equities with gammons.

    PxC is points x chequers a side. A side that loses with all fifteen chequers loses two points.

    \b
    Examples:
      bgfmt solve two-sided-gammons 4x15 -o gammons.npz
      bgfmt solve two-sided-gammons 6x15 --jacoby -o jacoby.npz
    """
    _pairs("two-sided-jacoby" if jacoby else "two-sided-gammons", size, **common)


def _pairs(name: str, size: str, *, scratch: str | None, **common: Any) -> None:
    """Solve a two-sided table, and refuse `--scratch` together with a store."""
    if scratch is not None and (_route(common).by_tiles or common["memory"] is not None):
        text = "--scratch and a store (--store, --cluster, --device, --memory) exclude each other"
        raise click.UsageError(text)
    run_solver(name, *parse_size(size), scratch=scratch, **common)


@solve.command("mean-rolls")
@common_options
def mean_rolls(**common: Any) -> None:
    """Compute Peelle's table of mean rolls.

    The table has 54,264 positions; the file is the J component file of his article.

    \b
    Example:
      bgfmt solve mean-rolls -o bgns.ijf
    """
    run_solver("mean-rolls", 6, 15, **common)


@solve.command("match")
@click.argument("size", metavar="PxC")
@click.option("--away", required=True, metavar="A-B", help="Points that each side still needs, such as 5-9.")
@click.option(
    "--met", metavar="NAME|FILE", help="Match equity table: a name or a file (default: Kazaross-XG2)."
)
@click.option(
    "--met-player", "player", type=click.IntRange(0, 1), default=0,
    help="Player number of the first side, for a match equity table that differs by player.",
)  # fmt: skip
@click.option(
    "--extend-met", is_flag=True, help="Extend the match equity table to 64-away by a normal approximation."
)
@recipe_option("match", "exact")
@common_options
def match(size: str, away: str, met: str | None, extend_met: bool, **common: Any) -> None:
    """Compute match winning probabilities at one score.

    PxC is points x chequers a side. The table has every state in which the cube is alive, and answers for both sides
    of the score. A folder of such files, named as a database, answers for a whole match.

    \b
    Examples:
      bgfmt solve match 6x6 --away 5-9 -o 5-9.bgm
      bgfmt solve match 6x8 --away 3-3 --met g11 --plan
    """
    needed = parse_numbers(away, r"(\d{1,3})-(\d{1,3})", "the points that each side needs, such as 5-9")
    table = tables.load(met or tables.DEFAULT, extend=extend_met)
    run_solver("match", *parse_size(size), away=needed, met=table, **common)


@solve.command("gnubg-2001")
@click.option("-o", "--output", type=click.Path(), required=True, help="The file to write.")
@options.quiet_option
@options.force_option
@options.json_option
def gnubg_2001(output: str, quiet: bool, force: bool, as_json: bool) -> None:
    """Compute the gnubg.bd of GNU Backgammon of 2001.

    Its versions from May 2001 to November 2002 read it. The file has a one-sided table of 6 points and 15 chequers,
    then a two-sided one of 6 points and 6 chequers, and no header.

    \b
    Example:
      bgfmt solve gnubg-2001 -o gnubg.bd
    """
    with show_making(output, quiet, " positions") as progress:
        solve_file("gnubg-2001", 6, 15, output, force=force, progress=progress)
    if as_json:
        options.echo_json(options.written_fields(output))


def parse_numbers(text: str, pattern: str, expected: str) -> tuple[int, int]:
    """Parse the two numbers of a text that matches the regular expression `pattern`; UsageError if it does not.

    expected : what the error says was expected.
    """
    match = re.fullmatch(pattern, text)
    if not match:
        raise click.UsageError(f"{text!r}: expected {expected}")
    return int(match.group(1)), int(match.group(2))


def parse_size(size: str, most_points: int = 12) -> tuple[int, int]:
    """Parse the size of a two-sided table, such as 6x8, to (points, chequers); raises UsageError if out of range.

    most_points : maximum number of points; tables of more than 12 are read, but not solved.
    """
    points, chequers = parse_numbers(size, SIZE, "points x chequers, such as 6x8")
    if not 1 <= points <= most_points or not 1 <= chequers <= 15:
        sizes = f"1 to {most_points} points and 1 to 15 chequers"
        raise click.UsageError(f"{size}: two-sided tables must have {sizes}")
    return points, chequers


def run_solver(
    name: str,
    points: int,
    chequers: int,
    *,
    output: str | None,
    to: str | None,
    quiet: bool,
    plan: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Solve a table and write it, or with `plan` print the resources that it takes.

    Parameters
    ----------
    name, points, chequers : the solver's name, and the size of the table.
    output, to : the file and its format, None if not given.
    quiet : print no progress.
    as_json : print the result as JSON.
    chosen : further options of `bgfmt.solve`, None if not given.
    """
    solver: Any = registry.get(name)
    chosen = {key: value for key, value in chosen.items() if value is not None}
    if plan:
        facts = {
            key: value
            for key, value in chosen.items()
            if key in solver.options - solver.path_options | {"recipe"}
        }
        _echo_plan(registry.solver_of(name, points, chequers, **facts), chosen, as_json)
        return
    path = output if output is not None else chosen.get("store")
    if path is None:
        raise click.UsageError("Missing option '-o': the file to write.")
    began = time.monotonic()
    try:
        with _progress(quiet, solver.unit) as progress:
            report = solve_table(
                name, points, chequers, output, format=to, progress=None if quiet else progress,
                announce=None if quiet else lambda address: say(f"dashboard: {address}", err=True), **chosen,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        kept = str(chosen.get("store") or chosen.get("scratch") or f"{output}{solver.kept_suffix}")
        report_interrupt(error, kept if solver.kept_suffix else "")
    if as_json:
        options.echo_json(options.written_fields(path))
    if quiet:
        return
    if report is not None and report.made + report.found:
        found = f", {report.found} found" if report.found else ""
        moved = f"{format_size(report.read)} read, {format_size(report.written)} written"
        say(f"tiles solved: {report.made}{found}; {moved}", err=True)
    echo_made(path, began, "" if report is None or output is not None else report.sum)


@contextmanager
def _progress(quiet: bool, unit: str = "") -> Iterator[Progress]:
    """Yield the progress of a solve, which also reports when a kernel is compiled."""
    with Progress("solving", unit, always=True, quiet=quiet) as progress, jit.watching(progress.compiling):
        yield progress


@contextmanager
def show_making(path: str, quiet: bool, unit: str = "") -> Iterator[Progress]:
    """Show progress while the block writes the file `path`, then print its size and checksum.

    quiet : show neither. unit : what progress counts. Yields the function to call with (done, total).
    """
    began = time.monotonic()
    with _progress(quiet, unit) as progress:
        yield progress
    if not quiet:
        echo_made(path, began)


def report_interrupt(error: KeyboardInterrupt, kept: str) -> None:
    """Print how to resume an interrupted run from the file `kept`, and exit with code 130.

    Raises `error` again if there is no such file.
    """
    if not os.path.exists(kept):
        raise error
    text = f"finished work is in {kept}; the same command with --resume continues"
    say(f"bgfmt: interrupted; {text}", err=True)
    raise click.exceptions.Exit(130) from None


def echo_sweep(sweep: int, change: float) -> None:
    """Print on stderr the number of an iteration over the whole table, and the largest change of a number in it."""
    say(f"sweep {sweep}: largest change {change:.2g}", err=True)


def _route(chosen: Mapping[str, Any]) -> Route:
    """Return the route of a solve with the chosen options."""
    return Route(**{name: chosen[name] for name in ROUTE_OPTIONS & chosen.keys()})


def _echo_plan(solver: registry.Solver, chosen: dict[str, Any], as_json: bool) -> None:
    """Print the resources that a solve with the chosen options takes, through a store if it uses one."""
    route = _route(chosen)
    memory = chosen.get("memory")
    if not solver.supports_store or not (route.by_tiles or memory):
        if route.by_tiles:
            raise CapabilityError(f"{solver.what} can only be solved in memory, not in a store")
        plan = solver.fitting_plan(chosen.get("threads"), memory)
        numbers = asdict(plan) | {"fits": plan.fits_in_memory}
        lines = {
            "time": f"about {clock(plan.seconds)} on this machine when it is idle",
            "memory": format_size(plan.memory) + ("" if plan.fits_in_memory else " (more than is free now)"),
            "scratch": f"{format_size(plan.scratch)} of temporary disk space",
        }
    else:
        numbers, lines = stores().describe_plan(solver, route)
    if as_json:
        options.echo_json(numbers)
        return
    lines["output"] = format_size(numbers["output"])
    click.echo("\n".join([numbers["what"], *(f"  {name:<8} {text}" for name, text in lines.items())]))
