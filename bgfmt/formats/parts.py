"""What formats and their callers hand each other: heads, readings, layouts, faults, what is salvaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.tables import LazyRows, Table

HEAD_BYTES = 512
T = TypeVar("T", bound=Table)


@dataclass(frozen=True)
class Head:
    """What every format is shown to say whether bytes are its own.

    name, bytes : the file's name and the first 512 bytes at `offset`. size : bytes from `offset` to the end.
    files : names of the files of a folder that is one table.
    """

    name: str
    size: int
    bytes: bytes
    offset: int = 0
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """A choice a format offers when writing: its name, kind (bool or int or str) and what it does."""

    name: str
    kind: type
    help: str


@dataclass(frozen=True)
class Extent:
    """Where a table lies in its file: first byte and number of bytes it takes, its own header included."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.offset + self.size


class Reading(NamedTuple, Generic[T]):
    """A table and where it lies in its file."""

    table: T
    extent: Extent


@dataclass(frozen=True)
class Region:
    """A stretch of a table's bytes. In a region of `numbers` every bit belongs to a number of the table."""

    name: str
    offset: int
    size: int
    numbers: bool = False


@dataclass(frozen=True)
class Layout:
    """Where everything lies in a file of a table, in bytes from the table's first.

    header : the bytes before the numbers, as the format's own program writes them.
    regions : the whole of it, in order and without gaps.
    place : (entry, column, item) -> byte; see `offset_of`.
    """

    header: bytes
    regions: tuple[Region, ...]
    place: Callable[[int, str, int], int] = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        """Bytes of the whole."""
        return sum(region.size for region in self.regions)

    def offset_of(self, entry: int, column: str = "", item: int = 0) -> int:
        """The byte at which an entry begins, or number `item` of one of its columns (the first by default).

        A one-sided entry is a position number, a two-sided one us * positions + them. Columns are the table's
        arrays; an item is what such an array holds for the entry: a roll, an equity, a byte of a hypergammon
        record. Where a number is left out of the file (a leading zero of a compressed row), it is the byte of what
        says so.
        """
        return self.place(entry, column, item)

    def region_at(self, offset: int) -> Region | None:
        """The region that a byte belongs to."""
        inside = (r for r in self.regions if r.offset <= offset < r.offset + r.size)
        return next(inside, None)


@dataclass(frozen=True)
class Fault:
    """Bytes of a file that are not what the format's own program writes for the same numbers.

    offset, size : where in the file. rule : what they break, or are carried by. expected, found : in words.
    carried : the format's readers ignore them and a copy repeats them, such as what is left in a reused block.
    """

    offset: int
    size: int
    rule: str
    expected: str
    found: str
    carried: bool = False

    def __str__(self) -> str:
        where = f"byte {self.offset:,}" if self.size == 1 else f"{self.size:,} bytes at {self.offset:,}"
        return f"{self.rule}: {where}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class Salvage:
    """What a damaged file may have been.

    table : what its bytes give, read as far as they make sense; its records are those of an undamaged file.
    near : how much of the file's beginning speaks for it, 0 to 1.
    sure : whether the header, as far as it is read, is intact.
    how : what is wrong with the file, where that is known.
    """

    table: Table
    near: float
    sure: bool = True
    how: str = ""


@dataclass(frozen=True)
class Broken:
    """A registered format that failed to load, and why."""

    name: str
    reason: str = field(default="")


def promised(shape: tuple[int, ...], dtype: Any) -> LazyRows:
    """Rows that have a shape and a dtype but no numbers yet, for `Format.layout` and `Format.body`."""

    def fetch(start: int, stop: int) -> NDArray[Any]:
        raise CapabilityError("these rows are promised, not made")

    return LazyRows(shape, dtype, fetch)


def shown(data: bytes) -> str:
    """A few bytes as a person reads them: text where it is text, else hexadecimal."""
    if not data:
        return "the end"
    part = data[:16]
    text = repr(part)[1:] if all(32 <= b < 127 or b == 10 for b in part) else part.hex(" ")
    return text + (" ..." if len(data) > 16 else "")
