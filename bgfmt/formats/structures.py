"""Structures of binary files, each declared once as a construct `Struct`.

From a declaration come the fields with their offsets, reading with an error that names field and offset, NumPy
dtypes, the regions of a file, and the table of bytes on the page of a format. A field is documented by construct's
operator: ``"rows" / Int32ul * "rows of a block"``. A number of items may be an expression of `this`, such as
``Array(this.rows, ROW)``; `fields` and the like then take it by that name: ``fields(FILE, rows=924)``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from construct import (
    Aligned,
    Array,
    Bytes,
    BytesInteger,
    Const,
    Construct,
    ConstructError,
    Container,
    FormatField,
    Int8ul,
    SizeofError,
    Struct,
    Subconstruct,
)
from numpy.typing import NDArray

from bgfmt.errors import HeaderError
from bgfmt.formats.base import Region
from bgfmt.storage import Source

__all__ = [
    "Field",
    "byte_table",
    "constant",
    "core_of",
    "count_text",
    "dtype_of",
    "fields",
    "offset_of",
    "offset_texts",
    "read_struct",
    "regions_of",
    "size_of",
]

_MISMATCH = re.compile(r"parsing expected (.*) but parsed (.*)")
MAX_LISTED_FIELDS = 4  # of the items of an array, in a table of bytes


class Field(NamedTuple):
    """Field of a structure.

    offset, size : in bytes.
    dtype, shape : of the NumPy array that `read` returns: uint8 for bytes; shape () for a field that is no array.
    """

    offset: int
    size: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def read(self, source: Source, offset: int, what: str = "table") -> NDArray[Any]:
        """Read the field, as an array, of a structure that begins at `offset` of a source.

        what : what a TruncatedError says is cut short.
        """
        return source.array(self.dtype, self.shape, offset + self.offset, what)

    def place(self, *index: int) -> int:
        """Return the byte offset of an item of the field's array, or of a row where there are fewer indices."""
        number = 0
        for at, length in zip(index, self.shape, strict=False):
            number = number * length + at
        return self.offset + number * prod(self.shape[len(index) :]) * self.dtype.itemsize


@lru_cache(maxsize=64)
def fields(struct: Struct, **counts: int) -> dict[str, Field]:
    """Return the fields of a structure by name, in order, with offset and size.

    counts : the numbers of items to which the structure's arrays refer by name. The result is cached and must not be
    changed.
    """
    found = {}
    offset = 0
    for part in struct.subcons:
        size = part.sizeof(**counts)
        shape, item = _split_arrays(part, counts)
        found[part.name] = Field(offset, size, dtype_of(item), shape)
        offset += size
    return found


def _split_arrays(part: Construct, counts: Mapping[str, int]) -> tuple[tuple[int, ...], Construct]:
    """Return the shape of a field, and the construct of its items."""
    core = core_of(part)
    if isinstance(core, Bytes):
        return (core.sizeof(**counts),), Int8ul
    if not isinstance(core, Array):
        return (), core
    count = core.count(Container(counts)) if callable(core.count) else core.count
    shape, item = _split_arrays(core.subcon, counts)
    return (count, *shape), item


def size_of(struct: Struct, **counts: int) -> int:
    """Return the size of a structure in bytes; `counts` as for `fields`."""
    return sum(part.sizeof(**counts) for part in struct.subcons)


def offset_of(struct: Struct, *path: str) -> int:
    """Return the byte offset of the field named by `path`; several names lead into nested structures."""
    offset = 0
    for name in path:
        names = [part.name for part in struct.subcons]
        before = struct.subcons[: names.index(name)]
        offset += sum(part.sizeof() for part in before)
        struct = core_of(struct.subcons[len(before)])
        if isinstance(struct, Array):  # an error does not say in which item
            struct = core_of(struct.subcon)
    return offset


def regions_of(parts: Mapping[str, Field], numbers: Collection[str] = ()) -> tuple[Region, ...]:
    """Return one `Region` (a named range of bytes) for each field of a file.

    parts : the fields by name. numbers : names of fields that consist wholly of numbers of the table, in which damage
    can be found only by checking the numbers.
    """
    return tuple(Region(name, part.offset, part.size, name in numbers) for name, part in parts.items())


def read_struct(struct: Struct, source: Source, offset: int = 0) -> Container[Any]:
    """Read a structure of fixed size at an offset of a source.

    Raises TruncatedError if the source ends before, and HeaderError with the name and offset of an invalid field.
    """
    data = source.bytes(offset, struct.sizeof(), "header")
    try:
        return struct.parse(data)
    except (ConstructError, ValueError) as error:
        path = re.findall(r"-> (\S+)", str(getattr(error, "path", "") or ""))
        reason = str(error).splitlines()[-1] if str(error) else "a valid header"
        mismatch = _MISMATCH.fullmatch(reason)
        expected, found = mismatch.groups() if mismatch else (reason, data[:24])
        field = path[-1] if path else "header"
        raise HeaderError(source.name, field, offset + offset_of(struct, *path), expected, found) from None


def core_of(part: Construct) -> Construct:
    """Return the construct that stores a field's bytes, without wrappers for name, documentation and conversion."""
    while isinstance(part, Subconstruct) and not isinstance(part, Array):
        part = part.subcon
    return part


def constant(part: Construct) -> Any:
    """Return the value that a field of a structure must always have; None if its value is free."""
    while isinstance(part, Subconstruct) and not isinstance(part, Const):
        part = part.subcon
    return part.value if isinstance(part, Const) else None


def dtype_of(part: Construct) -> np.dtype[Any]:
    """Return the NumPy dtype of a structure, array or field; bytes, and what NumPy lacks, become raw bytes (void)."""
    core = core_of(part)
    if isinstance(core, Struct):
        return np.dtype([(field.name or "", dtype_of(field)) for field in core.subcons])
    if isinstance(core, Array):
        return np.dtype((dtype_of(core.subcon), (core.count,)))
    if isinstance(core, FormatField):
        order, letter = core.fmtstr
        return np.dtype(f"{order}{_kind_of(letter)}{core.sizeof()}")
    return np.dtype(f"V{core.sizeof()}")


def _kind_of(letter: str) -> str:
    """Return "f", "i" or "u", NumPy's name of the kind of number that a letter of `struct` stands for."""
    if letter in "efd":
        return "f"
    return "i" if letter.islower() else "u"


# ---- the table of bytes of a page


def type_name(part: Construct) -> str:
    """Return the type of a field in words, such as `u16`, `32 bytes` or `columns × (u8, u8, u16)`."""
    core = core_of(part)
    if isinstance(core, Array):
        item = core_of(core.subcon)
        parts = item.subcons if isinstance(item, Struct) and len(item.subcons) <= MAX_LISTED_FIELDS else ()
        text = ", ".join(map(type_name, parts))
        return f"{count_text(core.count)} × {f'({text})' if text else type_name(item)}"
    if isinstance(core, Bytes) and callable(core.length):
        return f"{count_text(core.length)} bytes"
    size = core.sizeof()
    if isinstance(core, FormatField):
        order, letter = core.fmtstr
        return f"{_kind_of(letter)}{8 * size}{' (big-endian)' * (order == '>' and size > 1)}"
    if isinstance(core, BytesInteger):
        return f"{'i' if core.signed else 'u'}{8 * size}"
    unit = getattr(core, "unit", "byte")  # of the characters of a format's own construct
    return f"{size} {unit}{'s' * (size != 1)}"


def byte_table(struct: Struct) -> str:
    """Return the fields of a structure as a Markdown table of offset, type, name and content."""
    rows = ["| offset | type | field | content |", "| --- | --- | --- | --- |"]
    for part, offset in zip(struct.subcons, offset_texts(struct), strict=False):
        content = "; ".join(filter(None, (_constant_text(part), part.docs)))
        name = f"`{part.name}`" if part.name else ""
        rows.append(f"| {offset} | {type_name(part)} | {name} | {content} |")
    return "\n".join(rows)


def offset_texts(struct: Struct) -> list[str]:
    """Return the offset of each field and, last, the size of the structure, as text such as `28 + 64 * positions`."""
    terms: Counter[str] | None = Counter()
    texts = ["0"]
    for part in struct.subcons:
        size = _size_terms(part)
        terms = None if terms is None or size is None else terms + size
        texts.append(_sum_text(terms))
    return texts


def _constant_text(part: Construct) -> str:
    """Return the constant value of a field as Markdown, "" if it has none."""
    value = constant(part)
    if value is None:
        return ""
    if not isinstance(value, bytes):
        return str(value)
    return f"`{repr(value)[2:-1]}`" if any(value) else "zero"


def count_text(count: Any) -> str:
    """Return a number of items or bytes, fixed or computed from other fields, as text without construct's `this.`."""
    return re.sub(r"this\['(\w+)'\]", r"\1", repr(count))


def _size_terms(part: Construct) -> Counter[str] | None:
    """Return the size of a field as a sum, {count: bytes of an item} with "" for a plain number; None if unknown."""
    try:
        return Counter({"": part.sizeof()})
    except SizeofError:
        pass
    if isinstance(part, Bytes):
        return Counter({count_text(part.length): 1})
    if isinstance(part, Aligned) or not isinstance(part, Subconstruct):
        return None
    terms = _size_terms(part.subcon)
    if terms is None or not isinstance(part, Array):
        return terms
    count = count_text(part.count)
    return Counter({" * ".join(filter(None, (count, text))): size for text, size in terms.items()})


def _sum_text(terms: Counter[str] | None) -> str:
    """Return a sum as text, such as `28 + 64 * positions`; "..." if it is unknown."""
    if terms is None:
        return "..."
    return " + ".join(_product_text(text, size) for text, size in sorted(terms.items()) if size) or "0"


def _product_text(text: str, size: int) -> str:
    if not text:
        return str(size)
    return text if size == 1 else f"{size} * {text}"
