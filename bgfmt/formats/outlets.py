"""Where a format's bytes go: a sink with progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.storage import Sink

Data = bytes | bytearray | memoryview | NDArray[Any]


def size_of(data: Data) -> int:
    """Bytes of what is handed to a sink."""
    return data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)


class Outlet:
    """The sink a format writes to: counts the bytes that go through and reports them."""

    def __init__(self, sink: Sink, progress: Callable[[int, int], None] | None = None) -> None:
        self.sink, self._progress = sink, progress
        self.name = sink.name
        self._through, self._total = 0, 0

    @property
    def written(self) -> int:
        """Where the next byte goes."""
        return self.sink.written

    def expect(self, total: float | None) -> None:
        """How many bytes there will be, as far as is known now."""
        self._total = int(total or 0)

    def done(self) -> None:
        """All is written."""
        if self._progress is not None:
            self._progress(self._through, self._through)

    @property
    def counted(self) -> int:
        """Bytes that were written, or counted, so far."""
        return self._through

    def count(self, size: int) -> None:
        """Bytes that are made; `write` counts its own, what goes to `sink` itself is not counted."""
        self._through += size
        if self._progress is not None and self._total > self._through:
            self._progress(self._through, self._total)

    def write(self, data: Data) -> None:
        """Append bytes, or an array's bytes in C order as they stand."""
        self.sink.write(data)
        self.count(size_of(data))

    def write_at(self, offset: int, data: Data) -> None:
        """Write bytes at an offset, such as into room left by `skip`."""
        self.sink.write_at(offset, data)
        self.count(size_of(data))

    def skip(self, size: int) -> None:
        """Leave room for `size` bytes that `write_at` fills later."""
        self.sink.skip(size)

    def flush(self) -> None:
        """Wait until everything is written."""
        self.sink.flush()
