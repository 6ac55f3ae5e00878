"""Compiled hypergammon iteration, step by step in the float type of its arrays: finished games, plays, sweeps.

A record holds ten numbers: win, win gammon, win backgammon, lose gammon, lose backgammon, then the equities
cubeless, owned, centered, centered with Jacoby, opponent. `values` is (n * n, 10) float32 or float64, record
us * n + them.
"""

from __future__ import annotations

from typing import Any

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_hyper_plays import (
    ILLEGAL,
    OVER,
    PLACES,
    class_of,
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
def turn_all(n: int, values: Array, turned: Array) -> None:
    """`set_turned` of every record [us, them], to them * n + us."""
    for us in range(n):
        for them in range(n):
            set_turned(values[us * n + them], turned[them * n + us])


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
