"""Where bytes go: a new file, memory, or a comparison with bytes that are there already."""

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

Data = bytes | bytearray | memoryview | NDArray[Any]
MOST_RUNS = 1000


def size_of(data: Data) -> int:
    """Bytes of what is handed to a sink."""
    return data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)


class Sink(Protocol):
    """A place that grows front to back; `written` is its size so far, `name` what messages call it."""

    name: str
    written: int

    def write(self, data: Data) -> None:
        """Append bytes, or an array's bytes in C order as they stand."""
        self.write_at(self.written, data)
        self.written += size_of(data)

    def write_at(self, offset: int, data: Data) -> None:
        """Write bytes at an offset below `written`, such as into room left by `skip`."""
        ...

    def skip(self, size: int) -> None:
        """Leave room for `size` bytes that `write_at` fills later."""
        self.written += size

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """Append `size` bytes and return them as a writable array, for results made out of order."""
        ...

    def put(self, part: NDArray[Any], values: NDArray[Any]) -> bool:
        """Give a stretch of a reserved array its values, of the same size; whether they are read again there."""
        part[...] = values
        return True

    def settle(self) -> None:
        """Bring to the disk what was put."""
        return

    def flush(self) -> None:
        """Wait until everything is where it goes; raises what went wrong on the way."""
        ...


def view_of(data: Data) -> memoryview:
    """The bytes of anything a sink takes, without copying where they lie together."""
    if isinstance(data, np.ndarray):
        data = np.ascontiguousarray(data).reshape(-1).view(np.uint8).data
    return memoryview(data).cast("B")


class FileSink(Sink):
    """A file being written.

    What is written is brought to the disk while the next pieces are made. System errors carry `name`, not that of the
    hidden file. `sums` are of all that is written, without what is reserved: the caller that fills it checks it.
    """

    _SYNC_EVERY = 64 << 20  # bytes after which the disk is set to work

    def __init__(self, fd: int, name: str) -> None:
        self.fd = fd
        self.name = name
        self.written = 0
        self.sums = Sums()
        self._unsynced = 0
        self._disk: ThreadPoolExecutor | None = None
        self._synced: Future[None] | None = None
        self._map: NDArray[np.uint8] = np.empty(0, np.uint8)

    def write_at(self, offset: int, data: Data) -> None:
        view = view_of(data)
        self.sums.add(offset, view)
        with system.said_of(self.name):
            system.write_at(self.fd, view, offset)
        self._unsynced += len(view)
        if self._unsynced >= self._SYNC_EVERY:
            from concurrent.futures import ThreadPoolExecutor  # here, since readers of tables need none

            self.flush()
            self._disk = self._disk or ThreadPoolExecutor(1)
            self._synced = self._disk.submit(self.settle)
            self._unsynced = 0

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """As `Sink.reserve`, mapped; the disk's room is taken now, so that a full disk is an OSError here."""
        start = self.written
        with system.said_of(self.name):
            system.reserve(self.fd, start + size)
            self._map = np.frombuffer(mmap.mmap(self.fd, start + size), np.uint8)
        self.written += size
        return self._map[start:]

    def put(self, part: NDArray[Any], values: NDArray[Any]) -> bool:
        """As `Sink.put`, written: faster than page by page through the map, and takes none of its memory."""
        at = int(part.ctypes.data - self._map.ctypes.data)
        found = np.empty_like(part)
        with system.said_of(self.name):
            system.write_at(self.fd, view_of(values), at)
            system.read_into(self.fd, view_of(found), at)
        return np.array_equal(found, values)

    def settle(self) -> None:
        with system.said_of(self.name):
            system.sync_data(self.fd)

    def flush(self) -> None:
        if self._synced is not None:
            self._synced.result()


class Tail(io.RawIOBase):
    """A sink as the unseekable file that zipfile writes."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._sink.write(data)
        return size_of(data)


class _Held(Sink):
    """A sink whose reserved arrays are its own until `flush` writes them."""

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
    """Bytes in memory, those in `data` first; `data` are all of them."""

    def __init__(self, data: bytes = b"", name: str = "<memory>") -> None:
        super().__init__(name)
        self._data = bytearray(data)
        self.written = len(data)

    @property
    def data(self) -> bytearray:
        """The bytes so far, reserved arrays as they are filled now."""
        self.flush()
        return self._data

    def write_at(self, offset: int, data: Data) -> None:
        view = view_of(data)
        self._room(offset + len(view))
        self._data[offset : offset + len(view)] = view

    def skip(self, size: int) -> None:
        super().skip(size)
        self._room(self.written)

    def _room(self, size: int) -> None:
        self._data.extend(bytes(max(0, size - len(self._data))))


class ComparingSink(_Held):
    """Holds what is written against bytes that are there already.

    What is skipped and never written counts as equal. At most `MOST_RUNS` differences are kept apart; the rest
    count as one.
    """

    def __init__(self, stored: bytes | memoryview, name: str = "<compared>") -> None:
        super().__init__(name)
        self.stored = np.frombuffer(stored, np.uint8)
        self._found: dict[int, tuple[bytes, bytes]] = {}

    def write_at(self, offset: int, data: Data) -> None:
        mine = np.frombuffer(view_of(data), np.uint8)
        there = self.stored[offset : offset + len(mine)]
        same = mine[: len(there)]
        if not np.array_equal(there, same):
            differ = np.flatnonzero(there != same)
            for run in np.split(differ, np.flatnonzero(np.diff(differ) > 1) + 1):
                if len(self._found) >= MOST_RUNS:
                    break
                a = int(run[0])
                b = int(run[-1]) + 1
                self._found[offset + a] = (same[a:b].tobytes(), there[a:b].tobytes())
        if len(there) < len(mine) and len(self._found) < MOST_RUNS:
            self._found[offset + len(there)] = (mine[len(there) : len(there) + 64].tobytes(), b"")

    def runs(self) -> Iterator[tuple[int, bytes, bytes]]:
        """(offset, expected, found) of each stretch that differs, in order; a longer or shorter end last."""
        self.flush()
        found = dict(self._found)
        if len(self.stored) > self.written:
            found[self.written] = (b"", self.stored[self.written : self.written + 64].tobytes())
        for at in sorted(found):
            yield at, *found[at]


# ---- checksums of what is written, held against the file before it gets its name

CHECK_STEP = 8 << 20


class Sums:
    """CRC-32 of each piece of a file that is written."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, int, int]] = []  # start, end, sum

    def add(self, offset: int, view: memoryview) -> None:
        """Bytes that are being written there."""
        if len(view):
            self._pieces.append((offset, offset + len(view), zlib.crc32(view)))

    def intact(self) -> list[tuple[int, int, int]]:
        """(start, end, sum) in order, without those that something was written over later."""
        pieces = sorted(self._pieces)
        reach = accumulate((end for _, end, _ in pieces), max, initial=0)
        begins = [*(start for start, _, _ in pieces[1:]), pieces[-1][1]] if pieces else []
        each = zip(pieces, reach, begins, strict=False)
        return [piece for piece, before, following in each if before <= piece[0] and piece[1] <= following]

    def check(self, fd: int, name: str) -> None:
        """OSError where the file does not hold what was written."""
        for start, end, made in self.intact():
            found = 0
            for at in range(start, end, CHECK_STEP):
                found = zlib.crc32(system.read_at(fd, min(CHECK_STEP, end - at), at), found)
            if found != made:
                text = f"bytes {start:,} to {end:,} are not what was written: something changed them"
                raise OSError(errno.EIO, text, name)
