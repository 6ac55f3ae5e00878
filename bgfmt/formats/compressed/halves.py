"""The second level: of each pair of sides the record of the stronger one on roll is left out, and rebuilt by one ply.

Positions are in order of strength. A record (u, t) follows from those of t on roll against what u's rolls lead to,
(t, u'); of these a play that pays goes to a place before u. So where u stands before t, and the plays that go to a
place before u suffice, all that is needed is in the file, in the one row of t.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bgfmt.errors import CorruptError
from bgfmt.formats.compressed.layout import Directory, Shape
from bgfmt.formats.compressed.plays import Plays
from bgfmt.formats.compressed.reading import Numbers, Packed, Records
from bgfmt.game.results import WEIGHTS
from bgfmt.storage import Source, system

LANES = 64  # int16 numbers side by side
ROWS = 256  # against which records are rebuilt at once, by each thread
MOST_AHEAD = 3 << 29  # bytes of rows made at once: each time half of the table is decoded
ONE, EACH, DECODED = 60e-6, 3e-8, 4e-8  # seconds to rebuild a record alone, or among many; to decode one


class Halves(Packed):
    """A file of the second level; as `Packed`."""

    def __init__(self, source: Source, offset: int, shape: Shape, directory: Directory) -> None:
        super().__init__(source, offset, shape, directory)
        self.plays = Plays(shape.points, shape.chequers, directory.order, self.places)

    # -- records -----------------------------------------------------------------------------------------

    def record(self, us: int, them: int) -> Records:
        u, t = self.places.item(us), self.places.item(them)
        if u >= t:
            return super().record(us, them)
        found: Records = self._rebuilt(np.array([u]), np.array([t]))[0]
        return found

    def records(self, us: Numbers, them: Numbers) -> Records:
        ours, theirs = self.places[us], self.places[them]
        kept = ours >= theirs
        if kept.all():
            return super().records(us, them)
        out = np.empty((len(us), self.shape.columns), np.uint16)
        if kept.any():
            out[kept] = super().records(us[kept], them[kept])
        out[~kept] = self._rebuilt(ours[~kept], theirs[~kept])
        return out

    def _rebuilt(self, ours: Numbers, theirs: Numbers) -> Records:
        """Records of pairs of places, each of `ours` before that of `theirs`."""
        from bgfmt.formats.compressed import kernels_halves as kernels

        out = np.empty((len(ours), self.shape.columns), np.uint16)
        out[ours == 0] = 65535
        order = np.flatnonzero(ours)
        if len(order) > 1:
            order = order[np.lexsort((ours[order], theirs[order]))]
        us, ts = ours[order], theirs[order]
        for g in np.unique(self._group[ts]).tolist():
            self._need(g)
        if self._mapped is None:
            for i, u, t in zip(order.tolist(), us.tolist(), ts.tolist(), strict=True):
                kernels.folded(self._wanted(u, t), self.plays.room, out[i])
            return out
        made = np.empty((len(us), self.shape.columns), np.uint16)
        bad = kernels.rebuilt(self._file(), self.plays.singles, self.plays.room, us, ts, 0, made)
        if bad >= 0:
            self._wanted(int(us[bad]), int(ts[bad]))  # says what is wrong, if it is not within a block
            raise self._bad_blocks(int(self._begins[ts[bad] * self.shape.groups + self._group[ts[bad]]]))
        out[order] = made
        return out

    def _wanted(self, u: int, t: int) -> Records:
        """What the record of places (u, t) follows from, for `kernels.folded`."""
        from bgfmt.formats.compressed import kernels_halves as kernels

        order = self.directory.order
        wanted = kernels.wanted_by(u, self.plays.singles, self.plays.room)
        if not len(wanted):
            raise self._bad_order()
        return super().records(np.full(len(wanted), order[t]), order[wanted])

    def _bad_order(self) -> CorruptError:
        at = self.offset + self.shape.order_at
        return CorruptError(
            self.source.name, at, "an order in which every roll leads to an earlier place", "another"
        )

    def _file(self) -> Any:
        from bgfmt.formats.compressed import kernels_halves as kernels

        return kernels.File(
            self._mapped, self._group, self.edges, self._begins, self._beside, self._factors, self._parts,
            self._weights, self.slots, self.shifts, self._rows_sound, self._beside_sound, self.shape.block,
        )  # fmt: skip

    # -- rows --------------------------------------------------------------------------------------------

    def ahead(self, size: int) -> int:
        return max(1, MOST_AHEAD // size)

    def _made(self, places: Numbers, into: Numbers, first: int, last: int, target: Numbers) -> Records:
        out = super()._made(places, into, first, last, target)
        self._fill(places, into, first, last, target, out)
        return out

    def _fill(
        self, places: Numbers, into: Numbers, first: int, last: int, target: Numbers, out: Records
    ) -> None:
        """Records of rows at ascending `places` that were left out, as `_made` has them."""
        begin = max(first, int(places[0]) + 1)
        if begin >= last:
            return
        decoded = int(np.minimum(np.arange(begin, last), places[-1]).sum()) * DECODED
        pairs = int((last - np.maximum(places + 1, begin)).clip(0).sum())
        if pairs * (ONE - EACH) < decoded:
            for i, place in enumerate(places.tolist()):
                ts = np.arange(max(begin, place + 1), last)
                ts = ts[target[ts] >= 0]
                out[into[i], target[ts]] = self._rebuilt(np.full(len(ts), place), ts)
            return
        flat = out.view(np.uint64 if self.shape.columns == 4 else np.uint16)[..., 0]
        parts = [(t, min(last, t + ROWS)) for t in range(begin, last, ROWS)]
        lists = self.plays.lists
        if lists is None:
            raise self._bad_order()
        with ThreadPoolExecutor(system.cores()) as pool:
            list(pool.map(lambda part: self._against(places, into, part, target, lists, flat), parts))

    def _against(
        self, places: Numbers, into: Numbers, part: tuple[int, int], target: Numbers, lists: Any, flat: Any
    ) -> None:
        """The part of `_fill` of the columns at places part[0]..part[1]-1."""
        from bgfmt.formats.compressed import kernels_rebuilding as kernels

        (first, last), columns = part, self.shape.columns
        here = int(np.searchsorted(places, last - 1))  # those before the last of these places
        if not here:
            return
        width = int(places[here - 1]) or 1  # what is needed stands before the last of them
        rows = self.held(np.arange(first, last), 0, width)
        many, (ends, results) = LANES // columns, lists
        lines, values = np.zeros((width, LANES), np.int16), np.empty(width * columns, np.int16)
        at = np.arange(width, dtype=np.int32)
        for start in range(first, last, many):
            some = rows[start - first : start - first + many]
            kernels.tile_of(some, lines, values)
            kernels.against(
                lines,
                at,
                ends,
                results,
                WEIGHTS,
                places[:here],
                start,
                len(some),
                columns,
                into,
                target,
                flat,
            )
