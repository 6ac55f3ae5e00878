"""Compare two databases of any formats that hold the same kind of table, over the positions both cover."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bgfmt.errors import CapabilityError, NotCoveredError
from bgfmt.files.database import open_database
from bgfmt.game.drawing import pluralize
from bgfmt.game.results import Array
from bgfmt.storage import PathLike
from bgfmt.tables import Coarser, Table

BLOCK = 1 << 22  # bytes compared at a time
MAX_SIZES = 20  # sizes of differences that are counted separately


@dataclass
class Diff:
    """The result of comparing two databases.

    compared : positions (pairs of them, for two-sided tables) that both cover. different : how many of them
    differ. largest, mean : of the absolute differences, in `unit`. counts : number of entries by size of the
    difference (integers only). first, worst : the first differing and the most different position, with both
    files' numbers.
    """

    a: str
    b: str
    kind: str
    points: int
    chequers: int
    columns: tuple[str, ...] = ()
    unit: str = ""
    compared: int = 0
    different: int = 0
    largest: float = 0.0
    mean: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    by_column: dict[str, int] = field(default_factory=dict)
    first: dict[str, Any] | None = None
    worst: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether no position differs."""
        return self.different == 0

    def __str__(self) -> str:
        plural = "s" * (self.compared != 1)
        size = f"{pluralize(self.points, 'point')} and {pluralize(self.chequers, 'chequer')}"
        what = f"{self.compared:,} position{plural} of {size}"
        if self.same:
            return f"the same numbers ({', '.join(self.columns)}) for all {what}"
        assert self.first is not None
        assert self.worst is not None
        largest = f"{self.largest:g} {self.unit}"
        verb = "differs" if self.different == 1 else "differ"
        if self.unit == "units":  # integers
            largest = f"{self.largest:,.0f} unit{'s' * (self.largest != 1)}"
        return (
            f"{self.different:,} of {what} {verb}, by {largest} at most; first: position "
            f"{self.first['position_number']:,} ({self.first['position']}), worst: "
            f"{self.worst['position_number']:,} ({self.worst['position']})"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all fields of the comparison as values that JSON can hold, by name."""
        return {**self.__dict__, "columns": list(self.columns), "same": self.same}


def diff(a: PathLike, b: PathLike, *, part_a: int = 0, part_b: int = 0) -> Diff:
    """Compare the numbers of two databases over the positions both cover; sizes, orders and formats may differ.

    part_a, part_b : index of the database in a file that holds several. Raises CapabilityError when they hold nothing
    that can be compared.
    """
    with open_database(a, part=part_a) as first, open_database(b, part=part_b) as second:
        return diff_tables(first.table, second.table, os.fspath(a), os.fspath(b))


def diff_tables(a: Table, b: Table, name_a: str = "a", name_b: str = "b") -> Diff:
    """Compare two tables of the same kind over the positions both cover; see `diff`.

    name_a, name_b : what the result calls them.
    """
    notes: list[str] = []
    policies = {getattr(table, "gammon_policy", "") for table in (a, b)}
    if policies == {"race", ""} and "gammon" in a.arrays().keys() & b.arrays().keys():
        notes.append("one gammon part follows the race's plays, the other those that save the gammon")
    a, b = _same_kind(a, b, notes)
    points = min(a.points, b.points)
    chequers = min(a.chequers, b.chequers)
    a = a.cut(points, chequers)
    b = b.cut(points, chequers)
    names = sorted(a.arrays().keys() & b.arrays().keys())
    if not names:
        raise CapabilityError(f"these {a.kind} tables have no column in common")
    for missing in sorted(a.arrays().keys() ^ b.arrays().keys()):
        notes.append(f"only one has {missing} numbers")
    out = Diff(name_a, name_b, a.kind, a.points, a.chequers, tuple(names), unit="units", notes=notes)
    _compare(a, b, names, out)
    return out


def _same_kind(a: Table, b: Table, notes: list[str]) -> tuple[Table, Table]:
    """Return both tables unchanged if they have the same columns, else both converted to a common kind.

    It is the coarsest one, because normal distributions of two programs mean different things, while their mean
    rolls mean the same.
    """
    if type(a) is type(b) and _alike(a, b):
        return a, b
    for way_a in reversed([Coarser(type(a), lambda: a, ""), *a.coarser()]):
        for way_b in reversed([Coarser(type(b), lambda: b, ""), *b.coarser()]):
            if way_a.kind is way_b.kind and _alike(first := way_a.make(), second := way_b.make()):
                lost = dict.fromkeys(way.lost for way in (way_a, way_b) if way.lost)
                notes.extend(f"compared as {first.kind} tables: {text}" for text in lost)
                return first, second
    other = " of other columns" * (a.kind == b.kind)
    raise CapabilityError(f"a {a.kind} and a {b.kind} table{other} cannot be compared")


def _alike(a: Table, b: Table) -> bool:
    """Return whether the arrays that both tables have hold entries of one shape."""
    mine, theirs = ({name: rows.shape[t.sides :] for name, rows in t.arrays().items()} for t in (a, b))
    both = mine.keys() & theirs.keys()
    return bool(both) and all(mine[name] == theirs[name] for name in both)


def _compare(a: Table, b: Table, names: list[str], out: Diff) -> None:
    arrays_a = a.arrays()
    arrays_b = b.arrays()
    rows = len(arrays_a[names[0]])
    row = sum(int(np.prod(arrays_a[name].shape[1:], dtype=np.int64)) * 8 for name in names)
    step = max(1, BLOCK // max(1, row))
    counts: Counter[int] = Counter()
    numbers = 0
    total = 0.0
    for start in range(0, rows, step):
        stop = min(rows, start + step)
        sizes = []
        for name in names:
            x = a.unpack(name, np.asarray(arrays_a[name][start:stop]))
            y = b.unpack(name, np.asarray(arrays_b[name][start:stop]))
            gap = _differences(a, b, name, x, y, out)
            differ = gap != 0
            out.by_column[name] = out.by_column.get(name, 0) + int(differ.sum())
            numbers = numbers + gap.size
            total = total + float(gap.sum())
            if gap.dtype.kind == "i":
                values, many = np.unique(gap[differ], return_counts=True)
                counts.update(dict(zip(values.tolist(), many.tolist(), strict=True)))
            sizes.append(gap.reshape(*gap.shape[: a.sides], -1).max(axis=-1))
        size = np.max(sizes, axis=0).reshape(-1)  # the largest difference of each position
        begin = start * (size.size // (stop - start))
        wrong = np.flatnonzero(size)
        out.compared += size.size
        out.different += wrong.size
        if wrong.size:
            out.first = out.first or _where(a, b, names, begin + int(wrong[0]))
            top = int(size.argmax())
            if float(size[top]) > out.largest:
                out.largest = float(size[top])
                out.worst = _where(a, b, names, begin + top)
        for table in (a, b):
            if table.release is not None:
                table.release()
    out.mean = total / max(1, numbers)
    ordered = sorted(counts.items())
    out.counts = {str(value): count for value, count in ordered[:MAX_SIZES]}
    if len(ordered) > MAX_SIZES:
        out.counts[f"{ordered[MAX_SIZES][0]} or more"] = sum(count for _, count in ordered[MAX_SIZES:])


def _differences(a: Table, b: Table, name: str, x: Array, y: Array, out: Diff) -> Array:
    """Return absolute differences: of the stored integers if both have integers, else of the numbers they mean."""
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        return np.abs(x.astype(np.int64) - y.astype(np.int64))
    mixed = x.dtype.kind in "iu" or y.dtype.kind in "iu"
    p, q = (a.read(name, x), b.read(name, y)) if mixed else (x, y)
    with np.errstate(invalid="ignore"):
        gap = np.abs(p.astype(np.float64) - q.astype(np.float64))
    gap[(p == q) | (np.isnan(p) & np.isnan(q))] = 0
    gap[np.isnan(gap)] = np.inf
    out.unit = a.unit if a.unit == "rolls" else f"in {a.unit}"
    return np.asarray(gap)


def _where(a: Table, b: Table, names: list[str], number: int) -> dict[str, Any]:
    try:
        position = str(a.unrank(number))
    except NotCoveredError:
        position = "no position"
    out: dict[str, Any] = {"position_number": number, "position": position}
    us, them = divmod(number, a.positions) if a.sides > 1 else (number, None)
    for label, table in (("a", a), ("b", b)):
        rows = {name: table.unpack(name, np.asarray(table.arrays()[name][us : us + 1]))[0] for name in names}
        entries = {name: row if them is None else row[them] for name, row in rows.items()}
        out[label] = {name: np.asarray(entry).tolist() for name, entry in entries.items()}
    return out
