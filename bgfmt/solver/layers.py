"""Pip layers of a board, results of each position's rolls, and the memory layout of a two-sided solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board, results

__all__ = ["REACH", "SINGLE", "Array", "PipOrder", "Pool", "Stakes", "layer_cuts", "pip_order"]


Array = NDArray[Any]
REACH = 24  # the most pips of a roll
LARGE_SIDE_POSITIONS = 4000  # larger sides have blocks of 128 numbers instead of 64


@dataclass(frozen=True)
class PipOrder:
    """All positions of a board in order of pips ("places"), with the results of their rolls.

    Attributes
    ----------
    points, chequers : size of the board.
    numbers : (n,) int64, position number of each place.
    cuts : first place of each pip layer and, last, n.
    ends, results : (n * 21 + 1,) int64 and int32; the results of roll r of place x are
        results[ends[21 x + r] : ends[21 x + r + 1]], never empty except for x = 0.
    """

    points: int
    chequers: int
    numbers: Array
    cuts: Array
    ends: Array
    results: Array

    @property
    def n(self) -> int:
        """Number of positions of one side."""
        return len(self.numbers)

    @property
    def layers(self) -> int:
        """Number of pip counts that a side can have, 0 included; a layer is all positions of one pip count."""
        return len(self.cuts) - 1


def layer_cuts(points: int, chequers: int) -> Array:
    """Return how many positions of one side have fewer than 0, 1, 2, ... pips and, last, the number of all.

    This needs no compiled code.
    """
    ways = np.zeros((chequers + 1, points * chequers + 1), np.int64)
    ways[0, 0] = 1
    for point in range(1, points + 1):
        for c in range(1, chequers + 1):  # in place: any number of chequers on this point
            ways[c, point:] += ways[c - 1, :-point]
    return np.concatenate([[0], np.cumsum(ways.sum(axis=0))])


def pip_order(points: int, chequers: int) -> PipOrder:
    """Return all positions of one side by rising pips, then position number, with the results of every roll."""
    numbers = board.order_by_pips(points, chequers)
    ends, found = results.build_roll_results(results.build_single_moves(points, numbers, np.argsort(numbers)))
    return PipOrder(points, chequers, numbers, layer_cuts(points, chequers), ends, found)


class Stakes(NamedTuple):
    """Values of the games of a two-sided table.

    gammons : a side that loses with all fifteen chequers loses two points, and 16383 stands for an equity of 1
    instead of 32767.5. jacoby : gammons count only once the cube is turned.
    """

    gammons: bool = False
    jacoby: bool = False

    def finished_records(self, order: PipOrder, columns: int) -> tuple[Array, Array]:
        """Return the records of finished games, two arrays (n, columns) uint16 by the place of a side in `order`.

        In the first the side on roll has borne off and won against that side; in the second that side is on roll and
        has lost.
        """
        if not self.gammons:
            won = np.full((order.n, columns), 0xFFFF, np.uint16)
            return won, ~won
        full = board.unrank_array(order.numbers, order.points).sum(axis=1) == board.MAX_CHEQUERS
        units = np.repeat(16383 * (1 + full[:, None]), columns, axis=1)
        if self.jacoby and columns == 4:
            units[:, 2] = 16383
        return (32768 + units).astype(np.uint16), (32768 - units).astype(np.uint16)


SINGLE = Stakes()  # every game is worth one point


class Pool:
    """Plan of a working array: lines of `lanes` int16, each the values of a block of sides against one place.

    The values are those of the side that moved there (negated, with the opponent's best cube action). Layers are cut
    into blocks of at most `side` places. Lines of a layer against the blocks of higher layers lie together, block by
    block, in a ring of layers from which the oldest are removed. Lines of the layer being solved lie behind the ring.

    Attributes
    ----------
    starts : (blocks + 1,) first place of each block.
    first : (layers + 1,) first block of each layer.
    offsets : (layers,) first line of each layer in the ring.
    own : first line of the layer being solved, against itself and all higher places.
    lines : number of lines.
    """

    def __init__(self, cuts: Array, columns: int) -> None:
        n = int(cuts[-1])
        layers = len(cuts) - 1
        self.lanes = 128 if n > LARGE_SIDE_POSITIONS else 64
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
        """Size of the working array in bytes."""
        return self.lines * self.lanes * 2

    @staticmethod
    def _place(live: list[tuple[int, int]], size: int) -> int:
        """Return the lowest offset at which `size` lines fit between the layers that are still needed."""
        at = 0
        for begin, end in sorted(live):
            if begin - at >= size:
                return at
            at = max(at, end)
        return at
