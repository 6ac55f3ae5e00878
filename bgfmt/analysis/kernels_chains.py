"""Compiled loops of `chains`: the chain of boards of one side, and the game of two chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.analysis.kernels import _number, _plays, _slot, _unrank
from bgfmt.jit import njit
from bgfmt.solver.kernels.maxima import best_rolls

HOME = 6
MAX_CHEQUERS = 15
DOUBLES = (0, 2, 5, 9, 14, 20)  # of the 21 rolls
MOST_PLAYS, ANY_PLAYS = 1024, 1 << 15  # different results of a roll that are looked at, and that there can be
NEAR = 10  # points on which up to 64 results of a roll are kept, beyond them up to 16
LAYERS = 1 << 8  # a board after t rolls has key LAYERS * number + t
SAME = 1e-10  # squared distance of distributions that are not told apart
STEEPEST = 3.0  # most that a chance to win the game may count, in worths of a game


@njit()
def _table_number(counts: Any, points: int, terms: Any, scratch: Any) -> int:
    """Number of a board on `points` points, chequers beyond the last of them put on it; scratch[-1]: pips cut off."""
    beyond = 0
    for k in range(points):
        scratch[k] = counts[k] if k < counts.size else 0
    for k in range(points, counts.size):
        scratch[points - 1] += counts[k]
        beyond += counts[k] * (k + 1 - points)
    scratch[points] = beyond
    return _number(scratch[:points], terms)


@njit()
def _found(counts: Any, tables: Any, scratch: Any) -> tuple[Any, int]:
    """The row of a board in the smaller table that covers it, else in the larger, and the pips beyond that one."""
    small, small_terms, large, large_terms = tables
    points = small_terms.shape[0]
    number = _table_number(counts, points, small_terms, scratch)
    if not scratch[points]:
        return small[number], 0
    points = large_terms.shape[0]
    number = _table_number(counts, points, large_terms, scratch)
    return large[number], scratch[points]


@njit()
def distribution(row: Any, counts: Any, tables: Any, scratch: Any) -> None:
    """row (rolls,) float64: the chance that a board is off within 0, 1, 2, ... rolls.

    tables : (small, terms, large, terms) of two one-sided tables, (boards, rolls) chances in 65535ths, on as many
    points as their terms have rows.
    A board beyond the larger one has the rolls of the board with its chequers brought up to the last point, and those
    of the pips that this takes, 6/49 each, which deviate as those of a long race do.
    """
    chances, beyond = _found(counts, tables, scratch)
    rolls = row.size
    for k in range(rolls):
        row[k] = chances[k] / 65535.0 if k < chances.size else 0.0
    left = beyond * 6 / 49
    while left > 0:
        more = min(left, 0.72)
        left -= more
        row[rolls - 1] += row[rolls - 2] * more
        for k in range(rolls - 2, 0, -1):
            row[k] += more * (row[k - 1] - row[k])
        row[0] -= more * row[0]
    total = 0.0
    for k in range(rolls):
        total += row[k]
        row[k] = total
    for k in range(rolls):
        row[k] /= total


@njit()
def _mean(counts: Any, tables: Any, scratch: Any) -> float:
    """Mean rolls of a board, as `distribution` has them."""
    chances, beyond = _found(counts, tables, scratch)
    total: Any = np.int64(0)
    for k in range(1, chances.size):
        total += k * np.int64(chances[k])
    return total / 65535.0 + beyond * 6 / 49  # type: ignore[no-any-return]


@njit()
def _results(counts: Any, dice: Any, terms: Any, numbers: Any, means: Any, tables: Any, scratch: Any) -> int:
    """Different results of a roll, the larger die first: numbers and mean rolls; returns how many."""
    start: Any = np.int64(0)
    board = scratch[32 : 32 + counts.size]
    many = min(_plays(counts, dice, terms, scratch[64:], numbers, start), means.size)
    for n in range(many):
        _unrank(numbers[n], terms, board)
        means[n] = _mean(board, tables, scratch)
    return many  # type: ignore[no-any-return]


@njit()
def _expand(
    counts: Any, slack: float, terms: Any, tables: Any, kept: Any, scratch: Any, found: Any, worth: Any
) -> int:
    """The place in `kept` of what the 21 rolls make of a board, found now or earlier.

    kept : (keys, slots, ends, numbers, means, used) of the boards met so far: results of roll r of slot s are at
    ends[s, r] to ends[s, r + 1], the one of the least mean first, then those within `slack` of it, up to `most`.
    used (2,): slots and results used.
    """
    keys, slots, ends, numbers, means, used = kept
    most = MOST_PLAYS if slack >= 1 else 64 if counts.size <= NEAR else 16
    number = _number(counts, terms)
    at = _slot(keys, number)
    if keys[at]:
        return slots[at]  # type: ignore[no-any-return]
    if used[0] == len(ends) or used[1] + 21 * most > len(numbers):
        used[:] = 0
        keys[:] = 0
        at = _slot(keys, number)
    keys[at], slots[at] = number + 1, used[0]
    slot, n = used[0], used[1]
    ends[slot, 0] = n
    roll = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            many = _results(counts, np.array([high, low]), terms, found, worth, tables, scratch)
            best = 0
            for x in range(1, many):
                if worth[x] < worth[best]:
                    best = x
            first = n
            limit = worth[best] + slack
            if many > most:
                limit = min(limit, np.sort(worth[:many])[most - 1])
            for y in range(many):
                x = best if y == 0 else 0 if y == best else y  # the best one first
                if worth[x] <= limit and n < first + most:
                    numbers[n], means[n] = found[x], worth[x]
                    n += 1
            roll += 1
            ends[slot, roll] = n
    used[0] += 1
    used[1] = n
    return slot  # type: ignore[no-any-return]


@njit()
def chain(
    start: Any, most: int, most_first: int, depth: int, terms: Any, tables: Any, root: Any, kept: Any, space: Any
) -> int:  # fmt: skip
    """The chain of a side: what its rolls make of it when it plays for few rolls, a layer of boards after each roll.

    start (points,) int64. Of the boards after roll t at most `most` are played on (`most_first` after the first):
    those whose distributions differ most, weighted by how often they come up; each other goes with the nearest.
    At most `depth` rolls are made.
    tables : (small, terms, large, terms) of `distribution`. root, kept : of `_expand`, for the first roll and others.

    space : (layers, chosen, nexts, within, near, ends, results, gains, boards, numbers, means, keys, places, shares).
    Filled are, board 0 the start, the boards found after each roll from layers[t] to layers[t + 1]: boards int8,
    numbers, means, gains (1, or what the other side wins against it), within (n, rolls) the chances to be off; near:
    for each board the place in `chosen` of the board that is played on for it, -1 all off; chosen : boards played
    on, by rising means, those of layer t from nexts[t] to nexts[t + 1]; ends, results : results of roll r of the
    board at place c of `chosen` are boards results[ends[21 c + r] : ends[21 c + r + 1]].
    Scratch: keys, places (a power of two), shares (n, 2). Returns the number of layers, -1 for no room.
    """
    (
        layers,
        chosen,
        nexts,
        within,
        near,
        ends,
        results,
        gains,
        boards,
        numbers,
        means,
        keys,
        places,
        shares,
    ) = space
    points = start.size
    counts = start.copy()
    scratch = np.zeros(80, np.int64)
    found = np.empty(ANY_PLAYS, np.int64)
    worth = np.empty(MOST_PLAYS)
    for k in range(points):
        boards[0, k] = start[k]
    distribution(within[0], boards[0], tables, scratch)
    gains[0] = _gains(boards[0])
    layers[0], layers[1], nexts[0], nexts[1] = 0, 1, 0, 1
    chosen[0], near[0], shares[0, 0], shares[0, 1], ends[0] = 0, 0, 1.0, 1.0, 0
    used = 0
    t = 0
    keys[:] = 0
    while t < depth and nexts[t + 1] > nexts[t]:
        n: Any = layers[t + 1]
        for c in range(nexts[t], nexts[t + 1]):
            for k in range(points):
                counts[k] = boards[chosen[c], k]
            share = shares[chosen[c], 1]
            source = kept if t else root
            slot = _expand(counts, source[6][0], terms, tables, source[:6], scratch, found, worth)
            _, _, spans, those, their_means, _ = source[:6]
            for roll in range(21):
                begin, end = spans[slot, roll], spans[slot, roll + 1]
                if n + end - begin > numbers.size or used + end - begin > results.size:
                    return -1
                for x in range(begin, end):
                    key = those[x] * LAYERS + t
                    at = _slot(keys, key)
                    if keys[at] == 0:
                        keys[at], places[at] = key + 1, n
                        numbers[n], means[n], near[n], shares[n, 0] = those[x], their_means[x], -1, 0.0
                        _unrank(those[x], terms, boards[n])
                        n += 1
                    if x == begin:
                        shares[places[at], 0] += share * (1 if roll in DOUBLES else 2) / 36
                    results[used] = places[at]
                    used += 1
                ends[21 * c + roll + 1] = used
        layers[t + 2] = n
        nexts[t + 2] = _choose(
            layers[t + 1], n, nexts[t + 1], most if t else most_first, chosen, near, boards, numbers, means, within,
            gains, shares, tables, scratch,
        )  # fmt: skip
        t += 1
    layers[t + 2 :] = layers[t + 1]
    nexts[t + 1 :] = nexts[t]
    return t


@njit()
def _gains(counts: Any) -> int:
    """What the other side wins against a board: 1, a gammon 2, a backgammon 3."""
    chequers = 0
    far = 0
    for k in range(counts.size):
        chequers += counts[k]
        if k >= 18 and counts[k]:
            far = 1
    return 2 + far if chequers == MAX_CHEQUERS else 1


@njit()
def _choose(
    begin: int, end: int, first: int, most: int, chosen: Any, near: Any, boards: Any, numbers: Any, means: Any,
    within: Any, gains: Any, shares: Any, tables: Any, scratch: Any,
) -> int:  # fmt: skip
    """Choose at most `most` boards of a layer to play on, put from place `first` of `chosen`; returns past which."""
    low: Any = within.shape[1]  # where distributions of this layer may differ, and past it
    high: Any = np.int64(0)
    distance = np.full(end - begin, 4.0)
    best = -1
    for x in range(begin, end):
        distribution(within[x], boards[x], tables, scratch)
        while numbers[x] and low > 0 and within[x, low - 1] > 0.0:
            low -= 1
        while high < within.shape[1] and within[x, high] < 1.0:
            high += 1
        shares[x, 1] = 0.0
        gains[x] = _gains(boards[x])
        if numbers[x] and (best < 0 or shares[x, 0] > shares[best, 0]):
            best = x
    c: Any = first
    while best >= 0 and c < first + most:
        chosen[c] = best
        other = -1
        farthest = 0.0
        for x in range(begin, end):
            if not numbers[x]:
                continue
            total = 4.0 * abs(gains[x] - gains[best])
            for k in range(low, high):
                total += (within[x, k] - within[best, k]) ** 2
            if near[x] < 0 or total < distance[x - begin]:
                distance[x - begin] = total
                near[x] = c
            weighted = distance[x - begin] * (shares[x, 0] + 1e-6)
            if distance[x - begin] > SAME and weighted > farthest:
                farthest, other = weighted, x
        best = other
        c += 1
    # by rising means
    order = np.argsort(means[chosen[first:c]])
    place = np.empty(c - first, np.int64)
    copy = chosen[first:c].copy()
    for x in range(c - first):
        place[order[x]] = first + x
        chosen[first + x] = copy[order[x]]
    for x in range(begin, end):
        if numbers[x]:
            near[x] = place[near[x] - first]
            shares[chosen[near[x]], 1] += shares[x, 0]
    return c  # type: ignore[no-any-return]


@njit()
def _wins(out: Any, within: Any, board: int, still: Any) -> None:
    """out (m,): the chance that a side, having played, is off before each of the other's boards, which roll.

    still (rolls, m): the chances that those are not off within 0, 1, 2, ... rolls.
    """
    for b in range(out.size):
        out[b] = 0.0
    before = 0.0
    for k in range(still.shape[0]):
        here = within[board, k] - before
        if here != 0.0:
            before += here
            for b in range(out.size):
                out[b] += here * still[k, b]


@njit()
def _half(
    out: Any, rows: Any, values: Any, mine: Any, t: int, other: Any, u: int, doubling: Any, won: Any, lost: Any,
    cubeless: int,
) -> None:  # fmt: skip
    """What the boards of a side after roll t are worth to it on roll, out (its chosen, K, the other's chosen).

    The other side, with its boards after roll u, is on roll next; values (the other's chosen, K, ours after roll
    t + 1) are then its own. mine, other : `space` of `chain`. doubling : (may, passed, source, add, times) of the
    other side; won, lost (K, 4): value of winning to this side and to the other. cubeless: the column without a cube,
    -1 for none. rows (boards, K times the other's chosen): filled with what each board after roll t is worth.
    """
    layers, chosen, nexts, within, near, ends, results, gains = mine[:8]
    may, passed, source, add, times = doubling
    k = may.size
    others = other[1][other[2][u] : other[2][u + 1]]
    first, last = nexts[t + 1], nexts[t + 2]
    n, many = last - first, others.size
    still = np.empty((min(within.shape[1], other[3].shape[1]), many))
    for roll in range(still.shape[0]):
        for b in range(many):
            still[roll, b] = 1.0 - other[3][others[b], roll]
    wins = np.empty((n, many))
    near_values = np.empty((n, k, many))
    steep = np.empty((n, k, many))
    for a in range(n):
        _wins(wins[a], within, chosen[first + a], still)
        for c in range(k):
            for b in range(many):
                near_values[a, c, b] = values[b, c, a]
    for a in range(n):
        low, high = max(a - 1, 0), min(a + 1, n - 1)
        for c in range(k):
            game = won[c, 1] + lost[c, 1]
            for b in range(many):
                apart = wins[high, b] - wins[low, b]
                steep[a, c, b] = game
                if c != cubeless and abs(apart) > 1e-7:
                    slope = (near_values[low, c, b] - near_values[high, c, b]) / apart
                    steep[a, c, b] = min(STEEPEST * game, max(0.0, slope))
    here = np.empty(many)
    rolled = np.empty((k, many))
    for x in range(layers[t + 1], layers[t + 2]):
        found = rows[x].reshape(k, many)
        if near[x] < 0:
            for c in range(k):
                for b in range(many):
                    found[c, b] = won[c, other[7][others[b]]]
            continue
        a = near[x] - first
        _wins(here, within, x, still)
        for b in range(many):
            here[b] -= wins[a, b]
        for c in range(k):
            most = lost[c, gains[x]]
            for b in range(many):
                value = near_values[a, c, b] - steep[a, c, b] * here[b]
                rolled[c, b] = max(-won[c, other[7][others[b]]], min(most, value))
        for c in range(k):
            for b in range(many):
                value = rolled[c, b]
                if may[c]:
                    value = max(value, min(add[c] + times[c] * rolled[source[c], b], passed[c]))
                found[c, b] = -value
    best = np.empty(k * many)
    zero: Any = np.int64(0)
    for r in range(nexts[t], nexts[t + 1]):
        best_rolls(out[r - nexts[t]].reshape(k * many), best, rows, ends, results, r, zero, k * many)


@njit()
def game(
    on_roll: Any, after: Any, ours: Any, theirs: Any, depth: int, doubling: Any, won: Any, cubeless: int
) -> None:
    """The game of two chains of at most `depth` layers: on_roll (K,), the value of the start to the side on roll.

    ours, theirs : `space` of `chain`; doubling, won : of each side, see `_half`. after (boards, K): what each board
    after the first roll is worth to the side that rolled.
    """
    k = on_roll.size
    most: Any = np.int64(0)  # boards of one side times those chosen of the other
    for t in range(depth):
        most = max(most, theirs[0][t + 2] * (ours[2][t + 2] - ours[2][t + 1]))
        most = max(most, ours[0][t + 2] * (theirs[2][t + 1] - theirs[2][t]))
    space = np.empty(k * most)
    values = np.zeros((0, k, 0))
    for t in range(depth - 1, -1, -1):
        first, second = ours[2][t + 1] - ours[2][t], theirs[2][t + 1] - theirs[2][t]
        next_first = ours[2][t + 2] - ours[2][t + 1]
        out = np.zeros((second, k, next_first))
        if second and next_first:
            boards = theirs[0][t + 2]
            rows = space[: boards * k * next_first].reshape(boards, k * next_first)
            _half(out, rows, values, theirs, t, ours, t + 1, doubling[0], won[1], won[0], cubeless)
        values = np.zeros((first, k, second))
        if first and second:
            boards = ours[0][t + 2]
            rows = space[: boards * k * second].reshape(boards, k * second)
            _half(values, rows, out, ours, t, theirs, t, doubling[1], won[0], won[1], cubeless)
            if t == 0:
                for x in range(1, boards):
                    for c in range(k):
                        after[x, c] = rows[x, c]
    for c in range(k):
        on_roll[c] = values[0, c, 0]
