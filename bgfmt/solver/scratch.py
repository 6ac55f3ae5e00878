"""The scratch file of a large two-sided solve: finished layers with checksums, from which an ended run goes on.

offset  content
0       one line of JSON that names the table, padded with blanks to 4096 bytes
4096    journal, 16 bytes a layer: 1 when finished, CRC-32 of its rows, of its strips, of these 12 bytes
...     for each layer from 1 on: rows, the records (u, t) of u in the layer and t from the layer on; then strips,
        the records (u, t) of t in the layer and u beyond it; uint16, places in pip order

A layer is entered in the journal once its data is on the disk, so a run can be killed at any moment.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.solver.layers import REACH, PipOrder

if TYPE_CHECKING:
    from bgfmt.solver.two_sided import Solve

Array = NDArray[Any]
HEAD = 4096
PAGE = 4096
CHUNK = 16  # rows merged together: few enough to stay in the processor's cache
CRC_STEP = 64 << 20


class Scratch:
    """An open scratch file; a context manager. `finished` is the last layer of an unbroken run from 1."""

    def __init__(self, path: Path, order: PipOrder, columns: int, *, resume: bool) -> None:
        self.path, self.order, self.columns = path, order, columns
        cuts, n = order.cuts, order.n
        widths = np.diff(cuts)
        rows = widths * (n - cuts[:-1]) * columns * 2
        strips = widths * (n - cuts[1:]) * columns * 2
        rows[0] = strips[0] = 0  # the side that is off has won: nothing to keep
        journal = -(-16 * order.layers // PAGE) * PAGE
        sizes = np.stack([rows, strips], axis=1).reshape(-1)
        padded = (sizes + PAGE - 1) // PAGE * PAGE
        ends = HEAD + journal + np.cumsum(padded)
        self.places = (ends - padded).reshape(-1, 2)
        self.sizes = sizes.reshape(-1, 2)
        self.total = int(ends[-1])
        named = {
            "bgfmt scratch": 1,
            "points": order.points,
            "chequers": order.chequers,
            "columns": columns,
            "bytes": self.total,
        }
        self.head = json.dumps(named).encode().ljust(HEAD - 1) + b"\n"
        fresh = not (resume and path.exists())
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | (os.O_TRUNC if fresh else 0), 0o600)
        try:
            if fresh:
                os.ftruncate(self.fd, self.total)
                os.pwrite(self.fd, self.head, 0)
            elif os.fstat(self.fd).st_size != self.total or os.pread(self.fd, HEAD, 0) != self.head:
                raise SolverError(f"{path}: not the scratch file of this table; remove it to start anew")
            self.map = mmap.mmap(self.fd, self.total)
        except BaseException:
            os.close(self.fd)
            raise
        self.journal = np.frombuffer(self.map, "<u4", 4 * order.layers, HEAD).reshape(-1, 4)
        self.keeper = ThreadPoolExecutor(1)
        self.pending: list[Future[None]] = []
        self.finished = 0
        try:
            self.finished = self._check()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self.keeper.shutdown(wait=True, cancel_futures=True)
        os.close(self.fd)

    def _array(self, layer: int, part: int) -> Array:
        place, size = int(self.places[layer, part]), int(self.sizes[layer, part])
        start, end = int(self.order.cuts[layer]), int(self.order.cuts[layer + 1])
        width, n = end - start, self.order.n
        if size == 0:
            return np.empty((0, width * self.columns), np.uint16)
        rows = np.frombuffer(self.map, np.uint16, size // 2, place)
        return rows.reshape(width, -1) if part == 0 else rows.reshape(n - end, width * self.columns)

    def _sum(self, layer: int, part: int) -> int:
        place, size = int(self.places[layer, part]), int(self.sizes[layer, part])
        crc, view = 0, memoryview(self.map)
        for at in range(place, place + size, CRC_STEP):
            crc = zlib.crc32(view[at : min(at + CRC_STEP, place + size)], crc)
        return crc

    def _entry(self, layer: int, rows: int, strips: int) -> list[int]:
        body = np.array([1, rows, strips], "<u4").tobytes()
        return [1, rows, strips, zlib.crc32(body, layer)]

    def _check(self) -> int:
        """Last finished layer; SolverError where a finished one is not what its checksums say."""
        finished = 0
        for layer in range(1, self.order.layers):
            kept = self.journal[layer].tolist()
            if kept == [0, 0, 0, 0]:
                break
            if kept != self._entry(layer, self._sum(layer, 0), self._sum(layer, 1)):
                raise SolverError(f"{self.path}: damaged in layer {layer}; remove it to start anew")
            self._let_go(layer)
            finished = layer
        return finished

    def open_layer(self, layer: int) -> tuple[Array, Array]:
        """Rows (width, (n - start) * columns) and strips (n - end, width * columns) to fill, uint16."""
        while len(self.pending) > 1:
            self.pending.pop(0).result()
        return self._array(layer, 0), self._array(layer, 1)

    def close_layer(self, layer: int) -> None:
        """Sum, sync and enter a filled layer, behind the solver's back."""
        self.pending.append(self.keeper.submit(self._keep, layer))

    def _keep(self, layer: int) -> None:
        sums = self._sum(layer, 0), self._sum(layer, 1)
        os.fdatasync(self.fd)
        self.journal[layer] = self._entry(layer, *sums)
        self.map.flush(0, HEAD + -(-16 * self.order.layers // PAGE) * PAGE)
        self._let_go(layer)

    def _let_go(self, layer: int) -> None:
        """Take a layer's pages out of this process; they stay in the system's cache."""
        begin = int(self.places[layer, 0])
        last = int(self.places[layer, 1] + self.sizes[layer, 1])
        size = min(-(-(last - begin) // PAGE) * PAGE, self.total - begin)
        if size > 0 and hasattr(self.map, "madvise"):
            self.map.madvise(mmap.MADV_DONTNEED, begin, size)

    def refill(self, solve: Solve) -> None:
        """Rows of the turned table again, of the last finished layers."""
        from bgfmt.solver.kernels import two_sided as kernels

        cuts, n = self.order.cuts, self.order.n
        for layer in range(max(1, self.finished - REACH + 1), self.finished + 1):
            start, end = int(cuts[layer]), int(cuts[layer + 1])
            if end > start:
                kernels.refill(
                    start, end, end, n, self.columns, self._array(layer, 1), solve.pool, solve.base, solve.plane,
                    solve.begins,
                )  # fmt: skip
                self._let_go(layer)

    def merge(self, flat: Array, workers: ThreadPoolExecutor, merged: Callable[[int], None]) -> None:
        """Every record from the file to its place in the table; tells `merged` how many rows are done."""
        from bgfmt.solver.kernels import two_sided as kernels

        for job in self.pending:
            job.result()
        cuts, numbers, columns = self.order.cuts, self.order.numbers, self.columns
        arrays = [(self._array(k, 0), self._array(k, 1)) for k in range(self.order.layers)]

        def rows(layer: int, first: int, last: int) -> None:
            start = int(cuts[layer])
            own = numbers[first:last]
            kernels.spread(
                arrays[layer][0][first - start : last - start], columns, numbers[start:], own, flat
            )
            for lower in range(1, layer):
                a, b = int(cuts[lower]), int(cuts[lower + 1])
                if b > a:
                    kernels.spread(arrays[lower][1][first - b : last - b], columns, numbers[a:b], own, flat)

        for layer in range(1, self.order.layers):
            start, end = int(cuts[layer]), int(cuts[layer + 1])
            jobs = [
                workers.submit(rows, layer, low, min(low + CHUNK, end)) for low in range(start, end, CHUNK)
            ]
            wait(jobs)
            for job in jobs:
                job.result()
            if hasattr(self.map, "madvise"):
                self.map.madvise(mmap.MADV_DONTNEED)
            merged(end)
