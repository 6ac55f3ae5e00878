"""`bgfmt dump`: every position of a database, in order of position number, as text, CSV or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.errors import CapabilityError, NotCoveredError
from bgfmt.tables import Column, Listing, Table

BATCH_ENTRIES = 1 << 13


@section("Files")
@click.command()
@click.argument("file", type=click.Path())
@click.option(
    "--start",
    type=click.IntRange(0),
    default=0,
    help="First position number (default: 0); of a two-sided table us * positions + them.",
)
@click.option(
    "--count",
    type=click.IntRange(0),
    default=None,
    help="How many positions to print (default: all up to the last).",
)
@click.option("--format", "style", type=click.Choice(["text", "csv", "json"]), default="text")
@options.as_option
@options.part_option
def dump(
    file: str, start: int, count: int | None, style: str, described: str | None, part: int | None
) -> None:
    """Print the positions of FILE from number --start on.

    Text has as many decimals as gnubg's bearoffdump, and probabilities in per cent. CSV and JSON have every digit,
    the names of `bgfmt lookup --json`, probabilities from 0 to 1, and the number of chequers on each point.

    \b
    Example:
      bgfmt dump gnubg_ts0.bd --start 7000 --count 10
    """
    with bgfmt.open(file, part=part or 0, format=described) as db:
        table = db.table
        if not table.columns and table.listing is None:
            raise CapabilityError(f"{file}: a {table.kind} file has no positions to print")
        if start >= max(1, table.entries):
            raise NotCoveredError(f"{file}: position number {start} is beyond the last, {table.entries - 1}")
        stop = table.entries if count is None else min(table.entries, start + count)
        if table.listing is not None:
            pieces = _list_components(table.listing, start, stop, style)
        else:
            pieces = _entries(table, options.origin(db), start, stop, style)
        for piece in _join_array(pieces) if style == "json" else pieces:
            sys.stdout.write(piece)


def _join_array(records: Iterator[str]) -> Iterator[str]:
    """Yield the pieces of a JSON array of these records, one a line."""
    yield "["
    separator = "\n"
    for record in records:
        yield separator + record
        separator = ",\n"
    yield "\n]\n"


def _entries(table: Table, source: dict[str, Any], start: int, stop: int, style: str) -> Iterator[str]:
    """Yield the text of entries start..stop-1 of a table, in pieces; in JSON one record after another."""
    columns = table.columns
    who = ["us", "them"][: table.sides] if table.sides == 2 else ["side"]
    if style == "csv":
        counts = [
            f"{w}_{p}" if table.sides == 2 else f"point_{p}" for w in who for p in range(1, table.points + 1)
        ]
        yield ",".join(["position_number", *who, *counts, *(c.name for c in columns)]) + "\n"
    text = "%10d  " + " / ".join(["%s"] * table.sides) + "".join(c.text for c in columns) + "\n"
    digits = "%.17g" if table.exact else "%.9g"
    line = (
        "%d" + ",%s" * table.sides + ",%d" * (table.sides * table.points) + f",{digits}" * len(columns) + "\n"
    )
    shown = np.array([bool(c.text) for c in columns])
    percent = np.array([100 if c.percent else 1 for c in columns], np.float32)
    for begin in range(start, stop, BATCH_ENTRIES):
        numbers = np.arange(begin, min(begin + BATCH_ENTRIES, stop))
        places = np.divmod(numbers, table.positions) if table.sides == 2 else (numbers,)
        counts_of = [table.counts(place) for place in places]
        sides = list(zip(*map(_join_counts, counts_of), strict=True))
        if style == "text":
            values = table.values(numbers)
            if not table.exact:  # per cent in the width of the host, as bearoffdump multiplies
                scaled = values.astype(np.float32) * percent
                values = np.where(percent != 1, scaled.astype(np.float64), values)
            else:
                values = values * percent
            yield _format_rows(text, numbers, sides, values[:, shown])
        elif style == "csv":
            yield _format_rows(
                line, numbers, sides, np.concatenate([*counts_of, table.values(numbers)], axis=1)
            )
        else:
            rows = zip(numbers.tolist(), table.values(numbers).tolist(), strict=True)
            yield from (json.dumps(_record(table, columns, number, row) | source) for number, row in rows)
        if table.release is not None:
            table.release()


def _record(table: Table, columns: tuple[Column, ...], number: int, row: list[float]) -> dict[str, Any]:
    """Return an entry as `lookup --json` does: columns of a group as a list or an object."""
    name = "side" if table.sides == 1 else "position"
    out: dict[str, Any] = {name: str(table.unrank(number)), "position_number": number}
    for column, value in zip(columns, row, strict=True):
        if not column.group:
            out[column.name] = int(value) if column.whole else value
        elif column.key:
            out.setdefault(column.group, {})[column.key] = value
        else:
            out.setdefault(column.group, []).append(value)
    return out


def _list_components(nouns: Listing, start: int, stop: int, style: str) -> Iterator[str]:
    """Yield the contents of a file without positions, such as a J component file: a line or a JSON record each."""
    if style == "json":
        yield from (json.dumps({"component": k, **nouns.as_json(k)}) for k in range(start, stop))
        return
    if style == "csv":
        yield "component,content\n"
    for k in range(start, stop):
        text = nouns.describe(k)
        quoted = text.replace('"', '""')
        yield f"{k:10d}  {text}\n" if style == "text" else f'{k},"{quoted}"\n'


def _format_rows(
    line: str, numbers: NDArray[np.int64], sides: list[tuple[str, ...]], values: NDArray[np.float64]
) -> str:
    """Format all lines at once with one format string."""
    rows = zip(numbers.tolist(), sides, values.tolist(), strict=True)
    flat = [x for number, texts, row in rows for x in (number, *texts, *row)]
    return (line * len(sides)) % tuple(flat)


def _join_counts(counts: NDArray[np.int8]) -> list[str]:
    """Return the counts of each row as text."""
    line = " ".join(["%d"] * counts.shape[1]) + "\n"
    return ((line * len(counts)) % tuple(counts.ravel().tolist())).split("\n")[:-1]
