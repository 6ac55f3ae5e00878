"""Recurrence of two-sided tables of floats: exact equities and match scores, every number to the last bit.

Rows of a few sides `them` are taken together. Turned round they say what each position x is worth to the side that
moved there, in every cube; and what the columns of [us, them] must be is the mean over the rolls of the best of
those. The order of operations is that of docs/theory/match-play.md. Nothing is shared with the solver but the table
of scores and cubes.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.met.score import CubeState as Cube
from bgfmt.tables import GammonTwoSided, MatchScore
from bgfmt.tables.two_sided import StoredEquities
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, Array, Progress, pip_order, plays


@dataclass(frozen=True)
class PairRule:
    """A table of floats and what its numbers, C columns an entry, follow from.

    rows : (n, n, C) as stored. place (C,) : the column that holds, seen by the other side, the cube of column c.
    doubling (C, 5) : whether that side may double (1 or 0), its value when passed, and the column, what to add and
    the factor that give its value when taken. won, lost (n, C) : values to the side on roll that has won against, or
    lost with, each side. fixed : what a mover has won when it is off is `won`, whatever the table says. lanes :
    numbers of a row that are computed together.
    """

    points: int
    chequers: int
    rows: Any
    place: Array
    doubling: Array
    won: Array
    lost: Array
    fixed: bool
    lanes: int

    @property
    def dtype(self) -> Any:
        """The float type of the numbers."""
        return np.dtype(self.rows.dtype).newbyteorder("=")


def rule_of(table: StoredEquities | MatchScore) -> PairRule:
    """The rule of a table of floats."""
    if isinstance(table, MatchScore):
        return _match_rule(table)
    n, columns = table.positions, table.equities.shape[2]
    place, doubling = np.arange(columns), np.zeros((columns, 5))
    if columns == 4:
        place = np.array([0, 3, 2, 1])
        doubling[2:] = 1, 1, 3, 0, 2
    won = table.won() if isinstance(table, GammonTwoSided) else np.ones((n, columns))
    return PairRule(table.points, table.chequers, table.equities, place, doubling, won, -won, False, 16)


def _match_rule(table: MatchScore) -> PairRule:
    score = table.score
    columns = len(score.states)
    place, doubling = np.arange(columns), np.zeros((columns, 5))
    won, lost = np.ones((3, columns)), -np.ones((3, columns))  # by the points of a game and a gammon
    for c, (mover, cube) in enumerate(score.states):
        if cube is None:
            continue
        roller = 1 - mover
        held = score.found_in(roller, cube)
        assert held is not None
        place[c] = held[0]
        if score.may_double(roller, cube):
            taken = score.found_in(roller, Cube(2 * cube.value, mover))
            assert taken is not None
            doubling[c] = 1, score.worth(roller, cube.value), *taken
        for gain in (1, 2) if score.gammons else (1,):
            won[gain, c] = score.worth(mover, gain * cube.value)
            lost[gain, c] = score.worth(mover, -gain * cube.value)
    # a gammon against a side with all its chequers; nobody stands far enough back for more
    counts = board.unrank_array(np.arange(table.positions), table.points)
    gains = 1 + (counts.sum(axis=1) == board.MAX_CHEQUERS)
    size = table.points, table.chequers
    return PairRule(*size, table.balance, place, doubling, won[gains], lost[gains], True, 512)


def expected(
    rule: PairRule, *, threads: int = 1, progress: Progress | None = None
) -> Iterator[tuple[slice, Array]]:
    """(some sides `them`, what follows for [us, those them] as (n, k, C)), all of the table in turn."""
    starts, results = plays(rule.points, rule.chequers)
    n, columns = rule.won.shape
    step = max(1, rule.lanes // columns)

    def work(start: int) -> tuple[slice, Array]:
        some = slice(start, min(n, start + step))
        rows = np.ascontiguousarray(np.asarray(rule.rows[some]), rule.dtype)
        tile, out = np.empty((n, step * columns), rule.dtype), np.empty((n, step * columns), rule.dtype)
        turned_tile(rows, rule.place, rule.doubling, tile)
        if rule.fixed:
            tile[0, : len(rows) * columns] = rule.won[some].reshape(-1)
        expected_tile(starts, results, tile, out)
        right = out[:, : len(rows) * columns].reshape(n, len(rows), columns)
        if start == 0:
            right[:, 0] = rule.lost
        right[0] = rule.won[some]
        return some, right

    with ThreadPoolExecutor(threads) as pool:
        for some, right in pool.map(work, range(0, n, step)):
            if progress is not None:
                progress(some.stop, n)
            yield some, right


def expected_at(rule: PairRule, numbers: Array) -> Array:
    """(m, C): what follows for the entries `numbers` (us * n + them)."""
    starts, results = plays(rule.points, rule.chequers)
    us, them = np.divmod(numbers, len(rule.won))
    ends = rule.won if rule.fixed else rule.won[:0]
    out = np.empty((len(numbers), rule.won.shape[1]), rule.dtype)
    expected_entries(np.asarray(rule.rows), us, them, rule.place, rule.doubling, ends, starts, results, out)
    out[them == 0] = rule.lost[us[them == 0]]
    out[us == 0] = rule.won[them[us == 0]]
    return out


def differing(
    rule: PairRule, numbers: Array | None, *, threads: int = 1, progress: Progress | None = None
) -> Iterator[tuple[Array, Array, Array]]:
    """(numbers us * n + them, stored, expected) of the entries whose bits are not those that follow, some at a time.

    numbers : the entries to look at; None for all.
    """
    n, bits = len(rule.won), np.dtype(f"i{rule.dtype.itemsize}")
    if numbers is not None:
        right = expected_at(rule, numbers)
        stored = np.ascontiguousarray(np.asarray(rule.rows)[np.divmod(numbers, n)], rule.dtype)
        bad = np.flatnonzero((stored.view(bits) != right.view(bits)).any(axis=1))
        if len(bad):
            yield numbers[bad], stored[bad], right[bad]
        return
    for some, right in expected(rule, threads=threads, progress=progress):
        stored = np.ascontiguousarray(np.asarray(rule.rows[:, some]), rule.dtype)
        us, them = np.nonzero((stored.view(bits) != np.ascontiguousarray(right).view(bits)).any(axis=2))
        if len(us):
            yield us * n + them + some.start, stored[us, them], right[us, them]


def remade(
    points: int, chequers: int, columns: int, width: str, *, divide: bool = True, chances: bool = False
) -> Array:
    """(n, n, columns) equities kept in floats ("f4" or "f8") throughout, from the rule alone.

    Sums over the rolls are divided by 36, or multiplied by the reciprocal. With `chances` the numbers are chances to
    win, of one column.
    """
    starts, results = plays(points, chequers)
    _, order, pips_at = pip_order(points, chequers)
    n = len(order)
    out, turned = np.zeros((n, n, columns), width), np.zeros((n, n, columns), width)
    fill(starts, results, order, pips_at, divide, chances, out, turned)
    return out


# -- compiled ----------------------------------------------------------------------------------------------------


@njit()
def turned_tile(rows: Array, place: Array, doubling: Array, tile: Array) -> None:
    """tile[x, C * k + c] = what row k's entry x is worth to the side that moved to x; see `PairRule`.

    rows : (m, n, C), the other side being on roll.
    """
    many, n, columns = rows.shape
    for k in range(many):
        for x in range(n):
            record = rows[k, x]
            for c in range(columns):
                value = np.float64(record[place[c]])
                if doubling[c, 0] > 0:
                    taken = doubling[c, 3] + doubling[c, 4] * np.float64(record[int(doubling[c, 2])])
                    value = max(value, min(taken, doubling[c, 1]))
                tile[x, columns * k + c] = -value


@njit()
def _raise(best: Array, other: Array) -> None:
    for i in range(best.size):
        best[i] = max(best[i], other[i])


@njit()
def _weigh(total: Array, best: Array, weight: float) -> None:
    for i in range(total.size):
        total[i] += weight * best[i]


@njit()
def expected_tile(starts: Array, results: Array, tile: Array, out: Array) -> None:
    """out[u] = the mean over the rolls of the best tile[x] that u leads to, lane by lane, for u > 0."""
    lanes = tile.shape[1]
    best, total = np.empty(lanes, tile.dtype), np.empty(lanes)
    for u in range(1, len(out)):
        total[:] = 0.0
        for roll in range(ROLLS):
            best[:] = -np.inf
            for q in range(starts[ROLLS * u + roll], starts[ROLLS * u + roll + 1]):
                _raise(best, tile[results[q]])
            _weigh(total, best, np.float64(WEIGHTS[roll]))
        for i in range(lanes):
            out[u, i] = total[i] / 36.0


@njit()
def expected_entries(
    table: Array, us: Array, them: Array, place: Array, doubling: Array, ends: Array, starts: Array, results: Array,
    out: Array,
) -> None:  # fmt: skip
    """out[i] (C,) = what follows for the entry (us[i], them[i]), neither 0.

    ends : (n, C) what the mover has won when it is off, by the other side; empty where the table says it.
    """
    columns = out.shape[1]
    best, one, total = np.empty(columns, out.dtype), np.empty((1, columns), out.dtype), np.empty(columns)
    for i in range(len(us)):
        if us[i] == 0 or them[i] == 0:
            continue
        total[:] = 0.0
        for roll in range(ROLLS):
            best[:] = -np.inf
            for q in range(starts[ROLLS * us[i] + roll], starts[ROLLS * us[i] + roll + 1]):
                x = results[q]
                if x == 0 and len(ends):
                    one[0] = ends[them[i]]
                else:
                    turned_tile(table[them[i] : them[i] + 1, x : x + 1], place, doubling, one)
                _raise(best, one[0])
            _weigh(total, best, np.float64(WEIGHTS[roll]))
        for c in range(columns):
            out[i, c] = total[c] / 36.0


@njit()
def fill(
    starts: Array, results: Array, order: Array, pips_at: Array, divide: bool, chances: bool, out: Array,
    turned: Array,
) -> None:  # fmt: skip
    """Fill out (n, n, columns), of any float type, in order of pips; turned : the same from the other side's view."""
    columns = out.shape[2]
    number = out.dtype.type
    one, two, whole = number(1), number(2), number(36)
    part = one / whole
    least = number(0) if chances else -one
    best = np.zeros(columns, out.dtype)
    total = np.zeros(columns, out.dtype)
    most = len(pips_at) - 2
    for pips in range(2 * most + 1):
        for p in range(max(0, pips - most), min(most, pips) + 1):
            for i in range(pips_at[p], pips_at[p + 1]):
                u = order[i]
                for k in range(pips_at[pips - p], pips_at[pips - p + 1]):
                    t = order[k]
                    e, g = out[u, t], turned[u, t]
                    if u == 0 or t == 0:
                        e[:] = one if u == 0 else least
                    else:
                        total[:] = 0
                        for roll in range(ROLLS):
                            best[:] = -one
                            for q in range(starts[ROLLS * u + roll], starts[ROLLS * u + roll + 1]):
                                for c in range(columns):
                                    best[c] = max(best[c], turned[t, results[q], c])
                            for c in range(columns):
                                total[c] += best[c] * number(WEIGHTS[roll])
                        for c in range(columns):
                            e[c] = total[c] / whole if divide else total[c] * part
                    g[0] = one - e[0] if chances else -e[0]
                    if columns == 4:
                        doubled = min(one, two * e[3])
                        g[1] = -e[3]
                        g[2] = -max(e[2], doubled)
                        g[3] = -max(e[1], doubled)
