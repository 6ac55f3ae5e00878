"""Recurrence of two-sided tables: does every entry follow from the file's own smaller entries?

Two passes over the file at most: its rows, as what a play leads to; and its columns, as what must follow. Columns are
taken in bands wide enough that a band's piece of a row is a few pages, so that a file larger than memory is read
twice and no more. A compressed table is walked in the order in which its rows and columns lie together in the file
(its equities have an `order`, position numbers by place), so that it is unpacked twice and never as a whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import TwoSided
from bgfmt.verifier.recurrence import contact, rules
from bgfmt.verifier.recurrence.grid import Grid

Array = NDArray[Any]
Progress = Callable[[int, int], None]
LIST_MOST = 1_000_000
BAND_BYTES = 192 << 20
LARGE = 3 << 30
LARGE_BAND_BYTES = 768 << 20
PIECE_BYTES = 16 << 20


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
    from bgfmt.verifier.recurrence.lanes import LANES

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
    from bgfmt.verifier.recurrence import kernels_two_sided as kernels
    from bgfmt.verifier.recurrence.lanes import LANES

    n, columns = table.positions, table.equities.shape[2]
    starts, results = rules.plays(table.points, table.chequers)
    grid = Grid(table)
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
            kernels.turned_tile(rows[low - first : high - first], local.tile)
            lane = (low - begin) * columns
            kernels.expected_tile(
                1, n, starts, results.ctypes.data, local.tile.ctypes.data, local.total, local.total.ctypes.data,
                expected, lane, (high - low) * columns,
            )  # fmt: skip
            advance(high - low)

    def judge(part: tuple[int, int, Array, int, int]) -> tuple[int, int, Array, Array, int]:
        u, v, expected, begin, end = part
        stored = grid.piece(u, v, begin, end)
        fails = np.zeros(v - u, np.int64)
        histogram = np.zeros((columns, 19), np.int64)
        wanted = expected[u:v] if grid.order is None else expected[grid.order[u:v]]
        largest = int(kernels.compare(stored, wanted, columns, fails, histogram))
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
    from bgfmt.verifier.recurrence import kernels_successors
    from bgfmt.verifier.recurrence import kernels_two_sided as kernels

    if table.points > contact.PLAIN_POINTS:
        return Settled(*contact.settle(table))
    n = table.positions
    starts, results = rules.plays(table.points, table.chequers)
    begins, before = kernels_successors.predecessors(n, starts, results)
    pips, order, pips_at = rules.pip_order(table.points, table.chequers)
    work = np.array(np.asarray(table.equities), np.uint16)
    dirty = np.zeros((n, n), np.uint8)
    if failing is None:
        dirty[:] = 1
    else:
        dirty.reshape(-1)[failing] = 1
    lists = []
    room = np.empty(min(n * n, 1 << 24), np.int64)
    for total in range(2 * int(pips.max()) + 1):
        found = kernels.settle(work, starts, results, begins, before, dirty, order, pips_at, total, room)
        lists.append(np.sort(room[: min(found, len(room))]))
    return Settled(work, np.concatenate(lists))


def differences(table: TwoSided, numbers: Array) -> Array:
    """(m, columns) int64: the entries `numbers` as stored, less what the rule gives."""
    n = table.positions
    stored = np.asarray(table.equities[numbers // n, numbers % n]).reshape(
        len(numbers), table.equities.shape[2]
    )
    return stored.astype(np.int64) - expected_at(table, numbers)


def expected_at(table: TwoSided, numbers: Array) -> Array:
    """(m, columns) int64: what the rule gives for the entries `numbers` from the stored ones."""
    n, columns = table.positions, table.equities.shape[2]
    starts, results = rules.plays(table.points, table.chequers)
    out = np.zeros((len(numbers), columns), np.int64)
    us, them = numbers // n, numbers % n
    rows: Any = table.equities
    if table.points > contact.PLAIN_POINTS:
        met = contact.Contact(table.points, table.chequers)
        here = met.among(numbers)
        out[here] = met.values(rows, us[here], them[here])
        out[~here] = _passed_at(table, us[~here], them[~here], starts, results)
        return out
    return _passed_at(table, us, them, starts, results)


def _passed_at(table: TwoSided, us: Array, them: Array, starts: Array, results: Array) -> Array:
    from bgfmt.verifier.recurrence import kernels_two_sided as kernels

    rows: Any = table.equities
    n, columns = table.positions, rows.shape[2]
    out = np.zeros((len(us), columns), np.int64)
    if isinstance(rows, np.ndarray):
        kernels.values_of(rows, us, them, starts, results, out)
        return out
    wanted = np.unique(them[them > 0])  # rows that are made on demand: those that are asked for, behind row 0
    for part in np.array_split(wanted, -(-len(wanted) // 64) or 1):
        mine = np.flatnonzero(np.isin(them, part) | (them == 0))
        stored = np.zeros((len(part) + 1, n, columns), np.uint16)
        stored[1:] = rows[part]
        value = np.zeros((len(mine), columns), np.int64)
        kernels.values_of(
            stored, us[mine], np.searchsorted(part, them[mine], "right"), starts, results, value
        )
        out[mine] = value
    return out


def remade_in_floats(
    points: int, chequers: int, columns: int, width: str, *, divide: bool = True, chances: bool = False
) -> Array:
    """(n, n, columns) equities kept in floats ("f4" or "f8") throughout, from the rule alone.

    Sums over the rolls are divided by 36, or multiplied by the reciprocal. With `chances` the numbers are chances to
    win, of one column.
    """
    from bgfmt.verifier.recurrence import kernels_exact_two_sided as kernels

    starts, results = rules.plays(points, chequers)
    _, order, pips_at = rules.pip_order(points, chequers)
    n = len(order)
    out, turned = np.zeros((n, n, columns), width), np.zeros((n, n, columns), width)
    kernels.solve(starts, results, order, pips_at, divide, chances, out, turned)
    return out
