"""`bgfmt convert`: another format or layout of the same numbers."""

from __future__ import annotations

import time
from inspect import signature
from typing import Any

import click

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress, echo_made, say
from bgfmt.files.database import WORDS


@section("Files")
@click.command()
@click.argument("source", type=click.Path(), metavar="SRC")
@click.argument("destination", type=click.Path(), metavar="DST")
@click.option(
    "--to", metavar="FORMAT", help="Format to write (default: by DST's suffix, SRC's own if it fits)."
)
@click.option("--points", type=click.IntRange(1, 24), help="Cut down to this many points.")
@click.option("--chequers", "--checkers", type=click.IntRange(1, 15), help="Cut down to this many chequers.")
@click.option(
    "--compress/--no-compress", "compressed", default=None, help="One-sided: compressed layout or not."
)
@click.option(
    "--gammon/--no-gammon", "gammon", default=None, help="One-sided: with gammon distributions or not."
)
@click.option("--header/--no-header", "header", default=None, help="gnubg: with the 40 header bytes or not.")
@click.option("--cubeless", is_flag=True, help="Two-sided: only the cubeless equities.")
@click.option(
    "-O", "more", multiple=True, metavar="NAME=VALUE", help="Any option of the format; see `bgfmt formats`."
)
@click.option("--lossy", is_flag=True, help="Allow what loses something; each loss is said in one line.")
@click.option("--plan", "dry", is_flag=True, help="Say what would be lost, and write nothing.")
@options.as_option
@options.part_option
@options.quiet_option
@options.force_option
@options.json_option
def convert(
    source: str,
    destination: str,
    compressed: bool | None,
    gammon: bool | None,
    header: bool | None,
    cubeless: bool,
    more: tuple[str, ...],
    dry: bool,
    described: str | None,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Write the table of SRC to DST in another format or layout; a plain copy is byte for byte.

    \b
    Examples:
      bgfmt convert gnubg_os0.bd bearoff.ijf
      bgfmt convert gnubg_ts.bd small.bd --chequers 6 --cubeless
    """
    chosen: dict[str, Any] = {"compressed": compressed, "gammon": gammon, "header": header}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if cubeless:
        chosen["cubeful"] = False
    for item in more:
        name, equals, value = item.partition("=")
        key = name.strip().replace("-", "_")
        if (
            key in signature(bgfmt.convert).parameters
        ):  # or it would pass for an argument of `bgfmt.convert` itself
            raise click.UsageError(f"-O {item}: {key!r} is no option of a format")
        chosen[key] = _value(value.strip()) if equals else True
    began = time.monotonic()
    with Progress("converting", "B", quiet=quiet) as progress:
        how |= {"progress": progress, "format": described, "dry": dry}
        lost = bgfmt.convert(source, destination, **how, **chosen)
    if dry and as_json:
        options.echo_json({"file": destination, "lost": lost})
    elif dry:
        say("\n".join(f"loses: {line}" for line in lost) or "nothing is lost")
        form = bgfmt.formats.get(how["to"]) if how["to"] else bgfmt.formats.by_suffix(destination)
        if form is not None and not form.reads:
            say(f"{form.name} files are written, and not read back")
    if dry:
        return
    for line in lost:
        say(f"lost: {line}", err=True)
    if as_json:
        options.echo_written(destination, lost=list(lost))
    if not quiet:
        echo_made(destination, began)


def _value(text: str) -> bool | int | str:
    return int(text) if text.removeprefix("-").isdecimal() else WORDS.get(text.lower() or "yes", text)
