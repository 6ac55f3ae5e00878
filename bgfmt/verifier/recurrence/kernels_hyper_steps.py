"""Compiled: one step of the hypergammon iteration for any record, from the records of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_hyper_plays import ILLEGAL, MOST_PLAYS, OVER, PLACES, plays_of
from bgfmt.verifier.recurrence.kernels_hypergammon import (
    NUMBERS,
    add_roll,
    finish,
    hand,
    no_play,
    over_values,
)

Array = Any


@njit()
def step_met(
    x: int,
    n: int,
    values: Array,
    u: Array,
    t: Array,
    terms: Array,
    plays: Array,
    slack: Any,
    stay: bool,
    total: Array,
    best: Array,
    low: Array,
    high: Array,
    divide: bool,
) -> None:
    """total = one step of the iteration for record x, its plays enumerated afresh.

    low, high (5,) : least and greatest chances if any play may be made whose cubeless value is within `slack` of
    the best: which of almost equal plays the program saw as best is not to be had from rounded numbers.
    """
    total[:] = 0
    low[:] = 0
    high[:] = 0
    some_low = np.zeros(NUMBERS, values.dtype)
    some_high = np.zeros(NUMBERS, values.dtype)
    one = np.zeros(NUMBERS, values.dtype)
    whole = values.dtype.type(1)
    for a in range(1, 7):
        for b in range(1, a + 1):
            count = plays_of(u, t, a, b, terms, plays)
            if count == 0 and stay:
                plays[0, 0], plays[0, 1], count = x // n, x % n, 1
            if count == 0:
                no_play(values[(x % n) * n + x // n], best)
                some_low[:] = best
                some_high[:] = best
            else:
                for k in range(5, NUMBERS):
                    best[k] = values.dtype.type(-1e9)
                which = 0
                for p in range(count):
                    e = values[plays[p, 1] * n + plays[p, 0]]
                    if -e[5] >= best[5]:
                        best[5] = -e[5]
                        which = p
                    best[6] = max(best[6], -e[9])
                    best[7] = max(best[7], -hand(e[7], e[9], whole))
                    best[8] = max(best[8], -hand(e[8], e[9], whole))
                    best[9] = max(best[9], -hand(e[6], e[9], whole))
                no_play(values[plays[which, 1] * n + plays[which, 0]], one)
                for k in range(5):
                    best[k] = one[k]
                    some_low[k] = one[k]
                    some_high[k] = one[k]
                for p in range(count):
                    e = values[plays[p, 1] * n + plays[p, 0]]
                    if -e[5] >= best[5] - slack:
                        no_play(e, one)
                        for k in range(5):
                            some_low[k] = min(some_low[k], one[k])
                            some_high[k] = max(some_high[k], one[k])
            add_roll(total, best, a == b)
            add_roll(low, some_low, a == b)
            add_roll(high, some_high, a == b)
    finish(total, divide)
    finish(low, divide)
    finish(high, divide)


@njit()
def residual(
    values: Array,
    kinds: Array,
    boards: Array,
    terms: Array,
    chequers: int,
    which: Array,
    slack: Any,
    stay: bool,
    divide: bool,
    right: Array,
    off: Array,
) -> None:
    """One step of the iteration for the records `which`, from the stored ones.

    right : (m, 10), what the step gives; off : (m,), the greatest difference to what is stored, of
    an equity (the cubeless one too, which follows from the chances) or of a chance from where `step_met` allows it.
    """
    n = len(boards)
    plays = np.zeros((MOST_PLAYS, 2), np.int64)
    total = np.zeros(NUMBERS, values.dtype)
    best = np.zeros(NUMBERS, values.dtype)
    low = np.zeros(NUMBERS, values.dtype)
    high = np.zeros(NUMBERS, values.dtype)
    u = np.zeros(PLACES, np.int64)
    t = np.zeros(PLACES, np.int64)
    for i in range(len(which)):
        x = which[i]
        u[:] = boards[x // n]
        t[:] = boards[x % n]
        if kinds[x] == ILLEGAL:
            total[:] = 0
            low[:] = 0
            high[:] = 0
        elif kinds[x] == OVER:
            over_values(u, t, chequers, total)
            low[:] = total
            high[:] = total
        else:
            step_met(x, n, values, u, t, terms, plays, slack, stay, total, best, low, high, divide)
        most = values.dtype.type(0)
        for k in range(NUMBERS):
            right[i, k] = total[k]
            value = values[x, k]
            gap = abs(total[k] - value)
            if k < 5:
                gap = low[k] - value if not value >= low[k] else value - high[k]
            elif k == 5 and kinds[x] == ILLEGAL:
                gap = values.dtype.type(0)  # its stored chances are all nought, which no equity follows from
            if not gap <= most:  # what is no number is off by more than any number
                most = values.dtype.type(np.inf) if np.isnan(gap) else gap
        off[i] = most
