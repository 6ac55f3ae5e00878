"""Compressed two-sided tables for tests, packed and read in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import bgfmt
from bgfmt.database import read_source
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import TwoSided

NAME = "bgfmt-ts"


def packed(table: TwoSided, **options: Any) -> bytes:
    """The file of a table."""
    store = MemorySink()
    bgfmt.formats.get(NAME).write(table, store, **options)  # type: ignore[arg-type]
    return bytes(store.data)


def unpacked(data: bytes) -> TwoSided:
    """The table of a file."""
    table = read_source(Source.from_bytes(data, "packed")).table
    assert isinstance(table, TwoSided)
    return table


def of(points: int, chequers: int, numbers: Any) -> TwoSided:
    """A table of such numbers."""
    return TwoSided(points=points, chequers=chequers, equities=np.asarray(numbers, np.uint16))
