"""Where bytes come from: what every source promises, a mapped file, memory. See `bgfmt.storage.ranges` for others.

`Source` is what formats ask for; every class here and every guest's keeps it. Sizes are checked before any value
is read, since touching a map beyond its file ends the process. A map is also lost when someone else cuts the file
short, so a process that serves strangers opens its files with `guard`, which reads instead of mapping.

`mmap.mmap` with `np.frombuffer`, not `np.memmap`: closing a memmap's map under a live view crashes the
interpreter, while `mmap.close()` refuses.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from construct import Construct, ConstructError, Container
from numpy.typing import NDArray

from bgfmt.errors import ClosedError, HeaderError, TruncatedError
from bgfmt.storage import system
from bgfmt.storage.system import PathLike

Piece = bytes | bytearray | memoryview
Progress = Callable[[int, int], None]


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

    def soon(self, start: int, size: int) -> None:
        """Bytes that will be asked for: where a disk has them it reads them ahead, those alone."""
        return

    def facts(self) -> dict[str, Any]:
        """What reading has cost, for `info`; nothing where it costs nothing."""
        return {}

    def whole(self) -> Source:
        """The same bytes at hand, for formats that are not read by range; CapabilityError where that is too much."""
        return self

    def local(self, progress: Progress | None = None) -> Source:
        """The same bytes to be read in any order; from afar they are brought to a file without a name.

        progress : called with (bytes brought, bytes in all).
        """
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
        length = length_of(shape)
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
    """A regular file, mapped: nothing is read until it is used. With `fd`, that file, which `path` only names."""

    def __init__(self, path: PathLike, fd: int | None = None) -> None:
        at = system.open_regular(path) if fd is None else fd
        try:
            size = os.fstat(at).st_size
            self._map = mmap.mmap(at, 0, access=mmap.ACCESS_READ) if size else None
        finally:
            if fd is None:
                os.close(at)
        super().__init__(memoryview(self._map if self._map is not None else b""), os.fspath(path), Path(path))

    def release(self) -> None:
        if self._map is not None and self._buffer is not None:
            system.let_go(self._map)

    def soon(self, start: int, size: int) -> None:
        if self._map is not None and self._buffer is not None:
            system.will_need(self._map, start, min(size, self.size - start))

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


def length_of(shape: tuple[int, ...]) -> int:
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
