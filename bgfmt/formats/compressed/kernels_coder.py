"""Compiled: the entropy decoder, four streams at a time, so that the processor need not wait for any one of them.

The coder is rANS with a 32-bit state, 12-bit frequencies and 16-bit units. A block is two streams, one from its
beginning forwards, one from its end backwards; both end with the state they were started from, and where they meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

LOW = 1 << 16
ESCAPE = 63
MIDDLE = 31
STARTED = LOW
LANES = 4
#: a lane: state, where its next unit is, step to the unit after, first and last unit of the block, records left,
#: where its next record goes; then the first slot of each of four columns
X, AT, STEP, LEAST, MOST, LEFT, TO, SLOTS, WORDS = 0, 1, 2, 3, 4, 5, 6, 7, 11


@njit()
def opened(data: Any, start: Any, units: Any, second: bool, lane: Any) -> bool:
    """Set a lane to the first or the second stream of a block of `units` units at `start`; False if it is none."""
    if units < 4:
        return False
    end = start + 2 * units
    if second:
        x = (
            np.int64(data[end - 2])
            | np.int64(data[end - 1]) << 8
            | np.int64(data[end - 4]) << 16
            | np.int64(data[end - 3]) << 24
        )
        lane[AT], lane[STEP] = end - 6, -2
    else:
        x = (
            np.int64(data[start])
            | np.int64(data[start + 1]) << 8
            | np.int64(data[start + 2]) << 16
            | np.int64(data[start + 3]) << 24
        )
        lane[AT], lane[STEP] = start + 4, 2
    lane[X], lane[LEAST], lane[MOST] = x, start, end - 2
    return bool(x >= LOW)


@njit()
def idle(lane: Any) -> None:
    """Set a lane to a stream of zeros."""
    lane[X], lane[STEP], lane[LEFT], lane[TO] = LOW, 0, 0, 0
    lane[AT], lane[LEAST], lane[MOST] = 0, 0, 0
    for c in range(4):
        lane[SLOTS + c] = 0


@njit()
def _unit(data: Any, at: Any, least: Any, most: Any) -> Any:
    where = min(max(at, least), most)
    return np.int64(data[where]) | np.int64(data[where + 1]) << 8


@njit()
def _symbol(data: Any, x: Any, at: Any, step: Any, least: Any, most: Any, slot: Any) -> Any:
    """State and place after a symbol has been taken; no branch, since which way is never known before."""
    unit = _unit(data, at, least, most)
    x = (slot >> 12 & 8191) * (x >> 12) + (slot & 4095)
    short = (x - LOW) >> 63  # -1 or 0
    x = (x << (short & 16)) | (unit & short)
    return x, at + (step & short)


@njit()
def _low_bits(data: Any, x: Any, at: Any, step: Any, least: Any, most: Any, value: Any, shift: Any) -> Any:
    """State, place and value after the low bits of a symbol have been taken."""
    if value == ESCAPE - MIDDLE:
        value, shift = np.int64(0), np.int64(16)
    value = (value << shift) + (x & ((1 << shift) - 1))
    x >>= shift
    if x < LOW:
        x = x << 16 | _unit(data, at, least, most)
        at += step
    return x, at, value


@njit()
def four(
    data: Any, lanes: Any, steps: int, columns: int, slots: Any, shifts: Any, stride: int, out: Any
) -> None:
    """`steps` records of each of four lanes: residuals modulo 65536 into out, `stride` numbers from one to the next.

    slots : (16 * 4096,) uint32 as `Classes.slots` has them. Where a stream has no more units, it repeats one: the
    caller sees afterwards that it went beyond its block.
    """
    x0, a0, s0, l0, m0 = lanes[0, 0], lanes[0, 1], lanes[0, 2], lanes[0, 3], lanes[0, 4]
    x1, a1, s1, l1, m1 = lanes[1, 0], lanes[1, 1], lanes[1, 2], lanes[1, 3], lanes[1, 4]
    x2, a2, s2, l2, m2 = lanes[2, 0], lanes[2, 1], lanes[2, 2], lanes[2, 3], lanes[2, 4]
    x3, a3, s3, l3, m3 = lanes[3, 0], lanes[3, 1], lanes[3, 2], lanes[3, 3], lanes[3, 4]
    t0, t1, t2, t3 = lanes[0, TO], lanes[1, TO], lanes[2, TO], lanes[3, TO]
    for k in range(steps):
        for c in range(columns):
            b0, b1, b2, b3 = (
                lanes[0, SLOTS + c],
                lanes[1, SLOTS + c],
                lanes[2, SLOTS + c],
                lanes[3, SLOTS + c],
            )
            q0, q1 = np.int64(slots[b0 | x0 & 4095]), np.int64(slots[b1 | x1 & 4095])
            q2, q3 = np.int64(slots[b2 | x2 & 4095]), np.int64(slots[b3 | x3 & 4095])
            x0, a0 = _symbol(data, x0, a0, s0, l0, m0, q0)
            x1, a1 = _symbol(data, x1, a1, s1, l1, m1, q1)
            x2, a2 = _symbol(data, x2, a2, s2, l2, m2, q2)
            x3, a3 = _symbol(data, x3, a3, s3, l3, m3, q3)
            v0, v1 = (q0 >> 25 & 63) - MIDDLE, (q1 >> 25 & 63) - MIDDLE
            v2, v3 = (q2 >> 25 & 63) - MIDDLE, (q3 >> 25 & 63) - MIDDLE
            if (q0 | q1 | q2 | q3) >> 31:
                if q0 >> 31:
                    x0, a0, v0 = _low_bits(data, x0, a0, s0, l0, m0, v0, shifts[b0 >> 12])
                if q1 >> 31:
                    x1, a1, v1 = _low_bits(data, x1, a1, s1, l1, m1, v1, shifts[b1 >> 12])
                if q2 >> 31:
                    x2, a2, v2 = _low_bits(data, x2, a2, s2, l2, m2, v2, shifts[b2 >> 12])
                if q3 >> 31:
                    x3, a3, v3 = _low_bits(data, x3, a3, s3, l3, m3, v3, shifts[b3 >> 12])
            out[t0 + c], out[t1 + c], out[t2 + c], out[t3 + c] = v0, v1, v2, v3
        t0, t1, t2, t3 = t0 + stride, t1 + stride, t2 + stride, t3 + stride
    lanes[0, 0], lanes[0, 1], lanes[0, TO] = x0, a0, t0
    lanes[1, 0], lanes[1, 1], lanes[1, TO] = x1, a1, t1
    lanes[2, 0], lanes[2, 1], lanes[2, TO] = x2, a2, t2
    lanes[3, 0], lanes[3, 1], lanes[3, TO] = x3, a3, t3
    for k in range(LANES):
        lanes[k, LEFT] -= steps


@njit()
def one(data: Any, lane: Any, steps: int, columns: int, slots: Any, shifts: Any, out: Any) -> None:
    """`steps` records of one lane, of which the last remains in out[0:columns]."""
    x, at, step, least, most = lane[0], lane[1], lane[2], lane[3], lane[4]
    for _ in range(steps):
        for c in range(columns):
            base = lane[SLOTS + c]
            slot = np.int64(slots[base | x & 4095])
            x, at = _symbol(data, x, at, step, least, most, slot)
            value = (slot >> 25 & 63) - MIDDLE
            if slot >> 31:
                x, at, value = _low_bits(data, x, at, step, least, most, value, shifts[base >> 12])
            out[c] = value
    lane[X], lane[AT] = x, at
