"""Compiled: the entropy decoder, four streams at a time, so that the processor need not wait for any one of them.

The coder is rANS with a 32-bit state, 12-bit frequencies and 16-bit units. A block is two streams, one from its
beginning forwards, one from its end backwards; both end with the state they were started from, and where they meet.
Numbers are unsigned here: Numba then needs no test for indices below zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

U = np.uint64
STARTED = U(1 << 16)
LANES, NEVER = 4, 1 << 40
#: a lane: state, where its next unit is, step to the unit after, least and greatest place of a stream that is sound,
#: records left, where its next record goes; then the first slot of each of four columns
X, AT, STEP, LEAST, MOST, LEFT, TO, SLOTS, WORDS = 0, 1, 2, 3, 4, 5, 6, 7, 11

_NONE, _ONE, _ESCAPE, _MIDDLE = U(0), U(1), U(63), U(31)
_8, _12, _16, _25, _31, _63 = U(8), U(12), U(16), U(25), U(31), U(63)
_SLOT, _MANY, _SYMBOL = U(4095), U(8191), U(63)


@njit()
def unit_at(data: Any, at: Any) -> Any:
    """The unit of 16 bits at a place."""
    return U(data[at]) | U(data[at + _ONE]) << _8


@njit()
def opened(data: Any, start: Any, units: Any, second: bool, lanes: Any, k: Any) -> bool:
    """Set lane k to the first or the second stream of a block of `units` units at `start`; False if it is none."""
    if units < 4:
        return False
    first, end = U(start), U(start + 2 * units)
    if second:
        x = unit_at(data, end - U(2)) | unit_at(data, end - U(4)) << _16
        lanes[k, AT], lanes[k, STEP] = end - U(6), _NONE - U(2)
    else:
        x = unit_at(data, first) | unit_at(data, first + U(2)) << _16
        lanes[k, AT], lanes[k, STEP] = first + U(4), U(2)
    lanes[k, X], lanes[k, LEAST], lanes[k, MOST] = x, first + U(2), end - U(4)
    return bool(x >= STARTED)


@njit()
def idle(lanes: Any, k: Any) -> None:
    """Set lane k to a stream of zeros, which reads where it has read already: no other page is touched."""
    at = min(max(lanes[k, AT], lanes[k, LEAST]), lanes[k, MOST])
    lanes[k, X], lanes[k, STEP], lanes[k, AT], lanes[k, LEAST], lanes[k, MOST] = STARTED, _NONE, at, at, at
    for c in range(4):
        lanes[k, SLOTS + c] = _NONE


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
def _symbol(data: Any, x: Any, at: Any, step: Any, slot: Any) -> Any:
    """State and place after a symbol has been taken; no branch, since which way is never known before."""
    unit = unit_at(data, at)
    x = (slot >> _12 & _MANY) * (x >> _12) + (slot & _SLOT)
    short = _NONE - (x - STARTED >> _63)  # all ones where a unit is needed
    return x << (short & _16) | unit & short, at + (step & short)


@njit()
def _low_bits(data: Any, x: Any, at: Any, lanes: Any, k: Any, value: Any, shift: Any) -> Any:
    """State, place and value after the low bits of a symbol have been taken."""
    at = min(max(at, lanes[k, LEAST]), lanes[k, MOST])
    if value == _ESCAPE - _MIDDLE:
        value, shift = _NONE, _16
    value = (value << shift) + (x & ((_ONE << shift) - _ONE))
    x >>= shift
    if x < STARTED:
        x = x << _16 | unit_at(data, at)
        at += lanes[k, STEP]
    return x, at, value


@njit()
def four(
    data: Any, lanes: Any, steps: int, columns: int, slots: Any, shifts: Any, stride: int, out: Any
) -> None:
    """`steps` records of each of four lanes: residuals modulo 65536 into out, `stride` numbers from one to the next.

    slots : (16 * 4096,) uint32 as `Classes.slots` has them. A damaged stream is kept within its block and the four
    bytes behind it, where every segment has its sum: the caller sees afterwards that it did not end as it should.
    """
    x0, a0, s0 = lanes[0, X], lanes[0, AT], lanes[0, STEP]
    x1, a1, s1 = lanes[1, X], lanes[1, AT], lanes[1, STEP]
    x2, a2, s2 = lanes[2, X], lanes[2, AT], lanes[2, STEP]
    x3, a3, s3 = lanes[3, X], lanes[3, AT], lanes[3, STEP]
    t0, t1, t2, t3 = lanes[0, TO], lanes[1, TO], lanes[2, TO], lanes[3, TO]
    for _ in range(steps):
        a0, a1 = min(max(a0, lanes[0, LEAST]), lanes[0, MOST]), min(max(a1, lanes[1, LEAST]), lanes[1, MOST])
        a2, a3 = min(max(a2, lanes[2, LEAST]), lanes[2, MOST]), min(max(a3, lanes[3, LEAST]), lanes[3, MOST])
        for c in range(U(columns)):
            k = U(SLOTS) + c
            b0, b1, b2, b3 = lanes[0, k], lanes[1, k], lanes[2, k], lanes[3, k]
            q0, q1 = U(slots[b0 | x0 & _SLOT]), U(slots[b1 | x1 & _SLOT])
            q2, q3 = U(slots[b2 | x2 & _SLOT]), U(slots[b3 | x3 & _SLOT])
            x0, a0 = _symbol(data, x0, a0, s0, q0)
            x1, a1 = _symbol(data, x1, a1, s1, q1)
            x2, a2 = _symbol(data, x2, a2, s2, q2)
            x3, a3 = _symbol(data, x3, a3, s3, q3)
            v0, v1 = (q0 >> _25 & _SYMBOL) - _MIDDLE, (q1 >> _25 & _SYMBOL) - _MIDDLE
            v2, v3 = (q2 >> _25 & _SYMBOL) - _MIDDLE, (q3 >> _25 & _SYMBOL) - _MIDDLE
            if (q0 | q1 | q2 | q3) >> _31:
                if q0 >> _31:
                    x0, a0, v0 = _low_bits(data, x0, a0, lanes, 0, v0, U(shifts[b0 >> _12]))
                if q1 >> _31:
                    x1, a1, v1 = _low_bits(data, x1, a1, lanes, 1, v1, U(shifts[b1 >> _12]))
                if q2 >> _31:
                    x2, a2, v2 = _low_bits(data, x2, a2, lanes, 2, v2, U(shifts[b2 >> _12]))
                if q3 >> _31:
                    x3, a3, v3 = _low_bits(data, x3, a3, lanes, 3, v3, U(shifts[b3 >> _12]))
            out[t0 + c], out[t1 + c], out[t2 + c], out[t3 + c] = v0, v1, v2, v3
        t0, t1, t2, t3 = t0 + U(stride), t1 + U(stride), t2 + U(stride), t3 + U(stride)
    lanes[0, X], lanes[0, AT], lanes[0, TO] = x0, a0, t0
    lanes[1, X], lanes[1, AT], lanes[1, TO] = x1, a1, t1
    lanes[2, X], lanes[2, AT], lanes[2, TO] = x2, a2, t2
    lanes[3, X], lanes[3, AT], lanes[3, TO] = x3, a3, t3
    for i in range(LANES):
        lanes[i, LEFT] -= U(steps)


@njit()
def one(data: Any, lanes: Any, columns: int, slots: Any, shifts: Any, out: Any) -> None:
    """All that lane 0 has left, of which the last record remains in out[0:columns]."""
    x, at = lanes[0, X], lanes[0, AT]
    for _ in range(lanes[0, LEFT]):
        at = min(max(at, lanes[0, LEAST]), lanes[0, MOST])
        for c in range(U(columns)):
            base = lanes[0, U(SLOTS) + c]
            slot = U(slots[base | x & _SLOT])
            x, at = _symbol(data, x, at, lanes[0, STEP], slot)
            value = (slot >> _25 & _SYMBOL) - _MIDDLE
            if slot >> _31:
                x, at, value = _low_bits(data, x, at, lanes, 0, value, U(shifts[base >> _12]))
            out[c] = value
    lanes[0, X], lanes[0, AT] = x, at
