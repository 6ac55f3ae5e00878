"""Where the rows of the turned table lie while a two-sided table is solved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.solver.layers import REACH

Array = NDArray[Any]
ALIGN = 32  # int16 values in a cache line


class Pool:
    """One flat array of int16 used in rings of layers, oldest first out: its plan, made beforehand.

    planes : values in a plane of a layer's rows, rounded up to whole cache lines; offsets : where each layer begins;
    size : values in all.
    """

    def __init__(self, cuts: Array, columns: int) -> None:
        n, layers = int(cuts[-1]), len(cuts) - 1
        widths, lengths = np.diff(cuts), n - cuts[1:]
        self.planes = (lengths + ALIGN - 1) // ALIGN * ALIGN
        sizes = widths * self.planes * columns
        self.offsets = np.zeros(layers, np.int64)
        live: list[tuple[int, int]] = []  # (offset, end) of the layers still needed, oldest first
        self.size = 1
        for layer in range(layers):
            live = live[-REACH:] if layer >= REACH else live
            self.offsets[layer] = self._place(live, int(sizes[layer]))
            live.append((int(self.offsets[layer]), int(self.offsets[layer] + sizes[layer])))
            self.size = max(self.size, live[-1][1])

    @staticmethod
    def _place(live: list[tuple[int, int]], size: int) -> int:
        """Lowest offset at which `size` values fit between the layers still needed."""
        at = 0
        for begin, end in sorted(live):
            if begin - at >= size:
                return at
            at = max(at, end)
        return at
