"""Compiled: decode and encode records, whole rows or single ones, from predictions and entropy-coded residuals.

The coder is rANS with a 32-bit state, 12-bit frequencies and 16-bit units.

A block is two streams, one from its beginning forwards, one from its end backwards; both end with the state with
which the encoder started, and where they meet. Streams are decoded four at a time, each in its *lane*, so that the
processor need not wait for any one of them: that is three times as fast. Numbers of the decoder are unsigned: Numba
then needs no test for indices below zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.extras.compressed.kernels_model import add_prediction, fetch, raise_row
from bgfmt.extras.compressed.layout import ESCAPE, MAX_NARROW, MAX_PAIRS, MAX_WIDE, MIDDLE, PLAIN
from bgfmt.jit import njit

U = np.uint64
STARTED = U(1 << 16)
LANES = 4
NEVER = 1 << 40
#: fields of a lane: state, offset of its next unit, step to the unit after, smallest and largest offset of a unit of
#: its block, records left, index of its next record in the output; state and offset when none were left; first
#: slots of four columns
X = 0
AT = 1
STEP = 2
LEAST = 3
MOST = 4
LEFT = 5
TO = 6
END_X = 7
END_AT = 8
SLOTS = 9
WORDS = 13

BATCH_RECORDS = 4096  # records that are located before they are decoded
PREFETCH_RECORDS = 4  # how many records ahead the factors of a column are prefetched
MAX_FACTORS = 4 * (MAX_WIDE + MAX_NARROW + 2 * MAX_PAIRS)

_NONE, _ONE, _TWO, _FOUR, _ESCAPE, _MIDDLE = U(0), U(1), U(2), U(4), U(ESCAPE), U(MIDDLE)
_8, _12, _16, _25, _31, _63 = U(8), U(12), U(16), U(25), U(31), U(63)
_SLOT, _MANY = U(4095), U(8191)


# -- decoding ---------------------------------------------------------------------------------------------------


@njit()
def _unit_at(data: Any, at: Any) -> Any:
    """Return the 16-bit unit at offset `at`."""
    return U(data[at]) | U(data[at + _ONE]) << _8


@njit()
def open_stream(data: Any, start: Any, units: Any, second: bool, lanes: Any, k: Any) -> bool:
    """Prepare lane k to decode one of the two streams of a block; return False if the stream is invalid.

    A lane is a row of `lanes`: the state of one decoder. The first stream runs forwards from the block's beginning,
    the second backwards from its end.

    start, units : offset of the block in data, and its length in 16-bit units.
    """
    if units < 4:
        return False
    first = U(start)
    end = U(start + 2 * units)
    if second:
        x = _unit_at(data, end - _TWO) | _unit_at(data, end - _FOUR) << _16
        lanes[k, AT] = end - U(6)
        lanes[k, STEP] = _NONE - _TWO
    else:
        x = _unit_at(data, first) | _unit_at(data, first + _TWO) << _16
        lanes[k, AT] = first + _FOUR
        lanes[k, STEP] = _TWO
    lanes[k, X] = x
    lanes[k, LEAST] = first + _TWO
    lanes[k, MOST] = end - _FOUR
    return bool(x >= STARTED)


@njit()
def set_classes(data: Any, at: Any, columns: int, lanes: Any, k: Any) -> bool:
    """Set the coder's classes of lane k, one for each column of records; return False if all are 0 (no residuals).

    A lane is a row of `lanes`: the state of one decoder.

    data, at : bytes, and the offset in it of the block's classes, four bits each. columns : numbers of a record.
    """
    some = False
    for c in range(columns):
        kind = U(data[at + c // 2] >> 4 * (c % 2) & 15)
        lanes[k, SLOTS + c] = kind << _12
        some |= kind != _NONE
    return some


@njit("u8.2C, i8, i8")
def _idle_lane(lanes: Any, k: Any, spare: Any) -> None:
    """Set lane k to write zeros from `spare` on and to read only where it has read already."""
    at = min(max(lanes[k, AT], lanes[k, LEAST]), lanes[k, MOST])
    lanes[k, X] = STARTED
    lanes[k, STEP] = _NONE
    lanes[k, AT] = at
    lanes[k, LEAST] = at
    lanes[k, MOST] = at
    lanes[k, TO] = spare
    lanes[k, LEFT] = NEVER
    for c in range(4):
        lanes[k, SLOTS + c] = _NONE


@njit()
def _next_symbol(data: Any, x: Any, at: Any, step: Any, slot: Any) -> Any:
    """Return state and offset after taking a symbol; without a branch, which could not be predicted."""
    unit = _unit_at(data, at)
    x = (slot >> _12 & _MANY) * (x >> _12) + (slot & _SLOT)
    short = _NONE - (x - STARTED >> _63)  # all ones where a unit is needed
    return x << (short & _16) | unit & short, at + (step & short)


@njit("u1.1C, u8, u8, u8.2C, i8, u8, u8")
def _take_low_bits(data: Any, x: Any, at: Any, lanes: Any, k: Any, value: Any, shift: Any) -> Any:
    """Return state, offset and value after taking the low bits of a symbol."""
    at = min(max(at, lanes[k, LEAST]), lanes[k, MOST])
    if value == _ESCAPE - _MIDDLE:
        value = _NONE
        shift = _16
    value = (value << shift) + (x & ((_ONE << shift) - _ONE))
    x >>= shift
    if x < STARTED:
        x = x << _16 | _unit_at(data, at)
        at += lanes[k, STEP]
    return x, at, value


@njit()
def _decode_steps(
    data: Any, lanes: Any, steps: int, columns: int, slots: Any, shifts: Any, stride: int, out: Any
) -> None:
    """Decode `steps` records in each of four lanes.

    A damaged stream stays within its block and the four bytes after it, which every segment has for its checksum; the
    caller detects that it did not end properly.
    """
    x0 = lanes[0, X]
    a0 = lanes[0, AT]
    s0 = lanes[0, STEP]
    x1 = lanes[1, X]
    a1 = lanes[1, AT]
    s1 = lanes[1, STEP]
    x2 = lanes[2, X]
    a2 = lanes[2, AT]
    s2 = lanes[2, STEP]
    x3 = lanes[3, X]
    a3 = lanes[3, AT]
    s3 = lanes[3, STEP]
    t0 = lanes[0, TO]
    t1 = lanes[1, TO]
    t2 = lanes[2, TO]
    t3 = lanes[3, TO]
    for _ in range(steps):
        a0 = min(max(a0, lanes[0, LEAST]), lanes[0, MOST])
        a1 = min(max(a1, lanes[1, LEAST]), lanes[1, MOST])
        a2 = min(max(a2, lanes[2, LEAST]), lanes[2, MOST])
        a3 = min(max(a3, lanes[3, LEAST]), lanes[3, MOST])
        for c in range(U(columns)):
            k = U(SLOTS) + c
            b0 = lanes[0, k]
            b1 = lanes[1, k]
            b2 = lanes[2, k]
            b3 = lanes[3, k]
            q0 = U(slots[b0 | x0 & _SLOT])
            q1 = U(slots[b1 | x1 & _SLOT])
            q2 = U(slots[b2 | x2 & _SLOT])
            q3 = U(slots[b3 | x3 & _SLOT])
            x0, a0 = _next_symbol(data, x0, a0, s0, q0)
            x1, a1 = _next_symbol(data, x1, a1, s1, q1)
            x2, a2 = _next_symbol(data, x2, a2, s2, q2)
            x3, a3 = _next_symbol(data, x3, a3, s3, q3)
            v0 = (q0 >> _25 & _63) - _MIDDLE
            v1 = (q1 >> _25 & _63) - _MIDDLE
            v2 = (q2 >> _25 & _63) - _MIDDLE
            v3 = (q3 >> _25 & _63) - _MIDDLE
            if (q0 | q1 | q2 | q3) >> _31:
                if q0 >> _31:
                    x0, a0, v0 = _take_low_bits(data, x0, a0, lanes, 0, v0, U(shifts[b0 >> _12]))
                if q1 >> _31:
                    x1, a1, v1 = _take_low_bits(data, x1, a1, lanes, 1, v1, U(shifts[b1 >> _12]))
                if q2 >> _31:
                    x2, a2, v2 = _take_low_bits(data, x2, a2, lanes, 2, v2, U(shifts[b2 >> _12]))
                if q3 >> _31:
                    x3, a3, v3 = _take_low_bits(data, x3, a3, lanes, 3, v3, U(shifts[b3 >> _12]))
            out[t0 + c] = v0
            out[t1 + c] = v1
            out[t2 + c] = v2
            out[t3 + c] = v3
        t0 = t0 + U(stride)
        t1 = t1 + U(stride)
        t2 = t2 + U(stride)
        t3 = t3 + U(stride)
    lanes[0, X] = x0
    lanes[0, AT] = a0
    lanes[0, TO] = t0
    lanes[1, X] = x1
    lanes[1, AT] = a1
    lanes[1, TO] = t1
    lanes[2, X] = x2
    lanes[2, AT] = a2
    lanes[2, TO] = t2
    lanes[3, X] = x3
    lanes[3, AT] = a3
    lanes[3, TO] = t3


@njit("u1.1C, u8.2C, i8, i8, u4.1C, i8.1C, i8, i8, u2.1C")
def decode(
    data: Any, lanes: Any, busy: int, columns: int, slots: Any, shifts: Any, stride: int, spare: int, out: Any
) -> None:
    """Decode entropy-coded residuals of records in up to four lanes at a time, until each lane's stream has ended.

    A lane is a row of `lanes` (4, WORDS): the state of one decoder, with fields X, AT, ... of this module. Lane k
    decodes its field LEFT records and writes them, modulo 65536, to `out` from index TO on.

    Parameters
    ----------
    data : uint8, contains the streams.
    busy : number of lanes in use; the others are idle.
    columns : numbers of a record.
    slots, shifts : `Classes.slots`, flat, and `Classes.shifts`.
    stride : distance in `out` from one record to the next.
    out, spare : uint16, and an index in it from which idle lanes may write.

    On return, fields END_X and END_AT of a lane have the coder's state and offset after its last record, for a check.
    """
    for k in range(busy, LANES):
        _idle_lane(lanes, k, spare)
    while True:
        steps: Any = np.int64(NEVER)
        for k in range(LANES):
            if lanes[k, LEFT] == 0:
                lanes[k, END_X], lanes[k, END_AT] = lanes[k, X], lanes[k, AT]
                _idle_lane(lanes, k, spare)
            elif lanes[k, STEP] == 0:
                lanes[k, TO] = spare
            else:
                steps = min(steps, np.int64(lanes[k, LEFT]))
        if steps == NEVER:
            return
        _decode_steps(data, lanes, steps, columns, slots, shifts, stride, out)
        for k in range(LANES):
            if lanes[k, STEP]:
                lanes[k, LEFT] -= U(steps)


# -- rows ------------------------------------------------------------------------------------------------------


@njit()
def _block_bytes(data: Any, lengths: Any, blocks: Any, width: Any, columns: Any, block: Any) -> Any:
    """Return the size of the first `blocks` blocks of a row segment; their lengths are at `lengths` in data."""
    units = U(0)
    plain = U(0)
    first = U(lengths)
    for b in range(U(blocks)):
        units += U(data[first + b])
        plain += U(data[first + b] == PLAIN)
    size = 2 * np.int64(units) + np.int64(plain) * (2 * columns * block - 2 * PLAIN)
    over = blocks * block - width
    if over > 0 and data[lengths + blocks - 1] == PLAIN:
        size -= 2 * columns * over
    return size


@njit(
    "u1.1C, i8.1C, i8.1C, i8, i8, i8, i8, u4.1C, i8.1C, u2.3C, i8.1C, i8.1C, u2.2C",
    "u1.1C, i8.1C, i8.1C, i8, i8, i8, i8, u4.1C, i8.1C, u2.3C, i8.1C, i8.1C, u8.2C",
)
def decode_rows(
    data: Any, starts: Any, stops: Any, width: int, factors: int, columns: int, block: int, slots: Any, shifts: Any,
    predicted: Any, into: Any, target: Any, out: Any,
) -> Any:  # fmt: skip
    """Decode row segments and add predictions; return -1, or the index of an invalid segment.

    Parameters
    ----------
    data, starts, stops : bytes, and offsets of the segments in it; a segment is one row of a tile.
    width, factors : records of a segment, and size of its low-rank factors in bytes.
    columns, block : numbers of a record, and records of a block.
    slots, shifts : `Classes.slots`, flat, and `Classes.shifts`.
    predicted : (columns, m, width) uint16.
    into, target, out : record i of segment k goes to out[into[k], target[i]]. `out` is (m, any) uint64 (four 16-bit
        numbers), or uint16 if records have one column.
    """
    kept = 2 if columns == 4 else 1
    blocks = (width + block - 1) // block
    spare = width * columns  # after the residuals, space for those of a block
    residual = np.zeros(spare + block * columns, np.uint16)
    lanes = np.zeros((LANES, WORDS), np.uint64)
    for k in range(len(starts)):
        lengths = starts[k] + blocks * kept
        at = lengths + blocks + factors
        if at + _block_bytes(data, lengths, blocks, width, columns, block) != stops[k] - 4:
            return k
        busy = 0
        for b in range(blocks):
            count = min(block, width - b * block)
            units = np.int64(data[lengths + b])
            to = b * block * columns
            if units == PLAIN:
                for r in range(count * columns):
                    residual[to + r] = np.int64(data[at + 2 * r]) | np.int64(data[at + 2 * r + 1]) << 8
                predicted[:, k, b * block :][:, :count] = 0
                at += 2 * count * columns
            elif units == 0:
                for c in range(kept):
                    if data[starts[k] + b * kept + c]:
                        return k
                residual[to : to + count * columns] = 0
            else:
                half = (count + 1) // 2
                for second in range(2):
                    if not open_stream(data, at, units, second == 1, lanes, busy + second):
                        return k
                    set_classes(data, starts[k] + b * kept, columns, lanes, busy + second)
                    lanes[busy + second, LEFT] = half if second == 0 else count - half
                    lanes[busy + second, TO] = to + second * half * columns
                busy += 2
                at += 2 * units
            if busy == LANES or (busy and b == blocks - 1):
                decode(data, lanes, busy, columns, slots, shifts, columns, spare, residual)
                for x in range(0, busy, 2):  # a block is decoded properly if its streams meet
                    if lanes[x, END_X] != STARTED or lanes[x + 1, END_X] != STARTED:
                        return k
                    if lanes[x, END_AT] != lanes[x + 1, END_AT] + U(2):
                        return k
                busy = 0
        if columns == 4:
            for i in range(width):
                out[into[k], target[i]] = (
                    np.uint64((predicted[0, k, i] + residual[4 * i]) & 65535)
                    | np.uint64((predicted[1, k, i] + residual[4 * i + 1]) & 65535) << np.uint64(16)
                    | np.uint64((predicted[2, k, i] + residual[4 * i + 2]) & 65535) << np.uint64(32)
                    | np.uint64((predicted[3, k, i] + residual[4 * i + 3]) & 65535) << np.uint64(48)
                )
        else:
            for i in range(width):
                out[into[k], target[i]] = predicted[0, k, i] + residual[i]
    return -1


# -- single records ---------------------------------------------------------------------------------------------


@njit()
def _open_record(
    data: Any, start: Any, stop: Any, column: Any, width: Any, factors: Any, columns: int, block: int, lanes: Any,
    lane: Any, out: Any,
) -> int:  # fmt: skip
    """Locate the residuals of one record of a row segment.

    Returns 0 if they are all 0 (`out` is set to zeros), 1 if `out` now holds the stored record, 2 if they are the
    last ones the lane has left to decode, -1 if the segment is invalid.
    """
    kept = 2 if columns == 4 else 1
    blocks = (width + block - 1) // block
    b = column // block
    within = column - b * block
    lengths = start + blocks * kept
    at = lengths + blocks + factors + _block_bytes(data, lengths, b, width, columns, block)
    units = np.int64(data[lengths + b])
    lanes[lane, LEFT] = 0
    if units == PLAIN:
        at += 2 * columns * within
        if at + 2 * columns > stop - 4:
            return -1
        for c in range(columns):
            out[c] = np.int64(data[at + 2 * c]) | np.int64(data[at + 2 * c + 1]) << 8
        return 1
    some = set_classes(data, start + b * kept, columns, lanes, lane)
    if units == 0:
        for c in range(columns):
            out[c] = 0
        return -1 if some else 0
    half = (min(block, width - b * block) + 1) // 2
    second = within >= half
    if at + 2 * units > stop - 4 or not open_stream(data, at, units, second, lanes, lane):
        return -1
    lanes[lane, LEFT] = within + 1 - half if second else within + 1
    return 2


@njit()
def _sort_by_length(states: Any, many: Any, most: Any, order: Any) -> Any:
    """Sort the first `many` lanes by the records they have left into `order`; return how many have none left.

    most : greatest number of records that a lane may have left.
    """
    ends = np.zeros(most + 2, np.int64)
    for i in range(many):
        ends[states[i, LEFT] + U(1)] += 1
    for left in range(1, len(ends)):
        ends[left] += ends[left - 1]
    done = ends[1]
    for i in range(many):
        left = states[i, LEFT]
        order[ends[left]] = i
        ends[left] += 1
    return done


@njit(
    "u1.1C, i8.1C, i8.1C, u1.1C, i8.1C, i8.1C, i8.1C, i8.1C, i8.1C, i8.3C, u1.1C, i8, u4.1C, i8.1C, i8.1C, u2.2C"
)
def decode_records(
    data: Any, starts: Any, stops: Any, side: Any, beside: Any, places: Any, tiles: Any, widths: Any, factors: Any,
    parts: Any, model_shifts: Any, block: int, slots: Any, shifts: Any, order: Any, out: Any,
) -> Any:  # fmt: skip
    """Decode single records; return -1, or the index i of an invalid one.

    Record i is written to out[order[i]], `out` being (m, columns) uint16. Records are sorted by tile and row. Many
    are located first and then decoded four at a time, records with equally many steps together.

    Parameters
    ----------
    data, starts, stops : bytes, and the offsets in it of each record's row segment (a row of a tile)
    side, beside : bytes, and the offset in it of the low-rank factors of each record's column
    places, tiles : column of each record within its tile, and index of the tile
    widths, factors, parts, model_shifts : of every tile its width, bytes of factors, `TileModel.parts` and all shifts
    block : records of a block
    slots, shifts : `Classes.slots`, flat, and `Classes.shifts`
    """
    columns = out.shape[1]
    many = min(len(starts), BATCH_RECORDS)
    lanes = np.zeros((LANES, WORDS), np.uint64)
    states = np.zeros((many, WORDS), np.uint64)
    by_length = np.empty(many, np.int64)
    stored = np.zeros(len(starts), np.bool_)
    decoded = np.zeros((LANES + 1, 4), np.uint16)
    stride: Any = np.int64(0)  # not literals, for which numba would compile again
    spare: Any = np.int64(4 * LANES)
    for first in range(0, len(starts), many):
        count = min(many, len(starts) - first)
        for k in range(count):
            i = first + k
            how = _open_record(
                data, starts[i], stops[i], places[i], widths[tiles[i]], factors[tiles[i]], columns, block, states, k,
                out[order[i]],
            )  # fmt: skip
            if how < 0:
                return i
            stored[i] = how == 1
            if how == 2:
                fetch(data, np.int64(states[k, LEAST]), np.int64(states[k, MOST]))
        done = _sort_by_length(states, count, block, by_length)
        for at in range(done, count, LANES):
            busy = min(LANES, count - at)
            for k in range(busy):
                for word in range(WORDS):
                    lanes[k, word] = states[by_length[at + k], word]
                lanes[k, TO] = 4 * k
            decode(data, lanes, busy, columns, slots, shifts, stride, spare, decoded.reshape(-1))
            for k in range(busy):
                i = first + by_length[at + k]
                state = states[by_length[at + k]]
                if not state[LEAST] <= lanes[k, END_AT] <= state[MOST]:
                    return i
                for c in range(columns):
                    out[order[i], c] = decoded[k, c]
    each = 3 if columns == 4 else 2
    row = np.empty(MAX_FACTORS, np.int32)
    mine = data.view(np.int8)
    theirs = side.view(np.int8)
    last = np.int64(-1)
    for i in range(len(starts)):
        ahead = i + PREFETCH_RECORDS
        if ahead < len(starts):
            fetch(side, beside[ahead], beside[ahead] + factors[tiles[ahead]])
        if stored[i]:
            continue
        t = tiles[i]
        if starts[i] != last:
            last = starts[i]
            raise_row(mine, last + (widths[t] + block - 1) // block * each, parts[t], model_shifts, row)
        add_prediction(row, theirs, beside[i], parts[t], out[order[i]])
    return -1


@njit("u1.1C, i8, i8, i8, i8, i8, i8, i8.2C, u1.1C, i8, u4.1C, i8.1C, u2.1C")
def decode_record(
    data: Any, start: Any, stop: Any, where: Any, place: Any, width: Any, factors: Any, parts: Any,
    model_shifts: Any, block: int, slots: Any, shifts: Any, out: Any,
) -> bool:  # fmt: skip
    """Decode one record into out (columns,) uint16; return False if its row segment (a row of a tile) is invalid.

    Parameters
    ----------
    data, start, stop : bytes, and the range of the segment in it.
    where : offset in data of the low-rank factors of the record's column.
    place, width : column of the record within the tile, and columns of the tile.
    factors, parts, model_shifts, block, slots, shifts : of this tile, otherwise as for `decode_records`.
    """
    columns = len(out)
    lanes = np.zeros((LANES, WORDS), np.uint64)
    how = _open_record(data, start, stop, place, width, factors, columns, block, lanes, np.int64(0), out)
    if how < 0:
        return False
    if how == 2:
        stride: Any = np.int64(0)  # no literals, as in `records`
        spare: Any = np.int64(4)
        decoded = np.zeros(8, np.uint16)
        least = lanes[0, LEAST]
        most = lanes[0, MOST]
        decode(data, lanes, 1, columns, slots, shifts, stride, spare, decoded)
        if not least <= lanes[0, END_AT] <= most:
            return False
        out[:] = decoded[:columns]
    if how != 1:
        signed = data.view(np.int8)
        row = np.empty(MAX_FACTORS, np.int32)
        at = start + (width + block - 1) // block * (3 if columns == 4 else 2)
        raise_row(signed, at, parts, model_shifts, row)
        add_prediction(row, signed, where, parts, out)
    return True


# -- encoding ---------------------------------------------------------------------------------------------------


@njit("u1.1C, i8, u2")
def _put_unit(out: Any, at: Any, unit: Any) -> Any:
    """Write a 16-bit unit, low half first; return the next offset."""
    out[at] = unit & 255
    out[at + 1] = unit >> 8
    return at + 2


@njit()
def _encode_stream(
    residual: Any, first: int, last: int, kinds: Any, frequencies: Any, begins: Any, shifts: Any, units: Any
) -> Any:
    """Encode records first..last-1 of a block, the last first; return the number of units, including the state."""
    columns = len(kinds)
    many = 0
    x: Any = np.int64(STARTED)
    for r in range(last * columns - 1, first * columns - 1, -1):
        kind = kinds[r % columns]
        if kind == 0:
            continue
        shift = shifts[kind]
        symbol = (residual[r] >> shift) + MIDDLE
        low = residual[r] & ((1 << shift) - 1)
        if symbol < 0 or symbol >= ESCAPE or frequencies[kind, symbol] == 0:
            symbol = ESCAPE
            shift = 16
            low = residual[r] & 65535
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
    units[many] = x >> 16
    units[many + 1] = x & 65535
    return many + 2


@njit()
def _choose_classes(
    stored: Any, predicted: Any, i: int, first: int, count: int, edges: Any, residual: Any, kinds: Any
) -> None:
    """Compute residuals of `count` records of row i, from `first` on, and choose the class of each column."""
    columns = len(kinds)
    for c in range(columns):
        total = np.int64(0)
        for k in range(count):
            r: Any = np.int64(stored[i, first + k, c]) - np.int64(predicted[c, i, first + k])
            r = ((r + 32768) & 65535) - 32768
            residual[k * columns + c] = r
            total += abs(r)
        kinds[c] = 15 if total else 0
        for k in range(14, 0, -1):
            if total and total / count < edges[k]:
                kinds[c] = k


@njit("u2.3C, u2.3C, u1.2C, i8, f8.1C, i8.2C, i8.2C, i8.1C, u1.1C, i8.1C")
def encode(
    stored: Any, predicted: Any, factors: Any, block: int, edges: Any, frequencies: Any, begins: Any, shifts: Any,
    out: Any, sizes: Any,
) -> Any:  # fmt: skip
    """Encode rows of a tile as row segments, with space for their checksums; return the total size in bytes.

    Parameters
    ----------
    stored : (m, w, columns) uint16, the records.
    predicted : (columns, m, w) uint16.
    factors : (m, f) uint8, low-rank factors of the rows, stored with them.
    block : records of a block.
    edges : (15,) mean absolute residuals at which one class of the coder gives way to the next, the first 0.
    frequencies, begins, shifts : of the classes, (16, 64), (16, 64) and (16,), see `Classes`.
    out : receives the bytes of the segments. sizes : (m,) int64, receives the size of each segment.
    """
    m, width, columns = stored.shape
    kept = 2 if columns == 4 else 1
    units = np.empty((2, 2 * block * columns + 8), np.uint16)
    residual = np.empty(block * columns, np.int64)
    kinds = np.zeros(columns, np.int64)
    blocks = (width + block - 1) // block
    at: Any = 0
    for i in range(m):
        begin: Any = at
        lengths = at + blocks * kept
        at = lengths + blocks
        for f in range(factors.shape[1]):
            out[at + f] = factors[i, f]
        at += factors.shape[1]
        for b in range(blocks):
            count = min(block, width - b * block)
            _choose_classes(stored, predicted, i, b * block, count, edges, residual, kinds)
            for c in range(kept):
                out[begin + b * kept + c] = kinds[2 * c] | (kinds[2 * c + 1] << 4 if columns == 4 else 0)
            if not kinds.any():
                out[lengths + b] = 0
                continue
            half = (count + 1) // 2
            one = _encode_stream(residual, 0, half, kinds, frequencies, begins, shifts, units[0])
            two = _encode_stream(residual, half, count, kinds, frequencies, begins, shifts, units[1])
            if one + two < PLAIN and one + two <= count * columns:
                out[lengths + b] = one + two
                for k in range(one - 1, -1, -1):
                    at = _put_unit(out, at, units[0, k])
                for k in range(two):
                    at = _put_unit(out, at, units[1, k])
            else:
                out[lengths + b] = PLAIN
                for c in range(kept):
                    out[begin + b * kept + c] = 0
                for k in range(count):
                    for c in range(columns):
                        at = _put_unit(out, at, stored[i, b * block + k, c])
        at += 4
        sizes[i] = at - begin
    return at
