"""Comparing two databases of any formats that hold the same kind of table, over the positions both cover."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import reshape
from bgfmt.database import open_database
from bgfmt.errors import CapabilityError
from bgfmt.game.board import Side
from bgfmt.storage import PathLike
from bgfmt.tables import Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided

Array = NDArray[Any]
BLOCK = 1 << 22


@dataclass
class Diff:
    """What two databases have in common, and where they differ.

    compared : positions (pairs of them, for two-sided tables) both cover. different : how many differ. largest,
    mean : of the absolute differences, in `unit`. counts : how many numbers differ by how much (integers only).
    first, worst : the first differing and the most different position, with both files' numbers.
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
        """Whether nothing differs."""
        return self.different == 0

    def __str__(self) -> str:
        what = f"{self.compared:,} position{'s' * (self.compared != 1)} of {self.points} points and {self.chequers} chequers"
        if self.same:
            return f"the same {', '.join(self.columns)} numbers for all {what}"
        assert self.first is not None
        assert self.worst is not None
        return (
            f"{self.different:,} of {what} differ, by {self.largest:g} {self.unit} at most; first: position "
            f"{self.first['position_number']:,} ({self.first['position']}), worst: "
            f"{self.worst['position_number']:,} ({self.worst['position']})"
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**self.__dict__, "columns": list(self.columns), "same": self.same}


def diff(a: PathLike, b: PathLike, *, part_a: int = 0, part_b: int = 0) -> Diff:
    """Compare two databases over the positions both cover; sizes, orders and formats may differ.

    Raises CapabilityError when they hold nothing that can be compared.
    """
    with open_database(a, part=part_a) as first, open_database(b, part=part_b) as second:
        return diff_tables(first.table, second.table, os.fspath(a), os.fspath(b))


def diff_tables(a: Table, b: Table, name_a: str = "a", name_b: str = "b") -> Diff:
    """Compare two tables; see `diff`."""
    notes: list[str] = []
    if {a.extra.get("gammon_policy"), b.extra.get("gammon_policy")} == {"race", None} and "gammon" in _names(
        a, b
    ):
        notes.append("one gammon part follows the race's plays, the other those that save the gammon")
    a, b = _same_kind(a, b, notes)
    if isinstance(a, Hypergammon):
        if a.chequers != b.chequers:
            raise CapabilityError("hypergammon tables of other numbers of chequers have nothing in common")
    else:
        points, chequers = min(a.points, b.points), min(a.chequers, b.chequers)
        a, b = reshape.cut(a, points, chequers), reshape.cut(b, points, chequers)
    names = sorted(a.arrays().keys() & b.arrays().keys())
    for missing in sorted(a.arrays().keys() ^ b.arrays().keys()):
        notes.append(f"only one has {missing} numbers")
    out = Diff(name_a, name_b, a.kind, a.points, a.chequers, tuple(names), notes=notes)
    _compare(a, b, names, out)
    return out


def _names(a: Table, b: Table) -> set[str]:
    return set(a.arrays()) & set(b.arrays())


def _same_kind(a: Table, b: Table, notes: list[str]) -> tuple[Table, Table]:
    if isinstance(a, TwoSided) and isinstance(b, TwoSided) and a.cubeful != b.cubeful:
        notes.append("one has no cubeful equities")
        return (reshape.cubeless(a) if a.cubeful else a), (reshape.cubeless(b) if b.cubeful else b)
    if type(a) is type(b):
        return a, b
    sided = (OneSided, NormalOneSided, MeanRolls)
    if isinstance(a, sided) and isinstance(b, sided):
        notes.append("their mean rolls are compared")
        return _means(a), _means(b)
    raise CapabilityError(f"a {a.kind} and a {b.kind} table have nothing to compare")


def _means(table: OneSided | NormalOneSided | MeanRolls) -> MeanRolls:
    return table if isinstance(table, MeanRolls) else reshape.to_mean_rolls(table)


def _values(table: Table, rows: Array) -> Array:
    """Numbers as they compare: 24-bit ones put together; exact floats where only one side is exact."""
    if isinstance(table, Hypergammon):
        wide = rows[..., :27].astype(np.int32)
        return np.asarray(wide[..., 0::3] | wide[..., 1::3] << 8 | wide[..., 2::3] << 16)
    return rows


def _as_floats(table: Table, rows: Array) -> Array:
    if rows.dtype == np.float64:
        return rows
    return rows / 32767.5 - 1 if isinstance(table, TwoSided) else rows / 65535


def _compare(a: Table, b: Table, names: list[str], out: Diff) -> None:
    total = a.positions
    two = isinstance(a, (TwoSided, Hypergammon))
    arrays_a, arrays_b = a.arrays(), b.arrays()
    row = sum(int(np.prod(arrays_a[name].shape[1:], dtype=np.int64)) * 8 for name in names)
    step = max(1, BLOCK // max(1, row))
    counts: dict[int, int] = {}
    numbers, summed = 0, 0.0
    out.unit = "units"
    for start in range(0, total, step):
        stop = min(total, start + step)
        wrong: Array | None = None
        size: Array | None = None
        for name in names:
            x = _values(a, np.asarray(arrays_a[name][start:stop]))
            y = _values(b, np.asarray(arrays_b[name][start:stop]))
            integers = x.dtype.kind in "iu" and y.dtype.kind in "iu"
            if integers:
                gap = np.abs(x.astype(np.int64) - y.astype(np.int64))
            else:
                mixed = x.dtype.kind in "iu" or y.dtype.kind in "iu"
                p, q = (_as_floats(a, x), _as_floats(b, y)) if mixed else (x, y)
                gap = np.abs(p.astype(np.float64) - q.astype(np.float64))
                gap[(p == q) | (np.isnan(p) & np.isnan(q))] = 0
                gap[np.isnan(gap)] = np.inf
                out.unit = _unit(a)
            differ = gap != 0
            out.by_column[name] = out.by_column.get(name, 0) + int(differ.sum())
            numbers += gap.size
            summed += float(gap.sum())
            if integers and differ.any():
                values, many = np.unique(gap[differ], return_counts=True)
                for value, count in zip(values.tolist(), many.tolist(), strict=True):
                    counts[value] = counts.get(value, 0) + count
            axes = tuple(range(2 if two else 1, gap.ndim))
            flat, most = (differ.any(axis=axes), gap.max(axis=axes)) if axes else (differ, gap)
            wrong = flat if wrong is None else wrong | flat
            size = most if size is None else np.maximum(size, most)
        assert wrong is not None
        assert size is not None
        out.compared += wrong.size
        found = int(wrong.sum())
        if found:
            out.different += found
            per = wrong.size // (stop - start)
            if out.first is None:
                out.first = _where(a, b, names, start * per + int(wrong.reshape(-1).argmax()), per)
            top = int(size.reshape(-1).argmax())
            if float(size.reshape(-1)[top]) > out.largest:
                out.largest = float(size.reshape(-1)[top])
                out.worst = _where(a, b, names, start * per + top, per)
        for table in (a, b):
            if table.release is not None:
                table.release()
    out.mean = summed / max(1, numbers)
    shown = sorted(counts.items())
    out.counts = {str(value): count for value, count in shown[:20]}
    if len(shown) > 20:
        out.counts[f"{shown[20][0]} or more"] = sum(count for _, count in shown[20:])


def _unit(table: Table) -> str:
    if isinstance(table, TwoSided):
        return "in equity"
    return "in chance" if isinstance(table, OneSided) else "rolls"


def _where(a: Table, b: Table, names: list[str], number: int, per: int) -> dict[str, Any]:
    us, them = divmod(number, per) if per > 1 else (number, None)
    sides = []
    for k in (us, them):
        if k is not None:
            counts = _counts(k, a.points)
            sides.append(str(counts))
    out: dict[str, Any] = {"position_number": number, "position": " / ".join(sides)}
    for label, table in (("a", a), ("b", b)):
        rows = {name: _values(table, np.asarray(table.arrays()[name][us : us + 1]))[0] for name in names}
        out[label] = {
            name: np.asarray(row if them is None else row[them]).tolist() for name, row in rows.items()
        }
    return out


def _counts(number: int, points: int) -> Side:
    from bgfmt.game import board

    counts = board.unrank(number, points)
    return Side(*counts[:24], bar=counts[24] if points > 24 else 0)
