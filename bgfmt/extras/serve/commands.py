"""`bgfmt serve`: tables over HTTP, and a page to ask them; `bgfmt site`: that page and tables as a folder."""

from __future__ import annotations

import re

import click

from bgfmt.cli import options


def _origins(_: click.Context, option: click.Parameter, origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        if not re.fullmatch(r"\*|null|[a-z][a-z0-9+.-]*://[!-~]+", origin):
            raise click.BadParameter(f"{origin!r} is no origin, such as https://example.org", param=option)
    return origins


@click.command()
@click.argument("databases", nargs=-1, metavar="[DB...]")
@click.option(
    "--host", default="127.0.0.1", show_default=True, callback=options.plain, help="Address to listen on."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8753, show_default=True, help="Port; 0 picks a free one."
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    callback=_origins,
    help="Origin whose pages may ask, or '*' (repeatable).",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    callback=options.plain,
    help="Name of this server to answer to (repeatable).",
)
@click.option("--no-download", is_flag=True, help="Do not hand out the tables themselves.")
@click.option(
    "--settle",
    type=click.IntRange(0),
    default=None,
    metavar="PAIRS",
    help="Most pairs of boards calculated for one question; 0 never (default: a million, 100,000 where a one-sided "
    "table has an answer).",
)
@click.option(
    "--max-rows", type=click.IntRange(1), default=10_000, show_default=True, help="Positions a request."
)
@click.option(
    "--max-body",
    type=click.IntRange(1),
    default=4 << 20,
    show_default=True,
    help="Bytes of a request's body.",
)
@click.option(
    "--max-age",
    type=click.IntRange(0),
    default=3600,
    show_default=True,
    help="Seconds that answers may be kept.",
)
@click.option(
    "--connections", type=click.IntRange(1), default=1000, show_default=True, help="Open connections."
)
@click.option("--quiet", is_flag=True, help="Do not log requests.")
@options.as_option
def serve(
    databases: tuple[str, ...],
    host: str,
    port: int,
    cors: tuple[str, ...],
    allow_host: tuple[str, ...],
    no_download: bool,
    settle: int | None,
    max_rows: int,
    max_body: int,
    max_age: int,
    connections: int,
    quiet: bool,
    described: str | None,
) -> None:
    """Answer questions about the tables DB over HTTP, and show a page that asks them, until interrupted.

    DB is a file, or NAME=FILE to serve it under another name; without any, BGFMT_DB, what gnubg has installed, or the
    default tables. The page is at /, the routes are listed at /openapi.json. Needs starlette, uvicorn and httptools.

    \b
    Example:
      bgfmt serve gnubg_ts0.bd gnubg_os0.bd
    """
    from bgfmt.errors import MissingExtraError

    try:
        from bgfmt.extras.serve.app import Settings
        from bgfmt.extras.serve.holdings import Holdings
        from bgfmt.extras.serve.server import hosts_of
        from bgfmt.extras.serve.server import serve as run
    except ModuleNotFoundError as error:
        install = "pip install '.[serve]' in a checkout of bgfmt"
        raise MissingExtraError(f"serving needs {error.name}: {install}", install) from None
    settings = Settings(
        hosts=hosts_of(host, tuple(name.lower() for name in allow_host)),
        origins=cors,
        download=not no_download,
        settle=settle,
        max_rows=max_rows,
        max_body=max_body,
        max_age=max_age,
        connections=connections,
    )
    with Holdings.open(databases or _standing(), **options.reading(described)) as holdings:
        run(holdings, settings, host=host, port=port, say=click.echo, quiet=quiet)


def _standing() -> list[str]:
    """The files of this machine's databases."""
    from bgfmt.analysis import library
    from bgfmt.errors import NotCoveredError
    from bgfmt.files.database import Database

    with library.standing() as found:
        files = [one.name for one in found.databases if isinstance(one, Database)]
    if not files:
        raise NotCoveredError("there is no table here, and none can be kept: name one")
    return files


@click.command()
@click.argument("out", type=click.Path())
@click.argument("databases", nargs=-1, metavar="[DB...]")
@click.option("--link", multiple=True, metavar="NAME=URL", help="A table that lies elsewhere (repeatable).")
@click.option("--title", default="", help="Goes before the page's own name in the title.")
@options.force_option
def site(out: str, databases: tuple[str, ...], link: tuple[str, ...], title: str, force: bool) -> None:
    """Write the page of `bgfmt serve` and the tables DB into the folder OUT, for any web server.

    All addresses in it are relative, so it works in any folder of a site. The page reads tables by byte range; a
    server without ranges, such as `python -m http.server`, will do for small ones. A linked table's server must allow
    other origins.

    \b
    Example:
      bgfmt site public gnubg_ts0.bd gnubg_os0.bd
    """
    from bgfmt.extras.serve import page

    named = [page.Link.parse(text) for text in link]
    written = page.write(out, databases, named, title=title, force=force)
    many = f"{written.tables} table{'s' if written.tables != 1 else ''}"
    click.echo(f"{out}: the page and {many}, {written.size:,} bytes")
