"""Compressed two-sided tables for tests, packed and read in memory."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.errors import BgfmtError, CorruptError
from bgfmt.files.database import read_source
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import TwoSided

NAME = "bgfmt-ts"


def packed(table: TwoSided, **options: Any) -> bytes:
    """The file of a table."""
    store = MemorySink()
    bgfmt.formats.get(NAME).write(table, store, **options)  # type: ignore[arg-type]
    return bytes(store.data)


def second_level(data: bytes) -> bytes:
    """A file whose head says that it is of the second level."""
    head = data[:8] + (2).to_bytes(2, "little") + data[10:60]
    return head + zlib.crc32(head).to_bytes(4, "little") + data[64:]


def unpacked(data: bytes) -> TwoSided:
    """The table of a file."""
    table = read_source(Source.from_bytes(data, "packed")).table
    assert isinstance(table, TwoSided)
    return table


def of(points: int, chequers: int, numbers: Any) -> TwoSided:
    """A table of such numbers."""
    return TwoSided(points=points, chequers=chequers, equities=np.asarray(numbers, np.uint16))


def flipped(data: bytes, stored: Any, rng: np.random.Generator, many: int) -> None:
    """Flip bits one at a time: reading the whole then fails, and a record is right or refused."""
    for at in [*range(0, 64, 5), *rng.integers(64, len(data), many).tolist()]:
        broken = bytearray(data)
        broken[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(BgfmtError) as caught:
            np.asarray(unpacked(bytes(broken)).equities)
        assert "\n" not in str(caught.value)
        try:
            found = unpacked(bytes(broken)).equities
        except BgfmtError:
            continue
        for us, them in rng.integers(0, len(stored), (30, 2)).tolist():
            try:
                assert np.array_equal(found[us, them], stored[us, them])
            except CorruptError as error:
                assert "sum" in str(error)
