"""Writer of compressed tables: strip by strip of rows, tile by tile. Memory: a few tiles and one packed strip."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import extra, install_hint
from bgfmt.extras.compressed import kernels_records, layout, model
from bgfmt.extras.compressed.layout import Directory, Shape, TileModel, crc, strip_head, with_checksum
from bgfmt.formats import records
from bgfmt.formats.base import Outlet
from bgfmt.formats.structures import size_of
from bgfmt.tables import Rows
from bgfmt.tables.two_sided import StoredEquities

PACKED_ROWS = 512  # rows of a tile that are encoded together
GATHER_ROWS = 128  # rows of the table that are read together
SAMPLED_ROWS = 97  # rows from which the strength of the positions is estimated
PARALLEL_TILES = 2
MAX_HELD_BYTES = 1 << 30  # of tiles gathered in one pass over their rows

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
#: held while BLAS is limited to one thread: another writer would otherwise restore the limit too early
_one_thread = threading.Lock()


def facts_of(table: StoredEquities) -> bytes:
    """Return what the table states besides its numbers (such as its recipe) as JSON, or b"" if that is nothing."""
    facts = records.facts_of(table)
    return json.dumps(facts).encode() if facts else b""


def weakest_first(equities: Rows) -> Numbers:
    """Return the position numbers sorted from the weakest position, by mean cubeless equity over a sample of rows.

    The order is only for good compression: any other is valid.
    """
    n = equities.shape[0]
    sampled = np.unique(np.linspace(0, n - 1, SAMPLED_ROWS).round().astype(np.int64))
    sums = np.asarray(equities[sampled])[..., 0].sum(axis=0, dtype=np.int64)
    return np.argsort(-sums, kind="stable")


def write(table: StoredEquities, version: int, sink: Outlet) -> None:
    """Write a whole table in the compressed format.

    version : 1; 3 if equities count gammons, 4 by Jacoby's rule.
    """
    facts = facts_of(table)
    size = version, table.points, table.chequers, table.equities.shape[2], len(facts)
    shape = Shape.of(*size)
    numbers = weakest_first(table.equities)
    begin = sink.position
    sink.skip(shape.first_strip)
    sink.count(shape.first_strip)
    strips = [shape.first_strip]
    for g in range(shape.groups):
        for piece in _strip(table, numbers, shape, g, strips[-1], sink):
            sink.sink.write(piece)
        strips.append(sink.position - begin)
    shape = Shape.of(*size, strips[-1])
    directory = Directory(model.default_classes(), strips, numbers, facts)
    sink.sink.write_at(begin, shape.build() + directory.build())


def _gather_rows(table: StoredEquities, rows: Numbers, columns: Numbers) -> NDArray[np.uint16]:
    """Return the records of some rows of the table against some columns, both in the order of the file."""
    out = np.empty((len(rows), len(columns), table.equities.shape[2]), np.uint16)
    for start in range(0, len(rows), GATHER_ROWS):
        part = np.asarray(table.equities[rows[start : start + GATHER_ROWS]])
        for k in range(len(part)):
            np.take(part[k], columns, axis=0, out=out[start + k], mode="clip")
        if table.release is not None:
            table.release()
    return out


def _strip(
    table: StoredEquities, numbers: Numbers, shape: Shape, g: int, begin: int, sink: Outlet
) -> Iterator[Any]:
    """Yield the bytes of a strip in pieces; `sink` counts them tile by tile.

    BLAS is limited to one thread: two tiles in parallel are faster, and the factors do not depend on the processors.
    """
    threads = extra("threadpoolctl", "compressing a table needs threadpoolctl", install_hint("large"))
    edges = shape.edges()
    groups = shape.groups
    rows = numbers[edges[g] : edges[g + 1]]
    together = max(PARALLEL_TILES, MAX_HELD_BYTES // (2 * shape.columns * len(rows) ** 2))
    models = []
    beside = []
    segments = []
    sizes = []

    def pack(j: int, tile: NDArray[np.uint16]) -> tuple[TileModel, Bytes, memoryview, Numbers]:
        factored = _pack_tile(tile, shape, *model.fit(tile, g * groups + j))
        if factored[1].nbytes + len(factored[2]) < tile.nbytes:
            return factored
        bare = _pack_tile(
            tile, shape, *model.without_factors(tile)
        )  # residuals only, uncompressed where necessary
        return min(factored, bare, key=lambda one: one[1].nbytes + len(one[2]))

    with _one_thread, threads.threadpool_limits(1, "blas"), ThreadPoolExecutor(PARALLEL_TILES) as pool:
        for first in range(0, groups, together):
            some = range(first, min(groups, first + together))
            part = _gather_rows(table, rows, numbers[edges[first] : edges[some.stop]])
            tiles = np.split(part, [edges[j] - edges[first] for j in some[1:]], axis=1)
            for j, (tile_model, factors, data, lengths) in zip(
                some, pool.map(pack, some, tiles), strict=True
            ):
                models.append(tile_model)
                beside.append(factors)
                segments.append(data)
                sizes.append(lengths)
                sink.count(factors.nbytes + len(data))
                sink.expect(sink.counted * groups**2 / (g * groups + j + 1))
            del part, tiles
    head = strip_head(models)
    lengths = np.array(sizes).T  # (rows, tiles)
    index_bytes = size_of(layout.INDEX, segments=lengths.size)
    at = begin + len(head) + index_bytes + sum(factors.nbytes for factors in beside)
    index = at + np.concatenate([[0], np.cumsum(lengths)])
    yield from (head, with_checksum(index.astype(layout.BEGIN).tobytes()), *beside)
    ends = np.cumsum(lengths, axis=0)
    for k in range(len(lengths)):
        yield b"".join(data[ends[k, j] - lengths[k, j] : ends[k, j]] for j, data in enumerate(segments))


def _pack_tile(
    tile: NDArray[np.uint16], shape: Shape, left: Bytes, right: Bytes, tile_model: TileModel
) -> tuple[TileModel, Bytes, memoryview, Numbers]:
    """Encode a tile with given factors: return model, column factors with checksums, row segments, their sizes."""
    classes = model.default_classes()
    rows, width, columns = tile.shape
    most = shape.entry_bytes(width) + left.shape[1] + 4 + width * columns * 2 + 8
    room = np.empty(min(rows, PACKED_ROWS) * most, np.uint8)
    out = bytearray()
    sizes = np.zeros(rows, np.int64)
    for start in range(0, rows, PACKED_ROWS):
        some = slice(start, start + PACKED_ROWS)
        stored = np.ascontiguousarray(tile[some])
        factors = np.ascontiguousarray(left[some])
        predicted = np.empty((columns, len(stored), width), np.uint16)
        model.predict(factors, right, tile_model, predicted)
        size = kernels_records.encode(
            stored, predicted, factors, shape.block, model.class_edges(), classes.frequencies, classes.begins,
            classes.shifts, room, sizes[some],
        )  # fmt: skip
        data = room.data[:size]
        for end, length in zip(np.cumsum(sizes[some]).tolist(), sizes[some].tolist(), strict=True):
            data[end - 4 : end] = crc(data[end - length : end - 4])
        out += data
    sums = np.frombuffer(b"".join(crc(row) for row in np.ascontiguousarray(right)), np.uint8)
    sealed_right = np.concatenate([right, sums.reshape(-1, 4)], axis=1)
    return tile_model, sealed_right, memoryview(out), sizes
