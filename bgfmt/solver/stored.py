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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bgfmt.errors import FormatError
from bgfmt.game import board
from bgfmt.game.results import WEIGHTS, Array
from bgfmt.solver.layers import SINGLE, PipOrder, Pool, Stakes, pip_order
from bgfmt.solver.machine import results_a_position
from bgfmt.solver.tiles import Strip, Tile, TileGrid
from bgfmt.solver.two_sided import Pairs, Squares, done_after, record_type
from bgfmt.solver.workers import Workers, device_named
from bgfmt.storage.chunks import ROOT, ChunkStore

_rooms = threading.local()
LANES = 128  # numbers side by side in a maximum


class Made(NamedTuple):
    """What making a tile took: bytes read from and written to the store, seconds in all and in the kernels."""

    tile: Tile
    read: int
    written: int
    seconds: float
    kernels: float


class Hands:
    """Runs the two kernels of a tile in this process; a device derives its own. `empty` makes an array of theirs."""

    empty: Callable[..., Any] = staticmethod(np.empty)

    def __init__(self, order: PipOrder, columns: int, gammons: bool = False) -> None:
        self.order, self.columns, self.gammons = order, columns, gammons
        self.record = np.uint64 if columns == 4 else np.int16
        self.block = (LANES if order.n > 4000 else LANES // 2) // 4 if columns == 4 else LANES

    def near(self, name: str, places: int, sides: int) -> Any:
        """Room for the turned values of sides against places, in lanes; lost with the next of this name."""
        return room(name, (-(-sides // self.block), places, self.block * self.columns), np.int16)

    def records(self, name: str, rows: int, numbers: int) -> Any:
        """Room for records being made, (rows, numbers) uint16; lost with the next of this name."""
        return room(name, (rows, numbers), np.uint16, self.empty)

    def lay(self, stored: Any, near: Any, side: int, at: int) -> None:
        """Lay stored records (sides, places * columns), turned, into `near` from `side` and place `at` on."""
        from bgfmt.solver.kernels import two_sided as kernels

        if stored.size:
            run = room("run", (kernels.RUN * self.columns,), np.int16)
            if not stored.flags.c_contiguous:
                copied = room("copied", stored.shape, stored.dtype.type)
                copied[...] = stored
                stored = copied
            into, whole = near.view(self.record), run.view(self.record)
            kernels.lay(stored, self.columns, self.gammons, into, side, at, run, whole)

    def best(
        self,
        us: tuple[int, int],
        near: Any,
        window: int,
        sides: tuple[int, int],
        out: Any,
        row: int,
        place: int,
    ) -> None:
        """Make the records of us[0]..us[1]-1 against sides[0]..sides[1]-1 of `near`, whose places begin at `window`.

        They go into out[row.., (place + sides[0]) * columns..].
        """
        from bgfmt.solver.kernels import two_sided as kernels

        order, block = self.order, self.block
        low, high = sides
        for part in range(low // block, -(-high // block)):
            first = part * block
            kernels.best(
                *us, near[part], window, order.ends, order.results, WEIGHTS, self.columns, self.gammons, out, row,
                place + first, max(0, low - first), min(block, high - first),
            )  # fmt: skip


@dataclass(frozen=True)
class Making:
    """A solve as a worker needs it; pickles. `device` runs the kernels; `check` holds chunks that are there against
    their checksums, so that damaged ones are made again. `stakes` of the games."""

    path: str
    array: str
    grid: TileGrid
    device: str = ""
    check: bool = False
    stakes: Stakes = SINGLE

    def make(self, tile: Tile) -> Made:
        """Make a tile, unless all its chunks are there."""
        began = time.perf_counter()
        store = ChunkStore(self.path)
        kernels = 0.0 if self.finished(store, tile) else self._work(store, tile)
        return Made(tile, store.read, store.written, time.perf_counter() - began, kernels)

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

    def _work(self, store: ChunkStore, tile: Tile) -> float:
        """Read what a tile needs, make it, write it; the seconds in the kernels."""
        grid, k = self.grid, self.grid.columns
        kind = device_named(self.device) if self.device else Hands
        order = order_of(grid.points, grid.chequers)
        hands = kind(order, k, self.stakes.gammons)
        won, lost = self.stakes.over(order, k)
        i, j = tile
        same = i == j
        (a, b), (c, d) = grid.group(i), grid.group(j)
        above, left = grid.window(i), grid.window(j)
        # group i's records against group j, and the others, which are the same for i = j
        upper = lower = hands.records("upper", b - a, (d - c) * k)
        if not same:
            lower = hands.records("lower", d - c, (b - a) * k)
        # group j's sides against all that group i's plays may lead to; group i's against what j's lead to
        near = hands.near("near", b - above, d - c)
        before = room("before", (b - a, (c - left) * k), np.uint16)
        for strip in grid.needs(tile):
            for place, rows, stored in self._read(store, strip):
                if strip.row == j:
                    hands.lay(stored, near, rows[0], place - above)
                if strip.row == i:
                    at = (place - left) * k
                    before[rows[0] : rows[1], at : at + stored.shape[1]] = stored
        began = time.perf_counter()
        for p, q in grid.layers(i):
            if p == 0:  # a side that is off has won; who plays against it has lost
                lower[: d - c, :k] = lost[c:d]
                upper[:1, : (d - c) * k] = won[c:d].reshape(1, -1)
            else:
                hands.best((p, q), near, above, (p - c if same else 0, d - c), upper, p - a, 0)
                own = hands.near("own", d - left, q - p)
                hands.lay(before[p - a : q - a], own, 0, 0)
                hands.lay(upper[p - a : q - a], own, 0, c - left)
                u = q if same else c
                hands.best((u, d), own, left, (0, q - p), lower, u - c, p - a)
            if q < b:
                hands.lay(lower[:, (p - a) * k : (q - a) * k], near, 0, p - above)
        found = np.asarray(upper)
        others = found if same else np.asarray(lower)
        seconds = time.perf_counter() - began
        self._write(store, Strip(i, c, d), found)
        if not same:
            self._write(store, Strip(j, a, b), others)
        return seconds

    def _read(self, store: ChunkStore, strip: Strip) -> Iterator[tuple[int, tuple[int, int], Array]]:
        """Chunks of a strip: first place, rows within the group, records (rows, places * columns); each is lost with
        the next."""
        grid = self.grid
        c, k = grid.chunk, grid.columns
        low, high = grid.group(strip.row)
        space = room("chunk", (grid.chunk_bytes + 1,), np.uint8)
        for row, column in grid.chunks_of(strip):
            rows = (row * c - low, min(high, (row + 1) * c) - low)
            last = min(strip.high, (column + 1) * c)
            found, _ = store.get(self.array, (row, column, 0), "<u2", (c, c * k), space)
            yield column * c, rows, found[: rows[1] - rows[0], : (last - column * c) * k]

    def _write(self, store: ChunkStore, strip: Strip, made: Array) -> None:
        """Records of a strip, as chunks."""
        c, k = self.grid.chunk, self.grid.columns
        begin = self.grid.group(strip.row)[0]
        whole = room("whole", (c, c * k), np.uint16)
        for row, column in self.grid.chunks_of(strip):
            x, y = row * c - begin, (column * c - strip.low) * k
            part = made[x : x + c, y : y + c * k]
            if part.shape != (c, c * k):
                whole[...] = 0
            whole[: part.shape[0], : part.shape[1]] = part
            store.put(self.array, (row, column, 0), whole)


def plays_bytes(points: int, chequers: int) -> int:
    """Bytes of the list of plays that every worker holds, and of making it."""
    n = board.count(points, chequers)
    return n * (8 * results_a_position(points, chequers) + 168 + 8 * points + 56)


@cache
def order_of(points: int, chequers: int) -> PipOrder:
    """The plays of a board, once a process."""
    return pip_order(points, chequers)


def room(
    name: str, shape: tuple[int, ...], dtype: type[np.generic], empty: Callable[..., Any] = np.empty
) -> Any:
    """An array of unknown content, in memory that this thread takes once for all its tiles. empty : makes it."""
    held: dict[Any, Any] = _rooms.__dict__.setdefault("held", {})
    key, size = (name, dtype, empty), prod(shape)
    if key not in held or held[key].size < size:
        held.pop(key, None)
        held[key] = empty(size, dtype)
    return held[key][:size].reshape(shape)


class Chunked:
    """Puts records into chunks, and each chunk into the store once it is whole."""

    def __init__(self, making: Making, pool: Pool) -> None:
        self.making, self.starts = making, pool.starts
        order = order_of(making.grid.points, making.grid.chequers)
        self.won, self.lost = (
            np.ascontiguousarray(rows) for rows in making.stakes.over(order, making.grid.columns)
        )
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
                if y == 0:  # the side on roll has lost
                    lost = self.lost.view(self.type)[x : x + grid.chunk, 0]
                    self._chunks[at][: len(lost), 0] = lost
                if x == 0:  # a side that is off has won
                    won = self.won.view(self.type)[y : y + grid.chunk, 0]
                    self._chunks[at][0, : len(won)] = won
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


def solve_layers(making: Making, workers: Workers) -> Iterator[tuple[int, int]]:
    """Fill an empty store layer by layer with what tiles would make.

    After each layer: the pairs that are made, and the first place whose records may be missing.
    """
    grid = making.grid
    order = order_of(grid.points, grid.chequers)
    pool = Pool(order.cuts, grid.columns)
    pairs = Pairs(order, pool, making.stakes, Chunked(making, pool).take)
    for layer in range(1, order.layers):
        pairs.layer(layer, workers)
        end = int(order.cuts[layer + 1])
        yield done_after(order.cuts, layer), end if end == order.n else end // grid.chunk * grid.chunk
