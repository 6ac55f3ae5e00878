"""Compiled: rows and single records, from residuals and predictions. See `layout` for the bytes.

The coder is rANS with a 32-bit state, 12-bit frequencies and 16-bit units; a block begins with its state and ends
with the state it was started from, so that a damaged block does not end as it should.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

LOW = 1 << 16
ESCAPE = 63
MIDDLE = 31
PLAIN = 255
STARTED = LOW


@njit()
def opened(data: Any, at: Any) -> Any:
    """The state that a block begins with."""
    return (
        np.int64(data[at])
        | np.int64(data[at + 1]) << 8
        | np.int64(data[at + 2]) << 16
        | np.int64(data[at + 3]) << 24
    )


@njit()
def decode(
    data: Any,
    at: Any,
    units: Any,
    kinds: Any,
    columns: int,
    count: int,
    slots: Any,
    shifts: Any,
    whole: bool,
    out: Any,
) -> bool:
    """The first `count` records of a block of `units` units at `at`: residuals into out[count * columns].

    kinds : (columns,) class of each column. slots : (16 * 4096,) uint32. With `whole` the block must end where and as
    it should. False for a block that makes no sense.
    """
    if units < 2:
        return False
    end = at + 2 * units
    x: Any = opened(data, at)
    at += 4
    if x < LOW:
        return False
    for c in range(columns):
        if kinds[c] == 0:
            for k in range(count):
                out[k * columns + c] = 0
    for k in range(count):
        for c in range(columns):
            kind = kinds[c]
            if kind == 0:
                continue
            slot = np.int64(slots[kind << 12 | x & 4095])
            x = ((slot >> 12 & 4095) + 1) * (x >> 12) + (slot & 4095)
            if x < LOW:
                if at >= end:
                    return False
                x = x << 16 | np.int64(data[at]) | np.int64(data[at + 1]) << 8
                at += 2
            value = (slot >> 24 & 63) - MIDDLE
            if slot >> 30:
                shift = shifts[kind]
                if value == ESCAPE - MIDDLE:
                    value, shift = 0, 16
                value = (value << shift) + (x & ((1 << shift) - 1))
                x >>= shift
                if x < LOW:
                    if at >= end:
                        return False
                    x = x << 16 | np.int64(data[at]) | np.int64(data[at + 1]) << 8
                    at += 2
            out[k * columns + c] = value
    return not whole or (at == end and x == STARTED)


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
    out: Any,
) -> Any:
    """Blocks first..last-1 of row segments: predictions and residuals make values; -1, or a segment that is bad.

    predicted : (columns, m, records) uint16. out : (m, records, columns) uint16. width : records of a segment.
    """
    blocks = (width + block - 1) // block
    kept = 2 if columns == 4 else 1
    residuals = np.empty(block * columns, np.int64)
    kinds = np.zeros(columns, np.int64)
    for k in range(len(starts)):
        lengths = starts[k] + blocks * kept
        at = lengths + blocks + factors
        end = stops[k] - 4
        total = np.int64(0)
        for b in range(blocks):
            units = np.int64(data[lengths + b])
            total += 2 * units if units != PLAIN else 2 * columns * min(block, width - b * block)
        if at + total != end:
            return k
        for b in range(last):
            count = min(block, width - b * block)
            units = np.int64(data[lengths + b])
            size = 2 * units if units != PLAIN else 2 * columns * count
            if b >= first:
                base = (b - first) * block
                if units == PLAIN:
                    for r in range(count):
                        for c in range(columns):
                            place = at + 2 * (r * columns + c)
                            out[k, base + r, c] = np.int64(data[place]) | np.int64(data[place + 1]) << 8
                elif units:
                    for c in range(columns):
                        kinds[c] = data[starts[k] + b * kept + c // 2] >> (4 * (c % 2)) & 15
                    if not decode(data, at, units, kinds, columns, count, slots, shifts, True, residuals):
                        return k
                    for r in range(count):
                        for c in range(columns):
                            out[k, base + r, c] = (
                                np.int64(predicted[c, k, base + r]) + residuals[r * columns + c]
                            )
                else:
                    for c in range(kept):
                        if data[starts[k] + b * kept + c]:
                            return k
                    for r in range(count):
                        for c in range(columns):
                            out[k, base + r, c] = predicted[c, k, base + r]
            at += size
    return -1


@njit()
def residual_of(
    data: Any,
    start: Any,
    stop: Any,
    column: int,
    width: int,
    factors: int,
    columns: int,
    block: int,
    slots: Any,
    shifts: Any,
    kinds: Any,
    room: Any,
    found: Any,
) -> Any:
    """Residuals of one record of a row segment into found: 0; 1 where they are the values; -1 if it is bad."""
    kept = 2 if columns == 4 else 1
    blocks = (width + block - 1) // block
    b, within = column // block, column % block
    lengths = start + blocks * kept
    at = lengths + blocks + factors
    end = stop - 4
    for k in range(b):
        units = np.int64(data[lengths + k])
        at += 2 * units if units != PLAIN else 2 * columns * block
    units = np.int64(data[lengths + b])
    if units == PLAIN:
        at += 2 * columns * within
        if at + 2 * columns > end:
            return -1
        for c in range(columns):
            found[c] = np.int64(data[at + 2 * c]) | np.int64(data[at + 2 * c + 1]) << 8
        return 1
    for c in range(columns):
        kinds[c] = data[start + b * kept + c // 2] >> (4 * (c % 2)) & 15
        found[c] = 0
    if units == 0:
        return -1 if kinds.any() else 0
    if at + 2 * units > end:
        return -1
    if not decode(data, at, units, kinds, columns, within + 1, slots, shifts, False, room):
        return -1
    for c in range(columns):
        found[c] = room[within * columns + c]
    return 0


@njit()
def predicted(data: Any, mine: int, beside: Any, theirs: int, parts: Any, scales: Any, column: int) -> Any:
    """The prediction of one number, from the factors of its row and of its column.

    parts : (columns, 5) int64: bytes before the column's factors, how many of 16 bits and of 8, shifts before its
    own, and whether the sum of the 8-bit ones stays within 32 bits. scales : (all factors,) int32 shifts.
    """
    place, wide, narrow, first = parts[column, 0], parts[column, 1], parts[column, 2], parts[column, 3]
    total: Any = np.int64(0)
    if wide:
        a = data[mine + place : mine + place + 2 * wide].view(np.int16)
        b = beside[theirs + place : theirs + place + 2 * wide].view(np.int16)
        s = scales[first : first + wide]
        for k in range(wide):
            total += np.int64(np.int32(a[k]) * np.int32(b[k])) << np.int64(s[k])
        total >>= 10
    if narrow:
        place += 2 * wide
        first += wide
        c = data[mine + place : mine + place + narrow].view(np.int8)
        d = beside[theirs + place : theirs + place + narrow].view(np.int8)
        s = scales[first : first + narrow]
        if parts[column, 4]:
            small = np.int32(0)
            for k in range(narrow):
                small += np.int32(np.int32(c[k]) * np.int32(d[k])) << s[k]
            total += small
        else:
            for k in range(narrow):
                total += np.int64(np.int32(c[k]) * np.int32(d[k])) << np.int64(s[k])
    total = ((total + 8192) >> 14) + 32768
    return min(max(total, 0), 65535)


@njit()
def records(
    data: Any,
    starts: Any,
    stops: Any,
    beside: Any,
    where: Any,
    column: Any,
    width: int,
    factors: int,
    parts: Any,
    scales: Any,
    block: int,
    slots: Any,
    shifts: Any,
    out: Any,
) -> Any:
    """Single records of one tile: out (m, columns) uint16. -1, or the first whose segment is bad.

    starts, stops : row segments in data. where : where the factors of the record's column are in `beside`. column :
    place in the tile. parts, scales : as `predicted` has them.
    """
    columns = out.shape[1]
    found, kinds = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    room = np.empty(block * columns, np.int64)
    entry = (width + block - 1) // block * (3 if columns == 4 else 2)
    for i in range(len(starts)):
        how = residual_of(
            data,
            starts[i],
            stops[i],
            column[i],
            width,
            factors,
            columns,
            block,
            slots,
            shifts,
            kinds,
            room,
            found,
        )
        if how < 0:
            return i
        for c in range(columns):
            if how == 0:
                found[c] += predicted(data, starts[i] + entry, beside, where[i], parts, scales, c)
            out[i, c] = found[c]
    return -1


@njit()
def record(
    data: Any,
    start: Any,
    stop: Any,
    beside: Any,
    where: int,
    column: int,
    width: int,
    factors: int,
    parts: Any,
    scales: Any,
    block: int,
    slots: Any,
    shifts: Any,
    out: Any,
) -> Any:
    """One record, out (columns,) uint16; -1, or 0 where its segment is bad."""
    columns = len(out)
    found, kinds = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    room = np.empty(block * columns, np.int64)
    entry = (width + block - 1) // block * (3 if columns == 4 else 2)
    how = residual_of(
        data, start, stop, column, width, factors, columns, block, slots, shifts, kinds, room, found
    )
    if how < 0:
        return 0
    for c in range(columns):
        if how == 0:
            found[c] += predicted(data, start + entry, beside, where, parts, scales, c)
        out[c] = found[c]
    return -1


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


@njit()
def gathered(source: Any, places: Any, rows: Any, out: Any) -> None:
    """out[rows[i], j] = source[i, places[j]], records of one number each."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            out[rows[i], j] = source[i, places[j]]
