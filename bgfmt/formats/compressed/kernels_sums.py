"""Compiled: checksums of the parts of a file, CRC-32 as zip has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit


def _crc_tables() -> Any:
    """Eight tables for CRC-32 (the polynomial of zip), eight bytes a step."""
    out = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        c = byte
        for _ in range(8):
            c = c >> 1 ^ (0xEDB88320 if c & 1 else 0)
        out[0, byte] = c
    for k in range(1, 8):
        out[k] = out[k - 1] >> np.uint32(8) ^ out[0][out[k - 1] & np.uint32(255)]
    return out


_CRC = _crc_tables()


@njit()
def crc32(data: Any, start: Any, stop: Any) -> Any:
    """CRC-32 of data[start:stop], as zlib has it."""
    c = np.uint32(0xFFFFFFFF)
    at = start
    while at + 8 <= stop:
        low = c ^ (
            np.uint32(data[at])
            | np.uint32(data[at + 1]) << np.uint32(8)
            | np.uint32(data[at + 2]) << np.uint32(16)
            | np.uint32(data[at + 3]) << np.uint32(24)
        )
        c = (
            _CRC[7, low & np.uint32(255)]
            ^ _CRC[6, low >> np.uint32(8) & np.uint32(255)]
            ^ _CRC[5, low >> np.uint32(16) & np.uint32(255)]
            ^ _CRC[4, low >> np.uint32(24)]
            ^ _CRC[3, data[at + 4]]
            ^ _CRC[2, data[at + 5]]
            ^ _CRC[1, data[at + 6]]
            ^ _CRC[0, data[at + 7]]
        )
        at += 8
    while at < stop:
        c = _CRC[0, (c ^ np.uint32(data[at])) & np.uint32(255)] ^ c >> np.uint32(8)
        at += 1
    return np.int64(c ^ np.uint32(0xFFFFFFFF))


@njit()
def unsound(data: Any, starts: Any, stops: Any) -> Any:
    """The first of the parts data[start:stop] whose last four bytes are not the CRC-32 of the others, or -1."""
    for k in range(len(starts)):
        end = stops[k] - 4
        said = (
            np.int64(data[end])
            | np.int64(data[end + 1]) << 8
            | np.int64(data[end + 2]) << 16
            | np.int64(data[end + 3]) << 24
        )
        if crc32(data, starts[k], end) != said:
            return k
    return -1


@njit()
def seal(data: Any, starts: Any, stops: Any) -> None:
    """Put the CRC-32 of each part into its last four bytes."""
    for k in range(len(starts)):
        end = stops[k] - 4
        c = crc32(data, starts[k], end)
        for b in range(4):
            data[end + b] = (c >> (8 * b)) & 255
