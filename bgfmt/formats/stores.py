"""What a store of chunks says of itself: the descriptions that make it a zarr v3 group, see `bgfmt.formats.zarr`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import HeaderError
from bgfmt.game import board
from bgfmt.storage.chunks import MOST_META, SUM, ChunkStore, chunks_of
from bgfmt.tables import TwoSided

VERSION = 1
MAIN, NUMBERS = "equities", "numbers"


@dataclass(frozen=True)
class Described:
    """What a store says of itself, under attributes.bgfmt."""

    kind: str
    points: int
    chequers: int
    columns: int
    recipe: str
    side: int
    chunk: int
    state: str = "solving"
    sum: str = ""

    @property
    def n(self) -> int:
        """Positions of a side."""
        return board.count(self.points, self.chequers)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the whole array."""
        return self.n, self.n, self.columns

    @property
    def chunk_shape(self) -> tuple[int, int, int]:
        """Of a chunk."""
        return self.chunk, self.chunk, self.columns

    def group(self) -> bytes:
        """zarr.json of the group."""
        said = {"version": VERSION, **asdict(self)}
        return _json({"zarr_format": 3, "node_type": "group", "attributes": {"bgfmt": said}})

    def array(self) -> bytes:
        """zarr.json of the equities."""
        names = ("us", "them", "equity")
        return _array(self.shape, self.chunk_shape, "uint16", names)

    def numbers(self) -> bytes:
        """zarr.json of the numbers."""
        return _array((self.n,), (self.n,), "int64", ("place",))


def described(text: bytes, name: str) -> Described:
    """What the zarr.json of a store's group says; HeaderError where it is not one of ours."""

    def refuse(field: str, expected: object, found: object) -> HeaderError:
        return HeaderError(name, field, 0, expected, repr(found)[:60])

    if len(text) > MOST_META:
        raise refuse("description", f"{MOST_META:,} bytes at most", len(text))
    try:
        said = json.loads(text)["attributes"]["bgfmt"]
        if not isinstance(said, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refuse("description", "a zarr v3 group with attributes.bgfmt", text[:40]) from None
    if said.get("version") != VERSION:
        raise refuse("version", VERSION, said.get("version"))
    whole = {"points": 12, "chequers": 15, "columns": 4, "side": 1 << 24, "chunk": 1 << 14}
    for field, most in whole.items():
        value = said.get(field)
        if type(value) is not int or not 1 <= value <= most:
            raise refuse(field, f"a whole number from 1 to {most}", value)
    if said.get("kind") != TwoSided.kind or said["columns"] not in (1, 4) or said["side"] % said["chunk"]:
        raise refuse(
            "kind", "a two-sided table of 1 or 4 columns, in groups of whole chunks", said.get("kind")
        )
    if said.get("state") not in ("solving", "whole"):
        raise refuse("state", "solving or whole", said.get("state"))
    if not isinstance(said.get("recipe"), str) or not isinstance(said.get("sum"), str):
        raise refuse("recipe and sum", "two words", (said.get("recipe"), said.get("sum")))
    return Described(**{name: said[name] for name in Described.__dataclass_fields__})


def in_pips(points: int, chequers: int) -> NDArray[np.int64]:
    """Position numbers in order of pips, equal ones by number."""
    n = board.count(points, chequers)
    pips = board.unrank_array(np.arange(n), points).astype(np.int64) @ np.arange(1, points + 1)
    return np.argsort(pips, kind="stable")


def sizes(store: ChunkStore, said: Described) -> tuple[int, int]:
    """(bytes that all chunks take, bytes that are there)."""
    each = int(np.prod(said.chunk_shape)) * 2 + SUM
    wanted = {store.key(MAIN, (*at, 0)) for at in chunks_of(said.shape[:2], said.chunk_shape[:2])}
    sizes = store.places.sizes(MAIN)
    return each * len(wanted), sum(min(each, sizes.get(key, 0)) for key in wanted)


def _array(shape: tuple[int, ...], chunk: tuple[int, ...], dtype: str, names: tuple[str, ...]) -> bytes:
    return _json(
        {
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": dtype,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
            "fill_value": 0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "dimension_names": names,
            "attributes": {},
        }
    )


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"
