"""Compiled: how far float64 equities may be from the truth, entry by entry, bounded while they are computed.

Every operation of recipe exact rounds once; what it does to the errors of its operands is followed. A maximum is as
wrong as its wrongest operand that may be the greatest, twice a number twice as wrong, and 1, where passing is right
beyond doubt, not wrong at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

Array = Any
#: rounding of 20 additions of numbers up to 36, of the division by 36, and of what is left of either
STEP = 22 * 2.0**-53


@njit()
def error_of_hand(nd: float, nd_off: float, dt: float, dt_off: float) -> float:
    """Bound on the error of max(nd, min(1, 2 * dt))."""
    two, two_off = 2.0 * dt, 2.0 * dt_off
    doubled = min(1.0, two)
    doubled_off = 0.0 if two - two_off > 1.0 else two_off
    if doubled - doubled_off > nd + nd_off:
        return doubled_off
    if nd - nd_off > doubled + doubled_off:
        return nd_off
    return max(nd_off, doubled_off)


@njit()
def turn(e: Array, off: Array, out: Array, out_off: Array) -> None:
    """Value and error bound of a record from the view of the side that moved into it."""
    doubled = min(1.0, 2.0 * e[3])
    out[0] = -e[0]
    out[1] = -e[3]
    out[2] = -max(e[2], doubled)
    out[3] = -max(e[1], doubled)
    out_off[0] = off[0]
    out_off[1] = off[3]
    out_off[2] = error_of_hand(e[2], off[2], e[3], off[3])
    out_off[3] = error_of_hand(e[1], off[1], e[3], off[3])


@njit()
def bound(starts: Array, results: Array, order: Array, pips_at: Array, e: Array, off: Array) -> Array:
    """(4,) the greatest error bounds; e, off : (n, n, 4) working space, turned values and their bounds."""
    greatest = np.zeros(4)
    value, error = np.zeros(4), np.zeros(4)
    best, wrong = np.zeros(4), np.zeros(4)
    most = len(pips_at) - 2
    for pips in range(2 * most + 1):
        for p in range(max(0, pips - most), min(most, pips) + 1):
            for i in range(pips_at[p], pips_at[p + 1]):
                u = order[i]
                for k in range(pips_at[pips - p], pips_at[pips - p + 1]):
                    t = order[k]
                    value[:] = 1.0 if u == 0 else -1.0
                    error[:] = 0.0
                    if u and t:
                        value[:] = 0.0
                        roll = 21 * u
                        for a in range(6):
                            for b in range(a + 1):
                                weight = 1.0 if a == b else 2.0
                                best[:] = -2.0
                                wrong[:] = 0.0
                                for q in range(starts[roll], starts[roll + 1]):
                                    j = results[q]
                                    for c in range(4):
                                        best[c] = max(best[c], e[t, j, c])
                                for q in range(starts[roll], starts[roll + 1]):
                                    j = results[q]
                                    for c in range(4):
                                        # one this far below the best cannot be it, nor change how wrong that is
                                        if e[t, j, c] + 2 * off[t, j, c] + 1e-9 >= best[c]:
                                            wrong[c] = max(wrong[c], off[t, j, c])
                                for c in range(4):
                                    value[c] += weight * best[c]
                                    error[c] += weight * wrong[c]
                                roll += 1
                        for c in range(4):
                            value[c] = value[c] / 36.0
                            error[c] = error[c] / 36.0 + STEP
                            greatest[c] = max(greatest[c], error[c])
                    turn(value, error, e[u, t], off[u, t])
    return greatest
