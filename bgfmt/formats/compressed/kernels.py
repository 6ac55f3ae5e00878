"""Compiled: rows and single records, from residuals and predictions. See `layout` for the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.kernels_coder import (
    AT,
    LANES,
    LEAST,
    LEFT,
    MOST,
    SLOTS,
    STARTED,
    STEP,
    TO,
    WORDS,
    X,
    four,
    idle,
    one,
    opened,
)
from bgfmt.jit import njit

U = np.uint64
PLAIN = 255
NEVER = 1 << 40


@njit()
def rested(lanes: Any, k: Any, to: Any) -> None:
    """Give lane k nothing to do but to write zeros from `to` on."""
    idle(lanes, k)
    lanes[k, TO], lanes[k, LEFT] = to, NEVER


@njit()
def begun(data: Any, at: Any, columns: int, lanes: Any, k: Any) -> bool:
    """Give lane k the classes of a block, which are at `at`; False where all are 0."""
    if columns == 1:
        lanes[k, SLOTS] = U(data[at] & 15) << U(12)
        return bool(data[at] & 15)
    low, high = U(data[at]), U(data[at + 1])
    lanes[k, SLOTS], lanes[k, SLOTS + 1] = (low & U(15)) << U(12), low >> U(4) << U(12)
    lanes[k, SLOTS + 2], lanes[k, SLOTS + 3] = (high & U(15)) << U(12), high >> U(4) << U(12)
    return bool(low | high)


@njit()
def finished(
    data: Any, lanes: Any, busy: int, columns: int, slots: Any, shifts: Any, spare: Any, out: Any
) -> bool:
    """Decode all that the first `busy` lanes have left, two lanes a block; False if a block does not end as it should.

    spare : where in `out` lanes without work may write.
    """
    ends = np.empty((LANES, 2), np.uint64)
    for k in range(busy, LANES):
        rested(lanes, k, spare)
    for k in range(busy):
        if lanes[k, LEFT] == 0:
            ends[k, 0], ends[k, 1] = lanes[k, X], lanes[k, AT]
            rested(lanes, k, spare)
    while True:
        steps = NEVER
        for k in range(busy):
            steps = min(steps, np.int64(lanes[k, LEFT]))
        if steps == NEVER:
            break
        for k in range(LANES):
            if lanes[k, STEP] == 0:
                lanes[k, TO] = spare
        four(data, lanes, steps, columns, slots, shifts, columns, out)
        for k in range(busy):
            if lanes[k, LEFT] == 0:
                ends[k, 0], ends[k, 1] = lanes[k, X], lanes[k, AT]
                rested(lanes, k, spare)
            elif lanes[k, STEP] == 0:
                lanes[k, LEFT] = NEVER
    for k in range(0, busy, 2):
        if ends[k, 0] != STARTED or ends[k + 1, 0] != STARTED or ends[k, 1] != ends[k + 1, 1] + U(2):
            return False
    return True


@njit()
def rows(
    data: Any,
    starts: Any,
    stops: Any,
    factors: int,
    columns: int,
    block: int,
    width: int,
    first: int,
    last: int,
    slots: Any,
    shifts: Any,
    predicted: Any,
    into: Any,
    target: Any,
    out: Any,
) -> Any:
    """Blocks first..last-1 of row segments: predictions and residuals make values; -1, or a segment that is bad.

    predicted : (columns, m, records) uint16. width : records of a segment. out : (m, any) uint64, or uint16 where
    there is one column: record first * block + i of segment k goes to out[into[k], target[i]], unless that is negative.
    """
    blocks = (width + block - 1) // block
    kept = 2 if columns == 4 else 1
    many = predicted.shape[2]
    residual = np.zeros((many + block) * columns, np.uint16)
    lanes = np.zeros((LANES, WORDS), np.uint64)
    for k in range(len(starts)):
        lengths = starts[k] + blocks * kept
        at = lengths + blocks + factors
        total = np.int64(0)
        for b in range(blocks):
            units = np.int64(data[lengths + b])
            total += 2 * units if units != PLAIN else 2 * columns * min(block, width - b * block)
        if at + total != stops[k] - 4:
            return k
        busy = 0
        for b in range(last):
            count = min(block, width - b * block)
            units = np.int64(data[lengths + b])
            size = 2 * units if units != PLAIN else 2 * columns * count
            base = (b - first) * block
            if b < first:
                pass
            elif units == PLAIN:
                for r in range(count):
                    for c in range(columns):
                        place = at + 2 * (r * columns + c)
                        stored = np.int64(data[place]) | np.int64(data[place + 1]) << 8
                        residual[(base + r) * columns + c] = stored - np.int64(predicted[c, k, base + r])
            elif units:
                half = (count + 1) // 2
                for second in range(2):
                    if not opened(data, at, units, second == 1, lanes, busy + second):
                        return k
                    begun(data, starts[k] + b * kept, columns, lanes, busy + second)
                    lanes[busy + second, LEFT] = half if second == 0 else count - half
                    lanes[busy + second, TO] = (base + second * half) * columns
                busy += 2
                if busy == LANES:
                    if not finished(data, lanes, busy, columns, slots, shifts, many * columns, residual):
                        return k
                    busy = 0
            else:
                for c in range(kept):
                    if data[starts[k] + b * kept + c]:
                        return k
                for r in range(base * columns, (base + count) * columns):
                    residual[r] = 0
            at += size
        if busy and not finished(data, lanes, busy, columns, slots, shifts, many * columns, residual):
            return k
        if columns == 4:
            for i in range(many):
                to = target[i]
                if to >= 0:
                    out[into[k], to] = (
                        np.uint64((predicted[0, k, i] + residual[4 * i]) & 65535)
                        | np.uint64((predicted[1, k, i] + residual[4 * i + 1]) & 65535) << np.uint64(16)
                        | np.uint64((predicted[2, k, i] + residual[4 * i + 2]) & 65535) << np.uint64(32)
                        | np.uint64((predicted[3, k, i] + residual[4 * i + 3]) & 65535) << np.uint64(48)
                    )
        else:
            for i in range(many):
                to = target[i]
                if to >= 0:
                    out[into[k], to] = predicted[0, k, i] + residual[i]
    return -1


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

    starts, stops : row segments in data. columns_at : place in the tile. tiles : which tile. widths, factors : of every
    tile. stored : (m,) True where `out` has the i-th record itself, not what is to be added to a prediction.
    """
    columns = out.shape[1]
    lanes, whose = np.zeros((LANES, WORDS), np.uint64), np.full(LANES, -1, np.int64)
    room = np.zeros((LANES, 4), np.uint16)
    flat = room.reshape(-1)
    at = 0
    while True:
        busy = False
        steps = NEVER
        for k in range(LANES):
            while whose[k] < 0 and at < len(starts):
                t = tiles[at]
                how = found_in(
                    data, starts[at], stops[at], columns_at[at], widths[t], factors[t], columns, block, lanes, k,
                    out, order[at],
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
    """Add to each row of out (m, columns) its prediction, unless it is stored: to row order[i] the i-th. where : factors of the record's column
    in `beside`. parts : (tiles, columns, 5), the weights counted through all of them."""
    columns = out.shape[1]
    data, beside = data.view(np.int8), beside.view(np.int8)
    each = 3 if columns == 4 else 2
    for i in range(len(starts)):
        if stored[i]:
            continue
        t = tiles[i]
        mine = starts[i] + (widths[t] + block - 1) // block * each
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
    out: Any,
) -> bool:
    """Where records are, by the places of their sides, the i-th for pair order[i]; whether any part is not yet checked.

    group : (n,) of every place. edges : of the groups. begins : (n * groups + groups,) of the row segments, each
    strip's end behind its own. beside, factors : (tiles,) where column factors begin, and their size. out : (5, m)
    int64 tile, start and end of the row segment, place in the tile, where the factors of the column are.
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
    return fresh


@njit()
def settle(wide: Any, narrow: Any, weights: Any, out: Any) -> None:
    """Predictions of one column from its two sums, exact integers in floats.

    wide : (m, w) float64, of 16-bit factors. narrow : (g, m, w) float32, of 8-bit factors by groups of shifts, each
    to be multiplied by its weight. out : (m, w) uint16.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = np.floor(wide[i, j] / 1024.0)
            for g in range(len(weights)):
                total += weights[g] * np.float64(narrow[g, i, j])
            value = np.floor((total + 8192.0) / 16384.0) + 32768.0
            out[i, j] = np.int32(min(max(value, 0.0), 65535.0))
