"""Compiled: pairs of sides at a match score, a block of player a's boards against all of b's.

Arrays are float32 or float64, sums over rolls float64; the order of every operation is that of
docs/theory/match-play.md, on which the bits of a table depend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.maxima import best_rolls, negate_for_opponent

TILE = 1024  # lanes of a row taken together

#: forms of tuples that kernels take, see `bgfmt.jit.njit`
DOUBLING = "(b1.1C, f8.1C, i8.1C, f8.1C, f8.1C)"


@njit(
    f"i8, i8, f4.2C, i8.1C, i4.1C, i4.1C, i8.1C, {DOUBLING}, {DOUBLING}, f8.2C, i8.1C, i8.1C, i8.1C, f4.2C, f4.3C",
    f"i8, i8, f8.2C, i8.1C, i4.1C, i4.1C, i8.1C, {DOUBLING}, {DOUBLING}, f8.2C, i8.1C, i8.1C, i8.1C, f8.2C, f8.3C",
    f"i8, i8, f8.2C, i8.1C, i4.1C, i4.1C, i8.1C, {DOUBLING}, {DOUBLING}, f8.2C, i8.1C, i8.1C, i8.1C, f8.2C, f8.3CU",
)
def solve_block(
    first: int, last: int, ring: Any, ends: Any, ring_results: Any, results: Any, gains: Any, doubling_a: Any,
    doubling_b: Any, won: Any, columns_a: Any, columns_b: Any, numbers: Any, near: Any, out: Any,
) -> None:  # fmt: skip
    """Solve boards first..last-1 of player a, all of one pip count, against all boards of b.

    Boards are counted in order of pips; K is the number of cube states.

    Parameters
    ----------
    ring : (rows, n * K) values to a with b on roll, row u % rows for board u; rows of the boards that plays lead to
        must be filled, those of first..last-1 are filled here.
    ends, results : of every board and roll, see `PipOrder`. ring_results : results % rows.
    gains : (n,) what the other side wins against a board: 1, or 2 for a gammon.
    doubling_a, doubling_b : (may, passed, source, add, times), each (K,); see `bgfmt.solver.columns.Doubling`.
    won : (K, 4) value to b of winning.
    columns_a, columns_b : (K,) index in a record of `out` at which the cube state is stored, for a and for b on roll;
        -1 if it is not stored.
    numbers : (n,) position numbers of the boards.
    near : (n, (last - first) * K or more) working space.
    out : (n, n, columns), the table, by position number; records of these boards are filled.
    """
    k = columns_a.size
    rows = ring.shape[0]
    n = numbers.size
    width = last - first
    total = np.empty(max(TILE, width * k))
    best = np.empty(total.size, ring.dtype)
    value = np.empty((total.size // k + 1, k), ring.dtype)
    step = max(1, TILE // k)
    for u in range(first, last):
        for c in range(k):
            near[0, (u - first) * k + c] = won[c, gains[u]]
    for low in range(1, n, step):
        high = min(low + step, n)
        lanes = (high - low) * k
        for u in range(first, last):
            best_rolls(total[:lanes], best[:lanes], ring, ends, ring_results, u, low * k, high * k)
            row = out[numbers[u]]
            for t in range(low, high):
                for c in range(k):
                    value[t - low, c] = total[(t - low) * k + c]
                    if columns_a[c] >= 0:
                        row[numbers[t], columns_a[c]] = value[t - low, c]
            at = (u - first) * k
            negate_for_opponent(near[low:high, at : at + k], value[: high - low], *doubling_a)
    lanes = width * k
    none: Any = np.int64(0)  # named: a kernel is compiled anew for every constant it is called with
    for t in range(1, n):
        best_rolls(total[:lanes], best[:lanes], near, ends, results, t, none, lanes)
        row = out[numbers[t]]
        for u in range(first, last):
            for c in range(k):
                value[u - first, c] = total[(u - first) * k + c]
                if columns_b[c] >= 0:
                    row[numbers[u], columns_b[c]] = value[u - first, c]
        for u in range(first, last):
            x = u - first
            negate_for_opponent(
                ring[u % rows, t * k : t * k + k].reshape(1, k), value[x : x + 1], *doubling_b
            )
