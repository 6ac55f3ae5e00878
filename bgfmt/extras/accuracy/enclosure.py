"""Compiled: lower and upper bounds of exact equities, in integers, from the stored ones and smaller entries' bounds.

An exact equity is enclosed by two integers in *fine units*: an equity of 1 is `ONE`, and the step of the file's
integers, 2 / 65535, is `FINE` of them. The bounds of an entry follow from those of smaller entries by the rules of
the game alone: negation exchanges them; a maximum over plays and the choice between doubling and rolling on are
monotone in both; the mean over the 36 throws is rounded outwards. No float occurs, so no other error does.

The bounds of an entry are stored as one signed byte each: by how many steps of `STEP` fine units the exact equity
may be below or above the stored one, rounded outwards. If the distance does not fit, OPEN_BELOW and OPEN_ABOVE stand
for a bound of -1 or 1.

Positions are numbered by *place*, their rank in order of pips; the places of one pip count are a layer. A pair
belongs to the lower layer of its two sides. The pairs of layer L are computed in two passes: first those with the
side on roll in L, then those with the side on roll in a higher layer and the other side in L.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.jit.lanes import LANES, add_best_wide
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS

FINE_BITS = 10
FINE = 1 << FINE_BITS
ONE = 65535 * FINE // 2
STEP_BITS = 7
STEP = 1 << STEP_BITS
OPEN_BELOW = -128
OPEN_ABOVE = 127
WIDTH = LANES // 8  # sides that are bounded together, with four upper and four lower bounds each
BINS = 64  # of the histogram: k holds bounds above k - 1 and up to k steps of the file's integers, the last all more
DECISIONS = 3  # initial doubles, redoubles, takes


class SizeRules(NamedTuple):
    """Numbering and plays of a table size of n positions a side.

    numbers : (n,) position number of each place. places : (n,) int32, place of each position number. starts,
    results : the plays of each position number, see `bgfmt.verifier.recurrence.plays.plays`.
    """

    numbers: Any
    places: Any
    starts: Any
    results: Any


class Bounds(NamedTuple):
    """Bounds of finished pairs, as eight bytes a pair: four below the stored equities, then four above.

    ring : (m, 8); row base[t] + j % width has the pair of place t on roll against place j of a lower layer. It is
    overwritten after as many layers as a roll can cross.
    own : (m, 8); the pairs of the current layer on roll against itself and higher places. Row
    (t - start) * row_length + j - start has place t against place j, where `start` is the layer's first place.
    """

    ring: Any
    base: Any
    width: int
    own: Any


class Found(NamedTuple):
    """Maxima and counts over the pairs that have been bounded.

    greatest : (4,) greatest error bound of each column, in fine units. histogram : (4, BINS) number of bounds by
    size. decisions : (3, 3), a row each for initial doubles, redoubles and takes: how many are right, how many the
    bounds leave open, and how many the stored equities decide wrongly.
    """

    greatest: Any
    histogram: Any
    decisions: Any


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
GAME = "bgfmt.extras.accuracy.enclosure:SizeRules(i8.1C, i4.1C, i8.1C, i4.1C)"
BOUNDS = "bgfmt.extras.accuracy.enclosure:Bounds(i1.2C, i8.1C, i8, i1.2C)"
FOUND = "bgfmt.extras.accuracy.enclosure:Found(i8.1C, i8.2C, i8.2C)"


@njit()
def to_fine_units(stored: Any) -> Any:
    """Convert a stored integer, 0..65535, to an equity in fine units, of which `ONE` are an equity of 1."""
    return np.int32(FINE) * np.int32(stored) - np.int32(ONE)


@njit()
def steps_below(value: int, low: int) -> int:
    """Return the distance of the lower bound `low` from `value` in steps of `STEP` fine units, rounded down.

    value, low : stored equity and lower bound, in fine units. The result is a signed byte, negative if `low` is below
    `value`, and OPEN_BELOW if it does not fit into a byte.
    """
    steps = (low - value) >> STEP_BITS
    if steps < OPEN_BELOW + 1:
        return OPEN_BELOW
    return min(steps, OPEN_ABOVE)


@njit()
def steps_above(value: int, high: int) -> int:
    """Return the distance of the upper bound `high` from `value` in steps of `STEP` fine units, rounded up.

    value, high : stored equity and upper bound, in fine units. The result is a signed byte, positive if `high` is
    above `value`, and OPEN_ABOVE if it does not fit into a byte.
    """
    steps = -((value - high) >> STEP_BITS)
    if steps > OPEN_ABOVE - 1:
        return OPEN_ABOVE
    return max(steps, OPEN_BELOW)


@njit()
def lower_bound(value: Any, steps: Any) -> Any:
    """Return the lower bound of an exact equity, in fine units, from the result of `steps_below`.

    value : stored equity in fine units. steps : byte; OPEN_BELOW stands for a bound of -1 point.
    """
    return max(value + STEP * np.int32(steps) - 2 * ONE * np.int32(steps == OPEN_BELOW), -ONE)


@njit()
def upper_bound(value: Any, steps: Any) -> Any:
    """Return the upper bound of an exact equity, in units of 1 / ONE point.

    value : the stored equity, in the same units. steps : the result of `steps_above`, a byte; how many times STEP the
    bound lies above the stored equity. OPEN_ABOVE stands for a bound of 1 point.
    """
    return min(value + STEP * np.int32(steps) + 2 * ONE * np.int32(steps == OPEN_ABOVE), ONE)


@njit()
def store_negated_bounds(
    stored: Any, them: int, us: int, steps: Any, row: int, tile: Any, place: int, lane: int
) -> None:
    """Set tile[place, lane : lane + 8] to the negated bounds of a pair's values, after the best cube action.

    They are the values to the side that has just moved: 4 upper bounds, then 4 lower ones, in fine units.

    Parameters
    ----------
    stored : (n, n, 4) uint16 equities; stored[them, us] are those of `them`, the side now on roll, against `us`.
    steps, row : steps[row] are the bounds of these equities as 8 bytes, see `Bounds`.
    tile, place, lane : the output array, and the two indices in it.
    """
    e0 = to_fine_units(stored[them, us, 0])
    e1 = to_fine_units(stored[them, us, 1])
    e2 = to_fine_units(stored[them, us, 2])
    e3 = to_fine_units(stored[them, us, 3])
    low = lower_bound(e3, steps[row, 3])
    doubled = min(2 * low, ONE)
    tile[place, lane] = -lower_bound(e0, steps[row, 0])
    tile[place, lane + 1] = -low
    tile[place, lane + 2] = -max(lower_bound(e2, steps[row, 2]), doubled)
    tile[place, lane + 3] = -max(lower_bound(e1, steps[row, 1]), doubled)
    high = upper_bound(e3, steps[row, 7])
    doubled = min(2 * high, ONE)
    tile[place, lane + 4] = -upper_bound(e0, steps[row, 4])
    tile[place, lane + 5] = -high
    tile[place, lane + 6] = -max(upper_bound(e2, steps[row, 6]), doubled)
    tile[place, lane + 7] = -max(upper_bound(e1, steps[row, 5]), doubled)


@njit()
def count_decisions(low: Any, high: Any, value: Any, found: Found) -> None:
    """Add the cube decisions of a pair to `found.decisions`: right, left open by the bounds, or wrong.

    low, high, value : (4,) lower bounds, upper bounds and stored equities, in fine units.
    """
    least = min(2 * low[3], ONE)
    most = min(2 * high[3], ONE)
    stored = min(2 * value[3], ONE)
    for k in range(DECISIONS):
        if k == 2:
            right = 2 * high[3] <= ONE
            wrong = 2 * low[3] > ONE
            seen = 2 * value[3] <= ONE
        else:
            column = 2 - k
            right = least >= high[column]
            wrong = most < low[column]
            seen = stored >= value[column]
        if right:
            found.decisions[k, 0] += 1
        if not (right or wrong):
            found.decisions[k, 1] += 1
        elif right != seen:
            found.decisions[k, 2] += 1


@njit(f"u2.3C, {GAME}, {BOUNDS}")
def bound_lost_sides(stored: Any, game: SizeRules, bounds: Bounds) -> None:
    """Set the bounds of every side on roll whose opponent has borne off all chequers: its exact equity is -1.

    stored : (n, n, 4) uint16 equities by position numbers. bounds : its `ring` is filled.
    """
    for t in range(1, len(game.numbers)):
        for c in range(4):
            value = to_fine_units(stored[game.numbers[t], 0, c])
            bounds.ring[bounds.base[t], c] = steps_below(value, -ONE)
            bounds.ring[bounds.base[t], 4 + c] = steps_above(value, -ONE)


@njit(f"u2.3C, {GAME}, {BOUNDS}, (i8, i8), (i8, i8), (i8, i8), i8, {FOUND}, i4.3C")
def enclose(
    stored: Any, game: SizeRules, bounds: Bounds, us: Any, ts: Any, reach: Any, start: int, found: Found, out: Any
) -> None:  # fmt: skip
    """Bound the exact equities of all pairs of the places `us`, on roll, with the places `ts`.

    A place is the rank of a position in order of pips, a layer the places of one pip count. Ranges are (first, past
    the last).

    Parameters
    ----------
    stored : (n, n, 4) uint16 equities by position numbers
    game, bounds, found : see their classes; `bounds` and `found` are updated
    us, ts : ranges of places; one of them lies in the current layer
    reach : range of places that contains all results of plays of `us`
    start : first place of the current layer
    out : (n, n, 4) int32 that receives the error bound of each equity, in fine units, by position numbers; an array
        of shape (0, 0, 0) if not wanted
    """
    numbers, places, starts, results = game
    ring, base, width, own = bounds
    row_length = len(numbers) - start
    higher = us[0] > start  # whether `us` is above the current layer, the second pass
    tile = np.zeros((reach[1] - reach[0], LANES), np.int32)
    total = np.empty(LANES, np.int32)
    low = np.empty(4, np.int64)
    high = np.empty(4, np.int64)
    value = np.empty(4, np.int64)
    for first in range(ts[0], ts[1], WIDTH):
        past = min(first + WIDTH, ts[1])
        for t in range(first, past):
            them = numbers[t]
            lane = 8 * (t - first)
            for j in range(reach[0], min(start, reach[1])):
                store_negated_bounds(
                    stored, them, numbers[j], ring, base[t] + j % width, tile, j - reach[0], lane
                )
            for j in range(start, reach[1]):
                row = (t - start) * row_length + j - start
                store_negated_bounds(stored, them, numbers[j], own, row, tile, j - reach[0], lane)
        for u in range(us[0], us[1]):
            x = numbers[u]
            total[:] = 0
            for r in range(ROLLS):
                add_best_wide(
                    tile.ctypes.data - 4 * LANES * reach[0], 4 * LANES, places.ctypes.data, results.ctypes.data,
                    starts[ROLLS * x + r], starts[ROLLS * x + r + 1], total.ctypes.data, WEIGHTS[r] - 1,
                )  # fmt: skip
            for t in range(first, past):
                them = numbers[t]
                steps = ring if higher else own
                row = base[u] + t % width if higher else (u - start) * row_length + t - start
                for c in range(4):
                    lane = 8 * (t - first) + c
                    most = (total[lane] + 35) // 36
                    least = total[lane + 4] // 36
                    stored_here = to_fine_units(stored[x, them, c])
                    off = max(most - stored_here, stored_here - least)
                    found.greatest[c] = max(found.greatest[c], off)
                    found.histogram[c, min(BINS - 1, (off + FINE - 1) >> FINE_BITS)] += 1
                    steps[row, c] = steps_below(stored_here, least)
                    steps[row, 4 + c] = steps_above(stored_here, most)
                    if out.size:
                        out[x, them, c] = off
                    high[c] = most
                    low[c] = least
                    value[c] = stored_here
                count_decisions(low, high, value, found)
