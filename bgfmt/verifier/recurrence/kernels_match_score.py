"""Compiled loops that hold a match-score table against its own rule; see `match_score` for the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

Array = Any


@njit()
def moved_tile(rows: Array, doubling: Array, place: Array, ends: Array, tile: Array) -> None:
    """tile[x, C * k + c] = what row k's entry x is worth, in the cube of column c, to the side that moved to x.

    rows (m, n, C): the side on roll is the other one. place (C,): the column in which it is for the cube of column c.
    doubling (C, 5) float64: whether that side may double (1 or 0), its value when passed, and the column, what to add
    and the factor that give its value when taken. ends (m, C): what the mover has won when it is off.
    """
    many, n, columns = rows.shape
    for k in range(many):
        for c in range(columns):
            tile[0, columns * k + c] = ends[k, c]
        for x in range(1, n):
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
        roll = 21 * u
        for a in range(6):
            for b in range(a + 1):
                best[:] = -np.inf
                for q in range(starts[roll], starts[roll + 1]):
                    _raise(best, tile[results[q]])
                _weigh(total, best, 1.0 if a == b else 2.0)
                roll += 1
        for i in range(lanes):
            out[u, i] = total[i] / 36.0


@njit()
def expected_at(
    table: Array, us: Array, them: Array, doubling: Array, place: Array, ends: Array, starts: Array, results: Array,
    out: Array,
) -> None:  # fmt: skip
    """out[i] (C,) = what follows for the entry (us[i], them[i]), neither 0; ends (m, C) as in `moved_tile`."""
    columns = out.shape[1]
    best, total, one = np.empty(columns, out.dtype), np.empty(columns), np.empty((2, columns), out.dtype)
    pair = np.empty((1, 2, columns), out.dtype)
    for i in range(len(us)):
        total[:] = 0.0
        roll = 21 * us[i]
        for a in range(6):
            for b in range(a + 1):
                best[:] = -np.inf
                for q in range(starts[roll], starts[roll + 1]):
                    x = results[q]
                    pair[0, 1] = table[them[i], x]
                    moved_tile(pair, doubling, place, ends[i : i + 1], one)
                    _raise(best, one[1 if x else 0])
                _weigh(total, best, 1.0 if a == b else 2.0)
                roll += 1
        for c in range(columns):
            out[i, c] = total[c] / 36.0
