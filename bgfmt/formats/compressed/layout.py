"""Where everything lies: the head of a file, strips of rows, tiles; see docs/formats/bgfmt-ts.md.

offset          type            content
0               8 bytes         "bgfmt-ts"
8               u16             version, 1
10              u8, u8, u8      points, chequers, columns (1 or 4)
13              u8              records of a block, as the power of 2
14              u16             groups G
16              u32             positions n
20              u32             bytes of facts F
24              u64             bytes of the whole table
32              28 bytes        zero
60              u32             CRC-32 of bytes 0 to 59
64              16 x 65 u16     classes: shift, 64 frequencies
2144            (G + 1) x u64   where the strips begin, and the end
...             n x u32         order: the position number of every place
...             F bytes         facts, JSON
...             u32             CRC-32 of everything from byte 64 on

All little-endian; offsets count from byte 0 of the table.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from construct import Bytes, Const, Int8ul, Int16ul, Int32ul, Int64ul, Struct
from numpy.typing import NDArray

from bgfmt.errors import CorruptError, HeaderError, TruncatedError
from bgfmt.formats.compressed.classes import Classes
from bgfmt.game import board
from bgfmt.storage import Source

MAGIC = b"bgfmt-ts"
VERSION = 1
HEAD_BYTES = 64
BLOCK = 128
MOST_GROUP = 8192
MOST_FACTS = 1 << 16
MOST_WIDE, MOST_NARROW, MOST_PAIRS = 256, 1024, 1024
CLASS_BYTES = 16 * 65 * 2
HEAD = Struct(
    "magic" / Const(MAGIC),
    "version" / Const(VERSION, Int16ul),
    "points" / Int8ul,
    "chequers" / Int8ul,
    "columns" / Int8ul,
    "block" / Int8ul,
    "groups" / Int16ul,
    "positions" / Int32ul,
    "facts" / Int32ul,
    "size" / Int64ul,
    "zero" / Const(bytes(28)),
    "crc" / Bytes(4),
)


@dataclass(frozen=True)
class Shape:
    """What the first 64 bytes say."""

    points: int
    chequers: int
    columns: int
    block: int
    groups: int
    positions: int
    facts: int
    size: int

    def edges(self) -> list[int]:
        """Where the groups begin among the places, and the end."""
        return [g * self.positions // self.groups for g in range(self.groups + 1)]

    @property
    def strips_at(self) -> int:
        """Where the offsets of the strips are."""
        return HEAD_BYTES + CLASS_BYTES

    @property
    def order_at(self) -> int:
        """Where the order of the positions is."""
        return self.strips_at + 8 * (self.groups + 1)

    @property
    def facts_at(self) -> int:
        """Where the facts are."""
        return self.order_at + 4 * self.positions

    @property
    def first_strip(self) -> int:
        """Where the first strip begins."""
        return self.facts_at + self.facts + 4

    def blocks(self, width: int) -> int:
        """Blocks of a row segment."""
        return -(-width // self.block)

    def entry_bytes(self, width: int) -> int:
        """Bytes of classes and lengths at the beginning of a row segment."""
        return self.blocks(width) * (3 if self.columns == 4 else 2)

    def build(self) -> bytes:
        """The 64 bytes."""
        said = {
            "points": self.points,
            "chequers": self.chequers,
            "columns": self.columns,
            "block": self.block.bit_length() - 1,
            "groups": self.groups,
            "positions": self.positions,
            "facts": self.facts,
            "size": self.size,
            "crc": bytes(4),
        }
        first = bytes(HEAD.build(said))[:60]
        return first + crc(first)


def shape_of(points: int, chequers: int, columns: int, facts: int = 0, size: int = 0) -> Shape:
    """The shape that bgfmt writes for a table."""
    n = board.count(points, chequers)
    return Shape(points, chequers, columns, BLOCK, -(-n // MOST_GROUP), n, facts, size)


def crc(data: Any) -> bytes:
    """CRC-32 as it stands in the file."""
    return zlib.crc32(data).to_bytes(4, "little")


def read_shape(source: Source, offset: int) -> Shape:
    """The first 64 bytes, checked."""
    first = source.bytes(offset, HEAD_BYTES, "header")
    if crc(first[:60]) != first[60:]:
        raise CorruptError(
            source.name, offset + 60, f"the header's sum {crc(first[:60]).hex()}", first[60:].hex()
        )
    said = source.header(HEAD, HEAD_BYTES, offset)

    def refuse(field: str, at: int, expected: object, found: object) -> HeaderError:
        return HeaderError(source.name, field, offset + at, expected, found)

    if not (1 <= said.points <= 25 and 1 <= said.chequers <= 15):
        raise refuse("points", 10, "1 to 25 points, 1 to 15 chequers", f"{said.points} and {said.chequers}")
    if said.columns not in (1, 4):
        raise refuse("columns", 12, "1 or 4", said.columns)
    if not 4 <= said.block <= 12:
        raise refuse("block", 13, "4 to 12", said.block)
    n = board.count(said.points, said.chequers)
    if said.positions != n:
        raise refuse("positions", 16, n, said.positions)
    if not (1 <= said.groups <= n and -(-n // said.groups) <= MOST_GROUP):
        raise refuse("groups", 14, f"groups of at most {MOST_GROUP}", said.groups)
    if said.facts > MOST_FACTS:
        raise refuse("facts", 20, f"at most {MOST_FACTS}", said.facts)
    shape = Shape(
        said.points, said.chequers, said.columns, 1 << said.block, said.groups, n, said.facts, said.size
    )
    if said.size < shape.first_strip:
        raise refuse("size", 24, f"at least {shape.first_strip}", said.size)
    if offset + said.size > source.size:
        raise TruncatedError(source.name, offset + said.size, source.size, "table")
    return shape


@dataclass(frozen=True, eq=False)
class Directory:
    """What stands before the strips: classes, their offsets, the order, the facts as bytes."""

    classes: Classes
    strips: list[int]
    order: NDArray[np.int64]
    facts: bytes

    def build(self) -> bytes:
        """Its bytes, the sum included."""
        table = np.column_stack([self.classes.shifts, self.classes.frequencies])
        out = table.astype("<u2").tobytes() + np.array(self.strips, "<u8").tobytes()
        out += self.order.astype("<u4").tobytes() + self.facts
        return out + crc(out)


def read_directory(source: Source, offset: int, shape: Shape) -> Directory:
    """Everything between the first 64 bytes and the first strip, checked."""
    size = shape.first_strip - HEAD_BYTES
    data = source.bytes(offset + HEAD_BYTES, size, "directory")
    end = offset + shape.first_strip - 4
    if crc(memoryview(data)[:-4]) != data[-4:]:
        raise CorruptError(source.name, end, "the directory's sum", data[-4:].hex())
    table = np.frombuffer(data, "<u2", 16 * 65).reshape(16, 65).astype(np.int64)
    classes = Classes(table[:, 0].copy(), table[:, 1:].copy())
    if not classes.sense():
        raise CorruptError(source.name, offset + HEAD_BYTES, "classes of 4096 parts", "others")
    strips = np.frombuffer(data, "<u8", shape.groups + 1, shape.strips_at - HEAD_BYTES).tolist()
    widths = np.diff(shape.edges()).tolist()
    rising = all(8 * w * shape.groups < b - a for w, (a, b) in zip(widths, pairwise(strips), strict=True))
    if not (rising and strips[0] == shape.first_strip and strips[-1] == shape.size):
        raise CorruptError(source.name, offset + shape.strips_at, "strips one behind the other", strips[:4])
    order = np.frombuffer(data, "<u4", shape.positions, shape.order_at - HEAD_BYTES).astype(np.int64)
    seen = np.zeros(shape.positions, bool)
    seen[order[order < shape.positions]] = True
    if not seen.all():
        raise CorruptError(source.name, offset + shape.order_at, "every position once", int(seen.argmin()))
    return Directory(classes, strips, order, data[shape.facts_at - HEAD_BYTES : -4])


@dataclass(frozen=True, eq=False)
class Scales:
    """The factors of a tile: for every column the shifts (0 to 15) of those of 16 bits, of 8 bits, of pairs of 4."""

    wide: tuple[NDArray[np.uint8], ...]
    narrow: tuple[NDArray[np.uint8], ...]
    pairs: tuple[NDArray[np.uint8], ...]

    def __iter__(self) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]]:
        return zip(self.wide, self.narrow, self.pairs, strict=True)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(columns, 3)."""
        return np.array([[len(part) for part in column] for column in self], np.int64)

    @cached_property
    def factor_bytes(self) -> int:
        """Bytes of a row's, or a column's, factors."""
        return int((self.counts * (2, 1, 1)).sum())

    @cached_property
    def parts(self) -> NDArray[np.int64]:
        """Where each column's factors are, (columns, 6), as `kernels.predicted` has it."""
        out, at, before = [], 0, 0
        for wide, narrow, pairs in self:
            most = int(np.exp2(narrow.astype(np.float64)).sum()) << 14
            most += int(np.exp2(pairs.astype(np.float64)).sum()) << 7
            out.append((at, len(wide), len(narrow), len(pairs), before, most < 1 << 31))
            at += 2 * len(wide) + len(narrow) + len(pairs)
            before += sum(len(part) + -len(part) % 16 for part in (wide, narrow, pairs))
        return np.array(out, np.int64)

    @cached_property
    def weights(self) -> NDArray[np.int32]:
        """Two to each shift, in the order of the bytes, each kind filled up with zeros to a multiple of 16."""
        parts = [np.left_shift(np.int32(1), part, dtype=np.int32) for column in self for part in column]
        return np.concatenate([np.pad(part, (0, -len(part) % 16)) for part in parts])

    def build(self) -> bytes:
        """As a strip's head holds it."""
        return b"".join(
            counts.astype("<u2").tobytes() + b"".join(part.tobytes() for part in column)
            for counts, column in zip(self.counts, self, strict=True)
        )


def strip_head(tiles: list[Scales]) -> bytes:
    """u32 its size, then counts and shifts of every tile, u32 its sum."""
    body = b"".join(tile.build() for tile in tiles)
    out = (len(body) + 8).to_bytes(4, "little") + body
    return out + crc(out)


def read_strip_head(source: Source, at: int, shape: Shape) -> tuple[list[Scales], int]:
    """The tiles of a strip, and the size of its head."""
    size = int.from_bytes(source.bytes(at, 4, "strip"), "little")
    limits = (MOST_WIDE, MOST_NARROW, MOST_PAIRS)
    most = 8 + shape.groups * shape.columns * (6 + sum(limits))
    if not 8 + 6 * shape.groups * shape.columns <= size <= most:
        raise CorruptError(source.name, at, f"a strip's head of at most {most} bytes", size)
    data = source.bytes(at, size, "strip")
    if crc(data[:-4]) != data[-4:]:
        raise CorruptError(source.name, at + size - 4, f"the sum {crc(data[:-4]).hex()}", data[-4:].hex())
    tiles, place = [], 4
    for _ in range(shape.groups):
        columns = []
        for _ in range(shape.columns):
            counts = np.frombuffer(data[place : place + 6].ljust(6, b"\0"), "<u2").astype(np.int64)
            shifts = np.frombuffer(data[place + 6 : min(place + 6 + int(counts.sum()), size - 4)], np.uint8)
            if (counts > limits).any() or len(shifts) != counts.sum() or (shifts > 15).any():
                raise CorruptError(source.name, at + place, "counts and shifts of factors", counts.tolist())
            columns.append(np.split(shifts, np.cumsum(counts)[:2]))
            place += 6 + len(shifts)
        tiles.append(Scales(*zip(*columns, strict=True)))
    if place != size - 4:
        raise CorruptError(source.name, at, f"a strip's head of {place + 4} bytes", size)
    return tiles, size
