"""Arrays larger than memory: in mapped temporary files, of which a bounded part stays in this process's memory."""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.storage import system
from bgfmt.storage.system import PathLike

__all__ = ["MappedScratch"]

Array = NDArray[Any]
CHECK_SECONDS = 0.02  # between two checks of the memory of this process


class MappedScratch:
    """Allocates arrays in temporary files of a folder. Each is freed with its last use. A context manager.

    Whenever the process takes more than `memory` bytes, the arrays' pages are dropped: they stay in the
    system's cache or are written to the disk, as the system decides, and are read again on use. If the system
    does not report how much memory a process takes, nothing is dropped.
    """

    def __init__(self, folder: PathLike, memory: int) -> None:
        self.folder = os.fspath(folder)
        self.memory = memory
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """Create a zeroed array in a new temporary file; OSError if the disk has too little space for it."""
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        with (
            tempfile.TemporaryFile(dir=self.folder, prefix=".bgfmt-") as file,
            system.report_errors_as(self.folder),
        ):
            system.reserve(file.fileno(), size)
            mapped = mmap.mmap(file.fileno(), size)
        self._maps.add(mapped)
        values: Array = np.frombuffer(mapped, dtype).reshape(shape)
        return values

    def drop_pages(self) -> None:
        """Drop all pages of the arrays made here from this process's memory; their contents stay in the files."""
        for mapped in tuple(self._maps):
            system.drop_pages(mapped)

    def __enter__(self) -> MappedScratch:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()
        self._maps.clear()

    def _watch(self) -> None:
        while not self._ended.wait(CHECK_SECONDS):
            taken = resident_bytes()
            if taken is not None and taken > self.memory:
                self.drop_pages()


def resident_bytes() -> int | None:
    """Return how much memory this process takes now, in bytes, or None if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * mmap.PAGESIZE
