"""Janowski's formula at a match score: match winning chances from the chance to win the game, for `study` to judge.

They lie between those with a dead and with a fully live cube, the way R. Janowski ("Take-points in money games",
1993) mixes them in money, at the score's own four outcomes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bgfmt.met.score import Score

USUAL_LIFE = 2 / 3  # how live the cube is: 0 dead, 1 fully live


def chances(win: float, score: Score, life: float = USUAL_LIFE) -> tuple[float, float]:
    """Match winning chances of rolling on and of a double taken.

    win : cubeless chance of the player on roll to win the game; gammons are not looked at. score : with the cube as
    it lies. life : 0 dead cube to 1 fully live.
    """
    cube = score.cube
    passed, lost = score.after(0, cube), score.after(0, -cube)
    rolling = win * passed + (1 - win) * lost
    if score.owner != "opponent" and score.may_double(0):
        high = _cash_point(score, 0, life)
        low = 1 - _cash_point(score, 1, life) if score.owner == "centered" else 0.0
        if high > low:
            # between our opponent's doubling us out and our doubling him out
            t = float(np.clip((win - low) / (high - low), 0, 1))
            live = lost + t * (passed - lost)
            if score.owner == "owned":
                live = max(live, rolling)
            rolling = (1 - life) * rolling + life * live
    elif score.owner == "opponent" and score.away[1] > cube:
        rolling = _other_owns(win, score, 0, cube, life)
    return float(rolling), float(_other_owns(win, score, 0, 2 * cube, life))


def _other_owns(win: Any, score: Score, side: int, cube: int, life: float) -> Any:
    """A side's match chance with the cube at `cube` on the other side, not turned again before that pays.

    `win` may be an array.
    """
    won, lost = score.after(side, cube), score.after(side, -cube)
    dead = win * won + (1 - win) * lost
    if score.away[1 - side] <= cube:  # a redouble would gain the other side nothing
        return dead
    low = _take_point(score, side, cube)
    live = lost + np.clip((win - low) / (1 - low), 0, 1) * (won - lost)
    return (1 - life) * dead + life * live


def _take_point(score: Score, side: int, cube: int) -> float:
    """A side's winning chance at which a (dead) redouble of a cube now at `cube` may just be taken."""
    drop = score.after(side, -cube)
    won, lost = score.after(side, 2 * cube), score.after(side, -2 * cube)
    return float(np.clip((drop - lost) / max(won - lost, 1e-12), 0.0, 0.99))


@lru_cache(maxsize=1024)
def _cash_point(score: Score, side: int, life: float) -> float:
    """A side's winning chance from which its double is passed."""
    passed = score.after(side, score.cube)
    grid = np.linspace(0, 1, 101)
    return float(np.interp(passed, _other_owns(grid, score, side, 2 * score.cube, life), grid))
