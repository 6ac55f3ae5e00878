"""Money equities of pairs of sides: gnubg's two-sided databases, finer ones, and tables that count gammons."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import NotCoveredError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables import bounds
from bgfmt.tables.base import CHUNK, ArrayRule, Breach, Coarser, Column, OfRaces
from bgfmt.tables.rows import Array, LazyRows, Rows, random_access

__all__ = [
    "EQUITY_COLUMNS",
    "EQUITY_HALF",
    "LABELS",
    "ONE",
    "SLACK",
    "ZERO",
    "Equities",
    "GammonTwoSided",
    "JacobyTwoSided",
    "PairEquities",
    "PairRecord",
    "StoredEquities",
    "TwoSided",
    "cube_order",
    "ends",
    "equities",
]


EQUITY_COLUMNS = ("cubeless", "owned", "centered", "opponent")
LABELS = ("Cubeless equity", "Owned cube", "Centered cube", "Opponent owns cube")
EQUITY_HALF = 32767.5
SLACK = 8  # units by which truncation may violate the order of the cubeful columns
#: if gammons count: units in an equity of 1, so that 0, 1 and 2 are exact, and the integer that means 0
ONE = 16383
ZERO = 32768


def equities(rows: Any) -> Array:
    """Convert stored equities as gnubg does: uint16 times the float32 nearest 1/32767.5, minus 1, in float32.

    Numbers that are float64 already are returned unchanged.
    """
    values = np.asarray(rows)
    if values.dtype == np.float64:
        return values
    out = values.astype(np.float32)
    out *= np.uint32(0x38000080).view(np.float32)
    out -= np.float32(1)
    return out


@dataclass(frozen=True)
class PairRecord:
    """Money equities of the side on roll, cube at 1: the values of rolling without doubling."""

    position: Position
    number: int
    cubeless: float
    owned: float | None = None
    centered: float | None = None
    opponent: float | None = None
    known: ClassVar[tuple[str, ...]] = EQUITY_COLUMNS

    def as_dict(self) -> dict[str, Any]:
        """Return the equities as plain values, under the names of `bgfmt lookup --json`."""
        out: dict[str, Any] = {"position": str(self.position), "position_number": self.number}
        return out | {c: getattr(self, c) for c in self.known if getattr(self, c) is not None}

    def describe(self, who: str = "") -> str:
        """Return lines of text, as `bgfmt lookup` prints them; `who` names the player in the first line."""
        lines = [f"{self.position}  (number {self.number}{', ' + who if who else ''})"]
        for name, column in zip(LABELS, EQUITY_COLUMNS, strict=True):
            value = getattr(self, column)
            if value is not None:
                lines.append(f"{name:<30}: {value:+7.4f}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Equities(PairRecord):
    """Equities of a table that ignores gammons."""

    known: ClassVar[tuple[str, ...]] = ("win", *EQUITY_COLUMNS)

    @property
    def win(self) -> float:
        """Win probability of the side on roll without a cube: (1 + cubeless equity) / 2."""
        return self.cubeless / 2 + 0.5

    def describe(self, who: str = "") -> str:
        return super().describe(who) + f"{'Win':<30}: {100 * self.win:7.3f} %\n"


def ends(
    start: int, rows: Array, won: Any, lost: Any, points: tuple[str, str] = ("", "")
) -> Iterator[Breach]:
    """Check pairs in which a side has no chequers left; yield a `Breach` for games won, and one for games lost.

    A side on roll without chequers (row 0 of the table) has won; against such a side (column 0) it has lost.

    Parameters
    ----------
    start
        Position number of the first of the rows.
    rows
        Stored equities, (rows, them, columns).
    won, lost
        The stored values expected, scalars or arrays that broadcast to a row.
    points
        What to add to the two messages, such as the number of points won.
    """
    first = np.arange(start, start + len(rows)) == 0
    bad = first & (start == 0 and bool((rows[0] != won).any()))
    yield Breach("won", bad, f"a side without chequers has won{points[0]}")
    over = (rows[:, 0] != lost).any(axis=1) & ~first
    yield Breach("lost", over, f"a side whose opponent has no chequers left has lost{points[1]}")


def cube_order(owned: Array, centered: Array, opponent: Array, slack: float) -> Breach:
    """Check that owned >= centered >= opponent within `slack`; return a `Breach` that marks the rows that fail.

    The equities have shape (rows, them).
    """
    bad = np.asarray((owned + slack < centered).any(axis=1) | (centered + slack < opponent).any(axis=1))
    return Breach("cube", bad, "owning the cube is worth less than the centre, or that less than facing it")


@dataclass(frozen=True, eq=False, kw_only=True)
class PairEquities(OfRaces):
    """Base class of tables of equities: (n, n, 4) or, cubeless, (n, n, 1), indexed [us, them].

    Columns: cubeless, owned, centered, opponent. printed : printf format of an equity in a line of text.
    """

    unit: ClassVar[str] = "equity"
    printed: ClassVar[str]
    #: class of look-up results; whether the win probability follows from the cubeless equity
    answer: ClassVar[type[PairRecord]] = Equities
    tells_win: ClassVar[bool] = True
    equities: Rows

    @property
    def cubeful(self) -> bool:
        """Whether the table has all four columns (cubeless, owned, centered, opponent), not only the cubeless one."""
        return self.equities.shape[2] == 4

    def facts(self) -> dict[str, Any]:
        return {"cubeful": self.cubeful}

    def lookup(self, asked: Side | Position) -> PairRecord:
        number = self.number(asked)
        assert isinstance(asked, Position)
        us, them = divmod(number, self.positions)
        return self.answer(asked, number, *(float(x) for x in self.decode(self.equities[us, them])))

    @property
    def names(self) -> tuple[str, ...]:
        return EQUITY_COLUMNS[: self.equities.shape[2]]

    @property
    def columns(self) -> tuple[Column, ...]:
        shown = [Column(c, "equity", "  " * (k == 0) + f" {self.printed}") for k, c in enumerate(self.names)]
        return (Column("win", "chance"), *shown) if self.tells_win else tuple(shown)

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        rows = super().values(numbers)
        if not self.tells_win:
            return rows
        return np.concatenate([rows[:, :1] / 2 + 0.5, rows], axis=1)

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        return np.asarray(self.decode(stored), np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredEquities(PairEquities):
    """Base class of tables of 16-bit integers, or of float64 equities in their place.

    most : the maximum of an equity. slack : units by which rounding may violate the order of the cubeful
    columns. same_stakes : whether games are worth the same wherever the cube is.
    """

    printed: ClassVar[str] = "%+7.4f"
    most: ClassVar[float]
    slack: ClassVar[int] = SLACK
    same_stakes: ClassVar[bool] = True

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        n = board.count(points, chequers)
        return (ArrayRule("equities", ((n, n, 1), (n, n, 4)), ("u2", "f8")),)

    @property
    @abstractmethod
    def known_errors(self) -> NDArray[np.float64]:
        """Largest errors, in points of equity, of cubeless, owned, centered and opponent: float64 of shape (4,).

        Proved, measured or extrapolated; see `bgfmt.tables.bounds` and `error_is_proved`.
        """

    @property
    def error_is_proved(self) -> bool:
        """Whether `known_errors` is a proved bound for a table of this size, not measured or extrapolated.

        True for unrounded tables, whose error is that of float64 arithmetic.
        """
        return self.exact

    @abstractmethod
    def ends(self, start: int, stored: Array) -> Iterator[Breach]:
        """Check pairs in which a side has no chequers left; yield a `Breach` for games won, and one for games lost.

        stored : rows of the table from row `start` on.
        """

    def read_entries(self, *numbers: NDArray[np.int64]) -> Array:
        (ours, theirs) = numbers
        stored = self.equities
        if not (isinstance(stored, np.ndarray) and stored.flags.c_contiguous and stored.dtype == np.uint16):
            return super().read_entries(ours, theirs)
        n = self.positions
        columns = stored.shape[2]
        record = np.uint64 if columns == 4 else np.uint16  # one load a record instead of one a column
        flat = stored.reshape(-1).view(record)
        out = np.empty((len(ours), columns), np.float32)
        with random_access(stored):
            for start in range(0, len(ours), CHUNK):
                part = slice(start, start + CHUNK)
                where = ours[part] * n
                where += theirs[part]
                out[part] = self.decode(flat.take(where, mode="clip").view(np.uint16).reshape(-1, columns))
        return out

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        stored = block["equities"]
        if self.exact:
            bad = np.asarray(~(np.abs(stored) <= self.most + 1e-9).all(axis=(1, 2)))
            yield Breach("bounds", bad, f"an equity is not a number from -{self.most:g} to {self.most:g}")
        yield from self.ends(start, stored)
        if stored.shape[2] == 4:
            number: type[Any] = np.float64 if self.exact else np.int32
            slack = 1e-9 if self.exact else self.slack
            owned, centered, opponent = (np.asarray(stored[..., c], number) for c in (1, 2, 3))
            yield cube_order(owned, centered if self.same_stakes else owned, opponent, slack)

    def errors(self) -> dict[str, float]:
        known = self.known_errors.tolist()
        return ({"win": known[0] / 2} if self.tells_win else {}) | dict(zip(self.names, known, strict=False))

    @property
    def few_values(self) -> bool:
        return not self.exact

    @property
    def cost(self) -> float:
        return 2 + self.entries * 4e-8 * (self.points * self.chequers) / 48

    def cubeless(self) -> Self:
        """Return a table with the cubeless column alone; NotCoveredError if the table has only that."""
        if not self.cubeful:
            raise NotCoveredError("the table has only cubeless equities already")
        rows = self.equities
        if isinstance(rows, np.ndarray):
            first: Rows = rows[..., :1]
        else:
            first = LazyRows((*rows.shape[:2], 1), rows.dtype, lambda a, b: rows[a:b][..., :1])
        return replace(self, equities=first, **self.rearranged())

    def coarser(self) -> tuple[Coarser, ...]:
        lost = "the equities with a cube are dropped, the cubeless ones kept"
        return (Coarser(type(self), self.cubeless, lost),) if self.cubeful else ()


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoSided(StoredEquities):
    """Equities of the side on roll: uint16, equity = value / 32767.5 - 1, or float64 equities."""

    kind: ClassVar[str] = "two-sided"
    most: ClassVar[float] = 1.0

    def lookup(self, asked: Side | Position) -> Equities:
        found = super().lookup(asked)
        assert isinstance(found, Equities)
        return found

    def decode(self, stored: Array) -> Array:
        return equities(stored)

    def flat_values(self, numbers: NDArray[np.int64], block: dict[str, Array]) -> Iterator[Array]:
        for k in range(self.equities.shape[2]):
            column = equities(np.ascontiguousarray(block["equities"][..., k]).reshape(-1))
            if k == 0:
                yield column / column.dtype.type(2) + column.dtype.type(0.5)
            yield column

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        return np.asarray(stored if stored.dtype == np.float64 else stored / EQUITY_HALF - 1, np.float64)

    def ends(self, start: int, stored: Array) -> Iterator[Breach]:
        won, lost = (1.0, -1.0) if self.exact else (0xFFFF, 0)
        return ends(start, stored, won, lost)

    @property
    def known_errors(self) -> NDArray[np.float64]:
        if self.exact:
            return np.full(4, bounds.float64_error(self.points, self.chequers))
        return np.array(bounds.stored_error(self.points, self.chequers))

    @property
    def error_is_proved(self) -> bool:
        proved = self.recipe in ("", "gnubg") and bounds.proved_error(self.points, self.chequers) is not None
        return self.exact or proved


# -- gammons counted: who loses with all fifteen chequers loses two points ---------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class GammonTwoSided(StoredEquities):
    """Equities of the side on roll: uint16, equity = (value - 32768) / 16383, or float64 equities."""

    kind: ClassVar[str] = "two-sided-gammons"
    answer: ClassVar[type[PairRecord]] = PairRecord
    tells_win: ClassVar[bool] = False
    most: ClassVar[float] = 2.0
    jacoby: ClassVar[bool] = False

    def decode(self, stored: Array) -> Array:
        values = np.asarray(stored)
        if values.dtype == np.float64:
            return values
        return (values.astype(np.float32) - np.float32(ZERO)) / np.float32(ONE)

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        return np.asarray(stored if stored.dtype == np.float64 else (stored - float(ZERO)) / ONE, np.float64)

    def win_equities(self) -> NDArray[np.float64]:
        """Return the equities of a side that has borne off all chequers: (n, columns) float64.

        Rows are the position numbers of its opponent. They are 1, or 2 against a side that still has fifteen chequers
        (a gammon); by Jacoby's rule 1 in the centered column.
        """
        counts = board.unrank_array(np.arange(self.positions), self.points)
        gained = 1.0 + (counts.sum(axis=1) == board.MAX_CHEQUERS)
        won = np.repeat(gained[:, None], self.equities.shape[2], 1)
        if self.jacoby and self.cubeful:
            won[:, 2] = 1
        return won

    def ends(self, start: int, stored: Array) -> Iterator[Breach]:
        won = self.win_equities() if self.exact else self.win_equities() * ONE + ZERO
        lost = (-won if self.exact else 2 * ZERO - won)[start : start + len(stored)]
        points = " one point, or two against fifteen chequers", " one point, or two with fifteen"
        return ends(start, stored, won, lost, points=points)

    @property
    def known_errors(self) -> NDArray[np.float64]:
        if self.exact:
            return np.full(4, 2 * bounds.float64_error(self.points, self.chequers))
        return np.full(4, bounds.GAMMONS)


@dataclass(frozen=True, eq=False, kw_only=True)
class JacobyTwoSided(GammonTwoSided):
    """Equities that count gammons under the Jacoby rule: they count for nothing while the cube is centered."""

    kind: ClassVar[str] = "two-sided-jacoby"
    jacoby: ClassVar[bool] = True
    same_stakes: ClassVar[bool] = False
