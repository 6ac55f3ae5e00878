"""Recurrence of mean rolls, of normal distributions, and of float64 distributions, to the last bit.

Each rule fixes the order of the additions, so that a number that follows does so bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided
from bgfmt.verifier.recurrence.one_sided import WHOLE, Distributions, add_rolls, first_full_of, in_parts
from bgfmt.verifier.recurrence.plays import (
    WEIGHTS,
    Array,
    Numbering,
    Progress,
    best_plays,
    by_pips,
    numbering,
    workspace,
)

# -- mean rolls --------------------------------------------------------------------------------------------------


def check_means(
    table: MeanRolls, *, which: Array | None = None, threads: int = 1, progress: Progress | None = None
) -> Array:
    """(n,) float64: how far each stored mean is from what the smaller ones give, in J's order of additions."""
    keys = np.array(np.asarray(table.means), np.float64).reshape(-1, 1)
    numbers, off = numbering(table.points), np.zeros(table.positions)

    def hold(some: Array) -> None:
        off[some] = np.abs(keys[some, 0] - expected_means(numbers, some, keys))

    looked = np.arange(table.positions) if which is None else which
    for _ in in_parts(looked, threads, hold, progress):
        pass
    if keys.view(np.int64)[0, 0]:
        off[0] = abs(keys[0, 0]) or np.inf  # minus nought is not nought
    off[np.isnan(off)] = np.inf
    return off


def means_of(points: int, chequers: int, *, gammon: bool = False) -> Array:
    """(n,) float64 mean rolls to the last chequer off (`gammon`: to the first), from the rule alone."""
    first = first_full_of(points, chequers) if gammon else 1
    return means_among(points, chequers, np.arange(first, board.count(points, chequers)))


def means_among(points: int, chequers: int, which: Array) -> Array:
    """(n,) float64 mean rolls of the positions `which`, until play leads to another one; 0 of the others."""
    keys = np.zeros((board.count(points, chequers), 1))
    for some in by_pips(points, chequers, which):
        keys[some, 0] = expected_means(numbering(points), some, keys)
    return keys[:, 0]


@njit()
def sum36(v: Array) -> float:
    """36 doubles added as J 9.7 adds them: eight running sums of four lanes, folded."""
    lane = np.zeros(4)
    for r in range(4):
        lane[r] = (((v[r] + v[r + 32]) + v[r + 16]) + (v[r + 4] + v[r + 20])) + (
            (v[r + 8] + v[r + 24]) + (v[r + 12] + v[r + 28])
        )
    return (lane[0] + lane[2]) + (lane[1] + lane[3])  # type: ignore[no-any-return]


@njit()
def expected_means(numbering: Numbering, which: Array, keys: Array) -> Array:
    """(m,) float64: the means that follow for the positions `which` from the means keys (n, 1); 0 for position 0."""
    space = workspace(numbering)
    best = space.best
    v = np.zeros(36)
    out = np.zeros(len(which))
    for i in range(len(which)):
        if which[i] == 0:
            continue
        best_plays(space, which[i], keys, False)
        at = 6
        for a in range(6):
            v[a] = keys[best[a * (a + 3) // 2, 0], 0]
            for b in range(a + 1, 6):
                v[at] = keys[best[b * (b + 1) // 2 + a, 0], 0]
                v[at + 1] = v[at]
                at += 2
        out[i] = 1 + sum36(v) / 36
    return out


# -- normal distributions ----------------------------------------------------------------------------------------


def check_moments(
    table: NormalOneSided,
    *,
    divide: bool = False,
    which: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """(fails (n,) bool, off (n,) float64) of a normal-distribution table.

    off : the greatest difference of stored means, and of squares of deviations, from what follows.
    """
    moments = np.array(np.asarray(table.moments), np.float32)
    n, off = table.positions, np.zeros(table.positions)

    def hold(some: Array) -> None:
        stored, right = (
            x.astype(np.float64)
            for x in (moments[some], _expected_moments(table.points, table.chequers, moments, some, divide))
        )
        stored[:, 1::2] **= 2
        right[:, 1::2] **= 2
        off[some] = np.abs(stored - right).max(axis=1)

    looked = np.arange(n) if which is None else which
    for _ in in_parts(looked, threads, hold, progress):
        pass
    off[np.isnan(off)] = np.inf  # a stored NaN makes no number
    bits = moments.view(np.uint32)
    if bits[0].any():
        off[0] = np.inf
    fails = off > 0
    fails[looked] |= (bits[looked] >> 31 != 0).any(
        axis=1
    )  # no minus sign, not even before zero, is ever written
    return fails, off


def remade_moments(points: int, chequers: int, *, divide: bool = False) -> Array:
    """The whole normal-distribution table, (n, 4) float32, from the rule alone."""
    n = board.count(points, chequers)
    moments = np.zeros((n, 4), np.float32)
    for some in by_pips(points, chequers, np.arange(n)):
        moments[some] = _expected_moments(points, chequers, moments, some, divide)
    return moments


def _expected_moments(points: int, chequers: int, moments: Array, some: Array, divide: bool) -> Array:
    out, full = np.zeros((len(some), 4), np.float32), first_full_of(points, chequers)
    expected_moments(numbering(points), some, moments[:, ::2], moments, full, divide, out)
    return out


def moments_of(rows: Distributions) -> Array:
    """(n, 4) float32 moments of finished distributions, added roll by roll in float64."""
    out = np.zeros((len(rows.bearoff), 4), np.float32)
    for k, part in enumerate((rows.bearoff, *([rows.gammon_rows()] if len(rows.gammon) else []))):
        mean, square = np.zeros(len(part)), np.zeros(len(part))
        for roll in range(1, part.shape[1]):
            share = roll * (part[:, roll] / WHOLE)
            mean += share
            square += roll * share
        out[:, 2 * k], out[:, 2 * k + 1] = mean, np.sqrt(np.maximum(square - mean * mean, 0))
    return out


@njit()
def moments_after(best: Array, moments: Array, column: int, choice: int, divide: bool, out: Array) -> None:
    """out[0:2], float32: mean and deviation that follow from the plays best[:, choice], in gnubg's float32 steps.

    Times the reciprocal of 36, as the common build does it, or, `divide`, divided by 36.
    """
    reciprocal, whole = np.float32(1 / 36), np.float32(36)
    mean = np.float32(0)
    square = np.float32(0)
    for roll in range(len(WEIGHTS)):
        y = best[roll, choice]
        rolls = np.float32(1) + moments[y, column]
        deviation = moments[y, column + 1]
        first = deviation * deviation
        second = rolls * rolls
        spread = first + second
        if WEIGHTS[roll] == 1:
            mean = mean + rolls
            square = square + spread
        else:
            mean = mean + (rolls + rolls)
            square = square + (spread + spread)
    mean = mean / whole if divide else mean * reciprocal
    square = square / whole if divide else square * reciprocal
    product = mean * mean
    rest = square - product
    out[0] = mean
    out[1] = np.sqrt(rest)


@njit()
def expected_moments(
    numbering: Numbering, which: Array, keys: Array, moments: Array, first_full: int, divide: bool, out: Array
) -> None:
    """out (m, 4) float32, noughts at first: what follows for the positions `which` from `moments`.

    keys (n, 2) : the means among them.
    """
    space = workspace(numbering)
    for i in range(len(which)):
        x = which[i]
        if x == 0:
            continue
        best_plays(space, x, keys, x >= first_full)
        for part in range(2 if x >= first_full else 1):
            moments_after(space.best, moments, 2 * part, part, divide, out[i, 2 * part : 2 * part + 2])


# -- float64 distributions ---------------------------------------------------------------------------------------


def keys_of(table: OneSided) -> Array:
    """(n, 2) float64 mean rolls to the last and to the first chequer off, by which the plays are chosen."""
    keys = np.zeros((table.positions, 2))
    keys[:, 0] = means_of(table.points, table.chequers)
    if table.gammon is not None and first_full_of(table.points, table.chequers) < table.positions:
        keys[:, 1] = means_of(table.points, table.chequers, gammon=True)
    return keys


def expected_distributions(
    table: OneSided,
    *,
    which: Array | None = None,
    keys: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[Array, dict[str, Array]]]:
    """(position numbers, what follows for them by name of array) of float64 distributions, some at a time.

    keys : `keys_of` the table, where it is at hand.
    """
    points, n = table.points, table.positions
    full = first_full_of(points, table.chequers)
    keys = keys_of(table) if keys is None else keys
    stored = np.ascontiguousarray(np.asarray(table.bearoff), np.float64)
    gammon = stored[:0]
    if table.gammon is not None:
        gammon = np.ascontiguousarray(np.asarray(table.gammon)[full:], np.float64)
    looked = np.arange(n) if which is None else which

    def work(some: Array) -> dict[str, Array]:
        out, second = np.zeros((len(some), stored.shape[1])), np.zeros((len(some), stored.shape[1]))
        second[some < full, 0] = 1
        if len(some) and some[0] == 0:
            out[0, 0] = 1
        float64_rows(numbering(points), some, keys, stored, gammon, full, out, second)
        return {"bearoff": out} if table.gammon is None else {"bearoff": out, "gammon": second}

    yield from in_parts(looked, threads, work, progress)


@njit()
def float64_rows(
    numbering: Numbering, which: Array, keys: Array, rows: Array, gammon: Array, first_full: int, out: Array,
    out_gammon: Array,
) -> None:  # fmt: skip
    """What follows for the positions `which`, x > 0, from float64 distributions `rows` (n, columns).

    keys : (n, 2) mean rolls to the last and to the first chequer off, the play of each roll having the least.
    gammon : rows of the positions from first_full on, (m, columns), or an empty array. out, out_gammon : (len(which),
    columns), the latter left alone for positions below first_full.
    """
    space = workspace(numbering)
    sums = np.zeros(rows.shape[1])
    for q in range(len(which)):
        x = which[q]
        if x == 0:
            continue
        full = len(gammon) > 0 and x >= first_full
        best_plays(space, x, keys, full)
        add_rolls(space.best, 0, rows, 0, 0.0, sums)
        for i in range(len(sums)):
            out[q, i] = sums[i] / 36
        if full:
            add_rolls(space.best, 1, gammon, first_full, 1.0, sums)  # before first_full the gammon is saved
            for i in range(len(sums)):
                out_gammon[q, i] = sums[i] / 36
