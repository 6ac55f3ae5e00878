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
    STEP,
    TO,
    WORDS,
    U,
    begun,
    four,
    one,
    opened,
    rested,
)
from bgfmt.formats.compressed.kernels_predict import laid, predicted
from bgfmt.formats.compressed.kernels_products import fetch
from bgfmt.formats.compressed.layout import MOST_NARROW, MOST_PAIRS, MOST_WIDE
from bgfmt.jit import njit

PLAIN = 255
MANY = 4096  # records that are found at once
SOON, LATER = (
    4,
    12,
)  # so many records before it is needed the memory is asked for a column's factors, and a row's
MOST_LAID = 4 * (MOST_WIDE + MOST_NARROW + 2 * MOST_PAIRS)


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
def by_length(states: Any, many: Any, order: Any) -> Any:
    """Put those of the first `many` lanes that have records left into `order`, fewest first; how many they are."""
    most: Any = 0
    for i in range(many):
        most = max(most, np.int64(states[i, LEFT]))
    ends = np.zeros(most + 1, np.int64)
    for i in range(many):
        ends[states[i, LEFT]] += 1
    busy = many - ends[0]
    total = -ends[0]
    for left in range(most + 1):
        ends[left], total = total, total + ends[left]
    for i in range(many):
        left = states[i, LEFT]
        if left:
            order[ends[left]] = i
            ends[left] += 1
    return busy


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

    Many are found first, and then decoded four at a time, those that are as long together.
    """
    columns = out.shape[1]
    many = min(len(starts), MANY)
    lanes, states = np.zeros((LANES, WORDS), np.uint64), np.zeros((many, WORDS), np.uint64)
    lengths = np.empty(many, np.int64)
    room = np.zeros((LANES, 4), np.uint16)
    flat = room.reshape(-1)
    for first in range(0, len(starts), many):
        count = min(many, len(starts) - first)
        for k in range(count):
            i = first + k
            if i + LATER < len(starts) and starts[i + LATER] != starts[i + LATER - 1]:
                fetch(data, starts[i + LATER], starts[i + LATER] + 3 * (widths[i + LATER] // block + 1))
            states[k, LEFT] = 0
            how = found_in(
                data, starts[i], stops[i], columns_at[i], widths[i], factors[tiles[i]], columns, block, states, k,
                out, order[i],
            )  # fmt: skip
            if how < 0:
                return i
            stored[i] = how == 1
            if how == 2:
                fetch(data, np.int64(states[k, LEAST]), np.int64(states[k, MOST]))
        busy = by_length(states, count, lengths)
        for at in range(0, busy, LANES):
            for k in range(LANES):
                if at + k < busy:
                    lanes[k] = states[lengths[at + k]]
                else:
                    lanes[k] = lanes[0]
                    rested(lanes, k, 0)
                lanes[k, TO] = 4 * k
            while True:
                steps: Any = np.int64(lanes[0, LEFT])
                for k in range(1, LANES):
                    steps = min(steps, np.int64(lanes[k, LEFT]))
                if steps == NEVER:
                    break
                four(data, lanes, steps, columns, slots, shifts, 0, flat)
                for k in range(LANES):
                    if lanes[k, LEFT] == 0:
                        i = first + lengths[at + k]
                        if not within_block(lanes, k):
                            return i
                        for c in range(columns):
                            out[order[i], c] = room[k, c]
                        rested(lanes, k, 4 * k)
                    else:
                        lanes[k, TO] = 4 * k
                        if lanes[k, STEP] == 0:
                            lanes[k, LEFT] = NEVER
    return -1


@njit()
def lay(data: Any, at: Any, size: Any, parts: Any, weights: Any, row: Any) -> None:
    """The factors of a row, `size` bytes from data[at] on, as `predicted` takes them; they may be the data's last."""
    if at + size + 16 <= len(data):
        laid(data, at, parts, weights, row)
        return
    copied = np.zeros(size + 16, np.int8)
    copied[:size] = data[at : at + size]
    laid(copied, 0, parts, weights, row)


@njit()
def add_predictions(
    data: Any,
    starts: Any,
    beside: Any,
    where: Any,
    tiles: Any,
    widths: Any,
    factors: Any,
    parts: Any,
    weights: Any,
    block: int,
    order: Any,
    stored: Any,
    out: Any,
) -> None:
    """Add to each row of out (m, columns) its prediction, unless it is stored: to row order[i] the i-th.

    where : factors of the record's column in `beside`, behind which 16 bytes more can be read. parts : (tiles,
    columns, 6), the weights counted through all of them.
    """
    each = 3 if out.shape[1] == 4 else 2
    row = np.empty(MOST_LAID, np.int32)
    mine, theirs = data.view(np.int8), beside.view(np.int8)
    last = np.int64(-1)
    for i in range(len(starts)):
        if i + LATER < len(starts) and starts[i + LATER] != starts[i + LATER - 1]:
            t = tiles[i + LATER]
            at = starts[i + LATER] + (widths[i + LATER] + block - 1) // block * each
            fetch(data, at, at + factors[t])
        if i + SOON < len(starts):
            fetch(beside, where[i + SOON], where[i + SOON] + factors[tiles[i + SOON]])
        if stored[i]:
            continue
        t = tiles[i]
        if starts[i] != last:
            at = starts[i] + (widths[i] + block - 1) // block * each
            lay(mine, at, factors[t], parts[t], weights, row)
            last = starts[i]
        predicted(row, theirs, where[i], parts[t], out[order[i]])


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
        signed, row = data.view(np.int8), np.empty(MOST_LAID, np.int32)
        at = start + (width + block - 1) // block * (3 if columns == 4 else 2)
        lay(signed, at, factors, parts, weights, row)
        predicted(row, signed, where, parts, out)
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
