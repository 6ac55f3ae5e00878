"""Filling a store of chunks with a two-sided table: tile by tile, or layer by layer from memory.

A tile reads the chunks that it needs, is made, and writes its own: memory is bounded by a tile, and tiles are made by
any workers. Where the turned values of all layers at hand fit into memory, `solve_layers` fills the same store in
three quarters of the time; an ended run goes on by tiles. A chunk appears whole and is the same from every worker, so
that it may be made twice; what is finished is seen by the chunks that are there.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import FormatError
from bgfmt.game import board
from bgfmt.game.results import WEIGHTS
from bgfmt.solver.layers import PipOrder, Pool, pip_order
from bgfmt.solver.machine import results_a_position
from bgfmt.solver.tiles import Strip, Tile, TileGrid
from bgfmt.solver.two_sided import Pairs, Squares, done_after, record_type
from bgfmt.solver.workers import Workers, device_named
from bgfmt.storage.chunks import ROOT, ChunkStore

Array = NDArray[Any]
_rooms = threading.local()
LANES = 128  # numbers side by side in a maximum


class Made(NamedTuple):
    """What making a tile took: bytes read from and written to the store, seconds in all and in the kernels."""

    tile: Tile
    read: int
    written: int
    seconds: float
    kernels: float


class Strips(NamedTuple):
    """Records to be made: of us[0]..us[1]-1 against sides low..sides-1 of `near`, whose places begin at `window`.

    They go into out[row.., (place + low) * columns..].
    """

    us: tuple[int, int]
    near: Any
    window: int
    low: int
    out: Any
    row: int
    place: int
    sides: int


class Hands:
    """Runs the two kernels of a tile in this process; a device derives its own."""

    def __init__(self, order: PipOrder, columns: int) -> None:
        self.order, self.columns = order, columns
        self.record = np.uint64 if columns == 4 else np.int16
        self.block = (LANES if order.n > 4000 else LANES // 2) // 4 if columns == 4 else LANES

    def near(self, name: str, places: int, sides: int) -> Any:
        """Room for the turned values of sides against places, in lanes; lost with the next of this name."""
        return room(name, (-(-sides // self.block), places, self.block * self.columns), np.int16)

    def records(self, name: str, rows: int, numbers: int) -> Any:
        """Room for records being made, (rows, numbers) uint16; lost with the next of this name."""
        return room(name, (rows, numbers), np.uint16)

    def fill(self, out: Any, rows: int, numbers: int, value: int) -> None:
        """Set the first numbers of the first rows of records."""
        out[:rows, :numbers] = value

    def host(self, out: Any) -> Array:
        """Records as an array of this process."""
        return out  # type: ignore[no-any-return]

    def lay(self, stored: Any, near: Any, side: int, at: int) -> None:
        """Lay stored records (sides, places * columns), turned, into `near` from `side` and place `at` on."""
        from bgfmt.solver.kernels import two_sided as kernels

        if stored.size:
            run = room("run", (kernels.RUN * self.columns,), np.int16)
            if not stored.flags.c_contiguous:
                copied = room("copied", stored.shape, stored.dtype.type)
                copied[...] = stored
                stored = copied
            kernels.lay(stored, self.columns, near.view(self.record), side, at, run, run.view(self.record))

    def best(self, pairs: Strips) -> None:
        """Make records."""
        from bgfmt.solver.kernels import two_sided as kernels

        order, block = self.order, self.block
        us, near, window, low, out, row, place, sides = pairs
        for part in range(low // block, -(-sides // block)):
            first = part * block
            kernels.best(
                *us, near[part], window, order.ends, order.results, WEIGHTS, self.columns, out, row, place + first,
                max(0, low - first), min(block, sides - first),
            )  # fmt: skip


@dataclass(frozen=True)
class Making:
    """A solve as a worker needs it; pickles. `device` runs the kernels; `check` holds chunks that are there against
    their checksums, so that damaged ones are made again."""

    path: str
    array: str
    grid: TileGrid
    device: str = ""
    check: bool = False

    def hands(self) -> Hands:
        """Who makes a tile."""
        kind = device_named(self.device) if self.device else Hands
        return kind(order_of(self.grid.points, self.grid.chequers), self.grid.columns)  # type: ignore[no-any-return]

    def make(self, tile: Tile) -> Made:
        """Make a tile, unless all its chunks are there."""
        began = time.perf_counter()
        store = ChunkStore(self.path)
        if self.finished(store, tile):
            return Made(tile, store.read, 0, time.perf_counter() - began, 0.0)
        making = TileMaking(self, store, tile, self.hands())
        making.run()
        seconds = time.perf_counter() - began
        return Made(tile, store.read, store.written, seconds, making.kernels)

    def make_elsewhere(self, tile: Tile) -> Made:
        """As `make`; OSError where this machine does not see the store that was begun."""
        try:
            ChunkStore(self.path).meta(ROOT)
        except FileNotFoundError:
            raise OSError(f"{socket.gethostname()}, a worker's machine, does not see {self.path}") from None
        return self.make(tile)

    def finished(self, store: ChunkStore, tile: Tile) -> bool:
        """Whether all chunks of a tile are there, in full size and, with `check`, undamaged."""
        grid = self.grid
        chunks = [at for strip in grid.gives(tile) for at in grid.chunks_of(strip)]
        if not self.check:
            return all(store.size(self.array, (*at, 0)) == grid.chunk_bytes for at in chunks)
        try:
            for at in chunks:
                store.get(self.array, (*at, 0), "<u2", (grid.chunk, grid.chunk * grid.columns))
        except FormatError:
            return False
        return True


def plays_bytes(points: int, chequers: int) -> int:
    """Bytes of the list of plays that every worker holds, and of making it."""
    n = board.count(points, chequers)
    return n * (8 * results_a_position(points, chequers) + 168 + 8 * points + 56)


@cache
def order_of(points: int, chequers: int) -> PipOrder:
    """The plays of a board, once a process."""
    return pip_order(points, chequers)


def room(name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> Array:
    """An array of unknown content, in memory that this thread takes once for all its tiles."""
    held: dict[str, Array] = _rooms.__dict__.setdefault("held", {})
    size = prod(shape)
    if name not in held or held[name].size < size or held[name].dtype != dtype:
        held.pop(name, None)
        held[name] = np.empty(size, dtype)
    return held[name][:size].reshape(shape)


class TileMaking:
    """A tile being made. `upper` are group i's records against group j, `lower` the others; one for i = j."""

    def __init__(self, making: Making, store: ChunkStore, tile: Tile, hands: Hands) -> None:
        self.making, self.store, self.tile, self.hands = making, store, tile, hands
        self.grid = grid = making.grid
        (self.a, self.b), (self.c, self.d) = (grid.group(k) for k in tile)
        k = grid.columns
        self.upper = hands.records("upper", self.b - self.a, (self.d - self.c) * k)
        self.lower = self.upper
        if tile[0] != tile[1]:
            self.lower = hands.records("lower", self.d - self.c, (self.b - self.a) * k)
        self.kernels = 0.0

    def run(self) -> None:
        """Read, make and write."""
        grid, k, hands = self.grid, self.grid.columns, self.hands
        i, j = self.tile
        same = i == j
        a, b, c, d = self.a, self.b, self.c, self.d
        above, left = grid.window(i), grid.window(j)
        # group j's sides against all that group i's plays may lead to; group i's against what j's lead to
        near = hands.near("near", b - above, d - c)
        before = room("before", (b - a, (c - left) * k), np.uint16)
        for strip in grid.needs(self.tile):
            for place, rows, stored in self._read(strip):
                if strip.row == j:
                    hands.lay(stored, near, rows[0], place - above)
                if strip.row == i:
                    at = (place - left) * k
                    before[rows[0] : rows[1], at : at + stored.shape[1]] = stored
        began = time.perf_counter()
        for p, q in grid.layers(i):
            if p == 0:
                self._terminal()
            else:
                hands.best(Strips((p, q), near, above, p - c if same else 0, self.upper, p - a, 0, d - c))
                own = hands.near("own", d - left, q - p)
                hands.lay(before[p - a : q - a], own, 0, 0)
                hands.lay(self.upper[p - a : q - a], own, 0, c - left)
                u = q if same else c
                hands.best(Strips((u, d), own, left, 0, self.lower, u - c, p - a, q - p))
            if q < b:
                hands.lay(self.lower[:, (p - a) * k : (q - a) * k], near, 0, p - above)
        upper = hands.host(self.upper)
        lower = upper if same else hands.host(self.lower)
        self.kernels = time.perf_counter() - began
        self._write(i, c, d, upper)
        if not same:
            self._write(j, a, b, lower)

    def _terminal(self) -> None:
        """A side that is off has won; who plays against it has lost."""
        k = self.grid.columns
        self.hands.fill(self.lower, self.d - self.c, k, 0)
        self.hands.fill(self.upper, 1, (self.d - self.c) * k, 0xFFFF)

    def _read(self, strip: Strip) -> Iterable[tuple[int, tuple[int, int], Array]]:
        """Chunks of a strip: first place, rows within the group, records (rows, places * columns); each is lost with
        the next."""
        grid = self.grid
        c, k = grid.chunk, grid.columns
        low, high = grid.group(strip.row)
        space = room("chunk", (grid.chunk_bytes + 1,), np.uint8)
        for row, column in grid.chunks_of(strip):
            rows = (row * c - low, min(high, (row + 1) * c) - low)
            last = min(strip.high, (column + 1) * c)
            found, _ = self.store.get(self.making.array, (row, column, 0), "<u2", (c, c * k), space)
            yield column * c, rows, found[: rows[1] - rows[0], : (last - column * c) * k]

    def _write(self, group: int, low: int, high: int, made: Array) -> None:
        """Records of a group against places low..high-1, as chunks."""
        grid, store = self.grid, self.store
        c, k = grid.chunk, grid.columns
        begin = grid.group(group)[0]
        whole = room("whole", (c, c * k), np.uint16)
        for row, column in grid.chunks_of(Strip(group, low, high)):
            part = made[
                row * c - begin : (row + 1) * c - begin, (column * c - low) * k : ((column + 1) * c - low) * k
            ]
            if part.shape != (c, c * k):
                whole[...] = 0
            whole[: part.shape[0], : part.shape[1]] = part
            store.put(self.making.array, (row, column, 0), whole)


class Chunked:
    """Puts records into chunks, and each chunk into the store once it is whole."""

    def __init__(self, making: Making, pool: Pool) -> None:
        self.making, self.starts = making, pool.starts
        self.store = ChunkStore(making.path)
        self.type = record_type(making.grid.columns)
        self._chunks: dict[tuple[int, int], Array] = {}
        self._left: dict[tuple[int, int], int] = {}  # records that a chunk lacks
        self._lock = threading.Lock()

    def take(self, squares: Squares, made: Array) -> None:
        """Records of `Pairs`."""
        c, place, records = self.making.grid.chunk, 0, made.view(self.type)
        low, high = int(self.starts[squares.us[0]]), int(self.starts[squares.us[1]])
        for b in range(*squares.ts):
            first, past = int(self.starts[b]), int(self.starts[b + 1])
            part = records[place : place + (high - low) * (past - first)].reshape(high - low, past - first)
            place += part.size
            for x in range(low // c, -(-high // c)):
                us = slice(max(low, x * c), min(high, (x + 1) * c))
                for y in range(first // c, -(-past // c)):
                    ts = slice(max(first, y * c), min(past, (y + 1) * c))
                    some = part[us.start - low : us.stop - low, ts.start - first : ts.stop - first]
                    self._put((x, y), us, ts, some)

    def _put(self, at: tuple[int, int], us: slice, ts: slice, records: Array) -> None:
        grid = self.making.grid
        x, y = (k * grid.chunk for k in at)
        with self._lock:
            if at not in self._chunks:
                self._chunks[at] = np.zeros((grid.chunk, grid.chunk), self.type)
                if x == 0:  # a side that is off has won
                    self._chunks[at][0, : grid.n - y] = np.iinfo(self.type).max
                rows, columns = (min(grid.chunk, grid.n - k) - (k == 0) for k in (x, y))
                self._left[at] = rows * columns
            chunk = self._chunks[at]
        chunk[us.start - x : us.stop - x, ts.start - y : ts.stop - y] = records
        with self._lock:
            self._left[at] -= records.size
            if self._left[at]:
                return
            del self._left[at], self._chunks[at]
        self.store.put(self.making.array, (*at, 0), chunk)


def solve_layers(making: Making, workers: Workers, progress: Callable[[int, int], None]) -> None:
    """Fill an empty store layer by layer with what tiles would make.

    progress : called after each layer with the pairs that are made and the first place whose records may be missing.
    """
    grid = making.grid
    order = order_of(grid.points, grid.chequers)
    pool = Pool(order.cuts, grid.columns)
    pairs = Pairs(order, pool, Chunked(making, pool).take)
    for layer in range(1, order.layers):
        pairs.layer(layer, workers)
        end = int(order.cuts[layer + 1])
        progress(done_after(order.cuts, layer), end if end == order.n else end // grid.chunk * grid.chunk)
