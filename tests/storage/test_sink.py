"""Where bytes go: one set of laws for files, memory and comparisons."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bgfmt.storage import ComparingSink, MemorySink, Sink, create
from bgfmt.storage.sink import MAX_RUNS


def _write(sink: Sink) -> None:
    sink.write(b"head")
    sink.skip(4)
    sink.write(np.arange(70_000, dtype="<u4").reshape(-1, 7)[::2])
    body = sink.reserve(8).view("<u4")
    sink.write(memoryview(b"tail"))
    body[:] = [5, 6]
    sink.write_at(4, bytearray(b"late"))
    sink.flush()


def test_every_sink_keeps_the_laws(tmp_path: Path) -> None:
    rows = np.arange(70_000, dtype="<u4").reshape(-1, 7)[::2]
    wanted = b"headlate" + rows.tobytes() + bytes([5, 0, 0, 0, 6, 0, 0, 0]) + b"tail"
    memory = MemorySink()
    _write(memory)
    with create(tmp_path / "a") as sink:
        _write(sink)
    assert memory.written == sink.written == len(wanted)
    assert bytes(memory.data) == (tmp_path / "a").read_bytes() == wanted
    same = ComparingSink(wanted)
    _write(same)
    assert (list(same.runs()), same.written) == ([], len(wanted))


def test_comparing_names_what_differs() -> None:
    memory = MemorySink(b"before")
    assert bytes(memory.data) == b"before"
    memory = MemorySink()
    _write(memory)
    broken = bytearray(memory.data)
    for place in (2, 5, 6, 100, len(broken) - 8):
        broken[place] ^= 0xFF

    def runs(there: bytes) -> list[tuple[int, bytes, bytes]]:
        sink = ComparingSink(there)
        _write(sink)
        return list(sink.runs())

    def pair(first: int, past: int) -> tuple[int, bytes, bytes]:
        return first, bytes(memory.data[first:past]), bytes(broken[first:past])

    end = len(broken)
    found = [pair(2, 3), pair(5, 7), pair(100, 101), pair(end - 8, end - 7)]
    assert runs(bytes(broken)) == found
    assert runs(bytes(broken) + b"more") == [*found, (end, b"", b"more")]
    assert runs(bytes(broken[:-3])) == [*found, (end - 3, b"ail", b"")]
    assert len(runs(bytes(end))) <= MAX_RUNS
