"""Compare the bytes of a compressed table with those that bgfmt's writer writes for the same numbers.

The format leaves a writer free: any order of the positions, any classes, any factors, and blocks coded in more than
one way give the same numbers. So a file can be altered without altering its table. Whatever differs from the writer's
choice is reported as carried along: it is no part of a number, readers ignore it, and copies preserve it.

Header and directory are compared in every file. The strips are compared by writing the table again if it has at most
`MAX_REWRITTEN_POSITIONS` positions. Larger tables take too long, and their factors depend on the processor.
"""

from __future__ import annotations

from collections.abc import Iterator

from bgfmt.errors import MissingExtraError
from bgfmt.extras.compressed import layout, model, writer
from bgfmt.extras.compressed.reader import Reader
from bgfmt.formats.base import Fault, Outlet
from bgfmt.storage import ComparingSink
from bgfmt.tables.two_sided import StoredEquities

MAX_REWRITTEN_POSITIONS = 1024


def find_differences(reader: Reader, table: StoredEquities) -> Iterator[Fault]:
    """Yield the parts of a file that bgfmt's writer would write otherwise; checksums are already verified.

    reader : of the file. table : the table that it holds.
    """
    found = [*_compare_head(reader, table)]
    if not found and reader.shape.positions <= MAX_REWRITTEN_POSITIONS:
        found += _compare_strips(reader, table)
    yield from found


def _carried_fault(offset: int, size: int, what: str) -> Fault:
    """Return a fault that readers ignore and copies preserve."""
    return Fault(offset, size, what, "what bgfmt's writer writes", "something else", carried=True)


def _compare_head(reader: Reader, table: StoredEquities) -> Iterator[Fault]:
    """Yield differences in fields of header and directory; the offsets of the strips are the file's own."""
    shape = reader.shape
    columns = table.equities.shape[2]
    own = layout.Shape.of(shape.version, table.points, table.chequers, columns, shape.facts_bytes, shape.size)
    order = writer.weakest_first(table.equities)
    directory = layout.Directory(
        model.default_classes(), reader.directory.strips, order, writer.facts_of(table)
    )
    expected = own.build() + directory.build()
    stored = reader.source.bytes(reader.offset, shape.first_strip)
    for name, part in shape.parts.items():
        end = part.offset + part.size
        if expected[part.offset : end] != stored[part.offset : end] and not name.endswith("crc"):
            yield _carried_fault(reader.offset + part.offset, part.size, f"the field {name}")


def _compare_strips(reader: Reader, table: StoredEquities) -> Iterator[Fault]:
    """Write the table again and compare, if the packages for that are installed."""
    sink = ComparingSink(memoryview(reader.source.bytes(reader.offset, reader.shape.size)))
    try:
        writer.write(table, reader.shape.version, Outlet(sink))
    except MissingExtraError:
        return
    differing = [(at, max(len(expected), len(stored))) for at, expected, stored in sink.runs()]
    if differing:
        size = sum(size for _, size in differing)
        yield _carried_fault(reader.offset + differing[0][0], size, "the strips")
