"""How wrong stored two-sided equities are, measured and proved: the numbers of bgfmt/data/bounds.json.

    python -m benchmarks.bounds 6x6 6x8 ... 6 7 ...
    python -m benchmarks.bounds --proved 6x6 6x8 ...

For each size one entry: greatest errors of the stored equities against the exact recipe, rounded up; a bound on the
errors of that recipe's own float64 arithmetic; the smallest margins of the cube decisions that are no ties; and the
decisions that the stored integers get wrong. With --proved, the bounds of `bgfmt verify --bound` instead, with the
decisions that they leave open and those that the integers get wrong in any case. 6x10 needs 6 GB and some minutes.
For points alone, the greatest errors of the mean rolls of one-sided tables.
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import numpy as np

from bgfmt import solver
from bgfmt.extras.accuracy import error_bound, truth
from bgfmt.jit import njit
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, pip_order, plays

Array = Any

UP = 1e7  # errors are rounded up to seven decimals
FLOAT32 = 1.001  # what keeping the bounds in float32 may have lost
#: rounding of 20 additions of numbers up to 36, of the division by 36, and of what is left of either
STEP = 22 * 2.0**-53


# Every operation of recipe exact rounds once; what it does to the errors of its operands is followed. A maximum is as
# wrong as its wrongest operand that may be the greatest, twice a number twice as wrong, and 1, where passing is right
# beyond doubt, not wrong at all.


@njit()
def error_of_hand(nd: float, nd_off: float, dt: float, dt_off: float) -> float:
    """Bound on the error of max(nd, min(1, 2 * dt))."""
    two, two_off = 2.0 * dt, 2.0 * dt_off
    doubled = min(1.0, two)
    doubled_off = 0.0 if two - two_off > 1.0 else two_off
    if doubled - doubled_off > nd + nd_off:
        return doubled_off
    if nd - nd_off > doubled + doubled_off:
        return nd_off
    return max(nd_off, doubled_off)


@njit()
def turn(e: Array, off: Array, out: Array, out_off: Array) -> None:
    """Value and error bound of a record from the view of the side that moved into it."""
    doubled = min(1.0, 2.0 * e[3])
    out[0] = -e[0]
    out[1] = -e[3]
    out[2] = -max(e[2], doubled)
    out[3] = -max(e[1], doubled)
    out_off[0] = off[0]
    out_off[1] = off[3]
    out_off[2] = error_of_hand(e[2], off[2], e[3], off[3])
    out_off[3] = error_of_hand(e[1], off[1], e[3], off[3])


@njit()
def rounding_errors(
    starts: Array, results: Array, order: Array, pips_at: Array, e: Array, off: Array
) -> Array:
    """(4,) the greatest error bounds; e, off : (n, n, 4) working space, turned values and their bounds."""
    greatest = np.zeros(4)
    value, error = np.zeros(4), np.zeros(4)
    best, wrong = np.zeros(4), np.zeros(4)
    most = len(pips_at) - 2
    for pips in range(2 * most + 1):
        for p in range(max(0, pips - most), min(most, pips) + 1):
            for i in range(pips_at[p], pips_at[p + 1]):
                u = order[i]
                for k in range(pips_at[pips - p], pips_at[pips - p + 1]):
                    t = order[k]
                    value[:] = 1.0 if u == 0 else -1.0
                    error[:] = 0.0
                    if u and t:
                        value[:] = 0.0
                        for r in range(ROLLS):
                            roll, weight = ROLLS * u + r, np.float64(WEIGHTS[r])
                            best[:] = -2.0
                            wrong[:] = 0.0
                            for q in range(starts[roll], starts[roll + 1]):
                                j = results[q]
                                for c in range(4):
                                    best[c] = max(best[c], e[t, j, c])
                            for q in range(starts[roll], starts[roll + 1]):
                                j = results[q]
                                for c in range(4):
                                    # one this far below the best cannot be it, nor change how wrong that is
                                    if e[t, j, c] + 2 * off[t, j, c] + 1e-9 >= best[c]:
                                        wrong[c] = max(wrong[c], off[t, j, c])
                            for c in range(4):
                                value[c] += weight * best[c]
                                error[c] += weight * wrong[c]
                        for c in range(4):
                            value[c] = value[c] / 36.0
                            error[c] = error[c] / 36.0 + STEP
                            greatest[c] = max(greatest[c], error[c])
                    turn(value, error, e[u, t], off[u, t])
    return greatest


def rounding_bound(points: int, chequers: int) -> float:
    """The greatest error that float64 arithmetic can have left in an equity of recipe exact."""
    starts, results = plays(points, chequers)
    _, order, pips_at = pip_order(points, chequers)
    n = len(order)
    e, off = np.zeros((n, n, 4)), np.zeros((n, n, 4), np.float32)
    return float(rounding_errors(starts, results, order, pips_at, e, off).max()) * FLOAT32


def up(number: float) -> float:
    """Rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def entry(points: int, chequers: int, threads: int | None = None) -> str:
    """One size, as the file has it."""
    began = time.perf_counter()
    stored = solver.two_sided(points, chequers, threads=threads)
    found: dict[str, Any] = truth.measure_equity_errors(stored, threads)
    errors = [math.ceil(error * UP) / UP for error in found["greatest_error"].values()]
    margins = {name: float(f"{size:.1e}") for name, size in found["nearest_margins"].items()}
    facts = {"points": points, "chequers": chequers, "stored": errors}
    facts |= {"float64": float(f"{up(rounding_bound(points, chequers)):.1e}"), "margins": margins}
    print(f"{points}x{chequers}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return json.dumps(facts | {"wrong": found["decisions_wrong"]})


def proved_entry(points: int, chequers: int, threads: int | None = None) -> str:
    """Return the proved bounds of one size as a line of the list "proved"."""
    found = error_bound.bound_errors(
        solver.two_sided(points, chequers, threads=threads), threads=threads or 1
    )
    facts = found.as_dict()
    bound = [math.ceil(size * UP) / UP for size in facts["greatest"].values()]
    more = {"open": facts["decisions_open"], "wrong": facts["decisions_wrong"]}
    return json.dumps({"points": points, "chequers": chequers, "bound": bound} | more)


def means(points: int) -> str:
    """One-sided tables of `points` points, as the file has them."""
    rounded = [solver.one_sided(points, gammon=False)]
    if points == 6:
        rounded.append(solver.one_sided(points, recipe="bgsage"))
    normal = solver.one_sided(points, normal=True)
    found = [
        truth.measure_roll_errors(table, None)["greatest_error_of_the_mean"] for table in (*rounded, normal)
    ]  # type: ignore[arg-type]
    mean = math.ceil(max(found[:-1]) * UP) / UP
    return json.dumps({"points": points, "mean": mean, "normal": math.ceil(found[-1] * 1e8) / 1e8})


def main(sizes: list[str]) -> None:
    """Print the entries of these sizes."""
    make = entry
    if sizes[:1] == ["--proved"]:
        make = proved_entry
        sizes = sizes[1:]
    for size in sizes:
        points, _, chequers = size.partition("x")
        print(make(int(points), int(chequers)) if chequers else means(int(points)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["6x6"])
