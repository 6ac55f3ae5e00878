"""Compiled: find row segments that may be coded otherwise than the writer codes their residuals.

Every symbol has exactly one code, so a block is the writer's if its classes are, if no residual that has a symbol is
escaped, and if it is coded instead of plain. A plain block makes a segment suspect: only coding it decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.extras.compressed.kernels_records import (
    ESCAPES,
    LANES,
    LEFT,
    TO,
    WORDS,
    choose_class,
    decode,
    open_stream,
    set_classes,
)
from bgfmt.extras.compressed.layout import PLAIN
from bgfmt.jit import njit


@njit()
def _has_own_classes(
    residual: Any, first: int, count: int, columns: int, classes: int, edges: Any, ranges: Any, escapes: Any
) -> bool:
    """Return True if the classes, four bits a column, and the number of escapes of a block are the writer's.

    residual : int16; those of the block begin at `first`.
    """
    for c in range(columns):
        kind = classes >> 4 * c & 15
        low = ranges[kind, 0]
        high = ranges[kind, 1]
        total: Any = np.int32(0)
        for k in range(count):
            r = np.int32(residual[first + k * columns + c])
            total += np.int32(abs(r))
            escapes -= np.int64(r < low or r > high)
        if choose_class(np.int64(total), count, edges) != kind:
            return False
    return bool(escapes == 0)


@njit("u1.1C, i8.1C, i8, i8, i8, i8, u4.1C, i8.1C, f8.1C, i4.2C, b1.1C")
def find_suspects(
    data: Any, starts: Any, width: int, factors: int, columns: int, block: int, slots: Any, shifts: Any, edges: Any,
    ranges: Any, suspects: Any,
) -> None:  # fmt: skip
    """Set suspects[k] (bool) if row segment k, at starts[k] in data, may be coded otherwise than the writer codes it.

    Parameters
    ----------
    data, starts : bytes, and offsets of the segments in it; a segment is one row of a tile.
    width : records of a segment. factors : size of its low-rank factors in bytes.
    columns, block : numbers of a record, and records of a block.
    slots, shifts : decoding table and shifts of the entropy coder, see `Classes`.
    edges : (15,) mean absolute residuals at which one class of the coder gives way to the next.
    ranges : (16, 2) int32, smallest and largest residual of each class that has a symbol.
    """
    kept = 2 if columns == 4 else 1
    blocks = (width + block - 1) // block
    spare = LANES // 2 * block * columns
    residual = np.zeros(spare + block * columns, np.uint16)
    signed = residual.view(np.int16)
    lanes = np.zeros((LANES, WORDS), np.uint64)
    waiting = np.zeros((LANES // 2, 2), np.int64)  # classes and number of records of each block being decoded
    stride: Any = np.int64(columns)
    for k in range(len(starts)):
        lengths = starts[k] + blocks * kept
        at = lengths + blocks + factors
        busy = 0
        own = True
        for b in range(blocks):
            count = min(block, width - b * block)
            units = np.int64(data[lengths + b])
            classes = np.int64(data[starts[k] + b * kept])
            if columns == 4:
                classes |= np.int64(data[starts[k] + b * kept + 1]) << 8
            if units == 0:
                own &= classes == 0
            elif units == PLAIN or units > count * columns or classes >> 4 * columns:
                own = False
            else:
                half = (count + 1) // 2
                for second in range(2):
                    lane = 2 * busy + second
                    own &= open_stream(data, at, units, second == 1, lanes, lane)
                    set_classes(data, starts[k] + b * kept, columns, lanes, lane)
                    lanes[lane, LEFT] = half if second == 0 else count - half
                    lanes[lane, TO] = (busy * block + second * half) * columns
                waiting[busy, 0] = classes
                waiting[busy, 1] = count
                busy += 1
                at += 2 * units
            if not own:
                break
            if busy == LANES // 2 or (busy and b == blocks - 1):
                decode(data, lanes, 2 * busy, columns, slots, shifts, stride, spare, residual)
                for x in range(busy):
                    escapes = np.int64(lanes[2 * x, ESCAPES] + lanes[2 * x + 1, ESCAPES])
                    own &= _has_own_classes(
                        signed, x * block * columns, waiting[x, 1], columns, waiting[x, 0], edges, ranges, escapes,
                    )  # fmt: skip
                busy = 0
        suspects[k] = not own
