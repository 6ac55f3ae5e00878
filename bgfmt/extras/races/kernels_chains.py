"""Compiled loops of `chains`: the boards that a side reaches, roll by roll, for the boards kept or by thrown dice.

Terms: a layer is all boards that a side can reach after the same number of rolls; the chosen boards of a layer are
those that are played on; every other one is interpolated from its nearest chosen boards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.analysis.kernels import find_slot
from bgfmt.extras.arrays.kernels import list_results, unrank_counts
from bgfmt.extras.races.kernels_choice import FAR_HOME, HOME, NONE, ONE, _choose
from bgfmt.game.kernels_results import rank_counts
from bgfmt.jit import njit

MAX_CHEQUERS = 15
DOUBLES = (0, 2, 5, 9, 14, 20)  # numbers of the doubles among the 21 rolls
MOST_PLAYS = 1024  # most results of a roll that are considered
ANY_PLAYS = 1 << 15  # more results than a roll can have
BROAD = 10  # up to this many points 64 results of a roll are stored, beyond them 16
LAYER_PLACES = 1 << 8  # size of the hash table of a layer; it is doubled when half full
RARE = np.float32(1e-5)  # a smaller probability of being off counts as 0
SPREAD = 0.36  # variance per roll of the rolls for chequers beyond the table, where the mean rolls are known
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Boards(NamedTuple):
    """The boards that a side reaches, by the number of its rolls; board 0 is the start. N is their number.

    layers : boards layers[t] to layers[t + 1] - 1 are those found after t rolls.
    nexts, chosen : chosen[nexts[t] : nexts[t + 1]] are the boards of layer t that are played on.
    ends, results : roll r of chosen board number c leads to boards results[ends[21 c + r] : ends[21 c + r + 1]],
        counted from the first of their layer; the best for the side alone comes first.
    boards, numbers : (N, points) int8 chequers, and position numbers.
    means : (N,) mean rolls.
    within : (N, rolls) float32, probability of being off within 0, 1, 2, ... rolls.
    gains : (N,) points that the other side wins against the board: 1, 2 (gammon), 3.
    small : (N,) number of the board in the table of exact values, -1 if it is not there.
    shares : (N, 2) how often the board comes up, and how often it or a board that it represents does.
    near, weights : (N, NEAR) the chosen boards that the board is interpolated from, nearest first, counted from the
        first chosen one of the layer in a chain, and their weights; -1 for all off.
    apart : (chosen, most) squared distances of the chosen boards of the same layer.
    keys, places : a hash table.
    risks : (N,) probability, roughly, of losing a gammon, plus that of a backgammon.
    finished : (layers, rolls) probability that the other side is off within so many rolls.
    """

    layers: Any
    nexts: Any
    chosen: Any
    ends: Any
    results: Any
    boards: Any
    numbers: Any
    means: Any
    within: Any
    gains: Any
    small: Any
    shares: Any
    near: Any
    weights: Any
    apart: Any
    keys: Any
    places: Any
    risks: Any
    finished: Any


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
BOARDS = (
    "bgfmt.extras.races.kernels_chains:Boards(i8.1C, i8.1C, i8.1C, i8.1C, i8.1C, i1.2C, i8.1C, f8.1C, "
    "f4.2C, i8.1C, i8.1C, f4.2C, i8.2C, f4.2C, f4.2C, i8.1C, i8.1C, f4.1C, f4.2C)"
)
EXPANDED = "(i8.1C, i8.1C, i8.2C, i8.1C, f8.1C, i8.1C, f8.1C)"
TABLES = "(u2.2C, i8.2C, i8.2C, i4.1C, i8.2C)"


@njit()
def _table_number(counts: Any, points: int, terms: Any, scratch: Any) -> int:
    """Return the number of a board on `points` points, chequers beyond moved to the last one.

    scratch[points] is set to the pips of these moves.
    """
    beyond = 0
    for k in range(points):
        scratch[k] = counts[k] if k < counts.size else 0
    for k in range(points, counts.size):
        scratch[points - 1] += counts[k]
        beyond += counts[k] * (k + 1 - points)
    scratch[points] = beyond
    return rank_counts(scratch[:points], terms)


@njit()
def _distributions(
    begin: int, end: int, boards: Any, numbers: Any, tables: Any, scratch: Any, within: Any
) -> None:
    """Fill rows begin..end-1 of `within` (n, rolls) float32: the probability of being off within 0, 1, 2, ... rolls.

    tables : (rows, terms, terms of home boards, sums, terms of sums).
        rows : (boards, rolls) the distributions of a one-sided table in 65535ths, on as many points as `terms` has
            rows.
        sums : (boards,) mean rolls in 65535ths of boards on the points of its terms; where these are those of `rows`
            it is a cache, and 0 means not computed yet.

    For a board with chequers beyond the table the distribution is that of the board with these on the last point,
    convolved with one of the rolls that the missing pips take: 6/49 of a roll each, or as many as give the mean in
    `sums`, with the variance of a long race.
    """
    table, terms, _, sums, of_sums = tables
    rolls = within.shape[1]
    held = table.shape[1]
    points = terms.shape[0]
    wide = of_sums.shape[0]
    n = end - begin
    brought = np.empty(n, np.int64)
    pips = np.zeros(n)
    wider = np.zeros(n, np.int64)
    for x in range(n):
        brought[x] = numbers[begin + x]
        if boards.shape[1] != points:
            brought[x] = _table_number(boards[begin + x], points, terms, scratch)
            pips[x] = scratch[points]
        if pips[x] and wide > points:
            wider[x] = _table_number(boards[begin + x], wide, of_sums, scratch)
            pips[x] = scratch[wide]
    for x in range(n):  # in a loop of its own, so that many rows are fetched from memory at once
        row = brought[x]
        place = begin + x
        for k in range(held):
            within[place, k] = table[row, k]
    for x in range(n):
        wider[x] = sums[wider[x]]
    within[begin:end, held:] = NONE
    for x in range(begin, end):
        left = pips[x - begin] * 6 / 49
        if left > 0 or wider[x - begin]:
            # the range of rolls with positive probability
            low = 0
            high = held - 1
            while low < high and within[x, low] == NONE:
                low += 1
            while high > low and within[x, high] == NONE:
                high -= 1
            if wider[x - begin]:
                left += wider[x - begin] / 65535.0
                for k in range(low, high + 1):
                    left -= k * table[brought[x - begin], k] / 65535.0
        while left > 0:
            more = min(left, 0.72)
            left -= more
            high = min(high + 2, rolls - 1)
            twice = np.float32((SPREAD * more + more * more - more) / 2 if wide > points else 0.0)
            once = np.float32(more) - twice - twice
            for k in range(high, low - 1, -1):  # low is at least 1: the probability of no roll is 0
                here = within[x, k]
                before = within[x, max(k - 2, 0)]
                within[x, k] = max(NONE, here + once * (within[x, k - 1] - here) + twice * (before - here))
        total = NONE
        for k in range(rolls):
            total += within[x, k]
            within[x, k] = total
        for k in range(rolls):
            within[x, k] /= total


@njit()
def _results(counts: Any, dice: Any, terms: Any, numbers: Any, means: Any, tables: Any, scratch: Any) -> int:
    """List the different results of a roll (larger die first): fill `numbers` and `means`, return how many."""
    start: Any = np.int64(0)
    board = scratch[32 : 32 + counts.size]
    many = min(list_results(counts, dice, terms, scratch[64:], numbers, start), means.size)
    table, _, _, sums, of_sums = tables
    points = of_sums.shape[0]
    for n in range(many):
        number = numbers[n]
        beyond = 0
        if counts.size != points:
            unrank_counts(number, terms, board)
            number = _table_number(board, points, of_sums, scratch)
            beyond = scratch[points]
        total: Any = np.int64(sums[number])
        if total == 0:
            for k in range(1, table.shape[1]):
                total += k * np.int64(table[number, k])
            sums[number] = total
        means[n] = total / 65535.0 + beyond * 6 / 49
    return many  # type: ignore[no-any-return]


@njit()
def _expand(number: int, counts: Any, terms: Any, tables: Any, kept: Any, room: Any) -> int:
    """Find the results of the 21 rolls of a board, or look them up in the cache `kept`; return its slot there.

    kept : (keys, slots, ends, numbers, means, used, slack). The results of roll r of the board in slot s are at
        ends[s, r] to ends[s, r + 1] - 1 of `numbers` and `means`: the one of the least mean rolls first, then those
        within slack[0] of it, up to `most`. used : (2,) slots and results used. The cache is emptied when full.
    """
    keys, slots, ends, numbers, means, used, slacks = kept
    (scratch, found, worth) = room
    slack = slacks[0]
    most = MOST_PLAYS if slack >= 1 else 64 if counts.size <= BROAD else 16
    at = find_slot(keys, number)
    if keys[at]:
        return slots[at]  # type: ignore[no-any-return]
    if used[0] == len(ends) or used[1] + 21 * most > len(numbers):
        used[:] = 0
        keys[:] = 0
        at = find_slot(keys, number)
    keys[at] = number + 1
    slots[at] = used[0]
    slot = used[0]
    n = used[1]
    ends[slot, 0] = n
    roll = 0
    dice = np.empty(2, np.int64)
    for high in range(1, 7):
        for low in range(1, high + 1):
            dice[0] = high
            dice[1] = low
            many = _results(counts, dice, terms, found, worth, tables, scratch)
            best = 0
            for x in range(1, many):
                if worth[x] < worth[best]:
                    best = x
            first = n
            limit = worth[best] + slack
            if many > most and np.count_nonzero(worth[:many] <= limit) > most:
                limit = min(limit, np.sort(worth[:many])[most - 1])
            for y in range(many):
                x = best if y == 0 else 0 if y == best else y  # the best one first
                if worth[x] <= limit and n < first + most:
                    numbers[n] = found[x]
                    means[n] = worth[x]
                    n += 1
            roll += 1
            ends[slot, roll] = n
    used[0] += 1
    used[1] = n
    return slot  # type: ignore[no-any-return]


@njit()
def _describe(begin: int, end: int, few: int, terms: Any, tables: Any, space: Any, scratch: Any) -> None:
    """Fill the other fields of boards begin..end-1 from their numbers."""
    boards = space.boards
    numbers = space.numbers
    gains = space.gains
    small = space.small
    counts = scratch[32 : 32 + boards.shape[1]]
    home = tables[2]
    for x in range(begin, end):
        unrank_counts(numbers[x], terms, counts)
        chequers = highest = 0
        for k in range(counts.size):
            boards[x, k] = counts[k]
            if counts[k]:
                chequers += counts[k]
                highest = k
        gains[x] = 1 if chequers < MAX_CHEQUERS else 3 if highest >= FAR_HOME else 2
        small[x] = -1
        if highest < HOME and home[HOME - 1, chequers] < few:
            number = _table_number(counts, HOME, home, scratch)
            if number < few:
                small[x] = number
    _distributions(begin, end, boards, numbers, tables, scratch, space.within)


@njit()
def _begin(t: int, start: Any, few: int, terms: Any, tables: Any, space: Any, scratch: Any) -> None:
    """Make `start` the only board of layer t."""
    space.layers[: t + 1] = 0
    space.layers[t + 1] = 1
    space.nexts[: t + 1] = 0
    space.nexts[t + 1] = 1
    space.numbers[0] = rank_counts(start, terms)
    space.means[0] = 0.0
    _describe(0, 1, few, terms, tables, space, scratch)
    space.chosen[0] = space.near[0, :] = space.ends[0] = 0
    space.shares[0, :] = ONE
    space.weights[0, :] = NONE
    space.weights[0, 0] = ONE


@njit()
def _grow(t: int, few: int, terms: Any, tables: Any, source: Any, space: Any, room: Any) -> bool:
    """Build layer t + 1, the results of rolls of the chosen boards of layer t; return False if memory is short."""
    layers, nexts, chosen, ends, results, boards, numbers, means = space[:8]
    shares = space.shares
    near = space.near
    keys = space.keys
    places = space.places
    counts = np.empty(boards.shape[1], np.int64)
    first: Any = layers[t + 1]
    n: Any = first
    used: Any = ends[21 * nexts[t]]
    _, _, spans, those, their_means = source[:5]
    met = keys[:LAYER_PLACES]  # the boards of this layer
    met[:] = 0
    for c in range(nexts[t], nexts[t + 1]):
        for k in range(counts.size):
            counts[k] = boards[chosen[c], k]
        share = shares[chosen[c], 1] / np.float32(36)
        slot = _expand(numbers[chosen[c]], counts, terms, tables, source, room)
        most = min(n - first + spans[slot, 21] - spans[slot, 0], numbers.size)
        if 2 * most > met.size:
            while 2 * most > met.size:
                met = keys[: 2 * met.size]
            met[:] = 0
            for x in range(first, n):
                at = find_slot(met, numbers[x])
                met[at] = numbers[x] + 1
                places[at] = x
        for roll in range(21):
            begin = spans[slot, roll]
            end = spans[slot, roll + 1]
            if n + end - begin > numbers.size or used + end - begin > results.size:
                return False
            for x in range(begin, end):
                at = find_slot(met, those[x])
                if met[at] == 0:
                    met[at] = those[x] + 1
                    places[at] = n
                    numbers[n] = those[x]
                    means[n] = their_means[x]
                    shares[n, 0] = shares[n, 1] = NONE
                    near[n, 0] = -1
                    n += 1
                if x == begin:
                    shares[places[at], 0] += share if roll in DOUBLES else share + share
                results[used] = places[at] - first
                used += 1
            ends[21 * c + roll + 1] = used
    layers[t + 2] = n
    _describe(first, n, few, terms, tables, space, room[0])
    return True


@njit()
def _finish(t: int, space: Any, other: Any) -> None:
    """Fill `finished` after t rolls: the probabilities that the other side is off within so many rolls."""
    row = space.finished[t]
    row[:] = ONE
    shares = other.shares
    within = other.within
    for x in range(other.layers[t], other.layers[t + 1]):
        share = shares[x, 0]
        if share > NONE and other.numbers[x]:
            for k in range(row.size):
                row[k] -= share * (ONE - within[x, k])
    for k in range(row.size):
        if row[k] < RARE:
            row[k] = NONE


@njit()
def _look_ahead(t: int, few: int, terms: Any, tables: Any, kept: Any, space: Any, room: Any) -> None:
    """Correct the distributions of boards after t rolls that have chequers beyond the tables' points.

    Those of `_distributions` are estimated from pips and are wrong by up to a tenth of a roll. Here each is computed
    from the best results (fewest mean rolls) of the 21 rolls, which have fewer chequers there.
    """
    end = space.layers[t + 1]
    boards = space.boards
    numbers = space.numbers
    within = space.within
    if end + 21 > numbers.size:
        return
    ends = kept[2]
    those = kept[3]
    counts = np.empty(boards.shape[1], np.int64)
    row = np.empty(within.shape[1], np.float32)
    for x in range(space.layers[t], end):
        if not boards[x, tables[1].shape[0] :].any():
            continue
        for k in range(counts.size):
            counts[k] = boards[x, k]
        slot = _expand(numbers[x], counts, terms, tables, kept, room)
        for roll in range(21):  # in the free part behind the boards found
            numbers[end + roll] = those[ends[slot, roll]]
        _describe(end, end + 21, few, terms, tables, space, room[0])
        row[:] = NONE
        for roll in range(21):
            part = np.float32(1 / 36 if roll in DOUBLES else 1 / 18)
            for k in range(1, row.size):
                row[k] += part * within[end + roll, k - 1]
        for k in range(row.size):
            within[x, k] = ONE if row[k] > ONE - RARE else row[k]


@njit()
def _exact(t: int, space: Any) -> bool:
    """Return whether all boards found after t rolls are in the table of exact values."""
    return bool((space.small[space.layers[t] : space.layers[t + 1]] >= 0).all())


@njit(f"i8.2C, i8, b1, b1, i8, i8, i8, i8.2C, {TABLES}, {EXPANDED}, {EXPANDED}, ({BOARDS}, {BOARDS})")
def race(
    boards: Any, lanes: int, whole: bool, ahead: bool, most: int, most_first: int, few: int, terms: Any, tables: Any,
    root: Any, kept: Any, spaces: Any,
) -> Any:  # fmt: skip
    """Build the chains of both sides of a race: the boards kept after each roll, each side playing for fewest rolls.

    After each roll the boards whose distributions differ most, weighted by how often they come up, are chosen and
    played on.

    Parameters
    ----------
    boards
        (2, points) int64, chequers of the side on roll and of the other.
    lanes
        Numbers stored for each pair of boards.
    whole
        Continue until a side is off; else stop where all boards have exact values.
    ahead
        Correct the distributions after the first roll of the side on roll by a lookahead of one roll.
    most, most_first
        Most boards chosen after each roll, and after the first.
    few
        Number of boards in the table of exact values.
    terms
        The table of binomials that `board.number_terms` returns for the points of `boards`.
    tables
        Arrays from `chains.tables`.
    root, kept
        Caches of plays for the first roll and for the others, from `chains.new_result_cache`.
    spaces
        `Boards` of both sides, filled.

    Returns
    -------
    Index at which the values of each half roll (a roll of one side) begin, see `kernels_game.solve`; empty if memory
    is
    short.
    """
    room = np.zeros(80, np.int64), np.empty(ANY_PLAYS, np.int64), np.empty(MOST_PLAYS)
    ours, theirs = spaces
    for side in range(2):
        _begin(0, boards[side], few, terms, tables, spaces[side], room[0])
    t: Any = np.int64(0)
    more = 2  # half rolls beyond t turns: games by dice may take longer than the chains
    while ours.nexts[t + 1] > ours.nexts[t] and theirs.nexts[t + 1] > theirs.nexts[t]:
        for side in range(2):
            if not _grow(t, few, terms, tables, kept if t else root, spaces[side], room):
                return np.empty(0, np.int64)
        if ahead and not t:
            _look_ahead(1, few, terms, tables, kept, ours, room)
        for side in range(2):
            _finish(t + 1, spaces[side], spaces[1 - side])
            _choose(t + 1, most if t else most_first, spaces[side])
        t += 1
        if not whole and _exact(t, ours) and _exact(t, theirs):
            more = -1 if _exact(t - 1, theirs) else 0
            break
    for side in range(2):
        spaces[side].layers[t + 2 :] = spaces[side].layers[t + 1]
        spaces[side].nexts[t + 2 :] = spaces[side].nexts[t + 1]
    starts = np.zeros(2 * t + more + 2, np.int64)
    for h in range(starts.size - 2):
        mine = spaces[h % 2].nexts
        other = spaces[1 - h % 2].nexts
        u = h // 2 + h % 2
        starts[h + 1] = starts[h] + (mine[h // 2 + 1] - mine[h // 2]) * (other[u + 1] - other[u]) * lanes
    starts[-1] = starts[-2]
    return starts


@njit()
def _throw(
    t: int, seed: Any, space: Any, at: Any, rows: Any, counts: Any, marks: Any, to: Any, after: Any
) -> None:  # fmt: skip
    """Throw the dice of N games after t rolls, each of the 36 throws equally often, and play the best on average.

    Parameters
    ----------
    t, seed, space
        The rolls so far, the seed of the dice, and the boards of the side; the chosen ones of layer t + 1 are filled.
    at
        (N,), N a multiple of 36: the board of each game among the chosen ones of layer t, -1 if the game is over.
    rows
        (boards, K n) values of each board of layer t + 1 against n boards of the other side, in K cube states.
    counts
        (n,) weights of these n boards.
    marks
        Scratch: (boards,).
    to
        Filled with the board that each game is played to, counted from the first of its layer.
    after
        Filled as `at`, after the roll.
    """
    layers, nexts, chosen, ends, results, _, numbers = space[:7]
    begin = layers[t + 1]
    n = counts.size
    first: Any = nexts[t + 1]
    many: Any = first
    thrown = np.empty(at.size, np.int64)
    for x in range(layers[t + 2] - begin):
        marks[x] = -1
    for i in range(at.size):
        after[i] = -1
        seed += GOLDEN
        j = np.int64(_mix(seed) >> np.uint64(33)) % (i + 1)  # Fisher-Yates shuffle
        thrown[i] = thrown[j]
        thrown[j] = i % 36
    for i in range(at.size):
        if at[i] < 0:
            continue
        dice: Any = thrown[i]
        high = max(dice // 6, dice % 6)
        low = min(dice // 6, dice % 6)
        place = 21 * (nexts[t] + at[i]) + high * (high + 1) // 2 + low
        most = -np.inf
        best: Any = np.int64(0)
        for e in range(ends[place], ends[place + 1]):
            total = 0.0
            if ends[place + 1] - ends[place] > 1:
                for lane in range(rows.shape[1]):
                    total += counts[lane % n] * rows[results[e], lane]
            if total > most:
                most = total
                best = results[e]
        to[i] = best
        if numbers[begin + best]:
            if marks[best] < 0:
                marks[best] = many - first
                chosen[many] = begin + best
                many += 1
            after[i] = marks[best]
    nexts[t + 2] = many


@njit()
def _mix(x: Any) -> Any:
    """Return the splitmix64 hash of a 64-bit number."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
