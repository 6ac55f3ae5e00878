"""Compiled loops of the one-sided solver in float64: expected rolls and exact distributions.

The traversal is that of `kernels.one_sided`, with ranks in float64 next to their position numbers. The 36 numbers of
a position are added in the order in which J 9.7 adds them, which gives Peelle's table bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.one_sided import Board, Slots, space_for, start_at, step_to_next, update_sources

Array = Any


class Ranked(NamedTuple):
    """Working records of finished positions: ranks and the position numbers that go with them, (rows, 19) each.

    After one more die 1..6 (lanes 0..5), two (6..11), three (12..17) and the position itself (18).
    """

    ranks: Any
    labels: Any


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
BOARD = "bgfmt.solver.kernels.one_sided:Board(i8, i8.2C, i8.2C)"
RANKED = "bgfmt.solver.kernels.exact:Ranked(f8.2C, u4.2C)"
SLOTS = "bgfmt.solver.kernels.one_sided:Slots(i8, i8, i8)"


@njit()
def sum_like_j(v: Array) -> float:
    """Sum 36 doubles in the order in which J does, so that rounding is the same.

    Eight running sums of four numbers each, the ninth group added to the first, then folded at distances 4, 2, 1.
    """
    even = 0.0
    odd = 0.0
    for j in range(4):
        first = ((v[j] + v[j + 32]) + v[j + 16]) + (v[j + 4] + v[j + 20])
        lane = first + ((v[j + 8] + v[j + 24]) + (v[j + 12] + v[j + 28]))
        if j % 2:
            odd += lane
        else:
            even += lane
    return even + odd


@njit()
def search_exact(
    points: int, x: int, found: int, drop: Array, sources: Array, kept: Ranked, slots: Slots, rank: Array,
    label: Array,
) -> None:  # fmt: skip
    """Find, for each roll from position number x, the reachable position of least rank.

    Parameters
    ----------
    points, x : number of points of the board, and the position's number.
    found : number of its occupied points, which `drop` and `sources` describe; see `update_sources`.
    kept, slots : working records of finished positions, and where their rows are.
    rank, label : filled at [a, b], a >= b, for dice a + 1 and b + 1: the least rank, and that position's number.
    """
    ranks, labels = kept
    row = x + slots.on
    top = sources[0]
    for a in range(1, 7):
        for b in range(9):
            rank[a - 1, b] = np.inf
        for q in range(found):
            i = sources[q]
            t = i - a
            if t < 0:
                if top > 5 or (t < -1 and q > 0):
                    break
                y = slots.scale * (x - drop[points - i]) + slots.off
            else:
                y = row - drop[points - i] + drop[points - t]
            for b in range(9):
                lane = b if b < 6 else (18 if b == 6 else (a + 5 if b == 7 else a + 11))
                if ranks[y, lane] < rank[a - 1, b]:
                    rank[a - 1, b] = ranks[y, lane]
                    label[a - 1, b] = labels[y, lane]
        for lane, b in ((a - 1, 6), (a + 5, a - 1), (a + 11, 7)):
            ranks[row, lane] = rank[a - 1, b]
            labels[row, lane] = label[a - 1, b]
    for a in range(6):
        rank[a, a] = rank[a, 8]
        label[a, a] = label[a, 8]
        for b in range(a):
            if rank[b, a] < rank[a, b]:
                rank[a, b] = rank[b, a]
                label[a, b] = label[b, a]


@njit(f"i8.2C, {BOARD}, {SLOTS}, {RANKED}, f8.1C, f8.2C")
def solve_exact(
    ranges: Array, board: Board, slots: Slots, kept: Ranked, means: Array, chances: Array
) -> None:
    """Fill means[x] and chances[x] for the positions x of `ranges`, (m, 2) first and one past the last.

    Parameters
    ----------
    board, slots, kept : tables for position numbers, and working records of finished positions with their rows.
    means : (n,) mean rolls.
    chances : (n, columns) probabilities of each number of rolls; there may be no columns.
    """
    points = board.points
    columns = chances.shape[1]
    space = space_for(points, kept.labels)
    above = space.above
    drop = space.drop
    sources = space.sources
    rank = np.zeros((6, 9), np.float64)
    label = np.zeros((6, 9), np.int64)
    v = np.zeros(36, np.float64)
    sums = np.zeros(columns + 1, np.float64)
    for g in range(len(ranges)):
        start_at(ranges[g, 0], points, board.terms, above)
        changed = points
        for x in range(ranges[g, 0], ranges[g, 1]):
            found = update_sources(points, changed, above, board.steps, drop, sources)
            search_exact(points, x, found, drop, sources, kept, slots, rank, label)
            at = 6
            for a in range(6):
                v[a] = rank[a, a]
                for b in range(a + 1, 6):
                    v[at] = rank[b, a]
                    v[at + 1] = rank[b, a]
                    at += 2
            mean = 1 + sum_like_j(v) / 36
            means[x] = mean
            kept.ranks[x + slots.on, 18] = mean
            kept.labels[x + slots.on, 18] = x
            if columns:
                sums[:] = 0
                for a in range(6):
                    for b in range(a + 1):
                        weight = 1.0 if a == b else 2.0
                        row = chances[label[a, b]]
                        for i in range(columns - 1):
                            sums[i + 1] += weight * row[i]
                for i in range(columns):
                    chances[x, i] = sums[i] / 36
            changed = step_to_next(points, above)
