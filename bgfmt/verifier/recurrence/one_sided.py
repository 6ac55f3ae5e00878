"""Recurrence of distributions: does every row of a one-sided table follow from the file's own smaller rows?

Each row is judged by the stored rows alone, so the pass runs in any order, on any number of threads. A rule that
ranks plays by numbers that the file does not hold (sums before rounding, floats) is tried by the table made again:
`remade_ranked_by_sums`, `remade_in_floats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.tables import OneSided
from bgfmt.verifier.recurrence.plays import (
    WEIGHTS,
    Array,
    Numbering,
    Progress,
    best_plays,
    by_pips,
    numbering,
    workspace,
)

T = TypeVar("T")
ROLLS = 32  # of a row
FULL = 15
WHOLE = 65535
LABEL_BITS = 32
BLOCK = 1 << 14  # positions looked at together, at most


# -- rows --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowRule:
    """How rows follow from smaller ones.

    lexicographic : among equally good plays the one to the least (chequers on point 1, 2, ...), and what rounding
    leaves goes to the roll most likely before rounding; else the play met first, and the roll most likely after it.
    race : the gammon part follows the race's plays. halves : exact halves may be rounded either way.
    """

    lexicographic: bool = False
    race: bool = False
    halves: bool = False


GNUBG = RowRule()
BGSAGE = RowRule(lexicographic=True, race=True)


@dataclass(frozen=True)
class Distributions:
    """Rows of a one-sided table as the kernels take them.

    bearoff : (n, 32) uint16. gammon : rows of the positions from first_full on, those with all fifteen chequers, or
    an empty array: distributions, or where `race` chances that no chequer is off after k rolls. idle_wrong : the
    positions of fewer chequers whose gammon row is not "off already".
    """

    points: int
    chequers: int
    bearoff: Array
    gammon: Array
    first_full: int
    race: bool
    idle_wrong: Array

    def keys(self, rule: RowRule) -> Array:
        """(n, 2) ranks of the stored rows, see `ranks`; where the rule has tie labels, these beneath."""
        out = np.zeros((len(self.bearoff), 2), np.uint64 if rule.lexicographic else np.uint32)
        out[:, 0] = ranks(self.bearoff)
        if len(self.gammon) and not self.race:
            out[self.first_full :, 1] = ranks(self.gammon)
        if rule.lexicographic:
            out[:, 0] = (out[:, 0] << np.uint64(LABEL_BITS)) | lexicographic(self.points, self.chequers)
        return out

    def parts(self, some: Array) -> Iterator[tuple[int, Array, Array, Array]]:
        """Of the race (0) and of the gammon (1): the rows, which of the positions `some` have one, and where."""
        for part, rows, first in ((0, self.bearoff, 0), (1, self.gammon, self.first_full)):
            here = np.flatnonzero(some >= first) if len(rows) else np.zeros(0, np.int64)
            yield part, rows, here, some[here] - first

    def follow(self, rule: RowRule, some: Array, keys: Array) -> tuple[Array, Array]:
        """What the rule gives for the positions `some`, (m, 2, 32) int32, and 36 times that before the rounding."""
        right, sums = np.zeros((2, len(some), 2, ROLLS), np.int32)
        expected_rows(
            numbering(self.points), some, keys, self.bearoff, self.gammon, self.first_full, rule.lexicographic,
            self.race, sums, right,
        )  # fmt: skip
        return right, sums

    def gammon_rows(self) -> Array:
        """The gammon part of all positions as distributions, (n, 32) uint16."""
        out = np.zeros((len(self.bearoff), ROLLS), np.uint16)
        out[:, 0] = WHOLE
        if len(self.gammon):
            full = self.gammon
            out[self.first_full :] = np.insert(full, 0, WHOLE, 1)[:, :-1] - full if self.race else full
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


def first_full_of(points: int, chequers: int) -> int:
    """The first position with all fifteen chequers on the board; the number of positions where there is none."""
    return board.count(points, FULL - 1 if chequers >= FULL else chequers)


def rows_of(table: OneSided, *, race: bool = False) -> Distributions:
    """Decode a uint16 table for the kernels; with `race` its gammon part as survival chances."""
    n, full = table.positions, first_full_of(table.points, table.chequers)
    bearoff = np.empty((n, ROLLS), np.uint16)
    gammon = np.zeros((n - full if table.gammon is not None else 0, ROLLS), np.uint16)
    idle: list[Array] = [np.zeros(0, np.int64)]
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
    return Distributions(table.points, table.chequers, bearoff, gammon, full, race, np.concatenate(idle))


def in_parts(
    which: Array, threads: int, work: Callable[[Array], T], progress: Progress | None
) -> Iterator[tuple[Array, T]]:
    """(some, work(some)) for all of `which` in order, on threads."""
    n = len(which)
    step = max(64, min(BLOCK, n // (32 * threads) + 1))
    parts = [which[a : a + step] for a in range(0, n, step)]
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for part, found in zip(parts, pool.map(work, parts), strict=True):
            done += len(part)
            if progress is not None:
                progress(done, n)
            yield part, found


# -- held against the rule ---------------------------------------------------------------------------------------


def check(
    rows: Distributions,
    rule: RowRule = GNUBG,
    *,
    which: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """(fails (n,) uint8, largest (n,) uint16): bits 1 bearoff and 2 gammon of rows that do not follow.

    which : position numbers to look at, all when None. largest : greatest difference of a number of a failing row.
    """
    n = len(rows.bearoff)
    fails, largest = np.zeros(n, np.uint8), np.zeros(n, np.uint16)
    keys = rows.keys(rule)

    def hold(some: Array) -> None:
        right, sums = rows.follow(rule, some, keys)
        for part, stored, here, at in rows.parts(some):
            values, wanted, looked = stored[at].astype(np.int32), right[here, part], some[here]
            off = np.abs(values - wanted).max(axis=1, initial=0)
            bad = off > 0
            if rule.halves:
                remainder = part == 0 or not rows.race
                bad &= (looked == 0) | ~halves_apart(values, sums[here, part], wanted, remainder)
            fails[looked[bad]] |= 1 << part
            most = np.where(looked > 0, np.minimum(off, WHOLE), WHOLE)[bad]
            largest[looked[bad]] = np.maximum(largest[looked[bad]], most)

    looked = np.arange(n) if which is None else which
    for _ in in_parts(looked, threads, hold, progress):
        pass
    idle = np.intersect1d(rows.idle_wrong, looked)
    fails[idle] |= 2
    largest[idle] = WHOLE
    return fails, largest


def settle(rows: Distributions, first: int, rule: RowRule = GNUBG) -> Array:
    """Put every row from `first` on right, in place; (n,) uint8 bits of the rows that were wrong."""
    n, keys = len(rows.bearoff), rows.keys(rule)
    wrong = np.zeros(n, np.uint8)
    for some in by_pips(rows.points, rows.chequers, np.arange(first, n)):
        right, _ = rows.follow(rule, some, keys)
        for part, stored, here, at in rows.parts(some):
            wanted, looked = right[here, part].astype(np.uint16), some[here]
            wrong[looked] |= (stored[at] != wanted).any(axis=1).astype(np.uint8) << part
            stored[at] = wanted
            key = ranks(wanted)
            if rule.lexicographic and part == 0:
                key = (key.astype(np.uint64) << LABEL_BITS) | (keys[looked, 0] & (1 << LABEL_BITS) - 1)
            keys[looked, part] = key
    wrong[rows.idle_wrong] |= 2
    return wrong


def remade(points: int, chequers: int, rule: RowRule = GNUBG, *, gammon: bool = False) -> Distributions:
    """The whole table from the rule alone."""
    n, full = board.count(points, chequers), first_full_of(points, chequers)
    rows = Distributions(
        points, chequers, np.zeros((n, ROLLS), np.uint16), np.zeros((n - full if gammon else 0, ROLLS), np.uint16),
        full, rule.race, np.zeros(0, np.int64),
    )  # fmt: skip
    settle(rows, 0, rule)
    return rows


@njit()
def add_rolls(best: Array, choice: int, rows: Array, first: int, saved: Any, sums: Array) -> None:
    """Add the rows that the rolls lead to, one roll later each, weighted, in the type of `sums`.

    rows : of the positions from `first` on; `saved` counts for a row before. best[roll, choice] : where a roll leads.
    """
    number = sums.dtype.type
    sums[:] = 0
    for roll in range(len(WEIGHTS)):
        weight = number(WEIGHTS[roll])
        y = best[roll, choice] - first
        if y >= 0:
            for i in range(len(sums) - 1):
                sums[i + 1] += weight * number(rows[y, i])
        else:
            sums[1] += weight * saved


@njit()
def finish(sums: Array, by_sums: bool, out: Array) -> None:
    """out = sums / 36 rounded half up, what is left of 65535 given to the first most likely roll.

    Most likely among the rounded numbers or, by_sums, among the sums.
    """
    total = 0
    mode = 0
    for i in range(ROLLS):
        out[i] = (sums[i] + 18) // 36
        total += out[i]
        if (sums[i] > sums[mode]) if by_sums else (out[i] > out[mode]):
            mode = i
    out[mode] -= total - WHOLE


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


@njit()
def expected_rows(
    numbering: Numbering, which: Array, keys: Array, rows: Array, gammon: Array, first_full: int, by_sums: bool,
    race: bool, sums: Array, out: Array,
) -> None:  # fmt: skip
    """out[i, 0], out[i, 1] (32 int32): what the rule gives for position which[i] from `rows` and `gammon`.

    keys : as `Distributions.keys` gives them; the other arrays are those of `Distributions`. sums : 36 times `out`
    before the rounding. Both are noughts at first.
    """
    space = workspace(numbering)
    for i in range(len(which)):
        x = which[i]
        full = len(gammon) > 0 and x >= first_full
        if x == 0:
            out[i, 0, 0] = WHOLE
            continue
        best_plays(space, x, keys, full and not race)
        add_rolls(space.best, 0, rows, 0, 0, sums[i, 0])
        finish(sums[i, 0], by_sums, out[i, 0])
        if full and race:
            add_rolls(space.best, 0, gammon, first_full, 0, sums[i, 1])
            out[i, 1, 0] = WHOLE
            for k in range(1, ROLLS):
                out[i, 1, k] = (sums[i, 1, k] + 18) // 36
        elif full:
            add_rolls(space.best, 1, gammon, first_full, WHOLE, sums[i, 1])
            finish(sums[i, 1], by_sums, out[i, 1])


# -- other programs' rules ---------------------------------------------------------------------------------------


def remade_ranked_by_sums(points: int, chequers: int, divisor: int) -> Array:
    """Distributions (n, 32) uint16, the play being the first of least sum(i * sums[i]) // divisor.

    The sums are 36 times the distribution, not yet rounded.
    """
    rows = np.zeros((board.count(points, chequers), ROLLS), np.uint16)
    rows[0, 0] = WHOLE
    rows_by_means(
        numbering(points), np.zeros((len(rows), 1), np.uint32), divisor, rows, np.zeros(ROLLS, np.int64)
    )
    return rows


def remade_in_floats(points: int, chequers: int, width: str) -> Array:
    """Distributions (n, 32) kept in floats ("f4" or "f8") throughout, rounded once at the end, uint16.

    The rounding is to the nearest; what is left of 65535 goes to the first most likely roll.
    """
    n = board.count(points, chequers)
    rows = np.zeros((n, ROLLS), width)
    rows[0, 0] = 1
    rows_by_means(numbering(points), np.zeros((n, 1), width), 0, rows, np.zeros(ROLLS, width))
    out = np.floor(rows.astype(np.float64) * WHOLE + 0.5).astype(np.int64)
    out[np.arange(n), out.argmax(axis=1)] += WHOLE - out.sum(axis=1)
    return out.astype(np.uint16)


@njit()
def rows_by_means(numbering: Numbering, keys: Array, divisor: int, rows: Array, sums: Array) -> None:
    """Fill the rows of all positions but 0 by the plays of least keys (n, 1), zeroed; sums (32,) : working space.

    Where there is a divisor, the rows are rounded and the keys are the means of the sums divided by it; else both
    are in the float type of `sums`, nothing rounded in between.
    """
    space = workspace(numbering)
    number = sums.dtype.type
    for x in range(1, len(rows)):
        best_plays(space, x, keys, False)
        add_rolls(space.best, 0, rows, 0, number(0), sums)
        mean = number(0)
        if divisor:
            finish(sums, False, rows[x])
            for i in range(ROLLS):
                mean += number(i) * sums[i]
            keys[x, 0] = mean // divisor
        else:
            for i in range(ROLLS):
                rows[x, i] = sums[i] / number(36)
                mean += number(i) * rows[x, i]
            keys[x, 0] = mean


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
        stacks, empty = boards[:, die:], boards[:, : FIXED_POINTS - die]
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
