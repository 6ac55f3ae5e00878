"""Compiled: the two halves of a pip layer of a two-sided table (see `bgfmt.solver.two_sided` for the method).

Positions are numbers in pip order throughout. "Turned" values are what a record is worth to the player who moved
into it: negated, with the opponent's best cube action taken. The inner loops are small functions over contiguous
int16 slices, which is the form in which the compiler makes vector code of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit


class Rolls(NamedTuple):
    """Results j of every roll of a position u: results[ends[21 u + r] : ends[21 u + r + 1]]; weights 1 or 2."""

    ends: Any
    results: Any
    weights: Any


class Turned(NamedTuple):
    """Rows of the turned table in a flat pool: plane k of F(t, j) lies at base[j] + k * plane[j] + t - begins[j]."""

    pool: Any
    base: Any
    plane: Any
    begins: Any


class Target(NamedTuple):
    """Where finished records go: out[row_of[u], column_of[t] + k], uint16."""

    out: Any
    row_of: Any
    column_of: Any


class Layer(NamedTuple):
    """A pip layer: places start..end-1 of n, the first place that its plays may reach, columns of a record."""

    start: int
    end: int
    n: int
    window: int
    columns: int


TILE = 512  # positions of the other side done together: a tile of a row of the turned table is 1 KB a column


@njit()
def copy(best: Any, a: Any) -> None:
    """best = a."""
    for i in range(best.size):
        best[i] = a[i]


@njit()
def max1(best: Any, a: Any) -> None:
    """best = max(best, a)."""
    for i in range(best.size):
        best[i] = max(best[i], a[i])


@njit()
def max4(best: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    """best = max(best, a, b, c, d)."""
    for i in range(best.size):
        best[i] = max(max(best[i], max(a[i], b[i])), max(c[i], d[i]))  # noqa: PLW3301


@njit()
def add(total: Any, best: Any, weight: Any) -> None:
    """total += weight * best."""
    for i in range(total.size):
        total[i] += weight * np.int32(best[i])


@njit()
def divide(value: Any, total: Any) -> None:
    """value = total / 36, truncated towards zero."""
    for i in range(total.size):
        x = total[i]
        sign = x >> 31
        size = np.uint32((x ^ sign) - sign)
        value[i] = np.int16((np.int32(size // np.uint32(36)) ^ sign) - sign)


@njit()
def cube(nd: Any, dt: Any) -> Any:
    """Value to its roller of doubling or not, whichever is better: nd rolling on, dt the doubled cube's half."""
    half = (nd + np.int32(nd < 0)) >> 1
    twice = np.int32(32767) if dt >= 16383 else dt + dt
    return twice if dt >= half else nd


@njit()
def turn(columns: Any, e0: Any, e1: Any, e2: Any, e3: Any, f0: Any, f1: Any, f2: Any, f3: Any) -> None:
    """Turned values f of stored values e; with one column only the first counts."""
    for i in range(e0.size):
        f0[i] = ~e0[i]
    if columns == 4:
        for i in range(e0.size):
            f1[i] = ~e3[i]
            f2[i] = np.int16(~cube(np.int32(e2[i]), np.int32(e3[i])))
            f3[i] = np.int16(~cube(np.int32(e1[i]), np.int32(e3[i])))


@njit()
def across(
    layer: Layer, low: int, high: int, turned: Turned, rolls: Rolls, own: Any, begin: int, target: Target
) -> None:
    """Records (u, t) of u in the layer and t in low..high-1, from the layer on: maxima along rows of the table.

    own (width, columns, m), int16, takes F(u, t) in its column t - begin.
    """
    pool, base, plane, begins = turned
    ends, results, weights = rolls
    columns = layer.columns
    best = np.empty(TILE, np.int16)
    total = np.empty(TILE, np.int32)
    value = np.empty((4, TILE), np.int16)
    for first in range(low, high, TILE):
        size = min(TILE, high - first)
        b, s = best[:size], total[:size]
        for u in range(layer.start, layer.end):
            for k in range(columns):
                s[:] = 0
                i = ends[u * 21]
                for r in range(21):
                    last = ends[u * 21 + r + 1]
                    j = results[i]
                    at = base[j] + k * plane[j] + first - begins[j]
                    copy(b, pool[at : at + size])
                    i += 1
                    while i + 4 <= last:
                        j0, j1, j2, j3 = results[i], results[i + 1], results[i + 2], results[i + 3]
                        a0 = base[j0] + k * plane[j0] + first - begins[j0]
                        a1 = base[j1] + k * plane[j1] + first - begins[j1]
                        a2 = base[j2] + k * plane[j2] + first - begins[j2]
                        a3 = base[j3] + k * plane[j3] + first - begins[j3]
                        max4(
                            b, pool[a0 : a0 + size], pool[a1 : a1 + size], pool[a2 : a2 + size],
                            pool[a3 : a3 + size],
                        )  # fmt: skip
                        i += 4
                    while i < last:
                        j = results[i]
                        at = base[j] + k * plane[j] + first - begins[j]
                        max1(b, pool[at : at + size])
                        i += 1
                    add(s, b, weights[r])
                divide(value[k, :size], s)
            row = target.out[target.row_of[u]]
            for k in range(columns):
                v = value[k]
                for x in range(size):
                    row[target.column_of[first + x] + k] = np.uint16(np.int32(v[x]) + 32768)
            f = own[u - layer.start]
            a, z = first - begin, first - begin + size
            if columns == 4:
                turn(
                    4, value[0, :size], value[1, :size], value[2, :size], value[3, :size],
                    f[0, a:z], f[1, a:z], f[2, a:z], f[3, a:z],
                )  # fmt: skip
            else:
                v0, f0 = value[0, :size], f[0, a:z]
                turn(1, v0, v0, v0, v0, f0, f0, f0, f0)


@njit()
def down(
    layer: Layer, low: int, high: int, turned: Turned, rolls: Rolls, own: Any, target: Target, block: int, near: Any
) -> None:  # fmt: skip
    """Records (u, t) of t in low..high-1, in the layer, and all u beyond the layer: maxima across the block of t's.

    The turned values F(t, j) of the block are laid out in `near`, j by j from the layer's window on, lanes
    k * block + t side by side, and the results F(u, t) go back into the pool as rows of t. own (high - low, columns,
    n - start) holds F(t, j) for j from the layer on.
    """
    pool, base, plane, begins = turned
    ends, results, weights = rolls
    start, n, window, columns = layer.start, layer.n, layer.window, layer.columns
    lanes = columns * block
    width = high - low
    for j in range(window, start):
        at = (j - window) * lanes
        for k in range(columns):
            source = base[j] + k * plane[j] + low - begins[j]
            for x in range(width):
                near[at + k * block + x] = pool[source + x]
    for x in range(width):
        for k in range(columns):
            f = own[x, k]
            for j in range(start, n):
                near[(j - window) * lanes + k * block + x] = f[j - start]
    best = np.empty(lanes, np.int16)
    total = np.empty(lanes, np.int32)
    value = np.empty(lanes, np.int16)
    back = np.empty(lanes, np.int16)
    tile = np.zeros((64, lanes), np.int16)
    for first in range(layer.end, n, 64):
        past = min(first + 64, n)
        for u in range(first, past):
            total[:] = 0
            i = ends[u * 21]
            for r in range(21):
                last = ends[u * 21 + r + 1]
                at = (results[i] - window) * lanes
                copy(best, near[at : at + lanes])
                i += 1
                while i + 4 <= last:
                    a0 = (results[i] - window) * lanes
                    a1 = (results[i + 1] - window) * lanes
                    a2 = (results[i + 2] - window) * lanes
                    a3 = (results[i + 3] - window) * lanes
                    max4(
                        best, near[a0 : a0 + lanes], near[a1 : a1 + lanes], near[a2 : a2 + lanes],
                        near[a3 : a3 + lanes],
                    )  # fmt: skip
                    i += 4
                while i < last:
                    at = (results[i] - window) * lanes
                    max1(best, near[at : at + lanes])
                    i += 1
                add(total, best, weights[r])
            divide(value, total)
            row = target.out[target.row_of[u]]
            for x in range(width):
                at = target.column_of[low + x]
                for k in range(columns):
                    row[at + k] = np.uint16(np.int32(value[k * block + x]) + 32768)
            if columns == 4:
                turn(
                    4, value[:block], value[block : 2 * block], value[2 * block : 3 * block], value[3 * block :],
                    back[:block], back[block : 2 * block], back[2 * block : 3 * block], back[3 * block :],
                )  # fmt: skip
            else:
                turn(1, value, value, value, value, back, back, back, back)
            copy(tile[u - first], back)  # numba compiles an assignment of rows with all of its string code
        for x in range(width):
            t = low + x
            for k in range(columns):
                at = base[t] + k * plane[t] + first - begins[t]
                for y in range(past - first):
                    pool[at + y] = tile[y, k * block + x]


@njit()
def refill(layer: Layer, strips: Any, turned: Turned) -> None:
    """Rows of the turned table of a layer's t's again, from its finished records (n - end, width * columns)."""
    pool, base, plane, begins = turned
    columns = layer.columns
    value = np.empty((4, TILE), np.int16)
    for x in range(layer.end - layer.start):
        t = layer.start + x
        for low in range(layer.end, layer.n, TILE):
            size = min(TILE, layer.n - low)
            for k in range(columns):
                for y in range(size):
                    value[k, y] = np.int16(np.int32(strips[low - layer.end + y, x * columns + k]) - 32768)
            at = base[t] + low - begins[t]
            if columns == 4:
                p = plane[t]
                turn(
                    4, value[0, :size], value[1, :size], value[2, :size], value[3, :size],
                    pool[at : at + size], pool[at + p : at + p + size], pool[at + 2 * p : at + 2 * p + size],
                    pool[at + 3 * p : at + 3 * p + size],
                )  # fmt: skip
            else:
                v = value[0, :size]
                f = pool[at : at + size]
                turn(1, v, v, v, v, f, f, f, f)


@njit()
def add_up(pieces: Any, weights: Any, sums: Any) -> None:
    """sums[x] += sum of pieces[x, i] * weights[i] modulo 2**64; (m, p) uint16, (p,) uint32, (m,) uint64."""
    for x in range(pieces.shape[0]):
        sums[x] += weighted(pieces[x], weights)


@njit()
def weighted(values: Any, weights: Any) -> Any:
    """Sum of values[i] * weights[i] modulo 2**64."""
    total = np.uint64(0)
    for i in range(values.size):
        total += np.uint64(values[i]) * np.uint64(weights[i])
    return total


@njit()
def spread(pieces: Any, columns: int, numbers: Any, rows: Any, out: Any) -> None:
    """Put records in pip order, (m, p * columns) uint16, where their position numbers say in rows of the table."""
    for x in range(rows.size):
        row = out[rows[x]]
        for i in range(numbers.size):
            at = numbers[i] * columns
            for k in range(columns):
                row[at + k] = pieces[x, i * columns + k]
