"""Compiled loops of the one-sided solver, integers and gnubg's float32.

Source of the rules: docs/theory/one-sided.md; the slow twin is `bgfmt.moves`. Positions are visited in ascending
position number within ranges that share the chequers on their lower points; ranges of one wave do not reach each
other, so threads may take them in any order.

Every finished position keeps *keys*, int64: the rank of a final position (what the play minimises) in the high 32
bits, its label (its number, unless ties go by another order) in the low 32. `record[y]` holds the best key after one
more die 1..6 (six lanes) and y's own key (lane 6); `doubles[a-1, y]` the best after two and after three more a's.
A move from x lands on y = x - (a difference of binomials), so that a position costs about 54 loads a source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

Array = Any

UNSET = np.int64(0x7FFFFFFF00000000)
ROLLS = 32


@njit()
def start_at(number: int, points: int, terms: Array, above: Array) -> None:
    """Set above[k], the chequers on the k highest points, from a position number; above[points + 1] is a wall."""
    left = number
    for k in range(points, 0, -1):
        s = 0
        while s < 15 and terms[k - 1, s + 1] <= left:
            s += 1
        left -= terms[k - 1, s]
        above[k] = s
    above[0] = 0
    above[points + 1] = 1 << 30


@njit()
def step_to_next(points: int, above: Array) -> int:
    """Move on to the next position number; return the highest k whose above[k] changed."""
    k = 1
    while above[k] == above[k + 1]:
        above[k] = 0
        k += 1
    above[k] += 1
    return k


@njit()
def refresh(points: int, upto: int, above: Array, steps: Array, drop: Array, sources: Array) -> int:
    """Renew the sources (indices, highest first) and drop[k], the sum of C(above[j] + j - 2, j - 1) over j >= k.

    A chequer that moves from index i to t lowers the position number by drop[points - i] - drop[points - t].
    """
    for k in range(upto, 0, -1):
        drop[k] = drop[k + 1] + steps[k, above[k]]
    found = 0
    for k in range(1, points + 1):
        if above[k] != above[k - 1]:
            sources[found] = points - k
            found += 1
    return found


@njit()
def search(
    points: int, x: int, found: int, sources: Array, drop: Array, mask: int, record: Array, doubles: Array,
    on: int, off: int, off_scale: int, pair: Array, best: Array,
) -> None:
    """Best key of each of the 21 rolls from x (`best`), and x's lanes 1..6 and doubles.

    Rows of `record` are position number + `on` for a move that keeps the chequer on the board, and
    off_scale * number + `off` for one that bears it off. `mask` keeps of a key what decides: the rank alone, so that
    the first play found wins ties, or all of it.
    """
    row = x + on
    top = sources[0]
    for a in range(1, 7):
        b0 = b1 = b2 = b3 = b4 = b5 = b6 = t2 = t3 = UNSET
        for q in range(found):
            i = sources[q]
            t = i - a
            if t < 0:
                if top > 5 or (t < -1 and q > 0):
                    break
                y = off_scale * (x - drop[points - i]) + off
            else:
                y = row - drop[points - i] + drop[points - t]
            lanes = record[y]
            key = lanes[0]
            if key < (b0 & mask):
                b0 = key
            key = lanes[1]
            if key < (b1 & mask):
                b1 = key
            key = lanes[2]
            if key < (b2 & mask):
                b2 = key
            key = lanes[3]
            if key < (b3 & mask):
                b3 = key
            key = lanes[4]
            if key < (b4 & mask):
                b4 = key
            key = lanes[5]
            if key < (b5 & mask):
                b5 = key
            key = lanes[6]
            if key < (b6 & mask):
                b6 = key
            key = doubles[a - 1, y, 0]
            if key < (t2 & mask):
                t2 = key
            key = doubles[a - 1, y, 1]
            if key < (t3 & mask):
                t3 = key
        lane = pair[a - 1]
        lane[0] = b0
        lane[1] = b1
        lane[2] = b2
        lane[3] = b3
        lane[4] = b4
        lane[5] = b5
        record[row, a - 1] = b6
        doubles[a - 1, row, 0] = lane[a - 1]
        doubles[a - 1, row, 1] = t2
        best[a * (a + 1) // 2 - 1] = t3
    for a in range(1, 6):
        for b in range(a):
            key = pair[a, b]
            other = pair[b, a]
            best[a * (a + 1) // 2 + b] = other if other < (key & mask) else key


@njit()
def settle(values: Array, column: int, sums: Array, by_sums: bool) -> int:
    """Divide the 36-fold sums, round, give the remainder of 65535 to the likeliest roll; return the sum of i * value.

    `values` is the uint16 row to fill from `column` on.
    """
    total = 0
    rank = 0
    likeliest = 0
    for i in range(ROLLS):
        value = (sums[i] + 18) * 954437177 >> 35  # (sum + 18) // 36 for all sums that occur, below 2**22
        values[column + i] = value
        total += value
        rank += i * value
        candidate = ((sums[i] if by_sums else value) << 5) | (31 - i)
        likeliest = max(likeliest, candidate)
    mode = 31 - (likeliest & 31)
    excess = total - 65535
    values[column + mode] -= excess
    return rank - mode * excess


@njit()
def weighted_sums(rows: Array, column: int, best: Array, sums: Array, wide: Array) -> None:
    """sums[i + 1] = rows[best[r], column + i] over the 21 rolls r, doubles once and the others twice."""
    for i in range(ROLLS):
        wide[i] = 0
    for a in range(1, 6):
        for b in range(a):
            row = rows[best[a * (a + 1) // 2 + b]]
            for i in range(ROLLS):
                wide[i] += row[column + i]
    for i in range(ROLLS):
        wide[i] += wide[i]
    for a in range(6):
        row = rows[best[a * (a + 3) // 2]]
        for i in range(ROLLS):
            wide[i] += row[column + i]
    sums[0] = 0
    for i in range(ROLLS - 1):
        sums[i + 1] = wide[i]


@njit()
def distributions(
    points: int, ranges: Array, terms: Array, steps: Array, record: Array, doubles: Array,
    on: int, off: int, off_scale: int, rows: Array, column: int, mask: int, by_sums: bool,
    labels: Array, numbers: Array, choices: Array,
) -> None:
    """Fill rows[x, column : column + 32] for the positions x of `ranges`, (m, 2) first and one past the last.

    `labels` and its inverse `numbers` order ties, empty when labels are position numbers; `choices`, (n, 21) uint32,
    takes the plays chosen, or is empty.
    """
    above = np.zeros(points + 2, np.int64)
    drop = np.zeros(points + 2, np.int64)
    sources = np.zeros(points + 1, np.int64)
    pair = np.zeros((6, 6), np.int64)
    best = np.zeros(21, np.int64)
    wide = np.zeros(ROLLS, np.uint32)
    sums = np.zeros(ROLLS, np.int64)
    for g in range(len(ranges)):
        start_at(ranges[g, 0], points, terms, above)
        changed = points
        for x in range(ranges[g, 0], ranges[g, 1]):
            found = refresh(points, changed, above, steps, drop, sources)
            search(points, x, found, sources, drop, mask, record, doubles, on, off, off_scale, pair, best)
            for r in range(21):
                best[r] &= 0xFFFFFFFF
            if len(numbers):
                for r in range(21):
                    best[r] = numbers[best[r]]
            if len(choices):
                for r in range(21):
                    choices[x, r] = best[r]
            weighted_sums(rows, column, best, sums, wide)
            rank = settle(rows[x], column, sums, by_sums)
            record[x + on, 6] = (rank << 32) | (labels[x] if len(labels) else x)
            changed = step_to_next(points, above)


@njit()
def normal_moments(
    points: int, ranges: Array, terms: Array, steps: Array, record: Array, doubles: Array,
    on: int, off: int, off_scale: int, moments: Array, bits: Array, column: int, mask: int,
) -> None:
    """Fill moments[x, column : column + 2], mean and standard deviation, for the positions x of `ranges`.

    All in float32, one rounding an operation, times the reciprocal of 36, as gnubg's build does it. `bits` are the
    moments seen as int32: bits of floats that are not negative order like the floats, so the mean's serve as rank.
    """
    above = np.zeros(points + 2, np.int64)
    drop = np.zeros(points + 2, np.int64)
    sources = np.zeros(points + 1, np.int64)
    pair = np.zeros((6, 6), np.int64)
    best = np.zeros(21, np.int64)
    one = np.float32(1)
    reciprocal = np.float32(1 / 36)
    for g in range(len(ranges)):
        start_at(ranges[g, 0], points, terms, above)
        changed = points
        for x in range(ranges[g, 0], ranges[g, 1]):
            found = refresh(points, changed, above, steps, drop, sources)
            search(points, x, found, sources, drop, mask, record, doubles, on, off, off_scale, pair, best)
            mean = np.float32(0)
            square = np.float32(0)
            r = 0
            for a in range(6):
                for b in range(a + 1):
                    after = best[r] & 0xFFFFFFFF
                    r += 1
                    rolls = one + moments[after, column]
                    deviation = moments[after, column + 1]
                    spread = deviation * deviation + rolls * rolls
                    mean = mean + (rolls if a == b else rolls + rolls)
                    square = square + (spread if a == b else spread + spread)
            mean = mean * reciprocal
            moments[x, column] = mean
            moments[x, column + 1] = np.sqrt(square * reciprocal - mean * mean)
            record[x + on, 6] = (np.int64(bits[x, column]) << 32) | x
            changed = step_to_next(points, above)


@njit()
def race_survival(first: int, choices: Array, survival: Array) -> None:
    """Fill survival[x - first, k], 65535 parts of the chance that all chequers of x are on the board after k rolls.

    Plays are those of the race, choices[x] of shape (21,); positions from `first` on are those with every chequer
    on the board. bgsage's gammon rows.
    """
    sums = np.zeros(ROLLS + 1, np.int64)
    for x in range(first, len(choices)):
        sums[:] = 0
        r = 0
        for a in range(6):
            for b in range(a + 1):
                after = np.int64(choices[x, r])
                r += 1
                if after >= first:
                    weight = 1 if a == b else 2
                    for k in range(ROLLS):
                        sums[k + 1] += weight * survival[after - first, k]
        row = survival[x - first]
        row[0] = 65535
        for k in range(1, ROLLS):
            row[k] = (sums[k] + 18) // 36
