"""Error bounds of stored numbers, and the margin below which float64 cannot tell two numbers apart.

Kept in `data/bounds.json`, which says how each figure was obtained. Two-sided tables have *proved* bounds
(`bgfmt verify --bound`) up to some sizes, and so has a table inside a proved one, which is its corner. For larger
tables the figure is *extrapolated*: it grows with chequers and points, by a linear formula at least 5 % above
everything that was proved or measured. Errors of mean rolls, and of tables with gammons, are *measured*. A recipe is
the algorithm and rounding of one program.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

Four = tuple[float, float, float, float]
#: per chequer and per point, for a table that no proved or measured one contains
STORED = (2.6e-5, 7.5e-6)
FLOAT64 = (5.5e-15, 1.7e-15)
#: measured, of the integers of tables that count gammons; their rounding errors average out
GAMMONS = 2.0e-4
#: at no points, and per point
MEAN = (6.5e-5, 3.4e-5)
NORMAL_MEAN = (2.0e-6, 5.0e-7)


class Measured(NamedTuple):
    """Measured errors of a two-sided table.

    stored : maximum errors of recipe gnubg's integers, as equities: cubeless, owned, centered, opponent.
    float64 : maximum error that its own arithmetic can have left in recipe exact. margins : the smallest
    margins of cube decisions that are not ties.
    """

    points: int
    chequers: int
    stored: Four
    float64: float
    margins: dict[str, float]


@cache
def measured_tables() -> tuple[Measured, ...]:
    """Return the measured errors of two-sided tables, one record a size, from the package's `data/bounds.json`."""
    return tuple(
        Measured(e["points"], e["chequers"], tuple(e["stored"]), e["float64"], e["margins"])
        for e in _data()["two_sided"]
    )


@cache
def proved_error(points: int, chequers: int) -> Four | None:
    """Return proved bounds of the errors of a two-sided table's four equities, None if none is known for its size.

    The errors are in points of equity, in the order cubeless, owned, centered, opponent. They hold for integers as
    gnubg computes and rounds them.

    >>> proved_error(6, 6)
    (0.0001234, 0.0001154, 0.000147, 0.0001426)
    """
    inside = [e["bound"] for e in _data()["proved"] if points <= e["points"] and chequers <= e["chequers"]]
    if not inside:
        return None
    a, b, c, d = (min(errors) for errors in zip(*inside, strict=True))
    return (a, b, c, d)


@cache
def stored_error(points: int, chequers: int) -> Four:
    """Return the maximum error of the four equities of a two-sided table of integers, as gnubg computes them.

    In points of equity: cubeless, owned, centered, opponent. Proved for the sizes of `proved_error`, extrapolated for
    larger ones.
    """
    proved = proved_error(points, chequers)
    if proved is not None:
        return proved
    error = STORED[0] * chequers + STORED[1] * points
    return (error, error, error, error)


@cache
def float64_error(points: int, chequers: int) -> float:
    """Return the maximum error of an equity of an unrounded two-sided table, caused by float64 arithmetic alone."""
    inside = [m.float64 for m in measured_tables() if points <= m.points and chequers <= m.chequers]
    return min(inside, default=FLOAT64[0] * chequers + FLOAT64[1] * points)


@cache
def mean_error(points: int, *, normal: bool = False) -> float:
    """Return the maximum error, in rolls, of the mean rolls of a one-sided table of up to 15 chequers.

    normal : for a table of means and deviations as `makebearoff -n` computes it, instead of distributions.
    """
    name = "normal" if normal else "mean"
    inside = [entry[name] for entry in _data()["one_sided"] if points <= entry["points"]]
    first, more = NORMAL_MEAN if normal else MEAN
    return min(inside, default=first + more * points)


def sign(margin: float, error: float) -> int:
    """Return 1 or -1 if a margin is certainly positive or negative, 0 if its error leaves that open.

    margin : the difference of two values. error : the largest error of this difference.

    With unrounded equities, whose error is at most e = `float64_error`, the margin of a take, 1 - 2 *
    opponent, has an error of at most 2 e, and that of a double, min(1, 2 * opponent) - centered, of 3 e. The
    smallest margins that are not ties are far larger (`Measured.margins`). What remains open is a tie only if
    exact fractions prove it.
    """
    return (margin > error) - (margin < -error)


@cache
def _data() -> dict[str, Any]:
    text = (Path(__file__).parents[1] / "data" / "bounds.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]
