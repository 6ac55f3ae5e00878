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

A pair depends on pairs with the sides exchanged: us against them on those of them, on roll, against the places that
we can reach. A *tile* has these for the WIDTH sides `them` next to each other, a row for each place.
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


class Entries(NamedTuple):
    """Stored equities and bounds of pairs of some places on roll with some other places.

    stored : (places on roll, other places, 4) uint16. steps : (other places, places on roll, 8) int8, the bounds:
    four below the stored equities, then four above. Their axes are exchanged so that they are filled from the front:
    the part that is not yet in use takes no memory.
    """

    stored: Any
    steps: Any


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
ENTRIES = "bgfmt.extras.accuracy.enclosure:Entries(u2.3C, i1.3C)"
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


@njit(ENTRIES)
def bound_lost_sides(entries: Entries) -> None:
    """Set the bounds of sides on roll against place 0, which has borne off all chequers: their exact equity is -1."""
    stored, steps = entries
    for row in range(len(stored)):
        for c in range(4):
            value = to_fine_units(stored[row, 0, c])
            steps[0, row, c] = steps_below(value, -ONE)
            steps[0, row, 4 + c] = steps_above(value, -ONE)


@njit(f"{ENTRIES}, (i8, i8), (i8, i8), i4.2C")
def fill_tile(entries: Entries, them: Any, others: Any, tile: Any) -> None:
    """Set tile[k, 8 * i : 8 * i + 8] to the negated bounds of the pair of them[0] + i, on roll, with others[0] + k.

    They are the values to the side that has just moved, after the best cube action: 4 upper bounds, then 4 lower
    ones, in fine units.

    entries : the pairs. them, others : ranges (first, past the last) of rows and columns of `entries.stored`.
    """
    stored, steps = entries
    for j in range(others[0], others[1]):
        line = tile[j - others[0]]
        for t in range(them[0], them[1]):
            lane = 8 * (t - them[0])
            near = steps[j, t]
            e0 = to_fine_units(stored[t, j, 0])
            e1 = to_fine_units(stored[t, j, 1])
            e2 = to_fine_units(stored[t, j, 2])
            e3 = to_fine_units(stored[t, j, 3])
            low = lower_bound(e3, near[3])
            doubled = min(2 * low, ONE)
            line[lane] = -lower_bound(e0, near[0])
            line[lane + 1] = -low
            line[lane + 2] = -max(lower_bound(e2, near[2]), doubled)
            line[lane + 3] = -max(lower_bound(e1, near[1]), doubled)
            high = upper_bound(e3, near[7])
            doubled = min(2 * high, ONE)
            line[lane + 4] = -upper_bound(e0, near[4])
            line[lane + 5] = -high
            line[lane + 6] = -max(upper_bound(e2, near[6]), doubled)
            line[lane + 7] = -max(upper_bound(e1, near[5]), doubled)


@njit(f"{GAME}, i4.2C, i8, (i8, i8), (i8, i8), {ENTRIES}, (i8, i8), {FOUND}, i4.3C")
def enclose(
    game: SizeRules, tile: Any, reach: int, us: Any, them: Any, entries: Entries, origin: Any, found: Found, out: Any
) -> None:  # fmt: skip
    """Bound the exact equities of all pairs of the places `us`, on roll, with at most WIDTH places `them`.

    Ranges of places are (first, past the last).

    Parameters
    ----------
    game, found : see their classes; `found` is updated
    tile, reach : the tile of `them`, see `fill_tile`; its first row is that of place `reach`. It has all places that
        plays of `us` lead to.
    us, them : ranges of places
    entries, origin : the pairs, whose bounds are set; place origin[0] on roll against place origin[1] is the first
    out : (n, n, 4) int32 that receives the error bound of each equity, in fine units, by position numbers; an array
        of shape (0, 0, 0) if not wanted
    """
    numbers, places, starts, results = game
    stored, steps = entries
    total = np.empty(LANES, np.int32)
    low = np.empty(4, np.int32)
    high = np.empty(4, np.int32)
    value = np.empty(4, np.int32)
    for u in range(us[0], us[1]):
        x = numbers[u]
        total[:] = 0
        for r in range(ROLLS):
            add_best_wide(
                tile.ctypes.data - 4 * LANES * reach, 4 * LANES, places.ctypes.data, results.ctypes.data,
                starts[ROLLS * x + r], starts[ROLLS * x + r + 1], total.ctypes.data, WEIGHTS[r] - 1,
            )  # fmt: skip
        row = u - origin[0]
        for t in range(them[0], them[1]):
            column = t - origin[1]
            for c in range(4):
                lane = 8 * (t - them[0]) + c
                most = (total[lane] + np.int32(35)) // np.int32(36)
                least = total[lane + 4] // np.int32(36)
                stored_here = to_fine_units(stored[row, column, c])
                off = max(most - stored_here, stored_here - least)
                found.greatest[c] = max(found.greatest[c], off)
                found.histogram[c, min(BINS - 1, (off + FINE - 1) >> FINE_BITS)] += 1
                steps[column, row, c] = steps_below(stored_here, least)
                steps[column, row, 4 + c] = steps_above(stored_here, most)
                if out.size:
                    out[x, numbers[t], c] = off
                high[c] = most
                low[c] = least
                value[c] = stored_here
            count_decisions(low, high, value, found)
