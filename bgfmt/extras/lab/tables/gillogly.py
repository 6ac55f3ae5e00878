"""Gillogly's bear-off table for BKG: expected rolls, and the chances to need exactly 1, 2, ... 8 rolls.

H. J. Berliner, "BKG, a program that plays backgammon" (1977), section VII. The table holds a home position with up to
8 men or up to 25 pips (the union, 4,853 positions), or both (the intersection, 1,724).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, NotCoveredError
from bgfmt.extras.lab.tables import MILLION, Millionths, counts_on
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables.base import ArrayRule, Breach, Column, OfOneSide
from bgfmt.tables.rows import Array, Rows

Domain = Literal["union", "intersection"]
POINTS, MEN, PIPS, ROLLS = 6, 8, 25, 8
#: most chequers of a side, by domain
CHEQUERS: dict[Domain, int] = {"union": 15, "intersection": 8}
NAMES = ("mean_rolls", *(f"chance_{n}" for n in range(1, ROLLS + 1)))


@cache
def domain_ids(domain: Domain) -> NDArray[np.int64]:
    """gnubg's position numbers of the domain, ascending, (4853,) or (1724,) int64, the empty position first.

    >>> len(domain_ids("union")), len(domain_ids("intersection"))
    (4853, 1724)
    """
    counts = board.unrank_array(np.arange(board.count(POINTS, 15)), POINTS).astype(np.int64)
    few, near = counts.sum(axis=1) <= MEN, counts @ np.arange(1, POINTS + 1) <= PIPS
    ids = np.flatnonzero(few | near if domain == "union" else few & near)
    ids.setflags(write=False)
    return ids


def domain_of(chequers: int) -> Domain:
    """The domain whose sides have at most `chequers` chequers: 15 of the union, 8 of the intersection."""
    return "union" if chequers == CHEQUERS["union"] else "intersection"


@dataclass(frozen=True)
class BkgRow:
    """What the table says of one side. chances : of needing exactly 1, 2, ... 8 rolls."""

    side: Side
    number: int
    mean_rolls: float
    chances: tuple[float, ...]

    @property
    def pips(self) -> int:
        """Pip count."""
        return self.side.pips

    def as_dict(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "side": str(self.side),
            "position_number": self.number,
            "pips": self.pips,
            "mean_rolls": self.mean_rolls,
            "chances": list(self.chances),
        }

    def describe(self, who: str = "") -> str:
        """Lines of text; `who` names the side."""
        lines = [
            f"{self.side}  (number {self.number}{', ' + who if who else ''})",
            f"ENR     {self.mean_rolls:9.6f}",
        ]
        lines += [f"P({n})    {chance:9.6f}" for n, chance in enumerate(self.chances, 1)]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class Gillogly(Millionths, OfOneSide):
    """Least expected rolls and the first eight chances of every position of the domain.

    rows : (4853 or 1724, 9), ENR and P(1)..P(8): uint32 millionths, as the text file has them, or float64. A side's
    number is its rank within the domain in gnubg's order. Of 2,011 positions of the union some chance lies beyond
    the eighth roll, at most 0.1403.
    """

    kind: ClassVar[str] = "bkg"
    unit: ClassVar[str] = "rolls"
    rows: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("rows", ((len(domain_ids(domain_of(chequers))), 1 + ROLLS),), ("u4", "f8")),)

    def check(self) -> str | None:
        if self.points != POINTS or self.chequers not in CHEQUERS.values():
            return f"BKG's table has 6 points and 15 chequers (union) or 8, not {self.points} and {self.chequers}"
        return super().check()

    @property
    def domain(self) -> Domain:
        """The union of the two limits of the paper, or their intersection."""
        return domain_of(self.chequers)

    def facts(self) -> dict[str, Any]:
        return {"domain": self.domain}

    # -- numbering ---------------------------------------------------------------------------------------

    def counts(self, numbers: NDArray[np.int64]) -> NDArray[np.int8]:
        return board.unrank_array(domain_ids(self.domain)[numbers], POINTS)

    @property
    def positions(self) -> int:
        return len(domain_ids(self.domain))

    def covers_side(self, side: Side) -> str | None:
        outside = super().covers_side(side)
        if outside is None and self._place(side.number(POINTS)) is None:
            between = "or" if self.domain == "union" else "and"
            outside = f"{side} is outside: the table covers up to {MEN} men {between} up to {PIPS} pips"
        return outside

    def side_number(self, side: Side) -> int:
        place = self._place(side.number(POINTS))
        assert place is not None
        return place

    def side(self, number: int) -> Side:
        return Side.from_number(int(domain_ids(self.domain)[number]), POINTS)

    def _place(self, number: int) -> int | None:
        ids = domain_ids(self.domain)
        place = int(np.searchsorted(ids, number))
        return place if place < len(ids) and ids[place] == number else None

    def _rank(self, given: NDArray[Any]) -> NDArray[np.int64]:
        ids, numbers = domain_ids(self.domain), board.rank_array(counts_on(POINTS, given))
        places = np.minimum(np.searchsorted(ids, numbers), len(ids) - 1)
        outside = ids[places] != numbers
        if outside.any():
            raise NotCoveredError(f"row {int(outside.argmax())} is outside the {self.domain} of the limits")
        return places

    def cut(self, points: int | None = None, chequers: int | None = None) -> Self:
        p, c = points or self.points, chequers or self.chequers
        if (p, c) == (self.points, self.chequers):
            return self
        if (p, c) != (POINTS, CHEQUERS["intersection"]):
            raise CapabilityError(f"a {self.kind} table has no {p}x{c} corner; 6x8 is the intersection")
        places = np.searchsorted(domain_ids("union"), domain_ids("intersection"))
        return replace(self, chequers=c, rows=np.asarray(self.rows)[places], **self.rearranged())

    # -- look-up -----------------------------------------------------------------------------------------

    def lookup(self, asked: Side | Position) -> BkgRow:
        number = self.number(asked)
        assert isinstance(asked, Side)
        row = self.read("rows", np.asarray(self.rows[number])).tolist()
        return BkgRow(asked, number, row[0], tuple(row[1:]))

    @property
    def names(self) -> tuple[str, ...]:
        return NAMES

    def decoded(self, stored: Array) -> Array:
        return self.read("rows", stored)

    @property
    def columns(self) -> tuple[Column, ...]:
        chances = [
            Column(name, "chance", f"{'  rolls' if n == 0 else ''} %7.4f", percent=True, group="chances")
            for n, name in enumerate(NAMES[1:])
        ]
        return (
            Column("pips", "pips", "  pips %3d", whole=True),
            Column("mean_rolls", "rolls", "  ENR %9.6f"),
            *chances,
        )

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        counts = board.unrank_array(domain_ids(self.domain)[numbers], POINTS).astype(np.int64)
        pips = counts @ np.arange(1, POINTS + 1)
        rows = self.read("rows", np.asarray(self.rows)[numbers])
        return np.concatenate([pips[:, None], rows], axis=1).astype(np.float64)

    # -- what theory says --------------------------------------------------------------------------------

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        rows = self.read("rows", block["rows"])
        good = np.isfinite(rows).all(axis=1) & (rows >= 0).all(axis=1)
        yield Breach("finite", np.asarray(~good), "a number is negative or no number")
        total = rows[:, 1:].sum(axis=1)
        yield Breach(
            "sum of chances", np.asarray(~(total <= 1 + ROLLS / MILLION)), "its chances add up to more than 1"
        )
        least = (rows[:, 1:] * np.arange(1, ROLLS + 1)).sum(axis=1)
        wrong = rows[:, 0] < least - ROLLS * ROLLS / MILLION
        yield Breach("mean", wrong, "its ENR is less than its chances say")

    @property
    def cost(self) -> float:
        return 4.0
