"""Entries by number: tables about one side, and tables about both sides of a position.

Numbers are gnubg's (`bgfmt.game.board`): of one side its position number, of two `us * positions + them` with the
side on roll first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables.base import Table
from bgfmt.tables.rows import Array, Rows, corner_of_pairs, corner_of_rows

CHUNK = 1 << 15  # positions handled together, so that what is in hand stays in the processor's cache


class Numbered(Table):
    """Sides of up to `chequers` chequers on points 1 to `points`, numbered as gnubg does."""

    def covers_side(self, side: Side) -> str | None:
        """None when the table covers this side, else why not."""
        if side.chequers > self.chequers:
            return f"{side} has {side.chequers} chequers, the table covers {self.chequers}"
        if side.bar:
            return f"{side} has a chequer on the bar, the table covers points 1 to {self.points}"
        if side.highest > self.points:
            return f"{side} has a chequer on point {side.highest}, the table covers points 1 to {self.points}"
        return None

    def side_number(self, side: Side) -> int:
        """Position number of a covered side."""
        return side.number(self.points)

    def side(self, number: int) -> Side:
        """The side with this position number."""
        return Side.from_number(number, self.points)

    def numbers(self, sides: Any) -> NDArray[np.int64]:
        """Position numbers of many sides: Side objects, counts of shape (N, points), or numbers of shape (N,).

        Raises NotCoveredError naming the first row that lies outside the table.
        """
        if isinstance(sides, (list, tuple)) and (not sides or isinstance(sides[0], Side)):
            return np.array([self._number_of(side) for side in sides], np.int64)
        given = np.asarray(sides)
        if given.ndim == 1 and given.dtype.kind in "iu":
            numbers = given.astype(np.int64, copy=False)
            if numbers.size and (numbers.min() < 0 or numbers.max() >= self.positions):
                bad = int(((numbers < 0) | (numbers >= self.positions)).argmax())
                raise NotCoveredError(
                    f"row {bad}: position number {numbers[bad]} is not in 0..{self.positions - 1}"
                )
            return numbers
        if given.ndim != 2 or given.dtype.kind not in "iu":
            raise PositionError(
                f"sides need counts of shape (N, points) or numbers of shape (N,), not {given.shape}"
            )
        return self._rank(given)

    def _rank(self, given: NDArray[Any]) -> NDArray[np.int64]:
        if given.shape[1] > self.points:
            beyond = given[:, self.points :].any(axis=1)
            if beyond.any():
                row = int(beyond.argmax())
                raise NotCoveredError(f"row {row} has a chequer beyond point {self.points}")
            given = given[:, : self.points]
        elif given.shape[1] < self.points:
            given = np.pad(given, ((0, 0), (0, self.points - given.shape[1])))
        numbers = np.empty(len(given), np.int64)
        for start in range(0, len(given), CHUNK):
            numbers[start : start + CHUNK] = board.rank_array(given[start : start + CHUNK])
        if numbers.size and numbers.max() >= self.positions:
            bad = int((numbers >= self.positions).argmax())
            raise NotCoveredError(
                f"row {bad} has {given[bad].sum()} chequers, the table covers {self.chequers}"
            )
        return numbers

    def _number_of(self, side: Side) -> int:
        reason = self.covers_side(side)
        if reason:
            raise NotCoveredError(reason)
        return self.side_number(side)

    def _within(self, number: int) -> int:
        if not 0 <= number < self.entries:
            raise NotCoveredError(f"position number {number} lies beyond the last, {self.entries - 1}")
        return number

    def answers(self, column: str | None = None) -> list[str]:
        """Names of the numbers that `lookup_many` gives of an entry; NotCoveredError for a column it has not."""
        names = [c.name for c in self.columns]
        return names if column is None else [names[self._column(column, tuple(names)) or 0]]

    def _column(self, name: str | None, offered: tuple[str, ...]) -> int | None:
        """The place of a column asked for; NotCoveredError when there is none of that name."""
        if name is None:
            return None
        if name not in offered:
            raise NotCoveredError(
                f"a {self.kind} table has no column {name!r} (it has: {', '.join(offered)})"
            )
        return offered.index(name)


class OfOneSide(Numbered):
    """Tables whose entries are about one side."""

    sides = 1

    def covers(self, asked: Side | Position) -> str | None:
        if not isinstance(asked, Side):
            return f"a {self.kind} table answers for one side at a time"
        return self.covers_side(asked)

    def number(self, asked: Side | Position) -> int:
        if not isinstance(asked, Side):
            raise PositionError(f"a {self.kind} table answers for one side at a time")
        return self._number_of(asked)

    def asked(self, number: int) -> Side:
        return self.side(self._within(number))

    def corner(self, rows: Rows, n: int, numbers: NDArray[np.int64] | None) -> Rows:
        return corner_of_rows(rows, n, numbers)

    def alone(self, us: Any, them: Any) -> NDArray[np.int64]:
        """Position numbers of many sides; PositionError when others are given with them."""
        if them is not None:
            raise PositionError(f"a {self.kind} table answers for one side at a time")
        return self.numbers(us)

    @property
    def cost(self) -> float:
        return 3 + self.positions * 2e-6 * self.points


class OfBothSides(Numbered):
    """Tables whose entries are about two sides, the one on roll first."""

    sides = 2

    def covers(self, asked: Side | Position) -> str | None:
        if not isinstance(asked, Position):
            return f"a {self.kind} table needs both sides, the one on roll first"
        return self.covers_side(asked.us) or self.covers_side(asked.them)

    def number(self, asked: Side | Position) -> int:
        if not isinstance(asked, Position):
            raise PositionError(f"a {self.kind} table needs both sides, the one on roll first (side / side)")
        reason = self.covers(asked)
        if reason:
            raise NotCoveredError(reason)
        return self.side_number(asked.us) * self.positions + self.side_number(asked.them)

    def asked(self, number: int) -> Position:
        us, them = divmod(self._within(number), self.positions)
        return Position(self.side(us), self.side(them))

    def pairs(self, us: Any, them: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Position numbers of many pairs of sides."""
        if them is None:
            raise PositionError(f"a {self.kind} table needs both sides")
        ours, theirs = self.numbers(us), self.numbers(them)
        if len(ours) != len(theirs):
            raise PositionError(f"sides on roll: {len(ours)}, others: {len(theirs)}")
        return ours, theirs

    def corner(self, rows: Rows, n: int, numbers: NDArray[np.int64] | None) -> Rows:
        return corner_of_pairs(rows, n, numbers)

    def at(self, rows: Rows, numbers: NDArray[np.int64]) -> Array:
        """Records of entries in ascending order, row by row, so that rows made on demand serve as well."""
        n = self.positions
        first, last = int(numbers[0]), int(numbers[-1])
        if last - first == len(numbers) - 1 and first % n == 0 and (last + 1) % n == 0:  # whole rows
            whole = np.asarray(rows[first // n : last // n + 1])
            return whole.reshape(-1, *whole.shape[2:])
        us, them = np.divmod(numbers, n)
        pieces = [np.asarray(rows[int(u)])[them[us == u]] for u in np.unique(us)]
        return np.concatenate(pieces)


class OfRaces(OfBothSides):
    """Tables of two sides that have passed each other."""

    def covers(self, asked: Side | Position) -> str | None:
        reason = super().covers(asked)
        if reason is None and isinstance(asked, Position) and asked.contact:
            return f"{asked}: the sides have not passed each other"
        return reason
