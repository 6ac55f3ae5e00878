"""What the second level leaves out must be what one ply makes of the rest: the writer's check of every such record.

A record is in one row, what rebuilds it in another. So both sides are summed row by row as the rows come by, mixed
with keys drawn anew each time: sums of 64 bits that agree for tables that differ would be chance of about 2**-64.
"""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.formats.compressed.halves import LANES
from bgfmt.formats.compressed.order import falling, sampled, strongest_first, weakness
from bgfmt.formats.compressed.plays import Plays
from bgfmt.game.results import WEIGHTS
from bgfmt.storage import system
from bgfmt.tables import TwoSided

ROWS = 256  # of the table, read at once
AT_ONCE = 64  # rows a task
Numbers = NDArray[np.int64]


def order_of(table: TwoSided) -> Numbers:
    """Position numbers by place, so that one ply rebuilds what is left out; CapabilityError where none is found.

    By strength it packs best, and all is rebuilt as long as no play that pays goes to a weaker position. Otherwise
    the order in which every play goes to an earlier place is tried.
    """
    weak = weakness(table.equities)
    differ = 0
    for numbers in (strongest_first(weak), falling(weak, table.points, table.chequers)):
        left_out = LeftOut(table, numbers)
        if left_out.lists is not None:
            differ = left_out.some() or left_out.all()
            if not differ:
                return numbers
    many = f"{differ:,} of {table.positions:,} sides"
    raise CapabilityError(
        f"level 2 of bgfmt-ts holds tables of gnubg's recipe: one ply does not rebuild those of {many}"
    )


class LeftOut:
    """The records of a table, `numbers` its positions by place, that are left out: compared with their rebuilding."""

    def __init__(self, table: TwoSided, numbers: Numbers) -> None:
        n = table.positions
        self._table, self._numbers, self._places = table, numbers, np.empty(n, np.int64)
        self._places[numbers] = np.arange(n)
        self._plays = Plays(table.points, table.chequers, numbers, self._places)
        self.lists = self._plays.lists
        self._keys = np.frombuffer(secrets.token_bytes(8 * n), np.uint64)
        self._lock = threading.Lock()

    def _rows(self, first: int, last: int) -> NDArray[np.uint16]:
        """Rows at places first..last-1, both sides by place."""
        return np.asarray(self._table.equities[self._numbers[first:last]])[:, self._numbers]

    def some(self) -> int:
        """How many sides of a few have a record among them that is not what one ply makes: another recipe's table."""
        from bgfmt.formats.compressed import kernels_halves as kernels

        places = np.sort(self._places[sampled(len(self._numbers))])[1:]
        rows = np.concatenate(
            [self._rows(place, place + 1) for place in places.tolist()] or [self._rows(0, 0)]
        )
        differ, out = 0, np.empty(rows.shape[2], np.uint16)
        for a, u in enumerate(places.tolist()):
            wanted, bad = kernels.wanted_by(u, self._plays.singles, self._plays.room), False
            for b in range(a + 1, len(places)):
                kernels.folded(rows[b][wanted], self._plays.room, out)
                bad |= not np.array_equal(out, rows[a][places[b]])
            differ += bad
        return differ

    def all(self) -> int:
        """How many sides have a record that is not what one ply makes of the rest."""
        from bgfmt.formats.compressed import kernels_rebuilding as kernels

        n, columns = self._table.equities.shape[1:]
        assert self.lists is not None
        ends, results = self.lists
        sums, many = np.zeros((2, n), np.uint64), LANES // columns

        def rebuilt(rows: NDArray[np.uint16], first: int) -> None:
            width = first + len(rows)
            lines, values = np.zeros((width, LANES), np.int16), np.empty(width * columns, np.int16)
            at, mine = np.arange(width, dtype=np.int32), np.zeros(n, np.uint64)
            for low in range(0, len(rows), many):
                some = np.ascontiguousarray(rows[low : low + many, :width])
                kernels.tile_of(some, lines, values)
                kernels.sum_rebuilt(
                    lines, at, ends, results, WEIGHTS, first + low, len(some), columns, self._keys, mine
                )
            with self._lock:
                sums[1] += mine

        with ThreadPoolExecutor(system.cores()) as pool:
            for start in range(0, n, ROWS):
                rows = self._rows(start, min(n, start + ROWS))
                whole = rows.view(np.uint64 if columns == 4 else np.uint16)[..., 0]
                kernels.sum_stored(whole, start, self._keys, sums[0])
                parts = range(0, len(rows), AT_ONCE)
                list(pool.map(lambda low: rebuilt(rows[low : low + AT_ONCE], start + low), parts))  # noqa: B023
                if self._table.release is not None:
                    self._table.release()
        return int((sums[0] != sums[1]).sum())
