"""The recursion of docs/theory/match-play.md word for word, in fractions: slow, and no kernel has a part in it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.met import Met

Board = tuple[int, ...]


@cache
def plays(board: Board) -> tuple[tuple[int, tuple[Board, ...]], ...]:
    return tuple((roll.weight, tuple(race_plays(board, roll.high, roll.low))) for roll in ROLLS)


class Brute:
    """Chances of the side that is called 0, at one score; `owner` is None, 0 or 1."""

    def __init__(self, met: Met, away: tuple[int, int], crawford: bool = False, player: int = 0) -> None:
        self.met, self.away, self.crawford, self.player = met, away, crawford, player
        self.roll: Callable[..., Fraction] = cache(self._roll)

    def worth(self, side: int, points: int) -> Fraction:
        """Chance of `side` after it wins `points` (loses, if negative)."""
        mine, other = self.away if side == 0 else self.away[::-1]
        left, right = mine - max(points, 0), other - max(-points, 0)
        number = self.player ^ side
        if left <= 0:
            return Fraction(1)
        if right <= 0:
            return Fraction(0)
        if 1 in self.away:
            if other == 1:
                return Fraction(self.met.post[number][left - 1])
            return 1 - Fraction(self.met.post[1 - number][right - 1])
        if number == 0:
            return Fraction(self.met.pre[left - 1][right - 1])
        return 1 - Fraction(self.met.pre[right - 1][left - 1])

    def may(self, side: int, cube: int, owner: int | None) -> bool:
        return not self.crawford and owner in (None, side) and self.away[side] > cube

    def _roll(self, side: int, us: Board, them: Board, cube: int, owner: int | None) -> Fraction:
        total = Fraction(0)
        for weight, results in plays(us):
            total += weight * max(self.after(side, x, them, cube, owner) for x in results)
        return total / 36

    def after(self, side: int, x: Board, them: Board, cube: int, owner: int | None) -> Fraction:
        if not any(x):
            gain = 1
            if sum(them) == 15:
                gain = 3 if any(them[18:]) else 2
            return self.worth(side, cube * gain)
        return 1 - self.turn(1 - side, them, x, cube, owner)

    def turn(self, side: int, us: Board, them: Board, cube: int, owner: int | None) -> Fraction:
        rolling = self.roll(side, us, them, cube, owner)
        if not self.may(side, cube, owner):
            return rolling
        taken = self.roll(side, us, them, 2 * cube, 1 - side)
        return max(rolling, min(taken, self.worth(side, cube)))
