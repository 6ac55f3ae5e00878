"""Rows and records of a compressed table, made when asked for; what is touched is checked first, once."""

from __future__ import annotations

import threading
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError
from bgfmt.formats.compressed import predict
from bgfmt.formats.compressed.layout import Directory, Scales, Shape, crc, read_strip_head
from bgfmt.storage import Source
from bgfmt.tables import LazyRows

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Records = NDArray[np.uint16]
#: bytes, and where each part begins and ends in them
Segments = tuple[Bytes, Numbers, Numbers]
AHEAD = 96 << 20  # bytes of rows that are made at once where rows are read one behind the other


@dataclass(frozen=True, eq=False)
class Strip:
    """Where the parts of a strip lie, from the first byte of the file.

    index : (rows + 1 last, groups) begins of the row segments, flat. beside : where each tile's column factors begin.
    """

    tiles: list[Scales]
    index: Numbers
    beside: list[int]


class Packed:
    """A file of this format, parsed: its directory, its strips as they are needed, its segments, checked."""

    def __init__(self, source: Source, offset: int, shape: Shape, directory: Directory) -> None:
        self.source, self.offset, self.shape, self.directory = source, offset, shape, directory
        n, groups = shape.positions, shape.groups
        self.edges = np.array(shape.edges(), np.int64)
        self.places = np.empty(n, np.int64)
        self.places[directory.order] = np.arange(n)
        self.slots, self.shifts = directory.classes.slots.reshape(-1), directory.classes.shifts
        self._strips: dict[int, Strip] = {}
        self._rows_sound = np.zeros((n, groups), bool)
        self._beside_sound = np.zeros((groups, n), bool)
        self._lock = threading.Lock()
        self._edges = shape.edges()
        whole = source.buffer
        #: all bytes of the file, where they are at hand
        self._mapped: Bytes | None = np.frombuffer(whole, np.uint8) if isinstance(whole, memoryview) else None

    # -- parts -------------------------------------------------------------------------------------------

    def strip(self, g: int) -> Strip:
        """The strip of a group of rows."""
        with self._lock:
            found = self._strips.get(g)
            if found is None:
                found = self._strips[g] = self._read_strip(g)
            return found

    def _read_strip(self, g: int) -> Strip:
        shape, source = self.shape, self.source
        begin, end = (self.offset + at for at in self.directory.strips[g : g + 2])
        tiles, size = read_strip_head(source, begin, shape)
        rows, at = int(self.edges[g + 1] - self.edges[g]), begin + size
        many = rows * shape.groups + 1
        data = source.bytes(at, 8 * many + 4, "index")
        if crc(memoryview(data)[:-4]) != data[-4:]:
            raise CorruptError(source.name, at + 8 * many, "the index's sum", data[-4:].hex())
        index = np.frombuffer(data, "<u8", many).astype(np.int64) + self.offset
        at += len(data)
        beside = []
        for j, tile in enumerate(tiles):
            beside.append(at)
            at += int(self.edges[j + 1] - self.edges[j]) * (tile.factor_bytes + 4)
        least = [
            shape.entry_bytes(w) + t.factor_bytes + 4
            for w, t in zip(self.widths.tolist(), tiles, strict=True)
        ]
        right = index[0] == at and index[-1] == end
        if not right or (np.diff(index).reshape(rows, -1) < np.array(least)).any():
            raise CorruptError(source.name, begin + size, f"segments from {at} to {end}", "others")
        return Strip(tiles, index, beside)

    @property
    def widths(self) -> Numbers:
        """Records of a row segment of every tile of a strip."""
        return np.diff(self.edges)

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
        joined = np.concatenate(parts) if parts else np.zeros(0, np.uint8)
        return joined, np.cumsum(sizes) - sizes

    def _sound(self, data: Bytes, at: Numbers, starts: Numbers, ends: Numbers) -> None:
        """CorruptError unless every part, `at` in data, is as its checksum says."""
        from bgfmt.formats.compressed import kernels_sums

        bad = int(kernels_sums.unsound(data, at, at + (ends - starts)))
        if bad >= 0:
            self._refuse(int(starts[bad]), int(ends[bad]))

    def _refuse(self, start: int, end: int) -> None:
        raise CorruptError(
            self.source.name, start, f"a block of {end - start} bytes as its checksum says", "another"
        )

    def segments(self, places: Numbers, g: int, j: int) -> Segments:
        """Row segments of places of group g in tile j, checked: (data, starts, ends in the file less at)."""
        strip = self.strip(g)
        which = (places - self.edges[g]) * self.shape.groups + j
        starts, ends = strip.index[which], strip.index[which + 1]
        data, at = self._gathered(starts, ends)
        fresh = ~self._rows_sound[places, j]
        if fresh.any():
            self._sound(data, at[fresh], starts[fresh], ends[fresh])
            self._rows_sound[places, j] = True
        return data, at, at + (ends - starts)

    def beside(self, g: int, j: int, first: int, last: int) -> Bytes:
        """Factors of columns first..last-1 of tile (g, j), (m, bytes), checked."""
        strip = self.strip(g)
        size = strip.tiles[j].factor_bytes + 4
        begin, low = strip.beside[j], int(self.edges[j])
        at, end = begin + first * size, begin + last * size
        data = self._mapped
        part = data[at:end] if data is not None else np.frombuffer(self.source.bytes(at, end - at), np.uint8)
        known = self._beside_sound[g, low + first : low + last]
        if not known.all():
            places = np.arange(last - first, dtype=np.int64) * size
            self._sound(part, places, at + places, at + places + size)
            known[:] = True
        return part.reshape(last - first, size)[:, : size - 4]

    # -- rows --------------------------------------------------------------------------------------------

    def piece(self, places: Numbers, first: int, last: int) -> Records:
        """Records of rows and columns by their place in the file's order: (m, last - first, columns) uint16.

        `places` ascend; the columns may begin anywhere.
        """
        from bgfmt.formats.compressed import kernels

        shape = self.shape
        out = np.empty((len(places), last - first, shape.columns), np.uint16)
        group = np.searchsorted(self.edges, places, "right") - 1
        for g in np.unique(group).tolist():
            mine = np.flatnonzero(group == g)
            for j in range(shape.groups):
                low, high = int(self.edges[j]), int(self.edges[j + 1])
                a, b = max(first, low) - low, min(last, high) - low
                if a >= b:
                    continue
                begin, end = a // shape.block, -(-b // shape.block)
                stop = min(end * shape.block, high - low)
                scales = self.strip(g).tiles[j]
                data, starts, ends = self.segments(places[mine], g, j)
                predicted = np.empty((shape.columns, len(mine), stop - begin * shape.block), np.uint16)
                made = np.empty((*predicted.shape[1:], shape.columns), np.uint16)
                head = shape.entry_bytes(high - low)
                factors = data[(starts + head)[:, None] + np.arange(scales.factor_bytes)]
                predict.predict(factors, self.beside(g, j, begin * shape.block, stop), scales, predicted)
                bad = kernels.rows(
                    data, starts, ends, scales.factor_bytes, shape.columns, shape.block, high - low, begin, end,
                    self.slots, self.shifts, predicted, made,
                )  # fmt: skip
                if bad >= 0:
                    at = self.strip(g).index[(places[mine][bad] - self.edges[g]) * shape.groups + j]
                    raise CorruptError(self.source.name, int(at), "blocks of records", "others")
                out[mine, max(first, low) - first : min(last, high) - first] = made[
                    :, a - begin * shape.block :
                ][:, : b - a]
        return out

    def rows(self, numbers: Numbers) -> Records:
        """Rows of these position numbers, (m, n, columns) uint16, both sides by position number."""
        from bgfmt.formats.compressed import kernels

        places = self.places[numbers]
        order = np.argsort(places, kind="stable")
        found = self.piece(places[order], 0, self.shape.positions)
        out = np.empty((len(numbers), *found.shape[1:]), np.uint16)
        if len(found):
            record = np.uint64 if self.shape.columns == 4 else np.uint16
            kernels.gathered(found.view(record)[..., 0], self.places, order, out.view(record)[..., 0])
        return out

    # -- records -----------------------------------------------------------------------------------------

    def records(self, us: Numbers, them: Numbers) -> Records:
        """Records of pairs of position numbers, (m, columns) uint16."""
        from bgfmt.formats.compressed import kernels

        shape = self.shape
        ours, theirs = self.places[us], self.places[them]
        g = np.searchsorted(self.edges, ours, "right") - 1
        j = np.searchsorted(self.edges, theirs, "right") - 1
        tile = g * shape.groups + j
        out = np.empty((len(us), shape.columns), np.uint16)
        for t in np.unique(tile).tolist():
            a, b = divmod(t, shape.groups)
            mine = np.flatnonzero(tile == t)
            mine = mine[np.argsort(ours[mine], kind="stable")]
            out[mine] = self._of_tile(kernels, a, b, ours[mine], theirs[mine])
        return out

    def record(self, us: int, them: int) -> Records:
        """The record of a pair of position numbers, (columns,) uint16, without the detours of many."""
        if self._mapped is None:
            return self._one(us, them)
        from bgfmt.formats.compressed import kernels

        place, beside = self.places.item(us), self.places.item(them)
        g, j = bisect_right(self._edges, place) - 1, bisect_right(self._edges, beside) - 1
        if not (self._rows_sound[place, j] and self._beside_sound[g, beside]):
            return self._one(us, them)
        strip = self._strips[g]
        scales, low = strip.tiles[j], self._edges[j]
        which = (place - self._edges[g]) * self.shape.groups + j
        out = np.empty(self.shape.columns, np.uint16)
        bad = kernels.record(
            self._mapped, strip.index.item(which), strip.index.item(which + 1), self._mapped,
            strip.beside[j] + (beside - low) * (scales.factor_bytes + 4), beside - low, self._edges[j + 1] - low,
            scales.factor_bytes, scales.parts, scales.shifts, self.shape.block, self.slots, self.shifts, out,
        )  # fmt: skip
        return out if bad < 0 else self._one(us, them)

    def _one(self, us: int, them: int) -> Records:
        found: Records = self.records(np.array([us]), np.array([them]))[0]
        return found

    def _of_tile(self, kernels: Any, g: int, j: int, ours: Numbers, theirs: Numbers) -> Records:
        shape, strip = self.shape, self.strip(g)
        scales = strip.tiles[j]
        data, starts, ends = self.segments(ours, g, j)
        size = scales.factor_bytes + 4
        column = theirs - self.edges[j]
        at = strip.beside[j] + column * size
        beside, where = self._gathered(at, at + size)
        fresh = ~self._beside_sound[g, theirs]
        if fresh.any():
            self._sound(beside, where[fresh], at[fresh], at[fresh] + size)
            self._beside_sound[g, theirs] = True
        out = np.empty((len(ours), shape.columns), np.uint16)
        bad = kernels.records(
            data, starts, ends, beside, where, column, int(self.widths[j]), scales.factor_bytes, scales.parts,
            scales.shifts, shape.block, self.slots, self.shifts, out,
        )  # fmt: skip
        if bad >= 0:
            which = (ours[bad] - self.edges[g]) * shape.groups + j
            raise CorruptError(self.source.name, int(strip.index[which]), "blocks of records", "others")
        return out

    def unsound(self) -> None:
        """CorruptError for the first part of the file whose checksum is not right."""
        groups = self.shape.groups
        for g in range(groups):
            places = np.arange(self.edges[g], self.edges[g + 1])
            for j in range(groups):
                width = int(self.edges[j + 1] - self.edges[j])
                for first in range(0, width, 1024):
                    self.beside(g, j, first, min(width, first + 1024))
                for start in range(0, len(places), 1024):
                    self.segments(places[start : start + 1024], g, j)
            self.source.release()


class PackedRows(LazyRows):
    """The equities of a compressed table: rows, or single records, by position number."""

    def __init__(self, packed: Packed) -> None:
        self.packed = packed
        n = packed.shape.positions
        super().__init__((n, n, packed.shape.columns), "<u2", self._some, packed.rows)
        self._kept: tuple[int, Records] = (0, np.empty((0, n, packed.shape.columns), np.uint16))
        self._next = -1

    @property
    def order(self) -> Numbers:
        """Position numbers in the order in which rows and columns lie together in the file."""
        return self.packed.directory.order

    def piece(self, places: Numbers, first: int, last: int) -> Records:
        """Rows and columns by their place in that order; see `Packed.piece`."""
        return self.packed.piece(places, first, last)

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, tuple) and len(key) == 2:
            us, them = key
            if isinstance(us, (int, np.integer)) and isinstance(them, (int, np.integer)):
                return self.packed.record(range(len(self))[us], range(len(self))[them])
            if isinstance(us, np.ndarray) and isinstance(them, np.ndarray) and us.ndim == them.ndim == 1:
                return self.packed.records(self._numbers(us), self._numbers(them))
        return super().__getitem__(key)

    def _some(self, start: int, stop: int) -> Records:
        """Rows start..stop-1; where rows are read one behind the other, more of them are made at once."""
        first, kept = self._kept
        if first <= start and stop <= first + len(kept) and start < stop:
            self._next = stop
            return kept[start - first : stop - first]
        if start and start == self._next:
            ahead = max(stop, min(len(self), start + max(1, AHEAD // (len(self) * self.shape[2] * 2))))
            rows = self.packed.rows(np.arange(start, ahead))
            self._kept, self._next = (start, rows), stop
            return rows[: stop - start]
        self._next = stop
        return self.packed.rows(np.arange(start, stop))
