"""Sources of bytes: the interface, and sources that are mapped, in memory or read by range.

Formats read from a `Source`; every class here, and those of plugins, implement it. Sizes are checked before any
value is read, since access to a map beyond the end of its file kills the process. The same happens if another
process truncates the file, so a server opens its files with `guard`, which reads instead of mapping.

`mmap.mmap` with `np.frombuffer`, not `np.memmap`: closing a memmap's map under a live view crashes the
interpreter, while `mmap.close()` refuses.
"""

from __future__ import annotations

import contextlib
import errno
import io
import mmap
import os
import re
import signal
import stat
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Protocol, Self, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from bgfmt import errors
from bgfmt.errors import CapabilityError, ClosedError, TruncatedError
from bgfmt.storage import system
from bgfmt.storage.system import PathLike
from bgfmt.tables.registry import Registry
from bgfmt.tables.rows import LazyRows

__all__ = [
    "LocalCopy",
    "MappedSource",
    "MemorySource",
    "Progress",
    "RangeSource",
    "Scheme",
    "Source",
    "SourceFile",
    "is_address",
    "is_url",
    "open_regular",
    "open_source",
    "require_regular",
    "source_options",
]


Piece = bytes | bytearray | memoryview
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
Progress = Callable[[int, int], None]


def require_regular(status: os.stat_result, name: str) -> None:
    """Raise an OSError unless `status` is that of a regular file; `name` is the file's name in the message."""
    if stat.S_ISDIR(status.st_mode):
        text = "is a folder, not a regular file (FOLDER/* names its files)"
        raise IsADirectoryError(errno.EISDIR, text, name)
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise OSError(errno.EINVAL, f"is {kind}, not a regular file", name)


def open_regular(path: PathLike, flags: int = os.O_RDONLY) -> int:
    """Open an existing regular file; return its descriptor.

    OSError at once for anything else: a FIFO does not block.
    """
    name = os.fspath(path)
    require_regular(os.stat(name), name)
    for flag in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    fd = os.open(name, flags)
    try:
        require_regular(os.fstat(fd), name)
    except BaseException:
        os.close(fd)
        raise
    return fd


class Window(Protocol):
    """All bytes of a source, to be sliced; only what is mapped or in memory is a memoryview as a whole."""

    def __len__(self) -> int: ...
    def __getitem__(self, where: slice, /) -> memoryview: ...


class Source(Protocol):
    """Bytes to read, by offset. A context manager.

    name : its name in messages; path : its file, if it is one; size : its size in bytes. A class that derives
    from this one implements `buffer`, `array` and `close`; the other methods follow from them. far : whether
    reading new bytes costs a request to a server.
    """

    far: bool = False
    name: str
    path: Path | None
    size: int

    @staticmethod
    def from_bytes(data: Piece, name: str = "<bytes>") -> Source:
        """Return a source of bytes in memory, `MemorySource(data, name)`."""
        return MemorySource(data, name)

    @property
    def buffer(self) -> Window:
        """All bytes, to be sliced; ClosedError once closed."""
        ...

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        """Return a read-only array of the bytes at an offset: a view, a copy, or a `LazyRows`.

        The last if it is large and the source is not mapped. what : what the bytes are, in the message of a
        TruncatedError.
        """
        ...

    def close(self) -> None:
        """Close the source. Arrays already returned stay valid, except lazy ones."""
        ...

    def release(self) -> None:
        """Drop mapped pages from this process's memory, to keep it bounded; they stay in the system's cache."""
        return

    def prefetch(self, parts: Sequence[tuple[int, int]]) -> None:
        """Start to read parts (start, size) in the background: a disk loads them, a server is asked at once."""
        return

    def facts(self) -> dict[str, Any]:
        """Return what reading has cost so far (requests, bytes), by name, for `bgfmt info`; empty if nothing."""
        return {}

    def read_whole(self) -> Source:
        """Return a source of the same bytes in memory, for formats that cannot be read by range.

        CapabilityError if there are too many bytes.
        """
        return self

    def local(self, progress: Progress | None = None) -> Source:
        """Return a source of the same bytes for random access.

        Those of a web server are downloaded to a temporary file.

        progress : called with (bytes copied, bytes in all).
        """
        return self

    def need(self, size: int, what: str = "file") -> None:
        """Raise a TruncatedError unless there are at least `size` bytes; `what` names them in the message."""
        if size > self.size:
            raise TruncatedError(self.name, size, self.size, what)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def bytes(self, offset: int, size: int, what: str = "file") -> bytes:
        """Return a copy of `size` bytes at `offset`; TruncatedError if the file ends before.

        what : what the bytes are, in the message of the error.
        """
        self.need(offset + size, what)
        return bytes(self.buffer[offset : offset + size])


class MemorySource(Source):
    """Bytes in memory, or mapped, as one memoryview."""

    def __init__(self, data: Any, name: str = "<bytes>", path: Path | None = None) -> None:
        self._buffer: memoryview | None = memoryview(data).toreadonly()
        self.name, self.path, self.size = name, path, len(self._buffer)

    @property
    def buffer(self) -> memoryview:
        if self._buffer is None:
            raise ClosedError(f"{self.name} is closed")
        return self._buffer

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        kind = np.dtype(dtype)
        length = prod(shape)
        self.need(offset + length * kind.itemsize, what)
        return np.frombuffer(self.buffer, kind, length, offset if length else 0).reshape(shape)

    def close(self) -> None:
        if self._buffer is not None:
            view = self._buffer
            self._buffer = None
            with contextlib.suppress(BufferError):  # someone still holds a view
                view.release()


class MappedSource(MemorySource):
    """A mapped regular file: nothing is read until it is used.

    If `fd` is given it is mapped, and `path` only names it.
    """

    def __init__(self, path: PathLike, fd: int | None = None) -> None:
        at = open_regular(path) if fd is None else fd
        try:
            size = os.fstat(at).st_size
            self._map = mmap.mmap(at, 0, access=mmap.ACCESS_READ) if size else None
        finally:
            if fd is None:
                os.close(at)
        super().__init__(b"" if self._map is None else self._map, os.fspath(path), Path(path))
        _note_map(self)

    def release(self) -> None:
        if self._map is not None and self._buffer is not None:
            system.drop_pages(self._map)

    def prefetch(self, parts: Sequence[tuple[int, int]]) -> None:
        if self._map is not None and self._buffer is not None:
            for start, size in parts:
                system.will_need(self._map, start, min(size, self.size - start))

    def close(self) -> None:
        super().close()
        if self._map is not None:
            with contextlib.suppress(BufferError):  # the map closes with the last view
                self._map.close()
            self._map = None


# If a mapped file is truncated, or its disk fails, the system sends SIGBUS. Python cannot make that an exception,
# since the faulting instruction would be repeated; a command names the file and ends with its exit code.
_mapped: WeakSet[MappedSource] = WeakSet()
_handler: Any = None  # kept, since the system calls it


def _note_map(source: MappedSource) -> None:
    """Record a mapped file; the first one of a command installs the handler of SIGBUS."""
    global _handler  # noqa: PLW0603
    _mapped.add(source)
    if errors.end_lost is None or _handler is not None or not hasattr(signal, "SIGBUS"):
        return
    import ctypes  # slow

    _handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(_lose)
    ctypes.CDLL(None).signal(int(signal.SIGBUS), _handler)


def _lose(_: int) -> None:
    """End the process with a message that names the mapped file that was truncated, if there is one."""
    assert errors.end_lost is not None
    for source in list(_mapped):
        try:
            shorter = source.path is not None and os.stat(source.path).st_size < source.size
        except OSError:
            shorter = True
        if shorter:
            errors.end_lost(source.name)
    errors.end_lost("")


class SourceFile(io.RawIOBase):
    """The bytes of a source from `offset` on, as a seekable file object for reading."""

    def __init__(self, source: Source, offset: int) -> None:
        self._source = source
        self._start = offset
        self._at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._at, self._source.size - self._start)[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, out: Any) -> int:
        begin = self._start + self._at
        data = self._source.buffer[begin : begin + len(out)]
        out[: len(data)] = data
        self._at += len(data)
        return len(data)


COPY_STEP = 8 << 20


class LocalCopy(MappedSource):
    """A copy of a source in a temporary file, which is deleted when this is closed."""

    def __init__(self, source: Source, progress: Progress | None = None) -> None:
        with system.report_errors_as(tempfile.gettempdir()), tempfile.TemporaryFile(prefix="bgfmt-") as file:
            system.reserve(file.fileno(), source.size)
            for start in range(0, source.size, COPY_STEP):
                end = min(start + COPY_STEP, source.size)
                system.write_at(file.fileno(), source.buffer[start:end], start)
                if progress is not None:
                    progress(end, source.size)
            super().__init__(source.name, file.fileno())
        self.path = None


# ---- sources read by range

MERGE_GAP_BYTES = 1 << 12  # records this close together are read at once


@dataclass(frozen=True)
class Scheme:
    """How addresses of one kind are opened; an entry point of the group `bgfmt.sources`, by the scheme.

    The name "folder" is that of folders, "any" that of addresses whose scheme has no entry point of its own.

    open : called with the path and the options; returns the source, or None to treat the path as a regular file.
    options : names of the keyword arguments that `open` takes.
    """

    open: Callable[..., Source | None]
    options: frozenset[str] = frozenset()


SCHEMES: Registry[Scheme] = Registry("bgfmt.sources")


def is_address(path: object) -> bool:
    """Return whether a path is an address with a scheme, such as ``https://host/name`` or ``s3://bucket/name``."""
    return isinstance(path, str) and "://" in path


def is_url(path: Any) -> bool:
    """Return whether a path is an http or https address."""
    return isinstance(path, str) and re.match(r"https?://", path, re.IGNORECASE) is not None


def source_options() -> frozenset[str]:
    """Return the names of all options that `open_source` passes on to what opens an address."""
    return frozenset().union(*(scheme.options for scheme in SCHEMES.values()))


def open_source(path: PathLike | BinaryIO, *, guard: bool = False, **options: Any) -> Source:
    """Open a file, folder or address as a source of bytes.

    A regular file is mapped, or with `guard` read with `pread`, so that another process that truncates it
    cannot kill this one. An address and a folder are opened by the entry points `bgfmt.sources`, an address with
    `options`; an open seekable binary file is read as it is. OSError at once for anything that is not a regular
    file (a folder that is no store, a device, a FIFO); CapabilityError for an address that nothing opens.
    """
    scheme = None
    address = is_address(path)
    if address:
        name = str(path).partition("://")[0].lower()
        scheme = SCHEMES.get(name) or SCHEMES.get("any")
        if scheme is None:
            raise CapabilityError(f"{path}: no installed package reads {name}:// addresses")
    elif isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        scheme = SCHEMES.get("folder")
    foreign = options.keys() - (scheme.options if address and scheme is not None else frozenset())
    if foreign:
        raise CapabilityError(f"{', '.join(sorted(foreign))}: only network addresses take these options")
    if scheme is not None:
        source = scheme.open(path, **options)
        if source is not None:
            return source
    if not isinstance(path, (str, os.PathLike)):
        return ReadableSource(path)
    return GuardedSource(path) if guard else MappedSource(path)


class RangeSource(Source):
    """A source read by range: `read(offset, size)` returns those bytes, fewer only at the end of the source.

    Base class for byte ranges over a network, and for `GuardedSource`.
    """

    max_eager_bytes = 16 << 20  # larger arrays become rows on demand

    def __init__(
        self, name: str, size: int, read: Callable[[int, int], bytes], path: Path | None = None
    ) -> None:
        self.name = name
        self.size = size
        self.path = path
        self._read: Callable[[int, int], bytes] | None = read

    @property
    def buffer(self) -> Window:
        if self._read is None:
            raise ClosedError(f"{self.name} is closed")
        return self

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, where: slice, /) -> memoryview:
        start, stop, step = where.indices(self.size)
        return memoryview(self.read(start, max(0, stop - start)))[::step]

    def read(self, offset: int, size: int, what: str = "file") -> bytes:
        """Read `size` bytes from an offset; TruncatedError if the source has become shorter than it was.

        what : what the error says is cut short.
        """
        if self._read is None:
            raise ClosedError(f"{self.name} is closed")
        data = self._read(offset, size)
        if len(data) < size:
            raise TruncatedError(self.name, offset + size, offset + len(data), what)
        return data

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        kind: np.dtype[Any] = np.dtype(dtype)
        whole, row, record = (prod(shape[axis:]) * kind.itemsize for axis in range(3))
        self.need(offset + whole, what)

        def fetch(start: int, stop: int) -> NDArray[Any]:
            data = self.read(offset + start * row, (stop - start) * row)
            return np.frombuffer(data, kind).reshape(stop - start, *shape[1:])

        def pick(numbers: NDArray[np.int64]) -> NDArray[Any]:
            return self.pick(offset, row, numbers).view(kind).reshape(len(numbers), *shape[1:])

        def pairs(us: NDArray[np.int64], them: NDArray[np.int64]) -> NDArray[Any]:
            return self.pick(offset, record, us * shape[1] + them).view(kind)

        rows = LazyRows(shape, kind, fetch, pick, pairs)
        return np.asarray(rows) if whole <= self.max_eager_bytes else cast(NDArray[Any], rows)

    def pick(self, offset: int, width: int, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Read records by number, in the order given: uint8 of shape (N, width).

        Record k has the `width` bytes from offset + k * width on. Records close together are read at once.
        """
        out = np.empty((len(numbers), width), np.uint8)
        order = np.argsort(numbers, kind="stable")
        near = max(1, MERGE_GAP_BYTES // width)
        for group in np.split(order, np.flatnonzero(np.diff(numbers[order]) > near) + 1):
            if len(group):
                first = int(numbers[group[0]])
                last = int(numbers[group[-1]])
                data = self.read(offset + first * width, (last + 1 - first) * width)
                out[group] = np.frombuffer(data, np.uint8).reshape(-1, width)[numbers[group] - first]
        return out

    def close(self) -> None:
        self._read = None


class GuardedSource(RangeSource):
    """A regular file read with `pread`, not mapped.

    If another process truncates it, a TruncatedError is raised, while access to a map would kill the process
    (SIGBUS).
    """

    def __init__(self, path: PathLike) -> None:
        self._fd = fd = open_regular(path)
        size = os.fstat(fd).st_size
        super().__init__(os.fspath(path), size, lambda at, size: system.read_at(fd, size, at), Path(path))

    def close(self) -> None:
        if self._read is not None:
            super().close()
            os.close(self._fd)

    def __del__(self) -> None:
        if hasattr(self, "_read"):
            self.close()


class ReadableSource(RangeSource):
    """The bytes of an open seekable binary file. It is not closed here but by the caller who opened it."""

    def __init__(self, file: BinaryIO) -> None:
        if not (hasattr(file, "read") and hasattr(file, "seek")):
            raise TypeError(f"expected a path, an address or an open binary file, not {type(file).__name__}")
        self._file = file
        self._lock = Lock()
        name = getattr(file, "name", None)
        super().__init__(name if isinstance(name, str) else "<file>", file.seek(0, io.SEEK_END), self._at)

    def local(self, progress: Progress | None = None) -> Source:
        return LocalCopy(self, progress)

    def _at(self, offset: int, size: int) -> bytes:
        with self._lock:
            self._file.seek(offset)
            data = self._file.read(size)
        if not isinstance(data, bytes):
            raise TypeError(f"{self.name}: the file must be opened in binary mode")
        return data
