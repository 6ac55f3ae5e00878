"""Money equities of both sides' positions, finer than 16 bits: the databases of other programs than gnubg."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables.base import ArrayRule, Breach, Coarser
from bgfmt.tables.rows import Array, PairRows
from bgfmt.tables.two_sided import EQUITY_HALF, PairEquities, TwoSided, ends

UNIT_24 = 4_194_000
"""Units of 24-bit integers in an equity of 1; the integer 0 is an equity of -2."""
MOST = 3.0  # a backgammon; whether such tables count gammons is not known
NUMBERS = {"f4": "float32", "u4": "24 bits", "u2": "16 bits"}


@dataclass(frozen=True, eq=False, kw_only=True)
class FineTwoSided(PairEquities):
    """Equities of the side on roll, always four: float32, or 24-bit integers in uint32, value / 4194000 - 2."""

    kind: ClassVar[str] = "two-sided-fine"
    printed: ClassVar[str] = "%+10.7f"

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        n = board.count(points, chequers)
        return (ArrayRule("equities", ((n, n, 4),), ("f4", "u4")),)

    def decoded(self, stored: Array) -> Array:
        """Equities: float32 as they stand, of 24-bit integers in float64."""
        values = np.asarray(stored)
        return values if values.dtype.kind == "f" else values / UNIT_24 - 2

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        equities = self.decoded(block["equities"])
        bad = ~(np.abs(equities) <= MOST).all(axis=(1, 2))
        yield Breach("bounds", np.asarray(bad), f"an equity is not a number from -{MOST:g} to {MOST:g}")
        yield from ends(start, equities, 1, -1, lambda some, value: np.abs(some - value) > 1e-6)

    def coarser(self) -> tuple[Coarser, ...]:
        def other_numbers() -> PairEquities:
            rounded = with_numbers(self, "u2")  # numbers that 16-bit ones have become those that these become
            return with_numbers(rounded if self._is_rounded() else self, other)

        other = "u4" if self.equities.dtype.kind == "f" else "f4"
        lost = {dtype: f"the equities are rounded to {NUMBERS[dtype]}" for dtype in (other, "u2")}
        return (
            Coarser(FineTwoSided, other_numbers, lost[other], self._is_rounded),
            Coarser(TwoSided, lambda: with_numbers(self, "u2"), lost["u2"], self._is_rounded),
        )

    def _is_rounded(self) -> bool:
        """Whether every number is that of a 16-bit one, so that rounding loses nothing."""
        back = with_numbers(with_numbers(self, "u2"), self.equities.dtype.str[1:]).equities
        return all(np.array_equal(back[rows], block["equities"]) for rows, block in self.blocks())


def finer(table: TwoSided) -> tuple[Coarser, ...]:
    """The ways to make a table of four equities into one of finer numbers; 16-bit numbers can be had back from it."""
    lost = "the equities are rounded to {}" if table.exact else ""
    return (
        Coarser(FineTwoSided, lambda: with_numbers(table, "f4"), lost.format(NUMBERS["f4"])),
        Coarser(FineTwoSided, lambda: with_numbers(table, "u4"), lost.format(NUMBERS["u4"])),
    )


def with_numbers(table: PairEquities, dtype: str) -> PairEquities:
    """The table in the nearest numbers of "u2", "u4" or "f4", made when they are asked for."""
    encode = _encoder(dtype)

    def changed(rows: Any) -> Array:
        return encode(table.read("equities", np.asarray(rows)))

    def pairs(us: NDArray[np.int64], them: NDArray[np.int64]) -> Array:
        return changed(table.equities[us, them])

    shape = tuple(table.equities.shape)
    rows = PairRows(shape, dtype, lambda start, stop: changed(table.equities[start:stop]), pairs)
    kind = TwoSided if dtype == "u2" else FineTwoSided
    return table.made_into(kind, equities=rows, recipe=table.recipe, **table.rearranged())


def _encoder(dtype: str) -> Callable[[NDArray[np.float64]], Array]:
    """What makes the nearest stored numbers of equities; of what is no number an integer is the least."""
    if dtype == "f4":
        return lambda equities: equities.astype(np.float32)
    shift, unit, most = (1, EQUITY_HALF, 0xFFFF) if dtype == "u2" else (2, UNIT_24, (1 << 24) - 1)

    def integers(equities: NDArray[np.float64]) -> Array:
        return np.asarray(np.clip(np.nan_to_num(np.rint((equities + shift) * unit)), 0, most)).astype(dtype)

    return integers
