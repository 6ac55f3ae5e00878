"""The 40 ASCII bytes at the beginning of GNU Backgammon's databases, and what follows from them.

The structures follow files of makebearoff and makehyper 1.07, the numbers between dashes gnubg's own reader. Any
non-zero flag is true. We read as liberally as gnubg and write the canonical form, except that a copy repeats the
header it was read with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

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

from bgfmt.formats.base import ROLLS
from bgfmt.formats.structures import Digits, fields, offset_of
from bgfmt.game import board

SIZE = 40
HYPER_POINTS = 25
KINDS = {"OS": "one-sided", "ND": "normal-distribution", "TS": "two-sided", "H": "hypergammon"}

# ---- structures

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
        """The 40 header bytes that gnubg's programs write for these facts."""
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
        """Shape of the numbers, if not compressed; one row for each position of the side on roll."""
        return fields(FILES[self.kind], **self._counts)["numbers"].shape

    @cached_property
    def size(self) -> int | None:
        """Size of the numbers in bytes; None for a compressed file, whose index has to be read."""
        packed = self.compressed and self.kind == "OS"
        return None if packed else int(NUMBERS[self.kind].sizeof(**self._counts))

    @property
    def title(self) -> str:
        """Short name of the table, as `6x6 two-sided`."""
        size = {"TS": f"{self.points}x{self.chequers}", "H": f"{self.chequers}-chequer"}
        return f"{size.get(self.kind, f'{self.points}-point')} {KINDS[self.kind]}"


def number_dtype(kind: str) -> np.dtype[Any]:
    """Return the dtype of the numbers of a kind of file."""
    return fields(FILES[kind], positions=0, columns=0)["numbers"].dtype


def kind_of(head: bytes) -> str:
    """Return the kind of a gnubg file from its first bytes.

    That is "OS", "ND" (one-sided, normal distribution), "TS", "H", or "" if they are not gnubg's.
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
