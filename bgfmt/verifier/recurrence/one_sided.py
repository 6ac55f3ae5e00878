"""Recurrence of one-sided tables: does every row follow from the file's own smaller rows?

Each row is judged by the stored rows alone, so the pass runs in any order, on any number of threads. A rule that
ranks plays by numbers that the file does not hold (sums before rounding) is checked by building the table
again: `build_table`. Mean rolls, normal and float64 distributions must match to the last bit,
since each rule fixes the order of the additions.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.tables import OneSided
from bgfmt.verifier.recurrence import plays
from bgfmt.verifier.recurrence.plays import WEIGHTS, Array, Progress, best_plays, group_by_pips, numbering

__all__ = ["BGSAGE", "GNUBG", "Distributions", "FollowingRows", "RowRule", "bits_of", "build_moments"]


ROLLS = 32  # numbers of a row: probabilities of 0..31 rolls
FULL_SIDE = 15
WHOLE = 65535
LABEL_BITS = 32
MAX_BLOCK_POSITIONS = 1 << 14  # positions checked at once


# -- any rows ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FollowingRows:
    """Base class: rows of all positions, and the rule by which each follows from rows of smaller positions.

    unit : the dtype of differences.
    """

    points: int
    chequers: int
    unit = np.float64

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        """The arrays that have rows for positions, each with the first position that has a row in it."""
        raise NotImplementedError

    @property
    def keys(self) -> Array:
        """(n, 1 or 2) numbers that the best play minimises: for the last chequer off and, if given, the first."""
        raise NotImplementedError

    def compute_rows(self, some: Array) -> list[tuple[Array, Array]]:
        """Compute the rows of the positions `some` from rows of the positions that their rolls lead to.

        Returns for each of `arrays` (rows, 36 times the unrounded rows).
        """
        raise NotImplementedError

    def update_keys(self, some: Array, follow: list[tuple[Array, Array]]) -> None:
        """Update `keys` of the positions `some` to rows newly computed for them.

        follow : what `compute_rows` returned.
        """

    @cached_property
    def positions(self) -> int:
        """Number of positions of the table."""
        return board.count(self.points, self.chequers)

    @cached_property
    def first_full(self) -> int:
        """The lowest position number with all fifteen chequers on the board; the number of positions if none has."""
        return board.count(self.points, FULL_SIDE - 1 if self.chequers >= FULL_SIDE else self.chequers)

    def plays(self, some: Array) -> Array:
        """Find the best play of each roll from the positions `some`, one for each column of `keys`.

        Returns (1 or 2, m, 21) int32, the position number after the play; rolls 11, 21, 22, 31, ... 66.
        """
        keys = self.keys
        best = np.full((keys.shape[1], len(some), plays.ROLLS), -1, np.int32)
        best_plays(numbering(self.points), some, keys, self.first_full, best)
        return best

    def locate_rows(self, some: Array) -> list[tuple[Array, Array, Array]]:
        """Return for each of `arrays` (array, indices of those of `some` that have a row, their row numbers)."""
        held = [(rows, first, np.flatnonzero(some >= first)) for rows, first in self.arrays]
        return [(rows, here, some[here] - first) for rows, first, here in held]

    def compare_rows(self, some: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Compare stored rows with those that `compute_rows` gives; yield the result for each of `arrays`.

        Yields (positions, True for rows that differ, greatest difference of each row).
        """
        for (rows, here, at), (right, _) in zip(self.locate_rows(some), self.compute_rows(some), strict=True):
            stored = rows[at]
            off = np.nan_to_num(np.abs(self.to_comparable(stored) - self.to_comparable(right)), nan=np.inf)
            bad = (off > 0) | (bits_of(stored) != bits_of(right))
            yield some[here], bad.any(axis=1), off.max(axis=1, initial=0)

    def to_comparable(self, rows: Array) -> Array:
        """Convert rows to the float64 numbers in which differences are measured."""
        return rows.astype(np.float64)


def bits_of(floats: Array) -> Array:
    """Return the bits of floats (n,) or (n, m) as integers of the same width, (n, m)."""
    return (floats if floats.ndim > 1 else floats[:, None]).view(f"i{floats.itemsize}")


def check(
    rows: FollowingRows, *, which: Array | None = None, threads: int = 1, progress: Progress | None = None
) -> tuple[Array, Array]:
    """Check whether rows follow from those of smaller positions by the rule; return (fails (n,) uint8, largest (n,)).

    Bit k of `fails` is set for positions whose row in array k (see `FollowingRows.arrays`) does not follow; `largest`
    is the greatest difference of a failing row.
    which : positions to check, all if None.
    """
    fails, largest = np.zeros(rows.positions, np.uint8), np.zeros(rows.positions, rows.unit)
    looked = np.arange(rows.positions) if which is None else which
    step = max(64, min(MAX_BLOCK_POSITIONS, len(looked) // (32 * threads) + 1))

    @np.errstate(all="ignore")  # of numbers that are none
    def hold(start: int) -> int:
        some = looked[start : start + step]
        for part, (here, bad, off) in enumerate(rows.compare_rows(some)):
            fails[here] |= bad.astype(np.uint8) << part
            largest[here] = np.maximum(largest[here], np.where(bad, off, 0))
        return start + len(some)

    with ThreadPoolExecutor(threads) as pool:
        for done in pool.map(hold, range(0, len(looked), step)):
            if progress is not None:
                progress(done, len(looked))
    return fails, largest


@np.errstate(all="ignore")
def settle(rows: FollowingRows, which: Array) -> Array:
    """Recompute the rows of the positions `which`, in order of pips, and store them in `rows`.

    Returns (n,) uint8: bit k is set for a position whose row in array k (see `FollowingRows.arrays`) was wrong.
    """
    wrong = np.zeros(rows.positions, np.uint8)
    for some in group_by_pips(rows.points, rows.chequers, which):
        follow = rows.compute_rows(some)
        for part, ((stored, here, at), (right, _)) in enumerate(
            zip(rows.locate_rows(some), follow, strict=True)
        ):
            wanted = right.astype(stored.dtype)
            differ = (bits_of(stored[at]) != bits_of(wanted)).any(axis=1)
            wrong[some[here]] |= differ.astype(np.uint8) << part
            stored[at] = wanted
        rows.update_keys(some, follow)
    return wrong


def sum_following_rows(best: Array, rows: Array, dtype: Any, first: int = 0, saved: float = 0) -> Array:
    """Sum, over the 36 throws, the rows of the positions reached, one roll later; return (m, columns) of this dtype.

    Parameters
    ----------
    best : (m, 21) the position that each roll leads to.
    rows : rows of the positions from `first` on.
    saved : added at one roll for positions below `first`, in which the gammon is saved.
    """
    sums = np.zeros((len(best), rows.shape[1]), dtype)
    add_rolls(best, rows, first, float(saved), sums)
    return sums


@njit(
    "i4.2C, f4.2C, i8, f8, f4.2C",
    "i4.2C, f8.2C, i8, f8, f8.2C",
    "i4.2C, f8.2CU, i8, f8, f8.2C",
    "i4.2C, u2.2C, i8, f8, i4.2C",
)
def add_rolls(best: Array, rows: Array, first: int, saved: float, sums: Array) -> None:
    """Add to `sums`, (m, columns), the row after each roll, one roll later; doubles once, other rolls twice.

    best, rows, first, saved : as of `sum_following_rows`.
    """
    number = sums.dtype.type
    for x in range(len(best)):
        for roll in range(len(WEIGHTS)):
            weight = number(WEIGHTS[roll])
            y = best[x, roll] - first
            if y >= 0:
                for i in range(sums.shape[1] - 1):
                    sums[x, i + 1] += weight * number(rows[y, i])
            else:
                sums[x, 1] += weight * number(saved)


# -- distributions in whole numbers --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowRule:
    """How distributions follow from smaller ones.

    Attributes
    ----------
    lexicographic : among equally good plays take the one with the least (chequers on point 1, 2, ...), and give the
        rounding remainder to the roll most likely before rounding; otherwise the first play found, and the roll most
        likely after rounding.
    race : the gammon part follows the plays of the race.
    divisor : plays are chosen by the sums before rounding divided by it; 0 to choose by the rounded numbers.
    """

    lexicographic: bool = False
    race: bool = False
    divisor: int = 0


GNUBG = RowRule()
BGSAGE = RowRule(lexicographic=True, race=True)


@dataclass(frozen=True)
class Distributions(FollowingRows):
    """Rows of uint16 distributions.

    Attributes
    ----------
    bearoff : (n, 32).
    gammon : rows of the positions from `first_full` on, or an empty array: distributions, or, with `rule.race`,
        probabilities that no chequer is off after k rolls.
    rule : how rows follow from each other.
    idle_wrong : positions of fewer chequers whose gammon row is not "off already".
    """

    bearoff: Array
    gammon: Array
    rule: RowRule
    idle_wrong: Array
    unit = np.uint16  # type: ignore[assignment]

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.bearoff, 0), (self.gammon, self.first_full))[: 2 if len(self.gammon) else 1]

    @cached_property
    def keys(self) -> Array:
        """Mean rolls of the stored rows times 65535, which plays minimise.

        If the rule breaks ties by labels, the numbers are shifted left by LABEL_BITS, and labels fill those bits.
        """
        saving = len(self.gammon) > 0 and not self.rule.race
        out = np.zeros((self.positions, 1 + saving), np.uint64 if self.rule.lexicographic else np.uint32)
        out[:, 0] = ranks(self.bearoff)
        if saving:
            out[self.first_full :, 1] = ranks(self.gammon)
        if self.rule.lexicographic:
            out[:, 0] = (out[:, 0] << np.uint64(LABEL_BITS)) | lexicographic_labels(
                self.points, self.chequers
            )
        return out

    def compute_rows(self, some: Array) -> list[tuple[Array, Array]]:
        best = self.plays(some)
        out = []
        for part, (rows, here, _) in enumerate(self.locate_rows(some)):
            survival = part == 1 and self.rule.race
            chosen = best[0 if survival else part][here]
            sums = sum_following_rows(
                chosen, rows, np.int32, self.first_full * part, 0 if survival else WHOLE * part
            )
            right = (sums + 18) // 36
            if survival:
                right[:, 0] = WHOLE
            else:
                likely = (sums if self.rule.lexicographic else right).argmax(axis=1)
                right[np.arange(len(right)), likely] += WHOLE - right.sum(axis=1)
            out.append((right, sums))
        return out

    def update_keys(self, some: Array, follow: list[tuple[Array, Array]]) -> None:
        for choice in range(self.keys.shape[1]):
            (right, sums) = follow[choice]
            here = some[some >= self.first_full * choice]
            key = ranks(sums) // self.rule.divisor if self.rule.divisor else ranks(right)
            if self.rule.lexicographic and choice == 0:
                key = (key.astype(np.uint64) << LABEL_BITS) | (self.keys[here, 0] & (1 << LABEL_BITS) - 1)
            self.keys[here, choice] = key

    def compare_rows(self, some: Array) -> Iterator[tuple[Array, Array, Array]]:
        for (rows, here, at), (right, _) in zip(self.locate_rows(some), self.compute_rows(some), strict=True):
            stored = rows[at].astype(np.int32)
            off = np.abs(stored - right).max(axis=1, initial=0)
            yield some[here], off > 0, np.minimum(off, WHOLE)
        idle = np.intersect1d(self.idle_wrong, some)
        yield idle, np.ones(len(idle), np.bool_), np.full(len(idle), WHOLE)

    def gammon_rows(self) -> Array:
        """Return the distributions of the rolls until the first chequer is off, for all positions, (n, 32) uint16."""
        out = np.zeros((self.positions, ROLLS), np.uint16)
        out[:, 0] = WHOLE
        if len(self.gammon):
            full = self.gammon
            out[self.first_full :] = np.insert(full, 0, WHOLE, 1)[:, :-1] - full if self.rule.race else full
        return out


def ranks(rows: Array) -> Array:
    """Return (m,) uint32, the sum of i * row[i] of each row: its mean rolls times 65535, which ranks plays."""
    return np.asarray(np.einsum("ij,j", rows, np.arange(ROLLS, dtype=np.uint32)))


def lexicographic_labels(points: int, chequers: int) -> Array:
    """Rank all positions by their chequers on point 1, then on point 2, and so on; uint64 by position number."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint64)
    labels[order] = np.arange(len(order), dtype=np.uint64)
    return labels


def decode_rows(table: OneSided, rule: RowRule = GNUBG) -> Distributions:
    """Read a uint16 table as rows that follow from each other by a rule.

    With a race rule (gammon rows follow the plays of the race) the gammon part becomes survival probabilities: that
    no chequer is off after k rolls.
    """
    rows = empty_rows(table.points, table.chequers, rule, gammon=table.gammon is not None)
    bearoff = rows.bearoff
    gammon = rows.gammon
    full = rows.first_full
    idle: list[Array] = [rows.idle_wrong]
    for some, block in table.blocks():
        bearoff[some] = block["bearoff"]
        if table.gammon is not None and some.start < full:
            early = block["gammon"][: full - some.start]
            bad = (early[:, 0] != WHOLE) | early[:, 1:].any(axis=1)
            idle.append(np.flatnonzero(bad) + some.start)
        if len(gammon) and some.stop > full:
            start = max(full, some.start)
            gammon[start - full : some.stop - full] = block["gammon"][start - some.start :]
    if rule.race and len(gammon):
        # modulo 65536: nothing is hidden
        gammon = np.uint16(WHOLE) - np.cumsum(gammon, axis=1, dtype=np.uint16)
    return replace(rows, gammon=gammon, idle_wrong=np.concatenate(idle))


def empty_rows(points: int, chequers: int, rule: RowRule, *, gammon: bool = False) -> Distributions:
    """Return rows of zeros for a table of this size, to be computed by the rule.

    gammon : also rows for the first chequer off.
    """
    n = FollowingRows(points, chequers).positions
    none = np.zeros(0, np.int64)
    full = FollowingRows(points, chequers).first_full if gammon else n
    bearoff = np.zeros((n, ROLLS), np.uint16)
    second = np.zeros((n - full, ROLLS), np.uint16)
    return Distributions(points, chequers, bearoff, second, rule, none)


def build_table(points: int, chequers: int, rule: RowRule = GNUBG, *, gammon: bool = False) -> Distributions:
    """Compute the distributions of all positions by the rule alone.

    gammon : also those of the rolls to the first chequer off.
    """
    rows = empty_rows(points, chequers, rule, gammon=gammon)
    settle(rows, np.arange(rows.positions))
    return rows


# -- distributions in floats ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FloatRows(FollowingRows):
    """Distributions in floats, nothing rounded.

    Attributes
    ----------
    bearoff, gammon : (n, columns) of all positions; `gammon` may be empty.
    means : the keys by which plays are chosen.
    """

    bearoff: Array
    gammon: Array
    means: Array

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.bearoff, 0), (self.gammon, 0))[: 2 if len(self.gammon) else 1]

    @property
    def keys(self) -> Array:
        return self.means

    def compute_rows(self, some: Array) -> list[tuple[Array, Array]]:
        best = self.plays(some)
        sums = sum_following_rows(best[0], self.bearoff, self.bearoff.dtype)
        sums[some == 0, 0] = 36
        out = [sums]
        if len(self.gammon):
            here = some >= self.first_full
            second = np.zeros((len(some), self.gammon.shape[1]))
            second[~here, 0] = 36  # before, the gammon is saved
            second[here] = sum_following_rows(
                best[1][here], self.gammon[self.first_full :], second.dtype, self.first_full, 1
            )
            out.append(second)
        return [(sums / sums.dtype.type(36), sums) for sums in out]


# -- means, normal distributions ---------------------------------------------------------------------------------

#: the rolls of 36 throws in J's order: doubles, then each other roll twice
THROWS = [a * (a + 3) // 2 for a in range(6)]
THROWS += [b * (b + 1) // 2 + a for a in range(6) for b in range(a + 1, 6) for _ in range(2)]


@dataclass(frozen=True)
class Means(FollowingRows):
    """Mean rolls (n, 1) float64, summed as J 9.7 does: eight running sums of four lanes, folded."""

    means: Array

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.means, 0),)

    @property
    def keys(self) -> Array:
        return self.means

    def compute_rows(self, some: Array) -> list[tuple[Array, Array]]:
        v = self.means[self.plays(some)[0][:, THROWS], 0].reshape(-1, 9, 4)
        lanes = ((v[:, 0] + v[:, 8]) + v[:, 4]) + (v[:, 1] + v[:, 5])
        lanes = lanes + ((v[:, 2] + v[:, 6]) + (v[:, 3] + v[:, 7]))
        sums = (lanes[:, :1] + lanes[:, 2:3]) + (lanes[:, 1:2] + lanes[:, 3:])
        return [(np.where(some[:, None] == 0, 0, 1 + sums / 36), sums)]


def means_of(points: int, chequers: int, *, gammon: bool = False) -> Array:
    """Compute the mean rolls to the last chequer off, (n,) float64, by the rule alone.

    gammon : to the first chequer off instead.
    """
    first = FollowingRows(points, chequers).first_full if gammon else 1
    return means_among(points, chequers, np.arange(first, board.count(points, chequers)))


def means_among(points: int, chequers: int, which: Array) -> Array:
    """Compute the mean number of rolls until play leaves the positions `which`, each play minimising it.

    Returns (n,) float64 by position number, 0 for positions that are not in `which`.
    """
    rows = Means(points, chequers, np.zeros((board.count(points, chequers), 1)))
    settle(rows, which)
    return rows.means[:, 0]


@dataclass(frozen=True)
class Moments(FollowingRows):
    """Means and deviations (n, 4) float32, in gnubg's float32 steps.

    divide : divide sums by 36; otherwise multiply by the reciprocal, as the usual build of gnubg does.
    """

    moments: Array
    divide: bool = False

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.moments, 0),)

    @property
    def keys(self) -> Array:
        return self.moments[:, ::2]

    def compute_rows(self, some: Array) -> list[tuple[Array, Array]]:
        out = np.zeros((len(some), 4), np.float32)
        for part, best in enumerate(self.plays(some)):
            here = np.flatnonzero(some >= (self.first_full if part else 1))
            mean = square = np.zeros(len(here), np.float32)
            for weight, after in zip(WEIGHTS.tolist(), best[here].T, strict=True):
                rolls = self.moments[after, 2 * part] + np.float32(1)
                deviation = self.moments[after, 2 * part + 1]
                mean = mean + weight * rolls
                square = square + weight * (deviation * deviation + rolls * rolls)
            mean, square = (
                total / np.float32(36) if self.divide else total * np.float32(1 / 36)
                for total in (mean, square)
            )
            out[here, 2 * part], out[here, 2 * part + 1] = mean, np.sqrt(square - mean * mean)
        return [(out, out)]

    def to_comparable(self, rows: Array) -> Array:
        """Convert rows to means and squares of deviations, float64, in which differences are measured."""
        out = rows.astype(np.float64)
        out[:, 1::2] **= 2
        return out


def build_moments(points: int, chequers: int, *, divide: bool = False) -> Array:
    """Compute means and standard deviations of all positions by the rule alone; (n, 4) float32.

    Those of the rolls until all chequers are off, then until the first is. divide : divide sums by 36; otherwise
    multiply by the reciprocal, as the usual build of gnubg does.
    """
    rows = Moments(points, chequers, np.zeros((board.count(points, chequers), 4), np.float32), divide)
    settle(rows, np.arange(rows.positions))
    return rows.moments


def moments_of(rows: Distributions) -> Array:
    """Compute mean and standard deviation of each distribution, added roll by roll in float64; (n, 4) float32.

    Columns: all chequers off, then the first.
    """
    out = np.zeros((len(rows.bearoff), 4), np.float32)
    for k, part in enumerate((rows.bearoff, *([rows.gammon_rows()] if len(rows.gammon) else []))):
        mean = np.zeros(len(part))
        square = np.zeros(len(part))
        for roll in range(1, part.shape[1]):
            share = roll * (part[:, roll] / WHOLE)
            mean += share
            square += roll * share
        out[:, 2 * k], out[:, 2 * k + 1] = mean, np.sqrt(np.maximum(square - mean * mean, 0))
    return out


def float_rows(table: OneSided) -> FloatRows:
    """Return the rows of a float64 table, with the table's unrounded means as numbers that plays minimise."""
    size = table.points, table.chequers
    bearoff = np.ascontiguousarray(np.asarray(table.bearoff), np.float64)
    means = means_of(*size)[:, None]
    if table.gammon is None:
        return FloatRows(*size, bearoff, bearoff[:0], means)
    gammon = np.ascontiguousarray(np.asarray(table.gammon), np.float64)
    return FloatRows(*size, bearoff, gammon, np.hstack([means, means_of(*size, gammon=True)[:, None]]))
