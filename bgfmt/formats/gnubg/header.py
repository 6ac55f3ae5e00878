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
header it was read with.
"""

from __future__ import annotations

import re
from typing import Any

from construct import Adapter, Bytes, Const, GreedyBytes, Pointer, Struct

from bgfmt.errors import HeaderError
from bgfmt.storage import Source
from bgfmt.tables import Table

SIZE = 40


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


def kind(head: bytes) -> str:
    """What a file that begins so is: "OS", "ND" (one-sided, normal distribution), "TS", "H", or "" for none."""
    if head[:5] != b"gnubg":
        return ""
    if head[6:8] == b"OS":
        return "ND" if len(head) >= SIZE and SIDED.parse(head[:SIZE]).flag19 else "OS"
    if head[6:8] == b"TS":
        return "TS"
    return "H" if head[6:7] == b"H" else ""


def read_sided(source: Source, offset: int) -> dict[str, Any]:
    """Points, chequers and flags of a one- or two-sided header, checked as GNU Backgammon checks them."""
    spec = source.header(SIDED, SIZE, offset)
    if not 1 <= spec.points <= 23:
        raise HeaderError(source.name, "points", offset + 9, "a number from 1 to 23", spec.points)
    if not 1 <= spec.chequers <= 15:
        raise HeaderError(source.name, "chequers", offset + 12, "a number from 1 to 15", spec.chequers)
    return {
        "points": spec.points,
        "chequers": spec.chequers,
        "flags": (bool(spec.flag15), bool(spec.flag17), bool(spec.flag19)),
        "raw": source.bytes(offset, SIZE),
    }


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


def same_meaning(raw: bytes, canonical: bytes) -> bool:
    """Whether a header as read says the same as the canonical one."""
    if kind(raw) != kind(canonical):
        return False
    if kind(raw) == "H":
        return bool(HYPER.parse(raw).chequers == HYPER.parse(canonical).chequers)
    a, b = SIDED.parse(raw), SIDED.parse(canonical)
    fields = ["points", "chequers"]
    sizes_agree = all(a[f] == b[f] for f in fields)
    flags = ["flag15"] if kind(raw) == "TS" else ["flag15", "flag17", "flag19"]
    return sizes_agree and all(bool(a[f]) == bool(b[f]) for f in flags)


def choose(table: Table, canonical: bytes, header: bool | None) -> bytes:
    """The header to write: none, the one the table was read with where it says the same, or the canonical one.

    `header=None` follows the file the table was read from, and writes one where there was none to follow.
    """
    raw = table.extra.get("gnubg_header")
    if header is None:
        header = raw != b""
    if not header:
        return b""
    return bytes(raw) if raw and same_meaning(raw, canonical) else canonical


def slot_limits(size: int) -> str | None:
    """Why GNU Backgammon's 32-bit offsets cannot address a file of this size, or None."""
    return f"{size:,} bytes lie beyond its 32-bit offsets (4 GiB)" if size > 0xFFFFFFFF else None
