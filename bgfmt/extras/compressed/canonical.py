"""Compare the bytes of a compressed table with those that bgfmt's writer writes for the same numbers.

The format leaves a writer free: any order of the positions, any classes, any factors, and blocks coded in more than
one way give the same numbers. So a file can be altered without altering its table. Whatever differs from the writer's
choice is reported as carried along: it is no part of a number, readers ignore it, and copies preserve it.

The factors are taken from the file, and everything else is compared with what follows from them and the numbers. A
table of at most `MAX_REWRITTEN_POSITIONS` positions is also written anew, factors included: there a factor can be so
weak that another value predicts the same. In a larger table a factor takes part in thousands of predictions, and
another value changes some of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bgfmt.errors import MissingExtraError
from bgfmt.extras.compressed import kernels_canonical, layout, model, writer
from bgfmt.extras.compressed.reader import Reader
from bgfmt.formats.base import Fault, Outlet
from bgfmt.storage import ComparingSink
from bgfmt.tables.two_sided import StoredEquities

MAX_REWRITTEN_POSITIONS = 1024  # larger tables are not written anew


def find_differences(reader: Reader, table: StoredEquities) -> Iterator[Fault]:
    """Yield the parts of a file that bgfmt's writer would write otherwise; checksums are already verified.

    reader : of the file. table : the table that it holds.
    """
    found = [*_compare_head(reader, table)]
    if _has_own_classes(reader):  # the coding of blocks depends on them
        groups = range(reader.shape.groups)
        found += [fault for g in groups for j in groups for fault in _compare_segments(reader, g, j)]
    if not found and reader.shape.positions <= MAX_REWRITTEN_POSITIONS:
        found += _compare_factors(reader, table)
    yield from found


def _carried_fault(offset: int, size: int, what: str, expected: str, found: str = "others") -> Fault:
    """Return a fault that readers ignore and copies preserve."""
    return Fault(offset, size, what, expected, found, carried=True)


def _has_own_classes(reader: Reader) -> bool:
    """Return True if the file's classes are those that bgfmt writes."""
    found = reader.directory.classes
    own = model.default_classes()
    return all(np.array_equal(one, other) for one, other in zip(found, own, strict=True))


def _compare_head(reader: Reader, table: StoredEquities) -> Iterator[Fault]:
    """Yield differences in header and directory; the offsets of the strips follow from the strips themselves."""
    shape = reader.shape
    place = {name: (reader.offset + part.offset, part.size) for name, part in shape.parts.items()}
    columns = table.equities.shape[2]
    own = layout.Shape.of(shape.version, table.points, table.chequers, columns, shape.facts_bytes, shape.size)
    if shape != own:
        expected = f"{own.groups} groups and blocks of {own.block} records"
        yield _carried_fault(reader.offset, layout.HEADER_BYTES, "the header", expected)
    if not _has_own_classes(reader):
        yield _carried_fault(*place["classes"], "the classes", "those that bgfmt writes")
    if not np.array_equal(reader.directory.order, writer.weakest_first(table.equities)):
        yield _carried_fault(*place["order"], "the positions", "the weakest first", "another order")
    if reader.directory.facts != writer.facts_of(table):
        yield _carried_fault(*place["facts"], "the facts", "those that bgfmt writes")


def _compare_segments(reader: Reader, g: int, j: int) -> Iterator[Fault]:
    """Yield a fault if row segments of tile (g, j) are coded otherwise than the writer codes them.

    Only segments that may be coded otherwise are encoded again, with the file's factors, and compared.
    """
    edges = reader.edges.tolist()
    shape = reader.shape
    tile_model = reader.model(g, j)
    width = edges[j + 1] - edges[j]
    classes = model.default_classes()
    slots = classes.slots.reshape(-1)
    for start in range(edges[g], edges[g + 1], writer.PACKED_ROWS):
        places = np.arange(start, min(start + writer.PACKED_ROWS, edges[g + 1]))
        data, starts, ends = reader.segments(places, j)
        suspects = np.zeros(len(places), bool)
        kernels_canonical.find_suspects(
            data, starts, width, tile_model.factor_bytes, shape.columns, shape.block, slots, classes.shifts,
            model.class_edges(), classes.ranges, suspects,
        )  # fmt: skip
        if not suspects.any():
            continue
        places = places[suspects]
        starts = starts[suspects]
        ends = ends[suspects]
        factors = (starts + shape.entry_bytes(width))[:, None] + np.arange(tile_model.factor_bytes)
        records = reader.piece(places, edges[j], edges[j + 1])
        again, sizes = writer.encode_rows(
            records, shape.block, data[factors], reader.column_factors(g, j, 0, width), tile_model
        )
        stops = np.cumsum(sizes)
        parts = zip(starts.tolist(), ends.tolist(), (stops - sizes).tolist(), stops.tolist(), strict=True)
        odd = [k for k, (a, b, low, high) in enumerate(parts) if data[a:b].tobytes() != again[low:high]]
        if odd:
            size = int((ends - starts)[odd].sum())
            expected = "blocks coded as bgfmt codes these numbers"
            yield _carried_fault(reader.segment_at(int(places[odd[0]]), j), size, "a row segment", expected)
    reader.source.release()


def _compare_factors(reader: Reader, table: StoredEquities) -> Iterator[Fault]:
    """Write the table again and compare; a difference found only here is one of factors."""
    begin = reader.offset
    size = reader.shape.size
    sink = ComparingSink(memoryview(reader.source.bytes(begin, size)))
    try:
        writer.write(table, reader.shape.version, Outlet(sink))
    except MissingExtraError as error:
        yield _carried_fault(begin, size, "the factors", "a comparison with bgfmt's", f"none: {error}")
        return
    differing = [(at, max(len(expected), len(stored))) for at, expected, stored in sink.runs()]
    if differing:
        expected = "those that bgfmt finds on this processor"
        yield _carried_fault(
            begin + differing[0][0], sum(size for _, size in differing), "the factors", expected
        )
