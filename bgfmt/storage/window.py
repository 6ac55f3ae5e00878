"""A source as the open file that other libraries read."""

from __future__ import annotations

import io

from bgfmt.storage.source import Source


class Window(io.RawIOBase):
    """The bytes of a source from `offset` on, as a file that can seek and be read."""

    def __init__(self, source: Source, offset: int) -> None:
        self._source, self._start, self._at = source, offset, 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._at, self._source.size - self._start)[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        begin = min(self._start + self._at, self._source.size)
        end = self._source.size if size is None or size < 0 else min(begin + size, self._source.size)
        self._at += end - begin
        return bytes(self._source.buffer[begin:end])
