"""The scratch file of a large two-sided solve: finished layers with checksums, from which an ended run goes on.

offset  content
0       what it is for and which process has it, see `bgfmt.storage.claim`
4096    journal, 32 bytes a layer: 1 when finished, sum of its rows, sum of its strips, check of these three; u64
...     for each layer from 1 on: rows, the records (u, t) of u in the layer and t from the layer on; then strips,
        the records (u, t) of t in the layer and u beyond it; uint16, places in pip order

Every number has a weight by its column in the finished table, so that the sum of a row of the table, modulo 2**64,
can be taken in pieces while solving and again when the row is whole. A layer's sums are those of its pieces of rows,
weighted by row. A layer is entered in the journal once its data is on the disk, so a run can be killed at any moment.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import ScratchError, SolverError
from bgfmt.solver.executor import Executor, Work
from bgfmt.solver.layers import REACH, PipOrder, layer_of, pip_order
from bgfmt.storage import PathLike, system
from bgfmt.storage.claim import HEAD, Claim

Array = NDArray[Any]
PAGE = 4096
CHUNK = 16  # rows merged together: few enough to stay in the processor's cache
SUMMED = 256  # rows summed by one call


class Scratch:
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
        self._by_number, self._by_place = by_column, by_column[in_order]
        self.sums = np.zeros(n, np.uint64)  # of rows of the table, as far as they are made
        self._keeper = ThreadPoolExecutor(1)
        self._pending: list[Future[None]] = []
        self._unneeded = False
        self.finished = 0
        try:
            self.finished = self._check()
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

    def open_layer(self, layer: int) -> tuple[Array, Array]:
        """Rows (width, (n - start) * columns) and strips (n - end, width * columns) to fill, uint16."""
        while len(self._pending) > 1:
            self._pending.pop(0).result()
        return self._array(layer, 0), self._array(layer, 1)

    def close_layer(self, layer: int) -> None:
        """Sum, sync and enter a filled layer, in a thread of its own."""
        self._pending.append(self._keeper.submit(self._keep, layer))

    def refill(self, turned: Any) -> None:
        """Rows of the turned table again, of the last finished layers."""
        from bgfmt.solver.kernels import two_sided as kernels

        for layer in range(max(1, self.finished - REACH + 1), self.finished + 1):
            here = layer_of(self.order, layer, self.columns)
            if here.end > here.start:
                kernels.refill(here, self._array(layer, 1), turned)
                self._let_go(layer)

    def merge(self, flat: Array, executor: Executor, merged: Callable[[int], None]) -> None:
        """Every record to its place in the table, (n, n * columns), each row held against the sum taken of it.

        Tells `merged` how many rows are done. SolverError where what was merged is not what was solved.
        """
        for job in self._pending:
            job.result()
        arrays = [(self._array(k, 0), self._array(k, 1)) for k in range(self.order.layers)]
        work = Merge(self.order, self.columns, arrays, flat, self._by_number, self.sums)
        for layer in range(1, self.order.layers):
            start, end = int(self.order.cuts[layer]), int(self.order.cuts[layer + 1])
            executor.run(work, [Rows(layer, low, min(low + CHUNK, end)) for low in range(start, end, CHUNK)])
            if work.wrong:
                self._blame(min(work.wrong))
            system.let_go(self.map)
            merged(end)

    def _blame(self, row: int) -> None:
        self.sums[:] = 0
        self._check()  # names the layer that is damaged here
        raise SolverError(
            f"position {self.order.numbers[row]:,} of the table does not add up to what was solved; "
            f"{self.path} is sound, so try again"
        )

    # -- the file ----------------------------------------------------------------------------------------

    def _array(self, layer: int, part: int) -> Array:
        place, size = int(self.places[layer, part]), int(self.sizes[layer, part])
        start, end = int(self.order.cuts[layer]), int(self.order.cuts[layer + 1])
        width, n = end - start, self.order.n
        if size == 0:
            return np.empty((0, width * self.columns), np.uint16)
        rows = np.frombuffer(self.map, np.uint16, size // 2, place)
        return rows.reshape(width, -1) if part == 0 else rows.reshape(n - end, width * self.columns)

    def _sum(self, layer: int, part: int) -> int:
        """Sum of a part of a layer; what it adds to the rows of the table goes into `sums`."""
        from bgfmt.solver.kernels import two_sided as kernels

        start, end = int(self.order.cuts[layer]), int(self.order.cuts[layer + 1])
        pieces = self._array(layer, part)
        columns = slice(start * self.columns, (end if part else self.order.n) * self.columns)
        rows = slice(end if part else start, (end if part else start) + len(pieces))
        sums = np.zeros(len(pieces), np.uint64)
        for low in range(0, len(pieces), SUMMED):
            kernels.add_up(pieces[low : low + SUMMED], self._by_place[columns], sums[low : low + SUMMED])
        self.sums[rows] += sums
        return int((sums * self._by_row[rows]).sum())

    def _entry(self, layer: int) -> Array:
        """The journal's entry for a layer as it stands."""
        entry = np.array([1, self._sum(layer, 0), self._sum(layer, 1), layer], np.uint64)
        entry[3] = (entry * weights(np.arange(4), np.uint64)).sum()
        return entry

    def _check(self) -> int:
        """Last finished layer; ScratchError where a finished one is not what its sums say."""
        finished = 0
        for layer in range(1, self.order.layers):
            if not self.journal[layer].any():
                break
            if not np.array_equal(self.journal[layer], self._entry(layer)):
                raise ScratchError(
                    self.path, "damaged", f"is damaged in layer {layer}; remove it to start anew"
                )
            self._let_go(layer)
            finished = layer
        return finished

    def _keep(self, layer: int) -> None:
        entry = self._entry(layer)
        system.sync_data(self.claim.fd)
        self.journal[layer] = entry
        self.map.flush(0, self._head)
        self._let_go(layer)

    def _let_go(self, layer: int) -> None:
        """Take a layer's pages out of this process; they stay in the system's cache."""
        begin = int(self.places[layer, 0])
        last = int(self.places[layer, 1] + self.sizes[layer, 1])
        size = min(-(-(last - begin) // PAGE) * PAGE, self.claim.size - begin)
        if size > 0:
            system.let_go(self.map, begin, size)


class Rows(NamedTuple):
    """Places first..last-1 of a layer: rows of the finished table to be put together."""

    layer: int
    first: int
    last: int


class Merge(Work[Rows]):
    """Rows of the finished table from the layers' pieces; `wrong` lists those that do not add up."""

    def __init__(
        self,
        order: PipOrder,
        columns: int,
        arrays: list[tuple[Array, Array]],
        flat: Array,
        by_number: Array,
        sums: Array,
    ) -> None:
        self.order, self.columns, self.arrays, self.flat = order, columns, arrays, flat
        self.by_number, self.sums = by_number, sums
        self.wrong: list[int] = []

    def make(self, block: Rows, /) -> None:
        """Put rows together, and hold each against its sum."""
        from bgfmt.solver.kernels import two_sided as kernels

        cuts, numbers, columns = self.order.cuts, self.order.numbers, self.columns
        layer, first, last = block
        own, start = numbers[first:last], int(cuts[layer])
        pieces = self.arrays[layer][0][first - start : last - start]
        kernels.spread(pieces, columns, numbers[start:], own, self.flat)
        for lower in range(1, layer):
            a, b = int(cuts[lower]), int(cuts[lower + 1])
            if b > a:
                pieces = self.arrays[lower][1][first - b : last - b]
                kernels.spread(pieces, columns, numbers[a:b], own, self.flat)
        for place in range(first, last):
            if kernels.weighted(self.flat[numbers[place]], self.by_number) != self.sums[place]:
                self.wrong.append(place)


def weights(numbers: Array, dtype: type[np.uint32 | np.uint64]) -> Array:
    """Odd numbers without pattern, the same on every machine: the end of splitmix64 over 0, 1, 2, ..."""
    x = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = (x ^ (x >> np.uint64(31))) >> np.uint64(64 - 8 * np.dtype(dtype).itemsize)
    return (x | np.uint64(1)).astype(dtype)
