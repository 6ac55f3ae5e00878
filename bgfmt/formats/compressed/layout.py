"""Parts of a bgfmt-ts file: its head, its strips of rows, their tiles; see docs/formats/bgfmt-ts.md.

offset          type            content
0               8 bytes         "bgfmt-ts"
8               u16             version: 1; 3 if gammons are counted, 4 by Jacoby's rule
10              u8, u8, u8      points, chequers, columns (1 or 4)
13              u8              records of a block, as the power of 2
14              u16             groups G
16              u32             positions n
20              u32             bytes of facts F
24              u64             bytes of the whole table
32              28 bytes        zero
60              u32             CRC-32 of bytes 0 to 59
64              16 x 65 u16     classes: shift, 64 frequencies
2144            (G + 1) x u64   offsets of the strips, and of the end
...             n x u32         order: the position number at every place
...             F bytes         facts, JSON
...             u32             CRC-32 of everything from byte 64 on

All numbers are little-endian; offsets count from byte 0 of the table.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from construct import Bytes, Const, Int8ul, Int16ul, Int32ul, Int64ul, Struct
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, HeaderError
from bgfmt.game import board
from bgfmt.storage import Source

MAGIC = b"bgfmt-ts"
VERSION = 1
GAMMONS = 3
JACOBY = 4
SECOND_LEVEL = 2  # a version of bgfmt 0.2: half of the records, from which the others follow by one ply
HEADER_BYTES = 64
BLOCK = 128  # records of a block
PLAIN = 255  # the stated length of an uncompressed block
MAX_GROUP_ROWS = 8192
MAX_PREFETCHED_STRIPS = 8  # if a remote table has no more, the heads of all strips are read at opening
STRIP_HEAD_BYTES = 5 << 10  # approximate size of the head of a strip
MAX_FACTS_BYTES = 1 << 16
MAX_WIDE = 256
MAX_NARROW = 1024
MAX_PAIRS = 1024
CLASS_BYTES = 16 * 65 * 2
#: symbols of residuals: their number, the one of residual 0, the escape for all others; sum of the frequencies
SYMBOLS = 64
MIDDLE = 31
ESCAPE = 63
FREQUENCY_SUM = 4096
HEADER = Struct(
    "magic" / Const(MAGIC),
    "version" / Int16ul,
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


def crc(data: Any) -> bytes:
    """Return the CRC-32 of the data as 4 little-endian bytes."""
    return zlib.crc32(data).to_bytes(4, "little")


def with_checksum(data: bytes) -> bytes:
    """Return the data followed by its CRC-32."""
    return data + crc(data)


def read_with_checksum(source: Source, at: int, size: int, what: str) -> bytes:
    """Read `size` bytes at an offset, of which the last four are the CRC-32 of the others.

    what : name of the part in errors. Raises CorruptError if the checksum is wrong.
    """
    data = source.bytes(at, size, what)
    stored = data[-4:]
    right = crc(memoryview(data)[:-4])
    if right != stored:
        raise CorruptError(source.name, at + size - 4, f"the {what}'s sum {right.hex()}", stored.hex())
    return data


@dataclass(frozen=True)
class Shape:
    """Content of the 64-byte header.

    block : records of a block. groups : into which positions are divided. positions : of a side.
    facts, size : bytes of the facts and of the whole table.
    """

    version: int
    points: int
    chequers: int
    columns: int
    block: int
    groups: int
    positions: int
    facts: int
    size: int

    @staticmethod
    def of(version: int, points: int, chequers: int, columns: int, facts: int = 0, size: int = 0) -> Shape:
        """Return the header that bgfmt writes for a table; `facts` and `size` are in bytes."""
        n = board.count(points, chequers)
        return Shape(version, points, chequers, columns, BLOCK, -(-n // MAX_GROUP_ROWS), n, facts, size)

    def edges(self) -> list[int]:
        """Return the first place of every group, and the number of places at the end."""
        return [g * self.positions // self.groups for g in range(self.groups + 1)]

    @property
    def strips_at(self) -> int:
        """Offset of the list of strip offsets."""
        return HEADER_BYTES + CLASS_BYTES

    @property
    def order_at(self) -> int:
        """Offset of the order of the positions."""
        return self.strips_at + 8 * (self.groups + 1)

    @property
    def facts_at(self) -> int:
        """Offset of the facts."""
        return self.order_at + 4 * self.positions

    @property
    def first_strip(self) -> int:
        """Offset of the first strip."""
        return self.facts_at + self.facts + 4

    def entry_bytes(self, width: int) -> int:
        """Return the size of the classes and lengths at the beginning of a row segment of `width` records."""
        return -(-width // self.block) * (3 if self.columns == 4 else 2)

    def build(self) -> bytes:
        """Build the 64 bytes of the header."""
        fields = vars(self) | {"block": self.block.bit_length() - 1, "crc": bytes(4)}
        return with_checksum(bytes(HEADER.build(fields))[:60])


def read_shape(source: Source, offset: int) -> Shape:
    """Read and check the 64-byte header.

    Raises CapabilityError for version 2 ("level 2"), which only bgfmt 0.2 wrote.
    """
    first = read_with_checksum(source, offset, HEADER_BYTES, "header")
    if first[8:10] == SECOND_LEVEL.to_bytes(2, "little"):
        what = "a bgfmt-ts table of level 2, and this version of bgfmt reads level 1"
        how = "convert it with bgfmt 0.2 (convert FILE NEW -O level=1)"
        raise CapabilityError(f"{source.name}: {what}: {how}")
    header = source.header(HEADER, HEADER_BYTES, offset)
    n = board.count(header.points, header.chequers)
    groups = header.groups
    checks = [
        ("version", 8, "1, 3 or 4", header.version, header.version in (VERSION, GAMMONS, JACOBY)),
        ("points", 10, "1 to 25 points, 1 to 15 chequers", f"{header.points} and {header.chequers}",
         1 <= header.points <= 25 and 1 <= header.chequers <= 15),
        ("columns", 12, "1 or 4", header.columns, header.columns in (1, 4)),
        ("block", 13, "4 to 12", header.block, 4 <= header.block <= 12),
        ("positions", 16, n, header.positions, header.positions == n),
        ("groups", 14, f"groups of at most {MAX_GROUP_ROWS}", groups, 1 <= groups <= n <= groups * MAX_GROUP_ROWS),
        ("facts", 20, f"at most {MAX_FACTS_BYTES}", header.facts, header.facts <= MAX_FACTS_BYTES),
    ]  # fmt: skip
    for field, at, expected, stored, right in checks:
        if not right:
            raise HeaderError(source.name, field, offset + at, expected, stored)
    fields = {name: header[name] for name in Shape.__dataclass_fields__}
    shape = Shape(**fields | {"block": 1 << header.block})
    if shape.size < shape.first_strip:
        raise HeaderError(source.name, "size", offset + 24, f"at least {shape.first_strip}", shape.size)
    source.need(offset + shape.size, "table")
    return shape


class Classes(NamedTuple):
    """Classes of the entropy coder: shift (16,) and symbol frequencies (16, 64), int64; all zeros for class 0."""

    shifts: NDArray[np.int64]
    frequencies: NDArray[np.int64]

    @property
    def begins(self) -> NDArray[np.int64]:
        """First slot of each symbol, (16, 64)."""
        return np.cumsum(self.frequencies, axis=1) - self.frequencies

    @property
    def slots(self) -> NDArray[np.uint32]:
        """Decoding table (16, 4096) uint32, indexed by class and slot.

        Bits 0-11: distance from the symbol's first slot; 12-24: frequency; 25-30: symbol; 31: whether low bits
        follow. The slots of class 0 leave the state unchanged and mean residual 0.
        """
        out = np.empty((16, FREQUENCY_SUM), np.uint32)
        out[0] = np.arange(FREQUENCY_SUM) | FREQUENCY_SUM << 12 | MIDDLE << 25
        for kind in range(1, 16):
            many = self.frequencies[kind]
            begins = self.begins[kind]
            symbols = np.repeat(np.arange(SYMBOLS), many)
            low = (symbols == ESCAPE) | (self.shifts[kind] > 0)
            out[kind] = (
                low << 31 | symbols << 25 | many[symbols] << 12 | np.arange(FREQUENCY_SUM) - begins[symbols]
            )
        return out

    @property
    def ranges(self) -> NDArray[np.int32]:
        """Smallest and largest residual that has a symbol, (16, 2) int32; for class 0 all 16-bit integers.

        Valid for classes whose symbols are contiguous, as bgfmt's are.
        """
        out = np.full((16, 2), (-32768, 32767), np.int32)
        for kind in range(1, 16):
            symbols = np.flatnonzero(self.frequencies[kind, :ESCAPE]) - MIDDLE
            if len(symbols):
                shift = self.shifts[kind]
                out[kind] = symbols[0] << shift, (symbols[-1] + 1 << shift) - 1
        return out

    def is_valid(self) -> bool:
        """Return True if the frequencies of each class sum to 4096 and the shifts are at most 15."""
        whole = (self.frequencies[1:].sum(axis=1) == FREQUENCY_SUM).all()
        return bool(whole and (self.shifts <= 15).all() and (self.frequencies[0] == 0).all())


@dataclass(frozen=True, eq=False)
class Directory:
    """Part between header and strips: classes, offsets of the strips, order of the positions, facts as bytes."""

    classes: Classes
    strips: list[int]
    order: NDArray[np.int64]
    facts: bytes

    def build(self) -> bytes:
        """Build the bytes of the directory, its checksum included."""
        table = np.column_stack([self.classes.shifts, self.classes.frequencies])
        out = table.astype("<u2").tobytes() + np.array(self.strips, "<u8").tobytes()
        return with_checksum(out + self.order.astype("<u4").tobytes() + self.facts)


def read_directory(source: Source, offset: int, shape: Shape) -> Directory:
    """Read and check everything between the 64-byte header and the first strip."""
    if source.far and shape.groups <= MAX_PREFETCHED_STRIPS:
        begins = np.frombuffer(source.bytes(offset + shape.strips_at, 8 * shape.groups, "directory"), "<u8")
        heads = [(offset + begin, STRIP_HEAD_BYTES) for begin in begins.tolist()]
        source.prefetch([(offset + HEADER_BYTES, shape.first_strip - HEADER_BYTES), *heads])
    data = read_with_checksum(source, offset + HEADER_BYTES, shape.first_strip - HEADER_BYTES, "directory")
    table = np.frombuffer(data, "<u2", 16 * 65).reshape(16, 65).astype(np.int64)
    classes = Classes(table[:, 0].copy(), table[:, 1:].copy())
    if not classes.is_valid():
        raise CorruptError(source.name, offset + HEADER_BYTES, "classes of 4096 parts", "others")
    strips = np.frombuffer(data, "<u8", shape.groups + 1, shape.strips_at - HEADER_BYTES).tolist()
    rows = np.diff(shape.edges()).tolist()
    rising = all(8 * shape.groups * m < b - a for m, (a, b) in zip(rows, pairwise(strips), strict=True))
    if not (rising and strips[0] == shape.first_strip and strips[-1] == shape.size):
        raise CorruptError(source.name, offset + shape.strips_at, "strips one behind the other", strips[:4])
    order = np.frombuffer(data, "<u4", shape.positions, shape.order_at - HEADER_BYTES).astype(np.int64)
    present = np.zeros(shape.positions, bool)
    present[order[order < shape.positions]] = True
    if not present.all():
        raise CorruptError(source.name, offset + shape.order_at, "every position once", int(present.argmin()))
    return Directory(classes, strips, order, data[shape.facts_at - HEADER_BYTES : -4])


#: indices in `TileModel.parts`: bytes before the column's factors, number of 16-bit ones, of 8-bit ones, of pairs
#: of 4-bit ones, index of their first shift
BEFORE, WIDE, NARROW, PAIRS, SHIFTS, PARTS = range(6)


@dataclass(frozen=True, eq=False)
class TileModel:
    """How the factors of a tile are stored: for every column the shifts of its 16-bit, 8-bit and 4-bit factors.

    columns : (wide, narrow, pairs) of each column, uint8 arrays of shifts from 0 to 15.
    """

    columns: list[tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of 16-bit factors, 8-bit factors and pairs of 4-bit factors, (columns, 3)."""
        return np.array([[len(part) for part in column] for column in self.columns], np.int64)

    @cached_property
    def factor_bytes(self) -> int:
        """Size in bytes of the factors of one row, or of one column of records."""
        return int((self.counts * (2, 1, 1)).sum())

    @cached_property
    def shifts(self) -> NDArray[np.uint8]:
        """Shifts of all columns, concatenated."""
        return np.concatenate([part for column in self.columns for part in column])

    def parts(self, shifts_before: int) -> NDArray[np.int64]:
        """Return where the factors of every column are, (columns, PARTS) int64; see `BEFORE` and the next constants.

        shifts_before : index of this tile's first shift in the shifts of all tiles.
        """
        out = []
        at = 0
        for wide, narrow, pairs in self.columns:
            out.append((at, len(wide), len(narrow), len(pairs), shifts_before))
            at += 2 * len(wide) + len(narrow) + len(pairs)
            shifts_before += len(wide) + len(narrow) + len(pairs)
        return np.array(out, np.int64)

    def build(self) -> bytes:
        """Build the bytes of this tile in the head of a strip."""
        return b"".join(
            counts.astype("<u2").tobytes() + b"".join(part.tobytes() for part in column)
            for counts, column in zip(self.counts, self.columns, strict=True)
        )


def strip_head(tiles: list[TileModel]) -> bytes:
    """Build the head of a strip: u32 its size, counts and shifts of every tile, CRC-32."""
    body = b"".join(tile.build() for tile in tiles)
    return with_checksum((len(body) + 8).to_bytes(4, "little") + body)


def read_strip_head(source: Source, at: int, shape: Shape) -> tuple[list[TileModel], int]:
    """Read the head of a strip: return the models of its tiles, and the head's size in bytes."""
    size = int.from_bytes(source.bytes(at, 4, "strip"), "little")
    limits = (MAX_WIDE, MAX_NARROW, MAX_PAIRS)
    columns = shape.groups * shape.columns
    most = 8 + columns * (6 + sum(limits))
    if not 8 + 6 * columns <= size <= most:
        raise CorruptError(source.name, at, f"a strip's head of at most {most} bytes", size)
    data = read_with_checksum(source, at, size, "strip")
    parts = []
    place = 4
    for _ in range(columns):
        counts = np.frombuffer(data[place : place + 6].ljust(6, b"\0"), "<u2").astype(np.int64)
        shifts = np.frombuffer(data[place + 6 : min(place + 6 + int(counts.sum()), size - 4)], np.uint8)
        if (counts > limits).any() or len(shifts) != counts.sum() or (shifts > 15).any():
            raise CorruptError(source.name, at + place, "counts and shifts of factors", counts.tolist())
        wide, narrow, pairs = np.split(shifts, np.cumsum(counts)[:2])
        parts.append((wide, narrow, pairs))
        place += 6 + len(shifts)
    if place != size - 4:
        raise CorruptError(source.name, at, f"a strip's head of {place + 4} bytes", size)
    return [TileModel(parts[k : k + shape.columns]) for k in range(0, columns, shape.columns)], size
