"""Two-sided tables with nothing rounded: float64 equities, by the same rules as the integers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.results import WEIGHTS
from bgfmt.solver.executor import Executor, Work
from bgfmt.solver.layers import PipOrder
from bgfmt.solver.waves import Progress

Array = NDArray[Any]


class Block(NamedTuple):
    """Pairs of a layer start..end-1 with places low..high-1; `lower`: the layer is on roll, against lower ones."""

    start: int
    end: int
    low: int
    high: int
    lower: bool


class ExactPairs(Work[Block]):
    """Equities (n, n, columns) float64 of rolling without doubling: cubeless, owned, centered, opponent.

    The opponent doubles when that gains, a double is passed when it costs more than 1. Rounding errors of the
    additions alone remain, some 1e-15.
    """

    def __init__(self, order: PipOrder, columns: int) -> None:
        self.order = order
        self.out = np.empty((order.n, order.n, columns))
        #: [t, j] in pip order: what (t, j) is worth to the player who moved to j
        self.turned = np.empty((order.n, order.n, columns))

    def make(self, block: Block, /) -> None:
        """Make the pairs of a block."""
        from bgfmt.solver.kernels import exact_two_sided as kernels

        o = self.order
        kernels.pairs(*block, o.ends, o.results, WEIGHTS, o.numbers, self.out, self.turned)

    def solve(self, executor: Executor, progress: Progress | None) -> Array:
        """The whole table."""
        from bgfmt.solver.kernels import exact_two_sided as kernels

        order = self.order
        kernels.terminal(order.numbers, self.out, self.turned)
        for layer in range(1, order.layers):
            start, end = int(order.cuts[layer]), int(order.cuts[layer + 1])
            for upper, lower in ((start, True), (end, False)):
                step = max(1, -(-upper // (4 * executor.workers)))
                blocks = [
                    Block(start, end, low, min(low + step, upper), lower) for low in range(1, upper, step)
                ]
                executor.run(self, blocks)
            if progress is not None:
                progress(end * end, order.n**2)
        return self.out
