"""How wrong stored two-sided equities are, measured: the numbers of bgfmt/data/bounds.toml.

    python -m benchmarks.bounds 6x6 6x8 ... 6 7 ...

For each size one entry: greatest errors of the stored equities against the exact recipe, rounded up; a bound on the
errors of that recipe's own float64 arithmetic; the smallest margins of the cube decisions that are no ties; and the
decisions that the stored integers get wrong. 6x10 needs 6 GB and some minutes. For points alone, the greatest errors
of the mean rolls of one-sided tables.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from bgfmt import solver
from bgfmt.verifier.measuring import kernels_rounding, one_sided, two_sided
from bgfmt.verifier.recurrence import rules

UP = 1e7  # errors are rounded up to seven decimals
FLOAT32 = 1.001  # what keeping the bounds in float32 may have lost


def rounding_bound(points: int, chequers: int) -> float:
    """The greatest error that float64 arithmetic can have left in an equity of recipe exact."""
    starts, results = rules.plays(points, chequers)
    _, order, pips_at = rules.pip_order(points, chequers)
    n = len(order)
    e, off = np.zeros((n, n, 4)), np.zeros((n, n, 4), np.float32)
    return float(kernels_rounding.bound(starts, results, order, pips_at, e, off).max()) * FLOAT32


def up(number: float) -> float:
    """Rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def entry(points: int, chequers: int, threads: int | None = None) -> str:
    """One size, as the file has it."""
    began = time.perf_counter()
    stored = solver.two_sided(points, chequers, threads=threads)
    found: dict[str, Any] = two_sided.measure(stored, threads)
    errors = [math.ceil(error * UP) / UP for error in found["greatest_error"].values()]
    lines = ["[[two_sided]]", f"points = {points}", f"chequers = {chequers}", f"stored = {errors}"]
    lines.append(f"float64 = {up(rounding_bound(points, chequers)):.1e}")
    margins = ", ".join(f"{name} = {size:.1e}" for name, size in found["nearest_margins"].items())
    wrong = ", ".join(f"{name} = {count}" for name, count in found["decisions_wrong"].items())
    lines += [f"margins = {{ {margins} }}", f"wrong = {{ {wrong} }}"]
    print(f"{points}x{chequers}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return "\n".join(lines) + "\n"


def means(points: int) -> str:
    """One-sided tables of `points` points, as the file has them."""
    rounded = [solver.one_sided(points, gammon=False)]
    if points == 6:
        rounded.append(solver.one_sided(points, recipe="bgsage"))
    normal = solver.one_sided(points, normal=True)
    found = [one_sided.measure(table, None)["greatest_error_of_the_mean"] for table in (*rounded, normal)]  # type: ignore[arg-type]
    mean = math.ceil(max(found[:-1]) * UP) / UP
    return f"[[one_sided]]\npoints = {points}\nmean = {mean}\nnormal = {math.ceil(found[-1] * 1e8) / 1e8}\n"


def main(sizes: list[str]) -> None:
    """Print the entries of these sizes."""
    for size in sizes:
        points, _, chequers = size.partition("x")
        print(entry(int(points), int(chequers)) if chequers else means(int(points)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["6x6"])
