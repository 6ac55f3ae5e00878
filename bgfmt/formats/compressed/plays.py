"""What every roll makes of every position, by their places in a file: as far as that stands before it."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import results
from bgfmt.game.results import Singles

Array = NDArray[Any]
MOST_RESULTS = 1 << 15  # of the 21 rolls of a position of at most 12 points, with room to spare


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
        return results.singles(self._size[0], self._order, self._places)

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

        ends, found = results.of_rolls(self.singles)
        return (ends, found[: ends[-1]].copy()) if keep_earlier(0, len(self._order), ends, found) else None
