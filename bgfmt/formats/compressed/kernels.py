"""Compiled: rows, from residuals and predictions. See `layout` for the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.kernels_coder import (
    AT,
    LANES,
    LEFT,
    NEVER,
    STARTED,
    STEP,
    TO,
    WORDS,
    U,
    X,
    begun,
    four,
    opened,
    rested,
)
from bgfmt.jit import njit

PLAIN = 255


@njit()
def finished(
    data: Any, lanes: Any, busy: int, columns: int, slots: Any, shifts: Any, spare: Any, out: Any
) -> bool:
    """Decode what the first `busy` lanes have left, two lanes a block; False if a block does not end as it should.

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
        steps: Any = NEVER
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
    there is one column: record first * block + i of segment k goes to out[into[k], target[i]], unless that is
    negative.
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
