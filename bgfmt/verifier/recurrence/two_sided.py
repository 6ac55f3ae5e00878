"""Recurrence of two-sided tables: does every entry follow from the file's own smaller entries?

The value of (us, them) follows from the entries (them, j) of the same file, j where a play of ours leads. So a tile
of rows, seen by the other side and laid out side by side, gives the expected values of every us against those rows by
running maxima over contiguous lanes, in any order.

The pass reads the file twice at most: its rows, as what a play leads to; and its columns, as what must follow, in
bands of which a row's piece is a few pages. A compressed table is walked in the order in which its rows and columns
lie together in the file, so that it is unpacked twice and never as a whole.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.jit.lanes import LANES, add_best
from bgfmt.storage import system
from bgfmt.tables import GammonTwoSided
from bgfmt.tables.rows import mapping_of
from bgfmt.tables.two_sided import ONE, ZERO, StoredEquities
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, Array, Progress, pips, plays

HIGH = 32767
LOW = -32768
UNPACKED_BYTES = 64 << 20  # rows of a compressed table that are made at once
LIST_MOST = 1_000_000
BAND_BYTES = 192 << 20
LARGE = 3 << 30
LARGE_BAND_BYTES = 768 << 20
PIECE_BYTES = 16 << 20
TOGETHER = 64  # rows that are made at once for entries here and there
NONE = np.zeros(0, np.int64)


class Ends(NamedTuple):
    """Games that are over, as stored: won, lost (n, columns) int64 against each side, and by each side, on roll.

    gammons : whether they count; then numbers are 16383ths, rounded to the nearest, else 32767.5ths, truncated.
    """

    gammons: bool
    won: Array
    lost: Array


def ends_of(table: StoredEquities) -> Ends:
    """The ends of a table's games."""
    if isinstance(table, GammonTwoSided):
        units = (table.won() * ONE).astype(np.int64)
        return Ends(True, ZERO + units, ZERO - units)
    shape = table.positions, table.equities.shape[2]
    return Ends(False, np.full(shape, HIGH - LOW), np.zeros(shape, np.int64))


class PairReader:
    """Rows and pieces of columns of a table, mapped or read; what is read is let go again."""

    def __init__(self, table: StoredEquities) -> None:
        self.rows_array = table.equities
        self.n, _, self.columns = table.equities.shape
        self.release = table.release or (lambda: None)
        self._fd = -1
        self._offset = 0
        #: position numbers by place, in another order than their own where the table is packed
        order = getattr(table.equities, "order", None)
        self.packed = order is not None
        self.order: Array = np.arange(self.n) if order is None else order
        array = table.equities
        if isinstance(array, np.ndarray) and array.flags.c_contiguous and array.dtype == np.dtype("<u2"):
            mapped = mapping_of(array)
            if mapped is not None and os.path.isfile(table.provenance):
                start = np.frombuffer(mapped, np.uint8, 1).__array_interface__["data"][0]
                self._offset = array.__array_interface__["data"][0] - start
                with contextlib.suppress(OSError):
                    self._fd = os.open(table.provenance, os.O_RDONLY)

    def rows(self, start: int, stop: int) -> Array:
        """Rows at places start..stop-1, (stop - start, n, columns) uint16, columns by position number."""
        if self.packed:
            return np.ascontiguousarray(self.rows_array[self.order[start:stop]], "<u2")
        return self.piece(start, stop, 0, self.n).reshape(stop - start, self.n, self.columns)

    def piece(self, start: int, stop: int, first: int, last: int) -> Array:
        """Places first..last-1 of rows at start..stop-1: (stop - start, (last - first) * columns) uint16."""
        width = (last - first) * self.columns
        if self.packed:
            made = self.rows_array.piece(np.arange(start, stop), first, last)  # type: ignore[attr-defined]
            return np.asarray(made).reshape(stop - start, width)
        out = np.empty((stop - start, width), "<u2")
        step = stop - start if last - first == self.n else 1
        for k in range(start, stop, max(1, step)):
            some = out[k - start : k - start + step]
            if self._fd < 0:
                some[:] = np.asarray(self.rows_array[k : k + step])[:, first:last].reshape(some.shape)
            else:
                self._read(some, (k * self.n + first) * self.columns * 2)
        if self._fd < 0:
            self.release()
        return out

    def _read(self, out: Array, at: int) -> None:
        view = out.reshape(-1).view(np.uint8).data
        if system.read_into(self._fd, view, self._offset + at) < len(view):
            raise OSError("the file became shorter while it was read")

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


# -- the pass over all entries -----------------------------------------------------------------------------------


@dataclass
class Pass:
    """What the pass over all entries found.

    numbers : us * n + them of failing entries, at most LIST_MOST. histogram (columns, 19) : how often differences,
    stored less expected, are -9 or less .. 9 or more, noughts left out.
    """

    entries: int
    failing: int
    numbers: Array
    histogram: Array
    largest: int

    @classmethod
    def of(cls, entries: int, columns: int, numbers: Array = NONE, off: Array = NONE) -> Pass:
        """The entries `numbers` fail, by off (m, columns)."""
        histogram = np.zeros((columns, 19), np.int64)
        for column, counted in enumerate(histogram):
            differences = off.reshape(len(numbers), columns)[:, column]
            np.add.at(counted, np.clip(differences[differences != 0], -9, 9) + 9, 1)
        largest = int(np.abs(off).max(initial=0))
        return cls(entries, len(numbers), np.sort(numbers)[:LIST_MOST], histogram, largest)

    def joined(self, others: Iterable[Pass]) -> Pass:
        """This and other bands of the same table together."""
        for other in others:
            self.failing += other.failing
            if other.failing:
                self.numbers = np.sort(np.concatenate([self.numbers, other.numbers]))[:LIST_MOST]
            self.histogram = self.histogram + other.histogram
            self.largest = max(self.largest, other.largest)
        return self


def bands(table: StoredEquities) -> list[tuple[int, int]]:
    """The columns of a table in bands of places, first and past the last, that can be checked apart."""
    n, columns = table.positions, table.equities.shape[2]
    per_tile = LANES // columns
    budget = LARGE_BAND_BYTES if n * n * columns * 2 > LARGE else BAND_BYTES
    band = max(per_tile, min(n, budget // (n * columns * 2) // per_tile * per_tile))
    return [(begin, min(n, begin + band)) for begin in range(0, n, band)]


def check(
    table: StoredEquities,
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
    ends = ends_of(table)
    places = np.arange(n, dtype=np.int32)
    grid = PairReader(table)
    found = Pass.of(n * n, columns)
    per_tile = LANES // columns
    parts = bands(table) if only is None else only
    done, rows_in_all = 0, 2 * sum(end - begin for begin, end in parts)
    at_once = per_tile * (max(1, UNPACKED_BYTES // (n * columns * 2 * per_tile)) if grid.packed else 1)
    zero = int((grid.order == 0).argmax())

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(min(done, rows_in_all), rows_in_all)

    def work(part: tuple[int, int, Array, int]) -> None:
        first, last, expected, begin = part
        tile, total = np.empty((n, LANES), np.int16), np.empty(LANES, np.int32)
        rows = grid.rows(first, last)
        for low in range(first, last, per_tile):
            high = min(last, low + per_tile)
            turned_tile(rows[low - first : high - first], ends.gammons, tile)
            lane = (low - begin) * columns
            size = (high - low) * columns
            expected_tile(starts, results, places, tile, total, ends.gammons, expected, lane, size)

    def judge(part: tuple[int, int, Array, int, int]) -> Pass:
        u, v, expected, begin, end = part
        stored = grid.piece(u, v, begin, end)
        wanted = expected[grid.order[u:v]] if grid.packed else expected[u:v]
        rows = np.flatnonzero((stored != wanted).any(axis=1))
        off = (stored[rows].astype(np.int64) - wanted[rows]).reshape(len(rows), end - begin, columns)
        which, them = np.nonzero(off.any(axis=2))
        numbers = grid.order[rows[which] + u] * n + grid.order[begin + them]
        return Pass.of((v - u) * (end - begin), columns, numbers, off[which, them])

    try:
        with ThreadPoolExecutor(threads) as pool:
            for begin, end in parts:
                expected = np.empty((n, (end - begin) * columns), np.uint16)
                expected[0] = ends.won[grid.order[begin:end]].reshape(-1)
                tiles = [(t, min(end, t + at_once), expected, begin) for t in range(begin, end, at_once)]
                for tile, _ in zip(tiles, pool.map(work, tiles), strict=True):
                    advance(tile[1] - tile[0])
                if begin <= zero < end:
                    expected[1:, (zero - begin) * columns :][:, :columns] = ends.lost[1:]
                step = max(1, PIECE_BYTES // expected[0].nbytes)
                pieces = [(u, min(n, u + step), expected, begin, end) for u in range(0, n, step)]
                for one in pool.map(judge, pieces):
                    found.joined([one])
                    advance(one.entries // n)
    finally:
        grid.close()
    return found


def settle(
    table: StoredEquities, failing: Array | None, follows: Callable[[Array, Array], Array] | None = None
) -> tuple[Array, Array]:
    """(the table put right, numbers of the entries that were wrong), in order of pips, each correction followed up.

    failing : numbers us * n + them to look at first; None for all entries. follows : (table, numbers) -> the entries
    (m, columns) that follow from a table (n, n, columns); by default those of sides that have passed each other.
    """
    n, work = table.positions, np.array(np.asarray(table.equities), np.uint16)
    flat, depth = work.reshape(n * n, -1), pips(table.points, table.chequers)
    starts, results = plays(table.points, table.chequers)
    ends = ends_of(table)
    owners = np.repeat(np.arange(ROLLS * n) // ROLLS, np.diff(starts))
    after, before = np.divmod(
        np.unique(results * np.int64(n) + owners), n
    )  # positions, and those that lead there
    begins = np.searchsorted(after, np.arange(n + 1))
    waiting: list[list[Array]] = [[] for _ in range(2 * int(depth.max()) + 1)]  # by pips of both sides

    def wait(numbers: Array) -> None:
        totals = depth[numbers // n] + depth[numbers % n]
        order = np.argsort(totals, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(totals[order])) + 1):
            if len(part):
                waiting[totals[part[0]]].append(numbers[part])

    wait(np.arange(n * n) if failing is None else failing)
    wrong = [NONE]
    for parts in waiting:
        some = np.unique(np.concatenate([NONE, *parts]))
        right = values_at(work, some, starts, results, ends) if follows is None else follows(work, some)
        bad = some[(flat[some] != right).any(axis=1)]
        flat[some] = right
        wrong.append(bad)
        if failing is not None:
            # (u, t) is what a play by the other side leads to: entries (x, u) with t among x's successors
            wait(
                np.concatenate([NONE, *(before[begins[k % n] : begins[k % n + 1]] * n + k // n for k in bad)])
            )
    return work, np.concatenate(wrong)


def values_at(table: Array, numbers: Array, starts: Array, results: Array, ends: Ends) -> Array:
    """(m, columns) int64: what the rule gives for the entries `numbers` of equities (n, n, columns)."""
    out = np.zeros((len(numbers), table.shape[2]), np.int64)
    us, them = np.divmod(numbers, len(table))
    values_of(table, them, us, them, starts, results, *ends, out)
    return out


def expected_at(table: StoredEquities, numbers: Array) -> Array:
    """(m, columns) int64: what the rule gives for the entries `numbers` from the stored ones."""
    starts, results = plays(table.points, table.chequers)
    rows, ends = table.equities, ends_of(table)
    if isinstance(rows, np.ndarray):
        return values_at(rows, numbers, starts, results, ends)
    us, them = np.divmod(numbers, table.positions)
    out = np.zeros((len(us), rows.shape[2]), np.int64)
    for mine, some, at in by_rows(rows, them):
        value = out[mine]
        values_of(some, at, us[mine], them[mine], starts, results, *ends, value)
        out[mine] = value
    return out


def by_rows(equities: Any, them: Array) -> Iterator[tuple[Array, Array, Array]]:
    """(indices into `them`, some rows of the table (r, n, columns), which of these each wants), a few at a time."""
    wanted, at = np.unique(them, return_inverse=True)
    for start in range(0, len(wanted), TOGETHER):
        mine = np.flatnonzero((at >= start) & (at < start + TOGETHER))
        rows = np.ascontiguousarray(equities[wanted[start : start + TOGETHER]], np.uint16)
        yield mine, rows, at[mine] - start


# -- compiled ----------------------------------------------------------------------------------------------------


@njit()
def turn(nd: Any, dt: Any) -> Any:
    """What the side on roll has with its best cube action: roll on, double and take, or double and pass."""
    half = nd // 2 if nd >= 0 else -((-nd) // 2)
    if dt >= half:
        return HIGH if dt >= 16383 else 2 * dt
    return nd


@njit()
def turn_of_gammons(nd: Any, dt: Any) -> Any:
    """The same in 16383ths."""
    return max(nd, min(2 * dt, ONE))


@njit()
def turned(row: Array, j: int, gammons: bool) -> Any:
    """The four equities of entry j of a row (n, columns) uint16, seen by the other side with the cube decided."""
    e0 = np.int32(row[j, 0]) + LOW
    if gammons:
        if row.shape[1] == 1:
            return -e0, LOW, LOW, LOW
        e1, e2, e3 = np.int32(row[j, 1]) + LOW, np.int32(row[j, 2]) + LOW, np.int32(row[j, 3]) + LOW
        return -e0, -e3, -turn_of_gammons(e2, e3), -turn_of_gammons(e1, e3)
    if row.shape[1] == 1:
        return ~e0, LOW, LOW, LOW
    e1, e2, e3 = np.int32(row[j, 1]) + LOW, np.int32(row[j, 2]) + LOW, np.int32(row[j, 3]) + LOW
    return ~e0, ~e3, ~turn(e2, e3), ~turn(e1, e3)


@njit()
def weigh(row: Array, j: int, gammons: bool, best: Array) -> None:
    """Take the values of a play that leads to j where they are greater; row : (n, columns) of the others."""
    e0, e1, e2, e3 = turned(row, j, gammons)
    best[0], best[1], best[2], best[3] = (
        max(best[0], e0),
        max(best[1], e1),
        max(best[2], e2),
        max(best[3], e3),
    )


@njit()
def store(total: Array, gammons: bool, out: Array) -> None:
    """out = total / 36 as stored, with 32768 added, truncated or rounded to the nearest; out : (columns,) int64."""
    more = 18 if gammons else 0
    for c in range(len(out)):
        value = total[c]
        out[c] = 32768 + (value + more) // 36 if value >= 0 else 32768 - (more - value) // 36


@njit()
def turned_tile(rows: Array, gammons: bool, tile: Array) -> None:
    """tile[j, columns * k + c] = `turned` entry j of row k; rows : (k, n, columns); tile : (n, LANES) int16."""
    many, n, columns = rows.shape
    for k in range(many):
        row = rows[k]
        for j in range(n):
            e0, e1, e2, e3 = turned(row, j, gammons)
            tile[j, columns * k] = e0
            if columns == 4:
                tile[j, 4 * k + 1], tile[j, 4 * k + 2], tile[j, 4 * k + 3] = e1, e2, e3


@njit()
def expected_tile(
    starts: Array, results: Array, places: Array, tile: Array, total: Array, gammons: bool, out: Array, lane: int,
    lanes: int,
) -> None:  # fmt: skip
    """out[u, lane : lane + lanes] = what the rule gives for every u > 0 against the tile's rows, as stored.

    places : (n,) int32, 0 and up: the tile's lines are in the order of position numbers. total : (LANES,) int32,
    working space. out : (n, width) uint16.
    """
    more = 18 if gammons else 0
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
            size = np.uint32(abs(value) + more) // np.uint32(36)
            out[u, lane + x] = np.uint16(np.int32(size) + 32768 if value >= 0 else 32768 - np.int32(size))


@njit()
def values_of(
    rows: Array, at: Array, us: Array, them: Array, starts: Array, results: Array, gammons: bool, won: Array,
    lost: Array, out: Array,
) -> None:  # fmt: skip
    """out[i] = what the rule gives for (us[i], them[i]) from row rows[at[i]]; out : (m, columns) int64, as stored."""
    best, total = np.empty(4, np.int64), np.empty(4, np.int64)
    for i in range(len(us)):
        if us[i] == 0 or them[i] == 0:
            out[i] = won[them[i]] if us[i] == 0 else lost[us[i]]
            continue
        row = rows[at[i]]
        total[:] = 0
        for roll in range(ROLLS):
            best[:] = LOW
            for q in range(starts[ROLLS * us[i] + roll], starts[ROLLS * us[i] + roll + 1]):
                weigh(row, results[q], gammons, best)
            for c in range(out.shape[1]):
                total[c] += WEIGHTS[roll] * best[c]
        store(total, gammons, out[i])
