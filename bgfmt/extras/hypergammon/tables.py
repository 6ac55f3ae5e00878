"""Unrounded hypergammon tables, as the solver computes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.tables.base import ArrayRule, Breach, Coarser
from bgfmt.tables.hypergammon import (
    HYPER_EQUITIES,
    RECORD,
    SLACK,
    UNITS,
    Hypergammon,
    HyperSides,
    hyper_records,
)
from bgfmt.tables.rows import Array, LazyRows, Rows
from bgfmt.tables.two_sided import cube_order


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactHypergammon(HyperSides):
    """Unrounded hypergammon numbers (recipe ``exact``): (n, n, 10) float64, indexed [us, them].

    Five probabilities: win, win gammon, win backgammon, lose gammon, lose backgammon; then money equities:
    cubeless, owned, centered, centered with Jacoby, opponent. Illegal pairs (both sides on one point) hold
    zeros.
    """

    kind: ClassVar[str] = "hypergammon-exact"
    unit: ClassVar[str] = "equity"
    money: ClassVar[tuple[str, ...]] = ("cubeless", *HYPER_EQUITIES)
    printed: ClassVar[tuple[str, str]] = ("%12.9f", "%+12.9f")
    float64: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        n = board.count(points, chequers)
        return (ArrayRule("float64", ((n, n, 10),), ("f8",)),)

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        rows = block["float64"]
        chances = rows[..., :5]
        money = rows[..., 5:]
        inside = ((chances >= 0) & (chances <= 1 + SLACK) & (np.abs(money) <= 3 + SLACK)).all(axis=(1, 2))
        what = "a chance is not from 0 to 1, or an equity not from -3 to 3"
        yield Breach("bounds", np.asarray(~inside), what)
        yield cube_order(rows[..., 6], rows[..., 7], rows[..., 9], SLACK)

    def coarser(self) -> tuple[Coarser, ...]:
        lost = "numbers are rounded to 24 bits, cubeless equities dropped"
        return (Coarser(Hypergammon, self.rounded, lost),)

    def rounded(self) -> Hypergammon:
        """Convert to the kind of gnubg's files, with numbers rounded to 24 bits."""
        shape = self.positions, self.positions, RECORD
        records = LazyRows(shape, "u1", lambda a, b: _records(np.asarray(self.float64[a:b])))
        return Hypergammon(points=self.points, chequers=self.chequers, records=records, **self.rearranged())


def _records(rows: NDArray[np.float64]) -> NDArray[np.uint8]:
    parts = np.concatenate([rows[..., :5], rows[..., 6:] / 6 + 0.5], axis=-1)
    legal = (rows != 0).any(axis=-1)
    whole = np.where(legal[..., None], np.rint(parts * UNITS), np.floor(parts * UNITS)).astype(np.uint32)
    return hyper_records(whole)
