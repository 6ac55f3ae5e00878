"""Databases in memory: a place formats can write to, and a decoder that makes the best of a damaged index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import OneSided

Array = NDArray[Any]
ROLLS = 32


class Memory:
    """Takes what a format writes, like a `storage.Sink`."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.written = 0
        self.name = "<memory>"

    def write(self, data: Any) -> None:
        """Append bytes."""
        self.write_at(self.written, data)
        self.written += data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)

    def write_at(self, offset: int, data: Any) -> None:
        """Write bytes at an offset."""
        if isinstance(data, np.ndarray):
            data = np.ascontiguousarray(data).reshape(-1).view(np.uint8).tobytes()
        piece = bytes(data)
        if len(self.data) < offset + len(piece):
            self.data.extend(bytes(offset + len(piece) - len(self.data)))
        self.data[offset : offset + len(piece)] = piece

    def skip(self, size: int) -> None:
        """Leave room."""
        self.written += size

    def flush(self) -> None:
        """Nothing waits."""


def decoded(body: bytes, points: int, gammon: bool, header: int) -> OneSided:
    """A compressed body as rows; a row whose index entry or values make no sense is left zero."""
    n = board.count(points, 15)
    entry = 8 if gammon else 6
    old = (
        not gammon
        and len(body) >= 12
        and body[6:10] != b"\x01\x00\x00\x00"
        and body[8:12] == b"\x01\x00\x00\x00"
    )
    if old:
        entry = 8
    padded = body[: n * entry] + bytes(max(0, n * entry - len(body)))
    fields: list[Any] = [("start", "<u4"), ("count", "u1"), ("first", "u1")]
    if entry == 8:
        fields += [("gammon_count", "u1"), ("gammon_first", "u1")]
    index = np.frombuffer(padded, np.dtype(fields), n)
    stored = body[n * entry :]
    values = np.frombuffer(stored[: len(stored) & ~1], "<u2")
    rows = np.zeros((n, 1 + gammon, ROLLS), np.uint16)
    starts = index["start"].astype(np.int64)
    for part in range(1 + gammon):
        counts = index["gammon_count" if part else "count"].astype(np.int64)
        firsts = index["gammon_first" if part else "first"].astype(np.int64)
        good = (counts > 0) & (counts + firsts <= ROLLS) & (starts + counts <= len(values))
        for k in range(ROLLS):
            which = np.flatnonzero(good & (k < counts))
            rows[which, part, firsts[which] + k] = values[starts[which] + k]
        starts = starts + counts
    extra: dict[str, Any] = {"format": "gnubg-os", "compressed": True, "headed": header}
    if old:
        extra["entry"] = 8
    return OneSided(
        points=points,
        chequers=15,
        bearoff=rows[:, 0],
        gammon=rows[:, 1] if gammon else None,
        provenance="<memory>",
        extra=extra,
    )
