"""Writing J nouns in any of the four modern forms, piece by piece, as J 9.7.1 does it.

Contents of boxes and limb blocks follow in order and without gaps. Booleans, literals and unicode get room for
a terminating zero, as J 9.7 gives it; readers do not need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.formats.j.form import OFFSETS, Form, JType, padded
from bgfmt.formats.j.noun import STEP, Noun

TERMINATED = (JType.BOOLEAN, JType.LITERAL, JType.UNICODE, JType.UNICODE4)
Piece = bytes | NDArray[Any]


class Measure(NamedTuple):
    """Bytes a noun takes in a form, and what its contents take."""

    size: int
    inner: tuple[Measure, ...] = ()


# -- making nouns ------------------------------------------------------------------------------------------


def text(value: str) -> Noun:
    """A literal list, UTF-8."""
    data = np.frombuffer(value.encode(), np.uint8)
    return Noun(JType.LITERAL, data.shape, data)


def integers(values: Any) -> Noun:
    """An integer noun of an array or of other rows of integers."""
    rows = values if hasattr(values, "shape") else np.array(values, np.int64)
    return Noun(JType.INTEGER, tuple(map(int, rows.shape)), rows)


def floats(values: Any) -> Noun:
    """A float noun of an array or of other rows of floats."""
    rows = values if hasattr(values, "shape") else np.array(values, np.float64)
    return Noun(JType.FLOAT, tuple(map(int, rows.shape)), rows)


def boolean(value: bool) -> Noun:
    """A boolean atom."""
    return Noun(JType.BOOLEAN, (), np.array(int(value), np.uint8))


def boxes(items: Sequence[Noun]) -> Noun:
    """A list of boxes."""
    return Noun(JType.BOX, (len(items),), tuple(items))


# -- writing them ------------------------------------------------------------------------------------------


def measure(noun: Noun, form: Form) -> Measure:
    """How long the noun's block is in this form, padding and contents included."""
    head, data = (4 + len(noun.shape)) * form.word, noun.count * form.size(noun.type)
    if noun.type not in OFFSETS:
        return Measure(head + padded(data + (noun.type in TERMINATED), form.word))
    if noun.type is JType.BOX:
        inner = tuple(measure(item, form) for item in noun.data)
    else:
        inner = tuple(Measure(5 * form.word + len(_limbs(number, form)[1])) for number in noun.data)
    return Measure(head + data + sum(m.size for m in inner), inner)


def pieces(noun: Noun, form: Form, measured: Measure | None = None) -> Iterator[Piece]:
    """The bytes of the noun's block, in pieces of bounded size.

    Raises CapabilityError for an integer that 4-byte words cannot hold.
    """
    known = measured or measure(noun, form)
    yield head_of(noun, form)
    if noun.type not in OFFSETS:
        written = 0
        for block in _blocks(noun):
            data = _converted(block, noun.type, form)
            written += data.nbytes
            yield data
        yield bytes(known.size - (4 + len(noun.shape)) * form.word - written)
        return
    sizes = np.array([m.size for m in known.inner], np.int64)
    first = (4 + len(noun.shape)) * form.word + len(sizes) * form.word
    offsets = first + np.cumsum(sizes) - sizes
    yield _converted(offsets, JType.INTEGER, form)
    for item, size in zip(noun.data, known.inner, strict=True):
        if noun.type is JType.BOX:
            yield from pieces(item, form, size)
        else:
            shape, limbs = _limbs(item, form)
            yield _head(form, JType.LITERAL, len(limbs), (shape,)) + limbs


def encode(noun: Noun, form: Form) -> bytes:
    """The noun's block as bytes."""
    return b"".join(bytes(p) if isinstance(p, bytes) else p.tobytes() for p in pieces(noun, form))


def head_of(noun: Noun, form: Form) -> bytes:
    """The words before the noun's data."""
    return _head(form, noun.type, noun.count, noun.shape)


def _head(form: Form, kind: JType, count: int, shape: tuple[int, ...]) -> bytes:
    first = bytes([form.first]) + bytes(form.word - 1)
    words = (int(kind), count, len(shape), *shape)
    if form.word == 4 and max(words) >= 1 << 31:
        raise CapabilityError(f"4-byte words cannot hold {max(words):,} (a count or an axis); word=8 can")
    return first + form.words(len(words)).pack(*words)


def _limbs(number: int, form: Form) -> tuple[int, bytes]:
    """Shape word (number of limbs, with the sign) and limbs, the least first, of a whole number."""
    count = -(-number.bit_length() // (8 * form.word))
    data = abs(number).to_bytes(padded(count * form.word, 8), "little")
    if form.order == ">":
        data = np.frombuffer(data, f"<u{form.word}").astype(f">u{form.word}").tobytes()
    return (-count if number < 0 else count), data


def _blocks(noun: Noun) -> Iterator[NDArray[Any]]:
    """The atoms in row-major order, some megabytes at a time."""
    if noun.count == 0:
        return
    if isinstance(noun.data, (np.ndarray, np.generic)):
        flat = np.ascontiguousarray(noun.data).reshape(-1)
        step = max(1, STEP // flat.dtype.itemsize)
        for start in range(0, len(flat), step):
            yield flat[start : start + step]
        return
    step = max(1, STEP // (8 * (noun.count // noun.shape[0])))
    for start in range(0, noun.shape[0], step):
        yield np.asarray(noun.data[start : min(start + step, noun.shape[0])])


def _converted(block: NDArray[Any], kind: JType, form: Form) -> NDArray[Any]:
    target = form.atom(kind).base
    if kind is JType.INTEGER and target.itemsize < block.dtype.itemsize and block.size:
        limits = np.iinfo(target)
        for value in (int(block.min()), int(block.max())):
            if not limits.min <= value <= limits.max:
                raise CapabilityError(f"4-byte words cannot hold the integer {value}; word=8 can")
    return np.ascontiguousarray(block.astype(target, copy=False))
