"""`bgfmt dump`: every position of a database, in order of position number, as text, CSV or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from bgfmt.cli import options
from bgfmt.errors import CapabilityError, NotCoveredError
from bgfmt.game import board
from bgfmt.lookup import (
    EQUITY_COLUMNS,
    HYPER_EQUITIES,
    OUTCOMES,
    PIPS_PER_ROLL,
    chances,
    equities,
    hyper_numbers,
    moments,
)
from bgfmt.tables import Components, Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided

CHUNK = 1 << 13


@click.command()
@click.argument("file", type=click.Path())
@click.option(
    "--start", type=click.IntRange(0), default=0, help="First position number (two-sided: us*n + them)."
)
@click.option(
    "--count", type=click.IntRange(0), default=None, help="How many positions (default: to the end)."
)
@click.option("--format", "style", type=click.Choice(["text", "csv", "json"]), default="text")
@options.as_option
@options.part_option
def dump(
    file: str, start: int, count: int | None, style: str, described: str | None, part: int | None
) -> None:
    """Print the positions of FILE from number --start on.

    Text has the decimals of gnubg's bearoffdump; CSV and JSON have every digit.

    \b
    Example:
      bgfmt dump gnubg_ts0.bd --start 7000 --count 10
    """
    import bgfmt

    with bgfmt.open(file, part=part or 0, **options.reading(described)) as db:
        table = db.table
        if isinstance(table, Components):
            for piece in _components(table, start, count, style):
                sys.stdout.write(piece)
            return
        if not table.arrays():
            raise CapabilityError(f"{file}: a {table.kind} file holds no positions to dump")
        total = table.positions ** (2 if isinstance(table, (TwoSided, Hypergammon)) else 1)
        if start >= total:
            raise NotCoveredError(f"{file}: position number {start} lies beyond the last, {total - 1}")
        stop = total if count is None else min(total, start + count)
        out = sys.stdout
        for piece in _pieces(table, start, stop, style):
            out.write(piece)


def _pieces(table: Table, start: int, stop: int, style: str) -> Iterator[str]:
    names = _names(table)
    if style == "csv":
        keys = ["number", "us", "them"] if isinstance(table, (TwoSided, Hypergammon)) else ["number", "side"]
        yield ",".join(keys + names) + "\n"
    elif style == "json":
        yield "["
    separator = "\n"
    for begin in range(start, stop, CHUNK):
        numbers = np.arange(begin, min(begin + CHUNK, stop))
        labels, values = _chunk(table, numbers)
        if style == "json":
            records = [
                json.dumps(dict(zip(_keys(table), label, strict=True)) | dict(zip(names, row, strict=True)))
                for label, row in zip(labels, values.tolist(), strict=True)
            ]
            yield separator + ",\n".join(records)
            separator = ",\n"
        elif style == "csv":
            line = "%d" + ",%s" * (len(labels[0]) - 1) + ",%.9g" * len(names) + "\n"
            yield _fill(line, labels, values)
        else:
            line = "%10d  " + " / ".join(["%s"] * (len(labels[0]) - 1)) + _text(table) + "\n"
            yield _fill(line, labels, values)
        if table.release is not None:
            table.release()
    if style == "json":
        yield "\n]\n"


def _components(table: Components, start: int, count: int | None, style: str) -> Iterator[str]:
    """The nouns of a J component file: a line each, or all of them as JSON."""
    nouns = table.nouns
    stop = len(nouns) if count is None else min(len(nouns), start + count)
    if start and start >= len(nouns):
        raise NotCoveredError(f"component {start} lies beyond the last, {len(nouns) - 1}")
    if style == "json":
        records = (json.dumps({"component": k, **nouns.as_json(k)}) for k in range(start, stop))
        yield "["
        for k, record in enumerate(records):
            yield (",\n" if k else "\n") + record
        yield "\n]\n"
        return
    if style == "csv":
        yield "component,content\n"
    for k in range(start, stop):
        text = nouns.describe(k)
        quoted = text.replace('"', '""')
        yield f"{k:10d}  {text}\n" if style == "text" else f'{k},"{quoted}"\n'


def _fill(line: str, labels: list[tuple[Any, ...]], values: NDArray[Any]) -> str:
    """One formatting of all lines at once."""
    flat = [x for label, row in zip(labels, values.tolist(), strict=True) for x in (*label, *row)]
    return (line * len(labels)) % tuple(flat)


def _keys(table: Table) -> list[str]:
    return ["number", "us", "them"] if isinstance(table, (TwoSided, Hypergammon)) else ["number", "side"]


def _names(table: Table) -> list[str]:
    """What is printed of each position, in order."""
    if isinstance(table, TwoSided):
        return list(EQUITY_COLUMNS[: table.equities.shape[2]])
    if isinstance(table, Hypergammon):
        return [*OUTCOMES, *(f"equity_{name}" for name in HYPER_EQUITIES)]
    names = ["pips", "mean_rolls", "epc", "wastage"]
    if isinstance(table, NormalOneSided):
        names += ["std_rolls", "gammon_mean_rolls", "gammon_std_rolls"]
    if isinstance(table, OneSided):
        names += ["std_rolls", *(f"off_{i}" for i in range(table.bearoff.shape[1]))]
        if table.gammon is not None:
            names += ["gammon_mean_rolls", "gammon_std_rolls"]
            names += [f"gammon_{i}" for i in range(table.gammon.shape[1])]
    return names


def _text(table: Table) -> str:
    """The format of a text line after its positions."""
    if isinstance(table, TwoSided):
        return "  " + " %+7.4f" * table.equities.shape[2]
    if isinstance(table, Hypergammon):
        return "  " + " %7.4f" * 5 + " %+7.4f" * 4
    line = "  pips %3d  mean %7.3f  EPC %7.3f  wastage %7.3f"
    if isinstance(table, NormalOneSided):
        line += "  sd %7.3f  gammon mean %7.3f sd %7.3f"
    if isinstance(table, OneSided):
        line += "  sd %7.3f  off" + " %7.3f" * table.bearoff.shape[1]
        if table.gammon is not None:
            line += "  gammon mean %7.3f sd %7.3f  first off" + " %7.3f" * table.gammon.shape[1]
    return line


def _chunk(table: Table, numbers: NDArray[np.int64]) -> tuple[list[tuple[Any, ...]], NDArray[Any]]:
    """Labels (number and sides as text) and values, float64 of shape (m, len(_names)), of some positions."""
    n = table.positions
    if isinstance(table, (TwoSided, Hypergammon)):
        us, them = numbers // n, numbers % n
        labels: list[tuple[Any, ...]] = list(
            zip(numbers.tolist(), _sides(table, us), _sides(table, them), strict=True)
        )
        if isinstance(table, TwoSided):
            return labels, equities(_pairs(table.equities, us, them)).astype(np.float64)
        parts = hyper_numbers(_pairs(table.records, us, them))
        return labels, np.concatenate(parts, axis=1).astype(np.float64)
    labels = list(zip(numbers.tolist(), _sides(table, numbers), strict=True))
    rows = slice(int(numbers[0]), int(numbers[-1]) + 1)
    counts = board.unrank_array(numbers, table.points)
    pips = counts.astype(np.int64) @ np.arange(1, table.points + 1)
    if isinstance(table, OneSided):
        off = chances(table.bearoff[rows])
        mean, std = moments(off)
        more = [std, *(_percent(off).T)]
        if table.gammon is not None:
            first = chances(table.gammon[rows])
            more += [*moments(first), *(_percent(first).T)]
    elif isinstance(table, NormalOneSided):
        found = np.asarray(table.moments[rows])
        mean, more = found[:, 0], [found[:, 1], found[:, 2], found[:, 3]]
    else:
        assert isinstance(table, MeanRolls)
        mean, more = np.asarray(table.means[rows]), []
    epc = mean.astype(np.float64) * PIPS_PER_ROLL
    return labels, np.stack([pips, mean, epc, epc - pips, *more], axis=1).astype(np.float64)


def _percent(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(values * values.dtype.type(100))


def _pairs(rows: Any, us: NDArray[np.int64], them: NDArray[np.int64]) -> NDArray[Any]:
    """Records of consecutive pairs, row by row, so that lazily made tables serve as well."""
    pieces = [np.asarray(rows[int(u)])[them[us == u]] for u in np.unique(us)]
    return np.concatenate(pieces)


def _sides(table: Table, numbers: NDArray[np.int64]) -> list[str]:
    counts = board.unrank_array(numbers, table.points)
    line = " ".join(["%d"] * table.points) + "\n"
    return ((line * len(counts)) % tuple(counts.ravel().tolist())).split("\n")[:-1]
