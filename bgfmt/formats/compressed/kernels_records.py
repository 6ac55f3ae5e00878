"""Compiled: single records, many at once or one, from residuals and predictions. See `layout` for the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.kernels_coder import (
    AT,
    LANES,
    LEAST,
    LEFT,
    MOST,
    NEVER,
    TO,
    WORDS,
    U,
    begun,
    four,
    one,
    opened,
    rested,
)
from bgfmt.jit import njit

PLAIN = 255


@njit()
def found_in(
    data: Any,
    start: Any,
    stop: Any,
    column: Any,
    width: Any,
    factors: Any,
    columns: int,
    block: int,
    lanes: Any,
    lane: Any,
    out: Any,
    row: Any,
) -> int:
    """Where the residuals of one record of a row segment are: 0 they are all 0, and so is out[row]; 1 out[row] holds
    the record as stored; 2 they are the last of what the lane has left; -1 the segment is bad."""
    kept = 2 if columns == 4 else 1
    blocks = (width + block - 1) // block
    b = column // block
    within = column - b * block
    lengths = start + blocks * kept
    at = lengths + blocks + factors
    end = stop - 4
    before, plain = U(0), U(0)
    first = U(lengths)
    for k in range(U(b)):
        before += U(data[first + k])
        plain += U(data[first + k] == PLAIN)
    at += 2 * np.int64(before) + np.int64(plain) * (2 * columns * block - 2 * PLAIN)
    units = np.int64(data[lengths + b])
    if units == PLAIN:
        at += 2 * columns * within
        if at + 2 * columns > end:
            return -1
        for c in range(columns):
            out[row, c] = np.int64(data[at + 2 * c]) | np.int64(data[at + 2 * c + 1]) << 8
        return 1
    some = begun(data, start + b * kept, columns, lanes, lane)
    if units == 0:
        for c in range(columns):
            out[row, c] = 0
        return -1 if some else 0
    half = (min(block, width - b * block) + 1) // 2
    second = within >= half
    if at + 2 * units > end or not opened(data, at, units, second, lanes, lane):
        return -1
    lanes[lane, LEFT] = within + 1 - half if second else within + 1
    return 2


@njit()
def within_block(lanes: Any, k: Any) -> bool:
    """Whether lane k has read no further than its block goes."""
    return bool(lanes[k, LEAST] <= lanes[k, AT] <= lanes[k, MOST])


@njit()
def residuals(
    data: Any,
    starts: Any,
    stops: Any,
    columns_at: Any,
    tiles: Any,
    widths: Any,
    factors: Any,
    block: int,
    slots: Any,
    shifts: Any,
    order: Any,
    out: Any,
    stored: Any,
) -> Any:
    """Residuals of single records, the i-th into row order[i] of out (m, columns) uint16; -1, or an i that is bad.

    starts, stops : row segments in data, of so many records (widths). columns_at : place in the tile. tiles : which
    tile. factors : of every tile. stored : (m,) True where `out` has the i-th record itself, not what is to be
    added to a prediction.
    """
    columns = out.shape[1]
    lanes, whose = np.zeros((LANES, WORDS), np.uint64), np.full(LANES, -1, np.int64)
    room = np.zeros((LANES, 4), np.uint16)
    flat = room.reshape(-1)
    at = 0
    while True:
        busy = False
        steps: Any = NEVER
        for k in range(LANES):
            while whose[k] < 0 and at < len(starts):
                how = found_in(
                    data, starts[at], stops[at], columns_at[at], widths[at], factors[tiles[at]], columns, block,
                    lanes, k, out, order[at],
                )  # fmt: skip
                if how < 0:
                    return at
                stored[at] = how == 1
                if how == 2:
                    whose[k] = at
                at += 1
            if whose[k] < 0:
                rested(lanes, k, 4 * k)
            else:
                busy = True
                steps = min(steps, np.int64(lanes[k, LEFT]))
            lanes[k, TO] = 4 * k
        if not busy:
            return -1
        four(data, lanes, steps, columns, slots, shifts, 0, flat)
        for k in range(LANES):
            if whose[k] >= 0 and lanes[k, LEFT] == 0:
                if not within_block(lanes, k):
                    return whose[k]
                for c in range(columns):
                    out[order[whose[k]], c] = room[k, c]
                whose[k] = -1


@njit()
def predicted(data: Any, mine: Any, beside: Any, theirs: Any, parts: Any, weights: Any, column: int) -> Any:
    """The prediction of one number, from the factors of its row and of its column.

    data, beside : int8. parts : (columns, 6) int64: bytes before the column's factors, how many of 16 bits, of 8, and
    pairs of 4, weights before its own, and whether the sum of the small ones stays within 32 bits. weights : int32,
    two to each shift.
    """
    wide, narrow, pairs = (
        np.uint64(parts[column, 1]),
        np.uint64(parts[column, 2]),
        np.uint64(parts[column, 3]),
    )
    a, b = np.uint64(mine + parts[column, 0]), np.uint64(theirs + parts[column, 0])
    w = np.uint64(parts[column, 4])
    total: Any = np.int64(0)
    for k in range(wide):
        x = np.int64(data[a + k]) << 8 | (np.int64(data[a + wide + k]) & 255)
        y = np.int64(beside[b + k]) << 8 | (np.int64(beside[b + wide + k]) & 255)
        total += x * y * np.int64(weights[w + k])
    total >>= 10
    a, b, w = a + wide + wide, b + wide + wide, w + wide
    if parts[column, 5]:
        small = np.int32(0)  # 32 bits throughout, so that many factors are multiplied at once
        for k in range(narrow):
            small = np.int32(
                small + np.int32(np.int32(data[a + k]) * np.int32(beside[b + k])) * weights[w + k]
            )
        a, b, w = a + narrow, b + narrow, w + narrow
        for k in range(pairs):
            x4, y4 = np.int32(data[a + k]), np.int32(beside[b + k])
            both = np.int32((x4 >> 4) * (y4 >> 4) + (((x4 & 15) ^ 8) - 8) * (((y4 & 15) ^ 8) - 8))
            small = np.int32(small + both * weights[w + k])
        total += np.int64(small)
    else:
        for k in range(narrow):
            total += np.int64(data[a + k]) * np.int64(beside[b + k]) * np.int64(weights[w + k])
        a, b, w = a + narrow, b + narrow, w + narrow
        for k in range(pairs):
            x, y = np.int64(data[a + k]), np.int64(beside[b + k])
            total += ((x >> 4) * (y >> 4) + (((x & 15) ^ 8) - 8) * (((y & 15) ^ 8) - 8)) * np.int64(
                weights[w + k]
            )
    total = ((total + 8192) >> 14) + 32768
    return min(max(total, 0), 65535)


@njit()
def add_predictions(
    data: Any,
    starts: Any,
    beside: Any,
    where: Any,
    tiles: Any,
    widths: Any,
    parts: Any,
    weights: Any,
    block: int,
    order: Any,
    stored: Any,
    out: Any,
) -> None:
    """Add to each row of out (m, columns) its prediction, unless it is stored: to row order[i] the i-th.

    where : factors of the record's column
    in `beside`. parts : (tiles, columns, 5), the weights counted through all of them."""
    columns = out.shape[1]
    data, beside = data.view(np.int8), beside.view(np.int8)
    each = 3 if columns == 4 else 2
    for i in range(len(starts)):
        if stored[i]:
            continue
        t = tiles[i]
        mine = starts[i] + (widths[i] + block - 1) // block * each
        for c in range(columns):
            out[order[i], c] += predicted(data, mine, beside, where[i], parts[t], weights, c)


@njit()
def record(
    data: Any,
    start: Any,
    stop: Any,
    where: Any,
    column: Any,
    width: Any,
    factors: Any,
    parts: Any,
    weights: Any,
    block: int,
    slots: Any,
    shifts: Any,
    out: Any,
) -> bool:
    """One record, out (columns,) uint16; False where its segment is bad."""
    columns = len(out)
    lanes = np.zeros((1, WORDS), np.uint64)
    how = found_in(
        data, start, stop, column, width, factors, columns, block, lanes, 0, out.reshape(1, columns), 0
    )
    if how < 0:
        return False
    if how == 2:
        one(data, lanes, columns, slots, shifts, out)
        if not within_block(lanes, 0):
            return False
    if how != 1:
        signed = data.view(np.int8)
        mine = start + (width + block - 1) // block * (3 if columns == 4 else 2)
        for c in range(columns):
            out[c] += predicted(signed, mine, signed, where, parts, weights, c)
    return True


@njit()
def keys(ours: Any, theirs: Any, group: Any, edges: Any) -> Any:
    """(m,) int64 that put records in order by tile, in a tile by row."""
    groups = len(edges) - 1
    out = np.empty(len(ours), np.int64)
    for i in range(len(ours)):
        g = group[ours[i]]
        out[i] = (g * groups + group[theirs[i]] << 16) + ours[i] - edges[g]
    return out


@njit()
def located(
    ours: Any,
    theirs: Any,
    order: Any,
    group: Any,
    edges: Any,
    begins: Any,
    beside: Any,
    factors: Any,
    rows_sound: Any,
    beside_sound: Any,
    half: bool,
    out: Any,
) -> bool:
    """Where records are, by the places of their sides, the i-th for pair order[i]; whether any is unchecked.

    group : (n,) of every place. edges : of the groups. begins : (n * groups + groups,) of the row segments, each
    strip's end behind its own. beside, factors : (tiles,) where column factors begin, and their size. half : whether
    rows end at the diagonal. out : (6, m) int64 tile, start and end of the row segment, place in the tile, where the
    factors of the column are, records of the segment.
    """
    groups = len(edges) - 1
    fresh = False
    for i in range(len(ours)):
        row, column = ours[order[i]], theirs[order[i]]
        g, j = group[row], group[column]
        t = g * groups + j
        at = row * groups + j + g
        fresh |= not (rows_sound[row, j] and beside_sound[g, column])
        out[0, i], out[1, i], out[2, i], out[3, i] = t, begins[at], begins[at + 1], column - edges[j]
        out[4, i] = beside[t] + (column - edges[j]) * (factors[t] + 4)
        out[5, i] = (min(edges[j + 1], row + 1) if half else edges[j + 1]) - edges[j]
    return fresh
