"""A new folder of files that appears under its name whole, or not at all."""

from __future__ import annotations

import contextlib
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from bgfmt.errors import CapabilityError, OutputExistsError
from bgfmt.storage import replacing, system
from bgfmt.storage.draft import check_output
from bgfmt.storage.sink import Data, FileSink, _Held, view_of
from bgfmt.storage.system import PathLike


class FolderSink(_Held):
    """Files of given sizes, one after the other, as one sink."""

    def __init__(self, parts: Sequence[FileSink], sizes: Sequence[int], name: str) -> None:
        super().__init__(name)
        self._parts = parts
        self._begins = [0, *accumulate(sizes)]

    def write_at(self, offset: int, data: Data) -> None:
        view = view_of(data)
        if offset + len(view) > self._begins[-1]:
            raise CapabilityError(f"{self.name}: its files have room for {self._begins[-1]:,} bytes")
        while len(view):
            k = bisect_right(self._begins, offset) - 1
            size = min(len(view), self._begins[k + 1] - offset)
            self._parts[k].write_at(offset - self._begins[k], view[:size])
            view, offset = view[size:], offset + size

    def flush(self) -> None:
        super().flush()
        for part in self._parts:
            part.flush()


@contextlib.contextmanager
def create_folder(
    path: PathLike, files: Sequence[tuple[str, int]], *, force: bool = False
) -> Iterator[FolderSink]:
    """A new folder with files of these names and sizes; it appears when the block ends well, and never otherwise.

    Until then it has a hidden name beside `path`; what a killed process left there is removed by the next one that
    makes the same folder. With `force` a folder that is there is replaced if it holds nothing but such files.
    """
    target = Path(path).resolve()
    replacing.settle(path)
    _check(path, target, {name for name, _ in files}, force)
    fds: list[int] = []
    with replacing.new_folder(path, force=force) as hidden:
        try:
            with system.said_of(path):
                for name, size in files:
                    fds.append(os.open(hidden / name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
                    os.ftruncate(fds[-1], size)
            parts = [FileSink(fd, os.path.join(path, name)) for fd, (name, _) in zip(fds, files, strict=True)]
            sink = FolderSink(parts, [size for _, size in files], os.fspath(path))
            try:
                yield sink
            finally:
                sink.flush()
            with system.said_of(path):
                for fd in fds:
                    os.fsync(fd)
        finally:
            for fd in fds:
                os.close(fd)


def _check(path: PathLike, target: Path, names: set[str], force: bool) -> None:
    """Say before any work why a folder cannot appear there."""
    if not target.is_dir():
        if target.exists():
            raise OutputExistsError(f"{os.fspath(path)}: is a file; these tables are folders of files")
        check_output(path, force=force)
        return
    if not force:
        raise OutputExistsError(f"{os.fspath(path)}: exists already")
    others = sorted(entry.name for entry in os.scandir(target) if entry.name not in names)
    if others:
        raise OutputExistsError(f"{os.fspath(path)}: holds {others[0]}, and is not replaced")
    check_output(target / next(iter(names)), force=True)
