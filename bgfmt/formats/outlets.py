"""Where a format's bytes go: a sink with progress, and one that compares instead of writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.storage import Sink

Data = bytes | bytearray | memoryview | NDArray[Any]
MOST_RUNS = 1000


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

    def _count(self, data: Data) -> None:
        if self._progress is not None:
            self._through += size_of(data)
            if self._total > self._through:
                self._progress(self._through, self._total)

    def write(self, data: Data) -> None:
        """Append bytes, or an array's bytes in C order as they stand."""
        self.sink.write(data)
        self._count(data)

    def write_at(self, offset: int, data: Data) -> None:
        """Write bytes at an offset, such as into room left by `skip`."""
        self.sink.write_at(offset, data)
        self._count(data)

    def skip(self, size: int) -> None:
        """Leave room for `size` bytes that `write_at` fills later."""
        self.sink.skip(size)

    def flush(self) -> None:
        """Wait until everything is written."""
        self.sink.flush()


class Compared:
    """Takes what a format writes and holds it against bytes that are there already.

    What is skipped and never written counts as equal. At most `MOST_RUNS` differences are kept apart; the rest
    count as one.
    """

    def __init__(self, stored: memoryview, name: str = "<compared>") -> None:
        self.stored = np.frombuffer(stored, np.uint8) if len(stored) else np.zeros(0, np.uint8)
        self.written = 0
        self.name = name
        self._found: dict[int, tuple[bytes, bytes]] = {}
        self._more: list[int] = []

    def write(self, data: Data) -> None:
        """Compare the next bytes."""
        self.write_at(self.written, data)
        self.written += size_of(data)

    def write_at(self, offset: int, data: Data) -> None:
        """Compare bytes at an offset."""
        if isinstance(data, np.ndarray):
            data = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        mine = np.frombuffer(data, np.uint8) if len(data) else np.zeros(0, np.uint8)
        there = self.stored[offset : offset + len(mine)]
        same = mine[: len(there)]
        if not np.array_equal(there, same):
            differ = np.flatnonzero(there != same)
            cuts = np.flatnonzero(np.diff(differ) > 1) + 1
            for first, last in zip([0, *cuts.tolist()], [*(cuts - 1).tolist(), len(differ) - 1], strict=True):
                a, b = int(differ[first]), int(differ[last]) + 1
                if len(self._found) >= MOST_RUNS:
                    self._more.append(offset + a)
                    break
                self._found[offset + a] = (same[a:b].tobytes(), there[a:b].tobytes())
        if len(there) < len(mine) and len(self._found) < MOST_RUNS:
            self._found[offset + len(there)] = (mine[len(there) : len(there) + 64].tobytes(), b"")

    def skip(self, size: int) -> None:
        """Leave room for what `write_at` compares later."""
        self.written += size

    def reserve(self, size: int) -> NDArray[np.uint8]:
        """A comparing sink has no room to give."""
        raise CapabilityError("what is compared is written in order")

    def flush(self) -> None:
        """Nothing waits."""

    def runs(self) -> Iterator[tuple[int, bytes, bytes]]:
        """(offset, expected, found) of each stretch that differs, in order; a longer or shorter end last."""
        found = dict(self._found)
        if len(self.stored) > self.written:
            found[self.written] = (b"", self.stored[self.written : self.written + 64].tobytes())
        for at in sorted(found):
            yield at, *found[at]
