"""Parquet files written column by column: pages of plain numbers, and runs for the chequer counts.

A row group holds whole rows of the table. Each column has one data page a group, not compressed:

position_number  differences, which are all 1
position_id      lengths as differences, which are all 0; then the letters
counts           runs of dictionary indices: for the side on roll one a row, for the other the same bytes in every row
16-bit numbers   in large groups: packed dictionary indices, which are the numbers themselves; a column of what each
                 one means has the same page and another dictionary
other numbers    plain
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.parquet import thrift
from bgfmt.formats.parquet.thrift import BINARY, I32, I64, STRUCT, field_list, struct, varint
from bgfmt.tables.flat import ID_LENGTH, Flat, Piece

MAGIC = b"PAR1"
INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY = 1, 2, 4, 5, 6
PLAIN, RLE, DELTA, DELTA_LENGTH, RLE_DICTIONARY = 0, 3, 5, 6, 8
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
COUNTS = np.arange(1 << BITS, dtype="<i4")
LARGE = 1 << 18  # entries of a group in which 16-bit numbers are indices of a dictionary of all of them


class Chunk(NamedTuple):
    """A column of a row group: its bytes, and what the footer says of them."""

    data: tuple[bytes | NDArray[Any], ...]
    encoding: int = PLAIN
    dictionary: int = 0  # bytes of its page
    bounds: tuple[bytes, bytes] | None = None

    @property
    def size(self) -> int:
        return sum(d.nbytes if isinstance(d, np.ndarray) else len(d) for d in self.data)


def of(column: Flat) -> tuple[int, str, int | None]:
    """Physical type, storage and converted type of a column."""
    return TYPES[column.dtype.str[1:]]


def group(piece: Piece, columns: list[Flat]) -> list[Chunk]:
    """The columns of some rows of a table."""
    values = piece.values()
    looked_up = piece.table.value_tables() if piece.size >= LARGE else {}
    indices: dict[tuple[str, int], NDArray[Any]] = {}

    def packed(array: str, item: int) -> NDArray[Any]:
        """16-bit numbers as they are packed, with zeros behind the last to a multiple of eight."""
        if (array, item) not in indices:
            rows = piece.block[array].reshape(piece.size, -1)[:, item]
            out = np.zeros(-(-piece.size // 8) * 8, "<u2")
            out[: piece.size] = rows
            indices[array, item] = out
        return indices[array, item]

    chunks = []
    for column in columns:
        if column.role == "stored" and column.dtype == np.uint16 and piece.size >= LARGE:
            whole = np.arange(1 << 16, dtype="<i4")
            chunks.append(_indexed(packed(column.of, column.place), whole, piece.size, 16))
        elif column.role == "value" and column.place in looked_up:
            array, item, meanings = looked_up[column.place]
            chunks.append(_indexed(packed(array, item), meanings.astype("<f4"), piece.size, 16))
        else:
            chunks.append(_chunk(piece, column, None if looked_up else values))
    return chunks


def _chunk(piece: Piece, column: Flat, values: Iterator[NDArray[Any]] | None) -> Chunk:
    if column.role == "count":
        return _counts(piece, column)
    if column.role == "number":
        first, last = (int(piece.numbers[k]) for k in (0, -1))
        data: bytes | NDArray[Any] = _differences(first, 1, piece.size)
        bounds = first.to_bytes(8, "little"), last.to_bytes(8, "little")
        return Chunk((_page(0, len(data), piece.size, DELTA), data), DELTA, 0, bounds)
    if column.role == "id":
        letters = np.empty((piece.size, ID_LENGTH), np.uint8)
        piece.ids(letters)
        sizes = _differences(ID_LENGTH, 0, piece.size)
        head = _page(0, len(sizes) + letters.nbytes, piece.size, DELTA_LENGTH)
        return Chunk((head + sizes, letters), DELTA_LENGTH)
    if column.role == "stored":
        numbers = piece.stored(column)
    else:
        assert values is not None
        numbers = next(values)
    data = numbers.astype(of(column)[1], copy=False)
    return Chunk((_page(0, data.nbytes, piece.size, PLAIN), data))


def _differences(first: int, step: int, size: int) -> bytes:
    """Numbers in equal steps, delta-encoded: blocks of 128 differences, all of them the least, in no bits."""
    head = varint(128) + varint(4) + varint(size) + varint(first << 1)
    return head + bytes([step << 1, 0, 0, 0, 0]) * -(-(size - 1) // 128)


def _indexed(packed: NDArray[Any], dictionary: NDArray[Any], size: int, bits: int) -> Chunk:
    """Packed indices of a dictionary."""
    words = _page(2, dictionary.nbytes, len(dictionary), PLAIN) + dictionary.tobytes()
    run = bytes([bits]) + varint((packed.nbytes // bits) << 1 | 1)
    head = _page(0, len(run) + packed.nbytes, size, RLE_DICTIONARY)
    return Chunk((words + head + run, packed), RLE_DICTIONARY, len(words))


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
    words = _page(2, COUNTS.nbytes, len(COUNTS), PLAIN) + COUNTS.tobytes()
    head = _page(0, len(data), piece.size, RLE_DICTIONARY)
    return Chunk((words + head + data,), RLE_DICTIONARY, len(words))


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
            encodings = [PLAIN, chunk.encoding] if chunk.dictionary else [chunk.encoding]
            meta: list[thrift.Field] = [
                (1, I32, of(column)[0]),
                field_list(2, I32, encodings),
                field_list(3, BINARY, [column.name.encode()]),
                (4, I32, 0),
                (5, I64, rows),
                (6, I64, chunk.size),
                (7, I64, chunk.size),
                (9, I64, begin + chunk.dictionary),
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
