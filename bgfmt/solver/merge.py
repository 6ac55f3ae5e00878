"""Rows of a finished table from the pieces in a scratch file, each held against the sum taken while solving."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.solver.pairs import record_type
from bgfmt.solver.scratch import Scratch
from bgfmt.storage import system
from bgfmt.storage.sink import Sink

Array = NDArray[Any]
TOGETHER = 16  # rows: few enough to stay in the processor's cache


class Merge:
    """The table (n, n * columns) uint16 that lies in `sink`, put together row by row."""

    def __init__(self, kept: Scratch, flat: Array, sink: Sink) -> None:
        self.kept, self.flat, self.sink = kept, flat, sink
        self.type = record_type(kept.columns)
        self.records = np.frombuffer(kept.map, self.type)
        self._wrong: list[int] = []

    def ahead(self, layer: int) -> None:
        """Have the pieces that lower layers hold of a layer's rows read ahead: they were written long before."""
        kept = self.kept
        rows = int(kept.order.cuts[layer + 1] - kept.order.cuts[layer])
        pieces, widths = self._pieces(layer)
        for block in range(int(kept.pool.first[1]), int(kept.pool.first[layer])):
            system.will_need(kept.map, 2 * int(pieces[block]), 2 * rows * int(widths[block]))

    def _pieces(self, layer: int) -> tuple[Array, Array]:
        """Where the records of the layer's first side against each block begin, and how many numbers they are."""
        pool, start = self.kept.pool, int(self.kept.order.cuts[layer])
        blocks = np.arange(len(pool.starts) - 1)
        pieces = np.zeros(len(blocks), np.int64)
        for lower in range(1, layer + 1):
            ts = slice(pool.first[lower], pool.first[lower + 1] if lower < layer else None)
            pieces[ts] = self.kept.place(lower, blocks[ts], start)
        return pieces, np.diff(pool.starts) * self.kept.columns

    def rows(self, layer: int) -> list[Callable[[], None]]:
        """Calls, in any order, that put the rows of a layer together once all its `across` records are there."""
        if layer == 0:
            return [self._terminal]
        start, end = (int(at) for at in self.kept.order.cuts[layer : layer + 2])
        pieces, widths = self._pieces(layer)
        return [
            partial(self._put, low, min(low + TOGETHER, end), pieces + (low - start) * widths)
            for low in range(start, end, TOGETHER)
        ]

    def finish(self) -> None:
        """After the calls for a layer: SolverError where what was merged is not what was solved."""
        system.let_go(self.kept.map)
        if not self._wrong:
            return
        kept, row = self.kept, min(self._wrong)
        kept.wait()
        kept.sums[:] = 0
        kept.check()  # names the layer that is damaged there
        raise SolverError(
            f"position {kept.order.numbers[row]:,} of the table does not add up to what was solved; "
            f"{kept.path} is sound, so try again"
        )

    def _terminal(self) -> None:
        self.sink.put(self.flat[0], np.full(self.flat.shape[1], 0xFFFF, np.uint16))

    def _put(self, first: int, past: int, pieces: Array) -> None:
        from bgfmt.solver.kernels import scratch as kernels

        kept, order = self.kept, self.kept.order
        rows = np.zeros((past - first, order.n), self.type)  # against a side that is off all is lost
        record = np.dtype(self.type).itemsize // 2
        kernels.gather(
            self.records, pieces // record, kept.pool.first[1], kept.pool.starts, order.numbers, rows
        )
        for place, row in zip(range(first, past), rows, strict=True):
            there = self.flat[order.numbers[place]]
            self.sink.put(there, row.view(np.uint16))
            if kernels.weighted(self.sink.got(there), kept.by_number) != kept.sums[place]:
                self._wrong.append(place)
