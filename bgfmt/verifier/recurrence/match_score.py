"""Recurrence of match-score tables: does every number follow, to the last bit, from the table's own smaller ones?

Rows of a few sides `them` are taken together. Turned round they say what each position x is worth to the side that
moved there, in every cube; and what the columns of [us, them] must be is the mean over the rolls of the best of
those. The order of operations is that of docs/theory/match-play.md. Nothing is shared with the solver but the table
of scores and cubes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import MatchScore
from bgfmt.tables.match_score import Cube, ScoreFacts
from bgfmt.verifier.recurrence import rules

Array = NDArray[Any]
Progress = Callable[[int, int], None]
LANES = 512


def _doubling(score: ScoreFacts) -> tuple[Array, Array]:
    """(doubling (C, 5), place (C,)) of the side on roll after a move, as `moved_tile` of the kernels has them."""
    columns = len(score.states)
    doubling, place = np.zeros((columns, 5)), np.zeros(columns, np.int64)
    for c, (mover, cube) in enumerate(score.states):
        if cube is None:
            place[c] = c
            continue
        roller = 1 - mover
        held = score.found_in(roller, cube)
        assert held is not None
        place[c] = held[0]
        if score.may_double(roller, cube):
            taken = score.found_in(roller, Cube(2 * cube.value, mover))
            assert taken is not None
            doubling[c] = 1, score.worth(roller, cube.value), *taken
    return doubling, place


def _won(score: ScoreFacts) -> tuple[Array, Array]:
    """(won, lost): value to the side on roll in each column of winning and losing a game and a gammon, (C, 3)."""
    won, lost = np.ones((len(score.states), 3)), -np.ones((len(score.states), 3))
    for c, (roller, cube) in enumerate(score.states):
        for gain in (1, 2) if cube is not None and score.gammons else (1,):
            if cube is not None:
                won[c, gain] = score.worth(roller, gain * cube.value)
                lost[c, gain] = score.worth(roller, -gain * cube.value)
    return won, lost


def balances(
    table: MatchScore, *, threads: int = 1, progress: Progress | None = None
) -> Iterator[tuple[slice, Array]]:
    """(some sides `them`, what follows for [us, those them] as (n, k, columns)), all of the table in turn."""
    from bgfmt.verifier.recurrence import kernels_match_score as kernels

    n, columns = table.positions, len(table.score.states)
    starts, results = rules.plays(table.points, table.chequers)
    doubling, place = _doubling(table.score)
    won, lost = _won(table.score)
    gains = _gains(table)
    step = max(1, LANES // columns)
    dtype = np.dtype(table.balance.dtype).newbyteorder("=")

    def work(start: int) -> tuple[slice, Array]:
        stop = min(n, start + step)
        rows = np.ascontiguousarray(np.asarray(table.balance[start:stop]), dtype)
        ends = np.ascontiguousarray(won[:, gains[start:stop]].T)
        tile, out = (
            np.empty((n, (stop - start) * columns), dtype),
            np.empty((n, (stop - start) * columns), dtype),
        )
        kernels.moved_tile(rows, doubling, place, ends, tile)
        kernels.expected_tile(starts, results, tile, out)
        expected = out.reshape(n, stop - start, columns)
        if start == 0:
            expected[:, 0] = lost[:, gains].T
        expected[0] = won[:, gains[start:stop]].T
        return slice(start, stop), expected

    with ThreadPoolExecutor(threads) as pool:
        for some, expected in pool.map(work, range(0, n, step)):
            if progress is not None:
                progress(some.stop, n)
            yield some, expected


def differing(
    table: MatchScore, *, threads: int = 1, progress: Progress | None = None
) -> Iterator[tuple[Array, Array, Array]]:
    """(numbers us * n + them, stored, expected) of the entries whose bits are not those that follow."""
    n = table.positions
    for some, expected in balances(table, threads=threads, progress=progress):
        bits = np.dtype(f"i{expected.dtype.itemsize}")
        stored = np.ascontiguousarray(np.asarray(table.balance[:, some]), expected.dtype)
        us, them = np.nonzero((stored.view(bits) != expected.view(bits)).any(axis=2))
        if len(us):
            yield us * n + them + some.start, stored[us, them], expected[us, them]


def balances_at(table: MatchScore, numbers: Array) -> Array:
    """(m, columns): what follows for the entries `numbers` (us * n + them)."""
    from bgfmt.verifier.recurrence import kernels_match_score as kernels

    n, dtype = table.positions, np.dtype(table.balance.dtype).newbyteorder("=")
    starts, results = rules.plays(table.points, table.chequers)
    won, lost = _won(table.score)
    us, them = np.divmod(numbers, n)
    out = np.empty((len(numbers), len(table.score.states)), dtype)
    ends = np.ascontiguousarray(won[:, _gains(table)[them]].T)
    inner = np.flatnonzero((us > 0) & (them > 0))
    right = np.empty((len(inner), out.shape[1]), dtype)
    doubling, place = _doubling(table.score)
    rows = np.asarray(table.balance)
    kernels.expected_at(rows, us[inner], them[inner], doubling, place, ends[inner], starts, results, right)
    out[inner] = right
    out[them == 0] = lost[:, _gains(table)[us[them == 0]]].T
    out[us == 0] = ends[us == 0]
    return out


def _gains(table: MatchScore) -> Array:
    """(n,) what the other side wins against a side: 1, a gammon 2; nobody stands far enough back for more."""
    counts = board.unrank_array(np.arange(table.positions), table.points)
    return np.asarray(1 + (counts.sum(axis=1) == board.MAX_CHEQUERS), np.int64)
