"""The reader: records of a compressed file, made when asked for; what is touched is checked first, once."""

from __future__ import annotations

import threading
from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError
from bgfmt.formats.compressed import layout, model
from bgfmt.formats.compressed.layout import Directory, Shape, TileModel, crc, read_sealed
from bgfmt.storage import Source
from bgfmt.tables import LazyRows

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Records = NDArray[np.uint16]
#: rows of each group, and bytes, that are made at once where rows are read one behind the other
AHEAD = 160
LEAST_AHEAD = 96 << 20
MOST_AHEAD = 512 << 20
FEW = 64  # records that are asked for part by part where they come from a disk


class Reader:
    """A file of this format, parsed: its directory, its strips as they are needed, its row segments, checked.

    Tiles are counted strip by strip; places are those of the file's order; addresses count from the source's first
    byte.
    """

    def __init__(self, source: Source, offset: int, shape: Shape, directory: Directory) -> None:
        self.source = source
        self.offset = offset
        self.shape = shape
        self.directory = directory
        n = shape.positions
        groups = shape.groups
        self._edges = shape.edges()
        self.edges = np.array(self._edges, np.int64)
        self._widths = np.diff(self.edges)
        self.places = np.empty(n, np.int64)
        self.places[directory.order] = np.arange(n)
        self._slots = directory.classes.slots.reshape(-1)
        self._low_bits = directory.classes.shifts
        self._group = np.repeat(np.arange(groups, dtype=np.int64), self._widths)
        self._heads, self._known = np.zeros((2, groups), bool)  # strips whose head, whose index has been read
        #: where the segments of each row begin, tile by tile, and where the row ends
        self._begins = np.zeros((n, groups + 1), np.int64)
        self._entries = np.zeros((n, groups), bool)  # of them known, where the whole index is not
        #: where the index of each strip begins, and its first segment
        self._index, self._first = np.zeros((2, groups), np.int64)
        #: of every tile: its model, where the factors of its columns begin, their bytes, their parts, its width
        self._models: dict[int, TileModel] = {}
        self._beside, self._factors = np.zeros((2, groups**2), np.int64)
        self._parts = np.zeros((groups**2, shape.columns, layout.PARTS), np.int64)
        self._shifts = np.zeros(0, np.uint8)
        self._tile_widths = np.tile(self._widths, groups)
        self._rows_checked = np.zeros((n, groups), bool)
        self._beside_checked = np.zeros((groups, n), bool)
        self._lock = threading.Lock()
        self._record: Any = None
        whole = source.buffer
        #: all bytes of the file, where they are at hand
        self._mapped: Bytes | None = np.frombuffer(whole, np.uint8) if isinstance(whole, memoryview) else None
        if source.far and groups <= layout.FEW_STRIPS:
            self._need_heads(list(range(groups)))

    # -- parts of the file -------------------------------------------------------------------------------

    def model(self, g: int, j: int) -> TileModel:
        """How the factors of a tile are stored."""
        self._need_heads([g])
        return self._models[g * self.shape.groups + j]

    def _need_heads(self, strips: list[int]) -> None:
        """Read the heads of strips, once."""
        with self._lock:
            missing = [g for g in strips if not self._heads[g]]
            begins = [self.offset + self.directory.strips[g] for g in missing]
            self.source.prefetch([(begin, layout.HEAD) for begin in begins])
            for g, begin in zip(missing, begins, strict=True):
                self._read_head(g, begin)
                self._heads[g] = True

    def _need(self, g: int) -> None:
        """Read what stands before the row segments of a strip, once."""
        self._need_heads([g])
        with self._lock:
            if not self._known[g]:
                self._read_index(g)
                self._known[g] = True

    def _read_head(self, g: int, begin: int) -> None:
        groups = self.shape.groups
        rows = int(self._widths[g])
        models, size = layout.read_strip_head(self.source, begin, self.shape)
        at = begin + size + 8 * (rows * groups + 1) + 4
        factors = np.array([tile.factor_bytes for tile in models], np.int64)
        sizes = self._widths * (factors + 4)
        mine = slice(g * groups, (g + 1) * groups)
        self._beside[mine] = at + np.cumsum(sizes) - sizes
        self._index[g], self._first[g], self._factors[mine] = begin + size, at + sizes.sum(), factors
        shifts = [self._shifts]
        for t, tile in enumerate(models, mine.start):
            self._models[t] = tile
            self._parts[t] = tile.parts(sum(map(len, shifts)))
            shifts.append(tile.shifts)
        self._shifts = np.concatenate(shifts)

    def _least(self, tiles: Numbers) -> Numbers:
        """The fewest bytes that row segments of these tiles have."""
        kept = 3 if self.shape.columns == 4 else 2
        return -(-self._tile_widths[tiles] // self.shape.block) * kept + self._factors[tiles] + 4

    def _read_index(self, g: int) -> None:
        groups = self.shape.groups
        rows = int(self._widths[g])
        at = int(self._index[g])
        many = rows * groups + 1
        self.source.prefetch([(at, 8 * many + 4)])
        data = read_sealed(self.source, at, 8 * many + 4, "index")
        index = np.frombuffer(data, "<u8", many).astype(np.int64) + self.offset
        first = int(self._first[g])
        end = self.offset + self.directory.strips[g + 1]
        right = index[0] == first and index[-1] == end
        least = self._least(np.arange(g * groups, (g + 1) * groups))
        if not right or (np.diff(index).reshape(rows, groups) < least).any():
            raise CorruptError(self.source.name, at, f"segments from {first} to {end}", "others")
        ours = self._begins[self._edges[g] : self._edges[g + 1]]
        ours[:, :-1] = index[:-1].reshape(rows, groups)
        ours[:, -1] = index[groups::groups]

    def _need_some(self, ours: Numbers, theirs: Numbers) -> None:
        """Of the index what says where the segments of a few records are, without the whole of it and so without its
        sum: a segment has to be of a possible size and within its strip, and has a sum of its own.

        The factors of the columns are asked for in the same breath.
        """
        g = self._group[ours]
        j = self._group[theirs]
        tiles = g * self.shape.groups + j
        groups = self.shape.groups
        at = self._index[g] + 8 * ((ours - self.edges[g]) * groups + j)
        sizes = self._factors[tiles] + 4
        beside = self._beside[tiles] + (theirs - self.edges[j]) * sizes
        new = ~(self._entries[ours, j] | self._known[g])
        parts = [(a, 16) for a in at[new].tolist()]
        unread = ~self._beside_checked[g, theirs]
        self.source.prefetch(parts + list(zip(beside[unread].tolist(), sizes[unread].tolist(), strict=True)))
        for start, row, tile, k in np.stack([at, ours, tiles, j], axis=1)[new].tolist():
            pair = np.frombuffer(self.source.bytes(start, 16), "<u8").astype(np.int64) + self.offset
            strip = tile // groups
            least = int(self._least(np.array([tile]))[0])
            end = self.offset + self.directory.strips[strip + 1]
            if not (self._first[strip] <= pair[0] <= pair[1] - least and pair[1] <= end):
                raise CorruptError(self.source.name, start, f"a segment before {end}", str(pair.tolist()))
            self._begins[row, k : k + 2] = pair
            self._entries[row, k] = True

    def _checked(self, starts: Numbers, ends: Numbers, known: NDArray[np.bool_]) -> tuple[Bytes, Numbers]:
        """Bytes that hold these parts of the file, and where each begins in them.

        Those that are not `known` to be right are checked, once where they are there twice.
        """
        if self._mapped is not None and known.all():
            return self._mapped, starts
        first, which, again = np.unique(starts, return_index=True, return_inverse=True)
        last = ends[which]
        fresh = ~known[which]
        if self._mapped is not None:
            data = self._mapped
            at = first
        else:
            parts = (self.source.bytes(a, b - a) for a, b in zip(first.tolist(), last.tolist(), strict=True))
            data = np.frombuffer(b"".join(parts), np.uint8)
            at = np.cumsum(last - first) - (last - first)
        self._check(data, at[fresh], first[fresh], last[fresh])
        return data, at[again]

    def _check(self, data: Bytes, at: Numbers, starts: Numbers, ends: Numbers) -> None:
        """CorruptError unless every part, which lies `at` in data, is as its checksum says."""
        view = data.data
        for first, start, end in zip(at.tolist(), starts.tolist(), ends.tolist(), strict=True):
            last = first + end - start
            if crc(view[first : last - 4]) != view[last - 4 : last]:
                size = f"a block of {end - start} bytes as its checksum says"
                raise CorruptError(self.source.name, start, size, "another")

    def segments(self, places: Numbers, j: int) -> tuple[Bytes, Numbers, Numbers]:
        """Row segments of places of one group in tile j, checked: (data, where they begin in it, and end)."""
        g = int(self._group[places[0]])
        self._need(g)
        starts = self._begins[places, j]
        ends = self._begins[places, j + 1]
        data, at = self._checked(starts, ends, self._rows_checked[places, j])
        self._rows_checked[places, j] = True
        return data, at, at + (ends - starts)

    def segment_at(self, place: int, j: int) -> int:
        """Return where the row segment of a place in tiles j begins, once `segments` has been called for it."""
        return int(self._begins[place, j])

    def beside(self, g: int, j: int, first: int, last: int) -> Bytes:
        """Factors of columns first..last-1 of tile (g, j), (m, bytes), checked."""
        size = self.model(g, j).factor_bytes + 4
        at = int(self._beside[g * self.shape.groups + j]) + first * size
        end = at + (last - first) * size
        data = self._mapped
        part = data[at:end] if data is not None else np.frombuffer(self.source.bytes(at, end - at), np.uint8)
        checked = self._beside_checked[g, self._edges[j] + first : self._edges[j] + last]
        if not checked.all():
            places = np.arange(last - first, dtype=np.int64) * size
            self._check(part, places, at + places, at + places + size)
            checked[:] = True
        return part.reshape(last - first, size)[:, : size - 4]

    def check_all(self) -> None:
        """CorruptError for the first part of the file whose checksum is not right."""
        for g in range(self.shape.groups):
            places = np.arange(self._edges[g], self._edges[g + 1])
            for j in range(self.shape.groups):
                width = int(self._widths[j])
                for first in range(0, width, 1024):
                    self.beside(g, j, first, min(width, first + 1024))
                for start in range(0, len(places), 1024):
                    self.segments(places[start : start + 1024], j)
            self.source.release()

    def _bad_blocks(self, start: int) -> CorruptError:
        return CorruptError(self.source.name, start, "blocks of records", "others")

    # -- rows --------------------------------------------------------------------------------------------

    def piece(self, places: Numbers, first: int, last: int) -> Records:
        """Records of rows and columns by their place in the file's order: (m, last - first, columns) uint16.

        `places` ascend; the columns may begin anywhere.
        """
        target = np.full(self.shape.positions, -1, np.int64)
        target[first:last] = np.arange(last - first)
        return self._made(places, np.arange(len(places)), first, last, target)

    def rows(self, numbers: Numbers) -> Records:
        """Rows of these position numbers, (m, n, columns) uint16, both sides by position number."""
        places = self.places[numbers]
        order = np.argsort(places, kind="stable")
        return self._made(places[order], order, 0, self.shape.positions, self.directory.order)

    def _made(self, places: Numbers, into: Numbers, first: int, last: int, target: Numbers) -> Records:
        """Rows at ascending `places`, each `into` its row of the result, column i into its column target[i]."""
        from bgfmt.formats.compressed import kernels_records as kernels

        shape = self.shape
        out = np.empty((len(places), last - first, shape.columns), np.uint16)
        flat = out.view(np.uint64 if shape.columns == 4 else np.uint16)[..., 0]
        group = self._group[places]
        for g in np.unique(group).tolist():
            mine = np.flatnonzero(group == g)
            for j in range(shape.groups):
                low = self._edges[j]
                high = self._edges[j + 1]
                a = max(first, low) - low
                b = min(last, high) - low
                if a >= b:
                    continue
                begin = a // shape.block
                end = -(-b // shape.block)
                a = begin * shape.block
                b = min(end * shape.block, high - low)
                tile = self.model(g, j)
                data, starts, ends = self.segments(places[mine], j)
                entry = shape.entry_bytes(high - low)
                factors = data[(starts + entry)[:, None] + np.arange(tile.factor_bytes)]
                predicted = np.empty((shape.columns, len(mine), b - a), np.uint16)
                model.predict(factors, self.beside(g, j, a, b), tile, predicted)
                bad = kernels.rows(
                    data, starts, ends, high - low, tile.factor_bytes, shape.columns, shape.block, begin, end,
                    self._slots, self._low_bits, predicted, into[mine], target[low + a : low + b], flat,
                )  # fmt: skip
                if bad >= 0:
                    raise self._bad_blocks(int(self._begins[places[mine][bad], j]))
        return out

    # -- single records ----------------------------------------------------------------------------------

    def records(self, us: Numbers, them: Numbers) -> Records:
        """Records of pairs of position numbers, (m, columns) uint16: tile by tile, in each row by row."""
        from bgfmt.formats.compressed import kernels_records as kernels

        shape = self.shape
        if not len(us):
            return np.empty((0, shape.columns), np.uint16)
        ours = self.places[us]
        theirs = self.places[them]
        groups = shape.groups
        group = self._group
        strips = np.flatnonzero(np.bincount(group[ours], minlength=groups)).tolist()
        self._need_heads(strips)
        by_entry = self.source.far and len(np.unique(ours * groups + group[theirs])) <= FEW
        if by_entry:
            self._need_some(ours, theirs)
        else:
            for strip in strips:
                self._need(strip)
        order = np.argsort(((group[ours] * groups + group[theirs]) << 32) + ours)
        ours = ours[order]
        theirs = theirs[order]
        g = group[ours]
        j = group[theirs]
        tiles = g * groups + j
        places = theirs - self.edges[j]
        starts = self._begins[ours, j]
        ends = self._begins[ours, j + 1]
        beside = self._beside[tiles] + places * (self._factors[tiles] + 4)
        known = self._rows_checked[ours, j]
        beside_known = self._beside_checked[g, theirs]
        parts = (starts, ends, known), (beside, beside + self._factors[tiles] + 4, beside_known)
        if by_entry or len(us) <= FEW:
            for begins, stops, right in parts:
                sizes = (stops - begins)[~right].tolist()
                self.source.prefetch(list(zip(begins[~right].tolist(), sizes, strict=True)))
        (data, at), (side, side_at) = (self._checked(*part) for part in parts)
        if not (known.all() and beside_known.all()):
            self._rows_checked[ours, j] = self._beside_checked[g, theirs] = True
        out = np.empty((len(us), shape.columns), np.uint16)
        bad = kernels.records(
            data, at, at + (ends - starts), side, side_at, places, tiles, self._tile_widths, self._factors,
            self._parts, self._shifts, shape.block, self._slots, self._low_bits, order, out,
        )  # fmt: skip
        if bad >= 0:
            raise self._bad_blocks(int(starts[bad]))
        return out

    def record(self, us: int, them: int) -> Records:
        """The record of a pair of position numbers, (columns,) uint16, without the detours of many."""
        place = self.places.item(us)
        beside = self.places.item(them)
        g = bisect_right(self._edges, place) - 1
        j = bisect_right(self._edges, beside) - 1
        if self._mapped is not None and self._rows_checked[place, j] and self._beside_checked[g, beside]:
            from bgfmt.formats.compressed import kernels_records as kernels

            low = self._edges[j]
            high = self._edges[j + 1]
            tile = g * self.shape.groups + j
            factors = self._factors.item(tile)
            out = np.empty(self.shape.columns, np.uint16)
            args: Any = (
                self._mapped, self._begins.item(place, j), self._begins.item(place, j + 1),
                self._beside.item(tile) + (beside - low) * (factors + 4), beside - low, high - low, factors,
                self._parts[tile], self._shifts, self.shape.block, self._slots, self._low_bits, out,
            )  # fmt: skip
            self._record = self._record or vars(kernels)["record"].chosen(*args)
            if self._record(*args):
                return out
        record: Records = self.records(np.array([us]), np.array([them]))[0]
        return record


class PackedRows(LazyRows):
    """The equities of a compressed table, as an array whose rows and records are made when asked for."""

    def __init__(self, reader: Reader) -> None:
        #: position numbers in the order in which rows and columns lie in the file; rows and columns by that order
        self.reader = reader
        self.order = reader.directory.order
        self.piece = reader.piece
        n = reader.shape.positions
        super().__init__((n, n, reader.shape.columns), "<u2", self._some, reader.rows, reader.records)
        self._kept: tuple[int, Records] = (0, np.empty((0, n, reader.shape.columns), np.uint16))
        self._next = -1

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, (int, np.integer)) for k in key):
            us, them = (range(len(self))[k] for k in key)
            return self.reader.record(us, them)
        return super().__getitem__(key)

    def _some(self, start: int, stop: int) -> Records:
        """Rows start..stop-1; where rows are read one behind the other, more of them are made at once."""
        first, rows = self._kept
        if start < first or stop > first + len(rows) or start >= stop:
            more = 0 < start == self._next
            size = len(self) * self.shape[2] * 2
            end = stop
            if more:
                some = min(MOST_AHEAD, max(LEAST_AHEAD, AHEAD * self.reader.shape.groups * size)) // size
                end = max(stop, min(len(self), start + some))
                self._kept = (0, rows[:0])  # its memory, before more is taken
                del rows
            first = start
            rows = self.reader.rows(np.arange(start, end))
            if more:
                self._kept = (first, rows)
        self._next = stop
        return rows[start - first : stop - first]
