"""Records of a compressed file, made when asked for; what is touched is checked first, once."""

from __future__ import annotations

import threading
from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError
from bgfmt.formats.compressed import predict
from bgfmt.formats.compressed.layout import Directory, Scales, Shape, crc, read_strip_head
from bgfmt.storage import Source

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Records = NDArray[np.uint16]
#: bytes, and where each part begins and ends in them
Segments = tuple[Bytes, Numbers, Numbers]
#: rows of each group, and bytes, that are made at once where rows are read one behind the other
AHEAD, LEAST_AHEAD, MOST_AHEAD = 160, 96 << 20, 512 << 20
#: so many records are asked for part by part where they come from a disk; about what the head of a strip takes
FEW, HEAD = 64, 16 << 10
#: bytes behind a column's factors that a kernel reads, and does not use: in a file their sum and two row segments
BEHIND = 16


class Packed:
    """A file of this format, parsed: its directory, its strips as they are needed, its segments, checked.

    Tiles are counted strip by strip; places are those of the file's order; addresses count from the source's first
    byte.
    """

    def __init__(self, source: Source, offset: int, shape: Shape, directory: Directory) -> None:
        self.source, self.offset, self.shape, self.directory = source, offset, shape, directory
        n, groups = shape.positions, shape.groups
        self.edges = np.array(shape.edges(), np.int64)
        #: records of a row segment of every tile of a strip
        self.widths = np.diff(self.edges)
        self.places = np.empty(n, np.int64)
        self.places[directory.order] = np.arange(n)
        self.slots, self.shifts = directory.classes.slots.reshape(-1), directory.classes.shifts
        self._group = np.repeat(np.arange(groups, dtype=np.int64), self.widths)
        self._known = np.zeros(groups, bool)
        #: where the row segments begin, row by row, behind each strip its end
        self._begins = np.zeros(n * groups + groups, np.int64)
        #: of every tile: its factors, where those of its columns begin, their bytes
        self._scales: list[Scales | None] = [None] * groups**2
        self._beside, self._factors = np.zeros((2, groups**2), np.int64)
        self._parts = np.zeros((groups**2, shape.columns, 6), np.int64)
        self._weights = np.zeros(0, np.int32)
        self._rows_sound = np.zeros((n, groups), bool)
        self._beside_sound = np.zeros((groups, n), bool)
        self._lock, self._local = threading.Lock(), threading.local()
        self._edges = shape.edges()
        whole = source.buffer
        #: all bytes of the file, where they are at hand
        self._mapped: Bytes | None = np.frombuffer(whole, np.uint8) if isinstance(whole, memoryview) else None

    # -- parts -------------------------------------------------------------------------------------------

    def tile(self, g: int, j: int) -> Scales:
        """The factors of a tile."""
        self._need(g)
        found = self._scales[g * self.shape.groups + j]
        assert found is not None
        return found

    def _need(self, g: int) -> None:
        """Read what stands before the row segments of a strip, once."""
        with self._lock:
            if not self._known[g]:
                self._read_strip(g)
                self._known[g] = True

    def _read_strip(self, g: int) -> None:
        shape, source = self.shape, self.source
        begin, end = (self.offset + at for at in self.directory.strips[g : g + 2])
        rows, count = int(self.widths[g]), shape.tiles(g)
        many = rows * count + 1
        source.soon(begin, HEAD + 8 * many)
        tiles, size = read_strip_head(source, begin, shape, count)
        at = begin + size
        data = source.bytes(at, 8 * many + 4, "index")
        if crc(memoryview(data)[:-4]) != data[-4:]:
            raise CorruptError(source.name, at + 8 * many, "the index's sum", data[-4:].hex())
        index = np.frombuffer(data, "<u8", many).astype(np.int64) + self.offset
        at += len(data)
        factors = np.array([tile.factor_bytes for tile in tiles], np.int64)
        sizes = self.widths[:count] * (factors + 4)
        beside = at + np.cumsum(sizes) - sizes
        at += int(sizes.sum())
        entries = np.stack([shape.entry_bytes(shape.widths(g, j)) for j in range(count)], axis=1)
        right = index[0] == at and index[-1] == end
        if not right or (np.diff(index).reshape(rows, -1) < entries + factors + 4).any():
            raise CorruptError(source.name, begin + size, f"segments from {at} to {end}", "others")
        place = int(self.edges[g]) * shape.groups + g
        found = self._begins[place : place + rows * shape.groups].reshape(rows, -1)
        found[:, :count] = index[:-1].reshape(rows, count)
        found[:, count:] = index[count::count, None]  # tiles that are not there begin and end with the row
        self._begins[place + rows * shape.groups] = end
        mine = slice(g * shape.groups, g * shape.groups + count)
        self._beside[mine], self._factors[mine], self._scales[mine] = beside, factors, tiles
        for t, tile in enumerate(tiles, mine.start):
            self._parts[t] = tile.parts
            self._parts[t, :, 4] += len(self._weights)
            self._weights = np.concatenate([self._weights, tile.weights])

    def _gathered(self, starts: Numbers, ends: Numbers) -> tuple[Bytes, Numbers]:
        """Bytes that hold these parts, and where each begins in them."""
        data = self._mapped
        if data is not None:
            return data, starts
        parts = [
            np.frombuffer(self.source.bytes(a, b - a), np.uint8)
            for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        sizes = ends - starts
        joined = np.concatenate([*parts, np.zeros(BEHIND, np.uint8)])
        return joined, np.cumsum(sizes) - sizes

    def _sound(self, data: Bytes, at: Numbers, starts: Numbers, ends: Numbers) -> None:
        """CorruptError unless every part, `at` in data, is as its checksum says."""
        from bgfmt.formats.compressed import kernels_sums

        bad = int(kernels_sums.unsound(data, at, at + (ends - starts)))
        if bad >= 0:
            start, size = int(starts[bad]), int(ends[bad] - starts[bad])
            raise CorruptError(
                self.source.name, start, f"a block of {size} bytes as its checksum says", "another"
            )

    def segments(self, places: Numbers, j: int) -> Segments:
        """Row segments of places of one group in tile j, checked: (data, where they begin in it, and end)."""
        g = int(self._group[places[0]])
        self._need(g)
        which = places * self.shape.groups + j + g
        starts, ends = self._begins[which], self._begins[which + 1]
        data, at = self._gathered(starts, ends)
        fresh = ~self._rows_sound[places, j]
        if fresh.any():
            self._sound(data, at[fresh], starts[fresh], ends[fresh])
            self._rows_sound[places, j] = True
        return data, at, at + (ends - starts)

    def beside(self, g: int, j: int, first: int, last: int) -> Bytes:
        """Factors of columns first..last-1 of tile (g, j), (m, bytes), checked."""
        size = self.tile(g, j).factor_bytes + 4
        begin, low = int(self._beside[g * self.shape.groups + j]), int(self.edges[j])
        at, end = begin + first * size, begin + last * size
        data = self._mapped
        part = data[at:end] if data is not None else np.frombuffer(self.source.bytes(at, end - at), np.uint8)
        known = self._beside_sound[g, low + first : low + last]
        if not known.all():
            places = np.arange(last - first, dtype=np.int64) * size
            self._sound(part, places, at + places, at + places + size)
            known[:] = True
        return part.reshape(last - first, size)[:, : size - 4]

    def ahead(self, size: int) -> int:
        """How many rows of so many bytes to make at once where they are read one behind the other."""
        return max(1, min(MOST_AHEAD, max(LEAST_AHEAD, AHEAD * self.shape.groups * size)) // size)

    def _bad_blocks(self, start: int) -> CorruptError:
        return CorruptError(self.source.name, start, "blocks of records", "others")

    # -- rows --------------------------------------------------------------------------------------------

    def piece(self, places: Numbers, first: int, last: int) -> Records:
        """Records of rows and columns by their place in the file's order: (m, last - first, columns) uint16.

        `places` ascend; the columns may begin anywhere.
        """
        return self._made(places, np.arange(len(places)), first, last, self._each(first, last))

    def held(self, places: Numbers, first: int, last: int) -> Records:
        """The same of what is in the file; what is not may be anything."""
        return Packed._made(self, places, np.arange(len(places)), first, last, self._each(first, last))

    def _each(self, first: int, last: int) -> Numbers:
        """(n,) where the columns at places first..last-1 go, -1 for the others."""
        target = np.full(self.shape.positions, -1, np.int64)
        target[first:last] = np.arange(last - first)
        return target

    def rows(self, numbers: Numbers) -> Records:
        """Rows of these position numbers, (m, n, columns) uint16, both sides by position number."""
        places = self.places[numbers]
        order = np.argsort(places, kind="stable")
        return self._made(places[order], order, 0, self.shape.positions, self.directory.order)

    def _made(self, places: Numbers, into: Numbers, first: int, last: int, target: Numbers) -> Records:
        """Rows at ascending `places`, each `into` its row of the result, column i into its column target[i]."""
        from bgfmt.formats.compressed import kernels

        shape = self.shape
        out = np.empty((len(places), last - first, shape.columns), np.uint16)
        flat = out.view(np.uint64 if shape.columns == 4 else np.uint16)[..., 0]
        group = self._group[places]
        for g in np.unique(group).tolist():
            mine = np.flatnonzero(group == g)
            for j in range(shape.tiles(g)):
                low, high = self._edges[j], self._edges[j + 1]
                a, b = max(first, low) - low, min(last, high) - low
                if a >= b:
                    continue
                begin, end = a // shape.block, -(-b // shape.block)
                stop = min(end * shape.block, high - low)
                scales = self.tile(g, j)
                data, starts, ends = self.segments(places[mine], j)
                predicted = predict.room(self._local, (shape.columns, len(mine), stop - begin * shape.block))
                widths = shape.widths(g, j)[places[mine] - self._edges[g]]
                factors = data[(starts + shape.entry_bytes(widths))[:, None] + np.arange(scales.factor_bytes)]
                predict.predict(factors, self.beside(g, j, begin * shape.block, stop), scales, predicted)
                bad = kernels.rows(
                    data, starts, ends, scales.factor_bytes, shape.columns, shape.block, widths, begin, end,
                    self.slots, self.shifts, predicted, into[mine], target[low + begin * shape.block : low + stop],
                    flat,
                )  # fmt: skip
                if bad >= 0:
                    raise self._bad_blocks(int(self._begins[places[mine][bad] * shape.groups + j + g]))
        return out

    # -- records -----------------------------------------------------------------------------------------

    def records(self, us: Numbers, them: Numbers) -> Records:
        """Records of pairs of position numbers, (m, columns) uint16: tile by tile, in each row by row."""
        from bgfmt.formats.compressed import kernels_records as kernels

        shape = self.shape
        if not len(us):
            return np.empty((0, shape.columns), np.uint16)
        ours, theirs = self.places[us], self.places[them]
        for g in np.flatnonzero(np.bincount(self._group[ours], minlength=shape.groups)).tolist():
            self._need(g)
        order = np.argsort(kernels.keys(ours, theirs, self._group, self.edges))
        where = np.empty((6, len(us)), np.int64)
        fresh = kernels.located(
            ours, theirs, order, self._group, self.edges, self._begins, self._beside, self._factors,
            self._rows_sound, self._beside_sound, shape.level == 2, where,
        )  # fmt: skip
        tiles, starts, ends, columns, beside, widths = where
        data, at, theirs_at = self._mapped, starts, beside
        side = data
        if data is None or fresh:
            if len(us) <= FEW:
                for part in (starts, ends), (beside, beside + self._factors[tiles] + 4):
                    for a, b in zip(*(each.tolist() for each in part), strict=True):
                        self.source.soon(a, b - a)
            data, at = self._checked(starts, ends)
            side, theirs_at = self._checked(beside, beside + self._factors[tiles] + 4)
            self._rows_sound[ours, self._group[theirs]] = True
            self._beside_sound[self._group[ours], theirs] = True
        out = np.empty((len(us), shape.columns), np.uint16)
        stored = np.zeros(len(us), bool)
        bad = kernels.residuals(
            data, at, at + (ends - starts), columns, tiles, widths, self._factors, shape.block, self.slots,
            self.shifts, order, out, stored,
        )  # fmt: skip
        if bad >= 0:
            raise self._bad_blocks(int(starts[bad]))
        kernels.add_predictions(
            data, at, side, theirs_at, tiles, widths, self._factors, self._parts, self._weights, shape.block, order,
            stored, out,
        )  # fmt: skip
        return out

    def _checked(self, starts: Numbers, ends: Numbers) -> tuple[Bytes, Numbers]:
        """Bytes that hold these parts, and where each begins in them; each is checked, once if it is there twice."""
        first, which, again = np.unique(starts, return_index=True, return_inverse=True)
        data, at = self._gathered(first, ends[which])
        self._sound(data, at, first, ends[which])
        return data, at[again]

    def record(self, us: int, them: int) -> Records:
        """The record of a pair of position numbers, (columns,) uint16, without the detours of many."""
        if self._mapped is None:
            return self._one(us, them)
        from bgfmt.formats.compressed import kernels_records as kernels

        place, beside = self.places.item(us), self.places.item(them)
        g, j = bisect_right(self._edges, place) - 1, bisect_right(self._edges, beside) - 1
        if not (self._rows_sound[place, j] and self._beside_sound[g, beside]):
            return self._one(us, them)
        low, tile, at = self._edges[j], g * self.shape.groups + j, place * self.shape.groups + j + g
        factors = self._factors.item(tile)
        high = min(place + 1, self._edges[j + 1]) if self.shape.level == 2 else self._edges[j + 1]
        out = np.empty(self.shape.columns, np.uint16)
        right = kernels.record(
            self._mapped, self._begins.item(at), self._begins.item(at + 1),
            self._beside.item(tile) + (beside - low) * (factors + 4), beside - low, high - low, factors,
            self._parts[tile], self._weights, self.shape.block, self.slots, self.shifts, out,
        )  # fmt: skip
        return out if right else self._one(us, them)

    def _one(self, us: int, them: int) -> Records:
        found: Records = self.records(np.array([us]), np.array([them]))[0]
        return found

    def unsound(self) -> None:
        """CorruptError for the first part of the file whose checksum is not right."""
        groups = self.shape.groups
        for g in range(groups):
            places = np.arange(self.edges[g], self.edges[g + 1])
            for j in range(self.shape.tiles(g)):
                width = int(self.edges[j + 1] - self.edges[j])
                for first in range(0, width, 1024):
                    self.beside(g, j, first, min(width, first + 1024))
                for start in range(0, len(places), 1024):
                    self.segments(places[start : start + 1024], j)
            self.source.release()
