"""What a format promises: recognise, read, describe, write, account for every byte, and salvage one kind of file."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, CapabilityError, OptionError, shown
from bgfmt.formats.records import Record
from bgfmt.storage import ComparingSink, Sink, Source
from bgfmt.storage.sink import Data, size_of
from bgfmt.tables import LazyRows, OneSided, Table


class Outlet:
    """The sink a format writes to: counts the bytes that go through and reports them.

    counted : bytes that were written, or counted, so far.
    """

    def __init__(self, sink: Sink, progress: Callable[[int, int], None] | None = None) -> None:
        self.sink = sink
        self.name = sink.name
        self._progress = progress
        self.counted = 0
        self._total = 0

    @property
    def written(self) -> int:
        """Where the next byte goes."""
        return self.sink.written

    def expect(self, total: float) -> None:
        """How many bytes there will be, as far as is known now."""
        self._total = int(total)

    def done(self) -> None:
        """All is written."""
        if self._progress is not None:
            self._progress(self.counted, self.counted)

    def count(self, size: int) -> None:
        """Bytes that are made; `write` counts its own, what goes to `sink` itself is not counted."""
        self.counted += size
        if self._progress is not None and self._total > self.counted:
            self._progress(self.counted, self._total)

    def write(self, data: Data) -> None:
        """Append bytes, or an array's bytes in C order as they stand."""
        self.sink.write(data)
        self.count(size_of(data))

    def write_at(self, offset: int, data: Data) -> None:
        """Write bytes at an offset, such as into room left by `skip`."""
        self.sink.write_at(offset, data)
        self.count(size_of(data))

    def skip(self, size: int) -> None:
        """Leave room for `size` bytes that `write_at` fills later."""
        self.sink.skip(size)


# ---- what formats and their callers hand each other

HEAD_BYTES = 512
ROLLS = 32  # of a distribution in 16 bits
NO_GAMMONS = "the table has no gammon distributions; solve it anew to get them"
GAMMONS_DROPPED = "the gammon distributions are dropped"
T = TypeVar("T", bound=Table)


@dataclass(frozen=True)
class Head:
    """What every format is shown to say whether bytes are its own.

    name, bytes : the file's name and the first 512 bytes at `offset`. size : bytes from `offset` to the end.
    """

    name: str
    size: int
    bytes: bytes
    offset: int = 0


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

    @staticmethod
    def of(
        kind: type[T], source: Source, offset: int, size: int, points: int, chequers: int, **fields: Any
    ) -> Reading[T]:
        """A table of `points` and `chequers` in `size` bytes of a file from `offset` on; `fields` are its arrays."""
        common: dict[str, Any] = {"provenance": source.name, "release": source.release}
        return Reading(kind(points=points, chequers=chequers, **common, **fields), Extent(offset, size))


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

    @property
    def plain(self) -> bool:
        """Whether there is nothing but the header around the numbers."""
        return all(r.numbers or r.offset < len(self.header) for r in self.regions)

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


Progress = Callable[[int, int], None]
Options = Mapping[str, Any]
Apart = Callable[[Callable[[Source, Any], Any], Sequence[Any]], Iterable[Any]]


class Format(ABC, Generic[T]):
    """One file format, of tables of type T. A subclass is one module, one entry point, one page in docs/formats."""

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    #: how its files begin, where they are told by that
    magic: ClassVar[bytes] = b""
    carries: ClassVar[tuple[type[Table], ...]]
    options: ClassVar[tuple[Option, ...]] = ()
    #: what its files say beyond their numbers
    records: ClassVar[tuple[type[Record], ...]] = ()
    #: how a file without header must be described, for example {"points": int}; empty when there is no such file
    headerless: ClassVar[Mapping[str, type]] = {}
    #: no program of today writes it: a new file is of this format only when it is asked for by name
    historic: ClassVar[bool] = False
    #: it is no file but a folder of chunks, made by solving alone
    folder: ClassVar[bool] = False
    #: whether its files are read as well as written
    reads: ClassVar[bool] = True
    #: whether a table can be converted to it
    writes: ClassVar[bool] = True
    #: whether a table takes all bytes of its file, so that none can be left over at the end
    fills: ClassVar[bool] = False
    #: whether it is read from a network by byte range; others are fetched whole
    by_range: ClassVar[bool] = False
    #: what else to know of all its files, a line each
    notes: ClassVar[tuple[str, ...]] = ()

    # -- reading ----------------------------------------------------------------------------------------

    def recognise(self, head: Head) -> bool:
        """Whether these first bytes are this format's."""
        return bool(self.magic) and head.bytes.startswith(self.magic)

    def guess(self, source: Source) -> list[dict[str, Any]]:
        """Descriptions (as `headerless` names them) that a file without header fits by size and content."""
        return []

    @abstractmethod
    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[T]:
        """The table at `offset`, over the source's own bytes; `described` replaces a missing header."""

    def info(self, reading: Reading[T]) -> dict[str, Any]:
        """Facts of this format beyond kind, points and chequers, for `bgfmt info`."""
        return {}

    def host_facts(self, reading: Reading[T]) -> dict[str, Any]:
        """What the programs that read such files make of this one.

        gnubg_name : the name under which GNU Backgammon looks for it, or None. gnubg_reads : whether it can use it.
        notes : what else to know, a line each.
        """
        return {"gnubg_name": None, "gnubg_reads": False, "notes": list(self.notes)}

    def beside(self, reading: Reading[T]) -> list[str]:
        """What the file holds beside the table that only a copy in this format keeps, a line each."""
        return []

    # -- writing ----------------------------------------------------------------------------------------

    def write(self, table: T, sink: Sink, *, progress: Progress | None = None, **options: Any) -> None:
        """Write the table. Options left out follow the table's own file where it is of this format.

        `progress` is called with (bytes written, bytes in all). Raises CapabilityError before anything is written
        where this format cannot hold the table or has no such option.
        """
        self.check(table, options)
        outlet = Outlet(sink, progress)
        layout = None if progress is None else self.layout_of(table, options)
        if layout is not None:
            outlet.expect(layout.size)
        self.emit(table, outlet, options)
        outlet.done()

    def emit(self, table: T, sink: Outlet, options: Options) -> None:
        """Put the bytes out; table and options were checked. CapabilityError where `writes` is not so."""
        raise CapabilityError(f"no table is converted to {self.name}")

    def check(self, table: T, options: Options) -> None:
        """CapabilityError unless this format can hold this table, written with these options."""
        self.check_options(options)
        if not isinstance(table, self.carries):
            kinds = ", ".join(self.kinds())
            raise CapabilityError(f"{self.name} holds {kinds} tables, not {table.kind}")
        reason = self.refusal(table, options)
        if reason is not None:
            raise CapabilityError(reason)

    def kinds(self) -> list[str]:
        """Names of the kinds of table it can hold."""
        from bgfmt.tables import KINDS

        return [name for name, kind in KINDS.items() if issubclass(kind, self.carries)]

    def refusal(self, table: T, options: Options) -> str | None:
        """Why a table of the right kind cannot be held or written so; None when it can."""
        return None

    def check_options(self, options: Options) -> None:
        """OptionError for an option this format does not have, CapabilityError for a value of another kind."""
        kinds = {option.name: option.kind for option in self.options}
        for name, value in options.items():
            if name not in kinds:
                raise OptionError(self.name, name, value, tuple(sorted(kinds)))
            kind = kinds[name]
            right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
            if value is not None and not right:
                word = {bool: "yes or no", int: "a whole number"}.get(kind, "a word")
                fault = f"needs a value, {word}" if value is True else f"is {word}, not {value!r}"
                raise CapabilityError(f"{self.name}: {name} {fault}")

    def losses(self, table: T, options: Options) -> list[str]:
        """One line for each thing that writing this table with these options would lose."""
        return []

    def home_of(self, table: T) -> bool:
        """Whether a new table of this kind and recipe is written in this format where no format is named."""
        return False

    def together(self, tables: Sequence[Table]) -> str | None:
        """Why one file cannot hold these tables one behind the other; None when it can."""
        return f"a {self.name} file holds one table" if len(tables) != 1 else None

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: T, **options: Any) -> Layout:
        """Where everything lies in a file of this table; only shape and dtype of its arrays are looked at.

        A table just read from a file of a layout that depends on its numbers or history is laid out as it was read.
        Raises CapabilityError where the layout cannot be told without writing.
        """
        raise CapabilityError(f"the layout of {self.name} files is not told beforehand")

    def layout_of(self, table: T, options: Options) -> Layout | None:
        """The same; None where it cannot be told without writing."""
        try:
            return self.layout(table, **options)
        except CapabilityError:
            return None

    def as_written(self, table: T) -> tuple[T, Options]:
        """The same numbers without what is carried along, and the options that give the layout it was read with."""
        return table, {}

    def audit_apart(self, source: Source, extent: Extent, run: Apart) -> Iterator[Fault] | None:
        """The faults of `audit`, found in parts by others; None where this format is looked at in one go.

        run : run(function, parts) gives function(their own source of the same bytes, part) of each part, in any
            order. The function is one that pickles by name.
        """
        return None

    def audit(self, source: Source, table: T, extent: Extent) -> Iterator[Fault]:
        """Account for every byte of a table's extent: what yields no fault is as written, or part of a number.

        Bytes outside the numbers are compared with what this format writes for the same numbers. A pass over the
        table, unless its layout has nothing but a header outside the numbers.
        """
        own, options = self.as_written(table)
        layout = self.layout_of(own, options)
        if layout is not None and layout.plain:
            sink = ComparingSink(source.buffer[extent.offset : extent.offset + len(layout.header)])
            sink.write(layout.header)
        else:
            sink = ComparingSink(source.buffer[extent.offset : extent.end])
            try:
                self.write(own, sink, **options)  # type: ignore[arg-type]
            except CapabilityError as error:  # numbers that no file of this layout holds
                yield Fault(extent.offset, extent.size, f"{self.name} layout", "its own numbers", str(error))
                return
        for at, expected, stored in sink.runs():
            region = None if layout is None else layout.region_at(at)
            rule = f"{self.name} layout" if region is None else region.name
            place = extent.offset + at
            size = max(len(expected), len(stored))
            yield Fault(place, size, rule, shown(expected), shown(stored))

    def salvage(self, source: Source) -> Iterator[Salvage]:
        """What a damaged file of this format may have been, the likeliest first.

        Without knowledge of the format's own: the table itself where the file can be read.
        """
        try:
            if self.recognise(Head(source.name, source.size, bytes(source.buffer[:HEAD_BYTES]))):
                yield Salvage(self.read(source).table, 1.0)
        except BgfmtError:
            return

    def fitting(self, source: Source) -> list[str]:
        """Tables, in words, whose file of this format would have just this size."""
        return []

    def resembles(self, head: bytes) -> bool:
        """Whether bytes look like the beginning of such a file, perhaps a damaged one."""
        return self.recognise(Head("", len(head), head[:HEAD_BYTES]))

    @contextlib.contextmanager
    def body(self, sink: Sink, table: T, **options: Any) -> Iterator[dict[str, NDArray[Any]]]:
        """Room in a new file for a table's arrays, by name, to be filled in any order.

        `table` says kind, sizes and dtypes; its numbers are not looked at (`bgfmt.formats.promised` makes one).
        The arrays lie in the file itself; it is complete when the block ends.
        """
        self.check(table, options)
        if not self.takes_body(table, options):
            raise CapabilityError(f"{self.name} files of this layout are written in order only")
        layout = self.layout(table, **options)
        sink.write(layout.header)
        room = sink.reserve(layout.size - len(layout.header))
        yield self.arrays_in(room, table, options)

    def takes_body(self, table: T, options: Options) -> bool:
        """Whether `body` makes room for this table, written with these options."""
        layout = None if type(self).arrays_in is Format.arrays_in else self.layout_of(table, options)
        return layout is not None and layout.plain

    def arrays_in(self, room: NDArray[np.uint8], table: T, options: Options) -> dict[str, NDArray[Any]]:
        """The arrays of a table in the bytes behind the header."""
        raise CapabilityError(f"{self.name} files are written in order only")


class ArrayFormat(Format[T]):
    """A header, and the numbers of one array behind it as they stand.

    array, dtype : the array's name, and the dtype of its numbers in a file.
    """

    array: ClassVar[str]
    dtype: ClassVar[str]

    @abstractmethod
    def header_of(self, table: T, options: Options) -> bytes:
        """The header to write; none for a file without one."""

    def shape_of(self, table: T, options: Options) -> tuple[int, ...]:
        """Shape of the numbers in the file."""
        return tuple(getattr(table, self.array).shape)

    def emit(self, table: T, sink: Outlet, options: Options) -> None:
        sink.write(self.header_of(table, options))
        for _, block in table.blocks():
            sink.write(np.ascontiguousarray(block[self.array], self.dtype))

    def layout(self, table: T, **options: Any) -> Layout:
        header = self.header_of(table, options)
        shape = self.shape_of(table, options)
        start, each = len(header), np.dtype(self.dtype).itemsize

        def place(entry: int, column: str, item: int) -> int:
            return start + each * (entry * shape[-1] + self.first_item(column) + item)

        body = Region("numbers", start, each * prod(shape), numbers=True)
        return Layout(header, (*self.header_regions(header), body), place)

    def header_regions(self, header: bytes) -> tuple[Region, ...]:
        """The parts of a header."""
        return (Region("header", 0, len(header)),)

    def first_item(self, column: str) -> int:
        """Where in a record the numbers of one of the table's arrays begin."""
        return 0

    def arrays_in(self, room: NDArray[np.uint8], table: T, options: Options) -> dict[str, NDArray[Any]]:
        return {self.array: room.view(self.dtype).reshape(self.shape_of(table, options))}


class RollsFormat(Format[OneSided]):
    """A format of 16-bit distributions of 32 rolls, with an option `gammon` whether those of gammons are written."""

    def refusal(self, table: OneSided, options: Options) -> str | None:
        if table.exact:
            return f"{self.name} holds 16-bit integers, not exact float64 chances; npz holds those"
        if table.bearoff.shape[1] != ROLLS:
            return f"{self.name} holds 32 rolls a position, not {table.bearoff.shape[1]}; npz holds these"
        if options.get("gammon") and table.gammon is None:
            return NO_GAMMONS
        return super().refusal(table, options)

    def losses(self, table: OneSided, options: Options) -> list[str]:
        return [GAMMONS_DROPPED] if table.gammon is not None and not self.gammon(table, options) else []

    @staticmethod
    def gammon(table: OneSided, options: Options) -> bool:
        """Whether gammon distributions are written."""
        choice = options.get("gammon")
        return table.gammon is not None if choice is None else bool(choice)
