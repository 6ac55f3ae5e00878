"""Sources that are asked for ranges of bytes: a file read piece by piece, a folder of files, a network's files."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, ClosedError, TruncatedError
from bgfmt.storage import system
from bgfmt.storage.source import MappedSource, Source, Window, length_of
from bgfmt.storage.system import PathLike
from bgfmt.tables.rows import LazyRows, Rows, wrapped

AT_ONCE = 16 << 20  # arrays of at most this many bytes are read whole
NEAR = 1 << 12  # records that lie this close are read together
#: of addresses on the network, see `bgfmt.storage.remote.open_url`
REMOTE_OPTIONS = frozenset({"page_bytes", "cache_pages", "whole_bytes", "timeout", "retries", "headers"})


def is_url(path: Any) -> bool:
    """Whether a path is an address of a web server."""
    return isinstance(path, str) and re.match(r"https?://", path, re.IGNORECASE) is not None


def open_source(path: PathLike | BinaryIO, *, guard: bool = False, **options: Any) -> Source:
    """A regular file to read: mapped, or with `guard` read by the piece, so that no one else can end this process.

    An http or https address is read by range, with `options` as `bgfmt.storage.remote` has them; an open binary file
    that can seek is read where it is; a store of chunks gives its description. OSError for what is no regular file
    (a folder, a device, a FIFO), at once.
    """
    from bgfmt.storage import chunks

    if not options and chunks.is_store(path):
        return chunks.StoreSource(path)  # type: ignore[arg-type]
    if is_url(path):
        from bgfmt.storage import remote

        return remote.open_url(str(path), **options)
    if options:
        raise CapabilityError(f"{', '.join(sorted(options))}: options of addresses on the network only")
    if not isinstance(path, (str, os.PathLike)):
        from bgfmt.storage import readable

        return readable.ReadableSource(path)
    return GuardedSource(path) if guard else MappedSource(path)


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
        length = length_of(shape)
        self.need(offset + length * kind.itemsize, what)
        if length == 0:
            return np.zeros(shape, kind)
        rows = RangeRows(self, kind, shape, offset)
        return np.asarray(rows) if length * kind.itemsize <= AT_ONCE else cast(NDArray[Any], rows)

    def pick(self, offset: int, width: int, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Records of `width` bytes from `offset` on by number, (N, width), in the order asked."""
        out = np.empty((len(numbers), width), np.uint8)
        order = np.argsort(numbers, kind="stable")
        near = max(1, NEAR // width)
        for group in np.split(order, np.flatnonzero(np.diff(numbers[order]) > near) + 1):
            if len(group):
                first, last = int(numbers[group[0]]), int(numbers[group[-1]])
                data = self.read(offset + first * width, (last + 1 - first) * width)
                out[group] = np.frombuffer(data, np.uint8).reshape(-1, width)[numbers[group] - first]
        return out

    def close(self) -> None:
        self._read = None


class RangeRows(LazyRows):
    """An array of a source that is asked for ranges: rows and records are read when they are asked for."""

    def __init__(
        self, source: RangeSource, dtype: np.dtype[Any], shape: tuple[int, ...], offset: int
    ) -> None:
        self._source, self._offset = source, offset
        row = length_of(shape[1:]) * dtype.itemsize

        def fetch(start: int, stop: int) -> NDArray[Any]:
            data = source.read(offset + start * row, (stop - start) * row)
            return np.frombuffer(data, dtype).reshape(stop - start, *shape[1:])

        def pick(numbers: NDArray[np.int64]) -> NDArray[Any]:
            data = source.pick(offset, row, np.asarray(numbers, np.int64))
            return data.view(dtype).reshape(len(numbers), *shape[1:])

        super().__init__(shape, dtype, fetch, pick)

    @property
    def nbytes(self) -> int:
        """Bytes it takes in the file."""
        return length_of(self.shape) * self.dtype.itemsize

    def __getitem__(self, key: Any, /) -> Any:
        """As of an ndarray; one entry, or arrays of entries, along the first two axes fetch these records alone."""
        if (
            isinstance(key, tuple)
            and len(key) == 2
            and len(self.shape) == 3
            and type(key[0]) is type(key[1]) is int
        ):
            us, them = key
            if (
                0 <= us < self.shape[0] and 0 <= them < self.shape[1]
            ):  # a single look-up, without arrays of one
                width = self.shape[2] * self.dtype.itemsize
                data = self._source.read(self._offset + (us * self.shape[1] + them) * width, width)
                return np.frombuffer(data, self.dtype)
        if (
            isinstance(key, tuple)
            and len(self.shape) > 2
            and len(key) >= 2
            and _numbers(key[0])
            and _numbers(key[1])
        ):
            us, them = np.broadcast_arrays(
                *(wrapped(k, n) for k, n in zip(key[:2], self.shape[:2], strict=True))
            )
            width = length_of(self.shape[2:]) * self.dtype.itemsize
            flat = (us.astype(np.int64) * self.shape[1] + them).reshape(-1)
            found = self._source.pick(self._offset, width, flat).view(self.dtype)
            rows = found.reshape(*us.shape, *self.shape[2:])
            return rows[(..., *key[2:])] if len(key) > 2 else rows
        if (
            isinstance(key, tuple)
            and len(self.shape) == 2
            and len(key) == 2
            and key[0] == slice(None)
            and isinstance(key[1], slice)
        ):
            return _columns(self, key[1])
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu":
            assert self._pick is not None
            rows = self._pick(wrapped(key, len(self)).reshape(-1))
            return rows.reshape(*key.shape, *self.shape[1:])
        return super().__getitem__(key)


def _columns(rows: Rows, columns: slice) -> LazyRows:
    """Some columns of two-dimensional rows, still on demand."""
    width = len(range(*columns.indices(rows.shape[1])))
    return LazyRows(
        (rows.shape[0], width), rows.dtype, lambda a, b: rows[a:b][:, columns], lambda k: rows[k][:, columns]
    )


def _numbers(key: Any) -> bool:
    return isinstance(key, (int, np.integer)) or (
        isinstance(key, (np.ndarray, list)) and np.asarray(key).dtype.kind in "iu"
    )


class GuardedSource(RangeSource):
    """A regular file read by `pread`: when someone cuts it short that is a TruncatedError, not the end of us."""

    def __init__(self, path: PathLike) -> None:
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
    """A table in several files of a folder, one after the other.

    names : of the files, in order; by default all regular files by name, without those that begin with a dot.
    `files` maps names to sources of their own.
    """

    def __init__(self, path: PathLike, names: Sequence[str] | None = None, *, guard: bool = False) -> None:
        folder = Path(path)
        if names is None:
            found = (entry for entry in os.scandir(folder) if entry.is_file() and entry.name[0] != ".")
            names = sorted(entry.name for entry in found)
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
