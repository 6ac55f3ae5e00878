"""Where bytes come from: a mapped file, memory, a file read piece by piece, a folder of files.

`Source` is what formats ask for; every class here and every guest's keeps it. Sizes are checked before any value
is read, since touching a map beyond its file ends the process. A map is also lost when someone else cuts the file
short, so a process that serves strangers opens its files with `guard`, which reads instead of mapping.

`mmap.mmap` with `np.frombuffer`, not `np.memmap`: closing a memmap's map under a live view crashes the
interpreter, while `mmap.close()` refuses politely.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self, cast

import numpy as np
from construct import Construct, ConstructError, Container
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, ClosedError, HeaderError, TruncatedError
from bgfmt.storage import system
from bgfmt.storage.system import PathLike
from bgfmt.tables import LazyRows

Piece = bytes | bytearray | memoryview
AT_ONCE = 16 << 20  # arrays of at most this many bytes are read whole where nothing is mapped


class Window(Protocol):
    """All bytes of a source, to be sliced; only what is mapped or in memory is a memoryview as a whole."""

    def __len__(self) -> int: ...
    def __getitem__(self, where: slice, /) -> memoryview: ...


class Source(Protocol):
    """Bytes to read, by offset. A context manager.

    name : what messages call it; path : its file, if it is one; size : bytes it has. A class that derives from this
    one gives `buffer`, `array` and `close`; the other methods follow from them.
    """

    name: str
    path: Path | None
    size: int

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """`Source(path, guard=...)` is `open_source`."""
        if cls is not Source:
            return super().__new__(cls)
        return super().__new__(cast(type[Self], GuardedSource if options.get("guard") else MappedSource))

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

    def facts(self) -> dict[str, Any]:
        """What reading has cost, for `info`; nothing where it costs nothing."""
        return {}

    def whole(self) -> Source:
        """The same bytes at hand, for formats that are not read by range; CapabilityError where that is too much."""
        return self

    def need(self, size: int, what: str = "file") -> None:
        """TruncatedError unless there are at least `size` bytes."""
        if size > self.size:
            raise TruncatedError(self.name, size, self.size, what)

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def bytes(self, offset: int, size: int, what: str = "file") -> bytes:
        """Copy of `size` bytes at `offset`; TruncatedError when the file ends before."""
        self.need(offset + size, what)
        return bytes(self.buffer[offset : offset + size])


def open_source(path: PathLike | BinaryIO, *, guard: bool = False, **options: Any) -> Source:
    """A regular file to read: mapped, or with `guard` read by the piece, so that no one else can end this process.

    An http or https address is read by range, with `options` as `bgfmt.storage.remote` has them; an open binary file
    that can seek is read where it is. OSError for what is no regular file (a folder, a device, a FIFO), at once.
    """
    from bgfmt.storage import readable, remote

    if remote.is_url(path):
        return remote.open_url(str(path), **options)
    if options:
        raise CapabilityError(f"{', '.join(sorted(options))}: options of addresses on the network only")
    if not isinstance(path, (str, os.PathLike)):
        return readable.ReadableSource(path)
    return GuardedSource(path) if guard else MappedSource(path)


class _Whole(Source):
    """A source whose bytes are one memoryview."""

    def __init__(self, view: memoryview, name: str, path: Path | None = None) -> None:
        self.name, self.path, self.size = name, path, len(view)
        self._buffer: memoryview | None = view

    @property
    def buffer(self) -> memoryview:
        if self._buffer is None:
            raise ClosedError(f"{self.name} is closed")
        return self._buffer

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        kind = np.dtype(dtype)
        length = _length(shape)
        self.need(offset + length * kind.itemsize, what)
        if length == 0:
            return np.zeros(shape, kind)
        return np.frombuffer(self.buffer, kind, length, offset).reshape(shape)

    def close(self) -> None:
        if self._buffer is not None:
            view, self._buffer = self._buffer, None
            with contextlib.suppress(BufferError):  # someone still holds a view
                view.release()


class MappedSource(_Whole):
    """A regular file, mapped: nothing is read until it is used."""

    def __init__(self, path: PathLike, *, guard: bool = False) -> None:
        fd = system.open_regular(path)
        try:
            size = os.fstat(fd).st_size
            self._map = mmap.mmap(fd, 0, access=mmap.ACCESS_READ) if size else None
        finally:
            os.close(fd)
        super().__init__(memoryview(self._map if self._map is not None else b""), os.fspath(path), Path(path))

    def release(self) -> None:
        if self._map is not None and self._buffer is not None:
            system.let_go(self._map)

    def close(self) -> None:
        super().close()
        if self._map is not None:
            with contextlib.suppress(BufferError):  # the map closes with the last view
                self._map.close()
            self._map = None


class MemorySource(_Whole):
    """Bytes already in memory."""

    def __init__(self, data: Piece, name: str = "<bytes>") -> None:
        super().__init__(memoryview(data).toreadonly(), name)


class RangeSource(Source):
    """Bytes that come by asking for a range: `read(offset, size)` returns them, fewer only at the end.

    The seam for byte ranges over a network; `GuardedSource` and `FolderSource` are two more. Arrays of up to 16 MB
    are read at once, larger ones become rows on demand.
    """

    def __init__(
        self, name: str, size: int, read: Callable[[int, int], bytes], path: Path | None = None
    ) -> None:
        self.name, self.size, self.path = name, size, path
        self._read: Callable[[int, int], bytes] | None = read

    @property
    def buffer(self) -> Window:
        if self._read is None:
            raise ClosedError(f"{self.name} is closed")
        return _Asked(self)

    def read(self, offset: int, size: int, what: str = "file") -> bytes:
        """`size` bytes from an offset; TruncatedError where the source has become shorter than it was."""
        if self._read is None:
            raise ClosedError(f"{self.name} is closed")
        data = self._read(offset, size)
        if len(data) < size:
            raise TruncatedError(self.name, offset + size, offset + len(data), what)
        return data

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        kind = np.dtype(dtype)
        length = _length(shape)
        self.need(offset + length * kind.itemsize, what)
        if length == 0:
            return np.zeros(shape, kind)
        row = _length(shape[1:]) * kind.itemsize

        def fetch(start: int, stop: int) -> NDArray[Any]:
            data = self.read(offset + start * row, (stop - start) * row, what)
            return np.frombuffer(data, kind).reshape(stop - start, *shape[1:])

        def pick(numbers: NDArray[np.int64]) -> NDArray[Any]:
            rows = np.empty((len(numbers), *shape[1:]), kind)
            order = np.argsort(numbers, kind="stable")
            wanted = numbers[order]
            near = max(1, (1 << 16) // row)  # rows this close are read together
            for group in np.split(order, np.flatnonzero(np.diff(wanted) > near) + 1):
                if len(group):
                    first = int(numbers[group[0]])
                    rows[group] = fetch(first, int(numbers[group[-1]]) + 1)[numbers[group] - first]
            return rows

        if length * kind.itemsize <= AT_ONCE:
            return fetch(0, shape[0])
        return cast(NDArray[Any], LazyRows(shape, kind, fetch, pick))

    def close(self) -> None:
        self._read = None


class GuardedSource(RangeSource):
    """A regular file read by `pread`: when someone cuts it short that is a TruncatedError, not the end of us."""

    def __init__(self, path: PathLike, *, guard: bool = True) -> None:
        self._fd = fd = system.open_regular(path)
        super().__init__(
            os.fspath(path), os.fstat(fd).st_size, lambda at, size: system.read_at(fd, size, at), Path(path)
        )

    def close(self) -> None:
        if self._read is not None:
            super().close()
            os.close(self._fd)

    def __del__(self) -> None:
        if hasattr(self, "_read"):
            self.close()


class FolderSource(RangeSource):
    """A table in several files: the regular files of a folder, one after the other in order of name.

    `files` maps their names to sources of their own; those that begin with a dot, and folders, are left out.
    """

    def __init__(self, path: PathLike, *, guard: bool = False) -> None:
        folder = Path(path)
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file() and entry.name[0] != ".")
        self.files: dict[str, Source] = {}
        try:
            for name in names:
                self.files[name] = open_source(folder / name, guard=guard)
        except BaseException:
            for source in self.files.values():
                source.close()
            raise
        self._parts = list(self.files.values())
        self._begins = [0, *accumulate(source.size for source in self._parts)]
        super().__init__(os.fspath(path), self._begins[-1], self._join, folder)

    def _join(self, offset: int, size: int) -> bytes:
        end, pieces = min(offset + size, self.size), []
        while offset < end:
            k = bisect_right(self._begins, offset) - 1
            at = offset - self._begins[k]
            pieces.append(self._parts[k].bytes(at, min(end - offset, self._parts[k].size - at)))
            offset += len(pieces[-1])
        return b"".join(pieces)

    def release(self) -> None:
        for source in self._parts:
            source.release()

    def close(self) -> None:
        super().close()
        for source in self._parts:
            source.close()


class _Asked:
    """The `Window` of a source that is asked for ranges."""

    def __init__(self, source: RangeSource) -> None:
        self._source = source

    def __len__(self) -> int:
        return self._source.size

    def __getitem__(self, where: slice, /) -> memoryview:
        start, stop, step = where.indices(self._source.size)
        return memoryview(self._source.read(start, max(0, stop - start)))[::step]


def _length(shape: tuple[int, ...]) -> int:
    length = 1
    for axis in shape:
        length *= axis
    return length


def _place(layout: Construct, field: str) -> int:
    """Bytes before a field of a layout of fixed sizes; 0 where that cannot be told."""
    at = 0
    with contextlib.suppress(ConstructError):
        for part in getattr(layout, "subcons", ()):
            if part.name == field:
                return at
            at += part.sizeof()
    return 0
