"""The pairs of a two-sided table, layer by layer, as blocks of two steps; see `bgfmt.solver.two_sided`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.solver.executor import Executor, Work
from bgfmt.solver.layers import WEIGHTS, PipOrder, layer_of
from bgfmt.solver.pool import Pool

Array = NDArray[Any]
TILE = 512  # places of t done together in a block across, where there are enough of them


class PairBlock(NamedTuple):
    """Places low..high-1 of t: against all u of the layer (across), or in the layer against all u beyond (down)."""

    layer: int
    step: Literal["across", "down"]
    low: int
    high: int


class Targets(NamedTuple):
    """Where a layer's records go: `kernels.two_sided.Target`s of the two steps."""

    across: Any
    down: Any


class Pairs(Work[PairBlock]):
    """A solve's state: the turned values of the last layers, and where records go."""

    def __init__(self, order: PipOrder, columns: int, workers: int) -> None:
        from bgfmt.solver.kernels import two_sided as kernels

        self.order, self.columns = order, columns
        n, cuts = order.n, order.cuts
        plan = Pool(cuts, columns)
        widths = np.diff(cuts)
        layers = np.repeat(np.arange(order.layers), widths)
        plane = plan.planes[layers]
        base = plan.offsets[layers] + (np.arange(n) - cuts[layers]) * columns * plane
        self.turned = kernels.Turned(np.empty(plan.size, np.int16), base, plane, cuts[layers + 1])
        self.rolls = kernels.Rolls(order.ends, order.results, WEIGHTS)
        self.block = 32 if n > 4000 else 16
        self._own = np.empty(int(max(widths * (n - cuts[:-1]))) * columns, np.int16)
        self._near: SimpleQueue[Array] = SimpleQueue()
        for _ in range(workers):
            self._near.put(np.empty(n * columns * self.block, np.int16))
        self._targets: Targets | None = None
        # the side that is off has won: what leads there is worth +1 in every column
        self.turned.pool[base[0] : base[0] + columns * int(plane[0])] = 32767

    def layer(self, layer: int, targets: Targets, executor: Executor) -> None:
        """Make all pairs of a layer."""
        self._targets = targets
        for blocks in self.steps(layer, executor.workers):
            executor.run(self, blocks)

    def steps(self, layer: int, workers: int) -> Iterator[list[PairBlock]]:
        """The blocks of a layer's two steps; those of a step are independent of each other."""
        start, end = int(self.order.cuts[layer]), int(self.order.cuts[layer + 1])
        length = self.order.n - start
        step = TILE if length // TILE >= 4 * workers else max(64, -(-length // (4 * workers)))
        yield [PairBlock(layer, "across", *part) for part in _cut(start, self.order.n, step)]
        yield [PairBlock(layer, "down", *part) for part in _cut(start, end, self.block)]

    def make(self, block: PairBlock, /) -> None:
        """Make a block, its records where the targets say."""
        from bgfmt.solver.kernels import two_sided as kernels

        assert self._targets is not None
        layer, low, high = layer_of(self.order, block.layer, self.columns), block.low, block.high
        if block.step == "across":
            own, target = self._own_of(block.layer), self._targets.across
            kernels.across(layer, low, high, self.turned, self.rolls, own, layer.start, target)
            return
        own = self._own_of(block.layer)[low - layer.start : high - layer.start]
        with self._near_block() as near:
            kernels.down(layer, low, high, self.turned, self.rolls, own, self._targets.down, self.block, near)

    @contextmanager
    def _near_block(self) -> Iterator[Array]:
        near = self._near.get()
        try:
            yield near
        finally:
            self._near.put(near)

    def _own_of(self, layer: int) -> Array:
        start, end = int(self.order.cuts[layer]), int(self.order.cuts[layer + 1])
        width, length = end - start, self.order.n - start
        return self._own[: width * self.columns * length].reshape(width, self.columns, length)


def _cut(first: int, last: int, step: int) -> Iterator[tuple[int, int]]:
    for low in range(first, last, step):
        yield low, min(low + step, last)
