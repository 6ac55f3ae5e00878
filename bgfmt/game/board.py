"""Sides, positions and position numbers.

A side is a count of chequers on points 1 (the ace point) to 24, seen by its owner, and on the bar. Its position
number in a database of P points is GNU Backgammon's: with s_k the chequers on the k highest points,

    number = sum over k = 1..P of C(s_k + k - 1, k)

the combinatorial number system, which is also Ross's perfect hash (Benjamin and Ross 1996). The number does not
depend on how many chequers the database allows, but it does depend on P.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from operator import index

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import PositionError
from bgfmt.game.notations import notation

__all__ = [
    "BAR",
    "MAX_CHEQUERS",
    "MAX_POINTS",
    "Position",
    "Side",
    "corner_numbers",
    "count",
    "number_terms",
    "order_by_pips",
    "rank",
    "rank_array",
    "unrank",
    "unrank_array",
]


MAX_POINTS = 24
BAR = 25
MAX_CHEQUERS = 15


def count(points: int, chequers: int) -> int:
    """Return the number of positions of one side with up to `chequers` chequers on `points` points, the rest off."""
    return comb(points + chequers, points)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Side:
    """One player's chequers: ``Side(0, 2, 2, 2, 0, 4)``, the ace point first; chequers borne off are not written.

    Immutable and hashable; trailing empty points make no difference. `counts` has no trailing zeros.
    """

    counts: tuple[int, ...]
    bar: int

    def __init__(self, *counts: int, bar: int = 0) -> None:
        try:
            numbers = [index(c) for c in counts]
            bar = index(bar)
        except TypeError:
            given = f"as in Side(0, 2, 2) or Side(*counts), not {(*counts, bar)}"
            raise PositionError(f"a point must hold a whole number of chequers, {given}") from None
        while numbers and numbers[-1] == 0:
            numbers.pop()
        if len(numbers) > MAX_POINTS:
            raise PositionError(f"a side has at most {MAX_POINTS} points, not {len(numbers)}")
        if min(numbers, default=0) < 0 or bar < 0:
            raise PositionError(f"a point cannot hold {min([*numbers, bar])} chequers")
        if sum(numbers) + bar > MAX_CHEQUERS:
            raise PositionError(f"a side has at most {MAX_CHEQUERS} chequers, not {sum(numbers) + bar}")
        object.__setattr__(self, "counts", tuple(numbers))
        object.__setattr__(self, "bar", bar)

    def __iter__(self) -> Iterator[int]:
        return iter(self.counts)

    def __repr__(self) -> str:
        inner = ", ".join(map(str, self.counts))
        if self.bar:
            inner += f"{', ' if inner else ''}bar={self.bar}"
        return f"Side({inner})"

    def __str__(self) -> str:
        text = " ".join(map(str, self.counts + (0,) * (6 - len(self.counts))))
        return f"{text} bar {self.bar}" if self.bar else text

    @classmethod
    def _trusted(cls, counts: tuple[int, ...], bar: int = 0) -> Side:
        """Make a side without checking the counts."""
        end = len(counts)
        while end and not counts[end - 1]:
            end -= 1
        side = object.__new__(cls)
        object.__setattr__(side, "counts", counts[:end])
        object.__setattr__(side, "bar", bar)
        return side

    @property
    def chequers(self) -> int:
        """Chequers on the board or the bar."""
        return sum(self.counts) + self.bar

    @property
    def highest(self) -> int:
        """The highest occupied point, 25 for the bar, 0 if all chequers are off."""
        return BAR if self.bar else len(self.counts)

    @property
    def pips(self) -> int:
        """The pip count: points times chequers, 25 for each on the bar."""
        return sum(i * c for i, c in enumerate(self.counts, 1)) + BAR * self.bar

    @classmethod
    def parse(cls, text: str) -> Side:
        """Parse a list of counts ("0 2 2 2 0 4", the ace point first), or return the side on roll of any identifier.

        PositionError for text that is neither.
        """
        value: Side = notation("parse_side")(text)
        return value

    def padded(self, points: int) -> tuple[int, ...]:
        """Return `points` numbers of chequers, the ace point first; with `points` = 25 the last is the bar.

        PositionError if a chequer is beyond these points, or `points` is not 1 to 25.
        """
        if not 1 <= points <= BAR:
            raise PositionError(f"a side must have 1 to {MAX_POINTS} points and the bar, not {points}")
        if self.highest > points:
            where = "on the bar" if self.bar else f"on point {self.highest}"
            raise PositionError(f"{self} has a chequer {where}, beyond {points} points")
        if points == BAR:
            return (*self.counts, *(0,) * (MAX_POINTS - len(self.counts)), self.bar)
        return self.counts + (0,) * (points - len(self.counts))

    def number(self, points: int) -> int:
        """Return the side's position number in a database of `points` points; with `points` = 25 the 25th is the bar.

        Databases of hypergammon count the bar as a point. PositionError if a chequer is beyond these points.
        """
        return rank(self.padded(points))

    @classmethod
    def from_number(cls, number: int, points: int) -> Side:
        """Return the side with this position number in a database of `points` points, of which a 25th is the bar.

        PositionError for a negative number, `points` below 1, or a number that needs more than fifteen chequers.
        """
        counts = unrank(number, points)
        return cls(*counts[:MAX_POINTS], bar=sum(counts[MAX_POINTS:]))


@dataclass(frozen=True)
class Position:
    """Two sides, the player on roll first, each seen from its own ace point."""

    us: Side
    them: Side

    def __post_init__(self) -> None:
        if not (isinstance(self.us, Side) and isinstance(self.them, Side)):
            sides = f"Position(Side(0, 1), Side(1)), not {self.us!r} and {self.them!r}"
            raise PositionError(f"expected a position of two sides, such as {sides}")

    def __str__(self) -> str:
        return f"{self.us} / {self.them}"

    def _repr_svg_(self) -> str:
        value: str = notation("picture")(self)
        return value

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse any identifier, or the counts of two sides ("4 3 1 / 3 3 2", ace points first), side on roll first.

        PositionError for any other text.
        """
        value: Position = notation("parse_position")(text)
        return value

    @property
    def id(self) -> str:
        """gnubg's Position ID, 14 characters."""
        value: str = notation("position_id")(self)
        return value

    @property
    def xgid(self) -> str:
        """eXtreme Gammon's identifier: money play, a centered cube, player 1 on roll."""
        value: str = notation("xgid")(self)
        return value

    @property
    def contact(self) -> bool:
        """Whether a chequer of one side still has to pass one of the other."""
        return self.us.highest + self.them.highest > 24

    @property
    def gammons(self) -> bool:
        """Whether a side still has all fifteen chequers on the board, so that it can lose a gammon."""
        return MAX_CHEQUERS in (self.us.chequers, self.them.chequers)

    def swapped(self) -> Position:
        """Return the same board with the other player on roll."""
        return Position(self.them, self.us)

    def check(self) -> Position:
        """Check that the two sides do not occupy the same physical point; return the position itself.

        PositionError if they do.
        """
        pairs = zip(self.us.padded(BAR)[:MAX_POINTS], self.them.padded(BAR)[-2::-1], strict=True)
        for point, (mine, theirs) in enumerate(pairs, 1):
            if mine and theirs:
                raise PositionError(f"{self}: both sides stand on point {point} of the player on roll")
        return self


# -- position numbers ------------------------------------------------------------------------------------


def rank(counts: tuple[int, ...] | list[int]) -> int:
    """Compute the position number of one side's counts on points 1..len(counts), the ace point first."""
    number = above = 0
    for k, chequers in enumerate(reversed(counts), 1):
        above += chequers
        number += comb(above + k - 1, k)
    return number


def unrank(number: int, points: int) -> tuple[int, ...]:
    """Compute one side's counts on points 1..`points` from its position number; the inverse of `rank`.

    PositionError for a negative number, or one that needs more than fifteen chequers.
    """
    if number < 0 or points < 1:
        raise PositionError(f"there is no position number {number} on {points} points")
    left = number
    above = []
    for k in range(points, 0, -1):
        m = k - 1
        while comb(m + 1, k) <= left:
            m += 1
            if m - k + 1 > MAX_CHEQUERS:
                raise PositionError(f"position number {number} needs more than {MAX_CHEQUERS} chequers")
        left -= comb(m, k)
        above.append(m - k + 1)
    above.append(0)
    return tuple(above[i] - above[i + 1] for i in range(points))


@lru_cache(maxsize=64)
def number_terms(points: int) -> NDArray[np.int64]:
    """Return the binomials that a position number is the sum of: read-only int64 of shape (points, 16).

    Row k-1, column s is C(s + k - 1, k), the term of a side with s chequers on its k highest points.
    """
    table = np.array(
        [[comb(s + k - 1, k) for s in range(MAX_CHEQUERS + 1)] for k in range(1, points + 1)], "i8"
    )
    table.setflags(write=False)
    return table


def rank_array(counts: ArrayLike, first: int = 0) -> NDArray[np.int64]:
    """Compute the position numbers, int64 of shape (...), of sides' counts of shape (..., points).

    With 25 points the 25th is the bar. first : number of the first row, for messages. PositionError, which names the
    row, if a count is negative or a row has more than 15 chequers.
    """
    rows = np.asarray(counts)
    if rows.ndim == 0 or rows.dtype.kind not in "iub" or not 1 <= rows.shape[-1] <= BAR:
        raise PositionError(
            f"counts must be integers of shape (..., 1 to {BAR}), not {rows.shape} {rows.dtype}"
        )
    points = rows.shape[-1]
    if rows.size and (rows.min() < 0 or rows.max() > MAX_CHEQUERS):
        row = first + int(((rows < 0) | (rows > MAX_CHEQUERS)).any(axis=-1).argmax())
        raise PositionError(f"row {row}: counts must be from 0 to {MAX_CHEQUERS}")
    terms = number_terms(points)
    columns = np.ascontiguousarray(np.moveaxis(rows, -1, 0)).astype(np.intp, copy=False)
    above = np.zeros(rows.shape[:-1], np.intp)
    number = np.zeros(rows.shape[:-1], np.int64)
    for k in range(points):
        above += columns[points - 1 - k]
        number += terms[k].take(above, mode="clip")
    if above.size and above.max() > MAX_CHEQUERS:
        row = first + int((above > MAX_CHEQUERS).argmax())
        raise PositionError(
            f"row {row}: a side has at most {MAX_CHEQUERS} chequers, not {above.flat[row - first]}"
        )
    return number


def unrank_array(numbers: ArrayLike, points: int) -> NDArray[np.int8]:
    """Compute sides' counts, int8 of shape (..., points), from position numbers of shape (...).

    PositionError if a number is negative or needs more than fifteen chequers.
    """
    left = np.array(numbers, np.int64)
    if left.size and (left.min() < 0 or left.max() >= count(points, MAX_CHEQUERS)):
        raise PositionError(
            f"position numbers on {points} points must be from 0 to {count(points, MAX_CHEQUERS) - 1}"
        )
    terms = number_terms(points)
    out = np.empty((*left.shape, points), np.int8)
    before: NDArray[np.int64] | None = None
    for k in range(points, 0, -1):
        above = np.searchsorted(terms[k - 1], left, side="right") - 1
        left -= terms[k - 1][above]
        if before is not None:
            out[..., points - 1 - k] = before - above
        before = above
    assert before is not None
    out[..., points - 1] = before
    return out


def order_by_pips(points: int, chequers: int) -> NDArray[np.int64]:
    """Return all position numbers of `points` points and up to `chequers` chequers, by pip count, then by number."""
    counts = unrank_array(np.arange(count(points, chequers)), points)
    return np.argsort(counts.astype(np.int64) @ np.arange(1, points + 1), kind="stable")


def corner_numbers(points: int, chequers: int, wider: int) -> NDArray[np.int64]:
    """Compute at which position numbers a table of more points has the positions of a smaller table.

    points, chequers : size of the smaller table. wider : points of the larger one. Returns an array that maps each
    position number of the smaller table to that of the same side in the larger one.
    """
    counts = unrank_array(np.arange(count(points, chequers)), points)
    return rank_array(np.pad(counts, ((0, 0), (0, wider - points))))
