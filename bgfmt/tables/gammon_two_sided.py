"""Money equities of both sides' positions, gammons counted: who loses with all fifteen chequers loses two points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables import bounds
from bgfmt.tables.base import Breach, Coarser
from bgfmt.tables.rows import Array
from bgfmt.tables.two_sided import PairRecord, StoredEquities

ONE = 16383  # units in an equity of 1, so that 0, 1 and 2 are stored exactly
ZERO = 32768


def gains(points: int, chequers: int) -> NDArray[np.int64]:
    """What is won against each side of a table, (n,): 2 while it has all its fifteen chequers, else 1."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    gained: NDArray[np.int64] = 1 + (counts.sum(axis=1) == board.MAX_CHEQUERS)
    return gained


def equities(stored: Any) -> Array:
    """Stored equities, float32 of uint16: (value - 32768) / 16383."""
    values = np.asarray(stored)
    if values.dtype == np.float64:
        return values
    return (values.astype(np.float32) - np.float32(ZERO)) / np.float32(ONE)


@dataclass(frozen=True, eq=False, kw_only=True)
class GammonTwoSided(StoredEquities):
    """Equities of the side on roll: uint16, equity = (value - 32768) / 16383, or float64 equities."""

    kind: ClassVar[str] = "two-sided-gammons"
    answer: ClassVar[type[PairRecord]] = PairRecord
    tells_win: ClassVar[bool] = False
    most: ClassVar[float] = 2.0
    jacoby: ClassVar[bool] = False

    def decoded(self, stored: Array) -> Array:
        return equities(stored)

    def value_tables(self) -> dict[int, tuple[str, int, Array]]:
        means = equities(np.arange(1 << 16, dtype=np.uint16))
        return {} if self.exact else {k: ("equities", k, means) for k in range(self.equities.shape[2])}

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        return np.asarray(stored if stored.dtype == np.float64 else (stored - float(ZERO)) / ONE, np.float64)

    def won(self) -> NDArray[np.float64]:
        """What the side on roll has won against each side once it is off, equities (n, columns)."""
        won = np.repeat(gains(self.points, self.chequers)[:, None], self.equities.shape[2], 1).astype(
            np.float64
        )
        if self.jacoby and self.cubeful:
            won[:, 2] = 1
        return won

    def ends(self, start: int, stored: Array) -> Iterator[Breach]:
        won = self.won()
        if not self.exact:
            won = won * ONE + ZERO
        lost = -won if self.exact else 2 * ZERO - won
        numbers = np.arange(start, start + len(stored))
        bad = np.zeros(len(stored), bool)
        if start == 0:
            bad[0] = bool((stored[0] != won).any())
        yield Breach("won", bad, "a side without chequers has won one point, or two against fifteen chequers")
        over = (stored[:, 0] != lost[numbers]).any(axis=1) & (numbers > 0)
        yield Breach(
            "lost", over, "a side whose opponent has no chequers left has lost one point, or two with fifteen"
        )

    @property
    def known_errors(self) -> NDArray[np.float64]:
        """Greatest error of the four equities, float64 of shape (4,); see `bgfmt.tables.bounds`."""
        if self.exact:
            return np.full(4, 2 * bounds.float64_error(self.points, self.chequers))
        return np.full(4, bounds.GAMMONS)

    def errors(self) -> dict[str, float]:
        return dict(zip(self.names, self.known_errors.tolist(), strict=False))

    def coarser(self) -> tuple[Coarser, ...]:
        lost = "the equities with a cube are dropped, the cubeless ones kept"
        return (Coarser(type(self), self.cubeless, lost),) if self.cubeful else ()


@dataclass(frozen=True, eq=False, kw_only=True)
class JacobyTwoSided(GammonTwoSided):
    """The same by Jacoby's rule: gammons count for nothing while the cube is centered."""

    kind: ClassVar[str] = "two-sided-jacoby"
    jacoby: ClassVar[bool] = True
    same_stakes: ClassVar[bool] = False
