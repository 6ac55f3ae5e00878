"""Where the turned values lie while a two-sided table is solved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.solver.layers import REACH

Array = NDArray[Any]
LARGE = 4000  # positions of a side from which blocks are of 128 numbers instead of 64


class Pool:
    """Lines of `lanes` int16: the turned values of a block of sides against one place. The plan, made beforehand.

    Layers are cut into blocks of at most `side` places: starts (blocks + 1,) the first place of each, first (layers
    + 1,) the first block of each layer. Lines of a layer's places against the blocks of higher layers lie together,
    block by block, from offsets[layer] on, in a ring of layers, oldest first out. Those of the layer at hand against
    itself and all higher places lie behind the ring, from `own` on. `lines` in all.
    """

    def __init__(self, cuts: Array, columns: int) -> None:
        n, layers = int(cuts[-1]), len(cuts) - 1
        self.lanes = 128 if n > LARGE else 64
        self.side = self.lanes // columns
        self.first = np.zeros(layers + 1, np.int64)
        self.first[1:] = np.cumsum(-(-np.diff(cuts) // self.side))
        within = np.arange(self.first[-1]) - np.repeat(self.first[:-1], np.diff(self.first))
        starts = np.repeat(cuts[:-1], np.diff(self.first)) + within * self.side
        self.starts = np.append(starts, n)
        sizes = np.diff(cuts) * (self.first[-1] - self.first[1:])
        self.offsets = np.zeros(layers, np.int64)
        live: list[tuple[int, int]] = []  # (offset, end) of the layers still needed, oldest first
        self.own = 1
        for layer in range(layers):
            live = live[-REACH:] if layer >= REACH else live
            self.offsets[layer] = self._place(live, int(sizes[layer]))
            live.append((int(self.offsets[layer]), int(self.offsets[layer] + sizes[layer])))
            self.own = max(self.own, live[-1][1])
        self.lines = self.own + int((np.diff(self.first) * (n - cuts[:-1])).max())

    @property
    def bytes(self) -> int:
        """Bytes of all lines."""
        return self.lines * self.lanes * 2

    @staticmethod
    def _place(live: list[tuple[int, int]], size: int) -> int:
        """Lowest offset at which `size` lines fit between the layers still needed."""
        at = 0
        for begin, end in sorted(live):
            if begin - at >= size:
                return at
            at = max(at, end)
        return at
