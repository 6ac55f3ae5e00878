"""Compiled hypergammon moves: the full rules for up to three chequers a side, in the order of GNU Backgammon."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

Array = Any
BAR = 24
PLACES = 25
ILLEGAL, OVER, CONTACT, RACE = 0, 1, 2, 3
MOST_PLAYS = 4096


@njit()
def number_of(board: Array, terms: Array) -> int:
    """Position number of 25 counts."""
    above = 0
    number = 0
    for k in range(PLACES):
        above += board[PLACES - 1 - k]
        number += terms[k, above]
    return number


@njit()
def class_of(u: Array, t: Array) -> int:
    """Illegal, over, contact or race."""
    for i in range(24):
        if u[23 - i] > 0 and t[i] > 0:
            return ILLEGAL
    high_u = -1
    high_t = -1
    for i in range(PLACES):
        if u[i]:
            high_u = i
        if t[i]:
            high_t = i
    if high_u < 0 or high_t < 0:
        return OVER
    return CONTACT if high_u + high_t > 22 else RACE


@njit()
def can_move(u: Array, t: Array, i: int, die: int) -> bool:
    """Whether the chequer on index i (known to be there) may move; with one on the bar only that may."""
    k = i - die
    if k >= 0:
        return t[23 - k] < 2  # type: ignore[no-any-return]
    highest = 0
    for p in range(PLACES):
        if u[p]:
            highest = p
    return highest <= 5 and (k == -1 or i == highest)


@njit()
def make(u: Array, t: Array, i: int, die: int) -> bool:
    """Move a chequer; returns whether it hit."""
    k = i - die
    u[i] -= 1
    if k < 0:
        return False
    u[k] += 1
    if t[23 - k] > 0:
        t[23 - k] = 0
        t[BAR] += 1
        return True
    return False


@njit()
def unmake(u: Array, t: Array, i: int, die: int, hit: bool) -> None:
    """Take a move back."""
    k = i - die
    u[i] += 1
    if k >= 0:
        u[k] -= 1
        if hit:
            t[23 - k] = 1
            t[BAR] -= 1


@njit()
def record(u: Array, t: Array, used: int, pips: int, terms: Array, state: Array, plays: Array) -> None:
    """Keep a position reached with `used` dice and `pips` pips, if none used more. state: count, dice, pips."""
    if used < state[1] or pips < state[2]:
        return
    if used > state[1] or pips > state[2]:
        state[0] = 0
        state[1] = used
        state[2] = pips
    mine = number_of(u, terms)
    other = number_of(t, terms)
    for k in range(state[0]):
        if plays[k, 0] == mine and plays[k, 1] == other:
            return
    if state[0] < len(plays):
        plays[state[0], 0] = mine
        plays[state[0], 1] = other
        state[0] += 1


@njit()
def pass_of(u: Array, t: Array, dice: Array, many: int, terms: Array, state: Array, plays: Array) -> None:
    """All ways to play the dice in this order, depth first, sources downwards; doubles' sources never rise."""
    source = np.zeros(5, np.int64)
    hits = np.zeros(5, np.bool_)
    moved_any = np.zeros(5, np.bool_)
    pips = np.zeros(5, np.int64)
    start = np.zeros(5, np.int64)
    depth = 0
    source[0] = BAR + 1
    start[0] = 23
    double = many == 4
    while depth >= 0:
        die = dice[depth]
        i = source[depth] - 1
        found = False
        if depth < many:
            if u[BAR] > 0:
                if source[depth] > BAR:
                    i = BAR
                    found = can_move(u, t, BAR, die)
                else:
                    i = -1
            else:
                i = min(i, start[depth])
                while i >= 0:
                    if u[i] > 0 and can_move(u, t, i, die):
                        found = True
                        break
                    i -= 1
        if found:
            source[depth] = i
            moved_any[depth] = True
            hits[depth] = make(u, t, i, die)
            # what is really used: pips travelled, bearing off counts up to the edge
            pips[depth + 1] = pips[depth] + die
            depth += 1
            if depth == many:
                record(u, t, depth, pips[depth], terms, state, plays)
                depth -= 1
                unmake(u, t, source[depth], dice[depth], hits[depth])
            else:
                moved_any[depth] = False
                source[depth] = BAR + 1
                start[depth] = 23 if (i == BAR or not double) else i
        else:
            if depth > 0 and not moved_any[depth]:
                record(u, t, depth, pips[depth], terms, state, plays)
            depth -= 1
            if depth >= 0:
                unmake(u, t, source[depth], dice[depth], hits[depth])


@njit()
def plays_of(u: Array, t: Array, high: int, low: int, terms: Array, plays: Array) -> int:
    """(our number, their number) after every legal play, in order; returns how many."""
    state = np.zeros(3, np.int64)
    dice = np.zeros(5, np.int64)
    if high == low:
        dice[:4] = high
        pass_of(u, t, dice, 4, terms, state, plays)
    else:
        dice[0], dice[1] = high, low
        pass_of(u, t, dice, 2, terms, state, plays)
        dice[0], dice[1] = low, high
        pass_of(u, t, dice, 2, terms, state, plays)
    return state[0]  # type: ignore[no-any-return]
