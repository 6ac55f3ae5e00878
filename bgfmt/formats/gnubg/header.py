"""The 40 ASCII bytes that open GNU Backgammon's databases.

offset  one-sided                 two-sided            hypergammon       source
0       "gnubg"                   "gnubg"              "gnubg"           files of makebearoff, makehyper 1.07
5       "-"  (ignored)            "-"                  "-"
6       "OS"                      "TS"                 "H"
7       "-"                       "-"                  chequers, 1 digit
9       points, 2 digits          points               "x" ...
12      chequers, 2 digits        chequers
15      1 = gammon distributions  1 = cubeful
17      1 = compressed            "x" ...
19      1 = normal distribution
20..38  "x" filling, ignored
39      line feed, ignored

The reader takes each number as C's `atoi` does (blanks and a sign allowed, up to the first non-digit); any
non-zero number is true. We read as liberally and write the canonical form, except that a copy repeats the
header it was read with. makebearoff writes two-sided files of 24 points, which gnubg itself refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from construct import Adapter, Bytes, Const, GreedyBytes, Pointer, Struct

from bgfmt.errors import HeaderError
from bgfmt.formats.base import Options, Region, shown
from bgfmt.formats.records import Fact, Record, number, truth
from bgfmt.storage import Source
from bgfmt.tables import Table

SIZE = 40
FOUR_GIB = 1 << 32
KINDS = {"OS": "one-sided", "ND": "normal-distribution", "TS": "two-sided", "H": "hypergammon"}  # of tables


class Atoi(Adapter):  # type: ignore[misc]
    """A decimal number read as C's `atoi` reads it: 0 where there is no digit."""

    def __init__(self) -> None:
        super().__init__(GreedyBytes)

    def _decode(self, obj: bytes, context: Any, path: str) -> int:
        match = re.match(rb"[ \t\n\v\f\r]*([+-]?\d+)", obj)
        return int(match.group(1)) if match else 0

    def _encode(self, obj: int, context: Any, path: str) -> bytes:
        raise NotImplementedError("headers are built by canonical()")


SIDED = Struct(
    "magic" / Const(b"gnubg"),
    "kind" / Pointer(6, Bytes(2)),
    "points" / Pointer(9, Atoi()),
    "chequers" / Pointer(12, Atoi()),
    "flag15" / Pointer(15, Atoi()),
    "flag17" / Pointer(17, Atoi()),
    "flag19" / Pointer(19, Atoi()),
)
HYPER = Struct("magic" / Const(b"gnubg"), "kind" / Pointer(6, Bytes(1)), "chequers" / Pointer(7, Atoi()))


@dataclass(frozen=True)
class GnubgHeader(Record):
    """The 40 header bytes of the file a table was read from, or none for a file without header."""

    raw: bytes

    def rearranged(self) -> Self | None:
        return None if self.raw else self

    def facts(self) -> Mapping[str, Fact]:
        return {"gnubg_header": self.raw.hex()}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        if "gnubg_header" not in facts:
            return None
        said = facts["gnubg_header"]
        if not isinstance(said, str) or len(said) not in (0, 2 * SIZE):
            raise ValueError(f"gnubg_header: expected 80 hexadecimal digits or none, found {said!r}")
        return cls(bytes.fromhex(said))

    def odd(self, table: Table) -> str | None:
        if not self.raw:
            return None
        said = read(self.raw)
        if said is None or said.canonical != self.raw:
            return f"the header {shown(self.raw)} is not as gnubg's programs write it"
        if (KINDS[said.kind], said.points, said.chequers) != (table.kind, table.points, table.chequers):
            return f"the header {shown(self.raw)} is that of another table"
        return None


@dataclass(frozen=True)
class GnubgRows(Record):
    """How a one-sided file keeps its rows: compressed or not, and the bytes of an index entry."""

    compressed: bool
    entry: int = 0

    def facts(self) -> Mapping[str, Fact]:
        return {"compressed": self.compressed} | ({"entry": self.entry} if self.entry else {})

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        if "compressed" not in facts:
            return None
        entry = number(facts.get("entry", 0))
        if entry not in (0, 6, 8):
            raise ValueError(f"entry: expected 6 or 8 bytes, found {entry}")
        return cls(truth(facts["compressed"]), entry)


@dataclass(frozen=True)
class Said:
    """What a header says, read as gnubg reads it. kind : "OS", "ND" (normal distribution), "TS" or "H"."""

    kind: str
    points: int
    chequers: int
    gammon: bool = False
    compressed: bool = False
    cubeful: bool = False

    @property
    def canonical(self) -> bytes:
        """The header that gnubg's programs write to say it."""
        if self.kind == "H":
            return canonical_hyper(self.chequers)
        if self.kind == "TS":
            return canonical_two_sided(self.points, self.chequers, cubeful=self.cubeful)
        normal = self.kind == "ND"
        return canonical_one_sided(
            self.points,
            self.chequers,
            gammon=self.gammon or normal,
            compressed=self.compressed and not normal,
            normal=normal,
        )


def kind(head: bytes) -> str:
    """What a file that begins so is: "OS", "ND" (one-sided, normal distribution), "TS", "H", or "" for none."""
    if head[:5] != b"gnubg":
        return ""
    if head[6:8] == b"OS":
        return "ND" if len(head) >= SIZE and SIDED.parse(head[:SIZE]).flag19 else "OS"
    if head[6:8] == b"TS":
        return "TS"
    return "H" if head[6:7] == b"H" else ""


def read(head: bytes) -> Said | None:
    """What 40 bytes say; None where they are no header of gnubg's. The numbers may be out of bounds."""
    what = kind(head)
    if not what or len(head) < SIZE:
        return None
    if what == "H":
        return Said(what, 25, HYPER.parse(head[:SIZE]).chequers)
    spec = SIDED.parse(head[:SIZE])
    flags = bool(spec.flag15), bool(spec.flag17)
    if what == "TS":
        return Said(what, spec.points, spec.chequers, cubeful=flags[0])
    return Said(what, spec.points, spec.chequers, gammon=flags[0], compressed=flags[1])


def most_points(kind: str) -> int:
    """The most points a header is read with: gnubg takes 23, and makebearoff writes two-sided files of 24."""
    return 24 if kind == "TS" else 23


def checked(source: Source, offset: int, wanted: str) -> tuple[Said, bytes]:
    """A header of one kind and its bytes, its numbers within bounds."""
    raw = source.bytes(offset, SIZE, "header")
    said = read(raw)
    if said is None or said.kind != wanted:
        raise HeaderError(source.name, "kind", offset, f"a header of kind {wanted}", shown(raw[:20]))
    if wanted == "H":
        if not 1 <= said.chequers <= 3:
            raise HeaderError(source.name, "chequers", offset + 7, "1, 2 or 3", said.chequers)
        return said, raw
    most = most_points(said.kind)
    if not 1 <= said.points <= most:
        raise HeaderError(source.name, "points", offset + 9, f"a number from 1 to {most}", said.points)
    if not 1 <= said.chequers <= 15:
        raise HeaderError(source.name, "chequers", offset + 12, "a number from 1 to 15", said.chequers)
    return said, raw


def canonical_one_sided(points: int, chequers: int, *, gammon: bool, compressed: bool, normal: bool) -> bytes:
    """The header makebearoff writes for a one-sided database."""
    flags = f"{gammon:d}-{compressed:d}-{normal:d}"
    return f"gnubg-OS-{points:02d}-{chequers:02d}-{flags}{'x' * 19}\n".encode()


def canonical_two_sided(points: int, chequers: int, *, cubeful: bool) -> bytes:
    """The header makebearoff writes for a two-sided database."""
    return f"gnubg-TS-{points:02d}-{chequers:02d}-{cubeful:d}{'x' * 23}\n".encode()


def canonical_hyper(chequers: int) -> bytes:
    """The header makehyper writes."""
    return f"gnubg-H{chequers}{'x' * 31}\n".encode()


def choose(table: Table, canonical: bytes, options: Options) -> bytes:
    """The header to write: none, the one the table was read with where it says the same, or the canonical one.

    Without the option `header` it follows the file the table was read from, and there is one where there was
    none to follow.
    """
    record = table.record(GnubgHeader)
    raw = record.raw if record is not None else None
    wanted = options.get("header")
    if not (raw != b"" if wanted is None else wanted):
        return b""
    if raw and read(raw) == read(canonical):
        return raw
    return canonical


def headed(table: Table) -> bool:
    """Whether the file a table was read from has a header."""
    record = table.record(GnubgHeader)
    return record is not None and bool(record.raw)


def regions(header: bytes) -> tuple[Region, ...]:
    """The header as regions of a layout: what gnubg reads, and the filling it ignores."""
    if not header:
        return ()
    read_to = {"TS": 16, "H": 8}.get(kind(header), 20)
    return Region("header", 0, read_to), Region("header filling", read_to, SIZE - read_to)


def slot_limits(size: int) -> str | None:
    """Why GNU Backgammon's 32-bit offsets cannot address a file of this size, or None."""
    return f"{size:,} bytes lie beyond its 32-bit offsets (4 GiB)" if size >= FOUR_GIB else None
