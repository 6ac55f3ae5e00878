"""The numbers kept of a pair of positions: one column for each cube state, and what doubling makes of them.

Values are zero-sum, of the side on roll: 2 * MWC - 1 in a match, points per unit of the cube for money. So what a
pair is worth to the side that has just moved is the negative, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bgfmt.game.results import Array
from bgfmt.met.score import NOBODY, CubeState, Score

Worth = Callable[[int, int], float]
CUBELESS = None
MOST_GAIN = 3  # single game, gammon, backgammon


class Doubling(NamedTuple):
    """What each side may do with the cube in K columns; arrays (2, K), the side on roll in the question first.

    may : whether the side may double. passed : value when the double is passed. The value when it is taken is
    add + times * (value in column `source`).
    """

    may: Array
    passed: Array
    source: Array
    add: Array
    times: Array


@dataclass(frozen=True)
class Columns:
    """K columns: their cube states (None: no cube, in match play the chance to win the game), doubling, and
    won (2, K, 4): value to each side of winning a single game, a gammon, a backgammon (entries 1, 2, 3)."""

    states: tuple[CubeState | None, ...]
    doubling: Doubling
    won: Array

    def __len__(self) -> int:
        return len(self.states)

    def place(self, state: CubeState) -> int:
        """The column of a cube state; 0, the cubeless one, for a state without a column of its own."""
        return self.states.index(state) if state in self.states else 0

    def turn(self, side: int, values: Array) -> Array:
        """What values (..., K) of a side on roll are worth to it once it has doubled or not, whichever is better."""
        d = Doubling(*(array[side] for array in self.doubling))
        doubled = np.minimum(d.add + d.times * values[..., d.source], d.passed)
        return np.where(d.may, np.maximum(values, doubled), values)

    def exchanged(self) -> Columns:
        """The same with the sides exchanged: the other side of the question first."""
        states = tuple(
            s and CubeState(s.value, s.owner if s.owner == NOBODY else 1 - s.owner) for s in self.states
        )
        return Columns(states, Doubling(*(array[::-1] for array in self.doubling)), self.won[::-1])


def single_games(states: Sequence[CubeState | None]) -> Columns:
    """Columns in which nobody doubles and every game is worth 1."""
    k = len(states)
    here = np.tile(np.arange(k, dtype=np.int64), (2, 1))
    doubling = Doubling(np.zeros((2, k), np.bool_), np.ones((2, k)), here, np.zeros((2, k)), np.ones((2, k)))
    won = np.ones((2, k, MOST_GAIN + 1))
    return Columns(tuple(states), doubling, won)


def for_match(score: Score, *, gammons: bool, worth: Worth | None = None) -> Columns:
    """The columns a score needs from its cube state on; `worth` replaces the score's own values of results.

    Where no gammon can happen, a state in which nobody may double has no column of its own: its value is that of
    the cubeless column, put between losing and winning the game at that cube. With gammons every state has one.
    """
    states: list[CubeState | None] = [s for s in score.cubes if gammons or score.live(s)]
    if not gammons:
        states.insert(0, CUBELESS)
    columns = single_games(states)
    worth = worth or (lambda side, points: worth_of(score, side, points))
    may, passed, source, add, times = columns.doubling
    for k, state in enumerate(states):
        if state is None:
            continue
        for side in (0, 1):
            for gain in range(1, MOST_GAIN + 1) if gammons else (1,):
                columns.won[side, k, gain] = worth(side, gain * state.value)
            if not score.may_double(side, state):
                continue
            may[side, k] = True
            passed[side, k] = columns.won[side, k, 1]
            doubled = CubeState(2 * state.value, 1 - side)
            if doubled in states:
                source[side, k] = states.index(doubled)
            else:
                source[side, k] = 0
                add[side, k], times[side, k] = between(
                    worth(side, -doubled.value), worth(side, doubled.value)
                )
    return columns


def worth_of(score: Score, side: int, points: int) -> float:
    """Value to a side of winning these points, or losing them if negative: what one wins the other loses."""
    return 2 * score.after(0, points) - 1 if side == 0 else 1 - 2 * score.after(0, -points)


def between(lose: float, win: float) -> tuple[float, float]:
    """(add, times) that put a cubeless value between losing and winning, as in a state nobody may double in."""
    return (win + lose) / 2, (win - lose) / 2


def dead(score: Score, side: int, state: CubeState) -> tuple[float, float]:
    """(add, times) that make a cubeless value of a side that of a state nobody may double in, without gammons."""
    return between(worth_of(score, side, -state.value), worth_of(score, side, state.value))


def for_money(*, jacoby: bool = False, gammons: bool = True) -> Columns:
    """Cubeless, centered, owned by the side on roll, by the other; equities per unit of the present cube.

    gammons : whether a game won before the other side has a chequer off counts more than 1.
    """
    states = (CUBELESS, CubeState(1, NOBODY), CubeState(1, 0), CubeState(1, 1))
    columns = single_games(states)
    may, _, source, _, times = columns.doubling
    for side in (0, 1):
        for k in (1, 2 + side):
            may[side, k] = True
            source[side, k] = 2 + (1 - side)
            times[side, k] = 2.0
    if gammons:
        columns.won[...] = np.arange(MOST_GAIN + 1.0)
    if jacoby:
        columns.won[:, 1] = 1.0
    return columns


def joined(parts: Sequence[Columns]) -> tuple[Columns, list[Array]]:
    """The columns of several questions side by side, and where each part's columns are then.

    The cubeless column, which must be first where there is one, is shared.
    """
    shared = int(parts[0].states[0] is CUBELESS)
    places = []
    start = shared
    for part in parts:
        own = len(part) - shared
        places.append(np.concatenate([np.arange(shared), start + np.arange(own)]).astype(np.int64))
        start += own
    kept = [slice(0 if part is parts[0] else shared, None) for part in parts]

    def beside(arrays: Sequence[Array]) -> Array:
        return np.concatenate([a[:, keep] for a, keep in zip(arrays, kept, strict=True)], axis=1)

    sources = [place[part.doubling.source] for part, place in zip(parts, places, strict=True)]
    doubling = Doubling(*(beside([p.doubling[i] for p in parts]) for i in range(len(Doubling._fields))))
    states = tuple(s for part, keep in zip(parts, kept, strict=True) for s in part.states[keep])
    won = beside([part.won for part in parts])
    return Columns(states, doubling._replace(source=beside(sources)), won), places
