"""What a hypergammon solve reads but never changes: sides, their plays, and the tiles they lie in; made once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board

Array = NDArray[Any]
PLACES = 25
OUT_OF_REACH = 31  # a landing that nothing lands on
PARTS = 4  # of the lists, for each thread
MOST = 96  # plays of one roll, by far


class Lists(NamedTuple):
    """The boards (n, 25) of all sides, and the kernels' tuples of plays and of what a side is to the other."""

    boards: Array
    plays: Any
    sides: Any
    tiles: Any


def lists(chequers: int, threads: int) -> Lists:
    """All that is known before the first sweep."""
    boards = board.unrank_array(np.arange(board.count(PLACES, chequers)), PLACES).astype(np.int64)
    # terms[k, s]: what s chequers on the k + 1 highest indices add to a position number
    terms = np.ascontiguousarray(board.number_terms(PLACES)[:, : chequers + 1]).astype(np.int64)
    sides = _sides(boards, terms)
    return Lists(boards, _plays(boards, terms, threads), sides, _tiles(sides))


def _sides(boards: Array, terms: Array) -> Any:
    from bgfmt.solver.kernels import hypergammon_plays as kernels

    n = len(boards)
    empty = np.zeros((0, 2), np.int64)
    sides = kernels.Sides(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 3), np.int64), np.empty((n, 8), np.int64),
        empty[:, 0], empty,
    )  # fmt: skip
    kernels.meet_sides(boards, terms, sides)
    blots = (sides.places < OUT_OF_REACH).sum(axis=1)
    side, bits = np.nonzero(np.arange(8) < (1 << blots)[:, None])
    order = np.argsort(sides.hit[side, bits], kind="stable")
    reach = np.stack([side[order], bits[order]], axis=1)
    reached = np.searchsorted(sides.hit[side, bits][order], np.arange(n + 1))
    return sides._replace(reached=reached, reach=reach)


def _plays(boards: Array, terms: Array, threads: int) -> Any:
    from bgfmt.solver.kernels import hypergammon_plays as kernels

    n = len(boards)
    steps = kernels.Steps(
        np.zeros((n, 6), np.int64), np.zeros((n, 6, 3), np.int64), np.zeros((n, 6, 3), np.int64)
    )
    kernels.count_steps(boards, terms, steps)
    cuts = np.linspace(0, n, PARTS * threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda a, b: kernels.list_plays(steps, a, b), cuts, cuts[1:]))
    own, ends, after, landed, packed, touched = zip(*parts, strict=True)
    before = np.cumsum([0, *map(len, touched)])
    plays_before = np.cumsum([0, *map(len, after)])
    return kernels.Plays(
        lists=np.concatenate([part + at for part, at in zip(own, before, strict=False)]),
        first=np.concatenate(
            [np.zeros(1, np.int64), *(part + at for part, at in zip(ends, plays_before, strict=False))]
        ),
        after=np.concatenate(after),
        landed=np.concatenate(landed),
        packed=np.concatenate(packed),
        touched=np.concatenate(touched),
    )


def _tiles(sides: Any) -> Any:
    """The sides laid out by the landing they block, the many that block none first."""
    from bgfmt.solver.kernels import hypergammon_tiles as kernels

    wide = kernels.LANES
    them, blocked = [], []
    for landing in range(PLACES - 1, -1, -1):
        some = np.flatnonzero(sides.blocked == landing)
        tiles = -(-len(some) // wide)
        them.append(np.pad(some, (0, tiles * wide - len(some)), constant_values=-1))
        blocked += [landing] * tiles
    of = np.concatenate(them)
    lane = np.empty(len(sides.blocked), np.int64)
    lane[of[of >= 0]] = np.flatnonzero(of >= 0)
    bits = np.where(of >= 0, sides.blots[of], 0).reshape(-1, wide, 1) >> np.arange(wide) & 1
    words = (bits.astype(np.uint32) << np.arange(wide, dtype=np.uint32)[:, None]).sum(axis=1, dtype=np.uint32)
    least = np.where(of >= 0, of, len(sides.blocked)).reshape(-1, wide).min(axis=1)
    of = np.maximum(of, 0)
    there = (sides.hit[of] * kernels.NUMBERS).astype(np.uint64)
    places = (sides.places[of] << np.array([0, 5, 10])).sum(axis=1).astype(np.uint32)
    column = (of * kernels.NUMBERS).astype(np.uint32)
    return kernels.Tiles(of, lane, least, np.array(blocked, np.int64), words, places, column, there.ravel())
