"""A table made out of another: a corner of it, fewer columns, or a coarser kind. All lazily, block by block.

Lossless: `cut` (a smaller table is a corner of a larger one) and `cubeless`. What loses something says so in
`COARSER`, where the reader finds every change of kind there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.game import board
from bgfmt.lookup import moments
from bgfmt.tables import LazyRows, MeanRolls, NormalOneSided, OneSided, Rows, Table, TwoSided

KEPT = ("format", "gnubg_header", "compressed", "gammon_policy", "extent", "jlayout")


def _extra(table: Table) -> dict[str, Any]:
    """What stays true of a file's surroundings when its numbers are rearranged."""
    return {key: table.extra[key] for key in KEPT if key in table.extra}


def cut(table: Table, points: int | None = None, chequers: int | None = None) -> Table:
    """The corner of `points` x `chequers` of a table; CapabilityError when the table is smaller than that."""
    p, c = points or table.points, chequers or table.chequers
    if (p, c) == (table.points, table.chequers):
        return table
    if p < 1 or c < 1 or p > table.points or c > table.chequers:
        raise CapabilityError(
            f"a {table.points}x{table.chequers} table has no {p}x{c} corner; solve one of that size instead"
        )
    if not isinstance(table, (OneSided, NormalOneSided, MeanRolls, TwoSided)):
        raise CapabilityError(f"a {table.kind} table cannot be cut down")
    n = board.count(p, c)
    numbers = None if p == table.points else board.corner_numbers(p, c, table.points)
    arrays: dict[str, Any] = {}
    for name, rows in table.arrays().items():
        corner = _two_sided_corner if isinstance(table, TwoSided) else _corner
        arrays[name] = corner(rows, n, numbers)
    return replace(table, points=p, chequers=c, extra=_extra(table), **arrays)


def _corner(rows: Rows, n: int, numbers: NDArray[np.int64] | None) -> Rows:
    if numbers is None:
        if isinstance(rows, np.ndarray):
            return rows[:n]
        return LazyRows((n, *rows.shape[1:]), rows.dtype, lambda a, b: rows[a:b], lambda k: rows[k])
    return LazyRows(
        (n, *rows.shape[1:]),
        rows.dtype,
        lambda a, b: np.asarray(rows[numbers[a:b]]),
        lambda k: rows[numbers[k]],
    )


def _two_sided_corner(rows: Rows, n: int, numbers: NDArray[np.int64] | None) -> Rows:
    if numbers is None and isinstance(rows, np.ndarray):
        return rows[:n, :n]
    shape = (n, n, *rows.shape[2:])
    columns = np.arange(n) if numbers is None else numbers

    def fetch(start: int, stop: int) -> NDArray[Any]:
        out = np.empty((stop - start, *shape[1:]), rows.dtype)
        for k in range(
            start, stop
        ):  # one row is thousands of records: take them, not whole rows of the wider table
            np.take(np.asarray(rows[int(columns[k])]), columns, axis=0, out=out[k - start], mode="clip")
        return out

    return LazyRows(shape, rows.dtype, fetch)


def cubeless(table: TwoSided) -> TwoSided:
    """The cubeless column alone."""
    rows = table.equities
    if isinstance(rows, np.ndarray):
        first: Rows = rows[..., :1]
    else:
        first = LazyRows((*rows.shape[:2], 1), rows.dtype, lambda a, b: rows[a:b][..., :1])
    return replace(table, equities=first, extra=_extra(table))


def to_normal(table: Table) -> NormalOneSided:
    """Mean and standard deviation, float32, of each distribution of a one-sided table.

    Taken from the finished distributions; makebearoff's -n files follow means and deviations through the
    recursion instead, and differ from these by up to some hundredths of a roll.
    """
    assert isinstance(table, OneSided)

    def fetch(start: int, stop: int) -> NDArray[Any]:
        out = np.zeros((stop - start, 4), np.float32)
        for k, rows in enumerate((table.bearoff, table.gammon)):
            if rows is not None:
                parts = np.asarray(rows[start:stop], np.float64)
                if not table.exact:
                    parts /= 65535
                out[:, 2 * k], out[:, 2 * k + 1] = moments(parts)
        return out

    rows = LazyRows((table.positions, 4), np.dtype("f4"), fetch)
    return NormalOneSided(
        points=table.points,
        chequers=table.chequers,
        moments=rows,
        provenance=table.provenance,
        release=table.release,
    )


def to_mean_rolls(table: Table) -> MeanRolls:
    """Mean rolls, float64, of each position of a one-sided or normal-distribution table."""

    def fetch(start: int, stop: int) -> NDArray[Any]:
        if isinstance(table, NormalOneSided):
            return np.asarray(table.moments[start:stop, 0], np.float64)
        assert isinstance(table, OneSided)
        parts = np.asarray(table.bearoff[start:stop])
        if parts.dtype == np.float64:
            return np.asarray(moments(parts)[0])
        return (parts.astype(np.int64) @ np.arange(parts.shape[1])) / 65535

    rows = LazyRows((table.positions,), np.dtype("f8"), fetch)
    return MeanRolls(
        points=table.points,
        chequers=table.chequers,
        means=rows,
        provenance=table.provenance,
        release=table.release,
    )


#: every change of kind: (from, to) -> (how, what is lost)
COARSER: dict[tuple[type[Table], type[Table]], tuple[Callable[[Any], Table], str]] = {
    (OneSided, NormalOneSided): (
        to_normal,
        "the distributions are replaced by their means and standard deviations",
    ),
    (OneSided, MeanRolls): (to_mean_rolls, "only the mean rolls of each distribution are kept"),
    (NormalOneSided, MeanRolls): (
        to_mean_rolls,
        "only the mean rolls are kept, not the deviations or gammons",
    ),
}
