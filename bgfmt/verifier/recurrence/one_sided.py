"""Recurrence of tables of one side: does every row follow from the file's own smaller rows?

Each row is judged by the stored rows alone, so the pass runs in any order, on any number of threads. A rule that
ranks plays by numbers that the file does not hold (sums before rounding, floats) is tried by the table made again:
`remade`, `remade_in_floats`. Mean rolls, normal and float64 distributions follow to the last bit, since each rule
fixes the order of the additions.
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
from bgfmt.verifier.recurrence.plays import WEIGHTS, Array, Progress, best_plays, by_pips, numbering

ROLLS = 32  # of a row
FULL = 15
WHOLE = 65535
LABEL_BITS = 32
BLOCK = 1 << 14  # positions looked at together, at most


# -- any rows ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FollowingRows:
    """Rows of the positions of a board, and the rule by which each follows from those of smaller positions.

    unit : the type in which differences of stored numbers are told.
    """

    points: int
    chequers: int
    unit = np.float64

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        """The arrays of rows, each with the first position that has one."""
        raise NotImplementedError

    @property
    def keys(self) -> Array:
        """(n, 1 or 2): what play makes least, to the last chequer off and to the first."""
        raise NotImplementedError

    def follow(self, some: Array) -> list[tuple[Array, Array]]:
        """What the rule gives for the positions `some`, of each array, and 36 times that before the rounding."""
        raise NotImplementedError

    def ranked(self, some: Array, follow: list[tuple[Array, Array]]) -> None:
        """Bring the keys of the positions `some` up to what follows for them."""

    @cached_property
    def positions(self) -> int:
        """How many there are."""
        return board.count(self.points, self.chequers)

    @cached_property
    def full(self) -> int:
        """The first position with all fifteen chequers on the board; the number of positions where there is none."""
        return board.count(self.points, FULL - 1 if self.chequers >= FULL else self.chequers)

    def plays(self, some: Array) -> Array:
        """(1 or 2, m, 21) int32: where the play of each roll leads from the positions `some`, see `keys`."""
        keys = self.keys
        best = np.full((keys.shape[1], len(some), plays.ROLLS), -1, np.int32)
        best_plays(numbering(self.points), some, keys, self.full, best)
        return best

    def parts(self, some: Array) -> list[tuple[Array, Array, Array]]:
        """Each array, which of the positions `some` have a row in it, and where it is."""
        held = [(rows, first, np.flatnonzero(some >= first)) for rows, first in self.arrays]
        return [(rows, here, some[here] - first) for rows, first, here in held]

    def apart(self, some: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Of each array: the positions of `some`, which rows do not follow, and by how much their numbers differ."""
        for (rows, here, at), (right, _) in zip(self.parts(some), self.follow(some), strict=True):
            stored = rows[at]
            off = np.nan_to_num(np.abs(self.measured(stored) - self.measured(right)), nan=np.inf)
            bad = (off > 0) | (bits_of(stored) != bits_of(right))
            yield some[here], bad.any(axis=1), off.max(axis=1, initial=0)

    def measured(self, rows: Array) -> Array:
        """The numbers by which rows are compared, float64."""
        return rows.astype(np.float64)


def bits_of(floats: Array) -> Array:
    """The bits of floats as integers, (n, m)."""
    return (floats if floats.ndim > 1 else floats[:, None]).view(f"i{floats.itemsize}")


def check(
    rows: FollowingRows, *, which: Array | None = None, threads: int = 1, progress: Progress | None = None
) -> tuple[Array, Array]:
    """(fails (n,) uint8, largest (n,)): bit k of rows of array k that do not follow.

    which : position numbers to look at, all when None. largest : greatest difference of a number of a failing row.
    """
    fails, largest = np.zeros(rows.positions, np.uint8), np.zeros(rows.positions, rows.unit)
    looked = np.arange(rows.positions) if which is None else which
    step = max(64, min(BLOCK, len(looked) // (32 * threads) + 1))

    @np.errstate(all="ignore")  # of numbers that are none
    def hold(start: int) -> int:
        some = looked[start : start + step]
        for part, (here, bad, off) in enumerate(rows.apart(some)):
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
    """Put the rows of the positions `which` right, in place; (n,) uint8 bits of the arrays that were wrong."""
    wrong = np.zeros(rows.positions, np.uint8)
    for some in by_pips(rows.points, rows.chequers, which):
        follow = rows.follow(some)
        for part, ((stored, here, at), (right, _)) in enumerate(zip(rows.parts(some), follow, strict=True)):
            wanted = right.astype(stored.dtype)
            differ = (bits_of(stored[at]) != bits_of(wanted)).any(axis=1)
            wrong[some[here]] |= differ.astype(np.uint8) << part
            stored[at] = wanted
        rows.ranked(some, follow)
    return wrong


def added(best: Array, rows: Array, dtype: Any, first: int = 0, saved: float = 0) -> Array:
    """(m, columns) sums of 36 rows that the rolls best (m, 21) lead to, one roll later each, in this type.

    rows : of the positions from `first` on; `saved` counts as the chance of a row before at once.
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
    """Add to sums (m, columns) what `added` says, roll by roll."""
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
    """How rows follow from smaller ones.

    lexicographic : among equally good plays the one to the least (chequers on point 1, 2, ...), and what rounding
    leaves goes to the roll most likely before rounding; else the play met first, and the roll most likely after it.
    race : the gammon part follows the race's plays. halves : exact halves may be rounded either way.
    divisor : plays are chosen by the sums before rounding divided by it; 0 where they are by the rounded numbers.
    """

    lexicographic: bool = False
    race: bool = False
    halves: bool = False
    divisor: int = 0


GNUBG = RowRule()
BGSAGE = RowRule(lexicographic=True, race=True)


@dataclass(frozen=True)
class Distributions(FollowingRows):
    """Rows of uint16 distributions.

    bearoff : (n, 32). gammon : rows of the positions from `full` on, or an empty array: distributions, or where the
    rule is of the race chances that no chequer is off after k rolls. idle_wrong : the positions of fewer chequers
    whose gammon row is not "off already".
    """

    bearoff: Array
    gammon: Array
    rule: RowRule
    idle_wrong: Array
    unit = np.uint16  # type: ignore[assignment]

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.bearoff, 0), (self.gammon, self.full))[: 2 if len(self.gammon) else 1]

    @cached_property
    def keys(self) -> Array:
        """Ranks of the stored rows, see `ranks`; where the rule has tie labels, these beneath."""
        saving = len(self.gammon) > 0 and not self.rule.race
        out = np.zeros((self.positions, 1 + saving), np.uint64 if self.rule.lexicographic else np.uint32)
        out[:, 0] = ranks(self.bearoff)
        if saving:
            out[self.full :, 1] = ranks(self.gammon)
        if self.rule.lexicographic:
            out[:, 0] = (out[:, 0] << np.uint64(LABEL_BITS)) | lexicographic(self.points, self.chequers)
        return out

    def follow(self, some: Array) -> list[tuple[Array, Array]]:
        best = self.plays(some)
        out = []
        for part, (rows, here, _) in enumerate(self.parts(some)):
            survival = part == 1 and self.rule.race
            chosen = best[0 if survival else part][here]
            sums = added(chosen, rows, np.int32, self.full * part, 0 if survival else WHOLE * part)
            right = (sums + 18) // 36
            if survival:
                right[:, 0] = WHOLE
            else:
                likely = (sums if self.rule.lexicographic else right).argmax(axis=1)
                right[np.arange(len(right)), likely] += WHOLE - right.sum(axis=1)
            out.append((right, sums))
        return out

    def ranked(self, some: Array, follow: list[tuple[Array, Array]]) -> None:
        for choice in range(self.keys.shape[1]):
            (right, sums) = follow[choice]
            here = some[some >= self.full * choice]
            key = ranks(sums) // self.rule.divisor if self.rule.divisor else ranks(right)
            if self.rule.lexicographic and choice == 0:
                key = (key.astype(np.uint64) << LABEL_BITS) | (self.keys[here, 0] & (1 << LABEL_BITS) - 1)
            self.keys[here, choice] = key

    def apart(self, some: Array) -> Iterator[tuple[Array, Array, Array]]:
        for part, ((rows, here, at), (right, sums)) in enumerate(
            zip(self.parts(some), self.follow(some), strict=True)
        ):
            stored = rows[at].astype(np.int32)
            looked = some[here]
            off = np.abs(stored - right).max(axis=1, initial=0)
            bad = off > 0
            if self.rule.halves:
                remainder = part == 0 or not self.rule.race
                bad &= (looked == 0) | ~halves_apart(stored, sums, right, remainder)
            yield looked, bad, np.where(looked > 0, np.minimum(off, WHOLE), WHOLE)
        idle = np.intersect1d(self.idle_wrong, some)
        yield idle, np.ones(len(idle), np.bool_), np.full(len(idle), WHOLE)

    def gammon_rows(self) -> Array:
        """The gammon part of all positions as distributions, (n, 32) uint16."""
        out = np.zeros((self.positions, ROLLS), np.uint16)
        out[:, 0] = WHOLE
        if len(self.gammon):
            full = self.gammon
            out[self.full :] = np.insert(full, 0, WHOLE, 1)[:, :-1] - full if self.rule.race else full
        return out


def ranks(rows: Array) -> Array:
    """(m,) uint32 sums of i * row[i]."""
    return np.asarray(np.einsum("ij,j", rows, np.arange(ROLLS, dtype=np.uint32)))


def lexicographic(points: int, chequers: int) -> Array:
    """Order of the positions by chequers on point 1, then 2, ...: uint64 label of every position number."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint64)
    labels[order] = np.arange(len(order), dtype=np.uint64)
    return labels


def rows_of(table: OneSided, rule: RowRule = GNUBG) -> Distributions:
    """Decode a uint16 table for a rule: with that of the race its gammon part as survival chances."""
    rows = blank(table.points, table.chequers, rule, gammon=table.gammon is not None)
    bearoff = rows.bearoff
    gammon = rows.gammon
    full = rows.full
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


def blank(points: int, chequers: int, rule: RowRule, *, gammon: bool = False) -> Distributions:
    """Rows of noughts."""
    n = FollowingRows(points, chequers).positions
    none = np.zeros(0, np.int64)
    full = FollowingRows(points, chequers).full if gammon else n
    bearoff = np.zeros((n, ROLLS), np.uint16)
    second = np.zeros((n - full, ROLLS), np.uint16)
    return Distributions(points, chequers, bearoff, second, rule, none)


def remade(points: int, chequers: int, rule: RowRule = GNUBG, *, gammon: bool = False) -> Distributions:
    """The whole table from the rule alone."""
    rows = blank(points, chequers, rule, gammon=gammon)
    settle(rows, np.arange(rows.positions))
    return rows


def halves_apart(stored: Array, sums: Array, right: Array, remainder: bool) -> Array:
    """(m,) whether a stored row (m, 32) differs from the right one by exact halves rounded down alone.

    sums / 36 is what was rounded. A program that divides floats rounds 36 k + 18 either way. What is left over goes,
    with `remainder`, to the most likely roll all the same, among equally likely ones to any.
    """
    rounded = (sums + 18) // 36
    down = (sums % 36 == 18) & (stored == rounded - 1)
    other = (stored != (rounded if remainder else right)) & ~down
    if not remainder:
        return np.asarray(~other.any(axis=1))
    likely = (rounded + 1 >= rounded.max(axis=1)[:, None]) | (sums >= sums.max(axis=1)[:, None])
    taken = other.sum(axis=1)
    return np.asarray(((right - stored).sum(axis=1) == 0) & (taken <= 1) & ~(other & ~likely).any(axis=1))


# -- distributions in floats ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FloatRows(FollowingRows):
    """Distributions in floats, nothing rounded: bearoff and gammon (n, columns) of all positions, or an empty array.

    means : the keys. live : whether these are the means of the rows as they are, added up in the type of these.
    """

    bearoff: Array
    gammon: Array
    means: Array
    live: bool = False

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.bearoff, 0), (self.gammon, 0))[: 2 if len(self.gammon) else 1]

    @property
    def keys(self) -> Array:
        return self.means

    def follow(self, some: Array) -> list[tuple[Array, Array]]:
        best = self.plays(some)
        sums = added(best[0], self.bearoff, self.bearoff.dtype)
        sums[some == 0, 0] = 36
        out = [sums]
        if len(self.gammon):
            here = some >= self.full
            second = np.zeros((len(some), self.gammon.shape[1]))
            second[~here, 0] = 36  # before, the gammon is saved
            second[here] = added(best[1][here], self.gammon[self.full :], second.dtype, self.full, 1)
            out.append(second)
        return [(sums / sums.dtype.type(36), sums) for sums in out]

    def ranked(self, some: Array, follow: list[tuple[Array, Array]]) -> None:
        if self.live:
            self.means[some] = 0
            for roll, share in enumerate(follow[0][0].T):
                self.means[some, 0] += roll * share


def remade_in_floats(points: int, chequers: int, width: str) -> Array:
    """Distributions (n, 32) kept in floats ("f4" or "f8") throughout, rounded once at the end, uint16.

    The rounding is to the nearest; what is left of 65535 goes to the first most likely roll.
    """
    n = board.count(points, chequers)
    rows = np.zeros((n, ROLLS), width)
    settle(FloatRows(points, chequers, rows, rows[:0], np.zeros((n, 1), width), live=True), np.arange(n))
    out = np.floor(rows.astype(np.float64) * WHOLE + 0.5).astype(np.int64)
    out[np.arange(n), out.argmax(axis=1)] += WHOLE - out.sum(axis=1)
    return out.astype(np.uint16)


# -- means, normal distributions ---------------------------------------------------------------------------------

#: the rolls of 36 throws in J's order: doubles, then each other roll twice
THROWS = [a * (a + 3) // 2 for a in range(6)]
THROWS += [b * (b + 1) // 2 + a for a in range(6) for b in range(a + 1, 6) for _ in range(2)]


@dataclass(frozen=True)
class Means(FollowingRows):
    """Mean rolls (n, 1) float64, added up as J 9.7 does: eight running sums of four lanes, folded."""

    means: Array

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.means, 0),)

    @property
    def keys(self) -> Array:
        return self.means

    def follow(self, some: Array) -> list[tuple[Array, Array]]:
        v = self.means[self.plays(some)[0][:, THROWS], 0].reshape(-1, 9, 4)
        lanes = ((v[:, 0] + v[:, 8]) + v[:, 4]) + (v[:, 1] + v[:, 5])
        lanes = lanes + ((v[:, 2] + v[:, 6]) + (v[:, 3] + v[:, 7]))
        sums = (lanes[:, :1] + lanes[:, 2:3]) + (lanes[:, 1:2] + lanes[:, 3:])
        return [(np.where(some[:, None] == 0, 0, 1 + sums / 36), sums)]


def means_of(points: int, chequers: int, *, gammon: bool = False) -> Array:
    """(n,) float64 mean rolls to the last chequer off (`gammon`: to the first), from the rule alone."""
    first = FollowingRows(points, chequers).full if gammon else 1
    return means_among(points, chequers, np.arange(first, board.count(points, chequers)))


def means_among(points: int, chequers: int, which: Array) -> Array:
    """(n,) float64 mean rolls of the positions `which`, until play leads to another one; 0 of the others."""
    rows = Means(points, chequers, np.zeros((board.count(points, chequers), 1)))
    settle(rows, which)
    return rows.means[:, 0]


@dataclass(frozen=True)
class Moments(FollowingRows):
    """Means and deviations (n, 4) float32, in gnubg's float32 steps.

    divide : sums are divided by 36; else multiplied by the reciprocal, as the common build does it.
    """

    moments: Array
    divide: bool = False

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.moments, 0),)

    @property
    def keys(self) -> Array:
        return self.moments[:, ::2]

    def follow(self, some: Array) -> list[tuple[Array, Array]]:
        out = np.zeros((len(some), 4), np.float32)
        for part, best in enumerate(self.plays(some)):
            here = np.flatnonzero(some >= (self.full if part else 1))
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

    def measured(self, rows: Array) -> Array:
        """Means, and squares of deviations."""
        out = rows.astype(np.float64)
        out[:, 1::2] **= 2
        return out


def remade_moments(points: int, chequers: int, *, divide: bool = False) -> Array:
    """The whole normal-distribution table, (n, 4) float32, from the rule alone."""
    rows = Moments(points, chequers, np.zeros((board.count(points, chequers), 4), np.float32), divide)
    settle(rows, np.arange(rows.positions))
    return rows.moments


def moments_of(rows: Distributions) -> Array:
    """(n, 4) float32 moments of finished distributions, added roll by roll in float64."""
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
    """The rows of a float64 table; plays are chosen by the exact means."""
    size = table.points, table.chequers
    bearoff = np.ascontiguousarray(np.asarray(table.bearoff), np.float64)
    means = means_of(*size)[:, None]
    if table.gammon is None:
        return FloatRows(*size, bearoff, bearoff[:0], means)
    gammon = np.ascontiguousarray(np.asarray(table.gammon), np.float64)
    return FloatRows(*size, bearoff, gammon, np.hstack([means, means_of(*size, gammon=True)[:, None]]))


# -- gnubg's table in memory -------------------------------------------------------------------------------------

FIXED_POINTS = 6


def by_fixed_rule(rows: Array, chequers: int, *, look_ahead: bool) -> Array:
    """What the rows (n, 32) uint16 of gnubg's table in memory must be, each by those it leads to.

    The table covers 6 points and its rows are not corrected to 65535. A die is played by the first of five ways that
    there is, see docs/theory/one-sided.md. look_ahead : whether a chequer that the other dice bear off comes first
    (releases of 2009 to 1.00: not).
    """
    n = len(rows)
    counts = board.unrank_array(np.arange(n), FIXED_POINTS).astype(np.int64)
    sums = np.zeros((n, ROLLS), np.int64)
    terms = numbering(FIXED_POINTS).terms
    roll = 0
    for high in range(1, FIXED_POINTS + 1):
        for low in range(1, high + 1):
            left = [high] * 4 if high == low else [high, low]
            boards = counts.copy()
            while left:
                die = left.pop(0)
                _move(boards, _sources(boards, die, left if look_ahead else []), die)
            above = np.cumsum(boards[:, ::-1], axis=1)
            numbers = sum(terms[k][above[:, k]] for k in range(FIXED_POINTS))
            sums[:, 1:] += WEIGHTS[roll] * rows[numbers, :-1].astype(np.int64)
            roll += 1
    wanted = (sums + 18) // 36
    wanted[0] = [WHOLE] + [0] * (ROLLS - 1)
    return wanted


def _sources(boards: Array, die: int, later: list[int]) -> Array:
    """The point (0 is the ace point) that each board plays a die from; -1 where nothing is left."""
    taken = boards > 0
    points = np.arange(FIXED_POINTS)
    highest = np.where(taken, points, -1).max(axis=1)
    ways = [np.where(taken[:, die - 1], die - 1, -1), np.where(highest < die - 1, highest, -1)]
    borne_off = (at for at in die + np.cumsum(later, dtype=int) if at <= FIXED_POINTS)
    ways += [np.where(taken[:, at - 1], at - 1, -1) for at in borne_off]
    if die < FIXED_POINTS:
        stacks = boards[:, die:]
        empty = boards[:, : FIXED_POINTS - die]
        safe = np.where((stacks >= 2) & (empty == 0), stacks, 0)
        ways.append(np.where(safe.max(axis=1) > 0, die + safe.argmax(axis=1), -1))
        tall = np.where(stacks > 0, stacks * 16 + 15 - empty, -1)
        ways.append(np.where(tall.max(axis=1) >= 0, die + tall.argmax(axis=1), -1))
    chosen = np.full(len(boards), -1)
    for way in ways:
        chosen = np.where(chosen < 0, way, chosen)
    return np.where(highest < 0, -1, chosen)


def _move(boards: Array, sources: Array, die: int) -> None:
    which = np.flatnonzero(sources >= 0)
    at = sources[which]
    boards[which, at] -= 1
    inside = at >= die
    boards[which[inside], at[inside] - die] += 1
