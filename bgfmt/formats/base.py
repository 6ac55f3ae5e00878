"""Base class of file formats: recognise, read, describe, write and audit one kind of file."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, OptionError, format_bytes
from bgfmt.formats.records import Record
from bgfmt.storage import ComparingSink, Sink, Source
from bgfmt.storage.sink import Data, size_of
from bgfmt.tables import KINDS, LazyRows, OneSided, Table

__all__ = [
    "HEAD_BYTES",
    "ROLLS",
    "ArrayFormat",
    "Broken",
    "Extent",
    "Fault",
    "Format",
    "Head",
    "Layout",
    "Option",
    "Options",
    "Outlet",
    "Reading",
    "Region",
    "RollsFormat",
    "placeholder_rows",
]


class Outlet:
    """Sink that a format writes to: forwards to another sink, counts the bytes and reports progress.

    counted : number of bytes reported so far.
    """

    def __init__(self, sink: Sink, progress: Callable[[int, int], None] | None = None) -> None:
        self.sink = sink
        self.name = sink.name
        self._progress = progress
        self.counted = 0
        self._total = 0

    @property
    def position(self) -> int:
        """Offset in the output file at which the next byte is written."""
        return self.sink.written

    def expect(self, total: float) -> None:
        """Set the expected number of bytes of the whole file, for progress; it may change when more is known."""
        self._total = int(total)

    def finish(self) -> None:
        """Report to the progress callback that all bytes are written."""
        if self._progress is not None:
            self._progress(self.counted, self.counted)

    def count(self, size: int) -> None:
        """Add `size` bytes to the progress, for bytes written to `sink` directly; `write` counts its own bytes."""
        self.counted += size
        if self._progress is not None and self._total > self.counted:
            self._progress(self.counted, self._total)

    def write(self, data: Data) -> None:
        """Write bytes, or the bytes of an array in C order, at the end of the file."""
        self.sink.write(data)
        self.count(size_of(data))

    def write_at(self, offset: int, data: Data) -> None:
        """Write bytes at an offset in the file, for example into space left by `skip`."""
        self.sink.write_at(offset, data)
        self.count(size_of(data))

    def skip(self, size: int) -> None:
        """Leave `size` bytes free at the end of the file, which `write_at` fills later."""
        self.sink.skip(size)


# ---- data passed between formats and their callers

HEAD_BYTES = 512
ROLLS = 32  # length of a 16-bit distribution
NO_GAMMONS = "the table has no gammon distributions; solve it again to get them"
GAMMONS_DROPPED = "the gammon distributions are dropped"
T = TypeVar("T", bound=Table)


@dataclass(frozen=True)
class Head:
    """Beginning of a file, from which every format decides whether the file is its own.

    name : file name. bytes : the first 512 bytes at `offset`. size : bytes from `offset` to the end of the file.
    """

    name: str
    size: int
    bytes: bytes
    offset: int = 0


@dataclass(frozen=True)
class Option:
    """Option of a format when writing: its name, type (bool, int or str) and help text."""

    name: str
    kind: type
    help: str


@dataclass(frozen=True)
class Extent:
    """Position of a table in its file: offset of its first byte and its size in bytes, header included."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        """Offset in the file of the first byte after the table."""
        return self.offset + self.size


class Reading(NamedTuple, Generic[T]):
    """Table that was read, and its position in the file."""

    table: T
    extent: Extent

    @staticmethod
    def of(
        kind: type[T], source: Source, offset: int, size: int, points: int, chequers: int, **fields: Any
    ) -> Reading[T]:
        """Build a table that was read from `source`, together with its extent (offset and size in the file).

        Parameters
        ----------
        kind : class of the table
        source : its name and `release` function go into the table
        offset, size : position of the table in the file, in bytes
        points, chequers : size of the table
        fields : arrays and other fields of the table
        """
        common: dict[str, Any] = {"provenance": source.name, "release": source.release}
        return Reading(kind(points=points, chequers=chequers, **common, **fields), Extent(offset, size))


@dataclass(frozen=True)
class Region:
    """Named range of bytes of a table's file. With `numbers`, every bit of it belongs to a number of the table."""

    name: str
    offset: int
    size: int
    numbers: bool = False


@dataclass(frozen=True)
class Layout:
    """Where everything is in the file of a table; offsets are in bytes from the table's first byte.

    header : the bytes before the numbers, as the format's own program writes them.
    regions : all parts of the file, in order and without gaps.
    place : function (entry, column, item) -> offset; see `offset_of`.
    """

    header: bytes
    regions: tuple[Region, ...]
    place: Callable[[int, str, int], int] = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        """Total size of the file in bytes."""
        return sum(region.size for region in self.regions)

    @property
    def is_header_and_numbers(self) -> bool:
        """Whether the file consists of a header and numbers only, with nothing between or after them."""
        return all(r.numbers or r.offset < len(self.header) for r in self.regions)

    def offset_of(self, entry: int, column: str = "", item: int = 0) -> int:
        """Return the offset in bytes, from the table's first byte, of an entry or of one number of it.

        Where the number itself is not stored (a leading zero of a compressed row), it is the offset of the byte that
        implies it.

        Parameters
        ----------
        entry : position number in a one-sided table, us * positions + them in a two-sided one
        column : name of one of the table's arrays; the first one by default
        item : index of the number within the entry: a roll, an equity, or a byte of a hypergammon record
        """
        return self.place(entry, column, item)

    def region_at(self, offset: int) -> Region | None:
        """Return the named byte range that contains this offset; None if the file ends before."""
        inside = (r for r in self.regions if r.offset <= offset < r.offset + r.size)
        return next(inside, None)


@dataclass(frozen=True)
class Fault:
    """Bytes of a file that differ from what the format's own program writes for the same numbers.

    offset, size : the bytes in the file. rule : name of the violated rule or of the region. expected, found : texts.
    carried : readers of the format ignore these bytes and copies preserve them, for example leftovers in a reused
    block.
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
class Broken:
    """A registered format that failed to load, and why."""

    name: str
    reason: str = field(default="")


def placeholder_rows(shape: tuple[int, ...], dtype: Any) -> LazyRows:
    """Return rows that have a shape and dtype but no values, for `Format.layout` and `Format.body`.

    Fetching them raises CapabilityError.
    """

    def fetch(start: int, stop: int) -> NDArray[Any]:
        raise CapabilityError("these rows are placeholders without numbers")

    return LazyRows(shape, dtype, fetch)


Progress = Callable[[int, int], None]
Options = Mapping[str, Any]


class Format(ABC, Generic[T]):
    """One file format, for tables of type T. A subclass is one module, entry point and page in docs/formats."""

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    #: the first bytes of its files, if they identify it
    magic: ClassVar[bytes] = b""
    #: the kinds of table it can hold
    carries: ClassVar[tuple[type[Table], ...]]
    #: options when writing
    options: ClassVar[tuple[Option, ...]] = ()
    #: classes of records that its files may have besides the numbers
    records: ClassVar[tuple[type[Record], ...]] = ()
    #: the structures of its files by name, declared as constructs; its page shows each as a table of bytes
    structures: ClassVar[Mapping[str, Any]] = {}
    #: keywords and types that describe a file without header, for example {"points": int}; empty if there are none
    headerless: ClassVar[Mapping[str, type]] = {}
    #: no current program writes it; chosen for a new file only if named explicitly
    historic: ClassVar[bool] = False
    #: a folder of chunks instead of a file; only a solve creates it
    folder: ClassVar[bool] = False
    #: whether its files can be read
    reads: ClassVar[bool] = True
    #: whether a table can be converted to it
    writes: ClassVar[bool] = True
    #: whether remote files are read by byte range; others are downloaded completely
    by_range: ClassVar[bool] = False
    #: remarks that apply to all its files, one line each
    notes: ClassVar[tuple[str, ...]] = ()

    # -- reading ----------------------------------------------------------------------------------------

    def recognise(self, head: Head) -> bool:
        """Return True if a file that begins with these bytes is of this format."""
        return bool(self.magic) and head.bytes.startswith(self.magic)

    def guess(self, source: Source) -> list[dict[str, Any]]:
        """Return every description by which a file without header could be read in this format; empty if none.

        A description is a dict with the keys of `headerless`, what a header would state. The size of the file and its
        numbers decide.
        """
        return []

    @abstractmethod
    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[T]:
        """Read the table at `offset`; its arrays are views of the source's bytes.

        described : the facts that a missing header would have, such as points and chequers; `headerless` names them.
        """

    def info(self, reading: Reading[T]) -> dict[str, Any]:
        """Return what `bgfmt info` shows of a file of this format beyond kind, points and chequers, by JSON field."""
        return {}

    def host_facts(self, reading: Reading[T]) -> dict[str, Any]:
        """Return how the programs that use such files treat this one, by these names.

        gnubg_name : file name under which GNU Backgammon looks for it, or None.
        gnubg_reads : whether gnubg can use it.
        notes : further remarks, one line each.
        """
        return {"gnubg_name": None, "gnubg_reads": False, "notes": list(self.notes)}

    def extra_contents(self, reading: Reading[T]) -> list[str]:
        """List, one line each, what the file has besides the table's numbers; only copies in this format keep it."""
        return []

    # -- writing ----------------------------------------------------------------------------------------

    def write(self, table: T, sink: Sink, *, progress: Progress | None = None, **options: Any) -> None:
        """Write the table to a sink. Options that are not given follow the table's own file if it is of this format.

        progress : called with (bytes written, total bytes).

        Raises CapabilityError, before anything is written, if this format cannot hold the table or does not have such
        an option.
        """
        self.check(table, options)
        outlet = Outlet(sink, progress)
        layout = None if progress is None else self.layout_of(table, options)
        if layout is not None:
            outlet.expect(layout.size)
        self.emit(table, outlet, options)
        outlet.finish()

    def emit(self, table: T, sink: Outlet, options: Options) -> None:
        """Write the bytes of the table; table and options are already checked.

        Raises CapabilityError if the format cannot be written (see `writes`).
        """
        raise CapabilityError(f"no table can be converted to {self.name}")

    def check(self, table: T, options: Options) -> None:
        """Raise CapabilityError unless this format can hold this table, written with these options."""
        self.check_options(options)
        if not isinstance(table, self.carries):
            kinds = ", ".join(self.kinds())
            raise CapabilityError(f"the format {self.name} holds {kinds} tables, not {table.kind}")
        reason = self.refusal(table, options)
        if reason is not None:
            raise CapabilityError(reason)

    def kinds(self) -> list[str]:
        """Return the names of the kinds of table that this format can hold."""
        return [name for name, kind in KINDS.items() if issubclass(kind, self.carries)]

    def refusal(self, table: T, options: Options) -> str | None:
        """Return the reason why a table of the right kind cannot be written with these options, or None if it can."""
        return None

    def check_options(self, options: Options) -> None:
        """Raise OptionError for an unknown option, CapabilityError for a value of the wrong type."""
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
        """Return one line for each piece of information that writing this table with these options would lose."""
        return []

    def is_default_for(self, table: T) -> bool:
        """Return True if new tables of this kind and recipe are written in this format when none is named."""
        return False

    def concatenation_refusal(self, tables: Sequence[Table]) -> str | None:
        """Return the reason why one file cannot hold these tables one after another, or None if it can."""
        return f"a {self.name} file holds one table" if len(tables) != 1 else None

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: T, **options: Any) -> Layout:
        """Return where header, numbers and other parts lie in a file of this table, written with these options.

        Only the shapes and dtypes of the table's arrays are used. If the layout depends on the numbers or the history
        of a file, the result is the layout of the file from which the table was read. Raises CapabilityError if the
        layout is only known after writing.
        """
        raise CapabilityError(f"the layout of {self.name} files is not known in advance")

    def layout_of(self, table: T, options: Options) -> Layout | None:
        """Return what `layout` returns for this table and options, or None if it is only known after writing."""
        try:
            return self.layout(table, **options)
        except CapabilityError:
            return None

    def as_written(self, table: T) -> tuple[T, Options]:
        """Return the table and the options whose writing gives the canonical file for `audit` to compare with.

        The table has no bytes that copies merely preserve; the options reproduce the layout of the table's own file.
        """
        return table, {}

    def audit(self, source: Source, table: T, extent: Extent) -> Iterator[Fault]:
        """Compare every byte of a table with what this format writes for the same numbers; yield the differences.

        A byte without fault is either canonical or part of a number. Takes one pass over the table, unless the layout
        has nothing but a header outside the numbers.
        """
        own, options = self.as_written(table)
        layout = self.layout_of(own, options)
        if layout is not None and layout.is_header_and_numbers:
            sink = ComparingSink(source.buffer[extent.offset : extent.offset + len(layout.header)])
            sink.write(layout.header)
        else:
            sink = ComparingSink(source.buffer[extent.offset : extent.end])
            try:
                self.write(own, sink, **options)  # type: ignore[arg-type]
            except CapabilityError as error:  # numbers that this layout cannot hold
                yield Fault(extent.offset, extent.size, f"{self.name} layout", "its own numbers", str(error))
                return
        for at, expected, stored in sink.runs():
            region = None if layout is None else layout.region_at(at)
            rule = f"{self.name} layout" if region is None else region.name
            place = extent.offset + at
            size = max(len(expected), len(stored))
            yield Fault(place, size, rule, format_bytes(expected), format_bytes(stored))

    def tables_of_size(self, source: Source) -> list[str]:
        """Describe, one text each, the tables whose file in this format would have exactly the size of this file."""
        return []

    @contextlib.contextmanager
    def body(self, sink: Sink, table: T, **options: Any) -> Iterator[dict[str, NDArray[Any]]]:
        """Make space in a new file for a table's arrays and yield them by name, to be filled in any order.

        table : gives kind, sizes and dtypes; its numbers are not used (see `bgfmt.formats.placeholder_rows`).
        options : those of the format.

        The arrays are views of the file, which is complete when the `with` block ends. CapabilityError if files of
        this layout are written in order only.
        """
        self.check(table, options)
        if not self.takes_body(table, options):
            raise CapabilityError(f"{self.name} files of this layout can only be written in order")
        layout = self.layout(table, **options)
        sink.write(layout.header)
        room = sink.reserve(layout.size - len(layout.header))
        yield self.arrays_in(room, table, options)

    def takes_body(self, table: T, options: Options) -> bool:
        """Return True if `body` can make a file for this table and these options, to be filled in any order."""
        layout = None if type(self).arrays_in is Format.arrays_in else self.layout_of(table, options)
        return layout is not None and layout.is_header_and_numbers

    def arrays_in(self, room: NDArray[np.uint8], table: T, options: Options) -> dict[str, NDArray[Any]]:
        """Return the table's arrays, by name, as views of `room`: the bytes of the new file after its header."""
        raise CapabilityError(f"{self.name} files can only be written in order")


class ArrayFormat(Format[T]):
    """Format of a header followed by the numbers of one array, uncompressed.

    array : name of the array. dtype : dtype of its numbers in the file.
    """

    array: ClassVar[str]
    dtype: ClassVar[str | np.dtype[Any]]

    @abstractmethod
    def header_of(self, table: T, options: Options) -> bytes:
        """Return the header of the table's file, written with these options; empty for a file without header."""

    def shape_of(self, table: T, options: Options) -> tuple[int, ...]:
        """Return the shape of the array of numbers in the table's file, written with these options."""
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
        """Return the named byte ranges into which `header` is divided."""
        return (Region("header", 0, len(header)),)

    def first_item(self, column: str) -> int:
        """Return the index, in a record of the file, of the first number of the table's array `column`."""
        return 0

    def arrays_in(self, room: NDArray[np.uint8], table: T, options: Options) -> dict[str, NDArray[Any]]:
        return {self.array: room.view(self.dtype).reshape(self.shape_of(table, options))}


class RollsFormat(Format[OneSided]):
    """Format of 16-bit distributions over 32 rolls, with an option `gammon` to write the gammon distributions."""

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
        """Return True if gammon distributions are written: by the option, else if the table has them."""
        choice = options.get("gammon")
        return table.gammon is not None if choice is None else bool(choice)
