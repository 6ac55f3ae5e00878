"""Reader of compressed files: decodes records on demand, and checks every block once, when it is first used."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError
from bgfmt.extras.compressed import kernels_records as kernels
from bgfmt.extras.compressed import layout, model
from bgfmt.extras.compressed.layout import Directory, Shape, TileModel, crc, read_with_checksum
from bgfmt.formats.structures import size_of
from bgfmt.storage import Source
from bgfmt.tables import LazyRows

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Records = NDArray[np.uint16]
#: rows of each group, and limits in bytes, decoded at once when rows are read sequentially
READ_AHEAD_ROWS = 160
MIN_READ_AHEAD_BYTES = 96 << 20
MAX_READ_AHEAD_BYTES = 512 << 20
MAX_SINGLE_RECORDS = 64  # up to so many records, only the parts they need are requested from disk or network


class Reader:
    """Parsed file: directory, heads and indexes of strips (loaded as needed), row segments (checked once).

    Tiles are numbered strip by strip; "places" are positions in the file's order; offsets count from the source's
    first byte.
    """

    def __init__(self, source: Source, offset: int, shape: Shape, directory: Directory) -> None:
        self.source = source
        self.offset = offset
        self.shape = shape
        self.directory = directory
        n = shape.positions
        groups = shape.groups
        self.edges = np.array(shape.edges(), np.int64)
        self._widths = np.diff(self.edges)
        self.places = np.empty(n, np.int64)
        self.places[directory.order] = np.arange(n)
        self._slots = directory.classes.slots.reshape(-1)
        self._low_bits = directory.classes.shifts
        self._group = np.repeat(np.arange(groups, dtype=np.int64), self._widths)
        #: whether the head, and the index, of each strip is loaded
        self._head_loaded, self._index_loaded = np.zeros((2, groups), bool)
        #: offsets of the segments of each row, tile by tile, and of the row's end
        self._begins = np.zeros((n, groups + 1), np.int64)
        self._entry_loaded = np.zeros((n, groups), bool)  # which of them are loaded without the whole index
        #: offset of the index of each strip, and of its first segment
        self._index, self._first = np.zeros((2, groups), np.int64)
        #: of every tile: its model, offset of the factors of its columns, their size, their parts, its width
        self._models: dict[int, TileModel] = {}
        self._factors_at, self._factors = np.zeros((2, groups**2), np.int64)
        self._parts = np.zeros((groups**2, shape.columns, layout.PARTS), np.int64)
        self._shifts = np.zeros(0, np.uint8)
        self._tile_widths = np.tile(self._widths, groups)
        self._rows_checked = np.zeros((n, groups), bool)
        self._factors_checked = np.zeros((groups, n), bool)
        self._lock = threading.Lock()
        self._record: Any = None
        whole = source.buffer
        #: all bytes of the file, if it is mapped
        self._mapped: Bytes | None = np.frombuffer(whole, np.uint8) if isinstance(whole, memoryview) else None
        if source.far and groups <= layout.MAX_PREFETCHED_STRIPS:
            self._load_heads(list(range(groups)))

    # -- parts of the file -------------------------------------------------------------------------------

    def model(self, g: int, j: int) -> TileModel:
        """Return the model of the low-rank factors of a tile: rows of group g, columns of group j."""
        self._load_heads([g])
        return self._models[g * self.shape.groups + j]

    def _load_heads(self, strips: list[int]) -> None:
        """Read the heads of strips that are not loaded yet."""
        with self._lock:
            missing = [g for g in strips if not self._head_loaded[g]]
            begins = [self.offset + self.directory.strips[g] for g in missing]
            self.source.prefetch([(begin, layout.STRIP_HEAD_BYTES) for begin in begins])
            for g, begin in zip(missing, begins, strict=True):
                self._read_head(g, begin)
                self._head_loaded[g] = True

    def _load_index(self, g: int) -> None:
        """Read the head and the index of a strip if they are not loaded yet."""
        self._load_heads([g])
        with self._lock:
            if not self._index_loaded[g]:
                self._read_index(g)
                self._index_loaded[g] = True

    def _read_head(self, g: int, begin: int) -> None:
        """Read the head of strip g at offset `begin`."""
        groups = self.shape.groups
        rows = int(self._widths[g])
        models, size = layout.read_strip_head(self.source, begin, self.shape)
        at = begin + size + size_of(layout.INDEX, segments=rows * groups)
        factors = np.array([tile.factor_bytes for tile in models], np.int64)
        sizes = self._widths * (factors + 4)
        mine = slice(g * groups, (g + 1) * groups)
        self._factors_at[mine] = at + np.cumsum(sizes) - sizes
        self._index[g], self._first[g], self._factors[mine] = begin + size, at + sizes.sum(), factors
        shifts = [self._shifts]
        for t, tile in enumerate(models, mine.start):
            self._models[t] = tile
            self._parts[t] = tile.parts(sum(map(len, shifts)))
            shifts.append(tile.shifts)
        self._shifts = np.concatenate(shifts)

    def _min_segment_bytes(self, tiles: Numbers) -> Numbers:
        """Return the smallest possible size in bytes of row segments of these tiles."""
        entries: Numbers = self.shape.entry_bytes(self._tile_widths[tiles])
        return entries + self._factors[tiles] + 4

    def _read_index(self, g: int) -> None:
        """Read and check the index of strip g."""
        groups = self.shape.groups
        rows = int(self._widths[g])
        at = int(self._index[g])
        segments = rows * groups
        size = size_of(layout.INDEX, segments=segments)
        self.source.prefetch([(at, size)])
        data = read_with_checksum(self.source, at, size, "index")
        index = np.frombuffer(data, layout.BEGIN, segments + 1).astype(np.int64) + self.offset
        first = int(self._first[g])
        end = self.offset + self.directory.strips[g + 1]
        right = index[0] == first and index[-1] == end
        least = self._min_segment_bytes(np.arange(g * groups, (g + 1) * groups))
        if not right or (np.diff(index).reshape(rows, groups) < least).any():
            raise CorruptError(self.source.name, at, f"segments from {first} to {end}", "others")
        ours = self._begins[self.edges[g] : self.edges[g + 1]]
        ours[:, :-1] = index[:-1].reshape(rows, groups)
        ours[:, -1] = index[groups::groups]

    def _load_entries(self, ours: Numbers, theirs: Numbers) -> None:
        """Read the index entries of a few records, without the whole index; the index's checksum is not verified.

        A segment must have a possible size and be within its strip, and has its own checksum. The factors of the
        columns are requested at the same time.
        """
        g = self._group[ours]
        j = self._group[theirs]
        tiles = g * self.shape.groups + j
        groups = self.shape.groups
        width = layout.BEGIN.itemsize
        at = self._index[g] + width * ((ours - self.edges[g]) * groups + j)
        sizes = self._factors[tiles] + 4
        beside = self._factors_at[tiles] + (theirs - self.edges[j]) * sizes
        unread = ~self._factors_checked[g, theirs]
        new = ~(self._entry_loaded[ours, j] | self._index_loaded[g])
        parts = [(a, 2 * width) for a in at[new].tolist()]
        self.source.prefetch(parts + list(zip(beside[unread].tolist(), sizes[unread].tolist(), strict=True)))
        pairs = [np.frombuffer(self.source.bytes(*part), layout.BEGIN) for part in parts]
        begins, ends = np.array(pairs, np.int64).reshape(-1, 2).T + self.offset
        most = self.offset + np.array(self.directory.strips)[g[new] + 1]
        least = self._min_segment_bytes(tiles[new])
        right = (self._first[g[new]] <= begins) & (begins <= ends - least) & (ends <= most)
        if not right.all():
            wrong = int(right.argmin())
            found = f"bytes {begins[wrong]} to {ends[wrong]}"
            raise CorruptError(self.source.name, parts[wrong][0], f"a segment before {most[wrong]}", found)
        self._begins[ours[new], j[new]] = begins
        self._begins[ours[new], j[new] + 1] = ends
        self._entry_loaded[ours[new], j[new]] = True

    def _read_checked(
        self, starts: Numbers, ends: Numbers, known: NDArray[np.bool_]
    ) -> tuple[Bytes, Numbers]:
        """Return bytes that contain these parts of the file, and the offset of each part in them.

        Parts that are not `known` to be right are checked, once even if they occur twice.
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
        """Raise CorruptError unless the checksum of every part, at offset `at` in data, is right."""
        view = data.data
        for first, start, end in zip(at.tolist(), starts.tolist(), ends.tolist(), strict=True):
            last = first + end - start
            if crc(view[first : last - 4]) != view[last - 4 : last]:
                size = f"a block of {end - start} bytes as its checksum says"
                raise CorruptError(self.source.name, start, size, "another")

    def segments(self, places: Numbers, j: int) -> tuple[Bytes, Numbers, Numbers]:
        """Return the row segments, with verified checksums, of some rows in the tiles of column group j.

        places : rows in the file's order, all of one group.

        Returns
        -------
        (data, starts, ends): bytes, and the range of each segment in them.
        """
        g = int(self._group[places[0]])
        self._load_index(g)
        starts = self._begins[places, j]
        ends = self._begins[places, j + 1]
        data, at = self._read_checked(starts, ends, self._rows_checked[places, j])
        self._rows_checked[places, j] = True
        return data, at, at + (ends - starts)

    def column_factors(self, g: int, j: int) -> Bytes:
        """Return the verified low-rank factors of the columns of tile (g, j), (width, bytes) uint8.

        The tile has the rows of group g and the columns of group j of positions.
        """
        size = self.model(g, j).factor_bytes + 4
        width = int(self._widths[j])
        at = int(self._factors_at[g * self.shape.groups + j])
        end = at + width * size
        data = self._mapped
        part = data[at:end] if data is not None else np.frombuffer(self.source.bytes(at, end - at), np.uint8)
        checked = self._factors_checked[g, self.edges[j] : self.edges[j + 1]]
        if not checked.all():
            places = np.arange(width, dtype=np.int64) * size
            self._check(part, places, at + places, at + places + size)
            checked[:] = True
        return part.reshape(width, size)[:, : size - 4]

    def check_all(self) -> None:
        """Check every checksum of factors and row segments; CorruptError for the first that is wrong."""
        for g in range(self.shape.groups):
            places = np.arange(self.edges[g], self.edges[g + 1])
            for j in range(self.shape.groups):
                self.column_factors(g, j)
                self.segments(places, j)
            self.source.release()

    def _block_error(self, start: int) -> CorruptError:
        """Return the error for an invalid segment."""
        return CorruptError(self.source.name, start, "blocks of records", "others")

    # -- rows --------------------------------------------------------------------------------------------

    def rows(self, numbers: Numbers) -> Records:
        """Decode the rows of these sides on roll, (m, n, columns) uint16, both sides by position number."""
        return self._decode(self.places[numbers], range(self.shape.groups), self.directory.order)

    def piece(self, places: Numbers, first: int, last: int) -> Records:
        """Decode the records of some rows against columns first..last-1, (m, last - first, columns) uint16.

        Rows and columns are numbered by place: their index in the file's own order of positions. Only the tiles with
        these columns are decoded.
        """
        tiles = range(int(self._group[first]), int(self._group[last - 1]) + 1)
        begin = int(self.edges[tiles.start])
        found = self._decode(places, tiles, np.arange(-begin, self.shape.positions - begin))
        return found[:, first - begin : last - begin]

    def _decode(self, places: Numbers, tiles: range, into: Numbers) -> Records:
        """Decode rows, by place, in some columns of tiles; the column of place p becomes column into[p]."""
        shape = self.shape
        width = int(self.edges[tiles.stop] - self.edges[tiles.start])
        out = np.empty((len(places), width, shape.columns), np.uint16)
        whole = out.view(np.uint64 if shape.columns == 4 else np.uint16)[..., 0]  # records as one number
        group = self._group[places]
        for g in np.unique(group).tolist():
            mine = np.flatnonzero(group == g)
            mine = mine[np.argsort(places[mine])]
            for j in tiles:
                tile = self.model(g, j)
                width = int(self._widths[j])
                target = into[self.edges[j] : self.edges[j + 1]]
                data, starts, ends = self.segments(places[mine], j)
                entry = shape.entry_bytes(width)
                factors = data[(starts + entry)[:, None] + np.arange(tile.factor_bytes)]
                predicted = np.empty((shape.columns, len(mine), width), np.uint16)
                model.predict(factors, self.column_factors(g, j), tile, predicted)
                bad = kernels.decode_rows(
                    data, starts, ends, width, tile.factor_bytes, shape.columns, shape.block, self._slots,
                    self._low_bits, predicted, mine, target, whole,
                )  # fmt: skip
                if bad >= 0:
                    raise self._block_error(int(self._begins[places[mine[bad]], j]))
        return out

    # -- single records ----------------------------------------------------------------------------------

    def records(self, us: Numbers, them: Numbers) -> Records:
        """Decode the records of pairs (us on roll, them) of position numbers, (m, columns) uint16."""
        shape = self.shape
        if not len(us):
            return np.empty((0, shape.columns), np.uint16)
        ours = self.places[us]
        theirs = self.places[them]
        groups = shape.groups
        group = self._group
        strips = np.flatnonzero(np.bincount(group[ours], minlength=groups)).tolist()
        self._load_heads(strips)
        by_entry = self.source.far and len(np.unique(ours * groups + group[theirs])) <= MAX_SINGLE_RECORDS
        if by_entry:
            self._load_entries(ours, theirs)
        else:
            for strip in strips:
                self._load_index(strip)
        order = np.argsort(((group[ours] * groups + group[theirs]) << 32) + ours)
        ours = ours[order]
        theirs = theirs[order]
        g = group[ours]
        j = group[theirs]
        tiles = g * groups + j
        places = theirs - self.edges[j]
        starts = self._begins[ours, j]
        ends = self._begins[ours, j + 1]
        beside = self._factors_at[tiles] + places * (self._factors[tiles] + 4)
        known = self._rows_checked[ours, j]
        beside_known = self._factors_checked[g, theirs]
        parts = (starts, ends, known), (beside, beside + self._factors[tiles] + 4, beside_known)
        if by_entry or len(us) <= MAX_SINGLE_RECORDS:
            for begins, stops, right in parts:
                sizes = (stops - begins)[~right].tolist()
                self.source.prefetch(list(zip(begins[~right].tolist(), sizes, strict=True)))
        (data, at), (side, side_at) = (self._read_checked(*part) for part in parts)
        if not (known.all() and beside_known.all()):
            self._rows_checked[ours, j] = self._factors_checked[g, theirs] = True
        out = np.empty((len(us), shape.columns), np.uint16)
        bad = kernels.decode_records(
            data, at, at + (ends - starts), side, side_at, places, tiles, self._tile_widths, self._factors,
            self._parts, self._shifts, shape.block, self._slots, self._low_bits, order, out,
        )  # fmt: skip
        if bad >= 0:
            raise self._block_error(int(starts[bad]))
        return out

    def record(self, us: int, them: int) -> Records:
        """Decode the record of one pair of position numbers, us on roll, (columns,); faster than `records`."""
        place = self.places.item(us)
        beside = self.places.item(them)
        g = self._group.item(place)
        j = self._group.item(beside)
        if self._mapped is not None and self._rows_checked[place, j] and self._factors_checked[g, beside]:
            column = beside - self.edges.item(j)
            tile = g * self.shape.groups + j
            factors = self._factors.item(tile)
            out = np.empty(self.shape.columns, np.uint16)
            args: Any = (
                self._mapped, self._begins.item(place, j), self._begins.item(place, j + 1),
                self._factors_at.item(tile) + column * (factors + 4), column, self._widths.item(j), factors,
                self._parts[tile], self._shifts, self.shape.block, self._slots, self._low_bits, out,
            )  # fmt: skip
            self._record = self._record or vars(kernels)["decode_record"].function_for(*args)
            if self._record(*args):
                return out
        record: Records = self.records(np.array([us]), np.array([them]))[0]
        return record


class PackedRows(LazyRows):
    """Equities of a compressed table as a lazy array, (n, n, columns) uint16."""

    def __init__(self, reader: Reader) -> None:
        #: `order`: position numbers in the file's order of rows and columns; `piece`: records by that order. The
        #: verifier asks for both.
        self.order = reader.directory.order
        self.piece = reader.piece
        self.reader = reader
        n = reader.shape.positions
        super().__init__((n, n, reader.shape.columns), "<u2", self._fetch_rows, reader.rows, reader.records)
        self._ahead: tuple[int, Records] = (0, np.empty((0, n, reader.shape.columns), np.uint16))
        self._next = -1

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, (int, np.integer)) for k in key):
            us, them = (range(len(self))[k] for k in key)
            return self.reader.record(us, them)
        return super().__getitem__(key)

    def _fetch_rows(self, start: int, stop: int) -> Records:
        """Return rows start..stop-1; if rows are read sequentially, more of them are decoded at once and cached."""
        first, rows = self._ahead
        if start < first or stop > first + len(rows) or start >= stop:
            more = 0 < start == self._next
            size = len(self) * self.shape[2] * 2
            end = stop
            if more:
                wanted = READ_AHEAD_ROWS * self.reader.shape.groups * size
                ahead = min(MAX_READ_AHEAD_BYTES, max(MIN_READ_AHEAD_BYTES, wanted)) // size
                end = max(stop, min(len(self), start + ahead))
                self._ahead = (0, rows[:0])  # release memory before allocating more
                del rows
            first = start
            rows = self.reader.rows(np.arange(start, end))
            if more:
                self._ahead = (first, rows)
        self._next = stop
        return rows[start - first : stop - first]
