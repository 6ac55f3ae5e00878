"""Compiled hypergammon iteration, step by step in the float type of its arrays: finished games, plays, sweeps.

A record holds ten numbers: win, win gammon, win backgammon, lose gammon, lose backgammon, then the equities
cubeless, owned, centered, centered with Jacoby, opponent. `values` is (n * n, 10) float32 or float64, record
us * n + them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_hyper_plays import (
    ILLEGAL,
    MOST_PLAYS,
    OVER,
    PLACES,
    class_of,
    plays_of,
)

Array = Any
NUMBERS = 10


@njit()
def hand(nd: Any, dt: Any, one: Any) -> Any:
    """The side on roll with its best cube action; `one` is 1 in the type of the others."""
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
    one = out.dtype.type(1)
    equity = (out[0] + out[0]) - one + (out[1] - out[3]) + (out[2] - out[4])
    for k in range(5, NUMBERS):
        out[k] = equity
    out[8] = (out[0] + out[0]) - one


@njit()
def start_values(boards: Array, chequers: int, values: Array, kinds: Array) -> None:
    """Classes (n * n,) of all records, and the values the iteration starts from."""
    n = len(boards)
    for us in range(n):
        for them in range(n):
            x = us * n + them
            kind = class_of(boards[us], boards[them])
            kinds[x] = kind
            values[x, :] = 0
            if kind == OVER:
                over_values(boards[us], boards[them], chequers, values[x])
            elif kind != ILLEGAL:
                values[x, 0] = 1
                values[x, 1] = 1
                values[x, 5] = 2


@njit()
def classes(boards: Array, kinds: Array) -> None:
    """kinds[us * n + them] = class of every record."""
    n = len(boards)
    for us in range(n):
        for them in range(n):
            kinds[us * n + them] = class_of(boards[us], boards[them])


@njit()
def set_turned(x: Array, g: Array) -> None:
    """g = what a record x of the opponent's is worth to the side that moved into it; columns as best play asks."""
    one = x.dtype.type(1)
    g[0] = one - x[0]
    g[1] = x[3]
    g[2] = x[4]
    g[3] = x[1]
    g[4] = x[2]
    g[5] = -x[5]
    g[6] = -x[9]
    g[7] = -hand(x[7], x[9], one)
    g[8] = -hand(x[8], x[9], one)
    g[9] = -hand(x[6], x[9], one)


@njit()
def turn_all(values: Array, turned: Array) -> None:
    """`set_turned` of every record."""
    for x in range(len(values)):
        set_turned(values[x], turned[x])


@njit()
def add_roll(total: Array, best: Array, double: bool) -> None:
    """One roll's numbers into the sum, twice for a roll of two different dice."""
    for k in range(NUMBERS):
        if double:
            total[k] = total[k] + best[k]
        else:
            total[k] = total[k] + (best[k] + best[k])


@njit()
def no_play(x: Array, best: Array) -> None:
    """The numbers where the side on roll cannot move: the opponent's record as it stands, each number by itself."""
    best[0] = x.dtype.type(1) - x[0]
    best[1] = x[3]
    best[2] = x[4]
    best[3] = x[1]
    best[4] = x[2]
    for k in range(5, NUMBERS):
        best[k] = -x[k]


@njit()
def finish(total: Array, divide: bool) -> None:
    """The mean over 36 rolls: times the reciprocal, as the common build has it, or divided."""
    whole = total.dtype.type(36)
    reciprocal = total.dtype.type(1) / whole
    for k in range(NUMBERS):
        total[k] = total[k] / whole if divide else total[k] * reciprocal


@njit()
def play_lists(boards: Array, live: Array, terms: Array, stay: bool, ends: Array) -> Any:
    """Where each roll leads from the records `live`: int32 records, in which the opponent is on roll.

    ends[21 * k + roll] takes where the list of the roll of record live[k] ends. With `stay` a side that cannot move
    is listed as one that leaves everything as it was.
    """
    n = len(boards)
    plays = np.zeros((MOST_PLAYS, 2), np.int64)
    u = np.zeros(PLACES, np.int64)
    t = np.zeros(PLACES, np.int64)
    found = np.empty(1 << 16, np.int32)
    used = 0
    at = 0
    for x in live:
        u[:] = boards[x // n]
        t[:] = boards[x % n]
        for high in range(1, 7):
            for low in range(1, high + 1):
                count = plays_of(u, t, high, low, terms, plays)
                if count == 0 and stay:
                    plays[0, 0], plays[0, 1], count = x // n, x % n, 1
                if used + count > len(found):
                    larger = np.empty(2 * len(found) + count, np.int32)
                    larger[:used] = found[:used]
                    found = larger
                for p in range(count):
                    found[used] = plays[p, 1] * n + plays[p, 0]
                    used += 1
                ends[at] = used
                at += 1
    return found[:used].copy()


@njit()
def step_listed(
    k: int,
    x: int,
    n: int,
    values: Array,
    turned: Array,
    starts: Array,
    results: Array,
    total: Array,
    best: Array,
) -> None:
    """total = the sum over the rolls of one step of the iteration for record x, the k-th live one, from the lists."""
    total[:] = 0
    roll = 21 * k
    for high in range(6):
        for low in range(high + 1):
            begin, end = starts[roll], starts[roll + 1]
            roll += 1
            if begin == end:
                no_play(values[(x % n) * n + x // n], best)
            else:
                most = owned = centered = jacoby = opponent = total.dtype.type(-1e9)
                which = 0
                for q in range(begin, end):
                    g = results[q]
                    if turned[g, 5] >= most:  # among equal ones the last play gives the chances
                        most = turned[g, 5]
                        which = g
                    owned = max(owned, turned[g, 6])
                    centered = max(centered, turned[g, 7])
                    jacoby = max(jacoby, turned[g, 8])
                    opponent = max(opponent, turned[g, 9])
                for c in range(5):
                    best[c] = turned[which, c]
                best[5] = most
                best[6] = owned
                best[7] = centered
                best[8] = jacoby
                best[9] = opponent
            add_roll(total, best, high == low)


@njit()
def sweep(
    values: Array,
    turned: Array,
    live: Array,
    over: Array,
    fixed: Array,
    n: int,
    starts: Array,
    results: Array,
    divide: bool,
) -> Any:
    """One sweep in place; returns the greatest change of the records `live`.

    Finished games, the records `over`, get their values `fixed` when their turn comes: after a restart they hold
    rounded ones until then.
    """
    most = values.dtype.type(0)
    total = np.zeros(NUMBERS, values.dtype)
    best = np.zeros(NUMBERS, values.dtype)
    o = 0
    for k in range(len(live)):
        x = live[k]
        while o < len(over) and over[o] < x:
            values[over[o]] = fixed[o]
            set_turned(values[over[o]], turned[over[o]])
            o += 1
        step_listed(k, x, n, values, turned, starts, results, total, best)
        finish(total, divide)
        for c in range(NUMBERS):
            most = max(most, abs(total[c] - values[x, c]))
            values[x, c] = total[c]
        set_turned(values[x], turned[x])
    while o < len(over):
        values[over[o]] = fixed[o]
        set_turned(values[over[o]], turned[over[o]])
        o += 1
    return most
