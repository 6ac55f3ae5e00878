"""Parts of a bgfmt-ts file: its head, its strips of rows, their tiles; see docs/formats/bgfmt-ts.md."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from construct import Array, Const, Int8ul, Int16ul, Int32ul, Int64ul, Struct, this
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, HeaderError
from bgfmt.formats.structures import Field, dtype_of, fields, offset_of, read_struct
from bgfmt.game import board
from bgfmt.storage import MemorySource, Source

MAGIC = b"bgfmt-ts"
VERSION = 1
GAMMONS = 3
JACOBY = 4
SECOND_LEVEL = 2  # a version of bgfmt 0.2: half of the records, from which the others follow by one ply
BLOCK = 128  # records of a block
PLAIN = 255  # the stated length of an uncompressed block
MAX_GROUP_ROWS = 8192
MAX_PREFETCHED_STRIPS = 8  # if a remote table has no more, the heads of all strips are read at opening
STRIP_HEAD_BYTES = 5 << 10  # approximate size of the head of a strip
MAX_FACTS_BYTES = 1 << 16
MAX_WIDE = 256
MAX_NARROW = 1024
MAX_PAIRS = 1024
#: symbols of residuals: their number, the one of residual 0, the escape for all others; sum of the frequencies
CLASSES = 16
SYMBOLS = 64
MIDDLE = 31
ESCAPE = 63
FREQUENCY_SUM = 4096
HEADER = Struct(
    "magic" / Const(MAGIC),
    "version" / Int16ul * "1; 3 if the equities count gammons, 4 if they do so with the Jacoby rule",
    "points" / Int8ul * "1 to 25",
    "chequers" / Int8ul * "1 to 15",
    "columns" / Int8ul * "4 (cubeless, owned, centered, opponent) or 1 (cubeless)",
    "block" / Int8ul * "a block has 2^`block` records: 7 (128 records); 4 to 12 are allowed",
    "groups" / Int16ul * "number of groups of positions",
    "positions" / Int32ul * "C(points + chequers, points)",
    "facts_bytes" / Int32ul * f"size of `facts` in bytes, at most {MAX_FACTS_BYTES}",
    "size" / Int64ul * "size of the whole table in bytes",
    "zero" / Const(bytes(28)),
    "header_crc" / Int32ul * "CRC-32 of all bytes before it",
)
CLASS = Struct(
    "shift" / Int16ul * "0 to 15",
    "frequencies"
    / Array(SYMBOLS, Int16ul)
    * f"of the symbols; all 0 in class 0, with sum {FREQUENCY_SUM} in the other classes",
)
TABLE = Struct(
    *HEADER.subcons,
    "classes" / Array(CLASSES, CLASS),
    "begins" / Array(this.groups + 1, Int64ul) * "offsets of the strips, then that of the end of the table",
    "order" / Array(this.positions, Int32ul) * "the position number at each place",
    "facts" / Array(this.facts_bytes, Int8ul) * "a JSON object like `extra` of [npz](npz.md), or nothing",
    "directory_crc" / Int32ul * "CRC-32 of all bytes between `header_crc` and this field",
)
COLUMN = Struct(
    "wide" / Int16ul * f"number of 16-bit factors, at most {MAX_WIDE}",
    "narrow" / Int16ul * f"number of 8-bit factors, at most {MAX_NARROW}",
    "pairs" / Int16ul * f"number of pairs of 4-bit factors, at most {MAX_PAIRS}",
    "shifts" / Array(this.wide + this.narrow + this.pairs, Int8ul) * "of the factors in this order, 0 to 15",
)
STRIP_HEAD = Struct(
    "size" / Int32ul * "size of the head in bytes",
    "models" / Array(this.groups * this.columns, COLUMN) * "those of each tile, see below",
    "crc" / Int32ul * "CRC-32 of all bytes before it",
)
INDEX = Struct(
    "begins"
    / Array(this.segments + 1, Int64ul)
    * "offsets of the row segments, row by row and in a row tile by tile, then that of the end of the strip",
    "crc" / Int32ul * "CRC-32 of all bytes before it",
)
HEADER_BYTES = HEADER.sizeof()
BEGIN = fields(INDEX, segments=0)["begins"].dtype
COUNTS = dtype_of(Struct(*COLUMN.subcons[:3]))


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
        raise CorruptError(source.name, at + size - 4, f"the {what}'s checksum {right.hex()}", stored.hex())
    return data


@dataclass(frozen=True)
class Shape:
    """Content of the 64-byte header.

    block : records of a block. groups : into which positions are divided. positions : of a side.
    facts_bytes, size : bytes of the facts and of the whole table.
    """

    version: int
    points: int
    chequers: int
    columns: int
    block: int
    groups: int
    positions: int
    facts_bytes: int
    size: int

    @staticmethod
    def of(
        version: int, points: int, chequers: int, columns: int, facts_bytes: int = 0, size: int = 0
    ) -> Shape:
        """Return the header that bgfmt writes for a table.

        Parameters
        ----------
        version : 1; 3 if equities count gammons, 4 by Jacoby's rule.
        columns : numbers of a record, 4 or 1.
        facts_bytes, size : bytes of the facts (a JSON object) and of the whole table.
        """
        n = board.count(points, chequers)
        return Shape(version, points, chequers, columns, BLOCK, -(-n // MAX_GROUP_ROWS), n, facts_bytes, size)

    def edges(self) -> list[int]:
        """Return the first row of every group, in the file's order of positions, and the number of positions."""
        return [g * self.positions // self.groups for g in range(self.groups + 1)]

    @cached_property
    def parts(self) -> dict[str, Field]:
        """The fields of header and directory by name, with their offsets from the beginning of the table."""
        return fields(TABLE, groups=self.groups, positions=self.positions, facts_bytes=self.facts_bytes)

    @property
    def first_strip(self) -> int:
        """Offset of the first strip (a group of rows and all that belongs to it) from the beginning of the table."""
        last = self.parts["directory_crc"]
        return last.offset + last.size

    def entry_bytes(self, width: Any) -> Any:
        """Return the size in bytes of the block index (classes, lengths) of row segments of `width` records."""
        return -(-width // self.block) * (3 if self.columns == 4 else 2)

    def build(self) -> bytes:
        """Build the bytes of the header."""
        values = vars(self) | {"block": self.block.bit_length() - 1, "header_crc": 0}
        return with_checksum(bytes(HEADER.build(values))[: offset_of(HEADER, "header_crc")])


def read_shape(source: Source, offset: int) -> Shape:
    """Read and check the 64-byte header of a table at an offset of a source.

    Raises
    ------
    CorruptError
        Its checksum is wrong.
    HeaderError
        A field is out of range.
    CapabilityError
        The version is 2 ("level 2"), which only bgfmt 0.2 wrote.
    """
    first = read_with_checksum(source, offset, HEADER_BYTES, "header")
    if HEADER.version.parse(first[offset_of(HEADER, "version") :]) == SECOND_LEVEL:
        what = "a bgfmt-ts table of level 2, and this version of bgfmt reads level 1"
        how = "convert it with bgfmt 0.2 (convert FILE NEW -O level=1)"
        raise CapabilityError(f"{source.name}: {what}: {how}")
    header = read_struct(HEADER, source, offset)
    n = board.count(header.points, header.chequers)
    groups = header.groups
    checks = [
        ("version", "1, 3 or 4", header.version, header.version in (VERSION, GAMMONS, JACOBY)),
        ("points", "1 to 25 points, 1 to 15 chequers", f"{header.points} and {header.chequers}",
         1 <= header.points <= 25 and 1 <= header.chequers <= 15),
        ("columns", "1 or 4", header.columns, header.columns in (1, 4)),
        ("block", "4 to 12", header.block, 4 <= header.block <= 12),
        ("positions", n, header.positions, header.positions == n),
        ("groups", f"groups of at most {MAX_GROUP_ROWS}", groups, 1 <= groups <= n <= groups * MAX_GROUP_ROWS),
        ("facts_bytes", f"at most {MAX_FACTS_BYTES}", header.facts_bytes, header.facts_bytes <= MAX_FACTS_BYTES),
    ]  # fmt: skip
    values = {name: header[name] for name in Shape.__dataclass_fields__}
    shape = Shape(**values | {"block": 1 << header.block})
    least = shape.first_strip
    checks.append(("size", f"at least {least}", shape.size, shape.size >= least))
    for field, expected, stored, right in checks:
        if not right:
            raise HeaderError(source.name, field, offset + offset_of(HEADER, field), expected, stored)
    source.need(offset + shape.size, "table")
    return shape


class Classes(NamedTuple):
    """Classes of the entropy coder: shift (16,) and symbol frequencies (16, 64), int64; all zeros for class 0."""

    shifts: NDArray[np.int64]
    frequencies: NDArray[np.int64]

    @property
    def begins(self) -> NDArray[np.int64]:
        """First slot of each symbol in its class: exclusive sums of the frequencies, (16, 64)."""
        return np.cumsum(self.frequencies, axis=1) - self.frequencies

    @property
    def slots(self) -> NDArray[np.uint32]:
        """Decoding table of the rANS coder, (16, 4096) uint32, by class and slot (low 12 bits of the coder's state).

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
        classes = np.zeros(CLASSES, dtype_of(CLASS))
        classes["shift"] = self.classes.shifts
        classes["frequencies"] = self.classes.frequencies
        arrays = {"classes": classes, "begins": self.strips, "order": self.order}
        groups = len(self.strips) - 1
        parts = fields(TABLE, groups=groups, positions=len(self.order), facts_bytes=len(self.facts))
        data = b"".join(np.asarray(array, parts[name].dtype).tobytes() for name, array in arrays.items())
        return with_checksum(data + self.facts)


def read_directory(source: Source, offset: int, shape: Shape) -> Directory:
    """Read and check the directory, the part between header and first strip (a group of rows).

    offset : of the table in the source. shape : its header. CorruptError for a wrong checksum or invalid content.
    """
    parts = shape.parts
    if source.far and shape.groups <= MAX_PREFETCHED_STRIPS:
        begins = parts["begins"].read(source, offset, "directory")[:-1]
        heads = [(offset + begin, STRIP_HEAD_BYTES) for begin in begins.tolist()]
        source.prefetch([(offset + HEADER_BYTES, shape.first_strip - HEADER_BYTES), *heads])
    data = read_with_checksum(source, offset + HEADER_BYTES, shape.first_strip - HEADER_BYTES, "directory")
    inside = MemorySource(data, source.name)
    table, strip_offsets, numbers, facts = (
        parts[name].read(inside, -HEADER_BYTES) for name in ("classes", "begins", "order", "facts")
    )
    classes = Classes(table["shift"].astype(np.int64), table["frequencies"].astype(np.int64))
    if not classes.is_valid():
        raise CorruptError(
            source.name, offset + parts["classes"].offset, "classes whose frequencies sum to 4096", "others"
        )
    strips = strip_offsets.tolist()
    rows = np.diff(shape.edges()).tolist()
    rising = all(8 * shape.groups * m < b - a for m, (a, b) in zip(rows, pairwise(strips), strict=True))
    if not (rising and strips[0] == shape.first_strip and strips[-1] == shape.size):
        at = offset + parts["begins"].offset
        raise CorruptError(
            source.name, at, f"strips that rise from {shape.first_strip} to {shape.size}", strips[:4]
        )
    order = numbers.astype(np.int64)
    present = np.zeros(shape.positions, bool)
    present[order[order < shape.positions]] = True
    if not present.all():
        at = offset + parts["order"].offset
        raise CorruptError(source.name, at, "every position once", int(present.argmin()))
    return Directory(classes, strips, order, facts.tobytes())


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
        """Numbers of 16-bit factors, 8-bit factors and 4-bit pairs of each column of the records, (columns, 3)."""
        return np.array([[len(part) for part in column] for column in self.columns], np.int64)

    @cached_property
    def factor_bytes(self) -> int:
        """Size in bytes of the factors of one row of the tile, which is also that of one column."""
        return int((self.counts * (2, 1, 1)).sum())

    @cached_property
    def shifts(self) -> NDArray[np.uint8]:
        """Shifts (0 to 15) of the factors of all columns, concatenated."""
        return np.concatenate([part for column in self.columns for part in column])

    def parts(self, shifts_before: int) -> NDArray[np.int64]:
        """Return where the factors of each column of the records are, (columns, PARTS) int64.

        The constants from `BEFORE` on name the entries of a row: bytes before the column's factors, numbers of 16-bit
        and 8-bit factors and of pairs of 4-bit ones, index of their first shift.

        shifts_before : index of this tile's first shift in the shifts of all tiles.
        """
        sizes = (self.counts * (2, 1, 1)).sum(axis=1)
        shifts = self.counts.sum(axis=1)
        before = np.cumsum(sizes) - sizes
        return np.column_stack([before, self.counts, shifts_before + np.cumsum(shifts) - shifts])

    def build(self) -> bytes:
        """Build the bytes that describe this tile in the head of a strip: counts and shifts of its factors."""
        return b"".join(
            np.array(tuple(counts), COUNTS).tobytes() + b"".join(part.tobytes() for part in column)
            for counts, column in zip(self.counts.tolist(), self.columns, strict=True)
        )


def strip_head(tiles: list[TileModel]) -> bytes:
    """Build the head of a strip (a group of rows, cut into these tiles): size, counts and shifts, CRC-32."""
    body = b"".join(tile.build() for tile in tiles)
    size = STRIP_HEAD.size.sizeof() + len(body) + STRIP_HEAD.crc.sizeof()
    return with_checksum(bytes(STRIP_HEAD.size.build(size)) + body)


def read_strip_head(source: Source, at: int, shape: Shape) -> tuple[list[TileModel], int]:
    """Read and check the head of a strip (a group of rows); return its tiles' models, and the head's size in bytes.

    at : offset of the strip in the source. shape : the table's header. CorruptError if the head is damaged.
    """
    place = STRIP_HEAD.size.sizeof()
    size = STRIP_HEAD.size.parse(source.bytes(at, place, "strip"))
    limits = (MAX_WIDE, MAX_NARROW, MAX_PAIRS)
    columns = shape.groups * shape.columns
    least = place + columns * COUNTS.itemsize + 4
    most = least + columns * sum(limits)
    if not least <= size <= most:
        raise CorruptError(source.name, at, f"a strip's head of at most {most} bytes", size)
    data = read_with_checksum(source, at, size, "strip")
    end = size - 4
    parts = []
    for _ in range(columns):
        begin = place + COUNTS.itemsize
        stated = np.frombuffer(data[place:begin].ljust(COUNTS.itemsize, b"\0"), COUNTS)
        counts = np.array(stated.item(), np.int64)
        shifts = np.frombuffer(data[begin : min(begin + int(counts.sum()), end)], np.uint8)
        if (counts > limits).any() or len(shifts) != counts.sum() or (shifts > 15).any():
            raise CorruptError(source.name, at + place, "counts and shifts of factors", counts.tolist())
        wide, narrow, pairs = np.split(shifts, np.cumsum(counts)[:2])
        parts.append((wide, narrow, pairs))
        place = begin + len(shifts)
    if place != end:
        raise CorruptError(source.name, at, f"a strip's head of {place + 4} bytes", size)
    return [TileModel(parts[k : k + shape.columns]) for k in range(0, columns, shape.columns)], size
