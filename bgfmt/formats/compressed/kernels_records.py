"""Compiled: records, whole rows or single ones, from the residuals in their blocks and from predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.kernels_coder import (
    END_AT,
    END_X,
    LANES,
    LEAST,
    LEFT,
    MOST,
    STARTED,
    TO,
    WORDS,
    U,
    decode,
    decode_one,
    open_stream,
    set_classes,
)
from bgfmt.formats.compressed.kernels_model import add_prediction, fetch, raise_row
from bgfmt.formats.compressed.layout import MOST_NARROW, MOST_PAIRS, MOST_WIDE, PLAIN
from bgfmt.jit import njit

AT_ONCE = 4096  # records that are located before they are decoded
SOON = 4  # records before it is needed the memory is asked for a column's factors
MOST_LENGTH = 4096  # records of a stream
MOST_FACTORS = 4 * (MOST_WIDE + MOST_NARROW + 2 * MOST_PAIRS)


@njit()
def _sizes(data: Any, lengths: Any, blocks: Any, width: Any, columns: Any, block: Any) -> Any:
    """Bytes of the first `blocks` blocks of a row segment; their lengths are at `lengths` in data."""
    units, plain = U(0), U(0)
    first = U(lengths)
    for b in range(U(blocks)):
        units += U(data[first + b])
        plain += U(data[first + b] == PLAIN)
    size = 2 * np.int64(units) + np.int64(plain) * (2 * columns * block - 2 * PLAIN)
    over = blocks * block - width
    if over > 0 and data[lengths + blocks - 1] == PLAIN:
        size -= 2 * columns * over
    return size


# -- rows -------------------------------------------------------------------------------------------------------


@njit()
def _finish(
    data: Any, lanes: Any, busy: int, columns: int, slots: Any, shifts: Any, spare: Any, out: Any
) -> bool:
    """Decode what the first `busy` lanes have left, two lanes a block; False if a block does not end as it should."""
    decode(data, lanes, busy, columns, slots, shifts, columns, spare, out)
    for k in range(0, busy, 2):
        if lanes[k, END_X] != STARTED or lanes[k + 1, END_X] != STARTED:
            return False
        if lanes[k, END_AT] != lanes[k + 1, END_AT] + U(2):
            return False
    return True


@njit()
def _row_residuals(
    data: Any, start: Any, stop: Any, width: Any, factors: Any, columns: int, block: int, first: Any, last: Any,
    slots: Any, shifts: Any, stored: Any, lanes: Any, residual: Any,
) -> bool:  # fmt: skip
    """Residuals of blocks first..last-1 of a row segment, of a plain block the records: False where it is bad.

    stored : (last - first,) takes whether each block is plain. residual : flat, with room for a block more.
    """
    kept, blocks = 2 if columns == 4 else 1, (width + block - 1) // block
    spare = (last - first) * block * columns
    lengths = start + blocks * kept
    at = lengths + blocks + factors
    if at + _sizes(data, lengths, blocks, width, columns, block) != stop - 4:
        return False
    at += _sizes(data, lengths, first, width, columns, block)
    busy = 0
    for b in range(first, last):
        count = min(block, width - b * block)
        units = np.int64(data[lengths + b])
        to = (b - first) * block * columns
        stored[b - first] = units == PLAIN
        if units == PLAIN:
            for r in range(count * columns):
                residual[to + r] = np.int64(data[at + 2 * r]) | np.int64(data[at + 2 * r + 1]) << 8
            at += 2 * count * columns
        elif units == 0:
            for c in range(kept):
                if data[start + b * kept + c]:
                    return False
            residual[to : to + count * columns] = 0
        else:
            half = (count + 1) // 2
            for second in range(2):
                if not open_stream(data, at, units, second == 1, lanes, busy + second):
                    return False
                set_classes(data, start + b * kept, columns, lanes, busy + second)
                lanes[busy + second, LEFT] = half if second == 0 else count - half
                lanes[busy + second, TO] = to + second * half * columns
            busy += 2
            at += 2 * units
        if busy == LANES or (busy and b == last - 1):
            if not _finish(data, lanes, busy, columns, slots, shifts, spare, residual):
                return False
            busy = 0
    return True


@njit()
def rows(
    data: Any, starts: Any, stops: Any, width: int, factors: int, columns: int, block: int, first: int, last: int,
    slots: Any, shifts: Any, predicted: Any, into: Any, target: Any, out: Any,
) -> Any:  # fmt: skip
    """Blocks first..last-1 of row segments of `width` records, with their predictions; -1, or a segment that is bad.

    predicted : (columns, m, records) uint16. out : (m, any) uint64, or uint16 where there is one column: record
    first * block + i of segment k goes to out[into[k], target[i]], unless that is negative.
    """
    many = predicted.shape[2]
    residual = np.zeros((last - first + 1) * block * columns, np.uint16)
    stored = np.zeros(last - first, np.bool_)
    lanes = np.zeros((LANES, WORDS), np.uint64)
    for k in range(len(starts)):
        if not _row_residuals(
            data, starts[k], stops[k], width, factors, columns, block, first, last, slots, shifts, stored, lanes,
            residual,
        ):  # fmt: skip
            return k
        for b in range(last - first):
            if stored[b]:
                predicted[:, k, b * block : (b + 1) * block] = 0
        if columns == 4:
            for i in range(many):
                if target[i] >= 0:
                    out[into[k], target[i]] = (
                        np.uint64((predicted[0, k, i] + residual[4 * i]) & 65535)
                        | np.uint64((predicted[1, k, i] + residual[4 * i + 1]) & 65535) << np.uint64(16)
                        | np.uint64((predicted[2, k, i] + residual[4 * i + 2]) & 65535) << np.uint64(32)
                        | np.uint64((predicted[3, k, i] + residual[4 * i + 3]) & 65535) << np.uint64(48)
                    )
        else:
            for i in range(many):
                if target[i] >= 0:
                    out[into[k], target[i]] = predicted[0, k, i] + residual[i]
    return -1


# -- single records ---------------------------------------------------------------------------------------------


@njit()
def locate_records(
    ours: Any, theirs: Any, order: Any, group: Any, edges: Any, begins: Any, beside: Any, factors: Any,
    rows_checked: Any, beside_checked: Any, out: Any,
) -> bool:  # fmt: skip
    """Where records are, by the places of their sides, the i-th for pair order[i]; whether any is unchecked.

    group : (n,) of every place. edges : of the groups. begins : (n * groups + groups,) of the row segments, each
    strip's end behind its own. beside, factors : (tiles,) where column factors begin, and their size. out : (5, m)
    int64 tile, start and end of the row segment, place in the tile, where the factors of the column are.
    """
    groups = len(edges) - 1
    unchecked = False
    for i in range(len(ours)):
        row, column = ours[order[i]], theirs[order[i]]
        g, j = group[row], group[column]
        t, at = g * groups + j, row * groups + j + g
        unchecked |= not (rows_checked[row, j] and beside_checked[g, column])
        out[0, i], out[1, i], out[2, i], out[3, i] = t, begins[at], begins[at + 1], column - edges[j]
        out[4, i] = beside[t] + (column - edges[j]) * (factors[t] + 4)
    return unchecked


@njit()
def _open_record(
    data: Any, start: Any, stop: Any, column: Any, width: Any, factors: Any, columns: int, block: int, lanes: Any,
    lane: Any, out: Any,
) -> int:  # fmt: skip
    """Where the residuals of one record of a row segment are: 0 they are all 0, and so is `out`; 1 `out` holds the
    record as stored; 2 they are the last of what the lane has left; -1 the segment is bad."""
    kept = 2 if columns == 4 else 1
    blocks = (width + block - 1) // block
    b = column // block
    within = column - b * block
    lengths = start + blocks * kept
    at = lengths + blocks + factors + _sizes(data, lengths, b, width, columns, block)
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
def _by_length(states: Any, many: Any, order: Any) -> Any:
    """Put the first `many` lanes into `order`, those with fewest records left first; how many have none left."""
    ends = np.zeros(MOST_LENGTH + 2, np.int64)
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


@njit()
def residuals(
    data: Any, starts: Any, stops: Any, places: Any, tiles: Any, widths: Any, factors: Any, block: int, slots: Any,
    shifts: Any, order: Any, out: Any, stored: Any,
) -> Any:  # fmt: skip
    """Residuals of single records, the i-th into row order[i] of out (m, columns) uint16; -1, or an i that is bad.

    starts, stops : row segments in data. places : of the records in their tile. tiles : which tile. widths, factors :
    of every tile. stored : (m,) True where `out` has the i-th record itself, not what is to be added to a prediction.

    Many are located first, and then decoded four at a time, those that are as long together.
    """
    columns = out.shape[1]
    many = min(len(starts), AT_ONCE)
    lanes, states = np.zeros((LANES, WORDS), np.uint64), np.zeros((many, WORDS), np.uint64)
    by_length = np.empty(many, np.int64)
    last = np.zeros((LANES + 1, 4), np.uint16)
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
        done = _by_length(states, count, by_length)
        for at in range(done, count, LANES):
            busy = min(LANES, count - at)
            for k in range(busy):
                lanes[k] = states[by_length[at + k]]
                lanes[k, TO] = 4 * k
            decode(data, lanes, busy, columns, slots, shifts, 0, 4 * LANES, last.reshape(-1))
            for k in range(busy):
                i, state = first + by_length[at + k], states[by_length[at + k]]
                if not state[LEAST] <= lanes[k, END_AT] <= state[MOST]:
                    return i
                for c in range(columns):
                    out[order[i], c] = last[k, c]
    return -1


@njit()
def add_predictions(
    data: Any, starts: Any, beside: Any, where: Any, tiles: Any, widths: Any, factors: Any, parts: Any, shifts: Any,
    block: int, order: Any, stored: Any, out: Any,
) -> None:  # fmt: skip
    """Add to each row of out (m, columns) its prediction, unless it is stored: to row order[i] the i-th.

    where : factors of the record's column in `beside`. widths, factors : of every tile. parts : (tiles, columns,
    PARTS), see `TileModel.parts`.
    """
    each = 3 if out.shape[1] == 4 else 2
    row = np.empty(MOST_FACTORS, np.int32)
    mine, theirs = data.view(np.int8), beside.view(np.int8)
    last = np.int64(-1)
    for i in range(len(starts)):
        if i + SOON < len(starts):
            fetch(beside, where[i + SOON], where[i + SOON] + factors[tiles[i + SOON]])
        if stored[i]:
            continue
        t = tiles[i]
        if starts[i] != last:
            last = starts[i]
            raise_row(mine, last + (widths[t] + block - 1) // block * each, parts[t], shifts, row)
        add_prediction(row, theirs, where[i], parts[t], out[order[i]])


@njit()
def record(
    data: Any, start: Any, stop: Any, where: Any, place: Any, width: Any, factors: Any, parts: Any,
    model_shifts: Any, block: int, slots: Any, shifts: Any, out: Any,
) -> bool:  # fmt: skip
    """One record, out (columns,) uint16; False where its segment is bad."""
    columns = len(out)
    lanes = np.zeros((1, WORDS), np.uint64)
    how = _open_record(data, start, stop, place, width, factors, columns, block, lanes, 0, out)
    if how < 0:
        return False
    if how == 2:
        decode_one(data, lanes, columns, slots, shifts, out)
        if not lanes[0, LEAST] <= lanes[0, END_AT] <= lanes[0, MOST]:
            return False
    if how != 1:
        signed, row = data.view(np.int8), np.empty(MOST_FACTORS, np.int32)
        at = start + (width + block - 1) // block * (3 if columns == 4 else 2)
        raise_row(signed, at, parts, model_shifts, row)
        add_prediction(row, signed, where, parts, out)
    return True
