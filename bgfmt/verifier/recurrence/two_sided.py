"""Recurrence of two-sided tables: does every entry follow from the file's own smaller entries?

The value of (us, them) follows from row `them` of the same file: from the entries (them, j), j where a play of ours
leads. So a tile of rows, turned round to our point of view and laid out with the rows side by side, gives the
expected values of every us against those rows by running maxima over contiguous lanes, in any order.

The pass reads the file twice at most: its rows, as what a play leads to; and its columns, as what must follow.
Columns are taken in bands wide enough that a band's piece of a row is a few pages, so that a file larger than memory
is read twice and no more. A compressed table is walked in the order in which its rows and columns lie together in the
file (its equities have an `order`, position numbers by place), so that it is unpacked twice and never as a whole.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.jit import njit
from bgfmt.jit.lanes import LANES, add_best
from bgfmt.storage import system
from bgfmt.tables import TwoSided
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, pip_order, plays, predecessors

Array = NDArray[Any]
Progress = Callable[[int, int], None]
HIGH = 32767
LOW = -32768
UNPACKED_BYTES = 64 << 20  # rows of a compressed table that are made at once
LIST_MOST = 1_000_000
BAND_BYTES = 192 << 20
LARGE = 3 << 30
LARGE_BAND_BYTES = 768 << 20
PIECE_BYTES = 16 << 20


# -- reading -----------------------------------------------------------------------------------------------------


def _offset_in_file(array: Array) -> int | None:
    """Where an array that looks straight into a mapped file begins in it; None for any other array."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    if not isinstance(base, mmap.mmap):
        return None
    start = np.frombuffer(base, np.uint8, 1).__array_interface__["data"][0]
    return int(array.__array_interface__["data"][0] - start)


class PairReader:
    """Rows and pieces of columns of a table, mapped or read; what is read is let go again."""

    def __init__(self, table: TwoSided) -> None:
        self.rows_array = table.equities
        self.n, _, self.columns = table.equities.shape
        self.release = table.release or (lambda: None)
        self._fd = -1
        self._offset = 0
        #: position numbers by place, where rows and columns are walked in another order than that of their numbers
        self.order: Array | None = getattr(table.equities, "order", None)
        array = table.equities
        if isinstance(array, np.ndarray) and array.flags.c_contiguous and array.dtype == np.dtype("<u2"):
            offset = _offset_in_file(array)
            if offset is not None and os.path.isfile(table.provenance):
                self._offset = offset
                with contextlib.suppress(OSError):
                    self._fd = os.open(table.provenance, os.O_RDONLY)

    def rows(self, start: int, stop: int) -> Array:
        """Rows at places start..stop-1, (stop - start, n, columns) uint16, columns by position number."""
        if self.order is not None:
            return np.ascontiguousarray(self.rows_array[self.order[start:stop]], "<u2")
        if self._fd < 0:
            rows = np.array(self.rows_array[start:stop], "<u2")
            self.release()
            return rows
        out = np.empty((stop - start, self.n, self.columns), "<u2")
        self._read(out, start * self.n * self.columns * 2)
        return out

    def at_once(self) -> int:
        """Rows that are best made at once, where they are made."""
        return 1 if self.order is None else UNPACKED_BYTES // (self.n * self.columns * 2)

    def piece(self, start: int, stop: int, first: int, last: int) -> Array:
        """Places first..last-1 of rows at start..stop-1: (stop - start, (last - first) * columns) uint16."""
        width = (last - first) * self.columns
        if self.order is not None:
            made = self.rows_array.piece(np.arange(start, stop), first, last)  # type: ignore[attr-defined]
            return np.asarray(made).reshape(stop - start, width)
        if last - first == self.n:
            return self.rows(start, stop).reshape(stop - start, width)
        out = np.empty((stop - start, width), "<u2")
        for k in range(start, stop):
            if self._fd < 0:
                out[k - start] = np.asarray(self.rows_array[k])[first:last].reshape(-1)
            else:
                self._read(out[k - start], (k * self.n + first) * self.columns * 2)
        if self._fd < 0:
            self.release()
        return out

    def _read(self, out: Array, at: int) -> None:
        view = out.reshape(-1).view(np.uint8).data
        if system.read_into(self._fd, view, self._offset + at) < len(view):
            raise OSError("the file became shorter while it was read")

    def numbers(self, places: Array) -> Array:
        """Position numbers at places."""
        return places if self.order is None else np.asarray(self.order[places])

    def place(self, number: int) -> int:
        """The place of a position number."""
        return number if self.order is None else int((self.order == number).argmax())

    def close(self) -> None:
        """Let the file go."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


# -- the pass over all entries -----------------------------------------------------------------------------------


@dataclass
class Pass:
    """What the pass over all entries found."""

    entries: int
    columns: int
    failing: int = 0
    #: us * n + them of failing entries, at most LIST_MOST
    numbers: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    #: (columns, 19): differences of -9 or less .. 9 or more, stored less expected
    histogram: Array = field(default_factory=lambda: np.zeros((4, 19), np.int64))
    largest: int = 0

    def joined(self, others: Iterable[Pass]) -> Pass:
        """This and other bands of the same table together."""
        for other in others:
            self.failing += other.failing
            self.numbers = np.sort(np.concatenate([self.numbers, other.numbers]))[:LIST_MOST]
            self.histogram = self.histogram + other.histogram
            self.largest = max(self.largest, other.largest)
        return self


def bands(table: TwoSided) -> list[tuple[int, int]]:
    """The columns of a table in bands of places, first and past the last, that can be checked apart."""
    n, columns = table.positions, table.equities.shape[2]
    per_tile = LANES // columns
    budget = LARGE_BAND_BYTES if n * n * columns * 2 > LARGE else BAND_BYTES
    band = max(per_tile, min(n, budget // (n * columns * 2) // per_tile * per_tile))
    return [(begin, min(n, begin + band)) for begin in range(0, n, band)]


def check(
    table: TwoSided,
    *,
    threads: int = 1,
    progress: Progress | None = None,
    only: Sequence[tuple[int, int]] | None = None,
) -> Pass:
    """Hold every entry of a table against what its own smaller entries give (recipe gnubg).

    only : some of the `bands`, instead of all.
    """
    n, columns = table.positions, table.equities.shape[2]
    starts, results = plays(table.points, table.chequers)
    places = np.arange(n, dtype=np.int32)
    grid = PairReader(table)
    found = Pass(n * n, columns, histogram=np.zeros((columns, 19), np.int64))
    per_tile = LANES // columns
    parts = bands(table) if only is None else only
    rows_in_all = 2 * sum(end - begin for begin, end in parts)
    at_once = per_tile * max(1, grid.at_once() // per_tile)
    zero = grid.place(0)
    lists: list[Array] = []
    local = threading.local()
    lock = threading.Lock()
    done = 0

    def advance(rows: int) -> None:
        nonlocal done
        with lock:
            done += rows
            if progress is not None:
                progress(min(done, rows_in_all), rows_in_all)

    def work(part: tuple[int, int, Array, int]) -> None:
        first, last, expected, begin = part
        if not hasattr(local, "tile"):
            local.tile = np.zeros((n, LANES), np.int16)
            local.total = np.zeros(LANES, np.int32)
        rows = grid.rows(first, last)
        for low in range(first, last, per_tile):
            high = min(last, low + per_tile)
            turned_tile(rows[low - first : high - first], local.tile)
            lane = (low - begin) * columns
            expected_tile(
                starts, results, places, local.tile, local.total, expected, lane, (high - low) * columns
            )
            advance(high - low)

    def judge(part: tuple[int, int, Array, int, int]) -> tuple[int, int, Array, Array, int]:
        u, v, expected, begin, end = part
        stored = grid.piece(u, v, begin, end)
        fails = np.zeros(v - u, np.int64)
        histogram = np.zeros((columns, 19), np.int64)
        wanted = expected[u:v] if grid.order is None else expected[grid.order[u:v]]
        largest = int(compare(stored, wanted, columns, fails, histogram))
        numbers = np.zeros(0, np.int64)
        if fails.any():
            bad = np.flatnonzero(fails)
            differ = (stored[bad] != wanted[bad]).reshape(len(bad), -1, columns).any(axis=2)
            which, them = np.nonzero(differ)
            numbers = (grid.numbers(bad[which] + u) * n + grid.numbers(begin + them))[:LIST_MOST]
        return v - u, int(fails.sum()), histogram, numbers, largest

    try:
        with ThreadPoolExecutor(threads) as pool:
            for begin, end in parts:
                expected = np.empty((n, (end - begin) * columns), np.uint16)
                expected[0] = 65535
                tiles = [(t, min(end, t + at_once), expected, begin) for t in range(begin, end, at_once)]
                list(pool.map(work, tiles))
                if begin <= zero < end:
                    expected[1:, (zero - begin) * columns :][:, :columns] = 0
                step = max(1, PIECE_BYTES // expected[0].nbytes)
                pieces = [(u, min(n, u + step), expected, begin, end) for u in range(0, n, step)]
                for rows, failing, histogram, numbers, largest in pool.map(judge, pieces):
                    found.failing += failing
                    found.largest = max(found.largest, largest)
                    found.histogram += histogram
                    if len(numbers) and sum(map(len, lists)) < LIST_MOST:
                        lists.append(numbers)
                    advance(rows * (end - begin) // n if n else 0)
    finally:
        grid.close()
    if lists:
        found.numbers = np.sort(np.concatenate(lists)[:LIST_MOST])
    return found


@dataclass
class Settled:
    """The table put right: `work` (n, n, columns), and the numbers of the entries that were wrong, in order."""

    work: Array
    wrong: Array


def settle(table: TwoSided, failing: Array | None) -> Settled:
    """Put wrong entries right in order of pips, following each correction to what depends on it.

    failing : numbers us * n + them to look at first; None for all entries.
    """
    n = table.positions
    starts, results = plays(table.points, table.chequers)
    begins, before = predecessors(n, starts, results)
    pips, order, pips_at = pip_order(table.points, table.chequers)
    work = np.array(np.asarray(table.equities), np.uint16)
    dirty = np.zeros((n, n), np.uint8)
    if failing is None:
        dirty[:] = 1
    else:
        dirty.reshape(-1)[failing] = 1
    lists = []
    room = np.empty(min(n * n, 1 << 24), np.int64)
    for total in range(2 * int(pips.max()) + 1):
        found = settle_pips(work, starts, results, begins, before, dirty, order, pips_at, total, room)
        lists.append(np.sort(room[: min(found, len(room))]))
    return Settled(work, np.concatenate(lists))


def expected_at(table: TwoSided, numbers: Array) -> Array:
    """(m, columns) int64: what the rule gives for the entries `numbers` from the stored ones."""
    starts, results = plays(table.points, table.chequers)
    us, them = np.divmod(numbers, table.positions)
    rows: Any = table.equities
    n, columns = table.positions, rows.shape[2]
    out = np.zeros((len(us), columns), np.int64)
    if isinstance(rows, np.ndarray):
        values_of(rows, us, them, starts, results, out)
        return out
    wanted = np.unique(them[them > 0])  # rows that are made on demand: those that are asked for, behind row 0
    for part in np.array_split(wanted, -(-len(wanted) // 64) or 1):
        mine = np.flatnonzero(np.isin(them, part) | (them == 0))
        stored = np.zeros((len(part) + 1, n, columns), np.uint16)
        stored[1:] = rows[part]
        value = np.zeros((len(mine), columns), np.int64)
        values_of(stored, us[mine], np.searchsorted(part, them[mine], "right"), starts, results, value)
        out[mine] = value
    return out


# -- compiled ----------------------------------------------------------------------------------------------------


@njit()
def turn(nd: Any, dt: Any) -> Any:
    """What the side on roll has with its best cube action: roll on, double and take, or double and pass."""
    half = nd // 2 if nd >= 0 else -((-nd) // 2)
    if dt >= half:
        return HIGH if dt >= 16383 else 2 * dt
    return nd


@njit()
def weigh(row: Array, j: int, best: Array) -> None:
    """Take the values of a play that leads to j where they are greater; row : (n, columns) uint16 of the others."""
    e0 = np.int64(row[j, 0]) + LOW
    best[0] = max(best[0], ~e0)
    if row.shape[1] == 4:
        e1 = np.int64(row[j, 1]) + LOW
        e2 = np.int64(row[j, 2]) + LOW
        e3 = np.int64(row[j, 3]) + LOW
        best[1] = max(best[1], ~e3)
        best[2] = max(best[2], ~turn(e2, e3))
        best[3] = max(best[3], ~turn(e1, e3))


@njit()
def store(total: Array, out: Array) -> None:
    """out = trunc(total / 36) as stored, with 32768 added; out : (columns,) int64."""
    for c in range(len(out)):
        value = total[c]
        out[c] = 32768 + value // 36 if value >= 0 else 32768 - (-value) // 36


@njit()
def turned_tile(rows: Array, tile: Array) -> None:
    """tile[j, 4 k + c] or [j, k]: row k's entry j from the other side's view, the cube decision taken.

    rows : (k, n, columns) uint16; tile : (n, LANES) int16.
    """
    many, n, columns = rows.shape
    for k in range(many):
        for j in range(n):
            e0 = np.int32(rows[k, j, 0]) + LOW
            if columns == 1:
                tile[j, k] = ~e0
                continue
            e1 = np.int32(rows[k, j, 1]) + LOW
            e2 = np.int32(rows[k, j, 2]) + LOW
            e3 = np.int32(rows[k, j, 3]) + LOW
            tile[j, 4 * k] = ~e0
            tile[j, 4 * k + 1] = ~e3
            tile[j, 4 * k + 2] = ~turn(e2, e3)
            tile[j, 4 * k + 3] = ~turn(e1, e3)


@njit()
def expected_tile(
    starts: Array, results: Array, places: Array, tile: Array, total: Array, out: Array, lane: int, lanes: int
) -> None:  # fmt: skip
    """out[u, lane : lane + lanes] = what the rule gives for every u > 0 against the tile's rows, as stored.

    places : (n,) int32, 0 and up: the tile's lines are in the order of position numbers. total : (LANES,) int32,
    working space. out : (n, width) uint16.
    """
    for u in range(1, len(out)):
        total[:] = 0
        for r in range(ROLLS):
            first, last = starts[ROLLS * u + r], starts[ROLLS * u + r + 1]
            add_best(
                tile.ctypes.data, 2 * LANES, places.ctypes.data, results.ctypes.data, first, last,
                total.ctypes.data, WEIGHTS[r] - 1,
            )  # fmt: skip
        for x in range(lanes):
            value = total[x]
            size = np.uint32(abs(value)) // np.uint32(36)
            out[u, lane + x] = np.uint16(np.int32(size) + 32768 if value >= 0 else 32768 - np.int32(size))


@njit()
def compare(stored: Array, expected: Array, columns: int, fails: Array, histogram: Array) -> int:
    """Count entries whose stored and expected values differ; returns the greatest difference.

    stored, expected : (m, width) uint16, `columns` values an entry. fails : (m,) int64, entries that differ in each
    row. histogram : (columns, 19) int64, clipped differences -9..9 (stored less expected) are counted.
    """
    many, width = stored.shape
    largest = 0
    for u in range(many):
        a = stored[u]
        b = expected[u]
        different = 0
        for x in range(width):
            different += a[x] != b[x]
        if different == 0:
            continue
        for t in range(width // columns):
            wrong = False
            for c in range(columns):
                off = np.int64(a[t * columns + c]) - np.int64(b[t * columns + c])
                if off != 0:
                    wrong = True
                    largest = max(largest, int(abs(off)))
                    clipped: Any = max(-9, min(9, off))
                    histogram[c, clipped + 9] += 1
            if wrong:
                fails[u] += 1
    return largest


@njit()
def value_of(table: Array, u: int, t: int, starts: Array, results: Array, out: Array) -> None:
    """out[0:columns] = what the rule gives for (u, t) from the table's own entries, as stored."""
    columns = table.shape[2]
    if u == 0 or t == 0:
        for c in range(columns):
            out[c] = 65535 if u == 0 else 0
        return
    best = np.empty(4, np.int64)
    total = np.zeros(4, np.int64)
    for roll in range(ROLLS):
        best[:] = LOW
        for q in range(starts[ROLLS * u + roll], starts[ROLLS * u + roll + 1]):
            weigh(table[t], results[q], best)
        for c in range(columns):
            total[c] += WEIGHTS[roll] * best[c]
    store(total, out)


@njit()
def values_of(table: Array, us: Array, them: Array, starts: Array, results: Array, out: Array) -> None:
    """out[i] = what the rule gives for (us[i], them[i]); out : (m, columns) int64."""
    for i in range(len(us)):
        value_of(table, us[i], them[i], starts, results, out[i])


@njit()
def settle_pips(
    work: Array,
    starts: Array,
    results: Array,
    begins: Array,
    before: Array,
    dirty: Array,
    order: Array,
    pips_at: Array,
    total_pips: int,
    wrong: Array,
) -> int:
    """Put right the dirty entries whose pips add up to total_pips; what follows from them becomes dirty.

    order : positions by pip count; pips_at[p] : where those of p pips begin in it. dirty : (n, n) uint8, set bit 1
    to look at an entry. wrong : (m,) int64 takes us * n + them of the entries that were wrong. Returns how many; no
    more than len(wrong) are put down.
    """
    n, _, columns = work.shape
    value = np.empty(columns, np.int64)
    found = 0
    most = len(pips_at) - 2
    for p in range(max(0, total_pips - most), min(most, total_pips) + 1):
        q = total_pips - p
        for i in range(pips_at[p], pips_at[p + 1]):
            u = order[i]
            for k in range(pips_at[q], pips_at[q + 1]):
                t = order[k]
                if dirty[u, t] == 0:
                    continue
                value_of(work, u, t, starts, results, value)
                same = True
                for c in range(columns):
                    same = same and np.int64(work[u, t, c]) == value[c]
                if same:
                    continue
                for c in range(columns):
                    work[u, t, c] = value[c]
                if found < len(wrong):
                    wrong[found] = u * n + t
                found += 1
                # (u, t) is what a play by the other side leads to: entries (x, u) with t among x's successors
                for m in range(begins[t], begins[t + 1]):
                    dirty[before[m], u] = 1
    return found
