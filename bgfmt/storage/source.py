"""Where bytes come from: what every source promises, and sources that are mapped, in memory or asked for ranges.

`Source` is what formats ask for; every class here and every guest's keeps it. Sizes are checked before any value
is read, since touching a map beyond its file ends the process. A map is also lost when someone else cuts the file
short, so a server opens its files with `guard`, which reads instead of mapping.

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
from itertools import takewhile
from math import prod
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, Self, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from bgfmt import errors
from bgfmt.errors import CapabilityError, ClosedError, FormatError, HeaderError, TruncatedError
from bgfmt.storage import system
from bgfmt.storage.system import PathLike
from bgfmt.tables.rows import LazyRows

if TYPE_CHECKING:
    from construct import Construct, Container

Piece = bytes | bytearray | memoryview
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
Progress = Callable[[int, int], None]


def require_regular(status: os.stat_result, name: str) -> None:
    """OSError unless the status is that of a regular file."""
    if stat.S_ISDIR(status.st_mode):
        text = "is a folder, not a regular file (FOLDER/* names its files)"
        raise IsADirectoryError(errno.EISDIR, text, name)
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise OSError(errno.EINVAL, f"is {kind}, not a regular file", name)


def open_regular(path: PathLike, flags: int = os.O_RDONLY) -> int:
    """Descriptor of an existing regular file. Anything else is refused at once: a FIFO does not make us wait."""
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

    name : what messages call it; path : its file, if it is one; size : bytes it has. A class that derives from this
    one gives `buffer`, `array` and `close`; the other methods follow from them. far : whether bytes that were not
    read before cost a request to a server.
    """

    far: bool = False
    name: str
    path: Path | None
    size: int

    @staticmethod
    def from_bytes(data: Piece, name: str = "<bytes>") -> Source:
        """`MemorySource(data, name)`."""
        return MemorySource(data, name)

    @property
    def buffer(self) -> Window:
        """All bytes, to be sliced; ClosedError once closed."""
        ...

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        """Read-only array at an offset: a view, or a copy, or (large, and nothing mapped) `LazyRows`."""
        ...

    def close(self) -> None:
        """Let go of the bytes. Arrays already handed out keep theirs, lazy ones excepted."""
        ...

    def release(self) -> None:
        """Let mapped pages go from this process (they stay in the system's cache), to keep memory bounded."""
        return

    def soon(self, parts: Sequence[tuple[int, int]]) -> None:
        """(start, size) of bytes that will be asked for: a disk reads them ahead, a server is asked at once."""
        return

    def facts(self) -> dict[str, Any]:
        """What reading has cost, for `info`; nothing where it costs nothing."""
        return {}

    def whole(self) -> Source:
        """The same bytes at hand, for formats that are not read by range; CapabilityError where that is too much."""
        return self

    def local(self, progress: Progress | None = None) -> Source:
        """The same bytes to be read in any order; those of a web server are brought to a file without a name.

        progress : called with (bytes brought, bytes in all).
        """
        return self

    def need(self, size: int, what: str = "file") -> None:
        """TruncatedError unless there are at least `size` bytes."""
        if size > self.size:
            raise TruncatedError(self.name, size, self.size, what)

    def header(self, layout: Construct, size: int, offset: int = 0) -> Container[Any]:
        """Parse `size` header bytes by a construct layout; HeaderError names the field that does not fit."""
        from construct import ConstructError  # here, for the most common formats have no such layout

        data = self.bytes(offset, size, "header")
        try:
            return layout.parse(data)
        except (ConstructError, ValueError) as error:
            field = str(getattr(error, "path", "") or "header").split("->")[-1].strip()
            reason = str(error).splitlines()[-1] if str(error) else "a valid header"
            said = re.fullmatch(r"parsing expected (.*) but parsed (.*)", reason)
            expected, found = said.groups() if said else (reason, data[:24])
            before = takewhile(lambda part: part.name != field, getattr(layout, "subcons", ()))
            place = sum(part.sizeof() for part in before) if field != "header" else 0
            raise HeaderError(self.name, field, offset + place, expected, found) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def bytes(self, offset: int, size: int, what: str = "file") -> bytes:
        """Copy of `size` bytes at `offset`; TruncatedError when the file ends before."""
        self.need(offset + size, what)
        return bytes(self.buffer[offset : offset + size])


class MemorySource(Source):
    """Bytes already in memory, or mapped, as one memoryview."""

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
    """A regular file, mapped: nothing is read until it is used. With `fd`, that file, which `path` only names."""

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
            system.let_go(self._map)

    def soon(self, parts: Sequence[tuple[int, int]]) -> None:
        if self._map is not None and self._buffer is not None:
            for start, size in parts:
                system.will_need(self._map, start, min(size, self.size - start))

    def close(self) -> None:
        super().close()
        if self._map is not None:
            with contextlib.suppress(BufferError):  # the map closes with the last view
                self._map.close()
            self._map = None


# Where a mapped file is cut short, or its disk fails, the system sends SIGBUS. Python can't make that an exception,
# since the faulting instruction would be repeated; a command says which file it was and ends with its exit code.
_mapped: WeakSet[MappedSource] = WeakSet()
_handler: Any = None  # kept, since the system calls it


def _note_map(source: MappedSource) -> None:
    """Remember a mapped file; the first one of a command installs the handler."""
    global _handler  # noqa: PLW0603
    _mapped.add(source)
    if errors.end_lost is None or _handler is not None or not hasattr(signal, "SIGBUS"):
        return
    import ctypes  # slow

    _handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(_lose)
    ctypes.CDLL(None).signal(int(signal.SIGBUS), _handler)


def _lose(_: int) -> None:
    """End the process, with the name of the mapped file that is shorter than it was, if there is one."""
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
    """The bytes of a source from `offset` on, as a file that can seek and be read."""

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
    """A copy of a source on the disk for temporary files, which is gone once this is closed."""

    def __init__(self, source: Source, progress: Progress | None = None) -> None:
        with system.said_of(tempfile.gettempdir()), tempfile.TemporaryFile(prefix="bgfmt-") as file:
            system.reserve(file.fileno(), source.size)
            for start in range(0, source.size, COPY_STEP):
                end = min(start + COPY_STEP, source.size)
                system.write_at(file.fileno(), source.buffer[start:end], start)
                if progress is not None:
                    progress(end, source.size)
            super().__init__(source.name, file.fileno())
        self.path = None


# ---- sources that are asked for ranges of bytes

NEAR = 1 << 12  # records that lie this close are read together
#: of addresses on the network, see `bgfmt.storage.remote.open_url`
REMOTE_OPTIONS = frozenset(
    {"page_bytes", "cache_pages", "whole_bytes", "timeout", "retries", "headers", "cache"}
)


def is_url(path: Any) -> bool:
    """Whether a path is an address of a web server."""
    return isinstance(path, str) and re.match(r"https?://", path, re.IGNORECASE) is not None


def open_source(path: PathLike | BinaryIO, *, guard: bool = False, **options: Any) -> Source:
    """A regular file to read: mapped, or with `guard` read by the piece, so that no one else can end this process.

    An http or https address is read by range, with `options` as `bgfmt.storage.remote` has them; an open binary file
    that can seek is read where it is; a store of chunks gives its description. OSError for what is no regular file
    (a folder, a device, a FIFO), at once.
    """
    if is_url(path):
        from bgfmt.storage import remote

        return remote.open_url(str(path), **options)
    if options:
        raise CapabilityError(f"{', '.join(sorted(options))}: options of addresses on the network only")
    if not isinstance(path, (str, os.PathLike)):
        return ReadableSource(path)
    if "://" in os.fspath(path) or os.path.isdir(path):
        from bgfmt.storage import chunks

        if chunks.is_store(path):
            return chunks.StoreSource(path)
        if chunks.has_arrays(path):
            raise FormatError(
                f"{os.fspath(path)}: there is no {chunks.ROOT}, which describes a store of chunks"
            )
    return GuardedSource(path) if guard else MappedSource(path)


class RangeSource(Source):
    """Bytes that come by asking for a range: `read(offset, size)` returns them, fewer only at the end.

    The seam for byte ranges over a network; `GuardedSource` is another.
    """

    at_once = 16 << 20  # bytes up to which an array is read whole; a larger one becomes rows on demand

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
        """`size` bytes from an offset; TruncatedError where the source has become shorter than it was."""
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
        return np.asarray(rows) if whole <= self.at_once else cast(NDArray[Any], rows)

    def pick(self, offset: int, width: int, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Records of `width` bytes from `offset` on by number, (N, width), in the order asked."""
        out = np.empty((len(numbers), width), np.uint8)
        order = np.argsort(numbers, kind="stable")
        near = max(1, NEAR // width)
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
    """A regular file read by `pread`: where someone cuts it short that is a TruncatedError, not the process's end."""

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
    """The bytes of an open binary file that can seek. It is not closed here: who opened it closes it."""

    def __init__(self, file: BinaryIO) -> None:
        if not (hasattr(file, "read") and hasattr(file, "seek")):
            raise TypeError(f"a path, an address or an open binary file is needed, not {type(file).__name__}")
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
            raise TypeError(f"{self.name}: the file is not open for bytes")
        return data
