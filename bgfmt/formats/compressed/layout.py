"""Where the parts of a bgfmt-ts file lie: its head, its strips of rows, their tiles; see docs/formats/bgfmt-ts.md.

offset          type            content
0               8 bytes         "bgfmt-ts"
8               u16             version: 1; 3 where gammons are counted, 4 by Jacoby's rule
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
SECOND_LEVEL = 2  # a version of bgfmt 0.2: half of the records, from which one ply makes the others
HEADER_BYTES = 64
BLOCK = 128  # records of a block
PLAIN = 255  # the length of a block that holds its records as they are
MOST_GROUP = 8192
FEW_STRIPS = 8  # up to which their heads are read when a table that is far away is opened
HEAD = 5 << 10  # bytes, about what the head of a strip takes
MOST_FACTS = 1 << 16
MOST_WIDE = 256
MOST_NARROW = 1024
MOST_PAIRS = 1024
CLASS_BYTES = 16 * 65 * 2
#: symbols of residuals: how many, that of 0, that of all others; the sum of their frequencies
SYMBOLS = 64
MIDDLE = 31
ESCAPE = 63
WHOLE = 4096
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
    """CRC-32 as it stands in the file."""
    return zlib.crc32(data).to_bytes(4, "little")


def sealed(data: bytes) -> bytes:
    """Bytes, and their checksum behind them."""
    return data + crc(data)


def read_sealed(source: Source, at: int, size: int, what: str) -> bytes:
    """`size` bytes at an offset, the last four the checksum of the others; CorruptError if they are not."""
    data = source.bytes(at, size, what)
    stored = data[-4:]
    right = crc(memoryview(data)[:-4])
    if right != stored:
        raise CorruptError(source.name, at + size - 4, f"the {what}'s sum {right.hex()}", stored.hex())
    return data


@dataclass(frozen=True)
class Shape:
    """What the first 64 bytes say."""

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
        """The shape that bgfmt writes for a table; `facts` and `size` in bytes."""
        n = board.count(points, chequers)
        return Shape(version, points, chequers, columns, BLOCK, -(-n // MOST_GROUP), n, facts, size)

    def edges(self) -> list[int]:
        """Where the groups begin among the places, and the end."""
        return [g * self.positions // self.groups for g in range(self.groups + 1)]

    @property
    def strips_at(self) -> int:
        """Where the offsets of the strips are."""
        return HEADER_BYTES + CLASS_BYTES

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

    def entry_bytes(self, width: int) -> int:
        """Bytes of classes and lengths at the beginning of a row segment of `width` records."""
        return -(-width // self.block) * (3 if self.columns == 4 else 2)

    def build(self) -> bytes:
        """The 64 bytes."""
        fields = vars(self) | {"block": self.block.bit_length() - 1, "crc": bytes(4)}
        return sealed(bytes(HEADER.build(fields))[:60])


def read_shape(source: Source, offset: int) -> Shape:
    """The first 64 bytes, checked; CapabilityError for a table of the second level."""
    first = read_sealed(source, offset, HEADER_BYTES, "header")
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
        ("groups", 14, f"groups of at most {MOST_GROUP}", groups, 1 <= groups <= n <= groups * MOST_GROUP),
        ("facts", 20, f"at most {MOST_FACTS}", header.facts, header.facts <= MOST_FACTS),
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
    """Shift (16,) and frequency (16, 64) of every class, int64; class 0 is all zeros and has none."""

    shifts: NDArray[np.int64]
    frequencies: NDArray[np.int64]

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where each symbol's slots begin, (16, 64)."""
        return np.cumsum(self.frequencies, axis=1) - self.frequencies

    @property
    def slots(self) -> NDArray[np.uint32]:
        """(16, 4096): distance in the symbol's slots, frequency << 12, symbol << 25, low bits << 31.

        Those of class 0 leave a stream as it is and say "residual 0".
        """
        out = np.empty((16, WHOLE), np.uint32)
        out[0] = np.arange(WHOLE) | WHOLE << 12 | MIDDLE << 25
        for kind in range(1, 16):
            many = self.frequencies[kind]
            begins = self.begins[kind]
            symbols = np.repeat(np.arange(SYMBOLS), many)
            low = (symbols == ESCAPE) | (self.shifts[kind] > 0)
            out[kind] = low << 31 | symbols << 25 | many[symbols] << 12 | np.arange(WHOLE) - begins[symbols]
        return out

    @property
    def ranges(self) -> NDArray[np.int32]:
        """(16, 2): the least and the greatest residual that has a symbol; those of class 0 are all of 16 bits.

        Right for classes whose symbols stand side by side, as bgfmt's do.
        """
        out = np.full((16, 2), (-32768, 32767), np.int32)
        for kind in range(1, 16):
            symbols = np.flatnonzero(self.frequencies[kind, :ESCAPE]) - MIDDLE
            if len(symbols):
                shift = self.shifts[kind]
                out[kind] = symbols[0] << shift, (symbols[-1] + 1 << shift) - 1
        return out

    def sound(self) -> bool:
        """Whether a coder can work with them."""
        whole = (self.frequencies[1:].sum(axis=1) == WHOLE).all()
        return bool(whole and (self.shifts <= 15).all() and (self.frequencies[0] == 0).all())


@dataclass(frozen=True, eq=False)
class Directory:
    """What stands before the strips: classes, offsets of the strips, order of the positions, facts as bytes."""

    classes: Classes
    strips: list[int]
    order: NDArray[np.int64]
    facts: bytes

    def build(self) -> bytes:
        """Its bytes, the checksum included."""
        table = np.column_stack([self.classes.shifts, self.classes.frequencies])
        out = table.astype("<u2").tobytes() + np.array(self.strips, "<u8").tobytes()
        return sealed(out + self.order.astype("<u4").tobytes() + self.facts)


def read_directory(source: Source, offset: int, shape: Shape) -> Directory:
    """Everything between the first 64 bytes and the first strip, checked."""
    if source.far and shape.groups <= FEW_STRIPS:
        begins = np.frombuffer(source.bytes(offset + shape.strips_at, 8 * shape.groups, "directory"), "<u8")
        heads = [(offset + begin, HEAD) for begin in begins.tolist()]
        source.prefetch([(offset + HEADER_BYTES, shape.first_strip - HEADER_BYTES), *heads])
    data = read_sealed(source, offset + HEADER_BYTES, shape.first_strip - HEADER_BYTES, "directory")
    table = np.frombuffer(data, "<u2", 16 * 65).reshape(16, 65).astype(np.int64)
    classes = Classes(table[:, 0].copy(), table[:, 1:].copy())
    if not classes.sound():
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


#: of the factors of one column in a tile: bytes before them, how many of 16 bits, of 8, pairs of 4, where their
#: shifts begin
BEFORE, WIDE, NARROW, PAIRS, SHIFTS, PARTS = range(6)


@dataclass(frozen=True, eq=False)
class TileModel:
    """How the factors of a tile are stored: of every column the shifts of those of 16 bits, of 8, of pairs of 4.

    columns : (wide, narrow, pairs) of each column, uint8 of 0 to 15.
    """

    columns: list[tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(columns, 3)."""
        return np.array([[len(part) for part in column] for column in self.columns], np.int64)

    @cached_property
    def factor_bytes(self) -> int:
        """Bytes of a row's, or a column's, factors."""
        return int((self.counts * (2, 1, 1)).sum())

    @cached_property
    def shifts(self) -> NDArray[np.uint8]:
        """Those of all columns, one behind the other."""
        return np.concatenate([part for column in self.columns for part in column])

    def parts(self, shifts_before: int) -> NDArray[np.int64]:
        """(columns, PARTS): where the factors of every column are."""
        out = []
        at = 0
        for wide, narrow, pairs in self.columns:
            out.append((at, len(wide), len(narrow), len(pairs), shifts_before))
            at += 2 * len(wide) + len(narrow) + len(pairs)
            shifts_before += len(wide) + len(narrow) + len(pairs)
        return np.array(out, np.int64)

    def build(self) -> bytes:
        """As a strip's head holds it."""
        return b"".join(
            counts.astype("<u2").tobytes() + b"".join(part.tobytes() for part in column)
            for counts, column in zip(self.counts, self.columns, strict=True)
        )


def strip_head(tiles: list[TileModel]) -> bytes:
    """u32 its size, then counts and shifts of every tile, u32 its sum."""
    body = b"".join(tile.build() for tile in tiles)
    return sealed((len(body) + 8).to_bytes(4, "little") + body)


def read_strip_head(source: Source, at: int, shape: Shape) -> tuple[list[TileModel], int]:
    """The tiles of a strip, and the size of its head."""
    size = int.from_bytes(source.bytes(at, 4, "strip"), "little")
    limits = (MOST_WIDE, MOST_NARROW, MOST_PAIRS)
    columns = shape.groups * shape.columns
    most = 8 + columns * (6 + sum(limits))
    if not 8 + 6 * columns <= size <= most:
        raise CorruptError(source.name, at, f"a strip's head of at most {most} bytes", size)
    data = read_sealed(source, at, size, "strip")
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
