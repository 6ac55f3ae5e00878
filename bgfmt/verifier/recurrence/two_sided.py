"""Recurrence of two-sided tables: does every entry follow from the file's own smaller entries?

The value of (us, them) follows from the entries (them, j) of the same file, where j are the positions after our
plays. A tile of rows, seen by the other side and laid out side by side, gives the expected values of every us against
those rows by running maxima over contiguous lanes, in any order.

The pass reads the file at most twice: once by rows, as the positions that plays lead to; and once by columns, as the
entries to check, in bands in which a row's part is a few pages. A compressed table is read in the order in which its
rows and columns lie in the file, so that it is decompressed twice and never as a whole.
"""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bgfmt.errors import TruncatedError
from bgfmt.jit import njit
from bgfmt.jit.lanes import LANES, add_best
from bgfmt.storage import system
from bgfmt.tables import GammonTwoSided, MatchScore
from bgfmt.tables.rows import mapping_of, random_access
from bgfmt.tables.two_sided import ONE, ZERO, StoredEquities
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, Array, Progress, pips, plays

HIGH = 32767
LOW = -32768
UNPACKED_BYTES = 64 << 20  # size of the rows of a compressed table that are decompressed at once
MAX_LISTED_ENTRIES = 1_000_000  # failing entries whose numbers are kept
BAND_BYTES = 192 << 20  # memory of a band's expected values
LARGE_TABLE_BYTES = 3 << 30  # larger tables are checked in wider bands
LARGE_BAND_BYTES = 768 << 20
PIECE_BYTES = 16 << 20  # stored values compared at once
ROWS_PER_READ = 64  # rows read at once to compute scattered entries
SOME_ENTRIES = 3200  # scattered entries checked at once
NONE = np.zeros(0, np.int64)


class PairRule:
    """A two-sided table and the rule by which its entries follow from each other.

    This class is for stored integers: gnubg's rule, or that of tables with gammons, whose numbers are 16383ths,
    rounded to the nearest.

    Attributes
    ----------
    equities : (n, n, columns) as stored, of dtype `dtype`.
    value_type : dtype of computed values.
    lanes : numbers of a row that are computed together.
    band_divisor : `bands` are narrower by this factor than for integers.
    starts, results : positions after each roll, see `plays`.
    """

    lanes = LANES
    band_divisor = 1

    def __init__(self, table: StoredEquities | MatchScore) -> None:
        self.table = table
        self.equities: Any = table.balance if isinstance(table, MatchScore) else table.equities
        self.points = table.points
        self.chequers = table.chequers
        self.n, _, self.columns = self.equities.shape
        self.dtype = np.dtype(self.equities.dtype).newbyteorder("=")
        self.value_type: Any = np.int64 if self.dtype == np.uint16 else self.dtype
        self.starts, self.results = plays(table.points, table.chequers)
        self.gammons = isinstance(table, GammonTwoSided)

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """Values of finished games as stored, each (n, columns) by position number of the side with chequers left.

        The first is the value to a side on roll that has borne off against that side; the second is that to that side
        on roll, when the other has borne off.
        """
        if isinstance(self.table, GammonTwoSided):
            units = (self.table.win_equities() * ONE).astype(np.int64)
            return ZERO + units, ZERO - units
        won = np.full((self.n, self.columns), HIGH - LOW, np.int64)
        return won, np.zeros_like(won)

    def fill(self, rows: Array, them: Array, expected: Array, lane: int) -> None:
        """Compute the entries of all sides on roll u > 0 against the sides `them` into a part of `expected`.

        expected[u, lane + columns * k + c] becomes column c of the entry against them[k]. rows : (len(them), n,
        columns) stored entries of these sides on roll.
        """
        tile = np.empty((self.n, self.lanes), np.int16)
        total = np.empty(self.lanes, np.int32)
        places = np.arange(self.n, dtype=np.int32)
        lanes = len(rows) * self.columns
        fill_tile(rows, self.gammons, tile)
        expected_tile(self.starts, self.results, places, tile, total, self.gammons, expected, lane, lanes)

    def values(self, rows: Array, at: Array, us: Array, them: Array) -> Array:
        """Compute the entries of us[i] on roll against them[i] from rows[at[i]]; return (m, columns) as stored.

        rows, at : rows[at[i]] are the stored entries of them[i] on roll.
        """
        out = np.zeros((len(us), self.columns), np.int64)
        values_of(rows, at, us, them, self.starts, self.results, self.gammons, *self.ends, out)
        return out

    def compute_entries(self, numbers: Array) -> Array:
        """Compute entries, given as us * n + them, from the stored ones that they depend on; return (m, columns)."""
        us, them = np.divmod(numbers, self.n)
        if isinstance(self.equities, np.ndarray) and self.equities.flags.aligned:
            return self.values(self.equities, them, us, them)
        out = np.zeros((len(us), self.columns), self.value_type)
        wanted, at = np.unique(them, return_inverse=True)
        for start in range(0, len(wanted), ROWS_PER_READ):
            mine = np.flatnonzero((at >= start) & (at < start + ROWS_PER_READ))
            rows = np.ascontiguousarray(self.equities[wanted[start : start + ROWS_PER_READ]], self.dtype)
            out[mine] = self.values(rows, at[mine] - start, us[mine], them[mine])
        return out

    def read_entries(self, numbers: Array) -> Array:
        """Read the stored entries with these numbers us * n + them; return (m, columns)."""
        return np.asarray(self.equities[np.divmod(numbers, self.n)]).astype(self.dtype)

    @property
    def bands(self) -> list[tuple[int, int]]:
        """Ranges (first, past the last) of sides not on roll that can be checked separately, in the file's order."""
        n = self.n
        entry = self.columns * self.dtype.itemsize
        per_tile = max(1, self.lanes // self.columns)
        budget = (LARGE_BAND_BYTES if n * n * entry > LARGE_TABLE_BYTES else BAND_BYTES) // self.band_divisor
        band = max(per_tile, min(n, budget // (n * entry) // per_tile * per_tile))
        return [(begin, min(n, begin + band)) for begin in range(0, n, band)]


class PairReader:
    """Reader of rows and column ranges of a table, memory-mapped or not; memory is released after reading."""

    def __init__(self, rule: PairRule) -> None:
        table = rule.table
        array = rule.equities
        self.name = table.provenance
        self.rows_array = array
        self.dtype = rule.dtype.newbyteorder("<")
        self.n = rule.n
        self.columns = rule.columns
        self.release = table.release or (lambda: None)
        self._fd = -1
        self._offset = 0
        #: position numbers by place, in another order than their own where the table is packed
        order = getattr(array, "order", None)
        self.packed = order is not None
        self.order: Array = np.arange(self.n) if order is None else order
        if isinstance(array, np.ndarray) and array.flags.c_contiguous and array.dtype == self.dtype:
            mapped = mapping_of(array)
            if mapped is not None and os.path.isfile(table.provenance):
                start = np.frombuffer(mapped, np.uint8, 1).__array_interface__["data"][0]
                self._offset = array.__array_interface__["data"][0] - start
                with contextlib.suppress(OSError):
                    self._fd = os.open(table.provenance, os.O_RDONLY)

    def rows(self, start: int, stop: int) -> Array:
        """Read the entries of the start-th to the (stop-1)-th side on roll, in the file's order of sides.

        Returns (stop - start, n, columns); the second axis is by position number.
        """
        if self.packed:
            return np.ascontiguousarray(self.rows_array[self.order[start:stop]], self.dtype)
        return self.piece(start, stop, 0, self.n).reshape(stop - start, self.n, self.columns)

    def piece(self, start: int, stop: int, first: int, last: int) -> Array:
        """Read entries of sides on roll start..stop-1 against sides first..last-1, both in the file's order of sides.

        Returns (stop - start, (last - first) * columns).
        """
        width = (last - first) * self.columns
        if self.packed:
            made = self.rows_array.piece(np.arange(start, stop), first, last)  # type: ignore[attr-defined]
            return np.asarray(made).reshape(stop - start, width)
        out = np.empty((stop - start, width), self.dtype)
        step = stop - start if last - first == self.n else 1
        for k in range(start, stop, max(1, step)):
            some = out[k - start : k - start + step]
            if self._fd < 0:
                some[:] = np.asarray(self.rows_array[k : k + step])[:, first:last].reshape(some.shape)
            else:
                self._read(some, (k * self.n + first) * self.columns * self.dtype.itemsize)
        if self._fd < 0:
            self.release()
        return out

    def _read(self, out: Array, at: int) -> None:
        view = out.reshape(-1).view(np.uint8).data
        begin = self._offset + at
        there = system.read_into(self._fd, view, begin)
        if there < len(view):
            raise TruncatedError(self.name, begin + len(view), begin + there)

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


# -- the pass over all entries -----------------------------------------------------------------------------------


@dataclass
class Pass:
    """Result of checking entries.

    Attributes
    ----------
    entries, failing : number of entries checked, and of failing ones.
    numbers : us * n + them of the failing entries, at most MAX_LISTED_ENTRIES.
    histogram : (19,) how often stored minus expected is -9 or less, -8, ..., 9 or more; zeros are not counted.
    largest : greatest difference.
    """

    entries: int
    failing: int
    numbers: Array
    histogram: Array
    largest: float

    @classmethod
    def from_differences(cls, entries: int, numbers: Array = NONE, off: Array = NONE) -> Pass:
        """Return the result of checking `entries` entries, of which those with these numbers fail.

        off : (m, columns) stored minus right numbers of the failing entries.
        """
        counted = np.clip(np.nan_to_num(off[off != 0]), -9, 9).astype(np.int64) + 9
        largest = float(np.nan_to_num(np.abs(off), nan=np.inf).max(initial=0))
        return cls(
            entries,
            len(numbers),
            np.sort(numbers)[:MAX_LISTED_ENTRIES],
            np.bincount(counted, minlength=19),
            largest,
        )

    def merge(self, other: Pass) -> None:
        """Add the result of another part of the same table to this one."""
        self.failing += other.failing
        if other.failing:
            self.numbers = np.sort(np.concatenate([self.numbers, other.numbers]))[:MAX_LISTED_ENTRIES]
        self.histogram = self.histogram + other.histogram
        self.largest = max(self.largest, other.largest)


def check(rule: PairRule, *, threads: int = 1, progress: Progress | None = None) -> Pass:
    """Check whether every entry of a table follows, to the last bit, from stored entries of fewer pips.

    rule : the table with the rule by which entries follow.
    """
    n, columns, grid = rule.n, rule.columns, PairReader(rule)
    found = Pass.from_differences(n * n)
    per_tile = max(1, rule.lanes // columns)
    done, rows_in_all = 0, 2 * n
    row_bytes = n * columns * rule.dtype.itemsize
    at_once = per_tile * (max(1, UNPACKED_BYTES // (row_bytes * per_tile)) if grid.packed else 1)
    zero = int((grid.order == 0).argmax())
    bits = np.dtype(f"i{rule.dtype.itemsize}")

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(min(done, rows_in_all), rows_in_all)

    def work(part: tuple[int, int, Array, int]) -> None:
        first, last, expected, begin = part
        rows = grid.rows(first, last)
        for low in range(first, last, per_tile):
            some = slice(low, min(last, low + per_tile))
            rule.fill(
                rows[some.start - first : some.stop - first],
                grid.order[some],
                expected,
                (low - begin) * columns,
            )

    @np.errstate(all="ignore")  # of numbers that are none
    def judge(part: tuple[int, int, Array, int, int]) -> Pass:
        u, v, expected, begin, end = part
        stored = grid.piece(u, v, begin, end)
        wanted = expected[grid.order[u:v]] if grid.packed else expected[u:v]
        differ = stored.view(bits) != wanted.view(bits)
        rows = np.flatnonzero(differ.any(axis=1))
        which, them = np.nonzero(differ[rows].reshape(len(rows), end - begin, columns).any(axis=2))
        numbers = grid.order[rows[which] + u] * n + grid.order[begin + them]
        off = (stored[rows].astype(rule.value_type) - wanted[rows]).reshape(len(rows), end - begin, columns)
        return Pass.from_differences((v - u) * (end - begin), numbers, off[which, them])

    try:
        with ThreadPoolExecutor(threads) as pool:
            for begin, end in rule.bands:
                expected = np.empty((n, (end - begin) * columns), rule.dtype)
                tiles = [(t, min(end, t + at_once), expected, begin) for t in range(begin, end, at_once)]
                for tile, _ in zip(tiles, pool.map(work, tiles), strict=True):
                    advance(tile[1] - tile[0])
                expected[0] = rule.ends[0][grid.order[begin:end]].reshape(-1)
                if begin <= zero < end:
                    expected[1:, (zero - begin) * columns :][:, :columns] = rule.ends[1][1:]
                step = max(1, PIECE_BYTES // expected[0].nbytes)
                pieces = [(u, min(n, u + step), expected, begin, end) for u in range(0, n, step)]
                for one in pool.map(judge, pieces):
                    found.merge(one)
                    advance(one.entries // n)
    finally:
        grid.close()
    return found


@np.errstate(all="ignore")
def check_some(rule: PairRule, numbers: Array, progress: Progress | None = None) -> Pass:
    """Check whether some entries of a table follow, to the last bit, from stored entries.

    rule : the table with the rule by which entries follow. numbers : the entries, as us * n + them.
    """
    found = Pass.from_differences(len(numbers))
    numbers = numbers[np.argsort(numbers % rule.n, kind="stable")]  # what they follow from lies together
    done = 0
    for part in np.array_split(numbers, 1 + len(numbers) // SOME_ENTRIES):
        with random_access(rule.equities):
            stored = rule.read_entries(part)
            right = rule.compute_entries(part).astype(rule.dtype)
        bits = np.dtype(f"i{rule.dtype.itemsize}")
        bad = np.flatnonzero((stored.view(bits) != right.view(bits)).any(axis=1))
        off = stored[bad].astype(rule.value_type) - right[bad]
        found.merge(Pass.from_differences(len(part), part[bad], off))
        done += len(part)
        if progress is not None:
            progress(done, len(numbers))
    return found


def settle(rule: PairRule, failing: Array | None) -> tuple[Array, Array]:
    """Recompute wrong entries of a table in order of pips, using each corrected entry for those after it.

    Returns (the corrected table, numbers of the entries that were wrong).

    rule : the table with the rule by which entries follow. failing : numbers us * n + them of the entries with which
    to begin; entries that depend on a corrected one follow. None to compute all.
    """
    n, work = rule.n, np.array(np.asarray(rule.equities), rule.dtype)
    flat = work.reshape(n * n, -1)
    depth = pips(rule.points, rule.chequers)
    owners = np.repeat(np.arange(ROLLS * n) // ROLLS, np.diff(rule.starts))
    # positions, and those that lead there
    after, before = np.divmod(np.unique(rule.results * np.int64(n) + owners), n)
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
        us, them = np.divmod(some, n)
        right = rule.values(work, them, us, them)
        bad = some[(flat[some] != right).any(axis=1)]
        flat[some] = right
        wrong.append(bad)
        if failing is not None:
            # (u, t) is what a play by the other side leads to: entries (x, u) with t among x's successors
            led = (before[begins[k % n] : begins[k % n + 1]] * n + k // n for k in bad)
            wait(np.concatenate([NONE, *led]))
    return work, np.concatenate(wrong)


# -- compiled ----------------------------------------------------------------------------------------------------


@njit("i8, i8")
def decide_cube(nd: Any, dt: Any) -> Any:
    """Return the value of the side on roll with its best cube action: no double, double and take, or double and pass.

    In units of 1/32767.5 of an equity. nd : value without doubling. dt : value, for a cube at 1, if the other side
    owns the cube; after a double it counts twice.
    """
    half = nd // 2 if nd >= 0 else -((-nd) // 2)
    if dt >= half:
        return HIGH if dt >= 16383 else 2 * dt
    return nd


@njit("u2.2C, i4, b1", "u2.2C, i8, b1")
def negate_for_opponent(row: Array, j: int, gammons: bool) -> Any:
    """Return the four equities of entry j of a row from the view of the side that waits, after the best cube action.

    row : (n, columns) uint16, entries of a side on roll. gammons : whether values are in 16383ths, see
    `bgfmt.tables.GammonTwoSided`; they are negated, others are complemented.
    """
    e0 = np.int32(row[j, 0]) + LOW
    if row.shape[1] == 1:
        return -e0 if gammons else ~e0, LOW, LOW, LOW
    e1 = np.int32(row[j, 1]) + LOW
    e2 = np.int32(row[j, 2]) + LOW
    e3 = np.int32(row[j, 3]) + LOW
    if gammons:
        doubled: Any = min(2 * e3, ONE)
        return -e0, -e3, -max(e2, doubled), -max(e1, doubled)
    return ~e0, ~e3, ~decide_cube(e2, e3), ~decide_cube(e1, e3)


@njit("u2.3C, b1, i2.2C")
def fill_tile(rows: Array, gammons: bool, tile: Array) -> None:
    """Set tile[j, columns * k + c] to column c of entry j of row k, from the view of the side that waits.

    rows : (k, n, columns) entries of sides on roll. tile : (n, LANES) int16. See `negate_for_opponent`.
    """
    many, n, columns = rows.shape
    for k in range(many):
        row = rows[k]
        for j in range(n):
            e0, e1, e2, e3 = negate_for_opponent(row, j, gammons)
            tile[j, columns * k] = e0
            if columns == 4:
                tile[j, 4 * k + 1] = e1
                tile[j, 4 * k + 2] = e2
                tile[j, 4 * k + 3] = e3


@njit("i8.1C, i4.1C, i4.1C, i2.2C, i4.1C, b1, u2.2C, i8, i8")
def expected_tile(
    starts: Array, results: Array, places: Array, tile: Array, total: Array, gammons: bool, out: Array, lane: int,
    lanes: int,
) -> None:  # fmt: skip
    """Compute the stored values of all sides on roll u > 0 against those of a tile.

    They go into out[u, lane : lane + lanes]. A tile has the entries of a few sides, seen by the side that waits, see
    `fill_tile`.

    Parameters
    ----------
    starts, results : see `plays`.
    places : (n,) int32, 0 and up: the tile's lines are in the order of position numbers.
    tile, gammons : see `fill_tile`.
    total : (LANES,) int32, working space.
    out : (n, width) uint16.
    """
    more = 18 if gammons else 0
    for u in range(1, len(out)):
        total[:] = 0
        for r in range(ROLLS):
            first = starts[ROLLS * u + r]
            last = starts[ROLLS * u + r + 1]
            add_best(
                tile.ctypes.data, 2 * LANES, places.ctypes.data, results.ctypes.data, first, last,
                total.ctypes.data, WEIGHTS[r] - 1,
            )  # fmt: skip
        for x in range(lanes):
            value = total[x]
            size = np.uint32(abs(value) + more) // np.uint32(36)
            out[u, lane + x] = np.uint16(np.int32(size) + 32768 if value >= 0 else 32768 - np.int32(size))


@njit("u2.3C, i8.1C, i8.1C, i8.1C, i8.1C, i4.1C, b1, i8.2C, i8.2C, i8.2C")
def values_of(
    rows: Array, at: Array, us: Array, them: Array, starts: Array, results: Array, gammons: bool, won: Array,
    lost: Array, out: Array,
) -> None:  # fmt: skip
    """Compute the values of us[i] on roll against them[i] from rows[at[i]] into out (m, columns) int64, as stored.

    rows, at : rows[at[i]] are the entries of them[i] on roll. starts, results : see `plays`. won, lost : values of
    finished games, see `PairRule.ends`.
    """
    more = 18 if gammons else 0  # quotients are truncated or, with gammons, rounded to the nearest
    best = np.empty(4, np.int64)
    total = np.empty(4, np.int64)
    for i in range(len(us)):
        if us[i] == 0 or them[i] == 0:
            out[i] = won[them[i]] if us[i] == 0 else lost[us[i]]
            continue
        row = rows[at[i]]
        total[:] = 0
        for roll in range(ROLLS):
            best[:] = LOW
            for q in range(starts[ROLLS * us[i] + roll], starts[ROLLS * us[i] + roll + 1]):
                e0, e1, e2, e3 = negate_for_opponent(row, results[q], gammons)
                best[0] = max(best[0], e0)
                best[1] = max(best[1], e1)
                best[2] = max(best[2], e2)
                best[3] = max(best[3], e3)
            for c in range(out.shape[1]):
                total[c] += WEIGHTS[roll] * best[c]
        for c in range(out.shape[1]):
            value = total[c]
            out[i, c] = 32768 + (value + more) // 36 if value >= 0 else 32768 - (more - value) // 36
