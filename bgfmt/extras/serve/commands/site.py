"""`bgfmt site`: the probe page and tables as a static folder."""

from __future__ import annotations

import click

from bgfmt.cli import options


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
