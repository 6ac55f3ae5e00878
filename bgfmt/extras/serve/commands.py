"""`bgfmt serve`: tables over HTTP, and a page to ask them; `bgfmt site`: that page and tables as a folder."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar

import click

from bgfmt.analysis import library
from bgfmt.cli import options
from bgfmt.cli.asking import open_library
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress, say
from bgfmt.errors import NotCoveredError, extra, install_hint
from bgfmt.extras.options import address_options, check_host_name, number_option
from bgfmt.extras.serve import page
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.parameters import Settings
from bgfmt.files.database import Database
from bgfmt.game.drawing import pluralize

F = TypeVar("F", bound=Callable[..., Any])


def _several(
    switch: str, name: str, metavar: str, about: str, check: Callable[..., Any] = check_host_name
) -> Callable[[F], F]:
    """Return an option that may be repeated."""
    about += " (repeatable)."
    return click.option(switch, name, multiple=True, metavar=metavar, callback=check, help=about)


def _origins(_: click.Context, option: click.Parameter, origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if not re.fullmatch(r"\*|null|[a-z][a-z0-9+.-]*://[!-~]+", origin):
            raise click.BadParameter(f"{origin!r} is not an origin such as https://example.org", param=option)
    return origins


def _proxies(_: click.Context, option: click.Parameter, addresses: tuple[str, ...]) -> tuple[str, ...]:
    for address in addresses:
        try:
            ip_network(address)
        except ValueError:
            raise click.BadParameter(f"{address!r} is not an address or network", param=option) from None
    return addresses


@section("Services")
@click.command()
@click.argument("databases", nargs=-1, metavar="[DB...]")
@address_options(8753)
@_several("--cors", "origins", "ORIGIN", "Origin whose pages may send queries, or '*'", _origins)
@_several("--allow-host", "allow_host", "NAME", "Accept requests whose Host header has this name")
@click.option("--no-download", is_flag=True, help="Do not serve the table files themselves.")
@number_option(
    "--settle", least=0, metavar="PAIRS",
    help="Limit of the calculation for a query, in pairs of boards (one side's chequers against the other's); 0 "
    "never calculates (default: a million; 100,000 if a one-sided table can estimate the answer).",
)  # fmt: skip
@number_option("--max-rows", least=1, default=Settings.max_rows, help="Maximum positions in a request.")
@number_option(
    "--max-body", least=1, default=Settings.max_body, help="Maximum size of a request's body, in bytes."
)
@number_option("--max-age", least=0, default=Settings.max_age, help="Seconds that clients may cache answers.")
@number_option(
    "--connections", least=1, default=Settings.connections, help="Maximum number of open connections."
)
@number_option(
    "--waiting", least=1, default=Settings.waiting, help="Maximum number of waiting queries of one client."
)
@number_option("--share", least=1, help="Maximum number of threads for one client (default: all but one).")
@number_option(
    "--calculation", least=1,
    help="Maximum seconds of calculation a minute for a client on another machine (default: 30).",
)  # fmt: skip
@number_option(
    "--workers", least=1, default=1, help="Number of worker processes; each has its own limits and counters."
)
@_several("--proxy", "proxies", "ADDRESS", "Proxy whose X-Forwarded-For names the client", _proxies)
@click.option("--quiet", is_flag=True, help="Do not log requests.")
@options.as_option
def serve(
    databases: tuple[str, ...], host: str, port: int, allow_host: tuple[str, ...], no_download: bool, quiet: bool,
    described: str | None, workers: int, **settings: Any,
) -> None:  # fmt: skip
    """Serve queries of the tables DB over HTTP, and a web page for them, until interrupted.

    DB is a file, or NAME=FILE to serve it under another name; the default is BGFMT_DB, else gnubg's installed
    databases, else the default tables. The page is at /, the routes are listed at /openapi.json. Needs starlette,
    uvicorn, httptools and prometheus-client.

    \b
    Example:
      bgfmt serve gnubg_ts0.bd gnubg_os0.bd
    """
    needed = "serving needs starlette, uvicorn, httptools and prometheus-client"
    server = extra("bgfmt.extras.serve.server", needed, install_hint("serve"))
    hosts = server.hosts_of(host, tuple(name.lower() for name in allow_host))
    files = list(databases)
    if not files:
        with library.open_default() as held:
            files = [one.name for one in held.databases if isinstance(one, Database)]
    if not files:
        raise NotCoveredError("no table was found and none can be stored; give a table DB")
    with Holdings.open(files, format=described) as holdings:
        told = Settings(hosts=hosts, download=not no_download, **settings)
        server.serve(holdings, told, host=host, port=port, quiet=quiet, workers=workers)


@section("Services")
@click.command()
@click.argument("out", type=click.Path())
@click.argument("databases", nargs=-1, metavar="[DB...]")
@click.option(
    "--link", multiple=True, metavar="NAME=URL", help="Address of a table on another server; repeatable."
)
@click.option("--title", default="", help="Text before the page's name in its title.")
@click.option(
    "--complete", is_flag=True,
    help="Include the complete table of six points and fifteen chequers (2.0 GB; solved in the folder OUT.tables "
    "unless a DB has it) and small tables for positions that it does not cover.",
)  # fmt: skip
@click.option(
    "--part", metavar="SIZE", callback=options.parse_bytes,
    help="Maximum file size, such as 100M or 2G; larger files are split (default: 100M with --complete).",
)  # fmt: skip
@options.force_option
def site(
    out: str, databases: tuple[str, ...], link: tuple[str, ...], title: str, complete: bool, part: int | None,
    force: bool,
) -> None:  # fmt: skip
    """Write the page of `bgfmt serve` and the tables DB into the folder OUT, for any web server.

    All addresses in it are relative, so it works in any folder of a site. The page reads tables by byte range; a
    server without ranges, such as `python -m http.server`, is enough for small ones. The server of a linked table
    must allow other origins.

    \b
    Examples:
      bgfmt site public gnubg_ts0.bd gnubg_os0.bd
      bgfmt site public --complete --part 2G 6x15.bgts
    """
    links = [page.Link.parse(text) for text in link]
    files = list(databases)
    page.check(out, force)
    part = page.part_size(part or page.DEFAULT_PART_BYTES) if part or complete else None
    made = Path(f"{os.fspath(out)}{page.TABLES}")
    try:
        files = page.tables(files, made) if complete else files
    except KeyboardInterrupt:
        if not made.is_dir():
            raise
        say(f"bgfmt: interrupted; finished work is in {made}; the same command continues", err=True)
        raise click.exceptions.Exit(130) from None
    with Progress("copying", always=True) as progress:
        size = page.write(
            out, files, links, title=title, force=force, part=part, met=complete, progress=progress
        )
    if complete and made.is_dir():
        shutil.rmtree(made)
    click.echo(f"{out}: the page and {pluralize(len(files) + len(links), 'table')}, {size:,} bytes")


@section("Services")
@click.command()
@click.argument("databases", nargs=-1, metavar="[DB...]")
def mcp(databases: tuple[str, ...]) -> None:
    """Serve language models and other clients of the Model Context Protocol on standard input and output.

    Tools: look_up, race, cube, grid, play, judge, verify, convert_plan. DB are the tables to query; the default is
    BGFMT_DB, else gnubg's installed databases, else the default tables. Needs the package mcp.

    \b
    Example:
      bgfmt mcp gnubg_ts0.bd gnubg_os0.bd
    """
    with open_library(list(databases), None, None):  # what is wrong with them is said at once
        pass
    install = install_hint("mcp")
    extra("bgfmt.extras.serve.mcp", "this needs mcp and anyio", install).serve(databases)
