"""The lab's kinds of tables: Gillogly's table for BKG and the expected points of a blog, in float64 or millionths.

Gillogly's (H. J. Berliner, "BKG, a program that plays backgammon", 1977, section VII) has the expected number of
rolls (ENR) and the probabilities of needing exactly 1, 2, ... 8 rolls, for home positions of up to 8 men or up to 25
pips (the union, 4,853 positions), or both (the intersection, 1,724). In the expected points ("Bearoff databases", a
blog of 19 October 2011) a finished game is worth one point; gammons, cube and match are ignored. The value is 2 w - 1
where w is the win probability.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import CapabilityError, NotCoveredError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables.base import ArrayRule, Breach, Column, OfOneSide, OfRaces, Table
from bgfmt.tables.rolls import OneSideAnswer
from bgfmt.tables.rows import Array, Rows

MILLION = 1_000_000
Integers = NDArray[np.int64]


def millionths(numbers: ArrayLike) -> NDArray[np.int32]:
    """Return numbers as int32 millionths, rounded to six decimals; halves are rounded away from 0."""
    values = np.asarray(numbers, np.float64)
    return np.copysign(np.floor(np.abs(values) * MILLION + 0.5), values).astype(np.int32)


class Millionths(Table):
    """A table of float64 numbers, or of integer millionths as text files have them.

    Its sides are those of `ids`; a side's number is its index there.
    """

    @property
    @abstractmethod
    def ids(self) -> Integers:
        """gnubg's position numbers of the sides (positions of one player) in the table, ascending, int64."""

    @property
    def max_error(self) -> float | None:
        """Maximum error of the stored numbers, as their rounding implies."""
        return 1e-12 if self.exact else 0.5 / MILLION

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        """Convert numbers of the array `name` as stored (millionths or float64) to float64."""
        return self.decode(stored)

    def decode(self, stored: Array) -> Array:
        """Convert numbers as stored (millionths or float64) to float64."""
        return np.asarray(stored if stored.dtype == np.float64 else stored / MILLION, np.float64)

    @cached_property
    def positions(self) -> int:
        """Number of positions of one player that the table has."""
        return len(self.ids)

    def counts(self, numbers: Integers) -> NDArray[np.int8]:
        """Return the chequers by point of the sides with these numbers in the table: (len(numbers), points) int8."""
        return board.unrank_array(self.ids[numbers], self.points)

    def side(self, number: int) -> Side:
        """Return the side (position of one player) with this index among those of the table."""
        return Side.from_number(int(self.ids[number]), self.points)

    def side_number(self, side: Side) -> int:
        """Return the index of a side among those of the table, which must cover it."""
        return int(self.ids.searchsorted(side.number(self.points)))

    def _rank(self, given: Array) -> Integers:
        """Return the numbers of sides; NotCoveredError for the first one outside the table.

        given : (M, P) counts by point.
        """
        counts = np.pad(given, ((0, 0), (0, self.points)))
        numbers = board.rank_array(counts[:, : self.points])
        places = np.searchsorted(self.ids, numbers).clip(max=self.positions - 1)
        outside = (self.ids[places] != numbers) | counts[:, self.points :].any(axis=1)
        if outside.any():
            row = int(outside.argmax())
            raise NotCoveredError(f"row {row} is outside the {self.points}x{self.chequers} table")
        return places


# -- Gillogly's table --------------------------------------------------------------------------------------


Domain = Literal["union", "intersection"]
POINTS = 6
MEN = 8
PIPS = 25
ROLLS = 8
#: most chequers of a side, by domain
CHEQUERS: dict[Domain, int] = {"union": 15, "intersection": 8}
NAMES = ("mean_rolls", *(f"chance_{n}" for n in range(1, ROLLS + 1)))


@cache
def domain_ids(domain: Domain) -> Integers:
    """Return gnubg's position numbers of the sides in Gillogly's table, ascending, with the empty side first.

    The result is int64 of shape (4853,) or (1724,).

    domain : "union", up to 8 chequers or up to 25 pips, or "intersection", both.

    >>> len(domain_ids("union")), len(domain_ids("intersection"))
    (4853, 1724)
    """
    counts = board.unrank_array(np.arange(board.count(POINTS, 15)), POINTS).astype(np.int64)
    few = counts.sum(axis=1) <= MEN
    near = counts @ np.arange(1, POINTS + 1) <= PIPS
    ids = np.flatnonzero(few | near if domain == "union" else few & near)
    ids.setflags(write=False)
    return ids


def domain_of(chequers: int) -> Domain:
    """Return which positions Gillogly's table of this many chequers has.

    15 is for up to 8 chequers or up to 25 pips ("union"), 8 for up to 8 chequers and up to 25 pips ("intersection").
    """
    return "union" if chequers == CHEQUERS["union"] else "intersection"


@dataclass(frozen=True)
class BkgRow(OneSideAnswer):
    """The numbers of one side. chances : probabilities of needing exactly 1, 2, ... 8 rolls."""

    side: Side
    number: int
    mean_rolls: float
    chances: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the side and its numbers as a dict for the JSON of a look-up."""
        out = {"side": str(self.side), "position_number": self.number, "pips": self.pips}
        return out | {"mean_rolls": self.mean_rolls, "chances": list(self.chances)}

    def describe(self, who: str = "") -> str:
        """Return the numbers as lines of text; `who` names the side."""
        lines = [self.title(who), f"ENR     {self.mean_rolls:9.6f}"]
        lines += [f"P({n})    {chance:9.6f}" for n, chance in enumerate(self.chances, 1)]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class Gillogly(Millionths, OfOneSide):
    """Gillogly's table: expected rolls, and probabilities of 1 to 8 rolls, of play for the fewest expected rolls.

    rows : (4853 or 1724, 9), ENR and P(1)..P(8): uint32 millionths, as the text file has them, or float64. A side's
    number is its rank within the domain in gnubg's order. For 2,011 positions of the union more than eight rolls have
    a positive probability, at most 0.1403.
    """

    kind: ClassVar[str] = "bkg"
    unit: ClassVar[str] = "rolls"
    names = NAMES
    cost = 4.0
    rows: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        """Return the arrays that a table of this size must have, with their shapes and types."""
        return (ArrayRule("rows", ((len(domain_ids(domain_of(chequers))), 1 + ROLLS),), ("u4", "f8")),)

    def check(self) -> str | None:
        """Return what is wrong with the size or the arrays of the table, None if nothing."""
        return sizes(self.points, self.chequers) or super().check()

    @property
    def domain(self) -> Domain:
        """Which sides the table has: up to 8 chequers or up to 25 pips ("union"), or both ("intersection")."""
        return domain_of(self.chequers)

    @property
    def ids(self) -> Integers:
        """gnubg's position numbers of the sides of the table, ascending."""
        return domain_ids(self.domain)

    def facts(self) -> dict[str, Any]:
        """Return the facts of the table that `info` shows."""
        return {"domain": self.domain}

    def covers_side(self, side: Side) -> str | None:
        """Return why the table does not cover a side, None if it does."""
        outside = super().covers_side(side)
        if outside is None and side.number(POINTS) not in self.ids:
            between = "or" if self.domain == "union" else "and"
            outside = f"{side} is outside: the table covers up to {MEN} men {between} up to {PIPS} pips"
        return outside

    def _corner(self, p: int, c: int) -> Self:
        """Return the intersection, the only smaller table."""
        if (p, c) != (POINTS, CHEQUERS["intersection"]):
            raise CapabilityError(f"a {self.kind} table has no {p}x{c} corner; 6x8 is the intersection")
        places = np.searchsorted(self.ids, domain_ids("intersection"))
        return replace(self, chequers=c, rows=np.asarray(self.rows)[places], **self.rearranged())

    def lookup(self, asked: Side | Position) -> BkgRow:
        """Look up a side and return its expected rolls and probabilities."""
        number = self.number(asked)
        assert isinstance(asked, Side)
        row = self.decode(np.asarray(self.rows[number])).tolist()
        return BkgRow(asked, number, row[0], tuple(row[1:]))

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns that look-ups and exports show: pips, expected rolls, probabilities."""
        chances = [
            Column(name, "chance", f"{'  rolls' if n == 0 else ''} %7.4f", percent=True, group="chances")
            for n, name in enumerate(NAMES[1:])
        ]
        pips = Column("pips", "pips", "  pips %3d", whole=True)
        return (pips, Column("mean_rolls", "rolls", "  ENR %9.6f"), *chances)

    def values(self, numbers: Integers) -> NDArray[np.float64]:
        """Return the values of `columns` for the sides with these numbers: (len(numbers), 10) float64."""
        pips = self.counts(numbers) @ np.arange(1, POINTS + 1)
        return np.column_stack([pips, self.decode(np.asarray(self.rows)[numbers])])

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        """Yield the plausibility rules that rows of a block violate (finite numbers, sum of probabilities, mean).

        start : number of the first row.
        """
        rows = self.decode(block["rows"])
        good = np.isfinite(rows).all(axis=1) & (rows >= 0).all(axis=1)
        yield Breach("finite", np.asarray(~good), "a number is negative or no number")
        total = rows[:, 1:].sum(axis=1)
        more = ~(total <= 1 + ROLLS / MILLION)
        yield Breach("sum of chances", np.asarray(more), "its chances add up to more than 1")
        least = (rows[:, 1:] * np.arange(1, ROLLS + 1)).sum(axis=1)
        wrong = rows[:, 0] < least - ROLLS * ROLLS / MILLION
        yield Breach("mean", wrong, "its ENR is less than its chances say")


def sizes(points: int, chequers: int) -> str | None:
    """Return why there is no Gillogly table of this size, None if there is one."""
    if points == POINTS and chequers in CHEQUERS.values():
        return None
    return f"BKG's table must have 6 points and 15 chequers (union) or 8, not {points} and {chequers}"


# -- expected points ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Points:
    """Expected points of the side on roll, between -1 and 1."""

    position: Position
    number: int
    expected_points: float

    @property
    def win(self) -> float:
        """Win probability of the side on roll."""
        return self.expected_points / 2 + 0.5

    def as_dict(self) -> dict[str, Any]:
        """Return the position and its expected points as a dict for the JSON of a look-up."""
        out = {"position": str(self.position), "position_number": self.number}
        return out | {"win": self.win, "expected_points": self.expected_points}

    def describe(self, who: str = "") -> str:
        """Return the numbers as lines of text; `who` names the side."""
        title = f"{self.position}  (number {self.number}{', ' + who if who else ''})"
        return f"{title}\nExpected points: {self.expected_points:+.6f}\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedPoints(Millionths, OfRaces):
    """Expected points of every pair of sides that both have chequers left.

    worth : (n, n) indexed [us, them], int32 millionths, as the text file has them, or float64; n = C(N + M, M) - 1
    for N points and M chequers. A side's number is gnubg's minus 1, as the empty side is missing.
    """

    kind: ClassVar[str] = "expected-points"
    unit: ClassVar[str] = "equity"
    names = ("expected_points",)
    columns = (
        Column("win", "chance", "  win %7.3f", percent=True),
        Column("expected_points", "equity", "  points %+9.6f"),
    )
    worth: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        """Return the arrays that a table of this size must have, with their shapes and types."""
        n = board.count(points, chequers) - 1
        return (ArrayRule("worth", ((n, n),), ("i4", "f8")),)

    @cached_property
    def ids(self) -> Integers:
        """gnubg's position numbers of the sides of the table, ascending; the empty side is missing."""
        return np.arange(1, board.count(self.points, self.chequers))

    def covers_side(self, side: Side) -> str | None:
        """Return why the table does not cover a side, None if it does."""
        return super().covers_side(side) if side.chequers else "a side has no chequers left"

    def _corner(self, p: int, c: int) -> Self:
        """Raise CapabilityError: smaller tables are solved, not cut out."""
        raise CapabilityError(f"a {self.kind} table cannot be reduced; solve one of {p}x{c} instead")

    def lookup(self, asked: Side | Position) -> Points:
        """Look up a position and return its expected points."""
        number = self.number(asked)
        assert isinstance(asked, Position)
        us, them = divmod(number, self.positions)
        return Points(asked, number, float(self.decode(np.asarray(self.worth[us])[them : them + 1])[0]))

    def values(self, numbers: Integers) -> NDArray[np.float64]:
        """Return win probability and expected points of the entries with these numbers: (len(numbers), 2) float64."""
        worth = self.decode(np.asarray(self.at(self.worth, numbers)))
        return np.stack([worth / 2 + 0.5, worth], axis=1)

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        """Yield the plausibility rules that rows of a block violate: values between -1 and 1.

        start : number of the first row.
        """
        worth = self.decode(block["worth"])
        beyond = ~(np.abs(worth) <= 1).all(axis=1)
        yield Breach("bounds", np.asarray(beyond), "a value is not between -1 and 1")
