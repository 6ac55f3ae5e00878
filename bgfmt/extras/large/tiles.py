"""A two-sided table as tiles that any worker can solve, and a store of chunks filled by them, or layer by layer.

Both sides are put in order of pips and cut into groups of `side` places. The tile (i, j), i <= j, is all pairs of
group i with group j, either side on roll; docs/cluster.md explains what it depends on. Squares are stored in chunks
of `chunk` places a side; input is read in whole chunks.

>>> grid = grid_of(6, 5, columns=4, side=64, chunk=32)
>>> grid.size, len(grid.tiles()), grid.needed_strips((1, 2))[0]
(8, 36, Strip(row=2, low=0, high=64))

A tile reads the chunks that it needs, is solved, and writes its own: memory is bounded by a tile, and any worker can
solve it. If the values of all layers at hand fit into memory, `solve_layers` fills the same store in three quarters
of the time; an interrupted run is continued by tiles. Chunks appear whole and are the same from every worker, so that
they may be computed twice; finished tiles are recognised by their chunks.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bgfmt.errors import FormatError
from bgfmt.extras.large import kernels_tiles as kernels
from bgfmt.extras.large.chunks import ROOT, ChunkStore
from bgfmt.game import board
from bgfmt.game.results import WEIGHTS, Array
from bgfmt.solver.layers import REACH, SINGLE, PipOrder, Pool, Stakes, layer_cuts, pip_order
from bgfmt.solver.machine import results_per_position
from bgfmt.solver.two_sided import Pairs, Squares, count_pairs_done, record_type
from bgfmt.solver.workers import Workers, device_class

Tile = tuple[int, int]
BYTES_PER_NUMBER = 2
#: memory of a worker's interpreter, libraries and code; compiling once needs the same again
WORKER_BASE_BYTES = 180_000_000
MAX_GROUPS = 128  # with more groups, reading costs more than idle workers
MAX_CHUNKS_PER_SIDE = 500  # larger stores get larger chunks
MIN_CHUNK_PLACES = 128
MAX_CHUNK_PLACES = 2048
_buffers = threading.local()
LANES = 128  # numbers compared at once


class Strip(NamedTuple):
    """Sides of group `row` on roll against places low..high-1."""

    row: int
    low: int
    high: int


@dataclass(frozen=True)
class TileGrid:
    """Division of a table with `columns` numbers a pair into tiles.

    cuts : first place of each pip layer. side, chunk : places along a side of a tile, and of a chunk.
    """

    points: int
    chequers: int
    columns: int
    cuts: Array
    side: int
    chunk: int

    @property
    def n(self) -> int:
        """Number of positions of a side."""
        return int(self.cuts[-1])

    @property
    def size(self) -> int:
        """Number of groups of positions, which is the number of tiles along a side of the table."""
        return -(-self.n // self.side)

    @property
    def chunks(self) -> int:
        """Number of chunks along a side of the table."""
        return -(-self.n // self.chunk)

    @property
    def chunk_bytes(self) -> int:
        """Size of a stored chunk with its checksum; chunks at the edges are padded."""
        return self.chunk * self.chunk * self.columns * BYTES_PER_NUMBER + 4

    def tiles(self) -> list[Tile]:
        """List all tiles as (i, j), i <= j: all pairs of group i with group j, either side on roll.

        Each is listed after those that it needs, and first those for which many others wait.
        """
        found = [(i, j) for i in range(self.size) for j in range(i, self.size)]
        return sorted(found, key=lambda tile: (tile[0] + tile[1], tile[1] - tile[0]))

    def predecessors(self, tile: Tile) -> list[Tile]:
        """Return the tiles that must be solved before this one: its left and upper neighbours.

        All other tiles that it needs are solved before those.
        """
        i, j = tile
        return [(a, b) for a, b in ((i - 1, j), (i, j - 1)) if 0 <= a <= b]

    def group(self, i: int) -> tuple[int, int]:
        """Return the places (ranks of positions in order of pips) of group i, as (first, past the last)."""
        return i * self.side, min(self.n, (i + 1) * self.side)

    def layers(self, i: int) -> list[tuple[int, int]]:
        """Return the places of group i in layers of equal pip count, each as (first, past the last)."""
        low, high = self.group(i)
        inner = self.cuts[(self.cuts > low) & (self.cuts < high)].tolist()
        edges = [low, *inner, high]
        return list(pairwise(edges))

    def window(self, i: int) -> int:
        """Return the lowest place that a play from group i may lead to, rounded down to a whole chunk.

        A place is the rank of a position in order of pips.
        """
        return int(self._windows[i])

    @cached_property
    def starts(self) -> Array:
        """The first place (rank in order of pips) of each group and, last, the number of positions."""
        return np.append(np.arange(self.size) * self.side, self.n)

    @cached_property
    def _windows(self) -> Array:
        layer = np.searchsorted(self.cuts, self.starts[:-1], side="right") - 1
        first: Array = self.cuts[np.maximum(0, layer - REACH)] // self.chunk * self.chunk
        return first

    def needed_strips(self, tile: Tile) -> list[Strip]:
        """Return the strips (part of a group's rows) of other tiles that must be read to solve a tile."""
        i, j = tile
        strips = [Strip(j, self.window(i), self.group(i)[0])]
        return strips if i == j else [*strips, Strip(i, self.window(j), self.group(j)[0])]

    def written_strips(self, tile: Tile) -> list[Strip]:
        """Return the one or two strips (part of a group's rows) that a solved tile consists of."""
        i, j = tile
        strips = [Strip(i, *self.group(j))]
        return strips if i == j else [*strips, Strip(j, *self.group(i))]

    def chunks_of(self, strip: Strip) -> list[tuple[int, int]]:
        """Return (row, column) in the grid of chunks of each chunk that a strip touches."""
        rows, columns = (
            range(low // self.chunk, -(-high // self.chunk))
            for low, high in (self.group(strip.row), (strip.low, strip.high))
        )
        return [(a, b) for a in rows for b in columns]

    def pairs(self, tile: Tile) -> int:
        """Count the pairs of positions of a tile; either side on roll counts as a pair of its own."""
        (a, b) = self.group(tile[0])
        (c, d) = self.group(tile[1])
        return (b - a) * (d - c) * (1 if tile[0] == tile[1] else 2)

    @cached_property
    def spans(self) -> tuple[Array, Array]:
        """Number of chunk rows of each group, and of chunk columns of the places below it that its plays may reach.

        A tile reads the rows of one group times the columns of the other, and the other way round.
        """
        low = self.starts[:-1]
        high = self.starts[1:]
        return -(-high // self.chunk) - low // self.chunk, (low - self._windows) // self.chunk

    @property
    def bytes_moved(self) -> tuple[int, int]:
        """Bytes (read, written) of the store if every tile is solved once.

        The sum over all pairs of groups equals that of all rows times that of all columns, see `spans`.
        """
        rows, windows = self.spans
        return int(rows.sum() * windows.sum()) * self.chunk_bytes, self.chunks**2 * self.chunk_bytes

    @cached_property
    def memory(self) -> int:
        """Greatest memory in bytes of solving a tile, in addition to the interpreter and the list of plays.

        It consists of the values of one group and the records of the other against the places that plays may reach,
        the values of a layer, and the tile itself.
        """
        span = int((self.starts[1:] - self._windows).max())
        wide = int(np.diff(self.starts).max())
        layer = int(np.diff(self.cuts).max())
        places = (2 * wide + min(layer, wide) + 64) * span + (2 if self.size > 1 else 1) * wide**2
        return places * self.columns * BYTES_PER_NUMBER + 2 * self.chunk_bytes


def grid_of(
    points: int,
    chequers: int,
    *,
    columns: int,
    workers: int = 2,
    memory: int | None = None,
    side: int | None = None,
    chunk: int | None = None,
) -> TileGrid:
    """Choose how to divide a two-sided table into tiles and chunks.

    Small tiles keep many workers busy, large ones read less: without `side` there are four groups for each worker, at
    most `MAX_GROUPS`, or more if the memory requires it.

    Parameters
    ----------
    columns : numbers of a record, 4 or 1.
    workers : number of workers.
    memory : bytes that a worker may use for a tile; no limit if None.
    side, chunk : places along a side of a tile and of a chunk; chosen if None.
    """
    cuts = layer_cuts(points, chequers)
    n = int(cuts[-1])
    if chunk is None:
        chunk = _chunk_for(n)
    if side is not None:
        return TileGrid(points, chequers, columns, cuts, side, chunk)
    for chunks in range(-(-n // (min(4 * workers, MAX_GROUPS) * chunk)), 0, -1):
        grid = TileGrid(points, chequers, columns, cuts, chunks * chunk, chunk)
        if memory is None or grid.memory <= memory:
            break
    return grid


def _chunk_for(n: int) -> int:
    """Return the places along a side of a chunk: a power of two that gives at most a few thousand chunks a side."""
    chunk = MIN_CHUNK_PLACES if n < 2048 else 256 if n < 8192 else 512
    while n // chunk > MAX_CHUNKS_PER_SIDE and chunk < MAX_CHUNK_PLACES:
        chunk *= 2
    return chunk


# -- filling a store -------------------------------------------------------------------------------------


class TileReport(NamedTuple):
    """Cost of a tile: bytes read from and written to the store, seconds in all and in the kernels."""

    tile: Tile
    read: int
    written: int
    seconds: float
    kernels: float


class TileKernels:
    """Runs the two kernels of a tile in this process; devices have subclasses. `empty` allocates their arrays."""

    empty: Callable[..., Any] = staticmethod(np.empty)

    def __init__(self, order: PipOrder, columns: int, gammons: bool = False) -> None:
        self.order = order
        self.columns = columns
        self.gammons = gammons
        self.record = np.uint64 if columns == 4 else np.int16
        self.block = (LANES if order.n > 4000 else LANES // 2) // 4 if columns == 4 else LANES

    def turned_buffer(self, name: str, places: int, sides: int) -> Any:
        """Return working space for values of sides against places, as seen by the side that has just moved.

        The shape is (blocks of sides, places, columns of a block), int16. The next call with this name returns the
        same memory.
        """
        return buffer(name, (-(-sides // self.block), places, self.block * self.columns), np.int16)

    def record_buffer(self, name: str, rows: int, numbers: int) -> Any:
        """Return working space for new records, (rows, numbers) uint16.

        The next call with this name returns the same memory.
        """
        return buffer(name, (rows, numbers), np.uint16, self.empty)

    def store_turned(self, stored: Any, near: Any, side: int, at: int) -> None:
        """Convert stored records to values as seen by the side that has just moved, and write them to `near`.

        Parameters
        ----------
        stored : (sides, places * columns) uint16, records as stored.
        near : from `turned_buffer`.
        side, at : indices in `near` of the first side and of the first place.
        """
        if stored.size:
            run = buffer("run", (kernels.PLACES_PER_RUN * self.columns,), np.int16)
            if not stored.flags.c_contiguous:
                copied = buffer("copied", stored.shape, stored.dtype.type)
                copied[...] = stored
                stored = copied
            into = near.view(self.record)
            whole = run.view(self.record)
            kernels.store_turned(stored, self.columns, self.gammons, into, side, at, run, whole)

    def compute_records(
        self,
        us: tuple[int, int],
        near: Any,
        window: int,
        sides: tuple[int, int],
        out: Any,
        row: int,
        place: int,
    ) -> None:
        """Compute the stored records of pairs: sides at places us[0]..us[1]-1, on roll, against some sides of `near`.

        A place is the rank of a position in order of pips.

        Parameters
        ----------
        near : from `turned_buffer`, values as seen by the side that has just moved.
        window : place of the first row of `near`.
        sides : range of indices along the sides of `near`, (first, past the last).
        out : uint16, receives the records of us[0] in row `row`, of us[0] + 1 in the next, and so on.
        row, place : the record against side x of `near` begins in its row at column (place + x) * columns.
        """
        order = self.order
        block = self.block
        low, high = sides
        for part in range(low // block, -(-high // block)):
            first = part * block
            kernels.compute_records(
                *us, near[part], window, order.ends, order.results, WEIGHTS, self.columns, self.gammons, out, row,
                place + first, max(0, low - first), min(block, high - first),
            )  # fmt: skip


@dataclass(frozen=True)
class TileSolve:
    """The arguments of a solve by tiles that workers need; it can be pickled.

    Attributes
    ----------
    path, array : the store, and the name of its array.
    grid : the division into tiles.
    device : name of the device that runs the kernels; "" for this process.
    check : verify the checksums of existing chunks, so that damaged ones are computed again.
    stakes : values of the games.
    """

    path: str
    array: str
    grid: TileGrid
    device: str = ""
    check: bool = False
    stakes: Stakes = SINGLE

    def make(self, tile: Tile) -> TileReport:
        """Solve a tile and write its chunks, unless all of them exist; return what it cost."""
        began = time.perf_counter()
        store = ChunkStore(self.path)
        kernels = 0.0 if self.finished(store, tile) else self._work(store, tile)
        return TileReport(tile, store.read, store.written, time.perf_counter() - began, kernels)

    def make_tile(self, tile: Tile) -> TileReport:
        """Solve a tile as `make` does; raise OSError if the store cannot be seen from this machine."""
        try:
            ChunkStore(self.path).read_metadata(ROOT)
        except FileNotFoundError:
            raise OSError(
                f"{socket.gethostname()}, the machine of a worker, cannot see {self.path}"
            ) from None
        return self.make(tile)

    def finished(self, store: ChunkStore, tile: Tile) -> bool:
        """Return True if all chunks of a tile exist in full size and, if the field `check` is set, undamaged."""
        grid = self.grid
        chunks = [at for strip in grid.written_strips(tile) for at in grid.chunks_of(strip)]
        if not self.check:
            return all(store.size(self.array, (*at, 0)) == grid.chunk_bytes for at in chunks)
        try:
            for at in chunks:
                store.read_chunk(self.array, (*at, 0), "<u2", (grid.chunk, grid.chunk * grid.columns))
        except FormatError:
            return False
        return True

    def _work(self, store: ChunkStore, tile: Tile) -> float:
        """Read what a tile needs, solve it and write it; return the seconds in the kernels."""
        grid = self.grid
        k = self.grid.columns
        kind = device_class(self.device) if self.device else TileKernels
        order = order_of(grid.points, grid.chequers)
        tile_kernels = kind(order, k, self.stakes.gammons)
        won, lost = self.stakes.finished_records(order, k)
        i, j = tile
        same = i == j
        (a, b) = grid.group(i)
        (c, d) = grid.group(j)
        above = grid.window(i)
        left = grid.window(j)
        # group i's records against group j, and the others, which are the same for i = j
        upper = lower = tile_kernels.record_buffer("upper", b - a, (d - c) * k)
        if not same:
            lower = tile_kernels.record_buffer("lower", d - c, (b - a) * k)
        # group j's sides against all that group i's plays may lead to; group i's against what j's lead to
        near = tile_kernels.turned_buffer("near", b - above, d - c)
        before = buffer("before", (b - a, (c - left) * k), np.uint16)
        for strip in grid.needed_strips(tile):
            for place, rows, stored in self._read(store, strip):
                if strip.row == j:
                    tile_kernels.store_turned(stored, near, rows[0], place - above)
                if strip.row == i:
                    at = (place - left) * k
                    before[rows[0] : rows[1], at : at + stored.shape[1]] = stored
        began = time.perf_counter()
        for p, q in grid.layers(i):
            if p == 0:  # a side that is off has won; who plays against it has lost
                lower[: d - c, :k] = lost[c:d]
                upper[:1, : (d - c) * k] = won[c:d].reshape(1, -1)
            else:
                tile_kernels.compute_records(
                    (p, q), near, above, (p - c if same else 0, d - c), upper, p - a, 0
                )
                own = tile_kernels.turned_buffer("own", d - left, q - p)
                tile_kernels.store_turned(before[p - a : q - a], own, 0, 0)
                tile_kernels.store_turned(upper[p - a : q - a], own, 0, c - left)
                u = q if same else c
                tile_kernels.compute_records((u, d), own, left, (0, q - p), lower, u - c, p - a)
            if q < b:
                tile_kernels.store_turned(lower[:, (p - a) * k : (q - a) * k], near, 0, p - above)
        found = np.asarray(upper)
        others = found if same else np.asarray(lower)
        seconds = time.perf_counter() - began
        self._write(store, Strip(i, c, d), found)
        if not same:
            self._write(store, Strip(j, a, b), others)
        return seconds

    def _read(self, store: ChunkStore, strip: Strip) -> Iterator[tuple[int, tuple[int, int], Array]]:
        """Yield the chunks of a strip: first place, rows within the group, records (rows, places * columns).

        Each chunk's records are overwritten by the next.
        """
        grid = self.grid
        c = grid.chunk
        k = grid.columns
        low, high = grid.group(strip.row)
        space = buffer("chunk", (grid.chunk_bytes + 1,), np.uint8)
        for row, column in grid.chunks_of(strip):
            rows = (row * c - low, min(high, (row + 1) * c) - low)
            last = min(strip.high, (column + 1) * c)
            found, _ = store.read_chunk(self.array, (row, column, 0), "<u2", (c, c * k), space)
            yield column * c, rows, found[: rows[1] - rows[0], : (last - column * c) * k]

    def _write(self, store: ChunkStore, strip: Strip, made: Array) -> None:
        """Write the records of a strip as chunks."""
        c = self.grid.chunk
        k = self.grid.columns
        begin = self.grid.group(strip.row)[0]
        whole = buffer("whole", (c, c * k), np.uint16)
        for row, column in self.grid.chunks_of(strip):
            x = row * c - begin
            y = (column * c - strip.low) * k
            part = made[x : x + c, y : y + c * k]
            if part.shape != (c, c * k):
                whole[...] = 0
            whole[: part.shape[0], : part.shape[1]] = part
            store.write_chunk(self.array, (row, column, 0), whole)


def play_list_bytes(points: int, chequers: int) -> int:
    """Return the memory in bytes that a worker needs to compute and hold the list of all plays of a table size."""
    n = board.count(points, chequers)
    return n * (8 * results_per_position(points, chequers) + 168 + 8 * points + 56)


@cache
def order_of(points: int, chequers: int) -> PipOrder:
    """Return the positions in order of pips with the results of their rolls; cached for each size."""
    return pip_order(points, chequers)


def buffer(
    name: str, shape: tuple[int, ...], dtype: type[np.generic], empty: Callable[..., Any] = np.empty
) -> Any:
    """Return an array of undefined content that this thread reuses for all its tiles.

    name : arrays of other names do not share memory. empty : allocates it.
    """
    held: dict[Any, Any] = _buffers.__dict__.setdefault("held", {})
    key = (name, dtype, empty)
    size = prod(shape)
    if key not in held or held[key].size < size:
        held.pop(key, None)
        held[key] = empty(size, dtype)
    return held[key][:size].reshape(shape)


class ChunkWriter:
    """Collects records into chunks, and writes each chunk to the store once it is complete."""

    def __init__(self, solve: TileSolve, pool: Pool) -> None:
        self.solve = solve
        self.starts = pool.starts
        self.type = record_type(solve.grid.columns)
        order = order_of(solve.grid.points, solve.grid.chequers)
        self.won, self.lost = (
            np.ascontiguousarray(rows).view(self.type)[:, 0]
            for rows in solve.stakes.finished_records(order, solve.grid.columns)
        )
        self.store = ChunkStore(solve.path)
        self._chunks: dict[tuple[int, int], Array] = {}
        self._left: dict[tuple[int, int], int] = {}  # records that a chunk lacks
        self._lock = threading.Lock()

    def take(self, squares: Squares, made: Array) -> None:
        """Copy the records that a step of `Pairs` has computed into their chunks; write the chunks that are complete.

        squares : which pairs they are. made : the records, flat uint16.
        """
        place = 0
        records = made.view(self.type)
        low = int(self.starts[squares.us[0]])
        high = int(self.starts[squares.us[1]])
        for b in range(*squares.ts):
            first = int(self.starts[b])
            past = int(self.starts[b + 1])
            part = records[place : place + (high - low) * (past - first)].reshape(high - low, past - first)
            place += part.size
            for x, us in self._split(low, high):
                for y, ts in self._split(first, past):
                    some = part[us.start - low : us.stop - low, ts.start - first : ts.stop - first]
                    self._put_records((x, y), us.start, ts.start, some)

    def _split(self, low: int, high: int) -> list[tuple[int, range]]:
        """Split places low..high-1 by chunks: (index of the chunk, its places)."""
        c = self.solve.grid.chunk
        return [(x, range(max(low, x * c), min(high, x * c + c))) for x in range(low // c, -(-high // c))]

    def _put_records(self, at: tuple[int, int], u: int, t: int, records: Array) -> None:
        """Put the records of places from u against those from t into a chunk; write the chunk if it is complete."""
        grid = self.solve.grid
        x, y = (k * grid.chunk for k in at)
        with self._lock:
            if at not in self._chunks:
                chunk = np.zeros((grid.chunk, grid.chunk), self.type)
                if y == 0:  # the side on roll has lost
                    lost = self.lost[x : x + grid.chunk]
                    chunk[: len(lost), 0] = lost
                if x == 0:  # a side that is off has won
                    won = self.won[y : y + grid.chunk]
                    chunk[0, : len(won)] = won
                rows, columns = (min(grid.chunk, grid.n - k) - (k == 0) for k in (x, y))
                self._chunks[at] = chunk
                self._left[at] = rows * columns
            chunk = self._chunks[at]
        chunk[u - x : u - x + records.shape[0], t - y : t - y + records.shape[1]] = records
        with self._lock:
            self._left[at] -= records.size
            if self._left[at]:
                return
            del self._left[at], self._chunks[at]
        self.store.write_chunk(self.solve.array, (*at, 0), chunk)


def solve_layers(solve: TileSolve, workers: Workers) -> Iterator[tuple[int, int]]:
    """Solve a table in layers of equal pip count into an empty store.

    Yields after each layer (pairs solved, number of first rows of the store that are certainly complete).

    solve : the table and the store.
    """
    grid = solve.grid
    order = order_of(grid.points, grid.chequers)
    pool = Pool(order.cuts, grid.columns)
    pairs = Pairs(order, pool, solve.stakes, ChunkWriter(solve, pool).take)
    for layer in range(1, order.layers):
        pairs.solve_layer(layer, workers)
        end = int(order.cuts[layer + 1])
        yield count_pairs_done(order.cuts, layer), end if end == order.n else end // grid.chunk * grid.chunk
