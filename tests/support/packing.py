"""Compressed two-sided tables for tests, packed and read in memory."""

from __future__ import annotations

import itertools
import zlib
from typing import Any, cast

import numpy as np
import pytest

import bgfmt
from bgfmt.errors import BgfmtError, CorruptError
from bgfmt.extras.compressed import layout
from bgfmt.files.database import read_source
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import TwoSided
from bgfmt.tables.two_sided import StoredEquities

NAME = "bgfmt-ts"


def packed(table: StoredEquities, **options: Any) -> bytes:
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
    assert isinstance(table, StoredEquities)
    return cast(TwoSided, table)


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


def sealed_parts(data: bytes) -> list[tuple[int, int]]:
    """Return where each part of a sound file that has a checksum begins and ends, the checksum's four bytes last."""
    reader: Any = unpacked(data).equities.reader  # type: ignore[attr-defined]
    shape = reader.shape
    parts = [(0, layout.HEADER_BYTES), (layout.HEADER_BYTES, shape.first_strip)]
    edges = shape.edges()
    for g, begin in enumerate(reader.directory.strips[:-1]):
        models, size = layout.read_strip_head(reader.source, begin, shape)
        index = begin + size
        many = (edges[g + 1] - edges[g]) * shape.groups + 1
        at = index + 8 * many + 4
        parts += [(begin, index), (index, at)]
        for j, tile in enumerate(models):
            for _ in range(edges[j + 1] - edges[j]):
                parts.append((at, at + tile.factor_bytes + 4))
                at += tile.factor_bytes + 4
        starts = np.frombuffer(data, "<u8", many, index).tolist()
        parts += itertools.pairwise(starts)
    assert parts == sorted(parts)
    assert sum(end - start for start, end in parts) == len(data)
    return parts


def resealed(sound: bytes, damaged: bytes) -> bytes:
    """Return damaged bytes with the checksums made anew, each where the sound file has it."""
    out = bytearray(damaged)
    for start, end in sealed_parts(sound):
        out[end - 4 : end] = zlib.crc32(out[start : end - 4]).to_bytes(4, "little")
    return bytes(out)
