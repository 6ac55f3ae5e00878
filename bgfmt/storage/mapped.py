"""Arrays larger than memory: in mapped files without a name, of which a bounded part stays with this process."""

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

Array = NDArray[Any]
EVERY = 0.02  # seconds between two looks at how much memory is taken


class MappedRoom:
    """Room for arrays in a folder. Each is gone with its last use, and all are when it is closed. A context manager.

    Whenever the process takes more than `memory` bytes, the arrays' pages are let go: they stay in the system's
    cache or go to the disk, whichever the system chooses, and come back when they are used. Where the system does
    not say how much a process takes, nothing is let go.
    """

    def __init__(self, folder: PathLike, memory: int) -> None:
        self.folder = os.fspath(folder)
        self.memory = memory
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """A zeroed array; OSError where the disk has no room for it."""
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        with tempfile.TemporaryFile(dir=self.folder, prefix=".bgfmt-") as file, system.said_of(self.folder):
            system.reserve(file.fileno(), size)
            mapped = mmap.mmap(file.fileno(), size)
        self._maps.add(mapped)
        values: Array = np.frombuffer(mapped, dtype).reshape(shape)
        return values

    def let_go(self) -> None:
        """Let all pages go now."""
        for mapped in tuple(self._maps):
            system.let_go(mapped)

    def __enter__(self) -> MappedRoom:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()
        self._maps.clear()

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            taken = taken_memory()
            if taken is not None and taken > self.memory:
                self.let_go()


def taken_memory() -> int | None:
    """Bytes of memory that this process takes now, None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * mmap.PAGESIZE
