"""Recurrence of tables of float64 numbers: mean rolls, exact distributions, exact equities, to the last bit.

Each rule fixes the order of the additions, so that a number that follows does so bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import MeanRolls, OneSided, TwoSided
from bgfmt.verifier.recurrence import rules
from bgfmt.verifier.recurrence.one_sided import Progress, first_full_of, spread

Array = NDArray[Any]
BLOCK = 1 << 14


def check_means(
    table: MeanRolls, *, which: Array | None = None, threads: int = 1, progress: Progress | None = None
) -> Array:
    """(n,) float64: how far each stored mean is from what the smaller ones give, in J's order of additions."""
    from bgfmt.verifier.recurrence import kernels_exact as kernels

    keys = np.array(np.asarray(table.means), np.float64).reshape(-1, 1)
    terms, steps = rules.terms_of(table.points)
    off = np.zeros(table.positions)
    room = rules.room_for_plays(table.points)

    def kernel(some: Array) -> None:
        kernels.check_means(table.points, some, terms, steps, keys, room, off, False)

    spread(np.arange(table.positions) if which is None else which, threads, kernel, progress)
    if keys.view(np.int64)[0, 0]:
        off[0] = abs(keys[0, 0]) or np.inf  # minus nought is not nought
        off[0] = off[0] if off[0] == off[0] else np.inf
    return off


def means_of(points: int, chequers: int, *, gammon: bool = False) -> Array:
    """(n,) float64 mean rolls to the last chequer off (`gammon`: to the first), from the rule alone."""
    from bgfmt.verifier.recurrence import kernels_exact as kernels

    n = board.count(points, chequers)
    first = first_full_of(points, chequers) if gammon else 1
    keys = np.zeros((n, 1))
    terms, steps = rules.terms_of(points)
    room = rules.room_for_plays(points)
    kernels.check_means(points, np.arange(first, n), terms, steps, keys, room, np.zeros(n), True)
    return keys[:, 0]


def keys_of(table: OneSided) -> Array:
    """(n, 2) float64 mean rolls to the last and to the first chequer off, by which the plays are chosen."""
    keys = np.zeros((table.positions, 2))
    keys[:, 0] = means_of(table.points, table.chequers)
    if table.gammon is not None and first_full_of(table.points, table.chequers) < table.positions:
        keys[:, 1] = means_of(table.points, table.chequers, gammon=True)
    return keys


def rows(
    table: OneSided,
    *,
    which: Array | None = None,
    keys: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[Array, dict[str, Array]]]:
    """(position numbers, what follows for them by name of array) of exact distributions, some at a time.

    keys : `keys_of` the table, where it is at hand.
    """
    from bgfmt.verifier.recurrence import kernels_exact as kernels

    points, n = table.points, table.positions
    full = first_full_of(points, table.chequers)
    keys = keys_of(table) if keys is None else keys
    stored = np.ascontiguousarray(np.asarray(table.bearoff), np.float64)
    gammon = np.zeros((0, stored.shape[1]))
    if table.gammon is not None:
        gammon = np.ascontiguousarray(np.asarray(table.gammon)[full:], np.float64)
    terms, steps = rules.terms_of(points)
    room = rules.room_for_plays(points)
    looked = np.arange(n) if which is None else which

    def work(some: Array) -> tuple[Array, dict[str, Array]]:
        out, second = np.zeros((len(some), stored.shape[1])), np.zeros((len(some), stored.shape[1]))
        second[some < full, 0] = 1
        if len(some) and some[0] == 0:
            out[0, 0] = 1
        kernels.exact_rows(points, some, terms, steps, keys, stored, gammon, full, room, out, second)
        return some, {"bearoff": out} if table.gammon is None else {"bearoff": out, "gammon": second}

    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for some, found in pool.map(work, (looked[a : a + BLOCK] for a in range(0, len(looked), BLOCK))):
            done += len(some)
            if progress is not None:
                progress(done, len(looked))
            yield some, found


def equities(
    table: TwoSided, *, threads: int = 1, progress: Progress | None = None
) -> Iterator[tuple[slice, Array]]:
    """(rows of `them`, what follows for [us, those them] as (n, k, columns) float64) of exact equities."""
    from bgfmt.verifier.recurrence import kernels_exact_two_sided as kernels

    n, _, columns = table.equities.shape
    starts, results = rules.plays(table.points, table.chequers)
    step = kernels.LANES // columns

    def work(start: int) -> tuple[slice, Array]:
        stop = min(n, start + step)
        tile = np.zeros((n, kernels.LANES))
        out = np.zeros((n, kernels.LANES))
        kernels.turned_tile(np.ascontiguousarray(np.asarray(table.equities[start:stop])), tile)
        kernels.expected_tile(n, starts, results, tile, out)
        expected = out[:, : (stop - start) * columns].reshape(n, stop - start, columns)
        if start == 0:
            expected[:, 0] = -1
        expected[0] = 1
        return slice(start, stop), expected

    with ThreadPoolExecutor(threads) as pool:
        done = 0
        for rows_, expected in pool.map(work, range(0, n, step)):
            done = rows_.stop
            if progress is not None:
                progress(done, n)
            yield rows_, expected


def equities_at(table: TwoSided, numbers: Array) -> Array:
    """(m, columns) float64: what follows for the entries `numbers` (us * n + them) of exact equities."""
    from bgfmt.verifier.recurrence import kernels_exact_two_sided as kernels

    n, _, columns = table.equities.shape
    starts, results = rules.plays(table.points, table.chequers)
    out = np.zeros((len(numbers), columns))
    kernels.values_of(np.asarray(table.equities), numbers // n, numbers % n, starts, results, out)
    return out
