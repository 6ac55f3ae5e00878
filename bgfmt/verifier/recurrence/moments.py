"""Recurrence of normal-distribution tables: do mean and deviation follow, to the last bit, from smaller ones?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import NormalOneSided
from bgfmt.verifier.recurrence import rules
from bgfmt.verifier.recurrence.one_sided import Progress, Rows, first_full_of, spread

Array = NDArray[Any]
WHOLE = 65535


def check(
    table: NormalOneSided,
    *,
    divide: bool = False,
    which: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """(fails (n,) uint8, off (n, 2) float64) of a normal-distribution table; see `kernels_moments.check_moments`."""
    from bgfmt.verifier.recurrence import kernels_moments as kernels

    moments = np.array(np.asarray(table.moments), np.float32)
    n, full = table.positions, first_full_of(table.points, table.chequers)
    terms, steps = rules.terms_of(table.points)
    keys = np.ascontiguousarray(moments[:, [0, 2]])
    fails, off = np.zeros(n, np.uint8), np.zeros((n, 2))
    room = rules.room_for_plays(table.points)

    def kernel(some: Array) -> None:
        kernels.check_moments(
            table.points, some, terms, steps, keys, moments, full, divide, room, fails, off, False
        )

    looked = np.arange(n) if which is None else which
    spread(looked, threads, kernel, progress)
    bits = moments.view(np.uint32)
    if bits[0].any():
        fails[0] |= 1
        off[0] = np.inf
    negative = (bits[looked] >> 31 != 0).any(axis=1)  # no minus sign, not even before zero, is ever written
    fails[looked[negative]] |= 1
    return fails, off


def settle(table: NormalOneSided, *, divide: bool = False) -> tuple[Array, Array]:
    """(right moments (n, 4) float32, wrong (n,) uint8): the table put right from its own rule."""
    stored = np.array(np.asarray(table.moments), np.float32)
    moments = remade(table.points, table.chequers, divide=divide)
    wrong = (stored.view(np.uint32) != moments.view(np.uint32)).any(axis=1).astype(np.uint8)
    return moments, wrong


def remade(points: int, chequers: int, *, divide: bool = False) -> Array:
    """The whole table (n, 4) float32 from the rule alone."""
    from bgfmt.verifier.recurrence import kernels_moments as kernels

    n, full = board.count(points, chequers), first_full_of(points, chequers)
    moments, keys = np.zeros((n, 4), np.float32), np.zeros((n, 2), np.float32)
    terms, steps = rules.terms_of(points)
    kernels.check_moments(
        points, np.arange(1, n), terms, steps, keys, moments, full, divide, rules.room_for_plays(points),
        np.zeros(n, np.uint8), np.zeros((n, 2)), True,
    )  # fmt: skip
    return moments


def of_distributions(rows: Rows) -> Array:
    """(n, 4) float32 moments of finished distributions, added roll by roll in float64."""
    out = np.zeros((len(rows.bearoff), 4), np.float32)
    for k, part in enumerate((rows.bearoff, rows.distributions() if len(rows.gammon) else None)):
        if part is None:
            continue
        mean, square = np.zeros(len(part)), np.zeros(len(part))
        for roll in range(1, part.shape[1]):
            share = roll * (part[:, roll] / WHOLE)
            mean += share
            square += roll * share
        out[:, 2 * k], out[:, 2 * k + 1] = mean, np.sqrt(np.maximum(square - mean * mean, 0))
    return out
