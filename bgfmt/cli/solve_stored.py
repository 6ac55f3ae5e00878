"""The options of solves through a store of chunks: on a cluster, on a device, larger than memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from bgfmt.cli import options
from bgfmt.cli.terminal import Progress

F = TypeVar("F", bound=Callable[..., Any])
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def stored_options(function: F) -> F:
    """Options of a kind of solve that may go through a store."""
    for option in (
        click.option(
            "--memory",
            metavar="SIZE",
            callback=_size,
            help="Memory a worker may take, such as 2G (with a store).",
        ),
        click.option("--device", type=click.Choice(["cuda"]), help="Make it on a GPU (the extra cuda)."),
        click.option(
            "--store", metavar="PATH", help="Keep what is finished in a folder of chunks, itself a database."
        ),
        click.option(
            "--cluster",
            metavar="ADDRESS",
            help="Make it on a Dask cluster: tcp://HOST:PORT, or local:N workers here (the extra cluster).",
        ),
    ):
        function = option(function)
    return function


def memory_option(function: F) -> F:
    """`--memory SIZE` of a one-sided table."""
    text = "Memory to take at most, such as 6G; the rest lies in a mapped file beside OUTPUT until the end."
    return click.option("--memory", metavar="SIZE", callback=_size, help=text)(function)


def _size(_: Any, __: Any, text: str | None) -> int | None:
    if text is None:
        return None
    said = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", text.strip().upper())
    if said is None or not float(said.group(1)):
        raise click.BadParameter(f"{text!r}: expected a number of bytes, such as 2G or 500M")
    return int(float(said.group(1)) * UNITS[said.group(2)])


def solve(
    kind: str,
    points: int,
    chequers: int,
    facts: dict[str, Any],
    layout: dict[str, Any],
    *,
    output: str | None,
    to: str | None,
    quiet: bool,
    threads: int | None,
    force: bool,
    resume: bool,
    cluster: str | None,
    store: str | None,
    device: str | None,
    memory: int | None,
    as_json: bool,
) -> None:
    """Run a solve through a store."""
    if output is None and store is None:
        raise click.UsageError("Missing option '-o' or '--store': the file or the store to make.")
    if cluster is not None:
        from bgfmt.extras.cluster.dask_workers import begin

        begin(cluster)
    from bgfmt.files import solve_store as solving_stored

    kept = store if store is not None else solving_stored.store_of(output or "")
    how: dict[str, Any] = {} if quiet else {"announce": _dashboard}
    try:
        with Progress("solving", " pairs", always=not quiet) as progress:
            solved = solving_stored.solve_stored(
                kind, points, chequers, output, store=store, cluster=cluster, device=device, memory=memory,
                resume=resume, format=to, force=force, threads=threads, progress=None if quiet else progress,
                **facts, **layout, **how,
            )  # fmt: skip
    except KeyboardInterrupt:
        text = f"what is finished is kept in {kept}; the same command with --resume goes on"
        click.echo(f"bgfmt: interrupted; {text}", err=True)
        raise click.exceptions.Exit(130) from None
    if as_json:
        options.echo_written(output if output is not None else kept)
    if not quiet:
        found = f", {solved.found} found" if solved.found else ""
        moved = f"{solved.read / 1e6:,.1f} MB read, {solved.written / 1e6:,.1f} MB written"
        click.echo(f"tiles made: {solved.made}{found}; {moved}", err=True)


def say(
    points: int,
    chequers: int,
    facts: dict[str, Any],
    *,
    cluster: str | None,
    memory: int | None,
    device: str | None,
    threads: int | None,
) -> None:
    """What a solve through a store would take."""
    from bgfmt.extras.cluster.addresses import check_address
    from bgfmt.files.solve_store import plan_stored
    from bgfmt.solver.job import job
    from bgfmt.solver.machine import thread_count

    workers = thread_count(threads)
    if cluster is not None:
        check_address(cluster)
        local = re.fullmatch(r"local:(\d+)", cluster)
        workers = int(local.group(1)) if local else max(8, workers)
    made = job("two-sided", points, chequers, **facts)
    plan = plan_stored(made, workers=workers, memory=memory)
    grid = plan.grid
    click.echo(f"two-sided {points}x{chequers}, recipe {made.recipe.name}, through a store")
    click.echo(f"  tiles    {plan.tiles:,}, {grid.side:,} places a side, in chunks of {grid.chunk:,}")
    click.echo(f"  memory   {plan.memory / 1e6:,.0f} MB a worker, {workers} workers")
    click.echo(f"  store    {plan.store / 1e6:,.1f} MB of disk")
    click.echo(f"  moved    {plan.read / 1e6:,.1f} MB read, {plan.written / 1e6:,.1f} MB written")
    click.echo(f"  output   {plan.output / 1e6:,.1f} MB")


def _dashboard(address: str) -> None:
    click.echo(f"dashboard: {address}", err=True)
