"""Where bytes go: a new file, memory, or a comparison with bytes that are there already."""

from __future__ import annotations

import mmap
import queue
import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgfmt.storage import system
from bgfmt.storage.source import Source

Data = bytes | bytearray | memoryview | NDArray[Any]


class Sink(Protocol):
    """A place that grows front to back; `written` is its size so far, `name` what messages call it."""

    name: str
    written: int

    def write(self, data: Data) -> None:
        """Append bytes, or an array's bytes in C order as they stand. Arrays must not be changed afterwards."""
        self.write_at(self.written, data)
        self.written += data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)

    def write_at(self, offset: int, data: Data) -> None:
        """Write bytes at an offset below `written`, such as into room left by `skip`."""
        ...

    def skip(self, size: int) -> None:
        """Leave room for `size` bytes that `write_at` fills later."""
        self.written += size

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """Append `size` bytes and return them as a writable array, for results made out of order."""
        ...

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

    Large pieces are written by a thread of their own, so that making the next block and writing the last one
    overlap. System errors carry `name`, not that of the hidden file.
    """

    _BEHIND = 4  # blocks that may wait to be written, which bounds the memory they hold
    _SYNC_EVERY = 64 << 20  # bytes after which the disk is set to work

    def __init__(self, fd: int, name: str) -> None:
        self.fd, self.name, self.written = fd, name, 0
        self._waiting: queue.Queue[tuple[int, memoryview] | None] = queue.Queue(self._BEHIND)
        self._failed: BaseException | None = None
        self._thread: threading.Thread | None = None

    def write_at(self, offset: int, data: Data) -> None:
        view = view_of(data)
        if len(view) < 1 << 16:
            with system.said_of(self.name):
                system.write_at(self.fd, view, offset)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_behind, daemon=True)
            self._thread.start()
        if self._failed is None:
            self._waiting.put((offset, view))
        if self._failed is not None:
            self.flush()

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """As `Sink.reserve`, mapped; the disk's room is taken now, so that a full disk is an OSError here."""
        self.flush()
        start = self.written
        with system.said_of(self.name):
            system.reserve(self.fd, start + size)
            mapped = mmap.mmap(self.fd, start + size)
        self.written += size
        return np.frombuffer(mapped, np.uint8)[start:]

    def flush(self) -> None:
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None
        if self._failed is not None:
            raise self._failed

    def _write_behind(self) -> None:
        unsynced = 0
        while (item := self._waiting.get()) is not None:
            if self._failed is not None:
                continue  # keep taking, so that the caller never waits on a full queue
            offset, view = item
            try:
                with system.said_of(self.name):
                    system.write_at(self.fd, view, offset)
                    unsynced += len(view)
                    if unsynced >= self._SYNC_EVERY:
                        system.sync_data(self.fd)
                        unsynced = 0
            except BaseException as error:
                self._failed = error


class _Held(Sink):
    """A sink whose reserved arrays are its own until `flush` writes them."""

    def __init__(self, name: str) -> None:
        self.name, self.written = name, 0
        self._reserved: list[tuple[int, NDArray[np.uint8]]] = []

    def reserve(self, size: int) -> NDArray[np.uint8]:
        self._reserved.append((self.written, np.zeros(size, np.uint8)))
        self.written += size
        return self._reserved[-1][1]

    def flush(self) -> None:
        for offset, array in self._reserved:
            self.write_at(offset, array)
        self._reserved.clear()


class MemorySink(_Held):
    """Bytes kept in memory: `data`, complete after `flush`."""

    def __init__(self, name: str = "<memory>") -> None:
        super().__init__(name)
        self.data = bytearray()

    def write_at(self, offset: int, data: Data) -> None:
        view = view_of(data)
        self.data.extend(bytes(max(0, offset + len(view) - len(self.data))))
        self.data[offset : offset + len(view)] = view

    def flush(self) -> None:
        super().flush()
        self.data.extend(bytes(max(0, self.written - len(self.data))))


class ComparingSink(_Held):
    """Holds what is written against the bytes of `source` from `offset` on.

    wrong : how many differ or are missing there. first : (place in the source, the byte written, the byte there or
    None at its end) of the first. Bytes before `begin`, and the ranges (first, past last) of `ignored`, both counted
    from the start of what is written, are not compared.
    """

    def __init__(
        self, source: Source, offset: int = 0, begin: int = 0, ignored: Sequence[tuple[int, int]] = ()
    ) -> None:
        super().__init__(source.name)
        self.source, self.offset, self.begin, self.ignored = source, offset, begin, tuple(ignored)
        self.wrong = 0
        self.first: tuple[int, int, int | None] | None = None

    def write_at(self, offset: int, data: Data) -> None:
        mine = np.frombuffer(view_of(data), np.uint8)
        at = self.offset + offset
        there = np.frombuffer(self.source.buffer[at : at + len(mine)], np.uint8)
        differ = np.ones(len(mine), bool)
        np.not_equal(there, mine[: len(there)], out=differ[: len(there)])
        for first, last in ((0, self.begin), *self.ignored):
            differ[max(0, first - offset) : max(0, last - offset)] = False
        self.wrong += int(np.count_nonzero(differ))
        k = int(differ.argmax()) if len(differ) else 0
        if len(differ) and differ[k] and (self.first is None or at + k < self.first[0]):
            self.first = (at + k, int(mine[k]), int(there[k]) if k < len(there) else None)
