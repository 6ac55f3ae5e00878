"""A two-sided table as tiles that can be made anywhere: what each needs, what it gives, and the bytes of both.

Both sides are put in order of pips and cut into groups of `side` places. The tile (i, j), i <= j, is all pairs of
group i with group j, either side on roll; docs/cluster.md says what it needs. Squares are stored in chunks of `chunk`
places a side; what is needed is read in whole chunks.

>>> grid = grid_of(6, 5, columns=4, side=64, chunk=32)
>>> grid.size, len(grid.tiles()), grid.needs((1, 2))[0]
(8, 36, Strip(row=2, low=0, high=64))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bgfmt.solver.layers import REACH, Array, layer_cuts

Tile = tuple[int, int]
NUMBER = 2  # bytes
WORK_BYTES = 180_000_000  # a worker's interpreter, libraries and code; compiling, once, takes as much again
GROUPS = 128  # beyond, reading takes more time than workers that wait
CHUNKS_A_SIDE = 500  # a store of more chunks than this squared gets larger ones
SMALLEST_CHUNK, MOST_CHUNK = 128, 2048


class Strip(NamedTuple):
    """Sides of group `row` on roll against places low..high-1."""

    row: int
    low: int
    high: int


@dataclass(frozen=True)
class TileGrid:
    """The tiles of a table of `columns` numbers a pair: `cuts` of its pip layers, `side` and `chunk` in places."""

    points: int
    chequers: int
    columns: int
    cuts: Array
    side: int
    chunk: int

    @property
    def n(self) -> int:
        """Positions of a side."""
        return int(self.cuts[-1])

    @property
    def size(self) -> int:
        """Groups."""
        return -(-self.n // self.side)

    @property
    def chunks(self) -> int:
        """Chunks along a side of the table."""
        return -(-self.n // self.chunk)

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a stored chunk, its checksum included; those at the edges are filled up."""
        return self.chunk * self.chunk * self.columns * NUMBER + 4

    def tiles(self) -> list[Tile]:
        """All tiles, in an order in which each stands behind what it needs, those that others wait for first."""
        found = [(i, j) for i in range(self.size) for j in range(i, self.size)]
        return sorted(found, key=lambda tile: (tile[0] + tile[1], tile[1] - tile[0]))

    def after(self, tile: Tile) -> list[Tile]:
        """The tiles that must be finished: its left and upper neighbours, which stand behind all others it needs."""
        i, j = tile
        return [(a, b) for a, b in ((i - 1, j), (i, j - 1)) if 0 <= a <= b]

    def group(self, i: int) -> tuple[int, int]:
        """Places of a group, first and past the last."""
        return i * self.side, min(self.n, (i + 1) * self.side)

    def layers(self, i: int) -> list[tuple[int, int]]:
        """The pip layers of a group, as far as they lie in it: places, first and past the last."""
        low, high = self.group(i)
        inner = self.cuts[(self.cuts > low) & (self.cuts < high)].tolist()
        edges = [low, *inner, high]
        return list(pairwise(edges))

    def window(self, i: int) -> int:
        """The first place that a play from group i may lead to, down to a whole chunk."""
        return int(self._windows[i])

    @cached_property
    def starts(self) -> Array:
        """The first place of each group and, last, the number of positions."""
        return np.append(np.arange(self.size) * self.side, self.n)

    @cached_property
    def _windows(self) -> Array:
        layer = np.searchsorted(self.cuts, self.starts[:-1], side="right") - 1
        first: Array = self.cuts[np.maximum(0, layer - REACH)] // self.chunk * self.chunk
        return first

    def needs(self, tile: Tile) -> list[Strip]:
        """What the tile reads of finished tiles."""
        i, j = tile
        strips = [Strip(j, self.window(i), self.group(i)[0])]
        return strips if i == j else [*strips, Strip(i, self.window(j), self.group(j)[0])]

    def gives(self, tile: Tile) -> list[Strip]:
        """What it writes."""
        i, j = tile
        strips = [Strip(i, *self.group(j))]
        return strips if i == j else [*strips, Strip(j, *self.group(i))]

    def chunks_of(self, strip: Strip) -> list[tuple[int, int]]:
        """(row, column) of the chunks of a strip."""
        rows, columns = (
            range(low // self.chunk, -(-high // self.chunk))
            for low, high in (self.group(strip.row), (strip.low, strip.high))
        )
        return [(a, b) for a in rows for b in columns]

    def pairs(self, tile: Tile) -> int:
        """Pairs of a tile."""
        (a, b), (c, d) = self.group(tile[0]), self.group(tile[1])
        return (b - a) * (d - c) * (1 if tile[0] == tile[1] else 2)

    @cached_property
    def spans(self) -> tuple[Array, Array]:
        """(chunk rows of each group, chunk columns of its window): a tile reads rows of one times columns of the
        other, and the other way round."""
        low, high = self.starts[:-1], self.starts[1:]
        return -(-high // self.chunk) - low // self.chunk, (low - self._windows) // self.chunk

    @property
    def moved(self) -> tuple[int, int]:
        """Bytes (read, written) of the store when every tile is made once: the sum over all pairs of groups is that
        of all rows times that of all windows."""
        rows, windows = self.spans
        return int(rows.sum() * windows.sum()) * self.chunk_bytes, self.chunks**2 * self.chunk_bytes

    @cached_property
    def memory(self) -> int:
        """Bytes of memory that making a tile takes at most, beside the interpreter and the list of plays: the turned
        values of one group and the records of the other against a window, a layer's turned values, and the tile."""
        span, wide = int((self.starts[1:] - self._windows).max()), int(np.diff(self.starts).max())
        layer = int(np.diff(self.cuts).max())
        places = (2 * wide + min(layer, wide) + 64) * span + (2 if self.size > 1 else 1) * wide**2
        return places * self.columns * NUMBER + 2 * self.chunk_bytes


def grid_of(
    points: int,
    chequers: int,
    *,
    columns: int,
    workers: int = 2,
    memory: int | None = None,
    side: int | None = None,
    chunk: int | None = None,
) -> TileGrid:
    """The grid for `workers` workers of `memory` each (bytes; None: what the side takes).

    Small tiles keep many workers busy, large ones read less: without `side` there are four groups for each worker, at
    most `GROUPS`, or more where the memory asks for it.
    """
    cuts = layer_cuts(points, chequers)
    n = int(cuts[-1])
    if chunk is None:
        chunk = _chunk_for(n)
    if side is not None:
        return TileGrid(points, chequers, columns, cuts, side, chunk)
    for chunks in range(-(-n // (min(4 * workers, GROUPS) * chunk)), 0, -1):
        grid = TileGrid(points, chequers, columns, cuts, chunks * chunk, chunk)
        if memory is None or grid.memory <= memory:
            break
    return grid


def _chunk_for(n: int) -> int:
    """Places along a side of a chunk: a power of two, for a few thousand chunks at most a side."""
    chunk = SMALLEST_CHUNK if n < 2048 else 256 if n < 8192 else 512
    while n // chunk > CHUNKS_A_SIDE and chunk < MOST_CHUNK:
        chunk *= 2
    return chunk
