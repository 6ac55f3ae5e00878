"""Compiled hypergammon: the steps of the value iteration; see `hypergammon_plays` for the lists they read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.hypergammon_plays import (
    AGAIN,
    BAR,
    ILLEGAL,
    LIVE,
    OVER,
    PLACES,
    ROLLS,
    Plays,
    Sides,
)

Array = Any


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
