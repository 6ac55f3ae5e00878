"""Money equities of both sides' positions, finer than 16 bits: the databases of other programs than gnubg."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables.base import ArrayRule, Breach, Coarser
from bgfmt.tables.rows import Array, PairRows, Rows
from bgfmt.tables.two_sided import EQUITY_HALF, PairEquities, TwoSided

UNIT_24 = 4_194_000
"""Units of 24-bit integers in an equity of 1; the integer 0 is an equity of -2."""
MOST = 3.0  # a backgammon; whether such tables count gammons is not known


def fine_equities(rows: Array) -> Array:
    """Equities of stored numbers: float32 as they stand, 24-bit integers as value / 4194000 - 2 in float64."""
    values = np.asarray(rows)
    return values if values.dtype.kind == "f" else values / UNIT_24 - 2


@dataclass(frozen=True, eq=False, kw_only=True)
class FineTwoSided(PairEquities):
    """Equities of the side on roll, always four: float32, or 24-bit integers in uint32, see `fine_equities`."""

    kind: ClassVar[str] = "two-sided-fine"
    printed: ClassVar[str] = "%+10.7f"

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        n = board.count(points, chequers)
        return (ArrayRule("equities", ((n, n, 4),), ("f4", "u4")),)

    def decoded(self, stored: Array) -> Array:
        return fine_equities(stored)

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        equities = fine_equities(block["equities"])
        bad = ~(np.abs(equities) <= MOST).all(axis=(1, 2))
        yield Breach("bounds", np.asarray(bad), f"an equity is not a number from -{MOST:g} to {MOST:g}")
        first = np.arange(start, start + len(equities)) == 0
        over = (np.abs(equities[:, 0] + 1) > 1e-6).any(axis=1) & ~first
        won = (np.abs(equities - 1) > 1e-6).any(axis=(1, 2)) & first
        yield Breach("won", won, "a side without chequers has won")
        yield Breach("lost", over, "a side whose opponent has no chequers left has lost")

    def coarser(self) -> tuple[Coarser, ...]:
        lost = "the equities are rounded to 16 bits"
        kind, what = ("u4", "24 bits") if self.equities.dtype.kind == "f" else ("f4", "float32")
        other = Coarser(
            FineTwoSided, lambda: self._as(kind), f"the equities are rounded to {what}", self._is_rounded
        )
        return other, Coarser(TwoSided, self.rounded, lost, self._is_rounded)

    def _as(self, dtype: str) -> FineTwoSided:
        """The other numbers; those that 16-bit numbers have where these are such, else the nearest."""
        kind = np.dtype(dtype)
        if self._is_rounded():
            rows = _through(self.rounded().equities, kind, _from_16(kind))
        else:
            rows = _through(self.equities, kind, _nearest(kind))
        return replace(self, equities=rows, **self._kept())

    def rounded(self) -> TwoSided:
        """The nearest 16-bit numbers, as gnubg's files have them."""
        rows = _through(self.equities, np.dtype(np.uint16), _to_16)
        return TwoSided(
            points=self.points,
            chequers=self.chequers,
            equities=rows,
            provenance=self.provenance,
            recipe=self.recipe,
            release=self.release,
            **self._kept(),
        )

    def _is_rounded(self) -> bool:
        """Whether every number is that of a 16-bit one, so that rounding loses nothing."""
        back = _from_16(self.equities.dtype)
        return all(
            np.array_equal(back(_to_16(block["equities"])), block["equities"]) for _, block in self.blocks()
        )


def made_of(table: TwoSided) -> tuple[Coarser, ...]:
    """The ways to make a table of 16-bit numbers into one of finer ones, from which it can be had back."""

    def make(dtype: str) -> FineTwoSided:
        kind = np.dtype(dtype)
        return FineTwoSided(
            points=table.points,
            chequers=table.chequers,
            equities=_through(table.equities, kind, _from_16(kind)),
            provenance=table.provenance,
            recipe=table.recipe,
            release=table.release,
            **table._kept(),
        )

    return (Coarser(FineTwoSided, lambda: make("f4"), ""), Coarser(FineTwoSided, lambda: make("u4"), ""))


def _from_16(dtype: np.dtype[Any]) -> Any:
    """What makes finer numbers of 16-bit ones."""

    def floats(rows: Array) -> Array:
        return np.asarray(np.asarray(rows) / EQUITY_HALF - 1).astype(np.float32)

    def integers(rows: Array) -> Array:
        return np.asarray(np.rint((np.asarray(rows) / EQUITY_HALF + 1) * UNIT_24)).astype(np.uint32)

    return floats if dtype.kind == "f" else integers


def _nearest(dtype: np.dtype[Any]) -> Any:
    """What makes the nearest finer numbers of others; what is no number counts as the least."""

    def change(rows: Array) -> Array:
        found = fine_equities(rows).astype(np.float64)
        if dtype.kind == "f":
            return found.astype(np.float32)
        scaled = np.nan_to_num(np.rint((found + 2) * UNIT_24))
        return np.asarray(np.clip(scaled, 0, (1 << 24) - 1)).astype(np.uint32)

    return change


def _to_16(rows: Array) -> Array:
    """The nearest 16-bit numbers; what is no number counts as the least."""
    scaled = np.nan_to_num(np.rint((fine_equities(rows).astype(np.float64) + 1) * EQUITY_HALF))
    return np.asarray(np.clip(scaled, 0, 0xFFFF)).astype(np.uint16)


def _through(rows: Rows, dtype: np.dtype[Any], change: Any) -> PairRows:
    """Rows whose numbers are changed when they are asked for."""

    def pairs(us: NDArray[np.int64], them: NDArray[np.int64]) -> Array:
        found: Array = change(np.asarray(rows[us, them]))
        return found

    return PairRows(tuple(rows.shape), dtype, lambda a, b: change(np.asarray(rows[a:b])), pairs)
