"""J's nouns in the binary form that `3!:1` writes and `3!:2` reads.

A block is a head (`Form.head`) and the atoms in row-major order, in one of the forms of `Form`. Boxes hold offsets,
relative to their own first byte, of the blocks of their contents; the form of the outermost block applies to all
levels. Extended and rational numbers hold offsets of limb blocks, one for each integer.

Arrays are views of the bytes they were read from, so that an array of any size costs nothing until it is used.
Checked against J 9.7.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
from construct import Array, Default, FormatField, FormatFieldError, Struct, this
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, TruncatedError
from bgfmt.formats.structures import dtype_of


class JType(IntEnum):
    """J's numbers of the types that a file can contain."""

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


OFFSETS = (JType.BOX, JType.EXTENDED, JType.RATIONAL)
MAX_RANK = 63
MAX_DEPTH = 128
PIECE_BYTES = 8 << 20


def integer_of(word: int, order: str) -> FormatField:
    """Return the construct field of a signed integer of `word` bytes (4 or 8), in the byte order "<" or ">"."""
    return FormatField(order, {4: "l", 8: "q"}[word])


@dataclass(frozen=True)
class Form:
    """Binary form of nouns: word size in bytes, byte order ("<" or ">") and first byte of a block.

    The first byte is 0 before J 6.01.
    """

    first: int
    word: int
    order: str

    @property
    def name(self) -> str:
        """Name that J's users give this binary form: the first byte in hexadecimal, such as "e3".

        Older forms are "before 6.01" with the word size.
        """
        return f"{self.first:02x}" if self.first else f"before 6.01, {8 * self.word} bits"

    @cached_property
    def head(self) -> Struct:
        """Structure of the head of a noun's block: flags, type, count, rank; before J 6.01 the type comes first."""
        word = integer_of(self.word, self.order)
        first = bytes([self.first]).ljust(self.word, b"\0")
        number = int.from_bytes(first, "little" if self.order == "<" else "big", signed=True)
        flag = "flag" / Default(word, number if self.first else -1)
        kind = "type" / word
        return Struct(
            *(
                (flag * "the form (e0 to e3) in the first byte, then zeros", kind)
                if self.first
                else (kind, flag)
            ),
            "count" / word * "number of atoms, the product of the shape",
            "rank" / word * f"0 to {MAX_RANK}",
            "shape" / Array(this.rank, word) * "lengths of the axes",
        )

    @cached_property
    def integer(self) -> np.dtype[Any]:
        """Dtype of an integer in this form."""
        return dtype_of(integer_of(self.word, self.order))

    @cached_property
    def _fixed(self) -> np.dtype[Any]:
        """Fields of a head before its shape, as NumPy reads them: much faster than construct."""
        return dtype_of(Struct(*self.head.subcons[:-1]))

    def head_bytes(self, rank: int) -> int:
        """Return the size in bytes of the head of a block of a noun with `rank` axes, its shape included."""
        return self._fixed.itemsize + rank * self.word

    def read_head(self, view: memoryview | bytes, at: int) -> np.void:
        """Return the fields of the head of the noun's block at offset `at`, without the noun's shape."""
        fields: np.void = np.frombuffer(view, self._fixed, 1, at)[0]
        return fields

    def atom(self, kind: JType) -> np.dtype[Any]:
        """Return the dtype of an item of a noun of this type; Unicode and small types are always little-endian."""
        fixed = {
            JType.BOOLEAN: "u1", JType.LITERAL: "u1", JType.UNICODE: "<u2", JType.UNICODE4: "<u4",
            JType.INT2: "<i2", JType.INT4: "<i4", JType.QUAD: "<c16",
            JType.FLOAT: f"{self.order}f8", JType.COMPLEX: f"{self.order}c16",
        }  # fmt: skip
        return np.dtype(fixed[kind]) if kind in fixed else self.integer

    def size(self, kind: JType) -> int:
        """Return the size in bytes of an item of this type."""
        return 2 * self.word if kind is JType.RATIONAL else self.atom(kind).itemsize


FORMS = {b: Form(b, w, o) for b, w, o in ((0xE0, 4, ">"), (0xE1, 4, "<"), (0xE2, 8, ">"), (0xE3, 8, "<"))}
E3 = FORMS[0xE3]
OLD_FORMS = [Form(0, word, order) for word in (8, 4) for order in "<>"]


def form_of(word: int, order: str) -> Form:
    """Return the modern form (first byte e0 to e3) with this word size (4 or 8) and byte order ("<" or ">")."""
    return next(f for f in FORMS.values() if (f.word, f.order) == (word, order))


def round_up(size: int, word: int) -> int:
    """Return `size` rounded up to a multiple of `word`, both in bytes."""
    return -(-size // word) * word


@dataclass(frozen=True, eq=False)
class Noun:
    """One J noun.

    type, shape : as in J.
    data : an ndarray or other rows of shape `shape` (quad floats are complex: a double and the rest); for a box the
    flat sequence of its contents, nouns themselves; for extended numbers the flat sequence of Python integers, for
    rationals of numerators and denominators alternately.
    at : offset in the file at which the data begin, 0 for a noun built in memory.
    size : bytes of the block from which it was read, without a terminator; its inner blocks are not counted.
    total : about the bytes that it and everything inside it take when decoded.
    """

    type: JType
    shape: tuple[int, ...]
    data: Any
    at: int = 0
    size: int = 0
    total: int = 0

    @property
    def count(self) -> int:
        """Number of items: the product of the noun's shape, 1 for an atom."""
        return prod(self.shape)

    def __str__(self) -> str:
        axes = " by ".join(f"{axis:,}" for axis in self.shape) or "atom"
        return f"{self.type.name.lower()} {axes}"


class _Reader(NamedTuple):
    """Decoder of the blocks of one outermost noun: bytes of `view` up to `end`, all in one form.

    name : for errors. limit : bytes to which the contents of a noun may expand.
    """

    view: memoryview
    end: int
    form: Form
    name: str
    limit: int

    def need(self, at: int, size: int) -> None:
        """Raise TruncatedError unless there are `size` bytes from offset `at` on."""
        if at + size > self.end:
            raise TruncatedError(self.name, at + size, self.end, "noun")

    def error(self, at: int, expected: object, value: object) -> CorruptError:
        """Return the error for wrong content at offset `at`."""
        return CorruptError(self.name, at, expected, value)

    def head(self, at: int) -> tuple[int, int, tuple[int, ...], int]:
        """Read the head of a block: type number, count, shape and offset of the data.

        Only lengths and signs are checked.
        """
        form = self.form
        self.need(at, form.head_bytes(0))
        head = form.read_head(self.view, at)
        kind, count, rank = (int(head[name]) for name in ("type", "count", "rank"))
        if not 0 <= rank <= MAX_RANK or count < 0:
            raise self.error(at, f"a noun of rank 0..{MAX_RANK}", f"rank {rank}, {count} atoms")
        data = at + form.head_bytes(rank)
        self.need(data, 0)
        shape = np.frombuffer(self.view, form.integer, rank, at + form.head_bytes(0))
        return kind, count, tuple(shape.tolist()), data

    def block(self, at: int, depth: int = 0) -> Noun:
        """Read the noun whose block begins at offset `at`; `depth` is the number of boxes around it."""
        form = self.form
        word = self.form.word
        number, count, shape, data = self.head(at)
        try:
            kind = JType(number)
        except ValueError:
            raise self.error(at, "a type of noun that a file can hold", number) from None
        if min(shape, default=0) < 0 or prod(shape) != count:
            axes = " ".join(map(str, shape[:6])) + " ..." * (len(shape) > 6)
            raise self.error(at, f"a noun of {count} atoms, as many as its shape says", f"shape {axes}")
        size = count * form.size(kind)
        self.need(data, round_up(size, word))
        if kind in OFFSETS:
            if depth >= MAX_DEPTH:
                raise self.error(at, f"boxes nested up to {MAX_DEPTH} deep", "deeper nesting")
            offsets = self.array(form.integer, (size // word,), size // word, data)
            items, total = self.contents(kind is JType.BOX, at, data + size, offsets, depth)
            return Noun(kind, shape, items, data, data - at + size, total + 64 + size)
        values = self.array(form.atom(kind), shape, count, data)
        if kind is JType.BOOLEAN and count and values.max() > 1:
            k = int((values.reshape(-1) > 1).argmax())
            raise self.error(data + k, "a boolean, 0 or 1", self.view[data + k])
        return Noun(kind, shape, values, data, data - at + size, 64 + size)

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], count: int, at: int) -> NDArray[Any]:
        """Return a view of the atoms, empty and flat if numpy does not support the shape of an empty array."""
        if count == 0:
            return np.zeros(shape if prod(filter(None, shape)) < 1 << 31 else (0,), dtype)
        return np.frombuffer(self.view, dtype, count, at).reshape(shape)

    def contents(
        self, boxes: bool, at: int, first: int, offsets: NDArray[Any], depth: int
    ) -> tuple[tuple[Any, ...], int]:
        """Read what the offsets of the noun at `at` refer to, nouns or integers; return that, and its size in bytes.

        first : offset of the first byte after the offsets.
        """
        items: list[Any] = []
        total = 0
        for offset in offsets.tolist():
            place = at + offset
            if not first <= place < self.end:
                expected = f"item {len(items)} after the offsets and inside the noun"
                raise self.error(first, expected, f"byte {place}")
            if boxes:
                item: Any = self.block(place, depth + 1)
                total += item.total
            else:
                item, size = self.integer(place)
                total += 40 + size
            if total > self.limit:
                found = "shared contents that unfold beyond it"
                raise self.error(at, "contents of the noun's own size", found)
            items.append(item)
        return tuple(items), total

    def integer(self, at: int) -> tuple[int, int]:
        """Return the integer of a limb block, and the size of its limbs or digits.

        The limbs are words, the least significant first. Older versions of J wrote base-10000 digits, which are
        signed integers.
        """
        number, count, shape, data = self.head(at)
        word = self.form.word
        old = number == JType.INTEGER
        size = count * word if old else count
        if number not in (JType.LITERAL, JType.INTEGER) or len(shape) != 1 or size % word:
            raise self.error(
                at, "a list of limbs or digits", f"type {number}, rank {len(shape)}, {size} bytes"
            )
        self.need(data, size)
        if not old:
            limbs = np.frombuffer(self.view, f"{self.form.order}u{word}", size // word, data)
            value = int.from_bytes(limbs.astype(f"<u{word}").tobytes(), "little")
            return -value if shape[0] < 0 else value, size
        digits = np.frombuffer(self.view, self.form.integer, count, data)
        if count and not -10000 < int(digits.min()) <= int(digits.max()) < 10000:
            raise self.error(data, "digits of -9999..9999", f"{digits.min()} to {digits.max()}")
        return _join_digits(digits.tolist()), size


def _join_digits(digits: list[int]) -> int:
    """Return the number with these base-10000 digits, least significant first, by joining adjacent ones."""
    base = 10000
    while len(digits) > 1:
        digits.append(0)
        digits = [low + base * high for low, high in zip(digits[::2], digits[1::2], strict=False)]
        base *= base
    return digits[0] if digits else 0


def form_at(view: memoryview, at: int, end: int, name: str) -> Form:
    """Return the binary form of the noun that begins at offset `at`, by the rules of J 9.7.

    end : where its bytes end at the latest. name : what messages call it. Raises CorruptError if no noun begins
    there.
    """
    if at >= end:
        raise TruncatedError(name, at + 20, end, "noun")
    first = view[at]
    if first in FORMS:
        return FORMS[first]
    word = 8 if bytes(view[at + 8 : min(end, at + 16)]) == b"\xff" * 8 else 4
    for form in (old for old in OLD_FORMS if old.word == word):
        try:
            _Reader(view, end, form, name, unfold_limit(end - at)).block(at)
        except (CorruptError, TruncatedError):
            continue
        return form
    raise CorruptError(name, at, "a J noun (e0, e1, e2 or e3)", f"{first:02x}")


def decode(view: memoryview, at: int = 0, end: int | None = None, name: str = "noun") -> Noun:
    """Decode the noun at offset `at` of `view`; it may use bytes up to `end`, and what follows it is ignored.

    end : all of `view` if None. name : what messages call it. Arrays are views of the bytes; the contents of boxes
    are decoded, too.

    Raises TruncatedError or CorruptError, with the offset, if the bytes are no valid noun.
    """
    stop = len(view) if end is None else end
    return _Reader(view, stop, form_at(view, at, stop, name), name, unfold_limit(stop - at)).block(at)


def unfold_limit(span: int) -> int:
    """Return how many bytes a noun that is stored in `span` bytes may take when decoded.

    J lets boxes share contents, so a chain of them can expand exponentially.
    """
    return 4 * span + (1 << 20)


# ---- encoding in any of the four modern forms, piece by piece, as J 9.7.1 does it

TERMINATED = (JType.BOOLEAN, JType.LITERAL, JType.UNICODE, JType.UNICODE4)
Piece = bytes | NDArray[Any]


def text(value: str) -> Noun:
    """Build a literal (byte) list from a string, in UTF-8."""
    data = np.frombuffer(value.encode(), np.uint8)
    return Noun(JType.LITERAL, data.shape, data)


def integers(values: Any) -> Noun:
    """Build an integer noun from a number, an array or other rows of integers."""
    return _numbers(JType.INTEGER, values, np.int64)


def floats(values: Any) -> Noun:
    """Build a float noun from a number, an array or other rows of floats."""
    return _numbers(JType.FLOAT, values, np.float64)


def _numbers(kind: JType, values: Any, dtype: type[np.generic]) -> Noun:
    rows = values if hasattr(values, "shape") else np.array(values, dtype)
    return Noun(kind, tuple(map(int, rows.shape)), rows)


def boolean(value: bool) -> Noun:
    """Build a boolean noun of rank 0."""
    return Noun(JType.BOOLEAN, (), np.array(int(value), np.uint8))


def boxes(items: Sequence[Noun]) -> Noun:
    """Build a list of boxes with these nouns as contents."""
    return Noun(JType.BOX, (len(items),), tuple(items))


def measure(noun: Noun, form: Form) -> int:
    """Compute the size in bytes of the noun's encoding in this form, padding and contents of boxes included."""
    if noun.type in OFFSETS:
        return len(encode(noun, form))
    data = noun.count * form.size(noun.type) + (noun.type in TERMINATED)
    return form.head_bytes(len(noun.shape)) + round_up(data, form.word)


def pieces(noun: Noun, form: Form) -> Iterator[Piece]:
    """Yield the bytes of the noun's encoding in this binary form, in pieces of bounded size.

    Raises CapabilityError for an integer that does not fit in 4-byte words.
    """
    yield head_of(noun, form)
    if noun.type not in OFFSETS:
        written = form.head_bytes(len(noun.shape))
        for block in _blocks(noun):
            data = _convert(block, noun.type, form)
            written += data.nbytes
            yield data
        yield bytes(measure(noun, form) - written)
        return
    blocks = [encode(item, form) if noun.type is JType.BOX else _limbs(item, form) for item in noun.data]
    sizes = np.array([len(block) for block in blocks], np.int64)
    first = form.head_bytes(len(noun.shape)) + len(sizes) * form.word
    yield _convert(first + np.cumsum(sizes) - sizes, JType.INTEGER, form)
    yield from blocks


def encode(noun: Noun, form: Form) -> bytes:
    """Encode the noun in this binary form, as bytes."""
    return b"".join(bytes(p) if isinstance(p, bytes) else p.tobytes() for p in pieces(noun, form))


def head_of(noun: Noun, form: Form) -> bytes:
    """Build the head (type, count, rank and shape) of the noun's encoding in this binary form."""
    return _head(form, noun.type, noun.count, noun.shape)


@lru_cache(maxsize=1024)
def _head(form: Form, kind: JType, count: int, shape: tuple[int, ...]) -> bytes:
    values = {"type": int(kind), "count": count, "rank": len(shape), "shape": shape}
    try:
        return bytes(form.head.build(values))
    except FormatFieldError:
        most = max(count, *shape)
        raise CapabilityError(f"4-byte words cannot hold {most:,} (a count or an axis); use word=8") from None


def _limbs(number: int, form: Form) -> bytes:
    """Encode an integer as a limb block, whose shape is the number of limbs with the sign; the least one is first."""
    count = -(-number.bit_length() // (8 * form.word))
    data = abs(number).to_bytes(round_up(count * form.word, 8), "little")
    if form.order == ">":
        data = np.frombuffer(data, f"<u{form.word}").astype(f">u{form.word}").tobytes()
    return _head(form, JType.LITERAL, len(data), (-count if number < 0 else count,)) + data


def _blocks(noun: Noun) -> Iterator[NDArray[Any]]:
    """Yield the atoms in row-major order, a few megabytes at a time."""
    made = isinstance(noun.data, (np.ndarray, np.generic))
    rows = np.ascontiguousarray(noun.data).reshape(-1) if made else noun.data
    step = max(1, PIECE_BYTES * len(rows) // (8 * max(1, noun.count)))
    for start in range(0, len(rows) if noun.count else 0, step):
        yield np.asarray(rows[start : min(start + step, len(rows))])


def _convert(block: NDArray[Any], kind: JType, form: Form) -> NDArray[Any]:
    """Return atoms in the dtype of this form; raises CapabilityError for integers that do not fit."""
    made = np.ascontiguousarray(block.astype(form.atom(kind), copy=False))
    if kind is JType.INTEGER and made.itemsize < block.itemsize and not np.array_equal(made, block):
        value = block.reshape(-1)[(made != block).reshape(-1).argmax()]
        raise CapabilityError(f"4-byte words cannot hold the integer {value}; use word=8")
    return made


# ---- nouns as text and as JSON, for people and programs without J

SHOWN_ATOMS = 8
ENCODINGS = {JType.LITERAL: "utf-8", JType.UNICODE: "utf-16-le", JType.UNICODE4: "utf-32-le"}
NAMES = {JType.UNICODE: "codeunits", JType.UNICODE4: "codepoints"}
NAMES |= dict.fromkeys((JType.FLOAT, JType.COMPLEX), "hexfloat")


def as_json(noun: Noun) -> dict[str, Any]:
    """Return the whole noun as JSON values: type, shape, and its atoms in row-major order under one name.

    values: integers (strings for extended and rational ones); hexfloat: floats in C99 hexadecimal, exact;
    hex: the bytes of literals and quad floats; codeunits, codepoints: unicode; items: nouns inside boxes.
    """
    out: dict[str, Any] = {"type": noun.type.name.lower(), "shape": list(noun.shape)}
    kind = noun.type
    if kind is JType.BOX:
        return out | {"items": [as_json(item) for item in noun.data]}
    if kind in OFFSETS:
        return out | {"values": _numbers_in_words(noun, noun.count)}
    flat = np.asarray(noun.data).reshape(-1)
    if kind in (JType.LITERAL, JType.QUAD):
        return out | {"hex": flat.tobytes().hex()}
    values = flat.tolist()
    if kind in (JType.FLOAT, JType.COMPLEX):
        values = [_hex(x) for x in values]
    return out | {NAMES.get(kind, "values"): values}


def describe(noun: Noun, limit: int = SHOWN_ATOMS) -> str:
    """Describe the noun in one line: type, shape and the first atoms."""
    kind = noun.type
    if kind is JType.BOX:
        first = "; ".join(map(str, islice(noun.data, limit)))
    elif kind in OFFSETS:
        first = " ".join(_numbers_in_words(noun, limit))
    elif kind in ENCODINGS:
        limit *= 10
        atoms = noun.data.reshape(-1)[:limit]
        if kind is JType.UNICODE4:  # invalid code points would take more than their own four bytes
            atoms = np.where(atoms < 0x110000, atoms, 0xFFFD).astype("<u4")
        first = repr(atoms.tobytes().decode(ENCODINGS[kind], "replace"))
    else:
        flat = noun.data.real if kind is JType.QUAD else noun.data
        atoms = flat.reshape(-1)[:limit]
        first = " ".join(f"{x:.6g}" if atoms.dtype.kind in "fc" else str(x) for x in atoms.tolist())
    return f"{noun}: {first}{' ...' * (noun.count > limit)}" if first else str(noun)


def _numbers_in_words(noun: Noun, limit: int) -> list[str]:
    """Return the first numbers of an extended or rational noun as text."""
    if noun.type is JType.EXTENDED:
        return list(map(_digits_of, islice(noun.data, limit)))
    pairs = zip(*[islice(noun.data, 2 * limit)] * 2, strict=True)
    return [
        _digits_of(top) if bottom == 1 else f"{_digits_of(top)}/{_digits_of(bottom)}" for top, bottom in pairs
    ]


def _hex(value: complex) -> str | list[Any]:
    if isinstance(value, complex):
        return [_hex(value.real), _hex(value.imag)]
    return "nan" if value != value else value.hex()  # noqa: PLR0124


def _digits_of(number: int) -> str:
    """Return the decimal digits of an integer, or hexadecimal ones if decimal would take long."""
    return str(number) if number.bit_length() < 10_000 else hex(number)
