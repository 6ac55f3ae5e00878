"""Pairs whose sides have not passed each other, as makebearoff decides them in tables of more than 12 points.

Found by experiment with makebearoff 1.07: 13x2, 14x2, 16x2 and 13x3 follow it in every entry. Plays are those of the
game, a point with two chequers of the other side is closed, but
* a chequer that lands on a blot leaves that blot where it was, and is the only one on its point afterwards, even
  where one of its own was there;
* a roll without a play counts -65535, not the position as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import TwoSided
from bgfmt.verifier.recurrence import rules

Array = NDArray[Any]
PLAIN_POINTS = 12  # beyond, the two sides' points overlap
PASSED = 24  # points of both sides' last chequers together, up to which they have


class Contact:
    """Which pairs of a table are in contact, and what they are worth."""

    def __init__(self, points: int, chequers: int) -> None:
        n = board.count(points, chequers)
        self.n, self.points = n, points
        self.counts = board.unrank_array(np.arange(n), points)
        self.last = np.where(self.counts > 0, np.arange(1, points + 1), 0).max(axis=1)

    def among(self, numbers: Array) -> Array:
        """Whether the entries us * n + them are in contact."""
        return np.asarray(self.last[numbers // self.n] + self.last[numbers % self.n] > PASSED)

    def rows(self) -> Iterator[tuple[int, Array]]:
        """(them, every us in contact with it)."""
        for them in np.flatnonzero(self.last + self.points > PASSED).tolist():
            yield them, np.flatnonzero(self.last + self.last[them] > PASSED)

    def values(self, equities: Any, us: Array, them: Array) -> Array:
        """(m, columns) int64 as stored: what follows for pairs in contact from the stored entries of row `them`."""
        from bgfmt.verifier.recurrence import kernels_contact as kernels

        out = np.zeros((len(us), equities.shape[2]), np.int64)
        terms, _ = rules.terms_of(self.points)
        wanted, at = np.unique(them, return_inverse=True)
        for part in np.array_split(np.arange(len(wanted)), -(-len(wanted) // 64) or 1):
            mine = np.flatnonzero(np.isin(at, part))
            if len(mine):
                stored = np.ascontiguousarray(equities[wanted[part]], np.uint16)
                found = np.zeros((len(mine), out.shape[1]), np.int64)
                sides = self.counts[us[mine]], self.counts[them[mine]]
                kernels.values(stored, *sides, at[mine] - part[0], terms, found)
                out[mine] = found
        return out


def check(table: TwoSided, threads: int = 1) -> tuple[Array, Array]:
    """(numbers us * n + them of the pairs in contact that do not follow, (m, columns) stored less expected)."""
    contact = Contact(table.points, table.chequers)

    def one(part: tuple[int, Array]) -> tuple[Array, Array]:
        them, us = part
        right = contact.values(table.equities, us, np.full(len(us), them))
        stored = np.asarray(table.equities[us, np.full(len(us), them)]).astype(np.int64).reshape(right.shape)
        bad = np.flatnonzero((stored != right).any(axis=1))
        return us[bad] * contact.n + them, (stored - right)[bad]

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(one, contact.rows()))
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def histogram_of(differences: Array) -> Array:
    """(columns, 19): how often -9 or less .. 9 or more come, noughts left out, as in `Pass`."""
    out = np.zeros((differences.shape[1], 19), np.int64)
    for column, off in enumerate(differences.T):
        np.add.at(out[column], np.clip(off[off != 0], -9, 9) + 9, 1)
    return out


def settle(table: TwoSided) -> tuple[Array, Array]:
    """(the whole table put right, in order of pips; the numbers of the entries that were wrong, in order)."""
    from bgfmt.verifier.recurrence import kernels_two_sided as kernels

    n, met = table.positions, Contact(table.points, table.chequers)
    starts, results = rules.plays(table.points, table.chequers)
    pips = rules.pips(table.points, table.chequers)
    work = np.array(np.asarray(table.equities), np.uint16)
    flat = work.reshape(n * n, -1)
    totals = (pips[:, None] + pips).reshape(-1)
    order = np.argsort(totals, kind="stable")
    wrong = []
    for some in np.split(order, np.flatnonzero(np.diff(totals[order])) + 1):
        us, them, here = some // n, some % n, met.among(some)
        right = np.empty((len(some), flat.shape[1]), np.int64)
        right[here] = met.values(work, us[here], them[here])
        passed = np.empty((int((~here).sum()), flat.shape[1]), np.int64)
        kernels.values_of(work, us[~here], them[~here], starts, results, passed)
        right[~here] = passed
        bad = (flat[some] != right).any(axis=1)
        flat[some[bad]] = right[bad]
        wrong.append(np.sort(some[bad]))
    return work, np.concatenate(wrong)
