"""The pairs of a two-sided table, layer by layer, as blocks of two steps; see `bgfmt.solver.two_sided`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.results import WEIGHTS
from bgfmt.solver.executor import Calls, Executor
from bgfmt.solver.layers import REACH, PipOrder
from bgfmt.solver.pool import Pool

Array = NDArray[Any]
MADE = (
    4096  # lines of records that a worker makes before it hands them on: they stay in the processor's cache
)
FEW = 1000  # lines that are not worth dividing


class Squares(NamedTuple):
    """Blocks us[0]..us[1]-1 on roll against blocks ts[0]..ts[1]-1; the lower ones are of `layer`."""

    layer: int
    us: tuple[int, int]
    ts: tuple[int, int]


class Taker(Protocol):
    """Where finished records go."""

    def take(self, squares: Squares, made: Array) -> None:
        """Records of uint16, block of t's by block, u by u; lost afterwards. Called from several threads."""
        ...


class Pairs:
    """A solve's state: the turned values of the last layers, and where records go."""

    def __init__(self, order: PipOrder, pool: Pool, taker: Taker) -> None:
        from bgfmt.game.kernels_vectors import Rolls
        from bgfmt.solver.kernels import two_sided as kernels

        self.order, self.pool, self.taker = order, pool, taker
        self.columns = pool.lanes // pool.side
        numbers = np.empty((pool.lines, pool.lanes), np.int16)
        records = numbers.view(record_type(self.columns))
        base, step = np.zeros(order.n, np.int64), np.zeros(order.n, np.int64)
        self.lines = kernels.Lines(numbers, records, base, step)
        self.rolls = Rolls(order.ends, order.results, WEIGHTS)
        self._rooms: SimpleQueue[Array] = SimpleQueue()
        # the side that is off has won: what leads there is worth +1 in every column
        numbers[pool.offsets[0] : pool.offsets[0] + len(pool.starts) - 1 - pool.first[1]] = 32767
        self.finish(0)

    def layer(
        self,
        layer: int,
        executor: Executor,
        first: Sequence[Callable[[], None]] = (),
        second: Sequence[Callable[[], None]] = (),
    ) -> None:
        """Make all pairs of a layer; calls that go beside the blocks of the first and of the second step."""
        across, down = self.steps(layer, executor.workers)
        start = int(self.order.cuts[layer])
        self._lie(slice(start, None), *self._own(layer))
        for blocks, others in ((across, first), (down, second)):
            made: list[Callable[[], None]] = [partial(self.make, block) for block in blocks]
            executor.run(Calls(), [*others, *made])
        self.finish(layer)

    def finish(self, layer: int) -> None:
        """From now on the values of a layer are found where those of higher places against it are kept."""
        cuts = self.order.cuts
        self._lie(slice(int(cuts[layer]), int(cuts[layer + 1])), *self.target(layer))

    def _lie(self, places: slice, line: int, step: int) -> None:
        at = np.arange(self.order.n)[places]
        self.lines.base[places] = line + at
        self.lines.step[places] = step

    def _own(self, layer: int) -> tuple[int, int]:
        """(line, step) of the layer's own values: those of block b against place j lie in line + b * step + j."""
        start, step = int(self.order.cuts[layer]), self.order.n - int(self.order.cuts[layer])
        return self.pool.own - int(self.pool.first[layer]) * step - start, step

    def target(self, layer: int) -> tuple[int, int]:
        """The same of the values of higher blocks against the layer's places."""
        start, end = int(self.order.cuts[layer]), int(self.order.cuts[layer + 1])
        step = end - start
        return int(self.pool.offsets[layer]) - int(self.pool.first[layer + 1]) * step - start, step

    def steps(self, layer: int, workers: int) -> tuple[list[Squares], list[Squares]]:
        """The blocks of a layer's two steps; those of a step are independent of each other."""
        low, high = int(self.pool.first[layer]), int(self.pool.first[layer + 1])
        last = len(self.pool.starts) - 1
        width = int(self.order.cuts[layer + 1] - self.order.cuts[layer])
        across = _cut(low, last, width, workers)
        down = [
            Squares(layer, part, (t, t + 1))
            for t in range(low, high)
            for part in _cut(high, last, self.pool.side, workers)
        ]
        return [Squares(layer, (low, high), part) for part in across], down

    def make(self, block: Squares) -> None:
        """Make a block, and hand its records on."""
        from bgfmt.solver.kernels import two_sided as kernels

        layer, us, ts = block
        cuts, starts = self.order.cuts, self.pool.starts
        across = us[0] < self.pool.first[layer + 1]
        reach = int(cuts[max(0, layer - REACH)]), int(cuts[layer]) if across else self.order.n
        target = self._own(layer) if across else self.target(layer)
        size = int((starts[us[1]] - starts[us[0]]) * (starts[ts[1]] - starts[ts[0]])) * self.columns
        try:
            room = self._rooms.get_nowait()
        except Empty:
            room = np.empty(0, np.uint16)
        if room.size < size:
            room = np.empty(size, np.uint16)
        kernels.squares(us, ts, reach, starts, self.lines, self.rolls, self.columns, room, target)
        self.taker.take(block, room[:size])
        self._rooms.put(room)


class InPlace(Taker):
    """Every record straight to its place in the table, (n, n * columns) uint16."""

    def __init__(self, pool: Pool, order: PipOrder, flat: Array) -> None:
        self.starts, self.numbers = pool.starts, order.numbers
        self.type = record_type(flat.shape[1] // order.n)
        self.out = flat.view(self.type)

    def take(self, squares: Squares, made: Array) -> None:
        """As `Taker.take`."""
        from bgfmt.solver.kernels import two_sided as kernels

        kernels.settle(made.view(self.type), squares.us, squares.ts, self.starts, self.numbers, self.out)


def record_type(columns: int) -> Any:
    """A record as one number, for moving it."""
    return np.uint64 if columns == 4 else np.uint16


def _cut(first: int, last: int, lines: int, workers: int) -> list[tuple[int, int]]:
    """Blocks first..last-1, `lines` lines each, in parts: four for each worker, or more where they are large."""
    count = last - first
    if count * lines > FEW:
        count = min(max(1, MADE // max(1, lines)), -(-count // (4 * workers)))
    return [(low, min(low + count, last)) for low in range(first, last, max(1, count))]
