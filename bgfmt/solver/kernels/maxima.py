"""Compiled: the value of a position on roll as the weighted sum, over the rolls, of the best of its results."""

from __future__ import annotations

from typing import Any

from bgfmt.jit import njit

__all__ = ["best_rolls", "negate_for_opponent"]


@njit("f4.1C, f4.1C", "f8.1C, f8.1C")
def _copy(best: Any, a: Any) -> None:
    for i in range(best.size):
        best[i] = a[i]


@njit()
def _max1(best: Any, a: Any) -> None:
    for i in range(best.size):
        best[i] = max(best[i], a[i])


@njit()
def _max4(best: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    for i in range(best.size):
        best[i] = max(max(best[i], max(a[i], b[i])), max(c[i], d[i]))  # noqa: PLW3301


@njit("f8.1C, f4.1C, f8", "f8.1C, f8.1C, f8")
def _add(total: Any, best: Any, weight: float) -> None:
    for i in range(total.size):
        total[i] += weight * best[i]


@njit(
    "f8.1C, f4.1C, f4.2C, i8.1C, i4.1C, i8, i8, i8",
    "f8.1C, f8.1C, f8.2C, i8.1C, i4.1C, i8, i8, i8",
    "f8.1C, f8.1C, f8.2C, i8.1C, i8.1C, i8, i8, i8",
)
def best_rolls(
    total: Any, best: Any, rows: Any, ends: Any, results: Any, row: int, low: int, high: int
) -> None:
    """Set total to the weighted mean over the 21 rolls of the greatest of rows[x, low:high], x a roll's results.

    Parameters
    ----------
    total, best : float64 result and working space of the rows' dtype, both (high - low,).
    rows : (positions, columns) values.
    ends, results : results of roll r of position `row` are results[ends[21 * row + r] : ends[21 * row + r + 1]];
        rolls are 11, 21, 22, 31, ... 66.
    """
    for i in range(total.size):
        total[i] = 0.0
    i = ends[21 * row]
    double = 0
    step = 2
    for r in range(21):
        last = ends[21 * row + r + 1]
        _copy(best, rows[results[i], low:high])
        i += 1
        while i + 4 <= last:
            a = results[i]
            b = results[i + 1]
            c = results[i + 2]
            d = results[i + 3]
            _max4(best, rows[a, low:high], rows[b, low:high], rows[c, low:high], rows[d, low:high])
            i += 4
        while i < last:
            _max1(best, rows[results[i], low:high])
            i += 1
        if r == double:
            _add(total, best, 1.0)
            double = double + step
            step = step + 1
        else:
            _add(total, best, 2.0)
    for i in range(total.size):
        total[i] /= 36.0


@njit(
    "f4.2A, f4.2C, b1.1C, f8.1C, i8.1C, f8.1C, f8.1C",
    "f4.2C, f4.2C, b1.1C, f8.1C, i8.1C, f8.1C, f8.1C",
    "f8.2A, f8.2C, b1.1C, f8.1C, i8.1C, f8.1C, f8.1C",
    "f8.2C, f8.2C, b1.1C, f8.1C, i8.1C, f8.1C, f8.1C",
)
def negate_for_opponent(
    out: Any, values: Any, may: Any, passed: Any, source: Any, add: Any, times: Any
) -> None:
    """Write to `out` the values to the side that waits, after the best cube action of the side on roll.

    Parameters
    ----------
    out : (m, K) is filled: for m positions and K cube states.
    values : (m, K) values to the side on roll, before its cube action.
    may, passed, source, add, times : the fields of `bgfmt.solver.columns.Doubling` of the side on roll.
    """
    for x in range(values.shape[0]):
        for k in range(values.shape[1]):
            value = values[x, k]
            if may[k]:
                doubled = min(add[k] + times[k] * values[x, source[k]], passed[k])
                value = max(value, doubled)
            out[x, k] = -value
