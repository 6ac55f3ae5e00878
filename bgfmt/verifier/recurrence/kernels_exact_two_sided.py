"""Compiled loops that hold float64 equities against their own rule; see `kernels_two_sided` for the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

Array = Any
LANES = 16


@njit()
def set_turned(e: Array, out: Array, lane: int) -> None:
    """out[lane ...] = what a record e of the opponent's is worth to the side that moved into it."""
    if len(e) == 1:
        out[lane] = -e[0]
        return
    doubled = min(1.0, 2.0 * e[3])
    out[lane] = -e[0]
    out[lane + 1] = -e[3]
    out[lane + 2] = -max(e[2], doubled)
    out[lane + 3] = -max(e[1], doubled)


@njit()
def turned_tile(rows: Array, tile: Array) -> None:
    """tile[j, columns * k ...] = row k's entry j from the other side's view; rows (k, n, columns)."""
    many, n, columns = rows.shape
    for k in range(many):
        for j in range(n):
            set_turned(rows[k, j], tile[j], columns * k)


@njit()
def expected_tile(n: int, starts: Array, results: Array, tile: Array, out: Array) -> None:
    """out[u] = the mean over the rolls of the best tile[j], lane by lane, for u > 0; out (n, LANES)."""
    best = np.zeros(LANES)
    for u in range(1, n):
        roll = 21 * u
        total = out[u]
        for a in range(6):
            for b in range(a + 1):
                best[:] = -2.0
                for q in range(starts[roll], starts[roll + 1]):
                    value = tile[results[q]]
                    for k in range(LANES):
                        best[k] = max(best[k], value[k])
                weight = 1.0 if a == b else 2.0
                for k in range(LANES):
                    total[k] += weight * best[k]
                roll += 1
        for k in range(LANES):
            total[k] = total[k] / 36.0


@njit()
def values_of(table: Array, us: Array, them: Array, starts: Array, results: Array, out: Array) -> None:
    """out[i] = what follows for (us[i], them[i]) from the table's own entries."""
    columns = table.shape[2]
    one = np.zeros(4)
    best = np.zeros(4)
    for i in range(len(us)):
        u, t = us[i], them[i]
        for c in range(columns):
            out[i, c] = 0.0 if u and t else (1.0 if u == 0 else -1.0)
        if u == 0 or t == 0:
            continue
        roll = 21 * u
        for a in range(6):
            for b in range(a + 1):
                best[:] = -2.0
                for q in range(starts[roll], starts[roll + 1]):
                    set_turned(table[t, results[q]], one, 0)
                    for c in range(columns):
                        best[c] = max(best[c], one[c])
                weight = 1.0 if a == b else 2.0
                for c in range(columns):
                    out[i, c] += weight * best[c]
                roll += 1
        for c in range(columns):
            out[i, c] = out[i, c] / 36.0


@njit()
def solve(
    starts: Array,
    results: Array,
    order: Array,
    pips_at: Array,
    divide: bool,
    chances: bool,
    out: Array,
    turned: Array,
) -> None:
    """Fill out (n, n, columns), of any float type, in order of pips; turned : the same from the other side's view."""
    columns = out.shape[2]
    kind = out.dtype.type
    one, two, whole = kind(1), kind(2), kind(36)
    part = one / whole
    least = kind(0) if chances else -one
    best = np.zeros(columns, out.dtype)
    total = np.zeros(columns, out.dtype)
    most = len(pips_at) - 2
    for pips in range(2 * most + 1):
        for p in range(max(0, pips - most), min(most, pips) + 1):
            for i in range(pips_at[p], pips_at[p + 1]):
                u = order[i]
                for k in range(pips_at[pips - p], pips_at[pips - p + 1]):
                    t = order[k]
                    total[:] = 0
                    roll = 21 * u
                    for a in range(6):
                        for b in range(a + 1):
                            if u == 0 or t == 0:
                                continue
                            best[:] = -one
                            for q in range(starts[roll], starts[roll + 1]):
                                for c in range(columns):
                                    best[c] = max(best[c], turned[t, results[q], c])
                            for c in range(columns):
                                total[c] += best[c] if a == b else best[c] * two
                            roll += 1
                    e = out[u, t]
                    for c in range(columns):
                        if u == 0 or t == 0:
                            e[c] = one if u == 0 else least
                        else:
                            e[c] = total[c] / whole if divide else total[c] * part
                    g = turned[u, t]
                    g[0] = one - e[0] if chances else -e[0]
                    if columns == 4:
                        doubled = min(one, two * e[3])
                        g[1] = -e[3]
                        g[2] = -max(e[2], doubled)
                        g[3] = -max(e[1], doubled)
