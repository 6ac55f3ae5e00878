"""Compiled hypergammon: full backgammon moves and one sweep of the value iteration, float32 step by step."""

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


@njit()
def hand(nd: Any, dt: Any) -> Any:
    """The side on roll with its best cube action, float32."""
    one = np.float32(1)
    two = dt + dt
    if two >= nd and one >= nd:
        return one if two >= one else two
    return nd


@njit()
def over_values(u: Array, t: Array, chequers: int, out: Array) -> None:
    """The ten numbers of a finished game."""
    out[:] = 0
    mine = u.sum()
    other = t.sum()
    far = 0
    loser = u if other == 0 else t
    for i in range(18, PLACES):
        far += loser[i]
    if other == 0:
        if mine == chequers:
            out[3] = 1
            if far:
                out[4] = 1
    else:
        out[0] = 1
        if other == chequers:
            out[1] = 1
            if far:
                out[2] = 1
    equity = np.float32(2) * out[0] - np.float32(1) + (out[1] - out[3]) + (out[2] - out[4])
    for k in range(5, 10):
        out[k] = equity
    out[8] = np.float32(2) * out[0] - np.float32(1)


@njit()
def new_values(
    values: Array,
    us: int,
    them: int,
    u: Array,
    t: Array,
    terms: Array,
    plays: Array,
    total: Array,
    best: Array,
) -> None:
    """total[0:10] = one step of the iteration for a race or contact record.

    values : (n, n, 10) float32: win, win gammon, win backgammon, lose gammon, lose backgammon, then equities
    cubeless, owned, centered, Jacoby, opponent.
    """
    one = np.float32(1)
    total[:] = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            count = plays_of(u, t, high, low, terms, plays)
            if count == 0:
                x = values[them, us]
                best[0] = one - x[0]
                best[1] = x[3]
                best[2] = x[4]
                best[3] = x[1]
                best[4] = x[2]
                for k in range(5, 10):
                    best[k] = -x[k]
            else:
                for k in range(5, 10):
                    best[k] = np.float32(-1e9)
                for p in range(count):
                    x = values[plays[p, 1], plays[p, 0]]
                    if -x[5] >= best[5]:
                        best[5] = -x[5]
                        best[0] = one - x[0]
                        best[1] = x[3]
                        best[2] = x[4]
                        best[3] = x[1]
                        best[4] = x[2]
                    best[6] = max(best[6], -x[9])
                    best[7] = max(best[7], -hand(x[7], x[9]))
                    best[8] = max(best[8], -hand(x[8], x[9]))
                    best[9] = max(best[9], -hand(x[6], x[9]))
            for k in range(10):
                if high == low:
                    total[k] = total[k] + best[k]
                else:
                    total[k] = total[k] + (best[k] + best[k])
    reciprocal = np.float32(1 / 36)
    for k in range(10):
        total[k] = total[k] * reciprocal


@njit()
def start_values(boards: Array, chequers: int, values: Array, kinds: Array) -> None:
    """Classes of all records, and the values the iteration starts from."""
    n = len(boards)
    for us in range(n):
        for them in range(n):
            kind = class_of(boards[us], boards[them])
            kinds[us, them] = kind
            out = values[us, them]
            if kind == OVER:
                over_values(boards[us], boards[them], chequers, out)
            elif kind != ILLEGAL:
                out[:] = 0
                out[0] = 1
                out[1] = 1
                out[5] = 2
            else:
                out[:] = 0


@njit()
def classes(boards: Array, kinds: Array) -> None:
    """kinds[us, them] = class of every record."""
    n = len(boards)
    for us in range(n):
        for them in range(n):
            kinds[us, them] = class_of(boards[us], boards[them])


@njit()
def sweep(values: Array, kinds: Array, boards: Array, terms: Array) -> Any:
    """One sweep in place, as makehyper makes it; returns the greatest change of a number."""
    n = len(boards)
    plays = np.zeros((MOST_PLAYS, 2), np.int64)
    total = np.zeros(10, np.float32)
    best = np.zeros(10, np.float32)
    most = np.float32(0)
    u = np.zeros(PLACES, np.int64)
    t = np.zeros(PLACES, np.int64)
    for us in range(n):
        for them in range(n):
            if kinds[us, them] < CONTACT:
                continue
            u[:] = boards[us]
            t[:] = boards[them]
            new_values(values, us, them, u, t, terms, plays, total, best)
            for k in range(10):
                change = abs(total[k] - values[us, them, k])
                most = max(most, change)
                values[us, them, k] = total[k]
    return most


@njit()
def residual(
    values: Array,
    kinds: Array,
    boards: Array,
    terms: Array,
    chequers: int,
    first: int,
    last: int,
    step: int,
    off: Array,
) -> None:
    """off[us, them] = greatest difference between stored numbers and one step of the iteration from stored ones."""
    n = len(boards)
    plays = np.zeros((MOST_PLAYS, 2), np.int64)
    total = np.zeros(10, np.float32)
    best = np.zeros(10, np.float32)
    u = np.zeros(PLACES, np.int64)
    t = np.zeros(PLACES, np.int64)
    for us in range(first, last):
        for them in range(us % step, n, step):
            u[:] = boards[us]
            t[:] = boards[them]
            if kinds[us, them] == ILLEGAL:
                total[:] = 0
            elif kinds[us, them] == OVER:
                over_values(u, t, chequers, total)
            else:
                new_values(values, us, them, u, t, terms, plays, total, best)
            most = np.float32(0)
            for k in range(10):
                if k != 5:
                    most = max(most, abs(total[k] - values[us, them, k]))
            off[us, them] = most
