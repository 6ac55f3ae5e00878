"""J's nouns in the binary form that `3!:1` writes and `3!:2` reads. Writing them is `encode`'s business.

A block is a head of words (flag, type, count, rank, shape) and the atoms in row-major order, in one of the forms of
`form`. Boxes hold offsets from their own first byte to the blocks of their contents; the form of the outermost block
governs all levels. Extended and rational numbers hold offsets to limb blocks, one for each whole number.

Arrays are views of the bytes they were read from, and boxes open their contents when asked, so that a noun of any
size costs nothing until it is used. Checked against J 9.7.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError, TruncatedError
from bgfmt.formats.j.form import FORMS, OFFSETS, REFUSED, Form, JType, padded

MAX_RANK, MAX_DEPTH = 63, 128
STEP = 8 << 20


@dataclass(frozen=True, eq=False)
class Noun:
    """One J noun.

    data : an ndarray or other rows of shape `shape` (quad floats: shape + (2,)); for a box the flat sequence of
        its contents, nouns themselves; for extended numbers the flat sequence of Python integers, for rationals
        of numerators and denominators in turn.
    at : byte of the file where the data begin, 0 for a noun made in memory.
    size : bytes of the block it was read from, without a terminator; its inner blocks are not counted.
    """

    type: JType
    shape: tuple[int, ...]
    data: Any
    at: int = 0
    size: int = 0

    @property
    def count(self) -> int:
        """Number of atoms."""
        return prod(self.shape)

    def __str__(self) -> str:
        axes = " by ".join(f"{axis:,}" for axis in self.shape) or "atom"
        return f"{self.type.name.lower()} {axes}"


class _Reader:
    """Decodes the blocks of one outermost noun: bytes `start`..`end` of `view`, all in one form."""

    __slots__ = ("end", "form", "name", "view")

    def __init__(self, view: memoryview, end: int, form: Form, name: str) -> None:
        self.view, self.end, self.form, self.name = view, end, form, name

    def need(self, at: int, size: int) -> None:
        if at + size > self.end:
            raise TruncatedError(self.name, at + size, self.end, "noun")

    def wrong(self, at: int, expected: object, found: object) -> CorruptError:
        return CorruptError(self.name, at, expected, found)

    def head(self, at: int) -> tuple[int, int, tuple[int, ...], int]:
        """Type number, count, shape words and where the data begin; lengths and signs are checked, no more."""
        word = self.form.word
        self.need(at, 4 * word)
        first, second, count, rank = self.form.words(4).unpack_from(self.view, at)
        if not 0 <= rank <= MAX_RANK:
            raise self.wrong(at + 3 * word, f"a rank of 0..{MAX_RANK}", rank)
        if count < 0:
            raise self.wrong(at + 2 * word, "a count of atoms", count)
        self.need(at, (4 + rank) * word)
        shape = self.form.words(rank).unpack_from(self.view, at + 4 * word)
        return (second if self.form.first else first), count, shape, at + (4 + rank) * word

    def block(self, at: int, depth: int = 0) -> Noun:
        """The noun whose block begins at `at`."""
        form, word = self.form, self.form.word
        number, count, shape, data = self.head(at)
        try:
            kind = JType(number)
        except ValueError:
            found = REFUSED.get(number, number)
            raise self.wrong(
                at + word * bool(form.first), "a type of noun that a file can hold", found
            ) from None
        if min(shape, default=0) < 0:
            raise self.wrong(at + 4 * word, "axes of 0 and more", _axes(shape))
        if prod(shape) != count:
            raise self.wrong(at + 2 * word, f"as many atoms as its shape says ({_axes(shape)})", count)
        size = count * form.size(kind)
        self.need(data, padded(size, word))
        if kind not in OFFSETS:
            values = self.array(form.atom(kind), shape, count, data)
            return Noun(kind, shape, values, data, data - at + size)
        if depth >= MAX_DEPTH:
            raise self.wrong(at, f"boxes nested up to {MAX_DEPTH} deep", "deeper nesting")
        offsets = self.array(form.integer, (size // word,), size // word, data)
        inner = Boxes if kind is JType.BOX else Wholes
        return Noun(kind, shape, inner(self, at, data + size, offsets, depth), data, data - at + size)

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], count: int, at: int) -> NDArray[Any]:
        """A view of the atoms; flat where numpy cannot have the shape: over 31 axes, huge empty ones."""
        if count == 0:
            return np.zeros(shape if prod(filter(None, shape)) < 1 << 31 and len(shape) < 32 else (0,), dtype)
        flat = np.frombuffer(self.view, dtype.base, count * prod(dtype.shape), at)
        return flat.reshape((*shape, *dtype.shape)) if len(shape) < 32 else flat

    def limbs(self, at: int) -> tuple[int, int, NDArray[Any]]:
        """Type, sign and data of a limb block: bytes of 8- or 4-byte limbs, or base-10000 digits as older J wrote."""
        number, count, shape, data = self.head(at)
        word, width = self.form.word, 1 if number == JType.LITERAL else self.form.word
        if number not in (JType.LITERAL, JType.INTEGER) or len(shape) != 1:
            raise self.wrong(at, "a list of limbs or digits", f"type {number}, rank {len(shape)}")
        self.need(data, padded(count * width, word))
        if number == JType.LITERAL:
            if count % word and self.form.order == ">":
                raise self.wrong(at, f"limbs of {word} bytes", f"{count} bytes")
            return number, -1 if shape[0] < 0 else 1, np.frombuffer(self.view, "u1", count, data)
        digits = np.frombuffer(self.view, self.form.integer, count, data)
        if count and not -10000 < int(digits.min()) <= int(digits.max()) < 10000:
            raise self.wrong(data, "digits of -9999..9999", f"{digits.min()} to {digits.max()}")
        return number, 1, digits

    def whole(self, at: int) -> int:
        """The whole number of a limb block."""
        number, sign, data = self.limbs(at)
        if number == JType.INTEGER:
            return _digits(data.tolist())
        word = self.form.word
        if self.form.order == ">":
            data = data.view(f">u{word}").astype(f"<u{word}")
        return sign * int.from_bytes(data.tobytes(), "little")


class _Inner(Sequence[Any]):
    """Contents reached by offsets, decoded when asked for."""

    def __init__(self, reader: _Reader, at: int, first: int, offsets: NDArray[Any], depth: int) -> None:
        self._reader, self._at, self._first, self._offsets, self._depth = reader, at, first, offsets, depth

    def __len__(self) -> int:
        return len(self._offsets)

    def place(self, k: int) -> int:
        """Where block k begins: behind all offsets, and so never before its own box, and inside the noun."""
        at = self._at + int(self._offsets[k])
        if not self._first <= at < self._reader.end:
            where = self._first - len(self) * self._reader.form.word + k * self._reader.form.word
            span = f"{self._first - self._at}..{self._reader.end - self._at - 1}"
            raise self._reader.wrong(where, f"an offset of {span}", int(self._offsets[k]))
        return at

    def wrong(self, expected: object, found: object) -> CorruptError:
        """The error of this block."""
        return self._reader.wrong(self._at, expected, found)


class Boxes(_Inner):
    """The nouns inside a box noun, in ravel order."""

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return self._reader.block(self.place(range(len(self))[k]), self._depth + 1)


class Wholes(_Inner):
    """The whole numbers of an extended or rational noun."""

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return self._reader.whole(self.place(range(len(self))[k]))

    def weight(self, k: int) -> int:
        """Bytes that number k takes; its block is checked, but not yet turned into a number."""
        return 40 + int(self._reader.limbs(self.place(k))[2].nbytes)


def _axes(shape: tuple[int, ...]) -> str:
    """A shape for a message, of bounded length."""
    return " ".join(map(str, shape[:6])) + " ..." * (len(shape) > 6) if shape else "an atom"


def _digits(digits: list[int]) -> int:
    """The number of base-10000 digits, the least first; neighbours are joined until one is left."""
    base = 10000
    while len(digits) > 1:
        digits.append(0)
        digits = [low + base * high for low, high in zip(digits[::2], digits[1::2], strict=False)]
        base *= base
    return digits[0] if digits else 0


def form_at(view: memoryview, at: int, end: int, name: str) -> Form:
    """The form of the noun that begins at `at`, as J 9.7 decides it."""
    if at >= end:
        raise TruncatedError(name, at + 20, end, "noun")
    first = view[at]
    if first in FORMS:
        return FORMS[first]
    word = 8 if bytes(view[at + 8 : min(end, at + 16)]) == b"\xff" * 8 else 4
    for order in "<>":
        form = Form(0, word, order)
        try:
            _Reader(view, end, form, name).block(at)
        except (CorruptError, TruncatedError):
            continue
        return form
    raise CorruptError(name, at, "a J noun (e0, e1, e2 or e3)", f"{first:02x}")


def decode(
    view: memoryview, at: int = 0, end: int | None = None, name: str = "noun", whole: bool = True
) -> Noun:
    """The noun at byte `at` of `view`, which may use bytes up to `end`; what follows it is ignored.

    With `whole` everything inside is checked now; without, contents of boxes are checked when they are opened.

    Raises
    ------
    TruncatedError, CorruptError
        The bytes are no noun; the message names the byte.
    """
    stop = len(view) if end is None else end
    noun = _Reader(view, stop, form_at(view, at, stop, name), name).block(at)
    if whole:
        check(noun, stop - at, name)
    return noun


def check(noun: Noun, span: int, name: str = "noun") -> None:
    """Walk a whole noun that was read from `span` bytes: every block, every boolean, every limb block.

    J lets boxes share contents, and a chain of shared boxes unfolds without bound; what would take far more
    than its own bytes is refused.
    """
    walk(noun, 4 * span + (1 << 20), name)


def walk(noun: Noun, left: int, name: str) -> int:
    """Check a noun and all inside it; `left` bytes may be unfolded, and what remains of them is returned."""
    left -= 64 + noun.size
    if noun.type is JType.BOOLEAN:
        flat = noun.data.reshape(-1)
        for start in range(0, len(flat), STEP):
            wrong = flat[start : start + STEP] > 1
            if wrong.any():
                k = start + int(wrong.argmax())
                raise CorruptError(name, noun.at + k, "a boolean, 0 or 1", int(flat[k]))
    elif noun.type is JType.BOX:
        for item in noun.data:
            if left < 0:
                raise noun.data.wrong(
                    "contents of the noun's own size", "shared contents that unfold beyond it"
                )
            left = walk(item, left, name)
    elif noun.type in OFFSETS:
        for k in range(len(noun.data)):
            left -= noun.data.weight(k)
            if left < 0:
                raise noun.data.wrong(
                    "numbers of the noun's own size", "shared numbers that unfold beyond it"
                )
            noun.data[k]
    return left
