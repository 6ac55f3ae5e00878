"""Compiled: CRC-32C (Castagnoli), the checksum of zarr's codec `crc32c`, eight bytes at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

POLYNOMIAL = 0x82F63B78


def tables() -> Any:
    """(8, 256) uint32: what a byte adds to the sum, zero to seven bytes before the end."""
    out = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        out[0, byte] = value
    for k in range(1, 8):
        out[k] = out[k - 1] >> 8 ^ out[0, out[k - 1] & 255]
    return out


@njit()
def crc32c(data: Any, words: Any, tables: Any, start: int) -> int:
    """The sum of the bytes of `words` (uint64) and then `data` (uint8), going on from `start`."""
    crc = np.uint64(start ^ 0xFFFFFFFF)
    low = np.uint64(255)
    for i in range(words.size):
        x = words[i] ^ crc
        crc = np.uint64(
            tables[7, x & low]
            ^ tables[6, (x >> np.uint64(8)) & low]
            ^ tables[5, (x >> np.uint64(16)) & low]
            ^ tables[4, (x >> np.uint64(24)) & low]
            ^ tables[3, (x >> np.uint64(32)) & low]
            ^ tables[2, (x >> np.uint64(40)) & low]
            ^ tables[1, (x >> np.uint64(48)) & low]
            ^ tables[0, x >> np.uint64(56)]
        )
    for i in range(data.size):
        crc = crc >> np.uint64(8) ^ np.uint64(tables[0, (crc ^ np.uint64(data[i])) & low])
    return int(crc ^ np.uint64(0xFFFFFFFF))
