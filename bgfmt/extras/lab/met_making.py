"""A match equity table from the chances of one game.

Dynamic programming over scores, as Tom Keith describes it ("How to Compute a Match Equity Table", bkgm.com): every
game begins alike for both sides and is won as a gammon or backgammon in fixed parts. Before the Crawford game the
chance of a side moves without jumps between the points where a double is cashed (a live cube), or the cube is turned
once at the end at best (a dead one); the equity is a mixture of both (Rick Janowski, "Take-Points in Money Games",
1993). In the Crawford game nobody doubles; after it the trailer does so at once, and it is always taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bgfmt.errors import PositionError
from bgfmt.met.model import MAX_AWAY, Met

LIVE = 2 / 3  # part of a cube's liveness that play makes use of
HALVINGS = 48  # of the interval in which a cash point lies
FAIR = 0.5

Value = Callable[[float], float]


@dataclass(frozen=True)
class Wins:
    """How a game is won: gammon and backgammon, the parts of all wins that are gammons or better, and backgammons."""

    gammon: float
    backgammon: float

    def __post_init__(self) -> None:
        if not 0 <= self.backgammon <= self.gammon <= 1:
            raise PositionError(f"no parts of wins: gammons {self.gammon}, backgammons {self.backgammon}")

    def mean(self, of: Callable[[int], float]) -> float:
        """The mean of `of(points)` over a win with the cube at 1."""
        single, double = 1 - self.gammon, self.gammon - self.backgammon
        return single * of(1) + double * of(2) + self.backgammon * of(3)


@dataclass
class _Making:
    """The scores made so far: pre[a, b] the chance of the side that needs a against b, post[n] the trailer's."""

    wins: Wins
    live: float
    pre: dict[tuple[int, int], float] = field(default_factory=dict)
    post: list[float] = field(default_factory=lambda: [1.0])

    def after_crawford(self, away: int) -> float:
        return self.post[max(away, 0)]

    def at(self, away: int, other: int) -> float:
        if away <= 0 or other <= 0:
            return 1.0 if away <= 0 else 0.0
        return self.pre[away, other] if away <= other else 1 - self.pre[other, away]

    def won(self, away: int, other: int, cube: int) -> float:
        """After a win of a game with the cube at `cube`."""
        return self.wins.mean(lambda points: self.at(away - points * cube, other))

    def dead(self, away: int, other: int, cube: int) -> Value:
        """By the chance to win, with a cube that nobody turns any more."""
        lost, won = 1 - self.won(other, away, cube), self.won(away, other, cube)
        return lambda chance: lost + (won - lost) * chance

    def owned(self, away: int, other: int, cube: int) -> Value:
        """By the chance to win, of the side that owns the cube and needs `away`."""
        dead = self.dead(away, other, cube)
        if cube >= away:
            return dead
        lost, cash, at = dead(0.0), self.at(away - cube, other), self.cash_point(away, other, cube)

        def value(chance: float) -> float:
            if chance >= at:
                return max(cash, dead(chance))
            return self.live * (lost + (cash - lost) * chance / at) + (1 - self.live) * dead(chance)

        return value

    def cash_point(self, away: int, other: int, cube: int) -> float:
        """The chance from which the other side passes a double of the side that needs `away`."""
        passed, take = self.at(away - cube, other), self.owned(other, away, 2 * cube)
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if 1 - take(1 - middle) >= passed else (middle, high)
        return high

    def centered(self, away: int, other: int) -> float:
        """At the beginning of a game with the cube in the middle."""
        high, low = self.cash_point(away, other, 1), 1 - self.cash_point(other, away, 1)
        won, lost = self.at(away - 1, other), 1 - self.at(other - 1, away)
        dead = self.dead(away, other, 1)(FAIR)
        if not low < FAIR < high:  # one side cashes at once
            return won if high <= FAIR else lost
        return self.live * (lost + (won - lost) * (FAIR - low) / (high - low)) + (1 - self.live) * dead


def make(length: int, wins: Wins, *, name: str, title: str = "", live: float = LIVE) -> Met:
    """The table of matches up to `length` points (1 to 64) of a game that both sides win equally often.

    Parameters
    ----------
    wins : the parts of gammons and backgammons in all wins.
    live : the cube's efficiency, 0 (dead) to 1 (live).

    Raises
    ------
    PositionError for a length, parts or an efficiency out of range.
    """
    if not 1 <= length <= MAX_AWAY:
        raise PositionError(f"a match equity table has 1 to {MAX_AWAY} points, not {length}")
    if not 0 <= live <= 1:
        raise PositionError(f"the efficiency of a cube lies between 0 and 1, not at {live}")
    making = _Making(wins, live)
    making.post.append(FAIR)
    for away in range(2, length + 1):  # the cube at 2, owned by a side that needs one point
        making.post.append(FAIR * wins.mean(lambda points, n=away: making.after_crawford(n - 2 * points)))  # type: ignore[misc]
    making.pre[1, 1] = FAIR
    for away in range(2, length + 1):
        making.pre[1, away] = 1 - FAIR * wins.mean(lambda points, n=away: making.after_crawford(n - points))  # type: ignore[misc]
    for away in range(2, length + 1):
        for other in range(away, length + 1):
            making.pre[away, other] = FAIR if away == other else making.centered(away, other)
    rows = tuple(tuple(making.at(a, b) for b in range(1, length + 1)) for a in range(1, length + 1))
    post = tuple(making.post[1:])
    return Met(name, rows, (post, post), title or name)
