"""Packed files with something inside changed."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable


def xg_records(data: bytes) -> tuple[int, list[bytearray]]:
    """Where the archive begins, and the records of temp.xg."""
    size, thumbnail = struct.unpack_from("<I8xI", data, 8)
    inner = zlib.decompressobj().decompress(data[size + thumbnail :])
    return size + thumbnail, [bytearray(inner[k : k + 2560]) for k in range(0, len(inner), 2560)]


def xg_with(data: bytes, change: Callable[[list[bytearray]], object]) -> bytes:
    """An .xg file with its records changed, as tools leave one: without index and end."""
    begin, records = xg_records(data)
    change(records)
    return data[:begin] + zlib.compress(b"".join(records), 1)


def bgf_document(data: bytes) -> tuple[bytes, bytes]:
    """The first line of a .bgf file, and its document unpacked."""
    line, _, body = data.partition(b"\n")
    return line, zlib.decompress(body, 47)


def bgf_of(
    document: bytes, header: bytes = b'{"format":"BGF","version":"1.0","compress":true,"useSmile":false}'
) -> bytes:
    """A .bgf file of a document."""
    return header + b"\n" + gzip.compress(document, 1)
