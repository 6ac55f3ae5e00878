"""A folder of checksummed chunks, as large solves leave it: a zarr v3 group that any zarr reader opens.

piece                     content
zarr.json                 group; attributes.bgfmt: version, kind, points, chequers, columns, recipe, side, state, sum
numbers/zarr.json, c.0    (n,) int64: position number of each place, in order of pips, equal ones by number
equities/zarr.json        (n, n, columns) uint16, chunks (chunk, chunk, columns); written last
equities/c.I.J.0          the pairs of places of chunk row I, on roll, against those of chunk column J; edges filled
                          up with zeros

Every chunk ends in its CRC-32C (codec crc32c). `sum` is the SHA-256 of all chunks' checksums, row by row, so that
chunks cannot change places. `state` is ``solving`` until every chunk is there, then ``whole``; only what is whole is
read. See `bgfmt.storage.chunks` for the pieces themselves.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, CapabilityError, HeaderError, TruncatedError
from bgfmt.formats.base import Apart, Extent, Fault, Format, Head, Options, Reading
from bgfmt.formats.records import RECIPES
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.storage.chunks import MOST_META, ROOT, SUM, ChunkStore, chunks_of
from bgfmt.tables import PlacedPairs, Table, TwoSided

VERSION = 1
MAIN, NUMBERS = "equities", "numbers"


@dataclass(frozen=True)
class StoreDescription:
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


def described(text: bytes, name: str) -> StoreDescription:
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
    return StoreDescription(**{name: said[name] for name in StoreDescription.__dataclass_fields__})


def in_pips(points: int, chequers: int) -> NDArray[np.int64]:
    """Position numbers in order of pips, equal ones by number."""
    n = board.count(points, chequers)
    pips = board.unrank_array(np.arange(n), points).astype(np.int64) @ np.arange(1, points + 1)
    return np.argsort(pips, kind="stable")


def sizes(store: ChunkStore, said: StoreDescription) -> tuple[int, int]:
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


Array = NDArray[Any]
RECENT_BYTES = 64 << 20  # of chunks read last that stay in memory
FEW = 32  # records of one chunk that are read one by one, once the chunk was checked


class Zarr(Format[TwoSided]):
    name = "zarr"
    title = "zarr store of a solve"
    writes = False
    carries = (TwoSided,)
    folder = True

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(b"{") and b'"zarr_format"' in head.bytes and b'"bgfmt"' in head.bytes

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[TwoSided]:
        said = described(source.bytes(offset, source.size - offset, "description"), source.name)
        store = getattr(source, "store", None)
        if store is None:
            raise CapabilityError(f"{source.name}: the description of a store; open the folder it lies in")
        needed, found = sizes(store, said)
        if said.state != "whole":
            raise TruncatedError(source.name, needed, found, "store, which is still being solved,")
        if found != needed:
            raise TruncatedError(source.name, needed, found, "store")
        table = TwoSided(
            points=said.points, chequers=said.chequers, equities=rows_of(store, said), recipe=said.recipe,
            provenance=source.name,
        )  # fmt: skip
        return Reading(table, Extent(offset, source.size - offset))

    def info(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        rows = reading.table.equities
        assert isinstance(rows, PlacedPairs)
        return {"cubeful": reading.table.cubeful, "chunk": rows.chunk, "chunks": rows.chunks**2}

    def refusal(self, table: TwoSided, options: Options) -> str | None:
        return "a store of chunks is a folder that solving makes; no file of it can be written"

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """Every chunk is held against its checksum, and all of them together against the store's sum."""
        said = described(source.bytes(extent.offset, extent.size), source.name)
        yield from _audit(
            source, said, extent, (audit_row(source, a) for a in range(-(-said.n // said.chunk)))
        )

    def audit_apart(self, source: Source, extent: Extent, run: Apart) -> Iterator[Fault]:
        said = described(source.bytes(extent.offset, extent.size), source.name)
        return _audit(source, said, extent, run(audit_row, range(-(-said.n // said.chunk))))


@dataclass(frozen=True)
class AuditedRow:
    """A row of chunks: what is wrong with them, and their checksums one behind the other."""

    row: int
    faults: tuple[Fault, ...]
    sums: bytes


def audit_row(source: Source, row: int) -> AuditedRow:
    """Hold the chunks of a row against their checksums."""
    said = described(source.bytes(0, source.size), source.name)
    store: ChunkStore = source.store  # type: ignore[attr-defined]
    sums = bytearray()
    found = (chunk_fault(store, said, (row, b), sums) for b in range(-(-said.n // said.chunk)))
    return AuditedRow(row, tuple(fault for fault in found if fault is not None), bytes(sums))


def _audit(
    source: Source, said: StoreDescription, extent: Extent, rows: Iterable[AuditedRow]
) -> Iterator[Fault]:
    store: ChunkStore = source.store  # type: ignore[attr-defined]
    yield from _odd(store, said)
    try:
        places = store.get(NUMBERS, (0,), "<i8", (said.n,))
        if not np.array_equal(places, in_pips(said.points, said.chequers)):
            yield Fault(0, places.nbytes, f"{NUMBERS}/c.0", "positions in order of pips", "others")
    except BgfmtError as error:
        yield Fault(0, 8 * said.n, f"{NUMBERS}/c.0", "its chunk", str(error))
    seen = hashlib.sha256()
    broken = False
    for row in sorted(rows, key=lambda found: found.row):
        yield from row.faults
        broken = broken or bool(row.faults)
        seen.update(row.sums)
    if not broken and seen.hexdigest() != said.sum:
        yield Fault(0, extent.size, "sum of the chunks", said.sum, seen.hexdigest())


def _odd(store: ChunkStore, said: StoreDescription) -> Iterator[Fault]:
    """Descriptions that are not as a solve writes them, and pieces that belong to no part of the table."""
    descriptions = {
        ROOT: said.group(),
        f"{MAIN}/{ROOT}": said.array(),
        f"{NUMBERS}/{ROOT}": said.numbers(),
    }
    there = store.places.sizes("")
    for key, own in descriptions.items():
        found = store.meta(key) if key in there else b""
        if found != own:
            at = next((k for k, (a, b) in enumerate(zip(own, found, strict=False)) if a != b), len(found))
            expected, other = own[at : at + 20], found[at : at + 20]
            yield Fault(at, max(1, len(found) - at), key, repr(expected), repr(other))
    if said.recipe not in RECIPES:
        yield Fault(0, len(said.recipe), ROOT, "a recipe that bgfmt knows", repr(said.recipe)[:60])
    chunks = {store.key(MAIN, (*place, 0)) for place in chunks_of(said.shape[:2], said.chunk_shape[:2])}
    for key in sorted(there.keys() - chunks - descriptions.keys() - {store.key(NUMBERS, (0,))})[:10]:
        yield Fault(0, there[key], repr(key)[:60], "no such piece", f"{there[key]:,} bytes")


def chunk_fault(
    store: ChunkStore, said: StoreDescription, place: tuple[int, ...], sums: bytearray
) -> Fault | None:
    """What is wrong with a chunk, or None; its checksum goes behind `sums`."""
    key = store.key(MAIN, (*place, 0))
    try:
        values, total = store.checked(MAIN, (*place, 0), "<u2", said.chunk_shape)
    except BgfmtError as error:
        return Fault(0, int(np.prod(said.chunk_shape)) * 2 + SUM, key, "a chunk that adds up", str(error))
    sums += total.to_bytes(SUM, "little")
    rows, columns = (min(said.chunk, said.n - at * said.chunk) for at in place)
    if values[rows:].any() or values[:, columns:].any():
        return Fault(0, values.nbytes, key, "zeros beyond the table's edge", "other numbers")
    return None


def rows_of(store: ChunkStore, said: StoreDescription) -> PlacedPairs:
    """The numbers of a whole store, read and checked by the chunk when they are asked for."""
    return PlacedPairs(
        said.shape, "<u2", in_pips(said.points, said.chequers), said.chunk, _Chunks(store, said)
    )


class _Chunks:
    """Chunks of a store: those read last are in memory, and of those checked before parts alone can be read."""

    def __init__(self, store: ChunkStore, description: StoreDescription) -> None:
        self.store, self.description = store, description
        self._recent: OrderedDict[tuple[int, int], Array] = OrderedDict()
        self._checked: set[tuple[int, int]] = set()
        self._lock = threading.Lock()
        self._most = max(2, RECENT_BYTES // (int(np.prod(description.chunk_shape)) * 2))

    def _square(self, a: int, b: int) -> Array:
        """A chunk, (chunk, chunk, columns)."""
        with self._lock:
            if (a, b) in self._recent:
                self._recent.move_to_end((a, b))
                return self._recent[a, b]
        values = self.store.get(MAIN, (a, b, 0), "<u2", self.description.chunk_shape)
        with self._lock:
            self._checked.add((a, b))
            self._recent[a, b] = values
            while len(self._recent) > self._most:
                self._recent.popitem(last=False)
        return values

    def records(self, a: int, b: int, rows: Array, columns: Array) -> Array:
        """Some records of a chunk, (m, columns)."""
        if self._in_parts(a, b) and len(rows) <= FEW:
            return self._parts(a, b, rows * self.description.chunk + columns, 1)[:, 0]
        return np.asarray(self._square(a, b)[rows, columns])

    def lines(self, a: int, b: int, rows: Array) -> Array:
        """Some rows of a chunk, (m, chunk, columns)."""
        if self._in_parts(a, b) and 4 * len(rows) <= self.description.chunk:
            return self._parts(a, b, rows * self.description.chunk, self.description.chunk)
        square = self._square(a, b)
        return square if len(rows) == len(square) else np.asarray(square[rows])

    def _in_parts(self, a: int, b: int) -> bool:
        return (a, b) in self._checked and (a, b) not in self._recent

    def _parts(self, a: int, b: int, records: Array, length: int) -> Array:
        """Stretches of `length` records of a chunk that was checked, (m, length, columns)."""
        size = self.description.columns * 2
        data = self.store.parts(MAIN, (a, b, 0), [int(k) * size for k in records], length * size)
        return np.frombuffer(data, "<u2").reshape(len(records), length, self.description.columns)
