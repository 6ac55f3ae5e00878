"""Compiled loops of the one-sided solver, integers and gnubg's float32.

Rules and method are in docs/theory/one-sided.md; `bgfmt.game.moves` is the slow reference. Every finished position
has *keys*: the rank of a position (what play minimises) above CODE_BITS low bits. For y, keys[y] holds the best rank
after one more die 1..6 (six lanes) and y's own (lane 6); doubles[a - 1, y] the best after two and after three more
a's; the second half of each row the position numbers that go with them. The low bits of a key are overwritten with
the index of the chequer moved, highest point first: the least key is then the play of least rank that is found first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit

Array = Any

ROLLS = 32
CODE_BITS = 5
LABEL_BITS = 30
CODES = 31


class Board(NamedTuple):
    """Tables for the position numbers of `points` points: `board.number_terms` and the differences of its columns."""

    points: int
    terms: Any
    steps: Any


class Records(NamedTuple):
    """Working records of finished positions.

    Attributes
    ----------
    signs : 0..31, then the mask that clears a key's code, then a key above all keys, of the dtype of the keys.
    keys, doubles : (rows, 16) and (6, rows, 4), see the module.
    lanes : 8, but not a constant: a loop of known length is unrolled instead of vectorised.
    """

    signs: Any
    keys: Any
    doubles: Any
    lanes: int


class Slots(NamedTuple):
    """Rows of the records: number + `on` for a move that keeps the chequer on, scale * number + `off` otherwise."""

    on: int
    off: int
    scale: int


class SearchSpace(NamedTuple):
    """Working space of one thread: the current position, and the moves from it."""

    above: Any
    drop: Any
    sources: Any
    pair: Any
    landing: Any
    best: Any


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
BOARD = "bgfmt.solver.kernels.one_sided:Board(i8, i8.2C, i8.2C)"
RECORDS = "bgfmt.solver.kernels.one_sided:Records(i8.1C, i8.2C, i8.3C, i8)"
RECORDS32 = "bgfmt.solver.kernels.one_sided:Records(u4.1C, u4.2C, u4.3C, i8)"
SEARCH_SPACE = "bgfmt.solver.kernels.one_sided:SearchSpace(i8.1C, i8.1C, i8.1C, i8.2C, i8.2C, i8.1C)"
SEARCH_SPACE32 = "bgfmt.solver.kernels.one_sided:SearchSpace(i8.1C, i8.1C, i8.1C, u4.2C, i8.2C, i8.1C)"
SLOTS = "bgfmt.solver.kernels.one_sided:Slots(i8, i8, i8)"


@njit()
def space_for(points: int, signs: Array) -> Any:
    """Return working space of one thread for positions of `points` points; ranks have the dtype of `signs`."""
    return SearchSpace(
        np.zeros(points + 2, np.int64),
        np.zeros(points + 2, np.int64),
        np.zeros(points + 1, np.int64),
        np.zeros((6, 10), signs.dtype),
        np.zeros((6, points + 1), np.int64),
        np.zeros(21, np.int64),
    )


@njit()
def start_at(number: int, points: int, terms: Array, above: Array) -> None:
    """Set above[k] to the number of chequers on the k highest points, for the position with this number.

    terms : `board.number_terms`. above[points + 1] becomes a sentinel.
    """
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
    """Change `above` (see `start_at`) to that of the next position number.

    Return the highest k whose above[k] changed.
    """
    k = 1
    while above[k] == above[k + 1]:
        above[k] = 0
        k += 1
    above[k] += 1
    return k


@njit()
def update_sources(points: int, upto: int, above: Array, steps: Array, drop: Array, sources: Array) -> int:
    """Update the list of occupied points, and what moving a chequer takes off the position number.

    Returns the number of occupied points.

    Parameters
    ----------
    upto : highest k whose above[k] has changed since the last call.
    above : above[k], the chequers on the k highest points.
    steps : differences of the columns of `board.number_terms`.
    drop : filled: a chequer that moves from index i (point i + 1) to t lowers the number by drop[points - i] -
        drop[points - t].
    sources : filled with the indices of occupied points, highest first.
    """
    for k in range(upto, 0, -1):
        drop[k] = drop[k + 1] + steps[k, above[k]]
    found = 0
    for k in range(1, points + 1):
        if above[k] != above[k - 1]:
            sources[found] = points - k
            found += 1
    return found


@njit("i8, i8, i8.2C, i8.1C, i8.2C, i8.3C, i8.2C, i8", "i8, i8, i8.2C, u4.1C, u4.2C, u4.3C, u4.2C, i8")
def merge_landings(
    a: int, used: int, landing: Array, signs: Array, keys: Array, doubles: Array, pair: Array, lanes: int
) -> None:
    """Set lane j of pair[a] to the least key over all boards that one move of die a + 1 leads to, for j of 0 to 7.

    A key holds a rank and, in its lower bits, a code for the move. Lanes 8 and 9 become the least keys after further
    moves of a double.

    Parameters
    ----------
    used : number of boards that the die leads to.
    landing : (6, points + 1) rows of the records of these boards, by die.
    signs, keys, doubles, lanes : the fields of `Records`.
    """
    clear = signs[32]
    for j in range(lanes):
        pair[a, j] = signs[33]
    two = three = signs[33]
    for q in range(used):
        y = landing[a, q]
        code = signs[q]
        for j in range(lanes):
            key = keys.dtype.type((keys[y, j] & clear) | code)
            pair[a, j] = min(pair[a, j], key)
        two = min(two, keys.dtype.type((doubles[a, y, 0] & clear) | code))
        three = min(three, keys.dtype.type((doubles[a, y, 1] & clear) | code))
    pair[a, 8] = two
    pair[a, 9] = three


@njit(
    f"i8, i8, i8, {SEARCH_SPACE}, {RECORDS}, {SLOTS}", f"i8, i8, i8, {SEARCH_SPACE32}, {RECORDS32}, {SLOTS}"
)
def search_plays(points: int, x: int, found: int, space: SearchSpace, records: Records, slots: Slots) -> None:
    """Find the position after the best play of each roll from position number x, into `space.best`.

    It also fills the working record of x, which later searches need. found : number of occupied points of x, see
    `update_sources`. slots : where the records are.
    """
    _, drop, sources, pair, landing, best = space
    signs, keys, doubles, lanes = records
    row = x + slots.on
    top = sources[0]
    clear = signs[32]
    width = landing.shape[1]
    touched = signs[0]
    for a in range(1, 7):
        used = 0
        for q in range(found):
            i = sources[q]
            t = i - a
            if t >= 0:
                y = row - drop[points - i] + drop[points - t]
            elif top > 5 or (t < -1 and q > 0):
                break
            else:
                y = slots.scale * (x - drop[points - i]) + slots.off
            landing[a - 1, q] = y
            touched |= (
                keys[y, 7] | doubles[a - 1, y, 0]
            )  # asks memory early for what `merge_landings` will need
            used += 1
        landing[a - 1, width - 1] = used
    best[0] = touched
    for a in range(1, 7):
        used = landing[a - 1, width - 1]
        merge_landings(a - 1, used, landing, signs, keys, doubles, pair, lanes)
        keys[row, a - 1] = pair[a - 1, 6]
        doubles[a - 1, row, 0] = pair[a - 1, a - 1]
        doubles[a - 1, row, 1] = pair[a - 1, 8]
        y = landing[a - 1, pair[a - 1, 6] & CODES]
        keys[row, a + 7] = keys[y, 14]
        y = landing[a - 1, pair[a - 1, a - 1] & CODES]
        doubles[a - 1, row, 2] = keys[y, a + 7]
        doubles[a - 1, row, 3] = doubles[a - 1, landing[a - 1, pair[a - 1, 8] & CODES], 2]
        best[a * (a + 1) // 2 - 1] = doubles[a - 1, landing[a - 1, pair[a - 1, 9] & CODES], 3]
    for a in range(1, 6):
        for b in range(a):
            if (pair[b, a] & clear) < (pair[a, b] & clear):
                best[a * (a + 1) // 2 + b] = keys[landing[b, pair[b, a] & CODES], a + 8]
            else:
                best[a * (a + 1) // 2 + b] = keys[landing[a, pair[a, b] & CODES], b + 8]


@njit("u2.3C, i8, i8, u4.1C, b1, i8")
def round_row(rows: Array, x: int, part: int, sums: Array, by_sums: bool, rolls: int) -> int:
    """Fill a row with rounded probabilities, in 65535ths, that add up to 65535.

    Each is a sum divided by 36 and rounded; the remainder goes to the likeliest roll. Returns the sum of i * value.

    Parameters
    ----------
    rows, x, part : rows[x, part] takes the values.
    sums : sums[i], over the 36 rolls and in 65535ths, belongs to i + 1 rolls.
    by_sums : likeliest by the sums instead of the rounded values.
    rolls : numbers of a row.
    """
    total = np.uint32(0)
    rank = np.uint32(0)
    likeliest = np.uint32(0)
    for i in range(rolls - 1):
        value = np.uint32((np.uint64(sums[i]) + 18) * 954437177 >> 35)  # // 36, for all sums below 2**22
        rows[x, part, i + 1] = value
        total += value
        rank += np.uint32(i + 1) * value
        candidate = np.uint32((sums[i] if by_sums else value) << 5 | (31 - i))
        likeliest = max(likeliest, candidate)
    mode = 32 - np.int64(likeliest & 31)
    excess = np.int64(total) - 65535
    rows[x, part, 0] = 0
    rows[x, part, mode] -= excess
    return np.int64(rank) - mode * excess  # type: ignore[return-value]


@njit()
def weighted_sums(rows: Array, part: int, best: Array, sums: Array, rolls: int) -> None:
    """Sum rows[best[r], part, i] over the 21 rolls r, doubles once and the others twice, into sums[i], i < rolls.

    best : the position number after each roll. `rolls` is 32, but not a constant: a loop of known length is unrolled
    instead of vectorised.
    """
    for i in range(rolls):
        sums[i] = 0
    for a in range(1, 6):
        for b in range(a):
            y = best[a * (a + 1) // 2 + b]
            for i in range(rolls):
                sums[i] += rows[y, part, i]
    for i in range(rolls):
        sums[i] += sums[i]
    for a in range(6):
        y = best[a * (a + 3) // 2]
        for i in range(rolls):
            sums[i] += rows[y, part, i]


@njit(
    f"i8.2C, {BOARD}, {SLOTS}, {RECORDS}, u2.3C, i8, b1, i8, u4.1C, u4.2C, i8",
    f"i8.2C, {BOARD}, {SLOTS}, {RECORDS32}, u2.3C, i8, b1, i8, u4.1C, u4.2C, i8",
)
def solve_distributions(
    ranges: Array, board: Board, slots: Slots, records: Records, rows: Array, part: int, by_sums: bool,
    divisor: int, labels: Array, choices: Array, rolls: int,
) -> None:  # fmt: skip
    """Fill rows[x, part], distributions of rolls, for positions x of `ranges`, (m, 2) first and one past the last.

    Parameters
    ----------
    board, slots, records : see these classes.
    rows, part : (n, 1 or 2, 32) uint16, and 0 for the last chequer off or 1 for the first.
    by_sums, divisor : a recipe's `remainder` ("sums") and `divisor`.
    labels : ranks that decide ties between positions played to, or empty.
    choices : (n, 21) uint32, filled with the positions after the chosen plays, or empty.
    rolls : 32, see `weighted_sums`.
    """
    points = board.points
    keys = records.keys
    space = space_for(points, records.signs)
    above = space.above
    best = space.best
    sums = np.zeros(ROLLS, np.uint32)
    for g in range(len(ranges)):
        start_at(ranges[g, 0], points, board.terms, above)
        changed = points
        for x in range(ranges[g, 0], ranges[g, 1]):
            found = update_sources(points, changed, above, board.steps, space.drop, space.sources)
            search_plays(points, x, found, space, records, slots)
            if len(choices):
                for r in range(21):
                    choices[x, r] = best[r]
            if part < rows.shape[1] - 1:
                rows[x, 1, 0] = 65535  # a chequer is off; a later pass fills the rows of those with none off
            weighted_sums(rows, part, best, sums, rolls)
            rank = round_row(rows, x, part, sums, by_sums, rolls)
            if divisor:
                rank = 0
                for i in range(rolls - 1):
                    rank += (i + 1) * int(sums[i])
                rank //= divisor
            if len(labels):
                rank = rank << LABEL_BITS | labels[x]
            keys[x + slots.on, 6] = rank << CODE_BITS
            keys[x + slots.on, 14] = x
            changed = step_to_next(points, above)


@njit(f"i8.2C, {BOARD}, {SLOTS}, {RECORDS}, f4.2C, i4.2C, i8")
def solve_moments(
    ranges: Array, board: Board, slots: Slots, records: Records, moments: Array, bits: Array, column: int
) -> None:
    """Fill moments[x, column : column + 2], mean and standard deviation, for the positions x of `ranges`.

    All in float32, one rounding an operation, times the reciprocal of 36, as in gnubg's build.

    Parameters
    ----------
    ranges : (m, 2) first position number and one past the last.
    bits : the moments viewed as int32: bits of non-negative floats order like the floats, so the mean's bits rank
        plays.
    column : 0 for the rolls to the last chequer off, 2 for the first.
    """
    points = board.points
    keys = records.keys
    space = space_for(points, records.signs)
    above = space.above
    best = space.best
    one = np.float32(1)
    reciprocal = np.float32(1 / 36)
    for g in range(len(ranges)):
        start_at(ranges[g, 0], points, board.terms, above)
        changed = points
        for x in range(ranges[g, 0], ranges[g, 1]):
            found = update_sources(points, changed, above, board.steps, space.drop, space.sources)
            search_plays(points, x, found, space, records, slots)
            mean = np.float32(0)
            square = np.float32(0)
            r = 0
            for a in range(6):
                for b in range(a + 1):
                    rolls = one + moments[best[r], column]
                    deviation = moments[best[r], column + 1]
                    r += 1
                    spread = deviation * deviation + rolls * rolls
                    mean = mean + (rolls if a == b else rolls + rolls)
                    square = square + (spread if a == b else spread + spread)
            mean = mean * reciprocal
            moments[x, column] = mean
            moments[x, column + 1] = np.sqrt(square * reciprocal - mean * mean)
            keys[x + slots.on, 6] = np.int64(bits[x, column]) << CODE_BITS
            keys[x + slots.on, 14] = x
            changed = step_to_next(points, above)


@njit("i8, u4.2C, u2.2C")
def solve_race_survival(first: int, choices: Array, survival: Array) -> None:
    """Fill survival[x - first, k], 65535 times the probability that no chequer of x is off after k rolls.

    Plays are those of the race, choices[x] of shape (21,); positions from `first` on are those with every chequer on
    the board. These are bgsage's gammon rows.
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
