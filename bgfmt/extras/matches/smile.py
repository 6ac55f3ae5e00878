"""Reads Smile, FasterXML's binary form of JSON: as much of it as BGBlitz writes, without recursion.

Tables of shared keys and strings hold what was written out before, in order, if no longer than 64 bytes; at 1,024
entries they start again from empty.
"""

from __future__ import annotations

import struct
from typing import Any

from bgfmt.errors import FormatError

MAGIC = b":)\n"
DEPTH = 64
MOST_VALUES = 1_000_000
_END = object()


class _Shared:
    """What was written out before."""

    def __init__(self, kept: bool) -> None:
        self.kept, self.texts = kept, list[str]()

    def add(self, text: str, size: int) -> str:
        if self.kept and size <= 64:
            if len(self.texts) >= 1024:
                self.texts.clear()
            self.texts.append(text)
        return text


class _Reader:
    def __init__(self, data: bytes, name: str) -> None:
        if not data.startswith(MAGIC) or len(data) < 4:
            raise FormatError(f"{name}: expected Smile, found {data[:4]!r}")
        self.data, self.name, self.at = data, name, 4
        self.keys = _Shared(bool(data[3] & 1))
        self.strings = _Shared(bool(data[3] & 2))

    def bad(self, expected: str, at: int | None = None) -> FormatError:
        at = self.at - 1 if at is None else at
        found = f"{self.data[at]:#04x}" if at < len(self.data) else "the end"
        return FormatError(f"{self.name}: byte {at} of the document: expected {expected}, found {found}")

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise self.bad("more", len(self.data))
        self.at += 1
        return self.data[self.at - 1]

    def text(self, size: int, coding: str = "utf-8") -> str:
        if self.at + size > len(self.data):
            raise self.bad("more", len(self.data))
        self.at += size
        return self.data[self.at - size : self.at].decode(coding, "replace")

    def long_text(self) -> str:
        end = self.data.find(b"\xfc", self.at)
        if end < 0:
            raise self.bad("the end of a text", len(self.data))
        text = self.text(end - self.at)
        self.at += 1
        return text

    def shared(self, table: _Shared, number: int) -> str:
        if number >= len(table.texts):
            raise self.bad(f"a shared text below {len(table.texts)}")
        return table.texts[number]

    def integer(self) -> int:
        value = 0
        for _ in range(10):
            byte = self.byte()
            if byte & 0x80:
                value = value << 6 | byte & 0x3F
                return value >> 1 ^ -(value & 1)
            value = value << 7 | byte
        raise self.bad("the last byte of an integer")

    def real(self, size: int, form: str) -> float:
        value = 0
        for _ in range(size):
            value = value << 7 | self.byte() & 0x7F
        width = struct.calcsize(form)
        return float(struct.unpack(form, (value & (1 << 8 * width) - 1).to_bytes(width, "big"))[0])

    def key(self) -> Any:
        token = self.byte()
        if token == 0xFB:
            return _END
        if token == 0x20:
            return ""
        if 0x30 <= token <= 0x33:
            return self.shared(self.keys, (token & 3) << 8 | self.byte())
        if token == 0x34:
            return self.long_text()
        if 0x40 <= token <= 0x7F:
            return self.shared(self.keys, token - 0x40)
        if 0x80 <= token <= 0xBF:
            return self.keys.add(self.text(token - 0x7F), token - 0x7F)
        if 0xC0 <= token <= 0xF7:
            return self.keys.add(self.text(token - 0xBE), token - 0xBE)
        raise self.bad("a key")

    def scalar(self, token: int) -> Any:
        if 0x01 <= token <= 0x1F:
            return self.shared(self.strings, token - 1)
        if 0xEC <= token <= 0xEF:
            return self.shared(self.strings, (token & 3) << 8 | self.byte())
        if 0x40 <= token <= 0x7F:
            return self.strings.add(self.text(token - 0x3F), token - 0x3F)
        if 0x80 <= token <= 0xBF:
            return self.strings.add(self.text(token - 0x7E), token - 0x7E)
        if 0xC0 <= token <= 0xDF:
            return (token & 31) >> 1 ^ -(token & 1)
        if 0x20 <= token <= 0x23:
            return ("", None, False, True)[token - 0x20]
        if token in (0x24, 0x25):
            return self.integer()
        if token == 0x28:
            return self.real(5, ">f")
        if token == 0x29:
            return self.real(10, ">d")
        if token in (0xE0, 0xE4):
            return self.long_text()
        raise self.bad("a value")


def loads(data: bytes, wanted: frozenset[str], name: str = "<smile>") -> Any:
    """The document, with only the members of these keys kept at any depth; the rest is stepped over.

    Raises
    ------
    FormatError with the byte where it cannot be read.
    """
    reader = _Reader(data, name)
    result: Any = None
    kept = 0
    # open containers, each (list or dict, or None where it is stepped over; whether it is an object)
    stack: list[tuple[Any, bool]] = []
    key: Any = None
    while True:
        keep = True
        if stack and stack[-1][1]:
            key = reader.key()
            if key is _END:
                stack.pop()
                if not stack:
                    return result
                continue
            keep = key in wanted
        token = reader.byte()
        if token == 0xF9 and stack and not stack[-1][1]:
            stack.pop()
            if not stack:
                return result
            continue
        into = stack[-1][0] if stack else None
        if token in (0xF8, 0xFA):
            if len(stack) >= DEPTH:
                raise reader.bad(f"at most {DEPTH} levels")
            fresh: Any = [] if token == 0xF8 else {}
            value: Any = fresh if keep and (into is not None or not stack) else None
        else:
            value = reader.scalar(token)
        if not stack:
            result = value
        elif into is not None and keep:
            kept += 1
            if kept > MOST_VALUES:
                raise FormatError(f"{name}: more than {MOST_VALUES:,} values in the document")
            if stack[-1][1]:
                into[key] = value
            else:
                into.append(value)
        if token in (0xF8, 0xFA):
            stack.append((value, token == 0xFA))
        elif not stack:
            return result


__all__ = ["MAGIC", "loads"]
