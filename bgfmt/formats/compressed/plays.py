"""What every roll makes of every position, by their places in a file: as far as that stands before it."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board

Array = NDArray[Any]
HOME = 6
WEIGHTS = np.array([1 if a == b else 2 for a in range(6) for b in range(a + 1)], np.int32)
MOST_RESULTS = 1 << 15  # of the 21 rolls of a position of at most 12 points, with room to spare


class Singles(NamedTuple):
    """Results of one chequer moved: of die d and place x, results[d - 1, starts[d - 1, x] : starts[d - 1, x + 1]]."""

    starts: Any
    results: Any


class Room(NamedTuple):
    """What a thread needs to find the results of one position; `seen` and `slot` have a number for each place."""

    seen: Any
    slot: Any
    ends: Any
    found: Any
    one: Any
    two: Any


class Plays:
    """The plays of a board, positions by their place: `order` are the position numbers, `places` the reverse."""

    def __init__(self, points: int, chequers: int, order: Array, places: Array) -> None:
        self._size, self._order, self._places = (points, chequers), order, places
        self._local = threading.local()

    @cached_property
    def singles(self) -> Singles:
        """What one die makes of every position."""
        from bgfmt.game import kernels_results as kernels

        points, n = self._size[0], len(self._order)
        counts = board.unrank_array(self._order, points)
        found = Singles(np.zeros((6, n + 1), np.int64), np.zeros((6, n * points), np.int32))
        terms = np.array(board.number_terms(points))
        kernels.single_moves(counts, terms, self._places, points, HOME, *found)
        return found

    @property
    def room(self) -> Room:
        """This thread's."""
        found: Room | None = getattr(self._local, "room", None)
        if found is None:
            n = len(self._order)
            lists = [np.empty(MOST_RESULTS, np.int32) for _ in range(3)]
            found = Room(np.zeros(n + 1, np.int64), np.zeros(n, np.int32), np.zeros(22, np.int64), *lists)
            self._local.room = found
        return found

    @cached_property
    def lists(self) -> tuple[Array, Array] | None:
        """(ends, results): results[ends[21 u + r] : ends[21 u + r + 1]] are the places before u that roll r leads to.

        None where some roll leads to none.
        """
        from bgfmt.formats.compressed.kernels_halves import keep_earlier
        from bgfmt.game import kernels_results as kernels

        n, step = len(self._order), 512
        ends, pieces, room = np.zeros(21 * n + 1, np.int64), [], np.empty(1 << 20, np.int32)
        seen = np.zeros(n + 1, np.int64)
        first = total = 0
        while first < n:
            last = min(n, first + step)
            part = np.empty(21 * (last - first), np.int64)
            many = kernels.roll_results(*self.singles, first, last, part, room, seen)
            if many < 0:
                step, room = max(1, step // 2), np.empty(2 * len(room), np.int32)
                continue
            ends[21 * first + 1 : 21 * last + 1] = part + total
            pieces.append(room[:many].copy())
            total, first = total + many, last
        results = np.concatenate(pieces)
        return (ends, results[: ends[-1]].copy()) if keep_earlier(0, n, ends, results) else None
