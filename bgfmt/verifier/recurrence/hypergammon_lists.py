"""What a run of the hypergammon iteration reads but never changes; see `kernels_hyper_rows`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
PLACES = 25
SOME = 16  # rows made together


def lists(boards: Array, threads: int) -> Any:
    """The plays of all sides."""
    from bgfmt.verifier.recurrence import kernels_hyper_rows as kernels

    n = len(boards)
    wide = np.array(
        [[comb(s + k - 1, k) for s in range(kernels.WIDE)] for k in range(1, PLACES + 1)], np.int64
    )
    sides = (
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros((n, 3), np.int64),
        np.zeros((n, 8), np.int64),
    )
    kernels.others(boards, wide, *sides)
    cuts = np.linspace(0, n, 4 * threads + 1).astype(int).tolist()
    rooms = [np.zeros((b - a) * PLACES * kernels.ROLLS, np.int64) for a, b in pairwise(cuts)]
    with ThreadPoolExecutor(threads) as pool:
        found = list(
            pool.map(
                lambda k: kernels.list_sides(boards, cuts[k], cuts[k + 1], wide, rooms[k]), range(len(rooms))
            )
        )
    before = np.cumsum([0] + [len(after) for after, _ in found])
    starts = np.concatenate(
        [np.zeros(1, np.int64)] + [room + at for room, at in zip(rooms, before, strict=False)]
    )
    after, landed = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return kernels.Lists(starts, after, landed, *sides)


def tiles(lists: Any) -> Any:
    """The sides in `Tiles`, by the landing they block."""
    from bgfmt.verifier.recurrence.kernels_hyper_rows import Tiles
    from bgfmt.verifier.recurrence.lanes_hyper import LANES

    sides, blocked = [], []
    for landing in range(PLACES):
        some = np.flatnonzero(lists.blocked == landing)
        many = -(-len(some) // LANES)
        sides.append(np.pad(some, (0, many * LANES - len(some)), constant_values=-1))
        blocked += [landing] * many
    laid = np.concatenate(sides)
    lane = np.argsort(laid, kind="stable")[np.count_nonzero(laid < 0) :]
    blots = np.where(laid >= 0, lists.blots[laid], 0).reshape(-1, LANES, 1) >> np.arange(PLACES - 1) & 1
    words = (blots << np.arange(LANES)[:, None]).sum(axis=1).astype(np.uint32)
    return Tiles(laid, lane, np.array(blocked), words)


def least(lists: Any) -> Array:
    """(blocks, n): the least row of a block that records against a side may look at, n where there is none."""
    n = len(lists.blocked)
    possible = ~((lists.met == 31)[:, None, :] & (np.arange(8)[:, None] >> np.arange(3) & 1 == 1)).any(axis=2)
    there = np.where(possible, lists.hit, n)
    return np.array([np.where(there // SOME == b, there, n).min(axis=1) for b in range(-(-n // SOME))])
