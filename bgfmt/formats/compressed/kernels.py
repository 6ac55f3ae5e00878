"""Compiled: checksums, the entropy coder of residuals, single records. See `layout` for the bytes.

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


def _crc_tables() -> Any:
    """Eight tables for CRC-32 (the polynomial of zip), eight bytes a step."""
    out = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        c = byte
        for _ in range(8):
            c = c >> 1 ^ (0xEDB88320 if c & 1 else 0)
        out[0, byte] = c
    for k in range(1, 8):
        out[k] = out[k - 1] >> np.uint32(8) ^ out[0][out[k - 1] & np.uint32(255)]
    return out


_CRC = _crc_tables()


@njit()
def crc32(data: Any, start: int, stop: int) -> int:
    """CRC-32 of data[start:stop], as zlib has it."""
    c = np.uint32(0xFFFFFFFF)
    at = start
    while at + 8 <= stop:
        low = c ^ (
            np.uint32(data[at])
            | np.uint32(data[at + 1]) << np.uint32(8)
            | np.uint32(data[at + 2]) << np.uint32(16)
            | np.uint32(data[at + 3]) << np.uint32(24)
        )
        c = (
            _CRC[7, low & np.uint32(255)]
            ^ _CRC[6, low >> np.uint32(8) & np.uint32(255)]
            ^ _CRC[5, low >> np.uint32(16) & np.uint32(255)]
            ^ _CRC[4, low >> np.uint32(24)]
            ^ _CRC[3, data[at + 4]]
            ^ _CRC[2, data[at + 5]]
            ^ _CRC[1, data[at + 6]]
            ^ _CRC[0, data[at + 7]]
        )
        at += 8
    while at < stop:
        c = _CRC[0, (c ^ np.uint32(data[at])) & np.uint32(255)] ^ c >> np.uint32(8)
        at += 1
    return np.int64(c ^ np.uint32(0xFFFFFFFF))


@njit()
def unsound(data: Any, starts: Any, stops: Any) -> int:
    """The first of the parts data[start:stop] whose last four bytes are not the CRC-32 of the others, or -1."""
    for k in range(len(starts)):
        end = stops[k] - 4
        said = (
            np.int64(data[end])
            | np.int64(data[end + 1]) << 8
            | np.int64(data[end + 2]) << 16
            | np.int64(data[end + 3]) << 24
        )
        if crc32(data, starts[k], end) != said:
            return k
    return -1


@njit()
def seal(data: Any, starts: Any, stops: Any) -> None:
    """Put the CRC-32 of each part into its last four bytes."""
    for k in range(len(starts)):
        end = stops[k] - 4
        c = crc32(data, starts[k], end)
        for b in range(4):
            data[end + b] = (c >> (8 * b)) & 255


# -- residuals -------------------------------------------------------------------------------------------


@njit()
def opened(data: Any, at: int) -> int:
    """The state that a block begins with."""
    return (
        np.int64(data[at])
        | np.int64(data[at + 1]) << 8
        | np.int64(data[at + 2]) << 16
        | np.int64(data[at + 3]) << 24
    )


@njit()
def decode(data: Any, at: int, units: int, kinds: Any, columns: int, count: int, slots: Any, shifts: Any, whole: bool, out: Any) -> bool:  # fmt: skip
    """The first `count` records of a block of `units` units at `at`: residuals into out[count * columns].

    kinds : (columns,) class of each column. slots : (16 * 4096,) uint32. With `whole` the block must end where and as
    it should. False for a block that makes no sense.
    """
    if units < 2:
        return False
    end = at + 2 * units
    x = opened(data, at)
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
def rows(data: Any, starts: Any, stops: Any, factors: int, columns: int, block: int, width: int, first: int, last: int, slots: Any, shifts: Any, predicted: Any, out: Any) -> int:  # fmt: skip
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
                            out[k, base + r, c] = np.int64(predicted[c, k, base + r]) + residuals[r * columns + c]
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
def residual_of(data: Any, start: int, stop: int, column: int, width: int, factors: int, columns: int, block: int, slots: Any, shifts: Any, kinds: Any, room: Any, found: Any) -> int:  # fmt: skip
    """Residuals of one record of a row segment into found[columns]: 0; 1 where they are the values; -1 if it is bad."""
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
def predicted(data: Any, mine: int, beside: Any, theirs: int, parts: Any, scales: Any, column: int) -> int:
    """The prediction of one number, from the factors of its row and of its column.

    parts : (columns, 5) int64: bytes before the column's factors, how many of 16 bits and of 8, shifts before its
    own, and whether the sum of the 8-bit ones stays within 32 bits. scales : (all factors,) int32 shifts.
    """
    place, wide, narrow, first = parts[column, 0], parts[column, 1], parts[column, 2], parts[column, 3]
    total = np.int64(0)
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
def records(data: Any, starts: Any, stops: Any, beside: Any, where: Any, column: Any, width: int, factors: int, parts: Any, scales: Any, block: int, slots: Any, shifts: Any, out: Any) -> int:  # fmt: skip
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
            data, starts[i], stops[i], column[i], width, factors, columns, block, slots, shifts, kinds, room, found
        )
        if how < 0:
            return i
        for c in range(columns):
            if how == 0:
                found[c] += predicted(data, starts[i] + entry, beside, where[i], parts, scales, c)
            out[i, c] = found[c]
    return -1


@njit()
def record(data: Any, start: int, stop: int, beside: Any, where: int, column: int, width: int, factors: int, parts: Any, scales: Any, block: int, slots: Any, shifts: Any, out: Any) -> int:  # fmt: skip
    """One record, out (columns,) uint16; -1, or 0 where its segment is bad."""
    columns = len(out)
    found, kinds = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    room = np.empty(block * columns, np.int64)
    entry = (width + block - 1) // block * (3 if columns == 4 else 2)
    how = residual_of(data, start, stop, column, width, factors, columns, block, slots, shifts, kinds, room, found)
    if how < 0:
        return 0
    for c in range(columns):
        if how == 0:
            found[c] += predicted(data, start + entry, beside, where, parts, scales, c)
        out[c] = found[c]
    return -1


# -- predictions -----------------------------------------------------------------------------------------


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


# -- writing ---------------------------------------------------------------------------------------------


@njit()
def encode(stored: Any, predicted: Any, factors: Any, block: int, edges: Any, frequencies: Any, begins: Any, shifts: Any, out: Any, sizes: Any) -> int:  # fmt: skip
    """Row segments without their checksums (room for them is left): bytes into `out`, sizes of each; bytes in all.

    stored : (m, w, columns) uint16. predicted : (columns, m, w) uint16. factors : (m, f) uint8. edges : (15,) of mean absolute residuals
    between classes 1..15, the first 0. frequencies, begins : (16, 64).
    """
    m, width, columns = stored.shape
    kept = 2 if columns == 4 else 1
    blocks = (width + block - 1) // block
    units = np.empty(4 * block * columns + 8, np.uint16)
    residual = np.empty(block * columns, np.int64)
    kinds = np.zeros(columns, np.int64)
    at = 0
    for i in range(m):
        begin = at
        lengths = at + blocks * kept
        at = lengths + blocks
        for f in range(factors.shape[1]):
            out[at + f] = factors[i, f]
        at += factors.shape[1]
        for b in range(blocks):
            count = min(block, width - b * block)
            for c in range(columns):
                total = np.int64(0)
                for k in range(count):
                    r = np.int64(stored[i, b * block + k, c]) - np.int64(predicted[c, i, b * block + k])
                    r = ((r + 32768) & 65535) - 32768
                    residual[k * columns + c] = r
                    total += abs(r)
                kinds[c] = 0
                if total:
                    mean = total / count
                    kinds[c] = 15
                    for k in range(1, 15):
                        if mean < edges[k]:
                            kinds[c] = k
                            break
            for c in range(kept):
                out[begin + b * kept + c] = kinds[2 * c] | (kinds[2 * c + 1] << 4 if columns == 4 else 0)
            many = 0
            x = np.int64(STARTED)
            for r in range(count * columns - 1, -1, -1):
                kind = kinds[r % columns]
                if kind == 0:
                    continue
                shift = shifts[kind]
                symbol = (residual[r] >> shift) + MIDDLE
                low = residual[r] & ((1 << shift) - 1)
                if symbol < 0 or symbol >= ESCAPE or frequencies[kind, symbol] == 0:
                    symbol, shift, low = ESCAPE, 16, residual[r] & 65535
                if shift:
                    if x >= np.int64(1) << (32 - shift):
                        units[many] = x & 65535
                        many += 1
                        x >>= 16
                    x = x << shift | low
                f = frequencies[kind, symbol]
                if x >= f << 20:
                    units[many] = x & 65535
                    many += 1
                    x >>= 16
                x = (x // f << 12) + x % f + begins[kind, symbol]
            if not kinds.any():
                out[lengths + b] = 0
            elif many + 2 < PLAIN and many + 2 <= count * columns:
                out[lengths + b] = many + 2
                for k in range(4):
                    out[at + k] = x >> (8 * k) & 255
                at += 4
                for k in range(many - 1, -1, -1):
                    out[at] = units[k] & 255
                    out[at + 1] = units[k] >> 8
                    at += 2
            else:
                out[lengths + b] = PLAIN
                for c in range(kept):
                    out[begin + b * kept + c] = 0
                for k in range(count):
                    for c in range(columns):
                        value = stored[i, b * block + k, c]
                        out[at] = value & 255
                        out[at + 1] = value >> 8
                        at += 2
        at += 4
        sizes[i] = at - begin
    return at
