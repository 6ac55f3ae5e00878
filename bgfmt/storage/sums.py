"""Sums of what is written, taken on the way, and held against the file before it gets its name."""

from __future__ import annotations

import errno
import threading
import zlib

from bgfmt.storage import system

STEP = 8 << 20


class Sums:
    """CRC-32 of each stretch of a file; pieces written one behind the other make one stretch."""

    def __init__(self) -> None:
        self._stretches: dict[int, tuple[int, int]] = {}  # end -> (start, sum)
        self._lock = threading.Lock()

    def add(self, offset: int, view: memoryview) -> None:
        """Bytes that are being written there."""
        if not len(view):
            return
        with self._lock:
            start, before = self._stretches.pop(offset, (offset, 0))
        made = zlib.crc32(view, before)
        with self._lock:
            self._stretches[offset + len(view)] = (start, made)

    def stretches(self) -> list[tuple[int, int, int]]:
        """(start, end, sum) in order, without those that something was written over later."""
        found = sorted((start, end, made) for end, (start, made) in self._stretches.items())
        kept, reach = [], 0
        for k, (start, end, made) in enumerate(found):
            if start >= reach and (k + 1 == len(found) or end <= found[k + 1][0]):
                kept.append((start, end, made))
            reach = max(reach, end)
        return kept

    def check(self, fd: int, name: str) -> None:
        """OSError where the file does not hold what was written."""
        for start, end, made in self.stretches():
            found = 0
            for at in range(start, end, STEP):
                found = zlib.crc32(system.read_at(fd, min(STEP, end - at), at), found)
            if found != made:
                text = f"bytes {start:,} to {end:,} are not what was written: something changed them"
                raise OSError(errno.EIO, text, name)
