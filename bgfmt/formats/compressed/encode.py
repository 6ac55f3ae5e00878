"""Writing a table: strip by strip of rows, tile by tile; memory is that of one strip."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats import records
from bgfmt.formats.base import Outlet
from bgfmt.formats.compressed import classes, fit, predict
from bgfmt.formats.compressed.layout import Directory, Shape, crc, shape_of, strip_head
from bgfmt.formats.compressed.leaving import order_of
from bgfmt.formats.compressed.order import weakest_first, weakness
from bgfmt.formats.compressed.threads import one_thread
from bgfmt.tables import Rows, TwoSided

ROWS = 512  # of a tile at once
GATHERED = 256  # rows of the table at once
AT_ONCE = 2  # tiles

Bytes = NDArray[np.uint8]


def facts_of(table: TwoSided) -> bytes:
    """What the table says beyond its numbers."""
    said = records.facts_of(table)
    return json.dumps(said).encode() if said else b""


def write(table: TwoSided, sink: Outlet, level: int = 1) -> None:
    """The whole of a table; CapabilityError where the second level cannot hold it."""
    columns = table.equities.shape[2]
    facts = facts_of(table)
    shape = shape_of(level, table.points, table.chequers, columns, len(facts))
    numbers = order_of(table) if level == 2 else weakest_first(weakness(table.equities))
    begin = sink.written
    sink.skip(shape.first_strip)
    sink.count(shape.first_strip)
    strips = [shape.first_strip]
    edges, many = shape.edges(), [shape.tiles(g) for g in range(shape.groups)]
    for g in range(shape.groups):
        strip = _gathered(table.equities, numbers, numbers[edges[g] : edges[g + 1]])
        if table.release is not None:
            table.release()

        def made(size: int, tiles: int, g: int = g) -> None:
            sink.count(size)
            sink.expect(sink.counted * sum(many) / (sum(many[:g]) + tiles))

        for piece in _strip(strip, shape, g, strips[-1], made):
            sink.sink.write(piece)
        del strip
        strips.append(sink.written - begin)
    size = strips[-1]
    shape = shape_of(level, table.points, table.chequers, columns, len(facts), size)
    directory = Directory(classes.ladder(), strips, numbers, facts)
    sink.sink.write_at(begin, shape.build() + directory.build())


def _gathered(equities: Rows, numbers: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Rows of the table, both sides in the order of the file."""
    out = np.empty((len(rows), *equities.shape[1:]), np.uint16)
    for start in range(0, len(rows), GATHERED):
        part = np.asarray(equities[rows[start : start + GATHERED]])
        for k in range(len(part)):
            np.take(part[k], numbers, axis=0, out=out[start + k], mode="clip")
    return out


def _strip(
    strip: NDArray[np.uint16], shape: Shape, g: int, begin: int, made: Callable[[int, int], None]
) -> list[Any]:
    """The bytes of a strip in pieces."""
    edges = shape.edges()
    tiles, beside, parts, sizes = [], [], [], []

    def packed(j: int) -> tuple[Any, Bytes, bytearray, NDArray[np.int64]]:
        tile = strip[:, edges[j] : edges[j + 1]]
        left, right, scales = fit.as_bytes(fit.fit(tile, g * shape.groups + j, _prices(shape, g == j)))
        return scales, _sealed(right), *_rows(tile, left, right, scales, shape, shape.widths(g, j))

    with one_thread, ThreadPoolExecutor(AT_ONCE) as pool:
        for j, (scales, factors, data, lengths) in enumerate(pool.map(packed, range(shape.tiles(g)))):
            tiles.append(scales)
            beside.append(factors)
            parts.append(data)
            sizes.append(lengths)
            made(factors.nbytes + len(data), j + 1)
    head = strip_head(tiles)
    lengths = np.array(sizes).T  # (rows, tiles)
    at = len(head) + 8 * (lengths.size + 1) + 4 + sum(b.nbytes for b in beside)
    index = np.empty(lengths.size + 1, "<u8")
    index[0] = begin + at
    index[1:] = begin + at + np.cumsum(lengths.reshape(-1))
    pieces: list[Any] = [head, index.tobytes(), crc(index.tobytes()), *beside]
    starts = np.cumsum(lengths, axis=0) - lengths
    views = [memoryview(part) for part in parts]
    for first in range(0, len(lengths), 1024):
        some = range(first, min(len(lengths), first + 1024))
        pieces.append(
            b"".join(
                views[j][starts[k, j] : starts[k, j] + lengths[k, j]]
                for k in some
                for j in range(shape.tiles(g))
            )
        )
    return pieces


def _prices(shape: Shape, diagonal: bool) -> tuple[float, float]:
    """What factors may cost: on the diagonal of the second level they serve half of the records."""
    if shape.level == 1:
        return fit.PRICES
    narrow, fine = fit.LEAST_PRICES
    return (2 * narrow, 2 * fine) if diagonal else (narrow, fine)


def _sealed(factors: Bytes) -> Bytes:
    """Factors with the checksum of each row of them behind it."""
    from bgfmt.formats.compressed import kernels_sums

    m, size = factors.shape
    out = np.zeros((m, size + 4), np.uint8)
    out[:, :size] = factors
    ends = np.arange(1, m + 1) * (size + 4)
    kernels_sums.seal(out.reshape(-1), ends - size - 4, ends)
    return out


def _rows(
    tile: NDArray[np.uint16], left: Bytes, right: Bytes, scales: Any, shape: Shape, widths: NDArray[np.int64]
) -> tuple[bytearray, NDArray[np.int64]]:
    """Row segments of a tile, so many records of each row, one behind the other, and their sizes."""
    from bgfmt.formats.compressed import kernels_sums, kernels_writing

    ladder, edges = classes.ladder(), classes.edges()
    m, width, columns = tile.shape
    most = shape.entry_bytes(width) + left.shape[1] + 4 + width * columns * 2 + 8
    predicted = np.empty((columns, min(m, ROWS), width), np.uint16)
    room = np.empty(min(m, ROWS) * most, np.uint8)
    sizes = np.zeros(m, np.int64)
    out = bytearray()
    for start in range(0, m, ROWS):
        some = slice(start, min(m, start + ROWS))
        part = tile[some]
        predict.predict(left[some], right, scales, predicted[:, : len(part)])
        size = kernels_writing.encode(
            part, predicted[:, : len(part)], widths[some], left[some], shape.block, edges, ladder.frequencies,
            ladder.begins, ladder.shifts, room, sizes[some],
        )  # fmt: skip
        ends = np.cumsum(sizes[some])
        kernels_sums.seal(room, ends - sizes[some], ends)
        out += room[:size].tobytes()
    return out, sizes
