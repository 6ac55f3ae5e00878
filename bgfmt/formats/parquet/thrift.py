"""Thrift's compact protocol, as far as Parquet's headers and footer need it: written, never read."""

from __future__ import annotations

from collections.abc import Iterable

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
Value = int | bytes | list["Value"] | tuple["Field", ...]
Field = tuple[int, int, Value]
"""Number, type and value of a field; of a list the type of its items stands in the tens of thousands."""


def field_list(number: int, kind: int, items: Iterable[Value]) -> Field:
    """A field that is a list of items of one type."""
    return number, LIST + 16 * kind, list(items)


def struct(*fields: Field) -> bytes:
    """The bytes of a structure of these fields, in ascending order of number."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out.append((number - last) << 4 | kind & 15)
        out += _value(kind, value)
        last = number
    out.append(0)
    return bytes(out)


def varint(value: int) -> bytes:
    """An unsigned number, seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _value(kind: int, value: Value) -> bytes:
    if isinstance(value, int):
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if isinstance(value, bytes):
        return value if kind & 15 == STRUCT else varint(len(value)) + value
    if isinstance(value, tuple):
        return struct(*value)
    items = b"".join(_value(kind >> 4, item) for item in value)
    size = len(value)
    return (bytes([size << 4 | kind >> 4]) if size < 15 else bytes([0xF0 | kind >> 4]) + varint(size)) + items
