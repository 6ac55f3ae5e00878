"""Folder of chunks with checksums, written by large solves: a zarr v3 group that any zarr reader opens.

piece                     content
zarr.json                 group; attributes.bgfmt: version, kind, points, chequers, columns, recipe, side, state, sum
numbers/zarr.json, c.0    (n,) int64: position number of each place, in order of pips, equal ones by number
equities/zarr.json        (n, n, columns) uint16, chunks (chunk, chunk, columns); written last
equities/c.I.J.0          the pairs of places of chunk row I, on roll, against those of chunk column J; edges filled
                          up with zeros

Every chunk ends in its CRC-32C (codec crc32c). `sum` is the SHA-256 of all chunks' checksums, row by row, so that
exchanged chunks are detected. `state` is ``solving`` until every chunk is written, then ``whole``; only a whole store
is read. `bgfmt.extras.large.chunks` reads and writes the pieces.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, CapabilityError, HeaderError, TruncatedError
from bgfmt.extras.large.chunks import CHECKSUM_BYTES, MAX_METADATA_BYTES, ROOT, ChunkStore, chunks_of
from bgfmt.formats.base import Extent, Fault, Format, Head, Options, Reading
from bgfmt.formats.records import known_recipes
from bgfmt.game import board
from bgfmt.storage import ComparingSink, Source
from bgfmt.tables import KINDS, LazyRows, Table
from bgfmt.tables.two_sided import StoredEquities

VERSION = 1
MAIN = "equities"
NUMBERS = "numbers"


@dataclass(frozen=True)
class StoreDescription:
    """Description of a store, in attributes.bgfmt of its zarr.json."""

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
        """Number of positions of a side."""
        return board.count(self.points, self.chequers)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the array of equities, (n, n, columns)."""
        return self.n, self.n, self.columns

    @property
    def chunk_shape(self) -> tuple[int, int, int]:
        """Shape of a chunk, (chunk, chunk, columns)."""
        return self.chunk, self.chunk, self.columns

    def is_sound(self) -> bool:
        """Return whether every field has the type and one of the values that a solve writes."""
        sizes = [
            (self.points, 12),
            (self.chequers, 15),
            (self.columns, 4),
            (self.side, 1 << 24),
            (self.chunk, 1 << 14),
        ]
        texts = self.kind, self.recipe, self.state, self.sum
        return (
            all(type(value) is int and 1 <= value <= most for value, most in sizes)
            and all(isinstance(text, str) for text in texts)
            and issubclass(KINDS.get(self.kind, Table), StoredEquities)
            and self.columns in (1, 4)
            and self.side % self.chunk == 0
            and self.state in ("solving", "whole")
        )

    def group_json(self) -> bytes:
        """Build the `zarr.json` of the store's root group, which has this description as attributes."""
        spec = {"version": VERSION, **asdict(self)}
        return _json({"zarr_format": 3, "node_type": "group", "attributes": {"bgfmt": spec}})

    def array_json(self) -> bytes:
        """Build the `zarr.json` of the array of equities."""
        return _array(self.shape, self.chunk_shape, "uint16", ("us", "them", "equity"))

    def numbers_json(self) -> bytes:
        """Build the `zarr.json` of the array of position numbers in order of pips."""
        return _array((self.n,), (self.n,), "int64", ("place",))


def parse_description(text: bytes, name: str) -> StoreDescription:
    """Parse the `zarr.json` of a store's root group; HeaderError if bgfmt did not write it.

    name : what error messages call the store.
    """
    try:
        spec = json.loads(text)["attributes"]["bgfmt"]
        version = spec.pop("version")
        found = StoreDescription(**spec)
        sound = version == VERSION and len(text) <= MAX_METADATA_BYTES and found.is_sound()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise HeaderError(
            name, "description", 0, "a zarr v3 group with attributes.bgfmt of a solve", text[:400]
        )
    return found


def chunk_bytes(store: ChunkStore, spec: StoreDescription) -> tuple[int, int]:
    """Return (size of all chunks that a complete store has, size of those that exist), in bytes.

    spec : description of the store.
    """
    each = prod(spec.chunk_shape) * 2 + CHECKSUM_BYTES
    keys = {store.key(MAIN, (*at, 0)) for at in chunks_of(spec.shape[:2], spec.chunk_shape[:2])}
    sizes = store.places.sizes(MAIN)
    return each * len(keys), sum(min(each, sizes.get(key, 0)) for key in keys)


def _array(shape: tuple[int, ...], chunk: tuple[int, ...], dtype: str, names: tuple[str, ...]) -> bytes:
    """Build zarr.json of an array."""
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
RECENT_BYTES = 64 << 20  # of recently read chunks in memory
MAX_STRANGERS = 10  # unknown files that are reported
MAX_SINGLE_RECORDS = 32  # of a checked chunk that are read one by one


class Zarr(Format[StoredEquities]):
    name = "zarr"
    title = "zarr store of a solve"
    writes = False
    carries = (StoredEquities,)
    folder = True

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(b"{") and b'"zarr_format"' in head.bytes and b'"bgfmt"' in head.bytes

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[StoredEquities]:
        spec = parse_description(source.bytes(offset, source.size - offset, "description"), source.name)
        store = getattr(source, "store", None)
        if store is None:
            raise CapabilityError(
                f"{source.name}: this is the description of a store; open its folder instead"
            )
        needed, size = chunk_bytes(store, spec)
        if spec.state != "whole" or size != needed:
            what = "store" if spec.state == "whole" else "store whose solve is not finished"
            raise TruncatedError(source.name, needed, size, what)
        rows = StoredPairs(store, spec)
        place = offset, source.size - offset, spec.points, spec.chequers
        kind: Any = KINDS[spec.kind]
        return Reading.of(kind, source, *place, equities=rows, recipe=spec.recipe)

    def info(self, reading: Reading[StoredEquities]) -> dict[str, Any]:
        rows = reading.table.equities
        assert isinstance(rows, StoredPairs)
        return {"cubeful": reading.table.cubeful, "chunk": rows.chunk, "chunks": rows.chunks**2}

    def refusal(self, table: StoredEquities, options: Options) -> str | None:
        return "a store of chunks is a folder written by a solve; it cannot be written as a file"

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """Verify the checksums of all chunks and of the whole store; yield a `Fault` for each error."""
        spec = parse_description(source.bytes(extent.offset, extent.size), source.name)
        store: ChunkStore = source.store  # type: ignore[attr-defined]
        yield from _check_descriptions(store, spec)
        try:
            places, _ = store.read_chunk(NUMBERS, (0,), "<i8", (spec.n,))
            if not np.array_equal(places, board.order_by_pips(spec.points, spec.chequers)):
                yield Fault(0, places.nbytes, f"{NUMBERS}/c.0", "positions in order of pips", "others")
        except BgfmtError as error:
            yield Fault(0, 8 * spec.n, f"{NUMBERS}/c.0", "its chunk", str(error))
        digest = hashlib.sha256()
        broken = False
        for row in range(-(-spec.n // spec.chunk)):
            faults, sums = _audit_row(source, row)
            yield from faults
            broken = broken or bool(faults)
            digest.update(sums)
        if not broken and digest.hexdigest() != spec.sum:
            yield Fault(0, extent.size, "checksum of the chunks", spec.sum, digest.hexdigest())


def _audit_row(source: Source, row: int) -> tuple[list[Fault], bytes]:
    """Verify one row of chunks of a store; return (faults, checksums of its intact chunks concatenated).

    source : the store. row : index in the grid of chunks.
    """
    spec = parse_description(source.bytes(0, source.size), source.name)
    store: ChunkStore = source.store  # type: ignore[attr-defined]
    faults = []
    sums = b""
    for b in range(-(-spec.n // spec.chunk)):
        key = store.key(MAIN, (row, b, 0))
        size = prod(spec.chunk_shape) * 2
        try:
            values, total = store.read_chunk(MAIN, (row, b, 0), "<u2", spec.chunk_shape)
        except BgfmtError as error:
            faults.append(Fault(0, size + CHECKSUM_BYTES, key, "a chunk that adds up", str(error)))
            continue
        sums += total.to_bytes(CHECKSUM_BYTES, "little")
        rows, columns = (min(spec.chunk, spec.n - at * spec.chunk) for at in (row, b))
        if values[rows:].any() or values[:, columns:].any():
            faults.append(Fault(0, size, key, "zeros beyond the table's edge", "other numbers"))
    return faults, sums


def _check_descriptions(store: ChunkStore, spec: StoreDescription) -> Iterator[Fault]:
    """Yield descriptions that differ from those a solve writes, and files that are no part of the store."""
    descriptions = {
        ROOT: spec.group_json(),
        f"{MAIN}/{ROOT}": spec.array_json(),
        f"{NUMBERS}/{ROOT}": spec.numbers_json(),
    }
    pieces = store.places.sizes("")
    for key, own in descriptions.items():
        sink = ComparingSink(store.read_metadata(key) if key in pieces else b"")
        sink.write(own)
        for at, expected, other in sink.runs():
            yield Fault(at, max(1, len(other)), key, repr(expected), repr(other))
    if spec.recipe not in known_recipes():
        yield Fault(0, len(spec.recipe), ROOT, "a recipe that bgfmt knows", repr(spec.recipe)[:60])
    chunks = {store.key(MAIN, (*place, 0)) for place in chunks_of(spec.shape[:2], spec.chunk_shape[:2])}
    known = chunks | descriptions.keys() | {store.key(NUMBERS, (0,))}
    strange = sorted(key for key, size in pieces.items() if size < 0 or key not in known)
    for key in strange[:MAX_STRANGERS]:
        found = f"{pieces[key]:,} bytes" if pieces[key] >= 0 else "no regular file"
        yield Fault(0, max(1, pieces[key]), repr(key)[:60], "no such file in the store", found)


class StoredPairs(LazyRows):
    """Records of pairs of a store, (n, n, columns) uint16, indexed by position numbers.

    A store has them by place: place p is position number `order[p]`, the p-th in order of pips. The most recently
    read chunks are cached; of a chunk whose checksum was verified before, parts are read alone.
    """

    def __init__(self, store: ChunkStore, description: StoreDescription) -> None:
        self.store = store
        self.chunk = description.chunk
        self.chunks = -(-description.n // self.chunk)  # along a side
        self.order = board.order_by_pips(description.points, description.chequers)
        self.place = np.empty(len(self.order), np.int64)
        self.place[self.order] = np.arange(len(self.order))
        self._chunk_shape = description.chunk_shape
        self._recent: OrderedDict[tuple[int, int], Array] = OrderedDict()
        self._checked: set[tuple[int, int]] = set()
        self._lock = threading.Lock()
        self._most = max(2, RECENT_BYTES // (prod(self._chunk_shape) * 2))
        super().__init__(
            description.shape, "<u2", lambda a, b: self._rows(np.arange(a, b)), self._rows, self._pick_pairs
        )

    def piece(self, rows: Array, first: int, last: int) -> Array:
        """Return some records as (rows, columns, k), both sides given by place: their index in the stored order.

        rows : consecutive places of the sides on roll. first, last : the opponents are at places first..last-1.
        """
        start = int(rows[0])
        c = self.chunk
        out = np.empty((len(rows), last - first, self.shape[2]), self.dtype)
        for a in np.unique(rows // c).tolist():
            here = rows[rows // c == a]
            for b in range(first // c, -(-last // c)):
                low = max(b * c, first)
                high = min(b * c + c, last)
                lines = self._lines(a, b, here - a * c)[:, low - b * c : high - b * c]
                out[here - start, low - first : high - first] = lines
        return out

    def _rows(self, numbers: Array) -> Array:
        """Return whole rows of these position numbers."""
        n, _, k = self.shape
        out = np.empty((len(numbers), n, k), self.dtype)
        place = self.place[numbers]
        for a in np.unique(place // self.chunk).tolist():
            here = np.flatnonzero(place // self.chunk == a)
            for b in range(self.chunks):
                columns = self.order[b * self.chunk : (b + 1) * self.chunk]
                lines = self._lines(a, b, place[here] - a * self.chunk)
                out[here[:, None], columns] = lines[:, : len(columns)]
        return out

    def _pick_pairs(self, us: Array, them: Array) -> Array:
        """Return the records of these pairs of position numbers, read chunk by chunk."""
        rows = self.place[us]
        columns = self.place[them]
        out = np.empty((len(us), self.shape[2]), self.dtype)
        chunks = rows // self.chunk * self.chunks + columns // self.chunk
        order = np.argsort(chunks, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(chunks[order])) + 1):
            if len(group):
                a, b = divmod(int(chunks[group[0]]), self.chunks)
                row = rows[group] - a * self.chunk
                column = columns[group] - b * self.chunk
                if len(group) <= MAX_SINGLE_RECORDS and self._may_read_parts(a, b):
                    out[group] = self._parts(a, b, row * self.chunk + column, 1)[:, 0]
                else:
                    out[group] = self._square(a, b)[row, column]
        return out

    def _lines(self, a: int, b: int, rows: Array) -> Array:
        """Return some rows of chunk (a, b), (m, chunk, columns) uint16."""
        if 4 * len(rows) <= self.chunk and self._may_read_parts(a, b):
            return self._parts(a, b, rows * self.chunk, self.chunk)
        square = self._square(a, b)
        return square if np.array_equal(rows, np.arange(len(square))) else np.asarray(square[rows])

    def _square(self, a: int, b: int) -> Array:
        """Return chunk (a, b), (chunk, chunk, columns) uint16."""
        with self._lock:
            if (a, b) in self._recent:
                self._recent.move_to_end((a, b))
                return self._recent[a, b]
        values, _ = self.store.read_chunk(MAIN, (a, b, 0), "<u2", self._chunk_shape)
        with self._lock:
            self._checked.add((a, b))
            self._recent[a, b] = values
            while len(self._recent) > self._most:
                self._recent.popitem(last=False)
        return values

    def _may_read_parts(self, a: int, b: int) -> bool:
        """Return True if parts of the chunk may be read without the whole: it was verified and is not cached."""
        return (a, b) in self._checked and (a, b) not in self._recent

    def _parts(self, a: int, b: int, records: Array, length: int) -> Array:
        """Read runs of `length` records of a chunk that was verified, (m, length, columns) uint16."""
        columns = self.shape[2]
        starts = [int(k) * columns * 2 for k in records]
        data = self.store.read_parts(MAIN, (a, b, 0), starts, length * columns * 2)
        return np.frombuffer(data, "<u2").reshape(len(records), length, columns)
