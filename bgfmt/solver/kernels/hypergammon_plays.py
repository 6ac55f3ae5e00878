"""Compiled hypergammon: what a side can play, and what it is to the other side.

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
ILLEGAL, OVER, LIVE, RACE = 0, 1, 2, 3  # not renewed; fixed; renewed, in contact or no more
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

    Plays that differ in what they hit are different. lists (n * 25,) : the list of side us where `blocked` is, at
    us * 25 + blocked; most blocked landings are out of reach, and share the list of none. first (lists * 21 + 1) :
    where the plays of each roll begin. after : the side left; landed : bit k: a chequer landed on k, and AGAIN;
    packed : the same landings as numbers of five bits, 31 where there are fewer than four.
    touched (lists,) : all landings of all rolls.
    """

    lists: Array
    first: Array
    after: Array
    landed: Array
    packed: Array
    touched: Array


class Sides(NamedTuple):
    """What a side is to the other: blocked landing (24: none), blots as landings, and as whom blots hit leave it.

    blots : (n,) bits. places : (n, 3) the blots' landings, 31 where there are fewer. hit : (n, 8) the side when the
    blots of these bits (bit k: places[k]) are on the bar. reach (m, 2), reached (n + 1,) : the other way round, pairs
    (side, bits) of hits that lead to side s at reach[reached[s]:reached[s + 1]].
    """

    blocked: Array
    blots: Array
    places: Array
    hit: Array
    reached: Array
    reach: Array


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
def list_plays(steps: Steps, first_side: int, last_side: int) -> Any:
    """The lists of some sides: (lists, first, after, landed, packed, touched) of `Plays`, numbered from 0."""
    after = np.zeros(MOST, np.int64)
    landed = np.zeros(MOST, np.int64)
    lists = np.zeros((last_side - first_side) * PLACES, np.int64)
    ends = np.zeros(len(lists) * ROLLS, np.int64)
    touched = np.zeros(len(lists), np.int64)
    left = np.empty(1 << 16, np.uint16)
    where = np.empty(1 << 16, np.uint32)
    packed = np.empty(1 << 16, np.uint32)
    total = made = 0
    for us in range(first_side, last_side):
        open_list = made
        for turn in range(PLACES):
            blocked = OPEN - turn
            at = (us - first_side) * PLACES + blocked
            if turn and not touched[open_list] >> blocked & 1:
                lists[at] = open_list
                continue
            lists[at] = made
            if total + ROLLS * MOST > len(left):
                room = 2 * len(left)
                left, where, packed = larger(left, room), larger(where, room), larger(packed, room)
            roll = made * ROLLS
            for high in range(1, 7):
                for low in range(1, high + 1):
                    many = play_roll(steps, us, blocked, high, low, after, landed)
                    for k in range(many):
                        touched[made] |= landed[k]
                        known = False
                        for j in range(k):
                            known = known or after[j] == after[k]
                        left[total] = after[k]
                        where[total] = landed[k] | (AGAIN if known else 0)
                        packed[total] = pack(landed[k])
                        total += 1
                    ends[roll] = total
                    roll += 1
            made += 1
    return lists, ends[: made * ROLLS], left[:total], where[:total], packed[:total], touched[:made]


@njit()
def larger(array: Array, room: int) -> Array:
    """A copy with more room behind."""
    out = np.empty(room, array.dtype)
    out[: len(array)] = array
    return out


@njit()
def pack(landed: int) -> int:
    """Up to four landings as numbers of five bits, the unused ones 31."""
    out, at = (1 << 20) - 1, 0
    for k in range(OPEN):
        if landed >> k & 1:
            out ^= (31 ^ k) << at
            at += 5
    return out


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
