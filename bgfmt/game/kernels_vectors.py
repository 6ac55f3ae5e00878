"""Compiled: records of a two-sided table, a block of sides at a time.

Lanes are the numbers of a block of sides t in the order of their records: lane x * columns + k is number k of
side x.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.jit.lanes import LANES, add_best

__all__ = ["ROLL_RESULTS", "RollResults", "cube", "cube_of_gammons", "negate_for_opponent", "record"]

ROLLS = 21


class RollResults(NamedTuple):
    """Results j of every roll of a position u: results[ends[21 u + r] : ends[21 u + r + 1]]; weights 1 or 2."""

    ends: Any
    results: Any
    weights: Any


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
ROLL_RESULTS = "bgfmt.game.kernels_vectors:RollResults(i8.1C, i4.1C, i4.1C)"


@njit("i8, i8")
def cube(nd: Any, dt: Any) -> Any:
    """Return the better of not doubling and doubling, to the side on roll, in units of 1/32767.5 of an equity.

    nd : value of not doubling. dt : half the value after the double is taken, per unit of the doubled cube. A passed
    double is worth 1 (32767).
    """
    half = (nd + np.int32(nd < 0)) >> 1
    twice = np.int32(32767) if dt >= 16383 else dt + dt
    return twice if dt >= half else nd


@njit("i8, i8")
def cube_of_gammons(nd: Any, dt: Any) -> Any:
    """Return the better of not doubling and doubling, to the side on roll, in units of 1/16383 of an equity.

    nd, dt : as of `cube`.
    """
    doubled = np.int32(16383) if dt >= 8192 else dt + dt
    return max(nd, doubled)


@njit("u2.1C, i8, b1, i2.1C")
def negate_for_opponent(stored: Any, columns: int, gammons: bool, out: Any) -> None:
    """Compute from a table's records what each position is worth to the other side, before its roll and cube action.

    Parameters
    ----------
    stored
        (places * columns,) uint16, records of a two-sided table: values to the side on roll plus 32768.
    columns
        Numbers in a record: 1 cubeless, or 4 (cubeless, owned, centered, opponent).
    gammons
        Whether values are in 1/16383 of a point, of which the negative is exact; see `bgfmt.tables.GammonTwoSided`.
    out
        (places * columns,) int16, filled with the negated values.
    """
    more = np.int32(gammons)  # the complement of a number is its negative less 1
    if columns == 1:
        for i in range(stored.size):
            out[i] = np.int16(~(np.int32(stored[i]) - 32768) + more)
        return
    for j in range(stored.size // 4):
        at = 4 * j
        e0 = np.int32(stored[at]) - 32768
        e1 = np.int32(stored[at + 1]) - 32768
        e2 = np.int32(stored[at + 2]) - 32768
        e3 = np.int32(stored[at + 3]) - 32768
        centered = cube_of_gammons(e2, e3) if gammons else cube(e2, e3)
        owned = cube_of_gammons(e1, e3) if gammons else cube(e1, e3)
        out[at] = np.int16(~e0 + more)
        out[at + 1] = np.int16(~e3 + more)
        out[at + 2] = np.int16(~centered + more)
        out[at + 3] = np.int16(~owned + more)


@njit(f"u2.1C, i2.1C, i2.2C, i4.1C, i8, {ROLL_RESULTS}, i8, i8, b1")
def record(
    stored: Any, out: Any, lines: Any, at: Any, window: int, rolls: Any, u: int, columns: int, gammons: bool
) -> None:  # fmt: skip
    """Compute the records of side u (on roll) against a block of other sides, from the values after each roll.

    A lane is one number of one side of the block: lane x * columns + k is number k of the record against side x.

    Parameters
    ----------
    stored
        (lanes,) uint16, filled with the records; there are 64 or 128 lanes.
    out
        (lanes,) int16, filled with the values to the opponent, as `negate_for_opponent` computes them.
    lines, at, window
        (m, lanes) int16, int32 and an offset: row at[j - window] of `lines` has the values to u of its result j
        against every side of the block.
    rolls
        The results of every roll of every side, by index j.
    columns, gammons
        As of `negate_for_opponent`.
    """
    sums = np.zeros(stored.size, np.int32)
    wide = 2 * stored.size
    for roll in range(ROLLS):
        first = rolls.ends[ROLLS * u + roll]
        last = rolls.ends[ROLLS * u + roll + 1]
        double = np.int64(rolls.weights[roll]) - 1
        for part in range(0, stored.size, LANES):
            add_best(
                lines.ctypes.data + 2 * part, wide, at.ctypes.data - 4 * window, rolls.results.ctypes.data,
                first, last, sums.ctypes.data + 4 * part, double,
            )  # fmt: skip
    if gammons:  # to the nearest, halves away from zero
        for lane in range(stored.size):
            sums[lane] += np.int32(18) if sums[lane] >= 0 else np.int32(-18)
    for lane in range(stored.size):
        value = np.int32(np.float64(sums[lane]) / 36.0)  # towards zero
        stored[lane] = np.uint16(value ^ -32768)
    negate_for_opponent(stored, columns, gammons, out)
