"""Two-sided tables with nothing rounded: float64 equities, by the same rules as the integers of recipe gnubg."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.solver.layers import WEIGHTS, pip_order
from bgfmt.solver.schedule import check_memory, thread_count
from bgfmt.tables import TwoSided

Array = NDArray[Any]


def solve_exact(
    points: int,
    chequers: int,
    *,
    cubeful: bool = True,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TwoSided:
    """Equities (n, n, 4 or 1) float64 of rolling without doubling: cubeless, owned, centered, opponent.

    The opponent doubles when that gains, a double is passed when it costs more than 1. Rounding errors of the
    additions alone remain, some 1e-15.
    """
    from bgfmt.solver.kernels import exact_two_sided as kernels

    n, columns = board.count(points, chequers), 4 if cubeful else 1
    check_memory(2 * n * n * columns * 8 + 200_000_000, f"an exact {points}x{chequers} table")
    order = pip_order(points, chequers)
    out = np.empty((n, n, columns))
    turned = np.empty(
        (n, n, columns)
    )  # [t, j]: what (t, j) is worth to the player who moved to j; in pip order
    cuts, numbers = order.cuts, order.numbers
    kernels.terminal(numbers, out, turned)
    with ThreadPoolExecutor(thread_count(threads)) as workers:
        for layer in range(1, order.layers):
            start, end = int(cuts[layer]), int(cuts[layer + 1])
            for upper, phase in ((start, True), (end, False)):
                step = max(1, -(-upper // (4 * thread_count(threads))))
                jobs = [
                    workers.submit(
                        kernels.pairs, start, end, low, min(low + step, upper), phase, order.ends, order.results,
                        WEIGHTS, numbers, out, turned,
                    )
                    for low in range(1, upper, step)
                ]  # fmt: skip
                for job in jobs:
                    job.result()
            if progress is not None:
                progress(end * end, n * n)
    return TwoSided(
        points=points, chequers=chequers, equities=out, provenance="solved by bgfmt, recipe exact",
        extra={"recipe": "exact"},
    )  # fmt: skip
