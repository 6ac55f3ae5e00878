"""Where bytes come from and go: mapped reading, and writing that appears whole or not at all.

`mmap.mmap` with `np.frombuffer`, not `np.memmap`: closing a memmap's map under a live view crashes the
interpreter, while `mmap.close()` refuses politely. Sizes are checked before any value is read, since touching a
map beyond its file ends the process.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import queue
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from construct import Construct, ConstructError, Container
from numpy.typing import NDArray

from bgfmt.errors import ClosedError, HeaderError, OutputExistsError, TruncatedError

PathLike = str | os.PathLike[str]


class Source:
    """Bytes to read: a mapped file, or bytes in memory. Read-only; a context manager."""

    def __init__(self, path: PathLike) -> None:
        self.name = os.fspath(path)
        self.path: Path | None = Path(path)
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{self.name}: not a regular file")
            self.size = status.st_size
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else None
        self._buffer: memoryview | None = memoryview(self._map if self._map is not None else b"")

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, name: str = "<bytes>") -> Source:
        """A source over bytes already in memory."""
        source = cls.__new__(cls)
        source.name, source.path, source.size = name, None, len(data)
        source._map, source._buffer = None, memoryview(data).toreadonly()
        return source

    @property
    def buffer(self) -> memoryview:
        """All bytes, without copying."""
        if self._buffer is None:
            raise ClosedError(f"{self.name} is closed")
        return self._buffer

    def bytes(self, offset: int, size: int, what: str = "file") -> bytes:
        """Copy of `size` bytes at `offset`; TruncatedError when the file ends before."""
        self.need(offset + size, what)
        return bytes(self.buffer[offset : offset + size])

    def need(self, size: int, what: str = "file") -> None:
        """TruncatedError unless the file has at least `size` bytes."""
        if size > self.size:
            raise TruncatedError(self.name, size, self.size, what)

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        """Read-only view of an array at `offset`; nothing is read until it is used."""
        kind = np.dtype(dtype)
        length = 1
        for axis in shape:
            length *= axis
        self.need(offset + length * kind.itemsize, what)
        if length == 0:
            return np.zeros(shape, kind)
        return np.frombuffer(self.buffer, kind, length, offset).reshape(shape)

    def header(self, layout: Construct, size: int, offset: int = 0) -> Container[Any]:
        """Parse `size` header bytes by a construct layout; HeaderError names the field that does not fit."""
        data = self.bytes(offset, size, "header")
        try:
            return layout.parse(data)
        except (ConstructError, ValueError) as error:
            field = str(getattr(error, "path", "") or "header").split("->")[-1].strip()
            reason = str(error).splitlines()[-1] if str(error) else "a valid header"
            said = re.fullmatch(r"parsing expected (.*) but parsed (.*)", reason)
            expected, found = said.groups() if said else (reason, data[:24])
            raise HeaderError(self.name, field, offset + _place(layout, field), expected, found) from None

    def release(self) -> None:
        """Let mapped pages go from this process (they stay in the system's cache), to keep memory bounded."""
        if self._map is not None and self._buffer is not None and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Let go of the bytes. Arrays already handed out keep theirs."""
        if self._buffer is None:
            return
        view, self._buffer = self._buffer, None
        with contextlib.suppress(BufferError):  # someone still holds a view: the map closes with the last one
            view.release()
            if self._map is not None:
                self._map.close()
        self._map = None

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _place(layout: Construct, field: str) -> int:
    """Bytes before a field of a layout of fixed sizes; 0 where that cannot be told."""
    at = 0
    with contextlib.suppress(ConstructError):
        for part in getattr(layout, "subcons", ()):
            if part.name == field:
                return at
            at += part.sizeof()
    return 0


class Sink:
    """A new file being written front to back (or, through `reserve`, as a mapped array).

    Bytes are written behind the caller's back by a thread of its own, so that making the next block and writing
    the last one overlap; `flush` waits for all of them. Arrays handed to `write` must not be changed afterwards.
    """

    _BEHIND = 4  # blocks that may wait to be written, which bounds the memory they hold
    _SYNC_EVERY = 64 << 20  # bytes after which the disk is set to work

    def __init__(self, fd: int, name: str) -> None:
        self.fd, self.name, self.written = fd, name, 0
        self._waiting: queue.Queue[tuple[int, memoryview] | None] = queue.Queue(self._BEHIND)
        self._failed: BaseException | None = None
        self._thread: threading.Thread | None = None

    def write(self, data: bytes | bytearray | memoryview | NDArray[Any]) -> None:
        """Append bytes, or an array's bytes in C order as they stand."""
        self.write_at(self.written, data)
        self.written += data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)

    def write_at(self, offset: int, data: bytes | bytearray | memoryview | NDArray[Any]) -> None:
        """Write bytes at an offset, such as into room left by `skip`."""
        if isinstance(data, np.ndarray):
            data = np.ascontiguousarray(data).reshape(-1).view(np.uint8).data
        view = memoryview(data).cast("B")
        if len(view) < 1 << 16:
            self._put(offset, view)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_behind, daemon=True)
            self._thread.start()
        if self._failed is None:
            self._waiting.put((offset, view))
        if self._failed is not None:
            self.flush()

    def skip(self, size: int) -> None:
        """Leave room for `size` bytes that `write_at` fills later."""
        self.written += size

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """Append `size` bytes and return them as a writable mapped array (for results made out of order)."""
        self.flush()
        start = self.written
        os.ftruncate(self.fd, start + size)
        mapped = mmap.mmap(self.fd, start + size)
        self.written += size
        return np.frombuffer(mapped, np.uint8)[start:]

    def flush(self) -> None:
        """Wait until everything is written; raises what went wrong while writing."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None
        if self._failed is not None:
            raise self._failed

    def _put(self, offset: int, view: memoryview) -> None:
        while len(view):
            done = os.pwrite(self.fd, view[: 1 << 30], offset)
            view, offset = view[done:], offset + done

    def _write_behind(self) -> None:
        unsynced = 0
        while (item := self._waiting.get()) is not None:
            if self._failed is not None:
                continue  # keep taking, so that the caller never waits on a full queue
            try:
                self._put(*item)
                unsynced += len(item[1])
                if unsynced >= self._SYNC_EVERY:
                    os.fdatasync(self.fd)
                    unsynced = 0
            except BaseException as error:
                self._failed = error


@contextlib.contextmanager
def create(path: PathLike, *, force: bool = False) -> Iterator[Sink]:
    """Open a new file for writing; it appears under `path` whole when the block ends well, and never otherwise.

    Where the system can, the file has no name until then, so that even a killed process leaves nothing behind.
    Without `force` an existing file is refused, at the start and at the end.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target}: is a directory")
    if not force and os.path.lexists(target):
        raise OutputExistsError(f"{target}: exists already (--force replaces it)")
    folder = target.resolve().parent
    beside = folder / f".{target.name}.{os.getpid()}.part"
    fd, nameless = _open_new(folder, beside)
    sink = Sink(fd, os.fspath(target))
    try:
        try:
            yield sink
        finally:
            sink.flush()
        os.ftruncate(fd, sink.written)
        os.fchmod(fd, 0o666 & ~_umask())
        os.fsync(fd)
        if nameless:
            _name(fd, folder, beside)
        _publish(beside, target.resolve(), force)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _open_new(folder: Path, beside: Path) -> tuple[int, bool]:
    """An unnamed file in `folder` where possible, else the named `beside`; (descriptor, nameless)."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600), True
    return os.open(beside, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600), False


def _name(fd: int, folder: Path, beside: Path) -> None:
    """Give an unnamed file a name. Only with a folder's descriptor does `os.link` follow the link in /proc."""
    beside.unlink(missing_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.link(
            f"/proc/self/fd/{fd}", beside.name, src_dir_fd=handle, dst_dir_fd=handle, follow_symlinks=True
        )
    finally:
        os.close(handle)


def _publish(beside: Path, target: Path, force: bool) -> None:
    if force:
        os.replace(beside, target)
        return
    try:
        os.link(beside, target)  # unlike rename, refuses a name that appeared meanwhile
    except FileExistsError:
        raise OutputExistsError(
            f"{target}: appeared while it was being written (--force replaces it)"
        ) from None
    except OSError:
        os.replace(beside, target)
    else:
        beside.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
