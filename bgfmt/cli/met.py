"""`bgfmt met`: show match equity tables, convert between gnubg's XML and eXtreme Gammon's INI, and compare."""

from __future__ import annotations

import os
from heapq import nlargest
from typing import Any

import click

from bgfmt import met as tables
from bgfmt.cli import options, terminal
from bgfmt.cli.sections import section
from bgfmt.met import Met, gnubg_xml, ini
from bgfmt.storage import create

DEFAULT_ROWS = 10
ROUNDING = 1e-12  # gnubg's XML is written with twelve decimals


@section("Query")
@click.command()
@click.argument("table", default="", metavar="[NAME|FILE]")
@click.argument("other", default="", metavar="[NAME|FILE]")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the table: .xml for gnubg, .met for eXtreme Gammon."
)
@click.option(
    "--upto",
    type=click.IntRange(1, 64),
    default=DEFAULT_ROWS,
    show_default=True,
    help="Show scores up to this many points away.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=DEFAULT_ROWS,
    show_default=True,
    help="How many differences to show.",
)
@options.force_option
@options.json_option
def met(table: str, other: str, output: str | None, upto: int, top: int, force: bool, as_json: bool) -> int:
    """Show a match equity table, write it in another format, or compare two.

    Without a name, list the tables that come with bgfmt. A comparison covers every score that both tables have and
    shows the largest differences of the match winning probability first. Exit code 1: the tables differ.

    \b
    Examples:
      bgfmt met g11
      bgfmt met Kazaross-XG2 -o kazaross.met
      bgfmt met g11 Rockwell-Kazaross
    """
    if not table:
        if output:
            raise click.UsageError("-o needs a table to write: bgfmt met NAME -o FILE")
        known = [tables.load(name) for name in tables.names()]
        if as_json:
            options.echo_json({"tables": [_about(one) for one in known]})
        else:
            terminal.say("\n".join(f"{one.name:<18} {one.length:2d} points  {one.title}" for one in known))
        return 0
    first = tables.load(table)
    if other:
        if output:
            raise click.UsageError("-o writes one table, but two are named")
        return _compare(first, tables.load(other), top, as_json)
    if output:
        _write(first, output, force=force)
    if as_json:
        options.echo_json(_about(first) | {"pre": first.pre, "post": first.post})
    elif not output:
        terminal.say("\n".join(_table_lines(first, min(upto, first.length))))
    return 0


def _write(table: Met, path: str, *, force: bool) -> None:
    """Write a table, completely or not at all, in the form given by the suffix."""
    write = {".xml": gnubg_xml.write, ".met": ini.write}.get(os.path.splitext(path)[1].lower())
    if write is None:
        raise click.UsageError(
            f"{path}: the file of a match equity table must end in .xml (gnubg) or .met (eXtreme Gammon)"
        )
    data = write(table)
    with create(path, force=force) as sink:
        sink.write(data)


def _about(table: Met) -> dict[str, object]:
    """Return name, title, length and checksum of a table."""
    about = ("name", "title", "length", "even", "digest")
    return {name: getattr(table, name) for name in about}


def _table_lines(table: Met, upto: int) -> list[str]:
    """Format the match winning probabilities, in per cent, as lines of text."""
    away = range(1, upto + 1)
    out = [f"{table.name}: {table.title}, {table.length} points, values {table.digest[:12]}", ""]
    out.append("you need" + "".join(f"{other:>8}" for other in away) + "   the other side needs")
    out += [f"{n:8d}" + "".join(f"{100 * m:8.3f}" for m in table.pre[n - 1][:upto]) for n in away]
    for player, row in enumerate(table.post[: 1 if table.post[0] == table.post[1] else 2]):
        of = "" if table.post[0] == table.post[1] else f", player {player}"
        out += ["", f"After the Crawford game, the trailer needs{of}"]
        out.append("        " + "".join(f"{one:8}" for one in away))
        out.append("        " + "".join(f"{100 * m:8.3f}" for m in row[:upto]))
    return out


def _compare(first: Met, second: Met, top: int, as_json: bool) -> int:
    """Print the scores at which two tables differ most; return the exit code."""
    n = min(first.length, second.length)
    even = first.even and second.even  # then half of the scores says all
    scores = [(i, j, False) for i in range(1, n + 1) for j in range(i if even else 1, n + 1)]
    scores += [(away, 1, True) for away in range(1, n + 1)]
    scores += [(1, away, True) for away in range(2, n + 1) if not even]
    rows: list[dict[str, Any]] = []
    for mine, other, after in scores:
        mwc = [table.mwc((mine, other), after_crawford=after) for table in (first, second)]
        rows.append(
            {"away": (mine, other), "after_crawford": after, "mwc": mwc, "difference": mwc[1] - mwc[0]}
        )
    rows = nlargest(
        top,
        (row for row in rows if abs(row["difference"]) > ROUNDING),
        key=lambda row: abs(row["difference"]),
    )
    if as_json:
        options.echo_json({"tables": [_about(first), _about(second)], "upto": n, "differences": rows})
        return int(bool(rows))
    terminal.say(
        f"{first.name} and {second.name}, scores up to {n}-away" + ("" if rows else ": the same values")
    )
    for row in rows:
        one, two = row["mwc"]
        score = f"{row['away'][0]:2d}-away {row['away'][1]:2d}-away"
        after = "  after the Crawford game" * row["after_crawford"]
        terminal.say(f"  {score} {one:9.3%} {two:9.3%} {two - one:+9.3%}{after}")
    return int(bool(rows))
