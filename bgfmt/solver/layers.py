"""Pip layers of a board, what each position's rolls lead to, and where a two-sided solve keeps its turned values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board, results

Array = NDArray[Any]
REACH = 24  # the most pips a roll can spend
LARGE = 4000  # positions of a side from which blocks are of 128 numbers instead of 64


@dataclass(frozen=True)
class PipOrder:
    """All positions of a board in order of pips, and position number within them.

    numbers : (n,) int64, position number of each place; cuts : first place of each layer and, last, n.
    ends : (n * 21 + 1,) int64, results : int32; the results of roll r of place x are
    results[ends[21 x + r] : ends[21 x + r + 1]], never empty but for x = 0.
    """

    points: int
    chequers: int
    numbers: Array
    cuts: Array
    ends: Array
    results: Array

    @property
    def n(self) -> int:
        return len(self.numbers)

    @property
    def layers(self) -> int:
        return len(self.cuts) - 1


def layer_cuts(points: int, chequers: int) -> Array:
    """First place of each pip layer in pip order and, last, the number of positions; without any kernel."""
    ways = np.zeros((chequers + 1, points * chequers + 1), np.int64)
    ways[0, 0] = 1
    for point in range(1, points + 1):
        for c in range(1, chequers + 1):  # in place: any number of chequers on this point
            ways[c, point:] += ways[c - 1, :-point]
    return np.concatenate([[0], np.cumsum(ways.sum(axis=0))])


def pip_order(points: int, chequers: int) -> PipOrder:
    """The positions of `points` x `chequers` by pips, with every roll's results."""
    numbers = board.order_by_pips(points, chequers)
    ends, found = results.build_roll_results(results.build_single_moves(points, numbers, np.argsort(numbers)))
    return PipOrder(points, chequers, numbers, layer_cuts(points, chequers), ends, found)


class Stakes(NamedTuple):
    """What the games of a two-sided table are worth.

    gammons : who loses with all fifteen chequers loses two points, and 16383 is an equity of 1 instead of 32767.5.
    jacoby : but one while the cube is centered.
    """

    gammons: bool = False
    jacoby: bool = False

    def over(self, order: PipOrder, columns: int) -> tuple[Array, Array]:
        """Records of games that are over, (n, columns) uint16 by place: of a side on roll that has won against each
        side, and of each side on roll that has lost."""
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
    """Lines of `lanes` int16: the turned values of a block of sides against one place. The plan, made beforehand.

    Layers are cut into blocks of at most `side` places: starts (blocks + 1,) the first place of each, first (layers
    + 1,) the first block of each layer. Lines of a layer's places against the blocks of higher layers lie together,
    block by block, from offsets[layer] on, in a ring of layers, oldest first out. Those of the layer at hand against
    itself and all higher places lie behind the ring, from `own` on. `lines` in all.
    """

    def __init__(self, cuts: Array, columns: int) -> None:
        n = int(cuts[-1])
        layers = len(cuts) - 1
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
