"""Recurrence of distributions: does every row of a one-sided table follow from the file's own smaller rows?

Each row is judged by the stored rows alone, so the pass runs in any order, on any number of threads. A rule that
ranks plays by numbers that the file does not hold (sums before rounding, floats) is tried by the table made again:
`remade_ranked_by_sums`, `remade_in_floats`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

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
    numbering,
    workspace,
)

ROLLS = 32  # of a row
FULL = 15
WHOLE = 65535
LABEL_BITS = 32


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

    def keys(self, rule: RowRule) -> tuple[Array, Array]:
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

    def gammon_rows(self) -> Array:
        """The gammon part of all positions as distributions, (n, 32) uint16."""
        out = np.zeros((len(self.bearoff), ROLLS), np.uint16)
        out[:, 0] = WHOLE
        if len(self.gammon):
            full = self.gammon
            out[self.first_full :] = np.insert(full, 0, WHOLE, 1)[:, :-1] - full if self.race else full
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


def in_threads(
    which: Array, threads: int, kernel: Callable[[Array], None], progress: Progress | None
) -> None:
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
    keys, labels = rows.keys(rule)

    def kernel(some: Array) -> None:
        _check(rows, rule, some, keys, labels, False, fails, largest)

    looked = np.arange(n) if which is None else which
    in_threads(looked, threads, kernel, progress)
    idle = np.intersect1d(rows.idle_wrong, looked)
    fails[idle] |= 2
    largest[idle] = WHOLE
    return fails, largest


def settle(rows: Distributions, first: int, rule: RowRule = GNUBG) -> Array:
    """Put every row from `first` on right, in place; (n,) uint8 bits of the rows that were wrong."""
    n = len(rows.bearoff)
    wrong = np.zeros(n, np.uint8)
    keys, labels = rows.keys(rule)
    _check(rows, rule, np.arange(first, n), keys, labels, True, wrong, np.zeros(n, np.uint16))
    wrong[rows.idle_wrong] |= 2
    return wrong


def _check(
    rows: Distributions, rule: RowRule, which: Array, keys: Array, labels: Array, put_right: bool, fails: Array,
    largest: Array,
) -> None:  # fmt: skip
    check_rows(
        numbering(rows.points), which, keys, labels, rows.bearoff, rows.gammon, rows.first_full, rule.lexicographic,
        rows.race, rule.halves and not put_right, put_right, fails, largest,
    )  # fmt: skip


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


@njit()
def halves_apart(stored: Array, sums: Array, right: Array, remainder: bool) -> bool:
    """Whether a stored row differs from the right one by exact halves rounded down alone.

    sums / 36 is what was rounded. A program that divides floats rounds 36 k + 18 either way. What is left over goes,
    with `remainder`, to the most likely roll all the same, among equally likely ones to any.
    """
    most_rounded = 0
    most_sum = 0
    for i in range(ROLLS):
        most_rounded = max(most_rounded, (sums[i] + 18) // 36)
        most_sum = max(most_sum, sums[i])
    left = 0
    taken = 0
    for i in range(ROLLS):
        value = np.int64(stored[i])
        left += right[i] - value
        if sums[i] % 36 == 18 and value == (sums[i] - 18) // 36:
            continue
        if value != (right[i] if not remainder else (sums[i] + 18) // 36):
            if not remainder or ((sums[i] + 18) // 36 + 1 < most_rounded and sums[i] < most_sum):
                return False
            taken += 1
    return not remainder or (left == 0 and taken <= 1)


@njit()
def expected_rows(
    x: int, best: Array, rows: Array, gammon: Array, first_full: int, by_sums: bool, race: bool, sums: Array,
    out: Array,
) -> None:  # fmt: skip
    """out[0], out[1] (32 int64): what the rule gives for position x > 0 from `rows` and `gammon`; sums likewise.

    The arrays are those of `Distributions`.
    """
    add_rolls(best, 0, rows, 0, 0, sums[0])
    finish(sums[0], by_sums, out[0])
    if len(gammon) == 0 or x < first_full:
        return
    if race:
        add_rolls(best, 0, gammon, first_full, 0, sums[1])
        out[1, 0] = WHOLE
        for i in range(1, ROLLS):
            out[1, i] = (sums[1, i] + 18) // 36
    else:
        add_rolls(best, 1, gammon, first_full, WHOLE, sums[1])
        finish(sums[1], by_sums, out[1])


@njit()
def check_rows(
    numbering: Numbering, which: Array, keys: Array, labels: Array, rows: Array, gammon: Array, first_full: int,
    by_sums: bool, race: bool, halves: bool, put_right: bool, fails: Array, largest: Array,
) -> None:  # fmt: skip
    """Set bits of fails[x] (1 bearoff, 2 gammon) where a stored row is not what the rule gives, x in `which`.

    keys, labels : as `Distributions.keys` gives them. largest[x] : greatest difference of one number, 65535 for
    x = 0. halves : rows that differ by exact halves alone are let pass; see `halves_apart`. With put_right the rows
    and their keys are corrected as it goes, in order.
    """
    space = workspace(numbering)
    sums = np.zeros((2, ROLLS), np.int64)
    out = np.zeros((2, ROLLS), np.int64)
    for x in which:
        parts = 2 if len(gammon) and x >= first_full else 1
        if x:
            best_plays(space, x, keys, parts == 2 and not race)
            expected_rows(x, space.best, rows, gammon, first_full, by_sums, race, sums, out)
        else:
            out[0, 0], out[0, 1:] = WHOLE, 0
        for part in range(parts):
            stored = rows[x] if part == 0 else gammon[x - first_full]
            most = rank = 0
            for i in range(ROLLS):
                most = max(most, abs(np.int64(stored[i]) - out[part, i]))
                rank += i * out[part, i]
            remainder = part == 0 or not race
            if most and not (halves and x and halves_apart(stored, sums[part], out[part], remainder)):
                fails[x] |= 1 << part
                largest[x] = max(largest[x], min(most, WHOLE)) if x else WHOLE
            if put_right:
                for i in range(ROLLS):
                    stored[i] = out[part, i]
                keys[x, part] = rank if part or len(labels) == 0 else (rank << LABEL_BITS) | labels[x]


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
