"""Recurrence of mean rolls, of normal distributions, and of float64 distributions, to the last bit.

Each rule fixes the order of the additions, so that a number that follows does so bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided
from bgfmt.verifier.recurrence.one_sided import WHOLE, Distributions, add_rolls, first_full_of, in_threads
from bgfmt.verifier.recurrence.plays import (
    WEIGHTS,
    Array,
    Numbering,
    Progress,
    best_plays,
    numbering,
    workspace,
)

BLOCK = 1 << 14


# -- mean rolls --------------------------------------------------------------------------------------------------


def check_means(
    table: MeanRolls, *, which: Array | None = None, threads: int = 1, progress: Progress | None = None
) -> Array:
    """(n,) float64: how far each stored mean is from what the smaller ones give, in J's order of additions."""
    keys = np.array(np.asarray(table.means), np.float64).reshape(-1, 1)
    numbers, off = numbering(table.points), np.zeros(table.positions)

    def kernel(some: Array) -> None:
        means_off(numbers, some, keys, off, False)

    in_threads(np.arange(table.positions) if which is None else which, threads, kernel, progress)
    if keys.view(np.int64)[0, 0]:
        off[0] = abs(keys[0, 0]) or np.inf  # minus nought is not nought
        off[0] = off[0] if off[0] == off[0] else np.inf
    return off


def means_of(points: int, chequers: int, *, gammon: bool = False) -> Array:
    """(n,) float64 mean rolls to the last chequer off (`gammon`: to the first), from the rule alone."""
    n = board.count(points, chequers)
    first = first_full_of(points, chequers) if gammon else 1
    keys = np.zeros((n, 1))
    means_off(numbering(points), np.arange(first, n), keys, np.zeros(n), True)
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
def means_off(numbering: Numbering, which: Array, keys: Array, off: Array, put_right: bool) -> None:
    """off[x] = |stored mean - what follows from the smaller stored means|; keys : (n, 1) the means, float64.

    With put_right the means are corrected as it goes, in order.
    """
    space = workspace(numbering)
    best = space.best
    v = np.zeros(36)
    for x in which:
        if x == 0:
            continue
        best_plays(space, x, keys, False)
        at = 6
        for a in range(6):
            v[a] = keys[best[a * (a + 3) // 2, 0], 0]
            for b in range(a + 1, 6):
                v[at] = keys[best[b * (b + 1) // 2 + a, 0], 0]
                v[at + 1] = v[at]
                at += 2
        mean = 1 + sum36(v) / 36
        gap = abs(keys[x, 0] - mean)
        off[x] = gap if gap >= 0 else np.inf  # a stored NaN makes no number
        if put_right:
            keys[x, 0] = mean


# -- normal distributions ----------------------------------------------------------------------------------------


def check_moments(
    table: NormalOneSided,
    *,
    divide: bool = False,
    which: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """(fails (n,) bool, off (n,) float64) of a normal-distribution table; see `moments_off`."""
    moments = np.array(np.asarray(table.moments), np.float32)
    n, full = table.positions, first_full_of(table.points, table.chequers)
    keys = np.ascontiguousarray(moments[:, [0, 2]])
    off, numbers = np.zeros(n), numbering(table.points)

    def kernel(some: Array) -> None:
        moments_off(numbers, some, keys, moments, full, divide, off, False)

    looked = np.arange(n) if which is None else which
    in_threads(looked, threads, kernel, progress)
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
    n, full = board.count(points, chequers), first_full_of(points, chequers)
    moments, keys = np.zeros((n, 4), np.float32), np.zeros((n, 2), np.float32)
    moments_off(numbering(points), np.arange(1, n), keys, moments, full, divide, np.zeros(n), True)
    return moments


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
def expected_moments(best: Array, moments: Array, column: int, choice: int, divide: bool, out: Array) -> None:
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
def moments_off(
    numbering: Numbering, which: Array, keys: Array, moments: Array, first_full: int, divide: bool, off: Array,
    put_right: bool,
) -> None:  # fmt: skip
    """off[x] = the greatest difference of stored means, and of squares of deviations, from what follows; float64.

    With put_right the moments and keys are corrected as it goes, in order.
    """
    space = workspace(numbering)
    out = np.zeros(2, np.float32)
    for x in which:
        if x == 0:
            continue
        full = x >= first_full
        best_plays(space, x, keys, full)
        for part in range(2):
            if part == 1 and not full:
                out[:] = 0
            else:
                expected_moments(space.best, moments, 2 * part, part, divide, out)
            of_mean = abs(np.float64(moments[x, 2 * part]) - np.float64(out[0]))
            of_square = abs(np.float64(moments[x, 2 * part + 1]) ** 2 - np.float64(out[1]) ** 2)
            gap = max(of_mean, of_square)
            off[x] = max(off[x], gap) if of_mean + of_square >= 0 else np.inf  # a stored NaN makes no number
            if put_right:  # also where they are equal: minus zero equals zero
                moments[x, 2 * part] = out[0]
                moments[x, 2 * part + 1] = out[1]
                keys[x, part] = out[0]


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

    def work(some: Array) -> tuple[Array, dict[str, Array]]:
        out, second = np.zeros((len(some), stored.shape[1])), np.zeros((len(some), stored.shape[1]))
        second[some < full, 0] = 1
        if len(some) and some[0] == 0:
            out[0, 0] = 1
        float64_rows(numbering(points), some, keys, stored, gammon, full, out, second)
        return some, {"bearoff": out} if table.gammon is None else {"bearoff": out, "gammon": second}

    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for some, expected in pool.map(work, (looked[a : a + BLOCK] for a in range(0, len(looked), BLOCK))):
            done += len(some)
            if progress is not None:
                progress(done, len(looked))
            yield some, expected


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
