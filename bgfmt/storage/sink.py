"""Sinks, which bytes are written to: a new file, memory, or a comparison with existing bytes."""

from __future__ import annotations

import errno
import io
import mmap
import zlib
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgfmt.storage import system

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["ComparingSink", "FileSink", "MemorySink", "Sink", "Tail", "size_of"]

Data = bytes | bytearray | memoryview | NDArray[Any]
MAX_RUNS = 1000


def size_of(data: Data) -> int:
    """Return the size in bytes of what is written to a sink: bytes or an array."""
    return data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)


class Sink(Protocol):
    """An output that grows from front to back; `written` is its size so far, `name` its name in messages."""

    name: str
    written: int

    def write(self, data: Data) -> None:
        """Write bytes, or an array's bytes in C order, at the end."""
        self.write_at(self.written, data)
        self.written += size_of(data)

    def write_at(self, offset: int, data: Data) -> None:
        """Write bytes at an offset below `written`, such as into space left by `skip`."""
        ...

    def skip(self, size: int) -> None:
        """Skip `size` bytes: space at the end that `write_at` fills later."""
        self.written += size

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """Add `size` bytes at the end and return them as a writable array, for results computed out of order."""
        ...

    def write_reserved(self, part: NDArray[Any], values: NDArray[Any]) -> bool:
        """Copy `values` into `part`, a slice of the same size of an array that `reserve` returned.

        Return whether the part now holds these values.
        """
        part[...] = values
        return True

    def settle(self) -> None:
        """Write to the disk what `write_reserved` has copied so far."""
        return

    def flush(self) -> None:
        """Wait until all bytes are written; raises the error of any write that failed meanwhile."""
        ...


def view_bytes(data: Data) -> memoryview:
    """Return the bytes of what is written to a sink (bytes or an array), without copying if they are contiguous."""
    if isinstance(data, np.ndarray):
        data = np.ascontiguousarray(data).reshape(-1).view(np.uint8).data
    return memoryview(data).cast("B")


class FileSink(Sink):
    """A file being written.

    Written data are synced to the disk in the background. System errors carry `name`, not that of the hidden
    file. `sums` are checksums of all that is written, but not of reserved space: the caller that fills it
    checks it.
    """

    _SYNC_EVERY = 64 << 20  # bytes after which they are synced to the disk

    def __init__(self, fd: int, name: str) -> None:
        self.fd = fd
        self.name = name
        self.written = 0
        self.sums = WrittenChecksums()
        self._unsynced = 0
        self._disk: ThreadPoolExecutor | None = None
        self._synced: Future[None] | None = None
        self._map: NDArray[np.uint8] = np.empty(0, np.uint8)

    def write_at(self, offset: int, data: Data) -> None:
        view = view_bytes(data)
        self.sums.add(offset, view)
        with system.report_errors_as(self.name):
            system.write_at(self.fd, view, offset)
        self._unsynced += len(view)
        if self._unsynced >= self._SYNC_EVERY:
            from concurrent.futures import (
                ThreadPoolExecutor,
            )  # imported here, because readers of tables need none

            self.flush()
            self._disk = self._disk or ThreadPoolExecutor(1)
            self._synced = self._disk.submit(self.settle)
            self._unsynced = 0

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """Add `size` bytes and return them as a mapped array.

        Disk space is allocated now, so a full disk is an OSError here.
        """
        start = self.written
        with system.report_errors_as(self.name):
            system.reserve(self.fd, start + size)
            self._map = np.frombuffer(mmap.mmap(self.fd, start + size), np.uint8)
        self.written += size
        return self._map[start:]

    def write_reserved(self, part: NDArray[Any], values: NDArray[Any]) -> bool:
        """Write `values` to the file, at the place of the reserved `part`, and read them back.

        Return whether they are equal. Faster than page by page through the map, and takes no mapped memory.
        """
        at = int(part.ctypes.data - self._map.ctypes.data)
        found = np.empty_like(part)
        with system.report_errors_as(self.name):
            system.write_at(self.fd, view_bytes(values), at)
            system.read_into(self.fd, view_bytes(found), at)
        return np.array_equal(found, values)

    def settle(self) -> None:
        with system.report_errors_as(self.name):
            system.sync_data(self.fd)

    def flush(self) -> None:
        if self._synced is not None:
            self._synced.result()


class Tail(io.RawIOBase):
    """A sink as the unseekable file that `zipfile.ZipFile` writes to."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._sink.write(data)
        return size_of(data)


class _Held(Sink):
    """A sink that keeps its reserved arrays in memory until `flush` writes them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.written = 0
        self._reserved: list[tuple[int, NDArray[np.uint8]]] = []

    def reserve(self, size: int) -> NDArray[np.uint8]:
        self._reserved.append((self.written, np.zeros(size, np.uint8)))
        self.skip(size)
        return self._reserved[-1][1]

    def flush(self) -> None:
        reserved = self._reserved
        self._reserved = []
        for offset, array in reserved:
            self.write_at(offset, array)


class MemorySink(_Held):
    """Bytes in memory; `data`, if given, are the first ones."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__("<memory>")
        self._data = bytearray(data)
        self.written = len(data)

    @property
    def data(self) -> bytearray:
        """All bytes so far, reserved arrays with their current content."""
        self.flush()
        return self._data

    def write_at(self, offset: int, data: Data) -> None:
        view = view_bytes(data)
        self._room(offset + len(view))
        self._data[offset : offset + len(view)] = view

    def skip(self, size: int) -> None:
        super().skip(size)
        self._room(self.written)

    def _room(self, size: int) -> None:
        self._data.extend(bytes(max(0, size - len(self._data))))


class ComparingSink(_Held):
    """Compares what is written with existing bytes.

    What is skipped and never written counts as equal. At most `MAX_RUNS` differences are recorded; further ones
    are dropped.
    """

    def __init__(self, stored: bytes | memoryview) -> None:
        super().__init__("<compared>")
        self.stored = np.frombuffer(stored, np.uint8)
        self._found: dict[int, tuple[bytes, bytes]] = {}

    def write_at(self, offset: int, data: Data) -> None:
        mine = np.frombuffer(view_bytes(data), np.uint8)
        there = self.stored[offset : offset + len(mine)]
        same = mine[: len(there)]
        if not np.array_equal(there, same):
            differ = np.flatnonzero(there != same)
            for run in np.split(differ, np.flatnonzero(np.diff(differ) > 1) + 1):
                if len(self._found) >= MAX_RUNS:
                    break
                a = int(run[0])
                b = int(run[-1]) + 1
                self._found[offset + a] = (same[a:b].tobytes(), there[a:b].tobytes())
        if len(there) < len(mine) and len(self._found) < MAX_RUNS:
            self._found[offset + len(there)] = (mine[len(there) : len(there) + 64].tobytes(), b"")

    def runs(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Iterate over the differences from the existing bytes, by offset: (offset, expected, found).

        Expected is what was written. If the existing bytes are longer or shorter than that, it comes last.
        """
        self.flush()
        found = dict(self._found)
        if len(self.stored) > self.written:
            found[self.written] = (b"", self.stored[self.written : self.written + 64].tobytes())
        for at in sorted(found):
            yield at, *found[at]


# ---- checksums of what is written, compared with the file before it gets its name

CHECK_STEP = 8 << 20


class WrittenChecksums:
    """CRC-32 of each piece written to a file, compared with the file before it gets its name."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, int, int]] = []  # start, end, sum

    def add(self, offset: int, view: memoryview) -> None:
        """Record the CRC-32 of bytes that were written to the file at an offset."""
        if len(view):
            self._pieces.append((offset, offset + len(view), zlib.crc32(view)))

    def intact_pieces(self) -> list[tuple[int, int, int]]:
        """Return (start, end, CRC-32) of the recorded pieces by offset, without those that were overwritten later."""
        pieces = sorted(self._pieces)
        reach = accumulate((end for _, end, _ in pieces), max, initial=0)
        begins = [*(start for start, _, _ in pieces[1:]), pieces[-1][1]] if pieces else []
        each = zip(pieces, reach, begins, strict=False)
        return [piece for piece, before, following in each if before <= piece[0] and piece[1] <= following]

    def check(self, fd: int, name: str) -> None:
        """Read the file again and compare it with the recorded checksums; OSError if it differs from them."""
        for start, end, made in self.intact_pieces():
            found = 0
            for at in range(start, end, CHECK_STEP):
                found = zlib.crc32(system.read_at(fd, min(CHECK_STEP, end - at), at), found)
            if found != made:
                text = f"bytes {start:,} to {end:,} differ from what was written: they were changed since"
                raise OSError(errno.EIO, text, name)
