"""Parquet files written column by column: pages of plain numbers, and runs for the chequer counts.

A row group holds whole rows of the table. Each column has one data page a group, not compressed: numbers and Position
IDs plain; counts as runs of dictionary indices, which for the side on roll are one run a row and for the other side
the same bytes in every row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.parquet import thrift
from bgfmt.formats.parquet.thrift import BINARY, I32, I64, STRUCT, field_list, struct, varint
from bgfmt.tables.flat import ID_LENGTH, Flat, Piece

MAGIC = b"PAR1"
INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY = 1, 2, 4, 5, 6
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
UTF8 = 0
BITS = 4  # of a count
#: physical type, how its numbers are stored, and the converted type, of a column's dtype
TYPES: dict[str, tuple[int, str, int | None]] = {
    "u1": (INT32, "<i4", 11),
    "u2": (INT32, "<i4", 12),
    "u4": (INT32, "<u4", 13),
    "i4": (INT32, "<i4", None),
    "i8": (INT64, "<i8", None),
    "f4": (FLOAT, "<f4", None),
    "f8": (DOUBLE, "<f8", None),
    f"S{ID_LENGTH}": (BYTE_ARRAY, "", UTF8),
}
DICTIONARY = np.arange(1 << BITS, dtype="<i4").tobytes()


class Chunk(NamedTuple):
    """A column of a row group: its bytes, and what the footer says of them."""

    data: tuple[bytes | NDArray[Any], ...]
    size: int
    data_page: int
    dictionary: bool
    bounds: tuple[bytes, bytes] | None = None


def of(column: Flat) -> tuple[int, str, int | None]:
    """Physical type, storage and converted type of a column."""
    return TYPES[column.dtype.str[1:]]


def group(piece: Piece, columns: list[Flat]) -> list[Chunk]:
    """The columns of some rows of a table."""
    values = piece.values()
    return [_chunk(piece, column, values) for column in columns]


def _chunk(piece: Piece, column: Flat, values: Iterable[NDArray[Any]]) -> Chunk:
    if column.role == "count":
        return _counts(piece, column)
    bounds = None
    if column.role == "number":
        data: NDArray[Any] = piece.numbers.astype("<i8", copy=False)
        bounds = data[:1].tobytes(), data[-1:].tobytes()
    elif column.role == "id":
        data = np.empty((piece.size, 4 + ID_LENGTH), np.uint8)
        data[:, :4] = (ID_LENGTH, 0, 0, 0)
        piece.ids(data)
    elif column.role == "stored":
        data = piece.stored(column).astype(of(column)[1], copy=False)
    else:
        data = next(iter(values)).astype(of(column)[1], copy=False)
    head = _page(0, data.nbytes, piece.size, PLAIN)
    return Chunk((head, data), len(head) + data.nbytes, 0, False, bounds)


def _counts(piece: Piece, column: Flat) -> Chunk:
    rows = piece.rows.stop - piece.rows.start
    if piece.table.sides == 1:
        body = _packed(piece.us[:, column.place])
    elif column.of == "us":
        runs = [varint(piece.width << 1) + bytes([count]) for count in piece.us[:, column.place].tolist()]
        body = b"".join(runs)
    else:
        body = _row(piece.them[:, column.place]) * rows
    data = bytes([BITS]) + body
    words = _page(2, len(DICTIONARY), 1 << BITS, PLAIN)
    head = _page(0, len(data), piece.size, RLE_DICTIONARY)
    size = len(words) + len(DICTIONARY) + len(head) + len(data)
    return Chunk((words + DICTIONARY + head + data,), size, len(words) + len(DICTIONARY), True)


def _packed(counts: NDArray[np.int8]) -> bytes:
    """One run of packed indices, zeros behind the last to a multiple of eight."""
    groups = -(-len(counts) // 8)
    padded = np.zeros(8 * groups, np.uint8)
    padded[: len(counts)] = counts
    return varint(groups << 1 | 1) + (padded[::2] | padded[1::2] << BITS).tobytes()


def _row(counts: NDArray[np.int8]) -> bytes:
    """Runs that end where the row ends: packed as far as eights go, then one by one."""
    whole = len(counts) // 8 * 8
    packed = _packed(counts[:whole]) if whole else b""
    return packed + b"".join(bytes([2, count]) for count in counts[whole:].tolist())


def _page(kind: int, size: int, values: int, encoding: int) -> bytes:
    """The header of a data page (kind 0) or of a dictionary page (2)."""
    if kind == 2:
        said: thrift.Field = (7, STRUCT, ((1, I32, values), (2, I32, encoding)))
    else:
        said = (5, STRUCT, ((1, I32, values), (2, I32, encoding), (3, I32, RLE), (4, I32, RLE)))
    return struct((1, I32, kind), (2, I32, size), (3, I32, size), said)


class Footer:
    """What is said of a file at its end, gathered group by group."""

    def __init__(self, columns: list[Flat]) -> None:
        self._columns, self._groups, self._rows = columns, list[thrift.Value](), 0

    def add(self, chunks: list[Chunk], rows: int, at: int) -> None:
        """A row group whose bytes begin at `at`."""
        said, total = list[thrift.Value](), 0
        for column, chunk in zip(self._columns, chunks, strict=True):
            begin = at + total
            encodings = [PLAIN, RLE_DICTIONARY] if chunk.dictionary else [PLAIN]
            meta: list[thrift.Field] = [
                (1, I32, of(column)[0]),
                field_list(2, I32, encodings),
                field_list(3, BINARY, [column.name.encode()]),
                (4, I32, 0),
                (5, I64, rows),
                (6, I64, chunk.size),
                (7, I64, chunk.size),
                (9, I64, begin + chunk.data_page),
            ]
            if chunk.dictionary:
                meta.append((11, I64, begin))
            if chunk.bounds:
                least, most = chunk.bounds
                meta.append((12, STRUCT, ((3, I64, 0), (5, BINARY, most), (6, BINARY, least))))
            said.append(struct((2, I64, begin), (3, STRUCT, tuple(meta))))
            total += chunk.size
        self._groups.append(struct(field_list(1, STRUCT, said), (2, I64, total), (3, I64, rows)))
        self._rows += rows

    def made(self, facts: dict[str, bytes], writer: str) -> bytes:
        """The end of the file: what it holds, the size of that, and the four letters."""
        schema = [struct((4, BINARY, b"table"), (5, I32, len(self._columns)))]
        for column in self._columns:
            kind, _, converted = of(column)
            said: list[thrift.Field] = [(1, I32, kind), (3, I32, 0), (4, BINARY, column.name.encode())]
            if converted is not None:
                said.append((6, I32, converted))
            schema.append(struct(*said))
        pairs = [struct((1, BINARY, k.encode()), (2, BINARY, v)) for k, v in facts.items()]
        orders = [struct((1, STRUCT, ())) for _ in self._columns]
        footer = struct(
            (1, I32, 1),
            field_list(2, STRUCT, schema),
            (3, I64, self._rows),
            field_list(4, STRUCT, self._groups),
            field_list(5, STRUCT, pairs),
            (6, BINARY, writer.encode()),
            field_list(7, STRUCT, orders),
        )
        return footer + len(footer).to_bytes(4, "little") + MAGIC
