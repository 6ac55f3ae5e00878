"""A block of a two-sided solve with all it needs, to be made in another process or on another machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.solver.executor import Task
from bgfmt.solver.layers import REACH, WEIGHTS, PipOrder

Array = NDArray[Any]


def layer_of(order: PipOrder, layer: int, columns: int) -> Any:
    """`kernels.two_sided.Layer` of a pip layer."""
    from bgfmt.solver.kernels.two_sided import Layer

    cuts = order.cuts
    window = int(cuts[max(0, layer - REACH)])
    return Layer(int(cuts[layer]), int(cuts[layer + 1]), order.n, window, columns)


@dataclass(frozen=True)
class PairTask(Task):
    """Places low..high-1 of t, across or down, with copies of strips and of the rolls of the u's it makes.

    layer : a `kernels.two_sided.Layer`. strips : by name, (rows, columns of a record, columns) int16. ends, results :
    of u's from the layer on (across) or beyond it (down), ends counted from the first of these results.
    """

    layer: Any
    across: bool
    low: int
    high: int
    ends: Array
    results: Array
    strips: Mapping[str, Array]

    def run(self) -> dict[str, Array]:
        """What the block gives, by name: records (rows, columns * columns of a record) uint16, and turned values."""
        from bgfmt.solver.kernels import two_sided as kernels

        layer, low, high = self.layer, self.low, self.high
        n, k, m = layer.n, layer.columns, high - low
        us = (layer.start, layer.end) if self.across else (layer.end, n)
        ends = np.zeros(21 * n + 1, np.int64)
        ends[21 * us[0] : 21 * us[1] + 1] = self.ends
        rolls = kernels.Rolls(ends, self.results, WEIGHTS)
        places = np.arange(n, dtype=np.int64)
        base, plane = (places - layer.window) * k * m, np.full(n, m, np.int64)
        begins, pool = np.full(n, low, np.int64), self.strips["turned"].reshape(-1)
        target = kernels.Target(
            np.empty((us[1] - us[0], m * k), np.uint16), places - us[0], (places - low) * k
        )
        if self.across:
            own = np.empty((layer.end - layer.start, k, m), np.int16)
            turned = kernels.Turned(pool, base, plane, begins)
            kernels.across(layer, low, high, turned, rolls, own, low, target)
            return {"across": target.out, "own": own}
        beyond, known = n - layer.end, len(pool)
        here = slice(low, high)
        base[here] = known + (places[here] - low) * k * beyond
        plane[here], begins[here] = beyond, layer.end
        pool = np.concatenate([pool, np.empty(m * k * beyond, np.int16)])
        near = np.empty((n - layer.window) * k * m, np.int16)
        turned = kernels.Turned(pool, base, plane, begins)
        kernels.down(layer, low, high, turned, rolls, self.strips["own"], target, m, near)
        return {"down": target.out, "turned": pool[known:].reshape(m, k, beyond)}
