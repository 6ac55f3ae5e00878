"""The forms of J's nouns: types, word sizes, byte orders.

The first byte of a block says word size and byte order: e0 4 BE, e1 4 LE, e2 8 BE, e3 8 LE. Before J 6.01 there
was no such byte, type and flag stood the other way round, and the flag was 0 (4-byte words) or all ones (8-byte).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np


class JType(IntEnum):
    """J's numbers for the types that a file can carry."""

    BOOLEAN = 1
    LITERAL = 2
    INTEGER = 4
    INT2 = 6
    INT4 = 7
    FLOAT = 8
    QUAD = 11
    COMPLEX = 16
    BOX = 32
    EXTENDED = 64
    RATIONAL = 128
    UNICODE = 131072
    UNICODE4 = 262144


#: types that exist but cannot be read from a file, and why
REFUSED = {65536: "symbols, whose table only their own process has"} | {
    1024 << k: "a sparse array, which component files do not hold" for k in range(6)
}
OFFSETS = (JType.BOX, JType.EXTENDED, JType.RATIONAL)


@dataclass(frozen=True)
class Form:
    """Word size in bytes, byte order ("<" or ">") and first byte of a block; `first` is 0 before J 6.01."""

    first: int
    word: int
    order: str

    @property
    def name(self) -> str:
        """As J's users name it: the first byte in hexadecimal."""
        return f"{self.first:02x}" if self.first else f"before 6.01, {8 * self.word} bits"

    def words(self, count: int) -> struct.Struct:
        """`count` signed words."""
        return struct.Struct(f"{self.order}{count}{'i' if self.word == 4 else 'q'}")

    @property
    def integer(self) -> np.dtype[Any]:
        """The dtype of an integer atom, and of every word."""
        return np.dtype(f"{self.order}i{self.word}")

    def atom(self, kind: JType) -> np.dtype[Any]:
        """The dtype of an atom. Unicode and the small types keep the order of a little-endian machine always."""
        if kind is JType.QUAD:
            return np.dtype(("<f8", (2,)))
        fixed = {
            JType.BOOLEAN: "u1", JType.LITERAL: "u1", JType.UNICODE: "<u2", JType.UNICODE4: "<u4",
            JType.INT2: "<i2", JType.INT4: "<i4", JType.FLOAT: f"{self.order}f8", JType.COMPLEX: f"{self.order}c16",
        }  # fmt: skip
        return np.dtype(fixed[kind]) if kind in fixed else self.integer

    def size(self, kind: JType) -> int:
        """Bytes an atom takes in its own block."""
        return 2 * self.word if kind is JType.RATIONAL else self.atom(kind).itemsize


FORMS = {b: Form(b, w, o) for b, w, o in ((0xE0, 4, ">"), (0xE1, 4, "<"), (0xE2, 8, ">"), (0xE3, 8, "<"))}
E3 = FORMS[0xE3]


def form_of(word: int, order: str) -> Form:
    """The modern form of a word size (4 or 8) and a byte order ("<" or ">")."""
    return next(f for f in FORMS.values() if (f.word, f.order) == (word, order))


def padded(size: int, word: int) -> int:
    """`size` rounded up to whole words."""
    return -(-size // word) * word
