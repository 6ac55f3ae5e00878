"""An open binary file that someone else opened: anything that can seek and read."""

from __future__ import annotations

import io
from threading import Lock
from typing import BinaryIO

from bgfmt.storage.brought import Brought
from bgfmt.storage.ranges import RangeSource
from bgfmt.storage.source import Progress, Source


class ReadableSource(RangeSource):
    """The bytes of an open binary file that can seek. It is not closed here: who opened it closes it."""

    def __init__(self, file: BinaryIO) -> None:
        if not (hasattr(file, "read") and hasattr(file, "seek")):
            raise TypeError(f"a path, an address or an open binary file is needed, not {type(file).__name__}")
        self._file, self._lock = file, Lock()
        name = getattr(file, "name", None)
        super().__init__(name if isinstance(name, str) else "<file>", file.seek(0, io.SEEK_END), self._at)

    def local(self, progress: Progress | None = None) -> Source:
        return Brought(self, progress)

    def _at(self, offset: int, size: int) -> bytes:
        with self._lock:
            self._file.seek(offset)
            data = self._file.read(size)
        if not isinstance(data, bytes):
            raise TypeError(f"{self.name}: the file is not open for bytes")
        return data
