"""Compiled hypergammon: the lists of plays, and the steps of the value iteration.

A side is a position number over 25 indices: 0..23 its points 1 to 24, 24 its bar. A *landing* is the index on which a
moved chequer comes to rest; the other side's chequers are told as landings, too: those on its index i are met on
landing 23 - i. With at most three chequers it blocks one landing at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit

Array = Any
BAR = 24
OPEN = 24  # "the landing that is blocked" where none is
PLACES = 25
ROLLS = 21
MOST = 96  # plays of one roll, by far
ILLEGAL, OVER, LIVE = 0, 1, 2
AGAIN = 1 << 30  # in `landed`: an earlier play of the roll leaves the same side


class Steps(NamedTuple):
    """Moves of one chequer, whatever the other side: of side s by die d - 1, the farthest chequer first.

    count : (n, 6). start, to : (n, 6, 3) the index moved from, the side after it.
    """

    count: Array
    start: Array
    to: Array


class Plays(NamedTuple):
    """The plays of a side for each landing that may be blocked and each roll, in makehyper's order, as ranges.

    Row (us * 25 + blocked) * 21 + roll. With blots, plays that differ in what they hit are different:
    first (rows + 1), after (the side left), landed (bit k: a chequer landed on k; AGAIN); without: bare_first,
    bare_after.
    touched : (n * 25) all landings of all rolls.
    """

    first: Array
    after: Array
    landed: Array
    bare_first: Array
    bare_after: Array
    touched: Array


class Sides(NamedTuple):
    """What a side is to the other: blocked landing (24: none), blots as landings, and as whom blots hit leave it.

    blots : (n,) bits. places : (n, 3) the blots' landings, 31 where there are fewer. hit : (n, 8) the side when the
    blots of these bits (bit k: places[k]) are on the bar.
    """

    blocked: Array
    blots: Array
    places: Array
    hit: Array


class State(NamedTuple):
    """The numbers of the iteration, float32 or float64; `turned` and `swapped` repeat `values` for fast reading.

    values : (n, n, 10) of [us, them]: win, win gammon, win backgammon, lose gammon, lose backgammon; equities
        cubeless, owned, centered, centered with Jacoby, opponent's cube.
    turned : (n * n, 5) at them * n + us: what the record is worth to the side that leaves it to the other: cubeless,
        owned, centered, Jacoby, opponent's cube, the other's cube action taken.
    swapped : (n * n, 5) at them * n + us: the probabilities seen by the other side.
    kinds : (n, n) uint8. one, share : the number 1, and 1/36 as the recipe rounds it.
    as_is : whether a side that cannot move gets the other's numbers column by column, as makehyper has it.
    """

    values: Array
    turned: Array
    swapped: Array
    kinds: Array
    one: Any
    share: Any
    as_is: bool


@njit()
def count_steps(boards: Array, terms: Array, steps: Steps) -> None:
    """Fill `steps`."""
    after = np.zeros(PLACES, np.int64)
    for side in range(len(boards)):
        board = boards[side]
        highest = 0
        for i in range(PLACES):
            if board[i]:
                highest = i
        for die in range(1, 7):
            found = 0
            for i in range(highest, -1, -1):
                if not board[i] or (board[BAR] and i != BAR):
                    continue
                k = i - die
                if k < 0 and (highest > 5 or (k < -1 and i != highest)):
                    continue
                after[:] = board
                after[i] -= 1
                if k >= 0:
                    after[k] += 1
                number = above = 0
                for p in range(PLACES):
                    above += after[PLACES - 1 - p]
                    number += terms[p, above]
                steps.start[side, die - 1, found] = i
                steps.to[side, die - 1, found] = number
                found += 1
            steps.count[side, die - 1] = found


@njit()
def play_roll(steps: Steps, us: int, blocked: int, high: int, low: int, after: Array, landed: Array) -> int:
    """The plays of a roll: sides left and landings, those that play the most; returns how many."""
    total = most = most_pips = 0
    level_of = np.zeros(5, np.int64)  # which step is tried next at each level
    side = np.zeros(5, np.int64)
    limit = np.zeros(5, np.int64)
    mask = np.zeros(5, np.int64)
    moved = np.zeros(5, np.bool_)
    dice = np.zeros(4, np.int64)
    double = high == low
    depth = 4 if double else 2
    for turn in range(1 if double else 2):
        for k in range(depth):
            dice[k] = high if (k == 0) == (turn == 0) or double else low
        level, level_of[0], side[0], limit[0], mask[0], moved[0] = 0, 0, us, BAR, 0, False
        while level >= 0:
            end = level == depth
            if not end:
                die = dice[level]
                k = level_of[level]
                while k < steps.count[side[level], die - 1]:
                    start = steps.start[side[level], die - 1, k]
                    if start <= limit[level] and start - die != blocked:
                        break
                    k += 1
                if k < steps.count[side[level], die - 1]:
                    start = steps.start[side[level], die - 1, k]
                    level_of[level] = k + 1
                    moved[level] = True
                    level += 1
                    side[level] = steps.to[side[level - 1], die - 1, k]
                    mask[level] = mask[level - 1]
                    if start >= die:
                        mask[level] |= 1 << (start - die)
                    limit[level] = start if double and start != BAR else BAR
                    level_of[level] = 0
                    moved[level] = False
                    continue
            if level and not moved[level]:  # all dice played, or none can be
                pips = 0
                for k in range(level):
                    pips += dice[k]
                if (level > most and pips >= most_pips) or (level >= most and pips > most_pips):
                    total, most, most_pips = 0, level, pips
                if level == most and pips == most_pips:
                    known = False
                    for k in range(total):
                        known = known or (after[k] == side[level] and landed[k] == mask[level])
                    if not known:
                        after[total] = side[level]
                        landed[total] = mask[level]
                        total += 1
            level -= 1
    return total


@njit()
def list_plays(
    steps: Steps, first_side: int, last_side: int, fill: bool, counts: Array, plays: Plays
) -> None:
    """Count the plays of some sides (counts[row] = with blots, without), or put them into the lists."""
    after = np.zeros(MOST, np.int64)
    landed = np.zeros(MOST, np.int64)
    for us in range(first_side, last_side):
        for blocked in range(PLACES):
            roll = (us * PLACES + blocked) * ROLLS
            touched = 0
            for high in range(1, 7):
                for low in range(1, high + 1):
                    many = play_roll(steps, us, blocked, high, low, after, landed)
                    bare = 0
                    for k in range(many):
                        touched |= landed[k]
                        known = False
                        for j in range(k):
                            known = known or after[j] == after[k]
                        if fill:
                            plays.after[plays.first[roll] + k] = after[k]
                            plays.landed[plays.first[roll] + k] = landed[k] | (AGAIN if known else 0)
                            if not known:
                                plays.bare_after[plays.bare_first[roll] + bare] = after[k]
                        if not known:
                            bare += 1
                    counts[roll, 0] = many
                    counts[roll, 1] = bare
                    roll += 1
            plays.touched[us * PLACES + blocked] = touched


@njit()
def meet_sides(boards: Array, terms: Array, sides: Sides) -> None:
    """Fill `sides`."""
    board = np.zeros(PLACES, np.int64)
    for side in range(len(boards)):
        sides.blocked[side] = OPEN
        sides.blots[side] = 0
        found = 0
        sides.places[side, :] = 31
        for i in range(BAR):
            if boards[side, i] > 1:
                sides.blocked[side] = 23 - i
            elif boards[side, i] == 1:
                sides.blots[side] |= 1 << (23 - i)
                sides.places[side, found] = 23 - i
                found += 1
        for bits in range(8):
            board[:] = boards[side]
            for k in range(found):
                if bits >> k & 1:
                    board[23 - sides.places[side, k]] -= 1
                    board[BAR] += 1
            number = above = 0
            for p in range(PLACES):
                above += board[PLACES - 1 - p]
                number += terms[p, above]
            sides.hit[side, bits] = number


@njit()
def cube_taken(state: State, centered: Any, doubled: Any) -> Any:
    """The equity of the side on roll that may double, after its best cube action and the answer to it."""
    two = doubled + doubled
    if two >= centered and state.one >= centered:
        return state.one if two >= state.one else two
    return centered


@njit()
def renew(state: State, us: int, them: int) -> None:
    """Bring `turned` and `swapped` up to what `values` has."""
    record = state.values[us, them]
    at = them * len(state.values) + us
    turned = state.turned[at]
    turned[0] = -record[5]
    turned[1] = -record[9]
    turned[2] = -cube_taken(state, record[7], record[9])
    turned[3] = -cube_taken(state, record[8], record[9])
    turned[4] = -cube_taken(state, record[6], record[9])
    swapped = state.swapped[at]
    swapped[0] = state.one - record[0]
    swapped[1] = record[3]
    swapped[2] = record[4]
    swapped[3] = record[1]
    swapped[4] = record[2]


@njit()
def finished(state: State, boards: Array, us: int, them: int, chequers: int) -> None:
    """The fixed values of a game that is over: whoever has nothing left has won, the other side first."""
    record = state.values[us, them]
    record[:] = 0
    zero = state.one - state.one
    left_us = left_them = far = 0
    for i in range(PLACES):
        left_us += boards[us, i]
        left_them += boards[them, i]
    won = left_them > 0
    loser = boards[them] if won else boards[us]
    for i in range(18, PLACES):
        far += loser[i]
    whole = (left_them if won else left_us) == chequers
    sign = state.one if won else -state.one
    if won:
        record[0] = state.one
    first = 1 if won else 3
    gammon = backgammon = zero
    if whole:
        record[first] = gammon = state.one
        if far:
            record[first + 1] = backgammon = state.one
    for k in range(5, 10):
        record[k] = sign + sign * gammon + sign * backgammon
    record[8] = sign


@njit()
def begin(state: State, boards: Array, chequers: int, first: int, last: int, restart: bool) -> None:
    """The class of every record of some rows, and the values the iteration begins with (kept on a restart)."""
    for us in range(first, last):
        high_us = -1
        for i in range(PLACES):
            if boards[us, i]:
                high_us = i
        for them in range(len(boards)):
            illegal = False
            high_them = -1
            for i in range(PLACES):
                if boards[them, i]:
                    high_them = i
            for i in range(BAR):
                illegal = illegal or (boards[us, 23 - i] > 0 and boards[them, i] > 0)
            if illegal:
                state.kinds[us, them] = ILLEGAL
            elif high_us < 0 or high_them < 0:
                state.kinds[us, them] = OVER
            else:
                state.kinds[us, them] = LIVE
            if not restart:
                record = state.values[us, them]
                record[:] = 0
                if state.kinds[us, them] == OVER:
                    finished(state, boards, us, them, chequers)
                elif state.kinds[us, them] == LIVE:
                    record[0] = record[1] = state.one
                    record[5] = state.one + state.one
            renew(state, us, them)


@njit()
def repeats(after: Array, landed: Array, start: Any, e: Any, blots: Any) -> bool:
    """Whether play e leaves what an earlier one of its roll leaves, hits included."""
    found = False
    for f in range(start, e):
        found = found or (after[f] == after[e] and landed[f] & blots == landed[e] & blots)
    return found


@njit()
def near(hit: Array, first: int, last: int) -> bool:
    """Whether a reply to a play against the side with these `hit` can lie in rows first..last-1."""
    found = False
    for bits in range(8):
        found = found or first <= hit[bits] < last
    return found


@njit()
def row(state: State, plays: Plays, sides: Sides, us: int, thems: Array, block: Array, made: Array) -> None:
    """One step for records of a row, from the numbers as they stand: made[them - thems[0]] = ten numbers.

    For them = thems[0]..thems[1]-1, as far as they are live and, when thems[2] is set, need no row of the block
    (block[0]..block[1]-1). Arrays are taken out of the tuples once: counting references costs more than a record.
    """
    values, turned, swapped, kinds = state.values, state.turned, state.swapped, state.kinds
    with_blots, after, landed, touched = plays.first, plays.after, plays.landed, plays.touched
    bare_first, bare_after = plays.bare_first, plays.bare_after
    blocked, blot_bits, places, hits = sides.blocked, sides.blots, sides.places, sides.hit
    one, share, as_is = state.one, state.share, state.as_is
    wide = np.uint64(len(values))
    zero, two = one - one, one + one
    for them in range(thems[0], thems[1]):
        hit = hits[them]
        if kinds[us, them] != LIVE or (thems[2] and near(hit, block[0], block[1])):
            continue
        side = us * PLACES + blocked[them]
        blots = blot_bits[them]
        meeting = blots & touched[side] != 0
        place, place_2, place_3 = places[them, 0], places[them, 1], places[them, 2]
        same = np.uint64(us) * wide + np.uint64(them)  # the other side moves next, everything as it is
        c0 = c1 = c2 = c3 = c4 = e0 = e1 = e2 = e3 = e4 = zero
        roll = side * ROLLS
        for high in range(1, 7):
            for low in range(1, high + 1):
                weight = one if high == low else two
                chosen = same
                b0 = b1 = b2 = b3 = b4 = -two * two
                if meeting:
                    start, end = with_blots[roll], with_blots[roll + 1]
                    for e in range(start, end):
                        mask = landed[e]
                        bits = (mask >> place & 1) | (mask >> place_2 & 1) << 1 | (mask >> place_3 & 1) << 2
                        at = np.uint64(after[e]) * wide + np.uint64(hit[bits])
                        x0 = turned[at, 0]
                        taken = x0 >= b0
                        if mask & AGAIN and x0 == b0:
                            taken = not repeats(after, landed, start, e, blots)
                        chosen = at if taken else chosen
                        b0 = max(b0, x0)
                        b1 = max(b1, turned[at, 1])
                        b2 = max(b2, turned[at, 2])
                        b3 = max(b3, turned[at, 3])
                        b4 = max(b4, turned[at, 4])
                else:
                    start, end = bare_first[roll], bare_first[roll + 1]
                    for e in range(start, end):
                        at = np.uint64(bare_after[e]) * wide + np.uint64(them)
                        x0 = turned[at, 0]
                        chosen = at if x0 >= b0 else chosen
                        b0 = max(b0, x0)
                        b1 = max(b1, turned[at, 1])
                        b2 = max(b2, turned[at, 2])
                        b3 = max(b3, turned[at, 3])
                        b4 = max(b4, turned[at, 4])
                if start == end:
                    if as_is:
                        b0, b1, b2 = -values[them, us, 5], -values[them, us, 6], -values[them, us, 7]
                        b3, b4 = -values[them, us, 8], -values[them, us, 9]
                    else:
                        b0, b1, b2 = turned[same, 0], turned[same, 1], turned[same, 2]
                        b3, b4 = turned[same, 3], turned[same, 4]
                c0 += weight * swapped[chosen, 0]
                c1 += weight * swapped[chosen, 1]
                c2 += weight * swapped[chosen, 2]
                c3 += weight * swapped[chosen, 3]
                c4 += weight * swapped[chosen, 4]
                e0 += weight * b0
                e1 += weight * b1
                e2 += weight * b2
                e3 += weight * b3
                e4 += weight * b4
                roll += 1
        total = made[them - thems[0]]
        total[0], total[1], total[2] = c0 * share, c1 * share, c2 * share
        total[3], total[4] = c3 * share, c4 * share
        total[5], total[6], total[7] = e0 * share, e1 * share, e2 * share
        total[8], total[9] = e3 * share, e4 * share


@njit()
def settle(
    state: State, plays: Plays, sides: Sides, boards: Array, chequers: int, block: Array, made: Array
) -> Any:
    """The rows of a block in order: what `row` made is put in place, the rest is made; the greatest change."""
    one_record = np.zeros((1, 10), state.values.dtype)
    alone = np.zeros(3, np.int64)
    values, kinds, hits = state.values, state.kinds, sides.hit
    greatest = state.one - state.one
    for us in range(block[0], block[1]):
        for them in range(len(values)):
            kind = kinds[us, them]
            if kind == OVER:
                finished(state, boards, us, them, chequers)
            if kind == LIVE:
                fresh = made[us - block[0], them]
                if near(hits[them], block[0], block[1]):
                    alone[0] = them
                    alone[1] = them + 1
                    row(state, plays, sides, us, alone, block, one_record)
                    fresh = one_record[0]
                for k in range(10):
                    greatest = max(greatest, abs(fresh[k] - values[us, them, k]))
                    values[us, them, k] = fresh[k]
            if kind != ILLEGAL:
                renew(state, us, them)
    return greatest


@njit()
def decode(records: Array, values: Array) -> None:
    """values (m, 10) float32 from records (m, 28) uint8, as makehyper reads a file it restarts from."""
    scale = np.float32(1) / np.float32(16777215)
    half = np.float32(0.5)
    six = np.float32(6)
    one = np.float32(1)
    for m in range(len(records)):
        out = values[m]
        for k in range(9):
            low = np.int64(records[m, 3 * k]) | np.int64(records[m, 3 * k + 1]) << 8
            number = np.float32(low | np.int64(records[m, 3 * k + 2]) << 16) * scale
            if k < 5:
                out[k] = number
            else:
                out[k + 1] = (number - half) * six
        out[5] = ((out[0] + out[0]) - one) + ((out[1] - out[3]) + (out[2] - out[4]))


@njit()
def encode(values: Array, sixth: Any, half: Any, scale: Any, records: Array) -> None:
    """records (m, 28) uint8 from values (m, 10) float32: parts of 16777215, what is beyond cut off."""
    for m in range(len(values)):
        for k in range(9):
            number = values[m, k] * scale if k < 5 else (values[m, k + 1] * sixth + half) * scale
            whole = np.int64(number)
            records[m, 3 * k] = whole & 255
            records[m, 3 * k + 1] = whole >> 8 & 255
            records[m, 3 * k + 2] = whole >> 16 & 255
        records[m, 27] = 0
