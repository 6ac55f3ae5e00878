"""The cube in a match, from a race's winning chance: approximate, since tables hold money equities.

Match winning chances between a dead and a fully live cube, the way R. Janowski ("Take-points in money games", 1993)
mixes them in money, at the score's own four outcomes. How live the cube is (0 dead, 1 fully live) is read from the
two-sided table's money equities, so that in a position decided by the next roll the cube is dead in a match too.

The chance of winning a match from a score is Janowski's formula 0.5 + 0.85 * lead / (trailer's points to go + 6),
and for scores one point away the chances of a match in which nobody wins gammons: the trailer of a Crawford game
must win it, and then every second point by a doubled game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bgfmt.lookup import Equities

USUAL_LIFE = 2 / 3


@dataclass(frozen=True)
class MatchAction:
    """Match winning chances of the player on roll, and what follows from them."""

    no_double: float
    double_take: float
    double_pass: float

    @property
    def doubles(self) -> bool:
        """Whether doubling gains; where it gains nothing the cube stays."""
        return min(self.double_take, self.double_pass) > self.no_double + 1e-9

    @property
    def takes(self) -> bool:
        """Whether the other side is no worse off taking."""
        return self.double_take <= self.double_pass + 1e-12


def chance(ours: int, theirs: int, post_crawford: bool = False) -> float:
    """Chance to win a match in which we need `ours` more points and the opponent `theirs`.

    At one point away the next game is the Crawford game unless `post_crawford`.
    """
    if ours <= 0 or theirs <= 0:
        return 1.0 if ours <= 0 else 0.0
    if ours == theirs:
        return 0.5
    if min(ours, theirs) == 1:
        away = max(ours, theirs)
        trailer = 0.5 ** ((away + 1) // 2) if post_crawford else 0.5 * 0.5 ** (away // 2)
        return trailer if theirs == 1 else 1 - trailer
    if ours < theirs:
        return min(0.99, 0.5 + 0.85 * (theirs - ours) / (theirs + 6))
    return 1 - chance(theirs, ours)


def life_of(equities: Equities) -> float:
    """How live the cube is for whoever would hold it, from the money equities of a two-sided table."""
    if equities.opponent is None or equities.centered is None or equities.owned is None:
        return USUAL_LIFE
    win = (equities.cubeless + 1) / 2
    live = float(np.clip(2.5 * (win - 0.2) - 1, -1, 1))
    if abs(live - equities.cubeless) < 1e-3:
        return USUAL_LIFE
    return float(np.clip((equities.opponent - equities.cubeless) / (live - equities.cubeless), 0, 1))


def judge(
    win: float,
    away: tuple[int, int],
    cube: int,
    owner: str,
    life: float = USUAL_LIFE,
    post_crawford: bool = False,
) -> MatchAction:
    """Judge a double at a score.

    Parameters
    ----------
    win
        Cubeless chance of the player on roll to win the game.
    away
        Points the player on roll and the other still need.
    cube
        Its value before the double.
    owner
        "centered" or "owned": whether the other side could double too if we do not.
    life
        0 dead cube to 1 fully live.
    """
    ours, theirs = away
    passed = _chance_after(ours - cube, theirs, post_crawford)
    doubled = _opponent_owns(win, away, 2 * cube, life, post_crawford)
    lost = _chance_after(ours, theirs - cube, post_crawford)
    rolling = win * passed + (1 - win) * lost
    if owner == "owned" or ours <= cube:
        high = _cash_point(away, cube, life, post_crawford)
        low, floor = 0.0, lost
    else:
        high = _cash_point(away, cube, life, post_crawford)
        low, floor = 1 - _cash_point((theirs, ours), cube, life, post_crawford), lost
    if ours > cube and high > low:
        # between our opponent's doubling us out and our doubling him out
        t = float(np.clip((win - low) / (high - low), 0, 1))
        live = floor + t * (passed - floor)
        if owner == "owned":
            live = max(live, rolling)
        rolling = (1 - life) * rolling + life * live
    return MatchAction(rolling, doubled, passed)


def _chance_after(ours: int, theirs: int, post_crawford: bool) -> float:
    return chance(ours, theirs, post_crawford)


def _opponent_owns(win: float, away: tuple[int, int], cube: int, life: float, post_crawford: bool) -> float:
    """Our match chance with the cube at `cube` on the other side, none turned again before that pays."""
    ours, theirs = away
    won, lost = (
        _chance_after(ours - cube, theirs, post_crawford),
        _chance_after(ours, theirs - cube, post_crawford),
    )
    dead = win * won + (1 - win) * lost
    if theirs <= cube:  # a redouble would gain him nothing
        return dead
    low = _take_point(away, cube, post_crawford)
    live = lost + float(np.clip((win - low) / (1 - low), 0, 1)) * (won - lost)
    return (1 - life) * dead + life * live


def _take_point(away: tuple[int, int], cube: int, post_crawford: bool) -> float:
    """Our winning chance at which a (dead) redouble of a cube now at `cube` may just be taken."""
    ours, theirs = away
    drop = _chance_after(ours, theirs - cube, post_crawford)
    won, lost = (
        _chance_after(ours - 2 * cube, theirs, post_crawford),
        _chance_after(ours, theirs - 2 * cube, post_crawford),
    )
    return float(np.clip((drop - lost) / max(won - lost, 1e-12), 0.0, 0.99))


def _cash_point(away: tuple[int, int], cube: int, life: float, post_crawford: bool) -> float:
    """Our winning chance from which a double is passed."""
    passed = _chance_after(away[0] - cube, away[1], post_crawford)
    grid = np.linspace(0, 1, 101)
    worth = [_opponent_owns(float(p), away, 2 * cube, life, post_crawford) for p in grid]
    return float(np.interp(passed, worth, grid))
