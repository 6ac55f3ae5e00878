"""What the second level leaves out must be what one ply makes of the rest: the writer's check of every such record.

A record is in the strip of its row, what rebuilds it in the strip of its column. So both sides are summed row by row
as the strips come by, mixed with keys drawn anew each time: sums of 64 bits that agree for tables that differ would
be chance of about 2**-64.
"""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.formats.compressed.halves import LANES
from bgfmt.formats.compressed.order import sampled
from bgfmt.formats.compressed.plays import WEIGHTS, Plays
from bgfmt.storage import system
from bgfmt.tables import TwoSided

AT_ONCE = 64  # rows a task


class LeftOut:
    """The records of a table, `numbers` its positions by place, that are left out: compared with their rebuilding."""

    def __init__(self, table: TwoSided, numbers: NDArray[np.int64]) -> None:
        n, self._columns = table.positions, table.equities.shape[2]
        places = np.empty(n, np.int64)
        places[numbers] = np.arange(n)
        self._plays = Plays(table.points, table.chequers, numbers, places)
        self._keys = np.frombuffer(secrets.token_bytes(8 * n), np.uint64)
        self._sums = np.zeros((2, n), np.uint64)
        self._lock = threading.Lock()
        self._try_some(table, numbers, places)

    def _try_some(self, table: TwoSided, numbers: NDArray[np.int64], places: NDArray[np.int64]) -> None:
        """CapabilityError at once for a table of another recipe."""
        from bgfmt.formats.compressed import kernels_halves as kernels

        some = np.sort(places[sampled(len(numbers))])[1:]
        rows = [np.asarray(table.equities[int(numbers[p])])[numbers] for p in some]
        differ = tried = 0
        out = np.empty(self._columns, np.uint16)
        for a, u in enumerate(some.tolist()):
            wanted = kernels.wanted_by(u, self._plays.singles, self._plays.room)
            for b in range(a + 1, len(some)):
                kernels.folded(rows[b][wanted], self._plays.room, out)
                differ += not np.array_equal(out, rows[a][some[b]])
                tried += 1
        if differ:
            raise CapabilityError(_other_recipe(f"{differ} of {tried} records tried"))

    def add(self, strip: NDArray[np.uint16], first: int) -> None:
        """Rows at places first.., both sides by place."""
        from bgfmt.formats.compressed import kernels_halves as kernels

        columns = self._columns
        kernels.sum_stored(
            strip.view(np.uint64 if columns == 4 else np.uint16)[..., 0], first, self._keys, self._sums[0]
        )
        lists, many = self._plays.lists, LANES // columns

        def rebuilt(start: int) -> None:
            stop = min(len(strip), start + AT_ONCE)
            width = first + stop
            lines, values = np.zeros((width, LANES), np.int16), np.empty(width * columns, np.int16)
            at, sums = np.arange(width, dtype=np.int32), np.zeros(strip.shape[1], np.uint64)
            for low in range(start, stop, many):
                some = np.ascontiguousarray(strip[low : min(stop, low + many), :width])
                kernels.tile_of(some, lines, values)
                kernels.sum_rebuilt(
                    lines, at, *lists, WEIGHTS, first + low, len(some), columns, self._keys, sums
                )
            with self._lock:
                self._sums[1] += sums

        with ThreadPoolExecutor(system.cores()) as pool:
            list(pool.map(rebuilt, range(0, len(strip), AT_ONCE)))

    def check(self) -> None:
        """CapabilityError where a record that was left out is not what one ply makes of the rest."""
        differ = int((self._sums[0] != self._sums[1]).sum())
        if differ:
            raise CapabilityError(_other_recipe(f"records of {differ} of {len(self._keys)} sides"))


def _other_recipe(what: Any) -> str:
    return f"level 2 of bgfmt-ts holds tables of gnubg's recipe alone: one ply does not rebuild {what}"
