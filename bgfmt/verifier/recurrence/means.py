"""Recurrence of mean rolls, of normal distributions, and of float64 distributions, to the last bit.

Each rule fixes the order of the additions, so that a number that follows does so bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bgfmt.game import board
from bgfmt.tables import OneSided
from bgfmt.verifier.recurrence.one_sided import WHOLE, Distributions, FloatRows, FollowingRows, settle
from bgfmt.verifier.recurrence.plays import WEIGHTS, Array

#: the rolls of 36 throws in J's order: doubles, then each other roll twice
THROWS = [a * (a + 3) // 2 for a in range(6)]
THROWS += [b * (b + 1) // 2 + a for a in range(6) for b in range(a + 1, 6) for _ in range(2)]


@dataclass(frozen=True)
class Means(FollowingRows):
    """Mean rolls (n, 1) float64, added up as J 9.7 does: eight running sums of four lanes, folded."""

    means: Array

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.means, 0),)

    @property
    def keys(self) -> Array:
        return self.means

    def follow(self, some: Array) -> list[tuple[Array, Array]]:
        v = self.means[self.plays(some)[0][:, THROWS], 0].reshape(-1, 9, 4)
        lanes = ((v[:, 0] + v[:, 8]) + v[:, 4]) + (v[:, 1] + v[:, 5])
        lanes = lanes + ((v[:, 2] + v[:, 6]) + (v[:, 3] + v[:, 7]))
        sums = (lanes[:, :1] + lanes[:, 2:3]) + (lanes[:, 1:2] + lanes[:, 3:])
        return [(np.where(some[:, None] == 0, 0, 1 + sums / 36), sums)]


def means_of(points: int, chequers: int, *, gammon: bool = False) -> Array:
    """(n,) float64 mean rolls to the last chequer off (`gammon`: to the first), from the rule alone."""
    first = FollowingRows(points, chequers).full if gammon else 1
    return means_among(points, chequers, np.arange(first, board.count(points, chequers)))


def means_among(points: int, chequers: int, which: Array) -> Array:
    """(n,) float64 mean rolls of the positions `which`, until play leads to another one; 0 of the others."""
    rows = Means(points, chequers, np.zeros((board.count(points, chequers), 1)))
    settle(rows, which)
    return rows.means[:, 0]


@dataclass(frozen=True)
class Moments(FollowingRows):
    """Means and deviations (n, 4) float32, in gnubg's float32 steps.

    divide : sums are divided by 36; else multiplied by the reciprocal, as the common build does it.
    """

    moments: Array
    divide: bool = False

    @property
    def arrays(self) -> tuple[tuple[Array, int], ...]:
        return ((self.moments, 0),)

    @property
    def keys(self) -> Array:
        return self.moments[:, ::2]

    def follow(self, some: Array) -> list[tuple[Array, Array]]:
        out = np.zeros((len(some), 4), np.float32)
        for part, best in enumerate(self.plays(some)):
            here = np.flatnonzero(some >= (self.full if part else 1))
            mean = square = np.zeros(len(here), np.float32)
            for weight, after in zip(WEIGHTS.tolist(), best[here].T, strict=True):
                rolls = self.moments[after, 2 * part] + np.float32(1)
                deviation = self.moments[after, 2 * part + 1]
                mean = mean + weight * rolls
                square = square + weight * (deviation * deviation + rolls * rolls)
            mean, square = (
                total / np.float32(36) if self.divide else total * np.float32(1 / 36)
                for total in (mean, square)
            )
            out[here, 2 * part], out[here, 2 * part + 1] = mean, np.sqrt(square - mean * mean)
        return [(out, out)]

    def measured(self, rows: Array) -> Array:
        """Means, and squares of deviations."""
        out = rows.astype(np.float64)
        out[:, 1::2] **= 2
        return out


def remade_moments(points: int, chequers: int, *, divide: bool = False) -> Array:
    """The whole normal-distribution table, (n, 4) float32, from the rule alone."""
    rows = Moments(points, chequers, np.zeros((board.count(points, chequers), 4), np.float32), divide)
    settle(rows, np.arange(rows.positions))
    return rows.moments


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


def float_rows(table: OneSided) -> FloatRows:
    """The rows of a float64 table; plays are chosen by the exact means."""
    size = table.points, table.chequers
    bearoff, means = np.ascontiguousarray(np.asarray(table.bearoff), np.float64), means_of(*size)[:, None]
    if table.gammon is None:
        return FloatRows(*size, bearoff, bearoff[:0], means)
    gammon = np.ascontiguousarray(np.asarray(table.gammon), np.float64)
    return FloatRows(*size, bearoff, gammon, np.hstack([means, means_of(*size, gammon=True)[:, None]]))
