"""Recurrence of one-sided tables: does every row follow from the file's own smaller rows?

Position numbers fall with every play, so number order is an order of proof; but each row is judged by the stored rows
alone, so the pass runs in any order, on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import OneSided
from bgfmt.verifier.recurrence import rules

Array = NDArray[Any]
Progress = Callable[[int, int], None]
ROLLS = 32
FULL = 15
WHOLE = 65535
LABEL_BITS = 32


@dataclass(frozen=True)
class Rule:
    """How rows follow from smaller ones.

    lexicographic : among equally good plays the one to the least (chequers on point 1, 2, ...), and what rounding
    leaves goes to the roll most likely before rounding; else the play met first, and the roll most likely after it.
    race : the gammon part follows the race's plays. halves : exact halves may be rounded either way.
    """

    lexicographic: bool = False
    race: bool = False
    halves: bool = False


GNUBG = Rule()
BGSAGE = Rule(lexicographic=True, race=True)


@dataclass(frozen=True)
class Rows:
    """Rows of a one-sided table as the kernels want them.

    bearoff (n, 32) uint16; gammon rows of the positions with all fifteen chequers, or an empty array: distributions,
    or survival chances where `race`.
    """

    points: int
    chequers: int
    bearoff: Array
    gammon: Array
    first_full: int
    race: bool
    #: positions of fewer chequers whose gammon row is not "off already"
    idle_wrong: Array

    def keys(self, rule: Rule) -> tuple[Array, Array]:
        """(n, 2) ranks of the stored rows: sum of i * row[i], tie labels beneath where the rule has them; labels."""
        n = len(self.bearoff)
        labels = lexicographic(self.points, self.chequers) if rule.lexicographic else np.zeros(0, np.uint64)
        out = np.zeros((n, 2), np.uint64 if len(labels) else np.uint32)
        weights = np.arange(ROLLS, dtype=np.uint32)
        for start in range(0, n, 1 << 18):
            rows = slice(start, min(n, start + (1 << 18)))
            out[rows, 0] = self.bearoff[rows].astype(np.uint32) @ weights
        if len(self.gammon) and not self.race:
            out[self.first_full :, 1] = self.gammon.astype(np.uint32) @ weights
        if len(labels):
            out[:, 0] = (out[:, 0] << np.uint64(LABEL_BITS)) | labels
        return out, labels

    def copy(self) -> Rows:
        """Rows that may be changed."""
        return replace(self, bearoff=self.bearoff.copy(), gammon=self.gammon.copy())

    def distributions(self) -> Array | None:
        """The gammon part of all positions as distributions (n, 32); None where there is none."""
        n = len(self.bearoff)
        out = np.zeros((n, ROLLS), np.uint16)
        out[:, 0] = WHOLE
        full = self.gammon
        if len(full):
            if self.race:
                before = np.concatenate([np.full((len(full), 1), WHOLE, np.uint16), full[:, :-1]], axis=1)
                full = before - full
            out[self.first_full :] = full
        return out


def lexicographic(points: int, chequers: int) -> Array:
    """Order of the positions by chequers on point 1, then 2, ...: uint64 label of every position number."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint64)
    labels[order] = np.arange(len(order), dtype=np.uint64)
    return labels


def first_full_of(points: int, chequers: int) -> int:
    """The first position with all fifteen chequers on the board; the number of positions where there is none."""
    return board.count(points, FULL - 1 if chequers >= FULL else chequers)


def rows_of(table: OneSided, *, race: bool = False) -> Rows:
    """Decode a uint16 table for the kernels; with `race` its gammon part as survival chances."""
    n, full = table.positions, first_full_of(table.points, table.chequers)
    bearoff = np.empty((n, ROLLS), np.uint16)
    gammon = np.zeros((n - full if table.gammon is not None else 0, ROLLS), np.uint16)
    idle: list[Array] = []
    for rows, block in table.blocks():
        bearoff[rows] = block["bearoff"]
        if table.gammon is not None and rows.start < full:
            early = block["gammon"][: full - rows.start]
            bad = (early[:, 0] != WHOLE) | early[:, 1:].any(axis=1)
            idle.append(np.flatnonzero(bad) + rows.start)
        if len(gammon) and rows.stop > full:
            start = max(full, rows.start)
            gammon[start - full : rows.stop - full] = block["gammon"][start - rows.start :]
    if race and len(gammon):
        # modulo 65536: nothing is hidden
        gammon = np.uint16(WHOLE) - np.cumsum(gammon, axis=1, dtype=np.uint16)
    wrong = np.concatenate(idle) if idle else np.zeros(0, np.int64)
    return Rows(table.points, table.chequers, bearoff, gammon, full, race, wrong)


def spread(which: Array, threads: int, kernel: Callable[[Array], None], progress: Progress | None) -> None:
    """Run kernel(some) over all of `which` on threads, later and costlier positions first."""
    n = len(which)
    step = max(64, min(20000, n // (8 * threads) + 1))
    parts = [which[a : a + step] for a in range(0, n, step)][::-1]
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for part, _ in zip(parts, pool.map(kernel, parts), strict=True):
            done += len(part)
            if progress is not None:
                progress(done, n)


def check(
    rows: Rows,
    rule: Rule = GNUBG,
    *,
    which: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """(fails (n,) uint8, largest (n,) uint16): bits 1 bearoff and 2 gammon of rows that do not follow.

    which : position numbers to look at, all when None. largest : greatest difference of a number of a failing row.
    """
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    terms, steps = rules.terms_of(rows.points)
    n = len(rows.bearoff)
    fails, largest = np.zeros(n, np.uint8), np.zeros(n, np.uint16)
    keys, _ = rows.keys(rule)
    room = rules.room_for_plays(rows.points)

    def kernel(some: Array) -> None:
        kernels.check_rows(
            rows.points, some, terms, steps, keys, rows.bearoff, rows.gammon, rows.first_full, rule.lexicographic,
            rows.race, rule.halves, room, fails, largest,
        )  # fmt: skip

    spread(np.arange(n) if which is None else which, threads, kernel, progress)
    if rows.bearoff[0, 0] != WHOLE or rows.bearoff[0, 1:].any():
        fails[0] |= 1
        largest[0] = WHOLE
    fails[rows.idle_wrong] |= 2
    largest[rows.idle_wrong] = WHOLE
    if which is not None:
        looked = np.zeros(n, bool)
        looked[which] = True
        fails[~looked] = 0
    return fails, largest


def settle(rows: Rows, first: int, rule: Rule = GNUBG) -> Array:
    """Put every row from `first` on right, in place; (n,) uint8 bits of the rows that were wrong."""
    from bgfmt.verifier.recurrence import kernels_one_sided as kernels

    terms, steps = rules.terms_of(rows.points)
    wrong = np.zeros(len(rows.bearoff), np.uint8)
    if first == 0 and (rows.bearoff[0, 0] != WHOLE or rows.bearoff[0, 1:].any()):
        wrong[0] = 1
        rows.bearoff[0] = 0
        rows.bearoff[0, 0] = WHOLE
    keys, labels = rows.keys(rule)
    kernels.settle_rows(
        rows.points, first, terms, steps, keys, labels, LABEL_BITS, rows.bearoff, rows.gammon, rows.first_full,
        rule.lexicographic, rows.race, rules.room_for_plays(rows.points), wrong,
    )  # fmt: skip
    wrong[rows.idle_wrong] |= 2
    return wrong


def remade(points: int, chequers: int, rule: Rule = GNUBG, *, gammon: bool = False) -> Rows:
    """The whole table from the rule alone."""
    n, full = board.count(points, chequers), first_full_of(points, chequers)
    rows = Rows(
        points, chequers, np.zeros((n, ROLLS), np.uint16), np.zeros((n - full if gammon else 0, ROLLS), np.uint16),
        full, rule.race, np.zeros(0, np.int64),
    )  # fmt: skip
    settle(rows, 0, rule)
    return rows


def remade_ranked_by_sums(points: int, chequers: int, divisor: int) -> Array:
    """Distributions (n, 32) uint16 whose plays were chosen by sums before rounding; see `kernels_rivals`."""
    from bgfmt.verifier.recurrence import kernels_rivals as kernels

    terms, steps = rules.terms_of(points)
    rows = np.zeros((board.count(points, chequers), ROLLS), np.uint16)
    rows[0, 0] = WHOLE
    keys = np.zeros((len(rows), 1), np.uint32)
    kernels.rows_ranked_by_sums(points, terms, steps, keys, rules.room_for_plays(points), divisor, rows)
    return rows


def remade_in_floats(points: int, chequers: int, width: str, *, divide: bool = True) -> Array:
    """Distributions (n, 32) kept in floats ("f4" or "f8") throughout, rounded once at the end, uint16.

    The rounding is to the nearest; what is left of 65535 goes to the first most likely roll.
    """
    from bgfmt.verifier.recurrence import kernels_rivals as kernels

    terms, steps = rules.terms_of(points)
    n = board.count(points, chequers)
    rows, keys = np.zeros((n, ROLLS), width), np.zeros((n, 1), width)
    kernels.float_rows(points, terms, steps, keys, rules.room_for_plays(points), np.arange(n), divide, rows)
    out = np.floor(rows.astype(np.float64) * WHOLE + 0.5).astype(np.int64)
    out[np.arange(n), out.argmax(axis=1)] += WHOLE - out.sum(axis=1)
    return out.astype(np.uint16)
