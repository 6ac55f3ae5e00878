"""`bgfmt matches`: what recorded matches hold, as they were walked."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli import options


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@options.json_option
def matches(files: tuple[str, ...], as_json: bool) -> int:
    """Show the matches in FILE... (.mat and .txt, .sgf, .xg, .bgf, OGXM), told by content.

    A line for each game, and one for all that does not fit. --json has every record with the board before it. Exit
    code 2 where a file cannot be read; the others are shown all the same.

    \b
    Example:
      bgfmt matches evening.xg
      bgfmt matches --json evening.mat
    """
    from bgfmt.errors import BgfmtError
    from bgfmt.extras.matches import printable, read

    out: list[dict[str, Any]] = []
    code = 0
    for path in files:
        try:
            several = read(path)
        except (BgfmtError, OSError) as error:
            click.echo(f"bgfmt: {printable(options.message_of(error), 400)}", err=True)
            out.append({"file": path, "error": options.as_error(error)})
            code = 2
            continue
        for match in several:
            if as_json:
                out.append({"file": path, **match.as_dict()})
            else:
                click.echo(f"{printable(path)}: {match}")
                for problem in match.problems:
                    click.echo(f"  problem: {printable(problem)}")
    if as_json:
        options.echo_json(out)
    return code
