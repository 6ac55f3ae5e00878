"""Recurrence of one-sided tables: does every row follow from the file's own smaller rows?

Position numbers fall with every play, so number order is an order of proof; but each row is judged by the stored rows
alone, so the pass runs in any order, on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided
from bgfmt.verifier import rules

Array = NDArray[Any]
Progress = Callable[[int, int], None]
ROLLS = 32
FULL = 15
LABEL_BITS = 32


@dataclass
class Rows:
    """Rows of a one-sided table as the kernels want them.

    bearoff (n, 32) uint16; gammon rows of the positions with all fifteen chequers, or an empty array: distributions,
    or survival chances where `race`. keys (n, 2): ranks, and beneath them, for recipe bgsage, the tie order.
    """

    points: int
    chequers: int
    bearoff: Array
    gammon: Array
    first_full: int
    race: bool
    labels: Array
    #: positions of fewer chequers whose gammon row is not "off already"
    idle_wrong: Array

    def keys(self) -> Array:
        """(n, 2) ranks of the stored rows: sum of i * row[i], with tie labels beneath where there are any."""
        n = len(self.bearoff)
        out = np.zeros((n, 2), np.uint64 if len(self.labels) else np.uint32)
        weights = np.arange(ROLLS, dtype=np.uint32)
        for start in range(0, n, 1 << 18):
            rows = slice(start, min(n, start + (1 << 18)))
            out[rows, 0] = self.bearoff[rows].astype(np.uint32) @ weights
        if len(self.gammon) and not self.race:
            out[self.first_full :, 1] = self.gammon.astype(np.uint32) @ weights
        if len(self.labels):
            out[:, 0] = (out[:, 0] << np.uint64(LABEL_BITS)) | self.labels
        return out


def lexicographic(points: int, chequers: int) -> Array:
    """Order of the positions by chequers on point 1, then 2, ...: uint64 label of every position number."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint64)
    labels[order] = np.arange(len(order), dtype=np.uint64)
    return labels


def rows_of(table: OneSided, *, recipe: str = "gnubg", race: bool | None = None) -> Rows:
    """Decode a table for the kernels (uint16 tables); `race` says whose plays the gammon part follows."""
    n = table.positions
    full = board.count(table.points, FULL - 1) if table.chequers >= FULL else n
    bearoff = np.empty((n, ROLLS), np.uint16)
    gammon = np.zeros((n - full if table.gammon is not None else 0, ROLLS), np.uint16)
    if race is None:
        race = recipe == "bgsage" or table.extra.get("gammon_policy") == "race"
    idle: list[Array] = []
    for rows, block in table.blocks():
        bearoff[rows] = block["bearoff"]
        if table.gammon is not None and rows.start < full:
            early = block["gammon"][: full - rows.start]
            bad = (early[:, 0] != 65535) | early[:, 1:].any(axis=1)
            idle.append(np.flatnonzero(bad) + rows.start)
        if len(gammon) and rows.stop > full:
            start = max(full, rows.start)
            gammon[start - full : rows.stop - full] = block["gammon"][start - rows.start :]
    if race and len(gammon):
        gammon = np.uint16(65535) - np.cumsum(
            gammon, axis=1, dtype=np.uint16
        )  # modulo 65536: nothing is hidden
    labels = lexicographic(table.points, table.chequers) if recipe == "bgsage" else np.zeros(0, np.uint64)
    wrong = np.concatenate(idle) if idle else np.zeros(0, np.int64)
    return Rows(table.points, table.chequers, bearoff, gammon, full, race, labels, wrong)


def spread(n: int, threads: int, kernel: Callable[[int, int], None], progress: Progress | None) -> None:
    """Run kernel(first, last) over 0..n on threads, later and costlier positions first."""
    step = max(64, min(20000, n // (8 * threads) + 1))
    parts = [(a, min(n, a + step)) for a in range(0, n, step)][::-1]
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for (a, b), _ in zip(parts, pool.map(lambda ab: kernel(*ab), parts), strict=True):
            done += b - a
            if progress is not None:
                progress(done, n)


def check(
    rows: Rows, *, recipe: str = "gnubg", threads: int = 1, progress: Progress | None = None
) -> tuple[Array, Array]:
    """(fails (n,) uint8, largest (n,) uint16): bits 1 bearoff and 2 gammon of rows that do not follow."""
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    terms, steps = rules.terms_of(rows.points)
    n = len(rows.bearoff)
    fails, largest = np.zeros(n, np.uint8), np.zeros(n, np.uint16)
    keys = rows.keys()
    room = rules.room_for_plays(rows.points)
    by_sums = recipe == "bgsage"

    def kernel(first: int, last: int) -> None:
        kernels.check_rows(
            rows.points, first, last, terms, steps, keys, rows.bearoff, rows.gammon, rows.first_full, by_sums,
            rows.race, room, fails, largest,
        )  # fmt: skip

    spread(n, threads, kernel, progress)
    if rows.bearoff[0, 0] != 65535 or rows.bearoff[0, 1:].any():
        fails[0] |= 1
    return fails, largest


def settle(rows: Rows, first: int, *, recipe: str = "gnubg") -> Array:
    """Put every row from `first` on right, in place; (n,) uint8 bits of the rows that were wrong."""
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    terms, steps = rules.terms_of(rows.points)
    wrong = np.zeros(len(rows.bearoff), np.uint8)
    if first == 0 and (rows.bearoff[0, 0] != 65535 or rows.bearoff[0, 1:].any()):
        wrong[0] = 1
        rows.bearoff[0] = 0
        rows.bearoff[0, 0] = 65535
    keys = rows.keys()
    kernels.settle_rows(
        rows.points, first, terms, steps, keys, rows.labels, LABEL_BITS, rows.bearoff, rows.gammon,
        rows.first_full, recipe == "bgsage", rows.race, rules.room_for_plays(rows.points), wrong,
    )  # fmt: skip
    return wrong


def check_normal(
    table: NormalOneSided, *, divide: bool = False, threads: int = 1, progress: Progress | None = None
) -> tuple[Array, Array]:
    """(fails (n,) uint8, off (n, 2) float64) of a normal-distribution table; see kernels_one_sided.check_moments."""
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    moments = np.array(np.asarray(table.moments), np.float32)
    terms, steps = rules.terms_of(table.points)
    n = table.positions
    full = board.count(table.points, FULL - 1) if table.chequers >= FULL else n
    keys = np.ascontiguousarray(moments[:, [0, 2]])
    fails, off = np.zeros(n, np.uint8), np.zeros((n, 2))
    room = rules.room_for_plays(table.points)

    def kernel(first: int, last: int) -> None:
        kernels.check_moments(
            table.points, first, last, terms, steps, keys, moments, full, divide, room, fails, off, False
        )

    spread(n, threads, kernel, progress)
    if moments[0].any():
        fails[0] |= 1
        off[0] = np.inf
    bits = moments.view(np.uint32)
    negative = (bits >> 31 != 0).any(axis=1)  # no minus sign, not even before zero, is ever written
    fails[negative] |= 1
    return fails, off


def settle_normal(table: NormalOneSided, *, divide: bool = False) -> tuple[Array, Array]:
    """(right moments (n, 4) float32, wrong (n,) uint8): the table put right from its own rule."""
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    stored = np.array(np.asarray(table.moments), np.float32)
    moments = stored.copy()
    moments[0] = 0
    n = table.positions
    full = board.count(table.points, FULL - 1) if table.chequers >= FULL else n
    terms, steps = rules.terms_of(table.points)
    keys = np.zeros((n, 2), np.float32)
    fails, off = np.zeros(n, np.uint8), np.zeros((n, 2))
    room = rules.room_for_plays(table.points)
    keys[:] = moments[:, [0, 2]]
    kernels.check_moments(
        table.points, 1, n, terms, steps, keys, moments, full, divide, room, fails, off, True
    )
    wrong = (stored.view(np.uint32) != moments.view(np.uint32)).any(axis=1).astype(np.uint8)
    return moments, wrong


def check_means(table: MeanRolls, *, threads: int = 1, progress: Progress | None = None) -> Array:
    """(n,) float64: how far each stored mean is from what the smaller stored means give."""
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    keys = np.array(np.asarray(table.means), np.float64).reshape(-1, 1)
    terms, steps = rules.terms_of(table.points)
    off = np.zeros(table.positions)
    room = rules.room_for_plays(table.points)

    def kernel(first: int, last: int) -> None:
        kernels.check_means(table.points, first, last, terms, steps, keys, room, off, False)

    spread(table.positions, threads, kernel, progress)
    off[0] = abs(keys[0, 0]) if keys[0, 0] == keys[0, 0] else np.inf
    return off


def settle_means(table: MeanRolls) -> Array:
    """(n,) float64: the means that follow from the rule, in J's order of additions."""
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    keys = np.zeros((table.positions, 1))
    terms, steps = rules.terms_of(table.points)
    off = np.zeros(table.positions)
    kernels.check_means(
        table.points, 1, table.positions, terms, steps, keys, rules.room_for_plays(table.points), off, True
    )
    return keys[:, 0]
