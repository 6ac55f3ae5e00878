"""Two-sided tables with nothing rounded: float64 equities, by the rules of the integers; to be read, not to be fast.

Numba is imported here: the solver imports this module when it makes such a table.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.results import WEIGHTS
from bgfmt.jit import njit
from bgfmt.solver.layers import PipOrder
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers

Array = NDArray[Any]


def exact_pairs(order: PipOrder, columns: int, workers: Workers, progress: Progress | None) -> Array:
    """Equities (n, n, columns) float64 of rolling without doubling: cubeless, owned, centered, opponent.

    The opponent doubles when that gains, a double is passed when it costs more than 1. Rounding errors of the
    additions alone remain, some 1e-15.
    """
    out = np.empty((order.n, order.n, columns))
    turned = np.empty_like(out)  # [t, j] in pip order: what (t, j) is worth to the player who moved to j
    terminal(order.numbers, out, turned)
    for layer in range(1, order.layers):
        start, end = int(order.cuts[layer]), int(order.cuts[layer + 1])
        for upper, first in ((start, True), (end, False)):  # the layer on roll; the other side on roll
            step = max(1, -(-upper // (4 * workers.workers)))
            block = partial(_block, order, (start, end), (step, upper), first, out, turned)
            workers.do(block, range(1, upper, step))
        if progress is not None:
            progress(end * end, order.n**2)
    return out


def _block(
    order: PipOrder,
    layer: tuple[int, int],
    part: tuple[int, int],
    first: bool,
    out: Array,
    turned: Array,
    low: int,
) -> None:
    high = min(low + part[0], part[1])
    pairs(*layer, low, high, first, order.ends, order.results, WEIGHTS, order.numbers, out, turned)


@njit()
def best_action(nd: float, dt: float) -> float:
    """Value to its roller of doubling or not: nd rolling on, dt the value at the doubled cube, per point."""
    doubled = min(1.0, 2.0 * dt)
    return max(nd, doubled)


@njit()
def set_turned(e: Any, f: Any) -> None:
    """What a record e is worth to the player who moved into it, f."""
    f[0] = -e[0]
    if e.size == 4:
        f[1] = -e[3]
        f[2] = -best_action(e[2], e[3])
        f[3] = -best_action(e[1], e[3])


@njit()
def terminal(numbers: Any, out: Any, turned: Any) -> None:
    """Pairs in which a side is off: it has won."""
    n = numbers.size
    for x in range(n):
        out[numbers[0], numbers[x]] = 1.0
        turned[0, x] = -1.0
    for x in range(1, n):
        out[numbers[x], numbers[0]] = -1.0
        turned[x, 0] = 1.0


@njit()
def pairs(
    start: int,
    end: int,
    low: int,
    high: int,
    phase: bool,
    ends: Any,
    results: Any,
    weights: Any,
    numbers: Any,
    out: Any,
    turned: Any,
) -> None:
    """Pairs of a pip layer start..end-1 with the places low..high-1 that are not beyond it.

    First phase: the layer's side is on roll, the other lower. Second: the other way round, the layer with
    itself included, which needs what the first made.
    """
    columns = out.shape[2]
    total = np.empty(columns)
    best = np.empty(columns)
    for x in range(low, high):
        for y in range(start, end):
            u = y if phase else x
            t = x if phase else y
            total[:] = 0.0
            for r in range(21):
                best[:] = -2.0
                for i in range(ends[21 * u + r], ends[21 * u + r + 1]):
                    for k in range(columns):
                        best[k] = max(best[k], turned[t, results[i], k])
                for k in range(columns):
                    total[k] += weights[r] * best[k]
            e = out[numbers[u], numbers[t]]
            for k in range(columns):
                e[k] = total[k] / 36.0
            set_turned(e, turned[u, t])
