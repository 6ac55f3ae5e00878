"""Compiled loops that hold a two-sided table against its own rule.

The value of (us, them) follows from row `them` of the same file: from the entries (them, j), j where a play of ours
leads. So a tile of rows, turned round to our point of view and laid out with the rows side by side, gives the
expected values of every us against those rows by running maxima over contiguous lanes, in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.lanes import add_best

Array = Any
HIGH = 32767
LOW = -32768


@njit()
def turn(nd: Any, dt: Any) -> Any:
    """What the side on roll has with its best cube action: roll on, double and take, or double and pass."""
    half = nd // 2 if nd >= 0 else -((-nd) // 2)
    if dt >= half:
        return HIGH if dt >= 16383 else 2 * dt
    return nd


@njit()
def turned_tile(rows: Array, tile: Array) -> None:
    """tile[j, 4 k + c] or [j, k]: row k's entry j from the other side's view, the cube decision taken.

    rows : (k, n, columns) uint16; tile : (n, LANES) int16.
    """
    many, n, columns = rows.shape
    for k in range(many):
        for j in range(n):
            e0 = np.int32(rows[k, j, 0]) + LOW
            if columns == 1:
                tile[j, k] = ~e0
                continue
            e1 = np.int32(rows[k, j, 1]) + LOW
            e2 = np.int32(rows[k, j, 2]) + LOW
            e3 = np.int32(rows[k, j, 3]) + LOW
            tile[j, 4 * k] = ~e0
            tile[j, 4 * k + 1] = ~e3
            tile[j, 4 * k + 2] = ~turn(e2, e3)
            tile[j, 4 * k + 3] = ~turn(e1, e3)


@njit()
def divide(total: Array, out: Array, lanes: int) -> None:
    """out = trunc(total / 36) as stored: uint16 with 32768 added."""
    for x in range(lanes):
        value = total[x]
        size = np.uint32(abs(value)) // np.uint32(36)
        out[x] = np.uint16(np.int32(size) + 32768 if value >= 0 else 32768 - np.int32(size))


@njit()
def expected_tile(
    first: int,
    last: int,
    starts: Array,
    results_at: int,
    tile_at: int,
    total: Array,
    total_at: int,
    out: Array,
    lane: int,
    lanes: int,
) -> None:
    """out[u, lane : lane + lanes] = what the rule gives for u = first..last-1 (u > 0) against the tile's rows.

    out : (n, width) uint16. `total` is working space, (LANES,) int32 at total_at.
    """
    for u in range(first, last):
        total[:] = 0
        roll = 21 * u
        for a in range(6):
            for b in range(a + 1):
                add_best(tile_at, results_at, starts[roll], starts[roll + 1], total_at, 0 if a == b else 1)
                roll += 1
        divide(total, out[u, lane : lane + lanes], lanes)


@njit()
def compare(stored: Array, expected: Array, columns: int, fails: Array, histogram: Array) -> int:
    """Count entries whose stored and expected values differ; returns the greatest difference.

    stored, expected : (m, width) uint16, `columns` values an entry. fails : (m,) int64, entries that differ in each
    row. histogram : (columns, 19) int64, clipped differences -9..9 (stored less expected) are counted.
    """
    many, width = stored.shape
    largest = 0
    for u in range(many):
        a = stored[u]
        b = expected[u]
        different = 0
        for x in range(width):
            different += a[x] != b[x]
        if different == 0:
            continue
        for t in range(width // columns):
            wrong = False
            for c in range(columns):
                off = np.int64(a[t * columns + c]) - np.int64(b[t * columns + c])
                if off != 0:
                    wrong = True
                    largest = max(largest, int(abs(off)))
                    clipped: Any = max(-9, min(9, off))
                    histogram[c, clipped + 9] += 1
            if wrong:
                fails[u] += 1
    return largest


@njit()
def value_of(table: Array, u: int, t: int, starts: Array, results: Array, out: Array) -> None:
    """out[0:columns] = what the rule gives for (u, t) from the table's own entries, as stored."""
    columns = table.shape[2]
    if u == 0 or t == 0:
        for c in range(columns):
            out[c] = 65535 if u == 0 else 0
        return
    best = np.empty(4, np.int64)
    total = np.zeros(4, np.int64)
    for a in range(6):
        for b in range(a + 1):
            roll = 21 * u + a * (a + 1) // 2 + b
            best[:] = LOW
            for q in range(starts[roll], starts[roll + 1]):
                j = results[q]
                e0 = np.int64(table[t, j, 0]) + LOW
                best[0] = max(best[0], ~e0)
                if columns == 4:
                    e1 = np.int64(table[t, j, 1]) + LOW
                    e2 = np.int64(table[t, j, 2]) + LOW
                    e3 = np.int64(table[t, j, 3]) + LOW
                    best[1] = max(best[1], ~e3)
                    best[2] = max(best[2], ~turn(e2, e3))
                    best[3] = max(best[3], ~turn(e1, e3))
            for c in range(columns):
                total[c] += best[c] if a == b else 2 * best[c]
    for c in range(columns):
        value = total[c]
        out[c] = 32768 + value // 36 if value >= 0 else 32768 - (-value) // 36


@njit()
def values_of(table: Array, us: Array, them: Array, starts: Array, results: Array, out: Array) -> None:
    """out[i] = what the rule gives for (us[i], them[i]); out : (m, columns) int64."""
    for i in range(len(us)):
        value_of(table, us[i], them[i], starts, results, out[i])


@njit()
def settle(
    work: Array,
    starts: Array,
    results: Array,
    begins: Array,
    before: Array,
    dirty: Array,
    order: Array,
    pips_at: Array,
    total_pips: int,
    wrong: Array,
) -> int:
    """Put right the dirty entries whose pips add up to total_pips; what follows from them becomes dirty.

    order : positions by pip count; pips_at[p] : where those of p pips begin in it. dirty : (n, n) uint8, set bit 1
    to look at an entry. wrong : (m,) int64 takes us * n + them of the entries that were wrong. Returns how many; no
    more than len(wrong) are put down.
    """
    n, _, columns = work.shape
    value = np.empty(4, np.int64)
    found = 0
    most = len(pips_at) - 2
    for p in range(max(0, total_pips - most), min(most, total_pips) + 1):
        q = total_pips - p
        for i in range(pips_at[p], pips_at[p + 1]):
            u = order[i]
            for k in range(pips_at[q], pips_at[q + 1]):
                t = order[k]
                if dirty[u, t] == 0:
                    continue
                value_of(work, u, t, starts, results, value)
                same = True
                for c in range(columns):
                    same = same and np.int64(work[u, t, c]) == value[c]
                if same:
                    continue
                for c in range(columns):
                    work[u, t, c] = value[c]
                if found < len(wrong):
                    wrong[found] = u * n + t
                found += 1
                # (u, t) is what a play by the other side leads to: entries (x, u) with t among x's successors
                for m in range(begins[t], begins[t + 1]):
                    dirty[before[m], u] = 1
    return found
