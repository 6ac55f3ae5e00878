"""The scratch file of a large two-sided solve: finished layers with checksums, from which an ended run goes on.

offset  content
0       what it is for and which process has it, see `bgfmt.storage.claim`
4096    journal, 32 bytes a layer: 1 when finished, sum of its rows, sum of its strips, check of these three; u64
...     for each layer from 1 on: rows, the records (u, t) of u in the layer and t from the layer on; then strips,
        the records (u, t) of t in the layer and u beyond it; uint16, block of t's by block (`bgfmt.solver.pool`),
        u by u, places in pip order

Every number has a weight by its column in the finished table, so that the sum of a row of the table, modulo 2**64,
can be taken in pieces while solving and again when the row is whole. A layer's sums are those of its pieces of rows,
weighted by row. A layer is entered in the journal once its data is on the disk, so a run can be killed at any moment.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import ScratchError
from bgfmt.solver.layers import REACH, pip_order
from bgfmt.solver.pairs import Pairs, Squares, Taker
from bgfmt.solver.pool import Pool
from bgfmt.storage import PathLike, system
from bgfmt.storage.claim import HEAD, Claim
from bgfmt.storage.sink import Sink, view_of

Array = NDArray[Any]
PAGE = 4096


class Scratch(Taker):
    """An open scratch file; a context manager. `finished` is the last layer of an unbroken run from 1.

    It stays, for a later run to resume, unless `remove` was called or no layer was finished.
    """

    def __init__(
        self,
        path: PathLike,
        points: int,
        chequers: int,
        *,
        cubeful: bool = True,
        recipe: str = "gnubg",
        resume: bool = False,
        output: PathLike = "memory",
    ) -> None:
        """Claim the file for the solve of this table into `output`; see `Claim` for what is refused."""
        self.points, self.chequers, self.recipe = points, chequers, recipe
        self.order = order = pip_order(points, chequers)
        self.columns = columns = 4 if cubeful else 1
        self.pool = Pool(order.cuts, columns)
        cuts, n = order.cuts, order.n
        widths = np.diff(cuts)
        rows = widths * (n - cuts[:-1]) * columns * 2
        strips = widths * (n - cuts[1:]) * columns * 2
        rows[0] = strips[0] = 0  # the side that is off has won: nothing to keep
        self._head = HEAD + -(-32 * order.layers // PAGE) * PAGE
        sizes = np.stack([rows, strips], axis=1).reshape(-1)
        padded = (sizes + PAGE - 1) // PAGE * PAGE
        ends = self._head + np.cumsum(padded)
        self.places = (ends - padded).reshape(-1, 2)
        self.sizes = sizes.reshape(-1, 2)
        solve = f"two-sided {points}x{chequers}{'' if cubeful else ', cubeless'}, recipe {recipe}"
        owner = {"output": os.fspath(output)[-300:]}
        self.claim = Claim(path, {"solve": solve}, int(ends[-1]), resume=resume, owner=owner)
        self.path, self.map = self.claim.path, self.claim.map
        self.journal = np.frombuffer(self.map, "<u8", 4 * order.layers, HEAD).reshape(-1, 4)
        self._by_row = weights(np.arange(n), np.uint64)
        by_column = weights(np.arange(n * columns), np.uint32)
        in_order = (order.numbers[:, None] * columns + np.arange(columns)).reshape(-1)
        self.by_number, self._by_place = by_column, by_column[in_order]
        self.sums = np.zeros(n, np.uint64)  # of rows of the table, as far as they are made
        self._parts = np.zeros((order.layers, 2), np.uint64)  # sums of the rows and strips of layers
        self._summing = threading.Lock()
        self._keeper = ThreadPoolExecutor(1)
        self._pending: list[Future[None]] = []
        self._unneeded = False
        self.finished = 0
        try:
            self.finished = self.check()
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def remove(self) -> None:
        """Have the file removed at the end, its result being safe."""
        self._unneeded = True

    def _close(self) -> None:
        self._keeper.shutdown(wait=True, cancel_futures=True)
        self.claim.close(remove=self._unneeded or not self.journal[:, 0].any())

    # -- layers ------------------------------------------------------------------------------------------

    def open_layer(self) -> None:
        """Wait until no more than one layer is still to be entered."""
        while len(self._pending) > 1:
            self._pending.pop(0).result()

    def take(self, squares: Squares, made: Array) -> None:
        """As `bgfmt.solver.pairs.Taker.take`: sum the records and write them."""
        layer, us, ts = squares
        starts = self.pool.starts
        part = int(us[0] >= self.pool.first[layer + 1])
        first, past = int(starts[us[0]]), int(starts[us[1]])
        sums = self._add_up(made, ts, slice(first, past))
        with self._summing:
            self._enter(layer, part, slice(first, past), sums)
        with system.said_of(self.path):
            system.write_at(self.claim.fd, view_of(made), self.place(layer, ts[0], first) * 2)

    def close_layer(self, layer: int, sink: Sink) -> None:
        """Bring a filled layer, and what was put into `sink`, to the disk and enter it, in a thread of its own."""
        self._pending.append(self._keeper.submit(self._keep, layer, sink))

    def wait(self) -> None:
        """Wait until all layers are entered."""
        while self._pending:
            self._pending.pop(0).result()

    def refill(self, pairs: Pairs) -> None:
        """Turned values again, of the last finished layers."""
        from bgfmt.solver.kernels import scratch as kernels

        first = self.pool.first
        for layer in range(max(1, self.finished - REACH + 1), self.finished + 1):
            us, ts = (
                (int(first[layer + 1]), len(self.pool.starts) - 1),
                (int(first[layer]), int(first[layer + 1])),
            )
            made, target = self._array(layer, 1), pairs.target(layer)
            kernels.refill(made, us, ts, self.pool.starts, pairs.lines, self.columns, target)
            pairs.finish(layer)
            self._let_go(layer)

    # -- the file ----------------------------------------------------------------------------------------

    def place(self, layer: int, block: Any, first: int) -> Any:
        """Where the records of side `first` on roll, and those behind it, against a block begin, in numbers."""
        starts, cuts, pool = self.pool.starts, self.order.cuts, self.pool
        part = int(first >= cuts[layer + 1])
        rows = int(self.order.n - cuts[layer + 1]) if part else int(cuts[layer + 1] - cuts[layer])
        before = rows * (starts[block] - (cuts[layer] if part else starts[pool.first[layer]]))
        within = (first - int(cuts[layer + part])) * (starts[block + 1] - starts[block])
        return self.places[layer, part] // 2 + (before + within) * self.columns

    def _array(self, layer: int, part: int) -> Array:
        """All records of a part of a layer."""
        place, size = int(self.places[layer, part]), int(self.sizes[layer, part])
        return np.frombuffer(self.map, np.uint16, size // 2, place) if size else np.empty(0, np.uint16)

    def _add_up(self, made: Array, ts: tuple[int, int], us: slice) -> Array:
        from bgfmt.solver.kernels import scratch as kernels

        sums = np.zeros(us.stop - us.start, np.uint64)
        kernels.add_up(made, ts, self.pool.starts, self._by_place, sums)
        return sums

    def _enter(self, layer: int, part: int, us: slice, sums: Array) -> None:
        self.sums[us] += sums
        self._parts[layer, part : part + 1] += (sums * self._by_row[us]).sum(keepdims=True)

    def _entry(self, layer: int) -> Array:
        """The journal's entry for a layer as it was summed."""
        entry = np.array([1, *self._parts[layer], layer], np.uint64)
        entry[3] = (entry * weights(np.arange(4), np.uint64)).sum()
        return entry

    def _sum(self, layer: int) -> None:
        """Sum a layer as it lies in the file."""
        low, high = (int(at) for at in self.pool.first[layer : layer + 2])
        start, end = (int(at) for at in self.order.cuts[layer : layer + 2])
        self._parts[layer] = 0
        for part, ts, us in (
            (0, (low, len(self.pool.starts) - 1), slice(start, end)),
            (1, (low, high), slice(end, self.order.n)),
        ):
            if us.stop > us.start:
                self._enter(layer, part, us, self._add_up(self._array(layer, part), ts, us))

    def check(self) -> int:
        """Last finished layer; ScratchError where a finished one is not what its sums say."""
        finished = 0
        for layer in range(1, self.order.layers):
            if not self.journal[layer].any():
                break
            self._sum(layer)
            if not np.array_equal(self.journal[layer], self._entry(layer)):
                raise ScratchError(
                    self.path, "damaged", f"is damaged in layer {layer}; remove it to start anew"
                )
            self._let_go(layer)
            finished = layer
        return finished

    def _keep(self, layer: int, sink: Sink) -> None:
        system.sync_data(self.claim.fd)
        self.journal[layer] = self._entry(layer)
        self.map.flush(0, self._head)
        sink.settle()

    def _let_go(self, layer: int) -> None:
        """Take a layer's pages out of this process; they stay in the system's cache."""
        begin = int(self.places[layer, 0])
        last = int(self.places[layer, 1] + self.sizes[layer, 1])
        size = min(-(-(last - begin) // PAGE) * PAGE, self.claim.size - begin)
        if size > 0:
            system.let_go(self.map, begin, size)


def weights(numbers: Array, dtype: type[np.uint32 | np.uint64]) -> Array:
    """Odd numbers without pattern, the same on every machine: the end of splitmix64 over 0, 1, 2, ..."""
    x = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = (x ^ (x >> np.uint64(31))) >> np.uint64(64 - 8 * np.dtype(dtype).itemsize)
    return (x | np.uint64(1)).astype(dtype)
