"""What GNU Backgammon's formats have in common: the header, files without header, and damaged files.

The structures follow files of makebearoff and makehyper 1.07. Any non-zero flag is true. We read as liberally as
gnubg and write the canonical form, except that a copy repeats the header it was read with.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, ClassVar, Self

import numpy as np
from construct import (
    Array,
    Bytes,
    Const,
    Construct,
    Default,
    Float32l,
    Int8ul,
    Int16ul,
    Int24ul,
    Struct,
    this,
)
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, HeaderError, UnknownFormatError, format_bytes
from bgfmt.formats.base import ROLLS, ArrayFormat, Head, Layout, Option, Options, Reading, Region, T
from bgfmt.formats.records import Fact, Record
from bgfmt.formats.structures import fields, offset_of
from bgfmt.game import board, moves
from bgfmt.game.board import Side
from bgfmt.storage import Source
from bgfmt.tables import Table

SIZE = 40
HYPER_POINTS = 25
KINDS = {"OS": "one-sided", "ND": "normal-distribution", "TS": "two-sided", "H": "hypergammon"}

FOUR_GIB = 1 << 32
#: largest number of points accepted in a header: gnubg accepts 23, and makebearoff writes two-sided files of 24
GNUBG_POINTS = 23
MAX_POINTS_READ = {"OS": GNUBG_POINTS, "ND": GNUBG_POINTS, "TS": 24, "H": HYPER_POINTS}

# ---- structures

_NUMBER = re.compile(rb"[ \t\n\v\f\r]*([+-]?\d+)")


class Digits(Construct):  # type: ignore[misc]
    """A number in ASCII decimal digits, filled with zeros.

    It is read as C's `atoi` reads it: blanks, a sign, and all digits, also those behind the field; 0 without digits.
    """

    unit = "digit"

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        start = stream.tell()
        found = _NUMBER.match(stream.read())
        stream.seek(start + self.size)
        return int(found.group(1)) if found else 0

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        stream.write(b"%0*d" % (self.size, obj))
        return obj

    def _sizeof(self, context: Any, path: str) -> int:
        return self.size


MAGIC = b"gnubg"
DASH = Default(Bytes(1), b"-") * "`-`, ignored"


def _declare_header(kind: str, *parts: Construct) -> Struct:
    """Return the structure of a header: gnubg's name, the letters of the kind, its own fields, filling."""
    known = ["magic" / Const(MAGIC), DASH, "kind" / Const(kind.encode()), *parts]
    room = SIZE - sum(part.sizeof() for part in known)
    return Struct(
        *known, "filling" / Default(Bytes(room), b"\n".rjust(room, b"x")) * "`x` and a line feed, ignored"
    )


_SIDES = DASH, "points" / Digits(2), DASH, "chequers" / Digits(2), DASH
ONE_SIDED = _declare_header(
    "OS",
    *_SIDES,
    "gammon" / Digits(1) * "1 with gammon distributions",
    DASH,
    "compressed" / Digits(1) * "1 if compressed",
    DASH,
    "normal" / Digits(1) * "1 with normal distributions",
)
TWO_SIDED = _declare_header("TS", *_SIDES, "cubeful" / Digits(1) * "1 with cubeful equities")
HYPERGAMMON = _declare_header("H", "chequers" / Digits(1) * "1, 2 or 3")
HEADERS = {"OS": ONE_SIDED, "ND": ONE_SIDED, "TS": TWO_SIDED, "H": HYPERGAMMON}
LETTERS = "OS", "TS", "H"  # those of normal distributions are "OS"
KIND_AT = offset_of(ONE_SIDED, "kind")

MOMENTS = Struct(
    "mean" / Float32l * "mean number of rolls to bear off the last chequer",
    "deviation" / Float32l * "its standard deviation",
    "gammon_mean" / Float32l * "mean number of rolls to bear off the first chequer (to save the gammon)",
    "gammon_deviation" / Float32l * "its standard deviation",
)
EQUITIES = Struct(
    "cubeless" / Int16ul,
    "owned" / Int16ul * "the side on roll owns the cube",
    "centered" / Int16ul,
    "opponents" / Int16ul * "the opponent owns the cube",
)
OUTCOMES = Struct(
    "win" / Int24ul * "probabilities, parts of 16777215",
    "win_gammon" / Int24ul,
    "win_backgammon" / Int24ul,
    "lose_gammon" / Int24ul,
    "lose_backgammon" / Int24ul,
    "owned" / Int24ul * "equities (v / 16777215 - 0.5) * 6: the side on roll owns the cube",
    "centered" / Int24ul,
    "centered_jacoby" / Int24ul * "the same with the Jacoby rule",
    "opponents" / Int24ul * "the opponent owns the cube",
    "zero" / Const(0, Int8ul),
)
#: the numbers behind the header, if they are not compressed
NUMBERS = {
    "OS": Array(this.positions, Array(this.columns, Int16ul)),
    "ND": Array(this.positions, Array(len(MOMENTS.subcons), MOMENTS.mean.subcon)),
    "TS": Array(this.positions, Array(this.positions, Array(this.columns, EQUITIES.cubeless.subcon))),
    "H": Array(this.positions, Array(this.positions, Array(OUTCOMES.sizeof(), Int8ul))),
}
FILES = {kind: Struct("header" / HEADERS[kind], "numbers" / numbers) for kind, numbers in NUMBERS.items()}

# ---- content


@dataclass(frozen=True)
class HeaderFacts:
    """Content of a header, parsed as gnubg parses it. kind : "OS", "ND" (normal distribution), "TS" or "H"."""

    kind: str
    points: int
    chequers: int
    gammon: bool = False
    compressed: bool = False
    cubeful: bool = False

    @property
    def canonical(self) -> bytes:
        """The 40 header bytes that gnubg's programs write for a table with this content."""
        normal = self.kind == "ND"
        values = {"points": self.points, "chequers": self.chequers, "cubeful": self.cubeful, "normal": normal}
        values |= {"gammon": self.gammon or normal, "compressed": self.compressed and not normal}
        return bytes(HEADERS[self.kind].build(values))

    @property
    def _counts(self) -> dict[str, int]:
        """The numbers that `NUMBERS` refers to."""
        columns = 4 if self.cubeful else 1
        if self.kind == "OS":
            columns = 2 * ROLLS if self.gammon else ROLLS
        return {"positions": board.count(self.points, self.chequers), "columns": columns}

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the numbers in an uncompressed file; the first axis is the position number of the side on roll."""
        return fields(FILES[self.kind], **self._counts)["numbers"].shape

    @cached_property
    def size(self) -> int | None:
        """Size in bytes of the numbers, without header; None for a compressed file, whose index has to be read."""
        packed = self.compressed and self.kind == "OS"
        return None if packed else int(NUMBERS[self.kind].sizeof(**self._counts))

    @property
    def title(self) -> str:
        """Short name of the table, as `6x6 two-sided`."""
        size = {"TS": f"{self.points}x{self.chequers}", "H": f"{self.chequers}-chequer"}
        return f"{size.get(self.kind, f'{self.points}-point')} {KINDS[self.kind]}"


def number_dtype(kind: str) -> np.dtype[Any]:
    """Return the dtype of the numbers of a file of this kind: "OS", "ND", "TS" or "H", as of `HeaderFacts`."""
    return fields(FILES[kind], positions=0, columns=0)["numbers"].dtype


def kind_of(head: bytes) -> str:
    """Return the kind of a gnubg file, by its first bytes: "OS", "ND", "TS" or "H"; "" if they are not gnubg's.

    OS is one-sided, ND normal distribution, TS two-sided, H hypergammon.
    """
    if not head.startswith(MAGIC):
        return ""
    kind = next((kind for kind in LETTERS if head[KIND_AT:].startswith(kind.encode())), "")
    normal = kind == "OS" and len(head) >= SIZE and ONE_SIDED.parse(head[:SIZE]).normal
    return "ND" if normal else kind


def read_header(head: bytes) -> HeaderFacts | None:
    """Parse the 40 header bytes; None if they are no header of gnubg's. Points and chequers may be out of range."""
    kind = kind_of(head)
    if not kind or len(head) < SIZE:
        return None
    header = HEADERS[kind].parse(head[:SIZE])
    flags = {name: bool(header[name]) for name in ("gammon", "compressed", "cubeful") if name in header}
    return HeaderFacts(kind, header.get("points", HYPER_POINTS), header.chequers, **flags)


# ---- records


@dataclass(frozen=True)
class GnubgHeader(Record):
    """The 40 header bytes of the file from which a table was read; empty for a file without header."""

    raw: bytes

    def rearranged(self) -> Self | None:
        return None if self.raw else self

    def facts(self) -> Mapping[str, Fact]:
        return {"gnubg_header": self.raw.hex()}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        if "gnubg_header" not in facts:
            return None
        text = facts["gnubg_header"]
        if not isinstance(text, str) or len(text) not in (0, 2 * SIZE):
            raise ValueError(f"gnubg_header: expected 80 hexadecimal digits or none, found {text!r}")
        return cls(bytes.fromhex(text))

    def inconsistency(self, table: Table) -> str | None:
        if not self.raw:
            return None
        facts = read_header(self.raw)
        if facts is None or facts.canonical != self.raw:
            return f"the header {format_bytes(self.raw)} is not as gnubg's programs write it"
        if (KINDS[facts.kind], facts.points, facts.chequers) != (table.kind, table.points, table.chequers):
            return f"the header {format_bytes(self.raw)} is that of another table"
        return None


def _has_header(table: Table) -> bool:
    """Return True if the file from which a table was read has a header."""
    record = table.record(GnubgHeader)
    return record is not None and bool(record.raw)


# ---- recognition of the table in a file without header by its numbers

COMPARED_SIDES = 40  # sides whose probability to bear off in one roll is compared
SAMPLED_ROWS = 64  # rows of a two-sided table


def fits_two_sided(rows: NDArray[Any], points: int) -> bool:
    """Return True if stored equities (n, n, columns) may be those of a table of `points` points.

    Checked are row 0 (the side on roll has borne off), which must be 0xFFFF, column 0 (the opponent has borne off),
    which must be 0, and column 1 (the opponent has one chequer on the ace point): 65535 times the probability to bear
    off in one roll, rounded either way.
    """
    some = rows[np.unique(np.linspace(0, len(rows) - 1, SAMPLED_ROWS, dtype=np.int64))]
    if not (some[0] == 0xFFFF).all() or some[1:, 0].any():
        return False
    return _fits_one_roll(rows[1:COMPARED_SIDES][:, 1, 0], points)


def fits_distributions(rows: NDArray[Any], points: int) -> bool:
    """Return True if stored distributions (n, parts, 32) may be those of a table of `points` points.

    parts : 1, or 2 with gammon data. Each must sum to 65535, and its number for one roll must be the probability that
    a roll bears off all chequers.
    """
    some = rows[np.arange(0, len(rows), max(1, len(rows) // 1000))]
    whole = bool((some.sum(axis=2, dtype=np.int64) == 65535).all())
    return whole and _fits_one_roll(rows[1:COMPARED_SIDES][:, 0, 1], points)


def _fits_one_roll(stored: NDArray[Any], points: int) -> bool:
    """Return True if stored[k - 1] is 65535 times the probability to bear off position k in one roll, rounded."""
    expected = np.array([one_roll(k, points) for k in range(1, 1 + len(stored))], np.int64)
    return bool((np.abs(stored.astype(np.int64) * 36 - expected * 65535) <= 2 * 36).all())


@cache
def one_roll(number: int, points: int) -> int:
    """Return how many of the 36 equally likely rolls bear off all chequers of the side with this position number."""
    side = Side.from_number(number, points)
    if side.chequers > 4:
        return 0
    counts = side.padded(points)
    done = (0,) * points
    return sum(roll.weight * (done in moves.race_plays(counts, roll.high, roll.low)) for roll in moves.ROLLS)


def _refuse_more_points(source: Source, offset: int, facts: HeaderFacts, raw: bytes) -> None:
    """Raise UnknownFormatError for a valid file of too many points, such as `makebearoff -t 25x1` writes."""
    most = MAX_POINTS_READ[facts.kind]
    if facts.points <= most or not 1 <= facts.chequers <= 15 or raw != facts.canonical:
        return
    if facts.size == source.size - offset - SIZE:
        limits = f"gnubg reads at most {GNUBG_POINTS} points and bgfmt at most {most}"
        raise UnknownFormatError(
            f"{source.name}: a {KINDS[facts.kind]} table of {facts.points} points; {limits}"
        )


HEADER_OPTION = Option("header", bool, "write the 40 header bytes")
SIZED: Mapping[str, type] = {"points": int, "chequers": int}


class GnubgFormat(ArrayFormat[T]):
    """Base class of gnubg's formats. kind : the letters that name it in the header, see `HeaderFacts`."""

    kind: ClassVar[str]
    #: header facts of a file without header that its description does not give
    defaults: ClassVar[Mapping[str, Any]] = {}
    suffixes = (".bd",)
    by_range = True
    records: ClassVar[tuple[type[Record], ...]] = (GnubgHeader,)
    options: ClassVar[tuple[Option, ...]] = (HEADER_OPTION,)

    @abstractmethod
    def facts_of(self, table: T, options: Options) -> HeaderFacts:
        """Return the content of the header of a file of this table, written with these options."""

    # -- reading ----------------------------------------------------------------------------------------

    def recognise(self, head: Head) -> bool:
        return kind_of(head.bytes) == self.kind

    def guess(self, source: Source) -> list[dict[str, Any]]:
        fitting = [facts for facts in self.headers if self.matches(source, facts)]
        return [{name: getattr(facts, name) for name in self.headerless} for facts in fitting]

    @abstractmethod
    def matches(self, source: Source, facts: HeaderFacts) -> bool:
        """Return True if a file without header may be the table that `facts` describe, by its size and numbers."""

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[T]:
        facts, raw = self.read_opening(source, offset, described)
        start = offset + len(raw)
        rows = source.array(self.dtype, facts.shape, start, f"{facts.title} table")
        assert facts.size is not None
        fields: dict[str, Any] = {"carried": (GnubgHeader(raw),), self.array: rows}
        size = len(raw) + facts.size
        return Reading.of(self.carries[0], source, offset, size, facts.points, facts.chequers, **fields)  # type: ignore[return-value, arg-type]

    def read_opening(
        self, source: Source, offset: int, described: dict[str, Any]
    ) -> tuple[HeaderFacts, bytes]:
        """Return the header facts of the table at `offset`, checked to be in range, and the raw header bytes.

        described : the facts of a file without header; then the header bytes are empty.
        Raises HeaderError if a number is out of range or the header is not of this kind.
        """
        if described:
            return HeaderFacts(self.kind, **{**self.defaults, **described}), b""
        raw = source.bytes(offset, SIZE, "header")
        facts = read_header(raw)
        if facts is None or facts.kind != self.kind:
            raise HeaderError(
                source.name, "kind", offset, f"a header of kind {self.kind}", format_bytes(raw[:20])
            )

        _refuse_more_points(source, offset, facts, raw)
        limits = {"points": MAX_POINTS_READ[self.kind], "chequers": 3 if self.kind == "H" else 15}
        for field, most in limits.items():
            found = getattr(facts, field)
            if not 1 <= found <= most:
                at = offset + offset_of(HEADERS[self.kind], field)
                raise HeaderError(source.name, field, at, f"a number from 1 to {most}", found)
        return facts, raw

    def info(self, reading: Reading[T]) -> dict[str, Any]:
        return {"header": _has_header(reading.table)}

    def host_facts(self, reading: Reading[T]) -> dict[str, Any]:
        size = reading.extent.size
        headed = _has_header(reading.table)
        notes = [] if headed else ["it has no header"]
        if size >= FOUR_GIB:
            notes.append(f"{size:,} bytes are more than its 32-bit offsets can address (4 GiB)")
        return {"gnubg_name": None, "gnubg_reads": headed and size < FOUR_GIB, "notes": notes}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: T, options: Options) -> str | None:
        most = MAX_POINTS_READ[self.kind]
        if not (1 <= table.points <= most and 1 <= table.chequers <= 15):
            return f"{self.name} holds up to {most} points and 15 chequers, not {table.points} and {table.chequers}"
        return None

    def concatenation_refusal(self, tables: Sequence[Table]) -> str | None:
        return None if tables else "no table was given"

    def header_of(self, table: T, options: Options) -> bytes:
        """Return the header to write: none, that of the table's own file if it states the same, or the canonical one.

        There is none if the option `header` is False, or is not given and the table's own file has none.
        """
        record = table.record(GnubgHeader)
        canonical = self.facts_of(table, options).canonical
        raw = None if record is None else record.raw
        choice = options.get("header")
        if not (raw != b"" if choice is None else choice):
            return b""
        return raw if raw and read_header(raw) == read_header(canonical) else canonical

    def shape_of(self, table: T, options: Options) -> tuple[int, ...]:
        return self.facts_of(table, options).shape

    # -- every byte -------------------------------------------------------------------------------------

    def as_written(self, table: T) -> tuple[T, Options]:
        record = table.record(GnubgHeader)
        rest = tuple(r for r in table.carried if r is not record)
        return replace(table, carried=rest), {"header": record is None or bool(record.raw)}

    def layout(self, table: T, **options: Any) -> Layout:
        if self.facts_of(table, options).size is None:
            raise CapabilityError(f"the layout of a compressed {self.name} file depends on its numbers")
        return super().layout(table, **options)

    def header_regions(self, header: bytes) -> tuple[Region, ...]:
        """Return the byte ranges of the header: the part that gnubg reads, and the filler that it ignores."""
        if not header:
            return ()
        read_to = offset_of(HEADERS[self.kind], "filling")
        return Region("header", 0, read_to), Region("header filling", read_to, SIZE - read_to)

    # -- sizes ------------------------------------------------------------------------------------------

    @abstractmethod
    def canonical_headers(self) -> Iterator[HeaderFacts]:
        """Yield the content of every header of this kind that gnubg's programs write."""

    @cached_property
    def headers(self) -> tuple[HeaderFacts, ...]:
        return tuple(self.canonical_headers())

    def title_of(self, facts: HeaderFacts) -> str:
        """Return a short description of the table with such a header, such as "6x6 two-sided"."""
        return f"{facts.points} points"

    def tables_of_size(self, source: Source) -> list[str]:
        return [self.title_of(facts) for facts in self.headers if facts.size == source.size - SIZE]
